"""Columns and rows that add up another, or rank it, are not counts to publish beside it."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.sheets.reading_sheets import read_tables

COUNTS = (3, 7, 5, 9, 2)


def sheet(folder: Path, column: list[int], total: bool, header: str = "Second") -> Path:
    """Counts by month, and a column beside them, with a row of totals or without."""
    rows = [("Month", "Deaths", header), *zip(("Jan", "Feb", "Mar", "Apr", "May"), COUNTS, column, strict=True)]
    rows += [("Total", sum(COUNTS), column[-1])] if total else []
    path = folder / "months.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("total", [False, True])
def test_a_running_sum_is_refused_and_left_aside_by_its_header(total: bool, tmp_path: Path) -> None:
    """Whatever it is called; with the option that settles it the counts alone are the table."""
    path = sheet(tmp_path, list(accumulate(COUNTS)), total)
    with pytest.raises(InputError, match="column C is the running sum of column B"):
        read_tables(path)
    (table,) = read_tables(path, leave="Second")
    assert [d.name for d in table.dimensions] == ["Month"]


@pytest.mark.parametrize("total", [False, True])
@pytest.mark.parametrize("header", ["To date", "Cumulative deaths", "cumDeaths", "kumuliert", "Running total"])
def test_a_column_that_is_called_a_running_sum_is_left_aside(header: str, total: bool, tmp_path: Path) -> None:
    """Its counts are those of the other column, which is said; each sum is known by the counts that it adds up."""
    (table,) = read_tables(sheet(tmp_path, list(accumulate(COUNTS)), total, header))
    assert len(table.places) == len(COUNTS) + total
    assert [aside.reason for aside in table.left_aside] == ["the running sum of column B"]
    assert [(one.place.address, one.step.address, one.begins) for one in table.running][:2] == [
        ("C2", "B2", True),
        ("C3", "B3", False),
    ]


def test_sums_that_began_before_the_first_row_are_not_written_back(tmp_path: Path) -> None:
    """What was counted before does not follow from the counts that are shown."""
    (table,) = read_tables(sheet(tmp_path, [40 + n for n in accumulate(COUNTS)], False, "To date"))
    assert len(table.left_aside) == 1
    assert not table.running


def test_sums_alone_are_refused(tmp_path: Path) -> None:
    """The counts that they add up follow as differences, and stand nowhere to be protected."""
    path = tmp_path / "months.csv"
    rows = [("Month", "Deaths to date"), *zip(("Jan", "Feb", "Mar", "Apr", "May"), accumulate(COUNTS), strict=True)]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match="follow as its differences"):
        read_tables(path)
    (table,) = read_tables(path, measure="Deaths to date")
    assert len(table.places) == len(COUNTS)


@pytest.mark.parametrize("latest_first", [False, True])
@pytest.mark.parametrize("header", ["cumCases", "Second"])
def test_sums_of_each_area_in_a_list_are_seen(header: str, latest_first: bool, tmp_path: Path) -> None:
    """A list of days by area adds up within each area, whichever day is first and however areas are sorted."""
    rows = [
        (day, area, count, total)
        for area, more in (("X", 0), ("Y", 7))
        for day, count, total in zip(
            "12345", [n + more for n in COUNTS], accumulate(n + more for n in COUNTS), strict=True
        )
    ]
    rows.sort(reverse=latest_first)
    path = tmp_path / "days.csv"
    lines = [("date", "area", "newCases", header), *((f"2021-03-0{day}", *rest) for day, *rest in rows)]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in lines), encoding="utf-8")
    if header == "Second":
        with pytest.raises(InputError, match="column D is the running sum of column C"):
            read_tables(path)
        return
    (table,) = read_tables(path)
    assert {one.place.address[0] for one in table.running} == {"D"}
    assert sum(one.begins for one in table.running) == 2


def test_another_column_is_read(tmp_path: Path) -> None:
    """One number off is no running sum."""
    column = [3, 10, 15, 25, 26]
    (table,) = read_tables(sheet(tmp_path, column, False))
    assert len(table.places) == 2 * len(COUNTS)


def test_a_running_sum_across_is_refused(tmp_path: Path) -> None:
    """Months across, the sum to date in a row below."""
    path = tmp_path / "months.csv"
    rows = [("", "Jan", "Feb", "Mar", "Apr", "May"), ("Deaths", *COUNTS), ("To date", *accumulate(COUNTS))]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match="row 3 is the running sum of row 2"):
        read_tables(path)


CASES = (120, 45, 4, 9, 88, 45)


@pytest.mark.parametrize("ranks", [(1, 3, 6, 5, 2, 3), (1, 3, 5, 4, 2, 3), (6, 4, 1, 2, 5, 4), (1, 3, 6, 5, 2, 4)])
@pytest.mark.parametrize("total", [False, True])
def test_ranks_are_refused_whatever_they_are_called(ranks: tuple[int, ...], total: bool, tmp_path: Path) -> None:
    """Ties share a rank, leave a gap or not, or are ranked one after the other; from above or below."""
    path = tmp_path / "areas.csv"
    rows: list[tuple[object, ...]] = [("Area", "Cases", "Position"), *zip("ABCDEF", CASES, ranks, strict=True)]
    rows += [("Total", sum(CASES), sum(ranks))] if total else []
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match="column C is the rank of column B"):
        read_tables(path)
    (table,) = read_tables(path, leave="Position")
    assert [d.name for d in table.dimensions] == ["Area"]
    (table,) = read_tables(path, measure=["Cases", "Position"])
    assert len(table.places) == 2 * (len(CASES) + total)


def test_hidden_counts_are_passed_over(tmp_path: Path) -> None:
    """A published sheet with marks: the rank still says between which counts the hidden ones lie."""
    path = tmp_path / "areas.csv"
    rows = [
        ("Area", "Cases", "Position"),
        *zip("ABCDEFG", (120, 45, "*", 9, 88, 50, 10), (1, 4, 7, 6, 2, 3, 5), strict=True),
    ]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match="rank of column B"):
        read_tables(path, suppressed="*")


def test_small_counts_in_another_order_are_counts(tmp_path: Path) -> None:
    """One to six, each once, and no order of the other column."""
    path = tmp_path / "areas.csv"
    rows = [("Area", "Cases", "Deaths"), *zip("ABCDEF", CASES, (2, 6, 1, 3, 5, 4), strict=True)]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    (table,) = read_tables(path)
    assert len(table.places) == 12
