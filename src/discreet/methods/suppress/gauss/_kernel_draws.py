"""The compiled loops over many draws of one table: elimination with another order and other decoys each time."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.base.compiled import compiled, compiled_part
from discreet.linear._reduction import ZERO, reduction_steps
from discreet.methods.suppress.gauss._kernel import eliminate_columns
from discreet.methods.suppress.gauss._kernel_questions import SECONDARY
from discreet.methods.suppress.gauss._kernel_state import Question, RowQuestion
from discreet.methods.suppress.gauss._random_move import eliminate_rows


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
        insider = np.arange(many[d]) < many[d] - plain[d]
        one = Question(order, question.forced, primary, insider, question.group, question.priority)
        outcome, unsafe = eliminate_columns(columns, one, clock)
        inside[d] = unsafe.any() or withholds_only(cells, order, outcome)
    return inside


@compiled(
    steps=lambda columns, question, orders, *rest: len(orders) * reduction_steps(len(columns.row), len(columns.start))
)
def draws_inside_by_rows(
    columns: Any, question: Any, orders: Any, lengths: Any, guarded: Any, many: Any, cells: Any
) -> Any:
    """The same where nobody knows cells of their own; of ``guarded`` the first ``many`` may not follow."""
    inside = np.ones(len(lengths), np.bool_)
    clock = np.zeros(2, np.int64)
    for d in range(len(lengths)):
        order = orders[d, : lengths[d]].copy()
        kept = np.zeros(len(question.group), np.bool_)
        for j in range(many[d]):
            kept[guarded[d, j]] = True
        one = RowQuestion(
            order,
            question.known,
            question.forced,
            kept,
            question.group,
            question.mode,
            question.lenient,
            question.priority,
            question.drawn,
        )
        outcome, move = eliminate_rows(columns, one, clock)
        told = False
        for j in range(many[d]):
            told |= move[guarded[d, j]] == ZERO
        inside[d] = told or withholds_only(cells, order, outcome)
    return inside


@compiled_part
def withholds_only(cells: Any, order: Any, outcome: Any) -> bool:
    """Whether all columns that are withheld are among these."""
    only = True
    for step in range(len(order)):
        only &= outcome[step] != SECONDARY or cells[order[step]]
    return only
