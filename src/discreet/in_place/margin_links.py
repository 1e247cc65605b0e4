"""A sum that tables of one file have in common: what links say, however they were found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

Margin = tuple[int, tuple[int, ...]]
"""A table, and a combination of its codes."""


@dataclass(frozen=True)
class MarginLink:
    """A margin that is, in truth, the sum of others: one of them if two tables have it in common."""

    whole: Margin
    parts: tuple[Margin, ...]
    sure: bool = True
    """Whether labels say so, too; what numbers alone show may be chance, and hides more, but shows nothing again."""

    @property
    def tables(self) -> tuple[int, ...]:
        return (self.whole[0], *(table for table, _ in self.parts))


def groups(tied: Iterable[tuple[int, ...]], tables: int) -> list[list[int]]:
    """Tables that hang together, two or more at a time, or one with itself.

    >>> groups([(0, 2), (2, 3), (4, 4)], 6)
    [[0, 2, 3], [4]]
    """
    tied = {*tied}
    group = np.arange(tables)
    for joined in tied:
        first = group[list(joined)]
        group[np.isin(group, first)] = first.min()
    several = [np.flatnonzero(group == first).tolist() for first in np.unique(group)]
    own = {joined[0] for joined in tied}
    return [members for members in several if len(members) > 1 or members[0] in own]
