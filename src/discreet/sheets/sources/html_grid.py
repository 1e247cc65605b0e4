"""Tables of an HTML page as grids: cells that span rows and columns are merged ranges, a caption is the title above."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from discreet.base.texts import read_text
from discreet.errors import InputError
from discreet.sheets.sheet_grid import CellRange, SheetCell, SheetGrid, leading

MOST_SPAN = 1000


def html_grids(path: Path, *, encoding: str | None = None) -> list[SheetGrid]:
    """Every table of a page that is not inside another, called by its number."""
    page = _Tables()
    page.feed(read_text(path, encoding))
    grids = [table.grid(path.name, n) for n, table in enumerate(page.tables, 1)]
    if not any(grid.cells for grid in grids):
        raise InputError(f"{path.name!r} holds no table; a table of a page is written in <table>")
    return grids


@dataclass
class _Table:
    caption: str = ""
    cells: dict[tuple[int, int], SheetCell] = field(default_factory=dict)
    merged: list[CellRange] = field(default_factory=list)
    taken: set[tuple[int, int]] = field(default_factory=set)
    row: int = 1

    def add(self, text: str, bold: bool, down: int, across: int) -> None:
        column = 1
        while (self.row, column) in self.taken:
            column += 1
        places = [(self.row + r, column + c) for r in range(down) for c in range(across)]
        self.taken.update(places)
        if down > 1 or across > 1:
            self.merged.append(CellRange(self.row, column, self.row + down - 1, column + across - 1))
        if text.strip():
            self.cells[places[0]] = SheetCell(text.rstrip(), indent=leading(text), bold=bold)

    def grid(self, source: str, number: int) -> SheetGrid:
        cells = dict(self.cells)
        if self.caption:
            cells[(1, 1)] = SheetCell(self.caption)
        return SheetGrid(source, f"table {number}", cells, merged=tuple(self.merged))


class _Tables(HTMLParser):
    """The tables of a page; row 1 of each is kept for its caption."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[_Table] = []
        self.depth = 0
        self.text: list[str] | None = None
        self.about: tuple[bool, int, int] = (False, 1, 1)
        self.in_caption = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.depth += 1
            if self.depth == 1:
                self.tables.append(_Table())
        if self.depth != 1:
            return
        if tag == "tr":
            self._end_cell()
            self.tables[-1].row += 1
        elif tag == "caption":
            self.text = []
            self.in_caption = True
        elif tag in ("td", "th"):
            self._end_cell()
            self.text = []
            spans = {name: value for name, value in attrs if value and value.isdecimal()}
            down, across = (max(1, min(int(spans.get(f"{what}span") or 1), MOST_SPAN)) for what in ("row", "col"))
            self.about = (tag == "th", down, across)
        elif tag == "br" and self.text is not None:
            self.text.append(" ")

    def handle_data(self, data: str) -> None:
        if self.text is not None and self.depth == 1:
            self.text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._end_cell()
            self.depth = max(0, self.depth - 1)
        elif self.depth == 1 and tag == "caption" and self.text is not None:
            self.tables[-1].caption = " ".join("".join(self.text).split())
            self.text = None
            self.in_caption = False
        elif self.depth == 1 and tag in ("td", "th", "tr"):
            self._end_cell()

    def _end_cell(self) -> None:
        if self.text is None or self.in_caption or not self.tables:
            return
        text = "".join(self.text).replace("\r", "")
        text = text.strip(" \t\n")  # a no-break space before a label indents it
        self.tables[-1].add(text, *self.about)
        self.text = None
