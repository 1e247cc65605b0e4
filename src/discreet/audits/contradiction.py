"""Why nothing fits a release: a smallest set of cells whose published values contradict each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, Unjudged, listed
from discreet.linear.highs import FROM_SCRATCH, Outcome
from discreet.linear.integer import whole_point
from discreet.linear.presolve import propagated, reduce
from discreet.linear.program import SystemProgram, any_solution
from discreet.linear.system import ContradictionError, System

DOUBT = (
    "whether any table fits the release is unknown: one calculation says that none does and another finds one. That is "
    "a matter of rounding in the solver, not a judgement; scale very large values, or audit fewer tables at once"
)

MOST_IN_WHOLE_NUMBERS = 40
"""Contradicting cells up to which each is tried without by integer programs."""
SECONDS = 1.0
"""For each such program."""


class InfeasibleError(InputError):
    """No table fits what is published. ``cells``: a smallest set of cells that contradict each other, by number.

    ``smallest`` is False if a smaller set may contradict itself as well.

    >>> error = InfeasibleError(np.array([0, 1, 2]), ["Total", "f", "m"])
    >>> error.cells.tolist(), str(error).partition(".")[0]
    ([0, 1, 2], 'the published cells contradict each other: no table fits them all')
    """

    def __init__(
        self,
        cells: Array,
        names: Sequence[str] | None = None,
        *,
        smallest: bool = True,
        which: str = "the published cells contradict each other",
        cure: str = "",
    ) -> None:
        self.cells, self.smallest = cells, smallest
        shown = [str(c) for c in cells] if names is None else list(names)
        such = "A smallest such set" if smallest else "A set of them that contradicts itself"
        super().__init__(
            f"{which}: no table fits them all. {such} has {len(shown)} cells: {listed(shown, 20)}; check them, and "
            "the hierarchy they are summed by" + (f"; {cure}" if cure else "")
        )


def explain(system: System, blank: System, cells: int) -> InfeasibleError:
    """The error to raise, with the contradicting ones of the system's first ``cells`` variables.

    Unjudged if the contradiction does not bear out: a solver's slip is not one.
    """
    variables, smallest = contradicting(system, blank)
    return InfeasibleError(variables[variables < cells], smallest=smallest)


def contradicting(system: System, blank: System) -> tuple[Array, bool]:
    """Variables whose bounds together admit no solution, and whether without any one of them some solution exists.

    ``blank`` has the bounds of the same variables where nothing is published: zero and more, or any number. Only
    variables of which the system says more are candidates. Found by leaving out ever smaller groups (a deletion
    filter), each time asking for feasibility; where that is not settled, the group stays and the set may not be a
    smallest one. Of whole numbers a set that contradicts itself in fractions may still be too large: it is filtered
    again.
    """
    wide, floor = replace(system, integer=False, point=None), replace(blank, integer=False, point=None)
    kept = np.flatnonzero((system.lower > blank.lower) | (system.upper < blank.upper))
    if not possible(wide):
        kept, settled = _filtered(wide, floor, _core(wide, floor, kept), possible)
    elif system.integer and not possible_in_whole_numbers(system):
        settled = True
    else:
        raise Unjudged(DOUBT)
    if not system.integer:
        return kept, settled
    if len(kept) > MOST_IN_WHOLE_NUMBERS:
        return kept, False
    kept, whole = _filtered(system, blank, kept, some_whole_solution)
    return kept, settled and whole


def _filtered(system: System, blank: System, kept: Array, judge: Callable[[System], bool]) -> tuple[Array, bool]:
    """The deletion filter over variables whose bounds are known to contradict each other."""
    size, settled = max(len(kept) // 2, 1), True
    while True:
        k = 0
        while k < len(kept):
            fewer = np.concatenate([kept[:k], kept[k + size :]])
            try:
                needed = judge(only(system, blank, fewer))
            except Unjudged:
                needed, settled = True, False
            if needed:
                k += size
            else:
                kept = fewer
        if size == 1:
            return kept, settled
        size = max(size // 2, 1)


def _core(system: System, blank: System, bound: Array) -> Array:
    """A first small candidate: the ray that proves infeasibility touches few rows; their variables are enough."""
    solver = SystemProgram(system).solver
    solver.set_options({"simplex_strategy": 1})
    if solver.run(FROM_SCRATCH) is Outcome.INFEASIBLE and solver.ray is not None:
        weight = system.rows.T @ solver.ray
        touched = bound[np.abs(weight[bound]) > 1e-9]
        try:
            if not possible(only(system, blank, touched)):
                return np.asarray(touched)
        except Unjudged:
            return bound
    return bound


def only(system: System, blank: System, bound: Array) -> System:
    """The system with what it says of some variables (by number or mask), and of all others nothing."""
    lower, upper = blank.lower.copy(), blank.upper.copy()
    lower[bound], upper[bound] = system.lower[bound], system.upper[bound]
    return System(system.rows, system.rhs, lower, upper, system.integer)


def possible(system: System) -> bool:
    """Whether the system has a solution; Unjudged if the solver does not settle it."""
    try:
        propagated(system)
        any_solution(system)
    except ContradictionError:
        return False
    return True


def possible_in_whole_numbers(system: System) -> bool:
    """Whether presolve in whole numbers leaves room for a solution; where it does not, that is a proof."""
    try:
        reduce(system)
    except ContradictionError:
        return False
    return True


def some_whole_solution(system: System) -> bool:
    """Whether the system has a solution in whole numbers; Unjudged if that is not settled in time."""
    if not possible_in_whole_numbers(system):
        return False
    try:
        point = whole_point(system, SECONDS)
    except ContradictionError:
        return False
    if point is None:
        raise Unjudged(DOUBT)
    return True
