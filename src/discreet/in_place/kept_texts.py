"""Texts of a sheet that is written back: which stay, which are blanked, and which are for their owner to change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from discreet.errors import InputError, listed, nearest
from discreet.in_place.secret_numbers import SecretNumbers
from discreet.sheets.counts_in_words import StatedNumber, counts_in, states_another, states_one
from discreet.sheets.rewrite.notices import BESIDE, REPEATED, UNJUDGED
from discreet.sheets.rewrite.number_look import first_number, plain_number
from discreet.sheets.shares_in_words import states_share
from discreet.sheets.sheet_grid import CellPlace, column_number
from discreet.sheets.sheet_layout import ASIDE, HEADER, LABEL, MARK, NAME, NOTE, NUMBERING, SHARE, TITLE
from discreet.sheets.sheet_table import ShareTable, SheetTable
from discreet.sheets.sums.number_groups import covered_by_others, numbers_covered

_ADDRESS = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9]\d*)")
_LETTERS = re.compile(r"[A-Z]{1,3}")
_MEASURED = re.compile(
    r"\d[.,]\d|[%‰/|]|\d\s*(?:-|–|to|of|von|sur|de|in|:)\s*\d|^[~≈<>≤≥+▲▼↑↓±]|\bn\s*=|^(\W)\1+$|^(?:true|false)$",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([T ][\d:.]+Z?)?)?|\d{1,2}([./-])\d{1,2}\3(19|20)\d{2}")
_IN_BRACKETS = re.compile(r"[(\[]\d{1,3}[)\]]")
_NUMBER_AT_END = re.compile(r"(?<=[^\W\d])[ _-]?\d{1,3}\Z")
YEARS = frozenset(range(1800, 2151))


@dataclass(frozen=True)
class KeptTexts:
    """Places of texts that stay, those that are blanked with the reason, and those that stay because it was said."""

    shown: frozenset[CellPlace]
    blanked: Mapping[CellPlace, str] = field(default_factory=dict)
    kept: frozenset[CellPlace] = frozenset()
    labels: frozenset[CellPlace] = frozenset()
    """Of those that stay, labels and headers."""


def kept_texts(
    sheet: SheetTable | ShareTable,
    numbers: Collection[CellPlace],
    secret: SecretNumbers,
    keep: Sequence[str] = (),
    elsewhere: Collection[float] = (),
    sheet_names: Collection[str] = (),
    told: Collection[float] = (),
) -> KeptTexts:
    """What becomes of every cell of the sheet that is none of the ``numbers`` of its table.

    ``keep`` names columns by their header and other cells by their address: their texts stay, whatever they say.
    ``elsewhere`` are secrets of other tables of the file, which a title or note must not state as counts, and ``told``
    numbers that are shown in them: of other counts nobody judges what follows. Where ``sheet_names`` of the file
    differ in a number at their end only ("Area 1", "Area 2"), it is no count.
    """
    judge = _Judge(sheet, secret, _kept_places(sheet, keep), frozenset(elsewhere), frozenset(told))
    shown: set[CellPlace] = set()
    blanked: dict[CellPlace, str] = {}
    name = sheet.grid.sheet
    for row, column in sheet.grid.cells:
        if (name, row, column) in numbers:  # most of all cells
            continue
        place = sheet.grid.place(row, column)
        reason = judge.reason(place)
        if reason is None:
            shown.add(place)
        elif reason:
            blanked[place] = reason
    judge.refuse_labels(sheet_names)
    return KeptTexts(frozenset(shown), blanked, frozenset(shown & judge.keep), frozenset(shown & judge.labels))


def tells_hidden(
    sheet: SheetTable, text: str, secret: SecretNumbers, elsewhere: Collection[float] = (), told: Collection[float] = ()
) -> bool:
    """Whether a text of the file that stands in no cell, as the title of a cube, tells what is not shown."""
    return _Judge(sheet, secret, frozenset(), frozenset(elsewhere), frozenset(told)).tells_more(text)


class _Judge:
    """Says of a cell why it is blanked: None if it stays, "" if that is left to whoever writes the file."""

    def __init__(
        self,
        sheet: SheetTable | ShareTable,
        secret: SecretNumbers,
        keep: frozenset[CellPlace],
        elsewhere: frozenset[float],
        told: frozenset[float],
    ) -> None:
        self._sheet, self._secret, self.keep = sheet, secret, keep
        self._elsewhere, self._told = elsewhere, told | secret.shown
        self.labels: set[CellPlace] = set()
        layout = sheet.layout
        self._roles = layout.roles
        self._headers, self._stub = set(layout.header_rows), set(layout.stub_columns)
        self._body = set(layout.body_rows) | {row for (row, _), role in layout.roles.items() if role == SHARE}
        self._in_row = Counter(row for row, _ in sheet.grid.cells)
        self._telling: list[CellPlace] = []

    def reason(self, place: CellPlace) -> str | None:
        row, column = place.row, place.column
        role = self._roles.get((row, column))
        value = self._sheet.grid.value(row, column)
        words = isinstance(value, str) and first_number(value) is None
        if (place in self.keep and words) or row in self._numbered:
            return None
        if role in (LABEL, HEADER, NAME) or row in self._headers or (row in self._body and column in self._stub):
            self._look_at_label(place)
            self.labels.add(place)
            return None if role in (LABEL, HEADER, NAME) or words else ""
        if role == MARK and words:  # a mark of the caller's, for a number that nobody has
            return None
        if row in self._body:
            return BESIDE if not isinstance(value, (int, float)) or isinstance(value, bool) else UNJUDGED
        text = self._sheet.grid.text(row, column)
        if role in (TITLE, NOTE):
            if not words and not (plain_number(text) in YEARS and plain_number(text) not in self._secret.all):
                return UNJUDGED
            return REPEATED if self.tells_more(text, () if role == TITLE else self._labels) else None
        inside = self._sheet.layout.range.holds(row, column)
        if inside and role == ASIDE and column not in self._stub and not self._is_repeated_header(place):
            return BESIDE
        return REPEATED if words and self.tells_more(text) else ""

    @cached_property
    def _numbered(self) -> frozenset[int]:
        """Rows that number the columns in brackets, which no row of counts is: (1), (2), (3)."""
        grid = self._sheet.grid
        rows = {one.range.first_row for one in self._sheet.left_aside if one.reason == NUMBERING}
        texts = {r: [grid.text(row, column) for row, column in grid.cells if row == r] for r in rows}
        return frozenset(row for row, own in texts.items() if all(_IN_BRACKETS.fullmatch(text) for text in own))

    def _tells(self, text: str) -> bool:
        """Whether a sentence states a number of this table that is not shown, or names a count of another's."""
        return states_one(text, self._secret.all) or any(
            one.named and one.number in self._elsewhere for one in counts_in(text)
        )

    def tells_more(self, text: str, labels: Collection[str] = ()) -> bool:
        """Whether a title or note states such a number, or a share or another count from which one may follow."""
        if not (self._elsewhere or self._secret.all):
            return False
        return self._tells(text) or states_share(text) or states_another(text, self._told, labels)

    @cached_property
    def _labels(self) -> frozenset[str]:
        """Labels of the table that are words, in small letters."""
        names = {d.labels.get(code, code) for d in self._sheet.dimensions for code in d.codes}
        return frozenset(name.casefold() for name in names if sum(sign.isalpha() for sign in name) > 2)

    def _is_repeated_header(self, place: CellPlace) -> bool:
        """Whether a header stands again among the numbers, as on a new page, or a label alone in its row."""
        grid = self._sheet.grid
        text = grid.text(place.row, place.column)
        again = any(grid.text(row, place.column) == text for row in self._headers)
        return again or self._in_row[place.row] == 1

    def _look_at_label(self, place: CellPlace) -> None:
        """Remember a label or header that states a count which is not shown."""
        text = self._sheet.grid.text(place.row, place.column)
        if place in self.keep or plain_number(text) is not None:
            return
        stated = counts_in(text)
        if not stated:
            return
        if place.row in self._headers:
            own = self._secret.of_columns(place.column, self._last_below(place))
        else:
            own = self._secret.of_rows(self._rows_below(place.row))
        if self._is_told(stated, own):
            self._telling.append(place)

    def _is_told(self, stated: Sequence[StatedNumber], own: Collection[float]) -> bool:
        """Whether a label whose cells have the hidden counts ``own`` states one, or a count that is not shown."""
        unknown = {one.number for one in stated if one.named} - self._secret.shown if own else ()
        secret = self._secret.all
        return bool(unknown) or any(
            (one.named and one.number in secret) or (one.apart and one.number in own) for one in stated
        )

    def _rows_below(self, row: int) -> list[int]:
        """The row of a label, or the rows of numbers below the heading of a section, up to the next one."""
        if row in self._body:
            return [row]
        headings = (r for (r, _), role in self._roles.items() if role == LABEL and r > row and r not in self._body)
        following = [r for r in self._body if r > row]
        end = min((r for r in headings if following and r > min(following)), default=None)
        return [r for r in following if end is None or r < end]

    def _last_below(self, place: CellPlace) -> int:
        """The last column that a header stands above: up to the next one in its row."""
        behind = [c for c in self._in_headers.get(place.row, ()) if c > place.column]
        return min(behind, default=self._sheet.layout.range.last_column + 1) - 1

    @cached_property
    def _in_headers(self) -> Mapping[int, list[int]]:
        """The columns of the cells in each header row."""
        columns: dict[int, list[int]] = {}
        for row, column in self._sheet.grid.cells:
            if row in self._headers:
                columns.setdefault(row, []).append(column)
        return columns

    def refuse_labels(self, sheet_names: Collection[str]) -> None:
        """Raise where labels or headers state what is hidden, or a column of labels holds measurements."""
        if columns := self._measured():
            raise InputError(
                f"{self._sheet.name!r}: columns of labels hold what looks measured: {listed(columns)}; move them "
                "behind the numbers, where they are blanked, or say keep_text= (--keep-text HEADER) if they may stay"
            )
        sheet = self._sheet.grid.sheet
        if plain_number(sheet) is None and not _is_numbered(sheet, sheet_names) and self._tells(sheet):
            raise InputError(
                f"{self._sheet.grid.source!r}: the name of a sheet states a number of its table that is hidden; name "
                "the sheet otherwise"
            )
        where = [place.address for place in self._telling] + self._telling_labels() + self._telling_names()
        if where:
            raise InputError(
                f"{self._sheet.name!r}: labels or headers state a hidden count, or a number beside hidden counts that "
                f"is not a total of the sheet ({listed(where, 4)}); take the numbers out of them, give totals a row or "
                "column of their own, or say keep_text= (--keep-text ADDRESS) if they are something else"
            )

    def _telling_labels(self) -> list[str]:
        """Codes whose labels stand in no cell, as those of a cube, and state a count that is not shown."""
        codes = []
        listed_cells = self._sheet.grid.header_rows is not None
        for column, dimension in enumerate(self._sheet.dimensions if listed_cells else (), 1):
            rows: dict[str, list[int]] = {}
            for row in self._body if dimension.labels else ():
                rows.setdefault(self._sheet.grid.text(row, column), []).append(row)
            for code, label in dimension.labels.items():
                stated = counts_in(label) if code in rows else []
                if stated and self._is_told(stated, self._secret.of_rows(rows[code])):
                    codes.append(f"the label of {code}")
        return codes

    def _telling_names(self) -> list[str]:
        """Names of levels that stand in no cell, as those of a frame, and state a count that is not shown."""
        telling = []
        for (kind, number), name in self._sheet.grid.names.items():
            kept = kind == "column" and any(place.column == number for place in self.keep)
            if not kept and (stated := counts_in(name)) and self._is_told(stated, self._secret.hidden):
                telling.append(f"the name of {'a level of the index' if kind == 'column' else 'the columns'}")
        return telling

    def _measured(self) -> list[str]:
        """Columns of labels behind the first whose texts are mostly shares, intervals, bars or comparisons."""
        measured = []
        for column in self._sheet.layout.stub_columns[1:]:
            places = [self._sheet.grid.place(row, column) for row in self._sheet.layout.body_rows]
            texts = [self._sheet.grid.text(p.row, p.column) for p in places if p not in self.keep]
            filled = [text for text in texts if text]
            if _are_classes(filled) or self._is_crossed(column):
                continue
            if filled and 2 * sum(
                _MEASURED.search(text) is not None for text in filled if not _DATE.fullmatch(text)
            ) > len(filled):
                letters = places[0].address.rstrip("0123456789")
                measured.append(next(iter(_names_of_columns(self._sheet).get(column, ())), letters))
        return measured

    def _is_crossed(self, column: int) -> bool:
        """Whether each text of a column stands once with each label of the others: a dimension, nothing measured."""
        grid, layout = self._sheet.grid, self._sheet.layout
        others = [other for other in layout.stub_columns if other != column]
        pairs = [(tuple(grid.text(row, other) for other in others), grid.text(row, column)) for row in layout.body_rows]
        labels, texts = {label for label, _ in pairs}, {text for _, text in pairs}
        return len(labels) > 1 < len(texts) and len(pairs) == len({*pairs}) == len(labels) * len(texts)


def _is_numbered(name: str, others: Collection[str]) -> bool:
    """Whether a name ends with a number, and the number is all in which another differs from it."""
    stem = _NUMBER_AT_END.sub("", name)
    numbered = {_NUMBER_AT_END.sub("", other) for other in others if other != name and _NUMBER_AT_END.search(other)}
    return stem != name and stem in numbered


def _are_classes(texts: Sequence[str]) -> bool:
    """Whether texts are groups of ages or other numbers that do not overlap, and stand more than once, most of them."""
    distinct = {text: span for text in texts if (span := numbers_covered(text)) is not None}
    named = list(distinct)
    sums = {named[k] for k in covered_by_others(named)}  # "16+" of "16-64" and "65+"
    spans = sorted({span for text, span in distinct.items() if text not in sums})
    apart = all(before[1] < after[0] for before, after in pairwise(spans))
    rest = [text for text in texts if text not in distinct]
    measured = any(_MEASURED.search(text) for text in rest)
    return bool(spans) and apart and not measured and 2 * len(spans) <= len(texts)


def _names_of_columns(sheet: SheetTable | ShareTable) -> dict[int, list[str]]:
    """The headers of each column, and for a frame the names of the levels of its index."""
    names: dict[int, list[str]] = {}
    for (kind, column), name in sheet.grid.names.items():
        if kind == "column":
            names.setdefault(column, []).append(name)
    for row, column in sorted(sheet.grid.cells):
        if row in sheet.layout.header_rows:
            names.setdefault(column, []).append(sheet.grid.text(row, column))
    return names


def _kept_places(sheet: SheetTable | ShareTable, keep: Sequence[str]) -> frozenset[CellPlace]:
    """The cells that ``keep`` names on this sheet; none if it names others."""
    places: set[CellPlace] = set()
    named = _names_of_columns(sheet)
    for name in keep:
        columns = {column for column, names in named.items() if name in names}
        if not columns and _LETTERS.fullmatch(name) and column_number(name) in sheet.layout.stub_columns:
            columns = {column_number(name)}  # a column of labels without a header
        places |= {sheet.grid.place(row, c) for row, c in sheet.grid.cells if c in columns}
        if not columns and (match := _ADDRESS.fullmatch(name)):
            places.add(sheet.grid.place(int(match[2]), column_number(match[1])))
    return frozenset(places)


def check_kept(sheets: Sequence[SheetTable | ShareTable], keep: Sequence[str]) -> None:
    """Raise if ``keep`` names something that no sheet has."""
    for name in keep:
        if not any(place[1:] in sheet.grid.cells for sheet in sheets for place in _kept_places(sheet, (name,))):
            headers = [name for sheet in sheets for names in _names_of_columns(sheet).values() for name in names]
            raise InputError(
                f"keep_text= (--keep-text) names {name!r}, neither a header nor the address of a cell with something "
                f"in it; {nearest(name, list(dict.fromkeys(headers)))}"
            )
