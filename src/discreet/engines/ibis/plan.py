"""A Grouping as one Ibis expression: one statement, so that everything in an answer is of the same moment.

Its rows are inner cells (``part`` 0) and, where holdings are merged, the parts of those who span several (``part`` 1).
No column but texts is ever NULL, as not every way back from a database keeps whole numbers beside NULLs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discreet.engines.ibis.columns import Column, from_halves, halves, product, row_number, total
from discreet.engines.ibis.dialects import INNER, OUTER, by_bytes, digest_halves, fenced, hmac_digest
from discreet.engines.protocol import PRODUCT_DECIMALS, WEIGHT_DECIMALS, Grouping, Hmac

NONE, LOOSE, HELD = 0, 1, 2  # who stands at a rank: nobody, a record of its own, a holding


@dataclass(frozen=True, eq=False)
class Plan:
    """The expression of one Grouping over a table. ``pads`` is the one-row table of a secret's pads."""

    grouping: Grouping
    table: Any
    dialect: str
    decimals: int
    pads: Any = None

    def column(self, name: str, table: Any = None) -> Column:
        """A column of the source."""
        return Column(name, (self.table if table is None else table)[name], self.dialect)

    @cached_property
    def kept(self) -> Any:
        """The records that pass the filters."""
        import ibis

        table = self.table
        for key, codes in self.grouping.where:
            column = self.column(key.column, table)
            code = column.key(key.missing) if key.missing is not None else column.text
            table = table.filter(code.isin(list(codes)) if codes else ibis.literal(False))
        return table

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """What each record brings, by short name: x magnitude, w weight, wx their product, r record key, rx the
        record key of one that gives something to the magnitude, gx whether one does."""
        g = self.grouping
        weighted = g.magnitude is not None and g.weight is not None
        asked = {"x": g.magnitude is not None, "w": g.weight is not None, "wx": weighted, "r": g.record_key is not None}
        asked["rx"] = asked["gx"] = asked["x"] and asked["r"]
        return tuple(name for name, there in asked.items() if there)

    @property
    def raw(self) -> list[str]:
        """The columns to group by; the grand total is the group of a constant."""
        return [f"k{i}" for i in range(len(self.grouping.keys))] or ["k"]

    @cached_property
    def records(self) -> Any:
        """Keys and numbers of every record, under names of our own."""
        import ibis

        g, table = self.grouping, self.kept
        if isinstance(g.record_key, Hmac):
            table = table.cross_join(self.pads)
        columns = {f"k{i}": self.column(key.column, table).key(key.missing) for i, key in enumerate(g.keys)}
        columns = columns or {"k": ibis.literal("all")}
        if g.magnitude is not None:
            columns["x"] = self.column(g.magnitude, table).fixed(self.decimals)
        if g.weight is not None:
            columns["w"] = self.column(g.weight, table).weight
            columns["factor"] = self.column(g.weight, table).number
        if isinstance(g.record_key, Hmac):
            text = self.column(g.record_key.unit, table).text
            columns["digest"] = hmac_digest(self.dialect, text, table[INNER], table[OUTER])
        elif g.record_key is not None:
            columns["r"] = self.column(g.record_key, table).record_key
        if g.contributor is not None:
            holder = self.column(g.contributor, table)
            columns["h"] = ibis.cases((~holder.missing, holder.text if holder.family == "boolean" else holder.raw))
        return self._halved(fenced(self.dialect, table.select(**columns)))

    def _halved(self, table: Any) -> Any:
        """Numbers in halves too. Step by step, for a database to compute each once and not wherever it is used."""
        import ibis

        if "wx" in self.numbers:
            table = fenced(self.dialect, table.mutate(wx=product(table.x, table.factor)))
        columns: dict[str, Any] = {}
        for s in [s for s in self.numbers if s not in ("rx", "gx")]:
            keyed = s == "r" and "digest" in table.columns
            parts = digest_halves(self.dialect, table.digest) if keyed else halves(table[s])
            columns |= {f"{s}_high": parts[0], f"{s}_low": parts[1]}
        table = fenced(self.dialect, table.mutate(**columns)) if columns else table
        if "rx" not in self.numbers:
            return table
        given = {f"rx_{half}": ibis.cases((table.x == 0, 0), else_=table[f"r_{half}"]) for half in ("high", "low")}
        gives = ibis.cases((table.x == 0, 0), else_=1)
        return table.mutate(**given, gx_high=ibis.literal(0, "int64"), gx_low=gives)

    def _sums(self, table: Any) -> dict[str, Any]:
        """Sums of halves, and how many numbers could be used."""
        sums = {"n": table.count()}
        for s in self.numbers:
            high, low = table[f"{s}_high"], table[f"{s}_low"]
            sums |= {f"{s}_n": low.count(), f"{s}_high": total(high), f"{s}_low": total(low)}
        return sums

    # -- every record its own contributor -----------------------------------------------------------------------

    @property
    def expression(self) -> Any:
        """Everything, as one table."""
        return self._by_record if self.grouping.contributor is None else self._merged

    @property
    def _by_record(self) -> Any:
        records = self.records
        groups = records.group_by(self.raw).aggregate(**self._sums(records))
        groups = groups.mutate(contributors=groups.n)
        if self.grouping.top:
            groups = self._with_top(groups, records.select(*self.raw, **self._loose(records)))
        return self._finished(groups)

    def _loose(self, records: Any) -> dict[str, Any]:
        """What records give that are contributors of their own."""
        import ibis

        columns = {"value": records.x, "who": ibis.literal(LOOSE, "int64")}
        if self.grouping.weight is not None:
            columns["weight"] = records.w.cast("float64") / float(10**WEIGHT_DECIMALS)
        return columns

    def _with_top(self, groups: Any, contributions: Any) -> Any:
        """The largest contributions as columns; ``given`` has keys, value, who, and weight and holder if there are any.

        By size, then the positive ones, records of their own before holdings, holdings in their order, by weight.
        """
        import ibis

        held = "h" in contributions.columns
        order = [ibis.desc(contributions.value.abs()), ibis.desc(contributions.value)]
        if held:
            ordered = by_bytes(self.dialect, contributions.h) if contributions.h.type().is_string() else contributions.h
            order += [ibis.asc(contributions.who), ibis.asc(ordered)]
        if "weight" in contributions.columns:
            order.append(ibis.desc(contributions.weight))
        window = ibis.window(group_by=self.raw, order_by=order, rows=(None, 0))
        ranked = contributions.mutate(place=row_number().over(window))
        ranked = ranked.filter(ranked.place <= self.grouping.top)
        columns: dict[str, Any] = {}
        for j in range(self.grouping.top):
            here = ranked.place == j + 1
            columns[f"who{j}"] = ranked.who.max(where=here)
            for name in (name for name in ("value", "weight", "h") if name in contributions.columns):
                columns[f"{name}{j}"] = ranked[name].max(where=here)
        best = ranked.group_by(self.raw).aggregate(**columns).rename({f"of_{k}": k for k in self.raw})
        joined = groups.left_join(best, [groups[k] == best[f"of_{k}"] for k in self.raw])
        return joined.drop([f"of_{k}" for k in self.raw])

    # -- holdings count as one ----------------------------------------------------------------------------------

    @cached_property
    def _parts(self) -> Any:
        """Each holding's sums in each cell, and whether it stands in more than one; records without one together."""
        import ibis

        records = self.records
        holdings = records.group_by([*self.raw, "h"]).aggregate(**self._sums(records))
        cells = holdings.count().over(ibis.window(group_by="h"))
        spans = ibis.cases((holdings.h.notnull() & (cells > 1), 1), else_=0).cast("int64")
        sums = {s: from_halves(holdings[f"{s}_high"], holdings[f"{s}_low"]) for s in self.numbers if s in {"x", "wx"}}
        return holdings.mutate(spans=spans, **sums)

    @property
    def _merged(self) -> Any:
        import ibis

        parts = self._parts
        alone = parts.h.notnull() & (parts.spans == 0)
        sums = {name: total(parts[name]) for name in ("n", *self._measures)}
        sums["contributors"] = parts.count(where=alone) + total(parts.n, where=parts.h.isnull())
        products = [s for s in ("x", "wx") if s in self.numbers]
        sums |= {f"{s}_large": parts.count(where=parts[s].isnull() & parts.h.notnull()) for s in products}
        groups = parts.group_by(self.raw).aggregate(**sums)
        if self.grouping.top:
            groups = self._with_top(groups, self._contributions(parts.filter(alone)))
        spanning = parts.filter(parts.spans == 1)
        more = {f"{s}_large": ibis.literal(0, "int64") for s in products}
        spanning = spanning.mutate(contributors=ibis.literal(0, "int64"), **more)
        cells = self._finished(groups, held=parts.h.type())
        return cells.union(self._finished(spanning, held=parts.h.type(), part=1).select(*cells.columns))

    def _contributions(self, alone: Any) -> Any:
        """Holdings that stand in one cell, and records without a holding."""
        import ibis

        columns = {"value": alone.x, "who": ibis.literal(HELD, "int64")}
        if self.grouping.weight is not None:
            ratio = alone.wx.cast("float64") / (alone.x.cast("float64") * float(10**PRODUCT_DECIMALS))
            columns["weight"] = ibis.cases((alone.x == 0, 1.0), else_=ratio)
        held = alone.select(*self.raw, "h", **columns)
        records = self.records.filter(self.records.h.isnull())
        loose = records.select(*self.raw, "h", **self._loose(records))
        return held.union(loose.select(*held.columns))

    @property
    def _measures(self) -> list[str]:
        return [f"{s}_{what}" for s in self.numbers for what in ("n", "high", "low")]

    # -- answer -------------------------------------------------------------------------------------------------

    def _finished(self, groups: Any, held: Any = None, part: int = 0) -> Any:
        """What comes back: codes as text, whole numbers, and who holds what as text or number."""
        import ibis

        columns: dict[str, Any] = {"part": ibis.literal(part, "int64")}
        for i, key in enumerate(self.grouping.keys):
            columns[f"c{i}"] = Column(key.column, groups[f"k{i}"], self.dialect).text
        names = ["n", "contributors", *self._measures, *(c for c in groups.columns if c.endswith("_large"))]
        columns |= {name: groups[name].cast("int64") for name in names}
        if held is not None:
            columns["h"] = _holder(groups.h if part else ibis.null(held), held)
        for j in range(self.grouping.top):
            there = f"who{j}" in groups.columns
            columns[f"who{j}"] = groups[f"who{j}"].fill_null(NONE) if there else ibis.literal(NONE, "int64")
            columns[f"value{j}"] = groups[f"value{j}"].fill_null(0) if there else ibis.literal(0, "int64")
            if self.grouping.weight is not None:
                zero = ibis.literal(0.0, "float64")
                columns[f"weight{j}"] = groups[f"weight{j}"].fill_null(0.0) if there else zero
            if held is not None:
                columns[f"h{j}"] = _holder(groups[f"h{j}"] if there else ibis.null(held), held)
        return groups.select(**columns)


def _holder(value: Any, kind: Any) -> Any:
    """A holding as what survives the way back: small whole numbers and doubles as they are, all else as text."""
    if kind.is_integer() and not kind.is_uint64():
        return value.cast("int64").fill_null(0)
    if kind.is_floating():
        return value.cast("float64").fill_null(0.0)
    return value.cast("string").fill_null("")
