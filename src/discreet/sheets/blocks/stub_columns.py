"""Which columns of a block are labels and which hold numbers; what may be either is asked about."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import pairwise

from discreet.errors import InputError, listed, many
from discreet.sheets.blocks.block_cells import BlockCells
from discreet.sheets.blocks.cell_reading import MARKED, NUMERIC, RANGED, WORDS, ReadCell
from discreet.sheets.sheet_grid import column_letters
from discreet.sheets.sheet_options import SheetOptions
from discreet.tables.total_names import USUAL, like_a_total

_CODES = re.compile(
    r"(?:.*[\W_])?(codes?|ids?|urn|(?:la)?estab|ukprn|fips|nuts|lsoa|msoa|lau|gss|sic|soc|nace|isic|zip|plz|ags|insee|siret|nif|kode?|koodi"
    r"|c[o\u00f3]d(?:igo)?s?)\.?",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"(reporting[ _]|calendar[ _]|financial[ _]|ref(erence)?[ _]|time[ _])?(year|jahr|berichtsjahr|ann[e\u00e9]e"
    r"|a\u00f1o|ano|anno|\u00e5r|vuosi|rok|jaar|month|monat|mois|mes|quarter|quartal|week|date|period|time|age|ages|alter|\u00e2ge|edad|et\u00e0|ik\u00e4"
    r"|wiek|alder|\u00e5lder|leeftijd|idade)",
    re.IGNORECASE,
)
_RANKS = re.compile(
    r"(?:.*[\W_])?(no|nr|num|score|grade|level|stage|class|decile|quintile|quartile|band|category|rank|size|day|hour"
    r"|klasse|stufe|groupe|classe|niveau|nivel|grado|clase|decil|quintil|taille|gr\u00f6\u00dfe|tag|jour|d\u00eda|dag)",
    re.IGNORECASE,
)
_SIZE = re.compile(r"(?:.*[\W_])?(?:list|register|population|sample|cohort|stock)[\W_]size", re.IGNORECASE)
"""How many there are of something, and not a class of sizes."""
_MEASURES = ("measure", "interval_start", "interval_end", "ratio", "numerator", "denominator")
"""How a file of OpenSAFELY's measures begins; what a measure is broken down by stands behind."""
LEAST_RANKED = 3
"""Rows from which numbers 1, 2, 3 in the order of their counts are ranks."""
SHORTEST_CODE = 3
"""Digits of numbers that are all as long, which may be codes."""
MOST_ADDED = 12
"""Columns of which it is tried whether the first of them add up to one."""
LONGEST_COUNT = 5
"""Digits that counts beside labels have; longer numbers, all of one length, are codes."""
LEAST_OF_RUNS = 6
"""Rows from which numbers that run through the same steps below each label are labels, and not counts by chance."""


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
    if said is not None and not isinstance(said, int):
        return _named_stub(block, columns, said)
    if said is not None:
        if not 0 < said < len(columns):
            raise InputError(
                f"{block.name}: {_said_columns(said)}, but the table has {many(len(columns), 'column')}; at least one "
                "holds labels and at least one numbers"
            )
        first = 1 if block.grid.stub_columns is not None and options.range is None else columns[0]
        stub = list(range(first, first + said)) if block.grid.stub_columns is not None else list(columns[:said])
        return stub, [c for c in columns if c > stub[-1]]
    _ask_about_first(block, columns)
    stub = []
    before = _totals_before(block, columns)
    columns = [column for column in columns if column not in before]
    for column in columns[:-1]:
        if stub and not _is_label_column(block, stub, column):
            _ask_about_labels(block, stub, column)
            break
        stub.append(column)
    rest = sorted((*before, *(c for c in columns if c not in stub)))
    indents = {cell.indent for row in block.rows.body if (cell := block.grid.cells.get((row, stub[-1]))) is not None}
    return _until_unique(block, stub, rest) if len(indents) < 2 else (stub, rest)


def _totals_before(block: BlockCells, columns: Sequence[int]) -> list[int]:
    """Columns of numbers before the labels whose headers say that they are totals."""
    before: list[int] = []
    for column in columns[:-2]:
        held = block.column(column)
        if not held or any(cell.kind != NUMERIC for cell in held) or like_a_total(block.heading(column)) != USUAL:
            break
        before.append(column)
    behind = [cell for column in columns[len(before) : len(before) + 1] for cell in block.column(column)]
    return before if behind and not any(cell.kind == NUMERIC for cell in behind) else []


def rank_columns(block: BlockCells, stub: Sequence[int], values: Sequence[int]) -> list[int]:
    """Columns of labels that say in which order a column of counts puts the rows, beside others that name them."""
    ranks = []
    for column in stub:
        others = [c for c in stub if c != column]
        places = [_rank(block, row, column) for row in block.rows.body]
        known = [(place, row) for place, row in zip(places, block.rows.body, strict=True) if place is not None]
        if len(known) < LEAST_RANKED or len(known) + 1 < len(places) or not others or not _unique(block, others):
            continue
        if {place for place, _ in known} != set(range(1, len(known) + 1)) or known == sorted(known):
            continue
        rows = [row for _, row in sorted(known)]
        counts = [[block.cells[row, c].number for row in rows if (row, c) in block.cells] for c in values]
        if any(_falls_or_rises([n for n in own if n is not None], len(rows)) for own in counts):
            ranks.append(column)
    return ranks


def _rank(block: BlockCells, row: int, column: int) -> int | None:
    text = block.cells[row, column].text if (row, column) in block.cells else ""
    match = re.fullmatch(r"(\d{1,6})(?:st|nd|rd|th|\.|=)?", text.strip(), re.IGNORECASE)
    return int(match[1]) if match else None


def _falls_or_rises(numbers: Sequence[float], many: int) -> bool:
    pairs = list(pairwise(numbers))
    return len(numbers) == many and (all(a >= b for a, b in pairs) or all(a <= b for a, b in pairs))


def _named_stub(block: BlockCells, columns: Sequence[int], said: Sequence[str]) -> tuple[list[int], list[int]]:
    """The columns of labels by their headers, or letters, wherever they stand, and all others."""
    named = {name: column for column in columns for name in (column_letters(column), _header(block, column)) if name}
    if unknown := [name for name in said if name not in named]:
        headers = [_header(block, column) or column_letters(column) for column in columns]
        raise InputError(
            f"{block.name}: stub_columns= (--stub-columns) names {listed(unknown)}; headers are {listed(headers)}"
        )
    stub = sorted({named[name] for name in said})
    rest = [column for column in columns if column not in stub]
    if not stub or not rest:
        raise InputError(f"{block.name}: at least one column holds labels and at least one numbers")
    return stub, rest


def _header(block: BlockCells, column: int) -> str:
    return block.grid.names.get(("column", column)) or block.heading(column)


def labels_behind(block: BlockCells, stub: Sequence[int], texts: Sequence[int], rest: Sequence[int]) -> list[int]:
    """Columns of words behind the numbers that tell rows of the same labels apart; numbers that may are asked about.

    Words that stand in one row only are remarks, and signs are flags or ranges of error.
    """
    if tuple(_header(block, c) for c in (*stub, *rest)[: len(_MEASURES)]) == _MEASURES:
        return [column for column in rest if column > (*stub, *rest)[len(_MEASURES) - 1]]
    indents = {cell.indent for row in block.rows.body if (cell := block.grid.cells.get((row, stub[-1]))) is not None}
    words = [column for column in texts if _are_repeated_words(block, column)]
    if block.rows.sections or len(indents) > 1 or not words or _unique(block, stub):
        return []
    if _unique(block, [*stub, *words]):
        return words
    behind = [c for c in rest if c in words or (c > min(words) and c not in texts)]
    before = [c for c in rest if c <= max(texts)]
    if _unique(block, [*stub, *before]) and all(c in texts or _look_like_codes(block, c) for c in before):
        behind = before
    if _unique(block, [*stub, *behind]):
        names = [_header(block, column) or column_letters(column) for column in (*stub, *behind)]
        raise InputError(
            f"{block.name}: rows have the same labels unless columns behind the numbers are labels, too; say "
            f'stub_columns={tuple(names)} (--stub-columns "{",".join(names)}") if they are'
        )
    return []


def _look_like_codes(block: BlockCells, column: int) -> bool:
    """Whether the numbers of a column are all different, whole and as long as each other."""
    texts = [cell.text.strip() for cell in block.column(column)]
    whole = all(text.isdecimal() and len(text) == len(texts[0]) >= SHORTEST_CODE for text in texts)
    return whole and len({*texts}) == len(texts)


def _are_repeated_words(block: BlockCells, column: int) -> bool:
    held = [cell.text.strip() for cell in block.column(column)]
    return len(held) == len(block.rows.body) and 2 * len({*held}) <= len(held) and all(t[:1].isalpha() for t in held)


def _is_label_column(block: BlockCells, stub: Sequence[int], column: int) -> bool:
    """Whether a column behind the first holds labels or codes: text, groups of ages, years, leading zeros."""
    held = block.column(column)
    if not held:
        return True
    numbers = [cell for cell in held if cell.kind == NUMERIC]
    if numbers and any(cell.kind == WORDS for cell in held) and _unique(block, stub):
        return _CODES.fullmatch(block.heading(column)) is not None  # F, M, 1, 2
    if 2 * sum(cell.kind == WORDS for cell in held) >= len(held):
        return True
    ranges = [cell.text for cell in held if cell.kind == RANGED]
    if 2 * len(ranges) > len(held) and not numbers:
        return len({*ranges}) > 1 or not _unique(block, stub)  # the same range in all rows is a mark
    if any(cell.digits.isdecimal() and len(cell.digits) > 1 and cell.digits.startswith("0") for cell in numbers):
        return True
    if any(cell.share is not None or cell.percent for cell in numbers):
        return False
    heading = block.heading(column)
    if _is_plain_name(heading):
        if numbers and adds_up_with_others(block, column):
            return False
        if numbers and _names_every_row(block, stub) and not _may_be_labels(heading, held):
            raise InputError(
                f"{block.name}: column {column_letters(column)} ({heading!r}) holds numbers behind labels that name "
                f"every row; say {_said_columns(len(stub) + 1)} if they are labels, {_said_columns(len(stub))} if they "
                "are numbers of the table"
            )
        return not any(cell.kind == MARKED for cell in held)
    years = bool(numbers) and all(cell.is_year for cell in numbers) and len(numbers) == len(held)
    return years and 2 * len({cell.text for cell in numbers}) <= len(numbers)


def _names_every_row(block: BlockCells, stub: Sequence[int]) -> bool:
    """Whether the columns of labels, or these and the headings of sections, name each row by itself."""
    if _unique(block, stub):
        return True
    cells, rows = block.cells, block.rows
    names = [
        (sum(section < row for section in rows.sections), *(cells[row, c].text for c in stub if (row, c) in cells))
        for row in rows.body
    ]
    return len({*names}) == len(names)


def _may_be_labels(heading: str, held: Sequence[ReadCell]) -> bool:
    """Whether numbers below a header of years or codes look like these, and not like counts under a short name."""
    numbers = [cell for cell in held if cell.kind == NUMERIC]
    if _WHEN.fullmatch(heading):
        return all(cell.is_year for cell in numbers)
    texts = [cell.text.strip() for cell in numbers]
    if not _CODES.fullmatch(heading) or len({*texts}) < len(texts) or not all(text.isdecimal() for text in texts):
        return False
    values = [int(text) for text in texts]
    sums = len(values) > 2 and any(2 * value == sum(values) for value in values)
    same = len({len(text) for text in texts}) == 1 and len(texts[0]) >= SHORTEST_CODE
    return not sums and (same or (len(texts) >= LEAST_RANKED and _in_equal_steps(texts)))


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
            f"{block.name}: column {column_letters(column)} holds words and numbers; say "
            f"{_said_columns(len(stub) + 1)} if they are labels, {_said_columns(len(stub))} if they are numbers of the "
            "table, with suppressed= (--suppressed) for a mark of hidden ones"
        )
    years = all(cell.kind == NUMERIC and cell.is_year for cell in held)
    if len(held) > 1 and years and _unique(block, stub):
        letter = column_letters(column)
        raise InputError(
            f"{block.name}: all numbers of column {letter} may be years; say {_said_columns(len(stub) + 1)} if "
            f"they are labels, {_said_columns(len(stub))} if they are numbers of the table"
        )


def _said_columns(number: int) -> str:
    return f"stub_columns={number} (--stub-columns {number})"


def _ask_about_first(block: BlockCells, columns: Sequence[int]) -> None:
    """Refuse a first column of plain numbers that neither its header nor their order shows to be labels."""
    held = block.column(columns[0])
    if not held or any(cell.kind != NUMERIC for cell in held) or _is_plain_name(block.heading(columns[0])):
        return
    if all(cell.is_year for cell in held) or any(cell.digits.startswith("0") and len(cell.digits) > 1 for cell in held):
        return
    behind = [block.column(column) for column in columns[1:]]
    labels = [
        column
        for column, own in zip(columns[1:], behind, strict=True)
        if own and not any(cell.kind == NUMERIC for cell in own)
    ]
    codes = _are_in_code_order([cell.text for cell in held]) or _blank_beside_totals(block, columns[0], labels)
    if labels and (codes or labels[0] != columns[1] or _stand_for(block, columns[0], labels[0])):
        return  # codes, or asked about there
    if _totals_before(block, columns):
        return  # totals, by their header
    if labels:
        name = block.heading(labels[0]) or column_letters(labels[0])
        raise InputError(
            f"{block.name}: the first column, {column_letters(columns[0])}, holds numbers, and labels stand behind it: "
            f"they may be codes of these or counts; say {_said_columns(2)} if they are codes, "
            f"stub_columns={name!r} ({shlex.join(['--stub-columns', name])}) if they are counts"
        )
    if len(held) >= 3 and _in_equal_steps([cell.text for cell in held]):
        return
    raise InputError(
        f"{block.name}: the first column, {column_letters(columns[0])}, holds numbers, which may be counts of a table "
        f"without labels; say {_said_columns(1)} if they are labels, else write a column of labels before them"
    )


def _are_in_code_order(texts: Sequence[str]) -> bool:
    """Whether whole numbers are codes by their look: in equal steps, or rising with as many digits each.

    >>> _are_in_code_order(["1", "2", "3"]), _are_in_code_order(["1011", "1042"]), _are_in_code_order(["31", "24"])
    (True, True, False)
    """
    if not all(text.isdecimal() for text in texts):
        return False
    rising = all(int(a) < int(b) for a, b in pairwise(texts))
    even = len({*map(len, texts)}) == 1
    return (even and len(texts[0]) > LONGEST_COUNT) or (rising and (even or _in_equal_steps(list(texts))))


def _blank_beside_totals(block: BlockCells, column: int, labels: Sequence[int]) -> bool:
    """Whether a row that is called a total has no number of a column, as it has no code."""
    rows = [row for row in block.rows.body if (row, column) not in block.cells]
    return any(like_a_total(block.grid.text(row, label)) == USUAL for row in rows for label in labels[:1])


def _stand_for(block: BlockCells, column: int, labels: int) -> bool:
    """Whether numbers stand several times, each with one label behind it, as codes in a list do."""
    rows = [row for row in block.rows.body if (row, column) in block.cells]
    pairs = {(block.cells[row, column].text, block.grid.text(row, labels)) for row in rows}
    return 2 * len(pairs) <= len(rows) and len({code for code, _ in pairs}) == len(pairs) == len({t for _, t in pairs})


def adds_up_with_others(block: BlockCells, column: int) -> bool:
    """Whether a column and those behind it add up to one of them in every row, so that all hold counts."""
    rows = block.rows.body
    behind = [c for c in sorted({c for _, c in block.cells}) if c >= column and block.filled(c)]
    columns = [[_plain_number(block, row, c) for row in rows] for c in behind]
    full = [[n for n in numbers if n is not None] for numbers in columns[: MOST_ADDED + 1]]
    full = full[: next((k for k, numbers in enumerate(full) if len(numbers) < len(rows)), len(full))]
    if len(rows) < LEAST_RANKED:
        return False
    for last in range(2, len(full)):
        sums = [sum(numbers) for numbers in zip(*full[: last + 1], strict=True)]
        if any(sums) and any([2 * n for n in total] == sums for total in full[: last + 1]):
            return True
    return False


def _plain_number(block: BlockCells, row: int, column: int) -> float | None:
    cell = block.cells.get((row, column))
    if cell is None or cell.kind != NUMERIC or cell.percent or cell.share is not None:
        return None
    return cell.number if cell.number is not None else float(cell.digits) if cell.digits.isdecimal() else None


def _is_plain_name(heading: str) -> bool:
    """Whether a header says that numbers below it are codes, years, ages or classes, not counts."""
    return _SIZE.fullmatch(heading) is None and any(
        names.fullmatch(heading) is not None for names in (_CODES, _WHEN, _RANKS)
    )


def _until_unique(block: BlockCells, stub: list[int], rest: list[int]) -> tuple[list[int], list[int]]:
    """A list of cells names each once: a further column that runs through the same numbers below each label is one.

    Anything less may be counts beside a label that stands twice, which must not be published as labels.
    """
    wide, behind = list(stub), list(rest)
    while len(behind) > 1 and not block.rows.sections and not _unique(block, wide):
        if not _runs_through(block, wide, behind[0]):
            return stub, rest
        wide.append(behind.pop(0))
    return (wide, behind) if _unique(block, wide) else (stub, rest)


def _runs_through(block: BlockCells, stub: Sequence[int], column: int) -> bool:
    """Whether a column counts up in equal steps below each label, and through the same numbers below all of them."""
    cells, body = block.cells, block.rows.body
    runs: list[tuple[tuple[str, ...], list[str]]] = []
    for row in body:
        labels = tuple(cells[row, c].text if (row, c) in cells else "" for c in stub)
        held = cells.get((row, column))
        if held is None or held.kind != NUMERIC or held.share is not None:
            return False
        if not runs or runs[-1][0] != labels:
            runs.append((labels, []))
        runs[-1][1].append(held.text)
    first = runs[0][1]
    same = all(numbers == first for _, numbers in runs)
    return len(runs) > 1 and len(body) >= LEAST_OF_RUNS and same and len(first) > 1 and _in_equal_steps(first)


def _in_equal_steps(texts: Sequence[str]) -> bool:
    """Whether whole numbers go up or down in equal steps."""
    if not all(text.isascii() and text.isdecimal() for text in texts):
        return False
    steps = {int(after) - int(before) for before, after in pairwise(texts)}
    return len(steps) == 1 and steps != {0}


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
    coded = _is_plain_name(block.heading(stub[0])) or any(c.digits.startswith("0") for c in first)
    plain = all(cell.kind == NUMERIC and not cell.is_year for cell in first)
    if len(stub) > 1 or not plain or coded or block.grid.stub_columns is not None:
        return
    for column in texts:
        held = [cell.text for cell in block.column(column)]
        if len(set(held)) == len(held) == len(block.rows.body):
            raise InputError(
                f"{block.name}: the labels seem to stand in column {column_letters(column)}, behind the numbers; move "
                f"them before the numbers, or leave them out with range= (--range) if {column_letters(stub[0])} holds "
                "the labels"
            )


def blank_between(block: BlockCells) -> int | None:
    """The blank column between two tables beside each other: labels stand behind it, and numbers on both sides."""
    rows = (*block.rows.headers, *block.rows.body)
    held = {*rows}
    columns = sorted({column for row, column in block.cells if row in held})
    numbers = [column for column in columns if block.filled(column) and is_value_column(block, column)]
    for before, column in pairwise(columns):
        blank = column > before + 1
        inside = bool(numbers) and numbers[0] < column < numbers[-1]
        if blank and inside and _begins_a_table(block, columns[0], column):
            return column - 1
    return None


def _begins_a_table(block: BlockCells, first: int, column: int) -> bool:
    """Whether a column behind a blank one holds labels: words or groups, or what the header of the first says, too."""
    held = block.column(column)
    texts = [cell.text for cell in held if cell.kind in (WORDS, RANGED)]
    if 2 * len(texts) > len(held) and len({*texts}) > 1:
        return True
    heading = block.heading(column)
    return bool(heading) and heading == block.heading(first)
