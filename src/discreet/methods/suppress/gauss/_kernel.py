"""The compiled loop of secondary suppression where contributors know their own cells: candidates enter one by one,
primaries are kept reduced beside them.

Let V be the space of sums over inner cells and K the span of what is published so far. A candidate c may be published
if no primary p becomes a combination of K and c. Both are held reduced modulo K in the same way (zero in every pivot
row), so the question is whether p is a multiple of c, entry by entry, and only primaries with an entry in the pivot row
of c have to be asked. The pivot is the row of c that the fewest primaries share: usually none do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.base.compiled import compiled, compiled_part
from discreet.linear._reduction import (
    DEAD,
    ZERO,
    P,
    empty_candidate,
    keep_column,
    kept_with_room,
    minus,
    nothing_kept,
    reduce_column,
    reduction_steps,
    times,
)
from discreet.methods.suppress.gauss._kernel_questions import (
    SECONDARY,
    asked_at_pivot,
    exposed_elsewhere,
    scale_to_one,
)
from discreet.methods.suppress.gauss._kernel_state import (
    enlist,
    entered,
    lists_with_room,
    place_of,
    primaries_with_room,
)


@compiled(steps=lambda columns, question, clock: reduction_steps(len(columns.row), len(columns.start)), restarts=True)
def eliminate_columns(columns: Any, question: Any, clock: Any) -> Any:
    """Which columns of the order are withheld, and which primaries the forced ones already give away.

    ``clock`` is a two-element array: columns done (written as work proceeds) and a wish to stop.
    """
    order = question.order
    group = question.group
    n_rows = len(group)
    candidate = empty_candidate(n_rows, len(order))
    published = nothing_kept(n_rows, len(order))
    primaries, lists = entered(columns, question.primary, n_rows)
    outcome = np.zeros(len(order), np.int8)
    hit = np.empty(len(question.primary), np.int32)
    for step in range(len(order)):
        if step & 255 == 0:
            clock[0] = step
        if clock[1]:
            break
        begin = columns.start[order[step]]
        end = columns.start[order[step] + 1]
        left = reduce_column(columns.row[begin:end], columns.value[begin:end], candidate, published)
        if left == 0:
            continue
        pivot = best_pivot(left, candidate, lists, group, question.priority)
        scale_to_one(pivot, left, candidate)
        forced = step < question.forced
        mark_rows(left, candidate, True)
        hits, secondary = asked_at_pivot(pivot, left, candidate, published, primaries, lists, question, forced, hit)
        if group[pivot] > 0 and not secondary and not forced:
            secondary = exposed_elsewhere(pivot, left, candidate, published, primaries, lists, question)
        mark_rows(left, candidate, False)
        if secondary and not forced:
            outcome[step] = SECONDARY
            continue
        published = kept_with_room(published, left)
        keep_column(pivot, left, candidate, published)
        for h in range(hits):
            primaries = primaries_with_room(primaries, hit[h], left)
            lists = lists_with_room(lists, left)
            subtract(hit[h], pivot, left, candidate, published, primaries, lists)
    clock[0] = len(order)
    return outcome, primaries.unsafe


@compiled_part
def best_pivot(left: int, candidate: Any, lists: Any, group: Any, priority: Any) -> int:
    """No singleton's row while there is another, then the one of fewest primaries, then by priority."""
    best = candidate.touched[0]
    for j in range(1, left):
        row = candidate.touched[j]
        single = group[row] > 0
        best_single = group[best] > 0
        if single != best_single:
            if best_single:
                best = row
            continue
        count = lists.count[row]
        fewest = lists.count[best]
        if count < fewest or (count == fewest and priority[row] < priority[best]):
            best = row
    return np.int64(best)  # type: ignore[return-value]  # as wide as other row numbers: pieces are compiled once


@compiled_part
def mark_rows(left: int, candidate: Any, to: bool) -> None:
    """Mark the rows of a candidate, or unmark them."""
    for j in range(left):
        candidate.has[candidate.touched[j]] = to


@compiled_part
def subtract(p: int, pivot: int, left: int, candidate: Any, published: Any, primaries: Any, lists: Any) -> None:
    """p − λ c in place of p, so that it has nothing in the pivot row of the published column c.

    Where it may not fit into its place it is written at the end.
    """
    need = primaries.live[p] + left
    begin = primaries.start[p]
    target = begin
    if need > primaries.room[p]:
        target = primaries.used[0]
        primaries.room[p] = 2 * need
        primaries.used[0] += 2 * need
    factor = primaries.value[place_of(pivot, p, primaries)]
    mark_rows(left, candidate, True)
    count = 0
    for j in range(begin, begin + primaries.length[p]):
        row = primaries.row[j]
        if published.pivot_of[row] == DEAD and row != pivot:
            continue
        value = primaries.value[j]
        if candidate.has[row]:
            candidate.has[row] = False
            value = minus(value, times(factor, candidate.work[row]))
            if value == ZERO:
                lists.count[row] -= 1
                continue
        primaries.row[target + count] = row
        primaries.value[target + count] = value
        count += 1
    for j in range(left):
        row = candidate.touched[j]
        if candidate.has[row]:
            candidate.has[row] = False
            primaries.row[target + count] = row
            primaries.value[target + count] = P - times(factor, candidate.work[row])
            count += 1
            enlist(p, row, lists)
    primaries.start[p] = target
    primaries.length[p] = count
    primaries.live[p] = count
    if count == 0:
        primaries.unsafe[p] = True
