"""A file of tables in, the same file out: every table read, protected, audited, and written back in its place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.files import exists, same_file
from discreet.errors import InputError
from discreet.in_place.contents import HiddenMarks, SheetContents, contents_of
from discreet.in_place.kept_texts import check_kept, tells_hidden
from discreet.in_place.protecting import without_absent
from discreet.in_place.protecting_tables import protect_tables
from discreet.in_place.protection_report import CellNumbers, ProtectionReport
from discreet.in_place.secret_numbers import secret_numbers
from discreet.methods.contract import Method
from discreet.release import Protected, Release
from discreet.sheets.counts_in_words import counts_in
from discreet.sheets.excel.excel_images import sheet_images
from discreet.sheets.excel.excel_package import ExcelBook
from discreet.sheets.reading_sheets import read_tables
from discreet.sheets.rewrite.notices import IMAGES, KEPT, NO_BASE, REPEATED, Notices
from discreet.sheets.same_layout import REWRITERS, write_same
from discreet.sheets.sheet_grid import CellPlace, SheetGrid, cell_text
from discreet.sheets.sheet_layout import TITLE, DerivedNumber
from discreet.sheets.sheet_table import SheetTable

LEAST_OF_A_SENTENCE = 5
"""Words from which a text is a sentence."""
SAFE = ".safe"
TWO = (".sdmx.csv", ".notes.csv")
"""Suffixes of two parts."""
TEXT_OPTIONS = ("decimal", "separator", "encoding")


@dataclass(frozen=True, eq=False)
class ProtectedFile:
    """The tables of a file, what is published of each, and what came of it. Confidential."""

    source: Path
    sheets: tuple[SheetTable, ...]
    done: tuple[Protected, ...]
    outcomes: tuple[ProtectionReport, ...]
    text: Mapping[str, str | None] = field(default_factory=dict)
    """Separator, decimal sign and encoding, where they were said."""
    text_sheets: tuple[str, ...] = ()
    """Sheets of notes, of which the texts are kept."""
    keep: tuple[str, ...] = ()
    """Headers of columns and addresses of cells whose texts stay, whatever they say."""
    perhaps_parts: tuple[int, ...] = ()
    """Tables of which the numbers allow that one is a part of the other, though nothing says so."""
    unjudged: tuple[int, ...] = ()
    """Those of them of which it could not be judged, or not protected, what follows if they are."""
    linked: bool = False
    """Whether some tables were judged together."""

    def contents(self, marks: HiddenMarks) -> list[SheetContents]:
        """What stands in the cells of each table and beside it; raises where labels state what is hidden."""
        pairs = list(zip(self.sheets, self.done, strict=True))
        numbers = [secret_numbers(sheet, one) for sheet, one in pairs]
        elsewhere = frozenset().union(*(one.all for one in numbers))
        told = frozenset().union(*(one.shown for one in numbers))
        names = frozenset(sheet.grid.sheet for sheet in self.sheets)
        texts = frozenset(place for sheet in self.sheets for place in sheet.counted)
        names |= {shares.grid.sheet for sheet in self.sheets for shares in sheet.share_tables}
        return [
            contents_of(sheet, one, marks, secret, self.keep, elsewhere, names, told, texts)
            for (sheet, one), secret in zip(pairs, numbers, strict=True)
        ]

    @property
    def cell_numbers(self) -> CellNumbers:
        """Cells of the file by what became of them, each once, however many tables it is part of."""
        there: set[CellPlace] = set()
        hidden: set[CellPlace] = set()
        judged: set[CellPlace] = set()
        for sheet, done in zip(self.sheets, self.done, strict=True):
            changed = np.asarray(done.published[done.table.measure], float) != done.table.value.astype(float)
            places = sheet.places_in(done.table.layout)
            for own, gone, other in zip(places, done.hidden.tolist(), changed.tolist(), strict=True):
                there.update(own)
                hidden.update(own if gone else ())
                judged.update(own if gone or other else ())
        return CellNumbers(len(there), len(hidden), len(judged))

    @property
    def releases(self) -> list[Release]:
        """What may be published, table by table; a title or source that states what is hidden is left out.

        Cells that do not stand in the file, such as numbers that nobody has, are no zeros there.
        """
        several = self.contents(HiddenMarks("c", "c"))
        numbers = [secret_numbers(sheet, one) for sheet, one in zip(self.sheets, self.done, strict=True)]
        elsewhere = frozenset().union(*(one.all for one in numbers))
        told = frozenset().union(*(one.shown for one in numbers))
        releases = []
        for sheet, one, held, own in zip(self.sheets, self.done, several, numbers, strict=True):
            blanked = any(sheet.layout.roles.get(place[1:]) == TITLE for place in held.blanked)
            title, source = (
                "" if tells_hidden(sheet, text, own, elsewhere, told) else text
                for text in ("" if blanked else sheet.layout.title, one.table.source)
            )
            nowhere = np.array([not places for places in sheet.places_in(one.table.layout)], bool)
            releases.append(without_absent(one, nowhere).release(title=title, source=source))
        return releases


def protect_file(
    source: Path,
    chosen: Method,
    *,
    reading: Mapping[str, Any] | None = None,
    understood: Callable[[SheetTable], object] | None = None,
    keep: Sequence[str] = (),
    apart: bool = False,
) -> ProtectedFile:
    """Read every table of a file, protect and audit it; raise unless all are passed.

    Where tables have cells in common with the same numbers, a cell that one of them hides is hidden in all. Tables that
    may be parts of others are protected as such, unless ``apart`` says that they count different people.
    ``understood`` is called with every table before anything is protected.
    """
    tables = with_plain_tables(read_tables(source, **(reading or {})))
    if not tables:
        raise InputError(f"{source.name!r} holds no table")
    for sheet in tables:
        if understood is not None:
            understood(sheet)
    check_kept([*tables, *(shares for sheet in tables for shares in sheet.share_tables)], keep)
    protected = protect_tables(tables, chosen, apart=apart)
    return ProtectedFile(
        source,
        tables,
        protected.done,
        protected.outcomes,
        {name: (reading or {}).get(name) for name in TEXT_OPTIONS},
        _text_sheets(tables, (reading or {}).get("text_sheets", ())),
        tuple(keep),
        protected.perhaps_parts,
        protected.unjudged,
        protected.linked,
    )


def _text_sheets(tables: Sequence[SheetTable], said: Sequence[str]) -> tuple[str, ...]:
    """Sheets whose texts are kept: those that are said, and those of words alone; texts that tell are left out."""
    return tuple(dict.fromkeys((*said, *(g.sheet for table in tables for g in table.unread if _holds_words_alone(g)))))


def _holds_words_alone(grid: SheetGrid) -> bool:
    """Whether a sheet without a table states counts in sentences at most, where they are judged."""
    texts = [cell_text(cell) for cell in grid.cells.values()]
    return all(len(text.split()) >= LEAST_OF_A_SENTENCE or not counts_in(text) for text in texts)


def with_plain_tables(tables: Sequence[SheetTable]) -> tuple[SheetTable, ...]:
    """The tables of a file; of several sheets also without parts that may be chance, as the next sheet may show none.

    What sheets have in common is seen where they are read alike, so that both readings are protected.
    """
    if len({table.grid.sheet for table in tables}) < 2:
        return tuple(tables)
    return tuple(one for table in tables for one in (table, table.plain) if one is not None)


def safe_name(source: Path, *, layout: str) -> Path:
    """Where a protected copy goes unless it is said: ``wards.safe.xlsx`` beside ``wards.xlsx``."""
    own = own_suffix(source)
    suffix = own if layout == "same" else ".csv"
    if layout == "same" and own.lower() in REWRITERS:
        suffix = REWRITERS[own.lower()][1][0]
    return source.with_name(f"{source.name.removesuffix(own)}{SAFE}{suffix}")


def own_suffix(path: Path) -> str:
    """The suffix of a file, both parts of one that has two.

    >>> own_suffix(Path("wards.2024.xlsx")), own_suffix(Path("cube.sdmx.csv"))
    ('.xlsx', '.sdmx.csv')
    """
    return next((path.name[-len(two) :] for two in TWO if path.name.lower().endswith(two)), path.suffix)


def check_target(source: Path, target: Path, *, force: bool) -> None:
    """Raise if a file would be written over: the source never is, another only if that is asked for."""
    if same_file(source, target):
        raise InputError(f"{source.name!r} holds the true numbers; write the protected copy under another name (-o)")
    if exists(target) and not force:
        raise InputError(f"{target.name!r} is there already; give another name (-o), or --force to write over it")


@dataclass(frozen=True)
class WrittenFile:
    """A file that was written: what of its source is not in it, and what stays unjudged because it was said."""

    left_out: tuple[str, ...]
    kept: tuple[str, ...] = ()
    images: int = 0
    """Images that were kept: what they show was not judged, so that the file as a whole is not passed."""


def write_in_place(
    file: ProtectedFile, target: Path, marks: HiddenMarks, note: str, *, keep_images: bool = False
) -> WrittenFile:
    """Write the file again in its own layout; what of it was left out or kept, in sentences.

    ``keep_images``: images of a workbook of Excel stay, which nobody judges.
    """
    book = file.sheets[0].grid.book
    if file.sheets[0].grid.listed:
        raise InputError(
            f"{file.source.name!r} cannot be written back in its own layout, as it is read as a list of its cells; "
            f"write that list: --layout tidy -o {safe_name(file.source, layout='same').name}"
        )
    if keep_images and not isinstance(book, ExcelBook):
        raise InputError(
            f"--keep-images: images are kept in workbooks of Excel (.xlsx), not in {file.source.name!r}: leave it out"
        )
    merged = merged_contents(file.contents(marks))
    replacements: dict[CellPlace, int | float | str | None] = {**dict.fromkeys(merged.blanked), **merged.replacements}
    written = write_same(
        file.source,
        target,
        replacements,
        shown=merged.shown,
        derived=merged.derived,
        kept=merged.kept,
        secrets=merged.secrets,
        kinds=merged.kinds,
        note=note,
        mark=marks.secondary,
        text_sheets=file.text_sheets,
        decimal=file.text.get("decimal"),
        separator=file.text.get("separator"),
        encoding=file.text.get("encoding"),
        book=book,
        keep_images=keep_images,
        stood=_stood(file, {*replacements, *merged.shown, *(number.place for number in merged.derived)}),
    )
    blanked, stays = Notices(), Notices()
    for place, reason in sorted(merged.blanked.items()):
        blanked.at(reason, place)
    for place in dict.fromkeys(number.place for number in merged.derived if number.numerator is None):
        blanked.at(NO_BASE, place)
    for place in sorted(merged.kept):
        stays.at(KEPT, place)
    images = 0
    if keep_images and isinstance(book, ExcelBook):
        names = {sheet.grid.sheet for sheet in file.sheets} | {*file.text_sheets}
        for listed_sheet in book.sheets:
            for image in sheet_images(book, listed_sheet.place).images if listed_sheet.name in names else ():
                stays.at(IMAGES, CellPlace(listed_sheet.name, *image.cell))
                images += 1
    return WrittenFile((*written.left_out, *blanked.sentences()), stays.sentences(), images)


def _stood(file: ProtectedFile, places: Collection[CellPlace]) -> dict[CellPlace, object]:
    """What was read of these places. Confidential."""
    grids = {sheet.grid.sheet: sheet.grid for sheet in file.sheets}
    read = {place: grids[place.sheet].value(place.row, place.column) for place in places if place.sheet in grids}
    return {place: value for place, value in read.items() if value is not None}


def merged_contents(several: Sequence[SheetContents]) -> SheetContents:
    """The contents of all tables; a place that one of them changes does not stay for another."""
    replacements = {place: value for one in several for place, value in one.replacements.items()}
    derived = _derived_once(several)
    places = {number.place for number in derived if not number.inside}
    kept = frozenset(place for one in several for place in one.kept)
    labels = frozenset(place for one in several for place in one.labels)
    # what one table hides no title or note of another may tell
    telling = {place for one in several for place, reason in one.blanked.items() if reason == REPEATED} - labels
    taken = frozenset().union(*(one.shown for one in several)) - telling
    shown = taken.difference(replacements, places)
    judged = {*replacements, *places, *shown, *(number.place for number in derived)}
    blanked = {place: reason for one in several for place, reason in one.blanked.items() if place not in judged}
    secrets = frozenset(number for one in several for number in one.secrets)
    kinds = {place: (2 * k + own, kind) for k, one in enumerate(several) for place, (own, kind) in one.kinds.items()}
    return SheetContents(replacements, shown, derived, blanked, kept - blanked.keys(), labels, kinds, secrets)


def _derived_once(several: Sequence[SheetContents]) -> tuple[DerivedNumber, ...]:
    """Derived numbers of all tables; one that a table confirms is worked out there, whatever others make of it."""
    numbers = [number for one in several for number in one.derived]
    confirmed = {(number.place, number.inside) for number in numbers if number.numerator is not None}
    return tuple(
        number for number in numbers if number.numerator is not None or (number.place, number.inside) not in confirmed
    )
