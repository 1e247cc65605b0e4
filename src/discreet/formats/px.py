"""PX, the format of PC-Axis and PxWeb."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from discreet.base.naming import unused
from discreet.errors import InputError
from discreet.formats.layers import ABSENT, MEANING, MEASURE, Cube, heading, number_texts, small_enough
from discreet.release import CONFIDENTIAL, Release

MOST_VALUES = 10_000_000  # combinations of codes, cells or not: PX writes all of them
HIDDEN, NOTHING = '".."', '"."'  # DATASYMBOL2 and DATASYMBOL1
WIDTH = 240  # characters of text on a line; PX allows 256
ENCODINGS = {"utf-8": "utf-8", "windows-1252": "windows-1252", "iso-8859-15": "iso-8859-15"}


def to_bytes(
    release: Release, *, matrix: str = "TABLE", subject: str = "", units: str = "", encoding: str = "utf-8"
) -> bytes:
    """A PX file: the last dimension across, the others down, labels as values and codes beside them.

    A value that is not shown is ``".."`` and a combination of codes that is not part of the table ``"."``; the file
    says so. ``matrix`` and ``subject`` are the names PxWeb files it under.

    >>> from discreet import Hide, Table
    >>> text = to_bytes(Hide([0])(Table.of([[3, 1], [1, 2]], ["area", "sex"])).release()).decode()
    >>> text[text.index("DATA="):].split()
    ['DATA=', '".."', '4', '3', '4', '3', '1', '3', '1', '2;']
    """
    if encoding not in ENCODINGS:
        raise InputError(f"encoding={encoding!r}; a PX file is written in {', '.join(ENCODINGS)}")
    if not 1 <= len(matrix) <= 20 or '"' in matrix:
        raise InputError("matrix= is the name of a PX table: 1 to 20 characters without quotation marks")
    cube = Cube.of(release)
    small_enough(cube.size * len(release.values), MOST_VALUES, "a PX file", "publish margins as tables of their own")
    names = _distinct([d.title for d in release.dimensions])
    variable_codes = dict(zip(names, [d.name for d in release.dimensions], strict=True))
    values = [_distinct(cube.labels(k)) for k in range(len(names))]
    codes = [list(c) for c in cube.codes]
    measures = _distinct([release.words.label(name) for name in release.values])
    if measures != [_text(name) for name in release.values] or len(measures) > 1 or len(names) == 1:
        names = [*names, unused(MEASURE, names)]  # a heading is needed; names and labels of measures need a variable
        values, codes = [*values, measures], [*codes, list(release.values)]
    text = _head(release, matrix, subject, units, ENCODINGS[encoding], names, measures)
    text += _variables(release, names, values, codes, units, variable_codes)
    per_line = math.prod(len(c) for c in codes[max(len(release.dimensions) - 1, 1) :])
    text += _words(release) + _data(release, cube, per_line)
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        raise InputError(f"a label or text has signs that {encoding} lacks; write the PX file in utf-8") from None


def _head(
    release: Release, matrix: str, subject: str, units: str, codepage: str, names: list[str], measures: list[str]
) -> str:
    decimals = max(release.decimals.values())
    contents = ", ".join(measures)
    across = names[: len(release.dimensions)]
    own = ", ".join(dict.fromkeys(filter(None, map(release.words.unit, release.values))))
    return "".join(
        [
            _line("CHARSET", "ANSI"),
            _line("AXIS-VERSION", "2013"),
            _line("CODEPAGE", codepage),
            _line("LANGUAGE", "en"),
            f"DECIMALS={min(decimals, 15)};\r\nSHOWDECIMALS={min(decimals, 6)};\r\n",
            _line("MATRIX", matrix),
            _line("SUBJECT-CODE", matrix),
            _line("SUBJECT-AREA", subject or release.title or heading(release)),
            _line("TITLE", heading(release)),
            _line("CONTENTS", contents),
            _line("UNITS", units or own or contents),
            _list("STUB", across[:-1] or across),
        ]
    )


def _variables(
    release: Release,
    names: list[str],
    values: Sequence[list[str]],
    codes: Sequence[list[str]],
    units: str,
    variable_codes: dict[str, str],
) -> str:
    stub = names[: max(len(release.dimensions) - 1, 1)]
    lines = [_list("HEADING", names[len(stub) :])]
    for name, code in variable_codes.items():
        lines.append(_line(f'VARIABLECODE("{name}")', code) if name != code else "")
    for name, labels in zip(names, values, strict=True):
        lines.append(_list(f'VALUES("{_text(name)}")', labels))
    for name, listed in zip(names, codes, strict=True):
        lines.append(_list(f'CODES("{_text(name)}")', listed))
    for d, name, labels, listed in zip(release.dimensions, names, values, codes, strict=False):
        if d.total is not None and d.total in listed:
            lines.append(_line(f'ELIMINATION("{_text(name)}")', labels[listed.index(d.total)]))
    if len(names) > len(release.dimensions):
        lines.append(_line("CONTVARIABLE", names[-1]))
        for label, (measure, digits) in zip(values[-1], release.decimals.items(), strict=True):
            lines.append(_line(f'UNITS("{label}")', units or release.words.unit(measure) or measure))
            lines.append(f'PRECISION("{_text(names[-1])}","{label}")={min(digits, 6)};\r\n' if digits else "")
    return "".join(lines)


def _words(release: Release) -> str:
    notes = [release.method, *release.notes]
    lines = [_line("SOURCE", release.source)] if release.source else []
    lines += [_line("DATASYMBOL1", MEANING[ABSENT]), _line("DATASYMBOL2", MEANING[CONFIDENTIAL])]
    return "".join([*lines, _line("NOTE", "#".join(text for text in notes if text))])


def _data(release: Release, cube: Cube, per_line: int) -> str:
    """All combinations of codes, the last variable across."""
    rows = []
    for name in release.values:
        shown = np.array(number_texts(release, name, HIDDEN).to_pylist(), object)
        rows.append(cube.spread(shown, NOTHING))
    flat = np.stack(rows, axis=1).reshape(-1, per_line)
    return "DATA=\r\n" + "\r\n".join(map(" ".join, flat.tolist())) + ";\r\n"


def _distinct(labels: list[str]) -> list[str]:
    """Values of a PX variable must differ; labels that do not get a number.

    >>> _distinct(["a", "a", "a (2)"])
    ['a', 'a (2)', 'a (2) (2)']
    """
    out: list[str] = []
    for label in map(_text, labels):
        name, n = label, 1
        while name in out:
            n += 1
            name = f"{label} ({n})"
        out.append(name)
    return out


def _text(text: str) -> str:
    """Text without what PX has no way to write: a quotation mark, a line break.

    >>> _text('the "big" one')
    "the 'big' one"
    """
    return " ".join(text.replace('"', "'").split())


def _line(keyword: str, text: str) -> str:
    """A keyword with a text, which is cut into pieces when it is long."""
    whole = _text(text)
    pieces = [whole[i : i + WIDTH] for i in range(0, len(whole), WIDTH)] or [""]
    return keyword + "=" + "\r\n".join(f'"{piece}"' for piece in pieces) + ";\r\n"


def _list(keyword: str, texts: Iterable[str]) -> str:
    """A keyword with a list of texts, on as many lines as they need."""
    lines, line = [], keyword + "="
    for n, text in enumerate(texts):
        item = f'"{_text(text)}"'
        if n and len(line) + len(item) + 1 > WIDTH:
            lines.append(line + ",")
            line = item
        else:
            line += ("," if n else "") + item
    return "\r\n".join([*lines, line]) + ";\r\n"
