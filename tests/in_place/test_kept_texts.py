"""Texts beside a table: none that was not judged stays in its range, and none states what is hidden."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.cli import run

Row = list[Any]
COUNTS: list[Row] = [
    ["Ward", "Female", "Male", "Total"],
    ["Abbey", 71, 100, 171],
    ["Beacon", 49, 4, 53],
    ["Castle", 30, 43, 73],
    ["Dene", 60, 51, 111],
    ["All wards", 210, 198, 408],
]
BARE: list[Row] = [row[:3] for row in COUNTS[:5]]
"""The same without totals."""
BESIDE: dict[str, Callable[[Row], Any]] = {
    "interval": lambda row: f"{100 * row[2] / row[3]:.1f} (4.5-10.5)",
    "one in": lambda row: f"1 in {row[3] / row[2]:.2f}",
    "per mille": lambda row: f"{1000 * row[2] / row[3]:.1f}‰",
    "percent in words": lambda row: f"{100 * row[2] / row[3]:.1f} pct",
    "change": lambda row: f"▼ {row[2] + 6}",
    "flag": lambda row: "below 6" if row[2] < 6 else "fine",
    "truth": lambda row: row[2] < 6,
    "in words": lambda row: "four" if row[2] == 4 else "many",
    "bar": lambda row: "|" * row[2],
    "quotient": lambda row: f"{row[2]}/{row[3]}",
    "of": lambda row: f"{row[2]} of {row[3]}",
    "ratio": lambda row: f"{row[1]}:{row[2]}",
    "about": lambda row: f"~{row[2]}",
    "unit": lambda row: f"{row[2]} men",
    "n": lambda row: f"n={row[2]}",
}


def beside(name: str) -> list[Row]:
    return [[*COUNTS[0], "Remark"], *([*row, BESIDE[name](row)] for row in COUNTS[1:])]


def save(path: Path, rows: list[Row]) -> None:
    """The rows in the format of the suffix."""
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(path)
    elif path.suffix == ".csv":
        path.write_text("\n".join(",".join("" if v is None else str(v) for v in row) for row in rows) + "\n")
    elif path.suffix == ".html":
        cells = ["".join(f"<td>{'' if v is None else v}</td>" for v in row) for row in rows]
        path.write_text("<table>" + "".join(f"<tr>{line}</tr>" for line in cells) + "</table>")
    else:
        columns = {str(name): [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])}
        pq.write_table(pa.table(columns), path)


def read(path: Path) -> list[Row]:
    """What stands in the cells; None where nothing does."""
    if path.suffix == ".xlsx":
        rows = [list(row) for row in openpyxl.load_workbook(path).active.iter_rows(values_only=True)]
    elif path.suffix == ".csv":
        rows = pd.read_csv(path, header=None, dtype=object, keep_default_na=False).to_numpy().tolist()
    elif path.suffix == ".html":
        lines = re.findall("<tr>(.*?)</tr>", path.read_text())
        rows = [re.findall("<td>(.*?)</td>", line) for line in lines]
    else:
        table = pq.read_table(path)
        rows = [list(table.column_names), *map(list, zip(*(c.to_pylist() for c in table.columns), strict=True))]
    return [[None if value == "" else value for value in row] for row in rows]


def protect(path: Path, *options: str) -> int:
    out = path.with_name(f"out{path.suffix}")
    return run(["protect", str(path), "--hide-under", "6", "-o", str(out), "--force", *options])


@pytest.mark.parametrize("suffix", [".xlsx", ".csv", ".html", ".parquet"])
@pytest.mark.parametrize("name", BESIDE)
def test_a_column_that_is_neither_label_nor_count_is_blanked(
    tmp_path: Path, capfdbinary: Any, suffix: str, name: str
) -> None:
    """In every format, and said; the counts that are shown stay."""
    path = tmp_path / f"wards{suffix}"
    save(path, beside(name))
    assert protect(path) == 0
    rows = read(tmp_path / f"out{suffix}")[:6]
    assert [row[4] for row in rows[1:]] == [None] * 5
    assert [str(value) for value in rows[1][:4]] == ["Abbey", "71", "100", "171"]
    assert rows[2][2] in ("*", None)
    said = capfdbinary.readouterr().err.decode()
    assert "left out: texts beside the numbers of a table, neither labels nor headers, are blanked" in said
    assert ("E3, E4, E5, E6, E7" if suffix == ".html" else "E2, E3, E4, E5, E6") in said


def test_a_column_stays_if_it_is_named(tmp_path: Path, capfdbinary: Any) -> None:
    """Unjudged, and said to be; a name that no header has is an error."""
    path = tmp_path / "wards.csv"
    save(path, beside("flag"))
    assert protect(path, "--keep-text", "Remark") == 0
    assert [row[4] for row in read(tmp_path / "out.csv")[1:]] == ["fine", "below 6", "fine", "fine", "fine"]
    assert "kept: stays as said, and the audit does not judge it: E1, E2" in capfdbinary.readouterr().err.decode()
    assert protect(path, "--keep-text", "Remarks") == 2
    assert "did you mean 'Remark'" in capfdbinary.readouterr().err.decode()


def test_a_column_of_measurements_among_the_labels_is_refused(tmp_path: Path, capfdbinary: Any) -> None:
    """Before the numbers it would be taken for labels; codes are labels."""
    path = tmp_path / "wards.xlsx"
    save(path, [[row[0], row[4], *row[1:4]] for row in beside("interval")])
    assert protect(path) == 2
    assert "columns of labels hold what looks measured: 'Remark'" in capfdbinary.readouterr().err.decode()
    save(path, [["Ward", "Code", "Female", "Male"], *([row[0], f"E0{k}", *row[1:3]] for k, row in enumerate(BARE[1:]))])
    assert protect(path) == 0
    assert [row[1] for row in read(tmp_path / "out.xlsx")[1:5]] == ["E00", "E01", "E02", "E03"]


@pytest.mark.parametrize("suffix", [".xlsx", ".csv"])
@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("Patients by ward (n = 408)", ""),
        ("Patients by ward, 408 patients in all", ""),
        ("Patients by ward", "All wards together: 210 women and 198 men."),
        ("Patients by ward", "N = 198 men"),
        ("Patients by ward", "Includes 4 men transferred."),
        ("Of the 53 patients in Beacon, four men moved", ""),
    ],
)
def test_titles_and_notes_that_state_what_is_hidden_are_blanked(
    tmp_path: Path, capfdbinary: Any, suffix: str, above: str, below: str
) -> None:
    """Hidden counts, totals that the sheet does not show; the list leaves such a title out, too."""
    path = tmp_path / f"wards{suffix}"
    quoted = [f'"{text}"' if suffix == ".csv" and text else text for text in (above, below)]
    save(path, [[quoted[0], None, None], *BARE, [quoted[1], None, None]])
    assert protect(path) == 0
    rows = read(tmp_path / f"out{suffix}")
    texts = " ".join(str(value) for row in rows for value in row)
    assert "transferred" not in texts
    assert not any(number in texts for number in ("198", "408", "53", "four"))
    assert ("Patients by ward" in texts) == bool(below)
    assert "a count that is not shown, are blanked" in capfdbinary.readouterr().err.decode()
    listed = tmp_path / "tidy.json"
    options = ["--layout", "tidy", "-o", str(listed)]
    assert run(["protect", str(path), "--hide-under", "6", *options]) == 0
    assert not any(number in listed.read_text() for number in ("n = 408", "408 patients", "four men"))


def test_years_ages_limits_and_numbering_stay(tmp_path: Path, capfdbinary: Any) -> None:
    """They are no counts, whatever is hidden; what is shown may be said."""
    path = tmp_path / "wards.xlsx"
    texts = ["Table 4: patients aged 4 and over, 4 April 2024", "Counts under 4; 49 women in Beacon", "4. Source: Q4"]
    save(path, [[texts[0]], *BARE, [], [texts[1]], [texts[2]]])
    assert protect(path) == 0
    rows = [row[0] for row in read(tmp_path / "out.xlsx")]
    assert [text for text in texts if text in rows] == texts
    capfdbinary.readouterr()


@pytest.mark.parametrize(
    ("rename", "place"),
    [
        (("Beacon", "Beacon (n=53)"), "A3"),
        (("Beacon", "Beacon (53)"), "A3"),
        (("Beacon", "Beacon, 53 patients"), "A3"),
        (("Male", "Male (198)"), "C1"),
        (("Male", "Male, N 198"), "C1"),
    ],
)
def test_labels_that_state_totals_are_refused(
    tmp_path: Path, capfdbinary: Any, rename: tuple[str, str], place: str
) -> None:
    """With the place and what to do; nothing is written. In frames as well. Named, a label stays."""
    rows = [[rename[1] if value == rename[0] else value for value in row] for row in BARE]
    path = tmp_path / "wards.xlsx"
    save(path, rows)
    assert protect(path) == 2
    said = capfdbinary.readouterr().err.decode()
    assert f"not a total of the sheet ('{place}')" in said
    assert "198" not in said
    assert not (tmp_path / "out.xlsx").exists()
    frame = pd.DataFrame([row[1:] for row in rows[1:]], index=[row[0] for row in rows[1:]], columns=rows[0][1:])
    with pytest.raises(dc.InputError, match="not a total of the sheet"):
        dc.suppress_small_counts(frame, under=6)
    assert protect(path, "--keep-text", place) == 0
    capfdbinary.readouterr()


@pytest.mark.parametrize(
    ("texts", "after"),
    [
        (["71 (58.2%)", "4 (3.3%)", "47 (38.5%)"], ["71", "*", "47"]),
        (["71 (58.2)", "4 (3.3)", "47 (38.5)"], ["71", "*", "47"]),
        (["71 [58.2%]", "4 [3.3%]", "47 [38.5%]"], ["71", "*", "47"]),
    ],
)
@pytest.mark.parametrize("suffix", [".xlsx", ".csv", ".html", ".parquet"])
def test_a_share_in_the_cell_of_its_count_goes_if_its_base_is_not_known(
    tmp_path: Path, capfdbinary: Any, suffix: str, texts: list[str], after: list[str]
) -> None:
    """The count alone stays; where the base is on the sheet the share is worked out anew."""
    path = tmp_path / f"wards{suffix}"
    save(path, [["Ward", "Patients"], *([f"Ward {k}", text] for k, text in zip("abc", texts, strict=True))])
    assert protect(path) == 0
    assert [str(row[1]) for row in read(tmp_path / f"out{suffix}")[1:4]] == after
    assert "whose base is not confirmed are left out" in capfdbinary.readouterr().err.decode()
    out = tmp_path / f"rounded{suffix}"
    assert run(["protect", str(path), "--recipe", "midpoint6", "-o", str(out)]) == 0
    assert not any("58" in str(row[1]) or "38" in str(row[1]) for row in read(out)[1:4])
    capfdbinary.readouterr()


def test_shares_of_rows_and_totals_are_worked_out_anew(tmp_path: Path, capfdbinary: Any) -> None:
    """Also in the row of totals; a hundred percent of a total that is shown stays, and so does a change."""
    path = tmp_path / "wards.xlsx"
    save(
        path,
        [
            ["Ward", "F", "M", "Total"],
            ["a", "71 (41.5%)", "100 (58.5%)", 171],
            ["b", "49 (92.5%)", "4 (7.5%)", 53],
            ["c", "30 (41.1%)", "43 (58.9%)", 73],
            ["All", "150 (50.5%)", "147 (49.5%)", 297],
        ],
    )
    assert protect(path) == 0
    rows = read(tmp_path / "out.xlsx")
    assert rows[1] == ["a", "71 (41.5%)", "100 (58.5%)", 171]
    assert rows[4] == ["All", "150 (50.5%)", "147 (49.5%)", 297]
    assert rows[2][1:] == ["*", "*", 53]
    save(path, [[*row, "Total %" if k == 0 else 100.0] for k, row in enumerate(COUNTS)])
    assert protect(path) == 0
    assert [row[4] for row in read(tmp_path / "out.xlsx")[1:6]] == [100] * 5
    save(
        path,
        [
            ["Cause", "2023", "2024", "Change"],
            *(
                [name, was, now, f"{now - was:+}"]
                for name, was, now in [("A", 40, 42), ("B", 12, 15), ("C", 16, 14), ("E", 14, 4), ("Total", 82, 75)]
            ),
        ],
    )
    assert protect(path) == 0
    rows = read(tmp_path / "out.xlsx")
    assert rows[1] == ["A", 40, 42, "+2"]
    assert rows[4][3] == "*"
    assert rows[5][3] == "-7"
    capfdbinary.readouterr()


KINDS: dict[str, Callable[[list[int]], Any]] = {
    "truth": lambda men: [n < 6 for n in men],
    "durations": lambda men: pd.to_timedelta(men, unit="D"),
    "times": lambda men: pd.to_datetime(men, unit="D"),
    "fractions": lambda men: [Fraction(n, 7) for n in men],
    "complex": lambda men: [complex(n, 1) for n in men],
    "intervals": lambda men: pd.IntervalIndex.from_arrays([0] * len(men), men),
    "lists": lambda men: [[n] for n in men],
    "structs": lambda men: [{"n": n} for n in men],
    "bytes": lambda men: [bytes([n]) for n in men],
    "words": lambda men: ["four" if n == 4 else "many" for n in men],
}


@pytest.mark.parametrize("name", KINDS)
def test_columns_of_other_kinds_come_back_empty(name: str) -> None:
    """Of a frame of pandas and of polars, with a warning that names the column."""
    frame = pd.DataFrame([row[1:] for row in COUNTS[1:]], index=[row[0] for row in COUNTS[1:]], columns=COUNTS[0][1:])
    wide = frame.assign(kind=KINDS[name](frame["Male"].tolist()))
    with pytest.warns(dc.DiscreetWarning, match="'kind'"):
        after = dc.suppress_small_counts(wide, under=6)
    assert after["kind"].isna().all()
    assert after["Female"].iloc[0] == 71
    if name in ("fractions", "complex", "intervals"):
        return
    columns = {"ward": list(wide.index), **{column: wide[column].tolist() for column in wide.columns}}
    with pytest.warns(dc.DiscreetWarning, match="'kind'"):
        assert dc.suppress_small_counts(pl.DataFrame(columns), under=6)["kind"].to_list() == [None] * 5


def test_a_frame_of_counts_with_shares_keeps_its_counts() -> None:
    """The shares go where their base is not in the frame, with a warning; texts that are named stay."""
    men = ["100 (58.5%)", "4 (7.5%)", "43 (58.9%)", "147 (49.5%)"]
    women = ["71 (41.5%)", "49 (92.5%)", "30 (41.1%)", "150 (50.5%)"]
    frame = pd.DataFrame({"F": women, "M": men}, index=["a", "b", "c", "All"])
    with pytest.warns(dc.DiscreetWarning, match="'F', 'M'"):
        after = dc.suppress_small_counts(frame, under=6, mark="*")
    assert after["F"].tolist() == ["71", "49", "30", "150"]
    assert after["M"].tolist() == ["100", "*", "*", "147"]
    marked = pd.DataFrame({"n": [71, 4, 47], "remark": ["x", "y", "z"]}, index=["a", "b", "c"])
    with pytest.warns(dc.DiscreetWarning, match="the audit does not judge them: 'remark'"):
        assert dc.suppress_small_counts(marked, under=6, keep_text="remark")["remark"].tolist() == ["x", "y", "z"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dc.suppress_small_counts(marked[["n"]], under=6)


@pytest.mark.parametrize(
    ("note", "stays"),
    [
        ("Oak and Elm together have 34 girls.", False),
        ("Excluding Elm there are 50 girls.", False),
        ("Boys outnumber girls by 26 in Elm.", False),
        ("Elm has a pupil-girl ratio of 10.7 to 1", False),
        ("In 2023 Elm had 2 girls.", False),
        ("Girls: 53; boys: 85", True),
        ("Source: school census 2023, table 3", True),
        ("Published 12 June 2024 by 9 councils", True),
    ],
)
def test_a_note_states_no_count_that_nobody_judged(note: str, stays: bool, tmp_path: Path) -> None:
    """Sums and differences of hidden counts are counts of people, too; numbers that are shown may be told again."""
    counts = [["Oak", 44, 31, 75], ["Elm", 29, 3, 32], ["Ash", 12, 19, 31], ["Total", 85, 53, 138]]
    book = openpyxl.Workbook()
    for row in [["School", "Boys", "Girls", "Total"], *counts, [], [note]]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    assert run(["protect", str(tmp_path / "t.xlsx"), "--hide-under", "6"]) == 0
    after = openpyxl.load_workbook(tmp_path / "t.safe.xlsx").active
    assert (after.cell(7, 1).value == note) == stays


def test_the_heading_of_a_section_states_no_total_of_hidden_counts(tmp_path: Path, capfdbinary: Any) -> None:
    """As labels of rows do not: 90 less 87 is what is hidden."""
    rows = ["Violence (total 90)", "Murder,3", "Assault,87", "Theft", "Burglary,60", "Shoplifting,64"]
    (tmp_path / "t.csv").write_text("\n".join(["Offence,2023", *rows, ""]), encoding="utf-8")
    assert run(["protect", str(tmp_path / "t.csv"), "--hide-under", "6"]) == 2
    assert "('A2')" in capfdbinary.readouterr().err.decode()
