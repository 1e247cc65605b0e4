"""Greedy construction: each need in turn takes its cheapest move, and the cells it uses are hidden.

A hidden cell is free to use, another is priced by what hiding it costs and how far it can move.
"""

from __future__ import annotations

import time

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.errors import InputError, OutOfTimeError, Unjudged
from discreet.methods.suppress.attacker.cheapest_move import MoveFinder
from discreet.methods.suppress.attacker.feasibility import met
from discreet.methods.suppress.attacker.witnesses import Refusal, Side, met_by, needs_by_cell, spread
from discreet.methods.suppress.heuristics.prune import WitnessedPattern, cleaned_until, numbered
from discreet.methods.suppress.model.condense import Condensed
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


def best_of_several(
    whole: Condensed,
    guide: Array | None,
    start: Array | None,
    seed: int,
    soon: float,
    until: float,
    tuning: Tuning = DEFAULT,
) -> Array:
    """The best of a few whole patterns, cleaned: the given one, or the needs by level and in other orders.

    The first pattern takes what it takes; others are begun until ``soon``.
    """
    problem = whole.small
    if start is not None and met(problem, start).all():
        return cleaned_until(problem, start, until, tuning)
    finder = MoveFinder(problem, whole.moves, tuning)
    best: Array | None = None
    for turn in range(tuning.heuristics.starts):
        if best is not None and time.monotonic() > soon:
            break
        late = np.inf if best is None else soon
        try:
            with deadline.until(late):
                pattern = _one_pattern(finder, guide, seed, turn, None if best is None else soon, tuning)
        except (OutOfTimeError, Unjudged):
            if best is None:
                raise
            pattern = None
        if pattern is None:
            break
        pattern = cleaned_until(problem, pattern, until if best is None else soon, tuning)
        if best is None or problem.cost(pattern) < problem.cost(best):
            best = pattern
    assert best is not None
    return best


def _one_pattern(
    finder: MoveFinder, guide: Array | None, seed: int, turn: int, until: float | None, tuning: Tuning
) -> Array | None:
    """A whole pattern: the widest need first, in later turns in shaken orders and at shaken weights; None if late."""
    problem = finder.problem
    level = np.maximum(problem.needs.below, problem.needs.above)
    random = np.random.default_rng((seed, 1_000_000 + turn))
    if turn:
        level = level * random.uniform(tuning.heuristics.levels_shaken, 1, len(level))
    kept = WitnessedPattern(finder, problem.hidden.copy(), {}, tuning)
    weight = search_weights(problem, guide, random if turn > 1 else None, tuning)
    done = take_cheapest_moves(kept, np.argsort(-level, kind="stable"), weight, alone=turn == 1, until=until)
    return kept.pattern if done else None


def search_weights(
    problem: Problem, guide: Array | None, random: np.random.Generator | None, tuning: Tuning = DEFAULT
) -> Array:
    """What hiding a cell counts for in the search, in usual weights: less where the guide hides it, shaken if asked."""
    heuristics = tuning.heuristics
    usual = float(np.median(problem.weight[problem.free])) if problem.free.any() else 1.0
    weight = np.where(np.isfinite(problem.weight), problem.weight, 0) / (usual or 1.0)
    if guide is not None:
        weight = weight * np.maximum(1 - np.asarray(guide, float), heuristics.guide_least)
    if random is not None:
        weight = weight * np.exp(random.normal(0, random.uniform(*heuristics.shaken), len(weight)))
    return np.asarray(weight + heuristics.used)


def hopeless_needs(needs: Array | list[int]) -> InputError:
    """The error that names needs which no pattern meets."""
    return InputError(
        f"{numbered(needs)} cannot be met even if every cell that may be hidden is: lower their levels, or let more "
        "cells be hidden"
    )


def take_cheapest_moves(
    kept: WitnessedPattern, order: Array, weight: Array, *, alone: bool = False, until: float | None = None
) -> bool:
    """Give every need of ``order`` that lacks one the cheapest move, and hide the cells it uses; False if time is up.

    With ``alone`` a need takes the move that would be cheapest if nothing were hidden yet.
    """
    problem, table = kept.problem, needs_by_cell(kept.problem)
    hopeless = []
    for need in order.tolist():
        if met_by(problem, need, kept.witnesses):
            continue
        if until is not None and time.monotonic() > until:
            return False
        deadline.check()
        price = weight if alone else None
        if not any(_take_moves(kept, need, amounts, weight, price, table) for amounts in _splits(problem, need)):
            hopeless.append(need)
    if hopeless:
        raise hopeless_needs(hopeless)
    return True


def _splits(problem: Problem, need: int) -> list[tuple[float, float]]:
    """How far below and above a cell may have to move: its levels, and ways to share what sliding asks beyond."""
    needs = problem.needs
    below, above, sliding = (float(f[need]) for f in (needs.below, needs.above, needs.sliding))
    if sliding <= below + above:
        return [(below, above)]
    rest = sliding - below - above
    even = [(below + share * rest, above + (1 - share) * rest) for share in (0.5, 0, 1)]
    down, up = float(problem.down[needs.cell[need]]), float(problem.up[needs.cell[need]])
    ends = [(sliding - up, up), (down, sliding - down)]
    return [(b, a) for b, a in even + ends if below <= b <= down and above <= a <= up]


def _take_moves(
    kept: WitnessedPattern,
    need: int,
    amounts: tuple[float, float],
    weight: Array,
    price: Array | None,
    table: dict[int, list[int]],
) -> bool:
    """Find and hide moves by both amounts; False if there is none for one of them."""
    problem, cell = kept.problem, int(kept.problem.needs.cell[need])
    everything = problem.free | problem.hidden
    sides: tuple[Side, Side] = (1, 0)
    for side in sides:
        amount, old = amounts[side], kept.witnesses.get((need, side))
        if amount <= 0 or (old is not None and abs(old.of(cell)) >= amount * (1 - 1e-9)):
            continue
        now = np.where(kept.pattern, kept.tuning.heuristics.used, weight) if price is None else price
        move = kept.finder.find(everything, need, side, amount, now)
        if isinstance(move, Refusal):
            return False
        kept.pattern[move.cells] = True
        kept.witnesses[need, side] = move
        spread(problem, move, kept.witnesses, table)  # other needs use it as well
    return True
