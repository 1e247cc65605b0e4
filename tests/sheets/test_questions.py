"""What a sheet leaves open is asked, with the option that says it; the answer is then taken."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from discreet.errors import InputError, NotAdditiveError
from discreet.sheets.reading_sheets import read_table, read_tables
from discreet.sheets.sheet_table import SheetTable

Rows = Sequence[Sequence[Any]]


def book(folder: Path, rows: Rows) -> Path:
    made = openpyxl.Workbook()
    for row in rows:
        made.worksheets[0].append(list(row))
    made.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def totals_of(table: SheetTable) -> dict[str, str | None]:
    return {d.name: d.total for d in table.dimensions}


HEAD = ["Area", "f", "m"]
QUESTIONS: Mapping[str, tuple[Rows, str, dict[str, Any]]] = {
    "a total that does not add up": (
        [HEAD, ["N", 100, 2], ["S", 40, 50], ["Total", 141, 52]],
        r"total=\{'Area': None\}",
        {"totals": "trust", "total": {"Area": "Total"}},
    ),
    "a total rounded by itself": (
        [HEAD, ["N", 10, 25], ["S", 15, 20], ["W", 5, 10], ["Total", 35, 50]],
        "tolerance=",
        {"tolerance": 2.5},
    ),
    "a last row that adds up under a name of its own": (
        [HEAD, ["N", 12, 3], ["S", 20, 7], ["England", 32, 10]],
        r"total=\{'Area': 'England'\}",
        {"total": {"Area": "England"}},
    ),
    "numbers without a header": ([["N", 1, 2], ["S", 4, 5]], "header_rows=", {"header_rows": 0}),
    "thousands or decimals": ([HEAD, ["N", "1,234", "2"], ["S", "4", "5"]], "thousands=", {"thousands": ","}),
    "counts that may be years": ([HEAD, ["N", 2001, 1999], ["S", 1987, 2010]], "stub_columns=1", {"stub_columns": 1}),
    "blank cells": ([HEAD, ["N", None, 20], ["S", 30, 50]], "blank='zero'", {"blank": "zero"}),
    "dashes": ([HEAD, ["N", "-", 20], ["S", 30, 50]], "zero='-'", {"zero": "-"}),
    "a mark that nobody knows": ([HEAD, ["N", "low", 20], ["S", 30, 50]], "suppressed=", {"suppressed": "low"}),
    "a row without a label": ([HEAD, ["N", 10, 20], [None, 4, 9]], "missing=", {"missing": {"Area": "unknown"}}),
    "two tables below each other": (
        [HEAD, ["N", 10, 20], ["S", 30, 50], [], HEAD, ["N", 1, 2], ["S", 3, 5]],
        "range='A1:C3'",
        {"range": "A1:C3"},
    ),
    "two tables side by side": (
        [[*HEAD, None, "Town", "x"], ["N", 11, 2, None, "P", 5], ["S", 3, 4, None, "Q", 7]],
        "range=",
        {"range": "A1:C3"},
    ),
    "percentages and nothing else": ([["Area", "% f", "% m"], ["N", 30, 20]], "measure=", {"measure": "% f"}),
    "decimals that are no counts": ([HEAD, ["N", 1.5, 2], ["S", 3.5, 4]], "value=", {"value": "income"}),
    "numbers above the table": (
        [["Records", 123], [], HEAD, ["N", 11, 2], ["S", 4, 5]],
        "range=",
        {"range": "A3:C5"},
    ),
    "a count beside what may be none": (
        [["area", "count", "income"], ["N", 11, 2200], ["S", 4, 510]],
        "measure='count'",
        {"measure": ["count", "income"]},
    ),
    "a total that a part is missing of": (
        [HEAD, ["All", 20, 40], ["N", 11, 22], ["S", 4, 5]],
        "partly=True",
        {"total": {"Area": "All"}},
    ),
}


@pytest.mark.parametrize("name", list(QUESTIONS))
def test_what_is_open_is_asked_and_the_answer_taken(name: str, tmp_path: Path) -> None:
    """The error names the option, and with the option there is a table."""
    rows, words, answer = QUESTIONS[name]
    path = book(tmp_path, rows)
    with pytest.raises(InputError, match=words):
        read_table(path)
    assert isinstance(read_table(path, **answer), SheetTable)


@pytest.mark.parametrize("name", list(QUESTIONS))
def test_no_question_tells_a_number(name: str, tmp_path: Path) -> None:
    """A message may name labels and places, never what stands in the body."""
    rows, _, _ = QUESTIONS[name]
    with pytest.raises(InputError) as error:
        read_table(book(tmp_path, rows))
    said = str(error.value)
    numbers = {str(v) for row in rows for v in row if isinstance(v, (int, float)) and v > 99}
    assert not [number for number in numbers if number in said]


def test_a_formula_that_was_never_worked_out_is_refused(tmp_path: Path) -> None:
    """Its row would be lost, and with it a total that the reader of the sheet sees."""
    path = book(tmp_path, [HEAD, ["N", 10, 2], ["S", 20, 3], ["Total", "=SUM(B2:B3)", "=SUM(C2:C3)"]])
    with pytest.raises(InputError, match="save it"):
        read_table(path)


def test_negative_counts_are_refused(tmp_path: Path) -> None:
    """With a minus sign or in brackets."""
    for shown in (-12, "-12", "\u221212", "(12)"):
        with pytest.raises(InputError, match="negative"):
            read_table(book(tmp_path, [HEAD, ["N", shown, 2], ["S", 20, 3]]))


def test_groups_that_are_sums_of_others_further_up_are_found(tmp_path: Path) -> None:
    """Hidden in the list, they would give hidden cells away."""
    rows: list[list[Any]] = [
        ["Group", "2021", "2022"],
        ["All", 100, 260],
        ["White", 60, 150],
        ["Asian", 20, 61],
        ["Black", 20, 49],
    ]
    table = read_table(book(tmp_path, [*rows, ["Non-white", 40, 110]]))
    assert totals_of(table) == {"Group": "All", "column": None}
    (group,) = table.dimensions[0].groups
    assert (group.code, dict(group.parts)) == ("Non-white", {"Asian": 1, "Black": 1})
    assert table.table.n == 360
    with pytest.raises(InputError, match="range="):
        read_table(book(tmp_path, [*rows, ["Other sums", 41, 110]]))


def test_labels_that_look_like_numbers_are_labels(tmp_path: Path) -> None:
    """Years down, years across, single years of age in a long list, dates."""
    years: Rows = [["Year", "Cases"], [2019, 12], [2020, 15], ["Total", 27]]
    down = read_table(book(tmp_path, years))
    assert totals_of(down) == {"Year": "Total"}
    runs: Rows = [["area", "n1", "n"], *([area, k, 5 + k] for area in "NS" for k in range(3))]
    long = read_table(book(tmp_path, runs))
    assert [d.codes for d in long.dimensions] == [("N", "S"), ("0", "1", "2")]
    months: Rows = [["Area", dt.date(2020, 1, 1), dt.date(2020, 2, 1)], ["N", 1, 2], ["S", 4, 6]]
    dates = read_table(book(tmp_path, months))
    assert dates.dimensions[1].codes == ("2020-01-01", "2020-02-01")
    schools = read_table(book(tmp_path, [["School", "Year 7", "Year 8"], ["A", 12, 7], ["B", 3, 9]]))
    assert schools.dimensions[1].codes == ("Year 7", "Year 8")


def test_a_hidden_table_is_for_audits_only(tmp_path: Path) -> None:
    """What is hidden stays unknown, and the message does not say where."""
    table = read_table(book(tmp_path, [HEAD, ["N", "[c]", 20], ["S", "<5", 50]]))
    assert table.hidden == 2
    with pytest.raises(InputError, match="2 hidden cells"):
        _ = table.table
    _, most = table.published.ranges["count"]
    assert most.tolist().count(4.0) == 1


def test_flags_are_not_numbers_and_marks_may_have_flags(tmp_path: Path) -> None:
    """A column of flags stands aside; ": c" is a mark, "13 p" a number."""
    (tmp_path / "e.tsv").write_text("geo\t2019\t2020\tflag\nBE\t12\t13 p\t\nDE\t: c\t15\tc\nFR\t9\t7\t\n")
    table = read_table(tmp_path / "e.tsv")
    assert table.dimensions[1].codes == ("2019", "2020")
    assert (table.hidden, [part.range.address for part in table.left_aside]) == (1, ["D1:D4"])


def test_a_part_may_have_the_name_of_its_sum(tmp_path: Path) -> None:
    """London in London, where London has a row of its own; sums may stand below what is indented."""
    towns = [("London", "London", 50), ("London", "Croydon", 20), ("London", "Total", 70), ("Kent", "Deal", 5)]
    more = [("Kent", "Dover", 8), ("Kent", "Total", 13), ("Total", "Total", 83)]
    table = read_table(book(tmp_path, [("Region", "Town", "n"), *towns, *more]))
    assert {g.code for g in table.dimensions[0].groups} == {"London", "Kent"}
    assert ("London / London",) in table.places
    lines = ["Area,x,y", "  a,4,9", "  b,6,11", "North,10,20", "  c,15,30", "  d,5,10", "South,20,40", "Total,30,60"]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    below = read_table(tmp_path / "a.csv").dimensions[0]
    assert (below.total, {g.code for g in below.groups}) == ("Total", {"North", "South"})


def test_labels_behind_numbers_and_rows_twice_are_refused(tmp_path: Path) -> None:
    """Numbers are not taken for labels, nor two parts of a count for one."""
    with pytest.raises(InputError, match="column C"):
        read_table(book(tmp_path, [["x", "y", "Area"], [10, 20, "N"], [5, 7, "S"]]))
    with pytest.raises(InputError, match="two rows"):
        read_table(book(tmp_path, [["area", "sex", "n"], ["N", "f", 1], ["N", "f", 1], ["S", "m", 2]]))


def test_headers_of_pages_numbers_of_rows_and_names_above_labels(tmp_path: Path) -> None:
    """A header that is repeated, a column that numbers rows, the name of a dimension beside its total."""
    pages = read_table(book(tmp_path, [HEAD, ["N", 1, 2], ["S", 4, 5], HEAD, ["W", 7, 8], ["Total", 12, 15]]))
    assert (totals_of(pages), pages.table.n) == ({"Area": "Total", "column": None}, 27)
    rows: Rows = [["No.", "Area", "f", "m"], [1, "N", 10, 20], [2, "S", 5, 7], [3, "W", 8, 9], [None, "Total", 23, 36]]
    numbered = read_table(book(tmp_path, rows)).dimensions[0]
    assert (numbered.total, numbered.labels) == ("Total", {"1": "N", "2": "S", "3": "W"})
    made = openpyxl.Workbook()
    for row in (["Area", "Sex", None, "All"], [None, "f", "m", None], ["N", 11, 2, 13], ["S", 4, 5, 9]):
        made.worksheets[0].append(row)
    made.worksheets[0].merge_cells("B1:C1")
    made.save(tmp_path / "m.xlsx")
    assert totals_of(read_table(tmp_path / "m.xlsx")) == {"Area": None, "Sex": "All"}


def test_unknown_options_are_refused(tmp_path: Path) -> None:
    """With the nearest one."""
    path = book(tmp_path, [HEAD, ["N", 10, 20], ["S", 3, 5]])
    with pytest.raises(InputError, match="'header_rows'"):
        read_table(path, header_row=1)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="'header_rows'"):
        read_tables(path, header_row=1)
    with pytest.raises(InputError, match="blank can be"):
        read_table(path, blank="nothing")
    with pytest.raises(InputError, match="did you mean"):
        read_table(path, total={"Areas": None})
    with pytest.raises(InputError, match="not a header"):
        read_table(path, leave="g")
    with pytest.raises((InputError, NotAdditiveError)):
        read_table(path, names=["area"])


def test_steps_that_some_take_are_asked_about_in_three_lines(tmp_path: Path) -> None:
    """Seen may be part of Referred: what is left are the few who were not seen."""
    rows: Rows = [["Clinic", "Referred", "Seen"], ["A", 120, 118], ["B", 88, 85], ["C", 61, 58]]
    with pytest.raises(InputError, match="of which Seen"):
        read_table(book(tmp_path, rows))


def test_percentages_show_what_a_count_is_part_of(tmp_path: Path) -> None:
    """Of 120 pupils 118 entered: the other two are protected as a count."""
    counts = (("A", 120, 118), ("B", 88, 40), ("C", 61, 22))
    rows = [[name, n, k, round(100 * k / n, 1)] for name, n, k in counts]
    column = read_table(book(tmp_path, [["School", "Pupils", "Entered", "% entered"], *rows])).dimensions[1]
    assert (column.total, column.codes[-1]) == ("Pupils", "Pupils: not listed")


def test_a_label_that_says_only_which_ones_is_part_of_the_one_before(tmp_path: Path) -> None:
    """Of 310 patients 306 are "With flu jab": four are left."""
    rows: Rows = [["Illness", "Patients", "With flu jab"], ["Asthma", 310, 306], ["COPD", 120, 100], ["Flu", 88, 83]]
    column = read_table(book(tmp_path, rows)).dimensions[1]
    assert (column.total, column.codes[-1]) == ("Patients", "Patients: not listed")


def test_rows_are_left_aside_by_their_label(tmp_path: Path) -> None:
    """The row is blanked, as a column is; what is left is the table."""
    rows: Rows = [["Area", "f", "m"], ["North", 20, 31], ["South", 12, 9], ["Index", 101, 99]]
    table = read_table(book(tmp_path, rows), leave="Index", total={"Area": None})
    assert "Index" not in table.dimensions[0].codes
    with pytest.raises(InputError, match="a label; did you mean 'Index'"):
        read_table(book(tmp_path, rows), leave="Indx")


@pytest.mark.parametrize("total", ["Whole", {"Area": "Whole"}])
def test_a_total_that_is_said_is_a_label_of_the_sheet(total: str | dict[str, str | None], tmp_path: Path) -> None:
    rows: Rows = [["Area", "f", "m"], ["North", 20, 31], ["South", 12, 9]]
    with pytest.raises(InputError, match="the total 'Whole'"):
        read_table(book(tmp_path, rows), total=total)


def two_regions(tmp_path: Path) -> Path:
    """A sheet for each region, with its name and another total."""
    file = openpyxl.Workbook()
    file.remove(file.active)
    for name, counts in (("North", (9, 12)), ("South", (8, 15))):
        page = file.create_sheet(name)
        for row in [["Site", "f"], ["Royal", counts[0]], ["City", counts[1]], [name, sum(counts)]]:
            page.append(row)
    file.save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


def test_a_total_may_have_the_name_of_its_sheet(tmp_path: Path) -> None:
    assert [table.dimensions[0].total for table in read_tables(two_regions(tmp_path))] == ["North", "South"]


def test_a_total_that_is_said_is_a_label_of_one_of_several_sheets(tmp_path: Path) -> None:
    """One of them is enough; a name that none has is an error."""
    tables = read_tables(two_regions(tmp_path), total={"Site": "South"})
    assert [table.dimensions[0].total for table in tables] == ["North", "South"]
    for total, words in (({"Site": "Suoth"}, "did you mean 'South'"), ({"Sites": "South"}, "did you mean 'Site'")):
        with pytest.raises(InputError, match=words):
            read_tables(two_regions(tmp_path), total=total)
