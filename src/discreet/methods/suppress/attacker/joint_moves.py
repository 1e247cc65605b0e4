"""Many needs at once: one move that takes every cell as far as it is wanted, up or down.

Such a move goes everywhere and is of no use to a search, but it takes an interior-point method one program, where a
short move for each need takes one each. What it leaves open is asked about need by need.
"""

from __future__ import annotations

import numpy as np

from discreet.base.annotations import Array
from discreet.linear.highs import LinearProgram, Solver
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning

OPTIONS = {"output_flag": False, "solver": "ipm", "run_crossover": "off", "threads": 1, "random_seed": 1}


def reached(problem: Problem, tuning: Tuning = DEFAULT) -> Array:
    """Requirements that a few moves of all cells show to be met; the others may be met as well."""
    return reach(problem, tuning)[0]


def reach(problem: Problem, tuning: Tuning = DEFAULT, *, worth: float = 0.0) -> tuple[Array, Array]:
    """The same, and how far below and above the truth the cells of all requirements get by those moves.

    ``worth``: share of what is left that two moves must show to be met for two more.
    """
    needs = problem.needs
    size = np.maximum(np.maximum(needs.below, needs.above), needs.sliding)
    asked = (needs.coalition < 0) & (size > 0)
    below, above = np.zeros(len(needs)), np.zeros(len(needs))
    random, sign, left = np.random.default_rng(1), np.ones(len(needs)), int(asked.sum())
    done, program = size == 0, None
    for turn in range(tuning.attacker.rounds if asked.any() else 0):
        program = JointMoveProgram(problem, size, asked, tuning) if program is None else program
        sign = -sign if turn % 2 else np.where(random.random(len(needs)) < 0.5, -1.0, 1.0)  # one may bar another's way
        move = program.solve(np.where(asked & ~done, sign, 0.0))
        if move is None:
            break
        at = np.where(asked, move[needs.cell], 0.0)
        below, above = np.maximum(below, -at), np.maximum(above, at)
        slack = 1 - 10 * tuning.attacker.tiny
        now = (below >= slack * needs.below) & (above >= slack * needs.above) & asked
        now &= below + above >= slack * needs.sliding
        fresh = int((now & ~done).sum())
        done = done | now
        if (done | ~asked).all() or (turn % 2 and turn > 1 and not fresh):
            break
        if turn % 2:
            before, left = left, int((asked & ~done).sum())
            if before - left < worth * before:
                break
    return np.asarray(done), np.stack([below, above])


class JointMoveProgram:
    """max sum of ``sign d / size`` over the needs' cells, within the bounds, all sums kept."""

    def __init__(self, problem: Problem, size: Array, asked: Array, tuning: Tuning = DEFAULT) -> None:
        self.kept = tuning.attacker.kept
        self.problem, self.size, self.least = problem, size, float(size[asked].min())
        self.unit = float(np.median(size[asked]))
        most = np.full(len(problem), tuning.attacker.far * self.unit)
        np.minimum.at(most, problem.needs.cell[asked], tuning.attacker.beyond * size[asked])
        self.down, self.up = np.minimum(problem.down, most), np.minimum(problem.up, most)
        self.columns = problem.rows.tocsc()

    def solve(self, sign: Array) -> Array | None:
        """The move; None where the solver's answer does not keep the sums to the last digit that counts."""
        cost, right = np.zeros(len(self.problem)), np.zeros(self.columns.shape[0])
        np.add.at(cost, self.problem.needs.cell, -sign * self.unit / np.where(sign, self.size, 1.0))
        lower, upper = -self.down / self.unit, self.up / self.unit
        solver = Solver(OPTIONS, LinearProgram(self.columns, cost, lower, upper, right, right))
        solver.try_out()  # what it gives is checked here, whatever it says of it
        value = solver.x
        if len(value) != len(cost) or not np.isfinite(value).all():
            return None
        move = np.clip(value * self.unit, -self.down, self.up)
        return move if np.abs(self.problem.rows @ move).max(initial=0) <= self.kept * self.least else None
