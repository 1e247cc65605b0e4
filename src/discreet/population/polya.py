"""Pólya's urn: sampled cells grow by their size, black balls open empty ones ([UNECE15]_ section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.information import Array, Floats
from discreet.population.estimate import Estimate
from discreet.population.loglinear import Terms
from discreet.population.multinomial import cell_means, notes
from discreet.population.sample import Population, SampleCounts, as_sample

_MOST = 0.99  # of the units left may open a cell each; at 1 theta would be infinite


@checked
@dataclass(frozen=True)
class Polya:
    """An urn with the sample's balls and theta black ones; N - n draws, each adding a ball of the colour drawn.

    ``zeros`` is the number of empty cells of the population (one per stratum): theta then solves (5) of [UNECE15]_.
    Unknown, it is estimated by a log-linear model with ``terms``, equation (6); ``theta`` may also be given itself.
    Which of the empty cells a new colour takes is left to chance. If all are taken, black balls are put back.
    Design weights, if any, are the masses the urn starts with.

    >>> Polya(zeros=1).fit([[3, 1], [2, 0], [0, 0]], 60)
    <Polya(terms='main', zeros=1, theta=None): 6 cells, n 6 of 60, theta 0.8909>
    """

    terms: Terms = "main"
    zeros: int | Sequence[int] | None = None
    theta: float | None = None

    def fit(self, counts: Any, population: Population | None = None, **known: Any) -> Estimate:
        """The population given a sample of it; ``known`` as in :func:`read_sample`.

        >>> Polya("main").fit([[9, 1, 0], [4, 2, 2], [3, 0, 1]], 440)
        <Polya(terms='main', zeros=None, theta=None): 9 cells, n 22 of 440, theta 0.6693>
        """
        sample = as_sample(counts, population, known)
        empty = np.add.reduceat((sample.counts == 0).astype(np.int64), sample.edges[:-1])
        said: tuple[str, ...] = ()
        if self.theta is not None:
            if not 0 <= self.theta < np.inf:
                raise InputError(f"theta={self.theta}: give the number of black balls, 0 or more")
            theta = np.full(len(empty), float(self.theta))
        elif self.zeros is not None:
            theta = _from_known(sample, empty, np.atleast_1d(np.asarray(self.zeros)))
        else:
            theta, said = _from_model(sample, empty, self.terms)
        fitted = {"theta": float(theta.mean())}
        return Estimate(repr(self), sample, "polya", sample.evidence, theta=theta, fitted=fitted, notes=said)


@checked
def polya_theta(opened: float, n: float, population: int) -> float:
    r"""The number of black balls with which ``opened`` new colours are expected in N - n draws.

    .. math:: |E| - |D| = \sum_{z=1}^{N-n} \frac{\theta}{n + \theta + z - 1}
              = \theta (\psi(N + \theta) - \psi(n + \theta))

    Equations (5) and (6) of [UNECE15]_. The right side rises from 0 to N - n with theta, so there is one solution in
    between; it is bracketed and found by Brent's method. Nothing to open gives 0.

    >>> theta = polya_theta(12, 245, 2449)
    >>> round(sum(theta / (245 + theta + z - 1) for z in range(1, 2449 - 245 + 1)), 6)
    12.0
    """
    from scipy.optimize import brentq
    from scipy.special import digamma

    left = population - n
    if opened <= 0:
        return 0.0
    if opened >= left:
        raise InputError("more cells are to be opened than units are left: no number of black balls does that")

    def gap(log_theta: float) -> float:
        theta = np.exp(log_theta)
        return float(theta * (digamma(population + theta) - digamma(n + theta)) - opened)

    low, high = np.log(opened / left) - 1.0, np.log(max(n, 1.0))
    while gap(low) > 0:
        low -= 5.0
    while gap(high) < 0:
        high += 5.0
    return float(np.exp(brentq(gap, low, high, xtol=1e-13, rtol=1e-13)))


def _from_known(sample: SampleCounts, empty: Array, zeros: Array) -> Floats:
    if zeros.shape != empty.shape or zeros.dtype.kind not in "iu":
        raise InputError(f"zeros: give the number of empty cells of the population for each of {len(empty)} strata")
    if np.any(zeros > empty) or np.any(zeros < 0):
        raise InputError("zeros: the population cannot have more empty cells than the sample, nor fewer than 0")
    opened = empty - zeros
    if np.any(opened >= sample.left) and np.any(opened[opened >= sample.left] > 0):
        raise InputError("zeros: more cells would have to fill up than there are units not sampled; check zeros and N")
    return _thetas(sample, opened)


def _from_model(sample: SampleCounts, empty: Array, terms: Terms) -> tuple[Floats, tuple[str, ...]]:
    model = sample.model(terms)
    means = cell_means(sample, model)
    share = np.minimum(means / sample.sizes[sample.stratum], 1.0)
    still = np.add.reduceat((1.0 - share) ** sample.totals[sample.stratum], sample.edges[:-1])
    opened = np.maximum(empty - still, 0.0)
    most = _MOST * sample.left
    said = notes(model)
    if np.any(opened > most):
        said += ("the model wants more cells opened than units are left: theta was cut; the sample is nearly all of N",)
    opened = np.minimum(opened, most)
    return _thetas(sample, opened), said


def _thetas(sample: SampleCounts, opened: Array) -> Floats:
    strata = zip(opened, sample.sizes, sample.totals, strict=True)
    return np.array([polya_theta(float(o), float(n), int(total)) for o, n, total in strata])
