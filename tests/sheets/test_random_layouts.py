"""Random tables in random layouts: every number in its place and every sum known, or a question. Never a guess."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.sheets.reading_sheets import read_tables
from tests.sheets.gallery.draft import Draft, written

HEADS = [["f", "m"], ["2019", "2020", "2021"], ["0-4", "5-9", "10+"], ["x", "y", "z", "w"], ["n"]]


@dataclass(frozen=True)
class Line:
    """A row: what stands in the outer and the inner column, its code, the leaves it adds up (none: a section)."""

    outer: str
    label: str
    indent: int
    code: str
    leaves: tuple[str, ...]


def grouped(random: Random, style: str, first: bool) -> tuple[list[Line], dict[str, tuple[str, ...]]]:
    """Rows of two or three groups in one of the styles, and the sums that are on the sheet."""
    lines: list[Line] = []
    sums: dict[str, tuple[str, ...]] = {}
    shown = random.random() < 0.5
    for g in range(random.randint(2, 3)):
        group = f"G{g}"
        leaves = tuple(f"{'abc'[g]}{k}" for k in range(random.randint(2, 4)))
        own = [Line(group if style == "columns" else "", leaf, 2, leaf, (leaf,)) for leaf in leaves]
        if style == "indent":
            lines += [Line("", group, int(first), group, leaves), *own]
            sums[group] = leaves
        elif style == "columns":
            lines += [*own, *([Line(group, "Total", 0, group, leaves)] if shown else [])]
            sums |= {group: leaves} if shown else {}
        elif style == "sections":
            lines += [Line("", group, 0, "", ()), *own]
        else:
            lines += [*own, Line("", f"{group} total", 0, f"{group} total", leaves)]
            sums[f"{group} total"] = leaves
    return lines, sums


def drawn(random: Random) -> tuple[Draft, dict[str, tuple[str, ...]], str | None]:
    """A sheet, its sums among rows, and the total among columns."""
    draft = Draft("S")
    row = 1
    if random.random() < 0.5:
        draft.text(1, 1, "Some title of the table")
        row = random.randint(2, 3)
    style = random.choice(["flat", "indent", "columns", "sections", "last"])
    place, across = random.choice([None, "first", "last"]), random.choice([None, "first", "last"])
    heads = random.choice(HEADS)
    if style == "flat":
        codes = [f"L{k}" for k in range(random.randint(2, 6))]
        lines, sums = [Line("", code, 0, code, (code,)) for code in codes], dict[str, tuple[str, ...]]()
    else:
        lines, sums = grouped(random, style, place == "first")
    leaves = tuple(leaf for line in lines for leaf in line.leaves if len(line.leaves) == 1)
    if place is not None:
        name = random.choice(["Total", "All", "Insgesamt"])
        total = Line(name if style == "columns" else "", name, 0, name, leaves)
        lines = [total, *lines] if place == "first" else [*lines, total]
        sums[name] = leaves
    columns: dict[str, tuple[str, ...]] = {head: (head,) for head in heads}
    whole = random.choice(["Total", "All persons"]) if across and len(heads) > 1 else None
    if whole is not None:
        every = {whole: tuple(heads)}
        columns = every | columns if across == "first" else columns | every
    most = random.choice([3, 20, 300, 5000])
    counts = {(leaf, head): random.choice([0, 1, 1]) * random.randint(0, most) for leaf in leaves for head in heads}
    stub = 2 if style == "columns" else 1
    draft.line(row, [*(["Region"] if stub == 2 else []), "Area", *columns])
    draft.table({})
    for line in lines:
        row += 1
        draft.text(row, stub, line.label, indent=line.indent if style == "indent" else 0)
        if line.outer:
            draft.text(row, 1, line.outer)
        for column, (head, parts) in enumerate(columns.items() if line.leaves else (), stub + 1):
            number = sum(counts[leaf, part] for leaf in line.leaves for part in parts)
            draft.number(row, column, number, line.code, head)
    if random.random() < 0.5:
        draft.text(row + 2, 1, "Source: ourselves")
    kept = {code: parts for code, parts in sums.items() if any(counts[p, head] for p in parts for head in heads)}
    return draft, kept, whole if any(counts.values()) else None


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_random_layout_is_read_or_asked_about(kind: str, tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Whatever the numbers, small ones and zeros among them."""
    draft, sums, whole = drawn(Random(seed))
    path: Path = written([draft], tmp_path_factory.mktemp("random"), kind)
    try:
        tables = read_tables(path)
    except InputError:
        return
    said = ("part of", "counts all of", "are parts of it whose remainder is protected as well")
    further = tables[1:]
    assert all(any(phrase in words for words in other.assumed for phrase in said) for other in further)
    dims = [d for table in tables for d in table.dimensions]
    known = {g.code for d in dims for g in d.groups} | {d.total for d in dims}
    assert set(sums) <= known
    assert whole is None or whole in known
    read: dict[tuple[int, int], float] = {}
    for one in tables:  # columns that may overlap come in tables of their own, which is said
        values = one.published.values["count"].tolist()
        codes = [tuple(d.codes[k] for d, k in zip(one.dimensions, row, strict=True)) for row in one.published.codes]
        number = dict(zip(codes, values, strict=True))
        read |= {(p.row, p.column): number[cell] for cell, places in one.places.items() for p in places}
    (truth,) = draft.tables
    assert read == {place: cell.number for cell in truth.cells.values() for place in cell.places}


def test_most_random_layouts_need_no_question(tmp_path: Path) -> None:
    """Refusing everything would be safe, and of no use."""
    asked = 0
    for seed in range(60):
        draft, _, _ = drawn(Random(seed))
        try:
            read_tables(written([draft], tmp_path, "csv"))
        except InputError:
            asked += 1
    assert asked <= 6


def test_ranges_that_have_nothing_in_common_are_no_parts_of_each_other(tmp_path: Path) -> None:
    """Those of 5 to 9 are nowhere fewer than the others, and nobody of 0 to 4 is among them."""
    path = tmp_path / "a.csv"
    path.write_text("Area,0-4,5-9,10+\na0,0,1,0\na1,2,3,0\nb0,1,1,0\nb1,0,0,0\n")
    (table,) = read_tables(path)
    assert all(dim.total is None for dim in table.dimensions)


def test_of_two_labels_that_add_up_the_one_called_a_total_is_asked_about(tmp_path: Path) -> None:
    """Nobody is female, so that either column is the sum of the other two."""
    path = tmp_path / "a.csv"
    path.write_text("Area,All persons,f,m\nL0,3360,0,3360\nL1,2313,0,2313\nL2,4749,0,4749\n")
    with pytest.raises(InputError, match="'All persons' is called like a total"):
        read_tables(path)
    (table,) = read_tables(path, total={"column": "All persons"})
    assert [d.total for d in table.dimensions] == [None, "All persons"]
