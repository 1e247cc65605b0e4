"""The dissemination record: who asked what and what became of it, never a value. A second program can replay it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.base.arguments import checked
from discreet.base.files import append_private
from discreet.base.verdicts import Verdict
from discreet.data.microdata import Microdata
from discreet.errors import InputError, Refused
from discreet.policy.answering import answer
from discreet.policy.policy import Policy
from discreet.policy.query import Query
from discreet.release import Release
from discreet.tables.table import Table

SAME, DIFFERS = "same", "differs"

RELEASED, RELEASED_AS_IT_IS, REFUSED = "released", "released as it is", "refused"


@dataclass(frozen=True, kw_only=True)
class RecordEntry:
    """One answer. ``outcome`` is "released" ("released as it is" where nothing protects the table) with the SHA-256 of
    the CSV bytes, or "refused" with the rule."""

    when: str
    who: str
    query: dict[str, Any]
    policy: str
    data: str
    outcome: str
    rule: str = ""
    digest: str = ""


def entry(query: Query, policy: Policy, data: str, who: str, result: Release | Refused) -> RecordEntry:
    """The entry for an answer."""
    head = {"when": datetime.now(UTC).isoformat(timespec="seconds"), "who": who, "data": data}
    if isinstance(result, Refused):
        return RecordEntry(query=query.to_dict(), policy=policy.digest, outcome=REFUSED, rule=result.rule, **head)
    digest = hashlib.sha256(result.to_csv()).hexdigest()
    return RecordEntry(query=query.to_dict(), policy=policy.digest, outcome=outcome_of(result), digest=digest, **head)


def outcome_of(result: Release | Refused) -> str:
    """What became of a question, in a word or four."""
    if isinstance(result, Refused):
        return REFUSED
    return RELEASED_AS_IT_IS if result.as_it_is else RELEASED


def append(path: str | Path, entry: RecordEntry) -> None:
    """Add one line to the record in one write, so that a line is there whole or not at all."""
    append_private(path, (json.dumps(asdict(entry), sort_keys=True, ensure_ascii=False) + "\n").encode())


def read_record(path: str | Path) -> Iterator[RecordEntry]:
    """The entries of a record, oldest first."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read the record {str(path)!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"the record {str(path)!r} is not text in UTF-8") from None
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            yield RecordEntry(**json.loads(line))
        except (TypeError, ValueError):
            raise InputError(f"the record's line {number} is not an entry") from None


@checked
def answer_recorded(
    data: Microdata | Table, query: Query | str, policy: Policy, path: str | Path, *, who: str = "", version: str = ""
) -> Release:
    r"""``answer``, with its outcome written to the record before it is given back.

    >>> import discreet as dc
    >>> import tempfile
    >>> policy = dc.policy.parse_policy('[[method]]\nname = "random-round"\nseed = 1')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = answer_recorded(dc.datasets.census(500), "sex", policy, f"{folder}/record.jsonl", who="anna")
    ...     print([entry.outcome for entry in read_record(f"{folder}/record.jsonl")])
    ['released']
    """
    query = Query.of(query) if isinstance(query, str) else query
    try:
        release = answer(data, query, policy)
    except Refused as refused:
        append(path, entry(query, policy, version, who, refused))
        raise
    append(path, entry(query, policy, version, who, release))
    return release


@dataclass(frozen=True)
class Replayed:
    """What a replay found of one entry: "same", how it differs, or why it was not compared."""

    entry: RecordEntry
    found: str

    @property
    def verdict(self) -> Verdict:
        """Pass if the answer is the same, fail if it differs, unknown if it could not be compared."""
        return Verdict.of(fails=self.found.startswith(DIFFERS), unknown=self.found != SAME)


@checked
def replay(
    path: str | Path, data: Microdata | Table, policy: Policy | Sequence[Policy], *, version: str = ""
) -> Iterator[Replayed]:
    r"""Answer every query of a record again and compare: the same bytes, or the same refusal.

    Several policies where roles had one each; every line is answered by the policy that it names.

    >>> import discreet as dc
    >>> import tempfile
    >>> people = dc.datasets.census(500)
    >>> policy = dc.policy.parse_policy('[[method]]\nname = "random-round"\nseed = 1')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = answer_recorded(people, "sex", policy, f"{folder}/record.jsonl")
    ...     print([one.found for one in replay(f"{folder}/record.jsonl", people, policy)])
    ['same']
    """
    known = {one.digest: one for one in ([policy] if isinstance(policy, Policy) else policy)}
    for old in read_record(path):
        if (chosen := known.get(old.policy)) is None:
            yield Replayed(old, "another policy")
            continue
        if old.data != version:
            yield Replayed(old, "another data version")
            continue
        query = Query.from_dict(old.query)
        try:
            new = entry(query, chosen, version, old.who, answer(data, query, chosen))
        except Refused as refused:
            new = entry(query, chosen, version, old.who, refused)
        same = (new.outcome, new.rule, new.digest) == (old.outcome, old.rule, old.digest)
        yield Replayed(old, SAME if same else f"{DIFFERS}: now {new.outcome} {new.rule}".rstrip())
