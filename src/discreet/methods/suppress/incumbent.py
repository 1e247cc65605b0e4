"""Good patterns fast: each need in turn takes its cheapest move, then parts of the pattern are made anew many times.

In the sequential part a hidden cell is free to use, another is priced by what hiding it costs and how far it can move.
Every pattern carries a move for every need, so it is proved good as it stands.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.methods.suppress.cleanup import Kept, listed
from discreet.methods.suppress.problem import Problem
from discreet.methods.suppress.reach import THREADS, Progress, check, met_by, needs_by_cell, spread, verified
from discreet.methods.suppress.ways import Move, Refusal, Side, Ways

Array = NDArray[Any]
USED = 1e-4  # of the usual weight: what using a hidden cell counts for, so that moves stay short
FIRST = 0.3  # of the time for whole patterns, the rest for parts of the best of them
STARTS = 4  # whole patterns
SPREAD = (0.1, 1.0)  # of the logarithm of a weight when it is shaken, least and most
RENEWED = (4, 40)  # cells published again at a time


def incumbent(
    problem: Problem,
    *,
    seconds: float,
    guide: Array | None = None,
    start: Array | None = None,
    seed: int = 1,
    rounds: int | None = None,
    progress: Progress | None = None,
    condensed: Condensed | None = None,
) -> Array:
    """A pattern that protects, as cheap as can be found in the time; the first is finished whatever time it takes.

    ``guide``: a solution of a relaxation, cells it hides are preferred. ``start``: a pattern that protects. With
    ``rounds`` and time to spare the result depends on the seed alone. Raises InputError naming the needs that are not
    met even with all cells hidden.
    """
    begin = time.monotonic()
    until = begin + seconds
    whole = condense(problem) if condensed is None else condensed
    if len(whole.hopeless):
        raise _hopeless(whole.hopeless)
    small = whole.small
    if guide is not None:
        guide = _shrunk(whole, np.asarray(guide, float))
    first = None if start is None else whole.shrink(np.asarray(start, bool))
    pattern = _first(whole, guide, first, seed, begin + FIRST * seconds, until)
    search = Renewal(small, pattern, seed, until, guide)
    turn = 0
    while time.monotonic() < until and (rounds is None or turn < rounds) and search.open:
        search.turn(turn)
        turn += 1
        if progress is not None:
            progress(int(min(time.monotonic() - begin, seconds)), int(seconds))
    best = whole.expand(search.pattern)
    checked = check(problem, best)
    if not checked.met.all():
        raise ArithmeticError(f"the solver's moves do not bear out: {listed(np.flatnonzero(~checked.met))}")
    return best


def _hopeless(needs: Array | list[int]) -> InputError:
    return InputError(
        f"{listed(needs)} cannot be met even if every cell that may be hidden is: lower their levels, or let more "
        "cells be hidden"
    )


def _shrunk(whole: Condensed, guide: Array) -> Array:
    """The guide over the condensed cells: of cells that are one the largest."""
    out = np.zeros(len(whole.small))
    inside = whole.group >= 0
    np.maximum.at(out, whole.group[inside], guide[inside])
    return out


def _first(
    whole: Condensed, guide: Array | None, start: Array | None, seed: int, soon: float, until: float
) -> Array:
    """The best of a few whole patterns, cleaned: the given one, or the needs by level and in other orders."""
    problem = whole.small
    if start is not None and check(problem, start).met.all():
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
        weight = _weights(problem, guide, random if turn > 1 else None)
        order = np.argsort(-shaken, kind="stable")
        if not protect(kept, order, weight, alone=turn == 1, until=None if best is None else soon):
            break
        pattern = cleaned(problem, kept.pattern, until if best is None else soon)
        if best is None or problem.cost(pattern) < problem.cost(best):
            best = pattern
    assert best is not None
    return best


def cleaned(problem: Problem, pattern: Array, until: float) -> Array:
    """The pattern without what can be published, as far as there is time."""
    if time.monotonic() > until:
        return np.asarray((pattern & problem.free) | problem.hidden)
    return clean_up(problem, pattern, deadline=until)[0]


def _weights(problem: Problem, guide: Array | None, random: np.random.Generator | None) -> Array:
    """What hiding a cell counts for in the search, in usual weights: less where the guide hides it, shaken if asked."""
    usual = float(np.median(problem.weight[problem.free])) if problem.free.any() else 1.0
    weight = np.where(np.isfinite(problem.weight), problem.weight, 0) / (usual or 1.0)
    if guide is not None:
        weight = weight * np.maximum(1 - np.asarray(guide, float), 0.01)
    if random is not None:
        weight = weight * np.exp(random.normal(0, random.uniform(*SPREAD), len(weight)))
    return np.asarray(weight + USED)


def protect(kept: Kept, order: Array, weight: Array, *, alone: bool = False, until: float | None = None) -> bool:
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
        price = weight if alone else None
        if not any(_ways_out(kept, need, amounts, weight, price, table) for amounts in _splits(problem, need)):
            hopeless.append(need)
    if hopeless:
        raise _hopeless(hopeless)
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


def _ways_out(
    kept: Kept, need: int, amounts: tuple[float, float], weight: Array, price: Array | None, table: dict[int, list[int]]
) -> bool:
    """Find and hide moves by both amounts; False if there is none for one of them."""
    problem, cell = kept.problem, int(kept.problem.needs.cell[need])
    everything = problem.free | problem.hidden
    sides: tuple[Side, Side] = (1, 0)
    for side in sides:
        amount, old = amounts[side], kept.witnesses.get((need, side))
        if amount <= 0 or (old is not None and abs(old.of(cell)) >= amount * (1 - 1e-9)):
            continue
        now = np.where(kept.pattern, USED, weight) if price is None else price
        found = kept.ways.find(everything, need, side, amount, now)
        if isinstance(found, Refusal):
            return False
        kept.pattern[found.cells] = True
        kept.note((need, side), found)
        _share(kept, found, table)
    return True


def _share(kept: Kept, move: Move, table: dict[int, list[int]]) -> None:
    """Let other needs use a move as well."""
    for key in spread(kept.problem, move, kept.witnesses, table):
        kept.note(key, kept.witnesses.pop(key))
