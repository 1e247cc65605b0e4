"""Everything the engine must refuse: in one sentence, by count, without a value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engines.checks import NO_NUMBER
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.protocol import Grouping, Hmac, Key
from tests.engines.records import SECRET, A, B, refused


def test_codes_outside_the_codebook_are_refused_by_count() -> None:
    """All faults of one call come in one line."""
    table = pa.table(
        {"a": ["XSECRETX", "XSECRETX", "N", None, ""], "b": [987654321, 1, None, 1, 1], "x": [1.0, None, 3, 4, 5]}
    )
    message = refused(lambda: DuckDB.of(table).base_cells(Grouping(keys=(A, B), magnitude="x")))
    assert message.startswith(
        "column 'a' of dimension 'area': 2 records hold a code that is not in the codebook (allowed: 'N', 'S', "
    )
    assert "2 records have no value; correct the data or give missing values a category (missing = " in message
    assert "column 'b' of dimension 'band': 1 record holds a code that is not in the codebook" in message
    assert "magnitude column 'x': 1 record has no value" in message


def test_numbers_that_are_no_codes_are_refused() -> None:
    """1.5 is a number, not a category."""
    engine = DuckDB.of(pa.table({"b": [1.0, 987654321.5, 2.5]}))
    assert "2 records hold a number that is not whole" in refused(lambda: engine.base_cells(Grouping(keys=(B,))))
    assert "not whole" in refused(lambda: engine.categories("b"))


@pytest.mark.parametrize("as_text", [False, True])
def test_unusable_numbers_are_refused_by_count(as_text: bool) -> None:
    """Missing, NaN, infinite and negative, in magnitude and weight together."""
    x = [1.0, float("nan"), None, float("inf"), float("-inf"), 987654321.0]
    w = [-987654321.0, -1.0, 1.0, float("nan"), float("inf"), None]
    r: list[Any] = [1, 2, None, 4, 5, 6]
    columns: dict[str, Any] = {"a": ["N"] * 6, "x": x, "w": w, "r": r}
    if as_text:
        columns = {k: [None if v is None else str(v) for v in c] for k, c in columns.items()}
        columns["x"][0], columns["r"][0] = "XSECRETX", "987654321.5"
    engine = DuckDB.of(pa.table(columns))
    message = refused(lambda: engine.base_cells(Grouping(keys=(A,), magnitude="x", weight="w", record_key="r")))
    assert f"magnitude column 'x': 2 records {NO_NUMBER.many}, " in message
    assert "2 records are infinite" in message
    assert f"weight column 'w': 2 records {NO_NUMBER.many}, 1 record is infinite, 2 records are" in message
    assert "record key column 'r': 1 record has no value" in message
    if as_text:
        assert "1 record holds text that is not a number" in message
        assert "1 record holds no whole number" in message


def test_missing_units_have_no_key() -> None:
    """An HMAC of nothing is refused."""
    engine = DuckDB.of(pa.table({"a": ["N", "N"], "id": ["XSECRETX", None]}))
    message = refused(lambda: engine.base_cells(Grouping(keys=(A,), record_key=Hmac(unit="id", secret=SECRET))))
    assert message == "unit column 'id': 1 record has no value"


@pytest.mark.parametrize("contributor", [None, "h"])
def test_sums_that_do_not_fit_are_refused(contributor: str | None) -> None:
    """Fewer decimals would do."""
    table = pa.table({"a": ["N"] * 9, "x": [987654321e9] * 9, "w": [1e6] * 9, "h": ["g"] * 9})
    engine = DuckDB.of(table)
    for decimals, weight in ((1, None), (3, None), (12, None), (0, "w")):
        grouping = Grouping(keys=(A,), magnitude="x", decimals=decimals, weight=weight, contributor=contributor, top=1)
        assert "fewer decimals" in refused(lambda g=grouping: engine.base_cells(g))  # type: ignore[misc]


def test_a_filter_does_not_hide_wrong_codes() -> None:
    """The filter's column is checked as a whole, its codes by name."""
    engine = DuckDB.of(pa.table({"a": ["N", "XSECRETX"], "b": [1, 1]}))
    assert "1 record holds a code" in refused(lambda: engine.base_cells(Grouping(keys=(B,), where=((A, ("N",)),))))
    assert "did you mean '01'?" in refused(lambda: Grouping(keys=(B,), where=((A, ("001",)),)))


def test_wrong_groupings_are_refused() -> None:
    """Before anything runs."""
    assert "name one" in refused(lambda: Grouping(keys=(A,), top=2))
    assert "0 to 12" in refused(lambda: Grouping(keys=(A,), magnitude="x", decimals=13))
    assert "not among its codes" in refused(lambda: Key(name="a", column="a", codes=("x",), missing="y"))


def test_columns_must_exist_and_fit() -> None:
    """Unknown, mixed and non-numeric columns."""
    frame = pd.DataFrame({"area": ["N"], "b": [True], "m": pd.Series([1], dtype=object)})
    engine = DuckDB.of(frame)
    assert "no column 'aera'; did you mean 'area'?" in refused(lambda: engine.categories("aera"))
    assert "does not hold numbers" in refused(lambda: engine.decimals("b"))
    mixed = DuckDB.of(pd.DataFrame({"a": ["N", "S"], "m": pd.Series([987654321, "XSECRETX"], dtype=object)}))
    assert "mixes kinds" in refused(lambda: mixed.categories("m"))
    assert mixed.categories("a") == ("N", "S")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.csv", b"", "'empty.csv' is empty"),
        ("header.csv", b"a,b\n", "'header.csv' holds no records"),
        ("blank.csv", b"\n\n", "'blank.csv' has no header"),
        ("binary.csv", b"\x89PNG\0\0XSECRETX", "'binary.csv' is not a text file"),
        ("latin.csv", "a\nXSECRETXé\n".encode("latin-1"), "'latin.csv' is not text in UTF-8"),
        ("late.csv", b"a\n" + b"N\n" * 50_000 + b"XSECRETX\xe9\n", "'late.csv', line 50002: "),
        ("ragged.csv", b"a,b\n1,2\nXSECRETX\n", "'ragged.csv', line 3: "),
        ("wide.csv", b"a,b\n1,2\n1,XSECRETX,3\n", "'wide.csv', line 3: "),
        ("twice.csv", b"a,A\n1,2\n", "'twice.csv' has more than one column called 'a'"),
        ("bad.csv.gz", b"XSECRETX", "cannot read 'bad.csv.gz'"),
        ("bad.parquet", b"PAR1 XSECRETX PAR1", "'bad.parquet' is not a readable Parquet file"),
        ("bad.duckdb", b"XSECRETX" * 900, "'bad.duckdb' cannot be opened as a DuckDB file"),
        ("people.sav", b"x", "cannot tell what kind of file 'people.sav' is; known endings: .csv"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(name: str, content: bytes, says: str, tmp_path: Path) -> None:
    """Each with its own words, at the latest when it is grouped."""
    (tmp_path / name).write_bytes(content)
    assert says in refused(lambda: DuckDB.of(tmp_path / name).base_cells(Grouping(keys=(A,))))


def test_bad_places_are_refused(tmp_path: Path) -> None:
    """What is not there, empty folders, wrong tables, unreadable objects."""
    assert refused(lambda: DuckDB.of(tmp_path / "no.csv")) == "file not found: 'no.csv'"
    assert "no Parquet files" in refused(lambda: DuckDB.of(tmp_path))
    assert "no Parquet files" in refused(lambda: DuckDB.of(tmp_path / "*.parquet"))
    assert "cannot read data from a dict" in refused(lambda: DuckDB.of({"a": [1]}))
    assert "holds no records" in refused(lambda: DuckDB.of(pd.DataFrame({"a": []})))
    assert "no columns" in refused(lambda: DuckDB.of(pd.DataFrame(index=[1, 2])))
    assert "more than one column" in refused(lambda: DuckDB.of(pd.DataFrame([[1, 2]], columns=["a", "A"])))
    assert "leave it out" in refused(lambda: DuckDB.of(pd.DataFrame({"a": [1]}), table="t"))
    with duckdb.connect(tmp_path / "two.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS a; CREATE TABLE firms AS SELECT 1 AS a")
    assert "name one (table=): 'firms', 'people'" in refused(lambda: DuckDB.of(tmp_path / "two.duckdb"))
    assert "did you mean 'people'?" in refused(lambda: DuckDB.of(tmp_path / "two.duckdb", table="peopel"))
    assert DuckDB.of(tmp_path / "two.duckdb", table="people").rows() == 1
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), tmp_path / "twice.parquet")
    assert "more than one column" in refused(lambda: DuckDB.of(tmp_path / "twice.parquet"))


def test_failing_lazy_frames_and_relations_keep_their_values() -> None:
    """An error inside the caller's own steps is not quoted."""
    frame = pl.DataFrame({"a": ["XSECRETX"]}).lazy().select(pl.col("a").cast(pl.Int64))
    assert "could not be collected" in refused(lambda: DuckDB.of(frame))
    relation = duckdb.connect().sql(
        "SELECT CASE WHEN range < 5000 THEN range ELSE ('XSECRETX' || range)::INT END AS a FROM range(9000)"
    )
    assert "could not be read" in refused(lambda: DuckDB.of(relation).categories("a"))


def test_nothing_is_fetched_or_written() -> None:
    """The connection neither spills to disk nor loads extensions nor sees Python variables."""
    connection = DuckDB.of(pa.table({"a": ["N"]}))._connection
    names = (
        "temp_directory",
        "autoinstall_known_extensions",
        "autoload_known_extensions",
        "python_enable_replacements",
    )
    found = [connection.execute(f"SELECT current_setting('{n}')").fetchone()[0] for n in names]
    assert found == ["", False, False, False]
