"""The compiled loop over many draws of one table: elimination with another order and other decoys each time."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.base.compiled import compiled
from discreet.linear._reduction import reduction_steps
from discreet.methods.suppress.gauss._kernel import SECONDARY, eliminate_columns
from discreet.methods.suppress.gauss._kernel_state import Question


@compiled(
    steps=lambda columns, question, orders, *rest: len(orders) * reduction_steps(len(columns.row), len(columns.start))
)
def draws_inside(
    columns: Any, question: Any, orders: Any, lengths: Any, primaries: Any, many: Any, plain: Any, cells: Any
) -> Any:
    """Of which draws elimination withholds only columns of ``cells``, or finds that it cannot keep a column unknown.

    Row by row the first ``lengths`` of ``orders`` are the candidates, the first ``many`` of ``primaries`` what is kept
    from following, the last ``plain`` of these without regard to those who know their own cells.
    """
    inside = np.ones(len(lengths), np.bool_)
    clock = np.zeros(2, np.int64)
    for d in range(len(lengths)):
        order = orders[d, : lengths[d]].copy()
        primary = primaries[d, : many[d]].copy()
        one = Question(
            order,
            question.forced,
            primary,
            np.arange(many[d]) < many[d] - plain[d],
            question.group,
            question.mode,
            question.lenient,
            question.priority,
        )
        outcome, unsafe, _ = eliminate_columns(columns, one, clock)
        if unsafe.any():
            continue
        for step in range(len(order)):
            if outcome[step] == SECONDARY and not cells[order[step]]:
                inside[d] = False
                break
    return inside
