"""What is wrong with records, counted by the database that holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from discreet.engines.checks import (
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
    unknown_code,
)
from discreet.engines.ibis.answer import places
from discreet.engines.ibis.columns import Column, finite, infinite, not_a_number
from discreet.engines.ibis.plan import Plan
from discreet.engines.protocol import Hmac, Key

Fetch = Callable[[Any], Any]
Tests = list[tuple[Any, Words]]  # true for records with a fault, and what to say of them


def faults(plan: Plan, fetch: Fetch) -> Iterator[str]:
    """A sentence for every column of a plan that has faults."""
    g, kept = plan.grouping, plan.kept
    codes = [code_fault(key, plan.column(key.column, kept), kept, fetch) for key in g.keys]
    tests: dict[str, Tests] = {}
    if g.magnitude is not None:
        c = plan.column(g.magnitude, kept)
        tests[f"magnitude column {c.name!r}"] = _number_tests(c, c.fixed(plan.decimals))
    if g.weight is not None:
        c = plan.column(g.weight, kept)
        tests[f"weight column {c.name!r}"] = _number_tests(c, c.weight, weight=True)
    if isinstance(g.record_key, Hmac):
        c = plan.column(g.record_key.unit, kept)
        tests[f"unit column {c.name!r}"] = _key_tests(c, c.text)
    elif g.record_key is not None:
        c = plan.column(g.record_key, kept)
        tests[f"record key column {c.name!r}"] = _key_tests(c, c.record_key)
    return (fault for fault in (*codes, *_counted(tests, kept, fetch)) if fault)


def code_fault(key: Key, c: Column, table: Any, fetch: Fetch) -> str | None:
    """Codes that are not in the codebook, and missing values without a category."""
    groups = table.select(k=c.raw).group_by("k").aggregate(n=lambda t: t.count())
    held = Column(c.name, groups.k, c.dialect)
    codes = fetch(groups.select(code=held.text, missing=held.missing, n=groups.n))
    n, missing = codes["n"].to_numpy(), codes["missing"].to_numpy()
    absent = codes["code"].is_null().to_numpy()
    wrong = ~absent & (places(codes["code"], key.codes) < 0)
    counts, words = [np.sum(n[wrong]), np.sum(n[absent & ~missing])], [unknown_code(key), NOT_WHOLE]
    if key.missing is None:
        counts, words = [*counts, np.sum(n[missing])], [*words, NO_CODE]
    return sentence(f"column {key.column!r} of dimension {key.name!r}", [int(count) for count in counts], words)


def _number_tests(c: Column, usable: Any, *, weight: bool = False) -> Tests:
    n = c.number
    tests: Tests = [
        (c.missing | not_a_number(n), NO_NUMBER),
        (~c.missing & n.isnull() & ~not_a_number(n), TEXT),  # Ibis on Spark takes NaN for NULL
        (infinite(n), INFINITE),
    ]
    if weight:
        tests.append(((n < 0) & finite(n), NEGATIVE))
    tests.append((finite(n) & usable.isnull() & (n >= 0 if weight else True), LARGE))
    return tests


def _key_tests(c: Column, usable: Any) -> Tests:
    return [(c.missing, NO_VALUE), (~c.missing & usable.isnull(), NO_KEY)]


def _counted(tests: dict[str, Tests], table: Any, fetch: Fetch) -> Iterator[str | None]:
    """All columns of numbers in one reading of the records."""
    if not tests:
        return
    every = [test for group in tests.values() for test, _ in group]
    marks = table.select(**{f"f{k}": test for k, test in enumerate(every)})
    row = fetch(marks.aggregate(**{name: marks.count(where=marks[name]) for name in marks.columns})).to_pylist()[0]
    counts = iter([int(row[f"f{k}"]) for k in range(len(every))])
    for what, group in tests.items():
        yield sentence(what, [next(counts) for _ in group], [words for _, words in group])
