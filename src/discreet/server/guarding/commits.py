"""Writing what happened, many at a time: an answer waits until its line is committed, and shares the commit.

Under load a commit takes the lines of all answers that came meanwhile, so the record costs one commit per moment,
not one per answer. What has to be decided first, whether a caller may be told, is decided in the same transaction. A
line is there whole or not at all, and an answer that cannot be recorded does not leave.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import Connection

from discreet.server.record.record_lines import STATEMENTS, Line
from discreet.server.record.store import Store, Unreachable

T = TypeVar("T")
Q = TypeVar("Q", contravariant=True)
V = TypeVar("V", covariant=True)
PATIENCE = 20.0  # seconds that a caller waits for the store
GIVING_WAY = 0.03  # seconds that a table is put off while a decision is made


class Judge(Protocol[Q, V]):
    """Who decides questions within a transaction."""

    def decide(self, connection: Connection, questions: Sequence[Q]) -> tuple[Sequence[V | Exception], list[Line]]:
        """A verdict or an error for each question, and the lines to write."""

    def settle(self, committed: bool) -> None:
        """What became of the transaction."""


class Commits(Generic[Q, V]):
    """The one writer of a worker. Use it from one event loop."""

    def __init__(self, store: Store, judge: Judge[Q, V]) -> None:
        self.store, self.judge = store, judge
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commits")
        self._lines: list[tuple[Line, asyncio.Future[None]]] = []
        self._questions: list[tuple[Q, asyncio.Future[V]]] = []
        self._flushing: asyncio.Task[None] | None = None
        self._undecided = threading.Event()  # nothing is being decided
        self._undecided.set()

    def give_way(self) -> None:
        """Let a decision that has begun come to its end, for a moment at most, before something else is worked out.

        Whoever decides keeps all other servers of the store waiting, and two threads of Python share one processor.
        """
        self._undecided.wait(GIVING_WAY)

    async def write(self, line: Line) -> None:
        """Hand in a line and wait until it is committed; fails if it could not be."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.append((line, done))
        await self._committed(done)

    async def decide(self, question: Q) -> V:
        """Hand in a question; the verdict is given when it is committed with everything that follows from it."""
        done: asyncio.Future[V] = asyncio.get_running_loop().create_future()
        self._questions.append((question, done))
        return await self._committed(done)

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Another call to the store, off the event loop."""
        return await _patiently(asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments))

    async def close(self) -> None:
        """Wait for what is being written."""
        if self._flushing is not None:
            await self._flushing
        self._thread.shutdown(wait=True)

    async def _committed(self, done: asyncio.Future[T]) -> T:
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush())
        return await _patiently(done)

    async def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        while self._lines or self._questions:
            lines, self._lines = self._lines, []
            questions, self._questions = self._questions, []
            given = [line for line, _ in lines], [question for question, _ in questions]
            verdicts: Sequence[Any]
            fault: Exception | None = None
            try:
                verdicts = await loop.run_in_executor(self._thread, self._commit, *given)
            except Exception as error:  # noqa: BLE001 - whoever waits is told, whatever it was
                verdicts, fault = [error] * len(questions), error
            for _, written in lines:
                _tell(written, fault)
            for (_, decided), verdict in zip(questions, verdicts, strict=True):
                _tell(decided, verdict)

    def _commit(self, lines: Sequence[Line], questions: Sequence[Q]) -> Sequence[V | Exception]:
        """One transaction for all of it."""
        committed = False
        try:
            with self.store.begin() as connection:
                verdicts, more = self._decided(connection, questions) if questions else ([], [])
                for kind, statement in STATEMENTS.items():
                    if some := [values for of, values in (*lines, *more) if of == kind]:
                        connection.execute(statement, some)
            committed = True
            return verdicts
        finally:
            if questions:
                self.judge.settle(committed)

    def _decided(self, connection: Connection, questions: Sequence[Q]) -> tuple[Sequence[V | Exception], list[Line]]:
        self._undecided.clear()
        try:
            return self.judge.decide(connection, questions)
        finally:
            self._undecided.set()


async def _patiently(wanted: asyncio.Future[T]) -> T:
    """Wait, but not for ever: a store that hangs is one that cannot be reached."""
    wanted.add_done_callback(lambda late: late.cancelled() or late.exception())  # there may be nobody to listen
    done, _ = await asyncio.wait({wanted}, timeout=PATIENCE)
    if not done:
        raise Unreachable
    return wanted.result()


def _tell(waiting: asyncio.Future[Any], outcome: Any) -> None:
    if waiting.done():
        return
    if isinstance(outcome, Exception):
        waiting.set_exception(outcome)
    else:
        waiting.set_result(outcome)
