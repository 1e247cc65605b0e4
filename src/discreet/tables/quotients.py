"""Percentages beside counts: what a shown quotient says of a number that is not shown.

A percentage p with so many decimals is the quotient of two numbers times 100, to half of its last digit. If one of the
two is known, the other lies in an interval; often one number is left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, listed, many

ROUNDS = 8  # one quotient may narrow what another is of
SLIP = 1e-9


@dataclass(frozen=True)
class Quotient:
    """``value`` is ``scale`` times the number of one row over that of another, to half a unit of its last decimal."""

    numerator: int
    denominator: int
    value: float
    decimals: int
    scale: float = 100.0
    place: str = ""
    """Where it stands, for messages."""

    @property
    def ends(self) -> tuple[float, float]:
        """The least and greatest quotient that is shown so; a share of something is never negative."""
        half = 0.5 * 10.0**-self.decimals
        low = max(self.value - half, 0.0) if self.value >= 0 else self.value - half
        return low / self.scale, (self.value + half) / self.scale


def narrowed_by_quotients(
    lower: Array,
    upper: Array,
    hidden: Array,
    quotients: Sequence[Quotient],
    what: str,
    room: tuple[float, float] = (0.0, 0.0),
) -> tuple[Array, Array]:
    """Bounds of rows in whole units, those of hidden ones narrowed by the quotients that they stand in.

    ``room``: how far shown numbers were rounded down and up; a quotient may be of true or of rounded numbers then, and
    its numbers are as far off again. Numbers are not negative, and a denominator is one unit at least.

    >>> one = Quotient(1, 0, 33.3, 1)
    >>> lower, upper = np.array([9.0, -np.inf]), np.array([9.0, np.inf])
    >>> low, high = narrowed_by_quotients(lower, upper, np.array([False, True]), [one], "count")
    >>> low.tolist(), high.tolist()
    ([9.0, 3.0], [9.0, 3.0])
    """
    lower, upper = lower.copy(), upper.copy()
    below, above = room
    rows = sorted({row for one in quotients for row in (one.numerator, one.denominator) if hidden[row]})
    lower[rows] = np.maximum(lower[rows], 0.0)
    for _ in range(ROUNDS):
        before = lower.copy(), upper.copy()
        for one in quotients:
            low, high = one.ends
            a, b = one.numerator, one.denominator
            if hidden[a]:
                lower[a] = max(lower[a], _up(low * lower[b]) - below)
                upper[a] = min(upper[a], _down(high * upper[b]) + above)
            if hidden[b]:
                lower[b] = max(lower[b], 1.0 - below, _up(lower[a] / high) - below if high else 0.0)
                upper[b] = min(upper[b], _down(upper[a] / low) + above if low else math.inf)
        if all(np.array_equal(old, new) for old, new in zip(before, (lower, upper), strict=True)):
            break
    wrong = {one.place for one in quotients for row in (one.numerator, one.denominator) if lower[row] > upper[row]}
    if wrong:
        raise InputError(
            f"{what}: the percentages at {listed(sorted(wrong), 4)} do not fit the numbers that they are of; check "
            "what they are a share of, or leave their column aside (--leave)"
        )
    return lower, upper


def open_quotients(quotients: Sequence[Quotient], hidden: Array) -> tuple[str, ...]:
    """What is said of quotients of which both numbers are hidden: only their intervals are used."""
    both = sum(bool(hidden[one.numerator] and hidden[one.denominator]) for one in quotients)
    words = (
        f"{many(both, 'percentage is', 'percentages are')} shown while both their number and what it is a share of are "
        "hidden; only the intervals of both were used, so that more may be known than this audit sees"
    )
    return (words,) if both else ()


def kept_quotients(quotients: Sequence[Quotient], rows: Array) -> tuple[Quotient, ...]:
    """The quotients of rows that are kept (a mask), with their new numbers."""
    new = np.cumsum(rows) - 1
    return tuple(
        replace(one, numerator=int(new[one.numerator]), denominator=int(new[one.denominator]))
        for one in quotients
        if rows[one.numerator] and rows[one.denominator]
    )


def _up(number: float) -> float:
    return math.ceil(number - SLIP) if math.isfinite(number) else number


def _down(number: float) -> float:
    return math.floor(number + SLIP) if math.isfinite(number) else number
