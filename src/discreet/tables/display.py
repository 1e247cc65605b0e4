"""Cells laid out for reading: the last dimension across, the others down. Text and HTML."""

from __future__ import annotations

import html as markup
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension

HIDDEN = "×"  # a cell that is not shown
ABSENT = ""  # a combination that is not part of the table


@dataclass(frozen=True)
class Grid:
    """Text ready to print: ``heads`` above the columns, ``stubs`` before the rows, ``body``, and what was cut."""

    corner: tuple[str, ...]
    heads: tuple[str, ...]
    stubs: tuple[tuple[str, ...], ...]
    body: tuple[tuple[str, ...], ...]
    note: str


def arranged(
    dimensions: Sequence[Dimension],
    codes: Array,
    values: Array,
    *,
    rows: int = 24,
    columns: int = 12,
    labels: bool = False,
) -> Grid:
    """The first ``rows`` x ``columns`` of a table, totals last as readers of tables expect."""
    across, down = dimensions[-1], dimensions[:-1]
    column_codes = [c for c in _totals_last(across) if c in set(np.unique(codes[:, -1]).tolist())]
    stubs, stub_codes = _stubs(down, codes[:, :-1])
    size = len(across.codes)
    flat = stubs[1] * size + codes[:, -1]
    order = np.argsort(flat, kind="stable")
    shown_rows, shown_columns = stub_codes[:rows], column_codes[:columns]

    def name(dimension: Dimension, code: int) -> str:
        return dimension.label(dimension.codes[code]) if labels else dimension.codes[code]

    def cell(row: int, column: int) -> str:
        at = np.searchsorted(flat, row * size + column, sorter=order)
        present = at < len(order) and flat[order[at]] == row * size + column
        return _text(values[order[at]]) if present else ABSENT

    cut = []
    if len(stub_codes) > rows:
        cut.append(f"{len(stub_codes) - rows:,} more rows")
    if len(column_codes) > columns:
        cut.append(f"{len(column_codes) - columns:,} more columns")
    return Grid(
        corner=tuple(d.name for d in down) or ("",),
        heads=tuple(name(across, c) for c in shown_columns),
        stubs=tuple(tuple(name(d, c) for d, c in zip(down, row, strict=True)) or (across.name,) for row in shown_rows),
        body=tuple(tuple(cell(int(row), c) for c in shown_columns) for row in stubs[0][:rows]),
        note=f"({' and '.join(cut)} not shown)" if cut else "",
    )


def text(dimensions: Sequence[Dimension], codes: Array, values: Array, **size: Any) -> str:
    """A plain text table.

    >>> d = Dimension.flat("sex", ["f", "m"])
    >>> print(text([d], np.array([[0], [1], [2]]), np.array([3, 2, 1])))
         f  m  Total
    sex  2  1      3
    """
    g = arranged(dimensions, codes, values, **size)
    lines = [[*g.corner, *g.heads], *([*s, *b] for s, b in zip(g.stubs, g.body, strict=True))]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    stub = len(g.corner)
    out = [
        "  ".join(c.ljust(w) if k < stub else c.rjust(w) for k, (c, w) in enumerate(zip(line, widths, strict=True)))
        for line in lines
    ]
    return "\n".join([line.rstrip() for line in out] + ([g.note] if g.note else []))


def html(dimensions: Sequence[Dimension], codes: Array, values: Array, *, caption: str = "", **size: Any) -> str:
    """An HTML table with header cells that screen readers understand; every text is escaped."""
    g = arranged(dimensions, codes, values, labels=True, **size)
    e = markup.escape
    head = "".join(f'<th scope="col">{e(h)}</th>' for h in (*g.corner, *g.heads))
    body = "".join(
        "<tr>"
        + "".join(f'<th scope="row">{e(s)}</th>' for s in stub)
        + "".join(f'<td style="text-align:right">{e(v)}</td>' for v in line)
        + "</tr>"
        for stub, line in zip(g.stubs, g.body, strict=True)
    )
    note = f'<tfoot><tr><td colspan="{len(g.corner) + len(g.heads)}">{e(g.note)}</td></tr></tfoot>' if g.note else ""
    title = f"<caption>{e(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{note}</table>"


def _totals_last(dimension: Dimension) -> list[int]:
    order = list(range(len(dimension.codes)))
    if dimension.total is not None:
        order.append(order.pop(dimension.position[dimension.total]))
    return order


def _stubs(dimensions: Sequence[Dimension], codes: Array) -> tuple[tuple[Array, Array], list[tuple[int, ...]]]:
    """Row numbers in reading order (those that occur; that of each cell), and the codes of those that occur."""
    if not dimensions:
        return (np.zeros(1, np.int64), np.zeros(len(codes), np.int64)), [()]
    order = [np.array(_totals_last(d)) for d in dimensions]
    shape = [len(o) for o in order]
    of_cell = np.ravel_multi_index([np.argsort(o)[codes[:, k]] for k, o in enumerate(order)], shape)
    rows = np.unique(of_cell)
    ranks = np.unravel_index(rows, shape)
    return (rows, of_cell), list(zip(*(o[r].tolist() for o, r in zip(order, ranks, strict=True)), strict=True))


def _text(value: Any) -> str:
    number = float(value)
    if np.isnan(number):
        return HIDDEN
    return f"{int(value):,}" if number.is_integer() else f"{number:,.10g}"
