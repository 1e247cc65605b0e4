"""Counting in memory: when the columns are small whole numbers already, a cell is an index and nothing need be sorted.

Only the plain case, counts and sums of record keys of Arrow columns without a fault. Anything else is None, and the
engine proper answers, or says what is wrong.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.engines.protocol import CountedGroups, Grouping, Key

MOST_CELLS = 1 << 24  # beyond that the empty cells cost more than sorting the records
_MOST_VALUES = 1 << 16  # span of an integer column that is looked up in a table


def dense_cells(grouping: Grouping, data: Any) -> CountedGroups | None:
    """The non-empty inner cells of an Arrow table, or None where this short cut does not lead.

    >>> import pyarrow as pa
    >>> key = Key(name="sex", column="sex", codes=("f", "m"))
    >>> found = dense_cells(Grouping(keys=(key,)), pa.table({"sex": pa.array(["m", "m"]).dictionary_encode()}))
    >>> found.codes.tolist(), found.count.tolist()
    ([[1]], [2])
    """
    asked = (grouping.magnitude, grouping.weight, grouping.contributor)
    sizes = [len(key.codes) for key in grouping.keys]
    plain = all(a is None for a in asked) and not grouping.where and hasattr(data, "column_names")
    if not plain or not sizes or math.prod(sizes) > MOST_CELLS or not len(data):
        return None
    record_key = _record_key(grouping, data)
    if grouping.record_key is not None and record_key is None:
        return None
    cell = np.zeros(len(data), np.int32)
    for key, size in zip(grouping.keys, sizes, strict=True):
        codes = _codes(data.column(key.column), key)
        if codes is None:
            return None
        cell *= np.int32(size)
        cell += codes
    return _groups(cell, sizes, record_key)


def _groups(cell: Array, sizes: list[int], record_key: Array | None) -> CountedGroups:
    cells = math.prod(sizes)
    count = np.bincount(cell, minlength=cells)
    held = np.flatnonzero(count)
    codes = np.stack(np.unravel_index(held, sizes), axis=1).astype(np.int32)
    number = count[held]
    if record_key is None:
        return CountedGroups(codes, number, 0, number.copy())
    sums = np.zeros(cells, np.uint64)
    np.add.at(sums, cell, record_key)  # wraps around, as sums of keys should
    return CountedGroups(codes, number, 0, number.copy(), key=sums[held])


def _record_key(grouping: Grouping, data: Any) -> Array | None:
    import pyarrow as pa

    if not isinstance(grouping.record_key, str):
        return None
    column = data.column(grouping.record_key)
    if not pa.types.is_uint64(column.type) or column.null_count:
        return None
    keys: Array = column.to_numpy()
    return keys


def _codes(column: Any, key: Key) -> Array | None:
    """Where each record's value stands among the codes; None if a value is missing or not among them."""
    import pyarrow as pa

    if column.null_count:
        return None
    if pa.types.is_dictionary(column.type):
        array = column.unify_dictionaries().combine_chunks()
        array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
        if array.dictionary.null_count:
            return None
        number, values = array.indices.to_numpy(), array.dictionary.to_pylist()
        return _placed(number, values, key.codes)
    if not pa.types.is_integer(column.type):
        return None
    number = column.to_numpy()
    low, high = int(number.min()), int(number.max())
    if high - low >= _MOST_VALUES:
        return None
    return _placed(number if low == 0 else number - low, [str(low + k) for k in range(high - low + 1)], key.codes)


def _placed(number: Array, values: list[Any], codes: tuple[str, ...]) -> Array | None:
    if tuple(values) == codes:  # in the codebook's order already
        return number
    position = {code: k for k, code in enumerate(codes)}
    place = np.array([position.get(v, -1) if isinstance(v, str) else -1 for v in values], np.int32)
    positions: Array = place[number]
    return None if positions.min() < 0 else positions
