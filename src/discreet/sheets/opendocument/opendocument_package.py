"""An OpenDocument spreadsheet as it was read: its parts, and those of XML parsed once for all who ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from discreet.errors import InputError
from discreet.sheets.rewrite.archive import package_parts
from discreet.sheets.rewrite.xml_copy import parsed

CONTENT, STYLES, SETTINGS = "content.xml", "styles.xml", "settings.xml"


@dataclass(frozen=True, eq=False)
class DocumentBook:
    """The parts of a spreadsheet, and the roots of those that are looked at. Confidential."""

    name: str
    parts: Mapping[str, bytes]
    roots: Mapping[str, Element]

    @property
    def content(self) -> Element:
        """Sheets, and styles of their own."""
        return self.roots[CONTENT]

    @property
    def styles(self) -> Element | None:
        """Named styles, if there are any."""
        return self.roots.get(STYLES)


def document_book(data: bytes, name: str) -> DocumentBook:
    """The spreadsheet that a file holds."""
    parts = package_parts(data, name)
    if CONTENT not in parts:
        raise InputError(f"{name!r} is not an OpenDocument spreadsheet")
    roots = {part: parsed(parts[part], repr(name)) for part in (CONTENT, STYLES, SETTINGS) if part in parts}
    return DocumentBook(name, parts, roots)
