"""Percentages without counts: where those stand beside them of whom they are, each of them is one count."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, listed, many
from discreet.sheets.blocks.block_cells import quoted_name
from discreet.sheets.blocks.cell_reading import BLANK, MARKED, NUMERIC, RANGED, ReadCell, shown_decimals
from discreet.sheets.blocks.derived_names import derived_kind
from discreet.sheets.blocks.label_paths import row_levels
from discreet.sheets.blocks.quotient_lines import says_percent
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_grid import CellPlace, column_letters
from discreet.sheets.sheet_layout import SHARE, CountedShare, DerivedNumber
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sheet_table import SheetTable
from discreet.sheets.sums.axis_lines import AxisLines
from discreet.sheets.sums.share_bases import Bases, bases_across, bases_down, heading_of, label_of_row
from discreet.sheets.sums.shares import derived_number
from discreet.sheets.sums.sum_runs import runs_to, told_apart
from discreet.sheets.understanding import understood
from discreet.tables.total_names import like_a_total
from discreet.tables.totals import ASK

SLACK = 1e-6
HUNDRED = 100.0
"""People of whom percentages are their counts."""
LEAST_OF_ALL = 2
"""Lines of percentages from which those of all together are 100."""


@dataclass(frozen=True, eq=False)
class _Line:
    """The percentages of a line: in each item the least and greatest count that each may be."""

    line: int
    shares: Array
    least: Array
    most: Array
    scale: float
    decimals: int

    @property
    def counts(self) -> Array:
        """The counts; NaN where none is shown."""
        return np.where(self.least == self.most, self.least, np.nan)

    @property
    def denied(self) -> bool:
        """Whether some percentage is that of no whole number."""
        return bool((self.least > self.most).any())

    @property
    def unsettled(self) -> bool:
        """Whether some percentage is that of several whole numbers."""
        return bool((self.least < self.most).any())


def counted_tables(block: SheetBlock, options: SheetOptions) -> list[SheetTable] | None:
    """The tables of counts that percentages and those of whom they are say together; None if they say none.

    Raises where percentages of stated bases are not those of one whole number each.
    """
    if options.measure is not None or not block.headers:
        return None
    for bases in (bases_across(block), bases_down(block)):
        lines = None if bases is None else _lines(block, bases, options)
        if bases is not None and lines:
            return _tables(block, bases, lines, options)
    return None


def _lines(block: SheetBlock, bases: Bases, options: SheetOptions) -> list[_Line]:
    """The lines whose percentages are those of whole numbers; none where these are no percentages, or not of them."""
    read = _of_one_precision(block, bases, options)
    if np.isnan([line.shares for line in read]).all() or (bases.down and len(read) < len(bases.lines)):
        return []
    if bases.down or bases.line is None:
        return _all_lines(block, bases, read)
    whole = bases.named and _are_all(block, bases, read)
    kept = [line for line in read if not (line.denied or line.unsettled) and (whole or _is_of(block, bases, line))]
    others = {line for line in bases.lines if not _is_said(block, line)} - {line.line for line in kept}
    return [] if others or all(np.isnan(line.shares).all() for line in kept) else kept  # counts stand beside them


def _of_one_precision(block: SheetBlock, bases: Bases, options: SheetOptions) -> list[_Line]:
    """All lines that may hold percentages, with as many decimals as the others where all add up to 100 so."""

    def lines(decimals: int | None = None) -> list[_Line]:
        read = (_line(block, bases, line, options, decimals) for line in bases.lines)
        return [line for line in read if line is not None]

    own = lines()
    most = max((line.decimals for line in own), default=0)
    plain = [line for line in own if not like_a_total(_name(block, bases, line.line))]
    if len(plain) < LEAST_OF_ALL or all(line.decimals == most for line in own):
        return own
    gaps = np.abs(np.array([line.shares for line in plain]).sum(axis=0) - plain[0].scale)
    return lines(most) if (gaps <= 0.5 * len(plain) * 10.0**-most + SLACK).all() else own


def _is_of(block: SheetBlock, bases: Bases, line: _Line) -> bool:
    """Whether the numbers of a column are shares of the bases, by its header or beyond chance."""
    if bases.named and (_is_said(block, line.line) or np.isnan(line.shares).all()):
        return True
    every = bool((line.shares == line.scale).all()) and like_a_total(heading_of(block, line.line)) > 0  # 100 % of all
    return every or (line.decimals > 0 and _bits(bases, line) >= ASK)


def _are_all(block: SheetBlock, bases: Bases, lines: Sequence[_Line]) -> bool:
    """Whether lines are the percentages of all answers: not whole, and 100 together for each of the bases."""
    plain = [line for line in lines if not like_a_total(_name(block, bases, line.line))]
    if len(plain) < LEAST_OF_ALL or not any(line.decimals for line in plain):
        return False
    gaps = np.abs(np.array([line.shares for line in plain]).sum(axis=0) - plain[0].scale)
    return bool((gaps <= sum(0.5 * 10.0**-line.decimals for line in plain) + SLACK).all())


def _is_said(block: SheetBlock, column: int) -> bool:
    """Whether a title or the header of a column speaks of percentages."""
    return says_percent(block) or derived_kind(heading_of(block, column), []) == "share"


def _all_lines(block: SheetBlock, bases: Bases, read: list[_Line]) -> list[_Line]:
    """Lines in a table of nothing but percentages; raises where they are not of whole numbers."""
    shown = np.array([line.shares for line in read])
    plain = [k for k, line in enumerate(read) if not like_a_total(_name(block, bases, line.line))]
    sums = np.nansum(shown[plain], axis=0)
    known = ~np.isnan(bases.size)
    if (np.abs(sums - bases.size)[known] < SLACK).all() and (bases.size[known] != HUNDRED).any():
        return []  # counts
    room = sum(0.5 * 10.0**-line.decimals for line in read) + SLACK
    whole = not np.isnan(shown).any() and bool((np.abs(sums - read[0].scale) <= room).all())
    names = [_name(block, bases, line.line) for line in read] + [heading_of(block, column) for column in block.values]
    names += [heading_of(block, column) for column in block.stub]
    said = says_percent(block) or any(derived_kind(name, []) == "share" for name in names)
    exact = not any(line.denied or line.unsettled or not line.decimals for line in read)
    said = said or (exact and sum(_bits(bases, line) for line in read) >= ASK)
    formatted = all(block.cell(*bases.at(line.line, item)).percent for line in read for item in bases.items)
    if not (whole or said or formatted):
        return []
    if any(line.denied or line.unsettled for line in read):
        raise _unsettled_error(block, bases, read)
    return read


def _name(block: SheetBlock, bases: Bases, line: int) -> str:
    return label_of_row(block, line) if bases.down else heading_of(block, line)


def _line(
    block: SheetBlock, bases: Bases, line: int, options: SheetOptions, decimals: int | None = None
) -> _Line | None:
    """A line of percentages with the counts that each may be; None if it holds something else."""
    places = [bases.at(line, item) for item in bases.items]
    cells = [block.cell(*place) for place in places]
    numbers = [cell for cell in cells if cell.kind == NUMERIC]
    if any(cell.kind not in (NUMERIC, MARKED, RANGED, BLANK) or cell.share for cell in cells):
        return None
    formatted = [cell.percent and cell.number is not None for cell in numbers]
    if any(formatted) and not all(formatted):
        return None
    scale = 1.0 if numbers and all(formatted) else 100.0
    shares = np.array([math.nan if (n := derived_number(block, place)) is None else n for place in places])
    if (shares < 0).any() or (shares > scale * (1 + SLACK)).any():
        return None
    decimals = shown_decimals(cells) if decimals is None else decimals
    half = 0.5000001 * 10.0**-decimals
    least = np.ceil((shares - half) * bases.size / scale - SLACK).clip(0)
    most = np.minimum(np.floor((shares + half) * bases.size / scale + SLACK), bases.size)
    if options.rounding:  # rounded counts, which percentages of rounded bases are of
        base = 2 * options.rounding
        least, most = base * np.ceil(least / base - SLACK), base * np.floor(most / base + SLACK)
    least, most = _settled_by_sum(bases.size, least, most)
    return _Line(line, shares, least, most, scale, decimals)


def _settled_by_sum(size: Array, least: Array, most: Array) -> tuple[Array, Array]:
    """Counts in a total that is larger than percentages can tell, as the sum of the counts whose bases it adds up."""
    open_ = np.flatnonzero(least < most)
    if len(open_) != 1 or np.isnan(least).any() or np.isnan(size).any():
        return least, most
    (k,) = open_.tolist()
    rest = np.delete(least, k).sum()
    if np.delete(size, k).sum() == size[k] and least[k] <= rest <= most[k]:
        least, most = least.copy(), most.copy()
        least[k] = most[k] = rest
    return least, most


def _bits(bases: Bases, line: _Line) -> float:
    """How little all percentages of a line are those of whole numbers of the bases by chance."""
    telling = ~np.isnan(line.least) & (line.shares > 0) & (line.shares < line.scale)
    steps = line.scale * 10.0**line.decimals
    return float(-np.log2(np.minimum(1.0, (1 + bases.size[telling]) / (1 + steps))).sum())


def _unsettled_error(block: SheetBlock, bases: Bases, lines: Sequence[_Line]) -> InputError:
    """What is said of percentages that are not those of one whole number of people each."""
    name = f"{quoted_name(block.grid)} {block.range.address}"
    wrong = [
        block.grid.place(*bases.at(line.line, item)).address
        for line in lines
        for item, low, high in zip(bases.items, line.least, line.most, strict=True)
        if low > high
    ]
    if wrong:
        return InputError(
            f"{name}: percentages with the number of people that they are of, but no whole number of people is so many "
            f"of them ({listed(wrong, 4)}), as where they are weighted or of other people; write the counts in place "
            "of the percentages, or leave this table out (sheets=, --sheet; range=, --range)"
        )
    most = float(np.nanmax(bases.size))
    scale = max(line.scale for line in lines)
    decimals = max(0, math.ceil(math.log10(most / scale) + 1e-9))
    return InputError(
        f"{name}: percentages of up to {most:,.0f} people, which may be those of several counts each; write them with "
        f"{many(decimals, 'decimal')} in place of {max(line.decimals for line in lines)}, or write counts instead"
    )


def _tables(block: SheetBlock, bases: Bases, lines: Sequence[_Line], options: SheetOptions) -> list[SheetTable]:
    """The tables of the counts that lines of percentages say, with each percentage in the place of its count."""
    grid = block.grid
    cells = dict(block.cells)
    for at, size in zip(bases.places, bases.size.tolist(), strict=True):
        if bases.line is not None and not math.isnan(size):
            cells[at] = ReadCell(NUMERIC, str(int(size)), number=size)
    counted = {}
    derived = []
    twins = [line for line in lines if len(lines) > 1 and (line.shares == line.scale).all()]
    held = [line for line in lines if line not in twins]
    for line in lines:
        for k, (item, count) in enumerate(zip(bases.items, line.counts.tolist(), strict=True)):
            at, base = bases.at(line.line, item), bases.places[k]
            place, of = grid.place(*at), grid.place(*base)
            if line in twins:
                derived.append(DerivedNumber(place, "share", of, of, line.scale, line.decimals))
                continue
            if not math.isnan(line.shares[k]) and math.isnan(count) and line.shares[k]:
                derived.append(DerivedNumber(place, "share", place, of, line.scale, line.decimals))
                cells[at] = ReadCell(MARKED, "*")
            elif not math.isnan(line.shares[k]):
                number = 0.0 if math.isnan(count) else count
                cells[at] = ReadCell(NUMERIC, str(int(number)), number=number)
            counted[place] = CountedShare(of, line.scale, line.decimals)
    kept = [line.line for line in held] + ([] if bases.line is None else [bases.line])
    gone = {line.line for line in twins}
    rows, columns = (kept, bases.items) if bases.down else (bases.items, kept)
    block = replace(
        block,
        cells=cells,
        body=tuple(row for row in block.body if not bases.down or row not in gone),
        values=tuple(column for column in block.values if bases.down or column not in gone),
        counted_rows=frozenset(rows if bases.down else ()),
        counted_columns=frozenset(columns),
    )
    tables = [table for part, own in _variables(block, bases, held, options) for table in understood(part, own)]
    where = f"those in row {bases.line}" if bases.down else f"those in column {column_letters(bases.line or 1)}"
    where = f"the number in its {'header' if bases.down else 'label'}" if bases.line is None else where
    counts = "counts, each of them" if len(counted) > 1 else "a count,"
    sentence = f"{many(len(counted), 'percentage')} read as {counts} the only whole number that it can be of {where}"
    first, *others = [_with_counted(table, counted, sentence) for table in tables]
    roles = {**first.layout.roles, **{(one.place.row, one.place.column): SHARE for one in derived}}
    percentages = (*first.percentages, *derived)
    return [replace(first, percentages=percentages, layout=replace(first.layout, roles=roles)), *others]


def _with_counted(table: SheetTable, counted: Mapping[CellPlace, CountedShare], sentence: str) -> SheetTable:
    own = {place: counted[place] for places in table.places.values() for place in places if place in counted}
    plain = None if table.plain is None else _with_counted(table.plain, counted, sentence)
    return replace(table, counted=own, assumed=(sentence, *table.assumed), plain=plain)


def _variables(
    block: SheetBlock, bases: Bases, lines: Sequence[_Line], options: SheetOptions
) -> list[tuple[SheetBlock, SheetOptions]]:
    """A block for every run of lines that adds up to the bases, and for every other line, which is a part of them.

    Bases in headers are told apart where the block is read.
    """
    if bases.line is None and bases.down:
        return [(block, options)]
    values = np.vstack([*(line.counts for line in lines), bases.size])
    axis = AxisLines(np.nan_to_num(values), ~np.isnan(values), np.ones(values.shape, bool))
    plain = [k for k, line in enumerate(lines) if not like_a_total(_name(block, bases, line.line))]
    runs, left = runs_to(axis, len(lines), plain)
    runs, left, said = told_apart(axis, len(lines), runs, left, partly=options.partly)
    if not left and len(runs) == 1:
        return [_variable(block, bases, options, "")]
    block = replace(block, assumed=(*block.assumed, *said))
    read = {line.line for line in lines}
    blocks = []
    for n, group in enumerate([*runs, *([k] for k in left)]):
        own = {lines[k].line for k in group} | ({bases.line} if bases.line is not None else set())
        if n == 0:  # means and the like stand once
            own |= {*(block.body if bases.down else block.values)} - read
        kept = (
            replace(block, body=tuple(row for row in block.body if row in own), sections=())
            if bases.down
            else replace(block, values=tuple(column for column in block.values if column in own))
        )
        name = " to ".join(dict.fromkeys(_name(block, bases, lines[k].line) for k in (group[0], group[-1])))
        blocks.append(_variable(kept, bases, replace(options, partly=options.partly or len(group) == 1), name))
    return blocks


def _variable(block: SheetBlock, bases: Bases, options: SheetOptions, name: str) -> tuple[SheetBlock, SheetOptions]:
    """A block under a name of its own, with the bases as the total of its lines."""
    if bases.down:
        name = name or row_levels(block)[-1].name or "row"
        block = replace(block, row_name=name)
    else:
        name = name or block.column_name or "answer"
        block = replace(block, column_name=name)
    if bases.line is None:
        return block, options
    total = label_of_row(block, bases.line) if bases.down else block.grid.text(block.headers[-1], bases.line)
    said = options.total if isinstance(options.total, Mapping) else {}
    return block, replace(options, total={name: total, **said})
