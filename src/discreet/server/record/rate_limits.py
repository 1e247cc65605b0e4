"""How often somebody may ask: counters in the store, so that all workers of all servers together keep them.

A worker takes requests from the store a few at a time and gives them out by itself, which keeps the store out of most
requests; what it has taken and not given out is lost to the caller, never gained. Spans of time are told by the
database's clock where there is one, so that servers whose clocks differ count in the same span.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Float, bindparam, cast, delete, extract, func, select
from sqlalchemy.dialects import postgresql, sqlite

from discreet.server.record.store import Store
from discreet.server.schema import uses

MINUTE, DAY = 60, 86_400
PAID = "paid:"
SHARE = 20  # a worker takes one twentieth of a limit at a time

# Statements of every request are made once.
PAID_BEFORE = select(uses.c.n).where(uses.c.who == bindparam("name"), uses.c.span == bindparam("now"))
NOTE_PAID = {
    name: dialect.insert(uses).on_conflict_do_nothing(index_elements=[uses.c.who, uses.c.span])
    for name, dialect in (("postgresql", postgresql), ("sqlite", sqlite))
}


class Over(Exception):  # noqa: N818 - an answer to the caller, not an accident
    """A limit is used up: which one, and how many seconds until it is filled again.

    No frozen dataclass: whoever passes an exception on sets its traceback.
    """

    def __init__(self, rule: str, seconds: int) -> None:
        super().__init__(rule, seconds)
        self.rule, self.seconds = rule, seconds


class Counter:
    """A limit per caller and span of time. Without a clock of its own it goes by the store's."""

    def __init__(self, store: Store, rule: str, span: int, clock: Callable[[], float] | None = None) -> None:
        self.store, self.rule, self.span, self.clock = store, rule, span, clock
        self._ahead = 0.0  # seconds that the store's clock is ahead of ours
        self._taken: dict[tuple[str, int], int] = {}
        self._full: dict[str, int] = {}
        self._cleaned = -1
        self._lock = threading.Lock()  # around what is held: requests and the writers of several roles share a counter

    def spend_held(self, who: str) -> bool:
        """Give out one that this worker holds; False if it holds none. Raises ``Over`` when the limit is known full."""
        now = self._span()
        with self._lock:
            if self._full.get(who) == now:
                raise Over(self.rule, self._left(now))
            held = self._taken.get((who, now), 0)
            if not held:
                return False
            self._taken[who, now] = held - 1
            return True

    def take(self, who: str, limit: int, connection: Connection | None = None) -> None:
        """Take some from the store and give out one; raises ``Over`` when there are none.

        Within somebody else's transaction the caller has to ``forget`` when that fails.
        """
        if self.spend_held(who):  # taken meanwhile for another request of the same caller, asked at the same moment
            return
        want = max(limit // SHARE, 1)
        if connection is None:
            with self.store.begin() as own:
                now, total = self._add(own, who, want)
        else:
            now, total = self._add(connection, who, want)
        got = min(want, limit - (total - want))
        with self._lock:
            if got <= 0:
                self._full = {name: span for name, span in self._full.items() if span == now} | {who: now}
                raise Over(self.rule, self._left(now))
            if len(self._taken) > 10_000:
                self._taken = {k: n for k, n in self._taken.items() if k[1] == now}
            self._taken[who, now] = self._taken.get((who, now), 0) + got - 1

    def paid(self, connection: Connection, who: str, what: str) -> bool:
        """Whether a caller has spent one on this very thing in this span: it costs nothing again."""
        self._meet_clock(connection)
        row = connection.execute(PAID_BEFORE, {"name": _paid_name(who, what), "now": self._span()}).first()
        return row is not None

    def pay(self, connection: Connection, who: str, what: str) -> None:
        """Note what a caller has spent one on; notes of earlier spans go once a span."""
        now = self._span()
        if self._cleaned != now:
            connection.execute(delete(uses).where(uses.c.who.startswith(PAID), uses.c.span < now))
            self._cleaned = now
        note = NOTE_PAID["postgresql" if self.store.shared else "sqlite"]
        connection.execute(note, {"who": _paid_name(who, what), "span": now, "n": 1})

    def check_open(self, who: str) -> None:
        """Raise ``Over`` when this worker knows the limit to be used up; nothing is counted."""
        now = self._span()
        if self._full.get(who) == now:
            raise Over(self.rule, self._left(now))

    def forget(self) -> None:
        """Give up what this worker holds, since it may not have been counted."""
        self._taken, self._full = {}, {}

    def _now(self) -> float:
        return time.time() + self._ahead if self.clock is None else self.clock()

    def _span(self) -> int:
        return int(self._now()) // self.span

    def _left(self, now: int) -> int:
        return max((now + 1) * self.span - int(self._now()), 1)

    def _meet_clock(self, connection: Connection) -> None:
        if self.clock is None and self.store.shared:
            told = connection.execute(select(cast(extract("epoch", func.clock_timestamp()), Float))).scalar_one()
            self._ahead = float(told) - time.time()

    def _add(self, connection: Connection, who: str, n: int) -> tuple[int, int]:
        """Count up in the store; gives the span and its new count. The span before stays: somebody may be late."""
        self._meet_clock(connection)
        name, now = f"{self.rule}:{who}"[:120], self._span()
        kind: Any = postgresql if self.store.shared else sqlite
        adding = kind.insert(uses).values(who=name, span=now, n=n)
        adding = adding.on_conflict_do_update(index_elements=[uses.c.who, uses.c.span], set_={"n": uses.c.n + n})
        connection.execute(delete(uses).where(uses.c.who == name, uses.c.span < now - 1))
        return now, int(connection.execute(adding.returning(uses.c.n)).scalar_one())


def _paid_name(who: str, what: str) -> str:
    return PAID + hashlib.sha256(f"{who} {what}".encode()).hexdigest()[:32]
