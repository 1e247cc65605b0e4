"""Writing what happened, many at a time: an answer waits until its line is committed, and shares the commit.

Under load a commit takes the lines of all answers that came meanwhile, so the record costs one commit per moment,
not one per answer. A line is there whole or not at all.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import bindparam, insert, select, update

from discreet.policy.record import Entry
from discreet.server.store import Store, asked, record

T = TypeVar("T")
OPEN, RELEASED, REFUSED = "open", "released", "refused"
Line = tuple[str, dict[str, Any]]
_SETTLE = update(asked).where(asked.c.name == bindparam("which")).values(state=bindparam("s"), flagged=bindparam("f"))
_STATEMENTS = {"asked": insert(asked), "settled": _SETTLE, "record": insert(record)}


class Ledger:
    """The one writer of a worker. Use it from one event loop."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._waiting: list[tuple[Sequence[Line], asyncio.Future[None]]] = []
        self._flushing: asyncio.Task[None] | None = None

    def start(self, *lines: Line) -> asyncio.Future[None]:
        """Hand in lines; the future is done when they are committed, together, and fails if they could not be."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((lines, done))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush())
        return done

    async def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting, []
            fault: Exception | None = None
            try:
                await loop.run_in_executor(self._thread, self._commit, [line for lines, _ in batch for line in lines])
            except Exception as error:  # noqa: BLE001 - whoever waits is told, whatever it was
                fault = error
            for _, done in batch:
                if done.done():
                    continue
                done.set_result(None) if fault is None else done.set_exception(fault)

    def _commit(self, lines: Sequence[Line]) -> None:
        with self.store.begin() as connection:
            for kind, statement in _STATEMENTS.items():
                if some := [values for of, values in lines if of == kind]:
                    connection.execute(statement, some)

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Another call to the store, off the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    async def close(self) -> None:
        """Wait for what is being written."""
        if self._flushing is not None:
            await self._flushing
        self._thread.shutdown(wait=True)


def record_line(entry: Entry, guard: str = "") -> Line:
    """An entry of the dissemination record as a row."""
    told = asdict(entry)
    told["at"] = datetime.fromisoformat(told.pop("when")).timestamp()
    told["query"] = json.dumps(told["query"], sort_keys=True, ensure_ascii=False)
    return "record", {**told, "guard": guard[:200]}


def export(store: Store) -> Iterator[str]:
    """The record as lines that ``discreet replay`` reads, oldest first."""
    for row in store.rows(select(record).order_by(record.c.id)):
        when = datetime.fromtimestamp(row["at"], UTC).isoformat(timespec="seconds")
        kept = {k: row[k] for k in ("who", "policy", "data", "outcome", "rule", "digest")}
        yield json.dumps({"when": when, **kept, "query": json.loads(row["query"])}, sort_keys=True, ensure_ascii=False)


def asked_line(name: str, who: str, digest: str, canonical: str) -> Line:
    """That somebody asks something; what becomes of it is open."""
    told = {"name": name, "who": who, "digest": digest, "query": canonical}
    return "asked", {**told, "at": time.time(), "state": OPEN, "flagged": False}


def settled_line(name: str, state: str, flagged: bool) -> Line:
    """What became of it."""
    return "settled", {"which": name, "s": state, "f": flagged}
