"""What a transition matrix does to a table, computed and not simulated: bias, variance, expected Hellinger distance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.base.annotations import Floats
from discreet.base.arguments import checked
from discreet.information import read_counts
from discreet.risk.transition import Transition, read_transition

_END, _STEP = 72.0, 0.05


def moments(counts: Any, transition: Any) -> tuple[Floats, Floats]:
    """Mean and variance of the noise of every count.

    >>> moments([1, 3], Transition.rounding(3))
    (array([0., 0.]), array([2., 0.]))
    """
    x = read_counts(counts, "counts")
    values, place = np.unique(x, return_inverse=True)
    pairs = [_moments(int(v), read_transition(transition)) for v in values]
    mean, variance = np.array(pairs, np.float64).reshape(-1, 2).T
    return mean[place].reshape(x.shape), variance[place].reshape(x.shape)


def _moments(count: int, transition: Transition) -> tuple[float, float]:
    shown = transition.outcomes(count)
    mean = math.fsum(p * (j - count) for j, p in shown)
    return round(mean, 15) + 0.0, math.fsum(p * (j - count - mean) ** 2 for j, p in shown)


@checked
def expected_hellinger(counts: Any, transition: Any) -> float:
    r"""Mean Hellinger distance of the counts, E HD(F, G), over all tables that a transition matrix may give.

    HD (Ant16 3.8) is the root of a sum S of independent terms, and
    :math:`E\sqrt S = \frac{1}{2\sqrt\pi} \int_0^\infty (1 - E e^{-sS}) s^{-3/2} ds`, where the expectation under the
    integral is a product over cells: one integral, no draws.

    >>> round(expected_hellinger([1, 3], Transition.rounding(3)), 6)
    0.643951
    """
    x = read_counts(counts, "counts").ravel()
    moved = read_transition(transition)
    values, number = np.unique(x, return_counts=True)
    terms = []
    for v, n in zip(values, number, strict=True):
        shown = moved.outcomes(int(v))
        gaps = np.array([(math.sqrt(j) - math.sqrt(v)) ** 2 / 2 for j, _ in shown])
        if gaps.any():
            terms.append((int(n), gaps, np.array([p for _, p in shown])))
    if not terms:
        return 0.0
    return _root_mean(terms)


def _root_mean(terms: list[tuple[int, Floats, Floats]]) -> float:
    """The integral over s = e^y / E S by the trapezium rule, which for so smooth an integrand is exact to rounding."""
    scale = math.fsum(n * float(p @ gaps) for n, gaps, p in terms)  # E S
    y = np.arange(-_END, _END, _STEP)
    s = np.exp(y) / scale
    log = np.zeros_like(s)
    with np.errstate(divide="ignore"):
        for n, gaps, p in terms:
            log += n * np.log1p(np.maximum(np.expm1(-np.outer(s, gaps)) @ p, -1.0))
    total = math.fsum(-np.expm1(log) / np.sqrt(s)) * _STEP
    return total / (2 * math.sqrt(math.pi))
