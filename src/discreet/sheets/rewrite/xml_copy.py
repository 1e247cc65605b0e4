"""XML copied by a list of what is allowed: an element, attribute or text that no list names is not there any more.

Elements are written under short names with a fixed prefix for each namespace, so nothing of the names that a file chose
for itself comes along.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from discreet.errors import InputError

Check = Callable[[str], bool]
_IN_TEXT = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_IN_QUOTES = {**_IN_TEXT, '"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#09;"}


@dataclass(frozen=True)
class Shape:
    """What an element may have: attributes that pass a check, children of a shape, and text or none."""

    attributes: Mapping[str, Check] = field(default_factory=dict)
    children: Mapping[str, Shape] = field(default_factory=dict)
    text: Check | None = None


def matching(pattern: str) -> Check:
    """A check that a value is of a form."""
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


def one_word_of(*words: str) -> Check:
    """A check that a value is one of a few words."""
    return frozenset(words).__contains__


def between(low: float, high: float) -> Check:
    """A check that a value is a plain number within bounds."""
    digits = re.compile(r"-?\d{1,6}(\.\d{1,20})?")
    return lambda text: digits.fullmatch(text) is not None and low <= float(text) <= high


TRUTH = one_word_of("0", "1", "true", "false")
COLOUR = matching("[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8}")
# names of fonts have digits, too ("Frutiger 45"), but no long numbers
FONT_NAME = matching(r"(?!.*\d{4})[\w .,'@&()+;:\-]{1,80}")


class Names:
    """Namespaces of a format by the prefix they are written with; the main one has none."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._prefixes = prefixes
        self._known: dict[str, str] = {}

    def short(self, name: str) -> str:
        """The name with its prefix; empty if its namespace is not known."""
        known = self._known.get(name)
        if known is None:
            space, _, local = name[1:].rpartition("}") if name.startswith("{") else ("", "", name)
            prefix = self._prefixes.get(space) if space else ""
            known = "" if prefix is None else f"{prefix}:{local}" if prefix else local
            self._known[name] = known
        return known

    def attributes(self, element: Element) -> dict[str, str]:
        """The attributes of an element by their short names."""
        return {short: value for name, value in element.items() if (short := self.short(name))}

    def copied(self, element: Element, shape: Shape, name: str | None = None) -> Element:
        """The element with what its shape allows, and nothing else."""
        copy = Element(name or self.short(element.tag))
        for key, value in element.items():
            short = self.short(key)
            check = shape.attributes.get(short)
            if check is not None and check(value):
                copy.set(short, value)
        if shape.text is not None and element.text and shape.text(element.text):
            copy.text = element.text
        for child in element:
            inner = shape.children.get(self.short(child.tag))
            if inner is not None:
                copy.append(self.copied(child, inner))
                if shape.text is not None and child.tail and shape.text(child.tail):
                    copy[-1].tail = child.tail
        return copy


def parsed(data: bytes, what: str) -> Element:
    """A part of a package as XML; a document type, which no part needs, could name things outside the file."""
    if b"<!DOCTYPE" in data or b"<!\x00D" in data or b"<!ENTITY" in data:
        raise InputError(f"{what} declares a document type, which no spreadsheet does; it is not read")
    try:
        return ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError):
        raise InputError(f"{what} is damaged: a part of it is not XML") from None


def serialised(root: Element, spaces: Mapping[str, str], ready: Mapping[str, str] | None = None) -> bytes:
    """A document whose elements have short names, with the namespaces behind their prefixes.

    ``ready`` is what stands in the elements of a name, where it is XML already.
    """
    for prefix, space in spaces.items():
        root.set(f"xmlns:{prefix}" if prefix else "xmlns", space)
    head = b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    parts: list[str] = []
    _write(root, parts.append, ready or {})
    return head + "".join(parts).encode("utf-8", "xmlcharrefreplace")


def _write(element: Element, put: Callable[[str], None], ready: Mapping[str, str]) -> None:
    """An element as text, as ElementTree writes it but several times faster; names have their prefixes already."""
    tag = element.tag
    head = "".join([f" {name}={attribute_value(value)}" for name, value in element.items()])
    if tag in ready:
        put(f"<{tag}{head}>{ready[tag]}</{tag}>")
    elif element.text or len(element):
        put(f"<{tag}{head}>{_escaped(element.text or '', _IN_TEXT)}")
        for child in element:
            _write(child, put, ready)
        put(f"</{tag}>")
    else:
        put(f"<{tag}{head} />")
    if element.tail:
        put(_escaped(element.tail, _IN_TEXT))


def attribute_value(value: str) -> str:
    """The value of an attribute in quotation marks, with nothing in it that could end it.

    >>> attribute_value('a < "b"')
    '"a &lt; &quot;b&quot;"'
    """
    return f'"{_escaped(value, _IN_QUOTES)}"'


def as_text(value: str) -> str:
    """Letters between tags.

    >>> as_text("a < b")
    'a &lt; b'
    """
    return _escaped(value, _IN_TEXT)


def _escaped(text: str, signs: Mapping[str, str]) -> str:
    if text.isalnum():  # almost all: places and numbers
        return text
    for sign, name in signs.items():
        if sign in text:
            text = text.replace(sign, name)
    return text
