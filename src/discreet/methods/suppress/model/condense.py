"""Presolve: a smaller problem with the same optimum.

Cells that cannot move are left out, those that move together are one.

If two cells move in step (each a fixed multiple of the other) then showing one shows the other, so a pattern hides both
or neither. In hierarchical tables, where a group may have one member, that halves many problems, and cells that need
protection most of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.linear import null_space as moves
from discreet.methods.suppress.model.problem import Problem, Requirements

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Condensed:
    """The smaller problem, a basis of its moves, and how cells belong to it.

    ``group`` is the number of each cell's variable in the smaller problem, −1 for cells that stay published (or are
    hidden and known). ``base`` is the weight of the cells that must be hidden with those that need protection.
    ``hopeless`` are numbers of needs that no pattern meets.
    """

    whole: Problem
    small: Problem
    moves: csr_array
    group: Array
    base: float
    hopeless: Array

    def expand(self, pattern: Array) -> Array:
        """A pattern of the cells from one of the smaller problem."""
        at = np.where(self.group >= 0, self.group, 0)
        chosen = pattern[at] if len(pattern) else np.zeros(len(self.group), bool)
        return np.asarray(self.whole.hidden | ((self.group >= 0) & chosen))

    def shrink(self, pattern: Array) -> Array:
        """The smaller problem's pattern for a protecting one of the cells: what can move under it is hidden."""
        shown = np.zeros(len(self.small), bool)
        out = (self.group >= 0) & ~pattern
        shown[self.group[out]] = True
        return ~shown | self.small.hidden


def condense(problem: Problem) -> Condensed:
    """Leave out what cannot move and merge what moves together."""
    from scipy.sparse import coo_array, csr_array

    able = (problem.down > 0) | (problem.up > 0)
    movable = np.flatnonzero((problem.free | problem.hidden) & able)
    rows = csr_array(problem.rows[:, movable])
    rows = rows[np.diff(rows.indptr) > 0]
    space = moves.basis(rows)
    group, factor = _in_step(space)
    n = int(group.max(initial=-1)) + 1
    inside = np.flatnonzero(group >= 0)
    cell, of, scale = movable[inside], group[inside], factor[inside]
    down, up = np.full(n, np.inf), np.full(n, np.inf)
    with np.errstate(invalid="ignore"):
        low = np.where(scale > 0, problem.down[cell], problem.up[cell]) / np.abs(scale)
        high = np.where(scale > 0, problem.up[cell], problem.down[cell]) / np.abs(scale)
    np.minimum.at(down, of, low)
    np.minimum.at(up, of, high)
    weight = np.bincount(of, np.where(problem.hidden[cell], 0, problem.weight[cell]), n)
    whole = np.full(len(problem), -1)
    whole[cell] = of
    size = np.zeros(len(problem))
    size[cell] = scale
    needs, hopeless = _needs(problem.needs, whole, size, down, up)
    hidden = weight == 0
    hidden[needs.cell] = True
    base = float(weight[hidden].sum())
    first = np.full(n, -1)
    first[of[::-1]] = inside[::-1]
    map_ = csr_array(coo_array((scale, (inside, of)), shape=(len(movable), n)))
    small = Problem(_distinct(csr_array(rows @ map_)), down, up, np.where(hidden, 0, weight), hidden, needs)
    return Condensed(problem, small, csr_array(space[first]), whole, base, hopeless)


def _in_step(space: csr_array) -> tuple[Array, Array]:
    """For each cell the number of its group and its move as a multiple of the group's; −1 where it cannot move."""
    names: dict[bytes, int] = {}
    group, factor = np.full(space.shape[0], -1), np.zeros(space.shape[0])
    first: list[float] = []
    for i in range(space.shape[0]):
        a, b = space.indptr[i], space.indptr[i + 1]
        if a == b:
            continue
        value = space.data[a:b] / space.data[a]
        name = space.indices[a:b].tobytes() + np.round(value, 6).astype(np.float32).tobytes()
        if name not in names:
            names[name] = len(names)
            first.append(float(space.data[a]))
        group[i] = names[name]
        factor[i] = space.data[a] / first[group[i]]
    return group, factor


def _needs(needs: Requirements, group: Array, factor: Array, down: Array, up: Array) -> tuple[Requirements, Array]:
    """Requirements of the groups, the widest of several; and those that cannot be met."""
    at, scale = group[needs.cell], factor[needs.cell]
    lost = at < 0
    size = np.where(lost, 1, np.abs(scale))
    below = np.where(scale >= 0, needs.below, needs.above) / size
    above = np.where(scale >= 0, needs.above, needs.below) / size
    sliding = needs.sliding / size
    room_down, room_up = np.append(down, 0.0)[at], np.append(up, 0.0)[at]  # none where it is lost: at is -1
    near = 1 + 1e-9
    lost |= (below > room_down * near) | (above > room_up * near) | (sliding > (room_down + room_up) * near)
    asked = (needs.below > 0) | (needs.above > 0) | (needs.sliding > 0)
    merged: dict[tuple[int, int], list[float]] = {}
    for k in np.flatnonzero(~lost & asked):
        here = merged.setdefault((int(at[k]), int(needs.coalition[k])), [0.0, 0.0, 0.0])
        here[:] = [max(a, float(b)) for a, b in zip(here, (below[k], above[k], sliding[k]), strict=True)]
    keys = sorted(merged)
    cells = np.array([c for c, _ in keys], np.int64)
    values = np.array([merged[k] for k in keys]).reshape(len(keys), 3).T
    coalition = np.array([c for _, c in keys], np.int64)
    known = tuple(np.unique(group[k][group[k] >= 0]) for k in needs.known)
    return Requirements(cells, values[0], values[1], values[2], coalition, known), np.flatnonzero(lost & asked)


def _distinct(rows: csr_array) -> csr_array:
    """The rows that say something, each once."""
    from scipy.sparse import csr_array

    rows.data[np.abs(rows.data) < moves.NOTHING] = 0
    rows.eliminate_zeros()
    rows.sort_indices()
    seen: dict[bytes, int] = {}
    for r in range(rows.shape[0]):
        a, b = rows.indptr[r], rows.indptr[r + 1]
        if b > a:
            value = np.round(rows.data[a:b] / rows.data[a], 9)
            seen.setdefault(rows.indices[a:b].tobytes() + value.tobytes(), r)
    return csr_array(rows[np.array(sorted(seen.values()), np.int64)])


def with_choice(problem: Problem, pattern: Array, choice: Array) -> Condensed:
    """The problem with a choice for some cells only; the others stay as a pattern has them."""
    rest = problem.free & ~choice
    return condense(problem.settled(rest & ~pattern, rest & pattern))


def hidden_part_with_moves(problem: Problem, pattern: Array) -> tuple[Problem, Array, csr_array]:
    """The hidden cells alone as a problem of their own, their numbers in the whole, and a basis of their moves."""
    part, cells = hidden_part(problem, pattern)
    return part, cells, moves.basis(part.rows)


def hidden_part(problem: Problem, pattern: Array) -> tuple[Problem, Array]:
    """The hidden cells alone as a problem of their own, and their numbers in the whole."""
    from scipy.sparse import csr_array

    hidden = np.asarray(pattern, bool) | problem.hidden
    able = (problem.down > 0) | (problem.up > 0)
    needed = np.zeros(len(problem), bool)
    needed[problem.needs.cell] = True
    cells = np.flatnonzero((hidden & able) | needed)
    place = np.full(len(problem), -1)
    place[cells] = np.arange(len(cells))
    rows = csr_array(problem.rows[:, cells])
    rows = rows[np.diff(rows.indptr) > 0]
    needs = problem.needs
    known = tuple(place[k][place[k] >= 0] for k in needs.known)
    part = Requirements(place[needs.cell], needs.below, needs.above, needs.sliding, needs.coalition, known)
    cut = (problem.down[cells], problem.up[cells], problem.weight[cells], problem.hidden[cells])
    return Problem(rows, *cut, part), cells
