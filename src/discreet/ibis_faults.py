"""What is wrong with records, counted by the database that holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from discreet.engine import Hmac, Key
from discreet.faults import (
    INFINITE,
    LARGE,
    NEGATIVE,
    NO_CODE,
    NO_KEY,
    NO_NUMBER,
    NO_VALUE,
    NOT_WHOLE,
    TEXT,
    Words,
    sentence,
    unknown,
)
from discreet.ibis_answer import places
from discreet.ibis_columns import Column, finite, infinite, not_a_number
from discreet.ibis_plan import Plan

Fetch = Callable[[Any], Any]


def faults(plan: Plan, fetch: Fetch) -> Iterator[str]:
    """A sentence for every column of a plan that has faults."""
    g, kept = plan.grouping, plan.kept
    found = [code_fault(key, plan.column(key.column, kept), kept, fetch) for key in g.keys]
    if g.magnitude is not None:
        c = plan.column(g.magnitude, kept)
        found.append(_number_fault("magnitude", c, c.fixed(plan.decimals), kept, fetch))
    if g.weight is not None:
        c = plan.column(g.weight, kept)
        found.append(_number_fault("weight", c, c.weight, kept, fetch))
    if isinstance(g.record_key, Hmac):
        c = plan.column(g.record_key.unit, kept)
        found.append(_key_fault("unit", c, c.text, kept, fetch))
    elif g.record_key is not None:
        c = plan.column(g.record_key, kept)
        found.append(_key_fault("record key", c, c.record_key, kept, fetch))
    return (fault for fault in found if fault)


def code_fault(key: Key, c: Column, table: Any, fetch: Fetch) -> str | None:
    """Codes that are not in the codebook, and missing values without a category."""
    groups = table.select(k=c.raw).group_by("k").aggregate(n=lambda t: t.count())
    held = Column(c.name, groups.k, c.dialect)
    found = fetch(groups.select(code=held.text, missing=held.missing, n=groups.n))
    n, missing = found["n"].to_numpy(), found["missing"].to_numpy()
    absent = found["code"].is_null().to_numpy()
    wrong = ~absent & (places(found["code"], key.codes) < 0)
    counts, words = [np.sum(n[wrong]), np.sum(n[absent & ~missing])], [unknown(key), NOT_WHOLE]
    if key.missing is None:
        counts, words = [*counts, np.sum(n[missing])], [*words, NO_CODE]
    return sentence(f"column {key.column!r} of dimension {key.name!r}", [int(count) for count in counts], words)


def _number_fault(role: str, c: Column, usable: Any, table: Any, fetch: Fetch) -> str | None:
    n, weight = c.number, role == "weight"
    tests: list[tuple[Any, Words]] = [
        (c.missing | not_a_number(n), NO_NUMBER),
        (~c.missing & n.isnull() & ~not_a_number(n), TEXT),  # Ibis on Spark takes NaN for NULL
        (infinite(n), INFINITE),
    ]
    if weight:
        tests.append(((n < 0) & finite(n), NEGATIVE))
    tests.append((finite(n) & usable.isnull() & (n >= 0 if weight else True), LARGE))
    return _counted(f"{role} column {c.name!r}", tests, table, fetch)


def _key_fault(role: str, c: Column, usable: Any, table: Any, fetch: Fetch) -> str | None:
    tests = [(c.missing, NO_VALUE), (~c.missing & usable.isnull(), NO_KEY)]
    return _counted(f"{role} column {c.name!r}", tests, table, fetch)


def _counted(what: str, tests: list[tuple[Any, Words]], table: Any, fetch: Fetch) -> str | None:
    marks = table.select(**{f"f{k}": test for k, (test, _) in enumerate(tests)})
    found = fetch(marks.aggregate(**{name: marks.count(where=marks[name]) for name in marks.columns}))
    return sentence(what, [int(count) for count in found.to_pylist()[0].values()], [words for _, words in tests])
