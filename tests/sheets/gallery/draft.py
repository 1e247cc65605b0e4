"""A sheet that is drawn cell by cell and remembers what its numbers mean; written as a workbook, ODS, HTML or CSV."""

from __future__ import annotations

import csv
import html
import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import openpyxl
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter

Codes = tuple[str, ...]


@dataclass(frozen=True)
class TrueCell:
    """What must be read of a cell: its number, or None where it is hidden, and the places it stands in."""

    number: float | None
    places: tuple[tuple[int, int], ...]


@dataclass
class Drawn:
    """What stands in a cell of a draft."""

    value: Any
    indent: int = 0
    bold: bool = False
    number_format: str = "General"
    formula: str | None = None


@dataclass
class TrueTable:
    """What must be read from one table: dimensions, their totals and groups, every number."""

    dimensions: Mapping[str, str | None]
    """Names with the code of the total, None where there is none."""
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Codes that are sums of others, other than totals."""
    cells: dict[Codes, TrueCell] = field(default_factory=dict)
    shares: int = 0
    """How many percentages must be confirmed to be shares."""
    unconfirmed: int = 0
    """How many derived numbers must be found that no sum confirms."""
    fixed: int = 0


@dataclass
class Draft:
    """One sheet with its tables."""

    name: str = "Sheet1"
    cells: dict[tuple[int, int], Drawn] = field(default_factory=dict)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    tables: list[TrueTable] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)

    def table(
        self, dimensions: Mapping[str, str | None], groups: Mapping[str, Sequence[str]] | None = None
    ) -> TrueTable:
        """One more table that must be read."""
        self.tables.append(TrueTable(dimensions, groups or {}))
        return self.tables[-1]

    def text(self, row: int, column: int, value: Any, **about: Any) -> None:
        """A label, header, title or note."""
        self.cells[(row, column)] = Drawn(value, **about)

    def line(self, row: int, texts: Sequence[Any], first: int = 1) -> None:
        """Several texts side by side; None is blank."""
        for column, value in enumerate(texts, first):
            if value is not None:
                self.text(row, column, value)

    def merge(self, first_row: int, first_column: int, last_row: int, last_column: int) -> None:
        """Cells shown as one."""
        self.merged.append((first_row, first_column, last_row, last_column))

    def number(self, row: int, column: int, value: float | None, *codes: str, show: Any = None, **about: Any) -> None:
        """A number of the last table with its codes; ``show`` is what stands in the cell if not the number."""
        table = self.tables[-1]
        shown = value if show is None else show
        if shown != "":
            self.cells[(row, column)] = Drawn(shown, **about)
        known = table.cells.get(codes)
        places = ((row, column),) if known is None else (*known.places, (row, column))
        assert known is None or known.number == value
        table.cells[codes] = TrueCell(value, places)


@dataclass(frozen=True)
class Layout:
    """A layout of the gallery."""

    name: str
    after: str
    """The kind of publication it is drawn after."""
    draw: Callable[[], Sequence[Draft]]
    options: Mapping[str, Any]
    formats: tuple[str, ...]


LAYOUTS: list[Layout] = []


def layout(
    after: str, *, formats: Sequence[str] = ("xlsx", "ods", "html", "csv"), **options: Any
) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """A function that draws a sheet, or several, as an entry of the gallery."""

    def add(draw: Callable[[], Any]) -> Callable[[], Any]:
        def drafts() -> Sequence[Draft]:
            drawn = draw()
            return drawn if isinstance(drawn, list) else [drawn]

        LAYOUTS.append(Layout(draw.__name__, after, drafts, options, tuple(formats)))
        return draw

    return add


def written(drafts: Sequence[Draft], folder: Path, kind: str) -> Path:
    """The drafts as a file of a format; CSV holds one sheet only."""
    path = folder / f"layout.{kind}"
    writers = {"xlsx": _xlsx, "ods": _ods, "html": _html, "csv": _csv}
    writers[kind](drafts, path)
    return path


def _xlsx(drafts: Sequence[Draft], path: Path) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for draft in drafts:
        sheet = book.create_sheet(draft.name)
        for (row, column), drawn in draft.cells.items():
            cell = sheet.cell(row, column, drawn.value)
            cell.number_format = drawn.number_format
            if drawn.indent:
                cell.alignment = Alignment(indent=drawn.indent)
            if drawn.bold:
                cell.font = Font(bold=True)
        for first_row, first_column, last_row, last_column in draft.merged:
            sheet.merge_cells(None, first_row, first_column, last_row, last_column)
        for row in draft.hidden_rows:
            sheet.row_dimensions[row].hidden = True
        for column, letters in _long_numbers(draft).items():
            sheet.column_dimensions[get_column_letter(column)].width = letters + 2
    book.save(path)


def _long_numbers(draft: Draft) -> dict[int, int]:
    """Columns of numbers with words around them, "12 (3.4%)", and their letters: as wide as people make them."""
    texts = [(c, at.value) for (_, c), at in draft.cells.items() if c > 1 and isinstance(at.value, str)]
    longest: dict[int, int] = {}
    for column, text in texts:
        if re.search(r"\d.*%\)", text):
            longest[column] = max([len(other) for c, other in texts if c == column and len(other) < 24])
    return longest


def _rows(draft: Draft) -> list[list[Drawn | None]]:
    last_row = max(row for row, _ in draft.cells)
    last_column = max(column for _, column in draft.cells)
    return [[draft.cells.get((r, c)) for c in range(1, last_column + 1)] for r in range(1, last_row + 1)]


def _spans(draft: Draft) -> tuple[dict[tuple[int, int], tuple[int, int]], set[tuple[int, int]]]:
    """The rows and columns that cells span, and the cells that are covered."""
    spans, covered = {}, set()
    for first_row, first_column, last_row, last_column in draft.merged:
        spans[(first_row, first_column)] = (last_row - first_row + 1, last_column - first_column + 1)
        inside = {(r, c) for r in range(first_row, last_row + 1) for c in range(first_column, last_column + 1)}
        covered |= inside - {(first_row, first_column)}
    return spans, covered


def _csv(drafts: Sequence[Draft], path: Path) -> None:
    (draft,) = drafts
    text = io.StringIO()
    for row in _rows(draft):
        fields = ["" if d is None else " " * (2 * d.indent) + _as_text(d) for d in row]
        csv.writer(text, lineterminator="\n").writerow(fields)
    path.write_text(text.getvalue(), encoding="utf-8")


def _as_text(drawn: Drawn) -> str:
    if "%" in drawn.number_format and isinstance(drawn.value, float):
        return f"{100 * drawn.value:.1f}%"
    return str(drawn.value)


def _html(drafts: Sequence[Draft], path: Path) -> None:
    pages = []
    for draft in drafts:
        spans, covered = _spans(draft)
        rows = []
        for r, row in enumerate(_rows(draft), 1):
            cells = []
            for c, drawn in enumerate(row, 1):
                if (r, c) in covered:
                    continue
                down, across = spans.get((r, c), (1, 1))
                text = "" if drawn is None else "&nbsp;" * (2 * drawn.indent) + html.escape(_as_text(drawn))
                cells.append(f'<td rowspan="{down}" colspan="{across}">{text}</td>')
            rows.append(f"<tr>{''.join(cells)}</tr>")
        pages.append(f"<table>{''.join(rows)}</table>")
    path.write_text(f"<!doctype html><body>{''.join(pages)}</body>", encoding="utf-8")


_NAMES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
    'xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" '
    'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'
)


def _ods(drafts: Sequence[Draft], path: Path) -> None:
    indents = sorted({d.indent for draft in drafts for d in draft.cells.values()})
    styles = "".join(
        f'<style:style style:name="in{n}" style:family="table-cell">'
        f'<style:paragraph-properties fo:margin-left="{0.353 * n:.3f}cm"/></style:style>'
        for n in indents
    )
    tables = "".join(_ods_table(draft) for draft in drafts)
    content = (
        f"<office:document-content {_NAMES}><office:automatic-styles>"
        '<number:percentage-style style:name="P"/>'
        '<style:style style:name="pc" style:family="table-cell" style:data-style-name="P"/>'
        f"{styles}</office:automatic-styles><office:body><office:spreadsheet>{tables}</office:spreadsheet>"
        "</office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        book.writestr("content.xml", content)


def _ods_table(draft: Draft) -> str:
    spans, covered = _spans(draft)
    rows = []
    for r, row in enumerate(_rows(draft), 1):
        cells = []
        for c, drawn in enumerate(row, 1):
            if (r, c) in covered:
                cells.append("<table:covered-table-cell/>")
                continue
            down, across = spans.get((r, c), (1, 1))
            span = (
                f' table:number-rows-spanned="{down}" table:number-columns-spanned="{across}"'
                if down * across > 1
                else ""
            )
            cells.append(_ods_cell(drawn, span))
        hidden = ' table:visibility="collapse"' if r in draft.hidden_rows else ""
        rows.append(f"<table:table-row{hidden}>{''.join(cells)}</table:table-row>")
    return f"<table:table table:name={quoteattr(draft.name)}>{''.join(rows)}</table:table>"


def _ods_cell(drawn: Drawn | None, span: str) -> str:
    if drawn is None:
        return f"<table:table-cell{span}/>"
    style = "pc" if "%" in drawn.number_format else f"in{drawn.indent}"
    about = f' table:style-name="{style}"{span}'
    if isinstance(drawn.value, (int, float)):
        kind = "percentage" if style == "pc" else "float"
        return f'<table:table-cell{about} office:value-type="{kind}" office:value="{drawn.value!r}"/>'
    text = f"<text:p>{escape(str(drawn.value))}</text:p>"
    return f'<table:table-cell{about} office:value-type="string">{text}</table:table-cell>'
