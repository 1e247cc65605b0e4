"""Records on every kind of source, the same counted in plain Python, and what a refusal must not tell."""

from __future__ import annotations

import gzip
import hashlib
import hmac
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
from hypothesis import strategies as st

from discreet.engines.protocol import CountedGroups, Grouping, Key, SpanningParts
from discreet.errors import InputError

SECRET = b"a secret of more than 16 bytes"


A = Key(name="area", column="a", codes=("N", "S", 'it\'s "E"', "01"))


B = Key(name="band", column="b", codes=("0", "1", "2", "-5"))


Record = dict[str, Any]


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


def people() -> pa.Table:
    """Three persons and their pay."""
    return pa.table({"id": [1, 2, 3], "county": ["01", "01", "02"], "sex": ["f", "m", "f"], "pay": [10.5, 8.0, 9.25]})


def equals_python(got: CountedGroups, rows: list[Record]) -> None:
    """Counts, exact sums, keys mod 2**64 and merged contributions are what a loop over records gives."""
    cells = cells_of(rows)
    assert [tuple(c) for c in got.codes.tolist()] == list(cells)
    assert got.count.tolist() == [len(c.rows) for c in cells.values()]
    assert got.total is not None
    assert got.total.tolist() == [sum(int(r["x"] * 100) for r in c.rows) for c in cells.values()]
    assert got.weight is not None
    assert got.weight.tolist() == [sum(int(r["w"] * 10**6) for r in c.rows) for c in cells.values()]
    assert got.weighted_total is not None
    assert got.weighted_total.tolist() == [sum(w for _, w in c.given.values()) for c in cells.values()]
    assert got.key is not None
    assert got.key.tolist() == [sum(r["r"] for r in c.rows) % 2**64 for c in cells.values()]
    check_contributions(got, list(cells.values()))
