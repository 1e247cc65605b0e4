"""A file of tables written back as it was: the same sheets, formats and places, with what may be shown in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from pathlib import Path
from typing import TypeVar

from discreet.base.files import check_suffix, same_file, write_whole
from discreet.errors import InputError, listed
from discreet.sheets.excel.excel_book import rewrite_book, rewrite_excel
from discreet.sheets.excel.excel_package import ExcelBook
from discreet.sheets.opendocument.opendocument_book import rewrite_document, rewrite_opendocument
from discreet.sheets.opendocument.opendocument_package import DocumentBook
from discreet.sheets.rewrite.delimited_text import rewrite_delimited
from discreet.sheets.rewrite.edits import Content, Edits, Place
from discreet.sheets.rewrite.html_tables import rewrite_html
from discreet.sheets.rewrite.notices import Rewritten
from discreet.sheets.rewrite.parquet_columns import rewrite_parquet
from discreet.sheets.sheet_layout import DerivedNumber
from discreet.sheets.sources.by_kind import OLD

PlaceT = TypeVar("PlaceT", bound=Place)
Rewriter = Callable[[bytes, str, Edits], tuple[bytes, tuple[str, ...]]]
REWRITERS: dict[str, tuple[Rewriter, tuple[str, ...]]] = {
    ".xlsx": (rewrite_excel, (".xlsx",)),
    ".xlsm": (rewrite_excel, (".xlsx",)),
    ".xltx": (rewrite_excel, (".xlsx",)),
    ".xltm": (rewrite_excel, (".xlsx",)),
    ".xls": (rewrite_excel, (".xlsx",)),
    ".xlsb": (rewrite_excel, (".xlsx",)),
    **{suffix: (rewrite_delimited, (suffix,)) for suffix in (".csv", ".tsv", ".tab", ".txt")},
    ".ods": (rewrite_opendocument, (".ods",)),
    ".html": (rewrite_html, (".html", ".htm")),
    ".htm": (rewrite_html, (".html", ".htm")),
    ".parquet": (rewrite_parquet, (".parquet",)),
}
"""By the suffix of the source: who writes it back, and the suffixes that the target may have."""


def write_same(
    source: str | Path | bytes,
    target: str | Path,
    replacements: Mapping[PlaceT, Content],
    *,
    shown: Collection[Place],
    derived: Collection[DerivedNumber] = (),
    note: str = "",
    mark: str = "c",
    text_sheets: Collection[str] = (),
    decimal: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    book: object = None,
    kept: Collection[Place] = (),
    secrets: Collection[float] = (),
    kinds: Mapping[PlaceT, tuple[int, Hashable]] | None = None,
    keep_images: bool = False,
    stood: Mapping[PlaceT, object] | None = None,
) -> Rewritten:
    """Write a file again with other contents in some of its cells, and with nothing in it that is not seen.

    ``replacements`` says what stands in a cell now: a number, a mark, or None for nothing. ``shown`` are the places
    that may stay as they are. Every other number is blanked, every other sheet left out, and everything in the file
    that is not a visible cell of these sheets, or their look, is dropped; the result says what that was. No text
    outside ``shown`` may state one of the ``secrets`` or a number that is replaced, unless its place is ``kept``.
    Cells of a table that ``kinds`` says to be alike come back in one look, unless theirs follow columns or stripes.
    ``book`` is the workbook where it was read before, and is then not read again. ``keep_images``: images of a workbook
    of Excel stay, unjudged. ``stood`` is what cells said when they were read: a file that says something else in one of
    these places is refused.
    """
    path = Path(target)
    if isinstance(source, bytes):
        name = path.name
    else:
        name = Path(source).name
        if same_file(Path(source), path):
            raise InputError(f"{name!r} holds the true numbers; write the protected copy under another name")
    rewriter, suffixes = _rewriter(name)
    check_suffix(path, suffixes, f"what is made of {name!r}")
    contents: dict[Place, Content] = dict(replacements.items())
    edits = Edits(
        contents,
        frozenset(shown),
        tuple(derived),
        note,
        mark,
        tuple(text_sheets),
        decimal,
        separator,
        encoding,
        frozenset(kept),
        frozenset(secrets),
        dict((kinds or {}).items()),
        keep_images,
        dict((stood or {}).items()),
    )
    if isinstance(book, ExcelBook):
        written, left_out = rewrite_book(book, edits)
    elif isinstance(book, DocumentBook):
        written, left_out = rewrite_document(book, edits)
    else:
        written, left_out = rewriter(source if isinstance(source, bytes) else _read(Path(source)), name, edits)
    write_whole(path, written)
    return Rewritten(path, left_out)


def _rewriter(name: str) -> tuple[Rewriter, tuple[str, ...]]:
    suffix = Path(name).suffix.lower()
    if suffix not in REWRITERS:
        others = listed([known for known in REWRITERS if known not in OLD], len(REWRITERS))
        raise InputError(f"{name!r} cannot be written back in its own layout; that can be done for {others}")
    return REWRITERS[suffix]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path.name!r}: {error.strerror}") from None
