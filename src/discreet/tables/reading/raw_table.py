"""A published table as its file has it: rows of codes, numbers, marks, and the words that stand with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from discreet.base.annotations import Array
from discreet.errors import InputError

HIDDEN = "c"
NOT_AVAILABLE = "unavailable"  # a number that nobody has, so that nobody hides it


class OtherLayoutError(InputError):
    """A file that holds no list of cells as discreet writes it; it may be a table in a layout of its own."""


class SeveralColumnsError(OtherLayoutError):
    """A list of cells with several columns of numbers: measures, or the codes of one dimension side by side."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RawTable:
    """A row for each cell; which codes are totals is not yet known, unless the file says so."""

    name: str
    """Of the file, for messages."""
    names: tuple[str, ...]
    codes: tuple[Sequence[str], ...]
    """For every dimension a code for each row."""
    values: Mapping[str, Array]
    decimals: Mapping[str, int]
    status: Array
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    totals: Mapping[str, str] = field(default_factory=dict)
    """The total of dimensions for which the file says it."""
    children: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """Per dimension the codes below others, where the file says so."""
    words: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    """What was taken as so, a sentence for each, with the option that says otherwise."""
    lines: Sequence[int] = ()
    """The line of the file in which each row begins, where it has lines."""


def heading_or_title(title: str, names: Sequence[str], measures: Sequence[str]) -> str:
    """The title of a table; nothing where a writer only put measures and dimensions in its place.

    >>> heading_or_title("count by sex", ["sex"], ["count"]), heading_or_title("People", ["sex"], ["count"])
    ('', 'People')
    """
    return "" if title == f"{', '.join(measures)} by {', '.join(names)}" else title


def own_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels that say more than the code.

    >>> own_labels({"f": "women", "3": "3"})
    {'f': 'women'}
    """
    return {code: label for code, label in labels.items() if label != code}
