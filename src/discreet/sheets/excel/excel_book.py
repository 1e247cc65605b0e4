"""A workbook written back (.xlsx): a new package of the sheets that were understood, and of nothing else."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from discreet.errors import InputError
from discreet.sheets.excel.excel_cells import TRUE, StoredSheet, stored_sheet
from discreet.sheets.excel.excel_frame import print_name, sheet_part, table_part
from discreet.sheets.excel.excel_names import DROPPED_PARTS, MAIN, NAMES, PACKAGE, RELATIONS, TYPES, USED_PARTS
from discreet.sheets.excel.excel_sheet import SheetWriter
from discreet.sheets.excel.excel_styles import Styles
from discreet.sheets.excel.excel_texts import Texts
from discreet.sheets.excel.excel_theme import theme_part
from discreet.sheets.rewrite.archive import package_of, package_parts
from discreet.sheets.rewrite.edits import Edits, Place, SourceCells, check_sheets, settle_edits
from discreet.sheets.rewrite.notices import Notices
from discreet.sheets.rewrite.xml_copy import parsed, serialised

KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"


@dataclass(frozen=True)
class _Book:
    """The source: its parts, its workbook, and the relations of that."""

    name: str
    parts: Mapping[str, bytes]
    path: str
    root: Element

    def xml(self, path: str) -> Element:
        if path not in self.parts:
            raise InputError(f"{self.name!r} is damaged: a part that it names is missing")
        return parsed(self.parts[path], repr(self.name))

    def relations(self, path: str) -> dict[str, tuple[str, str]]:
        """Relations of a part by their number: the last word of their kind, and the part they lead to."""
        folder, file = posixpath.split(path)
        own = posixpath.join(folder, "_rels", f"{file}.rels")
        if own not in self.parts:
            return {}
        relations = {}
        for element in self.xml(own):
            if element.get("TargetMode") == "External":
                continue
            target = element.get("Target", "")
            place = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            relations[element.get("Id", "")] = element.get("Type", "").rpartition("/")[2], place
        return relations

    def single(self, kind: str) -> Element | None:
        """The one part of a kind that the workbook leads to."""
        place = next((p for k, p in self.relations(self.path).values() if k == kind), None)
        return None if place is None or place not in self.parts else self.xml(place)

    def children(self, name: str) -> Iterable[Element]:
        return (child for element in self.root if NAMES.short(element.tag) == name for child in element)


def rewrite_excel(data: bytes, name: str, edits: Edits) -> tuple[bytes, tuple[str, ...]]:
    """The workbook with these edits, and what of it was left out."""
    parts = package_parts(data, name)
    path = next(
        (p for k, p in _Book(name, parts, "", Element("x")).relations("").values() if k == "officeDocument"), ""
    )
    if path not in parts:
        raise InputError(f"{name!r} is not an Excel workbook")
    book = _Book(name, parts, path, parsed(parts[path], repr(name)))
    notices = Notices()
    texts, styles = Texts(book.single("sharedStrings")), Styles(book.single("styles"))
    from_1904 = any(e.get("date1904") in TRUE for e in book.root if NAMES.short(e.tag) == "workbookPr")
    sheets = _sheets(book, edits, notices)
    stored = [stored_sheet(n, book.xml(p), texts, from_1904=from_1904) for n, p in sheets.items()]
    changes = settle_edits(edits, _source_cells(stored))
    writers = [SheetWriter(sheet, changes, styles, texts, notices) for sheet in stored]
    package: dict[str, bytes] = {}
    tables: dict[int, list[str]] = {}
    for at, writer in enumerate(writers, 1):
        rows = writer.written()
        tables[at] = _tables(book, writer, sheets[writer.sheet.name], package, notices)
        root = sheet_part(writer, rows, styles, notices, first=at == 1, tables=len(tables[at]))
        package[f"xl/worksheets/sheet{at}.xml"] = serialised(root, {"": MAIN, "r": RELATIONS})
        if tables[at]:
            package[f"xl/worksheets/_rels/sheet{at}.xml.rels"] = _relations(
                ("table", f"../{p[3:]}") for p in tables[at]
            )
    package["xl/workbook.xml"] = _workbook(book, writers, from_1904, notices)
    package["xl/styles.xml"] = styles.part()
    package["xl/sharedStrings.xml"] = texts.part()
    package["xl/theme/theme1.xml"] = theme_part(book.single("theme"))
    _say_parts(parts, notices)
    return package_of(_around(package, len(writers))), notices.sentences()


def _sheets(book: _Book, edits: Edits, notices: Notices) -> dict[str, str]:
    """The sheets that are written, by name, and the part of each; the others are named."""
    relations = book.relations(book.path)
    wanted, known = {}, []
    for element in book.children("sheets"):
        name = element.get("name", "")
        kind, place = relations.get(NAMES.attributes(element).get("r:id", ""), ("", ""))
        known.append(name)
        hidden = element.get("state", "visible") != "visible"
        if name in edits.sheets and (hidden or kind != "worksheet"):
            what = "hidden" if hidden else "not a sheet of cells"
            raise InputError(f"{book.name!r}: sheet {name!r} is {what}, so it cannot be written back; show it first")
        if name in edits.sheets:
            wanted[name] = place
        else:
            notices.add(f"{'hidden ' if hidden else ''}sheet {name!r}, which was not protected")
    check_sheets(book.name, edits, known, wanted)
    return wanted


def _source_cells(sheets: Iterable[StoredSheet]) -> SourceCells:
    numbers: dict[Place, float] = {}
    texts: dict[Place, str] = {}
    for sheet in sheets:
        for cell in sheet.cells():
            if cell.number is not None:
                numbers[sheet.name, cell.row, cell.column] = cell.number
            if cell.kind == "text":
                texts[sheet.name, cell.row, cell.column] = cell.raw
    return SourceCells(numbers, texts)


def _tables(book: _Book, writer: SheetWriter, path: str, package: dict[str, bytes], notices: Notices) -> list[str]:
    written = []
    for kind, place in book.relations(path).values():
        if kind != "table":
            continue
        number = 1 + sum(name.startswith("xl/tables/") for name in package)
        part = table_part(book.xml(place), writer, number)
        if part is None:
            notices.add("tables of Excel whose headers are not texts (their cells stay)")
            continue
        written.append(f"xl/tables/table{number}.xml")
        package[written[-1]] = part
    return written


def _workbook(book: _Book, writers: list[SheetWriter], from_1904: bool, notices: Notices) -> bytes:
    root = Element("workbook")
    properties = SubElement(root, "workbookPr")
    if from_1904:
        properties.set("date1904", "1")
    SubElement(SubElement(root, "bookViews"), "workbookView", activeTab="0")
    sheets = SubElement(root, "sheets")
    for at, writer in enumerate(writers, 1):
        SubElement(sheets, "sheet", {"name": writer.sheet.name, "sheetId": str(at), "r:id": f"rId{at}"})
    names = _print_names(book, writers, notices)
    if names:
        SubElement(root, "definedNames").extend(names)
    if any(writer.has_formulas() for writer in writers):
        SubElement(root, "calcPr", fullCalcOnLoad="1")
    return serialised(root, {"": MAIN, "r": RELATIONS})


def _print_names(book: _Book, writers: list[SheetWriter], notices: Notices) -> list[Element]:
    """Defined names are dropped but for what is printed, which is worked out anew."""
    order = [element.get("name", "") for element in book.children("sheets")]
    new = {writer.sheet.name: at for at, writer in enumerate(writers)}
    names = []
    for element in book.children("definedNames"):
        kind, local = element.get("name", ""), element.get("localSheetId", "")
        sheet = order[int(local)] if local.isdecimal() and int(local) < len(order) else ""
        if kind not in ("_xlnm.Print_Area", "_xlnm.Print_Titles"):
            if kind != "_xlnm._FilterDatabase":
                notices.add("defined names")
            continue
        if sheet not in new:
            continue
        writer = writers[new[sheet]]
        titles = kind == "_xlnm.Print_Titles"
        text = print_name(element.text or "", writer.sheet, writer.last_row, titles=titles)
        if text is None:
            notices.add("print ranges that are not plain")
            continue
        name = Element("definedName", name=kind, localSheetId=str(new[sheet]))
        name.text = text
        names.append(name)
    return names


def _say_parts(parts: Iterable[str], notices: Notices) -> None:
    for part in parts:
        word = next((word for start, word in DROPPED_PARTS.items() if part.startswith(start)), None)
        if word is not None:
            notices.add(word)
        elif not part.startswith(USED_PARTS):
            notices.add("other parts of the package")


def _around(package: dict[str, bytes], sheets: int) -> dict[str, bytes]:
    """The package with the list of its kinds and the relations that lead to its parts."""
    types = Element("Types")
    SubElement(
        types, "Default", Extension="rels", ContentType="application/vnd.openxmlformats-package.relationships+xml"
    )
    SubElement(types, "Default", Extension="xml", ContentType="application/xml")
    kinds = {
        "xl/workbook.xml": f"{KIND}.sheet.main+xml",
        "xl/styles.xml": f"{KIND}.styles+xml",
        "xl/sharedStrings.xml": f"{KIND}.sharedStrings+xml",
        "xl/theme/theme1.xml": "application/vnd.openxmlformats-officedocument.theme+xml",
    }
    for part in package:
        if part.endswith(".rels"):
            continue
        kind = kinds.get(part, f"{KIND}.table+xml" if part.startswith("xl/tables/") else f"{KIND}.worksheet+xml")
        SubElement(types, "Override", PartName=f"/{part}", ContentType=kind)
    book = [("worksheet", f"worksheets/sheet{at}.xml") for at in range(1, sheets + 1)]
    book += [("styles", "styles.xml"), ("sharedStrings", "sharedStrings.xml"), ("theme", "theme/theme1.xml")]
    return {
        "[Content_Types].xml": serialised(types, {"": TYPES}),
        "_rels/.rels": _relations([("officeDocument", "xl/workbook.xml")]),
        "xl/_rels/workbook.xml.rels": _relations(book),
        **package,
    }


def _relations(targets: Iterable[tuple[str, str]]) -> bytes:
    root = Element("Relationships")
    for at, (kind, target) in enumerate(targets, 1):
        SubElement(root, "Relationship", Id=f"rId{at}", Type=f"{RELATIONS}/{kind}", Target=target)
    return serialised(root, {"": PACKAGE})
