"""Rounding only what is small, with everything still adding up, as R's SmallCountRounding does (Langsrud 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.base.arguments import checked, whole
from discreet.data.dimension import Dimension
from discreet.methods.contract import Contract
from discreet.methods.keys import Secret, read_source, uniforms
from discreet.methods.perturb.outcome import count_cells, perturbed
from discreet.release import Protected
from discreet.release.noise_law import SummedNoise
from discreet.tables.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_PASSES = 200  # of changes after the first choice, one cell or a pair at a time
_TRIES = 30  # cells from which a pair is tried
_LITTLE = 1e-3  # a gain below this is a tie


@checked
@dataclass(frozen=True)
class SmallCountRound:
    """Inner counts rounded to 0 or the base until no *published* one is 1 to base - 1. Langsrud and Heldal (2018).

    "An algorithm for small count rounding of tabular data", the method of R's SmallCountRounding. Only inner cells that
    lie in a small published cell are touched, and those that these would make small in turn. Which of them go up is
    chosen so that the published cells change little (least squares: greedily, then by changes of one or two cells).
    Everything adds up. The random numbers (cell keys, or a ``seed``) only settle ties: there is no expectation to be
    unbiased in.

    >>> from discreet import Table
    >>> SmallCountRound(3, seed=1)(Table.of([[8, 1], [1, 7]], ["area", "sex"])).published["count"].tolist()
    [15, 8, 7, 8, 8, 0, 7, 0, 7]
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=False, cellwise=False, transition=False)
    base: int = 3
    _: KW_ONLY
    seed: int | None = None
    secret: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        whole("base", self.base, 2, 1 << 53)
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))

    def __call__(self, table: Table) -> Protected:
        count_cells(table, "small-count rounding")
        b, true = self.base, table.statistic("count").inner
        touched = np.flatnonzero(to_round(table, b))
        shown = true.copy()
        if touched.size:
            matrix = table.matrix[touched].astype(np.float64)
            ties = uniforms(table, seed=self.seed, secret=self.secret, inner=True, only=touched)
            shown[touched] = b * _choose(matrix, true[touched].astype(float), b, ties)
        published = table.layout.aggregate(shown)
        width = np.where(
            table.is_inner, 0, table.layout.parts * (b - 1)
        )  # an inner count above the base is the true one
        below = np.where(table.is_inner & (published == b), b - 1, width)
        above = np.where(table.is_inner & (published == 0) & ~table.structural, b - 1, width)
        return perturbed(
            table,
            published,
            f"counts below {b} rounded to 0 or {b} in the inner cells",
            lower=published - below,
            upper=published + above,
            base=b,
            seed=self.seed,
            rounded=int(touched.size),
        )

    def noise_law(self, dimensions: Sequence[Dimension]) -> SummedNoise:
        """How far true counts may be from shown ones.

        >>> SmallCountRound(3, seed=1).noise_law(()).kept
        True
        """
        return SummedNoise(self.base, kept=True)


def to_round(table: Table, base: int) -> Array:
    """Which inner cells are rounded: the small ones of small published cells, and of those that could become small.

    >>> to_round(Table.of([[8, 1], [1, 7]], ["area", "sex"], margins=[("area",), ("sex",)]), 3).tolist()
    [False, False, False, False]
    """
    true = table.statistic("count").inner
    small = (true > 0) & (true < base)
    chosen = np.zeros(len(true), bool)
    while True:  # what surely stays: inner cells that are not chosen
        sure = table.layout.aggregate(np.where(chosen, 0, true), absolute=True)
        risky = (sure > 0) & (sure < base)
        grown = chosen | (small & (table.layout.matrix[:, np.flatnonzero(risky)].astype(bool).sum(axis=1) > 0))
        if (grown == chosen).all():
            return chosen
        chosen = grown


def _choose(matrix: csr_array, true: Floats, base: int, ties: Floats) -> Array:
    """0 or 1 for every touched cell: greedily the one that brings the published sums closest, then small changes."""
    choice = _Choice(matrix, true, base, ties)
    for _ in range(round(true.sum() / base)):
        choice.change(int(np.argmax(np.where(choice.up, -np.inf, choice.score))))
    for _ in range(_PASSES):
        gain = choice.gain()
        best = int(np.argmax(gain))
        if gain[best] > _LITTLE:
            choice.change(best)
        elif not any(choice.exchange(int(first)) for first in np.argsort(-gain, kind="stable")[:_TRIES]):
            break
    return choice.up.astype(np.int64)


class _Choice:
    """Which cells go up, and how much each change would bring: ``score`` is the fall of the squared deviation of all
    published cells if a cell that is down goes up, in units of the base."""

    def __init__(self, matrix: csr_array, true: Floats, base: int, ties: Floats) -> None:
        self.matrix, self.by_cell, self.base = matrix, matrix.T.tocsr(), base
        self.size: Floats = np.asarray(matrix.power(2).sum(axis=1), np.float64).ravel()
        self.up = np.zeros(len(true), bool)
        self.score: Floats = 2 * (matrix @ (self.by_cell @ true)) - base * self.size + 1e-6 * ties

    def gain(self) -> Floats:
        """The same for changing one's mind about any cell."""
        return np.where(self.up, -(self.score + 2 * self.base * self.size), self.score)

    def change(self, one: int) -> None:
        """Round one cell the other way and bring everybody's score up to date."""
        step = -self.base if self.up[one] else self.base
        span = slice(self.matrix.indptr[one], self.matrix.indptr[one + 1])
        for cell, sign in zip(self.matrix.indices[span], self.matrix.data[span], strict=True):
            inside = slice(self.by_cell.indptr[cell], self.by_cell.indptr[cell + 1])
            self.score[self.by_cell.indices[inside]] -= 2 * step * sign * self.by_cell.data[inside]
        self.up[one] = not self.up[one]

    def exchange(self, first: int) -> bool:
        """Change one cell and the one that then gains most; undone unless both together help."""
        cost = self.gain()[first]
        self.change(first)
        gain = self.gain()
        gain[first] = -np.inf
        second = int(np.argmax(gain))
        helps = bool(cost + gain[second] > _LITTLE)
        self.change(second if helps else first)
        return helps
