"""The cell key method for counts: noise looked up with the mixed sum of record keys.

Fraser and Wooton (2005), Thompson, Broadfoot and Elazar (2013); [JOS15]_ section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked, share
from discreet.errors import InputError
from discreet.methods.contract import Contract
from discreet.methods.keys import Secret, read_source, uniforms, zero_uniforms
from discreet.methods.perturb.outcome import count_cells, perturbed
from discreet.methods.perturb.ptable import PTable
from discreet.release import Protected
from discreet.risk.transition import Transition
from discreet.tables.table import Table

WEIGHTED = "weighted count"


@checked
@dataclass(frozen=True)
class CellKey:
    """Cell key noise on counts: mean 0, variance at most ``v``, at most ``d`` away. [JOS15]_ section 3.2.

    Every published cell, margins included, is perturbed by its own key: the same records show the same value in every
    table, whoever asks, and totals need not add up. ``js``, ``pstay`` and ``mono`` as in ``PTable.design``; ``ptable``
    is a ready table or its file instead. ``zeros`` is the share of empty cells that show a small count (js + 1), by a
    key made from their categories; structural zeros stay. Without keys give a ``seed``. A weighted count moves by its
    mean weight for each record, and is shown in whole numbers.

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
        if table.measure == WEIGHTED:
            return self._weighted(table)
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

    def _weighted(self, table: Table) -> Protected:
        """W n'/n for a weighted count W of n records that shows n', as the records' own count would.

        Where nobody is and a small count is shown, the mean weight of all records is taken.
        """
        counts = self(replace(table, measure="count"))
        weights, records = table.statistic(WEIGHTED), table.count
        mean = weights.inner.sum() / max(int(table.statistic("count").inner.sum()), 1)
        each = np.where(records > 0, weights.cells / np.maximum(records, 1), mean)
        unit = 10**weights.decimals
        shown = np.rint(each * counts.published["count"] / unit).astype(np.int64) * unit
        return perturbed(table, shown, "cell key method", **counts.details)

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
