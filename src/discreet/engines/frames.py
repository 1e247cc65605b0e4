"""Columns of data frames as codes: what a pandas, polars, Arrow or plain column means before it is turned to text.

A category that no row has is still a category, and categories stay in the order that was given to them. A period, an
interval and a date with its zone are written as they are shown.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.texts import code_text, natural
from discreet.errors import DiscreetWarning, InputError, listed


@dataclass(frozen=True, eq=False)
class Coded:
    """The distinct codes of a column, and each row's position among them, −1 where there is none."""

    codes: tuple[str, ...]
    position: Array

    @property
    def missing(self) -> int:
        """How many rows have no code."""
        return int((self.position < 0).sum())

    @property
    def texts(self) -> Array:
        """The code of every row, None where there is none."""
        return np.array([*self.codes, None], object)[self.position]


def coded(column: Any) -> Coded:
    """A column as codes: categories in their order, else the values that occur in natural order.

    >>> import pandas as pd
    >>> coded(pd.Categorical(["b"], categories=["b", "a"])).codes
    ('b', 'a')
    >>> coded([10, 9, 9]).codes
    ('9', '10')
    """
    kind = type(column).__module__.split(".")[0]
    if kind == "polars":
        return _polars(column)
    if kind == "pyarrow":
        return _arrow(column)
    try:
        if type(column) is list and column and all(type(value) is str for value in column):
            return _texts(column)
        import pandas as pd

        column = column if isinstance(column, pd.Series) else pd.Series(_plain_array(column))
    except UnicodeEncodeError:
        raise InputError("a column of codes holds a lone surrogate, half a character; correct it") from None
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _levels(list(column.cat.categories), np.asarray(column.cat.codes, np.int64))
    position, values = pd.factorize(column)
    return _sorted(list(values), np.asarray(position, np.int64))


def declared_codes(frame: Any, name: str) -> tuple[str, ...] | None:
    """The categories that a column of a frame declares, in their order; None if it declares none.

    >>> import pandas as pd
    >>> declared_codes(pd.DataFrame({"size": pd.Categorical(["l"], categories=["s", "l"])}), "size")
    ('s', 'l')
    """
    kind = type(frame).__module__.split(".")[0]
    if kind == "pandas" and type(frame).__name__ == "DataFrame":
        places = [k for k, column in enumerate(frame.columns) if str(column) == name]
        values = list(getattr(frame.dtypes.iloc[places[0]], "categories", ())) if places else None
    elif kind == "polars":
        dtype = frame.collect_schema().get(name)
        values = dtype.categories.to_list() if type(dtype).__name__ == "Enum" else None
    elif kind == "pyarrow" and hasattr(frame, "column_names") and name in frame.column_names:
        column = frame.column(name)
        values = _dictionary(column)
    else:
        values = None
    if not values:
        return None
    return tuple(dict.fromkeys(code_text(v) for v in values if v is not None and v == v and v != "")) or None


def _dictionary(column: Any) -> list[Any] | None:
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return None
    chunks = column.unify_dictionaries().chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [value for value in chunks[0].dictionary.to_pylist() if value is not None] if chunks else None


def is_plain(column: Any) -> bool:
    """Whether a pandas column means to Arrow what it shows: no period, no interval, no categories of times in a zone.

    >>> import pandas as pd
    >>> is_plain(pd.Series(["a"])), is_plain(pd.Series(pd.period_range("2020", periods=2, freq="Q")))
    (True, False)
    """
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        kind = column.dtype.categories.dtype
        return not isinstance(kind, (pd.PeriodDtype, pd.IntervalDtype, pd.DatetimeTZDtype))
    return not isinstance(column.dtype, (pd.PeriodDtype, pd.IntervalDtype)) and not _holds_such(column)


def _holds_such(column: Any) -> bool:
    """Whether a column of objects begins with a period or an interval."""
    import pandas as pd

    if column.dtype != object:
        return False
    first = next((value for value in column.array if value is not None and value == value), None)
    return isinstance(first, (pd.Period, pd.Interval))


def _plain_array(column: Any) -> Any:
    """A list or array with one dimension, as pandas takes it."""
    import pandas as pd

    if hasattr(column, "dtype") and not isinstance(column, np.ndarray):
        return column
    if not isinstance(column, np.ndarray):
        column = list(column)
        kinds = {type(value) for value in column}
        return pd.array(column, dtype=object) if len(kinds) > 1 else column  # 1 and "1" are looked at one by one
    if column.ndim != 1:
        raise InputError(f"a column of codes has one axis, not {column.ndim}")
    return column


def _levels(values: list[Any], position: Array) -> Coded:
    """Categories in their order, those that no row has as well."""
    texts = [code_text(value) for value in values]
    codes = tuple(dict.fromkeys(texts))
    if len(codes) < len(texts):  # 1 and "1" are one code
        place = {code: k for k, code in enumerate(codes)}
        position = np.array([*(place[text] for text in texts), -1])[position]
    return Coded(codes, position)


def _texts(column: list[str]) -> Coded:
    """A list of texts, without the second or so that it takes to load pandas."""
    values = list(dict.fromkeys(column))
    "".join(values).encode()  # raises where a character is half
    place = {value: k for k, value in enumerate(values)}
    return _sorted(values, np.array([place[value] for value in column], np.int64))


def _sorted(values: list[Any], position: Array) -> Coded:
    """Values that occur, in the natural order of their text."""
    texts = [code_text(value) for value in values]
    codes = tuple(sorted(dict.fromkeys(texts), key=natural))
    place = {code: k for k, code in enumerate(codes)}
    return Coded(codes, np.array([*(place[text] for text in texts), -1], np.int64)[position])


def _polars(column: Any) -> Coded:
    import pandas as pd
    import polars as pl

    if isinstance(column.dtype, pl.Enum):
        levels = column.dtype.categories.to_list()
        return _levels(levels, np.asarray(pd.Index(levels).get_indexer(column.cast(pl.String).to_list()), np.int64))
    values = [value for value in column.drop_nulls().unique().to_list() if value == value]
    place = {value: k for k, value in enumerate(values)}
    return _sorted(values, np.array([place.get(value, -1) for value in column.to_list()], np.int64))


def _arrow(column: Any) -> Coded:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks)
    levels = isinstance(column, pa.DictionaryArray)
    if not levels:
        column = column.dictionary_encode()
    values = column.dictionary.to_pylist()
    position = np.asarray(column.indices.fill_null(-1), np.int64)
    absent = [k for k, value in enumerate(values) if value is None or value != value]
    if absent:
        position = np.where(np.isin(position, absent), -1, position)
        kept = [k for k in range(len(values)) if k not in set(absent)]
        place = np.full(len(values) + 1, -1)
        place[kept] = np.arange(len(kept))
        values, position = [values[k] for k in kept], place[position]
    return (_levels if levels else _sorted)(values, position)


# -- pandas: Series and cross-tabulations -----------------------------------------------------------------------


def wide(data: Any, axis: Callable[[int], str]) -> tuple[dict[str, Coded], Array]:
    """The levels of index and columns of a Series or cross-tabulation, and its numbers, cell by cell.

    A level without a name gets ``axis(k)``. A level that pandas leaves blank beside a total stands at its total too.

    >>> import pandas as pd
    >>> levels, values = wide(pd.Series([3, 2], pd.Index(["f", "m"], name="sex")), str)
    >>> levels["sex"].codes, values.tolist()
    (('f', 'm'), [3, 2])
    """
    rows, columns = len(data.index), 1 if data.ndim == 1 else len(data.columns)
    sides = [(data.index, np.repeat(np.arange(rows), columns))]
    if data.ndim > 1:
        sides.append((data.columns, np.tile(np.arange(columns), rows)))
    coded: dict[str, Coded] = {}
    for index, place in sides:
        for level in range(index.nlevels):
            name = str(axis(len(coded)) if index.names[level] is None else index.names[level])
            if name in coded:
                raise InputError(f"two levels of the table are called {name!r}; rename one")
            codes = _level(index, level)
            coded[name] = Coded(codes.codes, codes.position[place])
    values = data.to_numpy()
    return coded, np.asarray(values).ravel()


# what pandas and numpy call the functions of an aggregation
AGGREGATES = ("sum", "mean", "median", "count", "size", "nunique", "min", "max", "std", "var", "sem", "prod", "average")


def refuse_headings(data: Any, totals: Collection[str] = ()) -> None:
    """Refuse a level that lists columns or functions of an aggregation: they are no categories of one dimension.

    pandas leaves such a level without a name, beside levels with the names of what was grouped by. ``totals`` are codes
    that were said to be totals. Columns beside a named index may be either, so that is a warning.

    >>> import pandas as pd
    >>> refuse_headings(pd.Series([3, 2], ["sum", "count"]))
    Traceback (most recent call last):
    ...
    discreet.errors.InputError: a level of the table without a name holds 'sum', 'count': what was computed, not \
categories; take one (frame["sum"]) and say what it is (value=NAME for a magnitude)
    """
    header = None if data.ndim == 1 else data.columns
    for index in (data.index,) if header is None else (data.index, header):
        for level, name in enumerate(index.names):
            if name is not None:
                continue
            codes = [str(c) for c in index.get_level_values(level).unique()]
            if computed := [c for c in codes if c in AGGREGATES and c not in totals]:
                raise InputError(
                    f"a level of the table without a name holds {listed(computed)}: what was computed, not categories; "
                    f'take one (frame["{computed[0]}"]) and say what it is (value=NAME for a magnitude)'
                )
            if index.nlevels > 1 and (index is header or any(n is not None for n in index.names)):
                raise InputError(
                    "a level of the table has no name beside levels that may have one; as pandas makes it, it lists "
                    'columns, which are not categories: take one (frame["..."]), or, if its codes are categories, name '
                    "all levels (frame.columns.names, frame.index.names = ...)"
                )
    if (
        header is not None
        and header.nlevels == 1
        and header.name is None
        and any(n is not None for n in data.index.names)
    ):
        warnings.warn(
            "the columns have no name and are taken for the categories of one dimension, to be added up; say so "
            '(frame.rename_axis(columns="sex")), or take one (frame["..."])',
            DiscreetWarning,
            stacklevel=6,
        )


def _level(index: Any, level: int) -> Coded:
    import pandas as pd

    if not isinstance(index, pd.MultiIndex):
        return coded(pd.Series(index)) if _ordered(index) else _in_order(pd.Series(index))
    column = pd.Series(index.get_level_values(level))
    if (column == "").any():
        others = pd.DataFrame({k: index.get_level_values(k).astype(object) for k in range(index.nlevels)})
        filled = others.where(others != "").bfill(axis=1).ffill(axis=1)[level]
        column = column.astype(object).where(column != "", filled)
    kept = index.levels[level]
    if isinstance(kept, pd.CategoricalIndex) and column.dtype == object:
        extra = [value for value in column.unique() if value not in kept.categories]
        column = pd.Series(pd.Categorical(column, categories=[*kept.categories, *extra]))
    return coded(column)


def _ordered(index: Any) -> bool:
    import pandas as pd

    return isinstance(index.dtype, pd.CategoricalDtype)


def _in_order(column: Any) -> Coded:
    """Codes as they come, which is how a cross-tabulation shows them."""
    import pandas as pd

    position, values = pd.factorize(column)
    return _levels(list(values), np.asarray(position, np.int64))
