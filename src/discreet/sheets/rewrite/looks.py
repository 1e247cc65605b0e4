"""Looks of number cells that may tell what they hide: colours and fonts that follow no column, kind or stripe."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import compress

Cell = tuple[int, int]
"""Row and column."""
LABEL = "label"
"""The first word of the kinds of labels, which are compared and made plain but for where they stand in their cell."""
LEAST_ROWS = 3
"""A column of fewer cells has no look of its own."""
LEAST_STRIPED = 4


def is_label_kind(kind: Hashable) -> bool:
    """Whether a kind is of the labels of rows.

    >>> is_label_kind(("label", 1)), is_label_kind("share")
    (True, False)
    """
    return isinstance(kind, tuple) and kind[:1] == (LABEL,)


def telling_cells(looks: Mapping[Cell, Hashable], kinds: Mapping[Cell, tuple[int, Hashable]]) -> frozenset[Cell]:
    """Cells of the tables whose looks tell more than column, kind and stripe.

    ``kinds`` says of a cell which table it is of, and what: an inner cell, a total, a share. Within a kind all cells
    look alike, or those of each column do, or every second row differs; otherwise the look may follow the numbers.

    >>> cells = {(row, column): (0, "inner") for row in range(5) for column in range(2)}
    >>> len(telling_cells({cell: "plain" for cell in cells}, cells))
    0
    >>> len(telling_cells({cell: "red" if cell == (3, 1) else "plain" for cell in cells}, cells))
    10
    """
    if len({*looks.values()}) < 2:
        return frozenset()
    tables: dict[int, dict[Hashable, list[Cell]]] = {}
    for cell, (table, kind) in kinds.items():
        if cell in looks:
            tables.setdefault(table, {}).setdefault(kind, []).append(cell)
    return frozenset(
        cell for own in tables.values() if _tells(looks, list(own.values())) for cells in own.values() for cell in cells
    )


def _tells(looks: Mapping[Cell, Hashable], kinds: list[list[Cell]]) -> bool:
    """Whether some kind of cells of a table is not plain, nor in the looks that the columns of another kind have."""
    plain = [_is_plain(looks, cells) for cells in kinds]
    columns: dict[int, set[Hashable]] = {}
    for cells in compress(kinds, plain):
        for cell in cells:
            columns.setdefault(cell[1], set()).add(looks[cell])
    others = [cells for cells, alike in zip(kinds, plain, strict=True) if not alike]
    return any(columns.get(cell[1]) != {looks[cell]} for cells in others for cell in cells)


def _is_plain(looks: Mapping[Cell, Hashable], cells: list[Cell]) -> bool:
    if len({looks[cell] for cell in cells}) == 1:
        return True
    columns: dict[int, list[Cell]] = {}
    for cell in sorted(cells):
        columns.setdefault(cell[1], []).append(cell)
    rows = sorted({row for row, _ in cells})
    by_column = all(len(own) >= LEAST_ROWS and len({looks[cell] for cell in own}) == 1 for own in columns.values())
    if by_column:
        return True
    order = {row: number % 2 for number, row in enumerate(rows)}
    stripes = {(column, order[row]): looks[row, column] for row, column in cells}
    striped = len(rows) >= LEAST_STRIPED and all(looks[row, c] == stripes[c, order[row]] for row, c in cells)
    return striped and len({*stripes.values()}) == 2
