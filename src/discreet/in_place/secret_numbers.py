"""Numbers that no text beside a table may state: hidden counts, sums of them, sums that the sheet does not show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from discreet.base.annotations import Array
from discreet.release import Protected
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_table import SheetTable

MOST_DIMENSIONS = 6
"""Of more dimensions only sums over one of them and over all are looked at."""


@dataclass(frozen=True, eq=False)
class SecretNumbers:
    """The true counts of a table with the places of its inner cells, and which of them are not shown. Confidential."""

    truth: Array
    withheld: Array
    codes: Array
    """Of each cell the position of its code in every dimension."""
    inner: Array
    """Whether a cell is one of the finest."""
    absent: Array
    places: tuple[tuple[CellPlace, ...], ...]

    @cached_property
    def shown(self) -> frozenset[float]:
        """Numbers that are published as they are."""
        return _numbers(self.truth[~self.withheld & ~self.absent])

    @cached_property
    def hidden(self) -> frozenset[float]:
        """Counts of cells that are not shown as they are."""
        return _numbers(self.truth[self.withheld & ~self.absent])

    @cached_property
    def all(self) -> frozenset[float]:
        """Hidden counts, and sums that would give them away."""
        if not self.hidden:
            return frozenset()
        sums = set(_numbers(self.truth[self.absent]))
        for values in (self.truth, np.where(self.withheld, self.truth, 0)):
            sums |= self._margins(values[self.inner])
        return self.hidden | (frozenset(sums) - self.shown)

    def _margins(self, values: Array) -> set[float]:
        """Sums of the finest cells over every choice of dimensions."""
        codes = self.codes[self.inner]
        many = codes.shape[1]
        sizes = range(many) if many <= MOST_DIMENSIONS else (0, many - 1)
        sums: set[float] = set()
        for size in sizes:
            for kept in combinations(range(many), size):
                if not kept:
                    sums |= _numbers(np.array([values.sum()]))
                    continue
                sums |= _numbers(np.bincount(_same_codes(codes[:, kept]), values))
        return sums

    @property
    def alone(self) -> SecretNumbers:
        """The same numbers, for labels that stand elsewhere than beside the cells."""
        return replace(self, places=((),) * len(self.places))

    @cached_property
    def _by_line(self) -> tuple[Mapping[int, list[int]], Mapping[int, list[int]]]:
        rows: dict[int, list[int]] = {}
        columns: dict[int, list[int]] = {}
        for cell in np.flatnonzero(self.inner).tolist():
            for place in self.places[cell]:
                rows.setdefault(place.row, []).append(cell)
                columns.setdefault(place.column, []).append(cell)
        return rows, columns

    def of_rows(self, rows: Iterable[int]) -> frozenset[float]:
        """What the label of a row, or of several, must not state: hidden counts of them and their sums."""
        return self._of_cells([cell for row in rows for cell in self._by_line[0].get(row, ())])

    def of_columns(self, first: int, last: int) -> frozenset[float]:
        """What a header of columns must not state."""
        columns = self._by_line[1]
        return self._of_cells([cell for c in range(first, last + 1) for cell in columns.get(c, ())])

    def _of_cells(self, cells: list[int]) -> frozenset[float]:
        gone = [cell for cell in cells if self.withheld[cell]]
        if not gone:
            return frozenset()
        sums = _numbers(np.array([self.truth[cells].sum(), self.truth[gone].sum()]))
        return _numbers(self.truth[gone]) | (sums - self.shown)


def secret_numbers(sheet: SheetTable, done: Protected) -> SecretNumbers:
    """What of a protected table must be told by no text of its sheet."""
    table = done.table
    layout = table.layout
    places = sheet.places_in(layout)
    truth = table.value.astype(float)
    values = np.asarray(done.published[table.measure], float)
    absent = np.array([not stands for stands in places], bool)
    withheld = (done.hidden | (values != truth)) & (truth != 0)
    return SecretNumbers(truth, withheld, layout.codes, layout.inner_of_cell >= 0, absent, places)


def _same_codes(codes: Array) -> Array:
    """The number of the group of each row: rows of one group have the same codes."""
    groups = np.zeros(len(codes), np.int64)
    for own in codes.T.astype(np.int64):
        _, groups = np.unique(groups * (own.max(initial=0) + 1) + own, return_inverse=True)
    return groups


def _numbers(values: Array) -> frozenset[float]:
    return frozenset(float(value) for value in np.unique(np.abs(values)).tolist() if value)
