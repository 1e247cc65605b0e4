"""Labels that count part of another one, as the percentages beside them say: "Seen", "Referred", "% seen"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from discreet.base.annotations import Array
from discreet.sheets.blocks.body_numbers import BodyParts
from discreet.sheets.blocks.cell_reading import shown_decimals
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sums.cell_map import CellMap
from discreet.sheets.sums.nested_labels import RatePair
from discreet.sheets.sums.shares import derived_number
from discreet.tables.totals import ASK

SCALES = (100.0, 1.0, 1_000.0, 10_000.0, 100_000.0)
MOST_LINES = 40
"""Columns, or rows, of which every two are tried."""
QUOTIENT = ("numerator", "denominator")

_PER = re.compile(
    r"\b(?:per|je|pro|pour|por)\s*1[0., \u00a0\u202f]*0{2,3}\b|\brates?\b|\btaux\b|\btasas?\b", re.IGNORECASE
)
"""A rate, which divides by those of whom it is one."""
Pairs = dict[str, list[tuple[str, str]]]


def share_pairs(block: SheetBlock, parts: BodyParts, cells: CellMap) -> Pairs:
    """For each dimension pairs of a label and one that counts part of it: shares of a line are quotients of both.

    Of two labels that are called numerator and denominator the names say it.
    """
    found: Pairs = defaultdict(list)
    count_at: dict[tuple[int, int], int] = {}
    for lines, own, is_share in _lines_of_shares(block, parts):
        if len(lines) > MOST_LINES:
            continue
        count_at = count_at or {(p.row, p.column): k for k, places in enumerate(cells.places) for p in places}
        numbers = [derived_number(block, place) for place in own]
        unit = 10.0 ** -shown_decimals(block.cell(*place) for place in own)
        at = np.array([[count_at.get(place, -1) for place in line] for line in lines])
        for part, whole in _quotients(cells, at, numbers, unit):
            if (pair := _labels(cells, at[part], at[whole])) is not None:
                found[pair[0]].append(pair[1] if is_share else RatePair(pair[1]))
    for dim, codes in zip(cells.dimensions, cells.codes, strict=True):
        named = {code.casefold(): code for code in codes}
        if all(name in named for name in QUOTIENT):
            found[dim.name].append((named[QUOTIENT[1]], named[QUOTIENT[0]]))
    return {name: list(dict.fromkeys(pairs)) for name, pairs in found.items()}


def _lines_of_shares(
    block: SheetBlock, parts: BodyParts
) -> Iterator[tuple[list[list[tuple[int, int]]], list[tuple[int, int]], bool]]:
    """Columns of counts with the places of a column of shares or rates, then rows; last whether they are shares."""
    for column, kind in parts.derived_columns.items():
        if kind == "share" or _PER.search(parts.headings.get(column, "")):
            rows = [row for row in parts.rows if (row, column) in block.cells]
            share = kind == "share"
            yield [[(row, c) for row in rows] for c in parts.columns], [(row, column) for row in rows], share
    for row, kind in parts.derived_rows.items():
        if kind == "share":
            columns = [column for column in parts.columns if (row, column) in block.cells]
            yield [[(r, c) for c in columns] for r in parts.rows], [(row, column) for column in columns], True


def _quotients(cells: CellMap, at: Array, numbers: Sequence[float | None], unit: float) -> Iterator[tuple[int, int]]:
    """Pairs of lines whose quotient is the number of every place, beyond chance."""
    known = np.array([number is not None for number in numbers])
    share = np.array([number if number is not None else 0.0 for number in numbers])
    shown = (at >= 0) & ~cells.hidden[at]
    values = np.where(shown, cells.values[at], np.nan)
    for whole, of in enumerate(values):
        tried = known & (of > 0) & shown
        for scale in SCALES:
            with np.errstate(invalid="ignore", divide="ignore"):
                off = np.abs(scale * values / of - share) > 0.5000001 * unit
            telling = tried & (share != 0) & (share != scale)
            bits = telling.sum(axis=1) * np.log2(scale / unit)
            denied = (tried & off).any(axis=1) | (tried & (values > of)).any(axis=1)
            least = ASK + 2 * np.log2(len(values))
            yield from ((int(part), whole) for part in np.flatnonzero(~denied & (bits >= least)) if part != whole)


def _labels(cells: CellMap, parts: Array, wholes: Array) -> tuple[str, tuple[str, str]] | None:
    """The dimension in which the cells of two lines differ, and nowhere else, with the label of each."""
    both = (parts >= 0) & (wholes >= 0)
    one, other = cells.position[parts[both]], cells.position[wholes[both]]
    axes = np.flatnonzero((one != other).any(axis=0))
    if len(axes) != 1:
        return None
    axis = int(axes[0])
    if len({*one[:, axis].tolist()}) != 1 or len({*other[:, axis].tolist()}) != 1:
        return None
    codes = cells.codes[axis]
    return cells.dimensions[axis].name, (codes[other[0, axis]], codes[one[0, axis]])
