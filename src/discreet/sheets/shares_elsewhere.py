"""Percentages in a table of their own, below their counts or on another sheet: what each is a share of."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from discreet.sheets.blocks.cell_reading import NUMERIC, shown_decimals
from discreet.sheets.blocks.label_paths import column_levels, row_levels
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_grid import CellPlace, CellRange
from discreet.sheets.sheet_layout import (
    ASIDE,
    HEADER,
    LABEL,
    NOTE,
    NUMBERING,
    SHARE,
    TITLE,
    DerivedNumber,
    LeftAside,
    SheetLayout,
    derived_value,
)
from discreet.sheets.sheet_table import CellCodes, ShareTable, SheetTable
from discreet.sheets.sums.shares import SCALES, derived_number
from discreet.sheets.table_of_cells import sheet_notes, sheet_title

LEAST_SHARES = 3
"""Shares other than nothing and all by which a table is known for one of shares."""
_KIND_OF_NUMBER = re.compile(
    r"%|\b(?:per\s?cent(?:age)?s?|pct|prozent|anteile?|pourcentages?|porcentajes?|procent|percentuale?|shares?|proportions?"
    r"|numbers?|counts?|n|no|anzahl|nombre|n\u00famero|aantal|antal)\b(?:\s+of\b)?",
    re.IGNORECASE,
)
_SHARE_NAME = re.compile(
    r"%|\bper\s?cent|\bpercent|\bprozent|\banteil|\bpourcentage|\bporcentaje|\bprocent|\bpercentuale|\bshares?\b|\bproportion"
    r"|\brates?\b",
    re.IGNORECASE,
)
_PER = re.compile(
    r"\b(?:rates?(?: of)?|per\s*1[0., \u00a0\u202f]*0{2,3}(?:\s+(?:population|people|persons|inhabitants))?)\b", re.I
)
MOST_BASES = 40
"""Other counts of a line by which it is tried whether numbers were divided."""
Path = tuple[str, ...]


class ReadBlock(NamedTuple):
    """A table on a sheet, and what was read of it."""

    block: SheetBlock
    tables: list[SheetTable]


class _Share(NamedTuple):
    """A number of a table of shares, the table that holds its count, and the codes of that."""

    place: tuple[int, int]
    number: float
    table: int
    codes: CellCodes


def with_shares(
    block: SheetBlock, base: ReadBlock, *, named: bool, only: Collection[tuple[int, int]] | None = None
) -> list[SheetTable] | None:
    """The tables of a base with the shares of another block, which are of their counts; None if they are not.

    Each number must be the share of the count with the same labels in a total or a sum above it, in one way for all.
    ``named``: where no such total stands on the sheet, names and formats suffice; such shares are not confirmed then.
    ``only``: the cells that hold shares, where others of the block are counts.
    """
    down, across = _paths(block)
    counts = _counts(base)
    shares: list[_Share] = []
    unknown: list[tuple[int, int]] = []
    for row in block.body:
        for column in block.values:
            number = derived_number(block, (row, column))
            if number is None or (only is not None and (row, column) not in only):
                continue
            held = counts.get((down[row], across[column]))
            if held is None:
                unknown.append((row, column))
            else:
                shares.append(_Share((row, column), number, *held))
    if len(shares) < LEAST_SHARES or len(shares) < len(unknown):
        return None
    decimals = shown_decimals(block.cell(*one.place) for one in shares)
    derived: list[DerivedNumber] = []
    telling = 0
    for k, table in enumerate(base.tables):
        own = [share for share in shares if share.table == k]
        confirmed, told = _confirmed(block, table, own, decimals)
        if confirmed is None:
            return None
        derived += confirmed
        telling += told
    if telling < LEAST_SHARES and not (named and says_shares(block) and not unknown):
        return None
    derived += [DerivedNumber(block.grid.place(*place), "share", decimals=decimals) for place in unknown]
    box = block.range
    aside = [LeftAside(CellRange(row, box.first_column, row, box.last_column), NUMBERING) for row in block.numbering]
    elsewhere = ShareTable(block.grid, _layout(block), tuple(derived), left_aside=tuple(aside))
    first, *others = base.tables
    sentence = f"{block.grid.sheet} {block.range.address}: the numbers are shares of those in this table".strip()
    return [
        replace(
            first,
            share_tables=(*first.share_tables, elsewhere),
            assumed=tuple(dict.fromkeys((*first.assumed, sentence))),
        ),
        *others,
    ]


def says_shares(block: SheetBlock) -> bool:
    """Whether titles, headers, the name of the sheet or formats say that numbers are percentages or rates."""
    above = {*block.titles, *block.headers}
    texts = [cell.text for (row, _), cell in block.cells.items() if row in above]
    cells = [block.cell(row, column) for row in block.body for column in block.values]
    formatted = any(cell.percent for cell in cells)
    return formatted or any(_SHARE_NAME.search(text) for text in (block.grid.sheet, *texts))


def _paths(block: SheetBlock) -> tuple[dict[int, Path], dict[int, Path]]:
    """The labels of each row and column from the outermost, without what they say of the kind of numbers."""
    down, across = row_levels(block), column_levels(block)
    rows = {row: _plain([level.texts[k] for level in down]) for k, row in enumerate(block.body)}
    return rows, {column: _plain([level.texts[k] for level in across]) for k, column in enumerate(block.values)}


def _plain(texts: Sequence[str]) -> Path:
    plain = (_PER.sub("", _KIND_OF_NUMBER.sub("", text.casefold())).strip(" ()[]:,;-\u2013") for text in texts)
    return tuple(text for text in plain if text)


def _counts(base: ReadBlock) -> Mapping[tuple[Path, Path], tuple[int, CellCodes]]:
    """By labels of row and column the table and codes of a count; labels that stand for several are left out."""
    down, across = _paths(base.block)
    held: dict[tuple[Path, Path], tuple[int, CellCodes]] = {}
    several: set[tuple[Path, Path]] = set()
    for k, table in enumerate(base.tables):
        for codes, places in table.places.items():
            for place in places:
                if place.row not in down or place.column not in across:
                    continue
                path = down[place.row], across[place.column]
                if held.setdefault(path, (k, codes)) != (k, codes) and held[path][0] == k:
                    several.add(path)
    return {path: cell for path, cell in held.items() if path not in several}


def _confirmed(
    block: SheetBlock, table: SheetTable, shares: Sequence[_Share], decimals: int
) -> tuple[list[DerivedNumber] | None, int]:
    """The shares of counts of one table, in the first way that fits them all, and how many of them tell that it does.

    None where every way is denied by a number. Without a way they are not confirmed.
    """
    if not shares:
        return [], 0
    values = _values(table)
    fitting: list[tuple[list[CellCodes | None], float, int]] = []
    denied = False
    cells = [share.codes for share in shares]
    for ways, of_totals in ((_ways(table, cells), True), (_other_ways(table, cells), False)):
        for wholes, scale in product(ways, SCALES):
            told = _telling(shares, wholes, values, scale, decimals)
            denied = denied or (of_totals and told is None)
            if told:
                fitting.append((wholes, scale, told))
        if fitting:
            break
    if not fitting:
        unconfirmed = [DerivedNumber(block.grid.place(*one.place), "share", decimals=decimals) for one in shares]
        return (None if denied else unconfirmed), 0
    wholes, scale, told = max(fitting, key=lambda way: way[2])
    others = [way for way, _, _ in fitting if way is not wholes]
    derived = []
    for k, share in enumerate(shares):
        besides = dict.fromkeys(way[k] for way in others if way[k] not in (None, wholes[k]))
        derived.append(
            DerivedNumber(
                block.grid.place(*share.place),
                "share",
                _place(table, share.codes),
                _place(table, wholes[k]),
                scale,
                decimals,
                besides=tuple(place for codes in besides if (place := _place(table, codes)) is not None),
            )
        )
    return derived, told


def _values(table: SheetTable) -> Mapping[CellCodes, float]:
    """The number of each cell; NaN where it is hidden."""
    published = table.published
    names = [[d.codes[c] for c in own] for d, own in zip(published.dimensions, published.codes.T.tolist(), strict=True)]
    return dict(zip(zip(*names, strict=True), published.values[table.measure].tolist(), strict=True))


def _ways(table: SheetTable, cells: Sequence[CellCodes]) -> Iterator[list[CellCodes | None]]:
    """Per cell what it may be a share of, in one way for all: a total, the sum right above, all totals at once."""
    dims = table.dimensions
    above = [{part: group.code for group in d.groups if not group.signed for part, _ in group.parts} for d in dims]
    for axis, d in enumerate(dims):
        if d.total is not None:
            yield [(*codes[:axis], d.total, *codes[axis + 1 :]) for codes in cells]
        if above[axis]:
            up = [above[axis].get(codes[axis], d.total) for codes in cells]
            yield [
                None if code is None else (*codes[:axis], code, *codes[axis + 1 :])
                for codes, code in zip(cells, up, strict=True)
            ]
    if sum(d.total is not None for d in dims) > 1:
        yield [
            tuple(code if d.total is None else d.total for d, code in zip(dims, codes, strict=True)) for codes in cells
        ]


def _other_ways(table: SheetTable, cells: Sequence[CellCodes]) -> Iterator[list[CellCodes | None]]:
    """As ``_ways``, of one other count of the same line, as a rate is of a population beside the cases."""
    for axis, d in enumerate(table.dimensions):
        own = {codes[axis] for codes in cells}
        for code in [other for other in d.codes if other not in own][:MOST_BASES]:
            yield [(*codes[:axis], code, *codes[axis + 1 :]) for codes in cells]


def _telling(
    shares: Sequence[_Share],
    wholes: Sequence[CellCodes | None],
    values: Mapping[CellCodes, float],
    scale: float,
    decimals: int,
) -> int | None:
    """How many shares of a way are those of their counts; 0 where a total is missing, None where one is another."""
    half, told = 0.5000001 * 10.0**-decimals, 0
    for share, whole in zip(shares, wholes, strict=True):
        part = values.get(share.codes, np.nan)
        base = values.get(whole, None) if whole is not None else None
        if base is None:
            return 0
        if np.isnan(part) or np.isnan(base):
            continue
        result = derived_value("share", part, base, scale)
        if (result is None and share.number) or (result is not None and abs(result - share.number) > half):
            return None
        told += share.number not in (0.0, scale)
    return told


def _place(table: SheetTable, codes: CellCodes | None) -> CellPlace | None:
    places = table.places.get(codes, ()) if codes is not None else ()
    return places[0] if places else None


def _layout(block: SheetBlock) -> SheetLayout:
    roles = dict.fromkeys(block.cells, ASIDE)
    headers, stub, body = {*block.headers}, {*block.stub}, {*block.body}
    for row, column in block.cells:
        if row in block.titles:
            roles[row, column] = TITLE
        elif row in block.notes:
            roles[row, column] = NOTE
        elif row in headers:
            roles[row, column] = HEADER
        elif row in block.sections or (row in body and column in stub):
            roles[row, column] = LABEL
        elif row in body and column in block.values and block.cell(row, column).kind == NUMERIC:
            roles[row, column] = SHARE
    return SheetLayout(
        block.range,
        block.headers,
        block.stub,
        block.body,
        block.values,
        roles,
        title=sheet_title(block),
        notes=sheet_notes(block),
    )
