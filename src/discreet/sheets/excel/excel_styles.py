"""Styles of a workbook: those that cells which stay need, numbered anew, and none of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement

from discreet.sheets.excel.excel_formats import (
    GENERAL,
    code_for_number,
    code_for_text,
    is_date_code,
    is_duration_code,
    tells_nothing,
)
from discreet.sheets.excel.excel_names import ALIGNMENT, BORDER, COLOUR_OF, DIFFERENCE, FILL, FONT, MAIN, NAMES
from discreet.sheets.rewrite.xml_copy import Shape, serialised
from discreet.sheets.sheet_grid import INDENT

OWN_FORMATS = 164  # numbers below are the same in every workbook
TEXT_FORMAT = 49
PLAIN_FORMATS = (1, 2, 3, 4, 9, 10, 37, 38, 39, 40)
"""Formats that every workbook has, of digits and signs alone."""
BUILT_IN = {0: GENERAL, 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", TEXT_FORMAT: "@"}
WHITE = ("FFFFFF", "FFFFFFFF", "00FFFFFF")
SMALLEST_NOTE = 7
BUILT_IN_DATES = (*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59))  # of all languages
BUILT_IN_DURATION = 46
Key = tuple[int, int | str, str]  # old number of the style, format, what it is used for
Drawn = tuple[str, str, tuple[tuple[str, str], ...]]  # font, fill, alignment


class CellLook(NamedTuple):
    """What a style says of a cell to whoever reads it."""

    code: str
    """The format of numbers."""
    indent: int
    """In blanks."""
    bold: bool
    date: bool
    """Whether numbers are dates or times."""
    duration: bool


class Styles:
    """Asked for the style of each cell that is written; knows in the end what has to be in the part."""

    def __init__(self, root: Element | None) -> None:
        lists = {} if root is None else {NAMES.short(child.tag): list(child) for child in root}
        self._fonts = lists.get("fonts") or [Element(f"{{{MAIN}}}font")]
        self._fills = lists.get("fills", [])
        self._borders = lists.get("borders", [])
        self._formats = lists.get("cellXfs") or [Element(f"{{{MAIN}}}xf")]
        self._differences = lists.get("dxfs", [])
        self._colours = next((c for c in lists.get("colors", []) if NAMES.short(c.tag) == "indexedColors"), None)
        self._codes = {
            int(f.get("numFmtId", "0")): f.get("formatCode", GENERAL)
            for f in lists.get("numFmts", [])
            if f.get("numFmtId", "").isdecimal()
        }
        base = (lists.get("cellStyleXfs") or [Element("xf")])[0]
        self._base_font = _index(base, "fontId", self._fonts)
        self._used: dict[Key, int] = {(0, 0, "cell"): 0}
        self._used_differences: dict[int, int] = {}
        self._plain: dict[tuple[int, bool], int] = {}
        self._code_of: dict[int, tuple[int, str]] = {}
        self._drawn: dict[int, Drawn] = {}
        self._invisible: dict[int, bool] = {}
        self._for_any_number: dict[int, int] = {}

    def _format(self, style: int) -> Element:
        return self._formats[style] if 0 <= style < len(self._formats) else self._formats[0]

    def _use(self, style: int, code: int | str, purpose: str = "cell") -> int:
        style = style if 0 <= style < len(self._formats) else 0
        return self._used.setdefault((style, code, purpose), len(self._used))

    def code(self, style: int) -> tuple[int, str]:
        """Number and text of the format that a style shows numbers by."""
        known = self._code_of.get(style)
        if known is None:
            text = self._format(style).get("numFmtId", "0")
            number = int(text) if text.isdecimal() else 0
            known = self._code_of[style] = number, self._codes.get(number, BUILT_IN.get(number, "0"))
        return known

    def look(self, style: int) -> CellLook:
        """What a style says of a cell to whoever reads it."""
        chosen = self._format(style)
        number, code = self.code(style)
        font = self._fonts[_index(chosen, "fontId", self._fonts)]
        aligned = next((c for c in chosen if NAMES.short(c.tag) == "alignment"), None)
        indent = "" if aligned is None else aligned.get("indent", "")
        own = number in self._codes
        return CellLook(
            code,
            INDENT * int(indent) if indent.isdecimal() else 0,
            any(NAMES.short(c.tag) == "b" and c.get("val", "1") in ("1", "true") for c in font),
            is_date_code(code) if own else number in BUILT_IN_DATES,
            is_duration_code(code) if own else number == BUILT_IN_DURATION,
        )

    def drawn_as(self, style: int) -> Drawn:
        """Font, fill and alignment of a style, by which cells are compared."""
        known = self._drawn.get(style)
        if known is None:
            own = self._format(style)
            aligned = [tuple(sorted(c.items())) for c in own if NAMES.short(c.tag) == "alignment"]
            look = own.get("fontId", "0"), own.get("fillId", "0"), aligned[0] if aligned else ()
            known = self._drawn[style] = look
        return known

    def without_look(self, style: int, *, aligned: bool = False) -> int:
        """A style with the same format and lines, in the font of the workbook, without colours.

        ``aligned``: where the text stands in its cell stays, as labels are set in by their level.
        """
        if (style, aligned) not in self._plain:
            plain = Element(self._format(style).tag, dict(self._format(style).items()))
            plain.set("fontId", str(self._base_font))
            plain.set("fillId", "0")
            plain.extend(child for child in self._format(style) if aligned and NAMES.short(child.tag) == "alignment")
            self._formats.append(plain)
            self._plain[style, aligned] = len(self._formats) - 1
        return self._plain[style, aligned]

    def for_number(self, style: int, value: float) -> int | None:
        """The style for a number that is shown; None if this format shows nothing of it."""
        known = self._for_any_number.get(style)
        if known is not None:
            return known
        number, code = self.code(style)
        if number not in self._codes:
            known = self._for_any_number[style] = self._use(style, number if number < OWN_FORMATS else 0)
            return known
        kept = code_for_number(code, value)
        return None if kept is None else self._use(style, kept)

    def for_new_number(self, style: int, value: float) -> int:
        """The style for a number that was put there, which is always shown."""
        known = self.for_number(style, value)
        return self._use(style, 0) if known is None else known

    def for_text(self, style: int) -> int | None:
        """The style for a text; None if its format shows nothing of it."""
        number, code = self.code(style)
        if number not in self._codes:
            return self._use(style, TEXT_FORMAT if number == TEXT_FORMAT else 0)
        kept = code_for_text(code)
        return None if kept is None else self._use(style, kept)

    def for_mark(self, style: int) -> int:
        """The style of a number for the mark in its place, on the same side; its format stays if it tells nothing."""
        number, code = self.code(style)
        ready_made = number in PLAIN_FORMATS and number not in self._codes
        kept = number if ready_made else code if number in self._codes and tells_nothing(code) else 0
        return self._use(style, kept, "mark")

    def for_empty(self, style: int) -> int:
        """The style for a cell, row or column without content: lines and colours, but no format."""
        return self._use(style, 0)

    def for_note(self, like: int | None) -> int:
        """The style of a footnote: that of one that is there, else small and in italics."""
        return self._use(0, 0, "note") if like is None else self._use(like, 0)

    def is_invisible(self, style: int) -> bool:
        """Whether letters are white on white."""
        if style not in self._invisible:
            self._invisible[style] = self._is_white(style)
        return self._invisible[style]

    def _is_white(self, style: int) -> bool:
        chosen = self._format(style)
        font = self._fonts[_index(chosen, "fontId", self._fonts)]
        colour = next((c for c in font if NAMES.short(c.tag) == "color"), None)
        if colour is None or not (
            colour.get("rgb") in WHITE or (colour.get("theme") == "0" and "tint" not in colour.attrib)
        ):
            return False
        fills = [self._fills[_index(chosen, "fillId", self._fills)]] if self._fills else []
        kinds = [NAMES.short(c.tag) + c.get("patternType", "") for fill in fills for c in fill]
        return not kinds or kinds[0] in ("patternFill", "patternFillnone")

    def difference(self, number: str) -> str | None:
        """The new number of a difference that a conditional format makes; None if there is none."""
        if not number.isdecimal() or int(number) >= len(self._differences):
            return None
        return str(self._used_differences.setdefault(int(number), len(self._used_differences)))

    def part(self) -> bytes:
        """The styles that were asked for, as a part of a workbook."""
        root = Element("styleSheet")
        codes: dict[str, int] = {}
        for _, code, _ in self._used:
            if isinstance(code, str):
                codes.setdefault(code, OWN_FORMATS + len(codes))
        if codes:
            formats = SubElement(root, "numFmts", count=str(len(codes)))
            for code, number in codes.items():
                SubElement(formats, "numFmt", numFmtId=str(number), formatCode=code)
        fonts = _Numbered(self._fonts, FONT, [NAMES.copied(self._fonts[self._base_font], FONT, "font")])
        fills = _Numbered(self._fills, FILL, [_fill("none"), _fill("gray125")])
        borders = _Numbered(self._borders, BORDER, [_no_border()])
        formats = Element("cellXfs")
        for style, code, purpose in self._used:
            number = codes[code] if isinstance(code, str) else code
            formats.append(self._written(style, number, purpose, fonts, fills, borders))
        for name, items in (("fonts", fonts.items), ("fills", fills.items), ("borders", borders.items)):
            _append(root, name, items)
        _append(root, "cellStyleXfs", [Element("xf", numFmtId="0", fontId="0", fillId="0", borderId="0")])
        _append(root, "cellXfs", list(formats))
        _append(root, "cellStyles", [Element("cellStyle", name="Normal", xfId="0", builtinId="0")])
        _append(root, "dxfs", [NAMES.copied(self._differences[n], DIFFERENCE, "dxf") for n in self._used_differences])
        SubElement(root, "tableStyles", count="0")
        if self._colours is not None:
            palette = Shape(children={"rgbColor": Shape({"rgb": COLOUR_OF.attributes["rgb"]})})
            SubElement(root, "colors").append(NAMES.copied(self._colours, palette))
        return serialised(root, {"": MAIN})

    def _written(
        self, style: int, number: int, purpose: str, fonts: _Numbered, fills: _Numbered, borders: _Numbered
    ) -> Element:
        old = self._format(style)
        font = (
            fonts.own(_note_font(fonts.items[0]))
            if purpose == "note"
            else fonts.number(_index(old, "fontId", self._fonts))
        )
        written = Element(
            "xf",
            numFmtId=str(number),
            fontId=str(font),
            fillId=str(fills.number(_index(old, "fillId", self._fills))),
            borderId=str(borders.number(_index(old, "borderId", self._borders))),
            xfId="0",
            applyNumberFormat="1",
            applyFont="1",
            applyFill="1",
            applyBorder="1",
            applyAlignment="1",
        )
        if old.get("quotePrefix") in ("1", "true") and purpose == "cell":
            written.set("quotePrefix", "1")
        aligned = next((c for c in old if NAMES.short(c.tag) == "alignment"), None)
        alignment = Element("alignment") if aligned is None else NAMES.copied(aligned, ALIGNMENT)
        if purpose == "mark" and alignment.get("horizontal", "general") == "general":
            alignment.set("horizontal", "right")  # where numbers stand unless told otherwise
        if alignment.attrib:
            written.append(alignment)
        return written


class _Numbered:
    """Items of a list that are used, numbered as they come; the first ones have fixed places."""

    def __init__(self, source: Sequence[Element], shape: Shape, first: list[Element]) -> None:
        self._source, self._shape = source, shape
        self.items = first
        self._numbers: dict[int, int] = {}

    def number(self, old: int) -> int:
        if not self._source:
            return 0
        if old not in self._numbers:
            self._numbers[old] = self.own(NAMES.copied(self._source[old], self._shape))
        return self._numbers[old]

    def own(self, item: Element) -> int:
        self.items.append(item)
        return len(self.items) - 1


def _index(element: Element, name: str, items: Sequence[Element]) -> int:
    text = element.get(name, "0")
    number = int(text) if text.isdecimal() else 0
    return number if number < len(items) else 0


def _append(root: Element, name: str, items: Sequence[Element]) -> None:
    if items:
        SubElement(root, name, count=str(len(items))).extend(items)


def _fill(kind: str) -> Element:
    fill = Element("fill")
    SubElement(fill, "patternFill", patternType=kind)
    return fill


def _no_border() -> Element:
    border = Element("border")
    for side in ("left", "right", "top", "bottom", "diagonal"):
        SubElement(border, side)
    return border


def _note_font(base: Element) -> Element:
    """The font of the workbook, smaller and in italics."""
    font = Element("font")
    SubElement(font, "i")
    for child in base:
        if child.tag not in ("i", "b", "sz"):
            font.append(child)
    size = base.find("sz")
    points = float(size.get("val", "11")) if size is not None else 11.0
    font.insert(1, Element("sz", val=f"{max(points - 2, SMALLEST_NOTE):g}"))
    return font
