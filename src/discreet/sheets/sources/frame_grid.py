"""Data frames as grids: the levels of the columns are header rows, the levels of the index are stub columns."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np

from discreet.base.texts import code_text
from discreet.errors import InputError
from discreet.sheets.sheet_grid import CellValue, SheetCell, SheetGrid
from discreet.tables.ready_made import collected


def is_frame(data: Any) -> bool:
    """Whether something is a frame, a Series, a Styler or a grouped count of one of the libraries of frames."""
    home = type(data).__module__.split(".")[0]
    return home in ("pandas", "polars", "pyarrow") and not isinstance(data, str)


def frame_grid(data: Any) -> SheetGrid:
    """The grid of a frame; the first cell of its body stands behind all header rows and index levels."""
    frame = _pandas(data)
    kind = type(data).__name__
    index_levels = 0 if _plain_index(frame.index) else frame.index.nlevels
    header_rows = frame.columns.nlevels
    cells: dict[tuple[int, int], SheetCell] = {}
    for c, head in enumerate(frame.columns, index_levels + 1):
        for r, part in enumerate(head if isinstance(head, tuple) else (head,), 1):
            _put(cells, (r, c), _value(part))
    for r, label in enumerate(frame.index if index_levels else (), header_rows + 1):
        for c, part in enumerate(label if isinstance(label, tuple) else (label,), 1):
            _put(cells, (r, c), _value(part))
    for c in range(frame.shape[1]):
        for r, value in enumerate(frame.iloc[:, c].tolist(), header_rows + 1):
            _put(cells, (r, c + index_levels + 1), _value(value), _number_format(value))
    names = {("row", r): str(name) for r, name in enumerate(frame.columns.names, 1) if name is not None}
    if index_levels:
        names |= {("column", c): str(name) for c, name in enumerate(frame.index.names, 1) if name is not None}
    return SheetGrid(
        f"the {kind}",
        "",
        cells,
        header_rows=header_rows,
        stub_columns=index_levels or None,
        names=names,
    )


def _pandas(data: Any) -> Any:
    import pandas as pd

    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        data = collected(data)
    home, kind = type(data).__module__.split(".")[0], type(data).__name__
    if kind == "Styler":
        data = data.data
    elif kind in ("DataFrameGroupBy", "SeriesGroupBy"):
        raise InputError("a grouped frame has no cells yet; count it first: grouped.size()")
    elif home == "polars":
        frame = data.to_frame() if kind == "Series" else data
        data = pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
    elif home == "pyarrow":
        names = [str(name) for name in data.column_names]
        columns = [data.column(k).to_pylist() for k in range(len(names))]
        data = pd.DataFrame(dict(enumerate(columns)), dtype=object)
        data.columns = pd.Index(names)
    if isinstance(data, pd.Series):
        data = data.to_frame(data.name if data.name is not None else "count")
    if not isinstance(data, pd.DataFrame):
        raise InputError(f"{kind} is not a frame; give a DataFrame, a Series, a Styler, or the path of a file")
    return data


def _plain_index(index: Any) -> bool:
    """An index that numbers rows and says nothing."""
    return type(index).__name__ == "RangeIndex" and index.name is None


def _put(
    cells: dict[tuple[int, int], SheetCell], place: tuple[int, int], value: CellValue, code: str = "General"
) -> None:
    if value is not None and (not isinstance(value, str) or value.strip()):
        cells[place] = SheetCell(value, code, indent=len(value) - len(value.lstrip()) if isinstance(value, str) else 0)


def _number_format(value: Any) -> str:
    """How many decimals a value states by itself: those of a Decimal, whose zeros count."""
    if type(value).__name__ != "Decimal" or not value.is_finite():
        return "General"
    places = -value.as_tuple().exponent
    return f"0.{'0' * places}" if places > 0 else "General"


def _value(value: Any) -> CellValue:
    """A value of a frame as a spreadsheet has it: missing values are blank, other kinds are written as text."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, (bool, int, float, str, dt.datetime, dt.date, dt.time)):
        return value
    if type(value).__name__ == "Decimal":
        return int(value) if value == int(value) else float(value)
    return code_text(value)
