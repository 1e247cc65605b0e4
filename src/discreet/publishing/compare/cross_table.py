"""Which hidden cells follow from the published tables of a source together.

Cells of all tables are the variables, sums within the tables the equations; tables hang together by the cells they have
in common. For tables with their margins that is the whole linear system: what two tables say about each other goes
through the margin they share. Small systems also get all the cells that no table shows, which must not be negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from discreet.audits.joined.common_cells import NOBODY, Axis, CommonCells, axis_of_classes
from discreet.base.annotations import Array
from discreet.errors import Unjudged
from discreet.linear.components import labels
from discreet.linear.system import ContradictionError, System
from discreet.linear.witness import movable
from discreet.publishing.compare.published_table import Shown

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DEEP = 20_000  # cells of the product of everything that the common cells are completed with
NONE: Array = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class Derived:
    """Numbers of common cells, and of the tables that give them away together."""

    together: Array = field(default_factory=lambda: NONE)
    tables: Array = field(default_factory=lambda: NONE)
    alone: Array = field(default_factory=lambda: NONE)
    contradiction: bool = False
    unchecked: tuple[tuple[str, Array], ...] = ()


@dataclass(frozen=True, eq=False)
class Facts:
    """What some tables say: equations with the table each comes from, and what is shown of every cell."""

    rows: csr_array
    owner: Array
    value: Array
    lower: Array
    targets: Array
    integer: bool


def derived(common: CommonCells[Shown], measure: str, most: int) -> Derived:
    """Hidden cells with one possible value, given everything; those that their own unit gives away are told apart."""
    chosen = [t for t, s in enumerate(common.tables) if measure in s.values and s.exact]
    facts = _facts(common, chosen, measure)
    targets = facts.targets[np.isnan(facts.value[facts.targets])]  # hidden here and shown there is another finding
    try:
        known = _known(common, chosen, measure, targets, most)
        own = _own(common, chosen, measure, known.cells, most)
    except ContradictionError:
        return Derived(contradiction=True)
    except Unjudged as error:
        return Derived(unchecked=((str(error), targets),))
    together = np.setdiff1d(known.cells, own)
    tables = _involved(common, chosen, facts, np.setdiff1d(together, known.deep))
    if len(np.intersect1d(together, known.deep)):
        tables = np.array(chosen)
    return Derived(together=together, tables=tables, alone=own, unchecked=known.unchecked)


@dataclass(frozen=True, eq=False)
class KnownCells:
    """Cells that have one possible value; ``deep`` are those that only cells which no table shows give away."""

    cells: Array
    deep: Array
    unchecked: tuple[tuple[str, Array], ...]


def _known(common: CommonCells[Shown], chosen: list[int], measure: str, targets: Array, most: int) -> KnownCells:
    cells, unchecked = _settled(_facts(common, chosen, measure, targets=targets), most)
    left = np.setdiff1d(targets, cells)
    if not len(left):
        return KnownCells(cells, NONE, tuple(unchecked))
    whole = _completed(common, chosen)
    if whole is None:
        text = "that cells which no table shows cannot be negative was not used: there are too many of them"
        return KnownCells(cells, NONE, (*unchecked, (text, left)))
    there = np.zeros(common.size, np.int64)
    for old, new in zip(common.keys, whole.keys, strict=False):
        there[old] = new
    facts = _facts(whole, [*chosen, len(common.tables)], measure, targets=there[left])
    more, late = _settled(facts, most)
    deep = left[np.isin(there[left], more)]
    back = tuple((text, left[np.isin(there[left], c)]) for text, c in late)
    return KnownCells(np.union1d(cells, deep), deep, (*unchecked, *back))


def _facts(common: CommonCells[Shown], chosen: list[int], measure: str, *, targets: Array | None = None) -> Facts:
    from scipy.sparse import csr_array, vstack

    sums = [common.sums(t) for t in chosen]
    value = np.full(common.size, np.nan)
    hidden: list[Array] = [NONE]
    tables = [(t, common.tables[t]) for t in chosen if measure in common.tables[t].values]
    most = max(s.decimals[measure] for _, s in tables)
    for t, shown in tables:
        scale = 10.0 ** (most - shown.decimals[measure])
        value[common.cells[t][~shown.hidden]] = shown.values[measure][~shown.hidden] * scale
        hidden.append(common.cells[t][shown.hidden])
    value[NOBODY] = 0
    lower = np.zeros(common.size)
    if (value < 0).any():
        lower[:] = -np.inf
    for t in chosen:
        lower[common.keys[t][_signed(common.tables[t])]] = -np.inf
    wanted = np.unique(np.concatenate(hidden)) if targets is None else targets
    rows = csr_array(vstack(sums, format="csr"))
    owner = np.repeat(chosen, [s.shape[0] for s in sums])
    return Facts(rows, owner, value, lower, wanted[wanted != NOBODY], measure == "count")


def _signed(shown: Shown) -> Array:
    """Which combinations of a table's codes take somebody away."""
    out = np.zeros([len(a.codes) for a in shown.axes], bool)
    for k, axis in enumerate(shown.axes):
        some = np.array([any(p < 0 for p in parts) for parts in axis.parts])
        out |= some.reshape([-1 if j == k else 1 for j in range(out.ndim)])
    return out.ravel()


def _settled(facts: Facts, most: int) -> tuple[Array, list[tuple[str, Array]]]:
    """Targets with one possible value, and those in parts too large for a programme, where single sums only count."""
    rows, rhs, variables, label = _parts(facts)
    wanted = np.isin(variables, facts.targets)
    size = np.bincount(label, minlength=1)
    small = (size <= most)[label] & np.isin(label, label[wanted])
    large = (size > most)[label] & np.isin(label, label[wanted])
    some, right = _only(rows, rhs, small)
    known = np.zeros(len(variables), bool)
    if wanted[small].any():
        system = System(some, right, facts.lower[variables[small]], np.full(int(small.sum()), np.inf), facts.integer)
        targets = np.flatnonzero(wanted[small])
        known[np.flatnonzero(small)[targets[~movable(system, targets)]]] = True
    if not large.any():
        return variables[known], []
    at = np.flatnonzero(large)
    known[at[_singly(_only(rows, rhs, large)[0])]] = True
    cells = variables[large & wanted]
    text = (
        f"{len(cells):,} hidden cells are connected with more than {most:,} others (most_cells): only what follows "
        "from one sum after the other was looked for, not what linear programs would find"
    )
    return variables[known & wanted], [(text, cells)]


def _only(rows: csr_array, rhs: Array, columns: Array) -> tuple[csr_array, Array]:
    """The equations over some variables, where these hang together with no others."""
    from scipy.sparse import csr_array

    some = csr_array(rows[:, np.flatnonzero(columns)])
    used = np.flatnonzero(np.diff(some.indptr))
    some = csr_array(some[used])
    some.sort_indices()
    return some, rhs[used]


def _parts(facts: Facts) -> tuple[csr_array, Array, Array, Array]:
    """Equations over open cells alone, which cells these are, and which of them hang together."""
    from scipy.sparse import csr_array

    variables = np.flatnonzero(np.isnan(facts.value))
    rhs = -(facts.rows @ np.nan_to_num(facts.value))
    rows = csr_array(facts.rows[:, variables])
    used = np.flatnonzero(np.diff(rows.indptr))
    rows = csr_array(rows[used])
    return rows, rhs[used], variables, labels(rows)[1]


def _singly(rows: csr_array) -> Array:
    """Variables that follow from sums with a single unknown, one after the other."""
    open_ = np.ones(rows.shape[1], bool)
    while True:
        single = np.flatnonzero((abs(rows) > 0).astype(int) @ open_.astype(int) == 1)
        new = np.unique(rows[single].indices)
        new = new[open_[new]]
        if not len(new):
            return np.flatnonzero(~open_)
        open_[new] = False


def _completed(common: CommonCells[Shown], chosen: list[int]) -> CommonCells[Shown] | None:
    """The cells with one more table: everything crossed, no finer than what some table tells apart."""
    tables = [common.tables[t] for t in chosen]
    axes: list[Axis] = []
    for name, groups in common.groups.items():
        leaves = next((t.leaves[name] for t in tables if name in t.leaves), 0)
        if leaves and groups:
            axes.append(axis_of_classes(name, leaves, list(groups)))
    if not axes or math.prod(len(a.codes) for a in axes) > DEEP:
        return None
    empty = np.zeros((0, len(axes)), np.int32)
    every = Shown(
        name="",
        unit="",
        source="",
        axes=tuple(axes),
        leaves={n: v for t in tables for n, v in t.leaves.items()},
        fixed={},
        fixed_words="",
        cells=empty,
        hidden=np.zeros(0, bool),
        values={},
        decimals={},
        exact=True,
    )
    return CommonCells.of([*common.tables, every])


def _own(common: CommonCells[Shown], chosen: list[int], measure: str, known: Array, most: int) -> Array:
    """Of cells that are known, those that the tables protected together with theirs give away already."""
    settled_by_unit = [NONE]
    for unit in dict.fromkeys(common.tables[t].unit for t in chosen):
        some = [t for t in chosen if common.tables[t].unit == unit]
        hidden = np.concatenate([common.cells[t][common.tables[t].hidden] for t in some])
        targets = np.intersect1d(hidden, known)
        if len(targets):
            settled_by_unit.append(_known(common, some, measure, targets, most).cells)
    return np.unique(np.concatenate(settled_by_unit))


def _involved(common: CommonCells[Shown], chosen: list[int], facts: Facts, cells: Array) -> Array:
    """Tables whose sums, or whose shown cells in the sums of others, lead to some cells."""
    if not len(cells):
        return NONE
    _, _, variables, label = _parts(facts)
    inside = np.zeros(common.size)
    inside[variables[np.isin(label, label[np.isin(variables, cells)])]] = 1
    rows = np.flatnonzero(abs(facts.rows) @ inside)
    involved = set(facts.owner[rows].tolist())
    for t in list(involved):
        mine = np.unique(facts.rows[rows[facts.owner[rows] == t]].indices)
        lent = np.setdiff1d(mine[~np.isnan(facts.value[mine])], common.cells[t][~common.tables[t].hidden])
        involved |= {o for o in chosen if o != t and np.isin(lent, common.cells[o]).any()}
    involved |= {t for t in chosen if np.isin(cells, common.cells[t]).any()}
    return np.array(sorted(involved), np.int64)
