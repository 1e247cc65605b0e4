"""Tables that are out already: their published cells are known for good, and last period's pattern is a preference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, OutOfTimeError
from discreet.linear.highs import UNSEEDED, LinearProgram, Outcome, Solver
from discreet.release import Protected, Status, hidden
from discreet.tables.layout import Layout
from discreet.tables.table import Table


@dataclass(frozen=True)
class Joined:
    """A table's layout followed by cells of earlier tables, and what the earlier ones did with each cell."""

    layout: Layout
    published: Array  # shown in an earlier table
    primary: Array  # sensitive then
    withheld: Array  # hidden then for the sake of others


def with_earlier(table: Table, earlier: Sequence[Protected]) -> Joined:
    """The cells of a table and of those published before, over the same inner cells."""
    blocks = list(table.layout.blocks)
    lifted = [_lifted(table, old.table.layout) for old in earlier]
    for layout in lifted:
        blocks += layout.blocks
    layout = Layout(table.layout.dimensions, tuple(blocks), table.layout.possible) if earlier else table.layout
    marks = [np.zeros(len(layout), bool) for _ in range(3)]
    for old, part in zip(earlier, lifted, strict=True):
        at = places_in(layout, part)
        withheld_then = hidden(old.status)
        marks[0][at[~withheld_then]] = True
        marks[1][at[old.status == Status.PRIMARY.value]] = True
        marks[2][at[withheld_then]] = True
    published, primary, withheld = marks
    return Joined(layout, published, primary & ~published, withheld & ~published)


def _lifted(table: Table, old: Layout) -> Layout:
    """An earlier table's cells as cells over this table's dimensions; those it did not have are at their total."""
    names = {d.name: k for k, d in enumerate(old.dimensions)}
    if unknown := [n for n in names if n not in {d.name for d in table.dimensions}]:
        raise InputError(
            f"an earlier table has the dimension {unknown[0]!r}, which this one lacks; tabulate it with by="
        )
    blocks = []
    for block in old.blocks:
        codes = []
        for d in table.dimensions:
            if d.name not in names:
                if d.total is None:
                    raise InputError(f"an earlier table lacks the dimension {d.name!r}, which has no total")
                codes.append(np.array([d.position[d.total]]))
                continue
            before = old.dimensions[names[d.name]]
            if dict(before._leaves_of).keys() - d.position.keys():
                raise InputError(f"an earlier table has codes of {d.name!r} that this one lacks; use one codebook")
            codes.append(np.array([d.position[before.codes[c]] for c in block[names[d.name]]]))
        blocks.append(tuple(codes))
    return Layout(table.dimensions, tuple(blocks), table.layout.possible)


def places_in(layout: Layout, part: Layout) -> Array:
    """Where the cells of one layout stand in another over the same dimensions."""
    order = np.argsort(layout._flat[0])
    return np.asarray(order[np.searchsorted(layout._flat[0], part._flat[0], sorter=order)])


def hidden_before(table: Table, last: Protected) -> Array:
    """Cells of this table that had the same codes and were hidden last time."""
    before = hidden(last.status)
    names = [d.name for d in last.table.dimensions]
    if names != [d.name for d in table.dimensions]:
        raise InputError(f"last period's table has other dimensions: {', '.join(names)}")
    codes = last.table.layout.codes[before]
    hidden_codes = {tuple(d.codes[c] for d, c in zip(last.table.dimensions, row, strict=True)) for row in codes}
    mine = np.stack(
        [np.array(d.codes, object)[table.layout.codes[:, k]] for k, d in enumerate(table.dimensions)], axis=1
    )
    return np.array([tuple(row) in hidden_codes for row in mine], bool)


def blame(matrix: Any, cell: int, published: Array, seconds: float) -> Array:
    """The fewest (by sum of coefficients) published columns from which a column follows; none if that takes longer."""
    from scipy.sparse import hstack

    columns = matrix.tocsc()
    basis = columns[:, published].astype(float)
    target = np.asarray(columns[:, [cell]].todense()).ravel().astype(float)
    both = hstack([basis, -basis], format="csc")
    many = both.shape[1]
    program = LinearProgram(both, np.ones(many), np.zeros(many), np.full(many, np.inf), target, target)
    solver = Solver({**UNSEEDED, "time_limit": seconds}, program)
    try:
        outcome = solver.run()
    except OutOfTimeError:  # whoever refuses has the rest of his answer to give
        outcome = Outcome.UNSETTLED
    if outcome is not Outcome.SOLVED:
        return np.empty(0, np.int64)
    x = solver.x
    weight = x[: basis.shape[1]] - x[basis.shape[1] :]
    return np.asarray(published[np.abs(weight) > 1e-7])
