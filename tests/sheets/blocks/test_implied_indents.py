"""Labels that stand below others without an indent: parts of the label above, or of the one below."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from discreet.errors import InputError
from discreet.sheets.blocks.implied_indents import with_implied_indents
from discreet.sheets.blocks.label_paths import LabelLevel
from discreet.sheets.reading_sheets import read_table


def indents(*texts: str) -> tuple[int, ...]:
    levels, _ = with_implied_indents([LabelLevel("", texts, tuple(None for _ in texts))])
    return levels[-1].indents


def test_labels_that_stand_again_are_parts() -> None:
    """Of labels above or below them; a total at the end has none."""
    assert indents("N", "m", "f", "S", "m", "f", "Total") == (0, 1, 1, 0, 1, 1, 0)
    assert indents("m", "f", "N", "m", "f", "S") == (1, 1, 0, 1, 1, 0)


def test_a_label_that_stands_twice_by_mistake_implies_nothing() -> None:
    """Not every label between is followed by parts."""
    assert indents("Newton", "Ashton", "Newton", "Barton") == ()
    assert indents("N", "m", "S", "m", "W", "x", "y") == ()


def test_of_which_is_a_part_of_what_stands_before() -> None:
    """In other languages, too; it cannot stand first."""
    assert indents("Staff", "of which: women", "Pupils", "davon weiblich") == (0, 1, 0, 1)
    assert not any(indents("of which", "Pupils"))


def read(rows: list[list[Any]], tmp_path: Any, **options: Any) -> Any:
    frame = pd.DataFrame(rows[1:], columns=rows[0])
    frame.to_csv(tmp_path / "t.csv", index=False)
    return read_table(tmp_path / "t.csv", **options)


@pytest.mark.parametrize("above", [True, False])
def test_sexes_below_each_region_are_a_dimension(above: bool, tmp_path: Any) -> None:
    """The row of a region is the total of its sexes, wherever it stands."""
    counts = {"North": (48, 52), "South": (45, 3), "West": (20, 31)}
    rows: list[list[Any]] = [["Region", "n"]]
    for region, (men, women) in counts.items():
        own = [["Male", men], ["Female", women]]
        rows += [[region, men + women], *own] if above else [*own, [region, men + women]]
    table = read(rows, tmp_path)
    assert [len(d.leaves) for d in table.dimensions] == [3, 2]
    cells = {frozenset(codes): place[0].row for codes, place in table.places.items()}
    assert cells[frozenset({"South", "Female"})] == (7 if above else 6)


def test_a_region_that_is_not_the_sum_is_refused(tmp_path: Any) -> None:
    """The numbers deny what the labels imply."""
    rows: list[list[Any]] = [["Region", "n"], ["N", 100], ["m", 48], ["f", 42], ["S", 80], ["m", 45], ["f", 35]]
    with pytest.raises(InputError, match="sum"):
        read(rows, tmp_path)


DASHES = {
    "Staff": (210, 221),
    "- Nurses": (101, 110),
    "  - of which agency": (9, 4),
    "- Doctors": (61, 58),
    "  - of which temporary": (12, 15),
    "- Other": (48, 53),
}


@pytest.mark.parametrize("total", [None, "Staff"])
def test_labels_behind_dashes_are_parts_of_the_label_above(total: str | None, tmp_path: Path) -> None:
    """A dash is a level within the same indent: what stands "of which" below a part is its own."""
    path = tmp_path / "staff.csv"
    path.write_text(",2022,2023\n" + "".join(f"{k},{a},{b}\n" for k, (a, b) in DASHES.items()), encoding="utf-8")
    rows = read_table(path, total=total).dimensions[0]
    assert rows.total == "Staff"
    inside = {group.code: {part for part, _ in group.parts} for group in rows.groups}
    assert {code for code, parts in inside.items() if any("of which" in part for part in parts)} == {
        "- Nurses",
        "- Doctors",
    }


def test_a_dash_before_every_label_says_nothing() -> None:
    """Nor does one before a number, or one without a blank behind it."""
    assert indents("- North", "- South") == ()
    assert indents("North", "-South", "- 5") == ()
    assert indents("All", "\u2022 North", "\u2022 South") == (0, 1, 1)
