"""Columns of numbers side by side one of which may be the sum of the others, so that it is no measure of its own."""

from __future__ import annotations

import numpy as np

from discreet.base.annotations import Array
from discreet.tables.reading.raw_table import RawTable
from discreet.tables.total_names import USUAL, like_a_total
from discreet.tables.totals import ASK, sum_evidence


def column_doubts(raw: RawTable, rounding: float = 0.0) -> tuple[str, ...]:
    """Which measure may be the sum of the others, in words: each was judged by itself, so that this was not used.

    ``rounding``: how far each number may have been rounded. A measure that is called a total is in doubt unless a row
    has more in the others, as its other parts may be taken for codes; one with another name if it adds up the others
    beyond chance.
    """
    names = list(raw.values)
    if len(names) < 3:
        return ()
    values = np.array([np.asarray(raw.values[name], float) for name in names])
    shown = ~np.isnan(values)
    plain = np.where(shown, values, 0.0)
    loose = max(rounding, 0.5 * 10.0 ** -min(raw.decimals.values()) if any(raw.decimals.values()) else 0.0)
    weighed = sum_evidence(plain, shown, absent_is_zero=False, allowed=loose * len(names))
    doubts = []
    for name, evidence in zip(names, weighed, strict=True):
        called = like_a_total(name) == USUAL and not _exceeded(plain, shown, names.index(name), loose * len(names))
        if called or (not evidence.denied and evidence.bits >= ASK):
            doubts.append(
                f"the column {name!r} may be the sum of the other columns of numbers, and each was judged by itself, "
                "so that more may be known than this audit sees: leave out --measures, which reads them as one table"
            )
    return tuple(doubts)


def _exceeded(values: Array, shown: Array, whole: int, allowed: float) -> bool:
    """Whether the other numbers of some row add up to more than one of them, which is then not their sum."""
    rest = values.sum(axis=0) - values[whole]
    return bool((shown[whole] & (rest > values[whole] + allowed)).any())
