"""Parts of a workbook as text: what an XML parser reads back is what was written, and nothing more."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from hypothesis import given
from hypothesis import strategies as st

from discreet.sheets.rewrite.xml_copy import serialised

NAMES = st.sampled_from(["c", "v", "row", "si"])
TEXTS = st.text(
    st.characters(codec="utf-8", min_codepoint=9, exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t\r")
)
PARTS: st.SearchStrategy[Any] = st.recursive(
    st.builds(lambda name, text, said: (name, text, said, []), NAMES, TEXTS, TEXTS),
    lambda inner: st.builds(
        lambda name, text, said, parts: (name, text, said, parts), NAMES, TEXTS, TEXTS, st.lists(inner, max_size=3)
    ),
    max_leaves=8,
)


def element(drawn: tuple[str, str, str, list[Any]]) -> Element:
    name, text, said, parts = drawn
    made = Element(name, r=said)
    made.text = text
    for part in parts:
        child = element(part)
        child.tail = said
        made.append(child)
    return made


@given(PARTS)
def test_a_part_is_what_elementtree_writes(drawn: tuple[str, str, str, list[Any]]) -> None:
    """Signs that mean something in XML among them."""
    root = element(drawn)
    expected = ElementTree.tostring(root, encoding="utf-8", xml_declaration=False)
    assert serialised(root, {}).partition(b"?>\n")[2] == expected
