"""What each cell of a sheet is, for the picture of what was understood."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.data.dimension import Dimension
from discreet.sheets.blocks.body_numbers import BodyParts
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_layout import ASIDE, HEADER, LABEL, MARK, NAME, NOTE, NUMBER, SHARE, TITLE, TOTAL
from discreet.sheets.sums.cell_map import CellMap


def cell_roles(
    block: SheetBlock, parts: BodyParts, cells: CellMap, dims: Sequence[Dimension]
) -> tuple[dict[tuple[int, int], str], dict[tuple[int, int], str]]:
    """The role of every cell that is not blank, and the dimension of headers and labels."""
    roles = dict.fromkeys(block.cells, ASIDE)
    dimension_of: dict[tuple[int, int], str] = {}
    titles, notes, headers = set(block.titles), set(block.notes), set(block.headers)
    stub, body = set(block.stub), set(block.body)
    for row, column in block.cells:
        if row in titles:
            roles[(row, column)] = TITLE
        elif row in notes:
            roles[(row, column)] = NOTE
        elif row in headers:
            roles[(row, column)] = NAME
        elif block.cells[row, column].unavailable:
            roles[(row, column)] = MARK
        elif column in stub and row in body:
            roles[(row, column)] = LABEL
    derived = {*parts.derived_columns}
    for row in block.body:
        for column in block.values:
            if (row, column) in roles and (row in parts.derived_rows or column in derived):
                roles[(row, column)] = SHARE
    for dim, axis in zip(dims, cells.dimensions, strict=True):
        for level in axis.levels:
            for place in level.places:
                if place is not None:
                    inside = place[1] in stub or place[0] in block.sections
                    roles[place] = LABEL if inside else HEADER
                    dimension_of[place] = dim.name
    sums = [[code not in dim.leaf_position for code in codes] for dim, codes in zip(dims, cells.codes, strict=True)]
    flags = [np.array(own, bool)[p] for own, p in zip(sums, cells.position.T, strict=True)]
    is_sum = np.logical_or.reduce(flags).tolist()
    for places, hidden, total in zip(cells.places, cells.hidden.tolist(), is_sum, strict=True):
        role = MARK if hidden else TOTAL if total else NUMBER
        for stands in places:
            if stands[1:] in roles:
                roles[(stands.row, stands.column)] = role
    return roles, dimension_of
