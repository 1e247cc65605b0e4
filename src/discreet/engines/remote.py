"""Records behind an address: a Parquet or CSV file on a web server or in an object store, held in memory only."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from discreet.errors import InputError

WEB = ("http", "https")
STORES = ("s3", "gs", "gcs", "abfs", "abfss", "file")
SECONDS = 60  # without a byte from a web server


def is_remote(source: Any) -> bool:
    """Whether a source is the address of a file, not of a database.

    >>> is_remote("https://host/people.parquet"), is_remote("s3://bucket/people"), is_remote("postgres://host/people")
    (True, True, False)
    """
    return isinstance(source, str) and "://" in source and urlsplit(source).scheme.lower() in (*WEB, *STORES)


def fetched(address: str) -> Any:
    """The records as an Arrow table; every column of a text file is text, so that the code 01 stays 01.

    Credentials are those that the store's own variables and files name; no message holds the address, which may have
    a token in it.
    """
    name = urlsplit(address).path.rstrip("/").rpartition("/")[2]
    kind = next((k for k in (".parquet", ".csv", ".csv.gz", ".tsv") if name.lower().endswith(k)), None)
    table = None
    if urlsplit(address).scheme.lower() in WEB:
        if kind is None:
            raise InputError(f"cannot tell what kind of file {name!r} is; known endings: .parquet, .csv, .csv.gz, .tsv")
        table = _table(io.BytesIO(_downloaded(address, name)), kind)
    else:
        table = _from_store(address, name, kind)
    if table is None:
        raise InputError(f"{name!r} is not a readable {'text' if kind not in (None, '.parquet') else 'Parquet'} file")
    return table


def _downloaded(address: str, name: str) -> bytes:
    import urllib.error
    import urllib.request
    from http.client import HTTPException

    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        problem = f"the server answers {error.code}"
        error.close()  # it holds the connection
    except (OSError, ValueError, HTTPException) as error:
        problem = f"the server does not answer ({type(error).__name__})"
    raise InputError(f"cannot read {name!r}: {problem}")


def _from_store(address: str, name: str, kind: str | None) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import fs

    try:
        store, path = fs.FileSystem.from_uri(address)
        if kind in (None, ".parquet"):  # a folder of Parquet files counts as one
            return pq.read_table(path, filesystem=store, partitioning=None)
        with store.open_input_file(path) as file:
            return _table(file, kind)
    except (pa.ArrowException, OSError, ValueError) as error:
        problem = type(error).__name__
    raise InputError(f"cannot read {name!r} from the store ({problem}); look at the address and the credentials")


def _table(file: Any, kind: str) -> Any:
    import gzip

    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv

    with suppress(pa.ArrowException, OSError, UnicodeDecodeError):
        if kind == ".parquet":
            return pq.read_table(file)
        data = file.read()
        data = gzip.decompress(data) if kind == ".csv.gz" else data
        head = data.split(b"\n", 1)[0].decode("utf-8-sig").rstrip("\r")
        delimiter = "\t" if kind == ".tsv" else max(",;\t|", key=head.count)
        columns = csv.read_csv(io.BytesIO(head.encode() + b"\n"), parse_options=_how(delimiter)).column_names
        convert = csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.string()),
            strings_can_be_null=True,
            null_values=[""],
            quoted_strings_can_be_null=False,
        )
        return csv.read_csv(io.BytesIO(data), parse_options=_how(delimiter), convert_options=convert)
    return None


def _how(delimiter: str) -> Any:
    from pyarrow import csv

    return csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
