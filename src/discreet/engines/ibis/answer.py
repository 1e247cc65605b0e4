"""What a database answered, as arrays: codes looked up, halves put together, holdings numbered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.engines.checks import TOO_LARGE
from discreet.engines.ibis.columns import HALF
from discreet.engines.ibis.plan import HELD, NONE, Plan
from discreet.engines.protocol import CountedGroups, SpanningParts, cell_order
from discreet.errors import InputError

_SUMS = {"total": "x", "weight": "w", "weighted_total": "wx", "givers": "gx"}
_KEYS = {"key": "r", "value_key": "rx"}
_MOST_RECORDS = 2**31  # of one cell, for sums of halves to fit
_MOST_RANKED = 2**62  # as in the engine in this process


def places(texts: Any, codes: Iterable[str]) -> Array:
    """Where each text stands among codes, -1 for those that are not there and for NULL.

    >>> import pyarrow as pa
    >>> places(pa.chunked_array([["m", None, "f", "x"]]), ("f", "m")).tolist()
    [1, -1, 0, -1]
    """
    encoded = texts.combine_chunks().dictionary_encode()
    if hasattr(encoded, "chunks"):
        encoded = encoded.unify_dictionaries().chunk(0) if encoded.num_chunks else texts.type.wrap_array([])
    where = {code: k for k, code in enumerate(codes)}
    place = np.array([*(where.get(text, -1) for text in encoded.dictionary.to_pylist()), -1], np.int32)
    indices = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
    positions: Array = place[indices]
    return positions


@dataclass(frozen=True, eq=False)
class Answer:
    """The rows of a Plan's expression."""

    plan: Plan
    table: Any

    @cached_property
    def codes(self) -> Array:
        """int32[rows, keys], -1 for what is not in the codebook."""
        keys = self.plan.grouping.keys
        codes = np.empty((len(self.table), len(keys)), np.int32)
        for i, key in enumerate(keys):
            codes[:, i] = places(self.table[f"c{i}"], key.codes)
        return codes

    def _column(self, name: str) -> Array:
        values: Array = self.table[name].to_numpy()
        return values

    @property
    def usable(self) -> bool:
        """Whether every code is in the codebook and every number could be read."""
        n = self._column("n")
        return not (self.codes < 0).any() and all((self._column(f"{s}_n") == n).all() for s in self.plan.numbers)

    def _sum(self, name: str, rows: Array) -> Array:
        low, high = self._column(f"{name}_low")[rows], self._column(f"{name}_high")[rows]
        high = high + (low >> 32)
        if ((high < -(HALF // 2)) | (high >= HALF // 2)).any():
            raise InputError(TOO_LARGE)
        total: Array = high * HALF + (low & (HALF - 1))
        return total

    def groups(self) -> CountedGroups:
        """Of usable records."""
        if (self._column("n") >= _MOST_RECORDS).any():
            raise InputError(f"a cell has {_MOST_RECORDS:,} records or more; ask for more detail")
        if any(self._column(name).any() for name in self.table.column_names if name.endswith("_large")):
            raise InputError(TOO_LARGE)
        part = self._column("part")
        sizes = tuple(len(key.codes) for key in self.plan.grouping.keys)
        flat = cell_order(self.codes, sizes)
        cells, parts = (np.flatnonzero(part == p) for p in (0, 1))
        cells = cells[np.argsort(flat[cells])]
        sums: dict[str, Any] = {name: self._sum(s, cells) for name, s in _SUMS.items() if s in self.plan.numbers}
        for name, s in _KEYS.items():
            if s not in self.plan.numbers:
                continue
            high, low = (self._column(f"{s}_{half}")[cells].astype(np.uint64) for half in ("high", "low"))
            sums[name] = high * np.uint64(HALF) + low  # wraps around, as sums of keys should
        return CountedGroups(
            codes=self.codes[cells],
            count=self._column("n")[cells],
            contributors=self._column("contributors")[cells],
            decimals=self.plan.decimals,
            spanning=self._spanning(parts, flat[cells], flat[parts]),
            **sums,
            **self._top(cells),
        )

    # -- contributions ------------------------------------------------------------------------------------------

    def _top(self, rows: Array) -> dict[str, Array]:
        g = self.plan.grouping
        if not g.top:
            return {}
        every = range(g.top)
        who, value = (np.stack([self._column(f"{name}{j}")[rows] for j in every], axis=1) for name in ("who", "value"))
        if (np.abs(value) >= _MOST_RANKED).any():
            raise InputError(TOO_LARGE)
        size = np.abs(value) / 10**self.plan.decimals
        columns = {"top_value": np.where(who == NONE, np.nan, np.where(value < 0, -size, size))}
        if g.weight is not None:
            weight = np.stack([self._column(f"weight{j}")[rows] for j in every], axis=1)
            columns["top_weight"] = np.where(who == NONE, np.nan, weight)
        number = np.full(who.shape, -1, np.int64)
        if g.contributor is not None:
            for j in every:
                held = who[:, j] == HELD
                number[held, j] = self._number(f"h{j}", rows[held])
        columns["top_contributor"] = number
        return columns

    def _spanning(self, rows: Array, cells: Array, mine: Array) -> SpanningParts | None:
        if self.plan.grouping.contributor is None:
            return None
        group, number = np.searchsorted(cells, mine), self._number("h", rows)
        order = np.lexsort((number, group))
        value, weighted = (self._sum(s, rows)[order] if s in self.plan.numbers else None for s in ("x", "wx"))
        return SpanningParts(group=group[order], contributor=number[order], value=value, weighted=weighted)

    @cached_property
    def _holders(self) -> dict[Any, int]:
        """Holdings by number, in their order; the answer keeps the numbers only."""
        columns = ["h", *(f"h{j}" for j in range(self.plan.grouping.top))]
        names = {value for name in columns for value in self.table[name].unique().to_pylist()}
        column = self.plan.column(self.plan.grouping.contributor or "")
        numeric = column.family == "decimal" or column.kind.is_uint64()
        ordered = sorted(names - {""}, key=Decimal if numeric else None)
        return {value: number for number, value in enumerate(ordered)}

    def _number(self, name: str, rows: Array) -> Array:
        values = self.table[name].take(rows).to_pylist()
        return np.array([self._holders[value] for value in values], np.int64)
