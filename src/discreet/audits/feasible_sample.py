"""How likely each possible value of a cell is: points drawn uniformly from the feasible set, or all of them counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.audits.known import Known
from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.verdicts import Verdict
from discreet.errors import InputError
from discreet.linear.components import components
from discreet.linear.presolve import reduce
from discreet.linear.program import SystemProgram
from discreet.linear.system import System
from discreet.linear.whole_points import all_points
from discreet.risk.cell import distribution_bits

CHAINS = 4
MOST_VARIABLES = 3000  # of one component: a dense basis of its directions is needed


@checked
@dataclass(frozen=True, eq=False)
class FeasibleSample:
    """Draws (draws x targets) with equal weight. ``exact``: every solution once; else hit-and-run with diagnostics.

    >>> from discreet import Table
    >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> draws = enumerated(Known.hiding(t, t.is_inner), np.flatnonzero(t.is_inner))
    >>> draws.exact, draws.values.astype(int).tolist()
    (True, [[1, 2, 3, 0], [2, 1, 2, 1], [3, 0, 1, 2]])
    """

    values: Array
    exact: bool
    rhat: Array
    """Split R-hat per target: near 1 when the chains agree; above 1.05, draw more."""
    effective: Array
    """Effective number of draws per target."""

    @property
    def verdict(self) -> Verdict:
        """Pass if the diagnostic allows the draws to be used; draws of chains that disagree decide nothing: unknown."""
        return Verdict.of(fails=False, unknown=not self.exact and not (self.rhat < 1.05).all())

    @property
    def ok(self) -> bool:
        """Whether the verdict is a pass."""
        return self.verdict.ok

    def bits(self) -> Array:
        """Entropy of each target's distribution over whole units: H(X|Y=y) of equation (2) in ODF03.

        That of a few draws is too small; (values seen − 1)/(2 draws) is added in nats (Miller and Madow).

        >>> from discreet import Table
        >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> enumerated(Known.hiding(t, t.is_inner), np.flatnonzero(t.is_inner)).bits().round(3).tolist()
        [1.585, 1.585, 1.585, 1.585]
        """
        shares = [_shares(np.rint(column)) for column in self.values.T]
        missed = [0.0 if self.exact else (len(p) - 1) / (2 * len(self.values) * np.log(2)) for p in shares]
        return np.asarray(np.array([distribution_bits(p) for p in shares]) + missed)


def enumerate_points(system: System, *, most: int = 100_000) -> Array:
    """All whole-number solutions of a bounded system, one per row; InputError if there are more than ``most``."""
    return all_points(system, most=most)


@checked
def enumerated(known: Known, targets: Array, *, most: int = 100_000) -> FeasibleSample:
    """Every whole-number table that fits a small release, each as likely as the other.

    >>> from discreet import Table
    >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> len(enumerated(Known.hiding(t, t.is_inner), np.flatnonzero(t.is_inner)).values)
    3
    """
    system = known.system()
    values = enumerate_points(System(system.rows, system.rhs, system.lower, system.upper, True), most=most)
    if not len(values):
        raise InputError("no table of whole numbers fits the release")
    one = np.ones(len(targets))
    return FeasibleSample(values[:, targets], True, one, one * len(values))


@checked
def sampled(known: Known, targets: Array, *, draws: int = 2000, seed: int) -> FeasibleSample:
    """Points drawn uniformly from the feasible polytope by hit-and-run, in four chains, half of each left out.

    Counts are rounded afterwards, which is near the uniform distribution over whole-number tables where intervals are
    long; ``enumerated`` is exact where they are short.

    >>> from discreet import Table
    >>> t = Table.of([[30, 10], [10, 20]], ["area", "sex"])
    >>> draws = sampled(Known.hiding(t, t.is_inner), np.flatnonzero(t.is_inner), draws=400, seed=1)
    >>> draws.values.shape, bool((draws.values >= 0).all())
    ((400, 4), True)
    """
    small, steps = reduce(known.system(), merge=False)
    if not (np.isfinite(small.lower).all() and np.isfinite(small.upper).all()):
        raise InputError("some cells are unbounded: nothing can be drawn uniformly")
    per_chain = -(-draws // CHAINS)
    chains = np.empty((CHAINS, per_chain, small.size))
    for c in range(CHAINS):
        random = np.random.default_rng([seed, c])
        chains[c] = random.uniform(small.lower, small.upper, (per_chain, small.size))
        for part, variables in components(small):
            chains[c][:, variables] = _hit_and_run(part, per_chain, random)
    flat = chains.reshape(-1, small.size)
    for step in reversed(steps):
        flat = np.array([step.back(x, x)[0] for x in flat])
    values = flat[:, targets]
    rhat, effective = diagnostics(values.reshape(CHAINS, per_chain, len(targets)))
    return FeasibleSample(values, False, rhat, effective)


def _hit_and_run(system: System, draws: int, random: np.random.Generator) -> Array:
    """A chain started inside, thinned by the number of directions."""
    from scipy.linalg import null_space

    if system.size > MOST_VARIABLES:
        raise InputError(
            f"a part of the system has {system.size:,} variables, more than {MOST_VARIABLES:,} to draw from"
        )
    directions = null_space(system.rows.toarray())
    x = _inside(system, random)
    kept = np.empty((draws, system.size))
    thin = max(directions.shape[1], 4)
    for k in range(2 * draws):
        for _ in range(thin):
            d = directions @ random.standard_normal(directions.shape[1])
            with np.errstate(divide="ignore", invalid="ignore"):
                a, b = (system.lower - x) / d, (system.upper - x) / d
            moving = np.abs(d) > 1e-12
            low, high = np.minimum(a, b)[moving].max(initial=-1e300), np.maximum(a, b)[moving].min(initial=1e300)
            if high > low:
                x = np.clip(x + random.uniform(low, high) * d, system.lower, system.upper)
        if k >= draws:
            kept[k - draws] = x
    return kept


def _inside(system: System, random: np.random.Generator) -> Array:
    """The mean of vertices in random directions: inside whatever can move."""
    model = SystemProgram(system)
    points = []
    for _ in range(2 * min(system.size, 40)):
        x = model.minimum(random.standard_normal(system.size))
        if x is not None:
            points.append(x)
    return np.asarray(np.mean(points, axis=0))


def diagnostics(chains: Array) -> tuple[Array, Array]:
    """Split R-hat and effective number of (chains x draws x targets), by variance within and between half-chains."""
    c, n, k = chains.shape
    half = chains[:, : n - n % 2].reshape(2 * c, n // 2, k)
    within = half.var(axis=1, ddof=1).mean(axis=0)
    means = half.mean(axis=1)
    between = means.var(axis=0, ddof=1)
    h = n // 2
    still = within < 1e-12
    total = within * (h - 1) / h + between
    rhat = np.where(still, 1.0, np.sqrt(total / np.where(still, 1.0, within)))
    effective = np.where(still, c * n, np.minimum(c * n, 2 * c * total / np.maximum(between, 1e-300)))
    return rhat, effective


def _shares(values: Array) -> Array:
    _, counts = np.unique(values, return_counts=True)
    return np.asarray(counts / counts.sum())
