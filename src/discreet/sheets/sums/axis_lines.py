"""The numbers along one dimension of a sheet, and what they say of a label: whether it is the sum of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.base.annotations import Array

ASK_AT_END = 4.0
"""Bits of coincidence to ask about the first or last label, where totals stand."""
SURE = 20.0
"""Bits of coincidence from which a label with a name of its own is believed to be a sum, more for longer lists."""


@dataclass(frozen=True, eq=False)
class AxisLines:
    """The numbers of a dimension: a row for each label, a column for each line of the table.

    ``shown`` is False where a mark stands; ``there`` where the sheet has no cell at all, which counts as zero in a sum.
    """

    values: Array
    shown: Array
    there: Array
    allowed: float = 0.0
    """How far a sum may be off per part: half a unit where numbers were rounded one by one."""
    unit: float = 1.0
    """What the last digit of the numbers is worth."""

    @property
    def like_a_total(self) -> float:
        """Bits of coincidence from which a label that may be called a total is one; rounded numbers show less."""
        return 1.0 if self.allowed else ASK_AT_END

    @cached_property
    def bits(self) -> Array:
        """Of each label how much it would prove, if it were the sum of others in every line."""
        return np.asarray(np.log2(1 + np.abs(self.values)).sum(axis=1))

    def evidence(self, whole: int, parts: Sequence[int]) -> tuple[int, int, float, bool]:
        """Lines that deny that a row is the sum of others, lines that show it, bits, and whether parts fall short."""
        rows = list(parts)
        known = self.shown[rows].all(axis=0)
        held = self.shown[whole] & self.there[whole] & self.there[rows].any(axis=0)
        rest = np.where(self.shown[rows], self.values[rows], 0).sum(axis=0)
        value = self.values[whole]
        allowed = self.allowed * (len(rows) + 1)
        gap = value - rest
        wrong = held & known & (np.abs(gap) > allowed)
        over = held & (gap < -allowed)
        signed = bool((self.values[rows] < 0).any())
        denied = wrong if signed else wrong | over
        sure = held & known & ~denied & (value != 0)
        bits = float(np.log2((1 + np.abs(value[sure])) / (1 + 2 * allowed)).clip(0).sum())
        short = bool(wrong.any()) and not bool(over.any()) and not signed
        return int(denied.sum()), int(sure.sum()), bits, short

    def each(self, top: Sequence[int]) -> list[tuple[int, int, float, bool]]:
        """For each of some rows the evidence that it is the sum of all the others of them, as ``evidence`` has it."""
        rows = list(top)
        shown, there, values = self.shown[rows], self.there[rows], self.values[rows]
        known = (~shown).sum(axis=0) - ~shown == 0
        held = shown & there & (there.sum(axis=0) - there > 0)
        plain = np.where(shown, values, 0)
        gap = values - (plain.sum(axis=0) - plain)
        allowed = self.allowed * len(rows)
        wrong = held & known & (np.abs(gap) > allowed)
        over = held & (gap < -allowed)
        signed = bool((values < 0).any())
        denied = wrong if signed else wrong | over
        sure = held & known & ~denied & (values != 0)
        bits = np.where(sure, np.log2((1 + np.abs(values)) / (1 + 2 * allowed)).clip(0), 0).sum(axis=1)
        short = wrong.any(axis=1) & ~over.any(axis=1) & (not signed)
        found = (denied.sum(axis=1), sure.sum(axis=1), bits, short)
        return list(zip(*(part.tolist() for part in found), strict=True))
