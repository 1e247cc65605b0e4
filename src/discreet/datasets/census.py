"""Synthetic persons for the census hypercube of JOS15: 2 x 2 x 21 x 5 x 13 x 9 x 5 = 245,700 cells.

Iterative proportional fitting to stated margins (``_margins.py``) over the cells that can exist, then one multinomial
draw. Nobody in it is real.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.base.annotations import Floats
from discreet.base.arguments import checked
from discreet.data.codebook import Codebook
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.data.variable_description import VariableDescription
from discreet.datasets import _margins as stated
from discreet.datasets.area_maps import invented_areas
from discreet.errors import InputError
from discreet.population.ipf import SumsByLabel, SumsOverAxes, scale_in_turn

BANDS = (*(f"{a}-{a + 4}" for a in range(0, 100, 5)), "100+")
CODES: dict[str, dict[str, str]] = {
    "region": {"R1": "Region 1", "R2": "Region 2"},
    "sex": {"M": "Male", "F": "Female"},
    "age": {band: f"{band} years" for band in BANDS},
    "activity": {
        "EMP": "Employed",
        "UNE": "Unemployed",
        "STU": "Student",
        "INA": "Retired or otherwise inactive",
        "NAP": "Not applicable (under 15, 75 and over)",
    },
    "occupation": {
        "0": "Armed forces",
        "1": "Managers",
        "2": "Professionals",
        "3": "Technicians",
        "4": "Clerks",
        "5": "Service and sales workers",
        "6": "Agricultural workers",
        "7": "Craft workers",
        "8": "Machine operators",
        "9": "Elementary occupations",
        "NEV": "Never worked",
        "UNK": "Not stated",
        "NAP": "Not applicable (under 15, 75 and over)",
    },
    "education": {
        "0": "No formal education",
        "1": "Primary",
        "2": "Lower secondary",
        "3": "Upper secondary",
        "4": "Post-secondary",
        "5": "Tertiary",
        "6": "Doctorate",
        "UNK": "Not stated",
        "NAP": "Not applicable (under 15, 75 and over)",
    },
    "citizenship": {
        "NAT": "National",
        "EU": "Other EU",
        "EUR": "Other Europe",
        "OTH": "Rest of the world",
        "STL": "Stateless",
    },
}
WORKING_AGE = "Persons aged 15 to 74; others are not applicable"
DESCRIPTIONS = {
    "region": VariableDescription(
        "Region", "The region in which a person has the usual residence.", geometry=invented_areas([*CODES["region"]])
    ),
    "sex": VariableDescription("Sex", "The sex that a person stated."),
    "age": VariableDescription("Age", "Age in completed years on the day of the census, in bands of five years."),
    "activity": VariableDescription(
        "Current activity status",
        "What a person mainly does: is employed, looks for work, studies, or neither works nor looks for work.",
        WORKING_AGE,
    ),
    "occupation": VariableDescription(
        "Occupation",
        "The major group of the present or the last job (ISCO-08).",
        WORKING_AGE,
    ),
    "education": VariableDescription(
        "Educational attainment", "The highest level of education completed (ISCED).", WORKING_AGE
    ),
    "citizenship": VariableDescription("Citizenship", "The country or group of countries whose citizen a person is."),
}
NAMES = tuple(CODES)
SHAPE = tuple(len(codes) for codes in CODES.values())
OUTSIDE = np.array([band < 3 or band >= 15 for band in range(len(BANDS))])  # bands that are not asked about work
ROUNDS = 40  # the margins then agree to 1e-4 in all


@checked
def census(n: int = 1_500_000, seed: int = 2001) -> Microdata:
    """``n`` synthetic persons with region, sex, age, activity, occupation, education and citizenship.

    At the default size the cell counts are distributed nearly as in JOS15 Table 1 (92.4 % zeros, 1.6 % ones, 0.9 %
    twos) and the four output tables of JOS15 Table 2 have nearly the same size and share of zeros. The record keys in
    ``rkey`` come from the seed, so they protect nothing: fine for a demonstration, never for real data.

    >>> people = census(500)
    >>> people.n, [d.name for d in people.dimensions][:3]
    (500, ['region', 'sex', 'age'])
    """
    return Microdata.read(census_arrow(n, seed), census_codebook())


@checked
def census_codebook() -> Codebook:
    """What the columns of the persons mean."""
    return Codebook(
        dimensions=tuple(census_dimensions()),
        unit="person",
        key="rkey",
        title="Persons of two regions",
        source="synthetic",
        universe="All usual residents",
        date="2001",
    )


@checked
def census_dimensions() -> list[Dimension]:
    """The variables of the census: seven flat dimensions with English labels.

    >>> [len(d.leaves) for d in census_dimensions()]
    [2, 2, 21, 5, 13, 9, 5]
    """
    return [
        replace(Dimension.flat(name, codes, labels=codes), description=DESCRIPTIONS[name])
        for name, codes in CODES.items()
    ]


@checked
def census_arrow(n: int = 1_500_000, seed: int = 2001) -> pa.Table:
    """The persons as a plain Arrow table: ``person``, seven dictionary columns and ``rkey``, in random order.

    >>> census_arrow(3).column_names[:4]
    ['person', 'region', 'sex', 'age']
    """
    if n < 1:
        raise InputError(f"census: n is {n}; ask for at least one person")
    rng = np.random.Generator(np.random.PCG64(seed))
    proportions, subscripts = _fitted()
    cells = np.repeat(np.arange(proportions.size, dtype=np.int32), rng.multinomial(n, proportions))
    rng.shuffle(cells)
    columns = {"person": pa.array(np.arange(1, n + 1))}
    for axis, name in enumerate(NAMES):
        columns[name] = pa.DictionaryArray.from_arrays(subscripts[axis][cells], list(CODES[name]))
    columns["rkey"] = pa.array(rng.integers(0, 2**64, size=n, dtype=np.uint64))
    return pa.table(columns)


@checked
def census_structural() -> NDArray[np.bool_]:
    """True for each cell of the hypercube that cannot exist, such as an employed child.

    >>> bool(census_structural()[0, 0, 1, 0].all())
    True
    """
    possible = np.ones(SHAPE, dtype=bool)
    for (first, second), margin in _two_way().items():
        shape = [1] * len(SHAPE)
        shape[first], shape[second] = margin.shape
        possible &= (margin > 0).reshape(shape)
    return ~possible


@cache
def _fitted() -> tuple[Floats, NDArray[np.int8]]:
    """Proportions of the possible cells, and their subscripts by axis: iterative proportional fitting from uniform."""
    subscripts = np.array(np.nonzero(~census_structural()), dtype=np.int8)
    targets = []
    for (first, second), margin in _two_way().items():
        where = subscripts[first].astype(np.int64) * margin.shape[1] + subscripts[second]
        targets.append(SumsByLabel(where, margin.ravel()))
    p: Floats = np.full(subscripts.shape[1], 1.0 / subscripts.shape[1])
    scale_in_turn(p, targets, tolerance=0, iterations=ROUNDS)
    p /= p.sum()
    p.flags.writeable = subscripts.flags.writeable = False  # cached: shared by every caller
    return p, subscripts


@cache
def _two_way() -> dict[tuple[int, int], Floats]:
    """The two-way margins by their axes, made to agree with each other.

    Those who are not asked about work are "not applicable" in all three work variables, so their number by age, sex
    and citizenship fixes the last column of every margin with one of the three.
    """
    region, sex, age, citizenship = map(_shares, (stated.REGION, stated.SEX, stated.AGE, stated.CITIZENSHIP))
    asked = float(age[~OUTSIDE].sum())
    activity, occupation, education = (
        asked * _shares(weights) for weights in (stated.ACTIVITY, stated.OCCUPATION, stated.EDUCATION)
    )
    men = np.array(stated.MEN) / 100
    sex_age = _rake([men * age, (1 - men) * age], sex, age)
    foreign = np.array(stated.AGE_FOREIGN)[:, None] / 100
    age_citizenship = _rake(age[:, None] * np.hstack([np.ones_like(foreign), *[foreign] * 4]), age, citizenship)

    by_age, by_sex, by_citizenship = age * OUTSIDE, sex_age @ OUTSIDE, OUTSIDE @ age_citizenship
    bands = (int(OUTSIDE.argmin()), int(OUTSIDE[::-1].argmin()))
    return {
        (0, 6): _rake(stated.REGION_CITIZENSHIP, region, citizenship),
        (1, 2): sex_age,
        (1, 3): _asked(_by_sex(stated.MEN_ACTIVITY, activity), sex, by_sex, activity),
        (1, 4): _asked(_by_sex(stated.MEN_OCCUPATION, occupation), sex, by_sex, occupation),
        (2, 3): _asked(np.pad(stated.AGE_ACTIVITY, (bands, (0, 0))), age, by_age, activity),
        (2, 4): _asked(np.pad(stated.AGE_OCCUPATION, (bands, (0, 0))), age, by_age, occupation),
        (2, 5): _asked(np.pad(stated.AGE_EDUCATION, (bands, (0, 0))), age, by_age, education),
        (2, 6): age_citizenship,
        (3, 4): _both_asked(stated.ACTIVITY_OCCUPATION, activity, occupation, 1 - asked),
        (4, 5): _both_asked(stated.OCCUPATION_EDUCATION, occupation, education, 1 - asked),
        (4, 6): _asked(stated.CITIZENSHIP_OCCUPATION, citizenship, by_citizenship, occupation).T,
    }


def _asked(weights: ArrayLike, rows: Floats, outside: Floats, columns: Floats) -> Floats:
    """A margin of the persons who are asked about work, with the others as its last column."""
    return np.column_stack([_rake(weights, rows - outside, columns), outside])


def _both_asked(weights: ArrayLike, rows: Floats, columns: Floats, outside: float) -> Floats:
    """A margin of two work variables: the persons who are not asked stand in the last row and column."""
    margin = np.pad(_rake(weights, rows, columns), (0, 1))
    margin[-1, -1] = outside
    return margin


def _by_sex(men: Sequence[float], total: Floats) -> Floats:
    share = np.array(men) / 100
    return np.array([share * total, (1 - share) * total])


def _shares(weights: Sequence[float]) -> Floats:
    return np.array(weights, dtype=np.float64) / sum(weights)


def _rake(weights: ArrayLike, rows: Floats, columns: Floats) -> Floats:
    """Weights scaled to the row and column sums; zeros stay zeros."""
    fitted = np.array(weights, dtype=np.float64)
    sums = [SumsOverAxes((1,), rows[:, None]), SumsOverAxes((0,), columns[None, :])]
    scale_in_turn(fitted, sums, tolerance=0, iterations=200)
    return fitted
