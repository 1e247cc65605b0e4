"""A sum that tables of one file have in common: what links say, however they were found."""

from __future__ import annotations

from dataclasses import dataclass

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
