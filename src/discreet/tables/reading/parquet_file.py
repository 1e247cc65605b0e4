"""Parquet: columns of codes, columns of numbers, a status; labels and words in the metadata."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.naming import STATUS, meant, unused
from discreet.base.texts import code_text
from discreet.errors import InputError
from discreet.tables.reading.raw_table import HIDDEN, RawTable


def parquet_file(path: Path) -> RawTable:
    """The table of a Parquet file; in one that discreet did not write, columns of text are dimensions."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid):
        raise InputError(f"cannot read {path.name!r} as Parquet") from None
    return arrow_table(path.name, table)


def arrow_table(name: str, table: Any) -> RawTable:
    """The same of an Arrow table."""
    import pyarrow as pa

    heads = [str(n) for n in table.column_names]
    behind = 1 if heads and heads[-1] == unused(STATUS, heads[:-1]) else 0
    inside = heads[: len(heads) - behind]
    stated = [b"decimals" in (table.schema.field(n).metadata or {}) for n in inside]
    if not any(stated):
        stated = [
            pa.types.is_floating(t) or pa.types.is_integer(t) or pa.types.is_decimal(t)
            for t in (table.schema.field(n).type for n in inside)
        ]
        stated = [flag and not any(not later for later in stated[k:]) for k, flag in enumerate(stated)]
    split = stated.index(True) if True in stated else len(stated)
    if not split or split == len(inside) or not all(stated[split:]) or not table.num_rows:
        raise InputError(
            f"{name!r} is not a published table: its columns are dimensions (text), then numbers, then {STATUS!r}"
        )
    names = tuple(inside[:split])
    values, decimals, labels = {}, {}, {}
    for head in inside[split:]:
        column = table.column(head)
        numbers = np.array([np.nan if v is None else float(v) for v in column.to_pylist()])
        measure = meant(head, heads[: heads.index(head)])
        values[measure] = numbers
        meta = table.schema.field(head).metadata or {}
        kind = table.schema.field(head).type
        scale = max(0, kind.scale) if pa.types.is_decimal(kind) else 0
        decimals[measure] = max(int(meta.get(b"decimals", b"0")), scale, _decimals(numbers))
    for n in names:
        meta = table.schema.field(n).metadata or {}
        if b"labels" in meta:
            labels[n] = dict(json.loads(meta[b"labels"]))
    gone = np.logical_and.reduce([np.isnan(v) for v in values.values()])
    status = np.array([s or "" for s in table.column(heads[-1]).to_pylist()]) if behind else np.where(gone, HIDDEN, "")
    about = json.loads((table.schema.metadata or {}).get(b"discreet", b"{}"))
    codes = []
    for n in names:
        column = table.column(n).to_pylist()
        if any(v is None for v in column):
            raise InputError(f"{name!r}: some rows have no code of {n!r}; give missing values a category")
        codes.append([code_text(v) for v in column])
    return RawTable(
        name=name,
        names=names,
        codes=tuple(codes),
        values=values,
        decimals=decimals,
        status=status.astype(str),
        labels=labels,
        words={k: str(about.get(k, "")) for k in ("title", "source", "method")},
        notes=tuple(str(n) for n in about.get("notes", ())),
    )


def _decimals(values: Any) -> int:
    shown = values[~np.isnan(values)]
    return next((d for d in range(10) if np.allclose(shown, np.round(shown, d), rtol=0, atol=1e-12)), 9)
