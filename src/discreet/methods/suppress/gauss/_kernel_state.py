"""The state of the elimination kernel: a few tuples of arrays, and how they are made and grow.

What is published is kept as in ``linear._reduction``, primaries beside it. A tuple whose arrays must grow is made anew;
numbers that change stand in arrays of one element.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.base.compiled import compiled_part
from discreet.linear._reduction import grown


class Columns(NamedTuple):
    """The matrix by columns, entries as residues."""

    start: Any
    row: Any
    value: Any


class Question(NamedTuple):
    """What is asked where contributors know their own cells.

    Columns of ``order`` enter in turn, the first ``forced`` whatever follows. ``group``: per row 0, or the number of
    its only contributor. No primary may follow, for those flagged in ``insider`` not for one who knows his own cells
    either. ``priority``: of rows as pivots, the least first.
    """

    order: Any
    forced: int
    primary: Any
    insider: Any
    group: Any
    priority: Any


class RowQuestion(NamedTuple):
    """What is asked where nobody knows cells of their own.

    Columns of ``order`` enter in turn: the first ``known`` are known anyway, the next ``forced`` enter whatever
    follows. ``guarded``: rows that may not become known. ``mode`` SUMS: no sum of singletons may follow, the rows in
    which ``group`` is not 0; ``lenient``: it may if no guarded row lies within it, and its rows then count as known.
    ``priority``: of rows as pivots, the least first. ``drawn``: a random residue for every row.
    """

    order: Any
    known: int
    forced: int
    guarded: Any
    group: Any
    mode: int
    lenient: bool
    priority: Any
    drawn: Any


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


class RowLists(NamedTuple):
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


@compiled_part
def entered(columns: Any, primary: Any, n_rows: int) -> Any:
    """The primaries as they are, and the lists of those in each row."""
    m = len(primary)
    total = 0
    for column in primary:
        total += columns.start[column + 1] - columns.start[column]
    start = np.empty(m, np.int64)
    length = np.empty(m, np.int64)
    row = np.empty(total + 1024, np.int32)
    value = np.empty(total + 1024, np.uint64)
    lists = RowLists(
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
        begin = columns.start[primary[p]]
        end = columns.start[primary[p] + 1]
        start[p] = used[0]
        length[p] = end - begin
        for j in range(begin, end):
            r = columns.row[j]
            row[used[0]] = r
            value[used[0]] = columns.value[j]
            used[0] += 1
            enlist(p, r, lists)
    return Primaries(start, length, length.copy(), length.copy(), np.zeros(m, np.bool_), row, value, used), lists


@compiled_part
def enlist(p: int, row: int, lists: Any) -> None:
    """Put a primary on the list of a row, for which there must be room."""
    node = lists.used[0]
    lists.item[node] = p
    lists.following[node] = lists.head[row]
    lists.head[row] = node
    lists.used[0] = node + 1
    lists.count[row] += 1


@compiled_part
def primaries_with_room(primaries: Any, p: int, more: int) -> Any:
    """Primaries with room at the end for p and so many more entries, if its own place may not do."""
    need = primaries.live[p] + more
    size = primaries.used[0] + 2 * need
    if need <= primaries.room[p] or size <= len(primaries.row):
        return primaries
    row = grown(primaries.row, size)
    value = grown(primaries.value, size)
    return Primaries(
        primaries.start, primaries.length, primaries.room, primaries.live, primaries.unsafe, row, value, primaries.used
    )


@compiled_part
def lists_with_room(lists: Any, more: int) -> Any:
    """Lists with room for so many more places."""
    size = lists.used[0] + more
    if size <= len(lists.item):
        return lists
    item = grown(lists.item, size)
    following = grown(lists.following, size)
    return RowLists(lists.head, lists.count, item, following, lists.used, lists.stamp, lists.tick)


@compiled_part
def place_of(row: int, p: int, primaries: Any) -> int:
    """Where a row stands in a primary's list, or −1."""
    for j in range(primaries.start[p], primaries.start[p] + primaries.length[p]):
        if primaries.row[j] == row:
            return j
    return -1
