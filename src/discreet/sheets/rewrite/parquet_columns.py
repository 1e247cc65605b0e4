"""A Parquet file written back: the same columns of the same types, in which a hidden number is missing."""

from __future__ import annotations

import io
import json
from typing import Any

from discreet.errors import InputError
from discreet.sheets.rewrite import notices as say
from discreet.sheets.rewrite.edits import Edits, Place, Settled, SourceCells, check_stood, settle_edits
from discreet.sheets.rewrite.notices import Notices
from discreet.sheets.rewrite.number_look import first_number
from discreet.sheets.rewrite.text_cells import text_now

HEADER_ROWS = 1  # the names of the columns
NULLS = "marks in columns of numbers, which are missing values there (write CSV or a workbook to show them)"


def rewrite_parquet(data: bytes, name: str, edits: Edits) -> tuple[bytes, tuple[str, ...]]:
    """The file with these edits, and what of it was left out: metadata, statistics, categories that nobody uses."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(data))
    except (pa.ArrowInvalid, OSError):
        raise InputError(f"cannot read {name!r} as Parquet") from None
    order, described = _order(table, name)
    values = {column: table.column(column).to_pylist() for column in order}
    cells = _source_cells(order, values)
    inside = {("", row, c) for c in range(1, len(order) + 1) for row in range(2, table.num_rows + HEADER_ROWS + 1)}
    header = {("", HEADER_ROWS, c) for c in range(1, len(order) + 1)}
    check_stood(edits, name, cells, header | inside - cells.numbers.keys() - cells.texts.keys())
    changes = settle_edits(edits, cells)
    if set(changes.now) - inside:
        raise InputError(f"{name!r}: some of the cells to be changed are not in the file; read it again")
    notices = Notices()
    at = {column: c for c, column in enumerate(order, 1)}
    arrays = []
    for field in table.schema:
        contents = [
            _now(changes, ("", row, at[field.name]), value, notices)
            for row, value in enumerate(values[field.name], HEADER_ROWS + 1)
        ]
        arrays.append(_typed(contents, field.type, notices))
    names = [field.name for field in table.schema]
    schema = pa.schema([pa.field(n, array.type) for n, array in zip(names, arrays, strict=True)], metadata=described)
    kept = {b"pandas", b"ARROW:schema"}
    if set(table.schema.metadata or {}) - kept or any(field.metadata for field in table.schema):
        notices.add("metadata of the file and its columns")
    if edits.note:
        notices.add("the note, for which a Parquet file has no place")
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), buffer)
    return buffer.getvalue(), notices.sentences()


def _order(table: Any, name: str) -> tuple[list[str], dict[bytes, bytes] | None]:
    """The columns as a frame shows them, those of its index first, and what pandas must know to find that index."""
    about = table.schema.pandas_metadata or {}
    index = [column for column in about.get("index_columns", []) if isinstance(column, str)]
    if len(about.get("column_indexes", [])) > 1 or not set(index) <= set(table.column_names):
        raise InputError(f"{name!r} has headers of several levels; write it as a workbook or CSV to keep its layout")
    return index + [column for column in table.column_names if column not in index], index_metadata(table.schema)


def index_metadata(schema: Any) -> dict[bytes, bytes] | None:
    """Of the metadata of a schema what pandas must know to find the index again, and nothing else."""
    about = schema.pandas_metadata or {}
    index = [column for column in about.get("index_columns", []) if isinstance(column, str) and column in schema.names]
    if not index:
        return None
    keys = ("name", "field_name", "pandas_type", "numpy_type")
    columns = [{key: c.get(key) for key in keys} | {"metadata": None} for c in about.get("columns", [])]
    described = {"index_columns": index, "column_indexes": [], "columns": columns, "pandas_version": "2.0.0"}
    return {b"pandas": json.dumps(described).encode()}


def _source_cells(order: list[str], values: dict[str, list[Any]]) -> SourceCells:
    numbers: dict[Place, float] = {}
    texts: dict[Place, str] = {}
    for c, column in enumerate(order, 1):
        for row, value in enumerate(values[column], HEADER_ROWS + 1):
            if isinstance(value, str):
                texts["", row, c] = value
            number = first_number(value) if isinstance(value, str) else _number(value)
            if number is not None:
                numbers["", row, c] = number
    return SourceCells(numbers, texts)


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def _now(edits: Settled, place: Place, value: Any, notices: Notices) -> Any:
    if isinstance(value, str):
        return text_now(edits, place, value, None, notices) or None
    if place in edits.now:
        return edits.now[place]
    if value is not None and place not in edits.shown:
        notices.at(say.UNJUDGED, place)
        return None
    return value


def _typed(contents: list[Any], kind: Any, notices: Notices) -> Any:
    """A column of the type that it had; of decimals where numbers are no longer whole."""
    import pyarrow as pa

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (pa.types.is_string(inner) or pa.types.is_large_string(inner)) and any(isinstance(c, str) for c in contents):
        notices.add(NULLS)
        contents = [None if isinstance(content, str) else content for content in contents]
    if pa.types.is_integer(inner):
        if any(isinstance(content, float) and not content.is_integer() for content in contents):
            return pa.array(contents, pa.float64())
        contents = [int(content) if isinstance(content, float) else content for content in contents]
    return pa.array(contents, kind)
