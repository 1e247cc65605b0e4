"""Patterns of the quick methods, cleaned, for the exact one to begin with: so its own is never dearer than theirs."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.errors import OutOfTimeError, Unjudged
from discreet.methods.suppress.attacker.feasibility import met
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.heuristics.elimination import pattern_by_elimination
from discreet.methods.suppress.heuristics.prune import cleaned_until
from discreet.methods.suppress.hitas.hitas import Modular
from discreet.methods.suppress.model.problem import Problem
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
    began = time.monotonic()
    patterns = quick_patterns(problem, solver.time, eliminated, tuning)
    left = solver.time - (time.monotonic() - began)
    return replace(solver, time=max(left, tuning.limits.least)), patterns


def quick_patterns(
    problem: Problem, seconds: float, eliminated: Array | None = None, tuning: Tuning = DEFAULT
) -> list[Array]:
    """Patterns that protect, by elimination and sub-table by sub-table, as far as their share of the time goes."""

    def by_elimination(seconds: float) -> Array:
        return pattern_by_elimination(problem, tuning) if eliminated is None else eliminated

    def by_subtables(seconds: float) -> Array:
        return Modular(time=(1 - tuning.limits.quick_cleaned) * seconds).solve(problem, tuning=tuning).hidden

    shares = ((by_elimination, tuning.limits.by_elimination), (by_subtables, tuning.limits.by_subtables))
    patterns = []
    for way, share in shares:
        until = time.monotonic() + share * seconds
        try:
            with deadline.until(until):
                pattern = way(share * seconds)
                protects = met(problem, pattern).all()
        except (OutOfTimeError, Unjudged, UnprotectedError):  # the exact method says what is wrong
            continue
        if protects:
            patterns.append(cleaned_until(problem, pattern, until, tuning))
    return patterns
