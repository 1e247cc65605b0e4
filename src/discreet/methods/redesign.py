"""Table redesign: categories combined so that no sensitive cell is left (ODF03 section 4.3)."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.methods.contract import Contract
from discreet.release import Protected, Status, publishable
from discreet.tables.layout import Layout
from discreet.tables.table import Table, aggregated

Merge = Mapping[str, Mapping[str, Sequence[str]]]


@checked
@dataclass(frozen=True, eq=False)
class Redesign:
    """Some codes published only together: ``Redesign({"activity": {"5,6": ["5", "6"]}})``.

    The table keeps its inner cells; those of the merged codes become cells that are never published, so that an audit
    asks what can be worked out of them, which is the system of section 4.3 of [ODF03]_.

    >>> t = Table.of([[3, 0], [1, 2], [4, 4]], ["area", "sex"])
    >>> print(Redesign({"area": {"1+2": ["1", "2"]}})(t).release())
    area   1  2  Total
    1+2    4  2      6
    3      4  4      8
    Total  8  6     14
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=True, cellwise=False, transition=False)
    merge: Merge

    def __call__(self, table: Table) -> Protected:
        merged = self._table(table)
        gone = np.zeros(len(merged), bool)
        for name, groups in self.merge.items():
            gone |= merged.layout.find({name: [c for parts in groups.values() for c in parts]})
        status = np.where(gone, Status.NEVER.value, Status.PUBLISHED.value)
        shown = np.where(gone, np.nan, publishable(merged, merged.measure).astype(float))
        words = "; ".join(f"{n}: {', '.join(g)}" for n, g in self.merge.items())
        details = {"merge": {n: {c: list(p) for c, p in g.items()} for n, g in self.merge.items()}}
        said = f"table redesign (combined {words})"
        return Protected(merged, {merged.measure: shown}, status, said, details, truthful=True)

    def idle(self, *, counts: bool) -> str:
        """Without codes to combine the table stays what it is.

        >>> Redesign({"area": {}}).idle(counts=True), Redesign({"area": {"1+2": ["1", "2"]}}).idle(counts=True)
        ('combines no codes (merge)', '')
        """
        return "" if any(self.merge.values()) else "combines no codes (merge)"

    def _table(self, table: Table) -> Table:
        """The table with the combined codes beside the old ones."""
        for name in self.merge:
            table.layout.axis(name)
        dimensions = [_merged(d, self.merge.get(d.name, {})) for d in table.dimensions]
        if table.layout.is_full:
            layout = replace(Layout.of(dimensions), possible=table.layout.possible)
        else:
            margins = [
                {d.name: _codes(d, block[k], self.merge.get(d.name, {})) for k, d in enumerate(table.dimensions)}
                for block in table.layout.blocks
            ]
            layout = replace(Layout.of(dimensions, margins), possible=table.layout.possible)
        return replace(table, layout=layout, statistics=aggregated(layout, table.statistics))


def _merged(dimension: Dimension, groups: Mapping[str, Sequence[str]]) -> Dimension:
    seen: set[str] = set()
    for code, parts in groups.items():
        if code in dimension.position:
            raise InputError(
                f"dimension {dimension.name!r} has a code {code!r} already; name the combined one otherwise"
            )
        if len(parts) < 2 or seen & set(parts):
            raise InputError(f"{code!r} must combine at least two codes, each code in one group only")
        for part in parts:
            dimension.index(part)
            if part not in dimension.leaf_position:
                raise InputError(f"{part!r} is not a finest code of {dimension.name!r}; combine finest codes")
        seen |= set(parts)
        dimension = dimension.with_group(code, list(parts))
    return dimension


def _codes(dimension: Dimension, block: Array, groups: Mapping[str, Sequence[str]]) -> list[str]:
    names = [dimension.codes[c] for c in block]
    return names + [code for code, parts in groups.items() if set(parts) <= set(names)]


def cheapest_merge(
    table: Table,
    rule: Callable[[Table], Array],
    *,
    dimensions: Sequence[str] | None = None,
    neighbours: bool = True,
    most: int = 500,
) -> Redesign | None:
    """The redesign that loses the fewest published cells and leaves none that a rule calls sensitive, or None.

    Finest codes that follow each other (``neighbours``), or any two, are combined, in the named dimensions. The search
    looks at cheaper redesigns first and stops after ``most``.

    >>> t = Table.of([[3, 9], [1, 9], [8, 8]], ["area", "sex"])
    >>> cheapest_merge(t, lambda t: t.count < 4, dimensions=["area"]).merge
    {'area': {'1+2': ['1', '2']}}
    """
    names = [d.name for d in table.dimensions] if dimensions is None else list(dimensions)
    start: Partition = tuple(tuple((leaf,) for leaf in table.dimensions[table.layout.axis(n)].leaves) for n in names)
    order = itertools.count()
    heap: list[tuple[int, int, Partition]] = [(0, next(order), start)]
    seen: set[Partition] = {start}
    for _ in range(most):
        if not heap:
            return None
        _, _, parts = heapq.heappop(heap)
        redesign = Redesign({n: _named(p) for n, p in zip(names, parts, strict=True) if any(len(g) > 1 for g in p)})
        protected = redesign(table)
        if not (np.asarray(rule(protected.table), bool) & ~protected.hidden).any():
            return redesign
        for further in _further(parts, neighbours):
            if further not in seen:
                seen.add(further)
                sizes = {n: len(p) for n, p in zip(names, further, strict=True)}
                heapq.heappush(heap, (_lost(table, sizes), next(order), further))
    raise InputError(f"no redesign among the {most:,} cheapest satisfies the rule; allow more, or fewer dimensions")


Partition = tuple[tuple[tuple[str, ...], ...], ...]


def _further(parts: Partition, neighbours: bool) -> Iterator[Partition]:
    """Every way to combine two more groups."""
    for k, groups in enumerate(parts):
        if len(groups) < 3:  # two that become one would leave only the total
            continue
        pairs = (
            [(i, i + 1) for i in range(len(groups) - 1)]
            if neighbours
            else itertools.combinations(range(len(groups)), 2)
        )
        for i, j in pairs:
            rest = [g for n, g in enumerate(groups) if n not in (i, j)]
            rest.insert(i, groups[i] + groups[j])
            yield (*parts[:k], tuple(rest), *parts[k + 1 :])


def _named(groups: tuple[tuple[str, ...], ...]) -> dict[str, list[str]]:
    return {"+".join(g): list(g) for g in groups if len(g) > 1}


def _lost(table: Table, sizes: Mapping[str, int]) -> int:
    """About how many published cells fewer there are: the product of the codes that are left."""
    left, whole = 1, 1
    for d in table.dimensions:
        whole *= len(d.codes)
        left *= len(d.codes) - (len(d.leaves) - sizes[d.name] if d.name in sizes else 0)
    return whole - left
