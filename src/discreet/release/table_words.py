"""What a table is about in words: its subject, what its measures are called, and the units of their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TableWords:
    """The words that go with a table wherever its numbers go; a measure without words is called by its name.

    >>> words = TableWords("Pay: mean (euros), by Sex", {"mean pay": "Pay: mean"}, {"mean pay": "euros"})
    >>> words.label("mean pay"), words.label("count"), words.unit("mean pay"), words.unit("count")
    ('Pay: mean', 'count', 'euros', '')
    """

    subject: str = ""
    """What the numbers are, by which variables, of whom."""
    labels: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    def label(self, measure: str) -> str:
        """What a measure is called."""
        return self.labels.get(measure) or measure

    def unit(self, measure: str) -> str:
        """The unit of a measure's numbers; nothing where none is known."""
        return self.units.get(measure, "")

    def renamed(self, names: Mapping[str, str]) -> TableWords:
        """The same words for measures that have other names now."""
        labels, units = ({new: of[old] for old, new in names.items() if old in of} for of in (self.labels, self.units))
        return TableWords(self.subject, labels, units)

    def measured(self, measure: str) -> str:
        """What a measure is called, with its unit where the name does not say it."""
        unit, label = self.unit(measure), self.label(measure)
        return f"{label} ({unit})" if unit and unit not in label else label


NO_WORDS = TableWords()
