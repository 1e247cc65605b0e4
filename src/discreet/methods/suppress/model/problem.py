"""The cell suppression problem in numbers: cells that may move, sums that tie them, and how far some must be able to.

An intruder who sees a pattern of hidden cells may take every table for possible that differs from the true one by a
move ``d``: ``rows @ d == 0``, no published cell moves, a hidden one by at most ``down`` and ``up``. A pattern protects
if for each need there are such moves that reach its levels.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import numbers, one_of
from discreet.base.kinds import is_function
from discreet.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Requirements:
    """Cells that must be able to lie ``below`` and ``above`` their value by as much, and move by ``sliding`` in all.

    ``coalition`` is the number of the group of intruders a need is for: they know the cells ``known[coalition]``
    besides what is published; −1 for an intruder who knows nothing more.
    """

    cell: Array
    below: Array
    above: Array
    sliding: Array
    coalition: Array
    known: tuple[Array, ...] = ()

    @classmethod
    def of(cls, cell: Array, below: Array, above: Array, sliding: Array | None = None) -> Requirements:
        """Requirements against an intruder from outside."""
        nothing = np.zeros(len(cell))
        outside = np.full(len(cell), -1)
        slide = nothing if sliding is None else np.asarray(sliding, float)
        return cls(np.asarray(cell, np.int64), np.asarray(below, float), np.asarray(above, float), slide, outside)

    def __len__(self) -> int:
        return len(self.cell)

    def take(self, at: Array) -> Requirements:
        """Some of them."""
        return Requirements(
            self.cell[at], self.below[at], self.above[at], self.sliding[at], self.coalition[at], self.known
        )

    def __add__(self, other: Requirements) -> Requirements:
        shifted = np.where(other.coalition >= 0, other.coalition + len(self.known), -1)
        return Requirements(
            np.concatenate([self.cell, other.cell]),
            np.concatenate([self.below, other.below]),
            np.concatenate([self.above, other.above]),
            np.concatenate([self.sliding, other.sliding]),
            np.concatenate([self.coalition, shifted]),
            self.known + other.known,
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """Cells, the rows that tie them, what hiding each costs, and what must be possible.

    ``weight`` is infinite where a cell must be published; ``hidden`` are hidden whatever happens and cost nothing.
    """

    rows: csr_array
    down: Array
    up: Array
    weight: Array
    hidden: Array
    needs: Requirements = field(repr=False)

    def __post_init__(self) -> None:
        n = self.rows.shape[1]
        for name in ("down", "up", "weight", "hidden"):
            if getattr(self, name).shape != (n,):
                raise InputError(f"{name} must have one entry for each of the {n:,} cells")
        if (self.down < 0).any() or (self.up < 0).any():
            raise InputError("every cell's value must lie within its bounds")
        if (self.weight < 0).any() or np.isnan(self.weight).any():
            raise InputError("weights of cells are not negative")
        if not self.hidden[self.needs.cell].all():
            raise InputError("a cell that needs protection must be hidden")

    def __len__(self) -> int:
        return len(self.weight)

    @cached_property
    def free(self) -> Array:
        """Cells for which there is a choice."""
        return np.asarray(~self.hidden & np.isfinite(self.weight) & ((self.down > 0) | (self.up > 0)))

    def cost(self, pattern: Array) -> float:
        """The weight of the cells hidden for others' sake."""
        return float(self.weight[pattern & ~self.hidden].sum())

    def settled(self, published: Array, hidden: Array) -> Problem:
        """The same with no choice left for some cells: these are published, those hidden."""
        weight = np.where(published, np.inf, np.where(hidden, 0.0, self.weight))
        return replace(self, weight=weight, hidden=self.hidden | hidden)

    def with_needs(self, needs: Requirements) -> Problem:
        """The same cells with other needs."""
        return replace(self, needs=needs)


WORDS = ("value", "unity", "log", "count", "cost")


def check_weights(weights: Any) -> None:
    """Refuse what cannot say what hiding a cell costs: a word, a function, or numbers that are not negative."""
    if isinstance(weights, str):
        one_of("weights", weights, WORDS)
    elif not is_function(weights):
        checked = numbers("weights", weights)
        if checked.ndim != 1 or not (checked >= 0).all():
            raise InputError("weights are one number for each cell, none negative")
