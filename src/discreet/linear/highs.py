"""The one door to HiGHS: a linear program built, changed and run, with one idea of failure.

A run ends in one of four ways. *Solved*: an optimal point. *Unbounded*: there are points, and none is best.
*Infeasible*: proved, by a Farkas ray that is worked out again here, or, where the solver gives none, by a second run
from scratch that says the same. *Unsettled*: everything else (an iteration limit, numerical trouble, two runs that
contradict each other). Unsettled is neither a contradiction nor protection; whoever asked says so.

All linear programs of audits and suppression come through here. What does not: programs in whole numbers of
``methods/perturb`` (rounding, controlled tabular adjustment) and ``methods/suppress/repair`` (moves in whole numbers),
and whether a distribution of noise exists; SciPy solves them. ``tests/test_imports.py`` has the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.errors import OutOfTimeError

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

Options = Mapping[str, Any]

QUIET: Options = {"output_flag": False, "threads": 1, "random_seed": 1}  # the same answer every time, without a word
UNSEEDED: Options = {**QUIET, "random_seed": 0}
"""HiGHS' own seed, which is SciPy's: of several optimal points the one that SciPy gives, as earlier versions did."""
SIMPLEX: Options = {
    "output_flag": False,
    "presolve": "off",
    "solver": "simplex",
    "simplex_strategy": 1,
    "threads": 1,
    "parallel": "off",
    "random_seed": 1,
}
"""The dual simplex method on the program as it is, which keeps its basis from one run to the next."""
PRIMAL: Options = {**SIMPLEX, "simplex_strategy": 4}
VERTEX: Options = {"solver": "ipm", "presolve": "on", "run_crossover": "on"}
"""The interior point method and a vertex near its end: the faster first run of a large program by far."""
INTERIOR: Options = {**SIMPLEX, **VERTEX, "run_crossover": "off"}
"""The interior point method alone: no vertex, but a point away from all bounds that need not be met."""
FROM_SCRATCH: tuple[Options, ...] = ({},)  # forget a basis that led nowhere and try once more
OTHERWISE: tuple[Options, ...] = ({}, {"simplex_strategy": 1}, {"presolve": "on"}, {"solver": "ipm"})  # then other ways

NOISE = 1e-9  # of the largest entry of a ray: less is the solver's rounding


class Outcome(Enum):
    """How a run ended."""

    SOLVED = "solved"
    UNBOUNDED = "unbounded"
    INFEASIBLE = "infeasible, with proof"
    UNSETTLED = "unsettled"


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """``min cost @ x`` over ``row_lower <= matrix @ x <= row_upper`` and ``lower <= x <= upper``.

    With ``curvature`` the sum of ``curvature * x**2`` is added to the cost.
    """

    matrix: csr_array | csc_array
    cost: Array
    lower: Array
    upper: Array
    row_lower: Array
    row_upper: Array
    curvature: Array | None = None

    def to_highs(self) -> Any:
        """The same in HiGHS' own words."""
        import highspy

        model = highspy.HighsModel()
        lp = model.lp_
        matrix = self.matrix
        lp.num_row_, lp.num_col_ = matrix.shape
        lp.col_cost_ = self.cost
        lp.col_lower_ = self.lower
        lp.col_upper_ = self.upper
        lp.row_lower_ = self.row_lower
        lp.row_upper_ = self.row_upper
        by_rows = matrix.format == "csr"
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise if by_rows else highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = matrix.indptr
        lp.a_matrix_.index_ = matrix.indices
        lp.a_matrix_.value_ = matrix.data.astype(np.float64, copy=False)
        if self.curvature is not None:
            n = len(self.curvature)
            model.hessian_.dim_ = n
            model.hessian_.format_ = highspy.HessianFormat.kTriangular
            model.hessian_.start_ = np.arange(n + 1)
            model.hessian_.index_ = np.arange(n)
            model.hessian_.value_ = 2 * self.curvature
        return model


class Solver:
    """A program inside HiGHS that keeps its basis while costs, bounds and rows change. Not for two threads at once.

    >>> from scipy.sparse import csr_array
    >>> row, cost, right = csr_array([[1.0, 1.0]]), np.array([1.0, 2.0]), np.array([1.5])
    >>> one = LinearProgram(row, cost, np.zeros(2), np.ones(2), right, right)
    >>> solver = Solver(SIMPLEX, one)
    >>> solver.run().name, solver.x.tolist()
    ('SOLVED', [1.0, 0.5])
    >>> solver.change_bounds(np.arange(2), np.zeros(2), np.full(2, 0.5))
    >>> solver.run().name, solver.ray is not None
    ('INFEASIBLE', True)
    """

    def __init__(self, options: Options, program: LinearProgram | None = None) -> None:
        import highspy

        self.highs = highspy.Highs()
        self.ray: Array | None = None  # the proof of the last run that was infeasible, if the solver gave one
        self.integer = False
        self.set_options(options)
        if program is not None:
            self.load(program)

    def load(self, program: LinearProgram) -> None:
        """Another program in the place of the last."""
        model = program.to_highs()
        self.highs.passModel(model if program.curvature is not None else model.lp_)
        self.integer = False

    def set_options(self, options: Options) -> None:
        """Options of HiGHS by name."""
        for name, value in options.items():
            self.highs.setOptionValue(name, value)

    @contextmanager
    def options(self, options: Options) -> Iterator[None]:
        """Other options for a while."""
        before = {name: self.highs.getOptionValue(name)[1] for name in options}
        self.set_options(options)
        try:
            yield
        finally:
            self.set_options(before)

    def change_costs(self, columns: Array, costs: Array) -> None:
        """New costs of some columns."""
        self.highs.changeColsCost(len(columns), columns.astype(np.int32, copy=False), costs)

    def change_bounds(self, columns: Array, lower: Array, upper: Array) -> None:
        """New bounds of some columns."""
        self.highs.changeColsBounds(len(columns), columns.astype(np.int32, copy=False), lower, upper)

    def change_row(self, row: int, value: float) -> None:
        """A row that must be equal to another value."""
        self.highs.changeRowBounds(row, value, value)

    def add_rows(self, lower: Array, starts: Array, columns: Array, values: Array) -> None:
        """Rows that must be at least ``lower``; row k has the entries from ``starts[k]`` on."""
        many = len(lower)
        at = columns.astype(np.int32, copy=False)
        self.highs.addRows(many, lower, np.full(many, np.inf), len(at), starts.astype(np.int32, copy=False), at, values)

    def delete_rows(self, rows: Array) -> None:
        """Take rows out."""
        self.highs.deleteRows(len(rows), rows.astype(np.int32, copy=False))

    def only_whole_numbers(self, columns: int) -> None:
        """Make the first so many columns whole numbers."""
        import highspy

        numbers = np.arange(columns, dtype=np.int32)
        self.highs.changeColsIntegrality(columns, numbers, np.full(columns, highspy.HighsVarType.kInteger))
        self.integer = True

    @property
    def basis(self) -> Any:
        """Where the last run ended, to begin from again."""
        return self.highs.getBasis()

    @basis.setter
    def basis(self, basis: Any) -> None:
        self.highs.setBasis(basis)

    def forget(self) -> None:
        """Begin the next run from nothing."""
        self.highs.clearSolver()

    @property
    def x(self) -> Array:
        """The last point: optimal after SOLVED, as far as it got after UNSETTLED, empty if there is none."""
        return np.asarray(self.highs.getSolution().col_value)

    def answer(self) -> tuple[Array, Array]:
        """The last point and the dual value of each row there, read at once."""
        solution = self.highs.getSolution()
        return np.asarray(solution.col_value), np.asarray(solution.row_dual)

    @property
    def row_values(self) -> Array:
        """What the rows come to at the last point."""
        return np.asarray(self.highs.getSolution().row_value)

    @property
    def row_prices(self) -> Array:
        """The dual value of each row at the last point."""
        return np.asarray(self.highs.getSolution().row_dual)

    def run(self, again: Sequence[Options] = (), *, feasible: bool = False) -> Outcome:
        """Run within the deadline. While nothing is settled: from scratch, with each of the options ``again`` in turn.

        ``feasible``: the program has a point for certain, so that a solver that says otherwise has failed.
        """
        self.ray = None
        outcome = self._outcome(feasible)
        for options in again:
            if outcome is not Outcome.UNSETTLED:
                break
            self.forget()
            with self.options(options):
                outcome = self._outcome(feasible)
        return outcome

    def try_out(self) -> None:
        """Run once within the deadline, whatever comes of it: whoever asks proves what the prices are worth."""
        run_in_time(self.highs)

    def _outcome(self, feasible: bool, *, costs: bool = True) -> Outcome:
        """Run once and say how it ended; ``costs``: whether the program has any, so that it may be unbounded."""
        import highspy

        states = highspy.HighsModelStatus
        run_in_time(self.highs)
        status = self.highs.getModelStatus()
        if status == states.kOptimal:
            return Outcome.SOLVED
        if status == states.kUnbounded and costs:
            return Outcome.UNBOUNDED
        if status == states.kUnboundedOrInfeasible and costs:
            return self._unbounded_or_infeasible(feasible)
        if status == states.kInfeasible and not feasible:
            return self._confirmed()
        return Outcome.UNSETTLED

    def _unbounded_or_infeasible(self, feasible: bool) -> Outcome:
        """Without a cost nothing is unbounded: is there a point at all? A solver that will not say leaves it open."""
        lp = self.highs.getLp()
        columns = np.arange(lp.num_col_)
        costs = np.array(lp.col_cost_)
        self.change_costs(columns, np.zeros(len(columns)))
        try:
            outcome = self._outcome(feasible, costs=False)
        finally:  # also when the time is up: the next run is about the same program
            self.change_costs(columns, costs)
        return Outcome.UNBOUNDED if outcome is Outcome.SOLVED else outcome

    def _confirmed(self) -> Outcome:
        """Infeasible only by a ray that bears out, or if the program from scratch is infeasible once more.

        A program in whole numbers has no ray; that nothing was left to branch on is its proof.
        """
        import highspy

        if self.integer or self._has_proof():
            return Outcome.INFEASIBLE
        self.forget()
        with self.options({"presolve": "off", "solver": "simplex", "simplex_strategy": 1}):
            run_in_time(self.highs)
            status = self.highs.getModelStatus()
            if status == highspy.HighsModelStatus.kInfeasible:
                self._has_proof()
                return Outcome.INFEASIBLE
        return Outcome.SOLVED if status == highspy.HighsModelStatus.kOptimal else Outcome.UNSETTLED

    def _has_proof(self) -> bool:
        """Whether the solver's ray, kept as ``ray``, is a proof by itself."""
        answer = self.highs.getDualRay()
        if len(answer) < 3 or not answer[1]:
            return False
        ray = np.asarray(answer[2])
        lp = self.highs.getLp()
        if len(ray) != lp.num_row_:
            return False
        self.ray = ray
        return proves(
            _columns(lp),
            ray,
            (np.array(lp.col_lower_), np.array(lp.col_upper_)),
            (np.array(lp.row_lower_), np.array(lp.row_upper_)),
        )


def proves(columns: csc_array, ray: Array, bounds: tuple[Array, Array], rows: tuple[Array, Array]) -> bool:
    """Farkas: whether the rows, added up with the ray's factors, ask for more than the bounds of the columns allow.

    >>> from scipy.sparse import csc_array
    >>> both = csc_array([[1.0, 1.0]])
    >>> proves(both, np.ones(1), (np.zeros(2), np.ones(2)), (np.full(1, 3.0), np.full(1, 3.0)))
    True
    >>> proves(both, np.ones(1), (np.zeros(2), np.ones(2)), (np.full(1, 2.0), np.full(1, 2.0)))
    False
    """
    size = float(np.abs(ray).max(initial=0))
    factor = np.where(np.abs(ray) > NOISE * size, ray, 0.0)
    slope = np.asarray(columns.T @ factor)
    slope[np.abs(slope) <= NOISE * size] = 0.0
    least_rows, most_rows, large = _extremes(factor, *rows)
    least, most, wide = _extremes(slope, *bounds)
    slack = NOISE * max(large, wide)
    return bool(size > 0 and (least_rows > most + slack or most_rows < least - slack))


def _extremes(factor: Array, lower: Array, upper: Array) -> tuple[float, float, float]:
    """The least and greatest value of a sum over numbers within bounds, and the size of its largest term."""
    used = np.flatnonzero(factor)
    a = factor[used] * lower[used]
    b = factor[used] * upper[used]
    terms = np.abs(np.concatenate([a, b]))
    return (
        float(np.minimum(a, b).sum()),
        float(np.maximum(a, b).sum()),
        float(terms[np.isfinite(terms)].max(initial=0.0)),
    )


def _columns(lp: Any) -> csc_array:
    """The matrix of a program as HiGHS holds it."""
    import highspy
    from scipy.sparse import csc_array, csr_array

    held = lp.a_matrix_
    parts = (np.array(held.value_), np.array(held.index_), np.array(held.start_))
    shape = (lp.num_row_, lp.num_col_)
    if held.format_ == highspy.MatrixFormat.kColwise:
        return csc_array(parts, shape=shape)
    return csr_array(parts, shape=shape).tocsc()


class SolverWork:
    """How much work linear programs were, counted: the same on every machine, as no clock is.

    A step of the simplex method counts as many times as the program has rows and columns, one of the interior point
    method ``INTERIOR_STEP`` times that.
    """

    def __init__(self) -> None:
        self.spent = 0.0

    def add(self, solver: Any) -> None:
        """Count the last run of HiGHS."""
        info = solver.getInfo()
        steps = info.simplex_iteration_count, info.ipm_iteration_count
        each = max(steps[0], 0) + INTERIOR_STEP * max(steps[1], 0) + EACH_RUN
        self.spent += each * (solver.getNumRow() + solver.getNumCol())


INTERIOR_STEP, EACH_RUN = 25, 10  # steps of the simplex method that take as long
_WORK: ContextVar[SolverWork | None] = ContextVar("work", default=None)


@contextmanager
def counting(work: SolverWork) -> Iterator[None]:
    """Count the work of what is inside.

    >>> from scipy.sparse import csr_array
    >>> row, right = csr_array([[1.0, 1.0]]), np.ones(1)
    >>> with counting(work := SolverWork()):
    ...     outcome = Solver(SIMPLEX, LinearProgram(row, np.ones(2), np.zeros(2), np.ones(2), right, right)).run()
    >>> work.spent > 0
    True
    """
    token = _WORK.set(work)
    try:
        yield
    finally:
        _WORK.reset(token)


def run_in_time(solver: Any) -> None:
    """Run HiGHS until it is done, or raise OutOfTimeError. Its clock counts on from one run to the next."""
    _run_in_time(solver)
    work = _WORK.get()
    if work is not None:
        work.add(solver)


def _run_in_time(solver: Any) -> None:
    if deadline.left() == float("inf"):
        solver.run()
        return
    deadline.check()
    import highspy

    before = solver.getOptionValue("time_limit")[1]
    limit = solver.getRunTime() + deadline.left()
    solver.setOptionValue("time_limit", min(before, limit))
    solver.run()
    solver.setOptionValue("time_limit", before)
    if solver.getModelStatus() == highspy.HighsModelStatus.kTimeLimit and limit <= before:
        raise OutOfTimeError
