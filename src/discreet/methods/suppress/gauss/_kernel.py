"""The compiled loop of secondary suppression: candidates enter one by one, primaries are kept reduced beside them.

Let V be the space of sums over inner cells and K the span of what is published so far. A candidate c may be published
if no primary p becomes a combination of K and c. Both are held reduced modulo K in the same way (zero in every pivot
row), so the question is whether p is a multiple of c, entry by entry, and only primaries with an entry in the pivot row
of c have to be asked. The pivot is the row of c that the fewest primaries share: usually none do.

The state stands in a few tuples of arrays. A tuple whose arrays must grow is made anew; numbers that change stand in
arrays of one element.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.base.compiled import compiled
from discreet.linear.modular import (
    _ONE,
    _P,
    _ZERO,
    DEAD,
    _times,
    grown,
    inverse,
    keep_column,
    minus,
    reduce_column,
)

SECONDARY = 1
SUMS, OWN = 1, 2  # as in discreet.methods.suppress.model.singletons


class Columns(NamedTuple):
    """The matrix by columns, entries as residues."""

    start: Any
    row: Any
    value: Any


class Question(NamedTuple):
    """What is asked.

    Columns of ``order`` enter in turn, the first ``forced`` whatever follows. ``group``: per row 0, or the number of
    the singleton contributor. ``mode`` SUMS: no sum of singleton cells may follow; OWN: no primary may follow for one
    who knows his own cells (for primaries flagged in ``insider``). ``lenient``: a sum of singletons may follow unless a
    primary lies within it; its cells then count as known. ``priority``: of rows as pivots, the least first.
    """

    order: Any
    forced: int
    primary: Any
    insider: Any
    group: Any
    mode: int
    lenient: bool
    priority: Any


class Candidate(NamedTuple):
    """One column, reduced: ``work`` at the rows ``touched[:left]``; the other arrays are scratch over all rows."""

    work: Any
    touched: Any
    mark: Any
    heap: Any
    has: Any  # the rows of the candidate while primaries are asked
    lacks: Any  # those of them that a primary does not have


class Kept(NamedTuple):
    """Published columns, reduced, one after the other in ``row`` and ``value``; see ``linear.modular``."""

    pivot_of: Any
    pivots: Any
    start: Any
    length: Any
    row: Any
    value: Any
    used: Any


class Primaries(NamedTuple):
    """Sensitive columns, reduced; ``live`` entries are in rows that are not known, ``room`` is what a place can hold.

    ``unsafe``: nothing of it is left, so it follows from what is published.
    """

    start: Any
    length: Any
    room: Any
    live: Any
    unsafe: Any
    row: Any
    value: Any
    used: Any


class Lines(NamedTuple):
    """Per row the primaries that have or had an entry there, as a list in ``item`` and ``following`` from ``head``.

    ``count`` is how many still have one. ``stamp`` and ``tick``: a primary that stands twice in a list is asked once.
    """

    head: Any
    count: Any
    item: Any
    following: Any
    used: Any
    stamp: Any
    tick: Any


@compiled
def eliminate(columns: Any, question: Any, clock: Any) -> Any:
    """Which columns of the order are withheld, which primaries the forced ones already give away, and the rank.

    ``clock`` is a two-element array: columns done (written as work proceeds) and a wish to stop.
    """
    order, group, n_rows = question.order, question.group, len(question.group)
    candidate, kept = empty_candidate(n_rows, len(order)), nothing_kept(n_rows, len(order))
    primaries, lines = entered(columns, question.primary, n_rows)
    outcome, hit = np.zeros(len(order), np.int8), np.empty(len(question.primary), np.int32)
    in_a_sum = np.zeros(n_rows, np.bool_)
    rank = 0
    for step in range(len(order)):
        if step & 255 == 0:
            clock[0] = step
        if clock[1]:
            break
        left = reduced(columns, order[step], candidate, kept)
        if left == 0:
            continue
        pivot = best_pivot(left, candidate, lines, group, question.priority)
        scale_to_one(pivot, left, candidate)
        forced = step < question.forced
        secondary, known_parts = False, False
        if question.mode == SUMS and group[pivot] > 0:  # a combination of singletons only would follow
            secondary = gives_singletons(left, candidate, in_a_sum)
            known_parts = secondary and question.lenient
        mark_rows(left, candidate, True)
        if known_parts:  # a known sum of zeros: each is known; that matters if a primary lies within them
            secondary = not forced and holds_primary(left, candidate, kept, primaries, lines)
            if not secondary:
                mark_rows(left, candidate, False)
                make_known(left, candidate, kept, primaries, lines)
                continue
        hits = 0
        if not secondary or forced:
            hits, exposed = asked_at_pivot(pivot, left, candidate, kept, primaries, lines, question, forced, hit)
            secondary = secondary or exposed
            if question.mode == OWN and group[pivot] > 0 and not secondary and not forced:
                secondary = exposed_elsewhere(pivot, left, candidate, kept, primaries, lines, question)
        mark_rows(left, candidate, False)
        if secondary and not forced:
            outcome[step] = SECONDARY
            continue
        kept = with_room(kept, left)
        kept.used[0] = keep_column(
            pivot, left, candidate.work, candidate.touched, rank,
            kept.pivot_of, kept.pivots, kept.start, kept.length, kept.row, kept.value, kept.used[0],
        )  # fmt: skip
        rank += 1
        for h in range(hits):
            primaries = primaries_with_room(primaries, hit[h], left)
            lines = lines_with_room(lines, left)
            subtract(hit[h], pivot, left, candidate, kept, primaries, lines)
    clock[0] = len(order)
    return outcome, primaries.unsafe, rank


@compiled
def empty_candidate(n_rows: int, n: int) -> Any:
    """Scratch for one candidate at a time."""
    return Candidate(
        np.zeros(n_rows, np.uint64),
        np.empty(n_rows, np.int32),
        np.zeros(n_rows, np.bool_),
        np.empty(min(n, n_rows) + 1, np.int32),
        np.zeros(n_rows, np.bool_),
        np.zeros(n_rows, np.bool_),
    )


@compiled
def nothing_kept(n_rows: int, n: int) -> Any:
    """No column is published yet; there cannot be more than rows."""
    room = min(n, n_rows) + 1
    return Kept(
        np.full(n_rows, -1, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(4096, np.int32),
        np.empty(4096, np.uint64),
        np.zeros(1, np.int64),
    )


@compiled
def entered(columns: Any, primary: Any, n_rows: int) -> Any:
    """The primaries as they are, and the lists of those in each row."""
    m, total = len(primary), 0
    for column in primary:
        total += columns.start[column + 1] - columns.start[column]
    start, length = np.empty(m, np.int64), np.empty(m, np.int64)
    row, value = np.empty(total + 1024, np.int32), np.empty(total + 1024, np.uint64)
    lines = Lines(
        np.full(n_rows, -1, np.int64),
        np.zeros(n_rows, np.int64),
        np.empty(total + 1024, np.int32),
        np.empty(total + 1024, np.int64),
        np.zeros(1, np.int64),
        np.zeros(m, np.int64),
        np.zeros(1, np.int64),
    )
    used = np.zeros(1, np.int64)
    for p in range(m):
        begin, end = columns.start[primary[p]], columns.start[primary[p] + 1]
        start[p], length[p] = used[0], end - begin
        for j in range(begin, end):
            r = columns.row[j]
            row[used[0]], value[used[0]] = r, columns.value[j]
            used[0] += 1
            enlist(p, r, lines)
    return Primaries(start, length, length.copy(), length.copy(), np.zeros(m, np.bool_), row, value, used), lines


@compiled
def enlist(p: int, row: int, lines: Any) -> None:
    """Put a primary on the list of a row, for which there must be room."""
    node = lines.used[0]
    lines.item[node], lines.following[node] = p, lines.head[row]
    lines.head[row] = node
    lines.used[0] = node + 1
    lines.count[row] += 1


@compiled
def reduced(columns: Any, column: int, candidate: Any, kept: Any) -> int:
    """Reduce a column by what is published; how many rows are left of it."""
    begin, end = columns.start[column], columns.start[column + 1]
    left: int = reduce_column(
        columns.row[begin:end], columns.value[begin:end],
        candidate.work, candidate.mark, candidate.touched, candidate.heap,
        kept.pivot_of, kept.pivots, kept.start, kept.length, kept.row, kept.value,
    )  # fmt: skip
    return left


@compiled
def best_pivot(left: int, candidate: Any, lines: Any, group: Any, priority: Any) -> int:
    """No singleton's row while there is another, then the one of fewest primaries, then by priority."""
    best = candidate.touched[0]
    for j in range(1, left):
        row = candidate.touched[j]
        single, best_single = group[row] > 0, group[best] > 0
        if single != best_single:
            if best_single:
                best = row
            continue
        count, fewest = lines.count[row], lines.count[best]
        if count < fewest or (count == fewest and priority[row] < priority[best]):
            best = row
    return int(best)


@compiled
def scale_to_one(row: int, left: int, candidate: Any) -> None:
    """Multiply a candidate so that it has a 1 in a row."""
    factor = inverse(candidate.work[row])
    if factor != _ONE:
        for j in range(left):
            candidate.work[candidate.touched[j]] = _times(candidate.work[candidate.touched[j]], factor)


@compiled
def mark_rows(left: int, candidate: Any, to: bool) -> None:
    """Mark the rows of a candidate, or unmark them."""
    for j in range(left):
        candidate.has[candidate.touched[j]] = to


@compiled
def gives_singletons(left: int, candidate: Any, in_a_sum: Any) -> bool:
    """Whether a combination of singletons tells them: it is their sum, or shares one with another combination.

    If it does not, its rows are noted in ``in_a_sum``.
    """
    is_sum = True
    for j in range(left):
        if candidate.work[candidate.touched[j]] != _ONE:
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


@compiled
def holds_primary(left: int, candidate: Any, kept: Any, primaries: Any, lines: Any) -> bool:
    """Whether a primary lies within the marked rows of a candidate."""
    lines.tick[0] += 1
    for j in range(left):
        node = lines.head[candidate.touched[j]]
        while node >= 0:
            p = lines.item[node]
            node = lines.following[node]
            live = primaries.live[p]
            if lines.stamp[p] == lines.tick[0] or live == 0 or live > left:
                continue
            lines.stamp[p] = lines.tick[0]
            if lies_within(p, candidate, kept, primaries):
                return True
    return False


@compiled
def lies_within(p: int, candidate: Any, kept: Any, primaries: Any) -> bool:
    """Whether all live entries of a primary are in marked rows."""
    for j in range(primaries.start[p], primaries.start[p] + primaries.length[p]):
        row = primaries.row[j]
        if kept.pivot_of[row] != DEAD and not candidate.has[row]:
            return False
    return True


@compiled
def make_known(left: int, candidate: Any, kept: Any, primaries: Any, lines: Any) -> None:
    """Each row of a candidate is known by itself from now on."""
    for j in range(left):
        row = candidate.touched[j]
        lines.tick[0] += 1
        node = lines.head[row]
        while node >= 0:
            p = lines.item[node]
            node = lines.following[node]
            if lines.stamp[p] == lines.tick[0] or place_of(row, p, primaries) < 0:
                continue
            lines.stamp[p] = lines.tick[0]
            primaries.live[p] -= 1
            if primaries.live[p] == 0:
                primaries.unsafe[p] = True
        kept.pivot_of[row] = DEAD
        lines.count[row] = 0


@compiled
def place_of(row: int, p: int, primaries: Any) -> int:
    """Where a row stands in a primary's list, or −1."""
    for j in range(primaries.start[p], primaries.start[p] + primaries.length[p]):
        if primaries.row[j] == row:
            return j
    return -1


@compiled
def asked_at_pivot(
    pivot: int, left: int, candidate: Any, kept: Any, primaries: Any, lines: Any, question: Any, forced: bool, hit: Any
) -> Any:
    """How many primaries with an entry in the pivot row are in ``hit``, and whether the last one is exposed.

    What is forced exposes nothing that anybody could keep.
    """
    hits = 0
    if lines.count[pivot] == 0:
        return hits, False
    lines.tick[0] += 1
    node = lines.head[pivot]
    while node >= 0:
        p = lines.item[node]
        node = lines.following[node]
        if lines.stamp[p] == lines.tick[0] or primaries.live[p] == 0:
            continue
        lines.stamp[p] = lines.tick[0]
        place = place_of(pivot, p, primaries)
        if place < 0:
            continue
        hit[hits] = p
        hits += 1
        if not forced and exposes(p, place, left, candidate, kept, primaries, question):
            return hits, True
    return hits, False


@compiled
def exposed_elsewhere(
    pivot: int, left: int, candidate: Any, kept: Any, primaries: Any, lines: Any, question: Any
) -> bool:
    """Whether a primary is exposed to the owner of the pivot row: asked at a row of somebody else."""
    second = -1
    for j in range(left):
        if question.group[candidate.touched[j]] != question.group[pivot]:
            second = candidate.touched[j]
            break
    if second < 0 or lines.count[second] == 0:
        return False
    scale_to_one(second, left, candidate)
    exposed = False
    node = lines.head[second]
    while node >= 0 and not exposed:
        p = lines.item[node]
        node = lines.following[node]
        if primaries.live[p] > 0:
            place = place_of(second, p, primaries)
            exposed = place >= 0 and exposes(p, place, left, candidate, kept, primaries, question)
    scale_to_one(pivot, left, candidate)
    return exposed


@compiled
def exposes(p: int, place: int, left: int, candidate: Any, kept: Any, primaries: Any, question: Any) -> bool:
    """Whether candidate c gives primary p away: p = λ c, or p − λ c lies in the cells of one singleton contributor.

    c is scaled to 1 in the row at p's ``place``, so λ is p's entry there; c's rows are marked.
    """
    own = question.mode == OWN and question.insider[p]
    if not own and primaries.live[p] != left:
        return False
    factor, group = primaries.value[place], question.group
    who, common = 0, 0
    for j in range(primaries.start[p], primaries.start[p] + primaries.length[p]):
        row = primaries.row[j]
        if kept.pivot_of[row] == DEAD:
            continue
        if candidate.has[row]:
            common += 1
            if _times(factor, candidate.work[row]) == primaries.value[j]:
                continue
        if not own or group[row] == 0 or (who != 0 and group[row] != who):
            return False
        who = group[row]
    if common == left:
        return True
    return bool(own) and rest_is_own(p, left, candidate, primaries, group, who)


@compiled
def rest_is_own(p: int, left: int, candidate: Any, primaries: Any, group: Any, who: int) -> bool:
    """Whether the rows of a candidate that a primary lacks are all one contributor's: ``who``, if he is not 0."""
    for j in range(left):
        candidate.lacks[candidate.touched[j]] = True
    for j in range(primaries.start[p], primaries.start[p] + primaries.length[p]):
        candidate.lacks[primaries.row[j]] = False
    one = True
    for j in range(left):
        row = candidate.touched[j]
        if candidate.lacks[row]:
            candidate.lacks[row] = False
            if group[row] == 0 or (who != 0 and group[row] != who):
                one = False
            who = group[row]
    return one


@compiled
def with_room(kept: Any, more: int) -> Any:
    """Published columns with room for so many more entries."""
    size = kept.used[0] + more
    if size <= len(kept.row):
        return kept
    row, value = grown(kept.row, size), grown(kept.value, size)
    return Kept(kept.pivot_of, kept.pivots, kept.start, kept.length, row, value, kept.used)


@compiled
def primaries_with_room(primaries: Any, p: int, more: int) -> Any:
    """Primaries with room at the end for p and so many more entries, if its own place may not do."""
    need = primaries.live[p] + more
    size = primaries.used[0] + 2 * need
    if need <= primaries.room[p] or size <= len(primaries.row):
        return primaries
    row, value = grown(primaries.row, size), grown(primaries.value, size)
    return Primaries(
        primaries.start, primaries.length, primaries.room, primaries.live, primaries.unsafe, row, value, primaries.used
    )


@compiled
def lines_with_room(lines: Any, more: int) -> Any:
    """Lists with room for so many more places."""
    size = lines.used[0] + more
    if size <= len(lines.item):
        return lines
    item, following = grown(lines.item, size), grown(lines.following, size)
    return Lines(lines.head, lines.count, item, following, lines.used, lines.stamp, lines.tick)


@compiled
def subtract(p: int, pivot: int, left: int, candidate: Any, kept: Any, primaries: Any, lines: Any) -> None:
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
        if kept.pivot_of[row] == DEAD and row != pivot:
            continue
        value = primaries.value[j]
        if candidate.has[row]:
            candidate.has[row] = False
            value = minus(value, _times(factor, candidate.work[row]))
            if value == _ZERO:
                lines.count[row] -= 1
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
            enlist(p, row, lines)
    primaries.start[p], primaries.length[p], primaries.live[p] = target, count, count
    if count == 0:
        primaries.unsafe[p] = True
