"""The one door to HiGHS: solved, infeasible with a proof, or unsettled; a failure is never taken for an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import highspy
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csc_array, csr_array

import discreet as dc
from discreet.audits import Known, contradiction, intervals, unmovable
from discreet.audits.contradiction import InfeasibleError, contradicting
from discreet.errors import OutOfTimeError, Unjudged
from discreet.linear import highs
from discreet.linear.highs import FROM_SCRATCH, QUIET, SIMPLEX, LinearProgram, Outcome, Solver, proves
from discreet.linear.system import System


def random_program(seed: int, *, by_rows: bool) -> LinearProgram:
    """A small program, feasible or not, bounded or not."""
    random = np.random.default_rng(seed)
    m, n = int(random.integers(2, 6)), int(random.integers(3, 9))
    dense = random.integers(-1, 2, (m, n)).astype(float)
    upper = np.where(random.random(n) < 0.8, random.integers(1, 6, n).astype(float), np.inf)
    right = random.integers(-6, 12, m).astype(float)
    matrix = csr_array(dense) if by_rows else csc_array(dense)
    return LinearProgram(matrix, random.integers(-3, 4, n).astype(float), np.zeros(n), upper, right, right)


@pytest.mark.parametrize("options", [SIMPLEX, QUIET], ids=["simplex", "presolve"])
def test_the_outcome_is_that_of_another_solver(options: dict[str, Any]) -> None:
    """SciPy's verdict and least cost; every infeasible program comes with a ray that proves it by itself."""
    kinds = set()
    for seed in range(120):
        program = random_program(seed, by_rows=bool(seed % 2))
        solver = Solver(options, program)
        outcome = solver.run(FROM_SCRATCH)
        kinds.add(outcome)
        bounds = list(zip(program.lower, program.upper, strict=True))
        other = linprog(program.cost, A_eq=program.matrix.toarray(), b_eq=program.row_lower, bounds=bounds)
        free = linprog(0 * program.cost, A_eq=program.matrix.toarray(), b_eq=program.row_lower, bounds=bounds)
        assert (outcome is Outcome.INFEASIBLE) == (free.status == 2)
        if outcome is Outcome.SOLVED:
            assert program.cost @ solver.x == pytest.approx(other.fun)
        elif outcome is Outcome.INFEASIBLE:
            assert solver.ray is not None
            limits = (program.lower, program.upper), (program.row_lower, program.row_upper)
            assert proves(csc_array(program.matrix), solver.ray, *limits)
            assert not proves(csc_array(program.matrix), np.zeros_like(solver.ray), *limits)
    assert kinds == {Outcome.SOLVED, Outcome.INFEASIBLE, Outcome.UNBOUNDED}


def test_no_ray_proves_a_feasible_program_infeasible() -> None:
    """Whatever factors: where there is a point, the rows never ask for more than the bounds allow."""
    random = np.random.default_rng(1)
    for _ in range(200):
        dense = random.integers(-1, 2, (4, 7)).astype(float)
        point, room = random.integers(0, 5, 7).astype(float), random.integers(0, 3, (2, 7)).astype(float)
        limits = (point - room[0], point + room[1]), (dense @ point, dense @ point)
        assert not proves(csc_array(dense), random.normal(size=4), *limits)


def test_what_changes_is_solved_again_from_the_old_basis() -> None:
    """Costs, bounds and rows: the same as a program built anew."""
    program = LinearProgram(
        csr_array([[1.0, 1.0, 1.0]]),
        np.array([1.0, 2.0, 3.0]),
        np.zeros(3),
        np.ones(3),
        np.array([2.0]),
        np.array([2.0]),
    )
    solver = Solver(SIMPLEX, program)
    assert solver.run() is Outcome.SOLVED
    assert solver.x.tolist() == [1, 1, 0]
    solver.change_costs(np.array([0]), np.array([9.0]))
    solver.run()
    assert solver.x.tolist() == [0, 1, 1]
    solver.change_row(0, 1.0)
    solver.add_rows(np.array([0.5]), np.array([0]), np.array([2]), np.array([1.0]))
    solver.run()
    assert solver.x.tolist() == [0, 0.5, 0.5]
    solver.delete_rows(np.array([1]))
    solver.change_bounds(np.array([1]), np.zeros(1), np.array([0.25]))
    solver.run()
    assert solver.x.tolist() == [0, 0.25, 0.75]
    solver.only_whole_numbers(3)
    assert solver.run() is Outcome.SOLVED
    assert solver.x.tolist() == [0, 0, 1]


def test_a_limit_leaves_it_unsettled_and_the_next_options_are_tried() -> None:
    """Too few steps settle nothing; with more of them the same solver does, and its options are as before."""
    random = np.random.default_rng(3)
    dense = random.integers(0, 2, (8, 20)).astype(float)
    right = dense @ np.ones(20)
    program = LinearProgram(csr_array(dense), random.random(20), np.zeros(20), np.full(20, 4.0), right, right)
    solver = Solver({**SIMPLEX, "simplex_iteration_limit": 1}, program)
    assert solver.run() is Outcome.UNSETTLED
    assert solver.run([{"simplex_iteration_limit": 1000}]) is Outcome.SOLVED
    assert solver.highs.getOptionValue("simplex_iteration_limit")[1] == 1


def test_a_program_known_to_be_feasible_is_never_infeasible() -> None:
    """The word of a solver that must be wrong is a failure."""
    wrong = LinearProgram(csr_array([[1.0]]), np.zeros(1), np.zeros(1), np.ones(1), np.full(1, 2.0), np.full(1, 2.0))
    assert Solver(SIMPLEX, wrong).run() is Outcome.INFEASIBLE
    assert Solver(SIMPLEX, wrong).run(FROM_SCRATCH, feasible=True) is Outcome.UNSETTLED


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that settles nothing, however often it is run."""
    monkeypatch.setattr(highs, "run_in_time", lambda solver: None)


def _known() -> Known:
    table = dc.Table.of(np.random.default_rng(2).integers(1, 9, (4, 4, 4)), ["a", "b", "c"])
    return Known.hiding(table, table.is_inner & (np.random.default_rng(3).random(len(table)) < 0.8))


@pytest.mark.parametrize(
    "ask", [intervals, lambda known: unmovable(replace(known, point=None), np.arange(known.matrix.shape[1]))]
)
def test_a_solver_that_fails_makes_no_contradiction(broken: None, ask: Any) -> None:
    """The truth fits this release: who cannot solve it says that nothing is known, and names no cell."""
    with pytest.raises(Unjudged, match="unknown, not safe"):
        ask(_known())


def test_a_contradiction_that_does_not_bear_out_is_unknown() -> None:
    """A system that has a solution is never explained by "a smallest set" of all its cells."""
    known = _known()
    with pytest.raises(Unjudged, match="unknown"):
        contradicting(known.system(), known.blank())


def test_a_solver_that_fails_while_cells_are_named_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A total below its parts is still an error if the solver fails, but nobody calls the set a smallest one."""
    known = _known()
    lower, upper = known.lower.copy(), known.upper.copy()
    lower[0] = upper[0] = 1.0
    wrong = replace(known, lower=lower, upper=upper, point=None)
    with pytest.raises(InfeasibleError, match="A smallest such set"):
        intervals(wrong)

    def failing(system: System) -> Any:
        raise Unjudged("the solver gives up")

    monkeypatch.setattr(contradiction, "any_solution", failing)
    with pytest.raises(InfeasibleError, match="A set of them that contradicts itself") as caught:
        intervals(wrong)
    assert not caught.value.smallest


def test_whole_numbers_contradict_each_other_where_fractions_fit() -> None:
    """2x = 1 has no solution in whole numbers: the cells are named, and that is a proof."""
    rows = csr_array(np.array([[1.0, 1.0, -1.0], [1.0, -1.0, 0.0]]))
    system = System(rows, np.zeros(2), np.array([0.0, 0, 1]), np.array([5.0, 5, 1]), True)
    blank = System(rows, np.zeros(2), np.zeros(3), np.full(3, np.inf), True)
    cells, smallest = contradicting(system, blank)
    assert smallest
    assert cells.tolist() == [2]  # that the others are at most 5 is not needed


def test_time_that_is_up_is_no_outcome() -> None:
    """A deadline ends the run by an error of its own."""
    from discreet.base import deadline

    with deadline.within(0), pytest.raises(OutOfTimeError):
        Solver(SIMPLEX, random_program(1, by_rows=True)).run()


class Saying:
    """HiGHS with words put in its mouth: the status of each run in turn, the last for all others; None: time is up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, solver: Solver, *statuses: str | None) -> None:
        self.real, self.statuses, self.runs = solver.highs, statuses, 0
        monkeypatch.setattr(solver, "highs", self)
        monkeypatch.setattr(highs, "run_in_time", lambda _: self.next())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    @property
    def status(self) -> str | None:
        return self.statuses[min(self.runs, len(self.statuses)) - 1]

    def next(self) -> None:
        self.runs += 1
        assert self.runs < 20, "it asks the same without end"
        if self.status is None:
            raise OutOfTimeError

    def getModelStatus(self) -> Any:  # noqa: N802 (as HiGHS calls it)
        return getattr(highspy.HighsModelStatus, str(self.status))


def _two_columns() -> Solver:
    right = np.full(1, 1.5)
    return Solver(SIMPLEX, LinearProgram(csr_array([[1.0, 1.0]]), np.array([1.0, 2.0]), np.zeros(2), np.ones(2), right,
                                         right))  # fmt: skip


BOTH = "kUnboundedOrInfeasible"


@pytest.mark.parametrize(
    ("statuses", "outcome"),
    [
        ((BOTH, "kOptimal"), Outcome.UNBOUNDED),
        ((BOTH, BOTH), Outcome.UNSETTLED),
        ((BOTH, "kUnbounded"), Outcome.UNSETTLED),  # without a cost nothing is
        ((BOTH, "kIterationLimit"), Outcome.UNSETTLED),
        ((BOTH, "kInfeasible", "kInfeasible"), Outcome.INFEASIBLE),
        ((BOTH, "kInfeasible", "kUnknown"), Outcome.UNSETTLED),
    ],
)
def test_unbounded_or_infeasible_is_asked_once_more_without_costs(
    monkeypatch: pytest.MonkeyPatch, statuses: tuple[str, ...], outcome: Outcome
) -> None:
    """It ends, whatever the solver says, and the costs are what they were."""
    solver = _two_columns()
    said = Saying(monkeypatch, solver, *statuses)
    assert solver.run() is outcome
    assert said.runs <= 3
    assert list(solver.highs.getLp().col_cost_) == [1, 2]


def test_a_program_known_to_be_feasible_is_tried_again_after_unbounded_or_infeasible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The run without costs is about the same program: there, too, infeasible is a failure of the solver."""
    statuses = (BOTH, "kInfeasible", "kOptimal")
    said = Saying(monkeypatch, solver := _two_columns(), *statuses)
    assert solver.run(feasible=True) is Outcome.UNSETTLED
    assert said.runs == 2
    said = Saying(monkeypatch, solver := _two_columns(), *statuses)
    assert solver.run(FROM_SCRATCH, feasible=True) is Outcome.SOLVED
    assert said.runs == 3


def test_costs_are_put_back_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever catches the error and goes on with the same solver has the program as it was."""
    solver = _two_columns()
    Saying(monkeypatch, solver, BOTH, None)
    with pytest.raises(OutOfTimeError):
        solver.run()
    assert list(solver.highs.getLp().col_cost_) == [1, 2]
