"""Simple sub-tables of a hierarchical or linked table, from above: a code with its parts in every dimension at once.

From a layout they are read off its dimensions. From rows alone they are recovered: a sub-table hangs on its grand
total, and a cell k steps below belongs to it if k of the sums that the grand total stands in lead there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT


@dataclass(frozen=True, eq=False)
class Block:
    """The cells of a sub-table, ascending, and its place from above."""

    cells: Array
    level: int

    def __len__(self) -> int:
        return len(self.cells)


@dataclass(frozen=True, eq=False)
class TotalsAndParts:
    """Rows read as sums: for each the total it explains and its parts; −1 where no cell stands alone on its side."""

    problem: Problem
    total: Array

    @classmethod
    def of(cls, problem: Problem) -> TotalsAndParts:
        rows = problem.rows
        total = np.full(rows.shape[0], -1, np.int64)
        for row, (start, end) in enumerate(itertools.pairwise(rows.indptr)):
            cells, data = rows.indices[start:end], rows.data[start:end]
            for side in (data < 0, data > 0):  # a total is written with −1, so of two cells the negative one is
                if side.sum() == 1:
                    total[row] = int(cells[side][0])
                    break
        return cls(problem, total)

    @cached_property
    def parts(self) -> list[list[int]]:
        """The parts of every row."""
        rows = self.problem.rows
        spans = itertools.pairwise(rows.indptr)
        return [[int(c) for c in rows.indices[s:e] if c != t] for (s, e), t in zip(spans, self.total, strict=True)]

    @cached_property
    def of_total(self) -> list[list[int]]:
        """For each cell the rows that it is the total of."""
        of_cell: list[list[int]] = [[] for _ in range(len(self.problem))]
        for row, cell in enumerate(self.total):
            if cell >= 0:
                of_cell[cell].append(row)
        return of_cell

    @cached_property
    def level(self) -> Array:
        """How many sums above each cell, on the longest way; cells in a circle come last."""
        above = np.zeros(len(self.problem), np.int64)
        for row, parts in enumerate(self.parts):
            if self.total[row] >= 0:
                above[parts] += 1
        level = np.zeros(len(self.problem), np.int64)
        ready = np.flatnonzero(above == 0).tolist()
        while ready:
            cell = ready.pop()
            for row in self.of_total[cell]:
                for part in self.parts[row]:
                    level[part] = max(level[part], level[cell] + 1)
                    above[part] -= 1
                    if above[part] == 0:
                        ready.append(part)
        return np.where(above > 0, level.max(initial=0) + 1, level)

    def below(self, top: int, rows: Sequence[int], most: float) -> list[int] | None:
        """The cells of the sub-table under a grand total along some of its sums; None if more than ``most``."""
        deadline.check()
        ways = {top: 0}
        front = [top]
        cells = [top]
        for step in itertools.count(1):
            reached: dict[int, int] = {}
            for cell in front:
                for number, row in enumerate(rows if cell == top else self.of_total[cell]):
                    way = 1 << number if cell == top else ways[cell]
                    for part in self.parts[row]:
                        if part not in ways:
                            reached[part] = reached.get(part, 0) | way
            front = [cell for cell, way in reached.items() if way.bit_count() >= step]
            ways.update((cell, reached[cell]) for cell in front)
            cells += front
            if len(cells) > most:
                return None
            if not front:
                return cells
        raise AssertionError("a sub-table ends")  # pragma: no cover


def blocks_of_rows(
    problem: Problem, largest: int = DEFAULT.hitas.largest, most_faces: int = DEFAULT.hitas.most_faces
) -> list[Block]:
    """The sub-tables that can be read off the rows, from above; every row lies in one of them.

    >>> from scipy.sparse import csr_array
    >>> from discreet.methods.suppress.model.problem import Requirements
    >>> rows = csr_array(np.array([[-1.0, 1, 1, 0, 0], [0, -1, 0, 1, 1]]))  # 0 = 1 + 2, 1 = 3 + 4
    >>> one, none = np.ones(5), Requirements.of(*np.zeros((3, 0)))
    >>> [b.cells.tolist() for b in blocks_of_rows(Problem(rows, one, one, one, one < 0, none))]
    [[0, 1, 2], [1, 3, 4]]
    """
    sums = TotalsAndParts.of(problem)
    level = sums.level
    blocks = []
    for top, rows in enumerate(sums.of_total):
        if rows:
            blocks += [Block(np.sort(cells), int(level[top])) for cells in _faces(sums, top, rows, largest, most_faces)]
    for row in np.flatnonzero(sums.total < 0):
        if cells := sums.parts[row]:
            blocks.append(Block(np.unique(cells), int(level[cells].max())))
    return maximal(blocks)


def _faces(sums: TotalsAndParts, top: int, rows: Sequence[int], largest: int, most_faces: int) -> list[list[int]]:
    """The whole sub-table under a grand total, or its faces of as many dimensions as are small enough."""
    whole = sums.below(top, rows, largest)
    if whole is not None:
        return [whole]
    for order in (3, 2):
        if order < len(rows) and math.comb(len(rows), order) <= most_faces:
            faces = [sums.below(top, face, largest) for face in itertools.combinations(rows, order)]
            if kept := [cells for cells in faces if cells is not None]:
                return kept + [[top, *sums.parts[row]] for row in rows]
    return [[top, *sums.parts[row]] for row in rows]


def maximal(blocks: Sequence[Block]) -> list[Block]:
    """The blocks that lie in no other one, from above."""
    held: dict[int, list[set[int]]] = {}
    kept = []
    for block in sorted(blocks, key=lambda b: -len(b)):
        deadline.check()
        cells = set(block.cells.tolist())
        nearby = min((held.get(c, []) for c in cells), key=len)
        if any(cells <= larger for larger in nearby):
            continue
        kept.append(block)
        for cell in cells:
            held.setdefault(cell, []).append(cells)
    return sorted(kept, key=lambda b: (b.level, b.cells.tolist()))


def rows_of(problem: Problem, blocks: Sequence[Block], can: Array) -> list[Array]:
    """For each block the rows that tie cells of it alone, but for cells that cannot move."""
    columns = problem.rows.tocsc()
    entries = problem.rows.tocoo()
    size = np.bincount(entries.row, can[entries.col] & (entries.data != 0), minlength=problem.rows.shape[0])
    inside = []
    for block in blocks:
        rows, times = np.unique(columns[:, block.cells[can[block.cells]]].indices, return_counts=True)
        inside.append(rows[times == size[rows]])
    return inside


def completed(problem: Problem, blocks: Sequence[Block]) -> list[Block]:
    """Blocks such that every row lies in one: those given, and further ones for rows that do not."""
    can = np.ones(len(problem), bool)
    seen = np.zeros(problem.rows.shape[0], bool)
    for rows in rows_of(problem, blocks, can):
        seen[rows] = True
    seen |= np.diff(problem.rows.indptr) == 0
    return [*blocks] if seen.all() else [*blocks, *blocks_of_rows(replace(problem, rows=problem.rows[~seen]))]


def widened(blocks: Sequence[Block], free: Array, most: int) -> list[Array]:
    """Each block's cells with those of the blocks that share most cells with it, as long as ``most`` have a choice."""
    from scipy.sparse import csr_array

    inside = [b.cells[free[b.cells]] for b in blocks]
    ends = np.cumsum([0, *(len(c) for c in inside)])
    cells = np.concatenate(inside) if inside else np.empty(0, np.int64)
    member = csr_array((np.ones(len(cells)), cells, ends), shape=(len(blocks), len(free)))
    shared = member @ member.T
    areas: dict[bytes, Array] = {}
    for k, own in enumerate(inside):
        deadline.check()
        here = set(own.tolist())
        near, size = shared.indices[shared.indptr[k] : shared.indptr[k + 1]], shared.data
        weight = size[shared.indptr[k] : shared.indptr[k + 1]]
        for other in near[np.lexsort((near, -weight))]:
            wider = here | set(inside[other].tolist())
            if len(wider) <= most:
                here = wider
        area = np.array(sorted(here), np.int64)
        if len(area):
            areas.setdefault(area.tobytes(), area)
    return list(areas.values())


def grouped(blocks: Sequence[Block], free: Array) -> list[list[int]]:
    """Numbers of blocks from above, in groups that share no cell with a choice and can be solved at the same time."""
    batches = []
    for level in sorted({b.level for b in blocks}):
        left = [k for k, b in enumerate(blocks) if b.level == level]
        while left:
            taken = np.zeros(len(free), bool)
            batch, later = [], []
            for k in left:
                mine = blocks[k].cells[free[blocks[k].cells]]
                if taken[mine].any():
                    later.append(k)
                else:
                    taken[mine] = True
                    batch.append(k)
            batches.append(batch)
            left = later
    return batches
