"""Columns and rows that follow from another one: running sums and ranks show its counts, whatever is hidden there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, listed
from discreet.sheets.blocks.body_numbers import BodyNumbers, BodyParts, RunningColumn, body_numbers
from discreet.sheets.blocks.derived_names import is_cumulative
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.blocks.stocks import without_stocks
from discreet.sheets.sheet_grid import column_letters
from discreet.sheets.sheet_options import SheetOptions

LEAST = 4
"""Rows with a count above zero from which a running sum is hardly chance."""
LEAST_RANKED = 5
"""Numbers from which the order of another column is hardly chance, if they are 1, 2, 3 and so on."""
LONGEST = 400
"""Rows or columns that are compared with each other; of more, those beside each other."""


def without_running_sums(
    block: SheetBlock, parts: BodyParts, numbers: BodyNumbers, options: SheetOptions
) -> tuple[BodyParts, BodyNumbers]:
    """The body without columns that are called running sums and add up another one; any other such line is refused.

    Where the sheet is written back, running sums stay up to the first count that is hidden. Marks are passed over.
    Ranks are not looked for where a caller names the headers of the counts.
    """
    called = {column for column in parts.columns if is_cumulative(parts.headings.get(column, ""))}
    if called and len(called) < len(parts.columns) and options.measure is None:
        ways = _runs(block, parts)
        pairs = _running(numbers.values, _unknown(numbers), ways, [column in called for column in parts.columns])
        running = [
            _running_column(parts, numbers, pair, ways[way])
            for (way, *pair) in pairs
            if parts.columns[pair[0]] in called and parts.columns[pair[1]] not in called
        ]
        gone = np.asarray(_unknown(numbers).all(axis=0)).tolist()
        empty = [column for column, none in zip(parts.columns, gone, strict=True) if none and column in called]
        parts = parts.with_running_sums(running, empty)
        numbers = body_numbers(block, parts, options)
    _refuse_running_sums(block, parts, numbers, options)
    if options.measure is None:
        parts = without_stocks(block, parts, numbers.values, _unknown(numbers))
        _refuse_called_cumulative(block, parts, numbers.values, _unknown(numbers))
    return parts, numbers


def _unknown(numbers: BodyNumbers) -> Array:
    return np.asarray(numbers.hidden | np.isnan(numbers.values))


def _refuse_running_sums(block: SheetBlock, parts: BodyParts, numbers: BodyNumbers, options: SheetOptions) -> None:
    """Refuse a column or row that is the running sum of another, or its rank, with or without a total at the end."""
    columns = [f"column {column_letters(column)}" for column in parts.columns]
    rows = [f"row {row}" for row in parts.rows]
    hidden = _unknown(numbers)
    aside = "leave it aside by its header (leave=, --leave)"
    out = "take the row out, or read a part of the sheet (range=, --range)"
    whole = [np.arange(len(parts.columns))]
    for values, unknown, names, runs, cure in (
        (numbers.values, hidden, columns, _runs(block, parts), aside),
        (numbers.values.T, hidden.T, rows, [whole], out),
    ):
        pairs = _running(values, unknown, runs)
        if pairs:
            several = [f"{names[one]} is the running sum of {names[other]}" for _, one, other in pairs]
            verb = "it" if len(pairs) == 1 else "each"
            raise InputError(
                f"{block.grid.source!r}: {listed(several, 6)}, step by step, so its differences are the counts; "
                f"{cure.replace(' it ', f' {verb} ')}"
            )
        pair = _ranked(values, unknown) if options.measure is None else None
        if pair is not None:
            raise InputError(
                f"{block.grid.source!r}: {names[pair[0]]} is the rank of {names[pair[1]]}, so it says between which "
                f"numbers a hidden count lies; {cure}; if it holds counts, name their headers (measure=, --measure)"
            )


def _refuse_called_cumulative(block: SheetBlock, parts: BodyParts, values: Array, hidden: Array) -> None:
    """Refuse numbers that are called running sums and never fall: what was added from line to line stands nowhere."""
    for k, column in enumerate(parts.columns):
        heading = parts.headings.get(column, "")
        if not is_cumulative(heading):
            continue
        for runs in _runs(block, parts):
            steps = [np.diff(values[run, k][~hidden[run, k]]) for run in runs]
            rise = np.concatenate(steps) if steps else np.zeros(0)
            if (rise > 0).sum() >= LEAST - 1 and (rise >= 0).all():
                raise InputError(
                    f"{block.grid.source!r}: column {column_letters(column)} is called a running sum ({heading!r}) and "
                    "the counts that it adds up stand nowhere, so that they follow as its differences and are not "
                    "protected; give the counts of each step instead, or say measure= (--measure) with this header if "
                    "it holds counts"
                )


def _runs(block: SheetBlock, parts: BodyParts) -> list[list[Array]]:
    """The ways in which lines may follow each other: all rows, or those that differ in one column of labels alone.

    Each way once from above and once from below.
    """
    rows = np.arange(len(parts.rows))
    ways = [[rows]]
    if len(block.stub) > 1:
        texts = [[block.grid.text(row, column) for row in parts.rows] for column in block.stub]
        for left_out in range(len(texts)):
            groups: dict[tuple[str, ...], list[int]] = {}
            for k, labels in enumerate(zip(*(texts[:left_out] + texts[left_out + 1 :]), strict=True)):
                groups.setdefault(labels, []).append(k)
            if 1 < len(groups) < len(rows) / 2:
                ways.append([np.array(own) for own in groups.values()])
    return [*ways, *([run[::-1] for run in way] for way in ways)]


def _running_column(
    parts: BodyParts, numbers: BodyNumbers, pair: Sequence[int], runs: Sequence[Array]
) -> RunningColumn:
    """A column of running sums by its lines in their order; none of them where something stood before the first."""
    column, base = pair
    values, hidden = numbers.values, _unknown(numbers)
    first = [int(run[0]) for run in runs]
    known = [k for k in first if not (hidden[k, column] or hidden[k, base])]
    whole = bool((values[known, column] == values[known, base]).all())
    lines = tuple(tuple(parts.rows[k] for k in run) for run in runs) if whole else ()
    return RunningColumn(parts.columns[column], parts.columns[base], lines)


def _running(
    values: Array, hidden: Array, ways: Sequence[Sequence[Array]], called: Sequence[bool] = ()
) -> list[tuple[int, int, int]]:
    """Columns that add others up, each with its way and one that it adds up, in the order of columns.

    What stood before the first line may be part of it. Of a column that is ``called`` a running sum one step is enough.
    """
    pairs: dict[int, tuple[int, int, int]] = {}
    for way, runs in enumerate(ways):
        order = np.concatenate(runs)
        first = np.zeros(len(order), bool)
        first[np.cumsum([0, *(len(run) for run in runs[:-1])])] = True
        for column, other in _running_in_order(values[order], hidden[order], first, called):
            pairs.setdefault(column, (way, column, other))
    return [pairs[column] for column in sorted(pairs)]


def _running_in_order(values: Array, hidden: Array, first: Array, called: Sequence[bool]) -> list[tuple[int, int]]:
    """As ``_running``, for lines in their order; ``first``: where a run of lines begins."""
    if len(values) < LEAST and not any(called):
        return []
    before = np.vstack([np.zeros((1, values.shape[1]), bool), hidden[:-1]])
    steps = np.diff(values, axis=0, prepend=0)
    falls = (steps < 0) & ~(hidden | before) & ~first[:, None]
    pairs = []
    for column in np.flatnonzero(~falls[:-1].any(axis=0)).tolist():  # counts are not negative: their sum never falls
        others = _near(column, values.shape[1])
        clear = ~(hidden[:, others] | (hidden | before)[:, [column]]) & ~first[:, None]
        start = (values[:, [column]] == values[:, others]) & first[:, None] & ~hidden[:, others] & ~hidden[:, [column]]
        least = 1 if called and called[column] else LEAST
        for end in (len(values), len(values) - 1):  # a row of totals does not add to the sum
            fits = ((steps[:end, [column]] == values[:end, others]) | ~clear[:end]).all(axis=0)
            telling = (clear[:end] & (steps[:end, [column]] != 0)).sum(axis=0) + start[:end].sum(axis=0)
            if fits.any() and (most := int(np.argmax(np.where(fits, telling, -1)))) >= 0 and telling[most] >= least:
                pairs.append((column, others[most]))
                break
    return pairs


def _ranked(values: Array, hidden: Array) -> tuple[int, int] | None:
    """A column that is the rank of another, from above or below, and that other one; None if there is none."""
    if len(values) < LEAST_RANKED:
        return None
    short = np.where(hidden, 1, values)[:-1]
    for column in np.flatnonzero((short.min(axis=0) == 1) & (short.max(axis=0) <= len(values))).tolist():
        for end in (len(values), len(values) - 1):  # a row of totals has no rank
            own = values[:end, column]
            known = ~hidden[:end, column]
            if not _are_ranks(own[known], end):
                continue
            for other in _near(column, values.shape[1]):
                clear = known & ~hidden[:end, other]
                if clear.sum() >= LEAST_RANKED and _in_order(own[clear], values[:end, other][clear]):
                    return column, other
    return None


def _are_ranks(numbers: Array, most: int) -> bool:
    """Whether numbers are 1, 2, 3 and so on in any order: each once, or again where several share a rank."""
    distinct = np.unique(numbers)
    whole = bool((distinct == np.rint(distinct)).all())
    return len(distinct) >= LEAST_RANKED and whole and distinct[0] == 1 and distinct[-1] <= most


def _in_order(ranks: Array, numbers: Array) -> bool:
    """Whether numbers always fall, or always rise, with their ranks; equal ranks are of equal numbers."""
    order = np.argsort(ranks, kind="stable")
    steps = np.diff(numbers[order])
    same_rank = np.diff(ranks[order]) == 0
    if (steps[same_rank] != 0).any() or len(np.unique(numbers)) < LEAST_RANKED:
        return False
    return bool((steps <= 0).all() or (steps >= 0).all())


def _near(column: int, columns: int) -> Sequence[int]:
    """Other columns to compare one with: all, or of very many those beside it."""
    if columns <= LONGEST:
        return [other for other in range(columns) if other != column]
    return [other for other in (column - 2, column - 1, column + 1, column + 2) if 0 <= other < columns]
