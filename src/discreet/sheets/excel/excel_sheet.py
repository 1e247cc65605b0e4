"""A worksheet written back: every cell by what the edits say of it, and around them what a list allows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from itertools import chain
from typing import NamedTuple
from xml.etree.ElementTree import Element

from discreet.sheets.excel.excel_cells import StoredCell, StoredSheet
from discreet.sheets.excel.excel_names import SHEET_ROW
from discreet.sheets.excel.excel_styles import Styles
from discreet.sheets.excel.excel_texts import Texts
from discreet.sheets.rewrite import notices as say
from discreet.sheets.rewrite.edits import Content, Settled
from discreet.sheets.rewrite.kept_formulas import kept_formula, moved_formula
from discreet.sheets.rewrite.looks import is_label_kind, telling_cells
from discreet.sheets.rewrite.notices import Notices
from discreet.sheets.rewrite.number_look import plain_text, written_like
from discreet.sheets.rewrite.xml_copy import as_text, attribute_value
from discreet.sheets.sheet_grid import CellPlace, column_letters

PLAIN = ("1", "true")
_NEW = object()


class _Row(NamedTuple):
    """A row that is written: what it says of itself, and its cells by column, both as XML."""

    attributes: str
    cells: dict[int, str]


class _FormulaCell(NamedTuple):
    """A number that a formula gave: where it is written, and how."""

    cell: StoredCell
    style: int
    value: str
    kind: str | None


class SheetWriter:
    """Writes the cells of one sheet; what they come to is asked for by formulas, tables and the note."""

    def __init__(self, sheet: StoredSheet, edits: Settled, styles: Styles, texts: Texts, notices: Notices) -> None:
        self.sheet = sheet
        self._edits, self._styles, self._texts, self._notices = edits, styles, texts, notices
        self._now = edits.by_sheet.get(sheet.name, {})
        self._shown = edits.shown_by_sheet.get(sheet.name, frozenset())
        self.numbers: dict[tuple[int, int], float] = {}
        self.letters: dict[tuple[int, int], str] = {}
        self._formulas: list[_FormulaCell] = []
        self._kept_formulas = 0
        self._rows: dict[int, _Row] = {}
        self._under = _under_merges(sheet)
        self._like_note: int | None = None
        self._numbers_end = 0
        self._label_cells: frozenset[tuple[int, int]] = frozenset()
        self._telling: frozenset[tuple[int, int]] = frozenset()
        if len({styles.drawn_as(style) for style in {cell.style for cell in sheet.cells()}}) > 1:
            self._compare_looks(edits.kinds_of(sheet.name))

    def _compare_looks(self, kinds: Mapping[tuple[int, int], tuple[int, Hashable]]) -> None:
        """Find cells whose looks may tell what they hide; labels are compared but for where they stand."""
        self._label_cells = frozenset(cell for cell, (_, kind) in kinds.items() if is_label_kind(kind))
        looks: dict[tuple[int, int], Hashable] = {}
        for cell in self.sheet.cells():
            if (at := (cell.row, cell.column)) in kinds:
                look = self._styles.drawn_as(cell.style)
                looks[at] = look[:2] if at in self._label_cells else look
        self._telling = telling_cells(looks, kinds)
        if self._telling:
            self._notices.add(say.LOOKS)

    def written(self) -> str:
        """The rows of the sheet as XML, with the note below them."""
        for number, element, cells in self.sheet.rows:
            self._row(number, element, cells)
        self._insert()
        for formula in self._formulas:
            self._formula(formula)
        if self._edits.edits.note and self._now:
            self._note(self._edits.edits.note)
        rows = []
        for number in sorted(self._rows):
            row = self._rows[number]
            inside = "".join([row.cells[column] for column in sorted(row.cells)])
            rows.append(f'<row r="{number}"{row.attributes}>{inside}</row>')
        return "".join(rows)

    @property
    def last_row(self) -> int:
        """The last row with something in it."""
        return max((row for row, _ in chain(self.numbers, self.letters)), default=0)

    @property
    def last_column(self) -> int:
        """The last column with something in it."""
        return max((column for _, column in chain(self.numbers, self.letters)), default=0)

    def has_formulas(self) -> bool:
        """Whether a formula stays."""
        return self._kept_formulas > 0

    def _row(self, number: int, element: Element, cells: tuple[StoredCell, ...]) -> None:
        attributes = ""
        for key, value in element.items():
            check = SHEET_ROW.attributes.get(key)
            if check is not None and check(value):
                attributes += f" {key}={attribute_value(value)}"
        style = element.get("s", "")
        if style.isdecimal() and element.get("customFormat") in PLAIN:
            attributes += f' s="{self._styles.for_empty(int(style))}" customFormat="1"'
        written: dict[int, str] = {}
        self._rows[number] = _Row(attributes, written)
        hidden = number in self.sheet.hidden_rows
        under = self._under.get(number, ())
        some_hidden = hidden or bool(self.sheet.hidden_columns)
        if not (some_hidden or under or self._telling):  # almost all rows
            for cell in cells:
                written[cell.column] = self._cell(cell)
            return
        for cell in cells:
            column = cell.column
            if (number, column) in self._telling:
                aligned = (number, column) in self._label_cells
                cell = cell._replace(style=self._styles.without_look(cell.style, aligned=aligned))
            reason = None
            if some_hidden and (hidden or self.sheet.is_hidden_column(column)):
                reason = say.IN_HIDDEN
            elif under and any(first <= column <= last for first, last in under):
                reason = say.UNDER_MERGE
            if reason is None:
                written[column] = self._cell(cell)
                continue
            if cell.kind != "empty":
                self._notices.at(reason, self._place(cell))
            if not hidden:
                written[column] = self._empty(cell)

    def _place(self, cell: StoredCell) -> CellPlace:
        return CellPlace(self.sheet.name, cell.row, cell.column)

    def _cell(self, cell: StoredCell) -> str:
        at = (cell.row, cell.column)
        content = self._now.get(at, _NEW)
        if content is not _NEW:
            return self._put(cell, content)  # type: ignore[arg-type]
        if cell.kind == "empty":
            return self._empty(cell)
        if cell.kind == "formula":
            return self._blanked(cell, say.NO_VALUE)
        if cell.kind == "error":
            return self._value(cell, self._styles.for_empty(cell.style), cell.raw, "e")
        if cell.number is not None and at not in self._shown:
            return self._blanked(cell, say.UNJUDGED)
        return self._kept_text(cell) if cell.kind == "text" else self._kept_number(cell)

    def _kept_number(self, cell: StoredCell) -> str:
        if cell.number is None:
            return self._empty(cell)
        style = self._styles.for_number(cell.style, cell.number)
        if style is None:
            return self._blanked(cell, say.BY_FORMAT)
        return self._number(cell, style, cell.raw, cell.number, "b" if cell.kind == "truth" else None)

    def _number(self, cell: StoredCell, style: int, text: str, number: float, kind: str | None) -> str:
        self.numbers[cell.row, cell.column] = number
        if cell.row > self._numbers_end:
            self._numbers_end = cell.row
        self._like_note = None
        if cell.formula is not None:
            self._formulas.append(_FormulaCell(cell, style, text, kind))
        return self._value(cell, style, text, kind)

    def _kept_text(self, cell: StoredCell) -> str:
        style = self._styles.for_text(cell.style)
        if style is None:
            return self._blanked(cell, say.BY_FORMAT)
        at = (cell.row, cell.column)
        if self._styles.is_invisible(cell.style) and at not in self._shown:
            return self._blanked(cell, say.INVISIBLE)
        if cell.formula is not None and at not in self._shown and any(sign.isdigit() for sign in cell.raw):
            return self._blanked(cell, say.FROM_FORMULA)
        if self._edits.tells(self._place(cell), cell.raw):
            return self._blanked(cell, say.REPEATED)
        if cell.number is not None:
            self._numbers_end = max(self._numbers_end, cell.row)
        elif cell.row > self._numbers_end:
            self._like_note = cell.style
        number = self._texts.plain(cell.raw) if cell.rich is None else self._texts.kept(cell.rich)
        self.letters[at] = cell.raw
        return self._value(cell, style, number, "s")

    def _put(self, cell: StoredCell, content: Content) -> str:
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
        return self._number(cell, style, plain_text(content), float(content), None)

    def _blanked(self, cell: StoredCell, reason: str) -> str:
        self._notices.at(reason, self._place(cell))
        return self._empty(cell)

    def _empty(self, cell: StoredCell) -> str:
        style = self._styles.for_empty(cell.style)
        looks = f' s="{style}"' if style else ""
        return f'<c r="{column_letters(cell.column)}{cell.row}"{looks} />'

    def _value(self, cell: StoredCell, style: int, value: str, kind: str | None, formula: str = "") -> str:
        """A cell as XML; ``value`` is the text of a number, of an error, or the number of a text."""
        looks = f' s="{style}"' if style else ""
        if kind is not None:
            looks += f' t="{kind}"'
        return f'<c r="{column_letters(cell.column)}{cell.row}"{looks}>{formula}<v>{value}</v></c>'

    def _insert(self) -> None:
        """What goes where the source has no cell at all."""
        for (row, column), content in self._now.items():
            if content is None or (row in self._rows and column in self._rows[row].cells):
                continue
            if row in self.sheet.hidden_rows or self.sheet.is_hidden_column(column):
                continue
            if any(first <= column <= last for first, last in self._under.get(row, ())):
                continue
            cells = self._rows.setdefault(row, _Row("", {})).cells
            cells[column] = self._put(StoredCell(row, column, 0, "empty"), content)

    def _formula(self, formula: _FormulaCell) -> None:
        """Put the formula back where it uses shown cells only and comes to what is shown."""
        cell = formula.cell
        text = self._formula_text(cell)
        value = self.numbers[cell.row, cell.column]
        kept = None if text is None else kept_formula(text, value, self.numbers)
        if kept is not None:
            self._kept_formulas += 1
            inside = f"<f>{as_text(kept)}</f>"
            self._rows[cell.row].cells[cell.column] = self._value(
                cell, formula.style, formula.value, formula.kind, inside
            )

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
        texts = [at for at in self.letters if at not in self._now]  # no marks
        columns = [column for r, column in texts if r == bottom] or [c for _, c in texts]
        column = min(columns, default=1)
        while self.sheet.is_hidden_column(column):
            column += 1
        cells = self._rows.setdefault(row, _Row("", {})).cells
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
