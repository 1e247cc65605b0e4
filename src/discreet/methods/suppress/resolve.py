"""Branch and cut by solving again: HiGHS finds the cheapest pattern for the inequalities known, the intruder adds some.

Without a callback for missing inequalities every round starts a tree of its own. Each round's bound is proved, and each
of its patterns is a start for a better one that protects.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.methods.suppress.cuts import Bridge, Cut
from discreet.methods.suppress.relaxation import Relaxation

if TYPE_CHECKING:
    from discreet.methods.suppress.optimal import Optimal
    from discreet.methods.suppress.searching import Clock, Level

Array = NDArray[Any]
GUESS = 0.1  # of a round's time for turning its pattern into one that protects


def branch(how: Optimal, level: Level, clock: Clock, patterns: bool) -> int:
    """Rounds until a better pattern than the best cannot exist, or the time is up; nodes looked at."""
    from discreet.methods.suppress.searching import better, violated

    nodes, turn, best, relaxation = 0, 100, level.best, level.relaxation
    while clock.left > 0 and not best.done(how.gap):
        began = time.monotonic()
        x, bound, finished, seen = _cheapest(level, clock.left)
        nodes += seen
        level.prove(bound)
        if x is None:
            if finished:
                best.prove(best.cost)  # nothing cheaper than the best satisfies what is known
            break
        relaxation.separation.until = clock.at(1)
        found = violated(relaxation.separation, x)
        if not found and not relaxation.separation.complete:
            break
        if not found:
            level.improve(np.rint(x).astype(bool))
            if finished:
                best.prove(best.cost)
        elif not relaxation.add(found):
            break
        else:
            seconds = GUESS * min(time.monotonic() - began, clock.left)
            if patterns and seconds > 0.05:
                better(how, level, turn, seconds, x)
            turn += 1
    return nodes


def _cheapest(level: Level, seconds: float) -> tuple[Array | None, float, bool, int]:
    """The cheapest whole pattern below the best for the inequalities known, a bound, whether it is proved, nodes."""
    import highspy

    relaxation = level.relaxation
    problem, free = relaxation.problem, relaxation.free
    lp, scale = _model(relaxation), relaxation.scale
    out, into = level.fixed()
    lower, upper = np.zeros(len(free)), np.ones(len(free))
    upper[relaxation.place[out]] = 0
    lower[relaxation.place[into]] = 1
    lp.col_lower_, lp.col_upper_ = lower, upper
    highs = highspy.Highs()
    for name, value in {
        "output_flag": False, "time_limit": max(seconds, 0.1), "random_seed": 1, "mip_rel_gap": 0.0,
        "objective_bound": (level.target + 1e-6 * scale) / scale,
    }.items():  # fmt: skip
        highs.setOptionValue(name, value)
    highs.passModel(lp)
    highs.run()
    info, status = highs.getInfo(), highs.getModelStatus()
    nodes = int(max(info.mip_node_count, 0))
    ended = status in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible)
    bound = float(info.mip_dual_bound) * scale
    solved = status == highspy.HighsModelStatus.kOptimal or np.isfinite(info.objective_function_value)
    chosen = np.asarray(highs.getSolution().col_value)
    if status == highspy.HighsModelStatus.kInfeasible or not solved or len(chosen) != len(free):
        return None, bound if np.isfinite(bound) else 0.0, ended, nodes
    x = np.where(problem.hidden, 1.0, 0.0)
    x[free] = np.rint(np.clip(chosen, 0, 1))
    if problem.cost(x > 0.5) > level.target + 1e-6 * scale:
        return None, bound, ended, nodes
    return x, bound, ended, nodes


def _model(relaxation: Relaxation) -> Any:
    import highspy
    from scipy.sparse import coo_array

    n = len(relaxation.free)
    row, column, data, right = [], [], [], []
    for k, line in enumerate(relaxation.rows):
        cells = line.cell if isinstance(line, Cut) else np.append(line.others, line.cell)
        value = line.coefficient if isinstance(line, Cut) else np.append(np.ones(len(line.others)), -1.0)
        row.append(np.full(len(cells), k))
        column.append(relaxation.place[cells])
        data.append(value)
        right.append(0.0 if isinstance(line, Bridge) else 1.0)
    entries = [np.concatenate(part) if part else np.empty(0) for part in (data, row, column)]
    matrix = coo_array((entries[0], (entries[1].astype(int), entries[2].astype(int))), shape=(len(right), n)).tocsr()
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n, len(right)
    lp.col_cost_ = relaxation.problem.weight[relaxation.free] / relaxation.scale
    lp.row_lower_, lp.row_upper_ = np.array(right), np.full(len(right), np.inf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    lp.integrality_ = [highspy.HighsVarType.kInteger] * n
    return lp
