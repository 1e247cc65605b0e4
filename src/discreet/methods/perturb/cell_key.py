"""The cell key method for counts and for magnitudes: noise looked up with the mixed sum of record keys.

Fraser and Wooton (2005), Thompson, Broadfoot and Elazar (2013); [JOS15]_ section 3.2; magnitudes after Giessing and
Tent (2019), "Concepts for generalising tools implementing the cell key method to the case of continuous variables".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.base.arguments import checked, positive, share
from discreet.errors import InputError
from discreet.methods.contract import LEAST, Contract
from discreet.methods.keys import Secret, read_source, uniforms, zero_uniforms
from discreet.methods.perturb.entropy import largest_entropy
from discreet.methods.perturb.outcome import count_cells, perturbed
from discreet.methods.perturb.ptable import PTable
from discreet.release import Protected
from discreet.risk.transition import Transition
from discreet.rules.base import as_rule
from discreet.tables.table import Table


@checked
@dataclass(frozen=True)
class CellKey:
    """Cell key noise on counts: mean 0, variance at most ``v``, at most ``d`` away. [JOS15]_ section 3.2.

    Every published cell, margins included, is perturbed by its own key: the same records show the same value in every
    table, whoever asks, and totals need not add up. ``js``, ``pstay`` and ``mono`` as in ``PTable.design``; ``ptable``
    is a ready table or its file instead. ``zeros`` is the share of empty cells that show a small count (js + 1), by a
    key made from their categories; structural zeros stay. Without keys give a ``seed``.

    >>> from discreet import Table
    >>> CellKey(2, 1, seed=3)(Table.of([[3, 0], [1, 2]], ["area", "sex"])).published["count"].tolist()
    [8, 5, 1, 4, 3, 0, 3, 1, 4]
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=False, cellwise=True, transition=True)
    d: int = 2
    v: float = 1.0
    js: int = field(default=0, kw_only=True)
    pstay: float | None = field(default=None, kw_only=True)
    mono: bool = field(default=True, kw_only=True)
    zeros: float = field(default=0.0, kw_only=True)
    ptable: PTable | str | Path | None = field(default=None, kw_only=True)
    seed: int | None = field(default=None, kw_only=True)
    secret: str | bytes | Secret | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        share("zeros", self.zeros)
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))
        if self.ptable is None:
            _designed(self.d, self.v, self.js, self.pstay, self.mono)  # refuse what cannot be had

    @cached_property
    def noise(self) -> PTable:
        """The perturbation table that is used."""
        table = self.ptable
        if table is None:
            table = _designed(self.d, self.v, self.js, self.pstay, self.mono)
        elif not isinstance(table, PTable):
            table = PTable.read(table)
        return table.with_zeros(self.zeros, self.js + 1) if self.zeros else table

    def __call__(self, table: Table) -> Protected:
        true = count_cells(table, "the cell key method")
        if (true < 0).any():
            raise InputError("a group that takes others away is negative here; a count cannot be")
        noise, shown = self.noise, true.copy()
        at = np.flatnonzero(true)
        shown[at] += noise.look_up(true[at], uniforms(table, seed=self.seed, secret=self.secret, only=at))
        if noise.moves_zeros:
            empty = np.flatnonzero((true == 0) & ~table.structural)
            chance = zero_uniforms(table, empty, seed=self.seed, secret=self.secret)
            shown[empty] = noise.look_up(true[empty], chance)
        lower, upper = noise.bounds(shown)
        details = {"d": noise.d, "ptable": noise, "seed": self.seed}
        return perturbed(table, shown, "cell key method", lower=lower, upper=upper, **details)

    def behind(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """The least and greatest count that shows a value from ``lower`` to ``upper``.

        >>> least, most = CellKey(2, 1, seed=3).behind(np.array([10.0]), np.array([12.0]))
        >>> least.tolist(), most.tolist()
        ([8.0], [14.0])
        """
        bounded = np.isfinite(lower) & np.isfinite(upper)
        least, most = np.zeros(np.shape(lower)), np.full(np.shape(upper), np.inf)
        pairs, back = np.unique(np.stack([lower[bounded], upper[bounded]]), axis=1, return_inverse=True)
        ends = np.array([self.noise.counts_behind(int(first), int(last)) for first, last in pairs.T]).reshape(-1, 2)
        least[bounded], most[bounded] = ends[back.ravel()].T
        return least, most

    def transition(self, table: Table | None = None) -> Transition:
        """P(shows j | was i).

        >>> [(shown, round(p, 3)) for shown, p in CellKey(1, 0.5, seed=3).transition().outcomes(4)]
        [(3, 0.25), (4, 0.5), (5, 0.25)]
        """
        return self.noise.transition()


@lru_cache(maxsize=64)
def _designed(d: int, v: float, js: int, pstay: float | None, mono: bool) -> PTable:
    return PTable.design(d, v, js, pstay, mono=mono)


@checked
@dataclass(frozen=True, kw_only=True)
class CellKeyMagnitude:
    r"""Cell key noise on magnitudes: the largest contributions times a flexible multiplier. Giessing and Tent (2019).

    .. math:: \hat X = X + \sum_{k \le K} \epsilon_k\, m(|x_k|)\, |x_k|\, v_k

    x_k is the k-th largest contribution, v_k noise with variance 1 and at most ``d``, looked up by the cell key, and m
    falls from ``p[0]`` (up to ``flex``) to ``p[1]`` for large contributions: with z = flex and x > z,
    m = p1 (1 + (p0 x - p1 z) / (p1 z) (2 z / (z + x))^q). ``epsilon`` has one weight a contribution, the first is 1.
    ``mu`` is added to the size of the noise of cells that ``mu_rule`` finds sensitive. Differs from R's cellKey in that
    the noise is symmetric for small contributions too, which (d + mu) p0 <= 1 keeps from turning a cell negative.

    >>> import pandas as pd
    >>> from discreet import Microdata, tabulate
    >>> firms = pd.DataFrame({"area": ["N", "N", "S", "S"], "turnover": [90, 5, 40, 60]})
    >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
    >>> noisy = CellKeyMagnitude(flex=50, p=(0.3, 0.1), d=3, seed=1)(tabulate(data, "area", value="turnover"))
    >>> noisy.published["turnover"].tolist()
    [204, 66, 120]
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=False, cellwise=False, transition=False)
    flex: float = 1000.0
    p: Sequence[float] = (0.25, 0.05)
    q: float = 3.0
    epsilon: Sequence[float] = (1.0,)
    d: float = 2.0
    mu: float = 0.0
    mu_rule: Any = None
    seed: int | None = None
    secret: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        p, epsilon = tuple(self.p), tuple(self.epsilon)
        if len(p) != 2 or not 0 < p[1] <= p[0]:
            raise InputError(f"p={p}: give two shares above 0, the first for small contributions, not below the second")
        if not epsilon or epsilon[0] != 1 or list(epsilon) != sorted(epsilon, reverse=True) or epsilon[-1] < 0:
            raise InputError(f"epsilon={epsilon}: give weights in falling order, the first 1, none below 0")
        positive("flex", self.flex)
        positive("q", self.q, 1)
        positive("mu", self.mu)
        if self.mu and self.mu_rule is None:
            raise InputError("mu is extra noise for sensitive cells: say which (mu_rule=), or leave it at 0")
        if self.d <= 1 or (self.d + self.mu) * p[0] > 1:
            raise InputError(
                f"d={self.d}, mu={self.mu}: d must be above 1 and (d + mu) * p[0] at most 1, or a cell "
                "could turn negative"
            )
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))

    def multiplier(self, x: Any) -> Floats:
        """m(x): the share of a contribution that one unit of noise is.

        >>> CellKeyMagnitude().multiplier([10, 1000, 1e9]).round(4).tolist()
        [0.25, 0.25, 0.05]
        """
        small, large = self.p
        size = np.maximum(np.abs(np.asarray(x, np.float64)), self.flex)
        rise = (small * size - large * self.flex) / (large * self.flex)
        out = large * (1 + rise * (2 * self.flex / (self.flex + size)) ** self.q)
        return np.minimum(out, small)  # the formula itself overshoots where q < 2 p0 / (p0 - p1)

    def __call__(self, table: Table) -> Protected:
        if table.magnitude is None:
            raise InputError("this table counts records: CellKeyMagnitude is for magnitudes (tabulate with value=)")
        top = table.contributions.top
        if top < len(self.epsilon):
            raise InputError(
                f"epsilon has {len(self.epsilon)} weights but the table keeps the {top} largest "
                f"contributions; tabulate with top={len(self.epsilon)}"
            )
        statistic = table.statistic(table.measure)
        true = statistic.cells / 10**statistic.decimals
        noise = self._noise(table, true)
        shown = np.rint((true + noise) * 10**statistic.decimals).astype(np.int64)
        words = "cell key method for magnitudes"
        details: dict[str, Any] = {"p": self.p, "d": self.d, "seed": self.seed}
        if (true < 0).any():
            return perturbed(table, shown, words, **details)
        reach = (self.d + self.mu) * self.p[0]
        slack = 1.0  # the rounding to the last decimal
        with np.errstate(divide="ignore"):
            upper = np.where(shown > 0, (shown + slack) / np.float64(1 - reach), 0 if reach < 1 else slack)
        lower = np.maximum((shown - slack) / (1 + reach), 0)
        return perturbed(table, shown, words, lower=lower, upper=upper, **details)

    def idle(self, *, counts: bool) -> str:
        """A multiplier near 0 adds next to nothing.

        >>> CellKeyMagnitude(p=(0.005, 0.005), seed=1).idle(counts=False)
        'with p below 1% changes almost nothing'
        """
        return "" if min(self.p) >= LEAST else f"with p below {LEAST:.0%} changes almost nothing"

    def _noise(self, table: Table, true: Floats) -> Floats:
        size = np.abs(table.contributions.value * table.contributions.weight)[:, : len(self.epsilon)]
        size = np.where(np.isnan(size), 0.0, size)
        size[table.layout.signed, 0] = np.abs(true[table.layout.signed])  # nobody's contribution is defined there
        sensitive = np.zeros(len(table), bool) if self.mu_rule is None else as_rule(self.mu_rule)(table)
        at = np.flatnonzero(size[:, 0] > 0)
        noise = np.zeros(len(table))
        for k, weight in enumerate(self.epsilon):
            v = _standard(self.d, uniforms(table, seed=self.seed, secret=self.secret, purpose=f"value {k}", only=at))
            x, more = size[at, k], np.where(sensitive[at], self.mu, 0.0)
            noise[at] += weight * self.multiplier(x) * x * np.sign(v) * (np.abs(v) + more)
        return noise


_FINE = 8  # steps of noise within one unit


def _standard(d: float, uniform: Floats) -> Floats:
    """Symmetric noise of variance 1 between -d and d, the maximum-entropy distribution in steps of an eighth."""
    ends = _fine_ends(int(d * _FINE))
    out: Floats = (np.searchsorted(ends, uniform, side="right") - int(d * _FINE)) / _FINE
    return out


@lru_cache(maxsize=16)
def _fine_ends(steps: int) -> Floats:
    p = largest_entropy(np.arange(-steps, steps + 1), float(_FINE**2), 0.0, True)
    if p is None:
        raise InputError("no such noise; give a larger d")
    half = (p + p[::-1]) / 2  # symmetric to the last bit
    return np.cumsum(half)[:-1]
