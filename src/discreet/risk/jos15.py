"""The measure of the flexible table server: R1 with its entropy term split into small and large counts.

[JOS15]_ is Shlomo, Antal & Elliot, Journal of Official Statistics 2015, section 5.3 of the thesis [Ant16]_.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.base.arguments import checked, whole
from discreet.errors import InputError
from discreet.information import Array, Axis, Floats, read_counts, same_shape, tables, xlogx
from discreet.risk.frequency import Risk, read_weights, weighted
from discreet.risk.transition import Transition, read_transition

JOS15_WEIGHTS = (0.1, 0.7, 0.1, 0.1)
"""Zeros, entropy of small counts, entropy of large counts, size ([JOS15]_ section 4.1)."""

SMALL = 6
"""The largest count that is small."""


@checked
def jos15_risk(counts: Any, weights: Sequence[float] = JOS15_WEIGHTS, *, small: int = SMALL, axis: Axis = None) -> Risk:
    r"""Risk of a frequency table with ones and twos brought out, before protection.

    .. math:: R = w_1 |A|/K + w_{21} (1 - H_s/\log K_s) + w_{22} (1 - H_l/\log K_l) + w_3 (1 + \tfrac12 \log N)/\sqrt N

    Equation (3) of [JOS15]_ with its split: the cells of 0 to ``small`` units form one sub-table, zeros included, the
    others a second, each with its own number of cells and of units. The paper does not spell that out; this reading
    agrees with its Tables 2 and 5. A sub-table without units or of one cell adds 0.

    >>> jos15_risk([0, 1, 2, 7, 7])
    <R 0.3730: zeros 0.2000 x 0.1, small 0.4206 x 0.7, large 0.0000 x 0.1, size 0.5861 x 0.1>
    """
    w = read_weights(weights, 4)
    whole("small", small, 0)
    rows, batch = tables(read_counts(counts), axis)
    low = rows <= small
    values = rows.astype(np.float64)
    terms = {
        "zeros": (rows == 0).mean(axis=1),
        "small": _concentration(values, low),
        "large": _concentration(values, ~low),
        "size": _size(rows),
    }
    return weighted("R", terms, w, batch)


@checked
def jos15_after(
    before: Any,
    after: Any,
    transition: Any,
    weights: Sequence[float] = JOS15_WEIGHTS,
    *,
    multiplier: float | tuple[float, float] | None = None,
    small: int = SMALL,
    axis: Axis = None,
) -> Risk:
    r"""The same risk after perturbation by a transition matrix, [JOS15]_ section 4.2.

    The zeros term becomes :math:`(|A|/K)^{|A \cup B|/|A \cap B|}`. In the entropy terms every cell that shows j gets
    the expected original total of such cells, spread evenly, :math:`\sum_i i\, n_i p_{ij} / n'_j`; the cells are
    split by what they show. Both terms are then multiplied by the mean diagonal of the matrix: over the rows up to
    ``small`` and over the rows above it, or over all rows where there are none; of a matrix that repeats
    (``Transition.rounding``) over one period, as in the paper, whose multiplier for base 3 is 0.33. ``multiplier``
    overrides it, one number or a (small, large) pair. N is that of the original table.

    ``transition`` may be one probability p: record swapping with stay probability p (the paper's 0.9 for 10 per
    cent swapped) and 1 - p spread evenly over the other values up to the largest. It may also be "observed", for a
    table summed from cells that were perturbed before (no matrix leads from its counts to what it shows): the cells
    that show j then get the mean of what they were, and a multiplier must be given.

    >>> round(jos15_after([0, 1, 2, 7, 7], [0, 0, 3, 6, 9], Transition.rounding(3)).value, 4)
    0.1618
    """
    w = read_weights(weights, 4)
    whole("small", small, 0)
    f_array, g_array = read_counts(before, "before"), read_counts(after, "after")
    same_shape(f_array, g_array)
    (f, batch), (g, _) = tables(f_array, axis), tables(g_array, axis)
    if isinstance(transition, str) and multiplier is None:
        raise InputError("transition='observed' has no diagonal: give multiplier=, the share of counts left alone")
    scalar = isinstance(transition, int | float)
    if scalar and not 0 <= transition <= 1:
        raise InputError(f"transition={transition}: a stay probability lies between 0 and 1")
    original = np.stack([_original(a, b, transition) for a, b in zip(f, g, strict=True)])
    stay_small, stay_large = _stay(transition, multiplier, small)
    zero, shown = f == 0, g == 0
    both, either = (zero & shown).sum(axis=1), (zero | shown).sum(axis=1)
    power = either / np.maximum(both, 1)
    low = g <= small
    terms = {
        "zeros": np.where(both > 0, zero.mean(axis=1) ** power, 0.0),
        "small": stay_small * _concentration(original, low),
        "large": stay_large * _concentration(original, ~low),
        "size": _size(f),
    }
    return weighted("R after", terms, w, batch)


def _stay(transition: Any, multiplier: float | tuple[float, float] | None, small: int) -> tuple[float, float]:
    if multiplier is not None:
        pair = (multiplier, multiplier) if isinstance(multiplier, int | float) else tuple(multiplier)
        if len(pair) != 2 or not all(0 <= m <= 1 for m in pair):
            raise InputError(
                f"multiplier={multiplier}: give one number from 0 to 1, or two, for small and large counts"
            )
        return float(pair[0]), float(pair[1])
    if isinstance(transition, int | float):
        return float(transition), float(transition)
    matrix = read_transition(transition)
    return matrix.stay(slice(0, small + 1)), matrix.stay(slice(small + 1, None))


def _original(f: Array, g: Array, transition: Any) -> Floats:
    """What each cell of g is expected to have been."""
    if isinstance(transition, str):
        if transition != "observed":
            raise InputError(f"transition={transition!r}: give a matrix, a stay probability, or 'observed'")
        _, inverse, number = np.unique(g, return_inverse=True, return_counts=True)
        means: Floats = (np.bincount(inverse, weights=f) / number)[inverse]
        return means
    if isinstance(transition, int | float):
        return _swapped(f, g, float(transition))
    return _expected(f, g, read_transition(transition))


def _expected(f: Array, g: Array, transition: Transition) -> Floats:
    """What each cell of g is expected to have been; a g the matrix cannot give is refused: its risk would be low."""
    totals: dict[int, float] = {}
    possible = {}
    values, sizes = np.unique(f, return_counts=True)
    for v, n in zip(values.tolist(), sizes.tolist(), strict=True):
        possible[v] = {j for j, _ in transition.outcomes(v)}
        for j, p in transition.outcomes(v):
            totals[j] = totals.get(j, 0.0) + v * n * p
    if not all(y in possible[x] for x, y in set(zip(f.tolist(), g.tolist(), strict=True))):
        raise InputError(
            "after shows a value that the transition matrix cannot give for its cell: give the matrix that made it"
        )
    shown, inverse, number = np.unique(g, return_inverse=True, return_counts=True)
    out: Floats = (np.array([totals[j] for j in shown.tolist()]) / number)[inverse]
    return out


def _swapped(f: Array, g: Array, stay: float) -> Floats:
    shown, inverse, number = np.unique(g, return_inverse=True, return_counts=True)
    top = max(int(f.max()), int(g.max()), 1)
    own = np.array([float(f[f == j].sum()) for j in shown])
    out: Floats = ((stay * own + (1 - stay) / top * (float(f.sum()) - own)) / number)[inverse]
    return out


def _concentration(values: Floats, chosen: Array) -> Floats:
    """1 - H/log K of the chosen cells of each row; 0 where they hold nobody or are one cell."""
    x = np.where(chosen, values, 0.0)
    n, cells = x.sum(axis=1), chosen.sum(axis=1)
    total = np.where(n > 0, n, 1.0)
    entropy = np.log(total) - xlogx(x).sum(axis=1) / total
    share = 1.0 - entropy / np.log(np.maximum(cells, 2))
    return np.where((n > 0) & (cells > 1), np.clip(share, 0.0, 1.0), 0.0)


def _size(rows: Array) -> Floats:
    n = rows.sum(axis=1, dtype=np.float64)
    if np.any(n <= 0):
        raise InputError("a table has nobody in it (N = 0) and so no risk: drop it")
    out: Floats = (1.0 + 0.5 * np.log(n)) / np.sqrt(n)
    return out
