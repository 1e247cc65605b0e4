"""The distribution of a single cell F_i given the sample, exactly: probabilities and expectations without drawing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.base.arguments import checked
from discreet.information import Array, Floats, xlogx
from discreet.population.estimate import Estimate

TAIL = 40.0
"""Expectations sum the probabilities of all counts but tails of less than about exp(-TAIL) of the mass."""

_ROOM = 1 << 18  # probabilities held at a time


@checked
def log_probability(estimate: Estimate, added: Array, cells: Array) -> Floats:
    """log P(F_i - f_i = x | f) for x in ``added`` and the cells i of equal shape (or one for the other).

    For Pólya's urn P(F_i = 0) is exact; the rest is so unless the urn may run out of empty cells.

    >>> from discreet.population import Multinomial
    >>> estimate = Multinomial(()).fit([1, 0], 3)
    >>> np.exp(log_probability(estimate, np.array([0, 1, 2]), np.array([1, 1, 1]))).round(3).tolist()
    [0.25, 0.5, 0.25]
    """
    from scipy.special import gammaln, xlog1py, xlogy

    x, i = np.broadcast_arrays(added, cells)
    left = estimate.left[i]
    a = estimate.a[i] if estimate.a.size else estimate.a
    if estimate.law == "poisson":
        out = xlogy(x, a) - a - gammaln(x + 1)
    elif estimate.law == "gamma":
        b = estimate.b[i]
        out = gammaln(a + x) - gammaln(a) - gammaln(x + 1) + xlogy(x, b) - (a + x) * np.log1p(b)
    elif estimate.law == "nodes":
        rates, mass = estimate.nodes[i], estimate.shares[i]
        logs = np.log(np.where(rates > 0, rates, 1e-300))
        each = np.exp(x[..., None] * logs - rates - gammaln(x + 1)[..., None])
        with np.errstate(divide="ignore"):
            out = np.log((each * mass).sum(axis=-1))
    elif estimate.law == "multinomial":
        p = a / estimate.mass[i]
        out = _log_choose(left, x) + xlogy(x, p) + xlog1py(left - x, -p)
    else:
        out = _urn(estimate, x, i, left, a)
    return np.where((x >= 0) & ((x <= left) | ~np.bool_(estimate.fixed_total)), out, -np.inf)


def _log_choose(n: Array, x: Array) -> Floats:
    from scipy.special import gammaln

    inside = np.clip(x, 0, n)
    out: Floats = gammaln(n + 1) - gammaln(inside + 1) - gammaln(n - inside + 1)
    return out


def _urn(estimate: Estimate, x: Array, i: Array, left: Array, a: Floats) -> Floats:
    """Beta-binomial cells; in Pólya's urn the empty ones hold an even share of the new colours."""
    from scipy.special import betaln, gammaln

    mass = estimate.mass[i]
    theta = estimate.theta[estimate.sample.stratum[i]] if estimate.law == "polya" else np.zeros_like(mass)
    inside = np.clip(x, 0, left)
    a_safe, rest = np.where(a > 0, a, 1.0), np.where(mass + theta - a > 0, mass + theta - a, 1.0)
    out = _log_choose(left, inside) + betaln(inside + a_safe, left - inside + rest) - betaln(a_safe, rest)
    out = np.where(mass + theta - a > 0, out, np.where(x == left, 0.0, -np.inf))
    if estimate.law == "dirichlet" or not np.any(a <= 0):
        return np.where(a > 0, out, np.where(x == 0, 0.0, -np.inf))
    stratum = estimate.sample.stratum[i]
    every, taken, empty = (number[stratum] for number in estimate.new_colours)
    kept = np.divide(taken, every, out=np.ones_like(every), where=every > 0)
    s = np.maximum(inside, 1)
    with np.errstate(divide="ignore"):
        new = np.log(theta) + _log_choose(left, s) + gammaln(s) + gammaln(theta + mass + left - s)
        new = new - gammaln(theta + mass + left) - np.log(empty) + np.log(kept)
        new = np.where(x == 0, np.log1p(-np.minimum(taken / empty, 1.0)), new)
    return np.where(a > 0, out, new)


@checked
def expectation(estimate: Estimate, g: Callable[[Floats], Floats], cells: Array | None = None) -> Floats:
    """E(g(F_i) | f) for each of the cells (all by default), by summing over every count that matters.

    >>> from discreet.population import Poisson
    >>> estimate = Poisson(()).fit([2, 0], 6)
    >>> expectation(estimate, lambda count: count).round(6)
    array([4., 2.])
    """
    which = np.arange(len(estimate.sample.counts)) if cells is None else cells
    keys = np.stack([estimate.sample.counts, estimate.sample.stratum, estimate.a, *_more(estimate)])[:, which]
    _, first, back = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    low, high = _window(estimate, which[first])
    order = np.argsort(high - low)  # cells of like width go together
    values, begin = np.empty(len(first)), 0
    room = _ROOM // max(estimate.nodes.shape[1], 1)
    while begin < len(order):
        wide = (high - low)[order[begin:]] + 1
        number = max(int(np.searchsorted(np.arange(1, len(wide) + 1) * wide, room, side="right")), 1)
        some = order[begin : begin + number]
        x = low[some, None] + np.arange(wide[number - 1])
        cell = which[first[some]][:, None]
        p = np.exp(log_probability(estimate, x, cell))
        counts = (x + estimate.sample.counts[cell]).astype(np.float64)
        values[some] = (p * g(counts)).sum(axis=1) / p.sum(axis=1)
        begin += number
    out: Floats = values[back.ravel()]
    return out


def _more(estimate: Estimate) -> list[Floats]:
    if estimate.law == "nodes":
        return [np.arange(len(estimate.sample.counts), dtype=np.float64)]
    return [estimate.b] if estimate.b.size else []


def _window(estimate: Estimate, cells: Array) -> tuple[Array, Array]:
    """Counts to sum over: nine standard deviations and, to the right, TAIL times the scale of an exponential tail."""
    left, mean = estimate.left[cells], estimate.added[cells]
    scale = np.zeros(len(cells))
    spread = np.sqrt(mean)
    if estimate.law == "gamma":
        scale = estimate.b[cells]
        spread = np.sqrt(mean * (1 + scale))
    elif estimate.law == "nodes":
        mass = estimate.shares[cells]
        spread = np.sqrt(mean + (mass * (estimate.nodes[cells] - mean[:, None]) ** 2).sum(axis=1))
        scale = np.where(mass > 1e-14, estimate.nodes[cells], 0.0).max(axis=1) / TAIL
    elif estimate.law in ("dirichlet", "polya"):
        total = estimate.mass[cells]
        if estimate.law == "polya":
            total = total + estimate.theta[estimate.sample.stratum[cells]]
        scale = left / total
        spread = np.sqrt(mean * (1 + scale))
    low = np.floor(np.maximum(mean - 9 * spread - 30, 0)).astype(np.int64)
    high = np.ceil(mean + 9 * spread + 30 + TAIL * scale).astype(np.int64)
    return low, np.minimum(high, left) if estimate.fixed_total else high


@checked
def expected_xlogx(counts: Array, rates: Floats) -> Floats:
    r"""E(F log F | f, λ) when F - f is Poisson with the given rate (1 - p) λ.

    .. math:: E(F_i \log F_i | f_i = r, \lambda_i)
              = \sum_{s \ge 0} \frac{((1-p)\lambda_i)^s}{s!} e^{-(1-p)\lambda_i} (s+r) \log(s+r)

    The series of section 4.4.1 of [Ant16]_, cut where what is left is below 1e-12 of the sum.

    >>> expected_xlogx(np.array([0, 3]), np.array([0.0, 2.0])).round(6)
    array([0.      , 8.241314])
    """
    from scipy.special import gammaln, xlogy

    r, rate = np.broadcast_arrays(np.asarray(counts, np.float64), np.asarray(rates, np.float64))
    out = np.empty(r.size)
    for j, (start, mean) in enumerate(zip(r.ravel(), rate.ravel(), strict=True)):
        reach = 9.0 * np.sqrt(mean) + 40.0
        s = np.arange(max(np.floor(mean - reach), 0.0), np.ceil(mean + reach) + 1)
        out[j] = np.exp(xlogy(s, mean) - mean - gammaln(s + 1)) @ xlogx(s + start)
    return out.reshape(r.shape)
