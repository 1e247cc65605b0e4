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
) -> Array:
    """A pattern that protects, as cheap as can be found in the time; the first is finished whatever time it takes.

    ``guide``: a solution of a relaxation, cells it hides are preferred. ``start``: a pattern that protects. With
    ``rounds`` and time to spare the result depends on the seed alone. Raises InputError naming the needs that are not
    met even with all cells hidden.
    """
    begin = time.monotonic()
    until = begin + seconds
    ways = Ways(problem)
    best = _first(ways, guide, start, seed, begin + FIRST * seconds)
    best.prune(until=until)
    turn = 0
    with ThreadPoolExecutor(THREADS) as pool:
        while time.monotonic() < until and (rounds is None or turn < rounds):
            base, seeds = best, [(seed, turn + k) for k in range(THREADS)]
            tried = list(pool.map(lambda s, kept=base: _renewed(kept, s, guide, until), seeds))
            for kept in tried:
                if kept is not None and problem.cost(kept.pattern) <= problem.cost(best.pattern):
                    best = kept  # equal ones too: another pattern has other neighbours
            turn += THREADS
            if progress is not None:
                progress(int(min(time.monotonic() - begin, seconds)), int(seconds))
    if not verified(problem, best.pattern, best.witnesses):
        checked = check(problem, best.pattern)
        if not checked.met.all():
            raise ArithmeticError(f"the solver's moves do not bear out: {listed(np.flatnonzero(~checked.met))}")
    return best.pattern


def _first(ways: Ways, guide: Array | None, start: Array | None, seed: int, until: float) -> Kept:
    """The best of a few whole patterns: the given one, or the needs by level and in other orders."""
    problem = ways.problem
    if start is not None:
        checked = check(problem, start)
        if checked.met.all():
            hidden = (np.asarray(start, bool) & problem.free) | problem.hidden
            return Kept(ways, hidden, checked.witnesses)
    level = np.maximum(problem.needs.below, problem.needs.above)
    best: Kept | None = None
    for turn in range(STARTS):
        if best is not None and time.monotonic() > until:
            break
        random = np.random.default_rng((seed, 1_000_000 + turn))
        order = (
            np.argsort(-level, kind="stable") if turn == 0 else np.argsort(-level * random.uniform(0.3, 1, len(level)))
        )
        kept = Kept(ways, problem.hidden.copy(), {})
        weight = _weights(problem, guide, random if turn > 1 else None)
        if not protect(kept, order, weight, alone=turn == 1, until=None if best is None else until):
            break
        if turn:
            kept.prune(until=until)
        if best is None or problem.cost(kept.pattern) < problem.cost(best.pattern):
            best = kept
    assert best is not None
    return best


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
        raise InputError(
            f"{listed(hopeless)} cannot be met even if every cell that may be hidden is: lower their levels, or let "
            "more cells be hidden"
        )
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


def _renewed(kept: Kept, seed: tuple[int, int], guide: Array | None, until: float) -> Kept | None:
    """The pattern with a part published and protected anew at shaken weights; None if time was up."""
    problem, random = kept.problem, np.random.default_rng(seed)
    secondary = np.flatnonzero(kept.pattern & ~problem.hidden)
    if not len(secondary):
        return None
    gone = _part(kept, secondary, random)
    new = kept.copy()
    lost = sorted({key for cell in gone.tolist() for key in new.users.get(cell, ())})
    for key in lost:
        new.forget(key)
    new.pattern[gone] = False
    before = new.pattern.copy()
    weight = _weights(problem, guide, random)
    weight[gone] *= random.uniform(1, 3)
    needs = np.unique([need for need, _ in lost]).astype(np.int64)
    if not protect(new, random.permutation(needs), weight, until=until):
        return None
    fresh = new.pattern & ~before
    near = _around(new.ways, np.flatnonzero(fresh))
    done = new.prune(near | fresh, until=until)
    return new if done or problem.cost(new.pattern) < problem.cost(kept.pattern) else None


def _part(kept: Kept, secondary: Array, random: np.random.Generator) -> Array:
    """Some cells hidden for others' sake that lie together: around one of them, dear ones more often."""
    weight = kept.problem.weight[secondary]
    chance = weight / weight.sum() if weight.sum() > 0 else None
    inside = np.zeros(len(kept.problem), bool)
    inside[random.choice(secondary, p=chance)] = True
    size = int(random.integers(RENEWED[0], RENEWED[1] + 1))
    hidden = kept.pattern & ~kept.problem.hidden
    while True:
        near = _around(kept.ways, np.flatnonzero(inside)) & hidden & ~inside
        cells = np.flatnonzero(near)
        room = size - int(inside.sum())
        if not len(cells) or room <= 0:
            return np.flatnonzero(inside)
        inside[random.permutation(cells)[:room]] = True


def _around(ways: Ways, cells: Array) -> Array:
    """Cells that share a sum with one of some."""
    mark = np.zeros(ways.size)
    mark[cells] = 1
    return np.asarray(abs(ways.columns.T) @ (abs(ways.rows) @ mark) > 0)
