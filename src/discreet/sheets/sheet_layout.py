"""What was understood of a sheet: which cells are headers, labels, numbers, totals, marks, what is left aside."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from discreet.sheets.sheet_grid import CellPlace, CellRange

TITLE, HEADER, LABEL, NAME = "title", "header", "label", "name"
NUMBER, TOTAL, MARK, SHARE = "number", "total", "mark", "share"
NOTE, ASIDE = "note", "left aside"
ROLES = (TITLE, NAME, HEADER, LABEL, NUMBER, TOTAL, MARK, SHARE, NOTE, ASIDE)
"""What a cell of a sheet can be; ``name`` is the name of a dimension, ``label`` a code or its label in the stub,
``header`` one above the columns, ``share`` a number that is derived from others."""
DIFFERENCE, CHANGE, MEAN = "difference", "change", "mean"
NUMBERING = "numbers of the columns"
"""Why a row of the numbers 1, 2, 3 under the headers is left aside."""


@dataclass(frozen=True)
class DerivedNumber:
    """A number of the sheet that follows from others: a percentage, a proportion, a difference, a mean.

    ``numerator`` and ``denominator`` are places of counts whose quotient times ``scale`` it is, as arithmetic confirms
    (or the count from which, and that which, is subtracted);
    None where that could not be confirmed: then it must not be published once a number is hidden.
    Of a mean ``denominator`` is the count of those whose mean it is, and there is no ``numerator``.
    """

    place: CellPlace
    kind: str
    """"share", "difference", "change" (in parts of ``scale``), "mean" or "unknown"."""
    numerator: CellPlace | None = None
    denominator: CellPlace | None = None
    scale: float = 100.0
    decimals: int = 0
    inside: bool = False
    """Whether it stands in the cell of its numerator, as in ``12 (34.5%)``."""
    ambiguous: bool = False
    """Whether other counts may be meant, which say something else of what is not shown."""
    besides: tuple[CellPlace, ...] = ()
    """Counts of which it may be made in another way that fits as well: where one is hidden it must not be shown."""
    line: str = ""
    """The header of a column or row of means."""
    upright: bool = True
    """Whether it stands in a column of its kind, not in a row."""


class CountedShare(NamedTuple):
    """What a cell says that holds a count as a share of another one, without the count itself."""

    base: CellPlace
    """Where the count stands that it is a share of."""
    scale: float
    decimals: int
    with_count: bool = False
    """Whether the cell says the count and the base, too, as "3/45 (6.7%)" does."""


class RunningSum(NamedTuple):
    """A running sum of the sheet, and the counts that it adds up beyond those of the one before it in the same line."""

    place: CellPlace
    step: CellPlace
    begins: bool
    """Whether it is the first of its line."""


def known_sums(running: Sequence[RunningSum], shown: Container[CellPlace]) -> dict[CellPlace, bool]:
    """Of running sums, line by line, whether all counts that one adds up are shown."""
    known: dict[CellPlace, bool] = {}
    whole = True
    for one in running:
        whole = one.step in shown and (whole or one.begins)
        known[one.place] = whole
    return known


def derived_value(kind: str, part: float, whole: float, scale: float) -> float | None:
    """What a derived number of a kind comes to; None where its base is zero.

    >>> [derived_value(kind, 9, 12, 100.0) for kind in ("share", "difference", "change")]
    [75.0, -3.0, -25.0]
    """
    if kind == DIFFERENCE:
        return float(part - whole)
    if not whole:
        return None
    return scale * (part - whole if kind == CHANGE else part) / whole


@dataclass(frozen=True)
class LeftAside:
    """Cells that are not part of the table, and why."""

    range: CellRange
    reason: str


@dataclass(frozen=True, eq=False)
class SheetLayout:
    """How a table stands on its sheet."""

    range: CellRange
    """Headers, stub and numbers."""
    header_rows: tuple[int, ...]
    stub_columns: tuple[int, ...]
    body_rows: tuple[int, ...]
    body_columns: tuple[int, ...]
    roles: Mapping[tuple[int, int], str]
    """One of ``ROLES`` for every cell of the sheet that is not blank, by row and column."""
    dimension_of: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """The dimension that a header or label is of."""
    title: str = ""
    notes: tuple[str, ...] = ()
