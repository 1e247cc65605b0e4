"""A sheet of an OpenDocument spreadsheet written back, cell by cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from xml.etree.ElementTree import Element, SubElement

from discreet.sheets.opendocument.opendocument_cells import (
    VALUES,
    DocumentCell,
    DocumentRow,
    columns_of,
    repeats,
)
from discreet.sheets.opendocument.opendocument_names import (
    COLUMN_CONTAINERS,
    CONTAINERS,
    DROPPED_CONTENT,
    NAMES,
    SCALES,
)
from discreet.sheets.opendocument.opendocument_styles import DocumentStyles
from discreet.sheets.rewrite import notices as say
from discreet.sheets.rewrite.edits import Content, Settled
from discreet.sheets.rewrite.kept_formulas import kept_formula
from discreet.sheets.rewrite.looks import is_label_kind, telling_cells
from discreet.sheets.rewrite.notices import Notices
from discreet.sheets.rewrite.number_look import first_number, plain_text, written_like
from discreet.sheets.sheet_grid import CellPlace

SET_IN = ("fo:margin", "fo:text-align", "fo:padding")
"""Properties of where a text stands in its cell."""
_SPANS = ("table:number-columns-spanned", "table:number-rows-spanned")
_REFERENCE = re.compile(r"\[\.(\$?[A-Z]{1,3}\$?\d+)(?::\.(\$?[A-Z]{1,3}\$?\d+))?\]")
_BARE = re.compile(r"(\$?[A-Z]{1,3}\$?\d+)(?::(\$?[A-Z]{1,3}\$?\d+))?")
_CELL = r"'?S'?\.[A-Z]{1,3}(?:[1-9]\d{0,5}|10[0-4]\d{4})"  # S for the sheet; no more rows than a sheet has
_AREA = re.compile(rf"({_CELL}(?::{_CELL})?\s?)+")
_PRINTED = re.compile(rf"(?={_CELL}:{_CELL}$)'?S'?\.([A-Z]+\d+):'?S'?\.([A-Z]+)(\d+)")
_INSIDE = {*CONTAINERS, *COLUMN_CONTAINERS, "table:table-row", "table:table-column"}


class DocumentSheet:
    """Writes one sheet."""

    def __init__(
        self,
        table: Element,
        rows: Sequence[DocumentRow],
        edits: Settled,
        styles: DocumentStyles,
        notices: Notices,
    ) -> None:
        self._table, self._rows = table, rows
        self._edits, self._styles, self._notices = edits, styles, notices
        self.name = NAMES.attributes(table).get("table:name", "")
        self._columns = list(columns_of(table, styles))
        self._column_styles: dict[int, str | None] = {}
        self._hidden = [(first, first + times - 1) for first, times, _, hidden in self._columns if hidden]
        self._numbers: dict[tuple[int, int], float] = {}
        self._changed: dict[int, set[int]] = {}  # the columns of each row in which something is put
        for row, column in edits.by_sheet.get(self.name, {}):
            self._changed.setdefault(row, set()).add(column)
        self._formulas: list[tuple[int, int, str, Element]] = []
        self._numbers_end = self._texts_end = 0
        self._note_style: str | None = None
        self._note_column = 1
        self._telling: frozenset[tuple[int, int]] = frozenset()

    def written(self) -> Element:
        """The sheet with its columns, rows, and the note below."""
        about = NAMES.attributes(self._table)
        sheet = Element("table:table", {"table:name": self.name})
        self._set_style(sheet, "table:style-name", about.get("table:style-name"), "table")
        for child in self._table:
            short = NAMES.short(child.tag)
            if short not in _INSIDE and len(child) and short != "calcext:conditional-formats":
                self._notices.add(DROPPED_CONTENT.get(short, "parts of sheets that are not known here"))
        if about.get("table:protected") == "true":
            self._notices.add("protection of sheets and its passwords")
        self._write_columns(self._table, sheet)
        changes = self._edits.by_sheet.get(self.name, {})
        rows = self._rows
        self._telling = self._telling_cells(rows)
        filled = [first + times - 1 for first, times, _, cells in rows if any(c.kind != "empty" for c in cells)]
        last = max([*filled, *(row for row, _ in changes)], default=0)
        self._write_rows(self._table, sheet, iter(rows), last)
        for row, column, formula, element in self._formulas:
            self._keep_formula(row, column, formula, element)
        if self._edits.edits.note and changes:
            last = self._write_note(sheet, last)
        self._write_conditions(sheet)
        if area := _PRINTED.fullmatch(about.get("table:print-ranges", "").replace(self.name, "S")):
            first, corner, row = area[1], area[2], max(int(area[3]), last)  # the note is printed, too
            quoted = "'" + self.name.replace("'", "''") + "'"
            sheet.set("table:print-ranges", f"{quoted}.{first}:{quoted}.{corner}{row}")
        return sheet

    def _write_conditions(self, sheet: Element) -> None:
        """Conditional formats that compare the cells shown with each other; a limit or a formula is dropped."""
        written = Element("calcext:conditional-formats")
        for group in self._table:
            for source in group if NAMES.short(group.tag) == "calcext:conditional-formats" else ():
                area = NAMES.attributes(source).get("calcext:target-range-address", "")
                rules = [_scale(child) for child in source]
                kept = [rule for rule in rules if rule is not None]
                if len(kept) < len(rules) or not _AREA.fullmatch(area.replace(self.name, "S")):
                    self._notices.add("conditional formats with limits, formulas or texts")
                elif kept:
                    SubElement(written, "calcext:conditional-format", {"calcext:target-range-address": area}).extend(
                        kept
                    )
        if len(written):
            sheet.append(written)

    def _set_style(self, element: Element, key: str, name: str | None, family: str) -> None:
        if style := self._styles.use(name, family):
            element.set(key, style)

    def _write_columns(self, source: Element, target: Element) -> None:
        for child in source:
            short = NAMES.short(child.tag)
            about = NAMES.attributes(child)
            if short in COLUMN_CONTAINERS:
                self._write_columns(child, SubElement(target, short))
            elif short == "table:table-column":
                column = SubElement(target, short)
                self._set_style(column, "table:style-name", about.get("table:style-name"), "table-column")
                self._set_style(
                    column, "table:default-cell-style-name", about.get("table:default-cell-style-name"), "table-cell"
                )
                times = repeats(about.get("table:number-columns-repeated"))
                if times > 1:
                    column.set("table:number-columns-repeated", str(times))
                if about.get("table:visibility") in ("collapse", "filter"):
                    column.set("table:visibility", about["table:visibility"])

    def _write_rows(self, source: Element, target: Element, rows: Iterator[DocumentRow], last: int) -> None:
        for child in source:
            short = NAMES.short(child.tag)
            if short in CONTAINERS:
                group = Element(short)
                self._write_rows(child, group, rows, last)
                if len(group):
                    target.append(group)
            elif short == "table:table-row":
                first, times, element, cells = next(rows)
                self._write_row(target, first, min(times, max(last - first + 1, 0)), element, cells)

    def _write_row(
        self, target: Element, first: int, times: int, element: Element, cells: tuple[DocumentCell, ...]
    ) -> None:
        """Rows that are alike and empty stay one element, unless something is put into one of them."""
        filled = any(cell.kind != "empty" for cell in cells)
        row = first
        while row < first + times:
            end = first + times
            until = row + 1
            if not filled and row not in self._changed:
                until = min((r for r in self._changed if row < r < end), default=end)
            target.append(self._row(row, until - row, element, cells))
            row = until

    def _row(self, row: int, times: int, element: Element, cells: tuple[DocumentCell, ...]) -> Element:
        about = NAMES.attributes(element)
        written = Element("table:table-row")
        self._set_style(written, "table:style-name", about.get("table:style-name"), "table-row")
        if times > 1:
            written.set("table:number-rows-repeated", str(times))
        hidden = about.get("table:visibility", "visible") != "visible"
        if hidden:
            written.set("table:visibility", "collapse")
        hidden = hidden or self._styles.is_too_small(about.get("table:style-name"), "table-row", "style:row-height")
        changed = self._changed.get(row, set())
        for cell in cells:
            at = cell.column
            while at < cell.column + cell.times:
                end = cell.column + cell.times
                until = at + 1
                if cell.kind == "empty" and at not in changed:
                    until = min((c for c in changed if at < c < end), default=end)
                written.append(self._cell(row, at, until - at, cell, hidden))
                at = until
        return written

    def _cell(self, row: int, column: int, times: int, cell: DocumentCell, hidden: bool) -> Element:
        about = cell.about
        element = Element("table:covered-table-cell" if cell.covered else "table:table-cell")
        style = about.get("table:style-name") or self._column_style(column)
        own = about.get("table:style-name")
        if (row, column) in self._telling:
            style = own = self._styles.without_look(style, aligned=(row, column) in self._label_cells)
        self._set_style(element, "table:style-name", own, "table-cell")
        if times > 1:
            element.set("table:number-columns-repeated", str(times))
        for span in _SPANS:
            if (count := repeats(about.get(span))) > 1 and not cell.covered:
                element.set(span, str(count))
        if any(NAMES.short(c.tag) == "office:annotation" for c in cell.element):
            self._notices.add("comments")
        place = CellPlace(self.name, row, column)
        reason = say.UNDER_MERGE if cell.covered else None
        if hidden or any(first <= column <= last for first, last in self._hidden):
            reason = say.IN_HIDDEN
        if reason is not None:
            if cell.kind != "empty":
                self._notices.at(reason, place)
        elif place in self._edits.now:
            self._put(element, row, column, cell, style, self._edits.now[place])
        elif cell.kind == "text":
            self._keep_text(element, cell, place)
        elif cell.kind != "empty":
            self._keep_number(element, cell, place)
        return element

    @cached_property
    def _label_cells(self) -> frozenset[tuple[int, int]]:
        """Labels of rows, which may be set in by their level."""
        return frozenset(cell for cell, (_, kind) in self._edits.kinds_of(self.name).items() if is_label_kind(kind))

    def _telling_cells(self, rows: Iterable[DocumentRow]) -> frozenset[tuple[int, int]]:
        """Cells of tables whose colours or fonts may follow their numbers."""
        kinds = self._edits.kinds_of(self.name)
        looks = {
            (first + down, cell.column + across): self._styles.drawn_as(
                cell.about.get("table:style-name") or self._column_style(cell.column + across)
            )
            for first, times, _, cells in (rows if kinds else ())
            for cell in cells
            if cell.kind != "empty"
            for down in range(times)
            for across in range(cell.times)
        }
        for cell in self._label_cells & looks.keys():
            looks[cell] = tuple(pair for pair in looks[cell] if not pair[0].startswith(SET_IN))
        telling = telling_cells(looks, kinds) if looks else frozenset()
        if telling:
            self._notices.add(say.LOOKS)
        return telling

    def _column_style(self, column: int) -> str | None:
        if column not in self._column_styles:
            self._column_styles[column] = self._default_style(column)
        return self._column_styles[column]

    def _default_style(self, column: int) -> str | None:
        for first, times, element, _ in self._columns:
            if first <= column < first + times:
                return NAMES.attributes(element).get("table:default-cell-style-name")
        return None

    def _put(
        self, element: Element, row: int, column: int, cell: DocumentCell, style: str | None, content: Content
    ) -> None:
        if content is None:
            return
        self._numbers_end = max(self._numbers_end, row)
        if isinstance(content, str) or cell.kind == "text":
            text = content if isinstance(content, str) else written_like(cell.text, content)
            if cell.kind != "text":
                element.set("table:style-name", self._styles.for_mark(style))
            element.set("office:value-type", "string")
            SubElement(element, "text:p").text = text
            return
        kind = cell.kind if cell.kind in ("float", "percentage") else "float"
        self._set_number(element, kind, plain_text(content), cell.text, float(content))
        self._numbers[row, column] = float(content)
        self._remember_formula(element, row, column, cell)

    def _set_number(self, element: Element, kind: str, raw: str, shown: str, value: float) -> None:
        element.set("office:value-type", kind)
        element.set("office:value", raw)
        displayed = value * 100 if kind == "percentage" else value
        SubElement(element, "text:p").text = written_like(shown, displayed) if _fits(shown) else raw

    def _keep_number(self, element: Element, cell: DocumentCell, place: CellPlace) -> None:
        if place not in self._edits.shown:
            self._notices.at(say.UNJUDGED, place)
            return
        plain = cell.kind in ("float", "percentage", "currency")
        if plain and cell.text.strip() and not any(sign.isdigit() for sign in cell.text):
            self._notices.at(say.BY_FORMAT, place)
            return
        self._numbers_end = max(self._numbers_end, place.row)
        self._note_style = None
        if plain and cell.number is not None:
            self._set_number(element, cell.kind, cell.raw, cell.text, cell.number)
            if cell.kind == "currency":
                element.set("office:value-type", "float")
            self._numbers[place.row, place.column] = cell.number
            self._remember_formula(element, place.row, place.column, cell)
            return
        element.set("office:value-type", cell.kind)
        element.set(VALUES[cell.kind], cell.raw)
        SubElement(element, "text:p").text = cell.raw

    def _keep_text(self, element: Element, cell: DocumentCell, place: CellPlace) -> None:
        reason = None
        if cell.number is not None and place not in self._edits.shown:
            reason = say.UNJUDGED
        elif "table:formula" in cell.about and any(s.isdigit() for s in cell.text) and place not in self._edits.shown:
            reason = say.FROM_FORMULA
        elif self._edits.tells(place, cell.text):
            reason = say.REPEATED
        if reason is not None:
            self._notices.at(reason, place)
            return
        if not cell.text.strip():
            return
        if place.row > self._texts_end:  # the note begins where the last row with a text does
            self._note_column = place.column
        self._texts_end = place.row
        self._note_style = cell.about.get("table:style-name") if place.row > self._numbers_end else None
        element.set("office:value-type", "string")
        for child in cell.element:
            if NAMES.short(child.tag) == "text:p":
                element.append(self._paragraph(child, "text:p"))

    def _paragraph(self, source: Element, name: str) -> Element:
        """A paragraph with its formats; a link becomes its text."""
        copy = Element(name)
        copy.text = source.text
        if name == "text:span":
            self._set_style(copy, "text:style-name", NAMES.attributes(source).get("text:style-name"), "text")
        for child in source:
            short = NAMES.short(child.tag)
            inner = None
            if short in ("text:span", "text:a"):
                inner = self._paragraph(child, "text:span")
            elif short in ("text:s", "text:tab", "text:line-break"):
                inner = Element(short)
                if (count := repeats(NAMES.attributes(child).get("text:c"))) > 1:
                    inner.set("text:c", str(count))
            if short == "text:a":
                self._notices.add("links (their texts stay)")
            if inner is None:
                inner = Element("text:span")
            inner.tail = child.tail
            copy.append(inner)
        return copy

    def _remember_formula(self, element: Element, row: int, column: int, cell: DocumentCell) -> None:
        if formula := cell.about.get("table:formula"):
            self._formulas.append((row, column, formula, element))

    def _keep_formula(self, row: int, column: int, formula: str, element: Element) -> None:
        """Put the formula back where it uses shown cells only and comes to what is shown."""
        if not formula.startswith("of:="):
            return
        plain = _REFERENCE.sub(lambda m: m[1] + (f":{m[2]}" if m[2] else ""), formula[4:]).replace(";", ",")
        kept = kept_formula(plain, self._numbers[row, column], self._numbers)
        if kept is not None:
            text = _BARE.sub(lambda m: f"[.{m[1]}" + (f":.{m[2]}" if m[2] else "") + "]", kept)
            element.set("table:formula", "of:=" + text.replace(",", ";"))

    def _write_note(self, sheet: Element, last: int) -> int:
        """Write the note, and say in which row."""
        gap = 1 if last <= self._numbers_end else 0
        if gap:
            SubElement(SubElement(sheet, "table:table-row"), "table:table-cell")
        row = SubElement(sheet, "table:table-row")
        column = self._note_column
        while any(first <= column <= end for first, end in self._hidden):
            column += 1
        if column > 1:
            SubElement(row, "table:table-cell", {"table:number-columns-repeated": str(column - 1)})
        cell = SubElement(row, "table:table-cell", {"office:value-type": "string"})
        self._set_style(cell, "table:style-name", self._note_style, "table-cell")
        SubElement(cell, "text:p").text = self._edits.edits.note
        return last + gap + 1


def _scale(source: Element) -> Element | None:
    """A scale of colours, bars or icons that names no limit; None if it does, or is something else."""
    shape = SCALES.get(NAMES.short(source.tag))
    if shape is None:
        return None
    copy = NAMES.copied(source, shape)
    return copy if all("calcext:type" in entry.attrib for entry in copy) and len(copy) == len(source) else None


def _fits(shown: str) -> bool:
    """Whether the text beside a value is a number, as another can be written."""
    return first_number(shown) is not None
