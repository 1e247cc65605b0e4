"""What stands in the cells of a sheet once its table is protected: numbers, marks, shares worked out anew."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.errors import InputError
from discreet.in_place.kept_texts import kept_texts
from discreet.in_place.secret_numbers import secret_numbers
from discreet.release import Protected, Status
from discreet.sheets.rewrite.notices import BESIDE
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_layout import DerivedNumber
from discreet.sheets.sheet_table import SheetTable

SECONDARY_MARK = "*"
RANGE = re.compile(r"(?:<\s*(?P<below>\d+)|(?:≤|<=)\s*(?P<most>\d+)|1\s*[-–]\s*(?P<last>\d+))")


@dataclass(frozen=True, eq=False)
class SheetContents:
    """Per place what stands there now, the places that stay as they are, and the shares to be worked out anew."""

    replacements: Mapping[CellPlace, int | float | str]
    shown: frozenset[CellPlace]
    derived: tuple[DerivedNumber, ...]
    blanked: Mapping[CellPlace, str] = field(default_factory=dict)
    """Cells that are neither labels nor judged numbers, or texts that state what is hidden: blanked, and why."""
    kept: frozenset[CellPlace] = frozenset()
    """Texts that stay because it was said, whatever they tell."""
    labels: frozenset[CellPlace] = frozenset()
    """Of the places that stay, labels and headers."""
    kinds: Mapping[CellPlace, tuple[int, Hashable]] = field(default_factory=dict)
    """Number and kind of the table that a cell is of: cells of a kind should look alike."""
    secrets: frozenset[float] = frozenset()
    """Numbers that no text of the file may state. Confidential."""


@dataclass(frozen=True)
class HiddenMarks:
    """The text that stands in place of a hidden number: of a sensitive cell, and of one hidden for another's sake."""

    primary: str
    secondary: str
    most: int | None = None
    """The greatest count that the mark of sensitive cells says, where it says a range."""

    def of(self, count: float, *, sensitive: bool) -> str:
        """The mark of a hidden count; one that says a range stands only where it holds."""
        holds = self.most is None or 1 <= count <= self.most
        return self.primary if sensitive and holds else self.secondary


def marks_for(mark: str, under: int | None) -> tuple[HiddenMarks, bool]:
    """The marks, and whether that of sensitive cells says a range ("<6"), which must be the one that is hidden."""
    match = RANGE.fullmatch(mark.strip())
    if match is None:
        return HiddenMarks(mark, mark), False
    most = int(match["below"]) - 1 if match["below"] else int(match["most"] or match["last"])
    if under is None or most != under - 1:
        said = "" if under is None else f"; hidden are counts from 1 to {under - 1}: '<{under}'"
        raise InputError(f"the mark {mark!r} says that a hidden count is 1 to {most}, which does not hold{said}")
    return HiddenMarks(mark, SECONDARY_MARK, most), True


def contents_of(
    sheet: SheetTable,
    done: Protected,
    marks: HiddenMarks,
    keep: Sequence[str] = (),
    elsewhere: frozenset[float] = frozenset(),
) -> SheetContents:
    """What stands in each place of the sheet; what nobody judged does not stay, but for texts that ``keep`` names."""
    table = done.table
    layout, names = table.layout, [d.codes for d in table.dimensions]
    values = np.asarray(done.published[table.measure], float)
    whole = table.statistic(table.measure).decimals == 0
    truth, gone = table.value.astype(float), done.hidden
    primary = done.status == Status.PRIMARY.value
    columns = [np.array(codes, object)[layout.codes[:, k]].tolist() for k, codes in enumerate(names)]
    replacements: dict[CellPlace, int | float | str] = {}
    shown: set[CellPlace] = set()
    fixed = set(sheet.fixed)
    for k, codes in enumerate(zip(*columns, strict=True)):
        if codes in fixed and (gone[k] or values[k] != truth[k]):
            place = sheet.places[codes][0]
            raise InputError(
                f"{sheet.name!r}: the number in the header {place.address} may not stay as it is, and a header is not "
                "rewritten; take the number out of the header, or give it a row of its own"
            )
        for place in sheet.places.get(codes, ()):
            if codes in fixed:
                shown.add(place)
            elif gone[k]:
                replacements[place] = marks.of(truth[k], sensitive=bool(primary[k]))
            elif values[k] == truth[k] and _stands_there(sheet, place, values[k]):
                shown.add(place)
            else:
                replacements[place] = int(values[k]) if whole else float(values[k])
    judged = {*shown, *replacements, *(number.place for number in sheet.percentages)}
    secret = secret_numbers(sheet, done)
    texts = kept_texts(sheet, judged, secret, keep, elsewhere)
    return SheetContents(
        replacements,
        frozenset(shown | texts.shown),
        tuple(sheet.percentages),
        texts.blanked,
        texts.kept,
        texts.labels,
        {place: (0, kind) for place, kind in _kinds(sheet, done).items()}
        | {place: (0, "beside") for place, reason in texts.blanked.items() if reason == BESIDE},
        secret.all,
    )


def _kinds(sheet: SheetTable, done: Protected) -> dict[CellPlace, Hashable]:
    """Of every number of a table whether it is an inner cell, a sum or a total in each dimension, or a share."""
    layout = done.table.layout
    rank = [
        np.array([2 if code == d.total else int(code not in d.leaf_position) for code in d.codes])[layout.codes[:, k]]
        for k, d in enumerate(layout.dimensions)
    ]
    names = [np.array(d.codes, object)[layout.codes[:, k]].tolist() for k, d in enumerate(layout.dimensions)]
    kinds: dict[CellPlace, Hashable] = {number.place: "share" for number in sheet.percentages if not number.inside}
    for codes, kind in zip(zip(*names, strict=True), zip(*[own.tolist() for own in rank], strict=True), strict=True):
        kinds.update(dict.fromkeys(sheet.places.get(codes, ()), kind))
    return kinds


def _stands_there(sheet: SheetTable, place: CellPlace, value: float) -> bool:
    """Whether a number of the sheet is the one that was judged; a total that was worked out anew may not be."""
    written = sheet.grid.value(place.row, place.column)
    in_file = sheet.grid.header_rows is None  # in a frame a hidden number is blank
    if in_file and not value and (written is None or (isinstance(written, str) and not re.search(r"\d", written))):
        return True  # a blank cell, a dash or another mark that means zero stays what it is
    if isinstance(written, str):  # digits, however they are parted; a share may stand behind them
        digits = re.sub(r"\D", "", written.partition("(")[0])
        return value % 1 != 0 or digits == str(abs(int(value)))
    return written == value
