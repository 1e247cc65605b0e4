"""Many published tables as one system of sums: the view of them that an audit judges."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audits.joined.common_cells import NOBODY, Axis, CommonCells, axis_of_classes, too_large
from discreet.audits.joined.families import WHOLE, Codes, Family, families, matched, only_total
from discreet.audits.joined.join_tree import crossed_sets
from discreet.audits.joined.mapping import MAGNITUDE
from discreet.audits.joined.publication import Publication
from discreet.audits.joined.shown_cells import joined_means, ordered_cells, shown_cells
from discreet.audits.known import Known
from discreet.audits.mirrored_pairs import with_mirrored
from discreet.audits.view import View, strange_marks
from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.errors import InputError, listed
from discreet.tables import relations as related
from discreet.tables.layout import Layout
from discreet.tables.quotients import open_quotients

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_CROSSED = 200_000
"""Combinations of codes up to which shared margins, and dimensions that go in a circle, are written down in full."""
FREE = (
    "cells that no table shows were not all written down, as there are too many combinations of {}; what is called "
    "open may be known more closely"
)


class DividedDifferentlyError(InputError):
    """Tables whose codes divide the whole in ways that cannot be brought together."""


@dataclass(frozen=True, eq=False)
class LaidTable:
    """A published table by its axes; ``of_dimension`` has for every axis the dimension of the table, −1: none."""

    axes: tuple[Axis, ...]
    leaves: Mapping[str, int]
    fixed: Mapping[str, tuple[int, ...]]
    of_dimension: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()
    cells: Array = field(default_factory=lambda: np.zeros((0, 0), np.int32))

    def own(self, keys: Array) -> Array:
        """Of the keys of all combinations those of the table's own cells, in the order of its layout."""
        grid = keys.reshape([len(a.codes) for a in self.axes])
        cut = grid[tuple(slice(0, self.shape[d]) if d >= 0 else 0 for d in self.of_dimension)]
        order = [d for d in self.of_dimension if d >= 0]
        lacking = [d for d in range(len(self.shape)) if d not in order]  # dimensions that say nothing: their total
        full = cut.transpose(np.argsort(order)) if order else cut
        for d in lacking:
            full = np.expand_dims(full, d)
        return np.broadcast_to(full, self.shape).ravel()


@dataclass(frozen=True, eq=False)
class JoinedTables:
    """Published tables laid over each other, and what nobody says of how they hang together."""

    publications: tuple[Publication, ...]
    tables: tuple[LaidTable, ...]
    common: CommonCells[LaidTable]
    doubts: tuple[str, ...]
    atoms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What the finest parts of every dimension are called."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Measures of which it is said whether they are counts or magnitudes; one called "count" is one unless said."""

    @classmethod
    def of(
        cls,
        publications: Sequence[Publication],
        sums: Mapping[str, Mapping[str, Sequence[str]]],
        crossing: Sequence[str] = (),
        measures: Sequence[str] = (),
    ) -> JoinedTables:
        """``sums``: per dimension the codes that are sums of others; ``crossing``: dimensions of which that is all.

        ``measures``: those that are known to be what their names say, and not another's under another name.
        """
        codes, known, doubts = _matched(publications, sums, crossing)
        laid = [_laid(p, codes, known) for p in publications]
        doubts += _apart(publications, known)
        for p, table in zip(publications, laid, strict=True):
            if too_large(table):
                raise InputError(f"{p.name!r} has too many combinations of codes to be audited with others")
        more, words = _completing(laid, known)
        doubts += _other_measures(publications, measures)
        atoms = {family.name: family.atoms for some in known.values() for family in some}
        return cls(tuple(publications), tuple(laid), CommonCells.of([*laid, *more]), (*doubts, *words), atoms)

    def cell_label(self, key: int) -> str:
        """A common cell by its codes, totals left out; one that no table has by its finest parts."""
        for k, (table, keys) in enumerate(zip(self.common.tables, self.common.keys, strict=True)):
            at = np.flatnonzero(keys == key)
            if len(at):
                place = np.unravel_index(int(at[0]), [len(a.codes) for a in table.axes])
                own = k < len(self.publications)
                words = [self._code_label(a, int(p), own) for a, p in zip(table.axes, place, strict=True)]
                return ", ".join(word for word in words if word) or "everybody"
        return "everybody"

    def _code_label(self, axis: Axis, place: int, own: bool) -> str:
        if place == axis.total or not axis.name:
            return ""
        if own and not (axis.virtual and place >= axis.total - 1 and axis.codes[place] == "rest"):
            return f"{axis.name} {axis.codes[place]}"
        names = [self.atoms[axis.name][abs(p) - 1] for p in axis.parts[place]]
        return f"{axis.name} {', '.join(names[:3])}" + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _matched(
    publications: Sequence[Publication], sums: Mapping[str, Mapping[str, Sequence[str]]], crossing: Sequence[str]
) -> tuple[dict[str, dict[str, Codes]], dict[str, list[Family]], list[str]]:
    """Per dimension the codes of every table, and the families they fall into."""
    held: dict[str, list[tuple[str, Dimension]]] = {}
    totals: dict[str, set[str]] = {}
    for p in publications:
        for d in p.release.dimensions:
            held.setdefault(d.name, []).append((p.name, d))
            totals.setdefault(d.name, set()).update([] if d.total is None else [d.total])
    for p in publications:
        for name, code in p.fixed.items():
            held.setdefault(name, []).append((p.name, Dimension.flat(name, [code], total=None)))
    codes: dict[str, dict[str, Codes]] = {}
    known: dict[str, list[Family]] = {}
    doubts: list[str] = []
    for name, several in held.items():
        some = matched([(t, d) for t, d in several if not only_total(d, totals.get(name, ()))])
        if not some:
            continue
        fixed = {p.name for p in publications if name in p.fixed}
        some = [replace(c, fixed=c.table in fixed) for c in some]
        codes[name] = {c.table: c for c in some}
        known[name], words = families(name, some, sums.get(name, {}))
        doubts += [] if name in crossing else words
    return codes, known, doubts


def _other_measures(publications: Sequence[Publication], known: Sequence[str]) -> list[str]:
    """Tables whose numbers have a name that no other table's have: the same, perhaps, under another name."""
    doubts = []
    for p in publications:
        others = {name for other in publications if other is not p for name in other.release.values}
        own = [name for name in p.release.values if name not in known]
        if others and own and not others & set(p.release.values) and not others <= set(known):
            doubts.append(
                f"{p.name!r} has {listed(own)} and not {listed(sorted(others), 3)}, so that it was not set against the "
                "others: say in the mapping what it is called there ([measures]), or that it is something else: "
                f'{own[0]} = "{own[0]}"'
            )
    return doubts


def _apart(publications: Sequence[Publication], known: Mapping[str, list[Family]]) -> list[str]:
    """Tables that cannot be set against those with a dimension that has no total anywhere."""
    doubts = []
    for name, some in known.items():
        if some[0].open:
            held = {p.name: {*p.fixed, *(d.name for d in p.release.dimensions)} for p in publications}
            lacking = [table for table, names in held.items() if name not in names]
            if lacking:
                doubts.append(
                    f"{listed(lacking, 4)} have no {name!r}, and no other table has its total, so that they were not "
                    f"set against the tables that have it; say its code in the mapping: fixed = {{ {name} = ... }}"
                )
    return doubts


def _laid(p: Publication, codes: Mapping[str, Mapping[str, Codes]], known: Mapping[str, list[Family]]) -> LaidTable:
    axes, places, leaves, fixed = [], [], {}, {}
    names = [d.name for d in p.release.dimensions]
    for name, some in known.items():
        own = codes[name].get(p.name)
        if own is None:
            if some[0].open:
                fixed[name] = (some[0].size,)
                leaves[name] = some[0].size
            continue
        family = _family_of(p.name, own, some)
        leaves[family.name] = family.size
        axes.append(_axis(own, family))
        places.append(names.index(name) if name in names else -1)
    if not axes:  # a single number, of everybody
        axes, places = [Axis("", (WHOLE,), ((1,),), (), 0)], [-1]
        leaves[""] = 1
    shape = tuple(len(d.codes) for d in p.release.dimensions)
    return LaidTable(tuple(axes), leaves, fixed, tuple(places), shape)


def _family_of(table: str, codes: Codes, some: Sequence[Family]) -> Family:
    own = [code for code in codes.same.values() if code != WHOLE]
    for family in some:
        if all(code in family.parts for code in own):
            return family
    raise DividedDifferentlyError(
        f"{table!r}: its codes of {codes.dimension.name!r} belong to different ways of dividing the whole; give a "
        "codebook or a mapping with [sums]"
    )


def _axis(codes: Codes, family: Family) -> Axis:
    """The codes of a table over the finest parts; what they leave out, and the whole, behind them."""
    dimension = codes.dimension
    position = dimension.position
    parts = [family.parts[codes.same[code]] for code in dimension.codes]
    sums = [(position[c], tuple((position[p], s) for p, s in of)) for c, of in dimension.relations]
    texts = list(dimension.codes)
    if family.open:
        return Axis(family.name, tuple(texts), tuple(parts), tuple(sums))
    if dimension.total is not None:
        return Axis(family.name, tuple(texts), tuple(parts), tuple(sums), position[dimension.total])
    leaves = [position[leaf] for leaf in dimension.leaves]
    rest = set(range(1, family.size + 1)) - {p for leaf in leaves for p in parts[leaf]}
    if rest:
        leaves.append(len(texts))
        texts, parts = [*texts, "rest"], [*parts, tuple(sorted(rest))]
    sums.append((len(texts), tuple((leaf, 1) for leaf in leaves)))
    return Axis(family.name, (*texts, WHOLE), (*parts, family.parts[WHOLE]), tuple(sums), len(texts), True)


def _completing(tables: Sequence[LaidTable], known: Mapping[str, list[Family]]) -> tuple[list[LaidTable], list[str]]:
    """Margins that tables share and dimensions that go in a circle, in the finest codes; and what is too large."""
    by_name = {family.name: family for some in known.values() for family in some}
    groups: dict[str, dict[tuple[int, ...], None]] = {}
    for table in tables:
        for axis in table.axes:
            groups.setdefault(axis.name, {}).update(dict.fromkeys(axis.parts))
    everywhere = frozenset(f.name for f in by_name.values() if f.open)  # no table is about all of its codes
    sets = [frozenset(a.name for a in t.axes) | everywhere for t in tables]
    margins, circles = crossed_sets(sets)
    margins += [names for names in _parted_differently(tables, sets) if names not in margins]
    margins += [names for names in _too_coarse(tables, sets) if names not in margins]
    more, words = [], []
    for names in [*margins, *circles]:
        axes = tuple(_classes(by_name[n], groups[n]) for n in sorted(names) if n in by_name)
        if not axes or math.prod(len(a.codes) for a in axes) > MOST_CROSSED:
            words += [FREE.format(listed(sorted(names), 6))] if axes else []
            continue
        more.append(LaidTable(axes, {n: by_name[n].size for n in names}, {}))
    return more, words


def _parted_differently(tables: Sequence[LaidTable], sets: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Sets of dimensions that several tables have, in different codes: they share their finest parts."""
    codes: dict[frozenset[str], set[tuple[Any, ...]]] = {}
    for table, names in zip(tables, sets, strict=True):
        own = tuple(sorted((a.name, frozenset(a.parts)) for a in table.axes))
        codes.setdefault(names, set()).add(own)
    return [names for names, ways in codes.items() if len(ways) > 1]


def _too_coarse(tables: Sequence[LaidTable], sets: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Sets of dimensions of a table in sums of codes that several others have finer, each with another dimension of it.

    Halves by sex and age, places by sex and places by age: what places hold by sex and age binds all three together.
    """
    parts: dict[str, set[tuple[int, ...]]] = {}
    for table in tables:
        for axis in table.axes:
            parts.setdefault(axis.name, set()).update(axis.parts)
    coarse = []
    for table, names in zip(tables, sets, strict=True):
        for axis in table.axes:
            if parts[axis.name] <= {*axis.parts}:
                continue
            shared = {names & other for other in sets if axis.name in other and len(names & other) > 1} - {names}
            if sum(not any(one < another for another in shared) for one in shared) > 1:
                coarse.append(names)
                break
    return list(dict.fromkeys(coarse))


def _classes(family: Family, groups: Mapping[tuple[int, ...], None]) -> Axis:
    if family.open:
        places = range(1, family.size + 1)
        return Axis(family.name, tuple(map(str, places)), tuple((k,) for k in places), ())
    told = [parts for parts in groups if len(parts) < family.size or min(parts) < 0]
    return axis_of_classes(family.name, family.size, told)


def view_together(
    joined: JoinedTables, measure: str, nonnegative: bool | None = None, *, only: Sequence[int] | None = None
) -> View:
    """What all tables with a measure say of each other's cells; ``only`` some of them."""
    from scipy.sparse import coo_array, csr_array

    chosen = [k for k, p in enumerate(joined.publications) if measure in p.release.values]
    chosen = chosen if only is None else [k for k in chosen if k in only]
    some = [joined.publications[k] for k in chosen]
    decimals = max(p.release.decimals[measure] for p in some)
    layouts = tuple(Layout.of(p.release.dimensions) for p in some)
    key = np.concatenate([joined.tables[k].own(joined.common.keys[k]) for k in chosen])
    cells, there = len(key), np.flatnonzero(key != NOBODY)
    if nonnegative is None:
        nonnegative = not any(bool((p.release.values[measure][~p.release.marked] < 0).any()) for p in some)
    from_one = nonnegative and joined.kinds.get(measure) != MAGNITUDE
    lower, upper, left, aside, hidden, unavailable, beyond = shown_cells(
        some, layouts, measure, decimals, from_one=from_one
    )
    many = joined.common.size - 1
    matrix = csr_array(coo_array((np.ones(len(there)), (key[there] - 1, there)), shape=(many, cells)).tocsr())
    known = Known(
        matrix=matrix,
        lower=lower,
        upper=upper,
        inner_lower=np.where(_signed(joined)[1:] | (not nonnegative), -np.inf, 0.0),
        inner_upper=np.full(many, np.inf),
        integer=joined.kinds.get(measure, measure) == "count",
        relations=with_mirrored(_rows(joined, chosen, matrix), layouts, lower, upper),
        ordered=ordered_cells(some, layouts, measure),
    )
    doubts = [f"{p.name}: {text}" for p in some for text in (*p.release.doubts, *strange_marks(p.release))]
    for p in some:
        gone = np.isnan(np.asarray(p.release.values[measure], float))
        doubts += [f"{p.name}: {text}" for text in open_quotients(p.release.quotients.get(measure, ()), gone)]
    return View(
        known,
        None,
        layouts,
        measure,
        decimals,
        left=left,
        unjudged=(*doubts, *joined.doubts),
        names=tuple(p.name for p in some),
        aside=aside,
        sensitive=hidden,
        unavailable=unavailable,
        beyond=beyond if from_one else None,
        means=joined_means(some, layouts, measure),
    )


def _signed(joined: JoinedTables) -> Array:
    """Which common cells take somebody away, so that they may be negative."""
    signed = np.zeros(joined.common.size, bool)
    for table, keys in zip(joined.common.tables, joined.common.keys, strict=True):
        takes = np.zeros([len(a.codes) for a in table.axes], bool)
        for k, axis in enumerate(table.axes):
            some = np.array([any(p < 0 for p in parts) for parts in axis.parts])
            takes |= some.reshape([-1 if j == k else 1 for j in range(takes.ndim)])
        signed[keys[takes.ravel()]] = True
    return signed


def _rows(joined: JoinedTables, chosen: Sequence[int], matrix: csr_array) -> csr_array:
    """The sums over the cells of the tables and, behind them, common cells that no table has; cells that are equal."""
    from scipy.sparse import coo_array, csr_array, vstack

    variable = related.variable_of_inner(matrix)
    cells = matrix.shape[1]
    size = max(cells, int(variable.max(initial=-1)) + 1)
    extra = range(len(joined.tables), len(joined.common.tables))
    sums = [joined.common.sums(k) for k in (*chosen, *extra)]
    entries = vstack(sums, format="coo") if sums else coo_array((0, joined.common.size))
    held = entries.col != NOBODY
    rows = coo_array(
        (entries.data[held], (entries.row[held], variable[entries.col[held] - 1])), shape=(entries.shape[0], size)
    ).tocsr()
    by_cell = matrix.tocsc()
    own = np.flatnonzero(np.diff(by_cell.indptr))
    first = variable[by_cell.indices[by_cell.indptr[own]]]
    again = np.flatnonzero(first != own)
    at = np.arange(len(again))
    ones = np.ones(len(again))
    pairs = coo_array(
        (np.concatenate([ones, -ones]), (np.concatenate([at, at]), np.concatenate([own[again], first[again]]))),
        shape=(len(again), size),
    )
    together = csr_array(vstack([rows, pairs], format="csr"))
    together.eliminate_zeros()
    return csr_array(together[np.flatnonzero(np.diff(together.indptr))])
