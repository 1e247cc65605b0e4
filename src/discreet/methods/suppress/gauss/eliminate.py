"""Secondary suppression by Gaussian elimination [LL21]_ section 3, exact and sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Progress
from discreet.methods.suppress.model.singletons import NONE, OWN, Singletons
from discreet.methods.suppress.model.tuning import DEFAULT


@dataclass(frozen=True)
class Pattern:
    """What elimination found: columns to withhold, and sensitive columns that the forced ones give away already."""

    secondary: Array
    unsafe: Array
    rank: int


def eliminate(
    matrix: Any,
    primary: Array,
    order: Array,
    *,
    forced: int = 0,
    singletons: Singletons | None = None,
    virtual: int = 0,
    modular_columns: Any = None,
    progress: Progress | None = None,
) -> Pattern:
    """Let columns in one by one; withhold each that would make a sensitive column follow from those let in.

    ``primary``: numbers of the sensitive columns, the last ``virtual`` of them sums that no cell shows or decoys, which
    those who know their own cells may learn. ``order``:
    numbers of the candidates, most important first; the first ``forced`` are let in whatever follows. Columns in
    neither are never published. ``modular_columns``: the residues of the matrix, if they are at hand. The result does
    not depend on how pivots are chosen, only on the order.

    >>> from discreet.tables.table import Table
    >>> table = Table.of([[20, 50], [10, 5]], ["area", "sex"])
    >>> order = np.argsort(-table.count, kind="stable")
    >>> eliminate(table.matrix, np.array([8]), order[order != 8]).secondary.tolist()
    [5, 4, 7]
    """
    from discreet.linear.modular import pivot_priority, residues
    from discreet.methods.suppress.gauss import _kernel as kernel
    from discreet.methods.suppress.gauss._kernel_state import Columns, Question

    columns = residues(matrix) if modular_columns is None else modular_columns
    single = singletons or Singletons(NONE, np.zeros(columns.shape[0], np.int32))
    question = Question(
        order=order.astype(np.int64),
        forced=forced,
        primary=primary.astype(np.int64),
        insider=np.arange(len(primary)) < len(primary) - virtual,
        group=single.group,
        mode=single.kind,
        lenient=single.lenient,
        priority=pivot_priority(matrix, order),
    )
    by_columns = Columns(columns.indptr, columns.indices, columns.data)
    outcome, unsafe, rank = _watched(kernel.eliminate_columns, (by_columns, question), len(order), progress)
    return Pattern(order[outcome == kernel.SECONDARY], primary[unsafe], int(rank))


def takes_long_as_python(columns: Any) -> bool:
    """Whether elimination of such columns is worth a quicker way, as its machine code is not in memory."""
    from discreet.base.compiled import STEP, TO_LOAD, is_in_memory
    from discreet.linear._reduction import reduction_steps
    from discreet.methods.suppress.gauss import _kernel as kernel

    seconds = STEP * reduction_steps(len(columns.indices), columns.shape[1])
    few = columns.shape[1] <= DEFAULT.problem.by_lines
    return few and seconds > TO_LOAD and not is_in_memory(kernel.eliminate_columns)


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
