"""Whole numbers where they matter: is a count known exactly although its linear interval holds two or three values?

A linear program may leave an interval whose ends no whole-number table reaches. That matters when only one whole
value is left. Small integer programs around a known whole-number solution look for a second value.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from discreet.base.annotations import Array
from discreet.linear.extremes import Search
from discreet.linear.highs import Outcome
from discreet.linear.linear_tuning import LINEAR, LinearTuning
from discreet.linear.program import SystemProgram
from discreet.linear.system import ContradictionError, System

SHORT = 2  # intervals of at most so many units: three values or fewer


def settle(search: Search, tuning: LinearTuning = LINEAR) -> None:
    """Short intervals that hold one whole value only become that value; ``search.doubt`` where time ran out."""
    with np.errstate(invalid="ignore"):
        width = search.outer[1] - search.outer[0]
    short = np.flatnonzero(search.wanted & (width > 0) & (width <= SHORT))
    if not len(short):
        return
    _second_whole(search, short, tuning)


def second_values(system: System, targets: Array, tuning: LinearTuning = LINEAR) -> tuple[Array, Array]:
    """Of each target whether it has one whole value only, and whether that is in doubt as time ran out."""
    search = Search(system, targets, lambda done: None)
    if len(targets):
        _second_whole(search, targets, tuning)
    return search.outer[0, targets] == search.outer[1, targets], search.doubt[targets]


def apart_points(system: System, targets: Array, seconds: float, rounds: int = 8) -> list[Array]:
    """Solutions in whole numbers in which targets are small here and large there: witnesses of two values of many.

    ContradictionError if there is no solution; as many as are found in so many seconds.
    """
    stop = time.monotonic() + seconds
    points: list[Array] = []
    program = SystemProgram(system, scale=1.0)
    program.solver.only_whole_numbers(system.size)
    program.solver.set_options({"presolve": "on", "solver": "choose", "mip_rel_gap": 0.2, "time_limit": seconds})
    for number in range(rounds):
        if time.monotonic() > stop:
            break
        odd = (np.arange(len(targets)) >> (number // 2)) & 1 if number > 1 else np.zeros(len(targets), np.int64)
        cost = np.where((odd + number) % 2, 1.0, -1.0)
        program.solver.change_costs(targets, cost)
        outcome = program.solver.run()
        if outcome is Outcome.INFEASIBLE:
            raise ContradictionError
        if outcome is Outcome.SOLVED:
            point = np.asarray(np.rint(program.solver.x + program.shift))
            points += [point] if system.fits(point) else []
    return points


def single_values(
    system: System, targets: Array, points: Sequence[Array] = (), tuning: LinearTuning = LINEAR
) -> tuple[Array, Array, Array]:
    """Bounds of targets, both the same where one whole value is left however wide they were; and which are in doubt.

    For equations with factors, of which linear bounds say little in whole numbers: 3x = 2y + 1. ``points``: solutions
    that are known.
    """
    search = Search(system, targets, lambda done: None)
    for point in points:
        search.witness(point)
    open_ones = targets[~(search.whole[1, targets] > search.whole[0, targets])]
    if len(open_ones):
        _second_whole(search, open_ones, tuning)
    return search.outer[0, targets], search.outer[1, targets], search.doubt[targets]


def _second_whole(search: Search, short: Array, tuning: LinearTuning) -> None:
    """Look for a second whole value of some variables around a known solution."""
    stop = time.monotonic() + tuning.whole_seconds
    point = search.system.point
    if point is None or not search.system.fits(point):
        point = whole_point(search.system, tuning.whole_seconds / 4)
    if point is None:
        search.doubt[short] = True
        return
    search.witness(point)
    for k in short:
        if search.whole[1, k] > search.whole[0, k] or time.monotonic() > stop:
            continue
        if _alone(search, point, int(k), stop, tuning.near):
            search.outer[:, k] = point[k]
    alone = search.outer[0, short] == search.outer[1, short]
    search.doubt[short] = ~alone & ~(search.whole[1, short] > search.whole[0, short])


def _alone(search: Search, point: Array, k: int, stop: float, near: tuple[int, ...]) -> bool:
    """Whether no whole-number solution gives variable k another value than ``point`` does."""
    n = search.system.size
    for size in [*(s for s in near if s < n), n]:
        free = search.system.around(k, size)
        proved = True
        for side in (0, 1):
            lower = search.outer[0, free].copy()
            upper = search.outer[1, free].copy()
            at = int(np.flatnonzero(free == k)[0])
            if side == 0:
                upper[at] = point[k] - 1
            else:
                lower[at] = point[k] + 1
            if lower[at] > upper[at]:
                continue
            part = search.system.with_others_at(free, point, lower, upper)
            seconds = max(min(stop - time.monotonic(), 1.0), 0.1)
            try:
                second = whole_point(part, seconds)
            except ContradictionError:
                continue
            if second is not None:
                other = point.copy()
                other[free] = second
                search.witness(other)
                return False
            proved = False
        if size == n:
            return proved
    return False


def whole_point(system: System, seconds: float) -> Array | None:
    """A solution in whole numbers, None if none was found in time; ContradictionError if there is none."""
    program = SystemProgram(system, scale=1.0)
    program.solver.only_whole_numbers(system.size)
    program.solver.set_options({"presolve": "on", "solver": "choose", "time_limit": seconds})
    outcome = program.solver.run()
    if outcome is Outcome.INFEASIBLE:
        raise ContradictionError
    if outcome is not Outcome.SOLVED:
        return None
    point = np.asarray(np.rint(program.solver.x + program.shift))
    return point if system.fits(point) else None  # what does not fit once it is rounded shows nothing
