"""What the parts of a sum leave: parts that a sheet does not list, known to whoever subtracts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.base.annotations import Array
from discreet.sheets.sums.axis_sums import SumTree

REST = "not listed"
SMALL = 10
"""Remainders from here on are not taken for numbers that were to be hidden, as in an audit of differences."""


def remainder_code(code: str) -> str:
    """The code of what the parts of a sum leave.

    >>> remainder_code("18+")
    '18+: not listed'
    """
    return f"{code}: {REST}"


def with_remainders(
    codes: Sequence[Sequence[str]], trees: Sequence[SumTree], position: Array, values: Array
) -> tuple[list[list[str]], Array, Array]:
    """Codes, positions and numbers of cells, with those of remainders behind them; NaN where one does not follow.

    A part without a cell on the sheet counts as zero. Remainders of remainders, where sums of several dimensions leave
    some, are among them.
    """
    named = [[*own, *(remainder_code(code) for code in tree.partly)] for own, tree in zip(codes, trees, strict=True)]
    places = [tuple(row) for row in position.tolist()]
    numbers = values.tolist()
    for axis, (own, tree) in enumerate(zip(codes, trees, strict=True)):
        place = {code: k for k, code in enumerate(own)}
        for nth, code in enumerate(tree.partly, len(own)):
            number_at = dict(zip(places, numbers, strict=True))
            parts = [place[part] for part in tree.children[code]]
            for cell in [cell for cell in number_at if cell[axis] == place[code]]:
                before, behind = cell[:axis], cell[axis + 1 :]
                listed_parts = [number_at.get((*before, part, *behind), 0) for part in parts]
                places.append((*before, nth, *behind))
                numbers.append(number_at[cell] - sum(listed_parts))
    return named, np.array(places, dtype=int).reshape(-1, len(codes)), np.array(numbers)


def shown_remainders(
    codes: Sequence[Sequence[str]],
    trees: Sequence[SumTree],
    position: Array,
    values: Array,
    most: Array,
    small: float | None = None,
) -> tuple[list[list[str]], Array, Array]:
    """Codes, and positions and numbers of remainders that tell no more than numbers that are shown do.

    Those are of shown numbers alone, and zero, not ``small`` (under 10 unless stated), or as large as what the sheet
    shows or leaves out of the ranges of its marks (``most``): its publisher would have shown them. A smaller one may be
    what was to be hidden.
    """
    if not any(tree.partly for tree in trees):
        return [list(own) for own in codes], np.zeros((0, len(codes)), int), np.zeros(0)
    named, places, numbers = with_remainders(codes, trees, position, values)
    places, numbers = places[len(values) :], numbers[len(values) :]
    limits = [*values[values > 0].tolist(), *(most[np.isfinite(most)] + 1).tolist()]
    told = (numbers == 0) | (numbers >= min([SMALL if small is None else small, *limits]))
    return named, places[told], numbers[told]
