"""The ``.jj`` exchange format for cell suppression: cells with bounds and protection levels, and the sums among them.

One line per cell (number, value, cost, status, lowest and highest value an intruder takes for possible, lower, upper
and sliding protection level), then one per relation (right-hand side, number of terms, ``cell (factor)`` ...).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.additive import fixed
from discreet.audits.report import Audit, of_view
from discreet.audits.system import Known
from discreet.audits.view import View
from discreet.dimension import Dimension
from discreet.errors import InputError
from discreet.hierarchy import read_text
from discreet.layout import Layout
from discreet.release import Status, hidden

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[Any]
TERM = re.compile(r"(\d+)\s*\(\s*([+-]?\d+(?:\.\d*)?)\s*\)")
FIELDS = 9


@dataclass(frozen=True, eq=False, repr=False)
class Instance:
    """A cell-suppression problem: what every cell holds and may hold, and the rows ``relations @ value == rhs``."""

    name: str
    value: Array
    cost: Array
    status: Array
    lower: Array
    upper: Array
    lower_level: Array
    upper_level: Array
    sliding_level: Array
    relations: csr_array
    rhs: Array

    def __len__(self) -> int:
        return len(self.value)

    @property
    def primary(self) -> Array:
        """Cells that are sensitive themselves."""
        return np.asarray(self.status == Status.PRIMARY.value)

    @property
    def hidden(self) -> Array:
        """Cells that are not shown."""
        return hidden(self.status)

    def view(self, hidden: Array | None = None) -> View:
        """What an intruder knows when these cells (default: as marked) are not shown; they lie within their bounds."""
        from scipy.sparse import eye_array

        gone = self.hidden if hidden is None else np.asarray(hidden, bool)
        digits = fixed(self.value, None, "values")[1]
        grid, n = 10.0**digits, len(self)
        value = np.rint(self.value * grid)
        known = Known(
            matrix=eye_array(n, format="csr"),
            lower=np.where(gone, np.minimum(self.lower * grid, value), value),
            upper=np.where(gone, np.maximum(self.upper * grid, value), value),
            inner_lower=np.full(n, -np.inf),
            inner_upper=np.full(n, np.inf),
            integer=False,
            relations=self.relations,
            rhs=self.rhs * grid,
            point=np.concatenate([value, value]),
        )
        layout = Layout.of([Dimension.flat("cell", range(n), total=None)])
        return View(known, value, (layout,), self.name, digits)

    def audit(self, hidden: Array | None = None, *, progress: Callable[[int, int], None] | None = None) -> Audit:
        """Interval of every hidden cell; "narrow" where it does not reach the protection levels."""
        return of_view(self.view(hidden), protection=(self.lower_level, self.upper_level), progress=progress)

    def __repr__(self) -> str:
        rows, shown = self.relations.shape[0], int(self.primary.sum())
        return f"Instance({self.name}: {len(self):,} cells, {rows:,} relations, {shown:,} primary)"


def read_jj(path: str | Path) -> Instance:
    """A file in the ``.jj`` format."""
    return parse_jj(read_text(Path(path)), name=Path(path).name)


def parse_jj(text: str, *, name: str = "instance") -> Instance:
    """The same from text.

    >>> parse_jj("0 3  0 5 5 s 0 9 0 0 0  1 3 3 u 0 9 1 1 0  2 2 2 x 0 9 0 0 0  1  0 3 : 0 (-1) 1 (1) 2 (1)")
    Instance(instance: 3 cells, 1 relations, 1 primary)
    """
    words = text.split()
    try:
        n = int(words[1])
        cells = np.array(words[2 : 2 + FIELDS * n]).reshape(n, FIELDS)
        count = int(words[2 + FIELDS * n])
    except (IndexError, ValueError):
        raise InputError(f"{name!r} is no .jj file: after a 0 and the number of cells, {FIELDS} fields each") from None
    number, status = cells[:, 0], cells[:, 3]
    if n < 1 or not np.array_equal(number, np.arange(n).astype(str)):
        raise InputError(f"{name!r}: cells must be numbered 0, 1, 2 ... in order")
    if bad := sorted(set(status.tolist()) - {s.value for s in Status}):
        raise InputError(f"{name!r}: a status is one of {', '.join(Status)}, not {bad[0]!r}")
    try:
        numbers = cells[:, [1, 2, 4, 5, 6, 7, 8]].astype(float).T
    except ValueError:
        raise InputError(f"{name!r}: some fields of the cells are not numbers") from None
    relations, rhs = _relations(" ".join(words[3 + FIELDS * n :]), count, n, name)
    value, cost, low, high, below, above, sliding = numbers
    marks = status.astype("U1")
    return Instance(name, value, cost, marks, low, high, below, above, sliding, relations, rhs)


def _relations(text: str, count: int, n: int, name: str) -> tuple[csr_array, Array]:
    from scipy.sparse import coo_array, csr_array

    parts = text.split(":")
    if len(parts) != count + 1:
        raise InputError(f"{name!r} announces {count:,} relations and holds {len(parts) - 1:,}")
    rows, columns, data, rhs = [], [], [], np.zeros(count)
    heading = parts[0].split()
    for row in range(count):
        terms = TERM.findall(parts[row + 1])
        if len(heading) != 2 or int(heading[1]) != len(terms):
            raise InputError(f"{name!r}: relation {row + 1} announces another number of terms than it holds")
        rhs[row] = float(heading[0])
        rows += [row] * len(terms)
        columns += [int(cell) for cell, _ in terms]
        data += [float(factor) for _, factor in terms]
        heading = TERM.sub("", parts[row + 1]).split()
    if columns and max(columns) >= n:
        raise InputError(f"{name!r}: a relation names cell {max(columns):,}; the last one is {n - 1:,}")
    return csr_array(coo_array((data, (rows, columns)), shape=(count, n)).tocsr()), rhs
