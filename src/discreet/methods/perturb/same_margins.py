"""A random table with the margins of the true one: section 1 of [ODF03]_, after Fienberg, Makov and Steele (1998)."""

from __future__ import annotations

import itertools
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked, whole
from discreet.data.dimension import Dimension
from discreet.errors import InputError, nearest
from discreet.methods.contract import Contract
from discreet.methods.keys import Secret, generator, read_source, uniforms
from discreet.methods.perturb.margin_draws import arrays, dealt, more_than, pick, shared_out, walked
from discreet.methods.perturb.outcome import count_cells, perturbed
from discreet.release import Protected
from discreet.tables.table import Table

DISTRIBUTIONS = ("uniform", "exact")
KEPT = ("all", "one-way")


@checked
@dataclass(frozen=True)
class SameMargins:
    """Inner counts drawn at random among all tables with the same margins; the margins are published as they are.

    Section 1 of [ODF03]_. ``distribution="uniform"``: all such tables are alike likely. ``"exact"``: as likely as
    under independence given the margins, ∝ 1/∏ n!, the exact distribution of Fienberg, Makov and Steele (1998).
    ``keep="all"`` keeps every published sum, ``"one-way"`` only those of one variable; other sums then follow the drawn
    cells. Up to ``listed`` tables are listed and one is picked; beyond that units are dealt at random ("exact"), or
    ``sweeps`` of moves lead from dealt units towards the uniform distribution. Tables of three and more variables with
    all margins kept that cannot be listed are refused, since no such moves are known to connect them.

    The draw sees the margins alone: it tells no more than they do, however often it is made, and what they give away
    they still do. Random numbers come from cell keys, or from a ``seed``.

    >>> from discreet import Table
    >>> made = SameMargins(seed=1)(Table.of([[4, 1], [2, 3]], ["area", "sex"])).published["count"]
    >>> made[:4].tolist(), int(made[4] + made[5])
    ([10, 6, 4, 5], 5)
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=None, cellwise=False, transition=False)
    _: KW_ONLY
    distribution: str = "uniform"
    keep: str = "all"
    listed: int = 1_000
    sweeps: int = 1_000
    seed: int | None = None
    secret: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, known in (("distribution", DISTRIBUTIONS), ("keep", KEPT)):
            if (word := getattr(self, name)) not in known:
                raise InputError(f"{name}={word!r}: {nearest(str(word), known)}")
        whole("listed", self.listed, 0)
        whole("sweeps", self.sweeps, 1, 1_000_000)
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))

    def __call__(self, table: Table) -> Protected:
        count_cells(table, "a random table with the same margins")
        if not table.layout.is_full:
            raise InputError("a random table with the same margins needs a table with all its margins; leave none out")
        groups = [_siblings(d) for d in table.dimensions]
        chance = uniforms(table, seed=self.seed, secret=self.secret, purpose="same margins", inner=True)
        rng = generator(chance)
        true = table.layout.dense(table.statistic("count").inner)
        possible = table.layout.dense(np.ones(table.layout.n_inner, np.int64)) > 0
        if self.keep == "one-way":
            groups = [[np.arange(n)] for n in true.shape]
        drawn, listed = np.zeros_like(true), True
        for block in itertools.product(*groups):
            at = np.ix_(*block)
            drawn[at], whole_list = self._drawn(true[at], possible[at], rng)
            listed &= whole_list
        return self._protected(table, table.layout.aggregate(drawn.ravel()[table.layout.inner]), listed)

    def _drawn(self, true: Array, possible: Array, rng: np.random.Generator) -> tuple[Array, bool]:
        """One block drawn from its sums alone; and whether every table with these sums was looked at."""
        drawn = np.zeros_like(true)
        if true.ndim == 1:
            drawn[possible] = shared_out(int(true.sum()), int(possible.sum()), self.distribution, rng)
            return drawn, True
        simple = possible.all() and (true.ndim == 2 or self.keep == "one-way")  # moves are known to connect these
        if simple:
            drawn = dealt([true.sum(axis=tuple(j for j in range(true.ndim) if j != k)) for k in range(true.ndim)], rng)
        if (true.ndim == 2 or self.keep == "all") and not (simple and more_than(drawn, self.listed)):
            fitting = arrays([true.sum(axis=k) for k in range(true.ndim)], possible, self.listed)
            if fitting is not None:
                return pick(fitting, self.distribution, rng), True
        if not simple:
            raise InputError(
                "the tables with these margins are too many to be listed, and no moves are known to connect them "
                "(three variables or more with all margins kept, or structural zeros): keep='one-way', or list more"
            )
        return (drawn if self.distribution == "exact" else walked(drawn, self.sweeps, rng)), False

    def _protected(self, table: Table, shown: Array, listed: bool) -> Protected:
        kept = _kept(table, self.keep)
        protected = perturbed(
            table,
            shown,
            "cells drawn at random among the tables with the same margins, which are true"
            if self.keep == "all"
            else "cells drawn at random among the tables with the same totals of each variable, which are true",
            lower=np.where(kept, shown, 0),
            upper=np.where(kept, shown, np.where(table.structural, 0, np.inf)),
            listed=listed,
            seed=self.seed,
        )
        return replace(protected, truthful=None)  # margins are true, cells are not: nothing may hang on either


def _kept(table: Table, keep: str) -> Array:
    """Which published cells hold their true values."""
    if keep == "all" or len(table.dimensions) == 1:
        return np.asarray(~table.is_inner)
    inside = [
        np.array([c != d.total for c in d.codes])[table.layout.codes[:, k]] for k, d in enumerate(table.dimensions)
    ]
    return np.asarray(np.sum(inside, axis=0) <= 1)


def _siblings(dimension: Dimension) -> list[Array]:
    """The finest codes by the smallest group that holds them: within such sets counts can be exchanged."""
    if dimension.total is None:
        raise InputError(f"{dimension.name!r} has no total, so its margin is not published; give it one (total=)")
    held = [dimension.leaves_of(c) for c in dimension.codes if c not in dimension.leaf_position]
    if any(min(leaves.values()) < 0 for leaves in held):
        raise InputError(f"{dimension.name!r} has groups that take codes away: a table with its margins is not drawn")
    sets = sorted({frozenset(leaves) for leaves in held}, key=len)
    for a, b in itertools.combinations(sets, 2):
        if a & b and not a <= b:
            raise InputError(f"{dimension.name!r} has groups that overlap: a table with its margins is not drawn")
    smallest: dict[frozenset[str], list[int]] = {}
    for leaf in dimension.leaves:
        home = next(s for s in sets if leaf in s)
        smallest.setdefault(home, []).append(dimension.leaf_position[leaf])
    return [np.array(leaves) for leaves in smallest.values()]
