"""The engine against plain Python, on every kind of source; and everything it must refuse."""

from __future__ import annotations

import gzip
import hashlib
import hmac
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.protocol import CountedGroups, Engine, Grouping, Hmac, Key, SpanningParts, cell_order
from discreet.errors import InputError

SECRET = b"a secret of more than 16 bytes"
A = Key(name="area", column="a", codes=("N", "S", 'it\'s "E"', "01"))
B = Key(name="band", column="b", codes=("0", "1", "2", "-5"))

Record = dict[str, Any]


# -- sources ----------------------------------------------------------------------------------------------------


def arrow(rows: list[Record]) -> pa.Table:
    return pa.table(
        {
            "a": pa.array([r["a"] for r in rows], pa.string()),
            "b": pa.array([r["b"] for r in rows], pa.int64()),
            "x": pa.array([float(r["x"]) for r in rows], pa.float64()),
            "w": pa.array([float(r["w"]) for r in rows], pa.float64()),
            "r": pa.array([r["r"] for r in rows], pa.uint64()),
            "h": pa.array([r["h"] for r in rows], pa.string()),
            "id": pa.array(range(len(rows)), pa.int64()),
        }
    )


def text(rows: list[Record], delimiter: str) -> str:
    def cell(value: object) -> str:
        return "" if value is None else '"' + str(value).replace('"', '""') + '"'

    names = [*rows[0]]
    lines = [delimiter.join(cell(v) for v in [*(r[name] for name in names), i]) for i, r in enumerate(rows)]
    return "\n".join([delimiter.join([*names, "id"]), *lines]) + "\n"


def make_pandas(rows: list[Record], _: Path) -> Any:
    return arrow(rows).to_pandas()


def make_objects(rows: list[Record], _: Path) -> Any:
    frame = pd.DataFrame({name: pd.Series([r[name] for r in rows], dtype=object) for name in rows[0]})
    return frame.assign(id=range(len(rows)), a=frame["a"].astype("category"), b=frame["b"].astype(float))


def make_csv(rows: list[Record], folder: Path) -> Any:
    (folder / "people.csv").write_text(text(rows, ","), encoding="utf-8-sig")
    return folder / "people.csv"


def make_gzip(rows: list[Record], folder: Path) -> Any:
    (folder / "people.csv.gz").write_bytes(gzip.compress(text(rows, ";").replace("\n", "\r\n").encode()))
    return str(folder / "people.csv.gz")


def make_tsv(rows: list[Record], folder: Path) -> Any:
    (folder / "people[1]*.tsv").write_text(text(rows, "\t"), encoding="utf-8")
    return folder / "people[1]*.tsv"


def make_parquet(rows: list[Record], folder: Path) -> Any:
    pq.write_table(arrow(rows), folder / "it's.parquet")
    return folder / "it's.parquet"


def make_folder(rows: list[Record], folder: Path) -> Any:
    pq.write_table(arrow(rows)[: len(rows) // 2], folder / "1.parquet")
    pq.write_table(arrow(rows)[len(rows) // 2 :], folder / "2.parquet")
    return folder


def make_pattern(rows: list[Record], folder: Path) -> Any:
    return make_folder(rows, folder) / "?.parquet"


def make_database(rows: list[Record], folder: Path) -> Any:
    with duckdb.connect(folder / "people.duckdb") as connection:
        connection.register("rows", arrow(rows))
        connection.execute('CREATE TABLE "the people" AS FROM rows')
    return folder / "people.duckdb"


def make_relation(rows: list[Record], _: Path) -> Any:
    connection = duckdb.connect()
    connection.register("rows", arrow(rows))
    return connection.sql("SELECT a::ENUM('N', 'S', 'it''s \"E\"', '01') AS a, * EXCLUDE a FROM rows")


SOURCES: dict[str, Callable[[list[Record], Path], Any]] = {
    "pandas": make_pandas,
    "pandas objects": make_objects,
    "polars": lambda rows, _: pl.from_arrow(arrow(rows)),
    "polars lazy": lambda rows, _: pl.from_arrow(arrow(rows)).lazy(),
    "arrow": lambda rows, _: arrow(rows),
    "arrow batch": lambda rows, _: arrow(rows).to_batches()[0],
    "arrow dictionary": lambda rows, _: arrow(rows).set_column(0, "a", arrow(rows)["a"].dictionary_encode()),
    "arrow dataset": lambda rows, _: pads.dataset(arrow(rows)),
    "csv": make_csv,
    "csv.gz": make_gzip,
    "tsv": make_tsv,
    "parquet": make_parquet,
    "parquet folder": make_folder,
    "parquet pattern": make_pattern,
    "duckdb": make_database,
    "relation": make_relation,
}

records = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.sampled_from([*A.codes[:3], None]),
            "b": st.sampled_from([0, 1, -5]),
            "x": st.decimals(-(10**6), 10**6, places=2),
            "w": st.decimals(0, 1000, places=3),
            "r": st.integers(0, 2**64 - 1),
            "h": st.sampled_from(["g1", "g2", "g3", None]),
        }
    ),
    min_size=1,
    max_size=25,
)


# -- plain Python -----------------------------------------------------------------------------------------------


def half_up(value: float) -> int:
    return int(Decimal(value).quantize(Decimal(1), ROUND_HALF_UP))


def mac(unit: object) -> int:
    return int.from_bytes(hmac.new(SECRET, str(unit).encode(), hashlib.sha256).digest()[:8], "big")


@dataclass
class Expected:
    """A cell by hand: counts, sums, and each contributor's (value, weighted value)."""

    rows: list[Record]

    @property
    def given(self) -> dict[str, tuple[int, int]]:
        out: dict[str, tuple[int, int]] = {}
        for i, r in enumerate(self.rows):
            name = r["h"] or f"record {i}"
            x = int(r["x"] * 100)
            old = out.get(name, (0, 0))
            out[name] = old[0] + x, old[1] + half_up(x * float(r["w"]) * 1e3)
        return out


def cells_of(rows: list[Record]) -> dict[tuple[int, int], Expected]:
    cells: dict[tuple[int, int], Expected] = {}
    for r in rows:
        place = (A.codes.index(r["a"] or "01"), B.codes.index(str(r["b"])))
        cells.setdefault(place, Expected([])).rows.append(r)
    return dict(sorted(cells.items()))


MISSING = Key(name="area", column="a", codes=A.codes, missing="01")
FULL = Grouping(keys=(MISSING, B), magnitude="x", decimals=2, weight="w", record_key="r", contributor="h", top=2)


def same(left: Any, right: Any) -> None:
    """Two answers hold the same bits."""
    for f in fields(left):
        a, b = getattr(left, f.name), getattr(right, f.name)
        if isinstance(a, CountedGroups | SpanningParts):
            same(a, b)
        elif isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b, err_msg=f.name)
        else:
            assert a == b, f.name


@pytest.mark.parametrize("kind", SOURCES)
@settings(max_examples=6, deadline=None)
@given(rows=records)
def test_groups_equal_plain_python_on_every_source(kind: str, rows: list[Record]) -> None:
    """Counts, exact sums, keys mod 2**64 and merged contributions are what a loop over records gives."""
    with tempfile.TemporaryDirectory() as folder:
        engine = DuckDB.of(SOURCES[kind](rows, Path(folder)))
        got = engine.base_cells(FULL)
        assert isinstance(engine, Engine)
        assert engine.rows() == len(rows)
        bare = engine.base_cells(Grouping(keys=(MISSING, B), magnitude="x", decimals=2, top=2))
        del engine
    cells = cells_of(rows)
    assert got.codes.dtype == np.int32
    assert [tuple(c) for c in got.codes.tolist()] == list(cells)
    assert got.count.tolist() == [len(c.rows) for c in cells.values()]
    assert got.total is not None
    assert got.total.tolist() == [sum(int(r["x"] * 100) for r in c.rows) for c in cells.values()]
    assert got.weight is not None
    assert got.weight.tolist() == [sum(int(r["w"] * 10**6) for r in c.rows) for c in cells.values()]
    assert got.weighted_total is not None
    assert got.weighted_total.tolist() == [sum(w for _, w in c.given.values()) for c in cells.values()]
    assert got.key is not None
    assert got.key.dtype == np.uint64
    assert got.key.tolist() == [sum(r["r"] for r in c.rows) % 2**64 for c in cells.values()]
    check_contributions(got, list(cells.values()))
    assert bare.spanning is None
    assert bare.contributors.tolist() == bare.count.tolist()
    for row, cell in zip(bare.top_value, cells.values(), strict=True):  # type: ignore[arg-type]
        sizes = sorted((abs(float(r["x"])) for r in cell.rows), reverse=True)[:2]
        assert np.abs(row[: len(sizes)]).tolist() == sizes
        assert np.isnan(row[len(sizes) :]).all()


def check_contributions(got: CountedGroups, cells: list[Expected]) -> None:
    """Those in one cell are ranked there; those in several are listed with each of their parts."""
    times = {h: sum(h in c.given for c in cells) for h in ("g1", "g2", "g3")}
    assert got.top_value is not None
    assert got.top_weight is not None
    assert got.spanning is not None
    for i, cell in enumerate(cells):
        own = {name: v for name, v in cell.given.items() if times.get(name, 1) == 1}
        assert got.contributors[i] == len(own)
        best = sorted((abs(x) for x, _ in own.values()), reverse=True)[:2]
        values = got.top_value[i]
        assert np.abs(values[: len(best)]).tolist() == [b / 100 for b in best]
        assert np.isnan(values[len(best) :]).all()
        assert np.isnan(got.top_weight[i, len(best) :]).all()
        signed = {x / 100 for x, _ in own.values()}
        assert set(values[: len(best)].tolist()) <= signed
        for value, weight in zip(values[: len(best)], got.top_weight[i], strict=False):
            near = [w / 1000 / x if x else weight for x, w in own.values() if x / 100 == value]
            assert any(abs(weight - n) <= 1e-3 * max(1, abs(n)) or abs(value) < 1 for n in near)
    parts = [(i, x, w) for i, c in enumerate(cells) for h, (x, w) in sorted(c.given.items()) if times.get(h, 1) > 1]
    s = got.spanning
    assert s.value is not None
    assert s.weighted is not None
    assert list(zip(s.group.tolist(), s.value.tolist(), s.weighted.tolist(), strict=True)) == parts


@settings(max_examples=15, deadline=None)
@given(rows=records, order=st.randoms(use_true_random=False))
def test_same_bits_on_every_run_and_in_every_order(rows: list[Record], order: Any) -> None:
    """Neither threads nor the order of records can change an answer."""
    first = DuckDB.of(arrow(rows)).base_cells(FULL)
    same(first, DuckDB.of(arrow(rows)).base_cells(FULL))
    shuffled = list(rows)
    order.shuffle(shuffled)
    same(first, DuckDB.of(arrow(shuffled)).base_cells(FULL))


def test_many_rows_give_the_same_bits_twice() -> None:
    """More rows than one thread takes at a time."""
    rng = np.random.default_rng(1)
    n = 400_000
    table = pa.table(
        {
            "a": pa.array(["N", "S"]).take(pa.array(rng.integers(0, 2, n))),
            "x": np.round(rng.lognormal(5, 2, n), 2),
            "w": np.round(rng.uniform(1, 9, n), 3),
            "r": rng.integers(0, 2**64, n, dtype=np.uint64),
            "h": rng.integers(0, n // 3, n),
        }
    )
    grouping = Grouping(keys=(A,), magnitude="x", weight="w", record_key="r", contributor="h", top=3)
    engine = DuckDB.of(table)
    same(engine.base_cells(grouping), engine.base_cells(grouping))
    assert engine.decimals("x") == 2


def test_weights_of_one_change_nothing() -> None:
    """A weighted total with weights 1 is the total."""
    table = pa.table({"a": ["N"] * 3, "x": [0.125, 1e9, -7.5], "w": [1, 1, 1]})
    got = DuckDB.of(table).base_cells(Grouping(keys=(A,), magnitude="x", decimals=2, weight="w", top=3))
    assert got.total is not None
    assert got.weighted_total is not None
    assert (got.weighted_total == got.total * 1000).all()
    assert got.top_value is not None
    assert got.top_value.tolist() == [[1e9, -7.5, 0.13]]


# -- record keys ------------------------------------------------------------------------------------------------


identifiers = st.text(st.characters(exclude_categories=["Cs"], min_codepoint=1), min_size=1)


@pytest.mark.parametrize("secret", [SECRET, b"x" * 64, b"long " * 40])
@settings(max_examples=10, deadline=None)
@given(
    ids=st.lists(
        st.text(st.characters(exclude_categories=["Cs"], min_codepoint=1), min_size=1), min_size=1, unique=True
    )
)
def test_hmac_is_pythons(secret: bytes, ids: list[str]) -> None:
    """SQL's HMAC is the standard one for any id and any length of secret."""
    key = Key(name="id", column="id", codes=tuple(ids))
    got = DuckDB.of(pa.table({"id": ids})).base_cells(Grouping(keys=(key,), record_key=Hmac(unit="id", secret=secret)))
    digest = [hmac.new(secret, i.encode(), hashlib.sha256).digest() for i in ids]
    assert got.key is not None
    assert got.key.tolist() == [int.from_bytes(d[:8], "big") for d in digest]


@pytest.mark.parametrize("kind", ["pandas", "csv", "pandas objects"])
def test_editing_a_record_keeps_the_other_keys(kind: str, tmp_path: Path) -> None:
    """A record's key depends on its own unit id alone, and on the id as text, whatever the source."""
    row = {"a": "N", "b": 1, "x": Decimal(1), "w": Decimal(1), "r": 1, "h": None}
    unit = Key(name="id", column="id", codes=tuple("0123"))
    grouping = Grouping(keys=(unit,), record_key=Hmac(unit="id", secret=SECRET))
    before = DuckDB.of(SOURCES[kind]([row] * 4, tmp_path)).base_cells(grouping)
    edited = DuckDB.of(SOURCES[kind]([row, {**row, "a": "S", "r": 5}, row], tmp_path)).base_cells(grouping)
    assert before.key is not None
    assert edited.key is not None
    assert before.key.tolist() == [mac(i) for i in range(4)]
    assert edited.key.tolist() == before.key.tolist()[:3]


def test_record_keys_wrap_and_negative_ones_count_mod_2_64() -> None:
    """Keys may be written as signed numbers or as text."""
    for keys in ([-1, 5, 2**62], ["-1", " 5", str(2**62)], [-1.0, 5.0, 2.0**52]):
        got = DuckDB.of(pa.table({"a": ["N"] * 3, "r": keys})).base_cells(Grouping(keys=(A,), record_key="r"))
        assert got.key is not None
        assert got.key.tolist() == [sum(int(k) for k in keys) % 2**64]


def test_a_secret_is_never_shown_and_never_short() -> None:
    """Its repr hides it."""
    assert "secret" not in repr(Hmac(unit="id", secret=SECRET))
    with pytest.raises(InputError, match="3 bytes"):
        Hmac(unit="id", secret=b"abc")


# -- codes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([10, 9, 2], ("2", "9", "10")),
        ([10.0, float("nan"), 9.0], ("9", "10")),
        ([True, False, None], ("false", "true")),
        (["A10", "A9", "", None], ("A9", "A10")),
        (["01", "1"], ("01", "1")),
        (pd.array([3, None], dtype="Int64"), ("3",)),
        ([Decimal("2.0"), Decimal("1.0")], ("1", "2")),
    ],
)
def test_codes_are_text_in_natural_order(values: Any, codes: tuple[str, ...]) -> None:
    """Whole numbers have no decimal point, truth values are words, missing values are no code."""
    engine = DuckDB.of(pd.DataFrame({"a": values}))
    assert engine.categories("a") == codes
    key = Key(name="a", column="a", codes=(*codes, "?"), missing="?")
    got = engine.base_cells(Grouping(keys=(key,)))
    assert [key.codes[c] for c in got.codes[:, 0]] == [*codes, *(["?"] if len(got) > len(codes) else [])]


def test_missing_values_join_their_category() -> None:
    """NULL, empty text and the category itself are one cell."""
    key = Key(name="a", column="a", codes=("x", "?"), missing="?")
    got = DuckDB.of(pa.table({"a": ["", None, "?", "x"]})).base_cells(Grouping(keys=(key,)))
    assert got.count.tolist() == [1, 3]
    only = DuckDB.of(pa.table({"a": ["", None, "?", "x"], "b": [1, 1, 1, 2]})).base_cells(
        Grouping(keys=(B,), where=((key, ("?",)),))
    )
    assert only.count.tolist() == [3]


def test_no_keys_is_one_cell_and_no_records_none() -> None:
    """The grand total; and a filter that leaves nobody."""
    engine = DuckDB.of(pa.table({"a": ["N", "N"], "x": [1, 2]}))
    assert engine.base_cells(Grouping(keys=(), magnitude="x", top=1)).total.tolist() == [3]  # type: ignore[union-attr]
    nobody = engine.base_cells(Grouping(keys=(A,), magnitude="x", top=1, where=((A, ("S",)),)))
    assert len(nobody) == 0
    assert nobody.codes.shape == (0, 1)
    assert len(engine.base_cells(Grouping(keys=(), where=((A, ("S",)),)))) == 0
    assert len(engine.base_cells(Grouping(keys=(), contributor="a", magnitude="x", top=1, where=((A, ()),)))) == 0


def test_cell_order_survives_more_cells_than_a_number_holds() -> None:
    """Twelve dimensions of a thousand codes each."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 1000, (50, 12)).astype(np.int32)
    codes = np.concatenate([codes, codes[:5]])
    order = np.argsort(cell_order(codes, (1000,) * 12), kind="stable")
    assert codes[order].tolist() == sorted(codes.tolist())
    assert len(np.unique(cell_order(codes, (1000,) * 12))) == 50


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([1.0, 2.0], 0),
        ([0.1, 0.2 + 0.1], 6),
        ([0.1, 19.99], 2),
        (["0.125", "x", ""], 3),
        ([1, 2], 0),
        ([Decimal("1.50")], 2),
        (pa.array([1.1], pa.float32()), 1),
        ([float("nan"), float("inf"), None], 0),
    ],
)
def test_decimals_are_found(values: Any, decimals: int) -> None:
    """The fewest that write every value; six when binary noise needs more."""
    assert DuckDB.of(pa.table({"x": values})).decimals("x") == decimals


def test_kinds_of_columns() -> None:
    """Each column's family."""
    table = pa.table(
        {"t": ["a"], "i": [1], "f": [1.5], "b": [True], "d": [Decimal("1.5")], "o": pa.array([0], pa.date32())}
    )
    assert list(DuckDB.of(table).columns().values()) == ["text", "integer", "float", "boolean", "decimal", "other"]


def test_duplicates_are_counted() -> None:
    """Units that occur more than once, and records without one."""
    assert DuckDB.of(pa.table({"id": ["a", "b", "a", "c", "c", "c", "", None]})).duplicates("id") == (2, 2)
    assert DuckDB.of(pa.table({"id": [1, 2, 3]})).duplicates("id") == (0, 0)


# -- refusals ---------------------------------------------------------------------------------------------------


def refused(act: Callable[[], object]) -> str:
    """The message of an InputError; neither it nor what it came from holds a value."""
    with pytest.raises(InputError) as caught:
        act()
    error: BaseException | None = caught.value
    while error is not None:
        for value in ("XSECRETX", "987654321"):
            assert value not in repr(error), error
        error = error.__cause__ or error.__context__
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_codes_outside_the_codebook_are_refused_by_count() -> None:
    """All faults of one call come in one line."""
    table = pa.table(
        {"a": ["XSECRETX", "XSECRETX", "N", None, ""], "b": [987654321, 1, None, 1, 1], "x": [1.0, None, 3, 4, 5]}
    )
    message = refused(lambda: DuckDB.of(table).base_cells(Grouping(keys=(A, B), magnitude="x")))
    assert message.startswith(
        "column 'a' of dimension 'area': 2 records hold a code that is not in the codebook (allowed: 'N', 'S', "
    )
    assert (
        '2 records have no value; correct the data or give missing values a category (missing = "Unknown")' in message
    )
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
    assert "magnitude column 'x': 2 records have no value (missing or NaN), " in message
    assert "2 records are infinite" in message
    assert "weight column 'w': 2 records have no value (missing or NaN), 1 record is infinite, 2 records are" in message
    assert "record key column 'r': 1 record has no value" in message
    if as_text:
        assert "1 record holds text that is no number" in message
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
