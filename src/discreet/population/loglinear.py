"""Hierarchical log-linear models of any order, fitted to a table by iterative proportional fitting."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import DiscreetWarning, InputError, nearest
from discreet.information import Array, Floats, read_values
from discreet.population.ipf import ipf

Terms: TypeAlias = str | int | Sequence[Sequence[int | str]]
"""``"main"``, ``"two-way"``, an order, or the terms themselves: ``[(0, 1), (2,)]`` or ``[("area", "sex"), ("age",)]``.
An empty sequence is the model in which all cells are equally likely."""

_ORDERS = {"main": 1, "two-way": 2, "three-way": 3}
_DENSE = 4_000_000  # entries of a design matrix whose rank is still found by linear algebra


@dataclass(frozen=True, eq=False)
class LogLinear:
    """A fitted model: expected counts, and how well they fit.

    >>> fit = loglinear([[3, 1], [1, 1]])
    >>> fit.probabilities.round(3).tolist(), round(fit.deviance, 3)
    ([[0.444, 0.222], [0.222, 0.111]], 0.367)
    """

    counts: Floats
    expected: Floats
    terms: tuple[tuple[int, ...], ...]
    possible: Array
    iterations: int
    gap: float
    converged: bool

    @property
    def probabilities(self) -> Floats:
        """Expected counts divided by the sample size."""
        out: Floats = self.expected / self.expected.sum()
        return out

    @property
    def deviance(self) -> float:
        """Likelihood-ratio statistic G² against the saturated model."""
        f, m = self.counts[self.expected > 0], self.expected[self.expected > 0]
        return float(max(2.0 * (f * np.log(np.where(f > 0, f, 1.0) / m)).sum(), 0.0))

    @cached_property
    def parameters(self) -> int:
        """Free parameters, the mean included; cells that the margins force to zero are left out of the model."""
        return _rank(self.terms, self.expected > 0)

    @property
    def degrees_of_freedom(self) -> int:
        """Cells not forced to zero, less the parameters."""
        return int((self.expected > 0).sum()) - self.parameters

    @property
    def log_likelihood(self) -> float:
        """Of the counts as independent Poisson variables."""
        from scipy.special import gammaln

        f, m = self.counts[self.expected > 0], self.expected[self.expected > 0]
        return float((f * np.log(m) - m - gammaln(f + 1)).sum())

    @property
    def aic(self) -> float:
        """Akaike's criterion: less is better."""
        return 2.0 * self.parameters - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion with the number of cells as the number of observations: less is better."""
        return self.parameters * math.log(int(self.possible.sum())) - 2.0 * self.log_likelihood

    @property
    def unreached(self) -> int:
        """Possible cells to which the model gives no chance, because a margin of it is empty in the sample."""
        return int((self.possible & (self.expected <= 0)).sum())


@checked
def loglinear(
    counts: Any,
    terms: Terms = "main",
    *,
    structural: Any = None,
    tolerance: float = 1e-6,
    iterations: int = 2000,
) -> LogLinear:
    r"""Fit a hierarchical log-linear model by maximum likelihood (sections 4.6.1 and 4.8 of [Ant16]_).

    .. math:: \log \mu_i = x_i^T \beta \qquad (2.3.9)

    ``terms`` are the highest terms; lower ones are implied. ``structural`` marks cells that cannot hold anyone. Counts
    may be weighted. Main effects without structural zeros are the product of the margins, section 5.1 of [UNECE15]_.
    Converged means that every margin is met to ``tolerance`` of the total; a :class:`DiscreetWarning` says when it is
    not, as in sparse tables whose estimates lie on the boundary. ``iterations`` and ``gap`` say how far it came.

    >>> fit = loglinear([[3, 1], [1, 1]])
    >>> fit.expected.round(4)
    array([[2.6667, 1.3333],
           [1.3333, 0.6667]])
    >>> fit.degrees_of_freedom, fit.converged
    (1, True)
    """
    values = np.atleast_1d(read_values(counts))
    if values.sum() <= 0:
        raise InputError("the table has nobody in it: a model needs a sample of one or more")
    possible = np.ones(values.shape, dtype=bool)
    if structural is not None:
        possible = ~np.asarray(structural, dtype=bool)
        if possible.shape != values.shape:
            raise InputError(f"structural has shape {possible.shape} and the table {values.shape}: give one shape")
        if np.any(values[~possible] > 0):
            raise InputError("somebody is in a cell declared a structural zero: correct the data or the declaration")
    generators = read_terms(terms, values.ndim)
    if structural is None and len({a for g in generators for a in g}) == sum(map(len, generators)):
        return LogLinear(values, _product(values, generators), generators, possible, 1, 0.0, True)
    start = possible * (values.sum() / possible.sum())
    margins = [(g, values.sum(axis=tuple(a for a in range(values.ndim) if a not in g))) for g in generators]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscreetWarning)
        fit = ipf(start, margins, tolerance=tolerance, iterations=iterations)
    if not fit.converged:
        warnings.warn(
            f"the log-linear model has not converged: its margins are {fit.gap:.1e} of the total off after "
            f"{fit.iterations:,} rounds; allow more iterations, or drop terms for which the sample is too small",
            DiscreetWarning,
            stacklevel=2,
        )
    return LogLinear(values, fit.values, generators, possible, fit.iterations, fit.gap, fit.converged)


def _product(values: Floats, generators: tuple[tuple[int, ...], ...]) -> Floats:
    """The fit when no axis is in two terms: the product of the margins, alike along axes in no term."""
    total = values.sum()
    out = np.full(values.shape, total / values.size)
    for g in generators:
        rest = tuple(a for a in range(values.ndim) if a not in g)
        size = math.prod(values.shape[a] for a in g)
        out *= values.sum(axis=rest, keepdims=True) * (size / total)
    return out


def read_terms(terms: Terms, dimensions: int, names: Sequence[str] = ()) -> tuple[tuple[int, ...], ...]:
    """The highest terms as sorted tuples of axes; ``names`` are those of the axes.

    >>> read_terms("two-way", 3), read_terms([("a", "b"), ("b",)], 2, ["a", "b"])
    (((0, 1), (0, 2), (1, 2)), ((0, 1),))
    """
    if isinstance(terms, str):
        if terms not in _ORDERS:
            raise InputError(f"unknown terms {terms!r}: {nearest(terms, _ORDERS)}; or an order, or a list of terms")
        terms = _ORDERS[terms]
    if isinstance(terms, int):
        if terms < 0:
            raise InputError(f"an order of {terms}: give 0 (all cells alike), 1 (main effects), 2 (two-way) or more")
        order = min(terms, dimensions)
        return tuple(itertools.combinations(range(dimensions), order)) if order else ()
    axes = {tuple(sorted({_axis(a, dimensions, names) for a in term})) for term in terms}
    highest = [t for t in axes if t and not any(set(t) < set(other) for other in axes)]
    return tuple(sorted(highest))


def _axis(axis: int | str, dimensions: int, names: Sequence[str]) -> int:
    if isinstance(axis, str):
        if axis not in names:
            raise InputError(f"no dimension {axis!r}: {nearest(axis, names)}")
        return list(names).index(axis)
    if not 0 <= axis < dimensions:
        raise InputError(f"a term names axis {axis}: the table has axes 0 to {dimensions - 1}")
    return axis


def _rank(terms: tuple[tuple[int, ...], ...], kept: Array) -> int:
    """Rank of the model over the kept cells; above _DENSE entries that of the full table, cut at the kept cells."""
    columns = [np.ravel_multi_index([np.indices(kept.shape)[a] for a in t], [kept.shape[a] for a in t]) for t in terms]
    if not columns:
        return 1
    sizes = [int(math.prod(kept.shape[a] for a in t)) for t in terms]
    cells = int(kept.sum())
    if cells * sum(sizes) <= _DENSE:
        design = np.concatenate([np.eye(s)[c[kept]] for c, s in zip(columns, sizes, strict=True)], axis=1)
        return int(np.linalg.matrix_rank(design))
    below = {s for t in terms for r in range(len(t) + 1) for s in itertools.combinations(t, r)}
    return int(min(sum(math.prod(kept.shape[a] - 1 for a in s) for s in below), cells))
