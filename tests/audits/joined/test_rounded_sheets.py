"""Rounded tables as they are published: sums are off by their rounding, totals are found, no remainder is invented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from discreet.cli import run
from tests.audits.joined.test_hidden_counts import audited, written

Grid = list[list[Any]]
ALL_KNOWN: Grid = [
    ["Ward", "a", "b", "c", "d", "Total"],
    ["A", 0, 0, 0, 0, 10],
    ["B", 20, 30, 25, 15, 90],
    ["Total", 20, 30, 25, 15, 100],
]
WARDS: Grid = [
    ["Ward", "0-17", "18-64", "65+", "All ages"],
    ["Abbey", 3, 21, 14, 38],
    ["Bridge", 12, 0, 5, 17],
    ["Castle", 8, 44, 2, 54],
    ["Dock", 17, 25, 33, 75],
    ["All wards", 40, 90, 54, 184],
]


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx", "a.long.csv"])
@pytest.mark.parametrize("more", [[], ["--total", "Total"]])
def test_parts_and_total_at_their_ends(
    tmp_path: Path, name: str, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Four parts of 2 at most and a total of 8 at least: every number is known."""
    path = written(tmp_path / name, ALL_KNOWN)
    code, report, said = audited([path, "--rounded", "5", *more], capsys)
    assert (code, report["verdict"], report["summary"]["exact"]) == (1, "fail", 15)
    assert "remainder" not in said


@pytest.mark.parametrize("measures", ["5", "4"])
def test_a_total_among_measures_is_no_pass(tmp_path: Path, measures: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Columns judged one by one, and one of them may be the sum of the others."""
    path = written(tmp_path / "a.csv", ALL_KNOWN)
    code, report, _ = audited([path, "--rounded", "5", "--measures", measures], capsys)
    assert (code, report["verdict"]) == (1, "unknown")
    assert any("'Total' may be the sum of the other columns" in text for text in report["unjudged"])


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize(
    ("recipe", "parameters", "rounding"),
    [("nhs", ["-P", "secondary=true"], "5"), ("statcan-base5", ["-P", "seed=3"], "5:random")],
)
def test_what_recipes_write_is_read(
    tmp_path: Path, recipe: str, parameters: list[str], rounding: str, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Totals by names of their own are found in what `protect --recipe` wrote."""
    source, target = written(tmp_path / f"in{suffix}", WARDS), str(tmp_path / f"out{suffix}")
    assert run(["protect", source, "--recipe", recipe, *parameters, "-o", target]) == 0
    capsys.readouterr()
    code, report, said = audited([target, "--rounded", rounding], capsys)
    assert (code, report["verdict"]) == (0, "pass")
    assert "'All wards' is the total of 'Ward'" in said
    assert "'All ages' is the total of 'column'" in said


def test_a_total_too_far_off_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Further than rounding takes it: neither a total with a remainder nor a pass."""
    rows: Grid = [["Ward", "a", "b", "Total"], ["A", 5, 10, 40], ["B", 20, 30, 50], ["Total", 25, 40, 90]]
    path = written(tmp_path / "a.xlsx", rows)
    assert run(["audit", path, "--rounded", "5", "--total", "Total"]) == 2
    assert "is said to be the total but is not the sum" in capsys.readouterr().err


def test_shares_of_the_row_of_which_only_the_total_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """35.0 fits the row and the grand total; 7.5 is a share of 40 alone, as no count is 7.5 % of 100."""
    rows: Grid = [
        ["Area", "Yes", "No", "Total", "% yes"],
        ["N", "*", "*", 40, 7.5],
        ["S", "*", "*", 60, "*"],
        ["T", 35, 65, 100, 35.0],
    ]
    for name in ("a.csv", "a.xlsx"):
        path = written(tmp_path / name, rows)
        code, report, _ = audited([path, "--total", "T"], capsys)
        assert (code, report["summary"]["exact"]) == (1, 4)
        code, report, _ = audited([path, "--total", "T", "--leave", "% yes"], capsys)
        assert (code, report["verdict"]) == (1, "unknown")
        assert any("figures that were not judged" in text for text in report["unjudged"])


@pytest.mark.parametrize(
    ("note", "verdict"),
    [
        ("12 % of the 48 women are from N", "unknown"),
        ("Anteil der Frauen in N: 7,5 Prozent", "unknown"),
        ("Of those in S, 3 in 10 said yes", "unknown"),
        ("31 pct of those in S said yes", "unknown"),
        ("In S 310 per 1,000 said yes", "unknown"),
        ("Anteil in S: 31 v.H.", "unknown"),
        ("31\ufe6a of those in S said yes", "unknown"),
        ("A quarter of those in S said yes", "unknown"),
        ("Of the 60 people in S, 18 said yes", "unknown"),
        ("Mean age in S 40.0, of those who said yes 35.0", "unknown"),
        ("100 people were asked in the first quarter of 2024; * is a count under 6", "pass"),
        ("Note 3: between 1 March 2024 and 5 May 2024", "pass"),
        ("Rows add up to 100 %; table 1 of 4, people aged 65 in 2020", "pass"),
    ],
)
def test_shares_in_the_sentences_of_notes(
    tmp_path: Path, note: str, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are not judged, nor are numbers that may be hidden counts; totals, dates and limits are words about it."""
    rows: Grid = [
        ["Area", "Yes", "No", "Total"],
        ["N", "*", "*", 40],
        ["S", "*", "*", 60],
        ["T", 35, 65, 100],
        [],
        [note],
    ]
    _, report, _ = audited([written(tmp_path / "a.xlsx", rows), "--total", "T"], capsys)
    assert report["verdict"] == verdict


def test_shares_that_fit_several_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """10 % may be of the row or of all: never a pass."""
    rows: Grid = [
        ["Area", "Yes", "No", "Total", "% yes"],
        ["N", "*", "*", 100, 10],
        ["S", "*", "*", 100, "*"],
        ["T", 50, 150, 200, 25],
    ]
    code, report, _ = audited([written(tmp_path / "a.xlsx", rows), "--total", "T"], capsys)
    assert code == 1
    assert report["verdict"] == "fail" or any("different numbers" in text for text in report["unjudged"])


@pytest.mark.parametrize(
    "texts", [["7.5 (4.5-10.5)", "53.3 (50.1-56.2)", "35.0 (30.0-40.0)"], ["1 in 13", "1 in 2", "1 in 3"]]
)
@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_figures_in_text_are_not_passed(
    tmp_path: Path, texts: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A column of text with figures in it says something of hidden counts."""
    rows: Grid = [
        ["Area", "Men", "Women", "Total", "men"],
        ["N", "*", "*", 40],
        ["S", 32, 28, 60],
        ["T", "*", "*", 100],
    ]
    told: Grid = [rows[0], *([*row, text] for row, text in zip(rows[1:], texts, strict=True))]
    code, report, _ = audited([written(tmp_path / name, told), "--total", "T"], capsys)
    assert (code, report["verdict"]) == (1, "unknown")
    plain: Grid = [[*row, text] for row, text in zip(rows[1:], ["few", "some", "many"], strict=True)]
    code, report, _ = audited([written(tmp_path / f"b{name}", [rows[0], *plain]), "--total", "T"], capsys)
    assert (code, report["verdict"]) == (0, "pass")
    below: Grid = [row[:4] for row in rows] + [["men (CI)", *texts]]
    assert json.loads(json.dumps(audited([written(tmp_path / f"c{name}", below), "--total", "T"], capsys)[0])) != 0


def test_differences_and_changes_beside_hidden_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A difference of a hidden count is no pass; a change in percent bounds it: 5 % less than 100 is 95."""
    rows: Grid = [["Area", "2023", "2024", "Change"], ["N", "*", 100, 95], ["S", 80, 60, -20], ["W", "*", 90, 10]]
    rows += [["E", 70, 77, 7]]
    code, report, _ = audited([written(tmp_path / "a.xlsx", rows), "--total", "Area="], capsys)
    assert (code, report["verdict"]) == (1, "unknown")
    share: Grid = [
        ["Area", "2023", "2024", "% change"],
        ["N", 100, "*", -5.0],
        ["S", 80, 60, -25.0],
        ["E", 70, 77, 10.0],
    ]
    code, report, _ = audited([written(tmp_path / "b.xlsx", share), "--total", "Area="], capsys)
    assert code == 1
    assert report["summary"]["exact"] == 1 or report["verdict"] == "unknown"
