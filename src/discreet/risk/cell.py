"""Risk of a cell after protection: how many values it can still have, in bits (ODF03)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.errors import InputError

SLACK = 1e-6


@checked
def possible_values(lower: ArrayLike, upper: ArrayLike, *, decimals: int = 0) -> Array:
    r"""Number m(S) of values at the released precision in an interval: ⌊max⌋ − ⌈min⌉ + 1 on the grid 10^−decimals.

    Section 4.1 of [ODF03]_. An interval that the truth is known to lie in holds at least one; an unbounded one holds
    infinitely many.

    >>> possible_values([0, 0.5, 2], [406, 1.5, np.inf]).tolist()
    [407.0, 1.0, inf]
    """
    grid = 10.0**decimals
    low, high = np.asarray(lower, float) * grid, np.asarray(upper, float) * grid
    if (high < low - SLACK).any():
        raise InputError("an interval ends before it begins")
    with np.errstate(invalid="ignore"):
        m = np.floor(high + SLACK) - np.ceil(low - SLACK) + 1
    return np.asarray(np.maximum(m, 1.0))


@checked
def bits(m: ArrayLike) -> Array:
    r"""Uncertainty :math:`H = \log_2 m` of m equally likely values.

    >>> bits([1, 2, 8]).tolist()
    [0.0, 1.0, 3.0]
    """
    return np.asarray(np.log2(np.asarray(m, float)))


@checked
def cell_risk(m: ArrayLike) -> Array:
    r"""Disclosure risk of a cell with m possible values, equally likely.

    .. math:: DR_{unif}(X) = 1 / \log_2 m(S_y(X))

    Equation (3) of [ODF03]_. m = 1 is disclosure: infinite risk.

    >>> cell_risk([407, 1, np.inf]).round(3).tolist()
    [0.115, inf, 0.0]
    """
    return risk_of_bits(bits(m))


def risk_of_bits(h: ArrayLike) -> Array:
    """1/H, infinite where nothing is uncertain: equation (2) of [ODF03]_."""
    h = np.asarray(h, float)
    return np.asarray(np.divide(1.0, h, out=np.full(h.shape, np.inf), where=h > 0))


@checked
def distribution_bits(probabilities: ArrayLike) -> float:
    r"""Conditional entropy :math:`H(X|Y=y) = -\sum_x p(x|y) \log_2 p(x|y)` of given probabilities.

    The denominator of equation (2) of [ODF03]_, for any distribution over the possible values.

    >>> distribution_bits([0.5, 0.25, 0.25])
    1.5
    """
    p = np.asarray(probabilities, float)
    if (p < 0).any() or not np.isclose(p.sum(), 1):
        raise InputError("probabilities are not negative and add up to 1")
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum() + 0.0)
