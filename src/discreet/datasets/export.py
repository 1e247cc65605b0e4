"""Writing a bundled dataset to files: microdata with their codebook, printed tables as CSV."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.base.files import write_whole
from discreet.errors import InputError, nearest
from discreet.methods.by_hand import Publish
from discreet.methods.contract import protect

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.data.codebook import Codebook
    from discreet.tables.table import Table


def write_microdata(records: pa.Table, codebook: Codebook, path: Path) -> list[Path]:
    """Records as Parquet or CSV, and the codebook beside them as TOML."""
    import pyarrow.csv
    import pyarrow.parquet

    writers: dict[str, Callable[[Any, Any], None]] = {
        ".parquet": pyarrow.parquet.write_table,
        ".csv": pyarrow.csv.write_csv,
    }
    if path.suffix not in writers:
        raise InputError(f"{path.name!r}: microdata are written as .parquet or .csv; {nearest(path.suffix, writers)}")
    out = io.BytesIO()
    writers[path.suffix](records, out)
    write_whole(path, out.getvalue())
    write_whole(path.with_suffix(".toml"), codebook.to_toml().encode())
    return [path, path.with_suffix(".toml")]


def table_csv(table: Table) -> bytes:
    """A printed table, which the paper has published already."""
    return protect(table, Publish()).release().to_csv()
