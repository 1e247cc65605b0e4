"""One pattern after the other: each need in turn takes its cheapest move, and the cells it uses are hidden.

A hidden cell is free to use, another is priced by what hiding it costs and how far it can move.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.base import deadline
from discreet.errors import InputError, OutOfTimeError
from discreet.methods.suppress.attacker.cheapest_move import Move, Refusal, Side
from discreet.methods.suppress.attacker.feasibility import met_by, needs_by_cell, spread
from discreet.methods.suppress.heuristics.prune import Kept, clean_up, listed
from discreet.methods.suppress.model.problem import Problem

Array = NDArray[Any]
USED = 1e-4  # of the usual weight: what using a hidden cell counts for, so that moves stay short
SPREAD = (0.1, 1.0)  # of the logarithm of a weight when it is shaken, least and most


def cleaned(problem: Problem, pattern: Array, until: float) -> Array:
    """The pattern without what can be published, as far as there is time."""
    if time.monotonic() > until:
        return np.asarray((pattern & problem.free) | problem.hidden)
    try:
        with deadline.until(until):
            return clean_up(problem, pattern, until=until)[0]
    except OutOfTimeError:
        return np.asarray((pattern & problem.free) | problem.hidden)


def weights(problem: Problem, guide: Array | None, random: np.random.Generator | None) -> Array:
    """What hiding a cell counts for in the search, in usual weights: less where the guide hides it, shaken if asked."""
    usual = float(np.median(problem.weight[problem.free])) if problem.free.any() else 1.0
    weight = np.where(np.isfinite(problem.weight), problem.weight, 0) / (usual or 1.0)
    if guide is not None:
        weight = weight * np.maximum(1 - np.asarray(guide, float), 0.01)
    if random is not None:
        weight = weight * np.exp(random.normal(0, random.uniform(*SPREAD), len(weight)))
    return np.asarray(weight + USED)


def hopeless_needs(needs: Array | list[int]) -> InputError:
    """The error that names needs which no pattern meets."""
    return InputError(
        f"{listed(needs)} cannot be met even if every cell that may be hidden is: lower their levels, or let more "
        "cells be hidden"
    )


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
        deadline.check()
        price = weight if alone else None
        if not any(_ways_out(kept, need, amounts, weight, price, table) for amounts in _splits(problem, need)):
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
