"""Parquet: codes as dictionaries, numbers as numbers, words in the file's metadata."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.naming import heads
from discreet.formats.layers import MEANING, clean, facts
from discreet.release import CONFIDENTIAL, Release

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP = 1 << 20  # rows


def to_bytes(release: Release) -> bytes:
    """Codes, values and status, one row per cell; a value that is not shown is null.

    Title, source, method, notes and the meaning of the status stand in the schema's metadata under ``discreet``, the
    labels of a dimension in its column's under ``labels``, both as JSON; what a column is called and its unit beside
    them, where they are known.
    """
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(to_arrow(release), sink, row_group_size=ROW_GROUP)
    return sink.getvalue()


def to_arrow(release: Release) -> pa.Table:
    """The same as an Arrow table, whose schema does not depend on which cells there are."""
    import pyarrow as pa

    fields, columns = [], []
    titles = heads([d.name for d in release.dimensions], release.values)
    for k, d in enumerate(release.dimensions):
        codes = pa.DictionaryArray.from_arrays(release.codes[:, k].astype(np.int32), pa.array(d.codes, pa.string()))
        about = {"labels": json.dumps(dict(d.labels), ensure_ascii=False)} if d.labels else {}
        about |= {"label": d.title} if d.title != d.name else {}
        fields.append(pa.field(d.name, codes.type, nullable=False, metadata=about or None))
        columns.append(codes)
    for title, (name, values) in zip(titles[len(fields) : -1], release.values.items(), strict=True):
        numbers = pa.array(clean(values, release.decimals[name]), mask=np.isnan(values))
        numbers = numbers if release.decimals[name] else numbers.cast(pa.int64())
        said = {"label": release.words.label(name), "unit": release.words.unit(name)}
        own = {key: text for key, text in said.items() if text and text != name}
        fields.append(pa.field(title, numbers.type, metadata={"decimals": str(release.decimals[name]), **own}))
        columns.append(numbers)
    fields.append(pa.field(titles[-1], pa.string(), nullable=False))
    columns.append(pa.array(release.status.astype(object), pa.string()))
    title = dict(facts(release)).get("title", "")
    words = {"title": title, "source": release.source, "method": release.method, "notes": list(release.notes)}
    told = json.dumps({**words, "status": {CONFIDENTIAL: MEANING[CONFIDENTIAL]}}, ensure_ascii=False)
    return pa.table(columns, schema=pa.schema(fields, metadata={"discreet": told}))
