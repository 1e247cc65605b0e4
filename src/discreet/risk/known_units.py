"""What an intruder who already knows some units can work out from a table: Frank 1978, Smith & Elliot 2008.

Both as section 2.3.2.2.1 of the thesis [Ant16]_ describes them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.information import Axis, FloatOrArray, read_counts, shaped, tables


@dataclass(frozen=True)
class DisclosureGain:
    """H(D_A) - H(D_B) in nats with the most it can be, and both entropies.

    >>> gain = frank_entropy([0, 1, 3], known=3)
    >>> round(gain.prior, 4), round(gain.posterior, 4)
    (1.3863, 0.0)
    """

    value: float
    bound: float
    prior: float
    posterior: float


@checked
def frank_entropy(counts: Any, *, share: float | None = None, known: int | None = None) -> DisclosureGain:
    r"""How much the table narrows the set of disclosed units, O. Frank 1978.

    The intruder knows a random set A of units. If all others are in one cell, the table discloses everybody, B = I,
    else B = A. The measure is the difference of the entropies of the two sets, and

    .. math:: 0 \le H(D_A) - H(D_B) \le \log\bigl(1 + \sum_i (2^{F_i} - 1)\bigr).

    Give one of ``share`` (each unit is known with this probability, independently) and ``known`` (any set of this
    many units is as likely).

    >>> gain = frank_entropy([0, 1, 3], known=3)
    >>> round(gain.value, 4), round(gain.bound, 4)
    (1.3863, 2.1972)
    """
    f = [int(x) for x in read_counts(counts).ravel() if x]
    n = sum(f)
    if n == 0:
        raise InputError("the table has nobody in it (N = 0): there is no one to disclose")
    if (share is None) == (known is None):
        raise InputError("give either share= (probability that a unit is known) or known= (number of known units)")
    top = max(f)
    inside = math.fsum(2.0 ** (x - top) for x in f) + (1 - len(f)) * 2.0**-top
    bound = top * math.log(2) + math.log(inside)
    value, prior = _independent(f, n, float(share)) if share is not None else _fixed(f, n, int(known or 0))
    return DisclosureGain(value, bound, prior, prior - value)


def _independent(f: list[int], n: int, p: float) -> tuple[float, float]:
    if not 0 <= p <= 1:
        raise InputError(f"share={p}: a probability lies between 0 and 1")
    if p in (0.0, 1.0):
        return 0.0, 0.0
    q, lp, lq = 1 - p, math.log(p), math.log(1 - p)
    # the sets A whose complement lies in one cell become one set: sum their p(A) and -p(A) log p(A) by cell
    mass, spread = p**n, -(p**n) * n * lp
    for x in f:
        some = 1 - p**x  # at least one unit of the cell is not known; the mean number unknown is x q
        mass += p ** (n - x) * some
        spread -= p ** (n - x) * (x * q * (lq - lp) + n * some * lp)
    gain = spread + (mass * math.log(mass) if mass > 0 else 0.0)
    return max(gain, 0.0), -n * (p * lp + q * lq)


def _fixed(f: list[int], n: int, known: int) -> tuple[float, float]:
    if not 0 <= known <= n:
        raise InputError("known= must lie between 0 and the number of units in the table")
    unknown = n - known
    sets, merged = math.comb(n, known), sum(math.comb(x, unknown) for x in f) if unknown else 1
    gain = float(Fraction(merged, sets)) * math.log(merged) if merged else 0.0
    return gain, math.log(sets)


@checked
def subtraction_attribution(counts: Any, known: int, *, axis: Axis = None) -> FloatOrArray:
    r"""Probability that an intruder who takes ``known`` random units out of the table sees an empty cell.

    Subtraction-attribution probability, Smith & Elliot 2008: an empty cell tells that nobody else in that line has
    the attribute. Exact: of the :math:`\binom{N}{n}` sets of units, those that leave every cell populated are counted
    by the coefficient of z^n in the product of the polynomials :math:`\sum_{k<F_i} \binom{F_i}{k} z^k`. 1 if the table
    has a zero to begin with. Time K n^2 in whole numbers: meant for small tables and small n. ``axis`` names the axes
    that form a table, the others are a batch.

    >>> subtraction_attribution([1, 3], known=1), subtraction_attribution([0, 3], known=0)
    (0.25, 1.0)
    """
    rows, batch = tables(read_counts(counts), axis)
    return shaped(np.array([_emptied(row.tolist(), known) for row in rows]), batch)


def _emptied(f: list[int], known: int) -> float:
    n = sum(f)
    if n == 0:
        raise InputError("the table has nobody in it (N = 0): there is no one to disclose")
    if not 0 <= known < n:
        raise InputError(
            "known= must be at least 0 and less than the number of units: someone must be left to disclose"
        )
    ways = [1] + [0] * known
    for x in f:
        cell = [math.comb(x, k) for k in range(min(x, known + 1))]
        ways = [sum(c * ways[s - k] for k, c in enumerate(cell) if k <= s) for s in range(known + 1)]
    return float(1 - Fraction(ways[known], math.comb(n, known)))


@checked
def subtraction_attribution_curve(counts: Any, most: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """:func:`subtraction_attribution` for 0 to ``most`` known units.

    >>> subtraction_attribution_curve([2, 2], most=2).round(4)
    array([0.    , 0.    , 0.3333])
    """
    return np.array([subtraction_attribution(counts, k) for k in range(most + 1)], dtype=np.float64)
