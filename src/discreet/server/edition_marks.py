"""Marks of an edition: by how many records the next one differs from it, told without a record or a true count.

A mark is made of a record's codes under the policy's secret: without the secret it tells nothing. Marks go by the names
of variables and codes, not by their order, so that they can be compared as long as the finest codes are the same.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.data.dimension import Dimension
from discreet.methods.keys import mix, open_secret
from discreet.tables.table import Table

Words = NDArray[np.uint64]


def _no_words() -> Words:
    return np.zeros(0, np.uint64)


@dataclass(frozen=True, eq=False, repr=False)
class EditionMarks:
    """Sorted marks of every record; of a measure other than the count also those of cells, without and with values."""

    records: Words
    cells: Words = field(default_factory=_no_words)
    values: Words = field(default_factory=_no_words)

    @classmethod
    def of(cls, cube: Table, secret: bytes | None) -> EditionMarks:
        """Of a combination of codes its first record, its second and so on; then the cell with its count and value."""
        counts = cube.statistics["count"].inner
        at = np.flatnonzero(counts)
        number = counts[at]
        key = open_secret(secret).key("edition")
        begins = np.repeat(np.cumsum(number) - number, number)
        copy = (np.arange(int(number.sum())) - begins).astype(np.uint64)
        places = np.unravel_index(cube.layout.inner[at], cube.layout.shape)
        words = np.zeros(len(at), np.uint64)
        for dimension, leaves in zip(cube.dimensions, places, strict=True):
            words += _leaf_words(dimension)[leaves]
        cell = mix(words, key)
        records = np.sort(mix(np.repeat(cell, number) + copy, key))
        if cube.measure == "count":
            return cls(records)
        held = mix(cell + number.astype(np.uint64), open_secret(secret).key("edition cells"))
        sums = np.asarray(cube.statistics[cube.measure].inner)[at]
        value = mix(held + sums.astype(np.int64).view(np.uint64), open_secret(secret).key("edition values"))
        return cls(records, np.sort(held), np.sort(value))


def _leaf_words(dimension: Dimension) -> Words:
    """A number for every finest code from the name of the variable and the code."""
    texts = [f"{dimension.name}\x1f{leaf}".encode() for leaf in dimension.leaves]
    return np.array([int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") for text in texts], "u8")


def changed_records(one: EditionMarks, other: EditionMarks) -> int:
    """The fewest records that were added, removed or changed between two editions.

    A cell that keeps its count and changes its value has at least one changed record that leaves no other cell.

    >>> first, second = (EditionMarks(np.array(marks, np.uint64)) for marks in ([1, 2, 3], [1, 3, 4, 5]))
    >>> changed_records(first, second)
    2
    """
    moved = max(len(np.setdiff1d(one.records, other.records)), len(np.setdiff1d(other.records, one.records)))
    same_cells = len(np.intersect1d(one.cells, other.cells))
    return moved + same_cells - len(np.intersect1d(one.values, other.values))
