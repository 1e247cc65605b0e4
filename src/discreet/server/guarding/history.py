"""What callers were told, and whether they are told more: decided one question at a time for each caller.

The store is the memory. A decision locks the caller's past there, reads what any server has added to it, weighs the
question against it and adds the outcome, all in one transaction: of two questions that give somebody away together,
asked of two servers at the same moment, one is decided first and the other sees it.
"""

from __future__ import annotations

import itertools
import secrets
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from sqlalchemy import ColumnElement, Connection, Select, bindparam, or_, select
from sqlalchemy.exc import SQLAlchemyError

from discreet.base.annotations import Array
from discreet.errors import Refused
from discreet.policy import Policy, Query
from discreet.policy.record import RecordEntry, outcome_of
from discreet.release import Release
from discreet.server.auth import Caller
from discreet.server.cache import CachedAnswer
from discreet.server.guarding.guard import Earlier, Flag, Geometry, Guard, query_from_line
from discreet.server.record.rate_limits import Counter
from discreet.server.record.record_lines import REFUSED, Line, record_line, told_line
from discreet.server.record.store import Row, Store, Unreachable
from discreet.server.schema import PUBLIC, asked

MOST_CALLERS = 10_000  # whose past a worker remembers
MOST_HAD = 100_000  # answers of which a worker remembers who had them
EVERYONE = "everyone"


@dataclass
class Past:
    """What a caller was told, read from the store as far as line ``read``."""

    read: int = 0
    answered: dict[str, tuple[Geometry, ...]] = field(default_factory=dict)
    flagged: set[str] = field(default_factory=set)
    told: Earlier = field(default_factory=Earlier)

    def note(self, answered: Mapping[str, tuple[Geometry, ...]]) -> None:
        """Answers by the digest of their query."""
        self.answered.update(answered)
        self.told.add(itertools.chain.from_iterable(answered.values()))


@dataclass(frozen=True)
class PendingAnswer:
    """Somebody asks something, and this would be the answer."""

    caller: Caller
    query: Query
    answer: CachedAnswer


@dataclass(frozen=True)
class Decision:
    """The answer that is given, and what the guard thought of it."""

    answer: CachedAnswer
    flag: Flag | None = None


class History:
    """The judge of one worker. ``decide`` and ``settle`` are called from the commits's thread alone."""

    def __init__(
        self,
        store: Store,
        guard: Guard,
        policy: Policy,
        tables: Counter,
        *,
        most: int,
        data: str,
        mark: str,
        people: str = "",
    ) -> None:
        self.store, self.guard, self.policy, self.tables, self.most = store, guard, policy, tables, most
        self.people = people
        self.mark = mark  # of the data in the store: the same for all its servers
        self._stamp = {"policy": policy.digest, "data": data}
        self._past: OrderedDict[str, Past] = OrderedDict()
        self._new: dict[str, Past] = {}
        self._had: OrderedDict[tuple[str, str], None] = OrderedDict()  # callers and what they were given here
        self._having: list[tuple[str, str]] = []
        self._wanted = lru_cache(maxsize=MOST_CALLERS)(self._told_to)  # a statement is made once

    def whose(self, caller: Caller) -> str:
        """The name under which the past of a caller is kept."""
        return self._named(EVERYONE if self.policy.guard.scope == EVERYONE else self._teller(caller))

    def _teller(self, caller: Caller) -> str:
        """Under which name a caller is told something. Strangers are one: they have any number of addresses."""
        return caller.who if caller.signed_in else PUBLIC

    def _named(self, who: str) -> str:
        return f"{self.people}|{who}" if self.people else who

    def _told_to(self, who: str) -> Select[tuple[int, str, str, str, bool]]:
        """What a caller was told, behind the line ``after``. Questions that were refused told nothing.

        Everyone was told all that any caller was, whatever the scope was then.
        """
        columns = (asked.c.id, asked.c.name, asked.c.digest, asked.c.query, asked.c.flagged)
        everyone = self._named(EVERYONE)
        if who != everyone:
            whose: ColumnElement[bool] = asked.c.who.in_([who, everyone])
        elif self.people:
            whose = asked.c.who.startswith(f"{self.people}|", autoescape=True)
        else:
            whose = or_(asked.c.who.startswith("user:"), asked.c.who.in_([PUBLIC, EVERYONE]))
        behind = asked.c.id > bindparam("after")
        return select(*columns).where(whose, behind, asked.c.state != REFUSED).order_by(asked.c.id)

    def had(self, caller: Caller, query: Query) -> bool:
        """Whether this worker has given the very caller this answer before, and the store holds that it was told."""
        past = self._past.get(self.whose(caller))
        return past is not None and query.digest in past.answered and (caller.who, query.digest) in self._had

    def line(self, caller: Caller, query: Query, answer: CachedAnswer, flag: Flag | None = None) -> Line:
        """The line of the record for an answer."""
        refused = answer.result if isinstance(answer.result, Refused) else None
        entry = RecordEntry(
            when=datetime.now(UTC).isoformat(timespec="seconds"), who=caller.who, query=query.to_dict(),
            outcome=outcome_of(answer.result), rule="" if refused is None else refused.rule,
            digest=answer.digest if refused is None else "", **self._stamp,
        )  # fmt: skip
        return record_line(entry, "" if flag is None else flag.rule)

    def foresee(self, question: PendingAnswer) -> Decision:
        """What would be decided now; nothing is locked, spent or written.

        Where counting takes long it is done here before the decision, so that nobody is locked out meanwhile.
        """
        who = self.whose(question.caller)
        known = self._past.get(who) or Past()
        since = self.store.rows(self._wanted(who), after=known.read)
        new = dict(self._geometries(since))
        flagged = known.flagged | {row["name"] for row in since if row["flagged"]}
        if question.query.digest in known.answered or question.query.digest in new:
            return Decision(question.answer)
        earlier = known.told.rows(itertools.chain.from_iterable(new.values()))
        return self._given(question.answer, self._judge(question, earlier), len(flagged))

    # -- decisions ----------------------------------------------------------------------------------------------

    def decide(
        self, connection: Connection, questions: Sequence[PendingAnswer]
    ) -> tuple[list[Decision | Exception], list[Line]]:
        """A verdict on each question, one after the other, and the lines that make it known."""
        names = sorted({self.whose(question.caller) for question in questions})
        self.store.lock(connection, [f"past:{self._named(EVERYONE)}"])
        pasts = {who: self._caught_up(connection, who) for who in names}
        self._new = {who: Past() for who in names}
        self._having = []
        verdicts: list[Decision | Exception] = []
        lines: list[Line] = []
        for question in questions:
            who = self.whose(question.caller)
            try:
                verdict, more = self._decide(connection, question, pasts[who], self._new[who])
            except (SQLAlchemyError, Unreachable):
                raise  # nothing of this transaction will be
            except Exception as error:  # noqa: BLE001 - told to the one who asked; the others are not concerned
                verdicts.append(error)
                continue
            verdicts.append(verdict)
            lines += more
            if isinstance(verdict.answer.result, Release):
                self._having.append((question.caller.who, question.query.digest))
        return verdicts, lines

    def settle(self, committed: bool) -> None:
        """Remember what was decided; or, when it may not have been written, only what the store will say."""
        if not committed:
            self.tables.forget()
        for who, new in self._new.items():
            if not committed:
                self._past.pop(who, None)
            elif (past := self._past.get(who)) is not None:
                past.note(new.answered)
                past.flagged |= new.flagged
        if committed:
            self._had |= dict.fromkeys(self._having)
            while len(self._had) > MOST_HAD:
                self._had.popitem(last=False)
        self._new, self._having = {}, []

    def _decide(
        self, connection: Connection, question: PendingAnswer, past: Past, new: Past
    ) -> tuple[Decision, list[Line]]:
        caller, query, answer = question.caller, question.query, question.answer
        self._spend(connection, caller, query.digest)
        # What somebody else was told is judged too, so that it takes as long, and is given whatever is found.
        flag = self._judge(question, past.told.rows(itertools.chain.from_iterable(new.answered.values())))
        if query.digest in past.answered or query.digest in new.answered:
            return Decision(answer), [self.line(caller, query, answer)]
        answer = self._given(answer, flag, len(past.flagged | new.flagged)).answer
        lines = [self.line(caller, query, answer, flag)]
        if isinstance(answer.result, Release):
            name = secrets.token_hex(16)
            new.answered[query.digest] = self.guard.geometries(query)
            new.flagged |= {name} if flag is not None else set()
            lines.append(
                told_line(name, self._named(self._teller(caller)), query.digest, query.canonical, flag is not None)
            )
        return Decision(answer, flag), lines

    def _spend(self, connection: Connection, caller: Caller, digest: str) -> None:
        """One of the caller's tables of the day, unless this caller has had it today, of whichever server.

        The same question about other data is another table: the cubes of a hub share one limit.
        """
        table = f"{self.mark} {digest}"
        if (caller.who, digest) in self._had or self.tables.paid(connection, caller.who, table):
            return
        for who, share in caller.limited:
            if not self.tables.spend_held(who):
                self.tables.take(who, self.most * share, connection)
        self.tables.pay(connection, caller.who, table)

    def _judge(self, question: PendingAnswer, earlier: Array) -> Flag | None:
        if self.policy.guard.action == "off" or question.caller.may("methodologist"):
            return None
        return self.guard.flag(question.query, earlier)

    def _given(self, answer: CachedAnswer, flag: Flag | None, flagged: int) -> Decision:
        """The answer that is given where the guard thinks so of it, after so many flagged ones."""
        if flag is not None and self._refuses(flagged) and isinstance(answer.result, Release):
            answer = CachedAnswer(Refused(flag.rule, flag.reason, flag.hint), "")
        return Decision(answer, flag)

    def _refuses(self, flagged: int) -> bool:
        rules = self.policy.guard
        return rules.action == "refuse" or (rules.action == "budget" and flagged >= rules.budget)

    def _caught_up(self, connection: Connection, who: str) -> Past:
        """A caller's past with everything that has been committed up to now, by any server.

        Lines are written under one lock, whatever the scope of a role's policy, so a lower number is never committed
        after a higher one.
        """
        past = self._past.setdefault(who, Past())
        self._past.move_to_end(who)
        if len(self._past) > MOST_CALLERS:
            self._past.popitem(last=False)
        rows = [dict(row) for row in connection.execute(self._wanted(who), {"after": past.read}).mappings()]
        past.flagged |= {row["name"] for row in rows if row["flagged"]}
        past.note(dict(self._geometries(row for row in rows if row["digest"] not in past.answered)))
        past.read = max([past.read, *(row["id"] for row in rows)])
        return past

    def _geometries(self, rows: Iterable[Row]) -> list[tuple[str, tuple[Geometry, ...]]]:
        told = [(row["digest"], self.guard.known(query_from_line(row["query"]))) for row in rows]
        return [(digest, geometries) for digest, geometries in told if geometries is not None]
