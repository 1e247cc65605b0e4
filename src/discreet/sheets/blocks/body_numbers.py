"""The body of a table in numbers: counts, what is hidden, what is blank; columns and rows of other numbers apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.base.annotations import Array
from discreet.base.number_texts import misspelt, other_sign, thousands_sign
from discreet.errors import InputError, listed, many, nearest
from discreet.sheets.blocks.cell_reading import BLANK, MARKED, NUMERIC, RANGED, WORDS, ReadCell, numbers_of, range_ends
from discreet.sheets.blocks.derived_names import derived_kind, is_statistic
from discreet.sheets.blocks.label_paths import LabelLevel
from discreet.sheets.blocks.quotient_lines import quotient_columns, refuse_percentages_alone
from discreet.sheets.blocks.row_kinds import are_measured
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_grid import column_letters
from discreet.sheets.sheet_options import SheetOptions

LEAST_LINES = 3
"""Rows from which a sum in every one of them is hardly chance."""
COUNTS = ("count", "counts", "n", "freq", "frequency", "obs_value", "value", "anzahl", "antal", "nombre")
"""Headers that say that a column holds the numbers of a list, in small letters."""


@dataclass(frozen=True)
class RunningColumn:
    """A column that adds up another one from row to row, and the rows of each sum in their order."""

    column: int
    base: int
    lines: tuple[tuple[int, ...], ...]
    """None where something stood before the first row of a sum, so that the sums do not follow from the counts."""


@dataclass(frozen=True, eq=False)
class BodyParts:
    """Which rows and columns hold the counts of the table, and which hold other numbers, with their kind."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    derived_rows: Mapping[int, str] = field(default_factory=dict)
    derived_columns: Mapping[int, str] = field(default_factory=dict)
    aside_columns: Mapping[int, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    headings: Mapping[int, str] = field(default_factory=dict)
    """What stands above each column of numbers, from the top."""
    stated_rows: Mapping[int, int | None] = field(default_factory=dict)
    """Header rows that state counts, as "Treated (N = 40)" does: the row that holds the same, None for the total."""
    stated_columns: Mapping[int, int | None] = field(default_factory=dict)
    """Columns of labels that state counts, as "North (n = 56)" does: the column that holds the same, or None."""
    running: tuple[RunningColumn, ...] = ()

    def with_running_sums(self, running: Sequence[RunningColumn], hidden: Sequence[int]) -> BodyParts:
        """The parts with columns of running sums left aside, and those of which no number is shown."""
        aside = dict.fromkeys(hidden, "running sums, none of which is shown")
        aside |= {one.column: f"the running sum of column {column_letters(one.base)}" for one in running}
        kept = tuple(column for column in self.columns if column not in aside)
        return replace(self, columns=kept, aside_columns={**self.aside_columns, **aside}, running=tuple(running))


def body_parts(
    block: SheetBlock, rows: Sequence[LabelLevel], columns: Sequence[LabelLevel], options: SheetOptions
) -> BodyParts:
    """Counts apart from percentages, means and what the caller leaves aside."""
    assumed: list[str] = [*block.assumed]
    derived_columns: dict[int, str] = {}
    aside: dict[int, str] = {}
    paths = {column: [level.texts[k] for level in columns] for k, column in enumerate(block.values)}
    if options.percent or options.leave:
        headers = _header_texts(block)
        _check_names(options.percent, paths, headers)
        _check_names(options.leave, paths, [*headers, *_label_texts(block)])
    for column in block.values:
        cells = [cell for row in block.body if (cell := block.cell(row, column)).kind != BLANK]
        heading = " ".join(text for text in paths[column] if text)
        if any(text in options.leave for text in paths[column]):
            aside[column] = "left aside as said"
        elif column in block.counted_columns:
            continue
        elif any(text in options.percent for text in paths[column]):
            derived_columns[column] = "share"
        elif options.measure is not None:
            if not {*options.measure} & {*paths[column]}:
                derived_columns[column] = derived_kind(heading, cells) or "unknown"
        elif (kind := derived_kind(heading, cells)) is not None and not (kind == "share" and _count_first(cells)):
            derived_columns[column] = kind
    kept = [column for column in block.values if column not in derived_columns and column not in aside]
    if (
        options.measure is None
        and not (options.percent or options.leave or block.counted_columns)
        and (quotients := quotient_columns(block, kept))
    ):
        derived_columns.update(dict.fromkeys(quotients, "share"))
        kept = [column for column in kept if column not in quotients]
    if options.measure is not None:
        _check_names(options.measure, paths, ())
    elif not (
        block.counted_columns or any(axis == "row" for axis, _ in block.grid.names)
    ):  # a header with a name holds codes
        _ask_about_measures(block, kept, paths)
    if not kept:
        raise InputError(
            f"{block.grid.source!r}: every column is called like a percentage, a mean or a rate; name the header of "
            "the counts with measure= (--measure)"
        )
    if derived_columns:
        letters = [block.grid.place(1, c).address.rstrip("1") for c in derived_columns]
        hold = f"columns {', '.join(letters)} hold" if len(letters) > 1 else f"column {letters[0]} holds"
        assumed.append(f"{hold} percentages, means or rates, not counts; measure= says otherwise")
    left = {row for k, row in enumerate(block.body) if any(level.texts[k] in options.leave for level in rows)}
    derived_rows = {row: kind for row, kind in _derived_rows(block, rows, kept).items() if row not in left}
    if derived_rows:
        numbers = ", ".join(str(row) for row in list(derived_rows)[:6])
        rows_hold = f"rows {numbers} hold" if len(derived_rows) > 1 else f"row {numbers} holds"
        assumed.append(f"{rows_hold} percentages, means or rates, not counts")
    if options.measure is None and block.headers and not block.counted_columns:
        refuse_percentages_alone(
            block, [row for row in block.body if row not in derived_rows and row not in left], kept
        )
    return BodyParts(
        tuple(row for row in block.body if row not in derived_rows and row not in left),
        tuple(kept),
        derived_rows,
        derived_columns,
        aside,
        tuple(assumed),
        {column: " ".join(text for text in path if text) for column, path in paths.items()},
    )


def _header_texts(block: SheetBlock) -> list[str]:
    """All that stands in header rows: columns of text may be left aside by name, too."""
    headers = {*block.headers}
    return [block.grid.text(row, column) for row, column in block.cells if row in headers]


def _label_texts(block: SheetBlock) -> list[str]:
    """All that stands in columns of labels: rows may be left aside by their labels."""
    stub = {*block.stub}
    return [block.grid.text(row, column) for row, column in block.cells if column in stub]


def _check_names(names: Sequence[str], paths: Mapping[int, Sequence[str]], texts: Sequence[str]) -> None:
    known = list(dict.fromkeys(text for path in (*paths.values(), texts) for text in path if text))
    for name in names:
        if name not in known:
            raise InputError(
                f"measure=, percent= or leave= (--measure, --percent, --leave) names {name!r}, not a header of the "
                f"table, nor, for leave=, a label; {nearest(name, known)}"
            )


def _ask_about_measures(block: SheetBlock, columns: Sequence[int], paths: Mapping[int, Sequence[str]]) -> None:
    """Refuse a column that is called "count" beside others that are called otherwise: those may be no counts."""
    last = [next((text for text in reversed(paths[column]) if text), "").casefold() for column in columns]
    called = {text for text in last if text in COUNTS}
    others = [paths[column] for column, text in zip(columns, last, strict=True) if text not in COUNTS]
    if len(called) == 1 and others and len(others) < len(columns):
        if _is_sum_of_others(block, columns, [text in called for text in last].index(True)):
            return
        names = list(dict.fromkeys(next(text for text in reversed(path) if text) for path in others if any(path)))
        own = next(text for column in columns for text in paths[column] if text.casefold() in called)
        before = columns[[text in called for text in last].index(True)] - block.range.first_column
        codes = ""
        if called.isdisjoint(last[:-1]):
            codes = f"; if the columns before it hold codes say stub_columns={before} (--stub-columns {before})"
        raise InputError(
            f"{block.grid.source!r}: a column is called {own!r}, and beside it stand {listed(names, 4)}; say "
            f"measure={own!r} (--measure) if it alone holds the counts, or name all headers of counts{codes}"
        )


def _is_sum_of_others(block: SheetBlock, columns: Sequence[int], place: int) -> bool:
    """Whether a column is the sum of some right before or behind it in every row, so that those are counts, too."""
    cells = [[block.cell(row, column) for row in block.body] for column in columns]
    if len(block.body) < LEAST_LINES or any(cell.kind != NUMERIC for cell in cells[place]):
        return False
    try:
        values = np.array([[float(cell.digits) if cell.number is None else cell.number for cell in c] for c in cells])
    except ValueError:
        return False
    runs = [range(place + 1, last) for last in range(place + 3, len(columns) + 1)]
    runs += [range(first, place) for first in range(place - 1)]
    return bool(values[place].any()) and any((values[list(run)].sum(axis=0) == values[place]).all() for run in runs)


def _derived_rows(block: SheetBlock, levels: Sequence[LabelLevel], columns: Sequence[int]) -> dict[int, str]:
    derived = {} if block.counted_rows else _unnamed_shares(block, levels, columns)
    for k, row in enumerate(block.body):
        name = " ".join(level.texts[k] for level in levels if not level.sections and level.texts[k])
        cells = [cell for column in columns if (cell := block.cell(row, column)).kind != BLANK]
        if not cells and any(block.cell(row, column).kind == NUMERIC for column in block.values):
            derived[row] = "unknown"  # shares and means alone
            continue
        kind = derived_kind(name, cells)
        if kind is None or row in block.counted_rows:
            continue
        whole = all(cell.kind != NUMERIC or _is_whole(cell) for cell in cells) and not are_measured(cells)
        signed = any(cell.digits.startswith("-") or (cell.number or 0) < 0 for cell in cells)
        counts = (kind == "mean" and whole and not signed and not is_statistic(name)) or (
            kind == "share" and _count_first(cells)
        )
        if not counts:
            derived[row] = kind
    return derived


def _unnamed_shares(block: SheetBlock, levels: Sequence[LabelLevel], columns: Sequence[int]) -> dict[int, str]:
    """Rows without a label, each right below one with a label, that hold percentages, as statistics programs write."""
    named = [any(level.texts[k] for level in levels if not level.sections) for k in range(len(block.body))]
    unnamed = [row for row, own in zip(block.body, named, strict=True) if not own]
    below = all(own or (k > 0 and named[k - 1]) for k, own in enumerate(named))
    lines = [[cell for c in columns if (cell := block.cell(row, c)).kind == NUMERIC] for row in unnamed]
    shares = all(
        any(not _is_whole(cell) or cell.percent or float(cell.digits or cell.number or 0) == 100 for cell in line)
        for line in lines
    )
    return dict.fromkeys(unnamed, "share") if below and shares else {}


def _is_whole(cell: ReadCell) -> bool:
    if cell.number is not None:
        return cell.number == int(cell.number)
    return not ("." in cell.digits or "," in cell.digits)


def _count_first(cells: Sequence[ReadCell]) -> bool:
    """Whether cells hold a whole number with a percentage behind it, which the label speaks of: "Male, n (%)"."""
    return any(cell.share is not None for cell in cells) and all(
        cell.kind != NUMERIC or _is_whole(cell) for cell in cells
    )


@dataclass(frozen=True, eq=False)
class BodyNumbers:
    """A row for each row of the body, a column for each of its columns."""

    values: Array
    """NaN where a mark or a range stands."""
    decimals: int
    hidden: Array
    unclear: Array
    """Blank cells and dashes of which nobody said what they mean; their value is 0 for the time being."""
    absent: Array
    """Blank cells that are not part of the table."""
    least: Array
    most: Array

    @property
    def ranged(self) -> Array:
        """Where a range stands in place of a number."""
        return np.isfinite(self.least) | np.isfinite(self.most)


def with_thousands(block: SheetBlock, parts: BodyParts, options: SheetOptions) -> tuple[BodyParts, SheetOptions]:
    """Options that say which sign parts thousands, where only all numbers of the body together show it."""
    if options.thousands is not None or options.decimal is not None:
        return parts, options
    digits = [[block.cell(row, column).digits for column in parts.columns] for row in parts.rows]
    texts = [text for line in digits for text in line if text]
    if not any("." in text or "," in text for text in texts):
        return parts, options
    derived = [block.cell(row, c) for row in block.body for c in block.values]
    beside = [cell.digits for cell in derived if cell.percent or cell.digits not in texts]
    shares = [cell.share.rstrip("% ") for cell in derived if cell.share is not None]
    if (sign := thousands_sign(texts)) is not None:
        reason = "numbers with it have three digits behind it, zeros at the end among them"
    elif (sign := other_sign(texts, [*(text for text in beside if text), *shares])) is not None:
        reason = "the percentages and means beside the counts have another sign before decimals"
    elif (sign := _sign_of_sums(digits)) is not None:
        reason = "rows or columns add up so, and not with decimals"
    if sign is None:
        return parts, options
    note = f"{sign!r} parts thousands: {reason}"
    said = (*parts.assumed, f"{note}; decimal={sign!r} (--decimal) if it stands before decimals")
    return replace(parts, assumed=said), replace(options, thousands=sign)


def _sign_of_sums(digits: Sequence[Sequence[str]]) -> str | None:
    """The sign that parts thousands, as sums show that hold with thousands and not with decimals; None if none do.

    Sums are those of all other numbers of a row or column, in its first or last cell.
    """
    grid = np.array(digits, object)
    texts = [text for text in grid.ravel() if text]
    signs = {sign for text in texts for sign in ".," if sign in text}
    if len(signs) != 1 or min(grid.shape, default=0) == 0:
        return None
    (sign,) = signs
    if not all(re.fullmatch(rf"\d{{1,3}}({re.escape(sign)}\d{{3}})*", text) for text in texts):
        return None
    whole = np.array([[float(text.replace(sign, "") or 0) for text in line] for line in digits])
    parted = np.array([[float(text.replace(sign, ".", 1).replace(sign, "") or 0) for text in line] for line in digits])
    filled = grid != ""
    for one, other, there in ((whole, parted, filled), (whole.T, parted.T, filled.T)):
        full = there.all(axis=1)
        one, other = one[full], other[full]
        for end in (0, -1):
            sums = np.isclose(2 * one[:, end], one.sum(axis=1))
            denied = ~np.isclose(2 * other[:, end], other.sum(axis=1))
            if one.shape[1] > 2 and sums.all() and (denied & (one[:, end] > 0)).any():
                return sign
    return None


def body_numbers(block: SheetBlock, parts: BodyParts, options: SheetOptions) -> BodyNumbers:
    """The numbers of a body; what is neither a number nor a mark is refused by its place."""
    cells = [[block.cell(row, column) for column in parts.columns] for row in parts.rows]
    flat = [cell for line in cells for cell in line]
    shape = (len(parts.rows), len(parts.columns))
    if words := [k for k, cell in enumerate(flat) if cell.kind == WORDS]:
        places = [block.grid.place(parts.rows[k // shape[1]], parts.columns[k % shape[1]]).address for k in words[:4]]
        raise InputError(
            f"{block.grid.source!r}: {many(len(words), 'cell of the table holds', 'cells of the table hold')} text "
            f"that is neither a number nor a known mark ({listed(places)}); say suppressed= (--suppressed) for a mark "
            "of hidden numbers, zero= (--zero) for one of zeros, flag= (--flag) for a sign behind numbers that changes "
            "nothing, leave= (--leave) for a column that is not part of the table, or range= (--range)"
        )
    what = repr(block.grid.source)
    _refuse_spelling(block, parts, flat, options)
    numbers, decimals = numbers_of(flat, what, options)
    values = np.array([np.nan if number is None else number for number in numbers]).reshape(shape)
    kinds = np.array([cell.kind for cell in flat]).reshape(shape)
    dashes = np.array([cell.dash for cell in flat]).reshape(shape)
    blanks = kinds == BLANK
    unclear = dashes | (blanks if options.blank is None else np.zeros(shape, bool))
    values[unclear] = 0
    if options.blank == "zero":
        values[blanks] = 0
    nobodys = np.array([cell.unavailable for cell in flat]).reshape(shape)
    absent = (blanks & (options.blank == "none")) | nobodys
    hidden = ((kinds == MARKED) & ~dashes & ~nobodys) | (kinds == RANGED) | (blanks & (options.blank == "hidden"))
    least = np.full(shape, -np.inf)
    most = np.full(shape, np.inf)
    for k, cell in enumerate(flat):
        if cell.kind == RANGED:
            least.flat[k], most.flat[k] = range_ends(cell.text.partition("(")[0].strip(), decimals, what)
    return BodyNumbers(values, decimals, hidden, unclear, absent, least, most)


def _refuse_spelling(block: SheetBlock, parts: BodyParts, cells: Sequence[ReadCell], options: SheetOptions) -> None:
    """Refuse numbers as text that cannot be read with the signs of the others, by their places."""
    what = repr(block.grid.source)
    texts = [(cell.digits, k) for k, cell in enumerate(cells) if cell.digits]
    if bad := misspelt([text for text, _ in texts], what, options.decimal, options.thousands):
        at = [divmod(texts[k][1], len(parts.columns)) for k in bad]
        places = [block.grid.place(parts.rows[row], parts.columns[column]).address for row, column in at]
        raise InputError(
            f"{what}: {many(len(bad), 'cell holds', 'cells hold')} digits that are not one number as the others are "
            f"written ({listed(places, 4)}); correct them, or say the sign before decimals and between "
            "thousands (decimal=, --decimal; thousands=, --thousands)"
        )
