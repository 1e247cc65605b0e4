"""The pattern of elimination found line by line: each sum by itself, and then one look at all of them together.

A candidate is withheld if, with what is published before it, some line (a total and its parts) leaves one sensitive
cell unknown. That is less than elimination asks. But where in the end no sensitive cell follows from all lines
together, elimination withholds the same: what was published gave nothing away at its turn, as it does not at the end,
and each that was withheld would have given something away. Where one does follow, this is no answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.linear.free_variables import all_free
from discreet.methods.suppress.model.singletons import OWN, SUMS
from discreet.methods.suppress.model.task import Task

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class SumLines:
    """Sums over variables: cells, then inner cells that no cell shows. ``guarded`` may not become known.

    ``fewer``: sums from which all others follow, if the table has every combination of codes.
    ``single``: of them inner cells that together would follow from their sum, as each is known not to be empty.
    ``nothing``: variables without any inner cell, which are known beforehand.
    """

    sums: csr_array
    fewer: csr_array
    guarded: Array
    single: Array
    nothing: Array


def withheld_by_lines(task: Task, order: Array, forced: int) -> Array | None:
    """The candidates that elimination withholds, in their order; None where lines by themselves do not tell."""
    lines = _lines(task)
    if lines is None:
        return None
    walk = _FollowingCells(lines)
    if not walk.begin():
        return None
    withheld = []
    for step, cell in enumerate(order.tolist()):
        if not walk.publish(cell):
            if step < forced or walk.unclear:
                return None
            withheld.append(cell)
    unknown = np.flatnonzero(np.frombuffer(walk.known, np.uint8) == 0)
    rows = lines.fewer[:, unknown]
    rows = rows[np.diff(rows.indptr) > 0]
    if not all_free(rows, lines.guarded[unknown], lines.single[unknown]):
        return None
    return np.array(withheld, np.int64)


def _lines(task: Task) -> SumLines | None:
    """The lines of a table without earlier ones, or sums that a rule keeps unknown, or contributors who know theirs."""
    from discreet.tables.relations import of_layout, variable_of_inner

    roles, single = task.roles, task.singletons
    if roles.n != len(task.table) or roles.sums is not None or single.kind == OWN or single.lenient:
        return None
    layout = roles.joined.layout
    sums = of_layout(layout)
    guarded, alone, nothing = (np.zeros(sums.shape[1], bool) for _ in range(3))
    if single.kind == SUMS:
        alone[variable_of_inner(roles.matrix)[single.group > 0]] = True
    guarded[: roles.n] = task.sensitive
    nothing[: roles.n] = np.diff(roles.matrix.tocsc().indptr) == 0
    return SumLines(sums, of_layout(layout, independent=True), guarded | alone, alone, nothing)


class _FollowingCells:
    """What follows from published cells by one line after another.

    Of every line it is kept how many of its variables are unknown, how many of those are not single, and the numbers
    of the unknown added without carry: of the last one, its own.
    """

    def __init__(self, lines: SumLines) -> None:
        sums = lines.sums
        columns = sums.tocsc()
        line = np.repeat(np.arange(sums.shape[0]), np.diff(sums.indptr))
        others = ~lines.single[sums.indices]
        signs = [np.bincount(line[side & ~others], minlength=sums.shape[0]) for side in (sums.data > 0, sums.data < 0)]
        self.known = bytearray(sums.shape[1])
        self.unclear = False
        self._nothing = np.flatnonzero(lines.nothing).tolist()
        self._guarded = lines.guarded.tolist()
        self._mixed = ((signs[0] > 0) & (signs[1] > 0)).tolist()
        self._unknown = np.diff(sums.indptr).tolist()
        self._others = np.bincount(line[others], minlength=sums.shape[0]).tolist()
        numbers = np.zeros(sums.shape[0], np.int64)
        np.bitwise_xor.at(numbers, line, sums.indices.astype(np.int64))
        self._numbers = numbers.tolist()
        starts = columns.indptr.tolist()
        rows = columns.indices.tolist()
        self._lines_of = [rows[begin:end] for begin, end in pairwise(starts)]

    def begin(self) -> bool:
        """Take in what is known beforehand; whether nothing guarded follows from it."""
        alone = [k for k, many in enumerate(self._others) if many == 0 < self._unknown[k]]
        return not alone and all(self.publish(cell) for cell in self._nothing)

    def publish(self, cell: int) -> bool:
        """Make a cell known with all that follows; False, and nothing has changed, if that is anything guarded."""
        known = self.known
        if known[cell]:
            return True
        followed: list[int] = []
        waiting = [cell]
        while waiting:
            variable = waiting.pop()
            if known[variable]:
                continue
            if self._guarded[variable]:
                self._take_back(followed)
                return False
            known[variable] = 1
            followed.append(variable)
            given_away = False
            for line in self._lines_of[variable]:
                self._unknown[line] -= 1
                self._others[line] -= 1
                self._numbers[line] ^= variable
                if self._unknown[line] == 1:
                    waiting.append(self._numbers[line])
                elif self._others[line] == 0 < self._unknown[line]:
                    given_away = True
                    self.unclear = self.unclear or self._mixed[line]
            if given_away:
                self._take_back(followed)
                return False
        return True

    def _take_back(self, variables: list[int]) -> None:
        for variable in variables:
            self.known[variable] = 0
            for line in self._lines_of[variable]:
                self._unknown[line] += 1
                self._others[line] += 1
                self._numbers[line] ^= variable
