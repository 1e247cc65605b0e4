"""Controlled rounding: multiples of a base that add up and lie next to the true values. [Ant16]_ section 2.4.1.2.

After Cox (1987) and Salazar-Gonzalez et al. (2005): a 0/1 program whose unknowns say which inner cells go up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Floats
from discreet.base.arguments import checked, positive
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.methods.contract import Contract
from discreet.methods.perturb.outcome import perturbed, whole_base
from discreet.release import Protected
from discreet.release.noise_law import SummedNoise
from discreet.tables.layout import Layout
from discreet.tables.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_WHOLE = 1e-6  # how far from a whole number still counts as one
_FIRST = 0.6  # of the time for a rounding next to the truth everywhere; the rest for one that is not
_UNPUBLISHED = 1e-4  # weight of an inner cell that nobody sees


@dataclass(frozen=True)
class Rounded:
    """Inner cells in whole steps of the base, the total deviation in steps, and how far it may be from the least."""

    inner: Array
    deviation: float
    gap: float
    restricted: bool


@checked
@dataclass(frozen=True)
class ControlledRound:
    """Controlled rounding: additive, next to the truth, of least total deviation. [Ant16]_ section 2.4.1.2, Cox (1987).

    Zero-restricted: a multiple of the base stays, any other cell goes to one of its two neighbours. Two-way tables with
    a hierarchy in at most one variable always have such a rounding; they are network flows, so that the linear
    program is whole. For others a 0/1 program is solved, and where no such rounding exists margins may go further,
    as little as possible (``details["restricted"]`` is then False). No chance is involved and no cell is unbiased.

    >>> from discreet import Table
    >>> ControlledRound(3)(Table.of([[4, 1], [1, 3]], ["area", "sex"])).published["count"].tolist()
    [9, 6, 3, 6, 6, 0, 3, 0, 3]
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=False, cellwise=False, transition=False)
    base: float = 3
    _: KW_ONLY
    time_limit: float = 60

    def __post_init__(self) -> None:
        positive("base", self.base)
        positive("time_limit", self.time_limit)

    def __call__(self, table: Table) -> Protected:
        b = whole_base(table, self.base)
        statistic = table.statistic(table.measure)
        rounding = controlled(table.layout, statistic.inner / b, time_limit=self.time_limit)
        shown = table.layout.aggregate(rounding.inner * b)
        width: Any = b - 1
        if not rounding.restricted:  # how far a margin went is for nobody to know
            width = np.where(table.is_inner, b - 1, table.layout.parts * (b - 1))
        return perturbed(
            table,
            shown,
            f"controlled rounding to base {self.base:g}",
            lower=shown - width,
            upper=shown + width,
            base=self.base,
            deviation=rounding.deviation * self.base,
            gap=rounding.gap,
            restricted=rounding.restricted,
        )

    def noise_law(self, dimensions: Sequence[Dimension]) -> SummedNoise | None:
        """How far true counts may be from shown ones: sums go further where no rounding next to all of them exists.

        >>> from discreet import Dimension
        >>> ControlledRound(3).noise_law([Dimension.flat("sex", "fm")]).most_steps
        1
        """
        if self.base != int(self.base):
            return None
        is_network = len(dimensions) <= 2 and sum(bool(d.groups) for d in dimensions) <= 1
        return SummedNoise(int(self.base), most_steps=1 if is_network else 2)

    def idle(self, *, counts: bool) -> str:
        """Base 1 rounds no count.

        >>> ControlledRound(1).idle(counts=True), ControlledRound(3).idle(counts=True)
        ('to base 1 changes no count', '')
        """
        return "to base 1 changes no count" if counts and self.base == 1 else ""


def controlled(layout: Layout, inner: Floats, *, unpublished: float = _UNPUBLISHED, time_limit: float = 60) -> Rounded:
    """Whole numbers next to real ones whose published sums too are next to the real sums, least in total deviation.

    ``inner`` holds the true inner cells in steps of the base (base 1 makes whole what proportional fitting leaves).
    ``unpublished`` is the weight of the deviation of inner cells that the layout does not publish.

    >>> from discreet import Dimension
    >>> controlled(Layout.of([Dimension.flat("a", "xy")]), np.array([0.3, 1.7])).inner.tolist()
    [0, 2]
    """
    floor, rest = _split(inner)
    unknown = np.flatnonzero(rest > 0)
    rounded = np.rint(floor).astype(np.int64)
    rows, least, rest_cells = _constraints(layout, inner, rounded, unknown)
    weight = np.full(layout.n_inner, unpublished)
    weight[layout.inner_of_cell[layout.inner_of_cell >= 0]] = 1
    cost = (weight * (1 - 2 * rest))[unknown] + rows.T @ (1 - 2 * rest_cells)
    with deadline.within(time_limit):
        with deadline.within(_FIRST * deadline.left()):
            answer = _solve(cost, rows, least, least + (rest_cells > 0))
        restricted = answer is not None
        if answer is None:
            answer = _solve_relaxed(cost, rows, least, rest_cells)
    if answer is None:
        raise InputError(
            "no rounding that adds up was found in the time limit; give more time (time_limit=), a "
            "larger base, or publish fewer margins at once"
        )
    rounded[unknown] += answer[0]
    deviation = np.abs(layout.aggregate(rounded) - layout.aggregate(inner)).sum()
    return Rounded(rounded, float(deviation), answer[1], restricted)


def _split(x: Floats) -> tuple[Floats, Floats]:
    """Whole and fractional part, where what is nearly whole is whole."""
    floor: Floats = np.floor(x + _WHOLE)
    rest: Floats = x - floor
    return floor, np.where(rest < _WHOLE, 0.0, rest)


def _constraints(layout: Layout, inner: Floats, rounded: Array, unknown: Array) -> tuple[csr_array, Floats, Floats]:
    """For every published sum: which unknowns it adds, the least number of them that go up, and its fraction."""
    sums = np.flatnonzero(layout.inner_of_cell < 0)
    floor, rest = _split(layout.aggregate(inner.astype(np.float64))[sums])
    least = floor - layout.aggregate(rounded)[sums]
    rows = layout.matrix[unknown][:, sums].T.tocsr().astype(np.float64)
    used = np.diff(rows.indptr) > 0
    return rows[used], least[used], rest[used]


def _solve(cost: Floats, rows: csr_array, least: Floats, most: Floats) -> tuple[Array, float] | None:
    """The 0/1 solution: that of the linear program if it is whole, as for networks it is, else by branching."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    if not cost.size:
        return np.zeros(0, np.int64), 0.0
    constraints = [LinearConstraint(rows, least, most)] if rows.shape[0] else []
    for whole in (0, 1):
        solution = milp(
            cost,
            integrality=np.full(cost.size, whole),
            bounds=Bounds(0, 1),
            constraints=constraints,
            options={"time_limit": deadline.left()},
        )
        if solution.x is None:
            return None
        up = np.rint(solution.x)
        if np.abs(solution.x - up).max() < _WHOLE:
            return up.astype(np.int64), float(solution.mip_gap or 0.0) if whole else 0.0
    return None


def _solve_relaxed(cost: Floats, rows: csr_array, least: Floats, rest: Floats) -> tuple[Array, float] | None:
    """As before, with sums that may go beyond their neighbours at the price of a full step each."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import hstack, identity

    n, m = cost.size, rows.shape[0]
    inside = rest > 0
    # sum of unknowns = least + inside + beyond - below; the cost of the part inside is already in ``cost`` as if linear
    full = hstack([rows, -identity(m, format="csr"), identity(m, format="csr")], format="csr")
    price = np.concatenate([cost, 2 * rest, 2 * (1 - rest)])
    integrality = np.concatenate([np.ones(n), np.zeros(2 * m)])
    top = np.concatenate([np.ones(n), np.full(2 * m, np.inf)])
    constraints = [LinearConstraint(full, least, least + inside)]
    solution = milp(
        price,
        integrality=integrality,
        bounds=Bounds(0, top),
        constraints=constraints,
        options={"time_limit": deadline.left()},
    )
    if solution.x is None:
        return None
    return np.rint(solution.x[:n]).astype(np.int64), float(solution.mip_gap or 0.0)
