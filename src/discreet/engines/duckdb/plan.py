"""A Grouping as SQL, and its answer as arrays.

Records are grouped by their raw columns and only the groups are looked up in the codebook: checking codes costs
nothing per record. Unusable numbers become NULL, which a count of non-NULLs finds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.engines.duckdb.source import VIEW
from discreet.engines.duckdb.sql import MODULUS, Column, literal, rank_within, share_of_records
from discreet.engines.protocol import (
    PRODUCT_DECIMALS,
    WEIGHT_DECIMALS,
    CountedGroups,
    Grouping,
    Hmac,
    Key,
    SpanningParts,
    cell_order,
)

_SUMS = {"total": "x", "weight": "w", "weighted_total": "wx", "key": "r", "value_key": "rx", "givers": "gx"}
_KEYS = ("r", "rx")  # sums that wrap around


def register_codes(cursor: Any, name: str, key: Key) -> None:
    """The codes of a key as a small table (code, place)."""
    import pyarrow as pa

    places = np.arange(len(key.codes), dtype=np.int32)
    cursor.register(name, pa.table({"code": pa.array(key.codes, pa.string()), "place": places}))


@dataclass(frozen=True, eq=False)
class Plan:
    """The SQL of one Grouping over known columns, for all cells or one of several shares of them."""

    grouping: Grouping
    columns: Mapping[str, Column]
    decimals: int
    share: tuple[int, int] = (0, 1)

    @property
    def divisible(self) -> bool:
        """Whether a share of the cells can be had alone: not where a holding may stand in cells of several shares."""
        return bool(self.grouping.keys) and self.grouping.contributor is None

    # -- records ------------------------------------------------------------------------------------------------

    @cached_property
    def where(self) -> str:
        """The filters, or nothing."""
        tests = []
        for key, codes in self.grouping.where:
            column = self.columns[key.column]
            code = column.key(key.missing) if key.missing is not None else column.text
            tests.append(f"({code}) IN ({', '.join(literal(c) for c in codes) or 'NULL'})")
        return "WHERE " + " AND ".join(tests) if tests else ""

    @cached_property
    def numbers(self) -> dict[str, str]:
        """What each record brings, by short name: x magnitude, w weight, wx their product, r record key, rx the
        record key of one that gives something to the magnitude, gx whether one does."""
        g, columns = self.grouping, {}
        if g.magnitude is not None:
            columns["x"] = self.columns[g.magnitude].fixed(self.decimals)
        if g.weight is not None:
            columns["w"] = self.columns[g.weight].weight
        if "x" in columns and g.weight is not None:
            columns["wx"] = self.columns[g.weight].product(columns["x"])
        if isinstance(g.record_key, Hmac):
            columns["r"] = self.columns[g.record_key.unit].hmac
        elif g.record_key is not None:
            columns["r"] = self.columns[g.record_key].record_key
        if "x" in columns and "r" in columns:
            columns["rx"] = f"CASE WHEN {columns['x']} = 0 THEN 0 ELSE {columns['r']} END"
            columns["gx"] = f"CASE WHEN {columns['x']} = 0 THEN 0 ELSE 1 END"
        return columns

    @cached_property
    def _records(self) -> str:
        g = self.grouping
        parts = [f"{self.columns[key.column].key(key.missing)} AS k{i}" for i, key in enumerate(g.keys)]
        parts += [f"{sql} AS {name}" for name, sql in self.numbers.items()]
        if g.contributor is not None:
            column = self.columns[g.contributor]
            parts.append(f"CASE WHEN NOT {column.missing} THEN {column.sql} END AS h")
        return f"(SELECT {', '.join(parts) or '1'} FROM {VIEW} {self.where})"

    # -- groups -------------------------------------------------------------------------------------------------

    @property
    def _raw(self) -> list[str]:
        return [f"k{i}" for i in range(len(self.grouping.keys))]

    def _one(self, fixed: str, number: str, weight: str) -> str:
        """A contribution as something ``max`` can compare: size first, then lower contributor number, then weight."""
        g = self.grouping
        fields = {"e": rank_within(fixed)}
        if g.contributor is not None:
            fields["c"] = f"-({number})"
        if g.weight is not None:
            fields["w"] = f"({weight})::DOUBLE"
        if len(fields) == 1:
            return fields["e"]
        return "{" + ", ".join(f"'{k}': {v}" for k, v in fields.items()) + "}"

    @property
    def _by_record(self) -> str:
        """Groups when every record is its own contributor."""
        parts = [*self._raw, "count(*) AS n", "count(*) AS contributors"]
        parts += [f"sum({s}) AS {s}, count({s}) AS n{s}" for s in self.numbers]
        if self.grouping.top:
            parts.append(f"max({self._one('x', '', f'w / 1e{WEIGHT_DECIMALS}')}, {self.grouping.top}) AS t")
        return self._grouped(parts, f"{self._records}{self._shared}", self._raw)

    @property
    def _shared(self) -> str:
        return "" if self.share[1] == 1 else f" WHERE {share_of_records(self._raw, *self.share)}"

    def _grouped(self, parts: list[str], source: str, by: list[str]) -> str:
        group = f"GROUP BY {', '.join(by)}" if by else "HAVING count(*) > 0"
        return f"SELECT {', '.join(parts)} FROM {source} {group}"

    def _merge(self, cursor: Any) -> str:
        """Groups when holdings count as one: first each one's sum in each cell, then the cells."""
        g = self.grouping
        parts = [*self._raw, "h", "count(*) AS n"]
        parts += [f"sum({s}){'' if s in _KEYS else '::BIGINT'} AS {s}, count({s}) AS n{s}" for s in self.numbers]
        if g.top:
            loose = self._one("x", "-1::BIGINT", f"w / 1e{WEIGHT_DECIMALS}")
            parts.append(f"max({loose}, {g.top}) FILTER (h IS NULL) AS loose")
        merged = self._grouped(parts, self._records, [*self._raw, "h"])
        cursor.execute(f"CREATE TEMP TABLE merged AS {merged}", self._parameters)
        cursor.execute(
            "CREATE TEMP TABLE holders AS SELECT h, count(*) > 1 AS spans, row_number() OVER (ORDER BY h) - 1 AS id "
            "FROM merged WHERE h IS NOT NULL GROUP BY h"
        )
        parts = [*self._raw, "sum(n)::BIGINT AS n"]
        parts += [f"sum({s}) AS {s}, sum(n{s})::BIGINT AS n{s}" for s in self.numbers]
        parts.append("count(*) FILTER (NOT spans) + coalesce(sum(n) FILTER (h IS NULL), 0) AS contributors")
        if g.top:
            weight = f"CASE WHEN x = 0 THEN 1 ELSE wx / (x * 1e{PRODUCT_DECIMALS}) END"
            held = f"max({self._one('x', 'id', weight)}, {g.top}) FILTER (NOT spans)"
            # at most one row of a cell has records without a holding; `max` of its list is that list
            parts.append(
                f"list_reverse_sort(list_concat(coalesce({held}, []), coalesce(any_value(loose), [])))[1:{g.top}] AS t"
            )
        return self._grouped(parts, "merged LEFT JOIN holders USING (h)", self._raw)

    # -- answer -------------------------------------------------------------------------------------------------

    @property
    def _parameters(self) -> dict[str, bytes] | None:
        if not isinstance(self.grouping.record_key, Hmac):
            return None
        inner, outer = self.grouping.record_key.pads()
        return {"inner": inner, "outer": outer}

    @cached_property
    def _places(self) -> tuple[str, str]:
        """Positions of codes, -1 for those not in the codebook: what to select, and the joins that find them."""
        select, joins = [], []
        for i, key in enumerate(self.grouping.keys):
            kind = self.columns[key.column].kind if key.missing is None else "VARCHAR"
            code = Column(key.column, kind, f"k{i}").text
            select.append(f"coalesce(p{i}.place, -1) AS c{i}")
            joins.append(f"LEFT JOIN p{i} ON p{i}.code = {code}")
        return ", ".join(select), " ".join(joins)

    def run(self, cursor: Any) -> CountedGroups | None:
        """The inner cells, or None if any record cannot be used."""
        for i, key in enumerate(self.grouping.keys):
            register_codes(cursor, f"p{i}", key)
        merging = self.grouping.contributor is not None
        groups = self._merge(cursor) if merging else self._by_record
        select, joins = self._places
        parts = [select] if select else []
        parts += ["n", "contributors::BIGINT AS contributors", *(f"n{s}" for s in self.numbers)]
        parts += [f"{s}::BIGINT AS {s}" for s in self.numbers if s not in _KEYS]
        wrapped = [s for s in _KEYS if s in self.numbers]
        parts += [f"(({s} % {MODULUS} + {MODULUS}) % {MODULUS})::UBIGINT AS {s}" for s in wrapped]
        parts += self._top_parts()
        sql = f"SELECT {', '.join(parts)} FROM ({groups}) {joins}"
        answer = cursor.execute(sql, None if merging else self._parameters).fetchnumpy()
        codes = self._codes(answer)
        if (codes < 0).any() or any((answer[f"n{s}"] != answer["n"]).any() for s in self.numbers):
            return None
        flat = cell_order(codes, self.sizes)
        order = np.argsort(flat)
        return self._groups(answer, codes, order, self._spanning(cursor, codes[order]) if merging else None)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Codes per key."""
        return tuple(len(key.codes) for key in self.grouping.keys)

    def _codes(self, answer: Mapping[str, Array]) -> Array:
        codes = np.empty((len(next(iter(answer.values()))), len(self.grouping.keys)), np.int32)
        for i in range(codes.shape[1]):
            codes[:, i] = answer[f"c{i}"]
        return codes

    def _top_parts(self) -> list[str]:
        """The lists of largest contributions as plain columns: no Python object per cell."""
        g, parts = self.grouping, []
        bare = g.contributor is None and g.weight is None
        for j in range(1, g.top + 1):
            parts.append(f"coalesce(t[{j}]{'' if bare else '.e'}, -1)::BIGINT AS e{j}")
            if g.weight is not None:
                parts.append(f"coalesce(t[{j}].w, 'nan'::DOUBLE) AS w{j}")
            if g.contributor is not None:
                parts.append(f"coalesce(-t[{j}].c, -1)::BIGINT AS h{j}")
        return parts

    def _groups(
        self, answer: Mapping[str, Array], codes: Array, order: Array, spanning: SpanningParts | None
    ) -> CountedGroups:
        g = self.grouping
        sums = {name: answer[s][order] for name, s in _SUMS.items() if s in self.numbers}
        tops: dict[str, Array] = {}
        if g.top:
            every = range(1, g.top + 1)
            ranks = np.stack([answer[f"e{j}"][order] for j in every], axis=1)
            size = (ranks + 1) // 2 / 10**self.decimals
            tops["top_value"] = np.where(ranks < 0, np.nan, np.where(ranks % 2 == 1, -size, size))
            if g.weight is not None:
                tops["top_weight"] = np.stack([answer[f"w{j}"][order] for j in every], axis=1)
            tops["top_contributor"] = (
                np.full(ranks.shape, -1, np.int64)
                if g.contributor is None
                else np.stack([answer[f"h{j}"][order] for j in every], axis=1)
            )
        return CountedGroups(
            codes=codes[order],
            count=answer["n"][order],
            contributors=answer["contributors"][order],
            decimals=self.decimals,
            spanning=spanning,
            **sums,
            **tops,
        )

    def _spanning(self, cursor: Any, codes: Array) -> SpanningParts:
        select, joins = self._places
        values = [s for s in ("x", "wx") if s in self.numbers]
        parts = [*([select] if select else []), "id", *values]
        answer = cursor.execute(
            f"SELECT {', '.join(parts)} FROM merged JOIN holders USING (h) {joins} WHERE spans"
        ).fetchnumpy()
        mine = self._codes(answer)
        both = cell_order(np.concatenate([codes, mine]), self.sizes)
        group = np.searchsorted(both[: len(codes)], both[len(codes) :])
        order = np.lexsort((answer["id"], group))
        return SpanningParts(
            group=group[order],
            contributor=answer["id"][order],
            value=answer["x"][order] if "x" in values else None,
            weighted=answer["wx"][order] if "wx" in values else None,
        )
