"""Attacks from inside: what contributors can work out with their own parts, and firms that dominate what is hidden."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audits.known import Known, unmovable
from discreet.audits.known_sums import sums_that_follow
from discreet.audits.view import view
from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.release import Protected, Status
from discreet.tables.additive import Additive
from discreet.tables.contributions import Contributions, Spanning, rank_keys
from discreet.tables.layout import Layout
from discreet.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd

UNITED = 1_000_000  # inner cells of unions whose contributions are ranked at a time: memory


@dataclass(frozen=True, eq=False)
class OwnParts:
    """Who contributes what to which inner cell, in units of the last decimal; ``held``: contributors per inner cell."""

    contributor: Array
    inner: Array
    own: Array
    held: Array
    people: bool = False  # counts: everybody in an inner cell is like the others there, and counts as 1


def parts_of(table: Table, decimals: int) -> OwnParts:
    """The parts that the table knows: the largest of each inner cell and those of contributors in several cells.

    In a table of counts every inner cell that is not empty stands for one of its members, who counts as 1.
    """
    if table.measure == "count":
        count = table.statistic("count").inner
        some = np.flatnonzero(count > 0)
        return OwnParts(some, some, np.ones(len(some)), count, people=True)
    if table._inner_contributions is None:
        raise InputError("the table knows no contributions; tabulate microdata with value= and top=")
    inner, grid = table._inner_contributions, 10.0**decimals
    row, rank = np.nonzero(inner.contributor >= 0)
    who, own = inner.contributor[row, rank], inner.value[row, rank] * inner.weight[row, rank] * grid
    count = inner.count.copy()
    if table._spanning is not None:
        more = table._spanning
        count = count + np.bincount(more.inner, minlength=len(count))
        who, row = np.concatenate([who, more.contributor]), np.concatenate([row, more.inner])
        own = np.concatenate([own, more.weighted / 10.0**more.weighted_decimals * grid])
    return OwnParts(who, row, np.rint(own), count)


@checked
def insiders(
    protected: Protected,
    *,
    coalitions: list[list[int]] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Hidden cells that become exactly known to a contributor who adds their own parts to what is published.

    Every single contributor in turn, or the given coalitions (lists of contributor numbers). In a table of counts a
    contributor is named by the number of the inner cell, and as often as people of that cell work together. In each
    inner cell the value is at least the coalition's own part; a cell that is theirs alone they know. One row per
    coalition that learns something: who, how many cells, how many of those a rule calls sensitive ("primary": the
    others are secondary suppressions and may be known), and which. Cells with nobody else in them, margins too, are its
    own and left out.

    >>> import discreet as dc
    >>> table = dc.Table.of([[1, 1], [4, 9]], ["area", "sex"])
    >>> insiders(dc.protect(table, dc.Hide(table.is_inner)))[["coalition", "learned"]].to_dict("list")
    {'coalition': [(0,), (1,)], 'learned': [3, 3]}
    """
    import pandas as pd

    seen = view(protected)
    parts = parts_of(protected.table, seen.decimals)
    targets = np.flatnonzero(seen.unknown)
    primary = protected.status == Status.PRIMARY.value
    known = unmovable(seen.known, targets)
    hidden_inner = np.unique(seen.known.matrix[:, targets].tocoo().row)
    touched = np.isin(parts.inner, hidden_inner)
    everybody = [[int(c)] for c in np.unique(parts.contributor[touched])] if coalitions is None else coalitions
    rows = []
    for n, coalition in enumerate(everybody):
        learned = _learned(seen.known, parts, np.array(coalition), targets)
        new = targets[learned & ~known]
        if len(new):
            sensitive = int(primary[new].sum())
            counts = {"learned": len(new), "primary": sensitive, "cells": tuple(new.tolist())}
            rows.append({"coalition": tuple(coalition), **counts})
        if progress is not None:
            progress(n + 1, len(everybody))
    return pd.DataFrame(rows, columns=["coalition", "learned", "primary", "cells"])


def _learned(known: Known, parts: OwnParts, coalition: Array, targets: Array) -> Array:
    """Which targets have one value left for the coalition, other than cells that hold its own parts and no other's."""
    informed, theirs = with_own_parts(known, parts, coalition)
    return np.asarray(unmovable(informed, targets) & ~theirs[targets])


def with_own_parts(known: Known, parts: OwnParts, coalition: Array) -> tuple[Known, Array]:
    """What a coalition knows that adds its own parts, and which cells hold nobody else's (mask over the cells)."""
    mine = np.isin(parts.contributor, coalition)
    own = np.bincount(parts.inner[mine], parts.own[mine], known.matrix.shape[0])
    members = np.unique(np.stack([parts.inner[mine], parts.contributor[mine]]), axis=1)[0]
    members = np.bincount(members, minlength=len(own))
    if parts.people:
        members = np.bincount(coalition, minlength=len(own))
        if len(members) > len(own) or (members > parts.held).any():
            raise InputError("a coalition names an inner cell more often than it has people")
        own = members.astype(float)
    alone = (members > 0) & (members == parts.held)
    lower = np.where(own > 0, np.maximum(known.inner_lower, own), known.inner_lower)
    upper = np.where(alone, own, known.inner_upper)
    within = abs(known.matrix).T  # cells x inner cells
    theirs = (within @ (members > 0).astype(float) > 0) & (within @ (parts.held > members).astype(float) == 0)
    return replace(known, inner_lower=lower, inner_upper=upper), np.asarray(theirs)


@checked
def unions(protected: Protected, rule: Callable[[Table], Array]) -> pd.DataFrame:
    """Sums of hidden cells that a rule calls sensitive: one firm may dominate several hidden cells of one relation.

    Where a total and all but some of its parts are published, the sum of the hidden parts is published in effect; so
    are sums that several equations give together (``discreet.audits.known_sums``). One row per such sum that the rule
    (applied as if it were a cell) objects to: the cells, and the total of the relation, the first of several.

    >>> import discreet as dc
    >>> table = dc.Table.of([[1, 1, 9], [4, 9, 9]], ["area", "sex"])
    >>> pair = dc.Hide([{"area": "1", "sex": "1"}, {"area": "1", "sex": "2"}])
    >>> unions(dc.protect(table, pair), dc.Threshold(3)).to_dict("list")
    {'total': [4], 'cells': [(5, 6)]}
    """
    import pandas as pd

    from discreet.tables.relations import of_layout

    rows = of_layout(protected.table.layout).tocsr()
    totals: dict[tuple[int, ...], int] = {}
    for cells, number in sums_that_follow(rows, protected.hidden).items():
        span = slice(rows.indptr[number], rows.indptr[number + 1])
        totals[cells] = int(rows.indices[span][np.argmin(rows.data[span])])
    if not totals:
        return pd.DataFrame({"total": [], "cells": []})
    merged = union_table(protected.table, list(totals))
    bad = np.flatnonzero(np.asarray(rule(merged), bool))
    keys = list(totals)
    return pd.DataFrame({"total": [totals[keys[k]] for k in bad], "cells": [keys[k] for k in bad]})


def union_table(table: Table, sums: list[tuple[int, ...]]) -> Table:
    """A table whose cells are the given sums of cells, each with its own largest contributions."""
    from scipy.sparse import coo_array

    row = np.repeat(np.arange(len(sums)), [len(one) for one in sums])
    pick = coo_array((np.ones(len(row)), (np.concatenate(sums), row)), shape=(len(table), len(sums))).tocsr()
    members = (abs(table.matrix @ pick) > 0).astype(np.int64)
    layout = Layout.of([Dimension.flat("union", range(len(sums)), total=None)])
    statistics = {
        name: Additive(united := members.T @ s.inner, united, s.decimals) for name, s in table.statistics.items()
    }
    contributions = None
    if table._inner_contributions is not None:
        contributions = _united(table._inner_contributions, table._spanning, members.tocsc())
    return replace(table, layout=layout, statistics=statistics, _inner_contributions=contributions, _spanning=None)


def _united(inner: Contributions, spanning: Spanning | None, members: Any) -> Contributions:
    """The largest contributions of each union, contributors in several cells added up."""
    n, top = members.shape[1], inner.top
    value, weight = np.full((n, top), np.nan), np.full((n, top), np.nan)
    who, count = np.full((n, top), -1), np.zeros(n, np.int64)
    first = 0
    while first < n:
        last = max(int(np.searchsorted(members.indptr, members.indptr[first] + UNITED)) - 1, first + 1)
        some = slice(first, min(last, n))
        rows = members.indices[members.indptr[first] : members.indptr[some.stop]]
        of = np.repeat(np.arange(some.stop - first), np.diff(members.indptr[first : some.stop + 1]))
        count[some] = np.bincount(of, inner.count[rows], some.stop - first)
        pool = [np.repeat(of, top), *(a[rows].ravel() for a in (inner.value, inner.weight, inner.contributor))]
        if spanning is not None and len(spanning.inner):
            own = _spanned(spanning, rows, of)
            count[some] += np.bincount(own[0], minlength=some.stop - first)
            pool = [np.concatenate([a, b]) for a, b in zip(pool, own, strict=True)]
        of, best, at = _best(pool, top)
        value[first + of, at], weight[first + of, at], who[first + of, at] = best
        first = some.stop
    return Contributions(value, weight, who, count)


def _spanned(spanning: Spanning, rows: Array, of: Array) -> list[Array]:
    """Contributors to several cells: of each in each union where he has a share its number, amount, weight and name."""
    order = np.argsort(spanning.inner, kind="stable")
    begin, stop = (np.searchsorted(spanning.inner[order], rows, side) for side in ("left", "right"))
    many = stop - begin
    at = order[np.repeat(begin - (np.cumsum(many) - many), many) + np.arange(int(many.sum()))]
    names, name = np.unique(spanning.contributor, return_inverse=True)
    pairs, group = np.unique(np.repeat(of, many) * len(names) + name[at], return_inverse=True)
    own = np.bincount(group, spanning.value[at], len(pairs)) / 10.0**spanning.decimals
    heavy = np.bincount(group, spanning.weighted[at], len(pairs)) / 10.0**spanning.weighted_decimals
    ratio = np.divide(heavy, own, out=np.ones_like(heavy), where=own != 0)
    return [pairs // len(names), own, ratio, names[pairs % len(names)]]


def _best(pool: list[Array], top: int) -> tuple[Array, list[Array], Array]:
    """The largest contributions of each union: which union, what, and their places there."""
    there = ~np.isnan(pool[1])
    of, value, weight, who = (a[there] for a in pool)
    order = np.lexsort((*rank_keys(value, weight, who, np.abs(value)), of))
    of = of[order]
    place = np.arange(len(of)) - np.searchsorted(of, of)
    kept = place < top
    return of[kept], [a[order][kept] for a in (value, weight, who)], place[kept]
