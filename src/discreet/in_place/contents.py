"""What stands in the cells of a sheet once its table is protected: numbers, marks, shares worked out anew."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.in_place.kept_texts import kept_texts
from discreet.in_place.secret_numbers import SecretNumbers
from discreet.release import Protected, Status
from discreet.sheets.quotient_cells import other_quotient
from discreet.sheets.rewrite.notices import BESIDE
from discreet.sheets.rewrite.number_look import without_share
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_layout import LABEL, DerivedNumber, known_sums
from discreet.sheets.sheet_table import SheetTable
from discreet.sheets.stated_counts import stated_count

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


def says_range(mark: str) -> bool:
    """Whether a mark says between which numbers a hidden count is.

    >>> says_range("<6"), says_range("1-5"), says_range("*")
    (True, True, False)
    """
    return RANGE.fullmatch(mark.strip()) is not None


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
    secret: SecretNumbers,
    keep: Sequence[str] = (),
    elsewhere: frozenset[float] = frozenset(),
    sheet_names: frozenset[str] = frozenset(),
    told: frozenset[float] = frozenset(),
    others: frozenset[CellPlace] = frozenset(),
) -> SheetContents:
    """What stands in each place of the sheet; what nobody judged does not stay, but for texts that ``keep`` names.

    ``others``: texts that hold numbers of other tables of the sheet, which are judged there.
    """
    replacements, shown = _numbers_now(sheet, done, marks)
    running = known_sums(sheet.running, shown)
    replacements |= {place: marks.secondary for place, known in running.items() if not known}
    shown |= {place for place, known in running.items() if known}
    judged = {*shown, *replacements, *(number.place for number in sheet.percentages), *others}
    texts = kept_texts(sheet, judged, secret, keep, elsewhere, sheet_names, told)
    beside = [place for place, reason in texts.blanked.items() if reason == BESIDE]
    own = SheetContents(
        replacements,
        frozenset(shown | texts.shown),
        tuple(sheet.percentages),
        texts.blanked,
        texts.kept,
        texts.labels,
        {**_kinds(sheet, done), **dict.fromkeys(beside, (0, "beside"))},
        secret.all,
    )
    for shares in sheet.share_tables:
        own_texts = kept_texts(
            shares, {number.place for number in shares.percentages}, secret.alone, keep, elsewhere, sheet_names, told
        )
        there = shares.layout.range  # on one sheet each table says what becomes of its own cells
        held = {place for place in own.blanked if place.sheet == shares.grid.sheet and there.holds(*place[1:])}
        elsewhere_blanked = own.blanked.keys() - held
        own = SheetContents(
            own.replacements,
            own.shown | (own_texts.shown - elsewhere_blanked),
            (*own.derived, *shares.percentages),
            {
                **{place: reason for place, reason in own.blanked.items() if place not in held},
                **{place: reason for place, reason in own_texts.blanked.items() if place not in own.shown},
            },
            own.kept | own_texts.kept,
            own.labels | own_texts.labels,
            {**own.kinds, **dict.fromkeys((number.place for number in shares.percentages), (0, "share"))},
            own.secrets,
        )
    return own


def _numbers_now(
    sheet: SheetTable, done: Protected, marks: HiddenMarks
) -> tuple[dict[CellPlace, int | float | str], set[CellPlace]]:
    """Marks and other numbers in place of those of the table, and the places whose numbers stay."""
    table = done.table
    whole = table.statistic(table.measure).decimals == 0
    values = np.asarray(done.published[table.measure], float).tolist()
    truth = table.value.astype(float).tolist()
    primary = (done.status == Status.PRIMARY.value).tolist()
    replacements: dict[CellPlace, int | float | str] = {}
    shown: set[CellPlace] = set()
    in_frame = sheet.grid.header_rows is not None
    headers = {*sheet.layout.header_rows} if in_frame else set()
    stub = {*sheet.layout.stub_columns} if in_frame else set()
    cells = zip(sheet.places_in(table.layout), values, truth, done.hidden.tolist(), primary, strict=True)
    for places, value, true, gone, sensitive in cells:
        stays = not gone and value == true
        for place in places:
            if not stays and (place.row in headers or place.column in stub):
                raise InputError(
                    f"{sheet.name!r}: the number in the header or label {place.address} may not stay as it is, and "
                    "those of a frame are not rewritten; take the number out of it, or give it a line of its own"
                )
            if place in sheet.counted or place in sheet.within:
                continue
            if gone:
                replacements[place] = marks.of(true, sensitive=sensitive)
            elif stays and _stands_there(sheet, place, value):
                shown.add(place)
            else:
                replacements[place] = int(value) if whole else float(value)
    _put_shares(sheet, done, marks, replacements, shown)
    return replacements, shown


def _put_shares(
    sheet: SheetTable,
    done: Protected,
    marks: HiddenMarks,
    replacements: dict[CellPlace, int | float | str],
    shown: set[CellPlace],
) -> None:
    """What stands in cells that say their count as a share: it stays where count and base do."""
    if not sheet.counted:
        return
    table = done.table
    cell_at = {place: k for k, places in enumerate(sheet.places_in(table.layout)) for place in places}
    published, true = np.asarray(done.published[table.measure], float), table.value.astype(float)
    for place, share in sheet.counted.items():
        cell, base = cell_at[place], cell_at[share.base]
        same = published[cell] == true[cell] and published[base] == true[base]
        if done.hidden[cell] or done.hidden[base]:
            sensitive = bool(done.hidden[cell] and done.status[cell] == Status.PRIMARY.value)
            replacements[place] = marks.of(float(true[cell]), sensitive=sensitive)
        elif same:
            shown.add(place)
        elif share.with_count:
            text = sheet.grid.text(place.row, place.column)
            replacements[place] = other_quotient(text, int(published[cell]), int(published[base]))
        elif not published[base]:
            replacements[place] = marks.secondary
        else:
            replacements[place] = round(share.scale * float(published[cell] / published[base]), share.decimals)


def _kinds(sheet: SheetTable, done: Protected) -> dict[CellPlace, tuple[int, Hashable]]:
    """Of every number of a table whether it is an inner cell, a sum or a total in each dimension, or a share."""
    layout = done.table.layout
    rank = [
        np.array([2 if code == d.total else int(code not in d.leaf_position) for code in d.codes])[layout.codes[:, k]]
        for k, d in enumerate(layout.dimensions)
    ]
    kinds: dict[CellPlace, tuple[int, Hashable]] = {
        number.place: (0, "share") for number in sheet.percentages if not number.inside
    }
    in_table = zip(sheet.places_in(layout), zip(*[own.tolist() for own in rank], strict=True), strict=True)
    kinds |= {place: (0, kind) for places, kind in in_table for place in places}
    return kinds | _label_kinds(sheet, done)


def _label_kinds(sheet: SheetTable, done: Protected) -> dict[CellPlace, tuple[int, Hashable]]:
    """Of every label beside numbers its column and the level of its row: those of a kind look alike, apart from others.

    Numbers and labels are looked at apart (0 and 1), so that bold labels leave the numbers as they are.
    """
    layout = done.table.layout
    level = np.zeros(len(layout), np.int64)
    for k, d in enumerate(layout.dimensions):
        depth = _depths(d)
        level = level * 100 + np.array([depth[code] for code in d.codes])[layout.codes[:, k]]
    first: dict[int, tuple[int, int]] = {}
    for places, own in zip(sheet.places_in(layout), level.tolist(), strict=True):
        for place in places:
            first[place.row] = min(first.get(place.row, (place.column, own)), (place.column, own))
    stub = {*sheet.layout.stub_columns}
    return {
        sheet.grid.place(row, column): (1, (LABEL, column, *first[row]))
        for (row, column), role in sheet.layout.roles.items()
        if role == LABEL and column in stub and row in first
    }


def _depths(dimension: Dimension) -> dict[str, int]:
    """How many sums each code is in, one above the other, and whether it is one itself."""
    above = {part: group.code for group in dimension.groups if not group.signed for part, _ in group.parts}
    depths = {}
    for code in dimension.codes:
        depth, now = 0, code
        while now in above and depth < len(above):
            now = above[now]
            depth += 1
        depths[code] = 3 * min(depth, 30) + (2 if code == dimension.total else int(code not in dimension.leaf_position))
    return depths


def _stands_there(sheet: SheetTable, place: CellPlace, value: float) -> bool:
    """Whether a number of the sheet is the one that was judged; a total that was worked out anew may not be."""
    written = sheet.grid.value(place.row, place.column)
    if type(written) is int:  # most of all cells
        return written == value
    in_file = sheet.grid.header_rows is None  # in a frame a hidden number is blank
    if in_file and not value and (written is None or (isinstance(written, str) and not re.search(r"\d", written))):
        return True  # a blank cell, a dash or another mark that means zero stays what it is
    if isinstance(written, str) and stated_count(written) is not None:
        return stated_count(written) == value
    if isinstance(written, str):  # digits, however they are parted; a share may stand with them
        digits = re.sub(r"\D", "", without_share(written) or written)  # "(46)" is no share
        return value % 1 != 0 or digits == str(abs(int(value)))
    return written == value
