"""What an intruder knows of a table's cells, and what follows: feasible intervals, cells with one value only."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array, Progress
from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.linear.system import ContradictionError, System
from discreet.tables import relations as related

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from discreet.linear.witness import Movement
    from discreet.tables.table import Table


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class Known:
    """Bounds on every cell and every inner cell, in units of the last published decimal.

    A published cell has both bounds at its value, a rounded one those that rounding implies, a hidden one −inf and inf.
    ``relations`` (rows x variables, see ``discreet.tables.relations``) are found from the matrix when not given, which
    is exact but slower: ``dataclasses.replace(known, lower=..., upper=...)`` keeps them for the next pattern.

    >>> from discreet import Table
    >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> known = Known.hiding(t, t.is_inner)
    >>> known.lower.tolist()
    [6.0, 4.0, 2.0, 3.0, -inf, -inf, 3.0, -inf, -inf]
    """

    matrix: csr_array
    lower: Array
    upper: Array
    inner_lower: Array
    inner_upper: Array
    integer: bool = True
    relations: csr_array | None = field(default=None, repr=False)
    rhs: Array | None = field(default=None, repr=False)
    ordered: Array | None = field(default=None, repr=False)
    """Pairs of cells, the first of which is not less than the second, where rows are sorted."""
    point: Array | None = field(default=None, repr=False)
    """A solution, cells then inner cells, to start from (confidential: the truth is one). Never changes a result."""

    @classmethod
    def hiding(cls, table: Table, hidden: Array, *, nonnegative: bool | None = None) -> Known:
        """Everything published as it is but for the hidden cells of a table's measure.

        >>> from discreet import Table
        >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> [b.tolist() for b in intervals(Known.hiding(t, t.is_inner))]
        [[6.0, 4.0, 2.0, 3.0, 1.0, 0.0, 3.0, 1.0, 0.0], [6.0, 4.0, 2.0, 3.0, 3.0, 2.0, 3.0, 3.0, 2.0]]
        """
        statistic = table.statistic(table.measure)
        cells = statistic.cells.astype(float)
        return cls(
            matrix=table.matrix,
            lower=np.where(hidden, -np.inf, cells),
            upper=np.where(hidden, np.inf, cells),
            inner_lower=inner_floor(table, nonnegative),
            inner_upper=np.full(table.layout.n_inner, np.inf),
            integer=table.measure == "count",
            relations=related.of_layout(table.layout),
            point=np.concatenate([statistic.cells, statistic.inner]).astype(float),
        )

    def system(self) -> System:
        """The equations within bounds over cells and inner cells.

        >>> from discreet import Table
        >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> known = Known.hiding(t, t.is_inner)
        >>> system = known.system()
        >>> system.rows.shape, system.upper.tolist()
        ((6, 9), [6.0, 4.0, 2.0, 3.0, inf, inf, 3.0, inf, inf])
        """
        rows = related.of_matrix(self.matrix) if self.relations is None else self.relations
        cells, variable = self.matrix.shape[1], related.variable_of_inner(self.matrix)
        lower, upper = np.full(rows.shape[1], -np.inf), np.full(rows.shape[1], np.inf)
        lower[:cells], upper[:cells] = self.lower, self.upper
        np.maximum.at(lower, variable, self.inner_lower)
        np.minimum.at(upper, variable, self.inner_upper)
        empty = np.diff(self.matrix.tocsc().indptr) == 0
        lower[:cells][empty], upper[:cells][empty] = np.maximum(lower[:cells][empty], 0), 0
        rhs = np.zeros(rows.shape[0]) if self.rhs is None else self.rhs
        point = None
        if self.point is not None:
            point = np.zeros(rows.shape[1])
            point[variable], point[:cells] = self.point[cells:], self.point[:cells]
        whole = System(rows, rhs, lower, upper, self.integer, point)
        return whole if self.ordered is None or not len(self.ordered) else _with_order(whole, self.ordered)

    def blank(self) -> System:
        """The same equations where nothing is published: what everybody knows beforehand.

        >>> from discreet import Table
        >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> known = Known.hiding(t, t.is_inner)
        >>> known.blank().upper.tolist()
        [inf, inf, inf, inf, inf, inf, inf, inf, inf]
        """
        cells = len(self.lower)
        nothing = replace(self, lower=np.full(cells, -np.inf), upper=np.full(cells, np.inf), point=None)
        return nothing.system()

    def inner_variables(self) -> Array:
        """The variable of each inner cell, for intervals of inner cells: targets beyond the cells.

        >>> from discreet import Table
        >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> known = Known.hiding(t, t.is_inner)
        >>> known.inner_variables().tolist()
        [4, 5, 7, 8]
        """
        return related.variable_of_inner(self.matrix)


def _with_order(system: System, pairs: Array) -> System:
    """The system with an equation for each pair: the first less the second is a further variable, zero or more."""
    from scipy.sparse import coo_array, csr_array, hstack, vstack

    many, size = len(pairs), system.size
    at, ones = np.arange(many), np.ones(many)
    less = coo_array(
        (
            np.concatenate([ones, -ones, -ones]),
            (np.concatenate([at, at, at]), np.concatenate([pairs[:, 0], pairs[:, 1], size + at])),
        ),
        shape=(many, size + many),
    )
    wide = hstack([system.rows, csr_array((system.rows.shape[0], many))], format="csr")
    rows = csr_array(vstack([wide, less], format="csr"))
    point = system.point
    if point is not None:
        point = np.concatenate([point, point[pairs[:, 0]] - point[pairs[:, 1]]])
    return System(
        rows,
        np.concatenate([system.rhs, np.zeros(many)]),
        np.concatenate([system.lower, np.zeros(many)]),
        np.concatenate([system.upper, np.full(many, np.inf)]),
        system.integer,
        point,
    )


def inner_floor(table: Table, nonnegative: bool | None) -> Array:
    """Zero for inner cells that everybody knows not to be negative (by default: if none is), else −inf."""
    inner = table.statistic(table.measure).inner
    known = bool((inner >= 0).all()) if nonnegative is None else nonnegative
    if known and (inner < 0).any():
        raise InputError("some inner cells are negative; leave nonnegative=True out")
    return np.full(len(inner), 0.0 if known else -np.inf)


@checked
def intervals(known: Known, targets: Array | None = None, *, progress: Progress | None = None) -> tuple[Array, Array]:
    """Feasible interval of each target (cells by number or mask; default all): two linear programs each, few solved.

    Counts come as whole numbers: the ends are moved to whole values that the linear bounds leave, and short intervals
    are settled by integer programs. Raises InputError naming the contradicting cells if nothing fits the release.

    >>> from discreet import Table
    >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> known = Known.hiding(t, t.is_inner)
    >>> lower, upper = intervals(known, t.is_inner)
    >>> lower.tolist(), upper.tolist()
    ([1.0, 0.0, 1.0, 0.0], [3.0, 2.0, 3.0, 2.0])
    """
    lower, upper, _ = settled_intervals(known, targets, progress=progress)
    return lower, upper


@checked
def settled_intervals(
    known: Known, targets: Array | None = None, *, progress: Progress | None = None
) -> tuple[Array, Array, Array]:
    """The same, and which intervals are settled: a short one is not if no second whole value was found in time.

    >>> from discreet import Table
    >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> known = Known.hiding(t, t.is_inner)
    >>> lower, upper, settled = settled_intervals(known, t.is_inner)
    >>> settled.tolist()
    [True, True, True, True]
    """
    from discreet.linear.intervals import settled

    system = known.system()
    wanted = _numbers(targets, known.matrix.shape[1])
    try:
        return settled(system, wanted, progress)
    except ContradictionError:
        from discreet.audits.contradiction import explain

        raise explain(system, known.blank(), known.matrix.shape[1]) from None


@checked
def unmovable(known: Known, targets: Array, *, progress: Progress | None = None) -> Array:
    """Which targets have a single possible value: decided by witnesses, few programs, and rank modulo a prime.

    Where it is in doubt whether there is a second one in whole numbers, none is taken to be: see ``movement_of``.

    >>> from discreet import Table
    >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> known = Known.hiding(t, t.is_inner)
    >>> unmovable(known, t.is_inner).tolist()
    [False, False, False, False]
    >>> unmovable(Known.hiding(t, t.where(area="1", sex="1")), t.where(area="1", sex="1")).tolist()
    [True]
    """
    return ~movement_of(known, targets, progress=progress).moves


def movement_of(
    known: Known, targets: Array, *, progress: Progress | None = None, proofs: int | None = None
) -> Movement:
    """Of each target whether it has two possible values, and of which that is in doubt.

    ``proofs``: more targets than this that nothing moves are taken to have one value, without a proof of each.
    """
    from discreet.linear.witness import movement

    system = known.system()
    wanted = _numbers(targets, known.matrix.shape[1])
    try:
        return movement(system, wanted, progress, proofs=proofs)
    except ContradictionError:
        from discreet.audits.contradiction import explain

        raise explain(system, known.blank(), known.matrix.shape[1]) from None


def _numbers(targets: Array | None, cells: int) -> Array:
    if targets is None:
        return np.arange(cells)
    wanted = np.asarray(targets)
    return np.flatnonzero(wanted) if wanted.dtype == bool else wanted.astype(np.int64)
