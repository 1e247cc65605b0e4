"""A Parquet file comes back with the same columns, and without metadata or categories that nobody uses."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import InputError
from discreet.sheets.same_layout import write_same
from tests.sheets.rewrite.secrets_in_files import Planted, remains


def stored(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def test_types_stay_and_nothing_planted_survives(tmp_path: Path) -> None:
    """Hidden numbers are missing; statistics are those of what is shown."""
    plant = Planted()
    ward = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["North", "East", plant("category without rows")]))
    source = pa.table(
        {
            "ward": ward,
            "n": pa.array([int(plant("hidden number")), 40], pa.int32()),
            "share": [0.25, 0.75],
            "text": [plant("number as text"), "x"],
            "aside": [int(plant("number judged by nobody")), 1],
        }
    ).replace_schema_metadata({"truth": plant("metadata of the file")})
    field = source.schema.field("n").with_metadata({"truth": plant("metadata of a column")})
    source = source.cast(source.schema.set(1, field))
    data = stored(source)
    assert remains(data, plant.corners) == set(plant.corners)
    shown = {("", row, column) for row in (2, 3) for column in (2, 3)} | {("", 3, 5)}
    done = write_same(data, tmp_path / "out.parquet", {("", 2, 2): "*", ("", 2, 3): 0.5}, shown=shown)
    assert remains(done.path.read_bytes(), plant.corners) == set()
    after = pq.read_table(done.path)
    assert after.schema.remove_metadata().equals(source.schema.remove_metadata())
    assert after.to_pydict() == {
        "ward": ["North", "East"],
        "n": [None, 40],
        "share": [0.5, 0.75],
        "text": [None, "x"],
        "aside": [None, 1],
    }
    assert any("missing values" in line for line in done.left_out)
    assert any("metadata" in line for line in done.left_out)


def test_the_index_of_a_frame_stays(tmp_path: Path) -> None:
    """Its levels are the first columns, as they are shown."""
    frame = pd.DataFrame({"f": [3, 40], "m": [5, 6]}, index=pd.Index(["North", "East"], name="ward"))
    frame.to_parquet(tmp_path / "in.parquet")
    shown = {("", row, column) for row in (2, 3) for column in (2, 3)}
    write_same(tmp_path / "in.parquet", tmp_path / "out.parquet", {("", 3, 3): 7.5}, shown=shown)
    expected = frame.astype({"m": float})
    expected.loc["East", "m"] = 7.5
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), expected)


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """No Parquet, no such cell."""
    for data, message in ((b"x", "as Parquet"), (stored(pa.table({"n": [1]})), "not in the file")):
        with pytest.raises(InputError, match=message):
            write_same(data, tmp_path / "out.parquet", {("", 9, 9): "*"}, shown=())
