"""A finished table that was given as records: each of its lines would be counted as one person."""

from __future__ import annotations

import re
from collections.abc import Sequence

from discreet.data.microdata import Microdata
from discreet.engines.protocol import CountedGroups
from discreet.errors import InputError, listed

FEWEST_LINES = 4
FEWEST_WIDE_LINES = 2
WHOLE_NUMBER = re.compile(r"\d{1,3}([ ,.'\u00a0\u202f]\d{3})+|\d+")
LONGEST_MARK = 3
COUNT_NAMES = frozenset(
    (
        "count",
        "counts",
        "n",
        "number",
        "numbers",
        "freq",
        "frequency",
        "anzahl",
        "nombre",
        "antal",
        "aantal",
        "obs_value",
    )
)
TOTAL_NAMES = frozenset(("total", "all", "_t", "gesamt", "insgesamt", "ensemble", "totale", "totaal", "totalt"))


def refuse_finished(data: Microdata, by: Sequence[str], groups: CountedGroups) -> None:
    """Raise if no two records are alike in the dimensions of a table, and a column or a code says that it is one."""
    if len(groups.count) < FEWEST_WIDE_LINES or (groups.count != 1).any():
        return
    book = data.codebook
    taken = {book.columns[name] for name in by} | {m.column for m in book.magnitudes}
    taken |= {column for column in (book.unit, book.holding, book.weight, book.key) if column is not None}
    free = [column for column in data.engine.columns() if column not in taken]
    named = [column for column in free if str(column).strip().casefold() in COUNT_NAMES]
    codes = [d.name for d in map(data.dimension, by) if any(c.strip().casefold() in TOTAL_NAMES for c in d.leaves)]
    if (named or codes) and len(groups.count) >= FEWEST_LINES:
        sign = f"it has a column {named[0]!r}" if named else f"{codes[0]!r} has a total among its codes"
        raise InputError(
            f"each of the {len(groups.count):,} lines is a cell of its own and {sign}: this is a finished table, and "
            "its lines would be counted as people; read it as one (--ready, or protect it as it stands with "
            "--hide-under; in Python Table.of or read_table)"
        )
    _refuse_wide(data, free, len(groups.count))


def _refuse_wide(data: Microdata, free: Sequence[str], lines: int) -> None:
    """Raise if columns beside the dimensions hold whole numbers, as those of a table with a dimension across do."""
    book = data.codebook
    if book.unit is not None or book.key is not None or book.weight is not None:
        return
    others = [column for column in free if column not in book.columns.values()]
    counts = [column for column in others if _holds_counts(data, column)]
    if counts:
        raise InputError(
            f"each of the {lines:,} lines has labels of its own and whole numbers beside them ({listed(counts, 3)}): "
            "this looks like a finished table, and its lines would be counted as people; protect it as it stands "
            "(--hide-under or --recipe without --by; in Python read_table); if its lines are records, name the column "
            "that tells them apart as unit in a codebook"
        )


def _holds_counts(data: Microdata, column: str) -> bool:
    """Whether a column holds whole numbers, or signs in their place, and nothing else."""
    kind = data.engine.columns()[column]
    if kind != "text":
        return kind == "integer"
    texts = [text.strip() for text in data.engine.categories(column)]
    numbers = [text for text in texts if WHOLE_NUMBER.fullmatch(text)]
    marks = [text for text in texts if text not in numbers]
    return bool(numbers) and all(len(text) <= LONGEST_MARK and not text.isalnum() for text in marks)
