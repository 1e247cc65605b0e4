"""Workbooks of linked sheets against an intruder who knows how the sheets hang together and reads all of them.

The intruder's variables are the people of the population by all their characteristics; every cell of every sheet is a
sum of them, solved with scipy's integer programs. Nothing of the package is used but the command.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from discreet.base.annotations import Array
from discreet.cli import run

UNDER = 6
WARDS = ("Ash", "Bray", "Coll", "Dene")
SEXES = ("Female", "Male")
AGES = ("0-17", "18-64", "65+")


@dataclass(frozen=True)
class Sheet:
    """A sheet of counts: which part of the population each row and each column is about.

    One without a title is not in the workbook: nobody is told its counts, and small ones must not follow.
    """

    title: str
    header: str
    rows: dict[str, Array]
    columns: dict[str, Array]


def parts_of(axis: int, labels: tuple[str, ...], shape: tuple[int, ...], total: bool = True) -> dict[str, Array]:
    """Masks over the population, by label, and the whole."""
    masks = {}
    for k, label in enumerate(labels):
        mask = np.zeros(shape, bool)
        mask[(slice(None),) * axis + (k,)] = True
        masks[label] = mask
    return masks | ({"Total": np.ones(shape, bool)} if total else {})


def small_counts(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    sizes = rng.choice([0, 1, 2, 3, 9, 20], size=shape, p=[0.25, 0.15, 0.15, 0.1, 0.15, 0.2])
    return np.asarray(sizes + (sizes > 3) * rng.integers(0, 6, shape))


def two_margins(rng: np.random.Generator) -> tuple[Array, list[Sheet]]:
    """Wards by sex and wards by age; the label column is called the same or not."""
    shape = (len(WARDS) - 1, 2, 3)
    wards = parts_of(0, WARDS[:-1], shape)
    other = str(rng.choice(["Ward", "Ward name", "Area"]))
    sheets = [
        Sheet("By sex", "Ward", wards, parts_of(1, SEXES, shape)),
        Sheet("By age", other, wards, parts_of(2, AGES, shape)),
    ]
    return small_counts(rng, shape), sheets


def without_totals(rng: np.random.Generator) -> tuple[Array, list[Sheet]]:
    """Wards by sex without a total of sexes, which the other sheet shows."""
    shape = (len(WARDS) - 1, 2, 3)
    wards = parts_of(0, WARDS[:-1], shape)
    sexes = parts_of(1, SEXES, shape, total=False)
    return small_counts(rng, shape), [
        Sheet("By sex", "Ward", wards, sexes),
        Sheet("By age", "Area", wards, parts_of(2, AGES, shape)),
    ]


def three_margins(rng: np.random.Generator) -> tuple[Array, list[Sheet]]:
    """Every two of three characteristics: the sheets go in a circle."""
    shape = (2, 2, 3)
    wards, sexes, ages = (parts_of(k, own, shape) for k, own in enumerate((WARDS[:2], SEXES, AGES)))
    return small_counts(rng, shape), [
        Sheet("a", "Ward", wards, sexes),
        Sheet("b", "Ward", wards, ages),
        Sheet("c", "Sex", sexes, ages),
    ]


def sum_of_sheets(rng: np.random.Generator) -> tuple[Array, list[Sheet]]:
    """A sheet for each sex, and one for both."""
    shape = (2, 3, 2)
    areas, kinds = parts_of(1, WARDS[:3], shape), parts_of(2, ("Home", "Clinic"), shape)
    sexes = parts_of(0, ("Males", "Females"), shape)
    titles = {"Males": "Males", "Females": "Females", "Total": "Persons"}
    sheets = []
    for name, mask in sexes.items():
        rows = {label: own & mask for label, own in areas.items()}
        sheets.append(Sheet(titles[name], "Area", rows, kinds))
    return small_counts(rng, shape), sheets


def sheets_read_apart(rng: np.random.Generator) -> tuple[Array, list[Sheet]]:
    """A sheet for each year and one for both; on some of them a column is nowhere more than another, by chance."""
    shape = (2, 3, 3)
    years = parts_of(0, ("2021", "2022"), shape)
    schools, kinds = parts_of(1, WARDS[:3], shape), parts_of(2, ("FSM", "EAL", "SEN"), shape, total=False)
    people = rng.integers(7, 30, shape)
    people[0, :, 1] = people[0, :, 0] + rng.integers(1, 9, 3)
    people[1, :, 2] = people[1, :, 0] + rng.integers(1, 9, 3)
    people[0, 0, 0] = 3
    titles = {"2021": "2021", "2022": "2022", "Total": "2021-22"}
    return people, [
        Sheet(titles[name], "School", {label: own & mask for label, own in schools.items()}, kinds)
        for name, mask in years.items()
    ]


def pupils_of_schools(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Counts of three kinds, above the threshold but few; of the first the second or the third kind is nowhere less."""
    people = rng.integers(7, 25, shape)
    for part in people:
        part[..., rng.integers(1, 3)] = part[..., 0] + rng.integers(0, 7, part.shape[:-1])
    people[tuple(rng.integers(0, shape))] = rng.integers(1, 6)
    return people


def regions_read_apart(rng: np.random.Generator) -> tuple[Array, list[Sheet]]:
    """A summary and regions; on some sheets a column is nowhere more than another, by chance."""
    shape = (2, 3, 3)
    kinds = parts_of(2, ("FSM", "EAL", "SEN"), shape, total=False)
    names = parts_of(0, ("North", "South"), shape)
    sheets = [Sheet("Summary", "Region", names, kinds)]
    for name in ("North", "South"):
        schools = parts_of(1, tuple(f"{name} {kind}" for kind in ("Park", "Road", "Hill")), shape)
        sheets.append(Sheet(name, "School", {label: own & names[name] for label, own in schools.items()}, kinds))
    return pupils_of_schools(rng, shape), sheets


def part_read_apart(rng: np.random.Generator) -> tuple[Array, list[Sheet]]:
    """All pupils and most of them; on either sheet a column is nowhere more than another, by chance."""
    shape = (2, 3, 3)
    schools, kinds = parts_of(1, WARDS[:3], shape), parts_of(2, ("FSM", "EAL", "SEN"), shape, total=False)
    people = pupils_of_schools(rng, shape)
    people[1] = rng.choice([0, 1, 3, 8], size=shape[1:], p=[0.3, 0.2, 0.2, 0.3])
    part = parts_of(0, ("most", "others"), shape)
    own, rest = ({label: mask & part[name] for label, mask in schools.items()} for name in ("most", "others"))
    return people, [
        Sheet("Pupils", "School", schools, kinds),
        Sheet("Pupils met", "School", own, kinds),
        Sheet("", "", rest, kinds),
    ]


def regions(rng: np.random.Generator) -> tuple[Array, list[Sheet]]:
    """A summary, and a sheet of wards for each region."""
    shape = (3, 2, 2)
    sexes = parts_of(2, SEXES, shape)
    names = parts_of(0, ("North", "South", "West"), shape)
    sheets = [Sheet("Summary", "Region", names, sexes)]
    for name, mask in list(names.items())[:3]:
        wards = parts_of(1, (f"{name} 1", f"{name} 2"), shape)
        sheets.append(Sheet(f"S{name}", "Ward", {label: own & mask for label, own in wards.items()}, sexes))
    return small_counts(rng, shape), sheets


def a_part(rng: np.random.Generator) -> tuple[Array, list[Sheet]]:
    """All people, and most of them again: how many are left in a ward follows by subtraction."""
    shape = (2, 3, 2)
    wards, sexes = parts_of(1, WARDS[:3], shape), parts_of(2, SEXES, shape)
    people = small_counts(rng, shape)
    people[1] = rng.choice([0, 1, 3, 8], size=shape[1:], p=[0.3, 0.2, 0.2, 0.3])
    part = np.zeros(shape, bool)
    part[0] = True
    own = {label: mask & part for label, mask in wards.items()}
    rest = {label: mask & ~part for label, mask in wards.items()}
    return people, [Sheet("All", "Ward", wards, sexes), Sheet("Most", "Ward", own, sexes), Sheet("", "", rest, sexes)]


def parts_and_a_rest(rng: np.random.Generator) -> tuple[Array, list[Sheet]]:
    """All people, and two kinds of three: the third is what they leave of the whole."""
    shape = (3, 3, 2)
    wards, sexes = parts_of(1, WARDS[:3], shape), parts_of(2, SEXES, shape)
    people = small_counts(rng, shape)
    people[2] = rng.choice([0, 2, 9], size=shape[1:], p=[0.4, 0.3, 0.3])
    kinds = parts_of(0, ("Own", "Rented", ""), shape, total=False)
    sheets = [Sheet("All", "Ward", wards, sexes)]
    for name, kind in kinds.items():
        sheets.append(Sheet(name, "Ward", {label: mask & kind for label, mask in wards.items()}, sexes))
    return people, sheets


def save(path: Path, people: Array, sheets: list[Sheet]) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for sheet in sheets:
        if not sheet.title:
            continue
        page = book.create_sheet(sheet.title)
        page.append([sheet.header, *sheet.columns])
        for label, row in sheet.rows.items():
            page.append([label, *(int(people[row & column].sum()) for column in sheet.columns.values())])
    book.save(path)


def given_away(path: Path, people: Array, sheets: list[Sheet]) -> list[tuple[str, str, str]]:
    """Hidden counts below the threshold of which all numbers in the file leave one value."""
    book = openpyxl.load_workbook(path)
    masks: list[Array] = []
    least: list[float] = []
    most: list[float] = []
    asked: list[tuple[int, tuple[str, str, str]]] = []
    for sheet in sheets:
        page = book[sheet.title] if sheet.title else None
        for i, (label, row) in enumerate(sheet.rows.items(), 2):
            for j, (name, column) in enumerate(sheet.columns.items(), 2):
                mask = row & column
                true = int(people[mask].sum())
                shown: Any = page.cell(i, j).value if page else "*"
                if shown == "*":
                    asked += [(len(masks), (sheet.title, label, name))] if 0 < true < UNDER else []
                else:
                    assert shown == true
                    assert not 0 < true < UNDER
                masks.append(mask.ravel().astype(float))
                least.append(float(page is not None) if shown == "*" else float(true))
                most.append(np.inf if shown == "*" else float(true))
    sums = np.array(masks)
    constraint = LinearConstraint(sums, np.array(least), np.array(most))
    whole = np.ones(people.size, np.int64)
    known = []
    for number, cell in asked:
        ends = []
        for sign in (1, -1):
            solved = milp(sign * sums[number], constraints=constraint, bounds=Bounds(0, 500), integrality=whole)
            assert solved.fun is not None
            ends.append(round(sign * solved.fun))
        if ends[0] == ends[1]:
            known.append(cell)
    return known


LAYOUTS = [
    two_margins,
    without_totals,
    three_margins,
    sum_of_sheets,
    sheets_read_apart,
    regions_read_apart,
    part_read_apart,
    regions,
    a_part,
    parts_and_a_rest,
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(3))
def test_nothing_small_follows_from_all_sheets_together(
    tmp_path: Path,
    capfdbinary: Any,
    layout: Callable[[np.random.Generator], tuple[Array, list[Sheet]]],
    seed: int,
) -> None:
    """Either the command refuses and writes nothing, or no hidden small count is known from the whole workbook."""
    people, sheets = layout(np.random.default_rng(seed))
    save(tmp_path / "a.xlsx", people, sheets)
    code = run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", str(UNDER)])
    target = tmp_path / "a.safe.xlsx"
    capfdbinary.readouterr()
    assert code in (0, 1, 3)  # 1: written, and how some sheets are related was not judged
    assert target.exists() == (code != 3)
    assert not target.exists() or given_away(target, people, sheets) == []
