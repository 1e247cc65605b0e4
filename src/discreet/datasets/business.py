"""Synthetic firms: skewed turnover, nested regions and activities, enterprise groups and sampling weights."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.base.annotations import Floats
from discreet.base.arguments import checked
from discreet.data.codebook import Codebook, Magnitude
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.errors import InputError

Ints = NDArray[np.int64]

REGIONS = {"N": "North", "E": "East", "S": "South", "W": "West"}
COUNTIES = {f"{region}{number}": region for region in REGIONS for number in range(1, 5)}
SECTIONS = {
    "C": "Manufacturing",
    "F": "Construction",
    "G": "Trade",
    "H": "Transport and storage",
    "I": "Accommodation and food",
    "J": "Information and communication",
    "M": "Professional services",
}
# section -> division: (label, number of groups); the group codes are the division's with one more digit
DIVISIONS = {
    "C": {"C10": ("Food", 5), "C16": ("Wood", 2), "C20": ("Chemicals", 3), "C25": ("Metal products", 5)},
    "F": {"F41": ("Buildings", 2), "F42": ("Civil engineering", 3), "F43": ("Specialised construction", 4)},
    "G": {"G45": ("Motor vehicles", 3), "G46": ("Wholesale", 5), "G47": ("Retail", 6)},
    "H": {"H49": ("Land transport", 3), "H52": ("Warehousing", 2)},
    "I": {"I55": ("Accommodation", 3), "I56": ("Food service", 3)},
    "J": {"J58": ("Publishing", 2), "J61": ("Telecommunications", 3), "J62": ("Software", 1)},
    "M": {"M69": ("Legal and accounting", 2), "M71": ("Engineering", 2), "M72": ("Research", 2)},
}
GROUPS = tuple(
    f"{division}{number}"
    for divisions in DIVISIONS.values()
    for division, (_, count) in divisions.items()
    for number in range(1, count + 1)
)
SIZES = {"0-9": 0, "10-49": 10, "50-249": 50, "250+": 250}  # class -> its smallest number of employees

# turnover per employee by section, in thousands
PRODUCTIVITY = {"C": 220, "F": 160, "G": 310, "H": 150, "I": 60, "J": 210, "M": 130}
WEIGHTS = (18.0, 4.5, 1.6, 1.0)  # by size class, before the section's factor; large firms are all observed
IN_GROUP = (0.02, 0.12, 0.45, 0.85)  # by size class: share of firms that belong to an enterprise group


@checked
def business(n: int = 100_000, seed: int = 2003) -> Microdata:
    """``n`` synthetic firms with region, activity, size, turnover, employees, holding and weight.

    Turnover is log-normal with a Pareto tail, so that in many cells one or two firms hold nearly everything; some
    holdings have firms in several regions and activities. The weights are those of a survey stratified by size and
    section: 1 for the largest class.

    >>> firms = business(500)
    >>> firms.n, [m.name for m in firms.codebook.magnitudes]
    (500, ['turnover', 'employees'])
    """
    return Microdata.read(business_arrow(n, seed), business_codebook())


@checked
def business_codebook() -> Codebook:
    """What the columns of the firms mean."""
    return Codebook(
        dimensions=tuple(business_dimensions()),
        unit="firm",
        holding="holding",
        weight="weight",
        magnitudes=(Magnitude("turnover", decimals=2, unit="thousands"), Magnitude("employees", decimals=0)),
        title="Firms by region, activity and size",
        source="synthetic",
    )


@checked
def business_dimensions() -> list[Dimension]:
    """Region (16 counties in 4 regions), activity (61 groups in 20 divisions in 7 sections) and size class.

    >>> [len(d.leaves) for d in business_dimensions()]
    [16, 61, 4]
    """
    counties = {county: f"{REGIONS[region]}, county {county[1:]}" for county, region in COUNTIES.items()}
    labels = {code: label for divisions in DIVISIONS.values() for code, (label, _) in divisions.items()}
    groups = {group: f"{labels[group[:3]]}, group {group[3:]}" for group in GROUPS}
    nested = {group: group[:3] for group in GROUPS} | {division: division[0] for division in labels}
    return [
        Dimension.from_parents("region", COUNTIES, total="Total", labels=REGIONS | counties),
        Dimension.from_parents("activity", nested, total="Total", labels=SECTIONS | labels | groups),
        Dimension.flat("size", SIZES, labels={code: f"{code} employees" for code in SIZES}),
    ]


@checked
def business_arrow(n: int = 100_000, seed: int = 2003) -> pa.Table:
    """The firms as a plain Arrow table.

    >>> business_arrow(2).column_names
    ['firm', 'region', 'activity', 'size', 'turnover', 'employees', 'holding', 'weight']
    """
    if n < 1:
        raise InputError(f"business: n is {n}; ask for at least one firm")
    rng = np.random.Generator(np.random.PCG64(seed))
    activity = _uneven(rng, len(GROUPS), n)
    section = np.array([list(SECTIONS).index(group[0]) for group in GROUPS])[activity]
    employees = _employees(rng, n)
    size = np.searchsorted(list(SIZES.values()), employees, side="right") - 1
    holding, home = _holdings(rng, size)
    region = np.where(home >= 0, home, _uneven(rng, len(COUNTIES), n))
    return pa.table(
        {
            "firm": pa.array(np.arange(1, n + 1)),
            "region": _coded(region, list(COUNTIES)),
            "activity": _coded(activity, list(GROUPS)),
            "size": _coded(size, list(SIZES)),
            "turnover": pa.array(_turnover(rng, employees, section)),
            "employees": pa.array(employees),
            "holding": pa.array(holding),
            "weight": pa.array(_weights(size, section)),
        }
    )


def _coded(index: Ints, codes: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(index.astype(np.int8), codes)


def _uneven(rng: np.random.Generator, categories: int, n: int) -> Ints:
    """Categories whose shares fall off with their rank, in an order drawn anew: a few crowded, many thin."""
    share = rng.permutation(np.arange(3.0, categories + 3)) ** -1.5  # from 3: none takes half of all firms
    return rng.choice(categories, size=n, p=share / share.sum())


def _employees(rng: np.random.Generator, n: int) -> Ints:
    """Log-normal numbers of employees; one firm in a hundred is drawn from a Pareto tail instead."""
    body = rng.lognormal(1.1, 1.2, size=n)
    tail = 60 * (1 + rng.pareto(1.1, size=n))
    return np.minimum(np.where(rng.random(n) < 0.01, tail, body), 50_000).astype(np.int64)


def _turnover(rng: np.random.Generator, employees: Ints, section: Ints) -> Floats:
    """Thousands with two decimals: productivity by section, log-normal between firms, Pareto at the top."""
    mean = np.array([PRODUCTIVITY[s] for s in SECTIONS])[section] * (employees + 1)
    top = np.where(rng.random(employees.size) < 0.02, 1 + rng.pareto(1.2, size=employees.size), 1.0)
    turnover: Floats = np.round(mean * rng.lognormal(-0.3, 0.8, size=employees.size) * np.minimum(top, 200), 2)
    return turnover


def _holdings(rng: np.random.Generator, size: Ints) -> tuple[Ints, Ints]:
    """Each firm's holding, and the county its holding keeps to (-1: none, or the firm is alone).

    A firm without a group is its own holding. Groups differ in size like 1/rank; every other one keeps all its firms
    in one county, the rest spread over the country.
    """
    n = size.size
    groups = max(1, n // 100)
    share = 1.0 / np.arange(5, groups + 5)  # from 5: no single group swallows the country
    group = rng.choice(groups, size=n, p=share / share.sum())
    county = np.where(np.arange(groups) % 2 == 0, rng.integers(len(COUNTIES), size=groups), -1)
    member = rng.random(n) < np.array(IN_GROUP)[size]
    alone = groups + np.arange(1, n + 1)
    return np.where(member, group + 1, alone), np.where(member, county[group], -1)


def _weights(size: Ints, section: Ints) -> Floats:
    """One weight for each stratum of size and section, two decimals, never under 1."""
    factor = 0.8 + 0.1 * np.arange(len(SECTIONS))
    strata: Floats = np.maximum(1.0, np.outer(np.array(WEIGHTS), factor)).round(2)
    strata[-1] = 1.0
    return strata[size, section]
