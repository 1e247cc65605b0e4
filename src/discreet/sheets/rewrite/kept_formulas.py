"""Formulas that may stay: sums, differences, products and quotients of cells of the same sheet that are all shown.

Whatever else a formula can say (texts, names, other sheets, constants) is not in this grammar, so it cannot survive.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from discreet.sheets.sheet_grid import column_letters, column_number

_TOKEN = re.compile(r"\s*(?:(SUM|ROUND)(?=\()|(\$?[A-Z]{1,3}\$?[1-9]\d{0,6})|(\d+)|([-+*/(),:]))", re.IGNORECASE)
_CELL = re.compile(r"(\$?)([A-Z]{1,3})(\$?)([1-9]\d{0,6})", re.IGNORECASE)
CONSTANTS = ("1", "100", "1000")
MOST_TOKENS = 200
MOST_CELLS = 20_000
Numbers = Mapping[tuple[int, int], float]


def kept_formula(formula: str, value: float, numbers: Numbers) -> str | None:
    """The formula as it may be written, if all it uses is in ``numbers`` and it comes to ``value``; else None.

    >>> kept_formula("SUM(A1:A2)", 7, {(1, 1): 3, (2, 1): 4}), kept_formula("A1+1234567", 1234570, {(1, 1): 3})
    ('SUM(A1:A2)', None)
    """
    tokens = _tokens(formula)
    if tokens is None:
        return None
    try:
        result = _Reader(tokens, numbers).whole()
    except (_NotKeptError, ZeroDivisionError):
        return None
    close = abs(result - value) <= 1e-12 * max(abs(value), 1)
    return "".join(tokens) if close else None


def moved_formula(formula: str, rows: int, columns: int) -> str | None:
    """A shared formula as it reads in another cell; None if it is not of our grammar or leaves the sheet.

    >>> moved_formula("SUM(A1:A$2)", 1, 2)
    'SUM(C2:C$2)'
    """
    tokens = _tokens(formula)
    moved = []
    for token in tokens or ():
        match = _CELL.fullmatch(token)
        if match is None:
            moved.append(token)
            continue
        column = column_number(match[2]) + (0 if match[1] else columns)
        row = int(match[4]) + (0 if match[3] else rows)
        if row < 1 or column < 1:
            return None
        moved.append(f"{match[1]}{column_letters(column)}{match[3]}{row}")
    return "".join(moved) or None


class _NotKeptError(Exception):
    """Something that is not in the grammar, or a cell that is not shown."""


def _tokens(formula: str) -> list[str] | None:
    tokens: list[str] = []
    at = 0
    formula = formula.strip().removeprefix("=").rstrip()
    while at < len(formula):
        match = _TOKEN.match(formula, at)
        if match is None or len(tokens) >= MOST_TOKENS:
            return None
        tokens.append(match[match.lastindex or 0].upper())
        at = match.end()
    return tokens or None


class _Reader:
    """Reads an expression from left to right and works it out."""

    def __init__(self, tokens: list[str], numbers: Numbers) -> None:
        self._tokens, self._numbers, self._at = tokens, numbers, 0

    def whole(self) -> float:
        value = self._sum()
        if self._at != len(self._tokens):
            raise _NotKeptError
        return value

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, expected: str) -> None:
        if self._next() != expected:
            raise _NotKeptError
        self._at += 1

    def _sum(self) -> float:
        value = self._product()
        while (sign := self._next()) in ("+", "-"):
            self._at += 1
            term = self._product()
            value = value + term if sign == "+" else value - term
        return value

    def _product(self) -> float:
        value = self._factor()
        while (sign := self._next()) in ("*", "/"):
            self._at += 1
            factor = self._factor()
            value = value * factor if sign == "*" else value / factor
        return value

    def _factor(self) -> float:
        token = self._next()
        self._at += 1
        if token == "-":
            return -self._factor()
        if token == "(":
            value = self._sum()
            self._take(")")
            return value
        if token in CONSTANTS:
            return float(token)
        if token == "SUM":
            return self._all_of()
        if token == "ROUND":
            return self._rounded()
        return self._cell(token)

    def _cell(self, token: str) -> float:
        value = self._numbers.get(_place(token))
        if value is None:
            raise _NotKeptError
        return value

    def _all_of(self) -> float:
        self._take("(")
        total = self._area()
        while self._next() == ",":
            self._at += 1
            total += self._area()
        self._take(")")
        return total

    def _area(self) -> float:
        if self._at + 1 >= len(self._tokens) or self._tokens[self._at + 1] != ":":
            return self._sum()
        first, last = self._next(), self._tokens[self._at + 2] if self._at + 2 < len(self._tokens) else ""
        self._at += 3
        (row, column), (end_row, end_column) = _place(first), _place(last)
        if not 0 < (end_row - row + 1) * (end_column - column + 1) <= MOST_CELLS or end_row < row:
            raise _NotKeptError
        values = [self._numbers.get((r, c)) for r in range(row, end_row + 1) for c in range(column, end_column + 1)]
        if any(value is None for value in values):
            raise _NotKeptError
        return float(sum(value for value in values if value is not None))

    def _rounded(self) -> float:
        self._take("(")
        value = self._sum()
        self._take(",")
        digits = self._next()
        if digits not in ("0", "1", "2", "3", "4"):
            raise _NotKeptError
        self._at += 1
        self._take(")")
        return round(value, int(digits))


def _place(token: str) -> tuple[int, int]:
    match = _CELL.fullmatch(token)
    if match is None:
        raise _NotKeptError
    return int(match[4]), column_number(match[2])
