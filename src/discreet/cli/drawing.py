"""Tables for a terminal of any width: words may be cut, a number never is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.text import Text

HEAD, LABEL = 12, 8  # characters of a line of a number's head, and of a label that is cut
_FRAME = 3  # a column's blanks and line


@dataclass(frozen=True)
class TextColumn:
    """A head and its cells; the columns with the highest ``spare`` go first when there is no room, 0 never goes."""

    head: str
    cells: Sequence[Any]
    number: bool = True
    spare: int = 0


def text_table(columns: Sequence[TextColumn], title: str, *, last_apart: bool = False) -> int:
    """Print columns, as many as there is room for; returns how many are left out."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    texts = {id(c): [_text(cell) for cell in c.cells] for c in columns}
    kept = list(columns)
    while _total(least := [_width(c, texts[id(c)], cut=True) for c in kept]) > console.width:
        if not (spare := [c for c in kept if c.spare]):
            console = Console(width=_total(least))  # the terminal breaks lines rather than we a number
            break
        kept.remove(max(spare, key=lambda c: c.spare))
    widths = _shared([_width(c, texts[id(c)], cut=False) for c in kept], least, console.width)
    drawing = Table(title=Text(title), header_style="bold", title_justify="left")
    for column, width in zip(kept, widths, strict=True):
        drawing.add_column(
            Text(column.head, overflow="fold" if column.number else "ellipsis", no_wrap=not column.number),
            justify="right" if column.number else "left",
            width=width,
            no_wrap=True,
            overflow="ellipsis",
        )
    lines = list(zip(*(texts[id(c)] for c in kept), strict=True))
    for n, line in enumerate(lines, start=1):
        drawing.add_row(*line, end_section=last_apart and n == len(lines) - 1)
    console.print(drawing)
    return len(columns) - len(kept)


def more(rows: int, columns: int, cure: str) -> None:
    """A line on what is not shown, if anything."""
    gone = [f"{n:,} more {what}{'s' if n > 1 else ''}" for n, what in ((rows, "row"), (columns, "column")) if n]
    if gone:
        click.echo(f"({' and '.join(gone)}: {cure})")


def _text(cell: Any) -> Text:
    from rich.text import Text

    return cell if isinstance(cell, Text) else Text(str(cell))


def _width(column: TextColumn, cells: Sequence[Text], *, cut: bool) -> int:
    """What a column needs: a number all its digits, a label a few letters, or all of them."""
    from rich.cells import cell_len

    inside, head = max((cell.cell_len for cell in cells), default=0), cell_len(column.head)
    if column.number:
        return max(inside, min(head, HEAD), 1)
    return max(min(max(inside, head), LABEL) if cut else max(inside, head), 1)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _FRAME * len(widths) + 1


def _shared(wanted: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """The room that is left goes to the columns that lack some, a character at a time to the narrowest."""
    widths = list(least)
    for _ in range(width - _total(least)):
        short = [k for k in range(len(widths)) if widths[k] < wanted[k]]
        if not short:
            break
        widths[min(short, key=lambda k: widths[k])] += 1
    return widths
