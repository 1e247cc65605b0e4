"""A sketch of an edition: enough to count the records by which two editions differ, in about a megabyte.

Marks of records (``edition_marks``) are put into places by their first bits. Kept of every place are the exclusive or
of its marks and their number. A place in which two editions differ holds a record by which they differ, so the places
that differ are never more than such records; with few of these they are nearly as many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.server.editions.edition_marks import EditionMarks, Words

BITS = 17  # of a mark that say its place
PLACES = 1 << BITS
FULL = 0.5  # share of differing places above which several records lie in one
LEAST_SHARE = 0.95  # of what such a share lets expect

Numbers = NDArray[np.uint32]


@dataclass(frozen=True, eq=False, repr=False)
class EditionSketch:
    """Of every place the marks of its records, their number, and the marks of cells with the values in them."""

    records: Numbers
    numbers: Numbers
    values: Numbers

    @classmethod
    def of(cls, marks: EditionMarks) -> EditionSketch:
        """Of the marks of an edition.

        >>> one, two = (EditionMarks(np.array(marks, np.uint64)) for marks in ([7, 8, 9], [7, 9]))
        >>> EditionSketch.of(one).changed_records(EditionSketch.of(two))
        1
        """
        records, numbers = _placed(marks.records)
        return cls(records, numbers, _placed(marks.values)[0])

    def changed_records(self, other: EditionSketch) -> int:
        """The fewest records that were added, removed or changed between two editions, as far as places tell.

        A record that moves leaves a cell and enters one: of each the mark with the old and with the new value differs.
        """
        apart = _differing(self.records, other.records)
        more = int((self.numbers - other.numbers).view(np.int32).sum(dtype=np.int64))
        return max((apart + abs(more) + 1) // 2, -(-_differing(self.values, other.values) // 4))

    def to_bytes(self) -> bytes:
        """All numbers, one kind after the other."""
        return b"".join(getattr(self, kind.name).tobytes() for kind in fields(self))

    @classmethod
    def from_bytes(cls, content: bytes) -> EditionSketch:
        """As ``to_bytes`` wrote them."""
        kinds = len(fields(cls))
        if len(content) != 4 * PLACES * kinds:
            raise InputError("the store holds an edition in a form that this version of discreet does not know")
        return cls(*np.frombuffer(content, np.uint32).reshape(kinds, PLACES))


def _placed(words: Words) -> tuple[Numbers, Numbers]:
    """Of every place the exclusive or of its words, which are sorted, and how many they are."""
    place = (words >> np.uint64(64 - BITS)).astype(np.int64)
    numbers = np.bincount(place, minlength=PLACES)
    together = np.zeros(PLACES, np.uint32)
    held = np.flatnonzero(numbers)
    if len(held):
        begins = np.cumsum(numbers[held]) - numbers[held]
        together[held] = np.bitwise_xor.reduceat(words.astype(np.uint32), begins)  # the last bits: not those of places
    return together, numbers.astype(np.uint32)


def _differing(one: Numbers, other: Numbers) -> int:
    """In how many marks two editions differ at least; where most places differ, in how many about."""
    places = int(np.count_nonzero(one != other))
    if places <= FULL * PLACES:
        return places
    return max(places, int(LEAST_SHARE * -PLACES * math.log1p(-min(places, PLACES - 1) / PLACES)))
