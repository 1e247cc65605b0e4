"""What readers are told of a variable beside its codes: names in words, definition, who it is about, source, date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields


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
    geometry: str = ""
    """The shapes of its codes on a map as GeoJSON text; empty if it has none."""

    @property
    def texts(self) -> dict[str, str]:
        """What is stated, but for levels and shapes."""
        others = ("levels", "geometry")
        stated = {part.name: str(getattr(self, part.name)) for part in fields(self) if part.name not in others}
        return {name: text for name, text in stated.items() if text}

    def level(self, name: str) -> str:
        """The label of a level; empty if none is stated."""
        return self.levels.get(name, "")

    def completed(self, **defaults: str) -> VariableDescription:
        """The same with what holds for all variables of the data, where nothing is stated.

        >>> VariableDescription(source="register").completed(source="census", date="2021").texts
        {'source': 'register', 'date': '2021'}
        """
        return VariableDescription(**(defaults | self.texts), levels=self.levels, geometry=self.geometry)
