"""The theme of a workbook: its colours and its two fonts, in a frame of our own."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from discreet.sheets.excel.excel_names import DRAWING, NAMES
from discreet.sheets.rewrite.xml_copy import COLOUR, FONT_NAME, serialised

COLOURS = {
    "dk1": "000000",
    "lt1": "FFFFFF",
    "dk2": "44546A",
    "lt2": "E7E6E6",
    "accent1": "4472C4",
    "accent2": "ED7D31",
    "accent3": "A5A5A5",
    "accent4": "FFC000",
    "accent5": "5B9BD5",
    "accent6": "70AD47",
    "hlink": "0563C1",
    "folHlink": "954F72",
}
FONTS = {"majorFont": "Calibri Light", "minorFont": "Calibri"}


def theme_part(source: Element | None) -> bytes:
    """A theme with the colours and fonts of another; those of Office where it has none."""
    by_name: dict[str, Element] = {} if source is None else {NAMES.short(e.tag): e for e in source.iter()}
    root = Element("a:theme", name="Theme")
    elements = SubElement(root, "a:themeElements")
    scheme = SubElement(elements, "a:clrScheme", name="Colours")
    for name, default in COLOURS.items():
        SubElement(SubElement(scheme, f"a:{name}"), "a:srgbClr", val=_colour(by_name.get(f"a:{name}")) or default)
    fonts = SubElement(elements, "a:fontScheme", name="Fonts")
    for name, default in FONTS.items():
        kind = SubElement(fonts, f"a:{name}")
        SubElement(kind, "a:latin", typeface=_typeface(by_name.get(f"a:{name}")) or default)
        SubElement(kind, "a:ea", typeface="")
        SubElement(kind, "a:cs", typeface="")
    _effects(SubElement(elements, "a:fmtScheme", name="Effects"))
    return serialised(root, {"a": DRAWING})


def _colour(element: Element | None) -> str | None:
    for child in element if element is not None else ():
        value = child.get("lastClr", child.get("val", ""))
        if COLOUR(value):
            return value
    return None


def _typeface(element: Element | None) -> str | None:
    for child in element if element is not None else ():
        name = child.get("typeface", "")
        if NAMES.short(child.tag) == "a:latin" and FONT_NAME(name):
            return name
    return None


def _effects(scheme: Element) -> None:
    """The least that the standard asks for: three of each, all plain."""
    for name in ("a:fillStyleLst", "a:lnStyleLst", "a:effectStyleLst", "a:bgFillStyleLst"):
        group = SubElement(scheme, name)
        for _ in range(3):
            if name == "a:effectStyleLst":
                SubElement(SubElement(group, "a:effectStyle"), "a:effectLst")
                continue
            at = SubElement(group, "a:ln", w="6350") if name == "a:lnStyleLst" else group
            SubElement(SubElement(at, "a:solidFill"), "a:schemeClr", val="phClr")
