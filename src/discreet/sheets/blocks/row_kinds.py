"""Which rows of a sheet are headers, numbers, single labels or blank, from top to bottom."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from discreet.sheets.blocks.cell_reading import BLANK, MARKED, NUMERIC, RANGED, WORDS, ReadCell

EMPTY, LABEL_ROW, HEADER_ROW, NUMBER_ROW, NUMBERING_ROW = "empty", "label", "header", "numbers", "numbering"
NOTE_ROW = "note"
_NOTE = re.compile(
    r"\W*(?:foot)?(?:notes?|sources?|nb|remarks?|anmerkung(?:en)?|hinweise?|quellen?|nota|notes|fuente|fonte|bron|k\u00e4lla)\s*"
    r"(?:\d+\W*)?[:.].*|(?:\S+\s+){2,}(?:is|are|was|were|has|have|may|excludes?|includes?|refers?)\b.*"
    r"|(?:\S+\s+){4,}\S+\.",
    re.IGNORECASE | re.DOTALL,
)
"""Words of a note between rows of numbers: it is called so, or is a sentence; the name of a section is neither."""
_CLASS = re.compile(
    r"(\d{1,9})(?:\s*(?:-|\u2013|\u2014|to|bis|\u00e0|a)\s*(\d{1,9}))?(?:\s*(?:\+|and over|or more|u\. ?m\.))?"
)
Line = Mapping[int, ReadCell]
MEASURED = re.compile(r"[<>~≈≤≥+\u2212-]?\s?\d[\d.,\u00a0\u202f ]*%?\s*(?:[(\[{]|±|\+/-)\s*[^\s]*\d")
"""A number, and one in brackets or after a sign behind it."""


@dataclass(frozen=True)
class RowKind:
    """A row and what it is."""

    row: int
    kind: str


def row_kinds(lines: Mapping[int, Line], wide: Mapping[int, bool]) -> list[RowKind]:
    """The kind of every row; ``wide`` says of rows with a single cell whether it is merged across further columns.

    A row of texts is a header until numbers have begun, and begins another table behind them. Years, ages and groups
    of ages are numbers to look at but headers above the first row of numbers.
    """
    kinds: list[RowKind] = []
    headers: list[Line] = []
    numbers_seen = False
    across = [next(iter(line.values())) for row, line in lines.items() if len(line) == 1 and wide.get(row, False)]
    again = sum(cell.is_year for cell in across) > 1
    known: set[tuple[tuple[int, str], ...]] = set()
    begins: set[tuple[int, str]] = set()
    for row in sorted(lines):
        line: Line = lines[row]
        if any(cell.kind == BLANK for cell in line.values()):
            line = {column: cell for column, cell in line.items() if cell.kind != BLANK}
        if not line:
            kind = EMPTY
        elif len(line) == 1:
            above = wide.get(row, False) or heads_numbers(row, lines)
            kind = _single(line, numbers_seen, bool(headers), above)
            if wide.get(row, False) and (numbers_seen or (headers and again)):
                kind = LABEL_ROW  # merged across the numbers: a year or another label of those below
        elif numbers_seen:
            is_header = _beginning(line) in begins and _texts(line) in known
            kind = HEADER_ROW if is_header or _years_above_words(row, line, lines) else _behind_numbers(line)
        else:
            kind = _above_numbers(line, headers, _next_line(row, lines))
        if kind == HEADER_ROW:
            known.add(_texts(line))
            begins.add(_beginning(line))
            headers = [line] if numbers_seen else [*headers, line]
            numbers_seen = False
        elif kind == NUMBER_ROW:
            numbers_seen = True
        elif kind == EMPTY and not numbers_seen and headers and _begins_anew(row, lines):
            kinds = [
                RowKind(k.row, LABEL_ROW) if k.row < row and k.kind == HEADER_ROW and _open(kinds, k) else k
                for k in kinds
            ]
            headers = []
        kinds.append(RowKind(row, kind))
    return kinds


def _years_above_words(row: int, line: Line, lines: Mapping[int, Line]) -> bool:
    """Whether all numbers of a row are years, and further words stand right below it: the first header of a table."""
    if not all(cell.is_year for cell in line.values() if cell.kind == NUMERIC):
        return False
    numbers = [cell for cell in line.values() if cell.kind == NUMERIC]
    below = _next_line(row, lines)
    words = [cell for cell in below.values() if cell.kind == WORDS]
    return len(numbers) > 1 and _are_years(numbers) and len(words) > 1 and len(words) == len(below)


def _beginning(line: Line) -> tuple[int, str]:
    """The first cell of a row."""
    column = min(line)
    return column, line[column].text


def _texts(line: Line) -> tuple[tuple[int, str], ...]:
    """What stands in a row, to know it again."""
    return tuple((column, cell.text) for column, cell in line.items() if cell.kind != BLANK)


def heads_numbers(row: int, lines: Mapping[int, Line]) -> bool:
    """Whether the only cell of a row stands above numbers, in the next row, beside labels: a header, blank at first."""
    ((column, _),) = lines[row].items()
    below = next((lines[r] for r in sorted(lines) if r > row and lines[r]), {})
    beside = below.get(1)
    under = below.get(column)
    return (
        column > 1 and under is not None and under.kind in (NUMERIC, MARKED) and bool(beside and beside.kind == WORDS)
    )


def notes_between(kinds: Sequence[RowKind], lines: Mapping[int, Line]) -> list[RowKind]:
    """Rows in which a note that stands between numbers is not taken for the name of what follows."""
    marked = []
    for one in kinds:
        texts = [cell.text for cell in lines[one.row].values() if cell.kind != BLANK]
        is_note = one.kind == LABEL_ROW and len(texts) == 1 and _NOTE.fullmatch(texts[0].strip()) is not None
        marked.append(RowKind(one.row, NOTE_ROW) if is_note else one)
    return marked


def _open(kinds: Sequence[RowKind], one: RowKind) -> bool:
    """Whether no row of numbers stands between a header and the end."""
    return not any(k.row > one.row and k.kind == NUMBER_ROW for k in kinds)


def _begins_anew(row: int, lines: Mapping[int, Line]) -> bool:
    """Whether the next rows behind a blank one have a header of their own: what stood above was about the file."""
    for below in sorted(r for r in lines if r > row):
        line = [cell for cell in lines[below].values() if cell.kind != BLANK]
        if len(line) > 1:
            return not any(cell.kind == NUMERIC and not cell.is_year for cell in line)
    return False


def _single(line: Line, numbers_seen: bool, header_seen: bool, wide: bool) -> str:
    ((column, cell),) = line.items()
    if cell.kind in (NUMERIC, RANGED) and column > 1 and header_seen:
        return HEADER_ROW if cell.is_year and not numbers_seen else NUMBER_ROW
    if cell.kind == WORDS and column > 1 and not numbers_seen and (header_seen or wide):
        return HEADER_ROW
    return LABEL_ROW


def _behind_numbers(line: Line) -> str:
    first = min(line)
    rest = [cell for column, cell in line.items() if column != first]
    texts = sum([cell.kind == WORDS for cell in rest])
    if not texts or are_measured(rest):
        return NUMBER_ROW
    values = sum(cell.kind in (NUMERIC, MARKED) for cell in rest)
    if values and not (texts >= 2 and texts + values == len(rest) and texts > values and _when(rest)):
        return NUMBER_ROW
    return HEADER_ROW if texts >= 2 or not values else NUMBER_ROW


def are_measured(cells: Sequence[ReadCell]) -> bool:
    """Whether texts are numbers with a range or another number behind them, as medians are shown: "71 (60-80)"."""
    texts = [cell.text for cell in cells if cell.kind == WORDS]
    return bool(texts) and all(MEASURED.match(text.strip()) for text in texts)


def _when(cells: Sequence[ReadCell]) -> bool:
    """Whether all numbers may be years."""
    return all(cell.is_year or cell.kind in (WORDS, RANGED) for cell in cells)


def _next_line(row: int, lines: Mapping[int, Line]) -> Line:
    """The cells of the next row that is not blank; rows follow each other."""
    below = row + 1
    while below in lines:
        if lines[below]:
            return lines[below]
        below += 1
    return {}


def _above_numbers(line: Line, headers: Sequence[Line], below: Line) -> str:
    first = min(line)
    rest = {column: cell for column, cell in line.items() if column != first or first > 1}
    numbers = [cell for cell in rest.values() if cell.kind == NUMERIC]
    marks = sum(cell.kind == MARKED for cell in rest.values())
    if headers and _counts_up(list(line.values())):
        return NUMBERING_ROW
    if not numbers and _are_hidden(rest, headers):
        return NUMBER_ROW
    if not numbers:
        first_mark = min((column for column, cell in rest.items() if cell.kind == MARKED), default=first)
        labels = all(cell.kind == MARKED or column < first_mark for column, cell in rest.items())
        letters = all(
            cell.text.isalpha() and below.get(column, cell).kind == NUMERIC
            for column, cell in rest.items()
            if cell.kind == MARKED
        )
        return NUMBER_ROW if headers and marks and labels and not letters else HEADER_ROW
    if any(cell.percent or cell.share is not None for cell in numbers):
        return NUMBER_ROW
    if headers and _ends_in_words(rest, below):
        return HEADER_ROW
    if headers and first > min(min(header) for header in headers) and _are_classes(rest.values()):
        return HEADER_ROW
    years = _are_years(numbers)
    if not headers:
        return HEADER_ROW if years or _increasing(numbers) else NUMBER_ROW
    stub_blank = first > min(min(header) for header in headers) or first not in line or line[first].kind == NUMERIC
    above_blank = all(first not in header for header in headers)
    bare = any(
        cell.kind == NUMERIC and all(column not in header for header in headers) for column, cell in rest.items()
    )
    return HEADER_ROW if years and (stub_blank or above_blank or bare) else NUMBER_ROW


def _ends_in_words(line: Line, below: Line) -> bool:
    """Whether numbers that rise have words behind them, all with numbers right below, as "0", "1", "Total" have."""
    numbers = {column: _whole(cell) for column, cell in line.items() if cell.kind == NUMERIC}
    values = [number for number in numbers.values() if number is not None]
    words = [column for column, cell in line.items() if cell.kind == WORDS and column > min(numbers)]
    under = [below[column].kind for column in numbers if column in below]
    numbered = all(column in below and below[column].kind == NUMERIC for column in words)
    rising = len(values) == len(numbers) and all(a < b for a, b in pairwise(values))
    return rising and bool(words) and numbered and len(under) > 1 and all(kind in (NUMERIC, MARKED) for kind in under)


def _are_classes(cells: Iterable[ReadCell]) -> bool:
    """Whether numbers and ranges are classes that rise and do not overlap, as "0", "1-4", "5-9", "10+" do."""
    matches = [_CLASS.fullmatch(cell.text.strip()) for cell in cells]
    ends = [(int(match[1]), int(match[2] or match[1])) for match in matches if match is not None]
    apart = all(before[1] < after[0] for before, after in pairwise(ends))
    return len(ends) > 2 and apart and any(low < high for low, high in ends) and 2 * len(ends) > len(matches)


def _are_hidden(cells: Line, headers: Sequence[Line]) -> bool:
    """Whether ranges below headers stand for hidden numbers: one and the same, all "<8", or beside marks.

    Groups of ages that are headers differ, and not all of them are open below.
    """
    values = [cell for cell in cells.values() if cell.kind in (MARKED, RANGED)]
    if not values or not all(any(column in header for header in headers) for column in cells):
        return False
    start = min(column for column, cell in cells.items() if cell.kind in (MARKED, RANGED))
    if any(cell.kind not in (MARKED, RANGED) and column > start for column, cell in cells.items()):
        return False
    ranges = {cell.text for cell in values if cell.kind == RANGED}
    return len(ranges) < 2 or all(text.startswith(("<", "\u2264")) for text in ranges)


def _whole(cell: ReadCell) -> int | None:
    if cell.number is not None:
        return int(cell.number) if cell.number == int(cell.number) else None
    digits = (cell.digits if cell.flagged else cell.text).strip("()[]. ")
    return int(digits) if digits.isdecimal() else None


def _increasing(cells: Sequence[ReadCell]) -> bool:
    """Whether three whole numbers or more go up or down in equal steps, as ages and codes in a header do."""
    numbers = [number for cell in cells if (number := _whole(cell)) is not None]
    steps = {b - a for a, b in pairwise(numbers)}
    return len(numbers) == len(cells) > 2 and len(steps) == 1 and steps != {0}


def _are_years(cells: Sequence[ReadCell]) -> bool:
    """Whether numbers may be years of a header: each may occur again below another label, but in the same order."""
    numbers = [number for cell in cells if (number := _whole(cell)) is not None]
    if len(numbers) < len(cells) or not all(cell.is_year for cell in cells):
        return False
    once = list(dict.fromkeys(numbers))
    return once == sorted(once) or once == sorted(once, reverse=True)


def _counts_up(cells: Sequence[ReadCell]) -> bool:
    """Whether the cells number the columns: 1, 2, 3."""
    numbers = [_whole(cell) for cell in cells]
    first = numbers[0]
    return len(numbers) > 2 and first in (0, 1) and numbers == list(range(first or 0, (first or 0) + len(numbers)))
