"""The ``.jj`` exchange format for cell suppression: cells with bounds and protection levels, and the sums among them.

One line per cell (number, value, cost, status, lowest and highest value an intruder takes for possible, lower, upper
and sliding protection level), then one per relation (right-hand side, number of terms, ``cell (factor)`` ...).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.audits.known import Known
from discreet.audits.report import Audit, empty, of_view
from discreet.audits.view import View
from discreet.base.texts import read_text
from discreet.data.dimension import Dimension
from discreet.errors import InputError, Unjudged, nearest
from discreet.release import Status, hidden
from discreet.tables.additive import fixed
from discreet.tables.layout import Layout

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from discreet.methods.suppress.model.problem import Problem
    from discreet.methods.suppress.model.solution import Solution

Array = NDArray[Any]
TERM = re.compile(r"(\d+)\s*\(\s*([+-]?\d+(?:\.\d*)?)\s*\)")
FIELDS = 9
METHODS = ("gauss", "optimal", "modular")
WEIGHTS = ("cost", "value", "unity", "log")


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

    def audit(
        self,
        hidden: Array | None = None,
        *,
        targets: str | Array = "unknown",
        progress: Callable[[int, int], None] | None = None,
    ) -> Audit:
        """Interval of every hidden cell (or of ``targets``); "narrow" where it does not reach the protection levels."""
        levels = self.lower_level, self.upper_level, self.sliding_level
        seen = self.view(hidden)
        found = of_view(seen, targets, protection=levels, progress=progress)
        return replace(found, unjudged=(*found.unjudged, *empty(seen, targets)))

    def problem(self, weights: Any = "cost") -> Problem:
        """The cell suppression problem: primaries are hidden, cells of status z and those without room are published.

        ``weights``: what hiding a cell costs: "cost" (the file's), "value", "unity", "log", or numbers. Levels are cut
        to the room that a cell's bounds leave; a primary without any must still have a second value.
        """
        from discreet.methods.suppress.model.problem import Needs, Problem

        unit = 10.0 ** -fixed(self.value, None, "values")[1]
        down, up = np.maximum(self.value - self.lower, 0), np.maximum(self.upper - self.value, 0)
        hidden = self.primary | (self.status == Status.NEVER.value)
        stay = ~hidden & ((self.status == Status.FORCED.value) | ((down == 0) & (up == 0)))
        weight = np.where(stay, np.inf, np.where(hidden, 0, self._weigh(weights, unit)))
        cell = np.flatnonzero(self.primary)
        below, above = np.minimum(self.lower_level, down)[cell], np.minimum(self.upper_level, up)[cell]
        nothing = (below == 0) & (above == 0) & (self.sliding_level[cell] == 0)
        sliding = np.minimum(np.where(nothing, unit, self.sliding_level[cell]), (down + up)[cell])
        return Problem(self.relations, down, up, weight, hidden, Needs.of(cell, below, above, sliding))

    def _weigh(self, weights: Any, unit: float) -> Array:
        size = np.maximum(np.abs(self.value), unit)
        if isinstance(weights, str):
            ways = {"cost": self.cost, "value": size, "unity": np.ones(len(self)), "log": np.log1p(size)}
            if weights not in ways:
                raise InputError(f"weights are {', '.join(map(repr, WEIGHTS))} or numbers, not {weights!r}")
            return ways[weights]
        found = np.array(weights, float)
        if found.shape != (len(self),) or np.isnan(found).any() or (found < 0).any():
            raise InputError(f"weights must be one number, not negative, for each of the {len(self):,} cells")
        return found

    def protect(
        self,
        method: Any = "optimal",
        *,
        weights: Any = None,
        clean_up: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Solution:
        """Cells to hide so that every primary reaches its levels: by "gauss", "optimal", "modular" or one of these.

        ``weights`` as for ``problem``; None: those of an ``Optimal`` or ``Modular`` that is given, else the file's
        costs. By "gauss" nothing is proved: the bound is 0. The pattern is checked, whatever the method.

        >>> text = "0 3  0 5 5 s 0 9 0 0 0  1 3 3 u 0 9 1 1 0  2 2 2 s 0 9 0 0 0  1  0 3 : 0 (-1) 1 (1) 2 (1)"
        >>> parse_jj(text).protect().hidden.tolist()
        [False, True, True]
        """
        from discreet.methods.suppress.attacker.feasibility import check
        from discreet.methods.suppress.heuristics.prune import clean_up as cleaned
        from discreet.methods.suppress.model.solution import OPTIMAL, Solution

        given = getattr(method, "weights", "cost") if weights is None else weights
        problem, began = self.problem(given), time.monotonic()
        found = _solution(method, problem, progress)
        hidden = cleaned(problem, found.hidden, progress=progress)[0] if clean_up else found.hidden
        if not check(problem, hidden).met.all():
            raise Unjudged(f"the pattern for {self.name!r} does not bear out")
        cost = problem.cost(hidden)
        status = OPTIMAL if found.bound >= cost else found.status
        return Solution(hidden, cost, found.bound, status, time.monotonic() - began, found.cuts, found.nodes)

    def marked(self, hidden: Array) -> Instance:
        """The instance with the cells of a pattern marked as secondary (x), others as published."""
        plain = np.isin(self.status, [Status.PUBLISHED.value, Status.SECONDARY.value])
        if (gone := np.asarray(hidden, bool) & (self.status == Status.FORCED.value)).any():
            raise InputError(f"cell {int(np.flatnonzero(gone)[0]):,} must be published (status z) and cannot be hidden")
        shown = np.where(hidden, Status.SECONDARY.value, Status.PUBLISHED.value)
        return replace(self, status=np.where(plain, shown, self.status))

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


def _solution(method: Any, problem: Problem, progress: Callable[[int, int], None] | None) -> Solution:
    from discreet.methods.suppress.model.solution import TIME, Solution
    from discreet.methods.suppress.solve import solver_of

    if isinstance(method, str) and method not in METHODS:
        raise InputError(f"no method {method!r}; {nearest(method, METHODS)}")
    if method != "gauss":
        found: Solution = solver_of(method).solve(problem, progress=progress)
        return found
    from discreet.methods.suppress.heuristics.by_elimination import by_elimination

    began = time.monotonic()
    hidden = by_elimination(problem)
    return Solution(hidden, problem.cost(hidden), 0.0, TIME, time.monotonic() - began)


def _number(x: float) -> str:
    """As short as it can be read back."""
    return str(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x)


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
        found = float(word)
    except ValueError:
        found = np.nan
    if not np.isfinite(found):
        raise InputError(f"{what} is no number")
    return found


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
