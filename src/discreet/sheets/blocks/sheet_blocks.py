"""Where tables stand on a sheet: titles above, header rows, stub columns, the body, notes below."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.errors import InputError, listed
from discreet.sheets.blocks.cell_reading import BLANK, MARKED, NUMERIC, RANGED, WORDS, ReadCell, read_cell
from discreet.sheets.blocks.row_kinds import EMPTY, HEADER_ROW, LABEL_ROW, NUMBER_ROW, NUMBERING_ROW, RowKind, row_kinds
from discreet.sheets.sheet_grid import CellRange, SheetGrid, cell_range, column_letters
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


@dataclass(frozen=True, eq=False)
class SheetBlock:
    """One table on a sheet: rows and columns by their parts, cells as read."""

    grid: SheetGrid
    cells: Mapping[tuple[int, int], ReadCell]
    titles: tuple[int, ...]
    headers: tuple[int, ...]
    body: tuple[int, ...]
    """Rows of numbers."""
    sections: tuple[int, ...]
    """Rows with a single label between rows of numbers."""
    notes: tuple[int, ...]
    numbering: tuple[int, ...]
    stub: tuple[int, ...]
    values: tuple[int, ...]
    texts: tuple[int, ...]
    """Columns of text behind the first column of numbers."""
    row_name: str = ""
    """What the rows are called, where they are one of several variables of a sheet."""
    column_name: str = ""

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


def sheet_blocks(grid: SheetGrid, options: SheetOptions) -> list[SheetBlock]:
    """The tables of a sheet, from top to bottom."""
    box = grid.extent if options.range is None else cell_range(options.range)
    cells = {
        place: read
        for place, cell in grid.cells.items()
        if box.holds(*place) and (read := read_cell(cell, options)).kind != BLANK
    }
    _refuse_unsaved(grid, box)
    lines: dict[int, dict[int, ReadCell]] = {row: {} for row in range(box.first_row, box.last_row + 1)}
    for (row, column), cell in sorted(cells.items()):
        lines[row][column - box.first_column + 1] = cell
    if not cells:
        raise InputError(f"{_name(grid)}: there is nothing in {box.address}")
    wide = {m.first_row: m.last_column > m.first_column for m in grid.merged}
    header_rows = grid.header_rows if options.header_rows is None else options.header_rows
    kinds = row_kinds(lines, wide) if header_rows is None else _stated(lines, header_rows, options, grid)
    kinds = _without_repeated_headers(kinds, lines)
    blocks = [_block(grid, cells, rows, options) for rows in _split(kinds)]
    kept = [block for block in blocks if block is not None]
    counted = [block for block in kept if any(cells[p].kind == NUMERIC for p in cells if p[0] in set(block.body))]
    kept = counted or kept
    if not kept:
        raise InputError(
            f"{_name(grid)}: no table was found in {box.address}: no row of numbers stands under a header; say where "
            "it is (range='A3:F20') and how many rows are headers (header_rows=1)"
        )
    return kept


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
            f"{_name(grid)}: {len(unsaved):,} cells hold formulas whose results were never saved (first: {first}); "
            "open the file in a spreadsheet program, save it, and read it again"
        )


def _name(grid: SheetGrid) -> str:
    return repr(f"{grid.source}: {grid.sheet}" if grid.sheet else grid.source)


def _stated(
    lines: Mapping[int, Mapping[int, ReadCell]], header_rows: int, options: SheetOptions, grid: SheetGrid
) -> list[RowKind]:
    """Kinds of rows where the number of headers is said: from the first row with several cells, or of the range."""
    filled = [row for row, line in lines.items() if len(line) > 1 or (grid.header_rows is not None and line)]
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


@dataclass(frozen=True)
class _Rows:
    titles: tuple[int, ...]
    headers: tuple[int, ...]
    body: tuple[int, ...]
    sections: tuple[int, ...]
    notes: tuple[int, ...]
    numbering: tuple[int, ...]


def _split(kinds: Sequence[RowKind]) -> list[_Rows]:
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
        tables.append(
            _Rows(
                titles=tuple(row for row in of[LABEL_ROW] if row < top),
                headers=tuple(headers),
                body=tuple(numbers),
                sections=tuple(row for row in of[LABEL_ROW] if top < row < last),
                notes=tuple(row for row in (*of[LABEL_ROW], *of[HEADER_ROW]) if row > last),
                numbering=tuple(of[NUMBERING_ROW]),
            )
        )
    return tables


def _block(
    grid: SheetGrid, cells: Mapping[tuple[int, int], ReadCell], rows: _Rows, options: SheetOptions
) -> SheetBlock | None:
    body = set(rows.body)
    columns = sorted({column for row, column in cells if row in body})
    heads = sorted({column for row, column in cells if row in set(rows.headers)})
    if not rows.headers and options.header_rows != 0:
        place = f"{column_letters(columns[0])}{rows.body[0]}"
        raise InputError(
            f"{_name(grid)}: the numbers from {place} on have no header above them; say range= to leave them out, or "
            "header_rows= to say how many rows are headers (0 if there is none)"
        )
    stub, rest = _stub(grid, cells, rows, columns, options)
    values = [c for c in rest if _is_value_column(cells, rows, c) or (c in heads and not _filled(cells, rows, c))]
    values = [c for c in values if _filled(cells, rows, c)]
    texts = [c for c in rest if c not in values]
    if not values:
        return None
    _refuse_labels_behind(grid, cells, rows, stub, texts)
    _refuse_side_by_side(grid, cells, rows, values, texts)
    return SheetBlock(
        grid,
        cells,
        rows.titles,
        rows.headers,
        rows.body,
        rows.sections,
        rows.notes,
        rows.numbering,
        tuple(stub),
        tuple(values),
        tuple(texts),
    )


def _filled(cells: Mapping[tuple[int, int], ReadCell], rows: _Rows, column: int) -> bool:
    return any((row, column) in cells for row in rows.body)


def _column(cells: Mapping[tuple[int, int], ReadCell], rows: _Rows, column: int) -> list[ReadCell]:
    return [cells[(row, column)] for row in rows.body if (row, column) in cells]


def _is_value_column(cells: Mapping[tuple[int, int], ReadCell], rows: _Rows, column: int) -> bool:
    """Whether numbers and marks are more than half of a column; marks alone, here and there, are flags of another."""
    held = _column(cells, rows, column)
    texts = sum(cell.kind == WORDS for cell in held)
    flags = all(cell.kind == MARKED for cell in held) and len(held) < len(rows.body)
    return 2 * texts < len(held) and not flags


def _stub(
    grid: SheetGrid,
    cells: Mapping[tuple[int, int], ReadCell],
    rows: _Rows,
    columns: Sequence[int],
    options: SheetOptions,
) -> tuple[list[int], list[int]]:
    """The columns of labels, and those behind them."""
    said = grid.stub_columns if options.stub_columns is None else options.stub_columns
    if said is not None:
        if not 0 < said < len(columns):
            raise InputError(
                f"{_name(grid)}: stub_columns={said}, but the table has {len(columns)} columns; at least one holds "
                "labels and at least one numbers"
            )
        first = 1 if grid.stub_columns is not None and options.range is None else columns[0]
        stub = list(range(first, first + said)) if grid.stub_columns is not None else list(columns[:said])
        return stub, [c for c in columns if c > stub[-1]]
    stub = []
    for column in columns[:-1]:
        if stub and not _is_label_column(cells, rows, stub, column):
            _ask_about_labels(grid, cells, rows, stub, column)
            break
        stub.append(column)
    rest = [c for c in columns if c not in stub]
    indents = {cell.indent for row in rows.body if (cell := grid.cells.get((row, stub[-1]))) is not None}
    return _until_unique(cells, rows, stub, rest) if len(indents) < 2 else (stub, rest)


def _is_label_column(cells: Mapping[tuple[int, int], ReadCell], rows: _Rows, stub: Sequence[int], column: int) -> bool:
    """Whether a column behind the first holds labels or codes: text, groups of ages, years, leading zeros."""
    held = _column(cells, rows, column)
    if not held:
        return True
    numbers = [cell for cell in held if cell.kind == NUMERIC]
    if numbers and any(cell.kind == WORDS for cell in held) and _unique(cells, rows, stub):
        return False
    if 2 * sum(cell.kind == WORDS for cell in held) >= len(held) or (
        2 * sum(cell.kind == RANGED for cell in held) > len(held) and not numbers
    ):
        return True
    if any(cell.digits.isdecimal() and len(cell.digits) > 1 and cell.digits.startswith("0") for cell in numbers):
        return True
    if any(cell.share is not None or cell.percent for cell in numbers):
        return False
    heading = " ".join(cells[(row, column)].text for row in rows.headers if (row, column) in cells).strip(" .:")
    if _CODES.fullmatch(heading) or _WHEN.fullmatch(heading):
        return not any(cell.kind == MARKED for cell in held)
    years = bool(numbers) and all(cell.is_year for cell in numbers) and len(numbers) == len(held)
    return years and 2 * len({cell.text for cell in numbers}) <= len(numbers)


def _ask_about_labels(
    grid: SheetGrid,
    cells: Mapping[tuple[int, int], ReadCell],
    rows: _Rows,
    stub: Sequence[int],
    column: int,
) -> None:
    """Refuse to take a column of years, or of more words than numbers, for one of counts without being told."""
    held = _column(cells, rows, column)
    words = sum(cell.kind == WORDS for cell in held)
    if 2 * words >= len(held) > 0:
        raise InputError(
            f"{_name(grid)}: column {column_letters(column)} holds words and numbers; say stub_columns={len(stub) + 1} "
            f"(--stub-columns) if they are labels, stub_columns={len(stub)} if they are numbers of the table, with "
            "suppressed= for a mark of hidden ones"
        )
    years = all(cell.kind == NUMERIC and cell.is_year for cell in held)
    if len(held) > 1 and years and _unique(cells, rows, stub):
        letter = column_letters(column)
        raise InputError(
            f"{_name(grid)}: all numbers of column {letter} may be years; say stub_columns={len(stub) + 1} "
            f"(--stub-columns) if they are labels, stub_columns={len(stub)} if they are numbers of the table"
        )


def _until_unique(
    cells: Mapping[tuple[int, int], ReadCell], rows: _Rows, stub: list[int], rest: list[int]
) -> tuple[list[int], list[int]]:
    """A list of cells names each once: as many further columns of whole numbers as that needs are labels, too."""
    wide, behind = list(stub), list(rest)
    while len(behind) > 1 and not rows.sections and not _unique(cells, rows, wide):
        held = _column(cells, rows, behind[0])
        if not held or any(cell.kind != NUMERIC or cell.share is not None for cell in held):
            return stub, rest
        wide.append(behind.pop(0))
    return (wide, behind) if _unique(cells, rows, wide) else (stub, rest)


def _unique(cells: Mapping[tuple[int, int], ReadCell], rows: _Rows, stub: Sequence[int]) -> bool:
    filled = [tuple(cells[(row, c)].text if (row, c) in cells else "" for c in stub) for row in rows.body]
    if any("" in labels for labels in filled):
        return True  # blank labels repeat those above: looked at later
    return len(set(filled)) == len(filled)


def _refuse_labels_behind(
    grid: SheetGrid,
    cells: Mapping[tuple[int, int], ReadCell],
    rows: _Rows,
    stub: Sequence[int],
    texts: Sequence[int],
) -> None:
    """Refuse to take numbers for labels where the labels seem to stand behind the numbers."""
    first = _column(cells, rows, stub[0])
    heading = " ".join(cells[(row, stub[0])].text for row in rows.headers if (row, stub[0]) in cells).strip(" .:")
    coded = _CODES.fullmatch(heading) or _WHEN.fullmatch(heading) or any(c.digits.startswith("0") for c in first)
    plain = all(cell.kind == NUMERIC and not cell.is_year for cell in first)
    if len(stub) > 1 or not plain or coded or grid.stub_columns is not None:
        return
    for column in texts:
        held = [cell.text for cell in _column(cells, rows, column)]
        if len(set(held)) == len(held) == len(rows.body):
            raise InputError(
                f"{_name(grid)}: the labels seem to stand in column {column_letters(column)}, behind the numbers; move "
                f"them before the numbers, or leave them out with range= if {column_letters(stub[0])} holds the labels"
            )


def _refuse_side_by_side(
    grid: SheetGrid,
    cells: Mapping[tuple[int, int], ReadCell],
    rows: _Rows,
    values: Sequence[int],
    texts: Sequence[int],
) -> None:
    """Refuse a second stub behind a blank column: two tables beside each other."""
    for column in texts:
        behind = [c for c in values if c > column]
        blank = not any((row, column - 1) in cells for row in (*rows.body, *rows.headers))
        if behind and blank and _filled(cells, rows, column):
            top, last = min((*rows.headers, *rows.body)), max(rows.body)
            first = min(c for _, c in cells)
            ranges = [CellRange(top, first, last, column - 2), CellRange(top, column, last, max(values))]
            raise InputError(
                f"{_name(grid)}: two tables stand beside each other; say which with "
                f"{listed([f'range={box.address}' for box in ranges])} (--range)"
            )


def with_rows(block: SheetBlock, rows: Sequence[int]) -> SheetBlock:
    """The block with some of its rows of numbers."""
    kept = set(rows)
    return replace(block, body=tuple(row for row in block.body if row in kept), sections=())
