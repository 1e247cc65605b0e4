"""The service: a caller and a query in, an answer out. Limits, cache, table, guard and record, in this order."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from discreet.base.version import VERSION
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.errors import DiscreetError, InputError, Refused, nearest
from discreet.policy import Policy, Query, read_policy, ready
from discreet.policy.answering import answer_query, check_query
from discreet.policy.query import Resolved
from discreet.policy.whole_variables import WholeVariables
from discreet.release import Release
from discreet.server.auth import Caller
from discreet.server.cache import Answers, CachedAnswer
from discreet.server.counting.counting import Counting, CubeCounting, counting_of, read_data
from discreet.server.counting.held_shapes import held_shapes
from discreet.server.editions.served_editions import admit_edition
from discreet.server.guarding.commits import Commits
from discreet.server.guarding.guard import Flag, Guard
from discreet.server.guarding.history import History, PendingAnswer
from discreet.server.guarding.pacing import Pace
from discreet.server.queries import address
from discreet.server.record.page_marks import is_page_mark, page_mark
from discreet.server.record.rate_limits import DAY, MINUTE, Counter
from discreet.server.record.server_key import data_mark, keyed_name, with_key
from discreet.server.record.store import Store
from discreet.server.settings import ROLES, Settings
from discreet.server.views.choices import Choices
from discreet.server.views.variable_cards import VariableCards
from discreet.server.views.view_data import VIEW, view_bytes
from discreet.tables.table import Table

CSVW = "csvw"  # metadata that say where their CSV is
MOST_CUBE = 5_000_000  # cells of a cube from which tables are made beforehand in a few seconds
FEW_CODES = 5_000  # combinations of two codes that are decided in a few tenths of a second, before the first question
LARGE = 20_000  # cells from which a table is made off the event loop


@dataclass(frozen=True)
class Reply:
    """An answer, what the guard thought of it, and whether it was made before."""

    answer: CachedAnswer
    flag: Flag | None = None
    cached: bool = False
    kept_as: str = ""

    @property
    def release(self) -> Release:
        """The table; raises the refusal if it is one."""
        if isinstance(self.answer.result, Refused):
            raise self.answer.result
        return self.answer.result


class Service:
    """What one worker holds: data, policy, store and its memory of answers.

    A role with a policy of its own has a service of its own (``of``), which shares data, store and limits with the
    public's. Several cubes in one worker are given one ``store``.
    """

    def __init__(
        self, settings: Settings, public: Service | None = None, policy: str = "", *, store: Store | None = None
    ) -> None:
        settings = with_key(settings)
        self.settings = settings
        self.policy: Policy = served_policy(policy or settings.policy)
        self.data: Microdata | Table
        self.version: str
        """The version of the data under a name that tells nothing of them."""
        if public is None:
            self.data, version = read_data(settings)
            self.version = keyed_name(settings.key, "data", version)
            self.data_mark = data_mark(settings.store, version)
        else:
            version = ""
            self.data, self.version, self.data_mark = public.data, public.version, public.data_mark
        self.policy.check(self.data.dimensions)
        self.counting: Counting = counting_of(ready(self.data, self.policy))  # steps before counting are done once
        check_measures(self.policy, self.counting.measures)
        self.store: Store = public.store if public is not None else store or Store(settings.store)
        if self.policy.secret is not None:
            self.store.agree(self.data_mark, self.policy.secret, version)
        if public is None:
            admit_edition(settings, self.store, self.policy)
        self.choices = Choices(self.counting.dimensions, self.policy)
        self.cards = VariableCards(self.counting.dimensions, self.policy.query.disallowed)
        self.whole = WholeVariables(self.counting.dimensions, self.policy, self.counting.table)
        self.guard = Guard(self.counting, self.policy, self.whole)
        self.answers = Answers(settings.cache)
        self._closed = False
        self.pace = Pace()
        self.rate: Counter = Counter(self.store, "rate", MINUTE) if public is None else public.rate
        self.addresses: Counter = Counter(self.store, "address", MINUTE) if public is None else public.addresses
        self.accounts: Counter = Counter(self.store, "account", MINUTE) if public is None else public.accounts
        self.tables: Counter = Counter(self.store, "tables", DAY) if public is None else public.tables
        self.history = History(
            self.store, self.guard, self.policy, self.tables, most=settings.tables, data=self.version,
            mark=self.data_mark, people=settings.people,
        )  # fmt: skip
        self.commits = Commits(self.store, self.history)
        self.edition = keyed_name(settings.key, "edition", VERSION, self.policy.digest, self.version)
        self.roles = {role: Service(settings, self, file) for role, file in settings.roles.items() if public is None}
        higher = [self.roles[role].whole for role in reversed(ROLES) if role in self.roles]
        for k, whole in enumerate([*higher, self.whole] if public is None else ()):
            whole.above = higher[:k]  # who has a role sees what lower ones are given, too

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The variables that can be asked."""
        return self.counting.dimensions

    def of(self, caller: Caller) -> Service:
        """The service of a caller: that of the highest role up to the caller's which has a policy of its own."""
        mine = [role for role in ROLES if role in self.roles and caller.may(role)]
        return self.roles[mine[-1]] if mine else self

    @property
    def editions(self) -> str:
        """The edition of all answers, whoever asks: the same for servers that give the same ones."""
        if not self.roles:
            return self.edition
        editions = [self.edition, *(f"{role} {service.edition}" for role, service in sorted(self.roles.items()))]
        return hashlib.sha256(" ".join(editions).encode()).hexdigest()[:16]

    def warm_up(self) -> None:
        """Answer something to nobody, so that the first caller does not wait for what is loaded only once."""
        self.counting.warm_up(self.policy.measures)
        if self.counting.held:
            with contextlib.suppress(DiscreetError):  # what is wrong is told to whoever asks
                self.whole.decide_all(FEW_CODES)
        for dimension in self.dimensions[:2] if self.counting.held else ():
            with contextlib.suppress(DiscreetError):
                self._answer(self.resolved(Query.of(dimension.name)))

    def hold_tables(self) -> None:
        """Make the tables that answers are cut out of, beside the first questions, until the service is closed.

        In an order of its own: which of them are there tells nothing of what was asked.
        """
        counting = self.counting
        quick = isinstance(counting, CubeCounting) and counting.cube.layout.n_inner <= MOST_CUBE
        for pair in self.whole.pairs() if quick else ():
            if self._closed:
                return
            with contextlib.suppress(DiscreetError):
                self.whole.of_variables(pair)
        for shape in held_shapes(self.dimensions, self.policy) if quick else ():
            if self._closed:
                return
            with contextlib.suppress(DiscreetError):  # what is wrong is told to whoever asks
                assert isinstance(counting, CubeCounting)
                self._hold(counting, shape)
        for service in self.roles.values():
            service.hold_tables()

    def _hold(self, counting: CubeCounting, shape: Resolved) -> None:
        table = counting.made(shape)
        self.whole.held.hold(table)
        with contextlib.suppress(Refused):  # an answer too, which is worked out of the same table for every population
            answer_query(lambda _: table, shape, self.policy, self.whole)
        counting.hold(shape, table)

    def resolved(self, query: Query) -> Resolved:
        """A query against the codebook; unknown variables, levels and codes are errors that name the nearest."""
        return query.resolved(self.dimensions)

    def check(self, resolved: Resolved) -> None:
        """Raise ``Refused`` if the policy does not allow a query, decided from the codebook alone."""
        check_query(resolved, self.policy)

    def tag(self, query: Query, form: str) -> str:
        """The entity tag of an answer in a format: known without making it."""
        return '"' + hashlib.sha256(f"{self.edition} {query.digest} {form}".encode()).hexdigest()[:32] + '"'

    async def count_request(self, caller: Caller) -> None:
        """One request more of a caller; raises ``Over`` when there were too many."""
        for who, share in caller.limited:
            if not self.rate.spend_held(who):
                await self.commits.run(self.rate.take, who, self.settings.rate * share)

    async def count_attempt(self, stranger: Caller, most: int) -> None:
        """One attempt more to sign in, or one more wrong token; raises ``Over`` when there were too many."""
        for who, share in stranger.limited:
            await self.commits.run(self.addresses.take, who, most * share)

    def page_mark(self, caller: Caller, query: Query) -> str:
        """What the page of an answer sends when it asks for its numbers."""
        return page_mark(self.settings.key, caller.who, query.digest, self.edition)

    async def ask(self, caller: Caller, resolved: Resolved, mark: str = "") -> Reply:
        """The answer to a query, recorded before it is given. A refusal is an answer too.

        With the ``mark`` of a page that was given and recorded a moment ago, a table has no second line.
        """
        query = resolved.query
        if mark and is_page_mark(self.settings.key, mark, caller.who, query.digest, self.edition):
            reply = await self._again(caller, resolved)
            if isinstance(reply.answer.result, Release):
                return reply
        if (refused := self._by_codebook(resolved)) is not None:
            await self.commits.write(self.history.line(caller, query, refused))
            return Reply(refused)
        start, kept_as = time.perf_counter(), self._kept_as(caller, query)
        answer = self.answers.get(kept_as)
        cached = answer is not None
        if answer is None:
            answer = await self._make(resolved, kept_as)
        reply = replace(await self._decided(PendingAnswer(caller, query, answer)), cached=cached, kept_as=kept_as)
        if not cached:
            await self.pace.wait(start, resolved.cells)
        return reply

    async def _decided(self, question: PendingAnswer) -> Reply:
        """Whether the caller is told, committed with the line of the record."""
        if self.history.had(question.caller, question.query):
            await self.commits.write(self.history.line(question.caller, question.query, question.answer))
            return Reply(question.answer)
        if not self.counting.held:
            await asyncio.to_thread(self.history.foresee, question)
        decision = await self.commits.decide(question)
        return Reply(decision.answer, decision.flag)

    async def _again(self, caller: Caller, resolved: Resolved) -> Reply:
        """The answer that a page shows, for its viewer."""
        start, kept_as = time.perf_counter(), self._kept_as(caller, resolved.query)
        answer = self.answers.get(kept_as)
        if answer is not None:
            return Reply(answer, cached=True, kept_as=kept_as)
        reply = Reply(await self._make(resolved, kept_as), kept_as=kept_as)
        await self.pace.wait(start, resolved.cells)
        return reply

    async def preview(self, caller: Caller, resolved: Resolved) -> Refused | None:
        """Whether a query would be refused, by the guard too. A refusal is recorded; a table is made but not given.

        What is not given is not told: the guard is asked, and nothing is added to what the caller was told.
        """
        query, start, kept_as = resolved.query, time.perf_counter(), self._kept_as(caller, resolved.query)
        answer = self._by_codebook(resolved) or self.answers.get(kept_as) or await self._make(resolved, kept_as)
        flag = None
        if isinstance(answer.result, Release) and not self.history.had(caller, query):
            question = PendingAnswer(caller, query, answer)
            decision = await asyncio.to_thread(self.history.foresee, question)
            answer, flag = decision.answer, decision.flag
        if isinstance(answer.result, Refused):
            await self.commits.write(self.history.line(caller, query, answer, flag))
        await self.pace.wait(start, resolved.cells)
        return answer.result if isinstance(answer.result, Refused) else None

    async def body(self, query: Query, reply: Reply, form: str) -> bytes:
        """The answer in a format."""
        from discreet.formats import to_bytes

        release, answer = reply.release, reply.answer
        if form not in answer.bodies:
            named = {"url": f"table.csv?{address(query)}"} if form == CSVW else {}
            make = partial(view_bytes, release) if form == VIEW.name else partial(to_bytes, release, form, **named)
            answer.bodies[form] = await asyncio.to_thread(make) if len(release) > LARGE else make()
            self.answers.put(reply.kept_as, answer)
        return answer.bodies[form]

    async def close(self) -> None:
        """Finish writing and let go of the store."""
        self.stop_holding()
        for service in self.roles.values():
            await service.commits.close()
        await self.commits.close()
        self.store.close()

    def stop_holding(self) -> None:
        """Make no further tables beforehand."""
        self._closed = True
        for service in self.roles.values():
            service.stop_holding()

    # -- steps --------------------------------------------------------------------------------------------------

    def _by_codebook(self, resolved: Resolved) -> CachedAnswer | None:
        """The refusal of a query that the codebook decides; None if it lets the query through."""
        try:
            self.check(resolved)
        except Refused as refused:
            return CachedAnswer(Refused(refused.rule, refused.reason, refused.hint), "")
        return None

    def _kept_as(self, caller: Caller, query: Query) -> str:
        """The name of an answer in memory, each caller's own: nobody is answered sooner for what others asked."""
        return f"{caller.who} {query.digest}"

    async def _make(self, resolved: Resolved, kept_as: str) -> CachedAnswer:
        self.commits.give_way()
        long = resolved.cells > LARGE or not self.counting.held or not self.whole.is_decided(resolved.levels)
        answer = await asyncio.to_thread(self._answer, resolved) if long else self._answer(resolved)
        self.answers.put(kept_as, answer)
        return answer

    def _answer(self, resolved: Resolved) -> CachedAnswer:
        try:
            release = answer_query(self.counting.table, resolved, self.policy, self.whole)
        except Refused as refused:
            return CachedAnswer(Refused(refused.rule, refused.reason, refused.hint), "")
        csv = release.to_csv()
        return CachedAnswer(release, hashlib.sha256(csv).hexdigest(), {"csv": csv})


def served_policy(path: str | Path) -> Policy:
    """A policy of which all answers may be asked, so that noise which can be guessed would be."""
    policy = read_policy(path)
    if policy.seeded:
        raise InputError(policy.seeded)
    return policy


def check_measures(policy: Policy, held: Collection[str]) -> None:
    """Raise if measures are served that the data do not hold, or without a guard.

    Two sums that differ show that somebody is in one of two populations, whatever the noise.
    """
    if policy.measures and policy.guard.action not in ("refuse", "budget"):
        raise InputError(
            f"two sums of people who differ by one tell of that one, so measures are served under a guard: "
            f'[guard] action = "refuse" or "budget", not "{policy.guard.action}"'
        )
    for name in policy.measures:
        if name not in held:
            raise InputError(
                f"the policy serves the measure {name!r}, and the data hold none of that name; "
                f"{nearest(name, held)}. A cube keeps the measures of the policy that it is built with"
            )
