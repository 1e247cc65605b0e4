"""Which of many protection levels are reached, shown by a few moves of all cells at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.linear.integer import SHORT
from discreet.linear.presolve import propagated
from discreet.methods.suppress.attacker.joint_moves import reach
from discreet.methods.suppress.model.problem import Problem, Requirements
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from discreet.audits.known import Known


def reached_together(
    known: Known, truth: Array, needs: Requirements, tuning: Tuning = DEFAULT, *, worth: float = 0.0
) -> tuple[Array, Array | None]:
    """Needs with a level that a few moves of all cells show to be met; the others may be met as well.

    And how far below and above the truth the cells of all needs get by those moves; None where none were looked for.
    In whole numbers only where the levels ask for more values than three: of fewer, programs in whole numbers decide.
    ``worth``: share of the needs left that two moves must show to be met for two more.
    """
    least = np.maximum(needs.sliding, 1)
    asked = (needs.below > 0) | (needs.above > 0) | (needs.sliding > 0)
    if known.integer:
        asked &= np.maximum(needs.below + needs.above, least) > SHORT
    done = np.zeros(len(needs), bool)
    if asked.sum() <= tuning.attacker.few:
        return done, None
    system = known.system()
    lower, upper = propagated(system)
    free = np.flatnonzero(lower < upper)  # all else stays, whatever moves
    place = np.full(system.size, -1)
    place[free] = np.arange(len(free))
    at = np.flatnonzero(asked & (place[needs.cell] >= 0))
    down = np.maximum(truth - lower, 0)[free]
    up = np.maximum(upper - truth, 0)[free]
    rows = system.rows[:, free].tocsr()
    levels = ((1 + tuning.attacker.strict) * level[at] for level in (needs.below, needs.above, least))
    wanted = Requirements.of(place[needs.cell[at]], *levels)
    everything = np.ones(len(free), bool)
    problem = Problem(rows[np.diff(rows.indptr) > 0], down, up, np.ones(len(free)), everything, wanted)
    far = np.zeros((2, len(needs)))
    done[at], far[:, at] = reach(problem, tuning, worth=worth)
    return done, far / (1 + tuning.attacker.strict)
