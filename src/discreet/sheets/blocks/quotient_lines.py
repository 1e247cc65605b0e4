"""Columns that are quotients of two others in every line, whatever their headers say; tables of percentages alone."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.sheets.blocks.block_cells import quoted_name
from discreet.sheets.blocks.cell_reading import NUMERIC, ReadCell
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.tables.total_names import like_a_total
from discreet.tables.totals import ASK

SCALES = (100.0, 1_000.0, 10_000.0, 100_000.0, 1.0)
MOST_COLUMNS = 12
"""Columns of which every three are tried."""
_PERCENT = re.compile(
    r"%|\bper\s?cents?\b|\bpercentages?\b|\bprozent\b|\bpourcentages?\b|\bporcentajes?\b", re.IGNORECASE
)
_BASE = re.compile(
    r"\W*(?:(?:un)?weighted\s+|total\s+)?\W*(?:bases?|n(?!\.?\s*\w)|n(?=\s+(?:of|respond\w*|pupils|patients|people)\b)"
    r"|sample(?: size)?|respondents|denominator|basis|effectif)\b|.*\(n\)\W*\Z",
    re.IGNORECASE,
)
SAY_BASES = (
    "say of how many people they are, in a row or column 'N' or in the headers, as in 'Boys (n=312)', and each is read "
    "as a count"
)
LEAST_LINES = 3
"""Lines in which a quotient that is neither 0 nor the whole must hold."""


def quotient_columns(block: SheetBlock, columns: Sequence[int]) -> list[int]:
    """Columns that are, in every line, a count of every 100, 1,000, ... of another, far beyond chance.

    Where each of three columns may be the quotient of the others the last one is taken, where they stand; what may be
    a count divided by another, as a cost by those who cause it, is asked about.
    """
    if not 2 < len(columns) <= MOST_COLUMNS:
        return []
    values = np.array([[_number(block.cell(row, column)) for column in columns] for row in block.body])
    least = ASK + math.log2(len(columns) ** 3 * len(SCALES))
    found: list[int] = []
    for three in combinations(range(len(columns)), 3):
        if any(columns[k] in found for k in three):
            continue
        fitting = {
            k: scale
            for k in reversed(three)
            for top, bottom in permutations([j for j in three if j != k])
            for scale in SCALES[::-1]
            if _bits(values[:, k], values[:, top], values[:, bottom], scale) >= least
        }
        last = max(fitting, default=None)
        if last is None:
            continue
        if fitting[last] == 1.0 or (len(fitting) > 1 and last != three[-1]):
            headers = [repr(block.grid.text(block.headers[-1], columns[k])) for k in three] if block.headers else []
            raise InputError(
                f"{block.grid.source!r}: one of the columns {', '.join(headers)} is the quotient of the other two in "
                "every line, so that each follows from them; name the header of the quotient (percent=, --percent), "
                "leave one aside (leave=, --leave), or name the headers of the counts (measure=, --measure)"
            )
        found.append(columns[last])
    return found


def refuse_percentages_alone(block: SheetBlock, rows: Sequence[int], columns: Sequence[int]) -> None:
    """Refuse whole numbers that add up to about 100 in every column or row, where a title or a row of bases says so."""
    labels = {row: _label(block, row) for row in rows}
    bases = {row for row, label in labels.items() if is_base(label)}
    if not columns or not (says_percent(block) or bases):
        return
    counted = [row for row, label in labels.items() if row not in bases and not like_a_total(label)]
    if len(counted) < 2:
        return
    values = np.array([[_number(block.cell(row, column)) for column in columns] for row in counted])
    plain = [k for k, column in enumerate(columns) if not like_a_total(block.grid.text(block.headers[-1], column))]
    sums = (values.sum(axis=0), values[:, plain].sum(axis=1) if len(plain) > 1 else np.zeros(1))
    if any(((own >= 99) & (own <= 101)).all() for own in sums):
        raise InputError(
            f"{quoted_name(block.grid)} {block.range.address}: the numbers add up to 100 in every "
            f"column or row, as percentages do; {SAY_BASES}; or protect the table of counts that they come from, and "
            "leave this one out (sheets=, --sheet; range=, --range); if they are counts, name their headers (measure=, "
            "--measure)"
        )


def says_percent(block: SheetBlock) -> bool:
    """Whether titles or the name of the sheet speak of percentages."""
    titles = [text for row, column in block.cells if row in block.titles and (text := block.grid.text(row, column))]
    return any(_PERCENT.search(text) for text in (*titles, block.grid.sheet))


def _label(block: SheetBlock, row: int) -> str:
    return " ".join(text for column in block.stub if (text := block.grid.text(row, column)))


def is_base(label: str) -> bool:
    """Whether a label says that its numbers are those of whom percentages are.

    >>> [is_base(label) for label in ("N", "Unweighted base (n)", "N. Ireland", "N of pupils", "Pupils (n)")]
    [True, True, False, True, True]
    """
    return _BASE.match(label) is not None


def _bits(quotient: Array, part: Array, whole: Array, scale: float) -> float:
    """How little a column is a quotient by chance; 0 if some line denies it or too few show it."""
    held = np.isfinite(quotient) & np.isfinite(part) & np.isfinite(whole) & (whole > 0)
    gap = np.abs(scale * part[held] / whole[held] - quotient[held])
    if (gap > 0.5000001).any():
        return 0.0
    shown = quotient[held]
    telling = (shown != 0) & (shown != scale) & (part[held] != whole[held]) & (whole[held] != 1)
    if telling.sum() < LEAST_LINES or len(np.unique(shown[telling])) < LEAST_LINES - 1:
        return 0.0
    return float(np.log2(1 + np.abs(shown[telling])).sum())


def _number(cell: ReadCell) -> float:
    if cell.kind != NUMERIC:
        return math.nan
    if cell.number is not None:
        return cell.number
    digits = cell.digits.replace(" ", "").replace(",", "")
    return float(digits) if digits.isdecimal() else math.nan
