"""The note of an OpenDocument sheet begins where the last row with a text does."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from discreet.sheets.same_layout import write_same
from discreet.sheets.sources.by_kind import grids_of

NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
)
NOTE = "* hidden"
Rows = list[list[str | int | None]]


def document(path: Path, rows: Rows) -> Path:
    def cell(value: str | int | None) -> str:
        if value is None:
            return "<table:table-cell/>"
        kind = "string" if isinstance(value, str) else f'float" office:value="{value}'
        return f'<table:table-cell office:value-type="{kind}"><text:p>{escape(str(value))}</text:p></table:table-cell>'

    lines = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    body = f'<office:body><office:spreadsheet><table:table table:name="S">{lines}</table:table></office:spreadsheet>'
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        package.writestr(
            "content.xml", f"<office:document-content {NAMES}>{body}</office:body></office:document-content>"
        )
    return path


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        ([["Area", "F", "M"], ["North", 3, 40], ["South", 22, 31]], 1),
        ([["URN", "School", "F", "M"], [100049, "Oak", 3, 40], [100050, "Elm", 22, 31]], 2),
        ([["Area", "F", "M"], ["North", 3, 40], [None, None, None], [None, "Source: census", "2021 on"]], 2),
    ],
)
def test_the_note_begins_under_the_first_text_of_the_last_row(rows: Rows, column: int, tmp_path: Path) -> None:
    """Not under the last header, where the rows begin with a number."""
    source = document(tmp_path / "t.ods", rows)
    cells = [grid.place(*at) for grid in grids_of(source) for at in grid.cells]
    three = next(grid.place(*at) for grid in grids_of(source) for at, cell in grid.cells.items() if cell.value == 3)
    write_same(source, tmp_path / "out.ods", {three: "*"}, shown=cells, note=NOTE, mark="*")
    (after,) = grids_of(tmp_path / "out.ods")
    assert [at[1] for at, cell in after.cells.items() if cell.value == NOTE] == [column]
