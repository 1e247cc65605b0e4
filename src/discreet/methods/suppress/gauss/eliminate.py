"""Secondary suppression by Gaussian elimination [LL21]_ section 3, exact and sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Progress
from discreet.linear._reduction import PRIME, P
from discreet.methods.suppress.gauss._kernel_state import Columns, Question, RowQuestion
from discreet.methods.suppress.model.singletons import NONE, OWN, Singletons
from discreet.methods.suppress.model.tuning import DEFAULT


@dataclass(frozen=True)
class Pattern:
    """What elimination found: columns to withhold, and sensitive columns that the forced ones give away already."""

    secondary: Array
    unsafe: Array


def eliminate(
    matrix: Any,
    primary: Array,
    order: Array,
    *,
    known: Array | None = None,
    forced: int = 0,
    singletons: Singletons | None = None,
    virtual: int = 0,
    modular_columns: Any = None,
    pivots: Array | None = None,
    progress: Progress | None = None,
) -> Pattern:
    """Let columns in one by one; withhold each that would make a sensitive column follow from those let in.

    ``primary``: numbers of the sensitive columns, the last ``virtual`` of them sums that no cell shows or decoys, which
    those who know their own cells may learn. ``order``:
    numbers of the candidates, most important first; the first ``forced`` are let in whatever follows. ``known``:
    columns that are known before all others, as the sums of a table are where its rows are cells. Columns in
    none of these are never published. ``modular_columns``: the residues of the matrix, if they are at hand.
    ``pivots``: of rows as pivots the least is best. The result does not depend on it, only on the order, but where
    sums of singletons are told: which of several is taken first to tell the others.

    >>> from discreet.tables.table import Table
    >>> table = Table.of([[20, 50], [10, 5]], ["area", "sex"])
    >>> order = np.argsort(-table.count, kind="stable")
    >>> eliminate(table.matrix, np.array([8]), order[order != 8]).secondary.tolist()
    [5, 4, 7]
    """
    from discreet.linear.modular import pivot_priority, residues
    from discreet.methods.suppress.gauss._kernel_questions import SECONDARY
    from discreet.methods.suppress.gauss._random_move import eliminate_rows

    columns = residues(matrix) if modular_columns is None else modular_columns
    single = singletons or Singletons(NONE, np.zeros(columns.shape[0], np.int32))
    first = order[:0] if known is None else shortest_first(columns, known)
    sequence = np.concatenate([first, order]).astype(np.int64)
    priority = pivot_priority(columns, order) if pivots is None else pivots
    if single.kind == OWN:
        from discreet.methods.suppress.gauss import _kernel as kernel

        insider = np.arange(len(primary)) < len(primary) - virtual
        question = Question(sequence, len(first) + forced, primary.astype(np.int64), insider, single.group, priority)
        by_columns = Columns(columns.indptr, columns.indices, columns.data)
        outcome, unsafe = _watched(kernel.eliminate_columns, (by_columns, question), len(sequence), progress)
        return Pattern(sequence[outcome == SECONDARY], primary[unsafe])
    rows = GuardedRows.of(columns, primary)
    asked = rows.question(rows.first(sequence), len(first), forced, rows.of_primary, single, priority)
    outcome, move = _watched(eliminate_rows, (rows.columns, asked), len(asked.order), progress)
    told = (rows.of_primary >= 0) & (move[rows.of_primary] == 0)
    return Pattern(asked.order[outcome == SECONDARY], primary[told])


@dataclass(frozen=True, eq=False)
class GuardedRows:
    """Columns of which each sensitive one has a row that is it: its own entry, or a row added and tied to it."""

    columns: Columns
    of_primary: Array  # -1: a column without any entry
    size: int
    ties: Array

    @classmethod
    def of(cls, columns: Any, primary: Array) -> GuardedRows:
        """Rows for these columns."""
        from scipy.sparse import coo_array, csc_array, hstack, vstack

        size, many = columns.shape
        entries = np.diff(columns.indptr)[primary]
        row = np.full(len(primary), -1, np.int64)
        row[entries == 1] = columns.indices[columns.indptr[primary[entries == 1]]]
        long = np.flatnonzero(entries > 1)
        if not len(long):
            return cls(Columns(columns.indptr, columns.indices, columns.data), row, size, row[:0])
        row[long] = size + np.arange(len(long))
        minus = np.full(len(long), P - np.uint64(1), np.uint64)
        own = coo_array((minus, (np.arange(len(long)), np.arange(len(long)))), shape=(len(long), len(long)))
        tied = vstack([columns[:, primary[long]], own])
        wide = csc_array((columns.data, columns.indices, columns.indptr), shape=(size + len(long), many))
        both = csc_array(hstack([wide, tied], format="csc"))
        made = Columns(both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data)
        return cls(made, row, size + len(long), many + np.arange(len(long)))

    def first(self, order: Array) -> Array:
        """An order in which the ties come before all."""
        return np.concatenate([self.ties, order]).astype(np.int64)

    def question(
        self, order: Array, known: int, forced: int, guarded: Array, single: Singletons, priority: Array
    ) -> RowQuestion:
        """What is asked of the columns of an order made by ``first``; rows that were added are the best pivots."""
        many = self.size - len(priority)
        mask = np.zeros(self.size, bool)
        mask[guarded[guarded >= 0]] = True
        return RowQuestion(
            order=order,
            known=len(self.ties) + known,
            forced=forced,
            guarded=mask,
            group=np.concatenate([single.group, np.zeros(many, single.group.dtype)]),
            mode=single.kind,
            lenient=single.lenient,
            priority=np.concatenate([priority, np.full(many, -1, priority.dtype)]),
            drawn=np.random.default_rng(20031).integers(1, PRIME, self.size, dtype=np.uint64),
        )


def shortest_first(columns: Any, known: Array) -> Array:
    """Known columns in an order in which those kept before fill later ones least."""
    return np.asarray(known[np.argsort(np.diff(columns.indptr)[known], kind="stable")])


def takes_long_as_python(columns: Any, cells: int) -> bool:
    """Whether elimination of so many cells is worth a quicker way, as its machine code is not in memory."""
    from discreet.base.compiled import STEP, TO_LOAD, is_in_memory
    from discreet.linear._reduction import reduction_steps
    from discreet.methods.suppress.gauss._random_move import eliminate_rows

    seconds = STEP * reduction_steps(len(columns.indices), columns.shape[1])
    return cells <= DEFAULT.problem.by_lines and seconds > TO_LOAD and not is_in_memory(eliminate_rows)


def _watched(function: Any, arguments: tuple[Any, ...], total: int, progress: Progress | None) -> Any:
    """Call compiled code, telling how far it is; it runs beside, without Python's lock."""
    clock = np.zeros(2, np.int64)

    def stop() -> None:
        clock[1] = 1  # asks the loop to stop

    def tell() -> None:
        if progress is not None:
            progress(min(int(clock[0]), total), total)

    result = deadline.stoppable(lambda: function(*arguments, clock), stop, tell if progress is not None else None)
    if progress is not None:
        progress(total, total)
    return result


def unseen_singletons(matrix: Any, singletons: Singletons) -> Any:
    """Inner cells of one contributor that no cell shows by themselves, as columns to be kept unknown."""
    from scipy.sparse import csc_array

    columns = matrix.tocsc()
    alone = np.flatnonzero(np.diff(columns.indptr) == 1)
    seen = np.zeros(matrix.shape[0], bool)
    seen[columns.indices[columns.indptr[alone]]] = True
    rows = np.flatnonzero((singletons.group > 0) & ~seen) if singletons.kind == OWN else np.empty(0, np.int64)
    shape = (matrix.shape[0], len(rows))
    return csc_array((np.ones(len(rows), np.int8), rows, np.arange(len(rows) + 1)), shape=shape)
