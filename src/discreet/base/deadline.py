"""Until when work may go on: one moment that everything begun inside it keeps, whatever phase it is in.

Work with a time limit opens ``within(seconds)``; of two moments, one inside the other, the earlier counts. Loops call
``check``, linear programs are run by ``linear.highs``, compiled code by ``stoppable``: when the moment has come they
raise ``OutOfTimeError``, and whoever opened the limit has something to fall back on or lets the error say that there is
nothing. Programs in whole numbers that SciPy solves are given ``left()`` as their limit. Threads do not inherit the
moment by themselves: ``parallel`` hands it on. Work beside other work may also be ended by an event (``unless``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from discreet.errors import OutOfTimeError

T = TypeVar("T")
R = TypeVar("R")

_UNTIL: ContextVar[float] = ContextVar("until", default=float("inf"))
_ENDED: ContextVar[tuple[threading.Event, ...]] = ContextVar("ended", default=())
STEP = 0.02  # seconds between two looks at compiled code


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let what is inside go on for so many seconds at most, and no longer than what is outside may.

    >>> with within(60):
    ...     with within(3600):
    ...         left() <= 60
    True
    """
    with until(time.monotonic() + seconds):
        yield


@contextmanager
def until(moment: float) -> Iterator[None]:
    """The same up to a moment of ``time.monotonic()``."""
    token = _UNTIL.set(min(_UNTIL.get(), moment))
    try:
        yield
    finally:
        _UNTIL.reset(token)


@contextmanager
def unless(ended: threading.Event) -> Iterator[None]:
    """Let what is inside go on only until something has happened: from then on the time is up.

    >>> ended = threading.Event()
    >>> with unless(ended):
    ...     before = over()
    ...     ended.set()
    ...     before, over()
    (False, True)
    """
    token = _ENDED.set((*_ENDED.get(), ended))
    try:
        yield
    finally:
        _ENDED.reset(token)


def left() -> float:
    """Seconds until then, not below 0."""
    return 0.0 if _ended() else max(_UNTIL.get() - time.monotonic(), 0.0)


def over() -> bool:
    """Whether the time is up."""
    return _ended() or time.monotonic() >= _UNTIL.get()


def _ended() -> bool:
    return any(event.is_set() for event in _ENDED.get())


def check() -> None:
    """Go on only while there is time."""
    if over():
        raise OutOfTimeError


def handed_on(function: Callable[[T], R]) -> Callable[[T], R]:
    """The function with this thread's moment, for another thread."""
    until_then, ended = _UNTIL.get(), _ENDED.get()

    def inside(item: T) -> R:
        token = _ENDED.set(ended)
        try:
            with until(until_then):
                return function(item)
        finally:
            _ENDED.reset(token)

    return inside


def stoppable(work: Callable[[], R], stop: Callable[[], None], tell: Callable[[], None] | None = None) -> R:
    """Compiled code that runs without Python's lock: ``stop`` asks it to end when the time is up.

    ``tell`` is called now and then meanwhile; if it raises, that ends the work as well.
    """
    if left() == float("inf") and not _ENDED.get() and tell is None:
        return work()
    check()
    done: Future[R] = Future()

    def beside() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
            done.set_exception(error)

    thread = threading.Thread(target=beside, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(min(STEP, left() + 1e-3))
            if tell is not None:
                tell()
            if thread.is_alive():
                check()
    except BaseException:
        stop()
        thread.join()
        raise
    return done.result()
