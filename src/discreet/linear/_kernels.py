"""Compiled loops: bound propagation, joining of pairs, flows in networks, shorter basic moves. None holds the lock."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.base.compiled import compiled

Array = NDArray[Any]
FIXPOINT = -1  # of propagation: every row was looked at since its variables last changed
STOPPED = -2  # of propagation: the bounds hold, but may be too wide
SWEEPS = 6  # over all basic moves; the sixth hardly ever shortens one
LARGEST = 60  # entry of a basic move: the sum of two is still a number of 8 bits


@compiled
def propagate(
    indptr: Array,
    indices: Array,
    data: Array,
    rhs: Array,
    column_ptr: Array,
    column_rows: Array,
    lower: Array,
    upper: Array,
    integer: bool,
    visits: int,
) -> int:
    """Tighten ``lower`` and ``upper`` in place, looking at so many rows at most.

    The number of a row that cannot hold; FIXPOINT if no row tightens anything any more, STOPPED if some still might.
    """
    n = len(indptr) - 1
    if n == 0:
        return FIXPOINT
    queue = np.arange(n)
    waiting = np.ones(n, np.bool_)
    head, held = 0, n
    while held > 0 and visits > 0:
        visits -= 1
        row = int(queue[head])
        head = (head + 1) % n
        held -= 1
        waiting[row] = False
        low = 0.0
        high = 0.0
        low_inf = 0
        high_inf = 0
        size = 1.0
        for k in range(indptr[row], indptr[row + 1]):
            a, j = data[k], indices[k]
            x, y = (a * lower[j], a * upper[j]) if a > 0 else (a * upper[j], a * lower[j])
            if np.isinf(x):
                low_inf += 1
            else:
                low += x
                size = max(size, abs(x))
            if np.isinf(y):
                high_inf += 1
            else:
                high += y
                size = max(size, abs(y))
        b = rhs[row]
        slack = 1e-9 + 1e-14 * max(size, abs(b))
        if (low_inf == 0 and low > b + 100 * slack) or (high_inf == 0 and high < b - 100 * slack):
            return row
        for k in range(indptr[row], indptr[row + 1]):
            a, j = data[k], indices[k]
            x, y = (a * lower[j], a * upper[j]) if a > 0 else (a * upper[j], a * lower[j])
            most, least = np.inf, -np.inf
            if np.isinf(x):
                if low_inf == 1:
                    most = b - low
            elif low_inf == 0:
                most = b - (low - x)
            if np.isinf(y):
                if high_inf == 1:
                    least = b - high
            elif high_inf == 0:
                least = b - (high - y)
            new_lower, new_upper = (least / a, most / a) if a > 0 else (most / a, least / a)
            if integer:
                if not np.isinf(new_lower):
                    new_lower = np.ceil(new_lower - 1e-7)
                if not np.isinf(new_upper):
                    new_upper = np.floor(new_upper + 1e-7)
            changed = False
            if new_lower > lower[j] + slack or (np.isinf(lower[j]) and new_lower > lower[j]):
                lower[j] = new_lower
                changed = True
            if new_upper < upper[j] - slack or (np.isinf(upper[j]) and new_upper < upper[j]):
                upper[j] = new_upper
                changed = True
            if changed:
                if lower[j] > upper[j]:
                    if lower[j] > upper[j] + 100 * slack:
                        return row
                    middle = (lower[j] + upper[j]) / 2
                    lower[j] = middle
                    upper[j] = middle
                # the row's own sums are stale now: it waits for another turn like its neighbours
                for m in range(column_ptr[j], column_ptr[j + 1]):
                    other = column_rows[m]
                    if not waiting[other]:
                        queue[(head + held) % n] = other
                        held += 1
                        waiting[other] = True
    return FIXPOINT if held == 0 else STOPPED


@compiled
def join(
    first: Array,
    second: Array,
    a: Array,
    b: Array,
    rhs: Array,
    root: Array,
    offset: Array,
    factor: Array,
    lower: Array,
    upper: Array,
    integer: bool,
) -> int:
    """From rows ``a x + b y = rhs``, |a| = |b|: x = offset + factor * root. How many joined; −1: contradiction."""
    joined = 0
    for k in range(len(first)):
        if abs(a[k]) != abs(b[k]):
            continue
        ends = np.zeros(2, np.int64)
        shift, turn = np.zeros(2), np.ones(2)
        for e in range(2):
            j = first[k] if e == 0 else second[k]
            while root[j] != j:
                shift[e] += turn[e] * offset[j]
                turn[e] *= factor[j]
                j = root[j]
            ends[e] = j
        value = rhs[k] / a[k]
        if integer and abs(value - np.rint(value)) > 1e-7:
            return -1
        # shift0 + turn0 r0 + s (shift1 + turn1 r1) = value, s = ±1
        s = b[k] / a[k]
        rest = value - shift[0] - s * shift[1]
        if ends[0] != ends[1]:
            r = ends[0]
            root[r] = ends[1]
            offset[r] = rest * turn[0]
            factor[r] = -s * turn[1] * turn[0]
            joined += 1
            continue
        total = turn[0] + s * turn[1]
        if total == 0.0:
            if abs(rest) > 1e-7 + 1e-12 * abs(value):
                return -1
        else:
            r = ends[0]
            value = rest / total
            room = 1e-7 + 1e-12 * abs(value)
            if value < lower[r] - room or value > upper[r] + room:
                return -1
            lower[r] = value
            upper[r] = value
    for j in range(len(root)):  # straight to the last root
        shift0, turn0, i = 0.0, 1.0, j
        while root[i] != i:
            shift0 += turn0 * offset[i]
            turn0 *= factor[i]
            i = root[i]
        if i != j:
            # write after reading: a node's own chain stays valid because roots never change here
            offset[j] = shift0
            factor[j] = turn0
            root[j] = i
    return joined


@compiled
def flow_bounds(
    tail: Array,
    head: Array,
    node_ptr: Array,
    node_arcs: Array,
    lower: Array,
    upper: Array,
    flow: Array,
    targets: Array,
    low: Array,
    high: Array,
    least: Array,
    most: Array,
    epsilon: float,
) -> None:
    """Least and greatest flow of each target arc, by augmenting paths in the residual network.

    ``flow`` is feasible and is moved about; ``low`` and ``high`` hold the extremes seen so far of every arc, so that an
    arc which an earlier flow has already pushed to its bound costs nothing. ``least`` and ``most`` are filled in.
    """
    nodes = len(node_ptr) - 1
    via = np.empty(nodes, np.int64)
    queue = np.empty(nodes, np.int64)
    for t in range(len(targets)):
        e = targets[t]
        for up in range(2):
            while True:
                room = upper[e] - flow[e] if up == 1 else flow[e] - lower[e]
                if up == 1 and high[e] >= upper[e] - epsilon:
                    break
                if up == 0 and low[e] <= lower[e] + epsilon:
                    break
                if room <= epsilon:
                    break
                # one more unit along e must come back from its end to its start through the others
                start, goal = (head[e], tail[e]) if up == 1 else (tail[e], head[e])
                via[:] = -1
                via[start] = 2 * len(tail)
                queue[0] = start
                first, last = 0, 1
                while first < last and via[goal] < 0:
                    node = queue[first]
                    first += 1
                    for k in range(node_ptr[node], node_ptr[node + 1]):
                        arc = node_arcs[k]
                        if arc == e:
                            continue
                        if tail[arc] == node:
                            other = head[arc]
                            if via[other] < 0 and upper[arc] - flow[arc] > epsilon:
                                via[other] = 2 * arc
                                queue[last] = other
                                last += 1
                        else:
                            other = tail[arc]
                            if via[other] < 0 and flow[arc] - lower[arc] > epsilon:
                                via[other] = 2 * arc + 1
                                queue[last] = other
                                last += 1
                if via[goal] < 0:
                    break
                node = goal
                while node != start:
                    arc = via[node] // 2
                    if via[node] % 2 == 0:
                        room = min(room, upper[arc] - flow[arc])
                        node = tail[arc]
                    else:
                        room = min(room, flow[arc] - lower[arc])
                        node = head[arc]
                node = goal
                while node != start:
                    arc = via[node] // 2
                    if via[node] % 2 == 0:
                        flow[arc] += room
                        node = tail[arc]
                    else:
                        flow[arc] -= room
                        node = head[arc]
                    low[arc] = min(low[arc], flow[arc])
                    high[arc] = max(high[arc], flow[arc])
                flow[e] += room if up == 1 else -room
                low[e] = min(low[e], flow[e])
                high[e] = max(high[e], flow[e])
        least[t] = low[e]
        most[t] = high[e]


@compiled
def shorten(moves: Any, across: Any, stop: Any) -> None:
    """Each basic move less another one, or plus it, while that touches fewer cells.

    Small whole numbers in 8 bits, cells x moves and moves x cells, are changed in place; they span what they did.

    ``stop``: an array of one number; once it is not 0 the work ends as it stands.

    >>> two = np.array([[1, 1], [1, 1], [1, 1], [0, 1]], np.int8)
    >>> shorten(two, two.T.copy(), np.zeros(1, np.int64))
    >>> two.tolist()
    [[1, 0], [1, 0], [1, 0], [0, 1]]
    """
    many, cells = across.shape
    size, both = np.zeros(many, np.int32), np.zeros(many, np.int32)
    same, opposite = np.zeros(many, np.int32), np.zeros(many, np.int32)
    for k in range(many):
        size[k] = np.count_nonzero(across[k])
    for _ in range(SWEEPS):
        changed = False
        for move in np.argsort(-size, kind="mergesort"):
            while True:
                if stop[0]:
                    return
                both[:], same[:], opposite[:] = 0, 0, 0
                for i in range(cells):
                    by = across[move, i]
                    if by != 0:
                        line = moves[i]
                        for k in range(many):
                            both[k] += line[k] != 0
                            same[k] += line[k] == by
                            opposite[k] += line[k] == -by
                other, sign, most = -1, 1, 0
                for k in range(many):
                    if k != move:  # cells that the difference or the sum does without
                        if both[k] + same[k] - size[k] > most:
                            other, sign, most = k, 1, both[k] + same[k] - size[k]
                        if both[k] + opposite[k] - size[k] > most:
                            other, sign, most = k, -1, both[k] + opposite[k] - size[k]
                if other < 0 or np.abs(across[move]).max() + np.abs(across[other]).max() > LARGEST:
                    break
                for i in range(cells):
                    by = across[other, i]
                    if by != 0:
                        across[move, i] -= sign * by
                        moves[i, move] = across[move, i]
                size[move] -= most
                changed = True
        if not changed:
            break
