"""The desk: a caller and a query in, an answer out. Limits, memory, the guard, the road, the record, in this order."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import select

from discreet import __version__
from discreet.errors import DiscreetError, Refused
from discreet.microdata import Microdata
from discreet.policy import Policy, Query, answer, dry_run, read_policy
from discreet.policy.record import Entry, entry
from discreet.release import Release
from discreet.server import cube
from discreet.server.auth import Caller
from discreet.server.cache import Answers, Kept
from discreet.server.guard import Flag, Geometry, Guard, query_of
from discreet.server.ledger import OPEN, REFUSED, RELEASED, Ledger, Line, asked_line, record_line, settled_line
from discreet.server.limits import DAY, MINUTE, Counter
from discreet.server.settings import Settings
from discreet.server.store import Row, Store, asked
from discreet.table import Table

LARGE = 20_000  # cells from which a table is made off the event loop
MOST_CALLERS = 10_000  # whose past a worker remembers
MOST_CUBES = 200  # of fewer variables, that a worker keeps
LATE = 300.0  # seconds after which a question without an outcome belongs to a worker that is gone
EVERYONE = "everyone"


@dataclass
class Past:
    """What a caller asked before, read from the store as far as ``settled``; later lines are read again."""

    settled: int = 0
    answered: dict[str, Geometry] = field(default_factory=dict)
    flagged: set[str] = field(default_factory=set)
    open: dict[str, Geometry] = field(default_factory=dict)
    """Asked at this moment by another request, by name; it may be answered before this one."""


@dataclass(frozen=True)
class Reply:
    """An answer, what the guard thought of it, and whether it was made before."""

    kept: Kept
    flag: Flag | None = None
    cached: bool = False

    @property
    def release(self) -> Release:
        """The table; raises the refusal if it is one."""
        if isinstance(self.kept.result, Refused):
            raise self.kept.result
        return self.kept.result


class Desk:
    """What one worker holds: data, policy, store and its memory of answers."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.policy: Policy = read_policy(settings.policy)
        self.data, self.version = source(settings)
        self.policy.check(self.data.dimensions)
        self.store = Store(settings.store)
        self.ledger = Ledger(self.store)
        self.guard = Guard(self.data, self.policy)
        self.answers = Answers(settings.cache)
        self.rate = Counter(self.store, "rate", MINUTE)
        self.addresses = Counter(self.store, "address", MINUTE)
        self.tables = Counter(self.store, "tables", DAY)
        self._past: OrderedDict[str, Past] = OrderedDict()
        self._cubes: dict[frozenset[str], Table] = {}
        self._policy_digest = self.policy.digest
        self.edition = hashlib.sha256(f"{__version__} {self._policy_digest} {self.version}".encode()).hexdigest()[:16]

    def warm_up(self) -> None:
        """Answer something to nobody, so that the first caller does not wait for what is loaded only once."""
        for dimension in self.data.dimensions[:2] if isinstance(self.data, Table) else ():
            with contextlib.suppress(DiscreetError):
                answer(self.data, Query.of(dimension.name), self.policy).to_csv()

    def dry_run(self, query: Query) -> int:
        """How many cells a query asks for; raises if the codebook and the policy do not allow it."""
        return dry_run(self.data, query, self.policy).cells

    def tag(self, query: Query, form: str) -> str:
        """The entity tag of an answer in a format: known without making it."""
        return '"' + hashlib.sha256(f"{self.edition} {query.digest} {form}".encode()).hexdigest()[:32] + '"'

    async def count_request(self, caller: Caller) -> None:
        """One request more of a caller; raises ``Over`` when there were too many."""
        if not self.rate.spend_held(caller.who):
            await self.ledger.run(self.rate.take, caller.who, self.settings.rate * caller.share)

    async def ask(self, caller: Caller, query: Query) -> Reply:
        """The answer to a query, recorded before it is given. A refusal is an answer too."""
        cells = self.dry_run(query)
        who = EVERYONE if self.policy.guard.scope == EVERYONE else caller.who
        past = self._past.get(who)
        fresh = past is None or query.digest not in past.answered
        name = secrets.token_hex(16)
        if fresh:  # told to the store while the answer is made, so that other workers know
            noted = self.ledger.start(asked_line(name, who, query.digest, query.canonical))
        kept = self.answers.get(query.digest)
        cached = kept is not None
        if kept is None:
            kept = await self._make(query, cells)
        if not fresh:
            await self.ledger.start(self._record(caller, query, kept, None))
            return Reply(kept, None, cached)
        await noted
        past = await self._caught_up(who)
        flag = None
        if query.digest not in past.answered:
            if not self.tables.spend_held(caller.who):
                await self.ledger.run(self.tables.take, caller.who, self.settings.tables * caller.share)
            flag = self._judge(caller, query, past, name)
        if flag is not None and self._refuses(past) and isinstance(kept.result, Release):
            kept = Kept(Refused(flag.rule, flag.reason, flag.hint), "")
        state = RELEASED if isinstance(kept.result, Release) else REFUSED
        await self.ledger.start(settled_line(name, state, flag is not None), self._record(caller, query, kept, flag))
        return Reply(kept, flag, cached)

    async def preview(self, caller: Caller, query: Query) -> Refused | None:
        """Whether a query would be refused. A refusal is recorded; a table is made but not given."""
        try:
            cells = self.dry_run(query)
        except Refused as refused:
            return refused
        kept = self.answers.get(query.digest)
        if kept is None:
            kept = await self._make(query, cells)
            if isinstance(kept.result, Refused):
                await self.ledger.start(self._record(caller, query, kept, None))
        return kept.result if isinstance(kept.result, Refused) else None

    async def body(self, query: Query, reply: Reply, form: str) -> bytes:
        """The answer in a format."""
        from discreet.formats import to_bytes

        release, kept = reply.release, reply.kept
        if form not in kept.bodies:
            if len(release) > LARGE:
                kept.bodies[form] = await asyncio.to_thread(to_bytes, release, form)
            else:
                kept.bodies[form] = to_bytes(release, form)
            self.answers.put(query.digest, kept)
        return kept.bodies[form]

    async def close(self) -> None:
        """Finish writing and let go of the store."""
        await self.ledger.close()
        self.store.close()

    # -- steps --------------------------------------------------------------------------------------------------

    async def _make(self, query: Query, cells: int) -> Kept:
        large = cells > LARGE or isinstance(self.data, Microdata)
        kept = await asyncio.to_thread(self._answer, query) if large else self._answer(query)
        self.answers.put(query.digest, kept)
        return kept

    def _answer(self, query: Query) -> Kept:
        try:
            release = answer(self._data_for(query), query, self.policy)
        except Refused as refused:
            return Kept(Refused(refused.rule, refused.reason, refused.hint), "")
        csv = release.to_csv()
        return Kept(release, hashlib.sha256(csv).hexdigest(), {"csv": csv})

    def _data_for(self, query: Query) -> Table | Microdata:
        """The smallest cube that has the variables: sums of the whole one, kept, since they are few and small."""
        if not isinstance(self.data, Table):
            return self.data
        names = frozenset((*query.names, *(name for name, _ in query.where)))
        if names not in self._cubes:
            if len(self._cubes) >= MOST_CUBES:
                self._cubes.pop(next(iter(self._cubes)))
            self._cubes[names] = cube.narrowed(self.data, names)
        return self._cubes[names]

    async def _caught_up(self, who: str) -> Past:
        """A caller's past with everything that has been committed up to now."""
        past = self._past.setdefault(who, Past())
        self._past.move_to_end(who)
        if len(self._past) > MOST_CALLERS:
            self._past.popitem(last=False)
        wanted = select(asked).where(asked.c.who == who, asked.c.id > past.settled).order_by(asked.c.id)
        self._learn(past, await self.ledger.run(self.store.rows, wanted))
        return past

    def _learn(self, past: Past, rows: Sequence[Row]) -> None:
        still: dict[str, Geometry] = {}
        for row in rows:
            late = row["state"] == OPEN and row["at"] < time.time() - LATE
            if not still and (row["state"] != OPEN or late):
                past.settled = row["id"]
            if row["state"] == REFUSED or row["digest"] in past.answered:
                past.flagged |= {row["name"]} if row["flagged"] and row["state"] != REFUSED else set()
                continue
            geometry = self.guard.known(query_of(row["query"]))
            if geometry is None:
                continue
            if row["state"] == OPEN:
                still[row["name"]] = geometry
                continue
            past.answered[row["digest"]] = geometry
            past.flagged |= {row["name"]} if row["flagged"] else set()
        past.open = still

    def _judge(self, caller: Caller, query: Query, past: Past, name: str) -> Flag | None:
        """What the guard says, given all that was or is being asked, in this worker or another."""
        if self.policy.guard.action == "off" or caller.may("methodologist"):
            return None
        now = [geometry for other, geometry in past.open.items() if other != name]
        return self.guard.check(self.guard.geometry(query), [*past.answered.values(), *now])

    def _refuses(self, past: Past) -> bool:
        rules = self.policy.guard
        return rules.action == "refuse" or (rules.action == "budget" and len(past.flagged) >= rules.budget)

    def _record(self, caller: Caller, query: Query, kept: Kept, flag: Flag | None) -> Line:
        if isinstance(kept.result, Refused):
            made = entry(query, self.policy, self.version, caller.who, kept.result)
        else:
            when = datetime.now(UTC).isoformat(timespec="seconds")
            made = Entry(
                when=when, who=caller.who, query=query.to_dict(), policy=self._policy_digest, data=self.version,
                outcome=RELEASED, digest=kept.digest,
            )  # fmt: skip
        return record_line(made, "" if flag is None else flag.rule)


def source(settings: Settings) -> tuple[Microdata | Table, str]:
    """The cube if there is one, else the records themselves; and the version of the data."""
    if settings.folder is not None:
        return cube.load(settings.folder)
    assert settings.data is not None  # Settings has seen to that
    assert settings.codebook is not None
    path = Path(settings.data)
    data = Microdata.read(path, settings.codebook, table=settings.table)
    told = path.stat()
    return data, hashlib.sha256(f"{told.st_size} {told.st_mtime_ns}".encode()).hexdigest()[:16]
