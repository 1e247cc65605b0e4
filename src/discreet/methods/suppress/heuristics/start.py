"""A good pattern fast: a few whole ones by greedy construction, then parts of the best are made anew many times.

All of it happens on the condensed problem; the result is checked on the problem as given.
"""

from __future__ import annotations

import time
from contextlib import suppress

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.errors import InputError, OutOfTimeError, Unjudged
from discreet.methods.suppress.attacker.feasibility import met
from discreet.methods.suppress.heuristics.greedy import best_of_several, hopeless_needs
from discreet.methods.suppress.heuristics.incumbent import SolveSmall
from discreet.methods.suppress.heuristics.lns import SumSearch
from discreet.methods.suppress.heuristics.local_moves import first_pattern
from discreet.methods.suppress.heuristics.prune import cleaned_until, numbered
from discreet.methods.suppress.model.condense import Condensed, condense
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


def start_pattern(
    problem: Problem,
    *,
    seconds: float,
    solve_small: SolveSmall,
    guide: Array | None = None,
    start: Array | None = None,
    seed: int = 1,
    rounds: int | None = None,
    condensed: Condensed | None = None,
    tuning: Tuning = DEFAULT,
) -> Array:
    """A pattern that protects, as cheap as can be found in the time; the first takes what it takes.

    ``guide``: a solution of a relaxation, cells it hides are preferred. ``start``: a pattern that protects. With
    ``rounds`` and time to spare the result depends on the seed alone. Raises InputError naming the needs that are not
    met even with all cells hidden. ``condensed``: the problem is this one's smaller problem, its moves are known.
    """
    begin = time.monotonic()
    until = begin + seconds
    soon = begin + tuning.heuristics.first * seconds
    whole = condense(problem) if condensed is None else _as_it_is(condensed)
    if len(whole.hopeless):
        raise hopeless_needs(whole.hopeless)
    if guide is not None:
        guide = _shrunk(whole, np.asarray(guide, float))
    first = None if start is None else whole.shrink(np.asarray(start, bool))
    if len(whole.small) > tuning.heuristics.in_turn and first is None:
        return whole.expand(_large(whole, soon, until, tuning))
    try:
        pattern = best_of_several(whole, guide, first, seed, soon, until, tuning)
    except InputError:
        raise hopeless_needs(np.flatnonzero(~met(problem, problem.hidden | problem.free))) from None
    search = SumSearch(whole.small, pattern, seed, until, solve_small, guide, tuning)
    turn = 0
    while time.monotonic() < until and (rounds is None or turn < rounds) and search.cost > 0:
        try:
            with suppress(Unjudged), deadline.until(until):  # unjudged: the next neighbourhood is another
                search.turn(turn)
        except OutOfTimeError:
            break
        turn += 1
    return _checked(problem, whole.expand(search.pattern))


def _large(whole: Condensed, soon: float, until: float, tuning: Tuning) -> Array:
    """A pattern of a large problem: moves in each need's neighbourhood, proved as they stand, then clean-up."""
    problem = whole.small
    local = first_pattern(whole, soon, tuning)
    pattern = _checked(problem, problem.hidden | problem.free) if local is None else local[0]
    return cleaned_until(problem, pattern, until, tuning)


def _checked(problem: Problem, pattern: Array) -> Array:
    """The pattern if it protects; if not even everything does, the needs at fault are named."""
    now = met(problem, pattern)
    if now.all():
        return pattern
    able = met(problem, problem.hidden | problem.free)
    if not able.all():
        raise hopeless_needs(np.flatnonzero(~able))
    raise Unjudged(f"the solver's moves do not bear out: {numbered(np.flatnonzero(~now))}")


def _as_it_is(condensed: Condensed) -> Condensed:
    """A smaller problem as one that need not be made smaller."""
    small = condensed.small
    return Condensed(small, small, condensed.moves, np.arange(len(small)), 0.0, np.empty(0, np.int64))


def _shrunk(whole: Condensed, guide: Array) -> Array:
    """The guide over the condensed cells: of cells that are one the largest."""
    out = np.zeros(len(whole.small))
    inside = whole.group >= 0
    np.maximum.at(out, whole.group[inside], guide[inside])
    return out
