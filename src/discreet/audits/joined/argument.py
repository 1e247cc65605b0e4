"""Why a cell is known: the shown numbers that, added and taken away, leave one value; and the files they stand in.

A bound of a cell is proved by a combination of sums (a dual solution): everything that is hidden cancels out, or counts
on one side only because it is not negative. Of all such combinations one is taken that uses few shown numbers, then as
few files as will do. It is worked out again in whole numbers before it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.audits.view import View, cell_places
from discreet.base.annotations import Array
from discreet.linear.highs import SIMPLEX, LinearProgram, Outcome, Solver
from discreet.linear.system import System

SIZES = (60, 600, 6_000)  # variables around the cell that are tried, the nearest first
DENOMINATOR = 60  # factors are whole multiples of one part in so many
LENGTH = 12  # terms that are written out


@dataclass(frozen=True)
class Term:
    """A shown number of an argument: which file and cell, its factor, and the number (a bound, where it is rounded)."""

    table: str
    cell: str
    factor: Fraction
    value: float


@dataclass(frozen=True)
class Argument:
    """Numbers that give a cell away: ``kind`` is "exactly", "at most" or "at least"."""

    kind: str
    terms: tuple[Term, ...]
    value: float

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are needed."""
        return tuple(sorted({term.table for term in self.terms if term.table}))

    @property
    def text(self) -> str:
        """One line.

        >>> Argument("exactly", (Term("a", "x", Fraction(1), 79.0), Term("b", "y", Fraction(-1), 76.0)), 3.0).text
        '79 - 76 = 3 from a and b'
        """
        terms = [term for term in self.terms if term.value]  # zeros are needed, and need not be added
        texts = [_signed(term, k == 0) for k, term in enumerate(terms[:LENGTH])] or (["0"] if self.terms else [])
        rest = len(terms) - LENGTH
        sum_ = "".join(texts) + (f" and {rest} more {'term' if rest == 1 else 'terms'}" if rest > 0 else "")
        before = "" if self.kind == "exactly" else f"{self.kind} "
        if not self.terms:
            return f"{before}{self.value:g}, as nothing is negative"
        equals = f"{before}{sum_}" if sum_ == f"{self.value:g}" else f"{before}{sum_} = {self.value:g}"
        return f"{equals} from {' and '.join(self.files)}" if self.files else equals


def _signed(term: Term, first: bool) -> str:
    sign = "-" if term.factor < 0 else "" if first else "+"
    size = abs(term.factor)
    factor = "" if size == 1 else f"{size.numerator} x " if size.denominator == 1 else f"{size} x "
    value = f"{term.value:g}"
    return f"{sign}{factor}{value}" if first else f" {sign} {factor}{value}"


class Arguments:
    """Arguments for cells of one view."""

    def __init__(self, seen: View) -> None:
        self.seen, self.system = seen, seen.known.system()
        self.starts = np.concatenate([[0], np.cumsum([len(layout) for layout in seen.layouts])])

    def of(self, number: int | Sequence[int], lower: float, upper: float) -> tuple[Argument, ...]:
        """Why a cell, or the sum of several, is no less than ``lower`` and no more than ``upper``, in last decimals.

        One argument if sums alone leave one value; none for an end that only whole numbers or nothing explains.
        """
        numbers = (number,) if isinstance(number, int) else tuple(number)
        above = self._least(numbers, upper, 1) if np.isfinite(upper) else None
        if above is not None and above[1] and lower == upper:
            return (self._told("exactly", above[0], upper),)
        below = self._least(numbers, lower, -1) if np.isfinite(lower) else None
        if below is not None and below[1] and lower == upper:
            return (self._told("exactly", below[0], lower),)
        ends = (("at most", above, upper), ("at least", below, lower))
        return tuple(self._told(kind, one[0], value) for kind, one, value in ends if one is not None)

    def shown_cells(self, number: int, lower: float, upper: float) -> list[int]:
        """The shown cells that the ends of an interval are proved by; none where only whole numbers explain it."""
        proofs = [self._near((number,), upper, 1), self._near((number,), lower, -1)]
        return sorted({v for proof in proofs if proof is not None for v in proof[1] if proof[0].shown[v]})

    def _least(self, numbers: tuple[int, ...], value: float, side: int) -> tuple[dict[int, Fraction], bool] | None:
        """Factors of shown numbers that prove a bound with few files; and whether nothing else was needed."""
        proof = self._near(numbers, value, side)
        return None if proof is None else self._fewer(*proof)

    def _near(self, numbers: tuple[int, ...], value: float, side: int) -> tuple[_Near, dict[int, Fraction]] | None:
        """The fewest sums around a cell that prove a bound, and by which factors."""
        for size in (*(s for s in SIZES if s < self.system.size), self.system.size):
            if size > SIZES[-1] and self.system.size > 10 * SIZES[-1]:
                return None
            near = _Near(self.system, numbers, size, side, value)
            factors = near.solved(frozenset())
            if factors is not None:
                return near, factors
        return None

    def _fewer(self, near: _Near, factors: dict[int, Fraction]) -> tuple[dict[int, Fraction], bool]:
        """The same without files that are not needed, tried one after the other."""
        without: frozenset[int] = frozenset()
        for table in sorted({self._table(v) for v in factors} - {-1}, reverse=True):
            cells = range(self.starts[table], self.starts[table + 1])
            fewer = near.solved(without | frozenset(cells))
            if fewer is not None:
                without, factors = without | frozenset(cells), fewer
        return {v: f for v, f in factors.items() if near.shown[v]}, all(near.exact[v] for v in factors)

    def _table(self, variable: int) -> int:
        """The table of a cell, −1 for one that no table has."""
        return int(np.searchsorted(self.starts, variable, "right")) - 1 if variable < self.starts[-1] else -1

    def _told(self, kind: str, factors: dict[int, Fraction], value: float) -> Argument:
        seen, grid = self.seen, 10.0**self.seen.decimals
        variables = sorted(factors, key=lambda v: (-factors[v], -self.system.upper[v]))
        places = cell_places(seen, np.array([v for v in variables if v < self.starts[-1]], np.int64))
        upwards = kind != "at least"
        terms = []
        for v, (table, cell) in zip(variables, places, strict=True):
            high = (factors[v] > 0) == upwards
            bound = self.system.upper[v] if high else self.system.lower[v]
            terms.append(Term(table, cell, factors[v], float(bound / grid)))
        return Argument(kind, tuple(terms), float(value / grid))


class _Near:
    """The sums around one variable, and the search for a combination of them that proves a bound."""

    def __init__(self, system: System, numbers: tuple[int, ...], size: int, side: int, value: float) -> None:
        around = np.unique(np.concatenate([system.around(number, size) for number in numbers]))
        self.rows = np.unique(system.columns[:, around].indices)
        part = system.rows[self.rows].tocsc()
        self.columns = np.union1d(np.unique(part.tocsr().indices), numbers)
        self.matrix, self.right = part[:, self.columns].tocsc(), system.rhs[self.rows]
        self.lower, self.upper = system.lower[self.columns], system.upper[self.columns]
        self.shown = {
            int(v): bool(lo > 0 or np.isfinite(hi))
            for v, lo, hi in zip(self.columns, self.lower, self.upper, strict=True)
        }
        self.exact = dict(zip(self.columns.tolist(), (self.lower == self.upper).tolist(), strict=True))
        self.at = np.searchsorted(self.columns, numbers)
        self.side, self.value, self.integer = side, value, system.integer

    def solved(self, without: frozenset[int]) -> dict[int, Fraction] | None:
        """Factors by variable of a combination that uses no bound of some variables; None if there is none."""
        for room in (0.0, 1 - 1e-6) if self.integer else (0.0,):  # whole numbers below the next one
            factors = self._run(without, room)
            if factors is not None:
                return factors
        return None

    def _run(self, without: frozenset[int], room: float) -> dict[int, Fraction] | None:
        from scipy.sparse import csc_array, eye_array, hstack, vstack

        many, n = len(self.rows), len(self.columns)
        gone = np.array([int(v) in without for v in self.columns])
        least = np.where(gone, np.where(self.lower >= 0, 0.0, -np.inf), self.lower)
        most = np.where(gone, np.inf, self.upper)
        plus, minus = (most, least) if self.side > 0 else (least, most)  # bounds that a positive, a negative factor use
        cost = np.concatenate([np.zeros(many), *(self._cost(b) for b in (plus, minus))])
        free = np.concatenate(
            [np.full(many, np.inf), np.where(np.isfinite(plus), np.inf, 0.0), np.where(np.isfinite(minus), np.inf, 0.0)]
        )
        cells = hstack([self.matrix.T, eye_array(n), -eye_array(n)])
        finite = [np.where(np.isfinite(b), b, 0.0) for b in (plus, minus)]
        bound = np.concatenate([self.right, finite[0], -finite[1]])
        unit = np.zeros(n)
        unit[self.at] = 1
        value = self.value + self.side * room
        ends = (-np.inf, value) if self.side > 0 else (value, np.inf)
        scale = max(1.0, float(np.abs(bound).max(initial=1)))  # so that tolerances are about the factors
        program = LinearProgram(
            csc_array(vstack([cells, csc_array(bound[None, :] / scale)])),
            cost,
            np.concatenate([np.full(many, -np.inf), np.zeros(2 * n)]),
            free,
            np.concatenate([unit, [ends[0] / scale]]),
            np.concatenate([unit, [ends[1] / scale]]),
        )
        solver = Solver(SIMPLEX, program)
        if solver.run() is not Outcome.SOLVED:
            return None
        return self._proved(np.asarray(solver.x[:many]), (plus, minus), room)

    def _cost(self, bounds: Array) -> Array:
        """Few numbers that are shown; that a hidden cell is not negative costs next to nothing."""
        return np.where(np.isfinite(bounds) & (bounds != 0), 1.0, 1e-3)

    def _proved(self, prices: Array, bounds: tuple[Array, Array], room: float) -> dict[int, Fraction] | None:
        """The combination in whole parts, worked out again without rounding; None if it does not prove the bound."""
        parts = np.rint(prices * DENOMINATOR)
        if np.abs(parts - prices * DENOMINATOR).max(initial=0) > 1e-4:
            return None
        factor = -(self.matrix.T @ parts)
        factor[self.at] += DENOMINATOR
        used = np.flatnonzero(np.abs(factor) > 1e-9)
        bound = sum(
            (Fraction(float(p)) * Fraction(float(r)) for p, r in zip(parts, self.right, strict=True) if p), Fraction(0)
        )
        for k in used:
            limit = bounds[0][k] if factor[k] > 0 else bounds[1][k]
            if not np.isfinite(limit):
                return None
            bound += Fraction(float(factor[k])) * Fraction(float(limit))
        proved = bound / DENOMINATOR
        goal = Fraction(float(self.value))
        enough = proved < goal + 1 if self.side > 0 else proved > goal - 1
        if not (enough if room else (proved <= goal if self.side > 0 else proved >= goal)):
            return None
        return {int(self.columns[k]): Fraction(int(factor[k]), DENOMINATOR) for k in used}


def in_one_line(arguments: Sequence[Argument]) -> str:
    """Arguments in one line.

    >>> in_one_line([Argument("at least", (), 0.0)])
    'at least 0, as nothing is negative'
    """
    return "; ".join(argument.text for argument in arguments)
