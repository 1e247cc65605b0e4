"""The population given a sample under a model: draws of it, and the distribution of each cell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from discreet.base.arguments import whole
from discreet.base.parallel import over_ranges
from discreet.errors import InputError
from discreet.information import Array, Floats
from discreet.population.loglinear import LogLinear
from discreet.population.sample import SampleCounts

Law: TypeAlias = Literal["multinomial", "dirichlet", "polya", "poisson", "gamma", "nodes"]
LAWS: tuple[Law, ...] = ("multinomial", "dirichlet", "polya", "poisson", "gamma", "nodes")
"""How F - f is distributed. The first three share out the units not sampled, so that F adds up to N by stratum:
with weights ``a``; with Dirichlet(``a``) weights; by Pólya's urn of masses ``a`` and ``theta``. The others are
independent Poisson cells: with rates ``a``; with Gamma(``a``, scale ``b``) rates; with rates ``nodes``, whose cumulated
probabilities are ``node_mass``."""

_NONE = np.empty((0, 0))


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """F given f. ``fitted`` are the model's fitted numbers, ``notes`` what to know before relying on it.

    ``base`` is the log-linear model of the cells' means, ``more`` counts the parameters fitted beside it.

    >>> from discreet.population import Multinomial
    >>> Multinomial("main").fit([[3, 1], [1, 1]], 60).mean.round(1).tolist()
    [[27.0, 13.0], [13.0, 7.0]]
    """

    model: str
    sample: SampleCounts
    law: Law
    a: Floats
    b: Floats = field(default_factory=lambda: np.empty(0))
    theta: Floats = field(default_factory=lambda: np.empty(0))
    nodes: Floats = field(default_factory=lambda: _NONE)
    node_mass: Floats = field(default_factory=lambda: _NONE)
    fitted: Mapping[str, float] = field(default_factory=dict)
    base: LogLinear | None = None
    likelihood: float | None = None
    more: int = 0
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        numbers = "".join(f", {name} {value:.4g}" for name, value in self.fitted.items())
        s = self.sample
        return f"<{self.model}: {len(s.counts)} cells, n {s.n:,} of {s.population:,}{numbers}>"

    @property
    def log_likelihood(self) -> float:
        """Of the sample under the model, its size taken as a Poisson number; NaN if it has none or was weighted."""
        if self.sample.design is not None:
            return math.nan
        if self.likelihood is None and self.base is not None and self.law in ("multinomial", "poisson"):
            return self.base.log_likelihood
        return math.nan if self.likelihood is None else self.likelihood

    @property
    def parameters(self) -> int:
        """Free parameters: those of the log-linear model behind it, if any, and ``more``."""
        return self.more + (0 if self.base is None else self.base.parameters)

    @property
    def fixed_total(self) -> bool:
        """Whether every population drawn has exactly N units."""
        return self.law in ("multinomial", "dirichlet", "polya")

    @cached_property
    def arrays(self) -> tuple[Any, Any, int]:
        """The parameters, the strata and the law as the compiled loops take them."""
        from discreet.population import _kernels

        parameters = _kernels.Parameters(self.a, self.b, self.nodes, self.node_mass, self.theta)
        strata = _kernels.Strata(self.sample.edges, self.sample.left.astype(np.int64))
        return parameters, strata, LAWS.index(self.law)

    @cached_property
    def left(self) -> Array:
        """Units not sampled in the stratum of each cell."""
        out: Array = self.sample.left[self.sample.stratum]
        return out

    @cached_property
    def mass(self) -> Floats:
        """The sum of ``a`` over the stratum of each cell."""
        return self.sample.sums(self.a)

    @cached_property
    def shares(self) -> Floats:
        """Probability of each node of each cell."""
        return np.diff(self.node_mass, axis=1, prepend=0.0)

    @cached_property
    def new_colours(self) -> tuple[Floats, Floats, Floats]:
        """By stratum: black balls expected to come up, those that come up while there are empty cells, and empty cells.

        The number of black balls has the generating function
        Γ(n + θs + N - n) Γ(n + θ) / (Γ(n + θs) Γ(N + θ)); its probabilities come by a Fourier transform.
        """
        from scipy.special import digamma, gammaln, loggamma

        sample = self.sample
        masses = np.add.reduceat(self.a, sample.edges[:-1])
        empties = np.add.reduceat((self.a <= 0).astype(np.int64), sample.edges[:-1])
        every, taken = np.zeros(len(masses)), np.zeros(len(masses))
        for h, (mass, theta, left, empty) in enumerate(zip(masses, self.theta, sample.left, empties, strict=True)):
            if theta > 0 and left > 0:
                every[h] = theta * (digamma(theta + mass + left) - digamma(theta + mass))
                size = 2 * int(min(every[h] + 12 * np.sqrt(every[h]) + 60, left + 1)) + 1
                s = theta * np.exp(2j * np.pi * np.arange(size) / size) + mass
                log_s = loggamma(s + left) - loggamma(s) + gammaln(theta + mass) - gammaln(theta + mass + left)
                p = np.fft.fft(np.exp(log_s)).real / size
                taken[h] = np.minimum(np.arange(size), empty) @ p
        return every, np.clip(taken, 0.0, np.minimum(every, empties)), np.maximum(empties, 1.0)

    @property
    def added(self) -> Floats:
        """E(F_i - f_i | f) of every cell, in closed form."""
        if self.law == "poisson":
            return self.a
        if self.law == "gamma":
            return self.a * self.b
        if self.law == "nodes":
            return np.asarray((self.nodes * self.shares).sum(axis=1))
        if self.law != "polya":
            return np.asarray(self.left * self.a / self.mass)
        theta = self.theta[self.sample.stratum]
        empty = np.maximum(self.sample.sums((self.a <= 0).astype(float)), 1.0)
        grows = np.where(self.a > 0, self.a, theta / empty)
        return np.asarray(self.left * grows / (self.mass + theta))

    @property
    def mean(self) -> Floats:
        """E(F | f) of each cell, in the table's shape."""
        out: Floats = self.sample.full(self.sample.counts + self.added)
        return out

    def draw(self, populations: int, seed: int) -> Array:
        """Population tables: an array (populations, *shape of the table). Equal seeds give equal tables.

        >>> from discreet.population import Multinomial
        >>> tables = Multinomial().fit([[3, 1], [1, 1]], 60).draw(5, seed=1)
        >>> tables.shape, tables.sum(axis=(1, 2)).tolist()
        ((5, 2, 2), [60, 60, 60, 60, 60])
        """
        from discreet.population import _kernels

        check_draws(populations, seed)
        parameters, strata, law = self.arrays
        out = np.empty((populations, len(self.sample.counts)), np.int64)

        def run(first: int, last: int) -> None:
            _kernels.populations(law, np.uint64(seed), self.sample.counts, parameters, strata, first, last, out)

        over_ranges(run, populations)
        return self.sample.full(out)


MOST_DRAWS = 10_000_000  # more would take days and tell nothing


def check_draws(populations: int, seed: int) -> None:
    """Raise unless there is something to draw and a seed to draw it with."""
    if populations < 1:
        raise InputError(f"populations={populations}: draw one or more")
    whole("populations", populations, 1, MOST_DRAWS)
    if not 0 <= seed < 2**63:
        raise InputError("seed must be a whole number from 0 to 2**63 - 1")
