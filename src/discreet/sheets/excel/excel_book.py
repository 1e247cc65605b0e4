"""A workbook written back (.xlsx): a new package of the sheets that were understood, and of nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

from discreet.errors import InputError
from discreet.sheets.excel.excel_cells import StoredSheet
from discreet.sheets.excel.excel_frame import print_name, sheet_part, table_part
from discreet.sheets.excel.excel_images import SheetImages, drawing_part, sheet_images
from discreet.sheets.excel.excel_names import DROPPED_PARTS, MAIN, PACKAGE, RELATIONS, TYPES, USED_PARTS
from discreet.sheets.excel.excel_package import ExcelBook, ListedSheet, excel_book
from discreet.sheets.excel.excel_sheet import SheetWriter
from discreet.sheets.excel.excel_styles import Styles
from discreet.sheets.excel.excel_texts import Texts
from discreet.sheets.excel.excel_theme import theme_part
from discreet.sheets.rewrite.archive import package_of
from discreet.sheets.rewrite.edits import Edits, Place, SourceCells, check_numbers_stood, check_sheets, settle_edits
from discreet.sheets.rewrite.notices import Notices
from discreet.sheets.rewrite.xml_copy import serialised

DRAWN = "application/vnd.openxmlformats-officedocument.drawing+xml"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def rewrite_excel(data: bytes, name: str, edits: Edits) -> tuple[bytes, tuple[str, ...]]:
    """The workbook with these edits, and what of it was left out."""
    return rewrite_book(excel_book(data, name), edits)


def rewrite_book(book: ExcelBook, edits: Edits) -> tuple[bytes, tuple[str, ...]]:
    """A workbook that was read, with these edits, and what of it was left out."""
    notices = Notices()
    texts, styles = Texts(), Styles(book.styles)
    sheets = _sheets(book, edits, notices)
    stored = [book.stored(sheet) for sheet in sheets]
    cells = _source_cells(stored)
    check_numbers_stood(edits, book.name, cells)
    changes = settle_edits(edits, cells)
    writers = [SheetWriter(sheet, changes, styles, texts, notices) for sheet in stored]
    package: dict[str, bytes] = {}
    tables: dict[int, list[str]] = {}
    taken: set[str] = set()
    for at, (sheet, writer) in enumerate(zip(sheets, writers, strict=True), 1):
        rows = writer.written()
        tables[at] = _tables(book, writer, sheet.place, package, notices)
        images = sheet_images(book, sheet.place) if edits.keep_images else SheetImages()
        root = sheet_part(writer, styles, notices, first=at == 1, tables=len(tables[at]), images=images)
        part = serialised(root, {"": MAIN, "r": RELATIONS}, ready={"sheetData": rows})
        package[f"xl/worksheets/sheet{at}.xml"] = part
        targets = [("table", f"../{p[3:]}") for p in tables[at]]
        if images.images:
            targets.append(("drawing", f"../drawings/drawing{at}.xml"))
            taken |= images.parts
            _put_images(images, at, package)
        if targets:
            package[f"xl/worksheets/_rels/sheet{at}.xml.rels"] = _relations(targets)
    package["xl/workbook.xml"] = _workbook(book, writers, notices)
    package["xl/styles.xml"] = styles.part()
    package["xl/sharedStrings.xml"] = texts.part()
    package["xl/theme/theme1.xml"] = theme_part(book.single("theme"))
    _say_parts([part for part in book.parts if part not in taken], notices)
    return package_of(_around(package, len(writers))), notices.sentences()


def _put_images(images: SheetImages, at: int, package: dict[str, bytes]) -> None:
    """The drawing of a sheet with its images and their files."""
    media = []
    for number, image in enumerate(images.images, 1):
        media.append(f"media/image{at}-{number}.{image.suffix}")
        package[f"xl/{media[-1]}"] = image.data
    package[f"xl/drawings/drawing{at}.xml"] = drawing_part(images.images)
    package[f"xl/drawings/_rels/drawing{at}.xml.rels"] = _relations(("image", f"../{path}") for path in media)


def _sheets(book: ExcelBook, edits: Edits, notices: Notices) -> list[ListedSheet]:
    """The sheets that are written; the others are named."""
    wanted = []
    for sheet in book.sheets:
        if sheet.name not in edits.sheets:
            notices.add(f"{'hidden ' if sheet.hidden else ''}sheet {sheet.name!r}, which was not protected")
            continue
        if sheet.hidden or sheet.kind != "worksheet":
            what = "hidden" if sheet.hidden else "not a sheet of cells"
            raise InputError(
                f"{book.name!r}: sheet {sheet.name!r} is {what}, so it cannot be written back; show it first"
            )
        if book.stored(sheet).rows_hidden:
            raise InputError(
                f"sheet {sheet.name!r} hides all rows that do not say otherwise; show its rows and save it again"
            )
        wanted.append(sheet)
    check_sheets(book.name, edits, [sheet.name for sheet in book.sheets], [sheet.name for sheet in wanted])
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


def _tables(book: ExcelBook, writer: SheetWriter, path: str, package: dict[str, bytes], notices: Notices) -> list[str]:
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


def _workbook(book: ExcelBook, writers: list[SheetWriter], notices: Notices) -> bytes:
    root = Element("workbook")
    properties = SubElement(root, "workbookPr")
    if book.from_1904:
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


def _print_names(book: ExcelBook, writers: list[SheetWriter], notices: Notices) -> list[Element]:
    """Defined names are dropped but for what is printed, which is worked out anew."""
    order = [sheet.name for sheet in book.sheets]
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
    for suffix in sorted({part.rpartition(".")[2] for part in package if part.startswith("xl/media/")}):
        SubElement(types, "Default", Extension=suffix, ContentType=f"image/{suffix}")
    folders = {"xl/tables/": f"{KIND}.table+xml", "xl/drawings/": DRAWN}
    for part in package:
        if part.endswith(".rels") or part.startswith("xl/media/"):
            continue
        of_folder = next((kind for folder, kind in folders.items() if part.startswith(folder)), f"{KIND}.worksheet+xml")
        kind = kinds.get(part, of_folder)
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
