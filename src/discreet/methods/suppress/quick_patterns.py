"""Patterns of the quick methods, cleaned, for the exact one to begin with: so its own is never dearer than theirs."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.base.compiled import always_compiled
from discreet.errors import InputError, OutOfTimeError, Unjudged
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.heuristics.elimination import pattern_by_elimination
from discreet.methods.suppress.heuristics.prune import clean_up
from discreet.methods.suppress.hitas.hitas import Modular
from discreet.methods.suppress.model.problem import Problem, Requirements
from discreet.methods.suppress.model.solution import UnprotectedError
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


def begun(
    solver: Any, problem: Problem, eliminated: Array | None = None, tuning: Tuning = DEFAULT
) -> tuple[Any, list[Array]]:
    """An exact solver with the time that is left after the quick methods, and their patterns; others as they are.

    ``eliminated``: the pattern of elimination, where it is at hand. Small problems and those with a state to go on from
    need none.
    """
    if not isinstance(solver, Optimal) or solver.resume is not None:
        return solver, []
    if problem.free.sum() <= tuning.limits.quick_from:
        return solver, []
    _compile()
    began = time.monotonic()
    patterns = quick_patterns(problem, solver.time, eliminated, tuning)
    left = solver.time - (time.monotonic() - began)
    return replace(solver, time=max(left, tuning.limits.least)), patterns


@lru_cache
def _compile() -> None:
    """Have the loops of all methods compiled by a small problem, before the clock starts: it takes long, once."""
    from scipy.sparse import csr_array

    rows = csr_array([[1, 1, -1, 0, 0, 0], [0, 0, 0, 1, 1, -1], [1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0]])
    hidden, room = np.arange(6) == 0, np.full(6, 9.0)
    needs = Requirements.of(np.array([0]), np.ones(1), np.ones(1))
    problem = Problem(rows, room, room, np.arange(6.0), hidden, needs)
    with always_compiled():
        Optimal().solve(problem, others=[pattern_by_elimination(problem)])


def quick_patterns(
    problem: Problem, seconds: float, eliminated: Array | None = None, tuning: Tuning = DEFAULT
) -> list[Array]:
    """Patterns that protect, by elimination and sub-table by sub-table, as far as their share of the time goes.

    The second goes on from the first: sub-tables of it are chosen anew, unless those from above cost less.
    """
    limits, free = tuning.limits, int(problem.free.sum())
    plain = replace(tuning, hitas=replace(tuning.hitas, bound=0.0))  # the bound is the exact method's own business
    patterns: list[Array] = []

    def by_elimination(seconds: float) -> Array:
        return pattern_by_elimination(problem, tuning) if eliminated is None else eliminated

    def by_subtables(seconds: float) -> Array:
        method = Modular(time=(1 - limits.quick_cleaned) * seconds)
        return method.solve(problem, start=patterns[0] if patterns else None, tuning=plain).hidden

    # a small problem is the exact method's own: what sub-tables would take is missing for its proof
    by_size = limits.by_subtables * min(1.0, free / limits.subtables_from)
    for way, share in ((by_elimination, limits.by_elimination), (by_subtables, by_size)):
        until = time.monotonic() + share * seconds
        try:
            with deadline.until(until):
                pattern = way(share * seconds)
                soon = min(until, time.monotonic() + limits.quick_cleaned * seconds)
                # clean-up begins with the proof that the pattern protects, and without it raises
                patterns.append(clean_up(problem, pattern, until=soon, tuning=tuning)[0])
        except (OutOfTimeError, Unjudged, InputError, UnprotectedError):  # the exact method says what is wrong
            continue
    return patterns
