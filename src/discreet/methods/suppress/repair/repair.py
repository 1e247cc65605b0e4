"""Audit and repair: elimination looks at equations only; here every sensitive cell's interval is checked.

A sensitive cell that has one possible value left, or less room than its protection level, needs an escape: a change of
the hidden cells that leaves the published ones as they are. The cheapest set of cells that allows one is found by a
linear program around the cell, and those cells are hidden too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array, Progress
from discreet.linear.witness import moved_by_walks
from discreet.methods.suppress.model.problem import Requirements
from discreet.methods.suppress.model.tuning import DEFAULT, RepairTuning
from discreet.methods.suppress.repair.further_cells import Costs, further_cells
from discreet.methods.suppress.repair.joint_reach import reached_together
from discreet.methods.suppress.repair.price_ceilings import freed_by_walks
from discreet.methods.suppress.repair.proved_moves import apart_in_fractions, met_by_moves
from discreet.methods.suppress.repair.short_moves import Served, served_by_moves

if TYPE_CHECKING:
    from discreet.audits.known import Known


@dataclass(frozen=True)
class Repaired:
    """Which cells are hidden now, how often the audit ran, and the cells for which there is no escape.

    ``undecided``: sensitive cells with two whole values within their bounds, of which no second table in whole numbers
    was found, nor a proof that there is none. ``by_walks``: how many cells short searches hid, where a program for each
    sensitive cell would have taken longer and might have hidden fewer.
    """

    hidden: Array
    rounds: int
    hopeless: Array
    undecided: Array = field(default_factory=lambda: np.empty(0, np.int64))
    by_walks: int = 0


def repair(
    known: Known,
    truth: Array,
    needs: Requirements,
    costs: Costs,
    hidden: Array,
    progress: Progress | None = None,
    tuning: RepairTuning = DEFAULT.repair,
) -> Repaired:
    """Hide further cells until everything needed is possible; a need without any level asks for a second value.

    ``known`` is the intruder's knowledge of the present pattern ``hidden`` (both bounds at the value where a cell is
    published), ``truth`` the value of every variable of its system.
    """
    undecided, by_walks = np.empty(0, np.int64), 0
    for turn in range(1, tuning.rounds + 1):
        if known.integer or len(needs) <= tuning.walked_alone:
            needs, reach, doubt = _short(known, truth, needs, progress, tuning, tuning.proofs, quick=turn == 1)
            undecided = np.union1d(undecided, doubt)
        else:
            reach = np.zeros((2, len(needs)))
        walks = _walks_for(known, needs, tuning)
        served = None if walks is None else walks(known, truth, needs, costs, hidden, tuning)
        if served is not None and not _too_dear(served.hidden, hidden, truth, known, tuning):
            by_walks += int((served.hidden & ~hidden).sum())
            left = np.flatnonzero(~served.met)
            hidden, needs, reach = served.hidden, needs.take(left), reach[:, left]
            known = _in_front_of(known, hidden, costs)
        if not len(needs):
            return Repaired(hidden, turn, needs.cell, undecided, by_walks)
        if not known.integer and len(needs) > tuning.walked:
            continue
        costs_now = replace(costs, cost=np.where(hidden, 0, costs.cost))
        further = further_cells(known, truth, needs, reach, costs_now, tuning)
        if len(further.hopeless):
            return Repaired(hidden, turn, further.hopeless)
        if known.integer and not further.hidden.any():  # asked again without proofs it would be the same
            break
        hidden = hidden | further.hidden
        known = _in_front_of(known, hidden, costs)
        needs = needs.take(np.flatnonzero(~met_by_moves(known, truth, needs, reach, further.moves)))
        if known.integer:
            needs, doubt = _left_in_doubt(known, truth, needs, further.moves)
            undecided = np.union1d(undecided, doubt)
    needs, _, doubt = _short(known, truth, needs, progress, tuning)
    return Repaired(hidden, turn, needs.cell, np.union1d(undecided, doubt), by_walks)


Walks = Callable[["Known", Array, Requirements, Costs, Array, RepairTuning], Served]


def _walks_for(known: Known, needs: Requirements, tuning: RepairTuning) -> Walks | None:
    """The search for many needs at once, where there are enough of them that programs would take longer."""
    if known.integer:
        return freed_by_walks if len(needs) >= tuning.ceiling_from else None
    return served_by_moves if len(needs) > tuning.walked else None


def _too_dear(pattern: Array, hidden: Array, truth: Array, known: Known, tuning: RepairTuning) -> bool:
    """Whether what walks ask for counts costs more than they are worth: a program may find something cheaper."""
    if not known.integer or len(hidden) > tuning.ceiling_joint:
        return False
    value = np.abs(truth[: len(hidden)]) + 1
    return float(value[pattern & ~hidden].sum()) > tuning.ceiling_worth * float(value[hidden].sum())


def _in_front_of(known: Known, hidden: Array, costs: Costs) -> Known:
    """The same intruder when these cells are hidden."""
    lower, upper = np.where(hidden, costs.bottom, known.lower), np.where(hidden, costs.top, known.upper)
    return replace(known, lower=lower, upper=upper)


def _left_in_doubt(known: Known, truth: Array, needs: Requirements, moves: list[Array]) -> tuple[Requirements, Array]:
    """Counts that have two values in fractions by the moves found are not asked again: walks show a second whole one.

    The needs without those, and the cells of which no second whole value is found.
    """
    plain = (needs.below == 0) & (needs.above == 0) & (needs.sliding == 0)
    apart = plain & apart_in_fractions(known, truth, needs.cell, moves)
    cells = needs.cell[apart]
    doubt = cells[~moved_by_walks(known.system(), cells)] if len(cells) else cells
    return needs.take(np.flatnonzero(~apart)), doubt


def _short(
    known: Known,
    truth: Array,
    needs: Requirements,
    progress: Progress | None,
    tuning: RepairTuning,
    proofs: int | None = None,
    *,
    quick: bool = False,
) -> tuple[Requirements, Array, Array]:
    """The needs that are not met, how far below and above the truth their cells reach so far, and cells in doubt.

    ``proofs``: where more cells than this are seen to have one value only, no proof is worked out for each of them;
    one that has another after all is asked about again when there are fewer. ``quick``: cells of amounts that a few
    moves of all cells do not take as far as they must get count as short without a program for each; an escape that
    hides nothing serves those that are not, and the audit after it decides.
    """
    from discreet.audits.known import intervals, movement_of

    wide = (needs.below > 0) | (needs.above > 0) | (needs.sliding > 0)
    short, reach = np.zeros(len(needs), bool), np.zeros((2, len(needs)))
    doubt = np.empty(0, np.int64)
    if not wide.all():
        movement = movement_of(known, needs.cell[~wide], progress=progress, proofs=proofs)
        short[~wide] = ~movement.moves & ~movement.doubt
        doubt = needs.cell[~wide][movement.doubt]
    done, far = reached_together(known, truth, needs, worth=tuning.reach_worth if quick and not known.integer else 0.0)
    wide &= ~done
    many = proofs is not None and wide.sum() > tuning.walked
    if not known.integer and (many or (quick and far is not None)):
        short |= wide  # moves that give them room are sooner found than so many are proved to lack it
        reach = reach if far is None else far
    elif wide.any():
        low, high = intervals(known, needs.cell[wide], progress=progress)
        asked, value = needs.take(np.flatnonzero(wide)), truth[needs.cell[wide]]
        reach[:, wide] = value - low, high - value
        slack = tuning.slack * np.maximum(1, np.abs(value) * tuning.slack)  # programs answer to so many digits
        short[wide] = (
            (value - low < asked.below - slack)
            | (high - value < asked.above - slack)
            | (high - low < np.maximum(asked.sliding, 1) - slack)
        )
    at = np.flatnonzero(short)
    return needs.take(at), reach[:, at], doubt
