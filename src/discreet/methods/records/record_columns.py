"""What methods on microdata share: columns as arrays, numbers that belong to a record, new columns."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.data.microdata import Microdata
from discreet.errors import InputError, many
from discreet.methods.keys import mix, seed_key, unit_interval


def check_microdata(data: Any, method: str) -> None:
    """Refuse a table where records are needed."""
    if not isinstance(data, Microdata):
        raise InputError(
            f"{method} changes records before they are counted: give it Microdata, not a {type(data).__name__}"
        )


def columns(data: Microdata, names: Sequence[str] | None = None) -> Any:
    """Columns of every record as an Arrow table, in the source's order."""
    fetch = getattr(data.engine, "arrow", None)
    if fetch is None:
        raise InputError("this engine gives no records; load the microdata into this process first")
    return fetch(names)


def column_of(data: Microdata, name: str) -> str:
    """The column of a dimension, or the name itself if the data have such a column."""
    if name in data.codebook.columns:
        return data.codebook.columns[name]
    if name in data.engine.columns():
        return name
    data.dimension(name)  # says which names are near
    raise AssertionError


def codes(column: Any) -> tuple[Array, Any]:
    """A column as small whole numbers, missing values last, and the distinct values they stand for (an Arrow array)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if not pa.types.is_dictionary(array.type):
        array = pc.dictionary_encode(array)
    indices = array.indices.fill_null(len(array.dictionary)) if array.null_count else array.indices
    return indices.to_numpy(zero_copy_only=False).astype(np.int64), array.dictionary


def leaf_codes(data: Microdata, name: str) -> Array:
    """The position of every record's code among the finest codes of a dimension; what the codebook lacks is refused."""
    key = data.key(name)
    number, values = codes(columns(data, [key.column])[key.column])
    position = {code: k for k, code in enumerate(key.codes)}
    texts = [_code(v) for v in values.to_pylist()]
    place = np.array([position.get(t, -1) for t in texts] + [position.get(key.missing or "", -1)])
    out = place[number]
    if bad := int((out < 0).sum()):
        raise InputError(
            f"dimension {name!r}: {many(bad, 'record has', 'records have')} a code that the codebook lacks, or none; "
            "correct the data or the codebook"
        )
    return out


def _code(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def record_uniforms(data: Microdata, *, seed: int | None, purpose: str) -> Floats:
    """A number in [0, 1) for every record, from its key; with a seed from the seed and its unit id.

    It depends on the record alone, so that editing another changes nothing. Without keys and units the place in the
    file has to do.
    """
    book = data.codebook
    if seed is None:
        return unit_interval(mix(record_keys(data), seed_key(0, purpose)))
    if book.unit is None:
        return np.random.default_rng(np.frombuffer(seed_key(seed, purpose), np.uint32)).random(data.n)
    return unit_interval(mix(_words(columns(data, [book.unit])[book.unit]), seed_key(seed, purpose)))


def record_keys(data: Microdata) -> Array:
    """The key of every record: its column, or from its unit under the secret; an error if there is neither."""
    book = data.codebook
    if book.key is not None:
        return _whole_numbers(columns(data, [book.key])[book.key])
    if data.secret is None or book.unit is None:
        raise InputError("the microdata have no record keys: give a seed, or a key column, or a unit and a secret")
    units = columns(data, [book.unit])[book.unit].to_pylist()
    digests = (hmac.digest(data.secret, _code(u).encode(), "sha256")[:8] for u in units)
    return np.frombuffer(b"".join(digests), ">u8").astype(np.uint64)


def _whole_numbers(column: Any) -> Array:
    """Keys as the engine sums them, from whole numbers or their text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.cast(pc.utf8_trim_whitespace(column), pa.uint64())
    words: Array = column.to_numpy().astype(np.uint64)
    return words


def _words(column: Any) -> Array:
    """Unit ids as words: a whole number is the same whether a file holds it as a number or as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(column.type):
        with suppress(pa.ArrowException):
            numbers = pc.cast(column, pa.int64())
            column = numbers if pc.all(pc.equal(pc.cast(numbers, pa.string()), column)).as_py() else column
    if pa.types.is_integer(column.type):
        words: Array = column.to_numpy().astype(np.uint64)
        return words
    digests = (hashlib.blake2b(str(u).encode(), digest_size=8).digest() for u in column.to_pylist())
    return np.frombuffer(b"".join(digests), np.uint64)


def with_columns(data: Microdata, new: Mapping[str, Any]) -> Microdata:
    """The same microdata with some columns replaced."""
    from discreet.engines.duckdb.engine import DuckDB

    table = columns(data)
    for name, values in new.items():
        table = table.set_column(table.column_names.index(name), name, values)
    return Microdata(DuckDB.of(table), data.codebook, data.secret)
