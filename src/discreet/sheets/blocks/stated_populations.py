"""Counts that headers and labels state, "Treated (N = 40)": a row or column of totals that stands in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.base.annotations import Array
from discreet.sheets.blocks.body_numbers import BodyNumbers, BodyParts
from discreet.sheets.blocks.label_paths import LabelLevel, is_total_text
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.stated_counts import stated_count, states_mark, without_header_count
from discreet.tables.totals import TOTAL


@dataclass(frozen=True, eq=False)
class Body:
    """The body of a table with the levels of its labels."""

    parts: BodyParts
    numbers: BodyNumbers
    down: tuple[LabelLevel, ...]
    across: tuple[LabelLevel, ...]


def header_counts(block: SheetBlock, columns: Sequence[int]) -> dict[int, tuple[float, int]]:
    """The population that the header of every column states, as in "Treated (N = 40)", and the row it stands in.

    It is infinite where a mark stands in its place.
    """
    counts: dict[int, tuple[float, int]] = {}
    if block.populations and all(column in block.populations for column in columns):
        return {column: (float(block.populations[column]), block.headers[-1]) for column in columns}
    for column in columns:
        for row in block.headers:
            number = _stated(block.grid.text(row, column))
            if number is not None:
                counts[column] = (number, row)
    rows = {row for _, row in counts.values()}
    return counts if len(counts) == len(columns) and len(rows) == 1 and _some_shown(counts) else {}


def _stated(text: str) -> float | None:
    return np.inf if states_mark(text) else stated_count(text)


def _some_shown(counts: Mapping[int, tuple[float, int]]) -> bool:
    return any(np.isfinite(number) for number, _ in counts.values())


def label_counts(block: SheetBlock, rows: Sequence[int]) -> dict[int, tuple[float, int]]:
    """The count that the label of every row states, but for totals, and the column it stands in."""
    for column in block.stub:
        texts = {row: block.grid.text(row, column) for row in rows}
        counts = {row: (number, column) for row, text in texts.items() if (number := _stated(text)) is not None}
        rest = [text for row, text in texts.items() if row not in counts]
        if _some_shown(counts) and all(is_total_text(text) for text in rest):
            return counts
    return {}


def with_stated_counts(block: SheetBlock, body: Body) -> Body:
    """The body with a row for what headers state and a column for what labels state, where the others add up to it.

    Where a row or column holds the same numbers already, the headers or labels are a second place of each.
    """
    parts, numbers, down, across = body.parts, body.numbers, body.down, body.across
    if counts := header_counts(block, parts.columns):
        stated = np.array([counts[column][0] for column in parts.columns])
        plain = plain_rows(block, body)
        twin = _twin(numbers.values, stated) if not block.populations else None  # 45/45 is a part like any other
        if twin is not None or _adds_up(numbers, plain, stated):
            row = next(iter(counts.values()))[1]
            parts = replace(
                parts, rows=(*parts.rows, row), stated_rows={row: None if twin is None else parts.rows[twin]}
            )
            numbers = _with_line(numbers, stated)
    if counts := label_counts(block, body.parts.rows):
        column = next(iter(counts.values()))[1]
        down = _without_counts(block, down, column)
        place = {c: k for k, c in enumerate(block.values)}
        plain = [k for k, c in enumerate(body.parts.columns) if not is_total_text(across[-1].texts[place[c]])]
        own = np.array([counts[row][0] if row in counts else np.nan for row in parts.rows])
        turned = _turned(numbers)
        twin = _twin(turned.values, own)
        if twin is not None or _adds_up(turned, plain, own):
            parts = replace(
                parts,
                columns=(*parts.columns, column),
                stated_columns={column: None if twin is None else body.parts.columns[twin]},
            )
            numbers = _turned(_with_line(turned, own))
    return Body(parts, numbers, down, across)


def plain_rows(block: SheetBlock, body: Body) -> list[int]:
    """Positions of the rows that are not called totals."""
    inner = body.down[-1].texts
    place = {row: k for k, row in enumerate(block.body)}
    return [k for k, row in enumerate(body.parts.rows) if not is_total_text(inner[place[row]])]


def _twin(values: Array, stated: Array) -> int | None:
    """The line that holds the stated numbers as far as these are given; None if none does."""
    known = np.isfinite(stated)
    same = (np.nan_to_num(values, nan=-1)[:, known] == stated[known]).all(axis=1)
    return int(np.flatnonzero(same)[0]) if same.any() else None


def _adds_up(numbers: BodyNumbers, plain: Sequence[int], stated: Array) -> bool:
    """Whether lines add up to the stated numbers as far as is shown; a single line may fall short."""
    sums = np.where(numbers.hidden, np.nan, numbers.values)[list(plain)].sum(axis=0)
    open_ = np.isnan(sums) | ~np.isfinite(stated)
    if len(plain) == 1:
        return bool((open_ | (sums <= stated)).all())
    return len(plain) > 1 and bool((open_ | (sums == stated)).all())


def _with_line(numbers: BodyNumbers, stated: Array) -> BodyNumbers:
    """Numbers with a last line; where nothing is stated there is no cell, where it is infinite one that is hidden."""

    def longer(array: Array, row: Array | float | bool) -> Array:
        return np.vstack([array, np.broadcast_to(row, array.shape[1])])

    return BodyNumbers(
        longer(numbers.values, np.where(np.isinf(stated), np.nan, np.nan_to_num(stated))),
        numbers.decimals,
        longer(numbers.hidden, np.isinf(stated)),
        longer(numbers.unclear, False),
        longer(numbers.absent, np.isnan(stated)),
        longer(numbers.least, -np.inf),
        longer(numbers.most, np.inf),
    )


def _turned(numbers: BodyNumbers) -> BodyNumbers:
    """Numbers with rows and columns exchanged."""
    return BodyNumbers(
        numbers.values.T,
        numbers.decimals,
        numbers.hidden.T,
        numbers.unclear.T,
        numbers.absent.T,
        numbers.least.T,
        numbers.most.T,
    )


def _without_counts(block: SheetBlock, down: Sequence[LabelLevel], column: int) -> tuple[LabelLevel, ...]:
    """Levels of rows, that of a column without the counts which its labels state."""
    own = len(down) - len(block.stub) + block.stub.index(column)
    return tuple(
        replace(level, texts=tuple(map(without_header_count, level.texts))) if depth == own else level
        for depth, level in enumerate(down)
    )


def counted_rows(block: SheetBlock, parts: BodyParts, down: Sequence[LabelLevel]) -> list[LabelLevel]:
    """The levels of the rows that hold counts."""
    return _counted(block.body, parts.rows, parts.stated_rows, down)


def counted_columns(block: SheetBlock, parts: BodyParts, across: Sequence[LabelLevel]) -> list[LabelLevel]:
    """The levels of the columns that hold counts."""
    return _counted(block.values, parts.columns, parts.stated_columns, across)


def _counted(
    known: Sequence[int], kept: Sequence[int], stated: Mapping[int, int | None], levels: Sequence[LabelLevel]
) -> list[LabelLevel]:
    place = {line: k for k, line in enumerate(known)}
    items = [place[line] for line in kept if line not in stated]
    counted = [level.kept(items) if len(items) < len(known) else level for level in levels]
    for twin in stated.values():
        counted = [
            _with_item(level, "" if twin is None else levels[depth].texts[place[twin]], twin, depth == len(levels) - 1)
            for depth, level in enumerate(counted)
        ]
    return counted


def _with_item(level: LabelLevel, text: str, twin: int | None, last: bool) -> LabelLevel:
    """A level with one more item, which has the label of another one or is the total."""
    if twin is None:
        same = len({*level.texts}) == 1 and not last
        text = TOTAL if last else level.texts[0] if same else ""
    return replace(
        level,
        texts=(*level.texts, text),
        places=(*level.places, None),
        indents=(*level.indents, 0) if level.indents else (),
    )
