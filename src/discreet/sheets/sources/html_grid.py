"""Tables of an HTML page as grids: cells that span rows and columns are merged ranges, a caption is the title above."""

from __future__ import annotations

from pathlib import Path

from discreet.base.texts import read_text
from discreet.errors import InputError
from discreet.sheets.rewrite.html_cells import CAPTION_ROW, HtmlCells
from discreet.sheets.sheet_grid import SheetCell, SheetGrid, leading


def html_grids(path: Path, *, encoding: str | None = None) -> list[SheetGrid]:
    """Every table of a page that is not inside another, called by its number; what is not displayed is not read."""
    page = HtmlCells()
    page.run(read_text(path, encoding))
    cells: dict[str, dict[tuple[int, int], SheetCell]] = {name: {} for name in page.names}
    for place, said in page.said.items():
        name, row, column = place
        text = said.replace("\r", "").strip(" \t\n")  # a no-break space before a label indents it
        if row == CAPTION_ROW:
            text = " ".join(text.split())
        if text.strip():
            bold = place in page.headers
            cells[name][row, column] = SheetCell(text.rstrip(), indent=leading(text), bold=bold)
    grids = [SheetGrid(path.name, name, cells[name], merged=tuple(page.merged.get(name, ()))) for name in page.names]
    if not any(grid.cells for grid in grids):
        raise InputError(f"{path.name!r} holds no table; a table of a page is written in <table>")
    return grids
