"""What frames hold beside their cells: metadata, names of levels, categories; none of it states what is hidden."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc

AREAS = ["A", "B", "C", "T"]
COUNTS = {"f": [120, 74, 4, 198], "m": [131, 3, 55, 189], "T": [251, 77, 59, 387]}


def test_metadata_of_arrow_do_not_come_back() -> None:
    """Those of the schema and of its columns; the index of pandas is found again."""
    telling = {b"note": b"3 men in B"}
    fields = [
        pa.field("area", pa.string(), metadata=telling),
        *(pa.field(n, pa.int64(), True, telling) for n in COUNTS),
    ]
    indexed = pa.Table.from_pandas(pd.DataFrame({"area": AREAS, **COUNTS}).set_index("area"))
    described = indexed.schema.metadata[b"pandas"].replace(b'"creator"', b'"3 men": 3, "creator"')
    schema = pa.schema(fields, metadata={**telling, b"pandas": described})
    safe = dc.suppress_small_counts(pa.table({"area": AREAS, **COUNTS}, schema=schema), under=6)
    assert safe.column("m").to_pylist() == [131, None, None, 189]
    assert not any(field.metadata for field in safe.schema)
    assert set(safe.schema.metadata) == {b"pandas"}
    assert b"3 men" not in safe.schema.serialize().to_pybytes()
    assert safe.to_pandas().index.name == "area"
    plain = dc.suppress_small_counts(pa.table({"area": AREAS, **COUNTS}).replace_schema_metadata(telling), under=6)
    assert plain.schema.metadata is None


@pytest.mark.parametrize(
    "names", [("area (3 men in B)", None), ("area", "sex; 3 men in B"), ("area", "of n = 74 women")]
)
def test_names_of_levels_that_state_a_hidden_count_are_refused(names: tuple[str, str | None]) -> None:
    frame = pd.DataFrame(COUNTS, index=pd.Index(AREAS, name=names[0])).rename_axis(columns=names[1])
    with pytest.raises(dc.InputError, match="the name of"):
        dc.suppress_small_counts(frame, under=6)
    with pytest.raises(dc.InputError, match=r"the name of|nothing of it"):
        dc.suppress_small_counts(frame.rename_axis(index="3 men in B", columns=None), under=6)


def test_a_name_that_is_no_count_stays() -> None:
    frame = pd.DataFrame(COUNTS, index=pd.Index(AREAS, name="Area 2024")).rename_axis(columns="Sex (table 3)")
    safe = dc.suppress_small_counts(frame, under=6)
    assert (safe.index.name, safe.columns.name) == ("Area 2024", "Sex (table 3)")


def test_categories_of_polars_do_not_list_hidden_numbers() -> None:
    numbers = sorted({str(n) for own in COUNTS.values() for n in own})
    columns = {name: pl.Series([str(n) for n in own], dtype=pl.Enum(numbers)) for name, own in COUNTS.items()}
    safe = dc.suppress_small_counts(pl.DataFrame({"area": AREAS, **columns}), under=6)
    assert safe["m"].to_list() == ["131", None, None, "189"]
    assert safe["m"].dtype == pl.String
