"""Editions of a cube: by how many records the next differs from the one that is there.

Two editions that differ by one record give that record away, whatever protects each of them. So a cube is replaced only
when enough records have changed; until then the earlier one stays. Beside a cube lies a list of marks, one for each
record, made from its codes under the policy's secret: without the secret they tell nothing.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.base.annotations import Array
from discreet.base.files import is_file, whole_file
from discreet.methods.keys import mix, open_secret
from discreet.tables.table import Table

FILE = "edition.npy"


def record_marks(cube: Table, secret: bytes | None) -> NDArray[np.uint64]:
    """A sorted number for every record of a cube: of a combination of codes its first, its second and so on."""
    counts = cube.statistics["count"].inner
    at = np.flatnonzero(counts)
    number = counts[at]
    key = open_secret(secret).key("edition")
    begins = np.repeat(np.cumsum(number) - number, number)
    copy = np.arange(int(number.sum())) - begins
    cell = mix(cube.layout.inner[at].astype(np.uint64), key)
    marks: NDArray[np.uint64] = np.sort(mix(np.repeat(cell, number) + copy.astype(np.uint64), key))
    return marks


def changed_records(one: Array, other: Array) -> int:
    """The fewest records that were added, removed or changed between two lists of marks.

    >>> changed_records(np.array([1, 2, 3]), np.array([1, 3, 4, 5]))
    2
    """
    return max(len(np.setdiff1d(one, other)), len(np.setdiff1d(other, one)))


def write_marks(folder: Path, marks: Array) -> None:
    """Keep the marks of an edition beside its cube, readable by its owner alone."""
    with whole_file(folder / FILE, private=True) as file:
        np.save(file, marks)


def marks_of_edition(folder: Path) -> Array | None:
    """The marks of the edition that is there; None if there is none, or it was made without them."""
    if not is_file(folder / FILE):
        return None
    try:
        marks: Array = np.load(folder / FILE)
    except (OSError, ValueError):
        return None
    return marks
