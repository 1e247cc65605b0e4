"""Published cross-tables in CSV: what keeps one from being read is said with the option that settles it."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.cli import run

GERMAN = "Gebiet;Frauen;M\u00e4nner;Insgesamt\nA;1.204;20;1.224\nB;11;*;*\nC;13;*;*\nInsgesamt;1.228;65;1.293\n"
SHORT = "Area,F,M,Total\nA,10,20,30\nB,11,*,*\nC,12,*,*\nTotal,53,95,148\n"
TITLED = (
    "Persons by area, 2024\nArea;F;M;Total\nA;10;20;30\nB;11;*;*\nC;14;*;*\nTotal;35;72;107\nSource: counts, 2023\n"
)


@pytest.mark.parametrize(
    ("text", "named", "answer"), [(GERMAN, "--thousands", ["--thousands", "."]), (SHORT, "--partly", ["--partly"])]
)
def test_the_option_that_the_question_names_reads_the_table(
    text: str, named: str, answer: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Columns beside their total are no measures, so that --measures is not what is asked for."""
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    assert run(["audit", str(path)]) == 2
    said = capsys.readouterr().err
    assert named in said
    assert "--measures" not in said
    assert run(["audit", str(path), *answer]) == 0


def test_a_title_with_a_comma_above_semicolons_is_no_head(tmp_path: Path) -> None:
    """As protect reads it."""
    path = tmp_path / "t.csv"
    path.write_text(TITLED, encoding="utf-8")
    assert run(["audit", str(path)]) == 0


def test_a_list_with_a_short_line_is_still_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Most lines are as long as the head, so it is one."""
    path = tmp_path / "t.csv"
    path.write_text("area,sex,n\na,f,1\na,m,2\nb,f\nb,m,7\n", encoding="utf-8")
    assert run(["audit", str(path)]) == 2
    assert "line 4" in capsys.readouterr().err


def test_columns_without_a_total_are_asked_about_with_both_readings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Measures, or a cross-table with the question of its own."""
    path = tmp_path / "t.csv"
    path.write_text("Gebiet;Frauen;M\u00e4nner\nA;1.204;20\nB;1.311;17\n", encoding="utf-8")
    assert run(["audit", str(path)]) == 2
    said = capsys.readouterr().err
    assert "--measures 2" in said
    assert "cross-table" in said
