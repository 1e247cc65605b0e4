"""The record searched and counted, for methodologists: lines by what was asked, by whom, how it ended, and when."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, cast, func, select

from discreet.errors import InputError, listed
from discreet.policy import Query
from discreet.server.record.record_lines import REFUSED, RELEASED
from discreet.server.record.store import Row, Store
from discreet.server.schema import record

OUTCOMES = ("", RELEASED, REFUSED)
ON_PAGE = 50
MOST_EXPORTED = 100_000
HOUR = 3600
COLUMNS = ("when", "who", "asked", "outcome", "rule", "guard", "policy", "data", "digest")


@dataclass(frozen=True)
class RecordSearch:
    """What the lines of the record are searched for; an empty part is not looked at.

    ``words`` is text of a query, ``since`` a date (2026-11-16), from its first moment in UTC.
    """

    words: str = ""
    who: str = ""
    outcome: str = ""
    rule: str = ""
    since: str = ""
    page: int = 1

    def __post_init__(self) -> None:
        if self.outcome not in OUTCOMES:
            raise InputError(f"outcome is one of {listed(OUTCOMES[1:])}")
        if self.page < 1:
            raise InputError("pages are numbered from 1")
        self.first_moment()

    def first_moment(self) -> float | None:
        """The moment from which lines are wanted."""
        if not self.since:
            return None
        try:
            return datetime.strptime(self.since, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
        except ValueError:
            raise InputError("since is a date, written 2026-11-16") from None

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> RecordSearch:
        """From the parameters of an address."""
        texts = {name: fields.get(name, "")[:200] for name in ("words", "who", "outcome", "rule", "since")}
        page = fields.get("page", "1")
        if not page.isascii() or not page.isdigit() or len(page) > 6:
            raise InputError("page is a number")
        return cls(**texts, page=int(page))

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of an address, but for the page."""
        return {name: text for name, text in asdict(self).items() if text and name != "page"}

    @property
    def conditions(self) -> list[ColumnElement[bool]]:
        """The same for the database."""
        wanted: list[ColumnElement[bool]] = []
        for word in self.words.split():
            wanted.append(record.c.query.contains(word, autoescape=True))
        if self.who:
            wanted.append(record.c.who.contains(self.who, autoescape=True))
        if self.outcome:
            wanted.append(record.c.outcome == self.outcome)
        if self.rule:
            wanted.append(record.c.rule == self.rule)
        if (first := self.first_moment()) is not None:
            wanted.append(record.c.at >= first)
        return wanted


def apart_from(others: Collection[str]) -> ColumnElement[bool]:
    """Lines of no edition of the ``others``: data sets that one store keeps the record of, too."""
    return record.c.data.not_in(sorted(others))


def found_lines(store: Store, search: RecordSearch, others: Collection[str] = ()) -> tuple[int, list[dict[str, Any]]]:
    """How many lines there are, and those of a page, the newest first."""
    conditions = (*search.conditions, apart_from(others))
    (total,) = store.rows(select(func.count().label("n")).select_from(record).where(*conditions))
    wanted = select(record).where(*conditions).order_by(record.c.id.desc())
    rows = store.rows(wanted.limit(ON_PAGE).offset((search.page - 1) * ON_PAGE))
    return int(total["n"]), [readable_line(row) for row in rows]


def readable_line(row: Row) -> dict[str, Any]:
    """A line as people read it."""
    when = datetime.fromtimestamp(row["at"], UTC).strftime("%Y-%m-%d %H:%M:%S")
    return {**row, "when": when, "asked": str(Query.from_dict(json.loads(row["query"])))}


def exported_csv(store: Store, search: RecordSearch, others: Collection[str] = ()) -> bytes:
    """All lines of a search as CSV, the newest first."""
    wanted = select(record).where(*search.conditions, apart_from(others))
    wanted = wanted.order_by(record.c.id.desc()).limit(MOST_EXPORTED)
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, COLUMNS, extrasaction="ignore")
    writer.writeheader()
    for row in store.rows(wanted):
        writer.writerow(readable_line(row))
    return buffer.getvalue().encode()


def rules_in_record(store: Store, others: Collection[str] = ()) -> list[str]:
    """The rules by which something was refused."""
    wanted = select(record.c.rule).where(record.c.rule != "", apart_from(others)).distinct().order_by(record.c.rule)
    return [str(row["rule"]) for row in store.rows(wanted)]


def refused_by_rule(store: Store, since: float, others: Collection[str] = ()) -> list[tuple[str, int]]:
    """How often each rule refused since a moment, the most often first."""
    number = func.count().label("n")
    wanted = select(record.c.rule, number).where(record.c.outcome == REFUSED, record.c.at >= since, apart_from(others))
    rows = store.rows(wanted.group_by(record.c.rule).order_by(number.desc()))
    return [(str(row["rule"]), int(row["n"])) for row in rows]


def asked_by_hour(
    store: Store, others: Collection[str] = (), hours: int = 24, now: float | None = None
) -> list[tuple[str, int, int]]:
    """For each of the last hours its beginning (UTC), and how many tables were released and refused in it."""
    last = int((time.time() if now is None else now) // HOUR)
    hour = (cast(record.c.at, BigInteger) // HOUR).label("hour")
    wanted = select(hour, record.c.outcome, func.count().label("n"))
    wanted = wanted.where(record.c.at >= (last - hours + 1) * HOUR, apart_from(others))
    rows = store.rows(wanted.group_by(hour, record.c.outcome))
    counts = {(int(row["hour"]), str(row["outcome"])): int(row["n"]) for row in rows}
    return [
        (
            datetime.fromtimestamp(one * HOUR, UTC).strftime("%H:%M"),
            counts.get((one, RELEASED), 0),
            counts.get((one, REFUSED), 0),
        )
        for one in range(last - hours + 1, last + 1)
    ]


def first_answers(store: Store, others: Collection[str] = ()) -> Sequence[Row]:
    """For each edition of the data, by its name, when it was first asked and last, and how often."""
    first, last = func.min(record.c.at).label("first"), func.max(record.c.at).label("last")
    wanted = select(record.c.data, first, last, func.count().label("n")).where(apart_from(others))
    return store.rows(wanted.group_by(record.c.data).order_by(first))
