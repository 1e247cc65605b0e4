"""How far the true values of a protected table may lie from what is shown: what an audit of a method goes by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.kinds import told
from discreet.errors import InputError


@runtime_checkable
class KeptSums(Protocol):
    """Sums of inner cells that a rule keeps unknown, as ``discreet.rules.base.Sums`` has them."""

    @property
    def matrix(self) -> Any:
        """Inner cells x sums."""

    @property
    def above(self) -> Array:
        """How far above its value each sum must be able to be."""


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class Room:
    """What a method states of the cells of its table, in units of the measure (confidential).

    >>> Room(lower=np.array([3, 0]), upper=np.array([5, 2])).settled
    False
    """

    lower: Array | None = None
    """The least true value that each published one allows, for whoever knows the method and its parameters."""
    upper: Array | None = None
    """The greatest such value."""
    levels: tuple[Array, ...] | None = None
    """The protection levels that were asked for: amounts below and above a cell's value, and the whole width."""
    bounds: tuple[Array, ...] | None = None
    """The lowest and highest value of each cell that everybody knows beforehand."""
    sums: KeptSums | None = None
    """Sums that no cell shows and that the rule keeps unknown."""

    def __post_init__(self) -> None:
        if (self.lower is None) != (self.upper is None):
            raise InputError("a Room has lower and upper together, or neither")
        if self.sums is not None and not isinstance(self.sums, KeptSums):
            raise InputError(f"{told('sums', self.sums)}: give what rule.virtual(table) gives")
        for name, sides, number in (("levels", self.levels, 3), ("bounds", self.bounds, 2)):
            if sides is not None and len(sides) != number:
                raise InputError(f"a Room has {number} arrays of {name}, not {len(sides)}")

    @property
    def ruled(self) -> bool:
        """Whether the method was told which cells are sensitive."""
        return self.levels is not None or self.sums is not None

    @property
    def settled(self) -> bool:
        """Whether the bounds leave one value for every cell, so that nothing is protected."""
        return self.lower is not None and self.upper is not None and bool(np.array_equal(self.lower, self.upper))

    def check_cells(self, cells: int) -> None:
        """Raise unless every array has one number for each cell.

        >>> Room(lower=np.array([3, 0]), upper=np.array([5, 2])).check_cells(9)
        Traceback (most recent call last):
        ...
        discreet.errors.InputError: the arrays of a Room have one number for each of the 9 cells
        """
        arrays = [self.lower, self.upper, *(self.levels or ()), *(self.bounds or ())]
        if any(array is not None and np.shape(array) != (cells,) for array in arrays):
            raise InputError(f"the arrays of a Room have one number for each of the {cells:,} cells")
        if any(array is not None and np.isnan(np.asarray(array, float)).any() for array in arrays):
            raise InputError("an array of a Room holds what is not a number; where nothing is known, give infinity")
        for name, sides in (("lower and upper", (self.lower, self.upper)), ("bounds", self.bounds or (None, None))):
            if sides[0] is not None and sides[1] is not None and (np.asarray(sides[0]) > np.asarray(sides[1])).any():
                raise InputError(f"a Room's {name}: the least value of a cell is above its greatest")


NONE_STATED = Room()
STATED = ("lower", "upper", "levels", "bounds", "sums")
"""What stands in a Room and nowhere else."""
