"""Text with separators (CSV, TSV) written back: the fields that change, and every other byte as it was."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from discreet.base.texts import csv_rows
from discreet.errors import InputError
from discreet.sheets.rewrite.edits import Edits, Place, SourceCells, check_stood, settle_edits
from discreet.sheets.rewrite.notices import Notices
from discreet.sheets.rewrite.number_look import plain_number
from discreet.sheets.rewrite.text_cells import decimal_sign, text_now

SEPARATORS = ("\t", ";", "|", ",")
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LINE_END = re.compile(r"\r\r\n|\r\n|\n|\r")
SHEET = ""  # such a file has one sheet, without a name


@dataclass(frozen=True)
class TextField:
    """A field of a line: where it stands in the text, and what it says."""

    row: int
    column: int
    start: int
    end: int
    value: str
    quoted: bool


def rewrite_delimited(data: bytes, name: str, edits: Edits) -> tuple[bytes, tuple[str, ...]]:
    """The file with these edits, and what of it was blanked."""
    mark, encoding, text = decoded(data, name, edits.encoding)
    separator = edits.separator or (
        "\t" if name.lower().endswith((".tsv", ".tab")) else likeliest_separator(text, name)
    )
    if not text.isascii() and encoding == "cp1252" and not edits.note.isascii():
        raise InputError("the note holds letters that the file's encoding may not have; write it in plain letters")
    fields = list(fields_of(text, separator, name))
    decimal = edits.decimal or decimal_sign(field.value for field in fields)
    numbers = {}
    texts = {}
    for field in fields:
        place: Place = (SHEET, field.row, field.column)
        texts[place] = field.value
        if (number := plain_number(field.value, decimal)) is not None:
            numbers[place] = number
    check_stood(edits, name, SourceCells(numbers, texts))
    changes = settle_edits(edits, SourceCells(numbers, texts, decimal))
    if missing := [place for place in changes.now if place not in texts]:
        raise InputError(f"{name!r}: {len(missing)} of the cells to be changed are not in the file; read it again")
    notices = Notices()
    pieces = []
    at = 0
    for field in fields:
        now = text_now(changes, (SHEET, field.row, field.column), field.value, decimal, notices)
        if now != field.value:
            pieces += [text[at : field.start], _written(now, field, separator)]
            at = field.end
    pieces.append(text[at:])
    pieces.append(_note(edits.note, text, fields, separator, notices))
    return mark + "".join(pieces).encode(encoding, "surrogateescape"), notices.sentences()


def decoded(data: bytes, name: str, named: str | None = None) -> tuple[bytes, str, str]:
    """The mark at the start of a file, its encoding, and its text: UTF-8, UTF-16 with a mark, else Windows-1252.

    An encoding that is ``named`` holds unless a mark says otherwise, if the text comes to the same bytes again.

    Bytes that Windows-1252 does not know come back as they were.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return mark, encoding, data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                raise InputError(f"{name!r} is damaged: it is not the {encoding.upper()} that it says it is") from None
    if named is not None:
        return b"", named, _decoded_as(data, name, named)
    if b"\0" in data:
        raise InputError(f"{name!r} is not a text file")
    try:
        return b"", "utf-8", data.decode("utf-8")
    except UnicodeDecodeError:
        return b"", "cp1252", data.decode("cp1252", "surrogateescape")


def _decoded_as(data: bytes, name: str, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        raise InputError(f"{name!r} is not written in {encoding!r}; name its encoding, or none") from None
    if text.encode(encoding) != data:
        raise InputError(f"{name!r} cannot be written back in {encoding!r} as it was; save it as UTF-8, and give that")
    return text


def fields_of(text: str, separator: str, name: str) -> Iterator[TextField]:
    """The fields of all lines, as a reader of CSV counts them: a quotation mark counts where a field begins."""
    quoted = re.compile(rf'"((?:[^"]|"")*)"(?!")([^{re.escape(separator)}\r\n]*)')
    plain = re.compile(rf"[^{re.escape(separator)}\r\n]*")
    at, row, column = 0, 1, 1
    while at < len(text):
        if column == 1 and (end := _LINE_END.match(text, at)):  # a line without anything has no fields
            at = end.end()
            row += 1
            continue
        match = quoted.match(text, at) if text[at] == '"' else plain.match(text, at)
        if match is None:
            raise InputError(f"{name!r} row {row}: a quotation mark is left open")
        is_quoted = text[at] == '"'
        value = match[1].replace('""', '"') + match[2] if is_quoted else match[0]
        yield TextField(row, column, at, match.end(), value, is_quoted)
        at = match.end()
        column += 1
        if at < len(text) and text[at] == separator:
            at += 1
            if at == len(text) or _LINE_END.match(text, at):  # an empty field at the end of a line
                yield TextField(row, column, at, at, "", False)
        if end := _LINE_END.match(text, at):
            at = end.end()
            row += 1
            column = 1


def likeliest_separator(text: str, name: str) -> str:
    """The sign that parts the most lines into one same number of fields; titles and notes may be parted otherwise.

    >>> likeliest_separator("People, all\\narea;f;m\\nNorth;1,5;2,5\\n", "x")
    ';'
    """
    head = "\n".join(text.splitlines()[:1000])
    alike = {}
    for sign in SEPARATORS:
        if sign in head:
            widths = Counter(len(row) for row in csv_rows(head, sign, repr(name)) if len(row) > 1)
            width, times = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
            alike[sign] = (times, width)
    return max(alike, key=lambda sign: alike[sign], default=",")


def _written(text: str, field: TextField, separator: str) -> str:
    if field.quoted or any(sign in text for sign in (separator, '"', "\r", "\n")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _note(note: str, text: str, fields: Sequence[TextField], separator: str, notices: Notices) -> str:
    """The note as a last line, where the file has a title or notes already; else a program would take it for data."""
    if not note:
        return ""
    filled = [field for field in fields if field.value.strip()]
    alone = {row for row, times in Counter(field.row for field in filled).items() if times == 1}
    rows = [field.row for field in filled]
    if not rows or not {min(rows), max(rows)} & alone:
        notices.add("the note: this file holds nothing but its table, so a line of text would be taken for data")
        return ""
    end = match[0] if (match := _LINE_END.search(text)) else "\n"
    gap = "" if text.endswith(("\n", "\r")) else end
    width = max(field.column for field in fields if field.row == max(rows))
    field = TextField(0, 1, 0, 0, "", False)
    return f"{gap}{_written(note, field, separator)}{separator * (width - 1)}{end if not gap else ''}"
