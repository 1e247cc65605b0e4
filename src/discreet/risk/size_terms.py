"""The third term of R1 and R2: how much the size of the table alone adds to the risk ([Ant16]_ section 3.5.1, A.1)."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import InputError, nearest
from discreet.information import Array, Axis, FloatOrArray, Floats, read_counts, shaped, tables

SizeTerm: TypeAlias = Literal["h1", "h2", "h3"]
_NAMES = ("h1", "h2", "h3")


@checked
def size_term(counts: Any, size: SizeTerm = "h2", *, epsilon: float = 0.5, axis: Axis = None) -> FloatOrArray:
    r"""One of the three size terms of a table.

    .. math:: h_1 = N^{-\varepsilon}, \quad h_2 = N^{-\varepsilon} (1 + \varepsilon \log N), \quad
              h_3 = \frac{1}{K-|D|} \sum_{F_i>0} F_i^{-\varepsilon} (1 + \varepsilon \log F_i)

    The third term of (3.5.2) of [Ant16]_ is h2 with epsilon 1/2; values in its Appendix A.1.

    >>> [round(size_term([5, 5], h, epsilon=0.3), 4) for h in ("h1", "h2", "h3")]
    [0.5012, 0.8474, 0.915]
    """
    rows, batch = tables(read_counts(counts), axis)
    total = rows.sum(axis=1, dtype=np.float64)
    if np.any(total <= 0):
        raise InputError("a table sums to 0, so it has no size term: drop empty tables first")
    return shaped(size_rows(rows, total, size, epsilon), batch)


def size_rows(rows: Array, total: Floats, size: str, epsilon: float) -> Floats:
    """The size term of each row, NaN for an empty one; ``total`` holds the row sums."""
    if size not in _NAMES:
        raise InputError(f"unknown size term {size!r}: {nearest(size, _NAMES)}")
    if not 0 <= epsilon <= 1:
        raise InputError(f"epsilon={epsilon} is outside 0 to 1, where the size terms are defined")
    if size == "h3":
        step = max(1, (1 << 18) // rows.shape[1])
        return np.concatenate([_h3(rows[i : i + step], epsilon) for i in range(0, len(rows), step)])
    n = np.where(total > 0, total, np.nan)
    term = n**-epsilon
    out: Floats = term if size == "h1" else term * (1.0 + epsilon * np.log(n))
    return out


def _h3(rows: Array, epsilon: float) -> Floats:
    filled = rows > 0
    x = np.where(filled, rows, 1).astype(np.float64)
    cells = filled.sum(axis=1)
    total = np.where(filled, x**-epsilon * (1.0 + epsilon * np.log(x)), 0.0).sum(axis=1)
    out: Floats = np.divide(total, cells, out=np.full(len(rows), np.nan), where=cells > 0)
    return out
