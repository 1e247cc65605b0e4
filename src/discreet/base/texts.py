"""Text as offices keep it: codes, files of unknown encoding, rows of CSV, names of columns."""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any

from discreet.errors import InputError, listed


def code_text(value: object) -> str:
    """A code as text: whole numbers without a decimal point, truth values in lower case.

    >>> code_text(3.0), code_text("03"), code_text(True)
    ('3', '03', 'true')
    """
    if isinstance(value, str):
        text = value
    elif value is None or type(value).__name__ in {"NAType", "NaTType"} or (_number(value) and value != value):
        raise InputError("a code is missing (None or NaN); give missing values a category of their own")
    elif type(value).__name__ in {"bool", "bool_"}:
        text = str(value).lower()
    elif _number(value) and math.isfinite(value) and value == int(value):  # type: ignore[arg-type,call-overload]
        text = str(int(value))  # type: ignore[call-overload]
    else:
        text = str(value)
    if not text:
        raise InputError("a code is empty text; give missing values a category of their own")
    return text


def _number(value: object) -> bool:
    return isinstance(value, (Real, Decimal))


def natural(code: str) -> tuple[Any, ...]:
    """Sort key that puts '9' before '10' and 'A9' before 'A10'."""
    return tuple((0, int(p), p) if p.isdecimal() else (1, 0, p) for p in re.split(r"(\d+)", code) if p)


def read_text(path: Path, encoding: str | None = None) -> str:
    """A text file as offices keep them: UTF-8 or UTF-16 by its mark, UTF-8, else Windows-1252; or as it is said."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path.name!r}: {error.strerror}") from None
    if encoding is not None:
        try:
            return data.decode(encoding).lstrip("\ufeff")
        except LookupError:
            raise InputError(
                f"encoding={encoding!r} is not known; for example 'utf-8', 'cp1250', 'shift_jis'"
            ) from None
        except UnicodeDecodeError:
            raise InputError(f"{path.name!r} is not written in {encoding!r}; name its encoding, or none") from None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    if b"\0" in data:
        every_other = data[:200].count(b"\0") * 3 > len(data[:200])
        cure = ", or UTF-16 without a mark; save it as UTF-8" if every_other else ""
        raise InputError(f"{path.name!r} is not a text file{cure}")
    data = data.replace(b"\r\r\n", b"\r\n")  # line ends that were turned to Windows' twice, as in tau-ARGUS's own files
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


@contextmanager
def as_csv(name: str) -> Iterator[None]:
    """What is not CSV is said to be none."""
    try:
        yield
    except csv.Error:
        raise InputError(f"{name} is not a CSV file: a field is too long, or a quotation mark is left open") from None


def csv_rows(text: str, delimiter: str, name: str) -> list[list[str]]:
    """The rows of a CSV text, however its lines end."""
    with as_csv(name):
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def numbered_rows(text: str, delimiter: str, name: str) -> tuple[list[int], list[list[str]]]:
    """The rows of a CSV text that are not blank, and the line in which each begins.

    >>> numbered_rows("a,b\\n\\n1,2\\n", ",", "x")
    ([1, 3], [['a', 'b'], ['1', '2']])
    """
    lines, rows = [], []
    with as_csv(name):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        before = 0
        for row in reader:
            if row:
                lines.append(before + 1)
                rows.append(row)
            before = reader.line_num
    return lines, rows


def column_names(frame: Any) -> list[str]:
    """The columns of a pandas, polars or Arrow table or a dict of lists, each name once."""
    if hasattr(frame, "collect_schema"):  # polars, lazy or not
        return list(frame.collect_schema().names())
    for face in ("column_names", "columns"):  # an Arrow table has both: names and the columns themselves
        if (names := getattr(frame, face, None)) is not None:
            return _once([str(n) for n in names])
    return _once([str(n) for n in frame])


def _once(names: list[str]) -> list[str]:
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise InputError(f"more than one column is called {listed(repeated)}; rename them")
    return names
