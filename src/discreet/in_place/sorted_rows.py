"""Rows in the order of a column: it says of hidden counts between which of their neighbours they lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.errors import Refused
from discreet.in_place.secret_numbers import SecretNumbers, secret_numbers
from discreet.release import Protected
from discreet.sheets.sheet_grid import column_letters
from discreet.sheets.sheet_table import SheetTable

LEAST_ROWS = 4
"""Fewer rows are in some order by chance."""
ORDERED = (
    "the rows stand in the order of column {}, so each hidden count lies between its neighbours; sort them by label"
)


def order_remarks(sheet: SheetTable, done: Protected) -> tuple[str, ...]:
    """What is to be said of columns in the order of their counts; raises where a hidden count follows from it."""
    if not done.hidden.any():
        return ()
    numbers = secret_numbers(sheet, done)
    inner_rows = {place.row for cell in np.flatnonzero(numbers.inner).tolist() for place in numbers.places[cell]}
    columns: dict[int, dict[int, int]] = {}
    for cell, places in enumerate(numbers.places):
        for place in places:
            columns.setdefault(place.column, {})[place.row] = cell
    remarks = []
    for column, cells in sorted(columns.items()):
        rows = [cells[row] for row in sorted(cells) if row in inner_rows]
        values = numbers.truth[rows]
        gone = done.hidden[rows]
        steps = np.diff(values)
        ordered = len(rows) >= LEAST_ROWS and steps.any() and ((steps <= 0).all() or (steps >= 0).all())
        if not ordered or not gone.any():
            continue
        letters = column_letters(column)
        totals = [cell for row, cell in cells.items() if row not in inner_rows and not done.hidden[cell]]
        order = rows if (steps <= 0).all() else rows[::-1]
        if done.truthful is True and (known := _known_by_order(numbers, order, done, totals)):
            raise Refused(
                "order",
                f"{sheet.name}: the rows stand in the order of column {letters}, and with it {known:,} hidden counts "
                "follow",
                "sort the rows by their labels before they are protected",
            )
        remarks.append(ORDERED.format(letters))
    return tuple(remarks)


def _known_by_order(numbers: SecretNumbers, order: Sequence[int], done: Protected, totals: Sequence[int]) -> int:
    """Hidden counts of a column in descending order of which one value is left, if they stand in one run."""
    gone = np.flatnonzero(done.hidden[list(order)])
    values = numbers.truth[list(order)]
    if len(gone) != gone[-1] - gone[0] + 1:
        return 0
    most = values[gone[0] - 1] if gone[0] else np.inf
    least = values[gone[-1] + 1] if gone[-1] + 1 < len(order) else 1.0
    told = any(numbers.truth[cell] == values.sum() for cell in totals)
    whole = float(values[gone].sum()) if told else None
    many = len(gone)
    known = 0
    for at in range(1, many + 1):
        upper, lower = most, least
        if whole is not None:
            upper = min(upper, np.floor((whole - (many - at) * least) / at))
            lower = max(
                lower, np.ceil((whole - (at - 1) * most) / (many - at + 1)) if at > 1 else np.ceil(whole / many)
            )
        known += bool(upper <= lower)
    return known
