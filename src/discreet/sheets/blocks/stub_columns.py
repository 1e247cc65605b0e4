"""Which columns of a block are labels and which hold numbers; what may be either is asked about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from discreet.errors import InputError, listed
from discreet.sheets.blocks.block_cells import BlockCells
from discreet.sheets.blocks.cell_reading import MARKED, NUMERIC, RANGED, WORDS
from discreet.sheets.sheet_grid import CellRange, column_letters
from discreet.sheets.sheet_options import SheetOptions

_CODES = re.compile(
    r"(?:.*[\W_])?(codes?|ids?|urn|laestab|fips|nuts|lsoa|msoa|lau|gss|zip|plz|kode|koodi)", re.IGNORECASE
)
_WHEN = re.compile(
    r"(reporting[ _]|calendar[ _]|financial[ _]|ref(erence)?[ _]|time[ _])?(year|jahr|berichtsjahr|ann[e\u00e9]e"
    r"|a\u00f1o|ano|anno|\u00e5r|vuosi|rok|jaar|month|monat|mois|mes|quarter|quartal|week|date|period|time|age|ages|alter|\u00e2ge|edad|et\u00e0|ik\u00e4"
    r"|wiek|alder|\u00e5lder|leeftijd|idade)",
    re.IGNORECASE,
)


def is_value_column(block: BlockCells, column: int) -> bool:
    """Whether numbers and marks are more than half of a column; marks alone, here and there, are flags of another."""
    held = block.column(column)
    texts = sum(cell.kind == WORDS for cell in held)
    flags = all(cell.kind == MARKED for cell in held) and len(held) < len(block.rows.body)
    return 2 * texts < len(held) and not flags


def stub_columns(
    block: BlockCells,
    columns: Sequence[int],
    options: SheetOptions,
) -> tuple[list[int], list[int]]:
    """The columns of labels, and those behind them."""
    said = block.grid.stub_columns if options.stub_columns is None else options.stub_columns
    if said is not None:
        if not 0 < said < len(columns):
            raise InputError(
                f"{block.name}: stub_columns={said}, but the table has {len(columns)} columns; at least one holds "
                "labels and at least one numbers"
            )
        first = 1 if block.grid.stub_columns is not None and options.range is None else columns[0]
        stub = list(range(first, first + said)) if block.grid.stub_columns is not None else list(columns[:said])
        return stub, [c for c in columns if c > stub[-1]]
    stub = []
    for column in columns[:-1]:
        if stub and not _is_label_column(block, stub, column):
            _ask_about_labels(block, stub, column)
            break
        stub.append(column)
    rest = [c for c in columns if c not in stub]
    indents = {cell.indent for row in block.rows.body if (cell := block.grid.cells.get((row, stub[-1]))) is not None}
    return _until_unique(block, stub, rest) if len(indents) < 2 else (stub, rest)


def _is_label_column(block: BlockCells, stub: Sequence[int], column: int) -> bool:
    """Whether a column behind the first holds labels or codes: text, groups of ages, years, leading zeros."""
    held = block.column(column)
    if not held:
        return True
    numbers = [cell for cell in held if cell.kind == NUMERIC]
    if numbers and any(cell.kind == WORDS for cell in held) and _unique(block, stub):
        return False
    if 2 * sum(cell.kind == WORDS for cell in held) >= len(held) or (
        2 * sum(cell.kind == RANGED for cell in held) > len(held) and not numbers
    ):
        return True
    if any(cell.digits.isdecimal() and len(cell.digits) > 1 and cell.digits.startswith("0") for cell in numbers):
        return True
    if any(cell.share is not None or cell.percent for cell in numbers):
        return False
    heading = block.heading(column)
    if _CODES.fullmatch(heading) or _WHEN.fullmatch(heading):
        return not any(cell.kind == MARKED for cell in held)
    years = bool(numbers) and all(cell.is_year for cell in numbers) and len(numbers) == len(held)
    return years and 2 * len({cell.text for cell in numbers}) <= len(numbers)


def _ask_about_labels(
    block: BlockCells,
    stub: Sequence[int],
    column: int,
) -> None:
    """Refuse to take a column of years, or of more words than numbers, for one of counts without being told."""
    held = block.column(column)
    words = sum(cell.kind == WORDS for cell in held)
    if 2 * words >= len(held) > 0:
        raise InputError(
            f"{block.name}: column {column_letters(column)} holds words and numbers; say stub_columns={len(stub) + 1} "
            f"(--stub-columns) if they are labels, stub_columns={len(stub)} if they are numbers of the table, with "
            "suppressed= for a mark of hidden ones"
        )
    years = all(cell.kind == NUMERIC and cell.is_year for cell in held)
    if len(held) > 1 and years and _unique(block, stub):
        letter = column_letters(column)
        raise InputError(
            f"{block.name}: all numbers of column {letter} may be years; say stub_columns={len(stub) + 1} "
            f"(--stub-columns) if they are labels, stub_columns={len(stub)} if they are numbers of the table"
        )


def _until_unique(block: BlockCells, stub: list[int], rest: list[int]) -> tuple[list[int], list[int]]:
    """A list of cells names each once: as many further columns of whole numbers as that needs are labels, too."""
    wide, behind = list(stub), list(rest)
    while len(behind) > 1 and not block.rows.sections and not _unique(block, wide):
        held = block.column(behind[0])
        if not held or any(cell.kind != NUMERIC or cell.share is not None for cell in held):
            return stub, rest
        wide.append(behind.pop(0))
    return (wide, behind) if _unique(block, wide) else (stub, rest)


def _unique(block: BlockCells, stub: Sequence[int]) -> bool:
    cells = block.cells
    filled = [tuple(cells[row, c].text if (row, c) in cells else "" for c in stub) for row in block.rows.body]
    if any("" in labels for labels in filled):
        return True  # blank labels repeat those above: looked at later
    return len(set(filled)) == len(filled)


def refuse_labels_behind(
    block: BlockCells,
    stub: Sequence[int],
    texts: Sequence[int],
) -> None:
    """Refuse to take numbers for labels where the labels seem to stand behind the numbers."""
    first = block.column(stub[0])
    heading = block.heading(stub[0])
    coded = _CODES.fullmatch(heading) or _WHEN.fullmatch(heading) or any(c.digits.startswith("0") for c in first)
    plain = all(cell.kind == NUMERIC and not cell.is_year for cell in first)
    if len(stub) > 1 or not plain or coded or block.grid.stub_columns is not None:
        return
    for column in texts:
        held = [cell.text for cell in block.column(column)]
        if len(set(held)) == len(held) == len(block.rows.body):
            raise InputError(
                f"{block.name}: the labels seem to stand in column {column_letters(column)}, behind the numbers; move "
                f"them before the numbers, or leave them out with range= if {column_letters(stub[0])} holds the labels"
            )


def refuse_side_by_side(
    block: BlockCells,
    values: Sequence[int],
    texts: Sequence[int],
) -> None:
    """Refuse a second stub behind a blank column: two tables beside each other."""
    for column in texts:
        behind = [c for c in values if c > column]
        blank = not any((row, column - 1) in block.cells for row in (*block.rows.body, *block.rows.headers))
        if behind and blank and block.filled(column):
            top, last = min((*block.rows.headers, *block.rows.body)), max(block.rows.body)
            first = min(c for _, c in block.cells)
            ranges = [CellRange(top, first, last, column - 2), CellRange(top, column, last, max(values))]
            raise InputError(
                f"{block.name}: two tables stand beside each other; say which with "
                f"{listed([f'range={box.address}' for box in ranges])} (--range)"
            )
