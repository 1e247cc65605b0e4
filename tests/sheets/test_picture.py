"""The picture of what was understood: in a terminal, in a notebook, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from discreet import cli
from discreet.sheets.reading_sheets import read_table
from discreet.sheets.sheet_layout import ASIDE, HEADER, LABEL, MARK, NUMBER, ROLES, SHARE, TITLE, TOTAL
from tests.sheets.gallery import health
from tests.sheets.gallery.draft import Draft, written


def test_every_cell_has_a_role(tmp_path: Path) -> None:
    """Numbers, sums, percentages, labels of their dimension, the title."""
    table = read_table(written([health.coverage()], tmp_path, "xlsx"))
    roles = table.layout.roles
    assert set(roles) == set(table.grid.cells)
    assert set(roles.values()) <= set(ROLES)
    assert [roles[place] for place in ((1, 1), (5, 1), (3, 2), (5, 2), (5, 3), (8, 2))] == [
        TITLE,
        LABEL,
        HEADER,
        NUMBER,
        SHARE,
        TOTAL,
    ]
    assert table.layout.dimension_of[(5, 1)] == "Local authority"


def test_marks_and_what_is_left_aside_are_told(tmp_path: Path) -> None:
    """A column of remarks is not part of the table."""
    draft = health.already_hidden()
    draft.text(3, 6, "Remark")
    draft.text(5, 6, "late")
    table = read_table(written([draft], tmp_path, "xlsx"))
    assert table.layout.roles[(4, 2)] == MARK
    assert table.layout.roles[(5, 6)] == ASIDE
    assert any("F3:F7" in sentence for sentence in table.sentences)


@pytest.mark.parametrize("rows", [4, 40])
def test_a_terminal_draws_the_sheet_and_says_what_is_not_drawn(rows: int, tmp_path: Path) -> None:
    """The first rows and the last; every assumption."""
    table = read_table(written([health.deaths_by_cause()], tmp_path, "ods"))
    console = Console(width=120, record=True, file=open(tmp_path / "out.txt", "w", encoding="utf-8"))  # noqa: SIM115
    console.print(table.drawn(rows=rows))
    console.file.close()
    text = console.export_text()
    assert "Circulatory" in text or rows == 4
    assert ("not drawn" in text) == (rows == 4)
    assert all(sentence.split(";")[0][:40] in text for sentence in table.sentences)


def test_a_notebook_gets_a_table_without_markup_of_the_sheet(tmp_path: Path) -> None:
    """What stands in a cell is text, whatever it looks like."""
    draft = Draft("x")
    draft.line(1, ["<b>Area</b>", "n"])
    draft.line(2, ["<script>", 12])
    draft.line(3, ["South", 7])
    page = read_table(written([draft], tmp_path, "xlsx"))._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<tr>") == 4


def test_show_draws_sheets_and_takes_the_options_of_reading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked in Python is asked here, and answered by an option of the same name."""
    monkeypatch.chdir(tmp_path)
    draft = Draft("x")
    draft.line(1, ["Area", "f", "m"])
    draft.line(2, ["North", 12])
    draft.line(3, ["South", 7, 9])
    path = written([draft], tmp_path, "xlsx")
    assert cli.run(["show", path.name]) == 2
    assert "--blank" in capsys.readouterr().err
    assert cli.run(["show", path.name, "--blank", "hidden", "--names", "area,sex"]) == 0
    said = capsys.readouterr().out
    assert "area x sex: 4 cells, 1 hidden" in said
    assert cli.run(["show", path.name, "--blank", "zero", "--total", "Area=", "--sheet", "x"]) == 0
    assert "3 of them" not in capsys.readouterr().out
    assert cli.run(["show", path.name, "--blank", "zero", "--sheet", "y"]) == 2
