"""Whether the codes below a total are parts of it that share nobody, or some of them may be sums of others.

Where a line shows all codes and they add up to the total, no code that counts there lies within another. Where numbers
are hidden in every line nothing says so: then names and order tell whether somebody would read a code as a sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array
from discreet.tables.nested_names import same_level, within_by_name
from discreet.tables.totals import Cells

LONGEST_RUN = 8
"""Codes that may follow the one they are parts of, by their order alone."""
BY_NAME = "by their names"
BY_ORDER = "it is shown and they follow it, hidden"
_MAY_BE = " of {} may be the sum of "


@dataclass(frozen=True)
class FlatReading:
    """What is known of codes as parts of their total: ``confirmed``, or a code that may be a sum, its parts and why."""

    confirmed: bool
    parent: str = ""
    parts: tuple[str, ...] = ()
    why: str = ""

    def doubt(self, name: str, total: str) -> str:
        """Why an audit cannot take the codes of a dimension as flat; empty where nothing speaks against it."""
        if self.confirmed or not self.parent:
            return ""
        some = ", ".join(map(repr, self.parts[:3])) + (", ..." if len(self.parts) > 3 else "")
        return (
            f"{self.parent!r}{_MAY_BE.format(repr(name))}{some} ({self.why}), and no line that shows all codes "
            "denies it, so that more may be known than this audit sees: say in a mapping which codes are sums of "
            f'others, [sums] {name} = {{ "{self.parent}" = [...] }}, or that none is, {name} = {{ "{total}" = [all '
            "other codes] }, or give a codebook"
        )

    def note(self, name: str, total: str) -> str:
        """What is taken as so where nothing confirms it; empty where the numbers do, or where it is in doubt."""
        if self.confirmed or self.parent:
            return ""
        return (
            f"the codes of {name!r} are taken as parts of {total!r} none of which is a sum of others, which no line "
            "that shows all of them confirms; a codebook, or [sums] in a mapping, says otherwise"
        )


@dataclass(frozen=True, eq=False)
class _Lines:
    """Numbers of the codes below a total and of the total, a column for each line that shows the total."""

    values: Array
    shown: Array
    total: Array
    room: Array

    def top_level(self) -> Array:
        """Codes that lie within no other: they count in a line that shows all codes and adds up without overlap."""
        adds = self.shown.all(axis=0) & (np.abs(self.values.sum(axis=0) - self.total) <= self.room)
        adds &= (self.values >= 0).all(axis=0)
        return np.asarray(((self.values > self.room) & adds).any(axis=1))

    def denies(self, tree: Mapping[int, Sequence[int]]) -> bool:
        """Whether some line cannot be if codes are sums of others: parent and parts, by position."""
        below = {part for parts in tree.values() for part in parts}
        top = [k for k in range(len(self.values)) if k not in below]
        return self._denied(top, self.total, np.ones(len(self.total), bool)) or any(
            self._denied(list(parts), self.values[parent], self.shown[parent]) for parent, parts in tree.items()
        )

    def _denied(self, parts: Sequence[int], whole: Array, known: Array) -> bool:
        sums, full = self.values[parts].sum(axis=0), self.shown[parts].all(axis=0)
        over = (sums > whole + self.room) & (self.values[parts] >= 0).all(axis=0)
        return bool((known & (over | (full & (np.abs(sums - whole) > self.room)))).any())


def is_doubt_of(text: str, name: str) -> bool:
    """Whether a doubt is one on which codes of a dimension are sums: whoever says its sums settles it.

    >>> reading = FlatReading(False, "A", ("A1", "A2"), BY_NAME)
    >>> is_doubt_of(reading.doubt("area", "Total"), "area"), is_doubt_of(reading.doubt("area", "Total"), "age")
    (True, False)
    """
    return _MAY_BE.format(repr(name)) in text


def flat_reading(cells: Cells, axis: int, total: str) -> FlatReading:
    """Whether numbers confirm that no code below the total is a sum of others; if not, one that may well be."""
    codes = [code for code in cells.codes[axis] if code != total]
    if len(codes) < 3:
        return FlatReading(confirmed=True)
    lines = _lines(cells, axis, codes, total)
    open_ = ~lines.top_level()
    if open_.sum() < 2 or lines.shown.all():
        return FlatReading(confirmed=True)
    for tree, why in _candidates(codes, lines, open_):
        if all(open_[part] for parts in tree.values() for part in parts) and not lines.denies(tree):
            parent, parts = next(iter(tree.items()))
            return FlatReading(False, codes[parent], tuple(codes[part] for part in parts), why)
    return FlatReading(confirmed=False)


def _lines(cells: Cells, axis: int, codes: Sequence[str], total: str) -> _Lines:
    place = {code: k for k, code in enumerate(cells.codes[axis])}
    kept = [place[code] for code in (*codes, total)]
    values, shown, room = [], [], []
    for numbers, loose in zip(cells.numbers, cells.loose, strict=True):
        held, there = cells.lines(axis, numbers, kept)
        of_total = there[-1]
        values.append(held[:, of_total])
        shown.append(there[:, of_total])
        room.append(np.full(int(of_total.sum()), loose * len(kept)))
    every, seen = np.hstack(values), np.hstack(shown)
    return _Lines(every[:-1], seen[:-1], every[-1], np.concatenate(room))


def _candidates(codes: Sequence[str], lines: _Lines, open_: Array) -> Iterator[tuple[dict[int, list[int]], str]]:
    """Ways in which somebody may read codes as sums of others: all that their names say, each of it, their order."""
    place = {code: k for k, code in enumerate(codes)}
    tree = {place[parent]: [place[part] for part in parts] for parent, parts in within_by_name(codes).items()}
    if len(tree) > 1:
        yield tree, BY_NAME
    for parent, parts in tree.items():
        yield {parent: parts}, BY_NAME
    if not same_level(codes):
        for parent, parts in _followed(lines, open_):
            yield {parent: parts}, BY_ORDER


def _followed(lines: _Lines, open_: Array) -> Iterator[tuple[int, list[int]]]:
    """Shown codes with hidden ones directly behind them, where another one is hidden in the same line."""
    hidden = ~lines.shown
    many = hidden.sum(axis=0)
    for parent in np.flatnonzero((lines.shown & (lines.values > 0) & (many > 2)).any(axis=1)).tolist():
        behind = (lines.shown & (lines.values > 0))[parent]
        for last in range(parent + 1, min(parent + 1 + LONGEST_RUN, len(hidden))):
            behind = behind & hidden[last]
            if not open_[last] or not behind.any():
                break
            if last > parent + 1 and (behind & (many > last - parent)).any():
                yield parent, list(range(parent + 1, last + 1))
