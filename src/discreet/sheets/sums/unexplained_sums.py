"""Rows and columns of a sheet that add up others, of which the table as understood knows nothing.

What is hidden follows from such a sum, so that the reading is refused. The numbers alone are looked at here, whatever
the labels are: this is a check of everything that was found by labels.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.errors import InputError, listed
from discreet.sheets.blocks.body_numbers import BodyNumbers, BodyParts
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_grid import column_letters
from discreet.sheets.sums.axis_levels import AxisDimension
from discreet.sheets.sums.sum_questions import leave_option
from discreet.tables.totals import ASK, option

MOST_SUBSETS = 12
"""Rows or columns of which every set is tried; of more, those that stand together or have the same label."""
LEAST_LINES = 2
"""Lines in which a sum of numbers above zero must hold."""


def refuse_unexplained_sums(
    block: SheetBlock,
    parts: BodyParts,
    numbers: BodyNumbers,
    axes: Sequence[Sequence[AxisDimension]],
    dimensions: Mapping[str, Dimension],
    said: Mapping[str, str | None],
    allowed: float,
) -> None:
    """Refuse a row or column that is the sum of others in every line, far beyond chance, and not so in the table."""
    names = [
        [f"row {row}" for row in parts.rows],
        [f"column {column_letters(column)}" for column in parts.columns],
    ]
    known = ~(numbers.hidden | numbers.absent)
    for axis, items in enumerate(axes):
        if not items or any(dim.name in said and said[dim.name] is None for dim in items):
            continue
        values, shown = (numbers.values, known) if axis == 0 else (numbers.values.T, known.T)
        labels = list(zip(*(dim.codes for dim in items), strict=True))
        whole_dims = [dimensions[dim.name] for dim in items]
        nothing = shown.all(axis=1) & ~values.any(axis=1)
        empty = {labels[k] for k in np.flatnonzero(nothing).tolist()}
        for whole, summed in _sums(values, shown, labels, allowed):
            if not _in_table(labels, whole_dims, whole, summed, empty):
                several = [names[axis][k] for k in summed]
                label = _row_label(block, parts.rows[whole]) if axis == 0 else _header(block, parts.columns[whole])
                raise InputError(
                    f"{block.grid.source!r}: {names[axis][whole]} is the sum of {listed(several, 4)} in every line, "
                    "which the labels do not say; if it is their total, call it so (in groups beside each other by "
                    f'the same label in each, "Total") or indent its parts, or leave it aside {leave_option(label)}; '
                    f"if that is chance say {option(items[-1].name, None)}"
                )


def _row_label(block: SheetBlock, row: int) -> str:
    """The innermost label of a row, as the sheet has it."""
    return next((text for column in reversed(block.stub) if (text := block.grid.text(row, column))), "")


def _header(block: SheetBlock, column: int) -> str:
    """The innermost header of a column, as the sheet has it."""
    return next((text for row in reversed(block.headers) if (text := block.grid.text(row, column))), "")


def _sums(
    values: Array, shown: Array, labels: Sequence[tuple[str, ...]], allowed: float
) -> Iterator[tuple[int, list[int]]]:
    """Items that are the sum of others wherever all of them are shown."""
    count = len(values)
    plain = np.where(shown, np.nan_to_num(values), 0.0)
    if count < 3 or (plain < 0).any():
        return
    weight = np.log2(1 + plain)
    for whole, summed, least in _candidates(plain, shown, labels, allowed):
        lines = shown[[whole, *summed]].all(axis=0)
        gap = np.abs(plain[whole] - plain[summed].sum(axis=0))[lines]
        if (gap > allowed * (len(summed) + 1) + 1e-6).any():
            continue
        proof = weight[whole][lines] - math.log2(1 + 2 * allowed * (len(summed) + 1))
        parts_there = int(plain[summed][:, lines].any(axis=1).sum())
        if parts_there > 1 and (proof > 0).sum() >= LEAST_LINES and proof.clip(0).sum() >= least:
            yield whole, summed


def _candidates(
    plain: Array, shown: Array, labels: Sequence[tuple[str, ...]], allowed: float
) -> Iterator[tuple[int, list[int], float]]:
    """Items and others that may add up to them, with the bits of coincidence that are asked of each."""
    count = len(plain)
    full = np.flatnonzero(shown.all(axis=0))
    if not len(full):
        return
    guide = plain[:, full].sum(axis=1)
    room = allowed * (count + 1) * len(full) + 1e-6
    beside = ASK + 2 * math.log2(count)
    if count <= MOST_SUBSETS:
        chosen = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
        chosen = chosen[chosen.sum(axis=1) > 1]
        sums = chosen @ guide
        for whole in range(count):
            fits = (np.abs(sums - guide[whole]) <= room) & (chosen[:, whole] == 0)
            for own in chosen[fits]:
                summed = np.flatnonzero(own).tolist()
                together = max(whole, *summed) - min(whole, *summed) == len(summed)
                yield whole, summed, beside if together and not summed[0] < whole < summed[-1] else ASK + count
        return
    ends = np.concatenate([[0.0], guide.cumsum()])
    before, after = ends[:-1] - guide, ends[1:] + guide
    starts = [np.searchsorted(ends, before + gap).tolist() for gap in (-room, room)]
    stops = [np.searchsorted(ends, after + gap).tolist() for gap in (-room, room)]
    for whole in range(count):
        for start in range(starts[0][whole], min(starts[1][whole], whole - 1)):
            yield whole, list(range(start, whole)), beside
        for stop in range(max(stops[0][whole], whole + 3), stops[1][whole]):
            yield whole, list(range(whole + 1, stop)), beside
    yield from ((whole, others, beside) for whole, others in _of_one_label(labels))


def _of_one_label(labels: Sequence[tuple[str, ...]]) -> Iterator[tuple[int, list[int]]]:
    """Each item with the others that differ from it in one label, as the same column of all other groups."""
    for place in range(len(labels[0])):
        groups: dict[tuple[str, ...], list[int]] = {}
        for k, own in enumerate(labels):
            groups.setdefault((*own[:place], *own[place + 1 :]), []).append(k)
        for members in groups.values():
            if len(members) > 2:
                yield from ((whole, [k for k in members if k != whole]) for whole in (members[0], members[-1]))


def _in_table(
    labels: Sequence[tuple[str, ...]],
    dims: Sequence[Dimension],
    whole: int,
    summed: Sequence[int],
    empty: Container[tuple[str, ...]],
) -> bool:
    """Whether a sum of items holds in the table whatever its numbers are: both sides add up the same finest cells.

    A combination of labels of the sheet that has no row or column of its own counts as zero, as in the table; and a
    row of zeros (``empty``) belongs to a sum whether it is added up or not.
    """
    on_sheet = [set(own) for own in zip(*labels, strict=True)]
    there = set(labels)
    gap: Counter[tuple[str, ...]] = Counter()
    for k, sign in [(whole, 1), *((part, -1) for part in summed)]:
        finest = [_finest(dim, code) for dim, code in zip(dims, labels[k], strict=True)]
        for leaves in product(*(own.items() for own in finest)):
            gap[tuple(code for code, _ in leaves)] += sign * math.prod(times for _, times in leaves)
    return not any(
        number
        and own not in empty
        and (own in there or not all(code in codes for code, codes in zip(own, on_sheet, strict=True)))
        for own, number in gap.items()
    )


def _finest(dimension: Dimension, code: str) -> Mapping[str, int]:
    return {code: 1} if code in dimension.leaf_position else dimension.leaves_of(code)
