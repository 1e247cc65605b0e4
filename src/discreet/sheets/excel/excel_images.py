"""Images of a sheet that are kept because it was said: read from its drawing, written as one of images alone."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from discreet.sheets.excel.excel_names import DRAWING, RELATIONS
from discreet.sheets.excel.excel_package import ExcelBook
from discreet.sheets.rewrite.plain_images import plain_image
from discreet.sheets.rewrite.xml_copy import serialised

ANCHORED = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
_ENDS = {"twoCellAnchor": ("from", "to"), "oneCellAnchor": ("from", "ext")}
_PLACES = ("col", "colOff", "row", "rowOff")


@dataclass(frozen=True)
class SheetImage:
    """An image and where it stands: the first and last cell, or the first cell and its size."""

    suffix: str
    data: bytes
    kind: str
    ends: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """Per end its name and numbers."""

    @property
    def cell(self) -> tuple[int, int]:
        """Row and column of its first corner, from 1."""
        first = dict(self.ends[0][1])
        return int(first["row"]) + 1, int(first["col"]) + 1


@dataclass(frozen=True)
class SheetImages:
    """The images of a sheet that can be kept, and whether its drawing holds anything else."""

    images: tuple[SheetImage, ...] = ()
    others: bool = False
    parts: frozenset[str] = frozenset()
    """The parts of the package that were taken over."""


def sheet_images(book: ExcelBook, sheet: str) -> SheetImages:
    """The images on a sheet, by the place of its part: PNG and JPEG, whole, tied to cells."""
    images: list[SheetImage] = []
    others, parts = False, set()
    for kind, place in book.relations(sheet).values():
        if kind != "drawing" or place not in book.parts:
            continue
        parts |= {place, _relations_of(place)}
        media = book.relations(place)
        for anchor in book.xml(place):
            image = _image(book, anchor, media)
            if image is None:
                others = True
                continue
            images.append(image[0])
            parts.add(image[1])
    return SheetImages(tuple(images), others, frozenset(parts))


def drawing_part(images: tuple[SheetImage, ...]) -> bytes:
    """A drawing of images alone; their relations have the numbers of their order."""
    root = Element("xdr:wsDr")
    for at, image in enumerate(images, 1):
        anchor = SubElement(root, f"xdr:{image.kind}")
        for end, numbers in image.ends:
            if end == "ext":
                SubElement(anchor, "xdr:ext", dict(numbers))
                continue
            corner = SubElement(anchor, f"xdr:{end}")
            for name, number in numbers:
                SubElement(corner, f"xdr:{name}").text = number
        picture = SubElement(anchor, "xdr:pic")
        about = SubElement(picture, "xdr:nvPicPr")
        SubElement(about, "xdr:cNvPr", id=str(at + 1), name=f"Image {at}")
        SubElement(about, "xdr:cNvPicPr")
        filled = SubElement(picture, "xdr:blipFill")
        SubElement(filled, "a:blip", {"r:embed": f"rId{at}"})
        SubElement(SubElement(filled, "a:stretch"), "a:fillRect")
        shape = SubElement(picture, "xdr:spPr")
        SubElement(SubElement(shape, "a:prstGeom", prst="rect"), "a:avLst")
        SubElement(anchor, "xdr:clientData")
    return serialised(root, {"xdr": ANCHORED, "a": DRAWING, "r": RELATIONS})


def _image(book: ExcelBook, anchor: Element, media: dict[str, tuple[str, str]]) -> tuple[SheetImage, str] | None:
    """The image of an anchor and the part it stands in; None for charts, shapes, cropped images and other formats."""
    kind = _local(anchor)
    children = {_local(child): child for child in anchor}
    if kind not in _ENDS or "pic" not in children:
        return None
    below = list(children["pic"].iter())
    cropped = any(_local(e) == "srcRect" and any(value not in ("", "0") for value in e.attrib.values()) for e in below)
    blips = [e for e in below if _local(e) == "blip"]
    if cropped or len(blips) != 1:
        return None
    number = next((value for key, value in blips[0].items() if key.endswith("}embed")), "")
    place = media.get(number, ("", ""))[1]
    drawn = plain_image(book.parts[place]) if place in book.parts else None
    ends = [_end(children.get(name), name) for name in _ENDS[kind]]
    if drawn is None or any(end is None for end in ends):
        return None
    return SheetImage(*drawn, kind, tuple(end for end in ends if end is not None)), place


def _end(element: Element | None, name: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """A corner or a size in plain numbers."""
    if element is None:
        return None
    if name == "ext":
        numbers = [(key, element.get(key, "")) for key in ("cx", "cy")]
    else:
        texts = {_local(child): (child.text or "").strip() for child in element}
        numbers = [(key, texts.get(key, "")) for key in _PLACES]
    if not all(number.lstrip("-").isdecimal() for _, number in numbers):
        return None
    return name, tuple(numbers)


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _relations_of(place: str) -> str:
    folder, _, file = place.rpartition("/")
    return f"{folder}/_rels/{file}.rels"
