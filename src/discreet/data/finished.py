"""A finished table that was given as records: each of its lines would be counted as one person."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.data.microdata import Microdata
from discreet.engines.protocol import CountedGroups
from discreet.errors import InputError

FEWEST_LINES = 4
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
    if len(groups.count) < FEWEST_LINES or (groups.count != 1).any():
        return
    book = data.codebook
    taken = {book.columns[name] for name in by} | {m.column for m in book.magnitudes}
    taken |= {column for column in (book.unit, book.holding, book.weight, book.key) if column is not None}
    free = [column for column in data.engine.columns() if column not in taken]
    named = [column for column in free if str(column).strip().casefold() in COUNT_NAMES]
    codes = [d.name for d in map(data.dimension, by) if any(c.strip().casefold() in TOTAL_NAMES for c in d.leaves)]
    if not named and not codes:
        return
    sign = f"it has a column {named[0]!r}" if named else f"{codes[0]!r} has a total among its codes"
    raise InputError(
        f"each of the {len(groups.count):,} lines is a cell of its own and {sign}: this is a finished table, and its "
        "lines would be counted as people; read it as one (--ready, or protect it as it stands with --hide-under; in "
        "Python Table.of or read_table)"
    )
