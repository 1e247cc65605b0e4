"""Microdata counted into a table: what an engine found of the non-empty inner cells, laid over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked, whole
from discreet.data.finished import refuse_finished
from discreet.data.nested_columns import with_nested_columns
from discreet.engines.protocol import PRODUCT_DECIMALS, WEIGHT_DECIMALS
from discreet.errors import InputError, many
from discreet.tables.additive import Additive, summable
from discreet.tables.contributions import Contributions, Spanning
from discreet.tables.layout import Layout, Margin, Structural
from discreet.tables.table import GIVERS, VALUE_KEY, Table

if TYPE_CHECKING:
    from discreet.data.microdata import Microdata
    from discreet.engines.protocol import CountedGroups

MOST_TOP = 10_000  # contributions per cell, all of which are held
TOP = 3  # contributions kept per cell unless more are asked for: enough for p% against a coalition of one


@checked
def tabulate(
    data: Microdata,
    by: Sequence[str] | str | None = None,
    *,
    margins: Sequence[Margin] | None = None,
    value: str | None = None,
    top: int | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    structural: Structural | None = None,
    nested: bool = False,
) -> Table:
    """Count (and sum) microdata into a table with all margins of ``by``, or with the given margins only.

    ``by`` names the dimensions whose product makes the inner cells (default: those the margins name);
    ``margins=[("county", "sex"), ("county", "age")]`` publishes linked tables over them, and a margin may name levels
    or codes: ``{"county": "region"}``. ``value`` names a magnitude; ``top`` is the number of largest contributions
    to keep. ``where`` restricts the population. ``structural`` marks combinations that cannot exist; unless stated,
    those of the codebook. With ``nested`` dimensions of which one is a level of another (region and municipality) are
    one dimension with subtotals.

    >>> import pandas as pd
    >>> from discreet import Microdata
    >>> people = pd.DataFrame({"area": ["N", "S", "S"], "sex": ["f", "m", "f"]})
    >>> print(tabulate(Microdata.of(people, dimensions=["area", "sex"]), ["area", "sex"]))
    area   f  m  Total
    N      1  0      1
    S      1  1      2
    Total  2  1      3
    """
    names = _by(data, by, margins)
    if nested:
        levels = with_nested_columns(data, names)
        data, names = levels.data, list(levels.by)
    dimensions = tuple(data.dimension(name) for name in names)
    layout = Layout.of(dimensions, margins, data.codebook.structural_zeros(names) if structural is None else structural)
    if top is not None:
        whole("top", top, 1, MOST_TOP)
    groups = data.base_cells(names, value=value, top=0 if value is None else top or TOP, where=where)
    if where is None:
        refuse_finished(data, names, groups)
    return _from_groups(layout, groups, value, data.codebook.title, data.codebook.source)


def _by(data: Microdata, by: Sequence[str] | str | None, margins: Sequence[Margin] | None) -> list[str]:
    if by is not None:
        return [by] if isinstance(by, str) else list(by)
    named = dict.fromkeys(name for m in margins or () for name in ([m] if isinstance(m, str) else m))
    if not named:
        raise InputError("name the dimensions of the table: by=[...] or margins=[...]")
    order = [d.name for d in data.dimensions]
    return sorted(named, key=lambda n: order.index(n) if n in order else len(order))


def _from_groups(layout: Layout, groups: CountedGroups, value: str | None, title: str, source: str) -> Table:
    """Lay the non-empty inner cells that the engine found over all inner cells."""
    rows = np.ravel_multi_index(tuple(groups.codes.T), layout.shape)
    if layout.possible is not None:
        impossible = int(groups.count[~layout.possible[rows]].sum())
        if impossible:
            raise InputError(
                f"{many(impossible, 'record lies', 'records lie')} in cells declared structural zeros; correct the "
                "data or the declaration"
            )
        rows = np.searchsorted(layout.inner, rows)

    def lay(values: Array, decimals: int = 0) -> Additive:
        inner = np.zeros(layout.n_inner, values.dtype)
        inner[rows] = values
        return Additive(inner, layout.aggregate(inner), decimals)

    values, measure = group_statistics(groups, value)
    for name, (numbers, decimals) in values.items():
        if name not in ("key", VALUE_KEY):  # sums of keys wrap around by design
            summable(numbers, decimals, repr(name))
    statistics = {name: lay(*sums) for name, sums in values.items()}
    contributions, spanning = _contributions(layout, groups, rows)
    return Table(layout, statistics, measure, value, title, source, contributions, spanning)


def group_statistics(groups: CountedGroups, value: str | None) -> tuple[dict[str, tuple[Array, int]], str]:
    """What an engine found, by name, with its decimals; and which of these is the measure."""
    statistics, measure = {"count": (groups.count, 0)}, "count"
    if groups.weight is not None:
        measure = "weighted count"
        statistics[measure] = (groups.weight, WEIGHT_DECIMALS)
    if value is not None and groups.total is not None:
        measure = value
        statistics[measure] = (groups.total, groups.decimals)
        if groups.weighted_total is not None:
            measure = f"weighted {value}"
            statistics[measure] = (groups.weighted_total, groups.decimals + PRODUCT_DECIMALS)
    if groups.key is not None:
        statistics["key"] = (groups.key, 0)
    if groups.value_key is not None:
        statistics[VALUE_KEY] = (groups.value_key, 0)
    if groups.givers is not None:
        statistics[GIVERS] = (groups.givers, 0)
    return statistics, measure


def _contributions(layout: Layout, groups: CountedGroups, rows: Array) -> tuple[Contributions | None, Spanning | None]:
    if groups.top_value is None:
        return None, None
    shape = (layout.n_inner, groups.top_value.shape[1])
    value, weight, contributor = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, -1)
    count = np.zeros(layout.n_inner, np.int64)
    value[rows], count[rows] = groups.top_value, groups.contributors
    weight[rows] = np.where(np.isnan(groups.top_value), np.nan, 1.0) if groups.top_weight is None else groups.top_weight
    if groups.top_contributor is not None:
        contributor[rows] = groups.top_contributor
    inner = Contributions(value, weight, contributor, count)
    spans = groups.spanning
    if spans is None or spans.value is None:
        return inner, None
    weighted, decimals = spans.value, groups.decimals
    if spans.weighted is not None:
        weighted, decimals = spans.weighted, groups.decimals + PRODUCT_DECIMALS
    return inner, Spanning(rows[spans.group], spans.contributor, spans.value, weighted, groups.decimals, decimals)
