"""Rounding to a base: deterministic, unbiased random, and semi-controlled. [JOS15]_ section 3.2, [Ant16]_ 2.4.1.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked, positive
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.methods.contract import Contract
from discreet.methods.keys import Secret, generator, read_source, uniforms
from discreet.methods.perturb.outcome import perturbed, whole_base
from discreet.release import Protected
from discreet.release.noise_law import SummedNoise
from discreet.risk.transition import Transition
from discreet.tables.table import Table

MOST_UNITS = 10_000_000  # of a base whose residues are counted one by one
MOST_ROWS = 5_000  # of a base that becomes a matrix


@checked
@dataclass(frozen=True)
class Round:
    """Deterministic rounding to the nearest multiple of a base, halves upwards. [Ant16]_ section 2.4.1.2.

    Every published cell on its own, so totals need not add up. Base 3 shows whether a cell is 0 or 1, 2 to 4, ...

    >>> from discreet import Table
    >>> Round(5)(Table.of([[3, 0], [1, 2]], ["area", "sex"])).published["count"].tolist()
    [5, 5, 0, 5, 5, 0, 5, 0, 0]
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=False, cellwise=True, transition=True)
    base: float = 3

    def __post_init__(self) -> None:
        positive("base", self.base)

    def __call__(self, table: Table) -> Protected:
        b = whole_base(table, self.base)
        shown = _nearest(table.statistic(table.measure).cells, b)
        words = f"rounded to the nearest multiple of {self.base:g}"
        return perturbed(table, shown, words, lower=shown - b // 2, upper=shown + (b - 1) // 2, base=self.base)

    def behind(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """The least and greatest count that shows a value from ``lower`` to ``upper``.

        >>> least, most = Round(5).behind(np.array([10.0]), np.array([15.0]))
        >>> least.tolist(), most.tolist()
        ([8.0], [17.0])
        """
        b = _whole(self.base)
        return np.ceil(lower / b) * b - b // 2, np.floor(upper / b) * b + (b - 1) // 2

    def transition(self, table: Table | None = None) -> Transition:
        """P(shows j | was i), for counts.

        >>> Round(5).transition().outcomes(8)
        ((10, 1.0),)
        """
        b = _whole(self.base)
        matrix = np.zeros((b, b + 1))
        matrix[np.arange(b), _nearest(np.arange(b), b)] = 1
        return Transition(matrix, period=b)

    def idle(self, *, counts: bool) -> str:
        """Base 1 rounds no count.

        >>> Round(1).idle(counts=True), Round(5).idle(counts=True)
        ('to base 1 changes no count', '')
        """
        return "to base 1 changes no count" if counts and self.base == 1 else ""


@checked
@dataclass(frozen=True)
class RandomRound:
    """Unbiased random rounding: up with probability residue / base. [JOS15]_ section 3.2, [Ant16]_ section 2.4.1.2.

    Every published cell on its own, so totals need not add up. The random number comes from the cell key, so that the
    same records are rounded the same way in every table; with ``seed`` from the seed and the cell's codes.

    >>> from discreet import Table
    >>> RandomRound(3, seed=1)(Table.of([[3, 0], [1, 2]], ["area", "sex"])).published["count"].tolist()
    [6, 6, 3, 3, 3, 0, 3, 0, 0]
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=False, cellwise=True, transition=True)
    base: float = 3
    _: KW_ONLY
    seed: int | None = None
    secret: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        positive("base", self.base)
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))

    def __call__(self, table: Table) -> Protected:
        b = whole_base(table, self.base)
        true = table.statistic(table.measure).cells
        residue = true % b
        open_ = np.flatnonzero(residue)
        shown = true - residue
        shown[open_] += b * (uniforms(table, seed=self.seed, secret=self.secret, only=open_) * b < residue[open_])
        words = f"randomly rounded to base {self.base:g}"
        return perturbed(table, shown, words, lower=shown - b + 1, upper=shown + b - 1, base=self.base, seed=self.seed)

    def behind(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """The least and greatest count that shows a value from ``lower`` to ``upper``.

        >>> least, most = RandomRound(5, seed=1).behind(np.array([10.0]), np.array([10.0]))
        >>> least.tolist(), most.tolist()
        ([6.0], [14.0])
        """
        b = _whole(self.base)
        return np.ceil(lower / b) * b - b + 1, np.floor(upper / b) * b + b - 1

    def transition(self, table: Table | None = None) -> Transition:
        """P(shows j | was i), for counts.

        >>> RandomRound(5, seed=1).transition().outcomes(8)
        ((5, 0.4), (10, 0.6))
        """
        return _random(_whole(self.base))

    def idle(self, *, counts: bool) -> str:
        """Base 1 rounds no count.

        >>> RandomRound(1, seed=1).idle(counts=True), RandomRound(3, seed=1).idle(counts=True)
        ('to base 1 changes no count', '')
        """
        return "to base 1 changes no count" if counts and self.base == 1 else ""


@checked
@dataclass(frozen=True)
class SemiControlledRound:
    """Random rounding with the number rounded up fixed per residue, so that totals are kept. [JOS15]_ section 3.2.

    Inner cells are rounded and everything else is their sum, so the table adds up. ``control`` names the dimensions
    whose inner groups keep their totals: none for the whole table, ``("region",)`` for every region, rows or columns
    of a two-way table by their variable. Of the n cells of a group with residue r about n r / base go up; the numbers
    are chosen so that the group's total is its nearest multiple of the base, which rounding them one by one, as the
    paper has it, gives only on average. With ``unbiased`` the total too is rounded at random and every cell's
    expectation is its true value exactly.

    >>> from discreet import Table
    >>> t = Table.of([[4, 1], [1, 3]], ["area", "sex"])
    >>> int(SemiControlledRound(3, seed=1)(t).published["count"][0])
    9
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=False, cellwise=False, transition=True)
    base: float = 3
    _: KW_ONLY
    control: Sequence[str] | str = ()
    unbiased: bool = False
    seed: int | None = None
    secret: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        positive("base", self.base)
        control = (self.control,) if isinstance(self.control, str) else tuple(self.control)
        object.__setattr__(self, "control", control)
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))

    def __call__(self, table: Table) -> Protected:
        b = whole_base(table, self.base)
        if b > MOST_UNITS:
            raise InputError(
                f"base={self.base} is {b:,} units of the last decimal, more than {MOST_UNITS:,}: give the "
                "measure fewer decimals, or use RandomRound"
            )
        true = table.statistic(table.measure).inner
        group, groups = groups_of(table, self.control)
        residue = true % b
        shown = true - residue
        open_ = np.flatnonzero(residue)
        chance = uniforms(table, seed=self.seed, secret=self.secret, inner=True, only=open_)
        stratum = group[open_] * b + residue[open_]
        up = _numbers_up(np.bincount(stratum, minlength=groups * b).reshape(groups, b), self._starts(groups, b, chance))
        order = np.lexsort((chance, stratum))
        rank = _rank_within(stratum[order])
        shown[open_[order[rank < up.ravel()[stratum[order]]]]] += b
        return self._protected(table, b, shown)

    def separately(self, name: str) -> SemiControlledRound | None:
        """The method that rounds each code of a dimension as a table of its own; None if all play a part for each.

        >>> SemiControlledRound(3).separately("area").control
        ('area',)
        """
        return None if self.unbiased else replace(self, control=(name,))

    def _starts(self, groups: int, b: int, chance: Array) -> Array:
        """Where each group's systematic choice begins: in the middle, or at random but fixed by the same numbers."""
        return generator(chance).integers(0, b, groups) if self.unbiased else np.full(groups, b // 2)

    def _protected(self, table: Table, b: int, inner: Array) -> Protected:
        shown = table.layout.aggregate(inner)
        width = table.layout.parts * (b - 1)
        whole = _whole_groups(table, self.control)
        width = np.where(whole > 0, np.minimum(width, whole * (b - 1 if self.unbiased else b // 2)), width)
        by = f", totals kept by {' x '.join(self.control)}" if self.control else ", total kept"
        words = f"semi-controlled random rounding to base {self.base:g}{by}"
        details = {"base": self.base, "seed": self.seed, "control": self.control, "unbiased": self.unbiased}
        return perturbed(table, shown, words, lower=shown - width, upper=shown + width, **details)

    def transition(self, table: Table | None = None) -> Transition:
        """P(shows j | was i) of one inner count; cells of a group depend on each other.

        >>> SemiControlledRound(5, seed=1).transition().outcomes(8)
        ((5, 0.4), (10, 0.6))
        """
        return _random(_whole(self.base))

    def noise_law(self, dimensions: Sequence[Dimension]) -> SummedNoise | None:
        """How far true counts may be from shown ones; nothing is said of magnitudes.

        >>> SemiControlledRound(5, seed=1).noise_law(())
        SummedNoise(base=5, kept=False, most_steps=None, total=2)
        """
        if self.base != int(self.base):
            return None
        base = int(self.base)
        total = None if self.control else base - 1 if self.unbiased else base // 2
        return SummedNoise(base, total=total)

    def idle(self, *, counts: bool) -> str:
        """Base 1 rounds no count.

        >>> SemiControlledRound(1, seed=1).idle(counts=True), SemiControlledRound(3, seed=1).idle(counts=True)
        ('to base 1 changes no count', '')
        """
        return "to base 1 changes no count" if counts and self.base == 1 else ""


def groups_of(table: Table, control: Sequence[str]) -> tuple[Array, int]:
    """For every inner cell the group of the named dimensions it lies in, and how many groups there are."""
    layout = table.layout
    group = np.zeros((1,) * len(layout.shape), np.int64)
    number = 1
    for k in [layout.axis(name) for name in control]:
        own = np.arange(layout.shape[k]).reshape([-1 if j == k else 1 for j in range(len(layout.shape))])
        group, number = group * layout.shape[k] + own, number * layout.shape[k]
    flat = np.broadcast_to(group, layout.shape).ravel()
    return (flat if layout.possible is None else flat[layout.inner]), number


def _whole(base: float) -> int:
    if base != int(base) or base < 1:
        raise InputError(f"base={base}: a transition matrix is one of counts, for a whole base")
    if base > MOST_ROWS:
        raise InputError(f"base={base}: a transition matrix is made for a base of at most {MOST_ROWS:,}")
    return int(base)


def _nearest(x: Array, b: int) -> Array:
    out: Array = (2 * x + b) // (2 * b) * b
    return out


def _random(base: int) -> Transition:
    return Transition([[1.0]]) if base == 1 else Transition.rounding(base)


def _numbers_up(cells: Array, start: Array) -> Array:
    """How many cells of each group and residue are rounded up: systematically along the residues, from a start.

    Every number is its expectation rounded up or down, and so is their sum; with a start that is uniform over
    0, ..., base - 1 the numbers' means are the expectations.
    """
    b = cells.shape[1]
    owed = np.cumsum(cells * np.arange(b), axis=1)
    return np.diff((owed + start[:, None]) // b, axis=1, prepend=0)


def _rank_within(ordered: Array) -> Array:
    """The position of every entry within its run of equal values."""
    if not ordered.size:
        return ordered
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return np.arange(len(ordered)) - np.repeat(first, np.diff(np.append(first, len(ordered))))


def _whole_groups(table: Table, control: Sequence[str]) -> Array:
    """How many whole control groups a published cell consists of; 0 where it cuts through some or takes some away."""
    layout = table.layout
    groups = np.ones(len(layout), np.int64)
    for k, dimension in enumerate(layout.dimensions):
        size = np.array([len(dimension.leaves_of(code)) for code in dimension.codes])
        held = size if dimension.name in control else np.where(size == len(dimension.leaves), 1, 0)
        groups *= held[layout.codes[:, k]]
    return np.where(layout.signed, 0, groups)
