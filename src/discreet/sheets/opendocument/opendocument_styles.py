"""Styles of an OpenDocument spreadsheet: those that are used, under names of our own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

from discreet.sheets.opendocument.opendocument_names import (
    FONT_FACE,
    NAMES,
    NUMBER_STYLE,
    NUMBER_STYLES,
    PROPERTIES,
    ZERO_CONDITION,
)
from discreet.sheets.rewrite.notices import Notices

DEFAULT = "Default"
PLAIN = " without colours"
LOOKS = ("style:text-properties", "style:table-cell-properties", "style:paragraph-properties")
STYLE_SPACE = "urn:oasis:names:tc:opendocument:xmlns:style:1.0"
_UNITS = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "pc": 2.54 / 6, "px": 2.54 / 96}
_REFERENCES = ("style:parent-style-name", "style:data-style-name")
LEAST = 0.05  # centimetres: below that a row or column shows nothing


class DocumentStyles:
    """Asked for the new name of every style that is used; writes these styles in the end."""

    def __init__(self, content: Element, styles: Element | None, notices: Notices) -> None:
        self._notices = notices
        self._roots = [root for root in (styles, content) if root is not None]
        self._styles: dict[tuple[str, str], tuple[Element, bool]] = {}
        self._formats: dict[str, tuple[Element, bool]] = {}
        for root in self._roots:
            for section in root:
                for element in section:
                    self._add(element, automatic=NAMES.short(section.tag) == "office:automatic-styles")
        self._names: dict[str, str] = {DEFAULT: DEFAULT}
        self._used: dict[tuple[str, str], None] = {}
        self._used_formats: dict[str, None] = {}
        self._marks: dict[str, str] = {}
        self._drawn: dict[str | None, tuple[tuple[str, str], ...]] = {}
        self.pages: dict[str, str] = {}  # old and new names of the pages that sheets are printed on
        self.use(DEFAULT, "table-cell")

    def _add(self, element: Element, *, automatic: bool) -> None:
        about = NAMES.attributes(element)
        kind, name = NAMES.short(element.tag), about.get("style:name", "")
        if kind == "style:style":
            self._styles[about.get("style:family", ""), name] = element, automatic
        elif kind in NUMBER_STYLES:
            self._formats[name] = element, automatic

    def _new(self, name: str) -> str:
        return self._names.setdefault(name, f"s{len(self._names)}")

    def use(self, name: str | None, family: str) -> str | None:
        """The new name of a style, if there is such a style; what it rests on is used, too."""
        if not name or (family, name) not in self._styles:
            return DEFAULT if name == DEFAULT else None
        if (family, name) not in self._used:
            self._used[family, name] = None
            about = NAMES.attributes(self._styles[family, name][0])
            self.use(about.get("style:parent-style-name"), family)
            self._use_format(about.get("style:data-style-name", ""))
        return self._new(name)

    def _use_format(self, name: str) -> None:
        if name in self._formats and name not in self._used_formats:
            self._used_formats[name] = None
            for child in self._formats[name][0]:
                about = NAMES.attributes(child)
                if NAMES.short(child.tag) == "style:map" and ZERO_CONDITION(about.get("style:condition", "")):
                    self._use_format(about.get("style:apply-style-name", ""))

    def drawn_as(self, name: str | None) -> tuple[tuple[str, str], ...]:
        """Colours, fonts and alignment of a style of cells, with what it rests on; lines and formats do not count."""
        known = self._drawn.get(name)
        if known is None:
            known = self._drawn[name] = self._look(name)
        return known

    def _look(self, name: str | None) -> tuple[tuple[str, str], ...]:
        drawn: dict[str, str] = {}
        seen: set[str] = set()
        while name and ("table-cell", name) in self._styles and name not in seen:
            seen.add(name)
            element = self._styles["table-cell", name][0]
            for child in element:
                for key, value in NAMES.attributes(child).items():
                    if NAMES.short(child.tag) in LOOKS and not key.startswith(("fo:border", "style:border")):
                        drawn.setdefault(key, value)
            name = NAMES.attributes(element).get("style:parent-style-name")
        return tuple(sorted(drawn.items()))

    def without_look(self, name: str | None, *, aligned: bool = False) -> str:
        """The name of a style with the format and the lines of another, and no colours or fonts.

        ``aligned``: where the text stands in its cell stays, as labels are set in by their level.
        """
        plain = f"{name or DEFAULT}{PLAIN}{'-aligned' if aligned else ''}"
        if ("table-cell", plain) not in self._styles:
            source = self._styles.get(("table-cell", name or ""))
            tag = f"{{{STYLE_SPACE}}}"
            element = Element(f"{tag}style", {f"{tag}name": plain, f"{tag}family": "table-cell"})
            element.set(f"{tag}parent-style-name", DEFAULT)
            if source is not None:
                about = NAMES.attributes(source[0])
                if data := about.get("style:data-style-name"):
                    element.set(f"{tag}data-style-name", data)
                for child in source[0]:
                    if NAMES.short(child.tag) == "style:table-cell-properties":
                        lines = {key: value for key, value in child.items() if "border" in key}
                        SubElement(element, child.tag, lines)
                    if aligned and NAMES.short(child.tag) == "style:paragraph-properties":
                        SubElement(element, child.tag, dict(child.items()))
            self._styles["table-cell", plain] = element, True
        return plain

    def for_mark(self, name: str | None) -> str:
        """A style for a mark in the place of a number: the same, without a format, on the right."""
        key = name if name and ("table-cell", name) in self._styles else DEFAULT
        self.use(key, "table-cell")
        return self._marks.setdefault(key, f"m{len(self._marks) + 1}")

    def property(self, name: str | None, family: str, key: str) -> str:
        """A property of a style, or of those it rests on; empty if none says it."""
        seen: set[str] = set()
        while name and (family, name) in self._styles and name not in seen:
            seen.add(name)
            element = self._styles[family, name][0]
            for child in element:
                if value := NAMES.attributes(child).get(key):
                    return value
            name = NAMES.attributes(element).get("style:parent-style-name")
        return ""

    def is_too_small(self, name: str | None, family: str, key: str) -> bool:
        """Whether a row or column is so small that it shows nothing."""
        match = re.fullmatch(r"([\d.]+)([a-z]+)", self.property(name, family, key))
        return match is not None and float(match[1]) * _UNITS.get(match[2], 1.0) < LEAST

    def written(self, *, automatic: bool) -> Iterable[Element]:
        """The styles that were asked for: those of the document itself, or those of its styles part."""
        for name in self._used_formats:
            element, is_automatic = self._formats[name]
            if is_automatic == automatic:
                yield self._format(element, name)
        for family, name in self._used:
            element, is_automatic = self._styles[family, name]
            if is_automatic == automatic:
                yield self._style(element, family, self._new(name))
        for name, mark in self._marks.items() if automatic else ():
            yield self._mark(name, mark)

    def _format(self, element: Element, name: str) -> Element:
        copy = NAMES.copied(element, NUMBER_STYLE)
        copy.set("style:name", self._new(name))
        for child in element:
            if NAMES.short(child.tag) != "style:map":
                continue
            about = NAMES.attributes(child)
            target = about.get("style:apply-style-name", "")
            if ZERO_CONDITION(about.get("style:condition", "")) and target in self._formats:
                condition = {"style:condition": about["style:condition"], "style:apply-style-name": self._new(target)}
                SubElement(copy, "style:map", condition)
            else:
                self._notices.add("conditions in number formats")
        return copy

    def _style(self, element: Element, family: str, name: str) -> Element:
        about = NAMES.attributes(element)
        copy = Element("style:style", {"style:name": name, "style:family": family})
        parent = about.get("style:parent-style-name", "")
        if (family, parent) in self._styles or parent == DEFAULT:
            copy.set("style:parent-style-name", self._new(parent))
        if (data := about.get("style:data-style-name", "")) in self._formats:
            copy.set("style:data-style-name", self._new(data))
        if family == "table":
            page = about.get("style:master-page-name", DEFAULT)
            copy.set("style:master-page-name", self.pages.setdefault(page, f"page{len(self.pages) + 1}"))
        for child in element:
            kind = NAMES.short(child.tag)
            if kind in PROPERTIES:
                copy.append(NAMES.copied(child, PROPERTIES[kind]))
            elif kind == "style:map":
                self._notices.add("conditional formats with limits, formulas or texts")
        return copy

    def _mark(self, name: str, mark: str) -> Element:
        known = self._styles.get(("table-cell", name))
        copy = Element("style:style", {"style:family": "table-cell", "style:parent-style-name": DEFAULT})
        if known is not None and known[1]:
            copy = self._style(known[0], "table-cell", mark)
        elif known is not None:
            copy.set("style:parent-style-name", self._new(name))
        copy.set("style:name", mark)
        copy.attrib.pop("style:data-style-name", None)
        if not self.property(name, "table-cell", "fo:text-align"):
            cell = copy.find("style:table-cell-properties")
            cell = SubElement(copy, "style:table-cell-properties") if cell is None else cell
            cell.set("style:text-align-source", "fix")
            paragraph = copy.find("style:paragraph-properties")
            paragraph = SubElement(copy, "style:paragraph-properties") if paragraph is None else paragraph
            paragraph.set("fo:text-align", "end")
        return copy

    def fonts(self) -> list[Element]:
        """The fonts that are declared, each once."""
        faces: dict[str | None, Element] = {}
        for root in self._roots:
            for section in root:
                for element in section if NAMES.short(section.tag) == "office:font-face-decls" else ():
                    face = NAMES.copied(element, FONT_FACE)
                    if face.get("style:name"):
                        faces.setdefault(face.get("style:name"), face)
        return list(faces.values())

    def defaults(self) -> list[Element]:
        """What holds for all cells that do not say otherwise."""
        written = []
        for root in self._roots[:-1]:
            for section in root:
                for element in section if NAMES.short(section.tag) == "office:styles" else ():
                    if NAMES.short(element.tag) != "style:default-style":
                        continue
                    family = NAMES.attributes(element).get("style:family", "")
                    if family in ("table-cell", "table-column", "table-row", "table"):
                        copy = Element("style:default-style", {"style:family": family})
                        kept = [
                            NAMES.copied(c, PROPERTIES[k]) for c in element if (k := NAMES.short(c.tag)) in PROPERTIES
                        ]
                        copy.extend(kept)
                        written.append(copy)
        return written
