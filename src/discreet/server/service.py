"""The desk: a caller and a query in, an answer out. Limits, memory, the guard, the road, the record, in this order."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from discreet.base.version import VERSION
from discreet.data.microdata import Microdata
from discreet.errors import DiscreetError, Refused
from discreet.policy import Policy, Query, answer, dry_run, read_policy, ready
from discreet.release import Release
from discreet.server import cube
from discreet.server.auth import Caller
from discreet.server.cache import Answers, Kept
from discreet.server.commits import Ledger
from discreet.server.guard import Flag, Guard
from discreet.server.history import History, Question
from discreet.server.limits import DAY, MINUTE, Counter
from discreet.server.queries import address
from discreet.server.settings import ROLES, Settings
from discreet.server.store import Store
from discreet.tables.table import Table

CSVW = "csvw"  # metadata that say where their CSV is
LARGE = 20_000  # cells from which a table is made off the event loop
MOST_CUBES = 200  # of fewer variables, that a worker keeps


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
    """What one worker holds: data, policy, store and its memory of answers.

    A role with a policy of its own has a desk of its own (``of``), which shares data, store and limits with the
    public's.
    """

    def __init__(self, settings: Settings, public: Desk | None = None, policy: str = "") -> None:
        self.settings = settings
        self.policy: Policy = read_policy(policy or settings.policy)
        found = source(settings) if public is None else (public.whole, public.version)
        self.whole: Microdata | Table = found[0]
        self.version: str = found[1]
        self.policy.check(self.whole.dimensions)
        self.data = ready(self.whole, self.policy)  # steps before counting are done once
        self.store: Store = Store(settings.store) if public is None else public.store
        if self.policy.secret is not None:
            self.store.agree(self.version, self.policy.secret)
        self.guard = Guard(self.data, self.policy)
        self.answers = Answers(settings.cache)
        self.rate: Counter = Counter(self.store, "rate", MINUTE) if public is None else public.rate
        self.addresses: Counter = Counter(self.store, "address", MINUTE) if public is None else public.addresses
        self.tables: Counter = Counter(self.store, "tables", DAY) if public is None else public.tables
        self.history = History(
            self.store, self.guard, self.policy, self.tables, most=settings.tables, data=self.version,
            people=settings.people,
        )  # fmt: skip
        self.ledger = Ledger(self.store, self.history)
        self._cubes: dict[frozenset[str], Table] = {}
        self.edition = hashlib.sha256(f"{VERSION} {self.policy.digest} {self.version}".encode()).hexdigest()[:16]

        self.roles = {role: Desk(settings, self, file) for role, file in settings.roles.items() if public is None}

    def of(self, caller: Caller) -> Desk:
        """The desk of a caller: that of the highest role up to the caller's which has a policy of its own."""
        mine = [role for role in ROLES if role in self.roles and caller.may(role)]
        return self.roles[mine[-1]] if mine else self

    @property
    def editions(self) -> str:
        """The edition of all answers, whoever asks: the same for servers that give the same ones."""
        told = [self.edition, *(f"{role} {desk.edition}" for role, desk in sorted(self.roles.items()))]
        return self.edition if len(told) == 1 else hashlib.sha256(" ".join(told).encode()).hexdigest()[:16]

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
        kept = self.answers.get(query.digest)
        cached = kept is not None
        if kept is None:
            kept = await self._make(query, cells)
        if self.history.told(caller, query):
            await self.ledger.write(self.history.line(caller, query, kept))
            return Reply(kept, None, cached)
        question = Question(caller, query, kept)
        if isinstance(self.data, Microdata):
            await asyncio.to_thread(self.history.foresee, question)
        verdict = await self.ledger.decide(question)
        return Reply(verdict.kept, verdict.flag, cached)

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
                await self.ledger.write(self.history.line(caller, query, kept))
        return kept.result if isinstance(kept.result, Refused) else None

    async def body(self, query: Query, reply: Reply, form: str) -> bytes:
        """The answer in a format."""
        from discreet.formats import to_bytes

        release, kept = reply.release, reply.kept
        if form not in kept.bodies:
            make = partial(to_bytes, release, form, **({"url": f"table.csv?{address(query)}"} if form == CSVW else {}))
            kept.bodies[form] = await asyncio.to_thread(make) if len(release) > LARGE else make()
            self.answers.put(query.digest, kept)
        return kept.bodies[form]

    async def close(self) -> None:
        """Finish writing and let go of the store."""
        for desk in self.roles.values():
            await desk.ledger.close()
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


def source(settings: Settings) -> tuple[Microdata | Table, str]:
    """The cube if there is one, else the records themselves; and the version of the data."""
    if settings.folder is not None:
        return cube.load(settings.folder)
    assert settings.data is not None  # Settings has seen to that
    assert settings.codebook is not None
    return Microdata.read(Path(settings.data), settings.codebook, table=settings.table), version_of(settings)


def version_of(settings: Settings) -> str:
    """The version of records that are counted each time: what they and their codebook hold, wherever they lie."""
    hashes = [_content_of(Path(path)) for path in (settings.data, settings.codebook) if path is not None]
    return hashlib.sha256(" ".join([settings.table or "", *hashes]).encode()).hexdigest()[:16]


def _content_of(path: Path) -> str:
    """The hash of what a file or a folder of files holds: the same on every machine that has a copy."""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    told = [(str(p), p.stat().st_size, p.stat().st_mtime_ns) for p in files]
    return _content(str(path), tuple(told))


@lru_cache(maxsize=8)
def _content(root: str, files: tuple[tuple[str, int, int], ...]) -> str:
    """Read once by the parent of all workers, which inherit it."""
    whole = hashlib.sha256()
    for name, size, _ in files:
        whole.update(f"{os.path.relpath(name, root)} {size} ".encode())
        with open(name, "rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()
