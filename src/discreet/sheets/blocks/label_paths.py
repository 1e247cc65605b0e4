"""The labels of every row and column of a body, outermost first: merged and left-out ones are filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from discreet.errors import InputError
from discreet.sheets.blocks.derived_names import derived_kind
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_grid import CellRange, column_letters
from discreet.sheets.stated_counts import without_header_count
from discreet.tables.total_names import like_a_total


@dataclass(frozen=True)
class LabelLevel:
    """One level of labels: a header row, a stub column or the labels of sections, a text for each item."""

    name: str
    texts: tuple[str, ...]
    places: tuple[tuple[int, int] | None, ...]
    """The cell that each text stands in; the same for all items that share it."""
    indents: tuple[int, ...] = ()
    sections: bool = False

    def kept(self, items: Sequence[int]) -> LabelLevel:
        """The level of some items."""
        return LabelLevel(
            self.name,
            tuple(self.texts[k] for k in items),
            tuple(self.places[k] for k in items),
            tuple(self.indents[k] for k in items) if self.indents else (),
            self.sections,
        )


def column_levels(block: SheetBlock) -> list[LabelLevel]:
    """A level for each header row, over the columns of numbers."""
    if not block.headers:
        letters = tuple(column_letters(column) for column in block.values)
        return [LabelLevel("", letters, tuple(None for _ in letters))]
    levels = []
    for depth, row in enumerate(block.headers):
        below = block.headers[depth + 1 :]
        texts, places = _header_row(block, row, below)
        name = block.grid.names.get(("row", row), "")
        texts = [without_header_count(text) for text in texts]
        levels.append(LabelLevel(name, tuple(texts), tuple(places)))
    return [level for level in levels if any(level.texts)]


def _merge_at(block: SheetBlock, row: int, column: int) -> CellRange | None:
    return next((m for m in block.grid.merged if m.holds(row, column)), None)


def _header_row(block: SheetBlock, row: int, below: Sequence[int]) -> tuple[list[str], list[tuple[int, int] | None]]:
    texts: list[str] = []
    places: list[tuple[int, int] | None] = []
    merged = [m for m in block.grid.merged if m.first_row <= row <= m.last_row]
    own = [column for column in block.values if (row, column) in block.cells]
    across = [m for m in merged if m.last_column > m.first_column]
    centred = _centred(block, row, below, own) if below and own and not across else {}
    for column in block.values:
        cell = block.grid.text(row, column)
        merge = next((m for m in merged if m.holds(row, column)), None)
        place: tuple[int, int] | None = (row, column) if cell else None
        if column in centred:
            place = (row, centred[column])
            cell = block.grid.text(*place)
        elif not cell and merge is not None and merge.first_row == row:
            cell, place = block.grid.text(row, merge.first_column), (row, merge.first_column)
        elif not cell and merge is None and texts and texts[-1] and _goes_on(block, column, below, bool(across)):
            cell, place = texts[-1], places[-1]
        texts.append(cell)
        places.append(place)
    return texts, places


def _goes_on(block: SheetBlock, column: int, below: Sequence[int], merges: bool) -> bool:
    """Whether a blank header cell means the label to its left: only above further headers, and where none is merged."""
    return not merges and any(block.grid.text(row, column) for row in below)


def _centred(block: SheetBlock, row: int, below: Sequence[int], own: Sequence[int]) -> dict[int, int]:
    """Labels that stand in the middle of the columns they are for, which repeat the labels below them."""
    if own[0] == block.values[0] or len(own) < 2:
        return {}
    under = [tuple(block.grid.text(r, column) for r in below) for column in block.values]
    size, rest = divmod(len(under), len(own))
    parts = [under[k : k + size] for k in range(0, len(under), size)] if size and not rest else []
    spans = [block.values[k : k + size] for k in range(0, len(under), size)] if parts else []
    fits = bool(parts) and all(part == parts[0] for part in parts)
    if fits and all(one in span for one, span in zip(own, spans, strict=True)):
        return {column: one for one, span in zip(own, spans, strict=True) for column in span}
    first = block.grid.place(row, block.values[0]).address
    raise InputError(
        f"{block.grid.source!r}: the header in row {row} does not say which columns its labels are for ({first} is "
        "blank); merge its cells, or write each label above the first of its columns"
    )


def row_levels(block: SheetBlock) -> list[LabelLevel]:
    """A level for the labels of sections, if there are any, and one for each stub column."""
    levels = _below_all_sections(block, _section_levels(block))
    last = block.stub[-1]
    blank = [[not block.grid.text(row, column) for row in block.body] for column in block.stub]
    for depth, column in enumerate(block.stub):
        if block.finest and column != last:
            continue
        texts: list[str] = []
        places: list[tuple[int, int] | None] = []
        indents = []
        sections = _restarts(block)
        codes = _is_code_column(block, column)
        for k, row in enumerate(block.body):
            text = block.grid.text(row, column)
            place: tuple[int, int] | None = (row, column) if text else None
            merge = _merge_at(block, row, column)
            inner = any(not blank[d][k] for d in range(depth + 1, len(block.stub)))
            if not text and merge is not None and merge.first_column == column and merge.first_row < row:
                text, place = block.grid.text(merge.first_row, column), (merge.first_row, column)
            elif not text and column != last and inner and texts and row not in sections and not codes:
                outer_new = any(not blank[d][k] for d in range(depth))
                if not outer_new:
                    text, place = texts[-1], places[-1]
            texts.append(text)
            places.append(place)
            cell = block.grid.cells.get((row, column))
            indents.append(0 if cell is None else cell.indent)
        level = LabelLevel(_stub_name(block, column), tuple(texts), tuple(places), tuple(indents))
        levels += _by_key(level) if column == last else [level]
    return levels


def _by_key(level: LabelLevel) -> list[LabelLevel]:
    """A level for each part of labels that are keys of several parts, as a header "freq,sex,geo\\TIME_PERIOD" says."""
    head, sign, _ = level.name.partition("\\")
    names = head.split(",")
    keys = [text.split(",") for text in level.texts]
    if not sign or len(names) < 2 or any(len(key) != len(names) for key in keys):
        return [level]
    return [
        replace(level, name=name.strip(), texts=tuple(key[k].strip() for key in keys)) for k, name in enumerate(names)
    ]


def _is_code_column(block: SheetBlock, column: int) -> bool:
    """Whether each row has a label of its own here but for totals: a code or number, not a label for the rows below."""
    filled = [block.grid.text(row, column) for row in block.body]
    rest = [row for row, text in zip(block.body, filled, strict=True) if not text]
    own = [text for text in filled if text]
    totals = all(any(is_total_text(block.grid.text(row, c)) for c in block.stub if c != column) for row in rest)
    return len(set(own)) == len(own) > len(rest) and totals


def _restarts(block: SheetBlock) -> set[int]:
    """Rows that follow a label of a section: nothing is filled in from above it."""
    return {min((row for row in block.body if row > section), default=0) for section in block.sections}


def _stub_name(block: SheetBlock, column: int) -> str:
    """What a stub column is called: by the source, or in the lowest header row that says something above it."""
    if block.row_name and column == block.stub[-1]:
        return block.row_name
    if name := block.grid.names.get(("column", column)):
        return name
    if block.grid.stub_columns is not None:
        return ""
    named = [block.grid.text(row, column) for row in block.headers]
    named = (
        [text for text in named if text]
        or [
            block.grid.text(m.first_row, column)
            for m in block.grid.merged
            if m.holds(block.headers[-1], column) and m.first_column == column
        ]
        if block.headers
        else []
    )
    return named[-1] if named else ""


def _section_levels(block: SheetBlock) -> list[LabelLevel]:
    """The labels that stand alone in rows above others; several in a row are levels."""
    if not block.sections:
        return []
    runs: list[list[int]] = []
    body = sorted(block.body)
    for section in block.sections:
        if runs and not any(runs[-1][-1] < row < section for row in body):
            runs[-1].append(section)
        else:
            runs.append([section])
    runs = [_without_means(block, run) for run in runs]
    depth = max(len(run) for run in runs)
    current: list[int | None] = [None] * depth
    of_row: dict[int, list[int | None]] = {}
    waiting = list(runs)
    for row in body:
        while waiting and waiting[0][-1] < row:
            run = waiting.pop(0)
            current = [*current[: depth - len(run)], *run]
        of_row[row] = list(current)
    levels = []
    first = dict(sorted(block.cells, reverse=True))
    for level in range(depth):
        sections = [of_row[row][level] for row in block.body]
        places = [None if section is None else (section, first[section]) for section in sections]
        texts = ["" if place is None else block.grid.text(*place) for place in places]
        levels.append(LabelLevel("", tuple(texts), tuple(places), sections=True))
    return levels


def _without_means(block: SheetBlock, run: Sequence[int]) -> list[int]:
    """Rows of labels one below the other without those of means, whose numbers were left blank: no section has one."""
    first = dict(sorted(block.cells, reverse=True))
    names = {row: block.grid.text(row, first[row]) for row in run}
    return [row for row in run if row == run[-1] or derived_kind(names[row], []) != "mean"]


def is_total_text(text: str) -> bool:
    """Whether a label has the name of a total, or is one with the name of what it is the total of.

    >>> is_total_text("Total"), is_total_text("North Total"), is_total_text("North")
    (True, True, False)
    """
    return like_a_total(text) > 0 and text.casefold() not in ("t", "both")


def _below_all_sections(block: SheetBlock, levels: list[LabelLevel]) -> list[LabelLevel]:
    """Sections without the last rows of the last one, if those have names of totals that no other section has."""
    if not levels:
        return levels
    labels = [" ".join(block.grid.text(row, column) for column in block.stub).strip() for row in block.body]
    outer = levels[0].texts
    elsewhere = {label for label, section in zip(labels, outer, strict=True) if section != outer[-1]}
    end = len(labels)
    while end and outer[end - 1] == outer[-1] and is_total_text(labels[end - 1]) and labels[end - 1] not in elsewhere:
        end -= 1
    if len({*outer} - {""}) < 2 or end == len(labels):
        return levels
    rest = len(labels) - end
    return [
        replace(
            level,
            texts=(*level.texts[:end], *([""] * rest)),
            places=(*level.places[:end], *([None] * rest)),
        )
        for level in levels
    ]
