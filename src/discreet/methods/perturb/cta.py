"""Controlled tabular adjustment: sensitive cells moved to their protection limits, the rest adjusted least.

Dandekar and Cox (2002), Castro (2006); [Ant16]_ section 2.4.1.2.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Floats
from discreet.base.arguments import above, checked, numbers, positive
from discreet.base.kinds import told
from discreet.errors import InputError, OutOfTimeError, nearest
from discreet.linear.highs import LinearProgram, Outcome, Solver
from discreet.methods.contract import Contract
from discreet.methods.perturb.controlled import controlled
from discreet.methods.perturb.outcome import perturbed
from discreet.release import Protected
from discreet.rules.base import Rule, as_rule
from discreet.tables.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Norm = Literal["L1", "L2"]
NORMS = ("L1", "L2")

_ADJUSTED = 0.7  # of the time for the adjustment; the rest makes it whole
_DIRECTIONS = 0.5  # of that, for L2, for the directions
_LARGEST = 1e4  # value in a program: solvers take what is small beside it for nothing
_SLACK = 1e-6  # of the largest value, by which a solution may miss what it has to keep
_SHARE = 0.1  # protection of a sensitive cell whose rule states none


@dataclass(frozen=True, eq=False)
class Adjustment:
    """What is to be adjusted: values with ``relations @ values == 0``, levels and bounds, all one number a cell.

    A sensitive cell must end at least ``up`` above or ``down`` below its value; ``cost`` weighs each cell's change.
    """

    values: Floats
    relations: csr_array
    sensitive: Array
    down: Floats
    up: Floats
    lower: Floats
    upper: Floats
    cost: Floats

    def __post_init__(self) -> None:
        room = np.maximum(self.upper - self.values - self.up, self.values - self.lower - self.down)
        if (stuck := int((room[self.sensitive] < -1e-9).sum())) > 0:
            raise InputError(
                f"{stuck:,} sensitive cells can reach neither protection limit within their bounds; "
                "widen the bounds or lower the protection"
            )


@dataclass(frozen=True, eq=False)
class Adjusted:
    """The adjusted values, the cost of the change, and how far it may be above the least."""

    values: Floats
    cost: float
    gap: float


def adjust(problem: Adjustment, *, norm: Norm = "L1", time_limit: float = 60) -> Adjusted:
    """Least sum of cost x |change| (L1: exact, a mixed 0/1 program) or of cost x change² (L2).

    For L2 the directions of the sensitive cells are those of the L1 solution and the rest is a quadratic program.
    """
    unit = max(float(np.abs(problem.values).max(initial=0.0)) / _LARGEST, 1.0)
    with deadline.within(time_limit):
        with deadline.within(deadline.left() if norm == "L1" else _DIRECTIONS * deadline.left()):
            change, gap = _least_absolute(_in_units(problem, unit))
        if norm == "L2":
            change = _least_squares(_in_units(problem, unit), change[problem.sensitive] > 0)
    change = change * unit
    _check(problem, change)
    return Adjusted(problem.values + change, float(problem.cost @ np.abs(change) ** (1 if norm == "L1" else 2)), gap)


def _in_units(p: Adjustment, unit: float) -> Adjustment:
    """The same in another unit, in which a change costs as much beside the others."""
    if unit == 1:
        return p
    sides = {name: getattr(p, name) / unit for name in ("values", "down", "up", "lower", "upper")}
    return replace(p, cost=p.cost / p.cost[np.abs(p.values).argmax()] / _LARGEST, **sides)


def _check(p: Adjustment, change: Floats) -> None:
    """Raise for a solution that does not keep what it has to."""
    missed = [np.abs(p.relations @ change), p.lower - p.values - change, p.values + change - p.upper]
    missed.append(np.minimum(p.up - change, p.down + change)[p.sensitive])
    if max(float(one.max(initial=0.0)) for one in missed) > _SLACK * max(float(np.abs(p.values).max()), _LARGEST):
        raise InputError(
            "the solver found no adjustment that keeps all sums, bounds and protection limits to the digit: count in a "
            "larger unit"
        )


def _least_absolute(p: Adjustment) -> tuple[Floats, float]:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack

    n, s = len(p.values), np.flatnonzero(p.sensitive)
    k = len(s)
    above, below = p.upper - p.values, p.values - p.lower
    pick = csr_array((np.ones(k), (np.arange(k), s)), shape=(k, n))
    no, rows = csr_array((k, n)), p.relations
    blank = csr_array((rows.shape[0], k))

    def diagonal(x: Floats) -> csr_array:
        return csr_array((x, (np.arange(k), np.arange(k))), shape=(k, k))

    # unknowns: increases, decreases, and 1 for a sensitive cell that goes up
    constraints = [LinearConstraint(hstack([rows, -rows, blank], format="csr"), 0, 0)] if rows.shape[0] else []
    if k:
        constraints += [
            LinearConstraint(hstack([pick, no, -diagonal(p.up[s])], format="csr"), 0, np.inf),
            LinearConstraint(hstack([pick, no, -diagonal(above[s])], format="csr"), -np.inf, 0),
            LinearConstraint(hstack([no, pick, diagonal(p.down[s])], format="csr"), p.down[s], np.inf),
            LinearConstraint(hstack([no, pick, diagonal(below[s])], format="csr"), -np.inf, below[s]),
        ]
    solution = milp(
        np.concatenate([p.cost, p.cost, np.zeros(k)]),
        integrality=np.concatenate([np.zeros(2 * n), np.ones(k)]),
        bounds=Bounds(0, np.concatenate([np.maximum(above, 0), np.maximum(below, 0), np.ones(k)])),
        constraints=constraints,
        options={"time_limit": deadline.left()},
    )
    if solution.x is None:
        raise InputError(
            "no adjustment keeps all sums, bounds and protection limits (or none was found in the time "
            "limit): widen the bounds, free fixed cells, or give more time (time_limit=)"
        )
    return solution.x[:n] - solution.x[n : 2 * n], float(solution.mip_gap or 0.0)


def _least_squares(p: Adjustment, rises: Array) -> Floats:
    """The quadratic program with the directions given, by HiGHS."""
    n, s = len(p.values), np.flatnonzero(p.sensitive)
    low, high = p.lower - p.values, p.upper - p.values
    low[s[rises]] = p.up[s[rises]]
    high[s[~rises]] = -p.down[s[~rises]]
    nothing = np.zeros(p.relations.shape[0])
    program = LinearProgram(
        p.relations.tocsc(), np.zeros(n), low, high, nothing, nothing, curvature=np.maximum(p.cost, 1e-12)
    )
    solver = Solver({"output_flag": False}, program)
    try:
        outcome = solver.run()
    except OutOfTimeError:
        outcome = Outcome.UNSETTLED
    if outcome is not Outcome.SOLVED:
        raise InputError(
            "the quadratic program was not solved in the time limit; give more time (time_limit=) or take norm='L1'"
        )
    return solver.x


@checked
@dataclass(frozen=True, eq=False)
class CTA:
    """Controlled tabular adjustment, of linked tables too. [Ant16]_ section 2.4.1.2, Dandekar and Cox (2002).

    Cells that ``rule`` finds sensitive (a rule or other function of the table, its text, or a mask) move down or up to
    the protection levels of the rule (a tenth of the value where it has none), or by ``protection`` (a share of the
    value, or amounts (down, up) a cell), and by one unit at least; all others change as little as possible in the norm,
    and every sum of the published cells still holds. ``reach`` bounds every change as a share of the value, ``bounds``
    is (lowest, highest) values a cell, ``fixed`` a mask of cells that keep theirs. ``cost``: "inverse" weighs a change
    by 1 / value, "unity" by 1.

    >>> from discreet import Table
    >>> t = Table.of([[20, 5], [10, 30]], ["area", "sex"])
    >>> CTA(t.where(area="1", sex="2"), protection=0.4)(t).published["count"].tolist()
    [63, 30, 33, 23, 20, 3, 40, 10, 30]
    """

    contract: ClassVar[Contract] = Contract(
        acts_on="table", truthful=False, cellwise=False, transition=False, rule="cells"
    )
    rule: Any
    _: KW_ONLY
    protection: Any = None
    norm: Norm = "L1"
    cost: Literal["inverse", "unity"] = "inverse"
    reach: float | None = None
    bounds: Any = None
    fixed: Any = None
    time_limit: float = 60

    def __post_init__(self) -> None:
        above("time_limit", self.time_limit)
        if self.norm not in NORMS:
            raise InputError(f"norm={self.norm!r}; {nearest(str(self.norm), NORMS)}")
        if self.cost not in ("inverse", "unity"):
            raise InputError(f"cost={self.cost!r}; {nearest(str(self.cost), ('inverse', 'unity'))}")
        if self.reach is not None:
            positive("reach", self.reach)
        positive("time_limit", self.time_limit)

    def __call__(self, table: Table) -> Protected:
        problem = self.problem(table)
        with deadline.within(self.time_limit):
            adjusted = adjust(problem, norm=self.norm, time_limit=_ADJUSTED * self.time_limit)
            unit = _unit(table)
            inner = _inner_values(table, adjusted.values) / unit
            whole = controlled(table.layout, inner, time_limit=self.time_limit)
        if not whole.restricted:
            raise InputError("the adjusted values cannot be made whole with every sum kept; publish fewer margins")
        shown = table.layout.aggregate(whole.inner * unit)
        details: dict[str, Any] = {
            "sensitive": problem.sensitive[: len(table)],
            "cost": adjusted.cost,
            "gap": adjusted.gap,
        }
        words = "controlled tabular adjustment"
        if self.reach is None or self.reach >= 1 or problem.values.min() < 0:  # all a reader knows: empty cells stay so
            lower = np.where(shown > 0, 1.0, 0.0) if problem.values.min() >= 0 else np.full(len(table), -np.inf)
            return perturbed(table, shown, words, lower=lower, upper=np.full(len(table), np.inf), **details)
        lower, upper = shown / (1 + self.reach), shown / (1 - self.reach)
        return perturbed(table, shown, words, lower=np.floor(lower), upper=np.ceil(upper), **details)

    def governing_rule(self) -> Any:
        """The rule: nothing is moved by hand.

        >>> CTA("threshold(n=5)").governing_rule()
        'threshold(n=5)'
        """
        return self.rule

    def problem(self, table: Table) -> Adjustment:
        """The program that is solved, in units of the measure's last decimal.

        >>> t = Table.of([[20, 5], [10, 30]], ["area", "sex"])
        >>> problem = CTA("threshold(n=6)", protection=0.4).problem(t)
        >>> problem.values[problem.sensitive].tolist(), problem.up[problem.sensitive].tolist()
        ([5.0], [2.0])
        """
        n, values = len(table), _with_hidden(table)
        scale = 10 ** table.statistic(table.measure).decimals
        rule = as_rule(self.rule)
        sensitive = np.zeros(len(values), bool)
        sensitive[:n] = _mask(rule(table), n, "rule")
        down, up = self._levels(rule, table, values, scale)
        lower, upper = self._bounds(table, values, up, scale)
        cost = 1 / np.maximum(np.abs(values), 1) if self.cost == "inverse" else np.ones(len(values))
        cost[n:] *= 1e-6  # nobody sees these
        return Adjustment(values, _relations(table), sensitive, down, up, lower, upper, cost)

    def _bounds(self, table: Table, values: Floats, up: Floats, scale: int) -> tuple[Floats, Floats]:
        """The lowest and highest value each cell may take; an empty cell stays empty, since nobody is there."""
        n, far = len(table), 2 * np.abs(values).max(initial=1.0) + up.max(initial=0.0)
        span = np.full(len(values), far) if self.reach is None else np.minimum(np.abs(values) * self.reach, far)
        lower, upper = values - np.floor(span), values + np.floor(span)
        if values.min() >= 0:
            lower = np.maximum(lower, 0)
        lower[values == 0] = upper[values == 0] = 0
        if self.bounds is not None:
            low, high = (side * scale for side in _pair("bounds", self.bounds))
            if low.shape != (n,) or high.shape != (n,) or ((low > values[:n]) | (high < values[:n])).any():
                raise InputError(
                    f"bounds are (lowest, highest) for each of the {n:,} cells, the true value between them"
                )
            lower[:n], upper[:n] = np.maximum(lower[:n], np.ceil(low)), np.minimum(upper[:n], np.floor(high))
        if self.fixed is not None:
            kept = np.flatnonzero(_mask(self.fixed, n, "fixed"))
            lower[kept] = upper[kept] = values[kept]
        return lower, upper

    def _levels(self, rule: Rule, table: Table, values: Floats, scale: int) -> tuple[Floats, Floats]:
        """How far down or up a sensitive cell must go, in whole units."""
        protection, n = self.protection, len(table)
        if protection is None:
            down, up = rule.levels(table)
            protection = tuple(np.where((down > 0) | (up > 0), x, _SHARE * np.abs(table.value)) for x in (down, up))
        if isinstance(protection, int | float):
            positive("protection", protection)
            protection = (np.abs(values[:n]) * protection / scale,) * 2
        down, up = _pair("protection", protection)
        if down.shape != (n,) or up.shape != (n,) or not (np.isfinite(down).all() and np.isfinite(up).all()):
            raise InputError(f"protection is a share, or a pair of amounts for each of the {n:,} cells")
        pad = np.zeros(len(values) - n)
        unit = _unit(table)
        whole = [np.maximum(np.ceil(np.append(x * scale, pad) / unit - 1e-9), 1.0) * unit for x in (down, up)]
        return np.minimum(whole[0], np.abs(values)), whole[1]


def _unit(table: Table) -> int:
    """In units of the last decimal, that of the decimals which the values have: no cell is told by having more."""
    statistic = table.statistic(table.measure)
    units = (10**k for k in range(statistic.decimals, 0, -1))
    return next((unit for unit in units if not (np.asarray(statistic.inner) % unit).any()), 1)


def _pair(name: str, sides: Any) -> tuple[Floats, Floats]:
    """Two arrays, one below and one above."""
    if not isinstance(sides, (tuple, list, np.ndarray)) or len(sides) != 2:
        raise InputError(f"{told(name, sides)}: give a pair of arrays over the cells")
    return numbers(name, sides[0]), numbers(name, sides[1])


def _mask(cells: Any, n: int, name: str) -> Array:
    mask = np.asarray(cells)
    if mask.dtype != bool or mask.shape != (n,):
        raise InputError(f"{name} is a truth value for each of the {n:,} cells, or a function that gives them")
    return mask


def _hidden(table: Table) -> Array:
    """Inner cells that are not themselves published."""
    seen = np.zeros(table.layout.n_inner, bool)
    seen[table.layout.inner_of_cell[table.is_inner]] = True
    return np.flatnonzero(~seen)


def _with_hidden(table: Table) -> Floats:
    statistic = table.statistic(table.measure)
    return np.concatenate([statistic.cells, statistic.inner[_hidden(table)]]).astype(np.float64)


def _relations(table: Table) -> csr_array:
    """Sum of inner cells minus the published cell, for every published cell that is no inner cell."""
    from scipy.sparse import csr_array

    layout, hidden = table.layout, _hidden(table)
    sums = np.flatnonzero(~table.is_inner & (layout.parts > 0))
    place = np.empty(layout.n_inner, np.int64)
    place[layout.inner_of_cell[table.is_inner]] = np.flatnonzero(table.is_inner)
    place[hidden] = len(table) + np.arange(len(hidden))
    parts = layout.matrix[:, sums].T.tocoo()
    width = len(table) + len(hidden)
    of_parts = csr_array((parts.data.astype(float), (parts.row, place[parts.col])), shape=(len(sums), width))
    own = csr_array((-np.ones(len(sums)), (np.arange(len(sums)), sums)), shape=(len(sums), width))
    return csr_array(of_parts + own)


def _inner_values(table: Table, values: Floats) -> Floats:
    out = np.zeros(table.layout.n_inner)
    out[table.layout.inner_of_cell[table.is_inner]] = values[: len(table)][table.is_inner]
    out[_hidden(table)] = values[len(table) :]
    return out
