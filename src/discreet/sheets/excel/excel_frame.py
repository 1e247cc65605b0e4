"""What stands around the cells of a worksheet: views, widths, merged cells, conditional formats, print settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement

from discreet.sheets.excel.excel_cells import StoredSheet
from discreet.sheets.excel.excel_images import SheetImages
from discreet.sheets.excel.excel_names import (
    AREA,
    AREAS,
    BEHIND,
    COLUMN_WIDTH,
    CONDITION,
    CONDITION_KINDS,
    DROPPED,
    MAIN,
    NAMES,
    PRINT_TITLES,
    SHEET_FORMAT,
    SHEET_PROPERTIES,
    UNSAID,
    VIEW,
)
from discreet.sheets.excel.excel_sheet import SheetWriter
from discreet.sheets.excel.excel_styles import Styles
from discreet.sheets.rewrite.notices import Notices
from discreet.sheets.rewrite.xml_copy import TRUTH, Shape, matching, serialised
from discreet.sheets.sheet_grid import cell_range, column_letters

_WRITTEN = {
    "sheetPr",
    "sheetViews",
    "sheetFormatPr",
    "cols",
    "sheetData",
    "mergeCells",
    "conditionalFormatting",
    "headerFooter",
    "autoFilter",
    "tableParts",
    *BEHIND,
}
_FIELD = re.compile(r'&"[^"]*"|&K[0-9A-Fa-f+\-]{6}|&\d{1,3}|&[A-Za-z]')
_HEADERS = ("oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter")
_TABLE_STYLE = Shape(
    {
        "name": matching("TableStyle(Light|Medium|Dark)[0-9]{1,2}"),
        **dict.fromkeys(("showFirstColumn", "showLastColumn", "showRowStripes", "showColumnStripes"), TRUTH),
    }
)


def sheet_part(
    writer: SheetWriter, styles: Styles, notices: Notices, *, first: bool, tables: int, images: SheetImages
) -> Element:
    """The worksheet around the rows that were written, with an empty element where they go."""
    source = writer.sheet
    parts: dict[str, list[Element]] = {}
    for child in source.root:
        name = NAMES.short(child.tag)
        parts.setdefault(name, []).append(child)
        if name == "drawing" and images.images and not images.others:
            continue
        if name not in _WRITTEN and name not in UNSAID:
            notices.add(DROPPED.get(child.tag.rpartition("}")[2], "parts of sheets that are not known here"))
    root = Element("worksheet")
    for name, shape in (("sheetPr", SHEET_PROPERTIES),):
        root.extend(NAMES.copied(child, shape) for child in parts.get(name, []))
    SubElement(root, "dimension", ref=f"A1:{column_letters(max(writer.last_column, 1))}{max(writer.last_row, 1)}")
    root.append(_views(parts.get("sheetViews", []), first))
    root.extend(NAMES.copied(child, SHEET_FORMAT) for child in parts.get("sheetFormatPr", []))
    if columns := list(_columns(parts.get("cols", []), styles)):
        SubElement(root, "cols").extend(columns)
    SubElement(root, "sheetData")
    for child in parts.get("autoFilter", []):
        if AREA(child.get("ref", "")):
            SubElement(root, "autoFilter", ref=child.get("ref", ""))
    if source.merged:
        merged = SubElement(root, "mergeCells", count=str(len(source.merged)))
        for area in source.merged:
            SubElement(merged, "mergeCell", ref=area.address)
    root.extend(_conditions(parts.get("conditionalFormatting", []), styles, notices))
    for name in ("printOptions", "pageMargins", "pageSetup"):
        root.extend(NAMES.copied(child, BEHIND[name]) for child in parts.get(name, []))
    root.extend(_headers(parts.get("headerFooter", []), notices))
    for name in ("rowBreaks", "colBreaks"):
        root.extend(NAMES.copied(child, BEHIND[name]) for child in parts.get(name, []))
    if images.images:
        SubElement(root, "drawing", {"r:id": f"rId{tables + 1}"})
    if tables:
        group = SubElement(root, "tableParts", count=str(tables))
        for number in range(1, tables + 1):
            SubElement(group, "tablePart", {"r:id": f"rId{number}"})
    return root


def _views(elements: list[Element], first: bool) -> Element:
    views = Element("sheetViews")
    source = next((child for element in elements for child in element), None)
    view = Element("sheetView") if source is None else NAMES.copied(source, VIEW)
    if first:
        view.set("tabSelected", "1")
    view.set("workbookViewId", "0")
    views.append(view)
    return views


def _columns(elements: list[Element], styles: Styles) -> Iterator[Element]:
    for element in elements:
        for child in element:
            column = NAMES.copied(child, COLUMN_WIDTH)
            style = child.get("style", "")
            if style.isdecimal() and (number := styles.for_empty(int(style))):
                column.set("style", str(number))
            if {"min", "max"} <= set(column.attrib):
                yield column


def _conditions(elements: list[Element], styles: Styles, notices: Notices) -> Iterator[Element]:
    """Conditional formats that compare the cells shown with each other; a limit, a formula or a text is dropped."""
    for element in elements:
        if not AREAS(element.get("sqref", "")):
            notices.add("conditional formats with limits, formulas or texts")
            continue
        group = Element("conditionalFormatting", sqref=element.get("sqref", ""))
        for child in element:
            rule = _rule(child, styles)
            if rule is None:
                notices.add("conditional formats with limits, formulas or texts")
            else:
                group.append(rule)
        if len(group):
            yield group


def _rule(element: Element, styles: Styles) -> Element | None:
    if element.get("type") not in CONDITION_KINDS:
        return None
    rule = NAMES.copied(element, CONDITION)
    values = [child for child in element.iter() if NAMES.short(child.tag) == "cfvo"]
    kept = list(rule.iter("cfvo"))
    if [v.get("type") for v in values] != [v.get("type") for v in kept] or any(
        v.get("val") is not None and k.get("val") is None and v.get("type") not in ("min", "max")
        for v, k in zip(values, kept, strict=True)
    ):
        return None
    for value in kept:
        if value.get("type") in ("min", "max"):
            value.attrib.pop("val", None)
    if "dxfId" in rule.attrib:
        number = styles.difference(rule.get("dxfId", ""))
        if number is None:
            return None
        rule.set("dxfId", number)
    return rule


def _headers(elements: list[Element], notices: Notices) -> Iterator[Element]:
    """Headers and footers of pages; one with digits of its own could say anything and is dropped."""
    flags = dict.fromkeys(("differentOddEven", "differentFirst", "scaleWithDoc", "alignWithMargins"), TRUTH)
    for element in elements:
        texts = [child.text or "" for child in element]
        if any(any(sign.isdigit() for sign in _FIELD.sub("", text)) or "&G" in text for text in texts):
            notices.add("headers or footers of pages with numbers or pictures")
            continue
        plain = Shape(text=lambda text: True)
        yield NAMES.copied(element, Shape(flags, dict.fromkeys(_HEADERS, plain)))


def table_part(source: Element, writer: SheetWriter, number: int) -> bytes | None:
    """A table of Excel's own (with stripes and a filter) by the texts that its headers show; None if they do not do."""
    reference = source.get("ref", "")
    if not AREA(reference) or ":" not in reference or source.get("headerRowCount", "1") != "1":
        return None
    area = cell_range(reference)
    names = [writer.letters.get((area.first_row, c), "") for c in range(area.first_column, area.last_column + 1)]
    if not all(names) or len({name.lower() for name in names}) < len(names):
        return None
    totals = source.get("totalsRowCount", "0") == "1"
    root = Element("table", id=str(number), name=f"Table{number}", displayName=f"Table{number}", ref=reference)
    root.set("totalsRowCount" if totals else "totalsRowShown", "1" if totals else "0")
    if any(NAMES.short(child.tag) == "autoFilter" for child in source):
        end = area.last_row - (1 if totals else 0)
        SubElement(root, "autoFilter", ref=area._replace(last_row=end).address)
    columns = SubElement(root, "tableColumns", count=str(len(names)))
    for at, name in enumerate(names, 1):
        column = SubElement(columns, "tableColumn", id=str(at), name=name.replace("\n", "_x000a_"))
        label = writer.letters.get((area.last_row, area.first_column + at - 1))
        if totals and label:
            column.set("totalsRowLabel", label)
    for child in source:
        if NAMES.short(child.tag) == "tableStyleInfo":
            root.append(NAMES.copied(child, _TABLE_STYLE))
    return serialised(root, {"": MAIN})


def print_name(text: str, sheet: StoredSheet, last_row: int, *, titles: bool) -> str | None:
    """The range that is printed, or the rows and columns repeated on each page, if it is of this sheet alone."""
    quoted = "'" + sheet.name.replace("'", "''") + "'"
    ranges = []
    for part in re.split(r",(?=(?:[^']*'[^']*')*[^']*$)", text):
        name, _, reference = part.rpartition("!")
        if name not in (quoted, sheet.name):
            return None
        if titles and not PRINT_TITLES(reference):
            return None
        if not titles:
            if not AREA(reference) or ":" not in reference:
                return None
            area = cell_range(reference)
            end = max(area.last_row, last_row) if "," not in text else area.last_row  # the note is printed, too
            first = f"${column_letters(area.first_column)}${area.first_row}"
            reference = f"{first}:${column_letters(area.last_column)}${end}"
        ranges.append(f"{quoted}!{reference}")
    return ",".join(ranges)
