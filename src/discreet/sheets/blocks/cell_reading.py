"""What stands in a cell of a sheet, before it is known whether it is a label or a number of the table."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from discreet.base.number_texts import MOST_DECIMALS, parse_number
from discreet.errors import InputError
from discreet.sheets.sheet_grid import SheetCell, cell_text
from discreet.sheets.sheet_options import SheetOptions
from discreet.tables.reading.number_cells import NumberSigns, number_cells
from discreet.tables.reading.number_marks import KNOWN_MARKS

BLANK, NUMERIC, MARKED, RANGED, WORDS = "blank", "number", "mark", "range", "text"
DASHES = ("-", "\u2013", "\u2014", "--", "\u2212")
YEARS = (1800, 2150)
MOST_WHOLE = 10**15
"""Whole numbers below this are floats without a change."""
_SIGNS = r"[\d.,' \u00a0\u202f\u2019_]"
_NUMBER = rf"[+\-\u2212]?{_SIGNS}*\d[\d.,]*(?:[eE][+-]?\d+)?"
_PLAIN = re.compile(_NUMBER)
_NEGATIVE = re.compile(r"\((\d[\d.,]*)\)")
_PERCENT = re.compile(rf"({_NUMBER})\s*%")
_WITH_SHARE = re.compile(
    rf"({_NUMBER}|[^\d\s(\[]{{1,3}}|[<\u2264]\s*\d+)\s*[(\[]\s*([<\u2264]?\s*{_NUMBER}|[^\d\s)\]]{{1,3}})\s*(%?)\s*[)\]]"
)
_BEHIND_SHARE = re.compile(rf"({_NUMBER}\s?%)\s*[(\[]\s*({_NUMBER})\s*[)\]]")
_FLAGGED = re.compile(
    rf"({_NUMBER})\s*(?:\[[A-Za-z0-9]{{1,4}}\]|\((?:[A-Za-z]{{1,2}}|[ivx]{{1,5}}|[IVX]{{1,5}})\)|[*\u2020\u2021\u00a7#]+|[\u00b9\u00b2\u00b3\u2070-\u2079]+"
    r"|(?<=\d)\s?[prebudfnzs])"
)
_RANGE = re.compile(rf"(?:<=?|\u2264|>=?|\u2265)\s*\d{_SIGNS}*|\d[\d.,]*\s*(?:-|\u2013|\u2014|\.\.|to)\s*\d[\d.,]*")
_LITERALS = re.compile(r'"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]')
_PLACES = re.compile(r"[0#?]\.([0#? ]*)|^\.([0#?]+)")
_SHORTHAND = re.compile(r":\s?[a-z]{1,3}|\[[A-Za-z]{1,4}\]|\([A-Za-z]\)|[*\u2020\u2021#~]{1,3}")


class ReadCell(NamedTuple):
    """A cell with its kind; ``number`` is what a number-like text or value says, ``share`` a percentage in brackets."""

    kind: str
    text: str = ""
    digits: str = ""
    """The text of a number that is still to be read, with its signs; "" where ``number`` is known."""
    number: float | None = None
    percent: bool = False
    share: str | None = None
    """The share that stands with the number, one of them in brackets, as text."""
    flagged: bool = False
    dash: bool = False
    unavailable: bool = False
    """A mark for a number that nobody has, so that nobody hides it."""
    base: int | None = None
    """Of how many the number is, where the same cell says so."""
    decimals: int = 0
    """How many decimals its number format shows, in the unit of ``number``; 0 of a text, whose digits say it."""

    @property
    def is_year(self) -> bool:
        """Whether it may be the number of a year."""
        number = self.number if self.number is not None else _whole(self.digits)
        return number is not None and number == int(number) and YEARS[0] <= number <= YEARS[1] and not self.share

    @property
    def is_value(self) -> bool:
        """Whether it may stand in the body of a table."""
        return self.kind in (NUMERIC, MARKED, RANGED)


def _whole(digits: str) -> float | None:
    return float(digits) if digits.isdecimal() and len(digits) < 16 else None


def read_cell(cell: SheetCell | None, options: SheetOptions) -> ReadCell:
    """A cell as it may be meant."""
    if cell is None or cell.value is None:
        return ReadCell(BLANK)
    value = cell.value
    if type(value) is int and -MOST_WHOLE < value < MOST_WHOLE:  # most of all cells
        code = cell.number_format
        plain = code == "General"
        decimals = 0 if plain else format_decimals(code)
        return ReadCell(NUMERIC, str(value), "", float(value), not plain and "%" in code, decimals=decimals)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value):
            return ReadCell(WORDS, str(value))
        code = cell.number_format
        decimals = format_decimals(code)
        return ReadCell(NUMERIC, cell_text(cell), number=float(value), percent="%" in code, decimals=decimals)
    if isinstance(value, (dt.date, dt.time, bool)):
        return ReadCell(WORDS, cell_text(cell))
    return _read_text(cell_text(cell), options)


def _read_text(text: str, options: SheetOptions) -> ReadCell:
    plain = text.casefold()
    if text in options.zero:
        return ReadCell(NUMERIC, text, number=0.0)
    if text in options.suppressed:
        return ReadCell(MARKED, text)
    if text in options.unavailable:
        return ReadCell(MARKED, text, unavailable=True)
    if text.isdecimal() and text.isascii():  # most of all cells
        return ReadCell(NUMERIC, text, text)
    for flag in options.flag:
        if text.endswith(flag) and _PLAIN.fullmatch(number := text.removesuffix(flag).strip()):
            return ReadCell(NUMERIC, text, digits=_signed(number), flagged=True)
    if text in DASHES:
        return ReadCell(MARKED, text, dash=True)
    if plain in KNOWN_MARKS or _SHORTHAND.fullmatch(text):
        return ReadCell(MARKED, text)
    if _PLAIN.fullmatch(text):
        return ReadCell(NUMERIC, text, digits=_signed(text))
    if match := _NEGATIVE.fullmatch(text):
        return ReadCell(NUMERIC, text, digits=f"-{_signed(match[1])}")
    if match := _PERCENT.fullmatch(text):
        return ReadCell(NUMERIC, text, digits=_signed(match[1]), percent=True)
    if _RANGE.fullmatch(text):
        return ReadCell(RANGED, text)
    if (match := _WITH_SHARE.fullmatch(text)) and not (match[2].isalpha() and _PLAIN.fullmatch(match[1].strip())):
        first = _read_text(match[1].strip(), options)
        return first._replace(text=text, share=match[2] + match[3]) if first.is_value else ReadCell(WORDS, text)
    if match := _BEHIND_SHARE.fullmatch(text):
        return ReadCell(NUMERIC, text, digits=_signed(match[2]), share=match[1])
    if match := _FLAGGED.fullmatch(text):
        return ReadCell(NUMERIC, text, digits=_signed(match[1]), flagged=True)
    return ReadCell(WORDS, text)


def _signed(text: str) -> str:
    return text.strip().replace("\u2212", "-")


def numbers_of(cells: Sequence[ReadCell], what: str, options: SheetOptions) -> tuple[list[float | None], int]:
    """The numbers of cells of a body, texts read with one idea of decimals for all of them, and the most decimals."""
    texts = [cell.digits for cell in cells if cell.kind == NUMERIC and cell.number is None]
    decimals = 0
    read: list[float] = []
    if texts:
        parsed, decimals = parse_number(texts, what, decimal=options.decimal, thousands=options.thousands)
        read = [float(number) for number in parsed]
    rest = iter(read)
    numbers: list[float | None] = []
    for cell in cells:
        if cell.kind != NUMERIC:
            numbers.append(None)
        elif cell.number is not None:
            numbers.append(cell.number)
            decimals = max(decimals, decimals_of(cell.number))
        else:
            numbers.append(next(rest))
    if decimals:  # whole numbers stay counts, however many zeros a format puts behind them
        decimals = max(decimals, *(cell.decimals for cell in cells))
    return numbers, decimals


def shown_decimals(cells: Iterable[ReadCell]) -> int:
    """To how many decimals the numbers of a column or row are stated: the most that one of them shows or holds.

    A zero behind the point is stated as any other digit is: 30.0 is between 29.95 and 30.05.

    >>> shown_decimals([ReadCell(NUMERIC, "30.0", "30.0"), ReadCell(NUMERIC, "25", number=25.0)])
    1
    """
    most = 0
    for cell in cells:
        if cell.kind == NUMERIC:
            own = cell.decimals if cell.number is None else max(cell.decimals, decimals_of(cell.number))
            most = max(most, own, text_decimals(cell.digits))
    return min(most, MOST_DECIMALS)


def text_decimals(digits: str) -> int:
    """How many digits stand behind the last point or comma of a number that is written as text.

    >>> text_decimals("30.0"), text_decimals("4,25"), text_decimals("12"), text_decimals("1.50e-2")
    (1, 2, 0, 4)
    """
    body, _, power = digits.lower().partition("e")
    behind = re.search(r"[.,](\d*)\s*\Z", body)
    return max(0, (len(behind[1]) if behind else 0) - (int(power) if power else 0))


@lru_cache(4096)
def format_decimals(code: str) -> int:
    """How many decimals of the stored number a number format shows; two more where it shows percent.

    >>> [format_decimals(code) for code in ("0.00", "0.0%", '#,##0.0" (1.234)";[Red]-0', "@")]
    [2, 3, 1, 0]
    """
    if code in ("General", "@"):
        return 0
    most = 0
    for section in _LITERALS.sub("", code).split(";"):
        match = _PLACES.search(section)
        digits = len((match[1] or match[2] or "").replace(" ", "")) if match else 0
        most = max(most, digits + 2 * section.count("%"))
    return min(most, MOST_DECIMALS)


def decimals_of(number: float) -> int:
    """How many decimals a number has, at most nine.

    >>> decimals_of(12.25), decimals_of(3.0), decimals_of(0.1 + 0.2)
    (2, 0, 1)
    """
    if number.is_integer():
        return 0
    for decimals in range(9):
        if abs(number - round(number, decimals)) <= 1e-9 * max(1.0, abs(number)):
            return decimals
    return 9


def range_ends(text: str, decimals: int, what: str) -> tuple[float, float]:
    """The least and greatest number that a range stands for, as published tables are read.

    >>> range_ends("<5", 0, "count"), range_ends("1-4", 0, "count")
    ((1.0, 4.0), (1.0, 4.0))
    """
    found = number_cells(
        [text, *(["0." + "0" * decimals] if decimals else [])], what, plain=False, signs=NumberSigns(".")
    )
    if found.ranges is None:
        raise InputError(f"{what}: a range cannot be read; write it as <5 or as 1-4")
    return float(found.ranges[0][0]), float(found.ranges[1][0])


def any_kind(cells: Iterable[ReadCell], *kinds: str) -> bool:
    """Whether some cell is of one of these kinds."""
    return any(cell.kind in kinds for cell in cells)
