"""Separation: the valid inequalities that a pattern violates, one for each aim that it does not reach.

Moves found are kept: a pattern that allows an old one for some aim needs no program for it.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base import parallel
from discreet.base.annotations import Array
from discreet.methods.suppress.attacker.furthest_move import Aim, FurthestMove, aims
from discreet.methods.suppress.exact.inequalities import Cut, inequality
from discreet.methods.suppress.model.condense import Condensed
from discreet.methods.suppress.model.tuning import DEFAULT, WHOLE, Tuning


@dataclass(frozen=True, eq=False)
class NeededMoves:
    """The cells that the moves of an aim need, and by how much; none if no moves are known."""

    cells: Array
    by: Array


NONE = NeededMoves(np.empty(0, np.int64), np.empty(0))


class Separation:
    """Violated inequalities of all aims, several lanes at work, old moves looked up first."""

    def __init__(self, condensed: Condensed, *, lanes: int | None = None, tuning: Tuning = DEFAULT) -> None:
        self.tuning, self.exact = tuning, tuning.exact
        self.problem = condensed.small
        self.aims = aims(self.problem)
        number = parallel.lanes(len(self.aims), tuning.exact.lane) if lanes is None else lanes
        self.programs = [FurthestMove(condensed, tuning) for _ in range(number)]
        self.witness = [NONE] * len(self.aims)
        self.slack = np.array([1e-6 * aim.level for aim in self.aims])
        self.order = list(range(len(self.aims)))
        self.separated = 0  # inequalities, in all calls
        self.until = np.inf  # when to stop, although aims are left
        self.complete = True  # whether the last call looked at every aim
        self.lock = threading.Lock()

    def short(self, x: Array) -> list[int]:
        """The aims, in their order, for which the moves last found are not possible under a pattern."""
        from discreet.methods.suppress.exact._kernels import moves_fit

        if not self.aims:
            return []
        start = np.concatenate([[0], np.cumsum([len(w.cells) for w in self.witness])])
        cells = np.concatenate([w.cells for w in self.witness])
        by = np.concatenate([w.by for w in self.witness])
        possible = np.empty(len(self.aims), bool)
        moves_fit(start, cells, by, self.problem.down, self.problem.up, np.asarray(x, float), self.slack, possible)
        return [k for k in self.order if not possible[k]]

    def __call__(
        self,
        x: Array,
        *,
        cap: float = 1.0,
        tolerance: float | None = None,
        most: float = np.inf,
        misses: float = np.inf,
    ) -> list[Cut]:
        """The inequality of each aim that x does not reach.

        With ``most`` it stops after so many a lane, with ``misses`` after so many aims that it does reach.
        """
        todo = self.short(x)
        slack = self.exact.violated if tolerance is None else tolerance
        workers = self.programs if len(todo) >= self.exact.lanes_from else self.programs[:1]
        violations: list[tuple[int, Cut]] = []
        cold: set[int] = set()
        self.complete = True

        def work(number: int) -> None:  # a fixed share each: the same inequalities in every run
            mine = missed = 0
            for k in todo[number :: len(workers)]:
                if mine >= most or missed >= misses:
                    return
                if time.monotonic() > self.until:
                    self.complete = False
                    return
                limits = workers[number].limits(self.aims[k], x, cap, slack)
                cut = None if limits.shares is None else inequality(self.problem, limits.shares, self.tuning)
                with self.lock:
                    if cut is not None:
                        violations.append((k, cut))
                        mine += 1
                    else:
                        missed += 1
                        cold.add(k)
                        self.witness[k] = _exactly(self.aims[k], limits.moves)

        parallel.side_by_side(work, range(len(workers)))
        self.separated += len(violations)
        hot = [k for k, _ in sorted(violations, key=lambda pair: pair[0])]
        rest = cold.union(hot)
        self.order = hot + [k for k in self.order if k not in rest] + [k for k in self.order if k in cold]
        return [cut for _, cut in sorted(violations, key=lambda pair: pair[0])]


def _exactly(aim: Aim, moves: list[Array]) -> NeededMoves:
    """Moves that reach the level, not further: the shorter, the more patterns allow them."""
    total = sum(sign * float(move[aim.cell]) for sign, move in zip(aim.signs, moves, strict=False))
    if total <= 0:
        return NONE
    scaled = [move * min(1.0, aim.level / total) for move in moves]
    cells = [np.flatnonzero(np.abs(move) > 1e-7 * aim.level) for move in scaled]
    return NeededMoves(np.concatenate(cells), np.concatenate([m[c] for m, c in zip(scaled, cells, strict=True)]))


def violated(separation: Separation, x: Array, *, most: float = np.inf) -> list[Cut]:
    """Inequalities that a pattern violates; a whole pattern without any protects."""
    whole = bool((np.abs(x - np.rint(x)) < WHOLE).all())
    x = np.rint(x) if whole else x
    cuts = separation(x, most=most)
    if not cuts and whole and separation.complete:
        cuts = separation(x, cap=separation.tuning.attacker.far, tolerance=WHOLE, most=most)
    return [kept for cut in cuts for kept in dict.fromkeys((cut, cut.covered(x, separation.tuning)))]


class CutPool:
    """All inequalities found, to be looked through for those that a pattern violates."""

    def __init__(self, n: int, place: Array, tuning: Tuning = DEFAULT) -> None:
        self.exact = tuning.exact
        self.n, self.place = n, place
        self.rows, self.names = list[Cut](), set[bytes]()
        self.matrix: Any = None
        self.ready = 0
        self.lock = threading.Lock()

    def add(self, cuts: list[Cut]) -> None:
        """Note those that are not there yet."""
        with self.lock:
            for cut in cuts:
                if cut.name not in self.names:
                    self.names.add(cut.name)
                    self.rows.append(cut)

    def violated(self, x: Array, most: int) -> list[Cut]:
        """Those that a pattern (of the cells with a choice) violates most."""
        from scipy.sparse import csr_array

        with self.lock:
            if len(self.rows) > self.exact.pool_grown * self.ready + self.exact.pool_new:
                self.ready = len(self.rows)
                start = np.concatenate([[0], np.cumsum([len(r.cell) for r in self.rows])])
                at = self.place[np.concatenate([r.cell for r in self.rows])]
                data = np.concatenate([r.coefficient for r in self.rows])
                self.matrix = csr_array((data, at, start), shape=(self.ready, self.n))
            matrix, rows = self.matrix, self.rows
        if matrix is None:
            return []
        slack = matrix @ x - 1
        worst = np.argsort(slack)[:most]
        return [rows[k] for k in worst[slack[worst] < -self.exact.pool_violated]]
