"""The law behind the lists: whatever attribute or text of a part is turned into a secret, the copy does not hold it.

Every attribute of every part that is used at all is changed in turn, and so is every text; elements and attributes that
nobody knows are put everywhere. A file may be refused; what it must not do is to carry the number along.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from xml.etree import ElementTree

import pytest

from discreet.errors import InputError
from discreet.sheets.excel.excel_book import rewrite_excel
from discreet.sheets.opendocument.opendocument_book import rewrite_opendocument
from discreet.sheets.rewrite.edits import Edits, Place
from tests.sheets.excel import planted_workbook
from tests.sheets.opendocument import planted_document
from tests.sheets.rewrite.secrets_in_files import Planted, remains

SECRET = "9173645"
ADDRESS = re.compile(r"[\w.]*[A-Z]+\d+(:[\w.]*[A-Z]+\d+)?")
USED = {
    "xlsx": (
        "xl/workbook.xml",
        "xl/styles.xml",
        "xl/sharedStrings.xml",
        "xl/theme/theme1.xml",
        "xl/worksheets/sheet1.xml",
        "xl/tables/table1.xml",
        "xl/_rels/workbook.xml.rels",
        "xl/worksheets/_rels/sheet1.xml.rels",
    ),
    "ods": ("content.xml", "styles.xml", "settings.xml"),
}
SOURCES = {
    "xlsx": (planted_workbook.planted_workbook, planted_workbook.HIDDEN, planted_workbook.SHOWN, rewrite_excel),
    "ods": (planted_document.planted_document, planted_document.HIDDEN, planted_document.SHOWN, rewrite_opendocument),
}


def parts_of(kind: str) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(SOURCES[kind][0](Planted()))) as package:
        return {name: package.read(name) for name in package.namelist()}


def packed(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for name, data in parts.items():
            package.writestr(name, data)
    return buffer.getvalue()


def local(name: str) -> str:
    return name.rpartition("}")[2]


def set_text(element: ElementTree.Element, text: str) -> None:
    element.text = text


def changes(root: ElementTree.Element) -> Iterator[tuple[str, Callable[[], object], Callable[[], object]]]:
    """One change after the other: what it is, how it is made, and how it is undone."""
    for element in root.iter():
        tag = local(str(element.tag))
        for key, value in list(element.items()):
            yield f"{tag}/{local(key)}", partial(element.set, key, SECRET), partial(element.set, key, value)
            if ADDRESS.fullmatch(value):
                for text in (f"A{SECRET}", f"A1:B{SECRET}", f"People.A1:People.B{SECRET}"):
                    yield (
                        f"{tag}/{local(key)} as {text}",
                        partial(element.set, key, text),
                        partial(element.set, key, value),
                    )
        if element.text and element.text.strip():
            yield f"{tag} text", partial(set_text, element, SECRET), partial(set_text, element, element.text)
        yield f"{tag}/new", partial(element.set, "unknown", SECRET), partial(element.attrib.pop, "unknown")
        unknown, same = ElementTree.Element("unknown"), ElementTree.Element(element.tag, {"unknown": SECRET})
        unknown.text = SECRET
        yield f"{tag}>unknown", partial(element.append, unknown), partial(element.remove, unknown)
        yield f"{tag}>same", partial(element.append, same), partial(element.remove, same)


def survivors(kind: str, part: str) -> set[str]:
    """The changes of a part whose secret is in what is written."""
    _, hidden, shown, rewrite = SOURCES[kind]
    contents: dict[Place, int | float | str | None] = dict(hidden.items())
    edits = Edits(contents, shown)
    parts = parts_of(kind)
    root = ElementTree.fromstring(parts[part])
    found, messages = set(), []
    for name, make, undo in changes(root):
        make()
        parts[part] = ElementTree.tostring(root)
        undo()
        try:
            data, said = rewrite(packed(parts), "x", edits)
        except InputError as error:
            messages.append(str(error))
            continue
        if remains(data, {"secret": SECRET}):
            found.add(name)
        assert SECRET not in "".join(said) or name in ("sheet/name", "table/name")
    assert [message for message in messages if SECRET in message and "no sheet" not in message] == []
    return found


# what a reader of the sheet sees: numbers that are said to be shown, and words of sentences
SEEN = {
    "xl/worksheets/sheet1.xml": {"v text"},
    "xl/sharedStrings.xml": {"t text"},
    "content.xml": {"table-cell/value", "a text", "p text"},
}


@pytest.mark.parametrize(("kind", "part"), [(kind, part) for kind, parts in USED.items() for part in parts])
def test_no_attribute_and_no_unknown_element_carries_a_secret(kind: str, part: str) -> None:
    """But for what is seen on the sheet."""
    assert survivors(kind, part) == SEEN.get(part, set())
