"""A worksheet written back: every cell by what the edits say of it, and around them what a list allows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from xml.etree.ElementTree import Element, SubElement

from discreet.sheets.excel.excel_cells import StoredCell, StoredSheet
from discreet.sheets.excel.excel_names import NAMES, SHEET_ROW
from discreet.sheets.excel.excel_styles import Styles
from discreet.sheets.excel.excel_texts import Texts
from discreet.sheets.rewrite import notices as say
from discreet.sheets.rewrite.edits import TELLING, Content, Settled
from discreet.sheets.rewrite.kept_formulas import kept_formula, moved_formula
from discreet.sheets.rewrite.notices import Notices
from discreet.sheets.rewrite.number_look import plain_text, written_like
from discreet.sheets.sheet_grid import CellPlace, column_letters

Row = dict[int, Element]


class SheetWriter:
    """Writes the cells of one sheet; what they come to is asked for by formulas, tables and the note."""

    def __init__(self, sheet: StoredSheet, edits: Settled, styles: Styles, texts: Texts, notices: Notices) -> None:
        self.sheet = sheet
        self._edits, self._styles, self._texts, self._notices = edits, styles, texts, notices
        self.numbers: dict[tuple[int, int], float] = {}
        self.letters: dict[tuple[int, int], str] = {}
        self._formulas: list[tuple[StoredCell, Element]] = []
        self._rows: dict[int, tuple[Element, Row]] = {}
        self._under = _under_merges(sheet)
        self._like_note: int | None = None
        self._numbers_end = 0

    def written(self) -> Element:
        """The rows of the sheet, with the note below them."""
        for number, element, cells in self.sheet.rows:
            self._row(number, element, cells)
        self._insert()
        for cell, element in self._formulas:
            self._formula(cell, element)
        if self._edits.edits.note and self.sheet.name in self._edits.by_sheet:
            self._note(self._edits.edits.note)
        data = Element("sheetData")
        for number in sorted(self._rows):
            row, written = self._rows[number]
            row.extend(written[column] for column in sorted(written))
            data.append(row)
        return data

    @property
    def last_row(self) -> int:
        """The last row with something in it."""
        return max((row for row, _ in (*self.numbers, *self.letters)), default=0)

    @property
    def last_column(self) -> int:
        """The last column with something in it."""
        return max((column for _, column in (*self.numbers, *self.letters)), default=0)

    def has_formulas(self) -> bool:
        """Whether a formula stays."""
        return any(element.find("f") is not None for _, element in self._formulas)

    def _row(self, number: int, element: Element, cells: tuple[StoredCell, ...]) -> None:
        row = NAMES.copied(element, SHEET_ROW)
        row.set("r", str(number))
        style = element.get("s", "")
        if style.isdecimal() and element.get("customFormat") in ("1", "true"):
            row.set("s", str(self._styles.for_empty(int(style))))
            row.set("customFormat", "1")
        written: Row = {}
        self._rows[number] = row, written
        hidden = number in self.sheet.hidden_rows
        under = self._under.get(number, ())
        for cell in cells:
            place = CellPlace(self.sheet.name, number, cell.column)
            reason = None
            if hidden or self.sheet.is_hidden_column(cell.column):
                reason = say.IN_HIDDEN
            elif under and any(first <= cell.column <= last for first, last in under):
                reason = say.UNDER_MERGE
            if reason is None:
                written[cell.column] = self._cell(cell, place)
                continue
            if cell.kind != "empty":
                self._notices.at(reason, place)
            if not hidden:
                written[cell.column] = self._empty(cell)

    def _cell(self, cell: StoredCell, place: CellPlace) -> Element:
        if place in self._edits.now:
            return self._put(cell, self._edits.now[place])
        if cell.kind == "empty":
            return self._empty(cell)
        if cell.kind == "formula":
            return self._blanked(cell, place, say.NO_VALUE)
        if cell.kind == "error":
            return self._value(cell, self._styles.for_empty(cell.style), cell.raw, "e")
        if cell.number is not None and place not in self._edits.shown:
            return self._blanked(cell, place, say.UNJUDGED)
        return self._kept_text(cell, place) if cell.kind == "text" else self._kept_number(cell, place)

    def _kept_number(self, cell: StoredCell, place: CellPlace) -> Element:
        if cell.number is None:
            return self._empty(cell)
        style = self._styles.for_number(cell.style, cell.number)
        if style is None:
            return self._blanked(cell, place, say.BY_FORMAT)
        element = self._value(cell, style, cell.raw, "b" if cell.kind == "truth" else None)
        self._count(cell.row, cell.column, cell.number)
        if cell.formula is not None:
            self._formulas.append((cell, element))
        return element

    def _kept_text(self, cell: StoredCell, place: CellPlace) -> Element:
        style = self._styles.for_text(cell.style)
        if style is None:
            return self._blanked(cell, place, say.BY_FORMAT)
        if self._styles.is_invisible(cell.style) and place not in self._edits.shown:
            return self._blanked(cell, place, say.INVISIBLE)
        has_digits = any(sign.isdigit() for sign in cell.raw)
        if cell.formula is not None and has_digits and place not in self._edits.shown:
            return self._blanked(cell, place, say.FROM_FORMULA)
        repeated = self._edits.repeated(place, cell.raw)
        if repeated >= TELLING:
            return self._blanked(cell, place, say.REPEATED)
        if repeated:
            self._notices.at(say.DOUBTFUL, place)
        if cell.number is not None:
            self._numbers_end = max(self._numbers_end, cell.row)
        elif cell.row > self._numbers_end:
            self._like_note = cell.style
        number = self._texts.plain(cell.raw) if cell.rich is None else self._texts.kept(cell.rich)
        self.letters[cell.row, cell.column] = cell.raw
        return self._value(cell, style, number, "s")

    def _put(self, cell: StoredCell, content: Content) -> Element:
        """A cell with something new in it."""
        if content is None:
            return self._empty(cell)
        if isinstance(content, str) or cell.kind == "text":
            is_number = not isinstance(content, str)
            text = written_like(cell.raw, content) if not isinstance(content, str) else content
            self._numbers_end = max(self._numbers_end, cell.row)
            self.letters[cell.row, cell.column] = text
            style = self._styles.for_text(cell.style) if is_number or cell.kind == "text" else None
            style = self._styles.for_mark(cell.style) if style is None else style
            return self._value(cell, style, self._texts.plain(text), "s")
        style = self._styles.for_new_number(cell.style, content)
        self._count(cell.row, cell.column, float(content))
        element = self._value(cell, style, plain_text(content), None)
        if cell.formula is not None:
            self._formulas.append((cell, element))
        return element

    def _count(self, row: int, column: int, number: float) -> None:
        self.numbers[row, column] = number
        self._numbers_end = max(self._numbers_end, row)
        self._like_note = None

    def _blanked(self, cell: StoredCell, place: CellPlace, reason: str) -> Element:
        self._notices.at(reason, place)
        return self._empty(cell)

    def _empty(self, cell: StoredCell) -> Element:
        element = Element("c", r=f"{column_letters(cell.column)}{cell.row}")
        if style := self._styles.for_empty(cell.style):
            element.set("s", str(style))
        return element

    def _value(self, cell: StoredCell, style: int, value: str, kind: str | None) -> Element:
        element = Element("c", r=f"{column_letters(cell.column)}{cell.row}")
        if style:
            element.set("s", str(style))
        if kind is not None:
            element.set("t", kind)
        SubElement(element, "v").text = value
        return element

    def _insert(self) -> None:
        """What goes where the source has no cell at all."""
        have = {(number, column) for number, (_, cells) in self._rows.items() for column in cells}
        for (row, column), content in self._edits.by_sheet.get(self.sheet.name, {}).items():
            if content is None or (row, column) in have:
                continue
            if row in self.sheet.hidden_rows or self.sheet.is_hidden_column(column):
                continue
            if any(first <= column <= last for first, last in self._under.get(row, ())):
                continue
            cells = self._rows.setdefault(row, (Element("row", r=str(row)), {}))[1]
            cells[column] = self._put(StoredCell(row, column, 0, "empty"), content)

    def _formula(self, cell: StoredCell, element: Element) -> None:
        """Put the formula back where it uses shown cells only and comes to what is shown."""
        text = self._formula_text(cell)
        value = self.numbers[cell.row, cell.column]
        kept = None if text is None else kept_formula(text, value, self.numbers)
        if kept is not None:
            formula = Element("f")
            formula.text = kept
            element.insert(0, formula)

    def _formula_text(self, cell: StoredCell) -> str | None:
        formula = cell.formula
        if formula is None or formula.get("t", "normal") not in ("normal", "shared"):
            return None
        if formula.get("t") != "shared" or formula.text:
            return formula.text
        first = self._shared.get(formula.get("si", ""))
        if first is None or first.formula is None or not first.formula.text:
            return None
        return moved_formula(first.formula.text, cell.row - first.row, cell.column - first.column)

    @cached_property
    def _shared(self) -> Mapping[str, StoredCell]:
        """The cell that has the text of each shared formula."""
        return {
            cell.formula.get("si", ""): cell
            for cell in self.sheet.cells()
            if cell.formula is not None and cell.formula.get("t") == "shared" and cell.formula.text
        }

    def _note(self, note: str) -> None:
        """The note below everything: right under the notes that are there, else a row apart from the numbers."""
        filled = [
            cell.row for cell in self.sheet.cells() if cell.kind != "empty" and cell.row not in self.sheet.hidden_rows
        ]
        last = max([self.last_row, *filled, *(area.last_row for area in self.sheet.merged)])
        row = last + (2 if last <= self._numbers_end else 1)
        while row in self.sheet.hidden_rows:
            row += 1
        bottom = self.last_row
        columns = [column for r, column in self.letters if r == bottom] or [c for _, c in self.letters]
        column = min(columns, default=1)
        while self.sheet.is_hidden_column(column):
            column += 1
        cells = self._rows.setdefault(row, (Element("row", r=str(row)), {}))[1]
        style = self._styles.for_note(self._like_note)
        cell = StoredCell(row, column, 0, "empty")
        cells[column] = self._value(cell, style, self._texts.plain(note), "s")
        self.letters[row, column] = note


def _under_merges(sheet: StoredSheet) -> dict[int, list[tuple[int, int]]]:
    """For each row, from which to which column cells lie under a merged one and are not its corner."""
    under: dict[int, list[tuple[int, int]]] = {}
    end = max((number for number, _, _ in sheet.rows), default=0)
    for area in sheet.merged:
        for row in range(area.first_row, min(area.last_row, end) + 1):
            first = area.first_column + (1 if row == area.first_row else 0)
            under.setdefault(row, []).append((first, area.last_column))
    return under
