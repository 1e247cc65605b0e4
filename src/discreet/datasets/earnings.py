"""Synthetic employees: pay and hours by county, occupation, age and sex, with areas for maps and bands for medians."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.base.annotations import Floats
from discreet.base.arguments import checked
from discreet.data.codebook import Codebook, Magnitude
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.data.variable_description import VariableDescription
from discreet.datasets.area_maps import invented_areas
from discreet.errors import InputError

Ints = NDArray[np.int64]

# regions from the north to the south, their counties from the west to the east
REGIONS = {
    "A": ("Northern coast", ("Alder Bay", "Skerry", "Fenmouth", "Northport", "Saltholm")),
    "B": ("Highlands", ("Glenmark", "Tarnfield", "High Moor", "Craigton", "Birkdale")),
    "C": ("Capital region", ("Westborough", "Oldbridge", "Capital City", "Eastborough", "Millwater")),
    "D": ("Plains", ("Ashford Vale", "Cornhill", "Long Meadow", "Ferrybank", "Wheatley")),
    "E": ("Southern hills", ("Vineside", "Sunderley", "Stonecross", "Marlow End", "Southgate")),
}
COUNTIES = {f"{region}{k}": label for region, (_, counties) in REGIONS.items() for k, label in enumerate(counties, 1)}
# ISCO-08: major groups and the sub-major groups in them, with the pay of a full-time year
OCCUPATIONS = {
    "1": ("Managers", 61_000, {"11": "Chief executives", "12": "Administrative managers", "13": "Production managers",
                               "14": "Hospitality and retail managers"}),
    "2": ("Professionals", 50_000, {"21": "Science and engineering professionals", "22": "Health professionals",
                                    "23": "Teaching professionals", "24": "Business professionals",
                                    "25": "Information technology professionals", "26": "Legal professionals"}),
    "3": ("Technicians", 39_000, {"31": "Science and engineering technicians", "32": "Health associates",
                                  "33": "Business associates", "34": "Legal and social associates",
                                  "35": "Information technicians"}),
    "4": ("Clerks", 31_000, {"41": "General clerks", "42": "Customer services clerks", "43": "Numerical clerks",
                             "44": "Other clerks"}),
    "5": ("Service and sales workers", 25_000, {"51": "Personal service workers", "52": "Sales workers",
                                                "53": "Personal care workers", "54": "Protective services workers"}),
    "6": ("Agricultural workers", 24_000, {"61": "Skilled agricultural workers", "62": "Forestry and fishery workers"}),
    "7": ("Craft workers", 33_000, {"71": "Building trades workers", "72": "Metal and machinery workers",
                                    "73": "Handicraft and printing workers", "74": "Electrical trades workers",
                                    "75": "Food, wood and garment workers"}),
    "8": ("Machine operators", 31_000, {"81": "Plant operators", "82": "Assemblers", "83": "Drivers"}),
    "9": ("Elementary occupations", 22_000, {"91": "Cleaners and helpers", "92": "Agricultural labourers",
                                             "93": "Mining, construction and transport labourers",
                                             "94": "Food preparation assistants", "96": "Other elementary workers"}),
}  # fmt: skip
NESTED = {code: major for major, (_, _, below) in OCCUPATIONS.items() for code in below}
SEXES = {"F": "Women", "M": "Men"}
AGES = ("15-24", "25-34", "35-44", "45-54", "55-64", "65-74")
CONTRACTS = {"F": "Full time", "P": "Part time"}
EDGES = (0, 10_000, 15_000, 20_000, 25_000, 30_000, 35_000, 40_000, 50_000, 60_000, 80_000, 120_000, 1_000_000)
MOST_PAY = EDGES[-1]
UNIVERSE = "Employees aged 15 to 74"


@checked
def earnings(n: int = 120_000, seed: int = 2021) -> Microdata:
    """``n`` synthetic employees with county, sex, age, occupation, contract, band of pay, pay and hours of a year.

    Pay is log-normal around what the occupation pays, with a long tail; it differs by age, sex, hours and county.
    Record keys come from the seed, so they protect nothing: fine for a demonstration, never for real data.

    >>> employees = earnings(500)
    >>> employees.n, [m.name for m in employees.codebook.magnitudes]
    (500, ['pay', 'hours'])
    """
    return Microdata.read(earnings_arrow(n, seed), earnings_codebook())


@checked
def earnings_codebook() -> Codebook:
    """What the columns of the employees mean."""
    return Codebook(
        dimensions=tuple(earnings_dimensions()),
        unit="person",
        key="rkey",
        magnitudes=(Magnitude("pay", decimals=0, unit="euros"), Magnitude("hours", decimals=0)),
        title="Earnings of employees",
        source="synthetic",
        universe=UNIVERSE,
        date="2021",
    )


@checked
def earnings_dimensions() -> list[Dimension]:
    """County (25 in 5 regions, with shapes), sex, age, occupation (38 in 9 groups), contract and band of pay.

    >>> [len(d.leaves) for d in earnings_dimensions()]
    [25, 2, 6, 38, 2, 12]
    """
    regions = {code: label for code, (label, _) in REGIONS.items()}
    majors = {code: label for code, (label, _, _) in OCCUPATIONS.items()}
    minors = {code: label for _, _, below in OCCUPATIONS.values() for code, label in below.items()}
    counties = {county: county[0] for county in COUNTIES}
    plain = (
        (Dimension.from_parents("county", counties, labels=regions | COUNTIES), _COUNTY),
        (Dimension.flat("sex", SEXES, labels=SEXES), VariableDescription("Sex", "The sex that an employee stated.")),
        (
            Dimension.flat("age", AGES, labels={age: f"{age} years" for age in AGES}),
            VariableDescription("Age", "Age in completed years at the end of the year, in bands of ten years."),
        ),
        (Dimension.from_parents("occupation", NESTED, labels=majors | minors), _OCCUPATION),
        (
            Dimension.flat("contract", CONTRACTS, labels=CONTRACTS),
            VariableDescription("Contract", "Full time is 35 hours a week and more."),
        ),
        (
            Dimension.flat("band", _bands(), labels=_bands()),
            VariableDescription("Band of pay", "Gross pay of the year in euros, in twelve bands."),
        ),
    )
    return [replace(dimension, description=description) for dimension, description in plain]


def _bands() -> dict[str, str]:
    """Codes and labels of the bands between the edges."""
    ends = [f"{low:,} to under {high:,}" for low, high in pairwise(EDGES[1:-1])]
    labels = [f"under {EDGES[1]:,}", *ends, f"{EDGES[-2]:,} and more"]
    return {f"b{k:02}": label for k, label in enumerate(labels, 1)}


def _shapes() -> str:
    """The counties as areas, and every region as those of its counties."""
    areas = json.loads(invented_areas([*COUNTIES]))
    for region in REGIONS:
        parts = [one["geometry"]["coordinates"] for one in areas["features"] if one["properties"]["code"][0] == region]
        shape = {"type": "MultiPolygon", "coordinates": parts}
        areas["features"].append({"type": "Feature", "properties": {"code": region}, "geometry": shape})
    return json.dumps(areas, separators=(",", ":"))


_COUNTY = VariableDescription(
    "County",
    "The county of the place of work. Counties and regions are invented.",
    levels={"level 1": "Regions", "county": "Counties"},
    geometry=_shapes(),
)
_OCCUPATION = VariableDescription(
    "Occupation",
    "The main job of the year by the International Standard Classification of Occupations (ISCO-08).",
    levels={"level 1": "Major groups", "occupation": "Sub-major groups"},
)


@checked
def earnings_arrow(n: int = 120_000, seed: int = 2021) -> pa.Table:
    """The employees as a plain Arrow table.

    >>> earnings_arrow(2).column_names
    ['person', 'county', 'sex', 'age', 'occupation', 'contract', 'band', 'pay', 'hours', 'rkey']
    """
    if n < 1:
        raise InputError(f"earnings: n is {n}; ask for at least one employee")
    rng = np.random.Generator(np.random.PCG64(seed))
    county, county_pay = _counties(rng, n)
    sex = rng.integers(0, 2, n)
    age = rng.choice(len(AGES), n, p=[0.13, 0.22, 0.23, 0.22, 0.17, 0.03])
    occupation = _occupations(rng, sex)
    part = rng.random(n) < np.where(sex == 0, 0.38, 0.14) + 0.25 * ((age == 0) | (age == 5))
    hours = np.where(part, rng.normal(980, 260, n), rng.normal(1720, 120, n)).clip(120, 2600).round().astype(np.int64)
    majors = [int(NESTED[code]) - 1 for code in NESTED]
    usual = np.array([pay for _, pay, _ in OCCUPATIONS.values()])[np.array(majors)][occupation]
    by_age = np.array([0.66, 0.9, 1.04, 1.1, 1.08, 0.94])[age]
    by_sex = np.where(sex == 0, 0.93, 1.04)
    long_tail = np.where(rng.random(n) < 0.02, 1 + rng.pareto(2.2, n), 1.0)
    pay = usual * by_age * by_sex * county_pay * (hours / 1720) * rng.lognormal(-0.04, 0.28, n) * long_tail
    pay = pay.clip(600, MOST_PAY - 1).round().astype(np.int64)
    band = np.searchsorted(EDGES, pay, side="right") - 1
    return pa.table(
        {
            "person": pa.array(np.arange(1, n + 1)),
            "county": _coded(county, [*COUNTIES]),
            "sex": _coded(sex, [*SEXES]),
            "age": _coded(age, [*AGES]),
            "occupation": _coded(occupation, [*NESTED]),
            "contract": _coded(part.astype(np.int64), [*CONTRACTS]),
            "band": _coded(band, [*_bands()]),
            "pay": pa.array(pay),
            "hours": pa.array(hours),
            "rkey": pa.array(rng.integers(0, 2**32, n, dtype=np.uint32)),
        }
    )


def _coded(index: Ints, codes: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(index.astype(np.int8), codes)


def _counties(rng: np.random.Generator, n: int) -> tuple[Ints, Floats]:
    """The county of each employee, and by how much it pays more than the others: most in and around the capital."""
    place = np.arange(len(COUNTIES))
    distance = np.hypot(place // 5 - 2, place % 5 - 2)  # from the capital in the middle of the map
    share = np.exp(-0.65 * distance) * rng.lognormal(0, 0.35, place.size) + 0.01
    share[[1, 6, 20]] *= 0.12  # some have few people
    pay = 1.16 - 0.08 * distance + rng.normal(0, 0.025, place.size)
    county = rng.choice(place.size, n, p=share / share.sum())
    return county, pay[county]


def _occupations(rng: np.random.Generator, sex: Ints) -> Ints:
    """The sub-major group of each employee: thin and crowded ones, in other shares for women and men."""
    codes = [*NESTED]
    size = rng.permutation(np.arange(4.0, len(codes) + 4)) ** -0.7
    lean = np.array([{"2": 1.2, "4": 1.7, "5": 1.5, "7": 0.25, "8": 0.35, "1": 0.7}.get(c[0], 1.0) for c in codes])
    women, men = size * lean, size / lean
    drawn = [rng.choice(len(codes), sex.size, p=share / share.sum()) for share in (women, men)]
    return np.where(sex == 0, drawn[0], drawn[1])
