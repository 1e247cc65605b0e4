"""Protection levels: how much room each sensitive cell is to have, and what is known of cells beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked, numbers
from discreet.base.texts import csv_rows, read_text
from discreet.errors import InputError
from discreet.rules.apriori import named_cells
from discreet.rules.base import Rule
from discreet.tables.table import Table

COLUMNS = {
    "below": "below", "lpl": "below", "above": "above", "upl": "above", "sliding": "sliding", "spl": "sliding",
    "lower": "lower", "lb": "lower", "upper": "upper", "ub": "upper",
}  # fmt: skip


@checked
@dataclass(frozen=True, eq=False)
class Levels:
    """What is asked for, and known beforehand, of single cells, in units of the measure; NaN where nothing is said.

    A sensitive cell must be able to lie ``below`` and ``above`` its value by as much and its interval be ``sliding``
    long, instead of what its rule says; an intruder knows every hidden cell to lie from ``lower`` to ``upper``.
    ``cells`` are [{dimension: code}], one entry for each number; without them the numbers are for all cells in order.

    >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> Levels([{"area": "2", "sex": "1"}], above=[4]).over(table)["above"][table.where(area="2", sex="1")].tolist()
    [4.0]
    """

    cells: Sequence[Mapping[str, str]] | None = None
    below: Any = None
    above: Any = None
    sliding: Any = None
    lower: Any = None
    upper: Any = None

    def __post_init__(self) -> None:
        for name in ("below", "above", "sliding", "lower", "upper"):
            levels = numbers(name, [] if getattr(self, name) is None else getattr(self, name))
            if levels.ndim != 1:
                raise InputError(f"levels: {name!r} must have one number for each cell")
            if name not in ("lower", "upper") and ((levels < 0).any() or np.isinf(levels).any()):
                raise InputError(f"protection levels ({name}) are finite and not negative")

    def over(self, table: Table) -> dict[str, Array]:
        """The numbers laid over all cells of a table, by name.

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> Levels([{"area": "2", "sex": "1"}], above=[4], below=[1]).over(table)["above"][-3:].tolist()
        [nan, 4.0, nan]
        """
        clash = [d.name for d in table.dimensions if d.name.lower() in COLUMNS]
        if self.cells and clash and not all(clash[0] in codes for codes in self.cells):
            raise InputError(f"a dimension is called {clash[0]!r}, as a column of protection levels is; rename it")
        at = None if self.cells is None else [self._place(table, codes) for codes in self.cells]
        many = len(table) if at is None else len(at)
        by_kind = {}
        for name in ("below", "above", "sliding", "lower", "upper"):
            level = np.full(many, np.nan) if getattr(self, name) is None else np.asarray(getattr(self, name), float)
            if level.shape != (many,):
                raise InputError(f"levels: {name!r} must have one number for each of the {many:,} cells")
            laid = np.full(len(table), np.nan)
            if at is None:
                laid = level
            else:
                for where, number in zip(at, level, strict=True):
                    laid[where] = number if not np.isnan(number) else laid[where]
            by_kind[name] = laid
        return by_kind

    @staticmethod
    def _place(table: Table, codes: Mapping[str, str]) -> Array:
        return named_cells(table, codes, "a line of protection levels")


@dataclass(frozen=True, eq=False)
class Asked:
    """Per cell the room that is asked for below and above the value, and the length of the interval."""

    below: Array
    above: Array
    sliding: Array

    @property
    def any(self) -> Array:
        """Cells of which more is asked than a second possible value."""
        return np.asarray((self.below > 0) | (self.above > 0) | (self.sliding > 0))


@checked
def asked(table: Table, rule: Rule | None, levels: Levels | None = None) -> Asked:
    """What a rule asks for its cells, and single levels instead where there are some."""
    nothing = np.zeros(len(table))
    bounds = {"below": nothing, "above": nothing, "sliding": nothing}
    if rule is not None:
        at = rule(table)
        below, above = rule.levels(table)
        bounds = {"below": below, "above": above, "sliding": rule.sliding_level(table)}
        bounds = {name: np.where(at, numbers, 0) for name, numbers in bounds.items()}
    if levels is not None:
        single = levels.over(table)
        bounds = {name: np.where(np.isnan(single[name]), bounds[name], single[name]) for name in bounds}
    return Asked(**bounds)


@checked
def read_levels(path: str | Path) -> Levels:
    """A CSV with one column per dimension and any of below, above, sliding, lower and upper; empty says nothing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "levels.csv"
    ...     _ = path.write_text("area,sex,below,above\\n2,1,3,4\\n")
    ...     levels = read_levels(path)
    >>> levels.cells, levels.above
    (({'area': '2', 'sex': '1'},), array([4.]))
    """
    name = Path(path).name
    text = read_text(Path(path))
    rows = [r for r in csv_rows(text, max(",;\t", key=text.count), repr(Path(path).name)) if any(r)]
    head = [c.strip() for c in rows[0]] if rows else []
    kinds = {k: COLUMNS[c.lower()] for k, c in enumerate(head) if c.lower() in COLUMNS}
    dimensions = {k: c for k, c in enumerate(head) if k not in kinds}
    if not kinds or not dimensions:
        words = "columns for the dimensions and some of below, above, sliding, lower, upper"
        raise InputError(f"{name!r} needs a head with {words}")
    if len(set(kinds.values())) < len(kinds):
        raise InputError(f"{name!r}: two columns of its head mean the same")
    cells: list[dict[str, str]] = []
    numbers: dict[str, list[float]] = {kind: [] for kind in kinds.values()}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(head):
            raise InputError(f"{name!r}, line {number}: {len(row)} fields where the head has {len(head)}")
        cells.append({d: row[k].strip() for k, d in dimensions.items() if row[k].strip()})
        for k, kind in kinds.items():
            numbers[kind].append(_number(row[k].strip(), name, number))
    return Levels(tuple(cells), **{kind: np.array(values) for kind, values in numbers.items()})


def _number(text: str, name: str, line: int) -> float:
    if not text:
        return float("nan")
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name!r}, line {line}: a level is not a number") from None
