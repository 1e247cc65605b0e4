"""Where tables stand on a sheet: titles above, header rows, stub columns, the body, notes below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from discreet.errors import InputError, listed, many
from discreet.sheets.blocks.block_cells import BlockCells, BlockRows, quoted_name
from discreet.sheets.blocks.cell_reading import BLANK, NUMERIC, WORDS, ReadCell, read_cell
from discreet.sheets.blocks.row_kinds import (
    EMPTY,
    HEADER_ROW,
    LABEL_ROW,
    NOTE_ROW,
    NUMBER_ROW,
    NUMBERING_ROW,
    RowKind,
    heads_numbers,
    notes_between,
    row_kinds,
)
from discreet.sheets.blocks.stub_columns import (
    blank_between,
    is_value_column,
    labels_behind,
    rank_columns,
    refuse_labels_behind,
    stub_columns,
)
from discreet.sheets.blocks.worded_cells import counted_units, quotient_cells
from discreet.sheets.sheet_grid import CellRange, SheetCell, SheetGrid, cell_range, column_letters
from discreet.sheets.sheet_options import SheetOptions


@dataclass(frozen=True, eq=False)
class SheetBlock(BlockRows):
    """One table on a sheet: rows and columns by their parts, cells as read."""

    grid: SheetGrid
    cells: Mapping[tuple[int, int], ReadCell]
    stub: tuple[int, ...]
    values: tuple[int, ...]
    texts: tuple[int, ...]
    """Columns of text behind the first column of numbers."""
    row_name: str = ""
    """What the rows are called, where they are one of several variables of a sheet."""
    column_name: str = ""
    assumed: tuple[str, ...] = ()
    """What was taken as so to find the table."""
    finest: bool = False
    """Whether only the last column of labels names the rows, as those of one of several variables in a list."""
    populations: Mapping[int, float] = field(default_factory=dict)
    """Of how many the counts of a column are, as its cells say."""
    counted_rows: frozenset[int] = frozenset()
    """Rows that hold counts, whatever they are called."""
    counted_columns: frozenset[int] = frozenset()
    """Columns that hold counts, whatever they are called."""

    def cell(self, row: int, column: int) -> ReadCell:
        """A cell as read."""
        return self.cells.get((row, column), _BLANK)

    @property
    def range(self) -> CellRange:
        """Headers, stub and body."""
        rows = (*self.headers, *self.body, *self.sections)
        columns = (*self.stub, *self.values, *self.texts)
        return CellRange(min(rows), min(columns), max(rows), max(columns))


_BLANK = ReadCell(BLANK)
NO_TABLE = "no table was found"


def sheet_blocks(grid: SheetGrid, options: SheetOptions) -> list[SheetBlock]:
    """The tables of a sheet, from top to bottom, and from left to right where they stand beside each other."""
    box = grid.extent if options.range is None else cell_range(options.range)
    inside = grid.cells
    if options.range is not None:
        inside = {place: cell for place, cell in inside.items() if box.holds(*place)}
    cells = _read_cells(inside, options)
    _refuse_unsaved(grid, box)
    if not cells:
        raise InputError(f"{quoted_name(grid)}: there is nothing in {box.address}")
    if quotients := quotient_cells(cells):
        cells |= quotients
    kept = _counted(_blocks_in(box, grid, cells, options))
    if units := counted_units(cells):
        cells = _read_cells(inside, replace(options, flag=(*options.flag, *units)))
        sentence = f"{listed(units, 4)} behind numbers says what is counted"
        kept = [replace(block, assumed=(sentence,)) for block in _counted(_blocks_in(box, grid, cells, options))]
    if not kept:
        raise InputError(
            f"{quoted_name(grid)}: {NO_TABLE} in {box.address}: no row of numbers stands under a header; "
            f"{_figures_in_texts(grid, cells)}say where it is (range='A3:F20', --range A3:F20) and how many rows are "
            "headers (header_rows=1, --header-rows)"
        )
    return kept


def _counted(blocks: Sequence[SheetBlock]) -> list[SheetBlock]:
    """Blocks that hold numbers; all of them if none does."""
    kept = _with_years_as_titles(blocks)
    return [block for block in kept if _has_a_number(block)] or kept


def _blocks_in(
    box: CellRange, grid: SheetGrid, cells: Mapping[tuple[int, int], ReadCell], options: SheetOptions
) -> list[SheetBlock]:
    """The tables of a range; those beside each other are read as if each stood alone."""
    lines: dict[int, dict[int, ReadCell]] = {row: {} for row in range(box.first_row, box.last_row + 1)}
    for row, column in sorted(cells):
        lines[row][column - box.first_column + 1] = cells[row, column]
    wide = {m.first_row: m.last_column > m.first_column for m in grid.merged}
    header_rows = grid.header_rows if options.header_rows is None else options.header_rows
    kinds = row_kinds(lines, wide) if header_rows is None else _stated(lines, header_rows, options, grid)
    kinds = notes_between(_without_repeated_headers(kinds, lines), lines)
    tables = _split(kinds)
    if (blank := _blank_between(grid, cells, _together(tables))) is not None:
        return _beside(blank, box, grid, cells, options)
    blocks: list[SheetBlock | None] = []
    for rows in tables:
        if (blank := _blank_between(grid, cells, rows)) is None:
            blocks.append(_block(grid, cells, rows, options))
        else:
            own = CellRange(min(rows.every), box.first_column, max(rows.every), box.last_column)
            blocks += _beside(blank, own, grid, cells, options)
    return [block for block in blocks if block is not None]


def _figures_in_texts(grid: SheetGrid, cells: Mapping[tuple[int, int], ReadCell]) -> str:
    """What is said of texts that begin with a number, as "14 pupils", where no table is found; never what they say."""
    texts = [place for place, cell in cells.items() if cell.kind == WORDS and cell.text.strip()[:1].isdecimal()]
    if len(texts) < 2:
        return ""
    first = grid.place(*min(texts)).address
    return (
        f"{many(len(texts), 'cell holds', 'cells hold')} texts that begin with a number and are none (the first is "
        f"{first}): write numbers alone in them, with units in the headers and each number of several in a column of "
        "its own; else "
    )


def _blank_between(grid: SheetGrid, cells: Mapping[tuple[int, int], ReadCell], rows: BlockRows) -> int | None:
    return None if grid.header_rows is not None else blank_between(BlockCells(grid, cells, rows))


def _together(tables: Sequence[BlockRows]) -> BlockRows:
    """The rows of all tables, as if they were one."""
    return BlockRows(*(tuple(row for rows in tables for row in getattr(rows, part.name)) for part in fields(BlockRows)))


def _beside(
    blank: int,
    box: CellRange,
    grid: SheetGrid,
    cells: Mapping[tuple[int, int], ReadCell],
    options: SheetOptions,
) -> list[SheetBlock]:
    """The tables on the left and on the right of a blank column."""
    blocks = []
    for side in (box._replace(last_column=blank - 1), box._replace(first_column=blank + 1)):
        inside = {place: cell for place, cell in cells.items() if side.holds(*place)}
        blocks += _blocks_in(side, grid, inside, options)
    return blocks


def _with_years_as_titles(blocks: Sequence[SheetBlock]) -> list[SheetBlock]:
    """Blocks without those that hold a single year, as a line "date, 2021" of what is said above a table is."""
    kept: list[SheetBlock] = []
    above: tuple[int, ...] = ()
    for block in blocks:
        numbers = [block.cell(row, column) for row in block.body for column in block.values]
        if block is not blocks[-1] and len(numbers) == 1 and numbers[0].kind == NUMERIC and numbers[0].is_year:
            above = (*above, *sorted(block.every))
        else:
            kept.append(replace(block, titles=(*above, *block.titles)))
            above = ()
    return kept


def _read_cells(cells: Mapping[tuple[int, int], SheetCell], options: SheetOptions) -> dict[tuple[int, int], ReadCell]:
    """Cells that are not blank as they may be meant; one that stands in many places is read once."""
    known: dict[int, tuple[SheetCell, ReadCell]] = {}  # by the cell itself, which is held here
    read_cells: dict[tuple[int, int], ReadCell] = {}
    for place, cell in cells.items():
        if id(cell) not in known:
            known[id(cell)] = cell, read_cell(cell, options)
        _, read = known[id(cell)]
        if read.kind != BLANK:
            read_cells[place] = read
    return read_cells


def _has_a_number(block: SheetBlock) -> bool:
    columns = (*block.stub, *block.values, *block.texts)
    return any(block.cell(row, column).kind == NUMERIC for row in block.body for column in columns)


def _without_repeated_headers(kinds: Sequence[RowKind], lines: Mapping[int, Mapping[int, ReadCell]]) -> list[RowKind]:
    """Rows in which a header that repeats the last one right among the numbers, as on a new page, begins nothing."""
    cleaned: list[RowKind] = []
    header: list[tuple[int, str]] = []
    for one in kinds:
        texts = [(column, cell.text) for column, cell in lines[one.row].items()]
        if one.kind == HEADER_ROW:
            if cleaned and cleaned[-1].kind == NUMBER_ROW and texts == header:
                cleaned.append(RowKind(one.row, NUMBERING_ROW))
                continue
            header = texts
        cleaned.append(one)
    return cleaned


def _refuse_unsaved(grid: SheetGrid, box: CellRange) -> None:
    """Refuse formulas whose results are not in the file: a total would be missing, or a cell blank."""
    unsaved = [place for place, cell in grid.cells.items() if cell.formula and cell.value is None and box.holds(*place)]
    if unsaved:
        first = grid.place(*min(unsaved)).address
        raise InputError(
            f"{quoted_name(grid)}: {many(len(unsaved), 'cell holds', 'cells hold')} formulas whose results were never "
            f"saved (first: {first}); open the file in a spreadsheet program, save it, and read it again"
        )


def _stated(
    lines: Mapping[int, Mapping[int, ReadCell]], header_rows: int, options: SheetOptions, grid: SheetGrid
) -> list[RowKind]:
    """Kinds of rows where the number of headers is said: from the first row with several cells, or of the range."""
    filled = [
        row
        for row, line in lines.items()
        if len(line) > 1 or (line and (grid.header_rows is not None or heads_numbers(row, lines)))
    ]
    first = min(lines) if options.range is not None or grid.header_rows is not None else min(filled, default=min(lines))
    kinds = []
    for row, line in lines.items():
        if not line and not (grid.header_rows is not None and row < first + header_rows):
            kinds.append(RowKind(row, EMPTY))
        elif row < first:
            kinds.append(RowKind(row, LABEL_ROW))
        elif row < first + header_rows:
            kinds.append(RowKind(row, HEADER_ROW))
        else:
            texts = all(cell.kind == WORDS for cell in line.values())
            kinds.append(RowKind(row, LABEL_ROW if len(line) == 1 and texts else NUMBER_ROW))
    return kinds


def _split(kinds: Sequence[RowKind]) -> list[BlockRows]:
    """The rows of each table: a header behind numbers begins the next one."""
    starts = [0]
    numbers = [k for k, one in enumerate(kinds) if one.kind == NUMBER_ROW]
    last = -1
    for k, one in enumerate(kinds):
        if one.kind == NUMBER_ROW:
            last = k
        elif one.kind == HEADER_ROW and last >= starts[-1] and numbers[-1] > k:
            gap = [n for n in range(last + 1, k) if kinds[n].kind == EMPTY]
            starts.append(gap[-1] + 1 if gap else last + 1)
    ends = [*starts[1:], len(kinds)]
    tables = []
    for start, end in zip(starts, ends, strict=True):
        part = kinds[start:end]
        numbers = [one.row for one in part if one.kind == NUMBER_ROW]
        if not numbers:
            continue
        first, last = numbers[0], numbers[-1]
        of = {kind: [one.row for one in part if one.kind == kind] for kind in (LABEL_ROW, HEADER_ROW, NUMBERING_ROW)}
        headers = [row for row in of[HEADER_ROW] if row < first]
        top = min(headers, default=first)
        notes = [one.row for one in part if one.kind == NOTE_ROW]
        sections = [row for row in of[LABEL_ROW] if top < row < last]
        if len(sections) == 1 and headers and sections[0] < first:  # a name below the header, as frames write it
            headers.append(sections.pop())
        tables.append(
            BlockRows(
                titles=tuple(row for row in sorted((*of[LABEL_ROW], *notes)) if row < top),
                headers=tuple(headers),
                body=tuple(numbers),
                sections=tuple(sections),
                notes=(
                    *(row for row in notes if top < row < last),
                    *(row for row in sorted((*of[LABEL_ROW], *of[HEADER_ROW], *notes)) if row > last),
                ),
                numbering=tuple(of[NUMBERING_ROW]),
            )
        )
    return tables


def _block(
    grid: SheetGrid, cells: Mapping[tuple[int, int], ReadCell], rows: BlockRows, options: SheetOptions
) -> SheetBlock | None:
    block = BlockCells(grid, cells, rows)
    body, header = set(rows.body), set(rows.headers)
    columns = sorted({column for row, column in cells if row in body})
    heads = {column for row, column in cells if row in header}
    if not rows.headers and options.header_rows != 0:
        place = f"{column_letters(columns[0])}{rows.body[0]}"
        raise InputError(
            f"{block.name}: the numbers from {place} on have no header above them; say range= (--range) to leave "
            "them out, or header_rows= (--header-rows) to say how many rows are headers (0 if there is none)"
        )
    stub, rest = stub_columns(block, columns, options)
    values = [c for c in rest if is_value_column(block, c) or (c in heads and not block.filled(c))]
    values = [c for c in values if block.filled(c)]
    texts = [c for c in rest if c not in values]
    if not values:
        return None
    if options.stub_columns is None and grid.stub_columns is None:
        stub = [*stub, *labels_behind(block, stub, texts, rest)]
        texts, values = [c for c in texts if c not in stub], [c for c in values if c not in stub]
        ranks = rank_columns(block, stub, values)
        stub, texts = [c for c in stub if c not in ranks], sorted((*texts, *ranks))
    refuse_labels_behind(block, stub, texts)
    return SheetBlock(**vars(rows), grid=grid, cells=cells, stub=tuple(stub), values=tuple(values), texts=tuple(texts))


def with_rows(block: SheetBlock, rows: Sequence[int]) -> SheetBlock:
    """The block with some of its rows of numbers."""
    kept = set(rows)
    return replace(block, body=tuple(row for row in block.body if row in kept), sections=())


def with_blank_rows(block: SheetBlock) -> SheetBlock:
    """The block with rows that hold a label alone as rows of numbers that are all blank, not as headings."""
    return replace(block, body=tuple(sorted((*block.body, *block.sections))), sections=())
