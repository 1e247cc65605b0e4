"""What the writers share: cells as a cube, numbers as text, and the words that go with a table.

Only a Release comes in here. Of its words only title, source, method and notes are used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.release import CONFIDENTIAL, Release

if TYPE_CHECKING:
    import pyarrow as pa


ABSENT = "n"
MEANING = {CONFIDENTIAL: "confidential: not shown", ABSENT: "not part of this table"}
MEASURE = "measure"
MOST_CELLS = 100_000


@dataclass(frozen=True)
class Cube:
    """The cells of a release among all combinations of the codes that occur, in the codebook's order.

    ``place`` is each cell's position in the flattened product of ``codes``; a combination without a cell is not part
    of the table.
    """

    dimensions: tuple[Dimension, ...]
    codes: tuple[tuple[str, ...], ...]
    place: Array

    @classmethod
    def of(cls, release: Release) -> Cube:
        codes, places = [], []
        for k, d in enumerate(release.dimensions):
            present, place = np.unique(release.codes[:, k], return_inverse=True)
            codes.append(tuple(d.codes[c] for c in present))
            places.append(place)
        return cls(release.dimensions, tuple(codes), np.ravel_multi_index(places, [len(c) for c in codes]))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(c) for c in self.codes)

    @property
    def size(self) -> int:
        """How many combinations there are, cells or not."""
        return math.prod(self.shape)

    @property
    def full(self) -> bool:
        """Whether every combination is a cell."""
        return self.size == len(self.place)

    def labels(self, k: int) -> list[str]:
        """The labels of the codes that occur in a dimension."""
        return [self.dimensions[k].label(c) for c in self.codes[k]]

    def children(self, k: int) -> dict[str, list[str]]:
        """Which codes lie directly below which, for groups and the total; differences are no parents."""
        known = set(self.codes[k])
        children: dict[str, list[str]] = {}
        for code, parts in self.dimensions[k].relations:
            below = [part for part, _ in parts if part in known]
            if code in known and below and all(sign > 0 for _, sign in parts):
                children.setdefault(code, below)
        return children

    def spread(self, values: Array, empty: Any) -> Array:
        """One value per combination, ``empty`` where there is no cell."""
        out = np.full(self.size, empty, values.dtype)
        out[self.place] = values
        return out


@dataclass(frozen=True)
class Layer:
    """Two dimensions of a table at one code of each other dimension: what fits on a sheet of paper."""

    number: int
    measure: str
    fixed: tuple[tuple[Dimension, str], ...]

    def caption(self, measured: str) -> str:
        """What is measured in it, and of which categories."""
        fixed = ", ".join(f"{d.title}: {d.label(code)}" for d, code in self.fixed)
        return f"{measured} ({fixed})" if fixed else measured


def layers(cube: Cube, measures: Sequence[str]) -> Iterator[Layer]:
    """All layers that have a cell, in the codebook's order, those of one measure after those of another."""
    outer = cube.shape[:-2]
    there = set(np.unique(cube.place // math.prod(cube.shape[-2:])).tolist())
    for measure in measures:
        for number, index in enumerate(np.ndindex(*outer)):
            fixed = tuple((cube.dimensions[k], cube.codes[k][i]) for k, i in enumerate(index))
            if number in there:
                yield Layer(number, measure, fixed)


def number_texts(release: Release, measure: str, hidden: str) -> pa.Array:
    """Values as text at their decimals, ``hidden`` where there is none to show."""
    import pyarrow as pa

    values, digits = release.values[measure], release.decimals[measure]
    numbers = pa.array(values, mask=np.isnan(values))
    exact = numbers.cast(pa.decimal128(38, digits), safe=False) if digits else numbers.cast(pa.int64())
    return exact.cast(pa.string()).fill_null(hidden)


def column(release: Release, k: int, texts: Sequence[str]) -> pa.Array:
    """A text for every cell by its code in a dimension."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(release.codes[:, k], pa.array(texts, pa.string())).cast(pa.string())


def clean(values: Array, decimals: int) -> Array:
    """Values at their decimals, without a negative zero."""
    return np.round(values, decimals) + 0.0


def facts(release: Release) -> list[tuple[str, str]]:
    """Title, units, variables, source, method, meaning of the marks, and notes: what goes with the numbers everywhere.

    >>> r = Release(dimensions=(), codes=np.empty((0, 0), int), values={}, decimals={}, status=np.empty(0), method="m")
    >>> facts(r)
    [('method', 'm'), ('status', 'c = confidential: not shown')]
    """
    rows = [("title", _titled(release)), *_units(release), *_variables(release)]
    rows += [("source", release.source), ("method", release.method)]
    rows.append(("status", f"{CONFIDENTIAL} = {MEANING[CONFIDENTIAL]}"))
    rows += [("note", note) for note in release.notes]
    return [(name, text) for name, text in rows if text]


def _titled(release: Release) -> str:
    """The title of the data and what this table of them is about."""
    if not release.words.subject:
        return release.title
    return ". ".join(text for text in (release.title.rstrip(". "), release.words.subject) if text)


def _units(release: Release) -> list[tuple[str, str]]:
    """The units of the numbers, with the measure where there are several."""
    units = [(name, release.words.unit(name)) for name in release.values]
    return [("unit", unit if len(units) == 1 else f"{name} = {unit}") for name, unit in units if unit]


def _variables(release: Release) -> list[tuple[str, str]]:
    """What names of columns stand for, where it is more than the name."""
    pairs = [(d.name, d.title) for d in release.dimensions]
    pairs += [(name, release.words.label(name)) for name in release.values]
    return [("variable", f"{name} = {words}") for name, words in pairs if words != name]


def heading(release: Release) -> str:
    """The title, or what the table is when it has none: its measures by its dimensions.

    >>> from discreet import Publish, Table
    >>> heading(Publish()(Table.of([[3, 0], [1, 2]], ["area", "sex"])).release())
    'count by area, sex'
    """
    return _titled(release) or f"{', '.join(release.values)} by {', '.join(d.name for d in release.dimensions)}"


def small_enough(n: int, most: int, what: str, instead: str) -> None:
    """Refuse a table with more cells than a format can bear."""
    if n > most:
        raise InputError(f"{n:,} cells are more than {most:,}, the most for {what}; {instead}")
