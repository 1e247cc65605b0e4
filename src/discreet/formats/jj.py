"""The ``.jj`` exchange format for cell suppression: cells with bounds and protection levels, and the sums among them.

One line per cell (number, value, cost, status, lowest and highest value an intruder takes for possible, lower, upper
and sliding protection level), then one per relation (right-hand side, number of terms, ``cell (factor)`` ...).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.base.texts import read_text
from discreet.errors import InputError
from discreet.methods.suppress.instance import SuppressionInstance
from discreet.release import Status

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TERM = re.compile(r"(\d+)\s*\(\s*([+-]?\d+(?:\.\d*)?)\s*\)")
FIELDS = 9


@dataclass(frozen=True, eq=False, repr=False)
class Instance(SuppressionInstance):
    """A cell suppression problem that has a text."""

    def text(self) -> str:
        """The instance in the ``.jj`` format.

        >>> text = "0 3 0 5 5 s 0 9 0 0 0 1 3 3 u 0 9 1 1 0 2 2 2 x 0 9 0 0 0 1 0 3 : 0 (-1) 1 (1) 2 (1)"
        >>> parse_jj(text).text().split() == text.split()
        True
        """
        fields = (self.value, self.cost, self.lower, self.upper, self.lower_level, self.upper_level, self.sliding_level)
        lines = ["0", str(len(self))]
        for number, (mark, *row) in enumerate(zip(self.status.tolist(), *(f.tolist() for f in fields), strict=True)):
            value, cost, *rest = (_number(x) for x in row)
            lines.append(" ".join([str(number), value, cost, mark, *rest]))
        rows = self.relations
        lines.append(str(rows.shape[0]))
        for number, right in enumerate(self.rhs.tolist()):
            at = slice(rows.indptr[number], rows.indptr[number + 1])
            terms = zip(rows.indices[at].tolist(), rows.data[at].tolist(), strict=True)
            words = " ".join(f"{cell} ({_number(factor)})" for cell, factor in terms)
            lines.append(f"{_number(right)} {at.stop - at.start} : {words}")
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        rows, shown = self.relations.shape[0], int(self.primary.sum())
        return f"Instance({self.name}: {len(self):,} cells, {rows:,} relations, {shown:,} primary)"


def _number(x: float) -> str:
    """As short as it can be read back."""
    return str(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x)


def read_jj(path: str | Path) -> Instance:
    """A file in the ``.jj`` format.

    >>> import tempfile
    >>> text = "0 3  0 5 5 s 0 9 0 0 0  1 3 3 u 0 9 1 1 0  2 2 2 x 0 9 0 0 0  1  0 3 : 0 (-1) 1 (1) 2 (1)"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = Path(folder, "small.jj").write_text(text)
    ...     print(read_jj(f"{folder}/small.jj"))
    Instance(small.jj: 3 cells, 1 relations, 1 primary)
    """
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
        raise InputError(f"{name!r} is not a .jj file: a 0, the number of cells, then {FIELDS} fields each") from None
    number, status = cells[:, 0], cells[:, 3]
    if n < 1 or not np.array_equal(number, np.arange(n).astype(str)):
        raise InputError(f"{name!r}: cells must be numbered 0, 1, 2 ... in order")
    if bad := sorted(set(status.tolist()) - {s.value for s in Status}):
        raise InputError(f"{name!r}: a status is one of {', '.join(Status)}; {len(bad)} others stand there")
    try:
        numbers = cells[:, [1, 2, 4, 5, 6, 7, 8]].astype(float).T
    except ValueError:
        raise InputError(f"{name!r}: some fields of the cells are not numbers") from None
    if not np.isfinite(numbers[:2]).all() or np.isnan(numbers).any() or (numbers[4:] < 0).any():
        raise InputError(f"{name!r}: values and costs are finite, levels not negative, and nothing is NaN")
    relations, rhs = _relations(" ".join(words[3 + FIELDS * n :]), count, n, name)
    value, cost, low, high, below, above, sliding = numbers
    marks = status.astype("U1")
    return Instance(name, value, cost, marks, low, high, below, above, sliding, relations, rhs)


def _finite(word: str, what: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise InputError(f"{what} is not a number")
    return number


def _relations(text: str, count: int, n: int, name: str) -> tuple[csr_array, Array]:
    from scipy.sparse import coo_array, csr_array

    parts = text.split(":")
    if len(parts) != count + 1:
        raise InputError(f"{name!r} announces {count:,} relations and holds {len(parts) - 1:,}")
    rows, columns, data, rhs = [], [], [], np.zeros(count)
    heading = parts[0].split()
    for row in range(count):
        terms = TERM.findall(parts[row + 1])
        if len(heading) != 2 or heading[1] != str(len(terms)):
            raise InputError(f"{name!r}: relation {row + 1} announces another number of terms than it holds")
        rhs[row] = _finite(heading[0], f"{name!r}: the right-hand side of relation {row + 1}")
        rows += [row] * len(terms)
        columns += [int(cell) for cell, _ in terms]
        data += [_finite(factor, f"{name!r}: a factor of relation {row + 1}") for _, factor in terms]
        heading = TERM.sub("", parts[row + 1]).split()
    if columns and max(columns) >= n:
        raise InputError(f"{name!r}: a relation names a cell beyond the last one, {n - 1:,}")
    return csr_array(coo_array((data, (rows, columns)), shape=(count, n)).tocsr()), rhs
