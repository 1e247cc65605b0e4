"""What to hide for many counts at once: moves in whole numbers by local search, over the cheapest cells that do.

A linear program over all cells takes minutes in sparse tables of four and more dimensions, and one is needed for each
cell that cannot move. So cells are freed by walks first. These may use hidden cells alone to begin with, then cells up
to a price that grows from turn to turn; what a move changes is hidden and free for those that come after it. Moves
without which every cell still moves are left out again, the dearest first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.model.problem import Requirements
from discreet.methods.suppress.model.tuning import RepairTuning
from discreet.methods.suppress.repair.short_moves import Served, ShortMoves

if TYPE_CHECKING:
    from discreet.audits.known import Known
    from discreet.methods.suppress.repair.further_cells import Costs


def freed_by_walks(
    known: Known, truth: Array, needs: Requirements, costs: Costs, hidden: Array, tuning: RepairTuning
) -> Served:
    """Hide what walks ask for, so that cells have a second whole value; needs with a level are left as they are."""
    plain = (needs.below == 0) & (needs.above == 0) & (needs.sliding == 0)
    moves = ShortMoves(known, truth, costs, hidden, tuning)
    if not moves.usable:
        return Served(hidden, np.zeros(len(needs), bool))
    place = moves.place[needs.cell]
    targets = np.unique(place[plain & (place >= 0)])
    for schedule in tuning.ceiling_walks:
        for ceiling in _ceilings(moves.price, tuning.ceiling_growth):
            for unit in (1, -1):
                still = targets[np.maximum(moves.rooms.rose, moves.rooms.fell)[targets] < 1]
                moves.walk(still, np.full(len(still), unit), schedule, both=False, ceiling=ceiling)
    moves.leave_out(targets)
    pattern = moves.pattern()
    fell, rose = moves.reach(pattern)[0][:, needs.cell]
    return Served(pattern, np.asarray(plain & (np.maximum(fell, rose) >= 1)))


def _ceilings(price: Array, growth: float) -> list[float]:
    """Nothing, then prices from the least one up, until they take in all cells.

    >>> _ceilings(np.array([0.0, 3.0, 10.0]), 2.0)
    [0.0, 3.0, 6.0, 12.0]
    """
    dear = price[price > 0]
    ceilings = [0.0]
    if len(dear):
        ceilings.append(float(dear.min()))
        while ceilings[-1] < dear.max():
            ceilings.append(ceilings[-1] * growth)
    return ceilings
