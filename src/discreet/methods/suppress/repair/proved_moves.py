"""Moves that escapes were made of, as proofs in front of the pattern that they led to.

Whoever looked for a cheapest escape has the move already that shows the need to be met. It counts only after it was
worked out again from the intruder's own equations and from his bounds in front of the new pattern: moves of amounts
with the margin that `joint_reach` asks for, moves of counts in whole numbers and to the last unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.model.problem import Requirements
from discreet.methods.suppress.model.tuning import DEFAULT, AttackerTuning, RepairTuning

if TYPE_CHECKING:
    from discreet.audits.known import Known


def met_by_moves(
    known: Known,
    truth: Array,
    needs: Requirements,
    reach: Array,
    moves: Sequence[Array],
    tuning: AttackerTuning = DEFAULT.attacker,
) -> Array:
    """Needs that are met in front of a pattern by the moves; the others may be met as well.

    ``reach``: how far below and above the truth their cells are known to get without them.
    """
    system = known.system()
    down, up = np.maximum(truth - system.lower, 0), np.maximum(system.upper - truth, 0)
    least = np.maximum(needs.sliding, 1)
    level = np.maximum(np.maximum(needs.below, needs.above), least)
    far = reach.copy()
    margin = 1.0 if system.integer else 1 + tuning.strict
    for move in moves:
        inside = np.clip(np.rint(move) if system.integer else move, -down, up)
        off = float(np.abs(system.rows @ inside).max(initial=0))
        if system.integer and (off > 0 or (inside != np.rint(inside)).any()):
            continue
        at = np.where(off <= tuning.kept * level, inside[needs.cell], 0.0)
        back = -at * _share_back(inside, down, up, whole=system.integer)
        far = np.maximum(far, np.stack([np.maximum(-at, -back), np.maximum(at, back)]) / margin)
    return np.asarray((far[0] >= needs.below) & (far[1] >= needs.above) & (far.sum(axis=0) >= least))


def apart_in_fractions(
    known: Known, truth: Array, cells: Array, moves: Sequence[Array], tuning: RepairTuning = DEFAULT.repair
) -> Array:
    """Counts that the moves take a unit up or down, in fractions of what other cells hold: whole moves may be others.

    Of such a cell linear programs say no more, in front of this pattern.
    """
    system = known.system()
    down, up = np.maximum(truth - system.lower, 0), np.maximum(system.upper - truth, 0)
    apart = np.zeros(len(cells), bool)
    for move in moves:
        inside = np.clip(move, -down, up)
        if np.abs(system.rows @ inside).max(initial=0) <= DEFAULT.attacker.kept:
            apart |= np.abs(inside[cells]) >= 1 - tuning.slack
    return apart


def _share_back(move: Array, down: Array, up: Array, *, whole: bool) -> float:
    """What share of a move fits the other way round, at most all of it; of counts all of it or nothing."""
    changed = np.flatnonzero(move)
    room = np.where(move > 0, down, up)[changed]
    share = float(np.minimum(room / np.abs(move[changed]), 1).min(initial=1))
    return float(share >= 1) if whole else share
