"""The picture of a sheet as it was understood: every cell coloured by what it was taken for. Confidential."""

from __future__ import annotations

import html as markup
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from discreet.errors import many
from discreet.sheets.sheet_grid import SheetGrid, column_letters
from discreet.sheets.sheet_layout import (
    ASIDE,
    HEADER,
    LABEL,
    MARK,
    NAME,
    NOTE,
    NUMBER,
    SHARE,
    TITLE,
    TOTAL,
    SheetLayout,
)

if TYPE_CHECKING:
    from rich.console import Group

ROWS, COLUMNS, WIDTH = 30, 14, 28
DIMENSION_COLOURS = ("#1f5fbf", "#8a4fbf", "#0f7f7f", "#b0602b", "#5f7f1f", "#bf3f7f")
ROLE_COLOURS: Mapping[str, str] = {
    TITLE: "#777777",
    NAME: "#444444",
    NUMBER: "#111111",
    TOTAL: "#147a2c",
    MARK: "#c01c28",
    SHARE: "#a0640a",
    NOTE: "#777777",
    ASIDE: "#999999",
}
MEANINGS: Mapping[str, str] = {
    NUMBER: "numbers",
    TOTAL: "sums",
    MARK: "hidden",
    SHARE: "percentages and means",
    ASIDE: "left aside",
}


def colours(layout: SheetLayout, names: Sequence[str]) -> dict[tuple[int, int], str]:
    """The colour of every cell: labels and headers by their dimension, the rest by what they are."""
    own = dict(zip(names, (DIMENSION_COLOURS[k % len(DIMENSION_COLOURS)] for k in range(len(names))), strict=True))
    return {
        place: own.get(layout.dimension_of.get(place, ""), ROLE_COLOURS[NAME])
        if role in (HEADER, LABEL)
        else ROLE_COLOURS[role]
        for place, role in layout.roles.items()
    }


def legend(layout: SheetLayout, names: Sequence[str]) -> list[tuple[str, str]]:
    """What the colours mean, with each colour."""
    used = set(layout.roles.values())
    entries = [(name, DIMENSION_COLOURS[k % len(DIMENSION_COLOURS)]) for k, name in enumerate(names)]
    return entries + [(words, ROLE_COLOURS[role]) for role, words in MEANINGS.items() if role in used]


def drawn_rows(grid: SheetGrid, layout: SheetLayout, rows: int, columns: int) -> tuple[list[int], list[int], list[str]]:
    """The rows and columns that are drawn, the first and the last of the sheet, and what is left out, in words."""
    box = grid.extent
    table = layout.range
    within = [row for row in range(box.first_row, box.last_row + 1) if any((row, c) in grid.cells for c in _span(grid))]
    first = [row for row in within if row <= table.last_row]
    if len(within) > rows:
        tail = max(rows // 4, 1)
        kept = [*within[: rows - tail], *within[-tail:]]
    else:
        kept = within
    wide = list(range(box.first_column, box.last_column + 1))
    shown = wide if len(wide) <= columns else [*wide[: columns - 2], *wide[-2:]]
    left = []
    if len(within) > len(kept):
        left.append(f"{len(within) - len(kept):,} of {len(first):,} rows of the table")
    if len(wide) > len(shown):
        left.append(many(len(wide) - len(shown), "column"))
    return kept, shown, left


def _span(grid: SheetGrid) -> range:
    return range(grid.extent.first_column, grid.extent.last_column + 1)


class DrawnCell(NamedTuple):
    """A cell of the picture: what stands in it and how."""

    text: str
    colour: str
    right: bool
    bold: bool
    italic: bool
    meaning: str
    """The dimension it belongs to, else what it is."""


@dataclass(frozen=True, eq=False)
class DrawnSheet:
    """The picture as lines of cells, for a terminal and for a page alike."""

    columns: tuple[str, ...]
    lines: tuple[tuple[int, tuple[DrawnCell, ...]], ...]
    """Each with the number of its row."""
    left: tuple[str, ...]
    """What is not drawn, in words."""


def drawn_sheet(grid: SheetGrid, layout: SheetLayout, names: Sequence[str], rows: int, columns: int) -> DrawnSheet:
    """The cells that are drawn, each with its colour."""
    colour = colours(layout, names)
    kept, shown, left = drawn_rows(grid, layout, rows, columns)

    def cell(place: tuple[int, int]) -> DrawnCell:
        role = layout.roles.get(place, ASIDE)
        return DrawnCell(
            grid.text(*place),
            colour.get(place, ROLE_COLOURS[ASIDE]),
            role in (NUMBER, TOTAL, MARK, SHARE),
            role == TOTAL,
            role in (TITLE, NOTE, ASIDE),
            layout.dimension_of.get(place, role),
        )

    lines = tuple((row, tuple(cell((row, column)) for column in shown)) for row in kept)
    return DrawnSheet(tuple(column_letters(column) for column in shown), lines, tuple(left))


def sheet_text(
    grid: SheetGrid,
    layout: SheetLayout,
    names: Sequence[str],
    sentences: Sequence[str],
    *,
    rows: int = ROWS,
    columns: int = COLUMNS,
) -> Group:
    """The picture for a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    drawn = drawn_sheet(grid, layout, names, rows, columns)
    drawing = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1))
    drawing.add_column("", justify="right", style="dim")
    for letters in drawn.columns:
        drawing.add_column(letters, overflow="ellipsis", no_wrap=True, max_width=WIDTH)
    before = 0
    for row, cells in drawn.lines:
        if before and row > before + 1 and drawn.left:
            drawing.add_row("...", *([""] * len(cells)))
        before = row
        texts = []
        for cell in cells:
            text = Text(cell.text, style=cell.colour, justify="right" if cell.right else "left")
            if cell.bold:
                text.stylize("bold")
            if cell.italic:
                text.stylize("italic")
            texts.append(text)
        drawing.add_row(str(row), *texts)
    key = Text("  ").join(Text(f"\u25a0 {words}", style=shade) for words, shade in legend(layout, names))
    more = [Text(f"not drawn: {', '.join(drawn.left)}", style="dim")] if drawn.left else []
    return Group(drawing, *more, key, *(Text(f"- {sentence}") for sentence in sentences))


def sheet_html(
    grid: SheetGrid,
    layout: SheetLayout,
    names: Sequence[str],
    sentences: Sequence[str],
    *,
    rows: int = ROWS,
    columns: int = COLUMNS,
) -> str:
    """The picture for a notebook."""
    drawn = drawn_sheet(grid, layout, names, rows, columns)
    heads = "".join(f"<th style='color:#999;font-weight:normal'>{letters}</th>" for letters in drawn.columns)
    lines = []
    for row, cells in drawn.lines:
        inside = "".join(_html_cell(cell) for cell in cells)
        lines.append(f"<tr><th style='color:#999;font-weight:normal'>{row}</th>{inside}</tr>")
    key = " ".join(
        f"<span style='color:{shade}'>&#9632; {markup.escape(words)}</span>" for words, shade in legend(layout, names)
    )
    more = f"<p>not drawn: {markup.escape(', '.join(drawn.left))}</p>" if drawn.left else ""
    said = "".join(f"<li>{markup.escape(sentence)}</li>" for sentence in sentences)
    return f"<table><tr><th></th>{heads}</tr>{''.join(lines)}</table>{more}<p>{key}</p><ul>{said}</ul>"


def _html_cell(cell: DrawnCell) -> str:
    style = f"color:{cell.colour};white-space:nowrap;text-align:{'right' if cell.right else 'left'}"
    style += ";font-weight:bold" if cell.bold else ";font-style:italic" if cell.italic else ""
    return f"<td style='{style}' title={markup.escape(cell.meaning)!r}>{markup.escape(cell.text)}</td>"
