"""Table: published cells over inner cells, with what rules and methods need of each. No records.

A Table is confidential. What may be published is a Release (see ``discreet.release``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.naming import beside
from discreet.data.dimension import Dimension
from discreet.errors import InputError, nearest
from discreet.tables import display, ready_made
from discreet.tables.additive import Additive
from discreet.tables.contributions import Contributions, Spanning, merge_up
from discreet.tables.layout import Layout, Margin, Structural
from discreet.tables.totals import Totals

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

VALUE_KEY = "key of the magnitude"  # a statistic: the sum of the keys of the records that give something to it
GIVERS = "givers"  # a statistic: how many records give something to the magnitude
INTERNAL = ("key", VALUE_KEY, GIVERS)  # what methods go by, and nobody reads
MOST_LAYOUTS_KEPT = 8  # at other levels, with a table that is asked for them again and again
MOST_CELLS_KEPT = 20_000  # of each of them


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A cross-classification with its margins: counts, and perhaps a magnitude, weights, keys and contributions.

    >>> import numpy as np
    >>> t = Table.of(np.array([[3, 0], [1, 2]]), ["area", "sex"])
    >>> t
    Table(area x sex: 9 cells over 4 inner; count)
    >>> t.count.tolist()
    [6, 4, 2, 3, 3, 0, 3, 1, 2]
    """

    layout: Layout
    statistics: Mapping[str, Additive]
    measure: str = "count"
    magnitude: str | None = None
    title: str = ""
    source: str = ""
    _inner_contributions: Contributions | None = field(default=None)
    _spanning: Spanning | None = field(default=None)
    _measured: Mapping[str, Table] = field(default_factory=dict)

    # -- ways in ------------------------------------------------------------------------------------------------

    @classmethod
    def of(
        cls,
        data: Any,
        dimensions: Sequence[Dimension | str] | None = None,
        *,
        count: Any = None,
        value: str | None = None,
        decimals: int | None = None,
        totals: str = "check",
        tolerance: float = 0,
        margins: Sequence[Margin] | None = None,
        structural: Structural | None = None,
        total: Totals = None,
        decimal: str | None = None,
        thousands: str | None = None,
        title: str = "",
        source: str = "",
    ) -> Table:
        """A table from an array of inner cells, or from a frame of cells with or without their totals.

        Array: ``data`` holds counts, or the magnitude that ``value`` names (``count`` may then be a second array).
        Frame (pandas, polars, Arrow, dict of columns): ``count`` and ``value`` name its columns; rows left out are
        zeros. ``totals`` in a frame are compared with the sums of the inner cells ("check"), left aside ("compute")
        or kept as given ("trust"). Comparison is exact at ``decimals`` (found from the data when not stated), give
        or take ``tolerance`` units of the last one per part: 0.5 allows for parts that were rounded one by one.

        Series and cross-tabulations of pandas are read by their index and columns, as counts unless ``value`` names the
        magnitude that was summed: a pivot of whole numbers does not show which it is. ``total`` is the code of the
        total, in all dimensions or by dimension ({"sex": "All"}; None for one that is never summed over). Where it is
        not said, a code with a usual name ("All", "Gesamt", "_T") that no line denies is taken, with a DiscreetWarning;
        a code that adds up all others under another name, or is called a total and is not, is an error that asks.
        Numbers that are text are read as people write them; ``decimal`` and ``thousands`` say the signs where "1.000"
        may be one or a thousand.

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"area": ["N", "S", "All"], "people": [3, 4, 7]})
        >>> Table.of(frame, ["area"], count="people", total="All").count.tolist()
        [7, 3, 4]
        """
        how = ready_made.Reading(
            count=count,
            value=value,
            decimals=decimals,
            totals=totals,
            tolerance=tolerance,
            margins=margins,
            structural=structural,
            total=total,
            decimal=decimal,
            thousands=thousands,
        )
        layout, statistics = ready_made.read_ready(data, dimensions, how)
        return cls(layout, statistics, value or "count", value, title, source)

    def __post_init__(self) -> None:
        if self.measure not in self.statistics:
            raise InputError(f"the table has no statistic {self.measure!r}; {nearest(self.measure, self.statistics)}")

    # -- numbers ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.layout)

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        return self.layout.dimensions

    @property
    def matrix(self) -> csr_array:
        """Inner cells x published cells, sparse; ``matrix.T @ inner`` is the published table."""
        return self.layout.matrix

    def statistic(self, name: str) -> Additive:
        """One of the table's additive statistics, by name.

        >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> t.statistic("count").inner.tolist(), t.statistic("count").cells.tolist()
        ([3, 0, 1, 2], [6, 4, 2, 3, 3, 0, 3, 1, 2])
        """
        if name not in self.statistics:
            cure = "name a column of counts (count=...), or take a rule about contributions" if name == "count" else ""
            raise InputError(f"the table has no statistic {name!r}; {cure or nearest(name, self.statistics)}")
        return self.statistics[name]

    @property
    def count(self) -> Array:
        """Records per published cell."""
        return self.statistic("count").cells

    @property
    def value(self) -> Array:
        """The measure that would be published: the magnitude (weighted, if there are weights), else the count."""
        return self.statistic(self.measure).values

    @property
    def key(self) -> Array:
        """Sum of record keys modulo 2**64 per published cell."""
        if "key" not in self.statistics:
            raise InputError("the table has no cell keys; give the microdata a record key, or a unit and a secret")
        return self.statistics["key"].cells

    @property
    def n(self) -> int:
        """Records in the whole table."""
        return int(self.statistic("count").inner.sum())

    def array(self, name: str = "count", *, margins: bool = False) -> Array:
        """Inner cells as an array with one axis per dimension; with margins, all codes of every dimension.

        Counts unless another statistic is named, because risks are functions of counts.

        >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> t.array().tolist()
        [[3, 0], [1, 2]]
        >>> t.array(margins=True).tolist()
        [[6, 4, 2], [3, 3, 0], [3, 1, 2]]
        """
        statistic = self.statistic(name)
        if not margins:
            return self.layout.dense(statistic.inner_values)
        if not self.layout.is_full:
            raise InputError("only a table with all its margins makes an array; see .cells for the published ones")
        return statistic.values.reshape(self.layout.code_shape)

    @cached_property
    def contributions(self) -> Contributions:
        """The largest contributions to every published cell, holdings merged, and the number of contributors."""
        if self._inner_contributions is None:
            raise InputError("the table knows no contributions; tabulate microdata with value= and top=")
        return merge_up(self.layout, self._inner_contributions, self._spanning)

    @property
    def has_contributions(self) -> bool:
        return self._inner_contributions is not None

    def measured(self, name: str) -> Table:
        """Of a cube that keeps magnitudes: the table of one of them, over the same inner cells.

        >>> Table.of([3.5, 1], ["area"], value="pay").measured("pay").magnitude
        'pay'
        """
        if name == self.magnitude:
            return self
        if name not in self._measured:
            raise InputError(f"the data hold no measure {name!r}; {nearest(name, ['count', *self._measured])}")
        return self._measured[name]

    @property
    def structural(self) -> Array:
        """Published cells that consist of structural zeros only: no one can be there."""
        return np.asarray(self.layout.parts == 0)

    @property
    def is_inner(self) -> Array:
        """Published cells that are inner cells."""
        return self.layout.inner_of_cell >= 0

    def gaps(self) -> pd.DataFrame:
        """Published cells that are not the sum of their inner cells, as a trusted table may have (confidential).

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"area": ["N", "S", "All"], "people": [3, 4, 8]})
        >>> Table.of(frame, ["area"], count="people", total="All", totals="trust").gaps().to_dict("records")
        [{'area': 'All', 'given': 8.0, 'computed': 7.0, 'gap': 1.0}]
        """
        import pandas as pd

        statistic = self.statistic(self.measure)
        computed = self.layout.aggregate(statistic.inner)
        off = np.flatnonzero(statistic.cells != computed)
        frame = pd.DataFrame(code_columns(self.layout)).iloc[off]
        scale = 10**statistic.decimals if statistic.decimals else 1
        gap = (statistic.cells[off] - computed[off]) / scale
        columns = {"given": statistic.cells[off] / scale, "computed": computed[off] / scale, "gap": gap}
        return beside(frame, columns).iloc[np.argsort(-np.abs(gap), kind="stable")]

    # -- views --------------------------------------------------------------------------------------------------

    @property
    def cells(self) -> pd.DataFrame:
        """One row per published cell: its codes and every number the table holds of it (confidential)."""
        import pandas as pd

        columns: dict[str, Any] = {name: statistic.values for name, statistic in self.statistics.items()}
        if self.has_contributions:
            columns["contributors"] = self.contributions.count
            for rank in range(self.contributions.top):
                columns[f"largest {rank + 1}"] = self.contributions.value[:, rank]
        columns["inner"] = self.is_inner
        if self.layout.possible is not None:
            columns["structural"] = self.structural
        return beside(pd.DataFrame(code_columns(self.layout)), columns)

    def where(self, **codes: Any) -> Array:
        """Which published cells have the given code, or one of several, in each named dimension.

        >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> t.count[t.where(area="Total", sex=["1", "2"])].tolist()
        [4, 2]
        """
        return self.layout.find(codes)

    def slice(self, **codes: Any) -> Table:
        """The table of those with one code in each named dimension; these dimensions fall away.

        >>> Table.of([[3, 0], [1, 2]], ["area", "sex"]).slice(sex="2").count.tolist()
        [2, 0, 2]
        """
        return _sliced(self, codes)

    def at_levels(self, **levels: str) -> Table:
        """The table in less detail: each named dimension at one of its levels (``Dimension.levels``).

        >>> nace = Dimension.from_prefix("nace", ["A01", "A02", "B05"], [1])
        >>> Table.of([3, 1, 2], [nace]).at_levels(nace="level 1").count.tolist()
        [6, 4, 2]
        """
        for name in levels:
            self.layout.axis(name)
        chosen = [levels.get(d.name, d.name) for d in self.dimensions]
        if self.layout.is_full and all(d.level(v) == d.leaves for d, v in zip(self.dimensions, chosen, strict=True)):
            return self
        return recast(self, *self._layouts_at(tuple(chosen)))

    def _layouts_at(self, levels: tuple[str, ...]) -> tuple[Layout, Layout]:
        """The cells of this table that a table at some levels has inside, and its layout; of the last few levels."""
        kept = self._layouts_kept.get(levels)
        if kept is None:
            at = list(zip(self.dimensions, levels, strict=True))
            blocks = tuple(np.array([d.position[c] for c in d.level(level)]) for d, level in at)
            cut = Layout(self.dimensions, (blocks,), self.layout.possible)
            kept = cut, _layout_of_cut(cut, [d.at_level(level) for d, level in at])
            if len(kept[1]) <= MOST_CELLS_KEPT:
                if len(self._layouts_kept) >= MOST_LAYOUTS_KEPT:
                    self._layouts_kept.clear()
                self._layouts_kept[levels] = kept
        return kept

    @cached_property
    def _layouts_kept(self) -> dict[tuple[str, ...], tuple[Layout, Layout]]:
        return {}

    def with_margins(self, margins: Sequence[Margin]) -> Table:
        """The same inner cells with other published cells: ``[("area", "sex"), ("area", "age")]`` are linked tables.

        >>> t = Table.of([[[3, 0], [1, 2]], [[5, 1], [4, 4]]], ["area", "sex", "age"])
        >>> t.with_margins([("area", "sex"), ("area", "age")])
        Table(area x sex x age: 15 cells over 8 inner; count)
        """
        layout = replace(Layout.of(self.dimensions, margins), possible=self.layout.possible)
        return replace(self, layout=layout, statistics=aggregated(layout, self.statistics))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        same = self.layout == other.layout and self.measure == other.measure
        return same and dict(self.statistics) == dict(other.statistics)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        names = " x ".join(d.name for d in self.dimensions)
        kept = ", ".join(n for n in self.statistics if n not in INTERNAL)
        keys = ", keys" if "key" in self.statistics else ""
        return f"Table({names}: {len(self):,} cells over {self.layout.n_inner:,} inner; {kept}{keys})"

    def __str__(self) -> str:
        return display.text(self.dimensions, self.layout.codes, self.value)

    def _repr_html_(self) -> str:
        caption = f"{self.title or self.measure} (confidential)"
        return display.html(self.dimensions, self.layout.codes, self.value, caption=caption)


def _layout_of_cut(cut: Layout, dimensions: Sequence[Dimension]) -> Layout:
    """The layout of a table whose inner cells are those of ``cut``."""
    return replace(Layout.of(dimensions), possible=None if cut.possible is None else cut.parts > 0)


def recast(table: Table, cut: Layout, layout: Layout) -> Table:
    """A table whose inner cells are some cells of this one: a product of code positions that do not overlap."""
    held = layout.possible
    statistics = {}
    for name, statistic in table.statistics.items():
        inner = cut.aggregate(statistic.inner)
        inner = inner if held is None else inner[held]
        statistics[name] = Additive(inner, layout.aggregate(inner), statistic.decimals)
    contributions, spanning = table._inner_contributions, table._spanning
    if contributions is not None:
        contributions = merge_up(cut, contributions, None)
        contributions = contributions if held is None else contributions.take(np.flatnonzero(held))
    if spanning is not None:
        rows = cut.matrix[spanning.inner].tocoo()  # at most one entry a row, since the cells do not overlap
        new = rows.col if held is None else (np.cumsum(held) - 1)[rows.col]
        spanning = replace(
            spanning,
            inner=new,
            contributor=spanning.contributor[rows.row],
            value=spanning.value[rows.row],
            weighted=spanning.weighted[rows.row],
        )
    changed = replace(table, layout=layout, statistics=statistics, _measured={})
    return replace(changed, _inner_contributions=contributions, _spanning=spanning)


def _sliced(table: Table, codes: Mapping[str, Any]) -> Table:
    fixed = {table.layout.axis(name) for name in codes}
    rest = [d for k, d in enumerate(table.dimensions) if k not in fixed]
    if not rest:
        raise InputError("a slice must leave at least one dimension; use .where() to find a single cell")
    blocks = [
        np.array([d.index(codes[d.name])] if k in fixed else [d.position[leaf] for leaf in d.leaves])
        for k, d in enumerate(table.dimensions)
    ]
    cut = Layout(table.dimensions, (tuple(blocks),), table.layout.possible)
    return recast(table, cut, _layout_of_cut(cut, rest))


def code_columns(layout: Layout) -> dict[str, Any]:
    """The codes of every cell as categorical columns, which keep the codebook's order."""
    import pandas as pd

    return {
        d.name: pd.Categorical.from_codes(layout.codes[:, k], categories=pd.Index(d.codes))
        for k, d in enumerate(layout.dimensions)
    }


def aggregated(layout: Layout, statistics: Mapping[str, Additive]) -> dict[str, Additive]:
    """Statistics with their cells computed anew for a layout over the same inner cells."""
    return {name: replace(s, cells=layout.aggregate(s.inner)) for name, s in statistics.items()}
