"""The picture of a sheet as it was understood: every cell coloured by what it was taken for. Confidential."""

from __future__ import annotations

import html as markup
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

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
        left.append(f"{len(wide) - len(shown):,} columns")
    return kept, shown, left


def _span(grid: SheetGrid) -> range:
    return range(grid.extent.first_column, grid.extent.last_column + 1)


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

    colour = colours(layout, names)
    kept, shown, left = drawn_rows(grid, layout, rows, columns)
    drawing = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1))
    drawing.add_column("", justify="right", style="dim")
    for column in shown:
        drawing.add_column(column_letters(column), overflow="ellipsis", no_wrap=True, max_width=WIDTH)
    for at, row in enumerate(kept):
        if at and row > kept[at - 1] + 1 and left:
            drawing.add_row("...", *([""] * len(shown)))
        cells = []
        for column in shown:
            place = (row, column)
            role = layout.roles.get(place, ASIDE)
            numeric = role in (NUMBER, TOTAL, MARK, SHARE)
            text = Text(
                grid.text(*place), style=colour.get(place, ROLE_COLOURS[ASIDE]), justify="right" if numeric else "left"
            )
            if role == TOTAL:
                text.stylize("bold")
            if role in (TITLE, NOTE, ASIDE):
                text.stylize("italic")
            cells.append(text)
        drawing.add_row(str(row), *cells)
    key = Text("  ").join(Text(f"\u25a0 {words}", style=shade) for words, shade in legend(layout, names))
    more = [Text(f"not drawn: {', '.join(left)}", style="dim")] if left else []
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
    colour = colours(layout, names)
    kept, shown, left = drawn_rows(grid, layout, rows, columns)
    heads = "".join(f"<th style='color:#999;font-weight:normal'>{column_letters(c)}</th>" for c in shown)
    lines = []
    for row in kept:
        cells = [f"<th style='color:#999;font-weight:normal'>{row}</th>"]
        for column in shown:
            role = layout.roles.get((row, column), ASIDE)
            style = f"color:{colour.get((row, column), ROLE_COLOURS[ASIDE])};white-space:nowrap"
            style += ";text-align:right" if role in (NUMBER, TOTAL, MARK, SHARE) else ";text-align:left"
            style += (
                ";font-weight:bold" if role == TOTAL else ";font-style:italic" if role in (TITLE, NOTE, ASIDE) else ""
            )
            title = layout.dimension_of.get((row, column), role)
            text = markup.escape(grid.text(row, column))
            cells.append(f"<td style='{style}' title={markup.escape(title)!r}>{text}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    key = " ".join(
        f"<span style='color:{shade}'>&#9632; {markup.escape(words)}</span>" for words, shade in legend(layout, names)
    )
    more = f"<p>not drawn: {markup.escape(', '.join(left))}</p>" if left else ""
    said = "".join(f"<li>{markup.escape(sentence)}</li>" for sentence in sentences)
    return f"<table><tr><th></th>{heads}</tr>{''.join(lines)}</table>{more}<p>{key}</p><ul>{said}</ul>"
