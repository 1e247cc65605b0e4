"""Shared texts of a workbook: read by number, and written anew with those that are still used."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from discreet.sheets.excel.excel_names import MAIN, NAMES, RICH_TEXT
from discreet.sheets.rewrite.xml_copy import serialised


class SourceTexts:
    """The shared texts of a workbook, by number."""

    def __init__(self, root: Element | None) -> None:
        self._items = [] if root is None else [e for e in root if NAMES.short(e.tag) == "si"]
        self._plain = [plain_of(item) for item in self._items]

    def text(self, number: str) -> tuple[str, Element | None]:
        """A text by its number, plain and as it is formatted."""
        known = number.isdecimal() and int(number) < len(self._items)
        return (self._plain[int(number)], self._items[int(number)]) if known else ("", None)


class Texts:
    """The table of texts that cells of the new workbook use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._items: list[Element] = []
        self._kept: dict[int, int] = {}  # by the element of the source, which lives as long as this does
        self._by_text: dict[str, int] = {}
        self._uses = 0

    def kept(self, item: Element) -> str:
        """The new number of a text with its formats."""
        if len(item) == 1 and NAMES.short(item[0].tag) == "t":
            return self.plain(item[0].text or "")
        if id(item) in self._kept:
            return self._again(self._kept[id(item)])
        copy = NAMES.copied(item, RICH_TEXT, "si")
        number = self._number(ElementTree.tostring(copy, encoding="unicode"), copy)
        self._kept[id(item)] = int(number)
        return number

    def plain(self, text: str) -> str:
        """The new number of a text without formats."""
        if text in self._by_text:
            return self._again(self._by_text[text])
        item = Element("si")
        part = SubElement(item, "t")
        part.text = text
        if text != text.strip() or "\n" in text:
            part.set("xml:space", "preserve")
        number = self._number(f"plain {text}", item)
        self._by_text[text] = int(number)
        return number

    def _again(self, number: int) -> str:
        self._uses += 1
        return str(number)

    def _number(self, key: str, item: Element) -> str:
        self._uses += 1
        if key not in self._numbers:
            self._numbers[key] = len(self._items)
            self._items.append(item)
        return str(self._numbers[key])

    def part(self) -> bytes:
        """The table of texts that are used."""
        root = Element("sst", count=str(self._uses), uniqueCount=str(len(self._items)))
        root.extend(self._items)
        return serialised(root, {"": MAIN})


def plain_of(item: Element) -> str:
    """The letters of a text; what helps to pronounce it is not one of its letters."""
    if len(item) == 1 and NAMES.short(item[0].tag) == "t":  # almost all
        return item[0].text or ""
    letters = []
    for child in item:
        name = NAMES.short(child.tag)
        if name == "t":
            letters.append(child.text or "")
        elif name == "r":
            letters += [part.text or "" for part in child if NAMES.short(part.tag) == "t"]
    return "".join(letters)
