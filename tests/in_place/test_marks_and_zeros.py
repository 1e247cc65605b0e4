"""Every mark, method and recipe on tables with empty cells: a mark is true of every cell it stands in, zeros stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.cli import run
from discreet.methods import recipe_names

COUNTS = st.sampled_from([0, 0, 0, 1, 2, 5, 6, 9, 14, 30])
ROWS = st.lists(st.lists(COUNTS, min_size=3, max_size=4), min_size=3, max_size=4).filter(
    lambda rows: len({len(row) for row in rows}) == 1
)
RANGES = ("<6", "≤5", "<= 5", "1-5", "1–5")
TABLE = pd.DataFrame(
    {"a": [3, 10, 12, 25], "b": [0, 4, 14, 18], "c": [20, 30, 16, 66], "Total": [23, 44, 42, 109]},
    index=["N", "S", "W", "Total"],
)


def with_totals(rows: list[list[int]]) -> pd.DataFrame:
    """A table with its margins, as people have it."""
    frame = pd.DataFrame(rows, index=[f"r{k}" for k in range(len(rows))], columns=list("abcd")[: len(rows[0])])
    frame["Total"] = frame.sum(axis=1)
    frame.loc["Total"] = frame.sum()
    return frame


def pairs(before: Any, after: Any) -> list[tuple[int, Any]]:
    """Every number with what stands in its place."""
    return list(zip(before.to_numpy().ravel().tolist(), after.astype(object).to_numpy().ravel().tolist(), strict=True))


@settings(max_examples=25, deadline=None)
@given(rows=ROWS, mark=st.sampled_from((*RANGES, "*", "[c]", "..")))
def test_a_mark_is_true_where_it_stands(rows: list[list[int]], mark: str) -> None:
    """Empty cells stay; a mark that says 1 to 5 stands in every such cell and in no other."""
    frame = with_totals(rows)
    try:
        after = dc.suppress_small_counts(frame, under=6, mark=mark, total="Total")
    except dc.Refused:
        return  # too few cells to hide a small one among
    except dc.InputError as error:
        if not any(word in str(error) for word in ("running sum", "stock")):  # small numbers add up by chance
            raise
        return
    both = pairs(frame, after)
    assert all(now == 0 for was, now in both if was == 0)
    assert not [now for was, now in both if 0 < was < 6 and not isinstance(now, str)]
    if mark in RANGES:
        assert all((now == mark) == (0 < was < 6) for was, now in both)
    assert all(isinstance(now, str) or now == was for was, now in both)


@pytest.mark.parametrize("mark", [None, "*", "[c]", "x"])
@pytest.mark.parametrize("recipe", recipe_names())
def test_recipes_on_tables_with_zeros(recipe: str, mark: str | None) -> None:
    """Each recipe with each mark gives a frame of the same form; where zeros are shown they are zeros."""
    stated: dict[str, Any] = {} if recipe not in ("ons-cell-key", "statcan-base5") else {"seed": 5}
    after = dc.apply_recipe(
        TABLE, recipe, mark=mark, settings={"secondary": True} if recipe == "nhs" else None, **stated
    )
    assert after.shape == TABLE.shape
    empty = [now for was, now in pairs(TABLE, after) if was == 0]
    assert all(pd.isna(now) or now in (0, mark) for now in empty)


@pytest.mark.parametrize("how", ["nearest", "random", "midpoint", "controlled"])
def test_rounding_and_noise_leave_zeros(how: str) -> None:
    """No kind of rounding, nor noise, makes somebody out of nobody."""
    after = dc.round_counts(TABLE, how=how, seed=3 if how == "random" else None)  # type: ignore[arg-type]
    noisy = dc.perturb_counts(TABLE, seed=3)
    assert all(now == 0 for frame in (after, noisy) for was, now in pairs(TABLE, frame) if was == 0)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize("mark", [*RANGES, "*", "[c]"])
def test_a_file_with_an_empty_cell(tmp_path: Path, mark: str, suffix: str) -> None:
    """`protect --mark` takes a table with a zero, and `audit` passes what it wrote."""
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    rows = [
        ["Area", *TABLE.columns],
        *([name, *map(int, row)] for name, row in zip(TABLE.index, TABLE.to_numpy(), strict=True)),
    ]
    if suffix == ".csv":
        source.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    else:
        book = openpyxl.Workbook()
        for row in rows:
            book.worksheets[0].append(row)
        book.save(source)
    assert run(["protect", str(source), "--hide-under", "6", "--mark", mark, "-o", str(target)]) == 0
    assert run(["audit", str(target), "--suppressed", mark] if mark == "[c]" else ["audit", str(target)]) == 0


def test_a_cell_hidden_for_another_sheet_has_no_mark_of_a_range(tmp_path: Path) -> None:
    """Sheets of one population: what one hides, the other hides with the plain mark, as it is not small."""
    book = openpyxl.Workbook()
    one, two = book.worksheets[0], book.create_sheet("no totals")
    rows: list[list[Any]] = [["Area", "f", "m", "Total"], ["N", 3, 20, 23], ["S", 14, 11, 25], ["W", 0, 17, 17]]
    rows.append(["Total", 17, 48, 65])
    for row in rows:
        one.append(row)
    for row in rows[:4]:
        two.append(row[:3])
    book.save(tmp_path / "in.xlsx")
    args = ["protect", str(tmp_path / "in.xlsx"), "--hide-under", "6", "--mark", "<6", "-o", str(tmp_path / "out.xlsx")]
    assert run(args) == 0
    before = openpyxl.load_workbook(tmp_path / "in.xlsx")
    for sheet in openpyxl.load_workbook(tmp_path / "out.xlsx").worksheets:
        there = [
            (c.value, sheet[c.coordinate].value) for row in before[sheet.title].iter_rows(2, min_col=2) for c in row
        ]
        assert all((now == "<6") == (0 < was < 6) for was, now in there)
        assert sum(now == "*" for _, now in there) == 3
