"""Inequalities that every protecting pattern satisfies, from the intruder's programme [FS01]_.

Whatever prices are put on the rows, ``d_p = sum r_i d_i`` for each move, with the reduced costs ``r = e_p - prices @
rows``. So a need of level L can only be met if ``sum (r_i⁺ up_i + r_i⁻ down_i) x_i >= L``, where x_i = 1 for hidden
cells. Those hidden from the start are known; what remains, R, caps every coefficient. The prices of the programme that
moves the cell as far as a (fractional) pattern lets it give the inequality that this pattern violates most.

That programme has as many rows as there are independent sums. Its dual, written over a basis of the moves, has as many
as there are moves, in hierarchical tables far fewer; the smaller one is solved. Moves found are kept: a pattern that
allows an old one for some aim needs no programme for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.base import deadline
from discreet.methods.suppress.attacker.move_program import by_moves
from discreet.methods.suppress.exact.presolve import Condensed
from discreet.methods.suppress.model.problem import Problem

Array = NDArray[Any]

NOTHING = 1e-9  # a reduced cost below this is the solver's noise
LEAST = 1e-6  # a coefficient below this is paid for on the right-hand side
FAR = 1e4  # how many times its level a hidden cell may move in the programme; inequalities use the true bounds
VIOLATED = 1e-4  # of the right-hand side 1
BRIDGED = 0.05  # of a cell; bridges violated by less are left alone
THREADS = 2


@dataclass(frozen=True, eq=False)
class Cut:
    """``sum coefficient * x[cell] >= 1`` over cells with a choice; coefficients in (0, 1]."""

    cell: Array
    coefficient: Array

    def slack(self, x: Array) -> float:
        """How far a pattern is above 1; negative: violated."""
        return float(self.coefficient @ x[self.cell]) - 1

    @property
    def plane(self) -> Plane:
        """The same as an inequality of any kind."""
        return Plane(self.cell, self.coefficient, 1.0)

    @property
    def name(self) -> bytes:
        """The same for the same inequality."""
        return self.cell.astype(np.int32).tobytes() + np.round(self.coefficient, 5).astype(np.float32).tobytes()

    def covered(self, x: Array) -> Cut:
        """The most violated of the inequalities that follow for whole patterns: some cells taken to be hidden.

        If the cells of S do not suffice together, ``sum over S`` < 1, the others must bring the rest, which caps their
        coefficients anew [CFLP00]_. S is filled with the cells that the pattern hides most.
        """
        return covers([self], x)[0][0]

    def without(self, taken: Array, kept: Array) -> Cut:
        """What follows if some of its entries are hidden."""
        scaled = np.minimum(self.coefficient[kept] / (1 - float(self.coefficient[taken].sum())), 1.0)
        return Cut(self.cell[kept], scaled).sorted()

    def sorted(self) -> Cut:
        """Cells in order."""
        order = np.argsort(self.cell)
        return Cut(self.cell[order], self.coefficient[order])


@dataclass(frozen=True, eq=False)
class Plane:
    """``sum coefficient * x[cell] >= right``, coefficients of either sign."""

    cell: Array
    coefficient: Array
    right: float

    @property
    def plane(self) -> Plane:
        """Itself."""
        return self

    @property
    def name(self) -> bytes:
        """The same for the same inequality."""
        value = np.round(np.append(self.coefficient, self.right), 5).astype(np.float32)
        return self.cell.astype(np.int32).tobytes() + value.tobytes() + b"plane"


Row: TypeAlias = "Cut | Bridge | Plane"


def covers(cuts: Sequence[Cut], x: Array) -> list[tuple[Cut, float]]:
    """For each inequality the strongest consequence for a pattern, see ``Cut.covered``, and that one's slack."""
    from discreet.methods.suppress.exact._kernels import strongest

    if not cuts:
        return []
    start = np.concatenate([[0], np.cumsum([len(cut.cell) for cut in cuts])])
    cell, coefficient = np.concatenate([c.cell for c in cuts]), np.concatenate([c.coefficient for c in cuts])
    order, taken, slack = np.empty(len(cell), np.int64), np.empty(len(cuts), np.int64), np.empty(len(cuts))
    strongest(start, cell, coefficient, np.asarray(x, float), order, taken, slack)
    found = []
    for r, (cut, k) in enumerate(zip(cuts, taken.tolist(), strict=True)):
        by = order[start[r] : start[r + 1]]
        found.append((cut.without(by[:k], by[k:]) if k else cut, float(slack[r])))
    return found


@dataclass(frozen=True, eq=False)
class Bridge:
    """``sum x[others] >= x[cell]``."""

    cell: int
    others: Array

    @property
    def plane(self) -> Plane:
        """The same as an inequality of any kind."""
        return Plane(np.append(self.others, self.cell), np.append(np.ones(len(self.others)), -1.0), 0.0)

    @property
    def name(self) -> bytes:
        """The same for the same inequality."""
        return np.append(self.others, -1 - self.cell).astype(np.int32).tobytes()


@dataclass(frozen=True)
class Aim:
    """One thing that must be possible: a cell's move upwards (+1), downwards (-1) or both together by a level."""

    cell: int
    signs: tuple[int, ...]
    level: float
    known: Array | None


def aims(problem: Problem) -> list[Aim]:
    """The needs taken apart, the widest first."""
    needs, found = problem.needs, []
    for k, cell in enumerate(needs.cell):
        known = needs.known[needs.coalition[k]] if needs.coalition[k] >= 0 else None
        above, below, sliding = float(needs.above[k]), float(needs.below[k]), float(needs.sliding[k])
        if above > 0:
            found.append(Aim(int(cell), (1,), above, known))
        if below > 0:
            found.append(Aim(int(cell), (-1,), below, known))
        if sliding > above + below:
            found.append(Aim(int(cell), (1, -1), sliding, known))
    return sorted(found, key=lambda aim: -aim.level)


class Intruder:
    """How far cells go under a pattern, with proof; one programme in HiGHS, bounds in units of the level asked."""

    def __init__(self, condensed: Condensed) -> None:
        self.problem = condensed.small
        self.rows, self.moves = condensed.small.rows, condensed.moves
        n = len(self.problem)
        self.n = n
        self.fixed = self.problem.hidden
        self.by_moves = by_moves(self.rows, self.moves)
        self.highs = _started(self._dual_model() if self.by_moves else self._model())
        self.all = np.arange(2 * n if self.by_moves else n, dtype=np.int32)
        self.aimed = np.empty(0, np.int32)
        self.bases: dict[tuple[int, int], Any] = {}

    def _model(self) -> Any:
        """max d_p over moves within bounds: cells by rows."""
        import highspy

        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self.n, self.rows.shape[0]
        lp.col_cost_ = lp.col_lower_ = lp.col_upper_ = np.zeros(self.n)
        lp.row_lower_ = lp.row_upper_ = np.zeros(self.rows.shape[0])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = self.rows.indptr, self.rows.indices
        lp.a_matrix_.value_ = self.rows.data
        return lp

    def _dual_model(self) -> Any:
        """min r⁺ up + r⁻ down over r with the same effect on every move as the cell itself: a row for each move."""
        import highspy
        from scipy.sparse import hstack

        by_column = hstack([self.moves.T, -self.moves.T]).tocsc()
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = 2 * self.n, by_column.shape[0]
        lp.col_cost_ = lp.col_lower_ = np.zeros(2 * self.n)
        lp.col_upper_ = np.full(2 * self.n, np.inf)
        lp.row_lower_ = lp.row_upper_ = np.zeros(by_column.shape[0])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = by_column.indptr, by_column.indices
        lp.a_matrix_.value_ = by_column.data
        return lp

    def furthest(self, aim: Aim, sign: int, x: Array, cap: float) -> tuple[Array, Array]:
        """The furthest move (in levels) that a pattern allows, and the reduced costs that prove that none goes further.

        Cells with a choice move by at most ``cap`` levels: what they could do beyond hardly ever counts.
        """
        reach = np.where(self.fixed, FAR, cap)
        up = np.minimum(self.problem.up / aim.level, reach) * x
        down = np.minimum(self.problem.down / aim.level, reach) * x
        if aim.known is not None:
            up[aim.known] = down[aim.known] = 0
        solve = self._by_moves if self.by_moves else self._by_rows
        move, reduced = solve(aim.cell, sign, down, up)
        reduced[np.abs(reduced) < NOTHING] = 0
        return move, reduced

    def _by_rows(self, cell: int, sign: int, down: Array, up: Array) -> tuple[Array, Array]:
        highs = self.highs
        highs.changeColsBounds(self.n, self.all, -down, up)
        for old in self.aimed:
            highs.changeColCost(int(old), 0.0)
        highs.changeColCost(cell, -float(sign))
        self.aimed = np.array([cell], np.int32)
        if (basis := self.bases.get((cell, sign))) is not None:
            highs.setBasis(basis)  # still dual feasible: only bounds have changed since
        _run(highs)
        self.bases[cell, sign] = highs.getBasis()
        solution = highs.getSolution()
        reduced = np.asarray(solution.row_dual) @ self.rows  # minimising -sign * d: r = sign * e_p + prices @ rows
        reduced[cell] += float(sign)
        return np.clip(np.asarray(solution.col_value), -down, up), reduced

    def _by_moves(self, cell: int, sign: int, down: Array, up: Array) -> tuple[Array, Array]:
        highs = self.highs
        highs.changeColsCost(2 * self.n, self.all, np.concatenate([up, down]))
        for old in self.aimed:
            highs.changeRowBounds(int(old), 0.0, 0.0)
        a, b = self.moves.indptr[cell], self.moves.indptr[cell + 1]
        self.aimed = self.moves.indices[a:b]
        for row, value in zip(self.aimed.tolist(), self.moves.data[a:b].tolist(), strict=True):
            highs.changeRowBounds(row, sign * value, sign * value)
        _run(highs)
        solution = highs.getSolution()
        value = np.asarray(solution.col_value)
        return self.moves @ np.asarray(solution.row_dual), value[: self.n] - value[self.n :]

    def cut(self, aim: Aim, x: Array, cap: float, tolerance: float = VIOLATED) -> tuple[Cut | None, list[Array]]:
        """The inequality that a pattern violates for an aim (None where it reaches it), and the moves found (true)."""
        coefficient, total, found = np.zeros(self.n), 0.0, []
        for sign in aim.signs:
            move, reduced = self.furthest(aim, sign, x, cap)
            found.append(move * aim.level)
            total += sign * float(move[aim.cell])
            if total >= 1 - tolerance:
                return None, found
            coefficient += self._gain(aim, reduced)
        return self.shaped(coefficient / aim.level), found

    def bridge(self, cell: int, x: Array) -> Bridge | None:
        """The company that a hidden cell lacks: it moves only if one of these does, and the pattern has too few."""
        solve = self._by_moves if self.by_moves else self._by_rows
        room = np.where(self.problem.free | self.fixed, x, 0)
        move, reduced = solve(cell, 1, room, room)
        if move[cell] > x[cell] - BRIDGED:
            return None
        others = np.flatnonzero(np.abs(reduced) > NOTHING)
        others = others[others != cell]
        if self.fixed[others].any() or x[others].sum() > x[cell] - BRIDGED:
            return None
        return Bridge(cell, others)

    def _gain(self, aim: Aim, reduced: Array) -> Array:
        with np.errstate(invalid="ignore"):
            gain = np.where(reduced > 0, reduced * self.problem.up, -reduced * self.problem.down)
        gain[reduced == 0] = 0
        if aim.known is not None:
            gain[aim.known] = 0
        return gain

    def shaped(self, coefficient: Array) -> Cut | None:
        """The part of those hidden from the start taken off, what is left capped and scaled to 1."""
        rest = 1 - float(coefficient[self.fixed].sum())
        if not rest > NOTHING:
            return None
        at = np.flatnonzero((coefficient > 0) & self.problem.free)
        scaled = np.minimum(coefficient[at] / rest, 1.0)
        small = scaled < LEAST
        scaled = np.minimum(scaled[~small] / (1 - float(scaled[small].sum())), 1.0)
        return Cut(at[~small], scaled)


def _started(lp: Any) -> Any:
    import highspy

    highs = highspy.Highs()
    for name, value in {
        "output_flag": False, "presolve": "off", "solver": "simplex", "simplex_strategy": 1, "threads": 1,
        "parallel": "off", "random_seed": 1,
    }.items():  # fmt: skip
        highs.setOptionValue(name, value)
    highs.passModel(lp)
    return highs


def _run(highs: Any) -> None:
    import highspy

    deadline.run(highs)
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        highs.clearSolver()  # forget a basis that led nowhere and try once more from scratch
        deadline.run(highs)


@dataclass(frozen=True, eq=False)
class Witness:
    """The cells that the moves of an aim need, and by how much; none if no moves are known."""

    cells: Array
    by: Array


NONE = Witness(np.empty(0, np.int64), np.empty(0))


class Separation:
    """Violated inequalities of all aims, both cores at work, old moves looked up first."""

    def __init__(self, condensed: Condensed, *, threads: int = THREADS) -> None:
        self.problem = condensed.small
        self.aims = aims(self.problem)
        self.intruders = [Intruder(condensed) for _ in range(threads)]
        self.witness = [NONE] * len(self.aims)
        self.slack = np.array([1e-6 * aim.level for aim in self.aims])
        self.order = list(range(len(self.aims)))
        self.programmes = self.made = 0
        self.until = np.inf  # when to stop, although aims are left
        self.complete = True  # whether the last call looked at every aim
        self.lock = threading.Lock()

    def short(self, x: Array) -> list[int]:
        """The aims, in their order, for which the moves last found are not possible under a pattern."""
        from discreet.methods.suppress.exact._kernels import fits

        if not self.aims:
            return []
        start = np.concatenate([[0], np.cumsum([len(w.cells) for w in self.witness])])
        cells = np.concatenate([w.cells for w in self.witness])
        by = np.concatenate([w.by for w in self.witness])
        possible = np.empty(len(self.aims), bool)
        fits(start, cells, by, self.problem.down, self.problem.up, np.asarray(x, float), self.slack, possible)
        return [k for k in self.order if not possible[k]]

    def __call__(
        self, x: Array, *, cap: float = 1.0, tolerance: float = VIOLATED, most: float = np.inf, misses: float = np.inf
    ) -> list[Cut]:
        """The inequality of each aim that x does not reach.

        With ``most`` it stops after so many a thread, with ``misses`` after so many aims that it does reach.
        """
        todo = self.short(x)
        workers = self.intruders if len(todo) >= 4 else self.intruders[:1]
        found: list[tuple[int, Cut]] = []
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
                cut, move = workers[number].cut(self.aims[k], x, cap, tolerance)
                with self.lock:
                    self.programmes += 1
                    if cut is not None:
                        found.append((k, cut))
                        mine += 1
                    else:
                        missed += 1
                        cold.add(k)
                        self.witness[k] = _exactly(self.aims[k], move)

        if len(workers) == 1:
            work(0)
        else:
            deadline.side_by_side(work, range(len(workers)), len(workers))
        self.made += len(found)
        hot = [k for k, _ in sorted(found, key=lambda pair: pair[0])]
        rest = cold.union(hot)
        self.order = hot + [k for k in self.order if k not in rest] + [k for k in self.order if k in cold]
        return [cut for _, cut in sorted(found, key=lambda pair: pair[0])]


def _exactly(aim: Aim, moves: list[Array]) -> Witness:
    """Moves that reach the level, not further: the shorter, the more patterns allow them."""
    total = sum(sign * float(move[aim.cell]) for sign, move in zip(aim.signs, moves, strict=False))
    if total <= 0:
        return NONE
    scaled = [move * min(1.0, aim.level / total) for move in moves]
    cells = [np.flatnonzero(np.abs(move) > 1e-7 * aim.level) for move in scaled]
    return Witness(np.concatenate(cells), np.concatenate([m[c] for m, c in zip(scaled, cells, strict=True)]))
