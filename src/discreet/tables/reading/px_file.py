"""PX, the format of PC-Axis and PxWeb: keywords, then the numbers of all combinations of values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.tables.reading.raw_table import HIDDEN, RawTable, heading_or_title, own_labels

KEYWORD = re.compile(r'\s*([A-Z0-9-]+)(?:\[\w+\])?(?:\(((?:"[^"]*"|[^)"])*)\))?\s*=\s*', re.DOTALL)
TEXTS = re.compile(r'"([^"]*)"')
NIL, ABSENT = "-", "."  # zero; not part of the table (DATASYMBOL1 as discreet writes it)
Keywords = dict[tuple[str, str], str]


def px_file(path: Path) -> RawTable:
    """The table of a PX file: every mark in the data but "-" (nil) and "." (no cell) is a value that is not shown."""
    keywords = _keywords(path)
    stub = _texts(keywords.get(("STUB", ""), ""))
    names = [*stub, *_texts(keywords.get(("HEADING", ""), ""))]
    if not names or ("DATA", "") not in keywords:
        raise InputError(f"{path.name!r} is not a PX file: STUB, HEADING and DATA say what a table is")
    values = [_texts(keywords.get(("VALUES", n), "")) for n in names]
    codes = [_texts(keywords.get(("CODES", n), "")) or v for n, v in zip(names, values, strict=True)]
    labelled = dict(zip(names, values, strict=True))
    size = [len(c) for c in codes]
    data = re.findall(r'"[^"]*"|[^\s,;]+', keywords[("DATA", "")])
    if math.prod(size) != len(data) or any(len(c) != len(v) for c, v in zip(codes, values, strict=True)):
        raise InputError(f"{path.name!r}: DATA, VALUES and CODES do not fit together")
    marks = np.array([t.strip('"') for t in data], object)
    decimals = int(keywords.get(("DECIMALS", ""), "0").strip() or 0)
    measure = (_texts(keywords.get(("CONTVARIABLE", ""), "")) or [""])[0]
    own = _measures(keywords, names, codes, labelled, measure, decimals)
    numbers, gone = _numbers(path, marks.tolist())
    there = marks != ABSENT
    across = names.index(measure) if measure in names else -1
    order = [k for k in range(len(names)) if k != across] + ([across] if across >= 0 else [])
    digits = np.array([len(re.split("[eE]", t)[0].partition(".")[2]) for t in marks.tolist()])
    flat = [a.reshape(size).transpose(order).reshape(-1, len(own)) for a in (numbers, there, gone, digits)]
    own = {
        m: max(stated, int(flat[3][:, j].max(where=~flat[2][:, j], initial=0)))
        for j, (m, stated) in enumerate(own.items())
    }
    rows = np.flatnonzero(flat[1].any(axis=1))
    kept = [k for k in order if k != across]
    places = np.unravel_index(rows, [size[k] for k in kept])
    totals = _totals(keywords, names, codes, values)
    called = {n: (_texts(keywords.get(("VARIABLECODE", n), "")) or [n])[0] for n in names}
    if len(set(called.values())) < len(called):
        raise InputError(f"{path.name!r}: VARIABLECODE gives two variables one code")
    return RawTable(
        name=path.name,
        names=tuple(called[names[k]] for k in kept),
        codes=tuple([codes[k][p] for p in place.tolist()] for k, place in zip(kept, places, strict=True)),
        values={m: flat[0][rows, j] for j, m in enumerate(own)},
        decimals=own,
        status=np.where(flat[2][rows].any(axis=1), HIDDEN, ""),
        labels={called[names[k]]: own_labels(dict(zip(codes[k], values[k], strict=True))) for k in kept},
        totals={called[name]: code for name, code in totals.items()},
        **_words(keywords, [called[names[k]] for k in kept], list(own)),
    )


def _keywords(path: Path) -> Keywords:
    """Every keyword with its argument and its text, in the encoding that the file names."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path.name!r}: {error.strerror}") from None
    named = re.search(rb'CODEPAGE="([\w-]+)"', data)
    try:
        text = data.decode(named[1].decode() if named else "utf-8-sig").lstrip("\ufeff")
    except (UnicodeDecodeError, LookupError):
        text = data.decode("cp1252", errors="replace")
    keywords: Keywords = {}
    at = 0
    while match := KEYWORD.match(text, at):
        end = _end(text, match.end(), match[1] == "DATA")
        argument = ",".join(TEXTS.findall(match[2])) if match[2] else ""
        keywords.setdefault((match[1], argument), text[match.end() : end])
        at = end + 1
    return keywords


def _end(text: str, start: int, data: bool) -> int:
    """Where a keyword's text ends: at the first semicolon outside quotation marks."""
    quoted = False
    for at in range(start, len(text)):
        if text[at] == '"':
            quoted = not quoted
        elif text[at] == ";" and not quoted:
            return at
    return len(text)


def _texts(text: str) -> list[str]:
    """The texts of a list; a text may be cut into pieces, one below the other.

    >>> _texts('"a","b c"'), _texts('"a "\\n"b"')
    (['a', 'b c'], ['a b'])
    """
    joined = re.sub(r'"\s*[\r\n]+\s*"', "", text)
    return TEXTS.findall(joined)


def _measures(
    keywords: Keywords,
    names: Sequence[str],
    codes: Sequence[Sequence[str]],
    labelled: Mapping[str, Sequence[str]],
    variable: str,
    decimals: int,
) -> dict[str, int]:
    """The measures with their decimals; one without a variable of its own is called as the contents are."""
    if variable not in names:
        name = (_texts(keywords.get(("CONTENTS", ""), "")) or ["value"])[0]
        return {name: decimals}
    pairs = zip(codes[names.index(variable)], labelled[variable], strict=True)
    precision = {m: keywords.get(("PRECISION", f"{variable},{label}")) for m, label in pairs}
    several = len(precision) > 1
    return {m: int(p) if p else (0 if several and any(precision.values()) else decimals) for m, p in precision.items()}


def _numbers(path: Path, marks: Sequence[str]) -> tuple[Any, Any]:
    """Numbers, NaN where none is shown, and which are not shown."""
    numbers, gone = np.full(len(marks), np.nan), np.zeros(len(marks), bool)
    for k, text in enumerate(marks):
        if text == NIL:
            numbers[k] = 0
        elif re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", text):
            numbers[k] = float(text)
        elif set(text) <= {".", "-"} or not text:
            gone[k] = text != ABSENT
        else:
            raise InputError(f"{path.name!r}: DATA holds what is neither a number nor a mark of PX")
    return numbers, gone


def _totals(
    keywords: Keywords, names: Sequence[str], codes: Sequence[Sequence[str]], values: Sequence[Sequence[str]]
) -> Mapping[str, str]:
    """ELIMINATION names the value that stands for all of a variable."""
    totals = {}
    for name, own, labels in zip(names, codes, values, strict=True):
        text = _texts(keywords.get(("ELIMINATION", name), ""))
        if text and text[0] in labels:
            totals[name] = own[labels.index(text[0])]
    return totals


def _words(keywords: Keywords, names: Sequence[str], measures: Sequence[str]) -> dict[str, Any]:
    def one(keyword: str) -> str:
        return (_texts(keywords.get((keyword, ""), "")) or [""])[0]

    method, *notes = one("NOTE").split("#")
    title = heading_or_title(one("TITLE"), names, measures)
    return {"words": {"title": title, "source": one("SOURCE"), "method": method}, "notes": tuple(n for n in notes if n)}
