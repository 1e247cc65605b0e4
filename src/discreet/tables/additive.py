"""Statistics that add up over cells, in whole numbers so that a sum is the same bits every time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, many

MOST_DECIMALS = 9
LOOSE_DECIMALS = 6  # of numbers that are decimal at no precision, such as sums of weights


@dataclass(frozen=True, eq=False)
class Additive:
    """A statistic of inner and published cells, as whole numbers of 10**-decimals."""

    inner: Array
    cells: Array
    decimals: int = 0

    @property
    def values(self) -> Array:
        """Per published cell: integers when there are no decimals, else the nearest floats."""
        return self.cells if not self.decimals else self.cells / 10**self.decimals

    @property
    def inner_values(self) -> Array:
        """The same per inner cell."""
        return self.inner if not self.decimals else self.inner / 10**self.decimals

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Additive):
            return NotImplemented
        same = self.decimals == other.decimals and np.array_equal(self.inner, other.inner)
        return same and np.array_equal(self.cells, other.cells)

    __hash__ = None  # type: ignore[assignment]


def counts(values: Any, what: str = "counts") -> Array:
    """Counts as int64, or an error that says how many entries are none (never which values).

    >>> counts([1.0, 2.0]).tolist()
    [1, 2]
    """
    array = whole_numbers(values, what)
    if bad := int((array < 0).sum()):
        raise InputError(f"{what}: {many(bad, 'entry is', 'entries are')} negative; a count cannot be")
    return array


def whole_numbers(values: Any, what: str) -> Array:
    """Whole numbers as int64."""
    array = _numbers(values, what)
    if array.dtype.kind == "f":
        if bad := int((array != np.rint(array)).sum()):
            raise InputError(
                f"{what}: {many(bad, 'entry is', 'entries are')} not whole numbers; weighted or other sums are a "
                "magnitude (value=...)"
            )
        if bad := int((np.abs(array) >= 2**53).sum()):
            raise InputError(
                f"{what}: {many(bad, 'entry is', 'entries are')} too large to be exact as floats; give integers"
            )
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise InputError(f"{what}: an entry is too large")
    return array.astype(np.int64)


def summable(units: Array, decimals: int, what: str) -> Array:
    """The same units, if no sum of some of them can leave what is held exactly: whole numbers up to 2**53.

    With decimals a published value is the nearest float anyway, so that only 64 bits are the limit.

    >>> summable(np.array([2**52, 1]), 0, "x").tolist()
    [4503599627370496, 1]
    """
    limit = 2**62 if decimals else 2**53
    if units.size and float(np.abs(units.astype(float)).sum()) >= limit:
        raise InputError(f"{what}: the sum is too large to be exact; give the numbers in a larger unit")
    return units


def fixed(values: Any, decimals: int | None, what: str) -> tuple[Array, int, bool]:
    """Numbers in units of 10**-decimals, the decimals, and whether the numbers are decimal at that precision.

    Without stated decimals the fewest are taken that give every number back but for binary rounding.

    >>> fixed([0.1, 0.30000000000000004], None, "x")
    (array([1, 3]), 1, True)
    """
    array = _numbers(values, what)
    if array.dtype.kind in "iu" and not decimals:
        return whole_numbers(array, what), 0, True
    if array.dtype.kind in "iu" and decimals and array.size and int(np.abs(array.astype(float)).max()) >= 2**53:
        raise InputError(f"{what}: an entry is too large for {decimals} decimals; state fewer (decimals=...)")
    array = array.astype(float)
    if decimals is not None and not 0 <= decimals <= MOST_DECIMALS:
        raise InputError(f"{what}: decimals can be 0 to {MOST_DECIMALS}, not {decimals}")
    exact = True
    if decimals is None:
        decimals = next((d for d in range(MOST_DECIMALS + 1) if _is_decimal(array, d)), None)
        exact = decimals is not None
        decimals = LOOSE_DECIMALS if decimals is None else decimals
    scaled = array * 10.0**decimals
    if scaled.size and np.abs(scaled).max() >= 2**62:
        raise InputError(
            f"{what}: an entry is too large to be held with {decimals} decimals; state fewer (decimals=...)"
        )
    return np.rint(scaled).astype(np.int64), decimals, exact


def _is_decimal(array: Array, decimals: int) -> bool:
    scaled = array * 10.0**decimals
    return bool((np.abs(scaled - np.rint(scaled)) <= 1e-7 + 1e-13 * np.abs(scaled)).all())


def _numbers(values: Any, what: str) -> Array:
    array = np.asarray(values)
    if array.dtype == object:
        try:
            array = array.astype(float)
        except (TypeError, ValueError):
            raise InputError(f"{what}: some entries are not numbers") from None
    if array.dtype.kind == "b" or array.dtype.kind not in "iuf":
        raise InputError(f"{what} must be numbers; given: {array.dtype}")
    if array.dtype.kind == "f" and (bad := int((~np.isfinite(array)).sum())):
        raise InputError(f"{what}: {many(bad, 'entry is', 'entries are')} missing, NaN or infinite")
    return array
