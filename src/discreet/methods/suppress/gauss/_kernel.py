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


@compiled
def find(row: int, start: int, length: int, rows: Any) -> int:
    """Where a row stands in a primary's list, or −1."""
    for j in range(start, start + length):
        if rows[j] == row:
            return j
    return -1


@compiled
def exposes(
    p: int, pivot: int, left: int, touched: Any, work: Any, place: Any, where: Any, pivot_of: Any, group: Any,
    mode: int, p_start: Any, p_length: Any, p_live: Any, p_row: Any, p_value: Any, p_own: Any,
) -> bool:  # fmt: skip
    """Whether candidate c gives primary p away: p = λ c, or p − λ c lies in the cells of one singleton contributor.

    ``work`` holds c, scaled to 1 in the pivot row, so λ is p's entry there. ``where`` marks the rows of c.
    """
    own = mode == OWN and p_own[p]
    if not own and p_live[p] != left:
        return False
    at = find(pivot, p_start[p], p_length[p], p_row)
    factor = p_value[at]
    who, common = 0, 0
    for j in range(p_start[p], p_start[p] + p_length[p]):
        r = p_row[j]
        if pivot_of[r] == DEAD:
            continue
        if where[r]:
            common += 1
            if _times(factor, work[r]) == p_value[j]:
                continue
        if not own or group[r] == 0 or (who != 0 and group[r] != who):
            return False
        who = group[r]
    if common < left:
        if not own:
            return False
        for j in range(left):
            place[touched[j]] = True
        for j in range(p_start[p], p_start[p] + p_length[p]):
            place[p_row[j]] = False
        fine = False
        for j in range(left):
            r = touched[j]
            if place[r]:
                place[r] = False
                if group[r] == 0 or (who != 0 and group[r] != who):
                    fine = True
                who = group[r]
        if fine:
            return False
    return True


@compiled
def eliminate(
    indptr: Any, indices: Any, data: Any, n_rows: int, order: Any, n_forced: int, primary: Any, group: Any, mode: int,
    lenient: bool, priority: Any, insider: Any, stop: Any,
) -> Any:  # fmt: skip
    """Which columns of ``order`` are withheld, and which primaries the first ``n_forced`` already give away.

    ``group``: per row 0, or the number of the singleton contributor. ``mode`` SUMS: no sum of singleton cells may
    follow; OWN: no primary may follow for one who knows his own cells (for primaries flagged in ``insider``).
    ``lenient``: a sum of singletons may follow unless a primary lies within it; its cells then count as known.
    ``stop`` is a two-element array: columns done (written as work proceeds) and a wish to stop.
    """
    n, m = len(order), len(primary)
    work, mark, where, place = (
        np.zeros(n_rows, np.uint64), np.zeros(n_rows, np.bool_), np.zeros(n_rows, np.bool_), np.zeros(n_rows, np.bool_),
    )  # fmt: skip
    touched, heap = np.empty(n_rows, np.int32), np.empty(min(n, n_rows) + 1, np.int32)
    pivot_of, used_sum = np.full(n_rows, -1, np.int32), np.zeros(n_rows, np.bool_)
    room = min(n, n_rows) + 1
    pivots, start, length = np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int64)
    pool_row, pool_value, used, rank = np.empty(4096, np.int32), np.empty(4096, np.uint64), 0, 0

    total = 0
    for p in primary:
        total += indptr[p + 1] - indptr[p]
    p_start, p_length, p_room, p_live = (
        np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64),
    )  # fmt: skip
    p_row, p_value, p_used = np.empty(total + 1024, np.int32), np.empty(total + 1024, np.uint64), 0
    node_next, node_item, nodes = np.empty(total + 1024, np.int64), np.empty(total + 1024, np.int32), 0
    head, row_count = np.full(n_rows, -1, np.int64), np.zeros(n_rows, np.int64)
    stamp, tick = np.zeros(m, np.int64), 0
    for q in range(m):
        lo, hi = indptr[primary[q]], indptr[primary[q] + 1]
        p_start[q], p_length[q], p_room[q], p_live[q] = p_used, hi - lo, hi - lo, hi - lo
        for j in range(lo, hi):
            r = indices[j]
            p_row[p_used], p_value[p_used] = r, data[j]
            p_used += 1
            node_item[nodes], node_next[nodes] = q, head[r]
            head[r] = nodes
            nodes += 1
            row_count[r] += 1
    outcome, unsafe = np.zeros(n, np.int8), np.zeros(m, np.bool_)
    hit = np.empty(m, np.int32)

    for step in range(n):
        if step & 255 == 0:
            stop[0] = step
        if stop[1]:
            break
        c = order[step]
        lo, hi = indptr[c], indptr[c + 1]
        left = reduce_column(
            indices[lo:hi], data[lo:hi], work, mark, touched, heap,
            pivot_of, pivots, start, length, pool_row, pool_value,
        )  # fmt: skip
        if left == 0:
            continue
        # the pivot: no singleton's row while there is another, then the fewest primaries, then the priority
        best = touched[0]
        for j in range(1, left):
            r = touched[j]
            a, b = group[r] > 0, group[best] > 0
            if a != b:
                if b:
                    best = r
                continue
            if row_count[r] < row_count[best] or (row_count[r] == row_count[best] and priority[r] < priority[best]):
                best = r
        forced = step < n_forced
        scale = inverse(work[best])
        if scale != _ONE:
            for j in range(left):
                work[touched[j]] = _times(work[touched[j]], scale)
        secondary, whole = False, False
        if mode == SUMS and group[best] > 0:  # a combination of singletons only would follow
            equal = True
            for j in range(left):
                if work[touched[j]] != _ONE:
                    equal = False
                    break
            if equal:
                secondary, whole = True, lenient
            else:
                clash = False
                for j in range(left):
                    clash |= used_sum[touched[j]]
                if clash:
                    secondary, whole = True, lenient
                else:
                    for j in range(left):
                        used_sum[touched[j]] = True
        for j in range(left):
            where[touched[j]] = True
        if whole:  # known sum of zeros: each is known; that matters if a primary lies within them
            secondary = False
            tick += 1
            for j in range(left):
                node = head[touched[j]]
                while node >= 0 and not secondary:
                    q = node_item[node]
                    node = node_next[node]
                    if stamp[q] == tick or p_live[q] == 0 or p_live[q] > left:
                        continue
                    stamp[q] = tick
                    within = True
                    for i in range(p_start[q], p_start[q] + p_length[q]):
                        if pivot_of[p_row[i]] != DEAD and not where[p_row[i]]:
                            within = False
                            break
                    secondary = within
                if secondary:
                    break
            if forced:
                secondary = False
            if not secondary:
                for j in range(left):
                    r = touched[j]
                    where[r] = False
                    tick += 1
                    node = head[r]
                    while node >= 0:
                        q = node_item[node]
                        node = node_next[node]
                        if stamp[q] == tick or find(r, p_start[q], p_length[q], p_row) < 0:
                            continue
                        stamp[q] = tick
                        p_live[q] -= 1
                        if p_live[q] == 0:
                            unsafe[q] = True
                    pivot_of[r] = DEAD
                    row_count[r] = 0
                continue
        hits = 0
        if not secondary or forced:
            tick += 1
            second = -1  # a row of another contributor, where one's own knowledge may cover the pivot
            if mode == OWN and group[best] > 0:
                for j in range(left):
                    if group[touched[j]] != group[best]:
                        second = touched[j]
                        break
            node = head[best] if row_count[best] > 0 else -1
            while node >= 0:
                q = node_item[node]
                node = node_next[node]
                if stamp[q] == tick or p_live[q] == 0:
                    continue
                stamp[q] = tick
                if find(best, p_start[q], p_length[q], p_row) < 0:
                    continue
                hit[hits] = q
                hits += 1
                if not forced and exposes(
                    q, best, left, touched, work, place, where, pivot_of, group, mode,
                    p_start, p_length, p_live, p_row, p_value, insider,
                ):  # fmt: skip
                    secondary = True
                    break
            if second >= 0 and not secondary and not forced and row_count[second] > 0:
                other = inverse(work[second])
                for j in range(left):
                    work[touched[j]] = _times(work[touched[j]], other)
                node = head[second]
                while node >= 0:
                    q = node_item[node]
                    node = node_next[node]
                    if p_live[q] == 0 or find(second, p_start[q], p_length[q], p_row) < 0:
                        continue
                    if exposes(
                        q, second, left, touched, work, place, where, pivot_of, group, mode,
                        p_start, p_length, p_live, p_row, p_value, insider,
                    ):  # fmt: skip
                        secondary = True
                        break
                back = inverse(work[best])
                for j in range(left):
                    work[touched[j]] = _times(work[touched[j]], back)
        for j in range(left):
            where[touched[j]] = False
        if secondary and not forced:
            outcome[step] = SECONDARY
            continue
        # published: keep it, and take it out of the primaries that have an entry in its pivot row
        if used + left > len(pool_row):
            pool_row, pool_value = grown(pool_row, used + left), grown(pool_value, used + left)
        used = keep_column(best, left, work, touched, rank, pivot_of, pivots, start, length, pool_row, pool_value, used)
        rank += 1
        for h in range(hits):
            q = hit[h]
            # p − λ c into a fresh place if it may grow beyond its room
            need = p_live[q] + left
            target = p_start[q]
            if need > p_room[q]:
                if p_used + 2 * need > len(p_row):
                    p_row, p_value = grown(p_row, p_used + 2 * need), grown(p_value, p_used + 2 * need)
                target = p_used
                p_room[q] = 2 * need
                p_used += 2 * need
            at = find(best, p_start[q], p_length[q], p_row)
            factor = p_value[at]
            for j in range(left):
                where[touched[j]] = True
            count, begin = 0, p_start[q]
            for j in range(begin, begin + p_length[q]):
                r = p_row[j]
                if pivot_of[r] == DEAD and r != best:
                    continue
                v = p_value[j]
                if where[r]:
                    where[r] = False
                    v = minus(v, _times(factor, work[r]))
                    if v == _ZERO:
                        row_count[r] -= 1
                        continue
                p_row[target + count], p_value[target + count] = r, v
                count += 1
            for j in range(left):
                r = touched[j]
                if where[r]:
                    where[r] = False
                    p_row[target + count] = r
                    p_value[target + count] = _P - _times(factor, work[r])
                    count += 1
                    row_count[r] += 1
                    if nodes == len(node_item):
                        node_item, node_next = grown(node_item, nodes + 1), grown(node_next, nodes + 1)
                    node_item[nodes], node_next[nodes] = q, head[r]
                    head[r] = nodes
                    nodes += 1
            p_start[q], p_length[q], p_live[q] = target, count, count
            if count == 0:
                unsafe[q] = True
    stop[0] = n
    return outcome, unsafe, rank
