"""What protection costs: how far a protected table is from the true one.

[Ant16]_ section 3.8 and [JOS15]_ section 4.3 measure it by the Hellinger distance; users also ask for deviations of
cells, of association and of ranks. All of it is a function of the true counts and as confidential as they are.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.information import (
    Array,
    Axis,
    FloatOrArray,
    Floats,
    hellinger,
    hellinger_of_rows,
    kl,
    read_values,
    same_shape,
    shaped,
    tables,
)

if TYPE_CHECKING:
    import pandas as pd

_LABELS = {
    "utility": "1 - HD / sqrt(N)",
    "hellinger": "Hellinger distance of the counts",
    "hellinger_share": "Hellinger distance of the distributions",
    "kl": "relative entropy D(before || after)",
    "kl_reverse": "relative entropy D(after || before)",
    "mean_absolute": "mean absolute deviation of a cell",
    "max_absolute": "largest absolute deviation of a cell",
    "mean_relative": "mean relative deviation of the cells that were not 0",
    "max_relative": "largest relative deviation of the cells that were not 0",
    "changed": "share of cells changed",
    "total_change": "change of the total, relative",
    "cramers_v_change": "change of Cramér's V (of the pair of variables where it is largest)",
    "rank_correlation": "Spearman's correlation of the cells",
}


@dataclass(frozen=True)
class Utility:
    """How far ``after`` is from ``before``; NaN where a measure has no value. Confidential.

    >>> changes = compare([0, 2, 4], [0, 3, 3])
    >>> changes.max_absolute, round(changes.changed, 3)
    (1.0, 0.667)
    """

    utility: float
    hellinger: float
    hellinger_share: float
    kl: float
    kl_reverse: float
    mean_absolute: float
    max_absolute: float
    mean_relative: float
    max_relative: float
    changed: float
    total_change: float
    cramers_v_change: float
    rank_correlation: float

    def summary(self) -> pd.DataFrame:
        """One row a measure: its value and what it means.

        >>> compare([0, 2, 4], [0, 3, 3]).summary()["value"].round(3).iloc[:3].to_dict()
        {'utility': 0.88, 'hellinger': 0.294, 'hellinger_share': 0.12}
        """
        import pandas as pd  # slow to import: only when a frame is asked for

        rows = [(name, value, _LABELS[name]) for name, value in self.to_dict().items()]
        return pd.DataFrame(rows, columns=["measure", "value", "meaning"]).set_index("measure")

    def to_dict(self) -> dict[str, float]:
        """Plain numbers by name.

        >>> list(compare([0, 2, 4], [0, 3, 3]).to_dict())[:4]
        ['utility', 'hellinger', 'hellinger_share', 'kl']
        """
        return asdict(self)


@checked
def compare(before: Any, after: Any) -> Utility:
    """All measures of what separates a protected table from the true one, cell by cell.

    Both of one shape, one axis a variable. KL is infinite where one side is 0 and the other is not. NaN: KL and the
    distance of the distributions if ``after`` sums to 0, Cramér's V for one variable, ranks if all cells are equal.

    >>> compare([0, 2, 4], [0, 3, 3]).summary().value.round(4).head(3).to_dict()
    {'utility': 0.88, 'hellinger': 0.294, 'hellinger_share': 0.12}
    """
    f, g = _pair(before, after)
    n, m = float(f.sum()), float(g.sum())
    gap = np.abs(g - f)
    relative = gap[f > 0] / f[f > 0]
    distance = float(hellinger(f, g, counts=True))
    return Utility(
        utility=1.0 - distance / math.sqrt(n),
        hellinger=distance,
        hellinger_share=float(hellinger(f, g)) if m > 0 else math.nan,
        kl=float(kl(f, g)) if m > 0 else math.nan,
        kl_reverse=float(kl(g, f)) if m > 0 else math.nan,
        mean_absolute=float(gap.mean()),
        max_absolute=float(gap.max()),
        mean_relative=float(relative.mean()),
        max_relative=float(relative.max()),
        changed=float((gap > 0).mean()),
        total_change=m / n - 1.0,
        cramers_v_change=cramers_v_change(f, g),
        rank_correlation=rank_correlation(f, g),
    )


@checked
def hellinger_utility(before: Any, after: Any, *, axis: Axis = None) -> FloatOrArray:
    r"""Utility :math:`1 - HD(F, G)/\sqrt N` of [JOS15]_ section 4.3, with the Hellinger distance (4) of the counts.

    1 for an unchanged table; never below 0 unless the total grew.

    >>> round(hellinger_utility([0, 2, 4], [0, 3, 3]), 4)
    0.88
    """
    f, g = _pair(before, after)
    rows, batch = tables(f, axis)
    n = rows.sum(axis=1)
    if np.any(n <= 0):
        raise InputError("a table before protection sums to 0, so it has no utility: drop empty tables first")
    return shaped(1.0 - hellinger_of_rows(rows, tables(g, axis)[0]) / np.sqrt(n), batch)


@checked
def cramers_v(table: Any) -> float:
    r"""Association of the two variables of a matrix, :math:`\sqrt{\chi^2 / (N (\min(r, c) - 1))}`.

    NaN if a variable is constant; empty rows and columns count for nothing.

    >>> cramers_v([[3, 0], [0, 3]])
    1.0
    """
    x = read_values(table)
    if x.ndim != 2:
        raise InputError(f"Cramér's V needs a matrix, not {x.ndim} dimensions: sum the others out first")
    x = x[x.sum(axis=1) > 0][:, x.sum(axis=0) > 0]
    if min(x.shape) < 2:
        return math.nan
    n = x.sum()
    expected = np.outer(x.sum(axis=1), x.sum(axis=0)) / n
    return float(np.sqrt(((x - expected) ** 2 / expected).sum() / (n * (min(x.shape) - 1))))


@checked
def cramers_v_change(before: Any, after: Any) -> float:
    """Cramér's V after minus before; of more than two variables, the pair whose V changes most.

    >>> round(cramers_v_change([[3, 0], [0, 3]], [[3, 3], [0, 3]]), 4)
    -0.5
    """
    f, g = _pair(before, after)
    changes = []
    for kept in itertools.combinations(range(f.ndim), 2):
        out = tuple(a for a in range(f.ndim) if a not in kept)
        changes.append(cramers_v(g.sum(axis=out)) - cramers_v(f.sum(axis=out)))
    known = [c for c in changes if not math.isnan(c)]
    return max(known, key=abs) if known else math.nan


@checked
def rank_correlation(before: Any, after: Any) -> float:
    """Spearman's correlation of the cells, ties at their mean rank; NaN if either side is constant.

    >>> rank_correlation([1, 2, 3], [10, 20, 30])
    1.0
    """
    f, g = _pair(before, after)
    a, b = _ranks(f), _ranks(g)
    a, b = a - a.mean(), b - b.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return float(np.clip(a @ b / scale, -1.0, 1.0)) if scale > 0 else math.nan


def _ranks(x: Floats) -> Floats:
    _, inverse, number = np.unique(x.ravel(), return_inverse=True, return_counts=True)
    last = np.cumsum(number)
    out: Floats = (last - (number - 1) / 2.0)[inverse]
    return out


@dataclass(frozen=True, eq=False)
class AdditivityGap:
    """Published cell minus the sum of the published inner cells it stands for, and how bad that is.

    >>> additivity_gap([[1, 0, 1], [0, 1, 1]], [3, 3], [3, 3, 9]).gaps.tolist()
    [0.0, 0.0, 3.0]
    """

    gaps: Floats
    mean: float
    largest: float
    share: float


@checked
def additivity_gap(matrix: Any, inner_values: Any, cell_values: Any) -> AdditivityGap:
    """How far published cells are from the sums of the published inner cells.

    ``matrix`` is 0/1, inner x cells, dense or sparse (scipy). ``mean`` and ``largest`` are of the absolute gaps,
    ``share`` is the share of cells that do not add up.

    >>> additivity_gap([[1, 0, 1], [0, 1, 1]], [3, 3], [3, 3, 9]).largest
    3.0
    """
    inner, cells = read_values(inner_values, "inner_values").ravel(), read_values(cell_values, "cell_values").ravel()
    m: Any = matrix if hasattr(matrix, "tocsr") else np.asarray(matrix)
    if m.shape != (inner.size, cells.size):
        raise InputError(f"the matrix has shape {m.shape}, not inner x cells {(inner.size, cells.size)}: transpose it?")
    gaps: Floats = cells - np.asarray(m.T @ inner).ravel()
    size: Array = np.abs(gaps)
    off = size > 1e-9 * np.maximum(cells, 1.0)  # sums of decimals are not exact
    return AdditivityGap(gaps, float(size.mean()), float(size.max()), float(off.mean()))


def _pair(before: Any, after: Any) -> tuple[Floats, Floats]:
    f, g = np.atleast_1d(read_values(before, "before")), np.atleast_1d(read_values(after, "after"))
    same_shape(f, g)
    if not f.any():
        raise InputError("before sums to 0, so there is no utility to measure: drop empty tables first")
    return f, g
