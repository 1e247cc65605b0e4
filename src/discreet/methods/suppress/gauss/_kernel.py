"""The compiled loop of secondary suppression: candidates enter one by one, primaries are kept reduced beside them.

Let V be the space of sums over inner cells and K the span of what is published so far. A candidate c may be published
if no primary p becomes a combination of K and c. Both are held reduced modulo K in the same way (zero in every pivot
row), so the question is whether p is a multiple of c, entry by entry, and only primaries with an entry in the pivot row
of c have to be asked. The pivot is the row of c that the fewest primaries share: usually none do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.base.compiled import compiled
from discreet.linear.modular import _P, _ZERO, DEAD, _times, keep_column, minus, reduce_column
from discreet.methods.suppress.gauss._kernel_questions import (
    OWN,
    SUMS,
    asked_at_pivot,
    exposed_elsewhere,
    gives_singletons,
    holds_primary,
    make_known,
    scale_to_one,
)
from discreet.methods.suppress.gauss._kernel_state import (
    empty_candidate,
    enlist,
    entered,
    lists_with_room,
    nothing_published,
    place_of,
    primaries_with_room,
    published_with_room,
)

SECONDARY = 1


@compiled
def eliminate_columns(columns: Any, question: Any, clock: Any) -> Any:
    """Which columns of the order are withheld, which primaries the forced ones already give away, and the rank.

    ``clock`` is a two-element array: columns done (written as work proceeds) and a wish to stop.
    """
    order, group, n_rows = question.order, question.group, len(question.group)
    candidate, published = empty_candidate(n_rows, len(order)), nothing_published(n_rows, len(order))
    primaries, lists = entered(columns, question.primary, n_rows)
    outcome, hit = np.zeros(len(order), np.int8), np.empty(len(question.primary), np.int32)
    in_a_sum = np.zeros(n_rows, np.bool_)
    rank = 0
    for step in range(len(order)):
        if step & 255 == 0:
            clock[0] = step
        if clock[1]:
            break
        left = reduced(columns, order[step], candidate, published)
        if left == 0:
            continue
        pivot = best_pivot(left, candidate, lists, group, question.priority)
        scale_to_one(pivot, left, candidate)
        forced = step < question.forced
        secondary, known_parts = False, False
        if question.mode == SUMS and group[pivot] > 0:  # a combination of singletons only would follow
            secondary = gives_singletons(left, candidate, in_a_sum)
            known_parts = secondary and question.lenient
        mark_rows(left, candidate, True)
        if known_parts:  # a known sum of zeros: each is known; that matters if a primary lies within them
            secondary = not forced and holds_primary(left, candidate, published, primaries, lists)
            if not secondary:
                mark_rows(left, candidate, False)
                make_known(left, candidate, published, primaries, lists)
                continue
        hits = 0
        if not secondary or forced:
            hits, exposed = asked_at_pivot(pivot, left, candidate, published, primaries, lists, question, forced, hit)
            secondary = secondary or exposed
            if question.mode == OWN and group[pivot] > 0 and not secondary and not forced:
                secondary = exposed_elsewhere(pivot, left, candidate, published, primaries, lists, question)
        mark_rows(left, candidate, False)
        if secondary and not forced:
            outcome[step] = SECONDARY
            continue
        published = published_with_room(published, left)
        publish(pivot, left, rank, candidate, published)
        rank += 1
        for h in range(hits):
            primaries = primaries_with_room(primaries, hit[h], left)
            lists = lists_with_room(lists, left)
            subtract(hit[h], pivot, left, candidate, published, primaries, lists)
    clock[0] = len(order)
    return outcome, primaries.unsafe, rank


@compiled
def reduced(columns: Any, column: int, candidate: Any, published: Any) -> int:
    """Reduce a column by what is published; how many rows are left of it."""
    begin, end = columns.start[column], columns.start[column + 1]
    left: int = reduce_column(
        columns.row[begin:end],
        columns.value[begin:end],
        candidate.work,
        candidate.mark,
        candidate.touched,
        candidate.heap,
        published.pivot_of,
        published.pivots,
        published.start,
        published.length,
        published.row,
        published.value,
    )
    return left


@compiled
def publish(pivot: int, left: int, rank: int, candidate: Any, published: Any) -> None:
    """Keep a reduced column, for which there must be room, as number ``rank``."""
    work, touched, used = candidate.work, candidate.touched, published.used
    pivots, start, length = published.pivots, published.start, published.length
    row, value = published.row, published.value
    used[0] = keep_column(
        pivot, left, work, touched, rank, published.pivot_of, pivots, start, length, row, value, used[0]
    )


@compiled
def best_pivot(left: int, candidate: Any, lists: Any, group: Any, priority: Any) -> int:
    """No singleton's row while there is another, then the one of fewest primaries, then by priority."""
    best = candidate.touched[0]
    for j in range(1, left):
        row = candidate.touched[j]
        single, best_single = group[row] > 0, group[best] > 0
        if single != best_single:
            if best_single:
                best = row
            continue
        count, fewest = lists.count[row], lists.count[best]
        if count < fewest or (count == fewest and priority[row] < priority[best]):
            best = row
    return int(best)


@compiled
def mark_rows(left: int, candidate: Any, to: bool) -> None:
    """Mark the rows of a candidate, or unmark them."""
    for j in range(left):
        candidate.has[candidate.touched[j]] = to


@compiled
def subtract(p: int, pivot: int, left: int, candidate: Any, published: Any, primaries: Any, lists: Any) -> None:
    """p − λ c in place of p, so that it has nothing in the pivot row of the published column c.

    Where it may not fit into its place it is written at the end.
    """
    need, begin = primaries.live[p] + left, primaries.start[p]
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
            value = minus(value, _times(factor, candidate.work[row]))
            if value == _ZERO:
                lists.count[row] -= 1
                continue
        primaries.row[target + count], primaries.value[target + count] = row, value
        count += 1
    for j in range(left):
        row = candidate.touched[j]
        if candidate.has[row]:
            candidate.has[row] = False
            primaries.row[target + count] = row
            primaries.value[target + count] = _P - _times(factor, candidate.work[row])
            count += 1
            enlist(p, row, lists)
    primaries.start[p], primaries.length[p], primaries.live[p] = target, count, count
    if count == 0:
        primaries.unsafe[p] = True
