"""Cells marked by hand: on request, or from a file of a-priori marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.texts import csv_rows, read_text
from discreet.errors import InputError, listed, nearest
from discreet.rules.base import Rule
from discreet.rules.notation import of_value, percent
from discreet.tables.cell_choice import cell_mask
from discreet.tables.table import Table


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Request(Rule):
    """Cells that are sensitive because somebody asked: a list of {dimension: code}, a truth mask, or numbers.

    >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> table.count[Request([{"area": "2", "sex": "2"}])(table)].tolist()
    [2]
    """

    cells: Any
    level: float = 0
    sliding: float = 0
    name: ClassVar[str] = "request"

    def __post_init__(self) -> None:
        percent(self.level, "level")
        percent(self.sliding, "sliding")

    def __call__(self, table: Table) -> Array:
        return cell_mask(table, self.cells)

    def levels(self, table: Table) -> tuple[Array, Array]:
        """``level`` percent of the value, on both sides.

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> below, above = Request([{"area": "1", "sex": "1"}], level=50).levels(table)
        >>> above[table.where(area="1", sex="1")].tolist()
        [1.5]
        """
        width = of_value(table, self.level)
        return width, width

    def sliding_level(self, table: Table) -> Array:
        """``sliding`` percent of the value.

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> Request([{"area": "1", "sex": "1"}], sliding=100).sliding_level(table).tolist()
        [6.0, 4.0, 2.0, 3.0, 3.0, 0.0, 3.0, 1.0, 2.0]
        """
        return of_value(table, self.sliding)

    def to_dict(self) -> dict[str, Any]:
        """The cells by their codes, as ``from_dict`` reads them; a mask or numbers cannot be written down.

        >>> Request([{"area": "1", "sex": "1"}], level=50).to_dict()
        {'rule': 'request', 'cells': [{'area': '1', 'sex': '1'}], 'level': 50}
        """
        cells = [self.cells] if isinstance(self.cells, Mapping) else self.cells
        if isinstance(cells, np.ndarray) or not all(isinstance(c, Mapping) for c in cells):
            raise InputError("a request by mask or number cannot be written down; name its cells: [{dimension: code}]")
        written = [{k: v if isinstance(v, str) else [str(x) for x in v] for k, v in c.items()} for c in cells]
        asked = {name: share for name in ("level", "sliding") if (share := getattr(self, name))}
        return {"rule": self.name, "cells": written, **asked}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Request):
            return NotImplemented
        same = (self.level, self.sliding) == (other.level, other.sliding)
        return same and np.array_equal(np.asarray(self.cells), np.asarray(other.cells))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        cells = np.asarray(self.cells)
        many = int(cells.sum()) if cells.dtype == bool else cells.size
        return f"Request({many} cells)"


MARKS = {
    "s": "safe", "safe": "safe",
    "u": "unsafe", "unsafe": "unsafe",
    "z": "publish", "publish": "publish", "must publish": "publish", "p": "publish",
    "w": "never", "never": "never",
}  # fmt: skip


class CellMarks(Protocol):
    """Marks of any origin: a mask over the cells for "safe", "unsafe", "publish" and "never".

    ``discreet.formats.argus.Marks`` is one. If it has ``levels`` too, these count unless others are given.
    """

    def mask(self, table: Table, kind: str) -> Array: ...


@checked
@dataclass(frozen=True)
class Marks:
    """A-priori marks: cells called safe or unsafe whatever the rules say, that must or must never be published.

    ``safe`` cells are not primary but may be secondary suppressions; ``publish`` ones may not.

    >>> import discreet as dc
    >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
    >>> marks = Marks(safe=[{"area": "2", "sex": "2"}])
    >>> dc.protect(table, dc.Suppress(dc.Threshold(3), marks=marks)).release()
    Release(area x sex: 16 cells, 0 not shown; count)
    """

    safe: tuple[Mapping[str, Any], ...] = ()
    unsafe: tuple[Mapping[str, Any], ...] = ()
    publish: tuple[Mapping[str, Any], ...] = ()
    never: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        for kind in ("safe", "unsafe", "publish", "never"):
            if not all(isinstance(codes, Mapping) for codes in getattr(self, kind)):
                raise InputError(f"{kind!r} marks are [{{dimension: code}}], one entry for each cell")

    def mask(self, table: Table, kind: str) -> Array:
        """Which cells have a mark.

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> table.count[Marks(safe=({"area": "2", "sex": "1"},)).mask(table, "safe")].tolist()
        [1]
        """
        marked = np.zeros(len(table), bool)
        for number, codes in enumerate(getattr(self, kind), 1):
            marked |= named_cells(table, codes, f"a-priori mark {number} of the {kind!r} ones")
        return marked


def named_cells(table: Table, codes: Mapping[str, Any], what: str) -> Array:
    """The cells that a line of a file means; it may be a file of data, so a message tells which line, not its codes."""
    known = [d.name for d in table.dimensions]
    if wrong := next((name for name in codes if name not in known), None):
        raise InputError(
            f"{what} is in a file with a column for a dimension that the table has not; {nearest(wrong, known)}"
        )
    try:
        at = table.layout.find(codes)
    except InputError:
        at = np.zeros(len(table), bool)
    if not at.any():
        raise InputError(f"{what} names no published cell; look at its codes of {listed(codes)}")
    return at


@checked
def read_marks(path: str | Path, dimensions: Sequence[str] | None = None) -> Marks:
    """A CSV with one column per dimension and a column ``mark``: s, u, z or w, or the words safe, unsafe, ...

    Without a head (as tau-ARGUS a-priori files) name the dimensions: the mark is what follows their codes.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "marks.csv"
    ...     _ = path.write_text("area,sex,mark\\n2,2,safe\\n1,1,publish\\n")
    ...     marks = read_marks(path)
    >>> marks.safe, marks.publish
    (({'area': '2', 'sex': '2'},), ({'area': '1', 'sex': '1'},))
    """
    text = read_text(Path(path))
    rows = [r for r in csv_rows(text, max(",;\t", key=text.count), repr(Path(path).name)) if any(r)]
    if not rows:
        raise InputError(f"{Path(path).name!r} holds no marks")
    head = [c.strip() for c in rows[0]]
    if head.count("mark") > 1 or "mark" in (dimensions or ()):
        raise InputError(f"{Path(path).name!r}: a dimension is called 'mark', as the column of the marks is; rename it")
    if "mark" in head:
        names, at, rows = [c for c in head if c != "mark"], head.index("mark"), rows[1:]
    elif dimensions:
        names, at = list(dimensions), len(dimensions)
    else:
        raise InputError(f"{Path(path).name!r} has no column 'mark'; name the dimensions of its columns")
    marked: dict[str, list[dict[str, str]]] = {"safe": [], "unsafe": [], "publish": [], "never": []}
    for number, row in enumerate(rows, 1):
        if len(row) <= max(at, len(names) - (at >= len(names))):
            raise InputError(f"{Path(path).name!r}: row {number} has too few fields")
        mark = row[at].strip().lower()
        if mark not in MARKS:
            raise InputError(f"{Path(path).name!r}: row {number} has none of the marks {listed(MARKS, 12)}")
        codes = [c.strip() for k, c in enumerate(row) if k != at][: len(names)]
        marked[MARKS[mark]].append({n: c for n, c in zip(names, codes, strict=True) if c})
    return Marks(**{k: tuple(v) for k, v in marked.items()})
