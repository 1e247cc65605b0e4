"""The cells of the tables of a page, for reading and for writing: both count rows, columns and elements alike."""

from __future__ import annotations

from html.parser import HTMLParser

from discreet.sheets.rewrite.displayed_elements import PassedOver, is_passed_over, is_unwrapped
from discreet.sheets.rewrite.edits import Place
from discreet.sheets.sheet_grid import CellRange

MOST_SPAN = 1000
CAPTION_ROW = 1
"""The row of a table's caption; its own rows come below."""


class HtmlCells(HTMLParser):
    """Goes through a page and tells what its cells say; what is not displayed or stands in a table of a cell is not."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.names: list[str] = []
        self.said: dict[Place, str] = {}
        """All texts of a cell."""
        self.headers: set[Place] = set()
        self.merged: dict[str, list[CellRange]] = {}
        self.passed_over = PassedOver()
        self.depth = 0  # tables that are open and not passed over
        self.row = 0
        self.place: Place | None = None
        self.inner: list[tuple[bool, str]] = []
        """Pieces of the cell that is open: whether it is text, and what."""
        self._nested = 0  # tables that are open, passed over or not
        self._taken: set[tuple[int, int]] = set()

    def run(self, text: str) -> None:
        """Go through a whole page."""
        self.feed(text)
        self.close()
        self._end_cell()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag == "table":
            self._nested += 1
            if self._nested == 1:
                self.names.append(f"table {len(self.names) + 1}")
        if self.passed_over.holds_start(tag) or self.takes(tag, given):
            return
        if is_passed_over(tag, given) or (tag == "table" and self.leaves_table_out()):
            self.leaves_out(tag, given)
            self.passed_over.begin(tag)
        elif not is_unwrapped(tag):
            self._start(tag, given)

    def _start(self, tag: str, given: dict[str, str]) -> None:
        if tag == "table":
            self.depth += 1
            if self.depth == 1:
                self.row, self._taken = CAPTION_ROW, set()
        in_table = self.depth == 1
        if in_table and tag in ("tr", "td", "th", "caption"):
            self._end_cell()
        if in_table and tag == "tr":
            self.row += 1
        if in_table and tag in ("td", "th"):
            self._begin_cell(tag, given)
            return
        self.element(tag, given)
        if in_table and tag == "caption":
            self.place, self.inner = (self.names[-1], CAPTION_ROW, 1), []

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._nested = max(0, self._nested - 1)
        if self.passed_over.holds_end(tag):
            return
        if self.depth == 1 and tag in ("table", "td", "th", "tr", "caption"):
            self._end_cell()
        self.depth -= tag == "table" and self.depth > 0
        self.end_of_element(tag)

    def handle_data(self, data: str) -> None:
        if self.passed_over:
            return
        if self.place is not None:
            self.inner.append((True, data))
        else:
            self.text_outside(data)

    def _begin_cell(self, tag: str, given: dict[str, str]) -> None:
        self.row = max(self.row, CAPTION_ROW + 1)  # a cell outside of rows
        spans = [given.get(f"{what}span", "1") for what in ("row", "col")]
        down, across = (max(1, min(int(s) if s.isdecimal() else 1, MOST_SPAN)) for s in spans)
        column = 1
        while (self.row, column) in self._taken:
            column += 1
        self._taken.update((self.row + r, column + c) for r in range(down) for c in range(across))
        if down > 1 or across > 1:
            area = CellRange(self.row, column, self.row + down - 1, column + across - 1)
            self.merged.setdefault(self.names[-1], []).append(area)
        self.place = (self.names[-1], self.row, column)
        if tag == "th":
            self.headers.add(self.place)
        self.inner = []
        self.cell_begins(tag, given)

    def _end_cell(self) -> None:
        if self.place is None:
            return
        place, self.place = self.place, None
        self.said[place] = "".join(
            piece if is_text else " " for is_text, piece in self.inner if is_text or piece.startswith("<br")
        )
        self.cell_ends(place)
        self.inner = []

    # -- what is done with it; nothing, where a page is only read -----------------------------------------------

    def takes(self, tag: str, given: dict[str, str]) -> bool:
        """Whether an element is dealt with otherwise."""
        return False

    def leaves_table_out(self) -> bool:
        """Whether a table is passed over: one that stands in a cell of another."""
        return self._nested > 1

    def leaves_out(self, tag: str, given: dict[str, str]) -> None:
        """An element is passed over."""

    def element(self, tag: str, given: dict[str, str]) -> None:
        """An element begins that is not a cell."""
        if self.place is not None:
            self.inner.append((False, f"<{tag}>"))

    def end_of_element(self, tag: str) -> None:
        """An element ends."""

    def text_outside(self, text: str) -> None:
        """A text stands in no cell."""

    def cell_begins(self, tag: str, given: dict[str, str]) -> None:
        """A cell begins, at ``place``."""

    def cell_ends(self, place: Place) -> None:
        """A cell has ended."""
