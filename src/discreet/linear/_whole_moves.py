"""Compiled local search for whole-number moves: changes of a solution that keep every row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.base.annotations import Array
from discreet.base.compiled import compiled, compiled_part


class Entries(NamedTuple):
    """A matrix of whole numbers twice: by rows and by columns."""

    row_ptr: Array
    row_columns: Array
    row_values: Array
    column_ptr: Array
    column_rows: Array
    column_values: Array


class BasePoint(NamedTuple):
    """The solution that walks begin from: its distance from the known one, and how far it may move down and up.

    ``least`` and ``most`` are the extremes of the distance so far. Every move that is found leads on to another
    solution, from which other variables have room.
    """

    distance: Array
    down: Array
    up: Array
    least: Array
    most: Array
    toll: Array  # of changing a variable at all, beside 2 for each unit by which a row is broken


class Walk(NamedTuple):
    """Where a walk stands. Rows that the change breaks are listed in ``broken``, ``place`` says where (−1: kept)."""

    change: Array
    error: Array
    weight: Array
    broken: Array
    place: Array
    touched: Array
    rests_until: Array
    number: Array  # of broken rows, of touched variables, of steps; the random state


BROKEN, TOUCHED, CLOCK, RANDOM = 0, 1, 2, 3
ROWS = 4  # that are broken, of which a walk takes the best step: a third of the steps of a walk that looks at one


def _steps(entries: Entries, room: Array, targets: Array, steps: int, tries: int, *rest: Any) -> float:
    """A step of a walk looks at every entry in the columns of a row; most walks end in a quarter of their steps."""
    per_row = len(entries.row_columns) / max(len(entries.row_ptr) - 1, 1)
    per_column = len(entries.column_rows) / max(len(entries.column_ptr) - 1, 1)
    return len(targets) * steps * tries * per_row * per_column / 4


@compiled(steps=_steps)
def find_moves(
    entries: Entries, base: BasePoint, targets: Array, steps: int, tries: int, weight: Array, seed: int
) -> int:
    """Look for a move of each target by one unit, up or down, and note in ``base`` how far any variable has moved.

    A walk changes the target and then, as long as rows are broken, one variable of a broken row by a unit towards
    keeping it: the one after which the weighted errors are least. Where no change helps, the broken rows get heavier;
    part of that is kept for the next walks, so that rows that are hard to keep are kept first. Gives the steps taken.
    """
    walk = no_walk(len(entries.column_ptr) - 1, weight, seed)
    taken = 0
    for target in targets:
        for attempt in range(tries):
            if base.least[target] < 0 or base.most[target] > 0:
                break
            unit = 1 if attempt % 2 == 0 else -1
            if (base.up[target] if unit > 0 else base.down[target]) < 1:
                continue
            walk.number[CLOCK] = 0
            apply_unit(target, unit, entries, walk)
            for _ in range(steps):
                if walk.number[BROKEN] == 0:
                    break
                taken += 1
                one_step(target, 1, False, 0, 1, entries, base.down, base.up, base.toll, walk, ROWS)
            if walk.number[BROKEN] == 0:
                follow(base, walk)
            end(entries, walk)
    return taken


@compiled
def list_moves(
    entries: Entries, base: BasePoint, targets: Array, steps: int, tries: int, seed: int, variables: Array, ends: Array
) -> int:
    """A move of each target by one unit, all from the same solution: how many there are, and what each changes.

    The variables of move k stand in ``variables`` before ``ends[k]``; moves for which there is no room are left out.
    """
    n = len(entries.column_ptr) - 1
    walk = no_walk(n, np.ones(len(entries.row_ptr) - 1, np.int64), seed)
    moves = 0
    used = 0
    for target in targets:
        for attempt in range(tries):
            unit = 1 if attempt % 2 == 0 else -1
            if (base.up[target] if unit > 0 else base.down[target]) < 1:
                continue
            walk.number[CLOCK] = 0
            apply_unit(target, unit, entries, walk)
            for _ in range(steps):
                if walk.number[BROKEN] == 0:
                    break
                one_step(target, 1, False, 0, 1, entries, base.down, base.up, base.toll, walk, 1)
            kept = walk.number[BROKEN] == 0 and used + walk.number[TOUCHED] <= len(variables)
            for i in range(walk.number[TOUCHED] if kept else 0):
                if walk.change[walk.touched[i]] != 0:
                    variables[used] = walk.touched[i]
                    used += 1
            end(entries, walk)
            if kept:
                ends[moves] = used
                moves += 1
                break
    return moves


@compiled
def cheapest_move(
    entries: Entries, base: BasePoint, target: int, unit: int, steps: int, tries: int, cost: Array, best: Array
) -> float:
    """The cheapest of the moves of a target by one unit that some walks find, in ``best``: its cost, or -1 for none.

    ``cost``: of changing a variable at all, by any number of units.
    """
    walk = no_walk(len(entries.column_ptr) - 1, np.ones(len(entries.row_ptr) - 1, np.int64), 1 + target)
    least = -1.0
    for _ in range(tries):
        walk.number[CLOCK] = 0
        apply_unit(target, unit, entries, walk)
        for _ in range(steps):
            if walk.number[BROKEN] == 0:
                break
            one_step(target, 1, False, 0, 1, entries, base.down, base.up, base.toll, walk, 1)
        paid = 0.0
        for i in range(walk.number[TOUCHED]):
            if walk.change[walk.touched[i]] != 0:
                paid += cost[walk.touched[i]]
        if walk.number[BROKEN] == 0 and (least < 0 or paid < least):
            least = paid
            best[:] = walk.change
        end(entries, walk)
    return least


@compiled_part
def no_walk(n: int, weight: Array, seed: int) -> Walk:
    """Where a walk stands before its first step."""
    m = len(weight)
    return Walk(
        np.zeros(n, np.int64),
        np.zeros(m, np.int64),
        weight,
        np.empty(m, np.int64),
        np.full(m, -1, np.int64),
        np.empty(n, np.int64),
        np.full(n, -1, np.int64),
        np.array([0, 0, 0, seed], np.int64),
    )


@compiled_part
def random_below(walk: Walk, below: int) -> int:
    """A whole number from 0 to less than ``below``, drawn by the generator of Park and Miller."""
    walk.number[RANDOM] = walk.number[RANDOM] * 48271 % 2147483647
    return walk.number[RANDOM] % below  # type: ignore[no-any-return]


@compiled_part
def has_room(down: int, up: int, change: int, step: int, both: bool) -> bool:
    """Whether a variable with so much room may be changed by so many steps (and back, with ``both``)."""
    far = abs(change) * step
    if both:
        return bool(up >= far and down >= far)
    return bool((up if change > 0 else down) >= far)


@compiled_part
def one_step(
    target: int,
    step: int,
    both: bool,
    first: int,
    times: int,
    entries: Entries,
    down: Array,
    up: Array,
    toll: Array,
    walk: Walk,
    rows: int,
) -> None:
    """Change the best variable of some broken rows by one; rows get heavier where nothing helps.

    The change stands for so many units (``step``; and back, with ``both``). A variable that is not changed yet costs
    ``first`` and its toll so many ``times``: of equals the one that is changed already is taken, for short moves.
    ``rows``: how many rows are looked at, or one: the heavier of two.
    """
    begin = random_below(walk, walk.number[BROKEN])
    if rows == 1:  # the heavier of two
        other = random_below(walk, walk.number[BROKEN])
        if walk.weight[walk.broken[other]] > walk.weight[walk.broken[begin]]:
            begin = other
    least = 1 << 60
    best = -1
    best_unit = 1
    ties = 0
    for number in range(begin, begin + min(rows, walk.number[BROKEN])):
        row = walk.broken[number % walk.number[BROKEN]]
        for e in range(entries.row_ptr[row], entries.row_ptr[row + 1]):
            j = entries.row_columns[e]
            unit = -1 if (walk.error[row] > 0) == (entries.row_values[e] > 0) else 1
            if j == target or walk.rests_until[j] > walk.number[CLOCK]:
                continue
            if not has_room(down[j], up[j], walk.change[j] + unit, step, both):
                continue
            price = first + times * toll[j] if walk.change[j] == 0 else 0
            for f in range(entries.column_ptr[j], entries.column_ptr[j + 1]):
                error = walk.error[entries.column_rows[f]]
                new = error + entries.column_values[f] * unit
                price += 2 * (abs(new) - abs(error)) * walk.weight[entries.column_rows[f]]
            if price < least:
                least = price
                best = j
                best_unit = unit
                ties = 1
            elif price == least:
                ties += 1
                if random_below(walk, ties) == 0:
                    best = j
                    best_unit = unit
    if least >= 0:
        for i in range(walk.number[BROKEN]):
            walk.weight[walk.broken[i]] += 1
    walk.number[CLOCK] += 1
    if best < 0:
        return
    apply_unit(best, best_unit, entries, walk)
    walk.rests_until[best] = walk.number[CLOCK] + 1 + random_below(walk, 2)


@compiled_part
def apply_unit(j: int, unit: int, entries: Entries, walk: Walk) -> None:
    """Change a variable by one unit and keep the list of broken rows."""
    if walk.rests_until[j] < 0:
        walk.touched[walk.number[TOUCHED]] = j
        walk.number[TOUCHED] += 1
        walk.rests_until[j] = 0
    walk.change[j] += unit
    for f in range(entries.column_ptr[j], entries.column_ptr[j + 1]):
        row = entries.column_rows[f]
        before = walk.error[row]
        after = before + entries.column_values[f] * unit
        walk.error[row] = after
        if before == 0 and after != 0:
            walk.place[row] = walk.number[BROKEN]
            walk.broken[walk.number[BROKEN]] = row
            walk.number[BROKEN] += 1
        elif before != 0 and after == 0:
            last = walk.broken[walk.number[BROKEN] - 1]
            walk.broken[walk.place[row]] = last
            walk.place[last] = walk.place[row]
            walk.place[row] = -1
            walk.number[BROKEN] -= 1


@compiled_part
def follow(base: BasePoint, walk: Walk) -> None:
    """Go on from where a move that keeps every row leads."""
    for i in range(walk.number[TOUCHED]):
        j = walk.touched[i]
        base.distance[j] += walk.change[j]
        base.down[j] += walk.change[j]
        base.up[j] -= walk.change[j]
        base.least[j] = min(base.least[j], base.distance[j])
        base.most[j] = max(base.most[j], base.distance[j])


@compiled_part
def end(entries: Entries, walk: Walk) -> None:
    """Begin from nothing again; weights lose a quarter."""
    for i in range(walk.number[BROKEN]):
        walk.place[walk.broken[i]] = -1
    for i in range(walk.number[TOUCHED]):
        j = walk.touched[i]
        walk.change[j] = 0
        walk.rests_until[j] = -1
        for f in range(entries.column_ptr[j], entries.column_ptr[j + 1]):
            row = entries.column_rows[f]
            walk.error[row] = 0
            walk.weight[row] = (3 * walk.weight[row] + 1) // 4
    walk.number[BROKEN] = 0
    walk.number[TOUCHED] = 0
