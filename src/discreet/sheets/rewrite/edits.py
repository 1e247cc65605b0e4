"""What changes in a sheet that is written back: what stands in a cell now, and which cells were understood at all."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from discreet.errors import InputError, listed, many
from discreet.sheets.counts_in_words import states_another, states_one
from discreet.sheets.rewrite.number_look import (
    first_number,
    number_with_unit,
    plain_number,
    share_within,
    without_share,
    written_like,
    written_with_share,
)
from discreet.sheets.shares_in_words import states_share
from discreet.sheets.sheet_layout import DerivedNumber, derived_value
from discreet.sheets.stated_counts import HEADER_COUNT, stated_count, with_other_count

Place = tuple[str, int, int]
"""The name of a sheet ("" where a file has none), row and column, from 1."""
Content = int | float | str | None
"""What stands in a cell: a number, a mark, or nothing."""
_DANGEROUS = (
    "=",
    "+",
    "@",
    "\t",
    "\r",
    "\n",
)  # a spreadsheet program takes these for a formula when it opens a text file
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_DIGITS = re.compile(r"\d(?:[\d.,'\u2019 \u00a0\u202f_]*\d)?")
_BLANKS = re.compile(r"[ \u00a0\u202f]")
MOST_MARK = 40
TELLING = 1000
"""From here on a number in a sentence that equals a hidden one is hardly there by chance."""
YEARS = frozenset(range(1800, 2101))


@dataclass(frozen=True)
class Edits:
    """All that a sheet written back is allowed to say.

    ``replacements`` is what stands in a cell now; ``shown`` are places that were understood and stay as they are, among
    them headers that are numbers. A number anywhere else was judged by nobody and is blanked. ``derived`` are worked
    out of published numbers, and the mark stands where that cannot be done. Of ``text_sheets`` the texts are kept, and
    no number. ``decimal``, ``separator`` and ``encoding`` are those of text files, where they are not plain to see.
    Texts in places of ``kept`` stay whatever they say; no other may state one of the ``secrets``.
    """

    replacements: Mapping[Place, Content]
    shown: Collection[Place] = ()
    derived: Collection[DerivedNumber] = ()
    note: str = ""
    mark: str = "c"
    text_sheets: Collection[str] = ()
    decimal: str | None = None
    separator: str | None = None
    encoding: str | None = None
    kept: Collection[Place] = ()
    secrets: Collection[float] = ()
    kinds: Mapping[Place, tuple[int, Hashable]] = field(default_factory=dict)
    """Of cells of tables which table they are of, and whether inner, total or share: cells of a kind look alike."""
    keep_images: bool = False
    """Whether images of the sheets stay, whatever they show; only workbooks of Excel can."""
    stood: Mapping[Place, object] = field(default_factory=dict)
    """What cells said when they were read. Confidential."""

    def __post_init__(self) -> None:
        check_mark(self.mark)
        for text in {content for content in self.replacements.values() if isinstance(content, str)}:
            check_mark(text)
        numbers = [content for content in self.replacements.values() if isinstance(content, int | float)]
        if not all(math.isfinite(number) for number in numbers):
            raise InputError("a number to be written is missing or infinite; give a mark such as '*' for a hidden cell")
        if _UNWRITABLE.search(self.note) or self.note.lstrip().startswith(_DANGEROUS):
            raise InputError("the note holds signs that no sheet can hold, or would be read as a formula; change it")

    @cached_property
    def sheets(self) -> frozenset[str]:
        """The sheets that are written; all others are left out."""
        places = [*self.replacements, *self.shown, *(number.place for number in self.derived)]
        return frozenset(place[0] for place in places) | frozenset(self.text_sheets)


def check_sheets(name: str, edits: Edits, known: Sequence[str], wanted: Collection[str]) -> None:
    """Every sheet that is edited is one of those that a workbook has, and one at least is written."""
    if missing := sorted(edits.sheets - set(known)):
        raise InputError(f"{name!r} has no sheet {listed(missing)}; it has {listed(known)}")
    if not wanted:
        raise InputError(f"no cell of {name!r} is to be written; give replacements or cells that are shown")


def check_stood(edits: Edits, name: str, cells: SourceCells, others: Collection[Place] = ()) -> None:
    """Raise unless cells say what was read of them: a mark that stands elsewhere would show what is to be hidden.

    Cells of ``others`` hold neither numbers nor texts, but what readers make a text of.
    """
    moved = 0
    for place, value in edits.stood.items():
        if place in others:
            continue
        if isinstance(value, str):
            moved += cells.texts.get(place, "").split() != value.split()
        elif isinstance(value, int | float) and not isinstance(value, bool):
            moved += cells.numbers.get(place) != float(value)
    if moved:
        cells_moved = many(moved, "cell does not stand where it was read", "cells do not stand where they were read")
        raise InputError(
            f"{name!r}: {cells_moved}, so that nothing is "
            "written: the file has changed since, or its layout can be read in two ways; save it again in a "
            "spreadsheet program, as .xlsx"
        )


def check_numbers_stood(edits: Edits, name: str, cells: SourceCells) -> None:
    """The same for numbers alone, where readers and writers write texts differently."""
    check_stood(edits, name, cells, {place for place, value in edits.stood.items() if isinstance(value, str)})


def check_mark(mark: str) -> None:
    """Refuse a mark that is empty, long, or that a spreadsheet program would take for a formula.

    >>> check_mark("=1+1")
    Traceback (most recent call last):
    ...
    discreet.errors.InputError: a mark is a short text such as '*', 'c', '[c]' or '<6'; it cannot begin with = + @
    """
    if not mark.strip() or len(mark) > MOST_MARK or _UNWRITABLE.search(mark):
        raise InputError(f"a mark is a short text such as '*', 'c', '[c]' or '<6', of at most {MOST_MARK} signs")
    if mark.startswith(_DANGEROUS) or (mark[0] == "-" and len(mark) > 1):
        raise InputError("a mark is a short text such as '*', 'c', '[c]' or '<6'; it cannot begin with = + @")


@dataclass(frozen=True)
class SourceCells:
    """What the cells of a file say before anything is changed: numbers, and texts. Confidential."""

    numbers: Mapping[Place, float] = field(default_factory=dict)
    texts: Mapping[Place, str] = field(default_factory=dict)
    decimal: str | None = None

    def number(self, place: Place) -> float | None:
        """The number of a cell, also where a share stands behind it in the same text."""
        known = self.numbers.get(place)
        if known is not None:
            return known
        text = self.texts.get(place, "")
        stated = stated_count(text)
        if stated is not None:
            return stated
        number = first_number(text, self.decimal)
        return number_with_unit(text, self.decimal) if number is None else number


@dataclass(frozen=True)
class Settled:
    """Edits with every derived number worked out, and the numbers that must be found nowhere in what is written."""

    edits: Edits
    now: Mapping[Place, Content]
    shown: frozenset[Place]
    truths: frozenset[float]
    told: frozenset[float] = frozenset()
    """Numbers of cells that stay as they are."""

    @cached_property
    def by_sheet(self) -> Mapping[str, Mapping[tuple[int, int], Content]]:
        """What stands in cells now, by sheet, then by row and column."""
        sheets: dict[str, dict[tuple[int, int], Content]] = {}
        for (sheet, row, column), content in self.now.items():
            sheets.setdefault(sheet, {})[row, column] = content
        return sheets

    def kinds_of(self, sheet: str) -> dict[tuple[int, int], tuple[int, Hashable]]:
        """Table and kind of the cells of a sheet, by row and column."""
        return self._kinds_by_sheet.get(sheet, {})

    @cached_property
    def _kinds_by_sheet(self) -> dict[str, dict[tuple[int, int], tuple[int, Hashable]]]:
        sheets: dict[str, dict[tuple[int, int], tuple[int, Hashable]]] = {}
        for (sheet, row, column), kind in self.edits.kinds.items():
            sheets.setdefault(sheet, {})[row, column] = kind
        return sheets

    @cached_property
    def shown_by_sheet(self) -> Mapping[str, frozenset[tuple[int, int]]]:
        """Cells that stay as they are, by sheet, as rows and columns."""
        sheets: dict[str, set[tuple[int, int]]] = {}
        for sheet, row, column in self.shown:
            sheets.setdefault(sheet, set()).add((row, column))
        return {sheet: frozenset(cells) for sheet, cells in sheets.items()}

    def tells(self, place: Place, text: str) -> bool:
        """Whether a text states a number that is hidden now, one of the secrets, or a share or another count.

        In places that were understood only numbers of four digits and more count, but for years: the smaller ones were
        judged there already. A header that is a number does not count.
        """
        if place in self.edits.kept:
            return False
        understood = place in self.shown
        if understood and plain_number(text) is not None:
            return False
        long = [number for number in numbers_in(text) if number >= TELLING and number not in YEARS]
        if any(number in self.truths for number in long):
            return True
        if understood or not self._untold:
            return False
        return states_one(text, self._untold) or states_share(text) or states_another(text, self.told)

    @cached_property
    def _untold(self) -> frozenset[float]:
        """Numbers that no text may state where nobody judged it."""
        return self.truths | frozenset(self.edits.secrets)


def settle_edits(edits: Edits, cells: SourceCells) -> Settled:
    """Work derived numbers out of what is published, given what stood in the sheets."""
    now = {place: _in_its_text(content, cells.texts.get(place, "")) for place, content in edits.replacements.items()}
    derived = {number.place for number in edits.derived if not number.inside}
    shown = set(edits.shown) - now.keys() - derived

    def published(place: Place | None) -> float | None:
        if place is None:
            return None
        content = edits.replacements.get(place, cells.number(place) if place in shown else None)
        return None if isinstance(content, str) else content

    for number in edits.derived:
        part = published(number.numerator)
        whole = published(number.denominator)
        unknown = part is None or whole is None or any(published(place) is None for place in number.besides)
        share = None if unknown else derived_value(number.kind, float(part or 0), float(whole or 0), number.scale)
        if number.inside:
            written = cells.texts.get(number.place, "")
            before = share_within(written, cells.decimal)
            half = 0.5000001 * 10.0**-number.decimals
            as_shown = share is not None and {number.numerator, number.denominator} <= shown
            if as_shown and before is not None and abs(float(share or 0) - before) <= half:
                continue  # of counts as they were, to whichever side a half was rounded
            if part is not None:
                text = None if share is None else round(share, number.decimals)
                now[number.place] = written_with_share(written, part, text, edits.mark)
            elif number.place in shown:  # a share of something that is not known: the count alone stays
                now[number.place] = without_share(written)
        elif share is None:
            now[number.place] = edits.mark
        elif {number.numerator, number.denominator} <= shown and _rounds_to(share, number, cells):
            shown.add(number.place)  # of counts as they were, to whichever side a half was rounded
        elif _stays(worked_out := _as_precise(share, number, cells), cells.number(number.place)):
            shown.add(number.place)  # as it was written, with its signs
        else:
            now[number.place] = worked_out
    shown -= now.keys()
    told = frozenset(cells.numbers[place] for place in shown if place in cells.numbers)
    return Settled(edits, now, frozenset(shown), _truths(cells, now, shown), told)


def _in_its_text(content: Content, text: str) -> Content:
    """What stands in a cell now; a number or mark in place of a count that a label states leaves the label."""
    if content is None or stated_count(text) is None:
        return content
    digits = HEADER_COUNT.search(text)
    return (
        with_other_count(text, content if isinstance(content, str) else written_like(digits[1], content))
        if digits
        else content
    )


def _stays(worked_out: float, before: float | None) -> bool:
    """Whether a number worked out of published ones is the one that stands there already."""
    return before is not None and abs(worked_out - before) <= 1e-12 * max(1.0, abs(before))


def _rounds_to(share: float, number: DerivedNumber, cells: SourceCells) -> bool:
    """Whether what stands there is a share to its last digit, and has no more digits."""
    before = cells.number(number.place)
    if before is None or abs(before - round(before, number.decimals)) > 1e-9:
        return False
    return abs(share - before) <= 0.5000001 * 10.0**-number.decimals


def _as_precise(share: float, number: DerivedNumber, cells: SourceCells) -> float:
    """A share with as many decimals as were stored, where they were cut off."""
    before = cells.numbers.get(number.place)
    cut = (
        before is not None and round(before, number.decimals) == before and (number.decimals > 0 or number.scale >= 100)
    )
    return round(share, number.decimals) if cut else share


def _truths(cells: SourceCells, now: Mapping[Place, Content], shown: Collection[Place]) -> frozenset[float]:
    """Numbers of the source that are not published anywhere."""
    kept: set[float] = set()
    gone: set[float] = set()
    for place, number in cells.numbers.items():
        if place in shown:
            kept.add(number)
        elif now.get(place) != number:
            gone.add(number)
    for place, content in now.items():
        text = cells.texts.get(place)
        if text is not None and text != content:
            gone |= numbers_in(text)
    return frozenset(gone - kept - {0})


def numbers_in(text: str) -> set[float]:
    """The numbers in a sentence, however their thousands are parted.

    >>> sorted(numbers_in("of 1,234 persons 12.5 %"))
    [1.234, 12.5, 1234.0]
    """
    parts = {token for whole in _DIGITS.findall(text) for token in (whole, *_BLANKS.split(whole))}
    plain = {token for token in parts if token.isdecimal() and token.isascii()}
    values = {plain_number(token, decimal) for token in parts - plain for decimal in (".", ",")}
    return {value for value in values if value is not None} | {float(token) for token in plain}
