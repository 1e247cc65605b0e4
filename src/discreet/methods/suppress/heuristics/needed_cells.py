"""Proofs that a need cannot do without cells: what each cell can bring towards a level at most, added up.

A proof is a share of the level for each cell, so that a pattern whose shares add up to less than 1 does not protect:
one for each sum that a need's cell is in, and one for each refusal of the attacker's program. They hold for every
pattern, so each is worked out once, and tells of many patterns which cells they cannot lose.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.attacker.cheapest_move import ranges
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


class NeededCells:
    """All proofs, their sums over a pattern, and which of some cells the pattern can lose by what they say."""

    def __init__(self, problem: Problem, pattern: Array, tuning: Tuning = DEFAULT) -> None:
        self.least = 1 - tuning.attacker.shortfall
        self.problem, self.open = problem, pattern & problem.free
        self.need = np.empty(0, np.int64)
        self.total = np.empty(0)  # over the pattern
        self.parts: list[list[tuple[Array, Array]]] = [[] for _ in range(len(problem))]
        self.columns: dict[int, tuple[Array, Array]] = {}
        for proofs in _of_sums(problem, pattern, self.least):
            self._note(*proofs)

    def add(self, need: int, shares: Array, pattern: Array) -> None:
        """Note the proof of a refusal; the pattern is the one that the sums are over."""
        shares = np.minimum(shares, 1.0)
        at = np.flatnonzero(self.open & (shares > 0))
        nothing = np.zeros(len(at), np.int64)
        self._note(np.array([need]), np.array([float(shares[pattern].sum())]), nothing, at, shares[at])

    def _note(self, need: Array, total: Array, proof: Array, cell: Array, share: Array) -> None:
        """Note proofs by their entries."""
        proof = proof + len(self.need)
        self.need, self.total = np.append(self.need, need), np.append(self.total, total)
        order = np.argsort(cell, kind="stable")
        cell, proof, share = cell[order], proof[order], share[order]
        start = np.flatnonzero(np.append(True, cell[1:] != cell[:-1])) if len(cell) else np.empty(0, np.int64)
        for a, b in zip(start.tolist(), [*start[1:].tolist(), len(cell)], strict=False):
            here = int(cell[a])
            self.parts[here].append((proof[a:b], share[a:b]))
            self.columns.pop(here, None)

    def _column(self, cell: int) -> tuple[Array, Array]:
        """The proofs that a cell is in, and its share in each."""
        if cell not in self.columns:
            parts = self.parts[cell]
            if not parts:
                return np.empty(0, np.int64), np.empty(0)
            proof, share = (np.concatenate(column) for column in zip(*parts, strict=True))
            self.parts[cell] = [(proof, share)]
            self.columns[cell] = proof, share
        return self.columns[cell]

    def spared(self, cells: Iterable[int]) -> tuple[list[int], Array]:
        """Those of some cells that the pattern can lose, one after the other, by all proofs; the sums without them."""
        total, gone = self.total.copy(), list[int]()
        for cell in cells:
            proof, share = self._column(cell)
            left = total[proof] - share
            if not (left < self.least).any():
                total[proof] = left
                gone.append(cell)
        return gone, total

    def lose(self, cells: Iterable[int]) -> None:
        """The pattern has lost some cells."""
        for cell in cells:
            proof, share = self._column(cell)
            self.total[proof] -= share

    def tightness(self, total: Array, needs: int) -> Array:
        """For each need the least sum of its proofs: the nearer to 1, the sooner it is refused."""
        out = np.full(needs, np.inf)
        np.minimum.at(out, self.need, total)
        return out


def _of_sums(problem: Problem, pattern: Array, least: float) -> Iterable[tuple[Array, Array, Array, Array, Array]]:
    """The proofs that each sum of a need's cell gives: what it moves by, the others in the sum must make up for.

    Needs, sums over the pattern, and for each entry proof, cell and share. Left out is what no choice can break.
    """
    needs = problem.needs
    slides = (needs.below <= 0) & (needs.above <= 0)
    yield from _one_kind(problem, pattern, np.flatnonzero(needs.above > 0), needs.above, 1, least)
    yield from _one_kind(problem, pattern, np.flatnonzero(needs.below > 0), needs.below, -1, least)
    yield from _one_kind(problem, pattern, np.flatnonzero(slides & (needs.sliding > 0)), needs.sliding, 0, least)


def _one_kind(
    problem: Problem, pattern: Array, asked: Array, level: Array, sign: int, least: float
) -> Iterable[tuple[Array, Array, Array, Array, Array]]:
    """The same for needs of one kind: upwards, downwards (-1) or both together (0)."""
    if not len(asked):
        return
    needs, columns, rows = problem.needs, problem.rows.tocsc(), problem.rows.tocsr()
    cell = needs.cell[asked]
    first, last = columns.indptr[cell], columns.indptr[cell + 1]
    at = ranges(first, last)
    need, row, own = np.repeat(asked, last - first), columns.indices[at], columns.data[at]
    first, last = rows.indptr[row], rows.indptr[row + 1]
    at = ranges(first, last)
    proof = np.repeat(np.arange(len(row)), last - first)
    other, slope = rows.indices[at], -rows.data[at] / own[proof]
    up, down = problem.up[other], problem.down[other]
    most = up + down if sign == 0 else np.where(slope * sign > 0, up, down)
    share = np.minimum(np.abs(slope) * most / level[need[proof]], 1.0)
    known = [group * len(problem) + cells for group, cells in enumerate(needs.known)]
    group = needs.coalition[need[proof]]
    barred = np.isin(group * len(problem) + other, np.concatenate(known)) & (group >= 0) if known else group < -1
    share[(other == needs.cell[need[proof]]) | ~pattern[other] | barred] = 0
    fixed = np.bincount(proof, np.where(problem.free[other], 0, share), len(row))
    kept = fixed < least
    number = np.cumsum(kept) - 1
    total = np.bincount(proof, share, len(row))[kept]
    entry = kept[proof] & problem.free[other] & (share > 0)
    yield need[kept], total, number[proof[entry]], other[entry], share[entry]
