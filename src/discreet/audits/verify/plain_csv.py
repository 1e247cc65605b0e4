"""Published tables read by a plain rule: CSV as offices write it, marks, ranges, decimal signs.

A file is UTF-8 or Windows-1252, its separator one of , ; tab and |. Lines above the head that begin with # and a blank
are notes. Its columns are those that the certificate names, in any order, whatever the case and signs of their names;
labels of codes may stand beside them, and the status may be missing. A field without any figure shows no number, or a
whole one of 1 at least, as the certificate has it; <5, >=3 and 1-4 are ranges (of <5 the least is 1, 0 or without end,
as the certificate has it); numbers have a decimal point or comma and may have signs between groups of three digits.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import product
from typing import Any

from .certificate_form import require, sha256


def folded(name: str) -> str:
    """The name of a column whatever its case and signs."""
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")


def units(text: str, decimals: int, point: str, comma: str) -> int:
    """A number as people write it, in units of the last decimal; ValueError unless it is one."""
    groups = rf"[0-9]{{1,40}}|[0-9]{{1,3}}(?:[{comma}\s'\u2019_][0-9]{{3}}){{1,12}}"
    match = re.fullmatch(rf"([-+]?)({groups})(?:[{point}]([0-9]{{0,40}}))?", text)
    behind = "x" if match is None else match[3] or ""
    if match is None or behind[decimals:].strip("0"):
        raise ValueError("not a number with that many decimals")
    return int(match[1] + re.sub("[^0-9]", "", match[2]) + behind[:decimals].ljust(decimals, "0"))


def ends_of(
    text: str, decimals: int, point: str, comma: str, floor: int | None = None, unshown: int | None = None
) -> tuple[int | None, int | None]:
    """The least and greatest value that stands in a field: 7, <5, 1-4; a text without a figure shows none.

    ``floor``: the least that <5 may stand for; ``unshown``: that of a field without a figure.
    """
    text = text.strip()
    if not any(sign.isnumeric() for sign in text):
        return unshown, None
    if text[0] in "<>\u2264\u2265":
        strict = 0 if text[:2] in ("<=", ">=") or text[0] in "\u2264\u2265" else 1
        end = units(text.lstrip("<>=\u2264\u2265").strip(), decimals, point, comma)
        return (floor, end - strict) if text[0] in "<\u2264" else (end + strict, None)
    if pair := re.fullmatch(r"(.*[0-9])\s*(?:-|\u2013|\u2014|\.\.|to)\s*([-+]?[0-9].*)", text):
        return units(pair[1], decimals, point, comma), units(pair[2], decimals, point, comma)
    value = units(text, decimals, point, comma)
    return value, value


def read_rows(
    text: str, entry: Any, separator: str, point: str, comma: str, floor: int | None = None, unshown: int | None = None
) -> dict[Any, Any]:
    """{codes: (mark, least and greatest value of each measure)} of a CSV; ValueError if it has other columns."""
    text = re.sub(r"\A(?:# [^\r\n]*(?:\r\n|\r|\n))+", "", text)  # notes
    head, *rows = (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row)
    names = [*entry["dimensions"], *entry["columns"]]
    plain = [folded(name) for name in (*head, *names, entry["status"])]
    if not set(names) <= set(head) and len(set(plain)) == len(set(plain[len(head) :])):  # Age group for age_group
        head = [[*names, entry["status"]][plain.index(name, len(head)) - len(head)] for name in plain[: len(head)]]
    labels: dict[str, dict[str, str]] = {f"{name} label": {} for name in entry["dimensions"]}
    if len(set(head)) < len(head) or not set(names) <= set(head) <= {*names, *labels, entry["status"]}:
        raise ValueError("other columns")
    least = []
    for column, stated in zip(entry["columns"], entry["measures"].values(), strict=True):
        fields_of = [row[head.index(column)] for row in rows if len(row) == len(head)]
        written = [re.search(rf"[{point}]([0-9]+)\s*$", field) for field in fields_of if re.search("[0-9]", field)]
        if written and stated > max(len(match[1]) if match else 0 for match in written):
            raise ValueError("fewer decimals")
        least.append(None if stated or any(re.match(r"\s*-\s*[0-9]", field) for field in fields_of) else unshown)
    cells: dict[Any, Any] = {}
    for fields in rows:
        row = dict(zip(head, fields, strict=True))
        codes = tuple(row[name] for name in entry["dimensions"])
        require(codes not in cells, "a cell is on two lines of a table")
        for name, code in zip(entry["dimensions"], codes, strict=True):
            label = row.get(f"{name} label", "")
            require(labels[f"{name} label"].setdefault(code, label) == label, "a code has two labels")
        columns = zip(entry["columns"], entry["measures"].values(), least, strict=True)
        ends = [ends_of(row[c], d, point, comma, floor, low) for c, d, low in columns]
        shown = any(low is not None and low == high for low, high in ends)
        cells[codes] = (row.get(entry["status"], "") if shown else "", *ends)
    return cells


def cells_digest(entry: Any, cells: Any) -> str:
    rows = sorted([*codes, *map(str, held)] for codes, held in cells.items())
    return sha256([entry["dimensions"], list(entry["measures"].items()), rows])


def matched_table(table: str | bytes, entry: Any) -> dict[Any, Any] | None:
    """The cells of a CSV, read the first way that has the digest of the certificate; None if none has."""
    data = table.encode() if isinstance(table, str) else table.replace(b"\r\r\n", b"\r\n")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    ways = product(",;\t|", ((".", ","), (",", ".")), (1, 0, None), (None, 1))
    for separator, (point, comma), floor, unshown in ways:
        try:
            cells = read_rows(text, entry, separator, point, comma, floor, unshown)
        except (ValueError, csv.Error):
            continue
        if cells_digest(entry, cells) == entry["sha256"]:
            return cells
    return None
