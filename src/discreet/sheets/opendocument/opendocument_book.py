"""An OpenDocument spreadsheet (.ods) written back: a new package of the sheets that were understood."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from discreet.errors import InputError
from discreet.sheets.opendocument.opendocument_cells import DocumentRow, document_rows
from discreet.sheets.opendocument.opendocument_names import (
    DROPPED_CONTENT,
    DROPPED_FILES,
    NAMES,
    PAGE_BAND,
    PAGE_LAYOUT,
    SETTING,
    SETTINGS,
    SPACES,
    USED_FILES,
)
from discreet.sheets.opendocument.opendocument_package import DocumentBook, document_book
from discreet.sheets.opendocument.opendocument_sheet import DocumentSheet
from discreet.sheets.opendocument.opendocument_styles import DEFAULT, DocumentStyles
from discreet.sheets.rewrite.archive import package_of
from discreet.sheets.rewrite.edits import Edits, Place, SourceCells, check_numbers_stood, check_sheets, settle_edits
from discreet.sheets.rewrite.notices import Notices
from discreet.sheets.rewrite.xml_copy import serialised

KIND = "application/vnd.oasis.opendocument.spreadsheet"
VERSION = {"office:version": "1.2"}


def rewrite_opendocument(data: bytes, name: str, edits: Edits) -> tuple[bytes, tuple[str, ...]]:
    """The spreadsheet with these edits, and what of it was left out."""
    return rewrite_document(document_book(data, name), edits)


def rewrite_document(book: DocumentBook, edits: Edits) -> tuple[bytes, tuple[str, ...]]:
    """A spreadsheet that was read, with these edits, and what of it was left out."""
    notices = Notices()
    styles = DocumentStyles(book.content, book.styles, notices)
    tables = _tables(book.content, book.name, edits, styles, notices)
    rows = {name: document_rows(table, name) for name, table in tables.items()}
    cells = _source_cells(rows)
    check_numbers_stood(edits, book.name, cells)
    changes = settle_edits(edits, cells)
    sheets = [DocumentSheet(table, rows[name], changes, styles, notices).written() for name, table in tables.items()]
    for part in book.parts:
        word = next((word for start, word in DROPPED_FILES.items() if part.startswith(start)), None)
        if word is not None or not part.startswith(USED_FILES):
            notices.add(word or "other parts of the package")
    written = {
        "content.xml": _content(sheets, styles),
        "styles.xml": _styles(styles, book.styles),
        "settings.xml": _settings(book.roots.get("settings.xml"), tables),
    }
    package = {"mimetype": KIND.encode(), **written, "META-INF/manifest.xml": _manifest(written)}
    return package_of(package, stored=frozenset({"mimetype"})), notices.sentences()


def _tables(content: Element, name: str, edits: Edits, styles: DocumentStyles, notices: Notices) -> dict[str, Element]:
    """The sheets that are written, by name; the others are named."""
    book = next((e for e in content.iter() if NAMES.short(e.tag) == "office:spreadsheet"), None)
    if book is None:
        raise InputError(f"{name!r} is not an OpenDocument spreadsheet")
    wanted, known = {}, []
    for element in content:
        if NAMES.short(element.tag) == "office:scripts" and len(element):
            notices.add(DROPPED_CONTENT["office:scripts"])
    for element in book:
        about = NAMES.attributes(element)
        if NAMES.short(element.tag) != "table:table":
            if len(element) and NAMES.short(element.tag) != "table:calculation-settings":
                notices.add(
                    DROPPED_CONTENT.get(NAMES.short(element.tag), "parts of the document that are not known here")
                )
            continue
        sheet = about.get("table:name", "")
        known.append(sheet)
        hidden = styles.property(about.get("table:style-name"), "table", "table:display") == "false"
        if sheet in edits.sheets and hidden:
            raise InputError(f"{name!r}: sheet {sheet!r} is hidden, so it cannot be written back; show it first")
        if sheet in edits.sheets:
            wanted[sheet] = element
        else:
            notices.add(f"{'hidden ' if hidden else ''}sheet {sheet!r}, which was not protected")
    check_sheets(name, edits, known, wanted)
    return wanted


def _source_cells(sheets: Mapping[str, Sequence[DocumentRow]]) -> SourceCells:
    numbers: dict[Place, float] = {}
    texts: dict[Place, str] = {}
    for name, rows in sheets.items():
        for first, times, _, cells in rows:
            for cell in cells:
                if cell.kind == "empty":
                    continue
                places = [
                    (name, r, c)
                    for r in range(first, first + times)
                    for c in range(cell.column, cell.column + cell.times)
                ]
                if cell.number is not None:
                    numbers.update(dict.fromkeys(places, cell.number))
                if cell.kind == "text":
                    texts.update(dict.fromkeys(places, cell.text))
    return SourceCells(numbers, texts)


def _content(sheets: Iterable[Element], styles: DocumentStyles) -> bytes:
    root = Element("office:document-content", VERSION)
    SubElement(root, "office:font-face-decls").extend(styles.fonts())
    SubElement(root, "office:automatic-styles").extend(styles.written(automatic=True))
    SubElement(SubElement(root, "office:body"), "office:spreadsheet").extend(sheets)
    return serialised(root, SPACES)


def _styles(styles: DocumentStyles, source: Element | None) -> bytes:
    """Named styles, and one page for all sheets: its size and margins, without header and footer."""
    root = Element("office:document-styles", VERSION)
    SubElement(root, "office:font-face-decls").extend(styles.fonts())
    named = SubElement(root, "office:styles")
    named.extend(styles.defaults())
    named.extend(styles.written(automatic=False))
    if not any(e.get("style:name") == DEFAULT and e.get("style:family") == "table-cell" for e in named):
        SubElement(named, "style:style", {"style:name": DEFAULT, "style:family": "table-cell"})
    _pages(root, styles.pages, source)
    return serialised(root, SPACES)


def _pages(root: Element, pages: Mapping[str, str], source: Element | None) -> None:
    """The pages that sheets are printed on: size, margins, and headers and footers without numbers of their own."""
    everything = [] if source is None else [(NAMES.short(e.tag), NAMES.attributes(e), e) for e in source.iter()]
    layouts = {about.get("style:name"): e for short, about, e in everything if short == "style:page-layout"}
    masters = {about.get("style:name"): (about, e) for short, about, e in everything if short == "style:master-page"}
    automatic = SubElement(root, "office:automatic-styles")
    written = SubElement(root, "office:master-styles")
    for old, new in pages.items() or {DEFAULT: DEFAULT}.items():
        about, master = masters.get(old, ({}, None))
        layout = layouts.get(about.get("style:page-layout-name"))
        copy = Element("style:page-layout") if layout is None else NAMES.copied(layout, PAGE_LAYOUT)
        copy.set("style:name", f"layout-{new}")
        automatic.append(copy)
        page = SubElement(written, "style:master-page", {"style:name": new, "style:page-layout-name": f"layout-{new}"})
        bands = {NAMES.short(child.tag): child for child in master} if master is not None else {}
        for kind in ("style:header", "style:footer"):
            page.append(
                NAMES.copied(bands[kind], PAGE_BAND) if kind in bands else Element(kind, {"style:display": "false"})
            )


def _settings(source: Element | None, tables: Mapping[str, Element]) -> bytes:
    """Frozen rows and columns, and the size on the screen, of the sheets that are written."""
    root = Element("office:document-settings", VERSION)
    settings = SubElement(root, "office:settings")
    views = SubElement(settings, "config:config-item-set", {"config:name": "ooo:view-settings"})
    indexed = SubElement(views, "config:config-item-map-indexed", {"config:name": "Views"})
    entry = SubElement(indexed, "config:config-item-map-entry")
    named = SubElement(entry, "config:config-item-map-named", {"config:name": "Tables"})
    for element in source.iter() if source is not None else ():
        sheet = NAMES.attributes(element).get("config:name", "")
        if NAMES.short(element.tag) != "config:config-item-map-entry" or sheet not in tables:
            continue
        written = SubElement(named, "config:config-item-map-entry", {"config:name": sheet})
        for item in element:
            about = NAMES.attributes(item)
            text = item.text or ""
            if about.get("config:name") in SETTINGS and SETTING(text):
                kind = "boolean" if text in ("true", "false") else "short" if "Mode" in about["config:name"] else "int"
                copy = SubElement(
                    written, "config:config-item", {"config:name": about["config:name"], "config:type": kind}
                )
                copy.text = text
    return serialised(root, SPACES)


def _manifest(parts: Iterable[str]) -> bytes:
    root = Element("manifest:manifest", {"manifest:version": "1.2"})
    for path, kind in (("/", KIND), *((part, "text/xml") for part in parts)):
        SubElement(root, "manifest:file-entry", {"manifest:full-path": path, "manifest:media-type": kind})
    return serialised(root, {"manifest": SPACES["manifest"]})
