"""Good patterns fast: a few whole ones, one need after the other, then parts of the best are made anew many times.

All of it happens on the condensed problem; the result is checked on the problem as given.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.base import deadline
from discreet.errors import InputError, OutOfTimeError, Unjudged
from discreet.methods.suppress.attacker.all_at_once import met
from discreet.methods.suppress.attacker.cheapest_move import Ways
from discreet.methods.suppress.attacker.feasibility import Progress
from discreet.methods.suppress.heuristics.greedy import cleaned, hopeless_needs, protect, weights
from discreet.methods.suppress.heuristics.incumbent import SolveSmall
from discreet.methods.suppress.heuristics.local_moves import first_pattern
from discreet.methods.suppress.heuristics.prune import Kept, listed
from discreet.methods.suppress.heuristics.renewal import Renewal
from discreet.methods.suppress.model.condense import Condensed, condense
from discreet.methods.suppress.model.problem import Problem

Array = NDArray[Any]
FIRST = 0.3  # of the time for whole patterns, the rest for parts of the best of them
STARTS = 4  # whole patterns
LARGE = 2_500  # cells from which one need after the other takes too long


def incumbent(
    problem: Problem,
    *,
    seconds: float,
    solve_small: SolveSmall,
    guide: Array | None = None,
    start: Array | None = None,
    seed: int = 1,
    rounds: int | None = None,
    progress: Progress | None = None,
    condensed: Condensed | None = None,
) -> Array:
    """A pattern that protects, as cheap as can be found in the time; the first takes what it takes.

    ``guide``: a solution of a relaxation, cells it hides are preferred. ``start``: a pattern that protects. With
    ``rounds`` and time to spare the result depends on the seed alone. Raises InputError naming the needs that are not
    met even with all cells hidden. ``condensed``: the problem is this one's smaller problem, its moves are known.
    """
    begin = time.monotonic()
    until = begin + seconds
    whole = condense(problem) if condensed is None else _as_it_is(condensed)
    if len(whole.hopeless):
        raise hopeless_needs(whole.hopeless)
    small = whole.small
    if guide is not None:
        guide = _shrunk(whole, np.asarray(guide, float))
    first = None if start is None else whole.shrink(np.asarray(start, bool))
    if len(small) > LARGE and first is None:
        return whole.expand(_large(whole, begin, until))
    try:
        pattern = _first(whole, guide, first, seed, begin + FIRST * seconds, until)
    except InputError:
        raise hopeless_needs(np.flatnonzero(~met(problem, problem.hidden | problem.free))) from None
    search = Renewal(small, pattern, seed, until, solve_small, guide)
    turn = 0
    while time.monotonic() < until and (rounds is None or turn < rounds) and search.open:
        try:
            with deadline.until(until):
                search.turn(turn)
        except OutOfTimeError:
            break
        turn += 1
        if progress is not None:
            progress(int(min(time.monotonic() - begin, seconds)), int(seconds))
    return _checked(problem, whole.expand(search.pattern))


def _large(whole: Condensed, begin: float, until: float) -> Array:
    """A pattern of a large problem: moves in each need's neighbourhood, proved as they stand, then clean-up."""
    problem = whole.small
    found = first_pattern(whole, begin + FIRST * (until - begin))
    pattern = _checked(problem, problem.hidden | problem.free) if found is None else found[0]
    return cleaned(problem, pattern, until)


def _checked(problem: Problem, pattern: Array) -> Array:
    """The pattern if it protects; if not even everything does, the needs at fault are named."""
    now = met(problem, pattern)
    if now.all():
        return pattern
    able = met(problem, problem.hidden | problem.free)
    if not able.all():
        raise hopeless_needs(np.flatnonzero(~able))
    raise Unjudged(f"the solver's moves do not bear out: {listed(np.flatnonzero(~now))}")


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


def _first(whole: Condensed, guide: Array | None, start: Array | None, seed: int, soon: float, until: float) -> Array:
    """The best of a few whole patterns, cleaned: the given one, or the needs by level and in other orders."""
    problem = whole.small
    if start is not None and met(problem, start).all():
        return cleaned(problem, start, until)
    ways = Ways(problem, whole.moves)
    level = np.maximum(problem.needs.below, problem.needs.above)
    best: Array | None = None
    for turn in range(STARTS):
        if best is not None and time.monotonic() > soon:
            break
        random = np.random.default_rng((seed, 1_000_000 + turn))
        shaken = level * random.uniform(0.3, 1, len(level)) if turn else level
        kept = Kept(ways, problem.hidden.copy(), {})
        weight = weights(problem, guide, random if turn > 1 else None)
        order = np.argsort(-shaken, kind="stable")
        try:
            with deadline.until(np.inf if best is None else soon):
                done = protect(kept, order, weight, alone=turn == 1, until=None if best is None else soon)
        except OutOfTimeError:
            if best is None:
                raise
            done = False
        if not done:
            break
        pattern = cleaned(problem, kept.pattern, until if best is None else soon)
        if best is None or problem.cost(pattern) < problem.cost(best):
            best = pattern
    assert best is not None
    return best
