"""Columns that are stocks: from row to row they grow by one flow and fall by another, which follow from them then."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, many
from discreet.sheets.blocks.body_numbers import BodyParts
from discreet.sheets.blocks.derived_names import is_flow, is_stock
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_grid import column_letters
from discreet.tables.totals import ASK

LEAST_ROWS = 4
LEAST_TELLING = 3
"""Steps with both flows above zero from which a fit is looked at."""
LEAST_UNNAMED = ASK
"""Bits beyond those that chance has among all columns tried, from which a column is a stock, whatever it is called."""
LEAST_IN_TIME = 0.0
"""The same where rows may follow each other in time: chance would show less than one such column in a table."""
MOST_STOCKS = 12
"""Columns of which every three are tried."""
FIRST = 6
"""Rows in which that is tried first."""
_IN_TIME = re.compile(
    r"\d|\b(?:jan|feb|m[a\u00e4]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]|mon|tue|wed|thu|fri|sat|sun|i{1,3}|iv|vi{0,3}"
    r"|first|second|third|fourth|last|spring|summer|autumn|winter|fr\u00fchling|sommer|herbst|printemps|\u00e9t\u00e9|automne|hiver"
    r"|janv|f\u00e9vr|mars|avr|juin|juil|ao\u00fbt|ene|abr|ago|dic|quarter|week|month|year)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Stock:
    """A column that grows by one and falls by another, all by their place, and how much that is beyond chance."""

    column: int
    more: int
    less: int
    bits: float
    """Of all steps together, less those that some three of the columns tried would show by chance."""


def without_stocks(block: SheetBlock, parts: BodyParts, values: Array, hidden: Array) -> BodyParts:
    """The parts, where no column is a stock of two others; raises where names say so or chance is no reason.

    What small numbers in few rows do by chance is said as an assumption.
    """
    names = [parts.headings.get(column, "") for column in parts.columns]
    fits = fitting_stocks(values, hidden)
    in_time = _is_in_time(block, parts) and not _are_added_up(values, hidden)
    least = LEAST_IN_TIME if in_time else LEAST_UNNAMED
    stocks = {one.column: one for one in fits if one.bits >= least or _is_called(names, one)}
    if stocks:
        raise _stock_error(block, parts, [stocks[column] for column in sorted(stocks)])
    if not fits:
        return parts
    first, letters = fits[0], [column_letters(column) for column in parts.columns]
    sentence = (
        f"{many(len({one.column for one in fits}), 'column')} may be stocks, or be so by chance in few rows (column "
        f"{letters[first.column]} grows by {letters[first.more]} and falls by {letters[first.less]}); leave stocks "
        "aside by their headers (leave=, --leave), since hidden flows follow from them"
    )
    return replace(parts, assumed=(*parts.assumed, sentence))


def _is_called(names: Sequence[str], fit: Stock) -> bool:
    """Whether headers say that a column is a stock, or that the others are flows."""
    return is_stock(names[fit.column]) or (is_flow(names[fit.more]) and is_flow(names[fit.less]))


def _are_added_up(values: Array, hidden: Array) -> bool:
    """Whether one column is the sum of all others, as nobody adds stocks to flows."""
    full = ~hidden.any(axis=1)
    sums = values[full].sum(axis=1)
    return bool(full.any() and (2 * values[full] == sums[:, None]).all(axis=0).any())


def _is_in_time(block: SheetBlock, parts: BodyParts) -> bool:
    """Whether the labels of rows may be times."""
    labels = [" ".join(block.grid.text(row, column) for column in block.stub) for row in parts.rows]
    return 2 * sum(_IN_TIME.search(label) is not None for label in labels) >= len(labels)


def fitting_stocks(values: Array, hidden: Array) -> list[Stock]:
    """Columns that from row to row grow by one other and fall by another, each with the two that show it best.

    How often two columns would give a step by chance is taken from how far steps and flows spread.

    >>> flows = np.array([[30.0, 12.0], [8.0, 21.0], [17.0, 9.0], [25.0, 14.0], [6.0, 19.0]])
    >>> stock = 100 + np.cumsum(flows[:, 0] - flows[:, 1])
    >>> values = np.column_stack([stock, flows])
    >>> [(one.column, one.more, one.less) for one in fitting_stocks(values, np.zeros(values.shape, bool))]
    [(0, 1, 2)]
    """
    several = values.shape[1]
    if len(values) < LEAST_ROWS or not 2 < several <= MOST_STOCKS:
        return []
    steps = np.diff(values, axis=0)
    both = ~(hidden[1:] | hidden[:-1])
    tried = math.log2(2 * several * (several - 1) * (several - 2))
    best: dict[int, Stock] = {}
    for at in (slice(None, -1), slice(1, None)):  # flows of the row above, for a stock at the beginning, or its own
        flows = values[at][:FIRST, :, None] - values[at][:FIRST, None, :]
        clear = both[:FIRST, :, None, None] & ~(hidden[at][:FIRST, :, None] | hidden[at][:FIRST, None, :])[:, None]
        fitting = ((steps[:FIRST, :, None, None] == flows[:, None]) | ~clear).all(axis=0)
        for column, more, less in np.argwhere(fitting).tolist():
            if len({column, more, less}) < 3:
                continue
            known = both[:, column] & ~(hidden[at, more] | hidden[at, less])
            flow = values[at, more] - values[at, less]
            telling = known & (values[at, more] != 0) & (values[at, less] != 0)
            if telling.sum() < LEAST_TELLING or (steps[known, column] != flow[known]).any():
                continue
            fit = Stock(column, more, less, _bits(steps[known, column], flow[known]) - tried)
            if column not in best or fit.bits > best[column].bits:
                best[column] = fit
    return [best[column] for column in sorted(best)]


def _bits(steps: Array, flows: Array) -> float:
    """How little steps and flows that spread so far are equal in every row by chance."""
    spread = math.sqrt(float(np.var(steps) + np.var(flows)))
    return len(steps) * math.log2(max(1.0, math.sqrt(2 * math.pi) * spread))


def _stock_error(block: SheetBlock, parts: BodyParts, stocks: Sequence[Stock]) -> InputError:
    """What is said of stocks: hidden flows follow from them, whichever of them is left."""
    letters = [column_letters(column) for column in parts.columns]
    first, headers = stocks[0], [block.grid.text(block.headers[-1], parts.columns[one.column]) for one in stocks]
    every = [block.grid.text(block.headers[-1], column) for column in parts.columns]
    named = all(any(sign.isalpha() for sign in name) for name in every)
    flags = [
        shlex.join(word for name in names for word in (flag, name))
        for names, flag in ((headers, "--leave"), (every, "--measure"))
    ]
    leave = f"leave={tuple(headers)}, {flags[0]}" if named else "leave=, --leave"
    measure = f"measure={tuple(every)}, {flags[1]}" if named else "measure=, --measure"
    return InputError(
        f"{block.grid.source!r}: column {letters[first.column]} is a stock, which from row to row grows by column "
        f"{letters[first.more]} and falls by column {letters[first.less]}, so that hidden counts of these follow from "
        f"it; leave all stocks aside by their headers ({leave}); if that is chance, name the headers of all counts "
        f"({measure})"
    )
