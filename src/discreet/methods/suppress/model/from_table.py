"""From a table and the roles of its cells to the cell suppression problem in numbers.

Variables are the cells (those of earlier tables last), the inner cells that no cell shows, and the sums that a rule
keeps unknown. Amounts are in units of the last decimal, divided by ``grain`` where those would be too large to compute
with; costs are in the measure's own units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import numbers
from discreet.errors import InputError
from discreet.methods.suppress.model import singletons
from discreet.methods.suppress.model.problem import Problem, Requirements
from discreet.methods.suppress.model.requirements import Quantities
from discreet.methods.suppress.model.roles import Roles
from discreet.methods.suppress.model.task import Task
from discreet.tables.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WEIGHTS = ("value", "unity", "log", "count")


@dataclass(frozen=True, eq=False)
class TableProblem:
    """The problem of a table; its first variables are the columns of ``task.roles.matrix``."""

    problem: Problem
    task: Task
    inner: Array  # variable of each inner cell
    owner: Array | None  # per inner cell the one who knows it, 0 for nobody
    nothing: Array  # inner cells of zero: what is added to them is one's own
    second: Array  # per variable how far away a second value lies

    @property
    def cells(self) -> int:
        """How many variables are columns."""
        return self.task.roles.n

    def widened(self, pattern: Array) -> Array:
        """A pattern of columns as one of all variables."""
        hidden = self.problem.hidden.copy()
        hidden[: self.cells] |= pattern
        return hidden

    def against(self, cells: Array, owners: Array) -> Requirements:
        """That the cells have a second value for those owners of others."""
        assert self.owner is not None
        people, number = np.unique(owners, return_inverse=True)
        known = tuple(self.inner[self.owner == who] for who in people)
        nothing = np.zeros(len(cells))
        return Requirements(cells.astype(np.int64), nothing, nothing, self.second[cells], number, known)


def problem_of(task: Task, weights: Any = "value") -> TableProblem:
    """The problem of hiding the cells of least weight."""
    table, roles = task.table, task.roles
    n = roles.n
    tuning = task.tuning.problem
    quantities = task.quantities(roles.primary)
    rows, inner = _rows(roles)
    size, sums = rows.shape[1], len(quantities.values) - n
    truth = np.zeros(size)
    truth[inner] = table.statistic(table.measure).inner
    truth[:n], truth[size - sums :] = quantities.values[:n], quantities.values[n:]
    down, up = _limits(table, roles, quantities, truth, inner)
    weight = np.zeros(size)
    weight[:n] = weigh(task, weights)
    weight[:n][roles.safe_zeros & (quantities.values[:n] == 0)] = np.inf
    hidden = np.ones(size, bool)
    hidden[:n] = task.withheld
    grain = max(1.0, float(np.abs(truth).max(initial=0)) / tuning.largest)
    second = np.maximum(1.0, tuning.second * np.abs(truth)) / grain
    single = task.singletons
    own = single.kind == singletons.OWN
    needs = _needs(task, size, grain, second)
    if len(decoys := np.flatnonzero(task.draw.decoys)):
        nothing = np.zeros(len(decoys))
        needs = needs + Requirements.of(decoys, nothing, nothing, second[decoys])
    if own and len(unseen := np.unique(inner[(single.group > 0) & (inner >= n)])):
        nothing = np.zeros(len(unseen))
        needs = needs + Requirements.of(unseen, nothing, nothing, second[unseen])
    problem = TableProblem(
        problem=Problem(rows, down / grain, up / grain, weight, hidden, needs),
        task=task,
        inner=inner,
        owner=single.group if own else None,
        nothing=truth[inner] == 0,
        second=second,
    )
    return problem if not own else _with_seeds(problem)


def _rows(roles: Roles) -> tuple[csr_array, Array]:
    """The sums among cells and inner cells, those of rules last; and the variable of each inner cell."""
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    from discreet.tables.relations import of_layout, variable_of_inner

    rows, inner = of_layout(roles.joined.layout), variable_of_inner(roles.matrix)
    if roles.sums is None:
        return rows, inner
    many = roles.sums.matrix.shape[1]
    pick = csr_array((np.ones(len(inner)), (np.arange(len(inner)), inner)), shape=(len(inner), rows.shape[1]))
    sums = roles.sums.matrix.T.astype(float) @ pick
    empty = csr_array((rows.shape[0], many))
    return csr_array(vstack([hstack([rows, empty]), hstack([sums, -eye_array(many)])], format="csr")), inner


def _limits(table: Table, roles: Roles, q: Quantities, truth: Array, inner: Array) -> tuple[Array, Array]:
    """How far each variable may lie below and above its value as far as an intruder knows, in units."""
    from discreet.audits.known import inner_floor

    n, sums = roles.n, len(q.values) - roles.n
    lower, upper = np.full(len(truth), -np.inf), np.full(len(truth), np.inf)
    lower[:n], upper[:n] = q.bottom[:n], q.top[:n]
    floor = inner_floor(table, None)
    np.maximum.at(lower, inner, floor)
    if np.isfinite(floor).all():
        whole = ~roles.joined.layout.signed
        lower[:n][whole] = np.maximum(lower[:n][whole], 0)
        if roles.sums is not None:
            lower[len(truth) - sums :] = np.where((roles.sums.matrix.tocsc() < 0).sum(axis=0) == 0, 0, -np.inf)
    structural = roles.joined.layout.parts == 0
    lower[:n][structural] = upper[:n][structural] = truth[:n][structural]
    return np.maximum(truth - lower, 0), np.maximum(upper - truth, 0)


def _needs(task: Task, size: int, grain: float, second: Array) -> Requirements:
    """What the rule asks for; where that is nothing, a second value."""
    primary, n = task.roles.primary, task.roles.n
    need = task.requirements(primary)
    sums = len(task.quantities(primary).values) - n
    cell = np.where(need.cell < n, need.cell, need.cell - n + size - sums)  # sums are the last variables
    plain = (need.below == 0) & (need.above == 0) & (need.sliding == 0)
    sliding = np.where(plain, second[cell], need.sliding / grain)
    return Requirements.of(cell, need.below / grain, need.above / grain, sliding)


def weigh(task: Task, weights: Any) -> Array:
    """What hiding each column costs: nothing is free, and what must be published or is out costs everything."""
    table, roles = task.table, task.roles
    n, unit = len(table), 10.0 ** -table.statistic(table.measure).decimals
    size = np.abs(table.value.astype(float))
    ways: dict[str, Callable[[], Array]] = {
        "value": lambda: np.maximum(size, unit),
        "unity": lambda: np.ones(n),
        "log": lambda: np.log1p(np.maximum(size, unit)),
        "count": lambda: np.maximum(np.abs(table.count.astype(float)), 1),  # empty cells cost something, too
    }
    if isinstance(weights, str):
        if weights not in ways:
            raise InputError(f"weights are {', '.join(map(repr, WEIGHTS))}, numbers or a function, not {weights!r}")
        weight = ways[weights]()
    else:
        weight = numbers("weights", weights(table) if callable(weights) else weights)
        if weight.shape != (n,) or np.isnan(weight).any() or (weight < 0).any():
            raise InputError(f"weights must be one number, not negative, for each of the {n:,} cells")
    if task.hidden_before is not None:
        weight = np.where(task.hidden_before, weight * task.tuning.problem.hidden_before, weight)
    full = np.full(roles.n, np.inf)
    full[:n] = weight * task.draw.factor[:n]
    full[roles.forced] = np.inf
    full[task.withheld] = 0
    return full


def _with_seeds(of_table: TableProblem) -> TableProblem:
    """Requirements that are plain from the start: of a sum's sensitive cells all but one are one contributor's own."""
    owner = np.zeros(len(of_table.problem), np.int64)
    assert of_table.owner is not None
    owner[of_table.inner] = of_table.owner
    rows, hidden = of_table.problem.rows, of_table.problem.hidden
    at = np.flatnonzero(hidden[rows.indices])
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[at]
    cell = rows.indices[at]
    pairs: set[tuple[int, int]] = set()
    sensitive = np.zeros(len(hidden), bool)
    sensitive[: of_table.cells] = of_table.task.roles.primary
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    for here in np.split(cell, starts[1:]) if len(starts) else ():
        for who in np.unique(owner[here][owner[here] > 0]):
            others = here[owner[here] != who]
            if len(others) == 1 and len(others) < len(here) and sensitive[others[0]]:
                pairs.add((int(others[0]), int(who)))
    columns = of_table.task.roles.matrix.tocsc()
    seeds = sorted((p, who) for p, who in pairs if not _own(of_table, columns[:, [p]].indices, who))
    if not seeds:
        return of_table
    cells, people = np.array(seeds).T
    needs = of_table.problem.needs + of_table.against(cells, people)
    return replace(of_table, problem=of_table.problem.with_needs(needs))


def _own(of_table: TableProblem, rows: Array, who: int) -> bool:
    """Whether all that inner cells hold is somebody's own."""
    assert of_table.owner is not None
    return bool(((of_table.owner[rows] == who) | of_table.nothing[rows]).all())
