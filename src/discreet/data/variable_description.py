"""What readers are told of a variable beside its codes: names in words, definition, who it is about, source, date."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise

NUMBER = re.compile(r"\d+")
LEAST_ORDERED = 3  # categories that are called ordered


@dataclass(frozen=True)
class VariableDescription:
    """A variable in words. Nothing of it changes what is counted.

    ``levels`` are labels of levels of detail by their names.

    >>> VariableDescription(label="Age", levels={"level 1": "Ten-year bands"}).level("level 1")
    'Ten-year bands'
    """

    label: str = ""
    definition: str = ""
    universe: str = ""
    source: str = ""
    date: str = ""
    levels: Mapping[str, str] = field(default_factory=dict, hash=False)
    counted: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What the records are, as a plural by language; empty where nothing is stated: people."""
    units: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The units of the data's magnitudes by their names, where the codebook states them."""
    geometry: str = ""
    """The shapes of its codes on a map as GeoJSON text; empty if it has none."""

    @property
    def texts(self) -> dict[str, str]:
        """What is stated, but for levels, shapes, units and what the records are."""
        others = ("levels", "geometry", "counted", "units")
        stated = {part.name: str(getattr(self, part.name)) for part in fields(self) if part.name not in others}
        return {name: text for name, text in stated.items() if text}

    def level(self, name: str) -> str:
        """The label of a level; empty if none is stated."""
        return self.levels.get(name, "")

    def completed(
        self, *, counted: Mapping[str, str] | None = None, units: Mapping[str, str] | None = None, **defaults: str
    ) -> VariableDescription:
        """The same with what holds for all variables of the data, where nothing is stated.

        >>> VariableDescription(source="register").completed(source="census", date="2021").texts
        {'source': 'register', 'date': '2021'}
        """
        texts = defaults | self.texts
        kept = replace(self, counted=self.counted or counted or {}, units=units or self.units)
        return replace(kept, **texts)  # type: ignore[arg-type]


def is_ordered(labels: Sequence[str]) -> bool:
    """Whether categories are steps of one scale, by the first numbers of their labels: ages, years, sizes.

    >>> is_ordered(["0-4 years", "5-9 years", "10 years and more"]), is_ordered(["Region 1", "Region 2", "North"])
    (True, False)
    """
    numbers = [int(match[0]) for label in labels if (match := NUMBER.search(label))]
    begins = {label[:1].isdigit() for label in labels[1:-1]}  # "under 5" and "over 80" stand at the ends
    rising = all(one < two for one, two in pairwise(numbers[1:-1]))
    return len(labels) >= LEAST_ORDERED and len(numbers) >= len(labels) - 1 and begins == {True} and rising
