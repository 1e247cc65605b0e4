"""Variables as the page shows them to whoever chooses: in words, with their levels and their tree of categories."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from discreet.data.dimension import Dimension
from discreet.data.variable_description import VariableDescription
from discreet.server.languages import translated, written
from discreet.server.views.page_choice import codes_text

FIRST = 12  # categories that a card names
NAMED = 3  # categories by which a level without a name is called


@dataclass(frozen=True)
class Category:
    """A category that can be a filter: its code, how the form sends it, its label, how deep it stands in the tree."""

    code: str
    value: str
    label: str
    depth: int


@dataclass(frozen=True)
class VariableCard:
    """What is shown of a variable."""

    name: str
    title: str
    description: VariableDescription
    size: int
    first: tuple[str, ...]
    levels: tuple[tuple[str, str], ...]
    categories: tuple[Category, ...]

    def labels_of(self, codes: Sequence[str]) -> list[str]:
        """The labels of some categories."""
        labels = {one.code: one.label for one in self.categories}
        return [labels.get(code, code) for code in codes]


class VariableCards:
    """The variables that can be asked, in the order of the codebook; made once for each language."""

    def __init__(self, dimensions: Sequence[Dimension], disallowed: Collection[str]) -> None:
        self._shown = [d for d in dimensions if d.name not in disallowed]
        self._cards: dict[str, list[VariableCard]] = {}

    def of(self, language: str) -> list[VariableCard]:
        """The cards in a language."""
        if language not in self._cards:
            self._cards[language] = [_card(d, language) for d in self._shown]
        return self._cards[language]


def _card(dimension: Dimension, language: str) -> VariableCard:
    levels = [level for level in dimension.levels if level != "total"]
    return VariableCard(
        name=dimension.name,
        title=dimension.title,
        description=dimension.description,
        size=len(dimension.leaves),
        first=tuple(dimension.label(code) for code in dimension.leaves[:FIRST]),
        levels=tuple((level, level_text(dimension, level, language)) for level in levels),
        categories=tuple(categories(dimension)),
    )


def level_text(dimension: Dimension, level: str, language: str = "en") -> str:
    """A level in words with its number of categories; one that has no words is called by its first categories.

    >>> area = Dimension.from_parents("area", {"N1": "N", "N2": "N", "S1": "S"})
    >>> [level_text(area, level) for level in ("level 1", "area")]
    ['N, S (2)', 'All categories (3)']
    """
    codes = dimension.level(level)
    text = dimension.description.level(level)
    if not text and level == dimension.name:
        text = translated("All categories", language)
    if not text and level not in dimension.level_names:
        text = ", ".join(dimension.label(code) for code in codes[:NAMED]) + (", …" if len(codes) > NAMED else "")
    return f"{text or level} ({written(len(codes), language)})"


def parents_of(dimension: Dimension) -> dict[str, str]:
    """The group above each code in the first hierarchy; the total is above all and not named.

    >>> parents_of(Dimension.from_parents("area", {"N1": "N", "N2": "N", "S1": "S"}))
    {'N1': 'N', 'N2': 'N', 'S1': 'S'}
    """
    first = [group for group in dimension.groups if group.tree == 0]
    return {part: group.code for group in first for part, _ in group.parts}


def categories(dimension: Dimension) -> list[Category]:
    """The codes that can be a filter, each below its group; groups from which others are taken away cannot.

    >>> area = Dimension.from_parents("area", {"N1": "N", "N2": "N", "S1": "S"})
    >>> [(one.code, one.depth) for one in categories(area)]
    [('N', 0), ('N1', 1), ('N2', 1), ('S', 0), ('S1', 1)]
    """
    above, signed = parents_of(dimension), {group.code for group in dimension.groups if group.signed}
    shown = []
    for code in dimension.codes:
        if code == dimension.total or code in signed:
            continue
        depth, group = 0, above.get(code)
        while group is not None:
            depth, group = depth + 1, above.get(group)
        shown.append(Category(code, codes_text([code]), dimension.label(code), depth))
    return shown
