"""Work on several processors at once: how many there are, and threads that keep the time limit and the order.

Results are the same bits for any number of workers. So work is never cut by that number where the cut shows: whatever
keeps a state from one item to the next (a solver its basis) works in *lanes*, and their number follows from the size of
the work alone. Workers only decide how many lanes run at the same time.

One thing differs: among *equally cheap* patterns, branch and cut (``Optimal``, ``Modular``) may end in another one. Its
workers take open nodes as they come free, methods beside each other take over patterns as they come, and it turns
between the tree, dives and neighbourhoods by the clock; so even one worker may, on another day. What it proves (cost,
bound, status) is the same. Nodes handed out in turn would make all workers wait for the slowest program of each round,
and a clock of work instead of seconds could not keep ``time=``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from threading import Event, Lock
from typing import TypeVar

from discreet.base import deadline
from discreet.errors import InputError

T = TypeVar("T")
R = TypeVar("R")

VARIABLE = "DISCREET_WORKERS"
FEWEST_LANES, MOST_LANES = 2, 8  # each lane holds a model of its own: more would start cold too often

_INSIDE: ContextVar[int | None] = ContextVar("inside", default=None)


def workers() -> int:
    """How many threads to use: the processors that this process may run on, or what DISCREET_WORKERS says.

    Inside ``side_by_side`` it is a thread's share of them, so that nested work does not multiply threads.
    """
    if (share := _INSIDE.get()) is not None:
        return share
    text = os.environ.get(VARIABLE, "")
    if text:
        if not text.isdecimal() or not 1 <= int(text) <= 1024:
            raise InputError(f"{VARIABLE}={text!r}: a whole number from 1 to 1024, or unset for all processors")
        return int(text)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _HandingOver:
    """While threads work side by side, one that comes back from a solver has the interpreter after this time.

    Python's own 5 ms are longer than most programs of a solver: a thread of many short ones would wait more than work.
    """

    seconds = 2e-4

    def __init__(self) -> None:
        self.lock, self.many, self.before = Lock(), 0, 0.0

    def __enter__(self) -> None:
        with self.lock:
            if not self.many:
                self.before = sys.getswitchinterval()
                sys.setswitchinterval(min(self.seconds, self.before))
            self.many += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.many -= 1
            if not self.many:
                sys.setswitchinterval(self.before)


_HANDING_OVER = _HandingOver()


def lanes(items: int, each: int) -> int:
    """Into how many lanes so many items are cut: one for every ``each`` of them, from 2 to 8.

    >>> [lanes(items, 100) for items in (3, 450, 10_000)]
    [2, 4, 8]
    """
    return min(max(items // each, FEWEST_LANES), MOST_LANES)


def side_by_side(function: Callable[[T], R], items: Sequence[T], most: int | None = None) -> list[R]:
    """``function`` of every item, in their order, in threads that keep this thread's time limit: ``most`` or fewer.

    Only what leaves the interpreter's lock (compiled loops, solvers) gains by it.

    >>> side_by_side(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    able = workers() if most is None else most
    threads = min(able, len(items))
    if threads <= 1:
        return [function(item) for item in items]
    inner = max(able // threads, 1)

    def inside(item: T) -> R:
        token = _INSIDE.set(inner)
        try:
            return function(item)
        finally:
            _INSIDE.reset(token)

    with _HANDING_OVER, ThreadPoolExecutor(threads) as pool:
        return list(pool.map(deadline.handed_on(inside), items))


@contextmanager
def alongside(function: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """``function`` in a thread of its own, with one worker, while what is inside goes on; its end is waited for.

    What is yielded ends it early, as the time limit would: it raises OutOfTimeError wherever it looks at the time. So
    does an error of what is inside. Errors of ``function`` are raised at the end.

    >>> answers = []
    >>> with alongside(lambda: answers.append(workers())):
    ...     pass
    >>> answers
    [1]
    """
    ended = Event()

    def inside(_: None) -> None:
        token = _INSIDE.set(1)
        try:
            with deadline.unless(ended):
                function()
        finally:
            _INSIDE.reset(token)

    with _HANDING_OVER, ThreadPoolExecutor(1) as pool:
        other = pool.submit(deadline.handed_on(inside), None)
        try:
            yield ended.set
        except BaseException:
            ended.set()
            raise
        other.result()


def over_ranges(function: Callable[[int, int], None], number: int) -> None:
    """``function(first, last)`` over ranges that together are 0 to ``number``, in threads.

    What it does for one number must not depend on the others: the ranges follow the number of workers.
    """
    function(0, 0)  # compiles or loads once, before the threads start
    pieces = min(number, 4 * workers())
    edges = [number * k // pieces for k in range(pieces + 1)] if pieces else [0]
    side_by_side(lambda ends: function(*ends), list(pairwise(edges)))
