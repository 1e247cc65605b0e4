"""How often somebody may ask: counters in the store, so that all workers together keep them.

A worker takes requests from the store a few at a time and gives them out by itself, which keeps the store out of most
requests; what it has taken and not given out is lost to the caller, never gained.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete
from sqlalchemy.dialects import postgresql, sqlite

from discreet.server.store import Store, uses

MINUTE, DAY = 60, 86_400
SHARE = 20  # a worker takes one twentieth of a limit at a time


@dataclass(frozen=True)
class Over(Exception):  # noqa: N818 - an answer to the caller, not an accident
    """A limit is used up: which one, and how many seconds until it is filled again."""

    rule: str
    seconds: int


class Counter:
    """A limit per caller and span of time."""

    def __init__(self, store: Store, rule: str, span: int, clock: Callable[[], float] = time.time) -> None:
        self.store, self.rule, self.span, self.clock = store, rule, span, clock
        self._taken: dict[tuple[str, int], int] = {}
        self._full: dict[str, int] = {}

    def spend_held(self, who: str) -> bool:
        """Give out one that this worker holds; False if it holds none. Raises ``Over`` when the limit is known full."""
        now = int(self.clock()) // self.span
        if self._full.get(who) == now:
            raise Over(self.rule, self._left(now))
        held = self._taken.get((who, now), 0)
        if not held:
            return False
        self._taken[who, now] = held - 1
        return True

    def take(self, who: str, limit: int) -> None:
        """Take some from the store and give out one; raises ``Over`` when there are none."""
        now = int(self.clock()) // self.span
        want = max(limit // SHARE, 1)
        before = self._add(who, now, want) - want
        got = min(want, limit - before)
        if got <= 0:
            self._full = {name: span for name, span in self._full.items() if span == now} | {who: now}
            raise Over(self.rule, self._left(now))
        if len(self._taken) > 10_000:
            self._taken = {k: n for k, n in self._taken.items() if k[1] == now}
        self._taken[who, now] = self._taken.get((who, now), 0) + got - 1

    def _left(self, now: int) -> int:
        return max((now + 1) * self.span - int(self.clock()), 1)

    def _add(self, who: str, now: int, n: int) -> int:
        """Count up in the store; gives the new count."""
        name = f"{self.rule}:{who}"[:120]
        kind: Any = postgresql if self.store.engine.dialect.name == "postgresql" else sqlite
        adding = kind.insert(uses).values(who=name, span=now, n=n)
        adding = adding.on_conflict_do_update(index_elements=[uses.c.who, uses.c.span], set_={"n": uses.c.n + n})
        with self.store.begin() as connection:
            connection.execute(delete(uses).where(uses.c.who == name, uses.c.span < now))
            return int(connection.execute(adding.returning(uses.c.n)).scalar_one())
