"""A part of the question: some cells settled, the rest asked anew. What is left is far smaller than the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.linear import null_space as moves
from discreet.methods.suppress.exact.presolve import Condensed, condense
from discreet.methods.suppress.model.problem import Needs, Problem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[Any]


def narrowed(problem: Problem, pattern: Array, choice: Array) -> Condensed:
    """The problem with a choice for some cells only; the others stay as a pattern has them."""
    rest = problem.free & ~choice
    return condense(problem.settled(rest & ~pattern, rest & pattern))


def inside(problem: Problem, pattern: Array) -> tuple[Problem, Array, csr_array]:
    """The hidden cells alone as a problem of their own, their numbers in the whole, and a basis of their moves."""
    part, cells = within(problem, pattern)
    return part, cells, moves.basis(part.rows)


def within(problem: Problem, pattern: Array) -> tuple[Problem, Array]:
    """The hidden cells alone as a problem of their own, and their numbers in the whole."""
    from scipy.sparse import csr_array

    hidden = np.asarray(pattern, bool) | problem.hidden
    able = (problem.down > 0) | (problem.up > 0)
    needed = np.zeros(len(problem), bool)
    needed[problem.needs.cell] = True
    cells = np.flatnonzero((hidden & able) | needed)
    place = np.full(len(problem), -1)
    place[cells] = np.arange(len(cells))
    rows = csr_array(problem.rows[:, cells])
    rows = rows[np.diff(rows.indptr) > 0]
    needs = problem.needs
    known = tuple(place[k][place[k] >= 0] for k in needs.known)
    part = Needs(place[needs.cell], needs.below, needs.above, needs.sliding, needs.coalition, known)
    cut = (problem.down[cells], problem.up[cells], problem.weight[cells], problem.hidden[cells])
    return Problem(rows, *cut, part), cells
