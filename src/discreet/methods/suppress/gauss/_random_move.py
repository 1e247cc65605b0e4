"""The compiled loop of secondary suppression where nobody knows cells of their own: one random move tells what follows.

A *move* is a change of the rows that changes nothing of what is known. Let one be drawn at random among all that there
are, modulo the prime: where it is zero every move is, so that row is known, but for a chance of one in 2**61. A column
let in forbids the moves that change it. Take any other move u that changes it: the drawn one, less as much of u as
takes the change away, is a random one among those that are left. A sensitive row follows if it is zero there. So what
a column would give away is seen in the rows of u alone, and nothing has to be kept reduced beside what is published.

u is a *unit move*: one row that is no pivot changes by one, the others that are none stay, and the pivots follow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.base.compiled import compiled, compiled_part
from discreet.linear._reduction import (
    DEAD,
    ONE,
    ZERO,
    empty_candidate,
    grown,
    keep_column,
    kept_with_room,
    minus,
    nothing_kept,
    pop,
    push,
    reduce_column,
    reduction_steps,
    times,
)
from discreet.methods.suppress.gauss._kernel_questions import SECONDARY, SUMS, scale_to_one


class Holders(NamedTuple):
    """Per row the kept columns in which it stands beside the pivot, ``count`` of them, as a list from ``head``."""

    head: Any
    count: Any
    item: Any
    value: Any
    following: Any
    used: Any


class UnitMove(NamedTuple):
    """A move: ``by`` at the rows ``touched[:n]``, zero elsewhere; ``heap`` and ``waits`` are scratch over columns."""

    by: Any
    touched: Any
    heap: Any
    waits: Any


class Undo(NamedTuple):
    """What the random move was at the rows that changed since ``tick`` went up: ``stamp`` tells which they are."""

    row: Any
    value: Any
    stamp: Any
    tick: Any
    used: Any


@compiled(steps=lambda columns, question, clock: reduction_steps(len(columns.row), len(columns.start)), restarts=True)
def eliminate_rows(columns: Any, question: Any, clock: Any) -> Any:
    """Which columns of the order are withheld, and what the random move is in the end: zero where a row is known.

    ``clock`` is a two-element array: columns done (written as work proceeds) and a wish to stop.
    """
    order = question.order
    group = question.group
    n_rows = len(group)
    candidate = empty_candidate(n_rows, len(order))
    published = nothing_kept(n_rows, len(order))
    holders = nobody_holds(n_rows)
    unit = nowhere(n_rows)
    undo = nothing_done(n_rows)
    move = np.zeros(n_rows, np.uint64)
    outcome = np.zeros(len(order), np.int8)
    in_a_sum = np.zeros(n_rows, np.bool_)
    for step in range(len(order)):
        if step & 255 == 0:
            clock[0] = step
        if clock[1]:
            break
        if step == question.known:
            draw_move(move, question.drawn, published)
        begin = columns.start[order[step]]
        end = columns.start[order[step] + 1]
        asked = step >= question.known
        if asked and changed_by(move, columns, begin, end) == ZERO:
            continue  # known already: to reduce it to nothing would take longer
        left = reduce_column(columns.row[begin:end], columns.value[begin:end], candidate, published)
        if left == 0:
            continue
        forced = step < question.known + question.forced
        pivot = least_held(left, candidate, holders, group, question.priority, asked)
        scale_to_one(pivot, left, candidate)
        secondary = False
        if question.mode == SUMS and group[pivot] > 0:  # a combination of singletons only would follow
            secondary = gives_singletons(left, candidate, in_a_sum)
            if secondary and question.lenient:  # a known sum of zeros: each is known
                if not make_rows_known(left, candidate, published, holders, unit, move, question.guarded, forced, undo):
                    outcome[step] = SECONDARY
                continue
        if asked and (forced or not secondary):
            away = published_away(pivot, left, candidate, published, holders, unit, move, question.guarded, forced)
            secondary = secondary or away
        if secondary and not forced:
            outcome[step] = SECONDARY
            continue
        published = kept_with_room(published, left)
        keep_column(pivot, left, candidate, published)
        if left > 1:
            holders = holders_with_room(holders, left)
            hold(pivot, left, candidate, published.count[0] - 1, holders)
    if len(order) <= question.known:
        draw_move(move, question.drawn, published)
    clock[0] = len(order)
    return outcome, move


@compiled_part
def nobody_holds(n_rows: int) -> Any:
    """No row stands in a kept column yet."""
    return Holders(
        np.full(n_rows, -1, np.int64),
        np.zeros(n_rows, np.int64),
        np.empty(4096, np.int32),
        np.empty(4096, np.uint64),
        np.empty(4096, np.int64),
        np.zeros(1, np.int64),
    )


@compiled_part
def nowhere(n_rows: int) -> Any:
    """The move that changes nothing."""
    return UnitMove(
        np.zeros(n_rows, np.uint64),
        np.empty(n_rows + 1, np.int32),
        np.empty(n_rows + 1, np.int64),
        np.zeros(n_rows + 1, np.bool_),
    )


@compiled_part
def nothing_done(n_rows: int) -> Any:
    """Nothing to take back yet."""
    return Undo(
        np.empty(n_rows, np.int32),
        np.empty(n_rows, np.uint64),
        np.zeros(n_rows, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )


@compiled_part
def holders_with_room(holders: Any, more: int) -> Any:
    """Lists with room for so many more places."""
    size = holders.used[0] + more
    if size <= len(holders.item):
        return holders
    item = grown(holders.item, size)
    value = grown(holders.value, size)
    following = grown(holders.following, size)
    return Holders(holders.head, holders.count, item, value, following, holders.used)


@compiled_part
def hold(pivot: int, left: int, candidate: Any, number: int, holders: Any) -> None:
    """Enter the rows of a kept column, scaled to 1 in its pivot row, in their lists, for which there must be room."""
    for j in range(left):
        row = candidate.touched[j]
        if row == pivot:
            continue
        node = holders.used[0]
        holders.item[node] = number
        holders.value[node] = candidate.work[row]
        holders.following[node] = holders.head[row]
        holders.head[row] = node
        holders.count[row] += 1
        holders.used[0] = node + 1


@compiled_part
def draw_move(move: Any, drawn: Any, kept: Any) -> None:
    """A random move among all that change nothing known: rows that are no pivots are drawn, the pivots follow.

    Kept column k has nothing in the pivot rows of those before it, so the last pivot follows first.
    """
    for row in range(len(move)):
        move[row] = drawn[row] if kept.pivot_of[row] == -1 else ZERO
    for k in range(kept.count[0] - 1, -1, -1):
        pivot = kept.pivots[k]
        total = ZERO
        for j in range(kept.start[k], kept.start[k] + kept.length[k]):
            if kept.row[j] != pivot:
                total = minus(total, times(kept.value[j], move[kept.row[j]]))
        move[pivot] = total


@compiled_part
def changed_by(move: Any, columns: Any, begin: int, end: int) -> Any:
    """By how much a move changes a column."""
    total = ZERO
    for j in range(begin, end):
        total = minus(total, times(columns.value[j], move[columns.row[j]]))
    return minus(ZERO, total)


@compiled_part
def least_held(left: int, candidate: Any, holders: Any, group: Any, priority: Any, asked: bool) -> int:
    """No singleton's row while there is another, then by priority; of what is asked the row in fewest columns first."""
    best = candidate.touched[0]
    for j in range(1, left):
        row = candidate.touched[j]
        single = group[row] > 0
        best_single = group[best] > 0
        if single != best_single:
            if best_single:
                best = row
            continue
        more = holders.count[row] - holders.count[best] if asked else 0
        if more < 0 or (more == 0 and priority[row] < priority[best]):
            best = row
    return np.int64(best)  # type: ignore[return-value]  # as wide as other row numbers: pieces are compiled once


@compiled_part
def unit_move(row: Any, published: Any, holders: Any, unit: Any) -> int:
    """The unit move of a row that is no pivot; returns how many rows it touches.

    Kept column k has nothing in the pivot rows of those before it, so the columns met are worked off last first.
    """
    by = unit.by
    by[row] = ONE
    unit.touched[0] = row
    n = 1
    waiting = 0
    while True:
        change = by[row]
        node = holders.head[row] if change != ZERO else np.int64(-1)
        while node >= 0:
            k = holders.item[node]
            pivot = published.pivots[k]
            if not unit.waits[k]:
                unit.waits[k] = True
                waiting = push(unit.heap, waiting, -k)
                unit.touched[n] = pivot
                n += 1
            by[pivot] = minus(by[pivot], times(change, holders.value[node]))
            node = holders.following[node]
        if waiting == 0:
            break
        waiting = pop(unit.heap, waiting)
        k = -unit.heap[waiting]
        unit.waits[k] = False
        row = published.pivots[k]
    return n


@compiled_part
def gives_away(n: int, unit: Any, move: Any, much: Any, guarded: Any) -> bool:
    """Whether a guarded row of a unit move would be zero in the random move less so much of it."""
    for j in range(n):
        row = unit.touched[j]
        if guarded[row] and unit.by[row] != ZERO and move[row] == times(much, unit.by[row]):
            return True
    return False


@compiled_part
def published_away(
    pivot: int,
    left: int,
    candidate: Any,
    published: Any,
    holders: Any,
    unit: Any,
    move: Any,
    guarded: Any,
    forced: bool,
) -> bool:
    """Whether a candidate, 1 in its pivot row, would give a guarded row away; if not, or forced, it enters the move."""
    much = ZERO
    for j in range(left):
        row = candidate.touched[j]
        value = times(candidate.work[row], move[row])
        much = minus(value, minus(ZERO, much))
    n = unit_move(pivot, published, holders, unit)
    away = not forced and gives_away(n, unit, move, much, guarded)
    for j in range(n):
        row = unit.touched[j]
        if not away:
            move[row] = minus(move[row], times(much, unit.by[row]))
        unit.by[row] = ZERO
    return bool(away)


@compiled_part
def make_rows_known(
    left: int,
    candidate: Any,
    published: Any,
    holders: Any,
    unit: Any,
    move: Any,
    guarded: Any,
    forced: bool,
    undo: Any,
) -> bool:
    """Make each row of a candidate, none of them a pivot, known by itself, unless a guarded row would follow."""
    undo.tick[0] += 1
    undo.used[0] = 0
    for j in range(left):
        known = candidate.touched[j]
        much = move[known]
        n = unit_move(np.int64(known), published, holders, unit)
        away = not forced and gives_away(n, unit, move, much, guarded)
        for i in range(n):
            row = unit.touched[i]
            if not away:
                note(row, move, undo)
                move[row] = minus(move[row], times(much, unit.by[row]))
            unit.by[row] = ZERO
        if away:
            for i in range(undo.used[0]):
                move[undo.row[i]] = undo.value[i]
            return False
    for j in range(left):
        published.pivot_of[candidate.touched[j]] = DEAD
    return True


@compiled_part
def note(row: int, move: Any, undo: Any) -> None:
    """Keep what the move was at a row before it changed."""
    if undo.stamp[row] != undo.tick[0]:
        undo.stamp[row] = undo.tick[0]
        undo.row[undo.used[0]] = row
        undo.value[undo.used[0]] = move[row]
        undo.used[0] += 1


@compiled_part
def gives_singletons(left: int, candidate: Any, in_a_sum: Any) -> bool:
    """Whether a combination of singletons tells them: it is their sum, or shares one with another combination.

    If it does not, its rows are noted in ``in_a_sum``.
    """
    is_sum = True
    for j in range(left):
        if candidate.work[candidate.touched[j]] != ONE:
            is_sum = False
            break
    if is_sum:
        return True
    shares = False
    for j in range(left):
        shares |= in_a_sum[candidate.touched[j]]
    if shares:
        return True
    for j in range(left):
        in_a_sum[candidate.touched[j]] = True
    return False
