"""What can be wrong with records, as SQL that counts them: refusals name columns and counts, never a value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
from discreet.engines.duckdb.plan import Plan
from discreet.engines.duckdb.source import VIEW
from discreet.engines.duckdb.sql import Column
from discreet.engines.protocol import Hmac, Key


@dataclass(frozen=True)
class Fault:
    """Records that meet an SQL condition, and what to say of them."""

    test: str
    words: Words


@dataclass(frozen=True)
class Check:
    """Faults of one column. ``rows`` has the column and ``n``, how many records a row stands for."""

    what: str
    rows: str
    faults: tuple[Fault, ...]
    key: Key | None = None  # its codes are the table ``codes``

    @property
    def sql(self) -> str:
        return f"SELECT {', '.join(f'coalesce(sum(n) FILTER ({f.test}), 0)' for f in self.faults)} FROM {self.rows}"

    def sentence(self, counts: Sequence[int]) -> str | None:
        """How many records, and what is wrong with them; None if nothing is."""
        return sentence(self.what, counts, [fault.words for fault in self.faults])


def checks(plan: Plan) -> Iterator[Check]:
    """Everything that can be wrong with the records a plan reads."""
    g = plan.grouping
    for key in g.keys:
        yield code_check(key, plan.columns[key.column], plan.where)
    if g.magnitude is not None:
        c = plan.columns[g.magnitude]
        yield _number_check("magnitude", c, c.fixed(plan.decimals), plan.where)
    if g.weight is not None:
        c = plan.columns[g.weight]
        yield _number_check("weight", c, c.weight, plan.where)
    if isinstance(g.record_key, Hmac):
        c = plan.columns[g.record_key.unit]
        yield _key_check("unit", c, c.text, plan.where)
    elif g.record_key is not None:
        c = plan.columns[g.record_key]
        yield _key_check("record key", c, c.record_key, plan.where)


def code_check(key: Key, c: Column, where: str = "") -> Check:
    """Codes that are not in the codebook, and missing values without a category."""
    grouped = f"(SELECT {c.sql}, count(*) AS n FROM {VIEW} {where} GROUP BY {c.sql})"
    faults = [
        Fault("code IS NOT NULL AND place IS NULL", unknown_code(key)),
        Fault(f"NOT {c.missing} AND code IS NULL", NOT_WHOLE),
    ]
    if key.missing is None:
        faults.append(Fault(c.missing, NO_CODE))
    return Check(
        f"column {key.column!r} of dimension {key.name!r}",
        f"(SELECT *, {c.text} AS code FROM {grouped}) LEFT JOIN codes USING (code)",
        tuple(faults),
        key,
    )


def _number_check(role: str, c: Column, usable: str, where: str) -> Check:
    n, weight = c.number, role == "weight"
    faults = [
        Fault(f"{c.missing} OR isnan({n})", NO_NUMBER),
        Fault(f"NOT {c.missing} AND {n} IS NULL", TEXT),
        Fault(f"isinf({n})", INFINITE),
    ]
    if weight:
        faults.append(Fault(f"{n} < 0 AND isfinite({n})", NEGATIVE))
    large = f"isfinite({n}) AND ({usable}) IS NULL" + (f" AND {n} >= 0" if weight else "")
    faults.append(Fault(large, LARGE))
    return Check(f"{role} column {c.name!r}", _each(where), tuple(faults))


def _key_check(role: str, c: Column, usable: str, where: str) -> Check:
    faults = (Fault(c.missing, NO_VALUE), Fault(f"NOT {c.missing} AND ({usable}) IS NULL", NO_KEY))
    return Check(f"{role} column {c.name!r}", _each(where), faults)


def _each(where: str) -> str:
    return f"(SELECT *, 1 AS n FROM {VIEW} {where})"
