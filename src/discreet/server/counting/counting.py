"""Where a server's tables come from: sums of a cube that is held, or records that are counted for every table.

Which of the two is asked once, when the data are loaded (``counting_of``); whoever needs a table or a number of people
asks the same questions of both.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.policy.answering import from_cube, from_records
from discreet.policy.query import Resolved
from discreet.policy.served_measures import COUNT
from discreet.policy.statistic_answers import OF_WEIGHTS
from discreet.server.counting.cube import narrowed, read_cube
from discreet.server.settings import Settings
from discreet.tables.table import Table

MOST_CUBES = 300  # of fewer variables, that a worker keeps
MOST_BETWEEN = 200_000  # cells of a cube of counts that is kept only to make smaller ones


class Counting(Protocol):
    """What tables are made of."""

    dimensions: tuple[Dimension, ...]
    title: str
    measures: tuple[str, ...]
    """Those at hand beside counts."""
    weighted: bool
    """Whether people count by their weights."""
    held: bool
    """Whether sums take no longer than a look: everything is in memory."""

    def table(self, resolved: Resolved) -> Table:
        """The table of a query before its population is chosen (confidential)."""

    def warm_up(self, measures: Iterable[str]) -> None:
        """Do beforehand what the first to ask for one of these measures would wait for."""

    def people(self, where: Mapping[str, Sequence[int]]) -> dict[str, Array]:
        """Count and sum of keys of the people at these finest codes, given by position (confidential)."""


def counting_of(data: Microdata | Table) -> Counting:
    """The one place that asks what the data are."""
    return CubeCounting(data) if isinstance(data, Table) else RecordCounting(data)


class CubeCounting:
    """Sums of the whole cube; cubes of fewer variables are kept, since they are few and small."""

    held = True

    def __init__(self, cube: Table) -> None:
        self.cube, self.dimensions, self.title = cube, tuple(cube.dimensions), cube.title
        self.measures = tuple(cube._measured)
        self.weighted = OF_WEIGHTS in cube.statistics
        self._cubes: dict[tuple[str, frozenset[str]], Table] = {}
        self._tables: dict[tuple[str, frozenset[tuple[str, str]]], Table] = {}

    def table(self, resolved: Resolved) -> Table:
        """One that is held, or a new one."""
        held = self._tables.get(_shape(resolved))
        return self.made(resolved) if held is None else held

    def made(self, resolved: Resolved) -> Table:
        """From the smallest cube that has the variables."""
        return from_cube(self.narrowed(resolved.levels, resolved.query.measure), resolved)

    def hold(self, resolved: Resolved, table: Table) -> None:
        """Give this table from now on where one of the same variables is asked."""
        self._tables[_shape(resolved)] = table

    def people(self, where: Mapping[str, Sequence[int]]) -> dict[str, Array]:
        """By adding up the cells of the smallest cube that has the variables."""
        small = self.narrowed(where)
        sums = {}
        for name in ("count", "key"):
            if name in small.statistics:
                inner = small.layout.dense(small.statistics[name].inner)
                for axis, dimension in enumerate(small.dimensions):
                    if dimension.name in where:
                        inner = inner.take(where[dimension.name], axis=axis)
                sums[name] = np.array([inner.sum(dtype=inner.dtype)])
        return sums

    def narrowed(self, names: Collection[str], measure: str = COUNT) -> Table:
        """The cube of these variables alone, of counts or of a measure."""
        wanted = frozenset(names)
        small = self._cubes.get((measure, wanted))  # another thread may make room meanwhile
        if small is None:
            if len(self._cubes) >= MOST_CUBES:
                self._cubes.pop(next(iter(self._cubes)), None)
            small = self._cubes[measure, wanted] = narrowed(self._nearest(wanted, measure), wanted)
        return small

    def _nearest(self, wanted: frozenset[str], measure: str) -> Table:
        """A cube that has the variables. The whole one takes long to look through, most of all for largest
        contributions, so that it is looked through once for each variable that is left out first."""
        whole = self.cube if measure == COUNT else self.cube.measured(measure)
        others = [d for d in self.dimensions if d.name not in wanted and d.total is not None]
        if len(others) < 2:
            return whole
        first = max(others, key=lambda d: len(d.leaves))
        if measure == COUNT and whole.layout.n_inner > MOST_BETWEEN * len(first.leaves):
            return whole
        return self.narrowed([d.name for d in self.dimensions if d is not first], measure)

    def warm_up(self, measures: Iterable[str]) -> None:
        """Look through the whole cube now, so that nobody who asks for a measure waits for it."""
        for measure in measures:
            for first in self.dimensions if len(self.dimensions) > 2 else ():
                self.narrowed([d.name for d in self.dimensions if d is not first], measure)


def _shape(resolved: Resolved) -> tuple[str, frozenset[tuple[str, str]]]:
    """What a table before its population is chosen depends on."""
    return resolved.query.measure, frozenset(resolved.levels.items())


class RecordCounting:
    """Records, counted each time."""

    held = False

    def __init__(self, records: Microdata) -> None:
        self.records, self.dimensions = records, tuple(records.dimensions)
        self.title = records.codebook.title
        self.measures = tuple(magnitude.name for magnitude in records.codebook.magnitudes)
        self.weighted = records.codebook.weight is not None

    def warm_up(self, measures: Iterable[str]) -> None:
        """Nothing is kept."""

    def table(self, resolved: Resolved) -> Table:
        """Of all records."""
        return from_records(self.records, resolved)

    def people(self, where: Mapping[str, Sequence[int]]) -> dict[str, Array]:
        """By a filter on the records."""
        if not all(where.values()):  # nobody
            keyed = self.records.codebook.key is not None or self.records.secret is not None
            return {"count": np.zeros(1, np.int64), **({"key": np.zeros(1, np.uint64)} if keyed else {})}
        codes = {d.name: [d.leaves[k] for k in where[d.name]] for d in self.dimensions if d.name in where}
        first = next(iter(where), self.dimensions[0].name)
        groups = self.records.base_cells([first], where=codes)
        sums = {"count": np.array([groups.count.sum()])}
        if groups.key is not None:
            sums["key"] = np.array([groups.key.sum(dtype=groups.key.dtype)])
        return sums


# -- loading --------------------------------------------------------------------------------------------------


def read_data(settings: Settings) -> tuple[Microdata | Table, str]:
    """The cube if there is one, else the records themselves; and the version of the data."""
    if settings.folder is not None:
        return read_cube(settings.folder)
    assert settings.data is not None  # Settings has seen to that
    assert settings.codebook is not None
    return Microdata.read(Path(settings.data), settings.codebook, table=settings.table), records_version(settings)


def records_version(settings: Settings) -> str:
    """The version of records that are counted each time: what they and their codebook hold, wherever they lie."""
    hashes = [_content_of(Path(path)) for path in (settings.data, settings.codebook) if path is not None]
    return hashlib.sha256(" ".join([settings.table or "", *hashes]).encode()).hexdigest()[:16]


def _content_of(path: Path) -> str:
    """The hash of what a file or a folder of files holds: the same on every machine that has a copy."""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    stamps = [(str(p), p.stat().st_size, p.stat().st_mtime_ns) for p in files]
    return _content(str(path), tuple(stamps))


@lru_cache(maxsize=8)
def _content(root: str, files: tuple[tuple[str, int, int], ...]) -> str:
    """Read once by the parent of all workers, which inherit it."""
    whole = hashlib.sha256()
    for name, size, _ in files:
        whole.update(f"{os.path.relpath(name, root)} {size} ".encode())
        with open(name, "rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()
