"""Marks of editions: by how many records a new one differs from each, told without a record or a true count.

A mark is made of a record's codes under the policy's secret: without the secret it tells nothing. Marks go by the names
of variables and codes, not by their order, so that they can be compared as long as the finest codes are the same. One
that several editions share is kept once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from discreet.data.dimension import Dimension
from discreet.methods.keys import mix, open_secret
from discreet.tables.table import Table

Words = NDArray[np.uint64]
Bits = NDArray[np.uint8]


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
        records = np.unique(mix(np.repeat(cell, number) + copy, key))
        amounts = [cube] if cube.measure != "count" else []
        amounts += cube._measured.values()
        if not amounts:
            return cls(records)
        held = mix(cell + number.astype(np.uint64), open_secret(secret).key("edition cells"))
        value = held
        for table in amounts:
            sums = np.asarray(table.statistics[table.measure].inner)[at]
            value = mix(value + sums.astype(np.int64).view(np.uint64), open_secret(secret).key("edition values"))
        return cls(records, np.unique(held), np.unique(value))


def records_name(records: Words) -> str:
    """A short name of all records of an edition, from their marks.

    >>> records_name(np.array([1, 2], np.uint64)) == records_name(np.array([1, 3], np.uint64))
    False
    """
    return hashlib.sha256(np.ascontiguousarray(records).tobytes()).hexdigest()[:16]


def _leaf_words(dimension: Dimension) -> Words:
    """A number for every finest code from the name of the variable and the code."""
    texts = [f"{dimension.name}\x1f{leaf}".encode() for leaf in dimension.leaves]
    return np.array([int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") for text in texts], "u8")


@dataclass(frozen=True, eq=False, repr=False)
class SharedMarks:
    """Sorted marks of several editions, each once; a row of ``bits`` says of eight editions which have the mark."""

    words: Words
    bits: Bits

    def has(self, edition: int) -> NDArray[np.bool_]:
        """Which marks an edition has."""
        own: NDArray[np.bool_] = (self.bits[edition // 8] & np.uint8(1 << edition % 8)) > 0
        return own

    def common(self, words: Words, editions: int) -> list[int]:
        """How many of these marks each edition has."""
        shared = np.isin(self.words, words, assume_unique=True)
        return [int(np.count_nonzero(self.has(edition) & shared)) for edition in range(editions)]

    def joined(self, words: Words, edition: int) -> SharedMarks:
        """With the marks of the edition of the next number."""
        union = np.union1d(self.words, words)
        bits = np.zeros((edition // 8 + 1, len(union)), np.uint8)
        bits[: len(self.bits), np.searchsorted(union, self.words)] = self.bits
        bits[edition // 8, np.searchsorted(union, words)] |= np.uint8(1 << edition % 8)
        return SharedMarks(union, bits)


@dataclass(frozen=True, eq=False, repr=False)
class SeriesMarks:
    """The marks of all editions of a series: those of records, of cells without and of cells with values."""

    editions: int
    records: SharedMarks
    cells: SharedMarks
    values: SharedMarks

    @classmethod
    def of(cls, first: EditionMarks) -> SeriesMarks:
        """Of a series with one edition."""
        none = SharedMarks(_no_words(), np.zeros((0, 0), np.uint8))
        return cls(0, none, none, none).joined(first)

    def of_edition(self, number: int) -> EditionMarks:
        """The marks of one of the editions."""
        kinds = [getattr(self, kind.name) for kind in fields(EditionMarks)]
        return EditionMarks(*(shared.words[shared.has(number)] for shared in kinds))

    def joined(self, edition: EditionMarks) -> SeriesMarks:
        """With one edition more."""
        kinds = {f.name: getattr(self, f.name).joined(getattr(edition, f.name), self.editions) for f in fields(edition)}
        return SeriesMarks(self.editions + 1, **kinds)

    def changed_records(self, edition: EditionMarks) -> list[int]:
        """Of each edition the fewest records that were added, removed or changed between it and this one.

        A cell that keeps its count and changes its value has at least one changed record that leaves no other cell.

        >>> first, second = (EditionMarks(np.array(marks, np.uint64)) for marks in ([1, 2, 3], [1, 3, 4, 5]))
        >>> SeriesMarks.of(first).joined(second).changed_records(second)
        [2, 0]
        """
        sizes = [int(np.count_nonzero(self.records.has(number))) for number in range(self.editions)]
        same = self.records.common(edition.records, self.editions)
        same_cells = self.cells.common(edition.cells, self.editions)
        same_values = self.values.common(edition.values, self.editions)
        return [
            max(size, len(edition.records)) - records + cells - values
            for size, records, cells, values in zip(sizes, same, same_cells, same_values, strict=True)
        ]
