"""A workbook of Excel as it was read: its parts, and its sheets, texts and styles parsed once for all who ask."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from xml.etree.ElementTree import Element

from discreet.errors import InputError
from discreet.sheets.excel.excel_cells import TRUE, StoredSheet, stored_sheet
from discreet.sheets.excel.excel_names import NAMES
from discreet.sheets.excel.excel_texts import SourceTexts
from discreet.sheets.rewrite.archive import package_parts
from discreet.sheets.rewrite.xml_copy import parsed


class ListedSheet(NamedTuple):
    """A sheet as the workbook lists it: its name, whether it is hidden, the kind of its part and where that stands."""

    name: str
    hidden: bool
    kind: str
    place: str


@dataclass(frozen=True, eq=False)
class ExcelBook:
    """The parts of a workbook; XML is parsed when it is first asked for. Confidential."""

    name: str
    parts: Mapping[str, bytes]
    path: str
    """Where the part of the workbook itself stands."""
    _stored: dict[str, StoredSheet] = field(default_factory=dict, repr=False)

    def xml(self, path: str) -> Element:
        """A part, parsed."""
        if path not in self.parts:
            raise InputError(f"{self.name!r} is damaged: a part that it names is missing")
        return parsed(self.parts[path], repr(self.name))

    @cached_property
    def root(self) -> Element:
        """The part that lists the sheets."""
        return self.xml(self.path)

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
        """What the workbook lists under a name."""
        return (child for element in self.root if NAMES.short(element.tag) == name for child in element)

    @cached_property
    def sheets(self) -> tuple[ListedSheet, ...]:
        """All sheets in their order."""
        relations = self.relations(self.path)
        sheets = []
        for element in self.children("sheets"):
            kind, place = relations.get(NAMES.attributes(element).get("r:id", ""), ("", ""))
            hidden = element.get("state", "visible") != "visible"
            sheets.append(ListedSheet(element.get("name", ""), hidden, kind, place))
        return tuple(sheets)

    @cached_property
    def from_1904(self) -> bool:
        """Whether days are counted from 1904."""
        return any(e.get("date1904") in TRUE for e in self.root if NAMES.short(e.tag) == "workbookPr")

    @cached_property
    def texts(self) -> SourceTexts:
        """The shared texts."""
        return SourceTexts(self.single("sharedStrings"))

    @cached_property
    def styles(self) -> Element | None:
        """The part of styles."""
        return self.single("styles")

    def stored(self, sheet: ListedSheet) -> StoredSheet:
        """The cells of a sheet."""
        if sheet.place not in self._stored:
            read = stored_sheet(sheet.name, self.xml(sheet.place), self.texts, from_1904=self.from_1904)
            self._stored[sheet.place] = read
        return self._stored[sheet.place]


def excel_book(data: bytes, name: str) -> ExcelBook:
    """The workbook that a file holds."""
    parts = package_parts(data, name)
    targets = ExcelBook(name, parts, "").relations("").values()
    path = next((place for kind, place in targets if kind == "officeDocument"), "")
    if path not in parts:
        raise InputError(f"{name!r} is not an Excel workbook")
    return ExcelBook(name, parts, path)
