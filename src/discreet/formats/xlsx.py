"""Excel workbooks: a sheet about the table, then one sheet per layer."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.formats.layers import MOST_CELLS, Cube, Layer, clean, facts, heading, layers, small_enough
from discreet.release import CONFIDENTIAL, Release

if TYPE_CHECKING:
    from xlsxwriter import Workbook
    from xlsxwriter.worksheet import Worksheet

MOST_SHEETS = 250
ABOUT = "About"
LONGEST = 32_767  # characters that Excel keeps in a cell
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)  # the same bytes whenever a table is written
_INSTEAD = "write .csv, .parquet or .px, or take fewer dimensions"


def to_bytes(release: Release, *, most_cells: int = MOST_CELLS, most_sheets: int = MOST_SHEETS) -> bytes:
    """A workbook: 'About' has the words and the list of sheets; each other sheet one layer of one measure.

    A layer is the last two dimensions at one code of each other dimension. A value that is not shown reads 'c', a
    combination that is not part of the table is blank.
    """
    from xlsxwriter import Workbook

    cube = Cube.of(release)
    small_enough(cube.size * len(release.values), most_cells, "an Excel file (most_cells=)", _INSTEAD)
    pages = list(layers(cube, list(release.values)))
    if len(pages) > most_sheets:
        raise InputError(f"{len(pages):,} sheets are more than {most_sheets:,} (most_sheets=); {_INSTEAD}")
    names = sheet_names([_sheet_name(page, len(release.values) > 1) for page in pages])
    sink = io.BytesIO()
    book = Workbook(sink, {"constant_memory": True, "in_memory": False, "strings_to_formulas": False})
    book.set_properties({"title": heading(release), "comments": release.method, "created": _EPOCH})
    styles = _Styles.of(book, release)
    _about(book, styles, release, pages, names)
    grids = {name: _grid(release, cube, name) for name in release.values}
    there = cube.spread(np.ones(len(release), bool), False).reshape(grids[pages[0].measure].shape)
    for page, name in zip(pages, names, strict=True):
        body = grids[page.measure][page.number].tolist(), there[page.number].tolist()
        _write_layer(book.add_worksheet(name), styles, cube, page, release, *body)
    book.close()
    return sink.getvalue()


@dataclass(frozen=True)
class _Styles:
    title: Any
    head: Any
    wrap: Any
    mark: Any
    link: Any
    number: dict[str, Any]

    @classmethod
    def of(cls, book: Workbook, release: Release) -> _Styles:
        formats = {n: "#,##0" + ("." + "0" * d if d else "") for n, d in release.decimals.items()}
        return cls(
            title=book.add_format({"bold": True, "font_size": 14}),
            head=book.add_format({"bold": True, "text_wrap": True, "valign": "top"}),
            wrap=book.add_format({"text_wrap": True, "valign": "top"}),
            mark=book.add_format({"align": "right", "italic": True}),
            link=book.add_format({"font_color": "#0B5394", "underline": 1}),
            number={name: book.add_format({"num_format": text}) for name, text in formats.items()},
        )


def _about(book: Workbook, styles: _Styles, release: Release, pages: Sequence[Layer], names: Sequence[str]) -> None:
    sheet = book.add_worksheet(ABOUT)
    sheet.set_column(0, 0, 28)
    sheet.set_column(1, 1, 90)
    sheet.write_string(0, 0, heading(release), styles.title)
    row = 2
    for name, text in facts(release):
        sheet.write_string(row, 0, name.capitalize(), styles.head)
        sheet.write_string(row, 1, text[:LONGEST], styles.wrap)
        row += 1
    row += 1
    sheet.write_string(row, 0, "Sheet", styles.head)
    sheet.write_string(row, 1, "Contents", styles.head)
    for page, name in zip(pages, names, strict=True):
        row += 1
        sheet.write_url(row, 0, "internal:'" + name.replace("'", "''") + "'!A1", styles.link, name)
        sheet.write_string(row, 1, page.caption(release.words.measured(page.measure)))


def _write_layer(
    sheet: Worksheet,
    styles: _Styles,
    cube: Cube,
    page: Layer,
    release: Release,
    values: list[list[float]],
    there: list[list[bool]],
) -> None:
    measured, last = release.words.measured(page.measure), cube.dimensions[-1] if len(cube.codes) > 1 else None
    across = (page.measure,) if last is None else cube.codes[-1]
    titles = [measured] if last is None else cube.labels(len(cube.codes) - 1)
    down = max(len(cube.codes) - 2, 0)
    stubs = cube.labels(down)
    sheet.set_column(0, 0, 14)
    sheet.set_column(1, 1, 28)
    sheet.set_column(2, 1 + len(across), 12)
    sheet.write_string(0, 0, page.caption(measured), styles.title)
    about = ["measure", page.measure, "decimals", str(release.decimals[page.measure])]
    about += ["rows", cube.dimensions[down].name, "columns", last.name if last else ""]
    _texts(sheet, 1, [*about, *(text for d, code in page.fixed for text in (d.name, code, d.label(code)))], styles.wrap)
    _texts(sheet, 2, [cube.dimensions[down].title, last.title if last else "", *titles], styles.head)
    _texts(sheet, 3, ["code", "label", *across], styles.head)
    sheet.freeze_panes(4, 2)
    for r, (code, label) in enumerate(zip(cube.codes[down], stubs, strict=True)):
        _texts(sheet, 4 + r, [code, label], styles.head)
        for c, (value, is_cell) in enumerate(zip(values[r], there[r], strict=True)):
            if value == value:
                sheet.write_number(4 + r, 2 + c, value, styles.number[page.measure])
            elif is_cell:
                sheet.write_string(4 + r, 2 + c, CONFIDENTIAL, styles.mark)


def _grid(release: Release, cube: Cube, measure: str) -> Array:
    """Values of a measure by layer, row and column, NaN where there is none to show."""
    rows, columns = cube.shape[-2:] if len(cube.shape) > 1 else (cube.shape[0], 1)
    values = clean(release.values[measure], release.decimals[measure])
    return cube.spread(values, np.nan).reshape(-1, rows, columns)


def _texts(sheet: Worksheet, row: int, texts: Sequence[str], style: Any) -> None:
    for k, text in enumerate(texts):
        sheet.write_string(row, k, text, style)


def _sheet_name(page: Layer, several: bool) -> str:
    parts = [page.measure] if several or not page.fixed else []
    return " ".join([*parts, *(code for _, code in page.fixed)])


def sheet_names(wanted: Sequence[str]) -> list[str]:
    """Names that Excel takes: at most 31 characters, some signs forbidden, none twice however written.

    >>> sheet_names(["a/b", "A b", "x" * 40, "about"])
    ['a b', 'A b (2)', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 'about (2)']
    """
    taken = {ABOUT.lower(), "history"}
    names = []
    for text in wanted:
        plain = re.sub(r"[\[\]:*?/\\\x00-\x1f]+", " ", text).strip(" '") or "sheet"
        name, n = plain[:31].rstrip(" '"), 1
        while name.lower() in taken:
            n += 1
            ending = f" ({n})"
            name = plain[: 31 - len(ending)].rstrip() + ending
        taken.add(name.lower())
        names.append(name)
    return names
