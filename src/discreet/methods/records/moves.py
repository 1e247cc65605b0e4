"""Where the records of every cell are after a method on microdata: what a pre-tabular method did, known exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.base.arguments import checked
from discreet.data.microdata import Microdata
from discreet.errors import InputError, listed
from discreet.methods.records.record_columns import columns, leaf_codes

MOST_CELLS = 4_000
"""Most inner cells for which the K x K channel is made."""


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Moves:
    """The inner cell of every record before and after (confidential), and the tables that follow from them.

    >>> import numpy as np
    >>> Moves((2,), was=np.array([0, 0, 1]), is_=np.array([0, 1, 1])).after.tolist()
    [1, 2]
    """

    shape: tuple[int, ...]
    was: Array
    is_: Array

    @property
    def before(self) -> Array:
        """Records in every inner cell before the method."""
        return self._count(self.was)

    @property
    def after(self) -> Array:
        """Records in every inner cell after the method."""
        return self._count(self.is_)

    @property
    def stayed(self) -> Array:
        """Records that are in the same inner cell before and after: what GAD and WGAD of [PSD14]_ ask for."""
        return self._count(self.was[self.was == self.is_])

    @property
    def channel(self) -> Floats:
        """Pr(Y = c_j | X = c_i) as it came out, K x K over the flat cells; rows of empty cells are 0.

        Section 3.6.5 of [Ant16]_: what ``r2(..., channel=)`` takes.
        """
        k = int(np.prod(self.shape))
        if k > MOST_CELLS:
            raise InputError(f"the channel of {k:,} cells is too large to be listed; take {MOST_CELLS:,} or fewer")
        joint = np.bincount(self.was * k + self.is_, minlength=k * k).reshape(k, k).astype(np.float64)
        out: Floats = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1)
        return out

    def _count(self, cells: Array) -> Array:
        return np.bincount(cells, minlength=int(np.prod(self.shape))).reshape(self.shape)

    def __repr__(self) -> str:
        return f"Moves({' x '.join(map(str, self.shape))} cells, {len(self.was):,} records)"


@checked
def moves(before: Microdata, after: Microdata, by: str | Sequence[str]) -> Moves:
    """What a method on records did to the inner cells of a table: ``moves(people, Swap("area")(people), by=...)``.

    Records are matched by the codebook's unit where both have one and it names every record once, else by their order,
    which methods of this package keep. Both must have the same dimensions with the same finest codes.

    >>> import discreet as dc
    >>> people = dc.datasets.census(500)
    >>> moved = moves(people, dc.Pram("sex", stay=0.8, seed=1)(people), by=["sex"])
    >>> int(moved.before.sum()), bool(moved.stayed.sum() < 500)
    (500, True)
    """
    names = [by] if isinstance(by, str) else list(by)
    if not names:
        raise InputError("moves needs the variables of a table (by=)")
    if before.n != after.n:
        raise InputError("before and after have different numbers of records, so they cannot be matched one by one")
    changed = [n for n in names if before.dimension(n).leaves != after.dimension(n).leaves]
    if changed:
        raise InputError(f"the finest codes of {listed(changed)} differ before and after: cells cannot be compared")
    shape = tuple(len(before.dimension(n).leaves) for n in names)
    was, now = (np.ravel_multi_index([leaf_codes(data, n) for n in names], shape) for data in (before, after))
    order = _order(before, after)
    return Moves(shape, was, now if order is None else now[order])


def _order(before: Microdata, after: Microdata) -> Array | None:
    """For every record of ``before`` its place in ``after``; None where they stand in the same order."""
    unit = before.codebook.unit
    if unit is None or after.codebook.unit != unit:
        return None
    ids = [np.asarray(columns(data, [unit])[unit].to_pylist(), dtype=object).astype(str) for data in (before, after)]
    first, second = (np.unique(i, return_index=True) for i in ids)
    if len(first[0]) < len(ids[0]) or len(second[0]) < len(ids[1]):
        return None  # a unit with several records does not tell them apart
    if not np.array_equal(first[0], second[0]):
        raise InputError(f"the units ({unit!r}) before and after are not the same, so records cannot be matched")
    place = np.empty(len(ids[0]), np.int64)
    place[first[1]] = second[1]
    return place
