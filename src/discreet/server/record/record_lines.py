"""What is written of an answer, never a value: a line of the record, and one of what a caller was told."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Insert, insert, select

from discreet.policy.record import RecordEntry
from discreet.server.record.store import Store
from discreet.server.schema import asked, record

RELEASED, REFUSED = "released", "refused"
COLUMNS = tuple(field.name for field in fields(RecordEntry) if field.name not in ("when", "query"))
Line = tuple[str, dict[str, Any]]  # table of the store, and a row of it
STATEMENTS: dict[str, Insert] = {"asked": insert(asked), "record": insert(record)}


def record_line(entry: RecordEntry, guard: str = "") -> Line:
    """An entry of the dissemination record as a row."""
    row = {name: getattr(entry, name) for name in COLUMNS}
    row["at"] = datetime.fromisoformat(entry.when).timestamp()
    row["query"] = json.dumps(entry.query, sort_keys=True, ensure_ascii=False)
    return "record", {**row, "guard": guard[:200]}


def told_line(name: str, who: str, digest: str, canonical: str, flagged: bool) -> Line:
    """That somebody was told something, for the guard."""
    row = {"name": name, "who": who, "digest": digest, "query": canonical, "flagged": flagged}
    return "asked", {**row, "at": time.time(), "state": RELEASED}


def export(store: Store) -> Iterator[str]:
    """The record as lines that ``discreet replay`` reads, oldest first."""
    for row in store.rows(select(record).order_by(record.c.id)):
        when = datetime.fromtimestamp(row["at"], UTC).isoformat(timespec="seconds")
        columns = {k: row[k] for k in ("who", "policy", "data", "outcome", "rule", "digest")}
        entry = {"when": when, **columns, "query": json.loads(row["query"])}
        yield json.dumps(entry, sort_keys=True, ensure_ascii=False)
