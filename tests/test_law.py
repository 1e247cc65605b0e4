"""The law: what is read, protected, written and read back by others gives no sensitive cell to an independent attacker.

The attacker is a few lines on ``scipy.optimize.milp``. He knows what the file says, that totals are sums, that nothing
is negative and that counts are whole; he knows nothing of discreet. And whatever an audit calls ok he cannot break.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

import discreet as dc
from discreet.cli import run
from discreet.tables.reading.number_marks import NumberMarks

Array = NDArray[Any]
Cells = dict[tuple[str, ...], float | None]
TOTAL = "Total"
BEYOND = 1e5  # no number of these tables is as large
QUIET = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


# -- the attacker -----------------------------------------------------------------------------------------------------


class Attacker:
    """Everything that fits what is shown: one unknown per combination of codes that are not totals."""

    def __init__(self, cells: Cells, *, whole: bool) -> None:
        self.codes = [sorted({key[k] for key in cells} - {TOTAL}) for k in range(len(next(iter(cells))))]
        self.inner = list(itertools.product(*self.codes))
        self.whole = whole
        shown = {key: value for key, value in cells.items() if value is not None}
        rows = np.array([self.row(key) for key in shown])
        values = np.array(list(shown.values()), float)
        self.equations = LinearConstraint(rows, values, values) if len(shown) else ()

    def row(self, key: tuple[str, ...]) -> list[float]:
        """Which unknowns a cell is the sum of."""
        return [float(all(k in (TOTAL, i) for k, i in zip(key, inner, strict=True))) for inner in self.inner]

    def interval(self, key: tuple[str, ...]) -> tuple[float, float]:
        """The least and the greatest value that a cell can have."""
        ends = []
        for sign in (1.0, -1.0):
            found = milp(
                sign * np.array(self.row(key)), constraints=self.equations, bounds=Bounds(0, BEYOND),
                integrality=np.full(len(self.inner), int(self.whole)),
            )  # fmt: skip
            assert found.status == 0, "what is published contradicts itself"
            ends.append(sign * found.fun)
        return ends[0], ends[1]

    def knows(self, key: tuple[str, ...]) -> bool:
        """Whether one value is left."""
        low, high = self.interval(key)
        return high - low < 0.5


# -- readers of others ------------------------------------------------------------------------------------------------


def rows_of(frame: pd.DataFrame, names: list[str], value: str) -> Cells:
    return {
        tuple(str(row[n]) for n in names): None if pd.isna(row[value]) else float(row[value])
        for _, row in frame.iterrows()
    }


def in_order(values: list[Any], codes: list[list[str]]) -> Cells:
    """Numbers that stand in the order of the codes, the last fastest; what is no number is hidden."""
    keys = list(itertools.product(*codes))
    assert len(keys) == len(values)
    numbers = [float(v) if isinstance(v, int | float) or str(v).replace(".", "").isdigit() else None for v in values]
    return dict(zip(keys, numbers, strict=True))


def from_csv(data: bytes, names: list[str], codes: list[list[str]]) -> Cells:
    return rows_of(pd.read_csv(io.BytesIO(data), dtype=dict.fromkeys(names, str), comment="#"), names, "count")


def from_parquet(data: bytes, names: list[str], codes: list[list[str]]) -> Cells:
    import pyarrow.parquet as pq

    return rows_of(pq.read_table(io.BytesIO(data)).to_pandas(), names, "count")


def from_xlsx(data: bytes, names: list[str], codes: list[list[str]]) -> Cells:
    import openpyxl

    book, values = openpyxl.load_workbook(io.BytesIO(data)), []
    for sheet in book.worksheets[1:]:
        body = list(sheet.iter_rows(values_only=True))
        head = next(k for k, row in enumerate(body) if row[0] == "code")
        columns = sum(name is not None for name in body[head])
        values += [v for row in body[head + 1 :] if row[0] is not None for v in row[2:columns]]
    return in_order(values, codes)


def from_json(data: bytes, names: list[str], codes: list[list[str]]) -> Cells:
    found = json.loads(data)
    own = [found["dimension"][n]["category"]["index"] for n in names]
    return in_order(found["value"], own)


def from_sdmx(data: bytes, names: list[str], codes: list[list[str]]) -> Cells:
    heads = [n.upper() for n in names]
    frame = pd.read_csv(io.BytesIO(data), dtype=dict.fromkeys(heads, str))
    return rows_of(frame, heads, "OBS_VALUE")


def from_px(data: bytes, names: list[str], codes: list[list[str]]) -> Cells:
    return in_order(data.decode().partition("DATA=")[2].rstrip().rstrip(";").split(), codes)


def from_html(data: bytes, names: list[str], codes: list[list[str]]) -> Cells:
    return in_order(re.findall(r"<td>(?:<abbr[^>]*>)?([^<]*)<", data.decode()), codes)


def from_argus(data: bytes, names: list[str], codes: list[list[str]]) -> Cells:
    rows = list(csv.reader(io.StringIO(data.decode())))
    n = len(names)
    return {tuple(r[:n]): float(r[n]) if r[n] not in ("x", "") else None for r in rows if r}


READERS: Mapping[str, Callable[[bytes, list[str], list[list[str]]], Cells]] = {
    "csv": from_csv, "csv-notes": from_csv, "parquet": from_parquet, "xlsx": from_xlsx, "json-stat": from_json,
    "sdmx-csv": from_sdmx, "px": from_px, "html": from_html, "argus-csv": from_argus, "sbs": from_argus,
}  # fmt: skip


# -- ways in ----------------------------------------------------------------------------------------------------------


@st.composite
def arrays(draw: st.DrawFn) -> Array:
    """Small tables of two or three dimensions, with many small counts and zeros."""
    shape = draw(st.sampled_from([(2, 3), (3, 3), (4, 3), (2, 2, 2), (3, 2, 2), (2, 3, 3)]))
    size = int(np.prod(shape))
    values = draw(st.lists(st.sampled_from([0, 1, 1, 2, 3, 4, 7, 12]), min_size=size, max_size=size))
    assume(sum(values) > 0)
    return np.array(values).reshape(shape)


def names_of(counts: Array) -> list[str]:
    return [f"d{k}" for k in range(counts.ndim)]


def records(counts: Array) -> pd.DataFrame:
    """One row per person."""
    places = [[str(i + 1) for i in at] for at, n in np.ndenumerate(counts) for _ in range(n)]
    return pd.DataFrame(places, columns=names_of(counts))


def true_cells(counts: Array) -> dict[tuple[str, ...], int]:
    """Every cell with its totals, counted here."""
    axes = [[TOTAL, *(str(i + 1) for i in range(n))] for n in counts.shape]
    found = {}
    for key in itertools.product(*axes):
        at = tuple(slice(None) if k == TOTAL else int(k) - 1 for k in key)
        found[key] = int(counts[at].sum())
    return found


def tabulated(way: str, counts: Array, folder: Path) -> dc.Table:
    names = names_of(counts)
    if way == "array":
        return dc.Table.of(counts, names)
    if way == "cells":
        cells = true_cells(counts)
        frame = pd.DataFrame([[*key, n] for key, n in cells.items()], columns=[*names, "count"])
        return dc.Table.of(frame, names, count="count")
    frame = records(counts)
    if way == "records":
        return dc.tabulate(dc.Microdata.of(frame, dimensions=names), by=names)
    path = folder / f"records.{way}"
    frame.to_csv(path, index=False) if way == "csv" else frame.to_parquet(path)
    return dc.tabulate(dc.Microdata.of(path, dimensions=names), by=names)


WAYS = ("array", "cells", "records", "csv", "parquet")


# -- the law ----------------------------------------------------------------------------------------------------------


def broken(cells: Cells, truth: Mapping[tuple[str, ...], int], n: int) -> list[tuple[str, ...]]:
    """Sensitive cells (0 < count < n) that the attacker knows."""
    attacker = Attacker(cells, whole=True)
    return [key for key in cells if 0 < truth[key] < n and (cells[key] is not None or attacker.knows(key))]


@QUIET
@given(arrays(), st.sampled_from(WAYS), st.sampled_from([2, 3, 5]), st.sampled_from(["gauss", "optimal", "modular"]))
def test_no_way_in_and_no_way_out_gives_a_sensitive_cell(
    tmp_path_factory: pytest.TempPathFactory, counts: Array, way: str, n: int, method: str
) -> None:
    """Every way in, every method of suppression, every format: all say the same, and it breaks no sensitive cell."""
    table = tabulated(way, counts, tmp_path_factory.mktemp("in"))
    try:
        release = dc.protect(table, dc.Suppress(dc.Threshold(n), method=method)).release()
    except dc.Refused:
        return
    names, codes = names_of(counts), [list(d.codes) for d in release.dimensions]
    first = from_csv(release.to_csv(), names, codes)
    for name, read in READERS.items():
        assert read(dc.formats.to_bytes(release, name), names, codes) == first, name
    truth = true_cells(counts)
    assert all(value in (None, truth[key]) for key, value in first.items())
    assert not broken(first, truth, n)


def test_every_format_is_attacked() -> None:
    """A format without a reader of others here would escape the law; metadata hold no number."""
    assert set(READERS) == set(dc.formats.NAMES) - {"csvw"}


@settings(QUIET, max_examples=6)
@given(counts=arrays(), n=st.sampled_from([3, 5]))
def test_the_command_line_gives_no_sensitive_cell(
    tmp_path_factory: pytest.TempPathFactory, counts: Array, n: int
) -> None:
    """Records in a file, `discreet protect`, the file read by pandas, and `discreet audit` of it."""
    folder, names = tmp_path_factory.mktemp("cli"), names_of(counts)
    records(counts).to_csv(folder / "in.csv", index=False)
    out = folder / "out.csv"
    code = run(
        ["protect", str(folder / "in.csv"), "--by", ",".join(names), "--rule", f"threshold(n={n})", "-o", str(out)]
    )
    assert code in (0, 3)
    if code == 3:
        assert not out.exists()
        return
    cells = from_csv(out.read_bytes(), names, [])
    assert not broken(cells, true_cells(counts), n)
    if run(["audit", str(out)]) == 0:
        attacker = Attacker(cells, whole=True)
        assert not any(attacker.knows(key) for key, value in cells.items() if value is None)


@QUIET
@given(arrays(), st.data())
def test_what_the_audit_calls_ok_is_not_broken(
    tmp_path_factory: pytest.TempPathFactory, counts: Array, data: st.DataObject
) -> None:
    """Random cells hidden: in memory, as a Release and from a file the audit is ok only if no hidden cell is known."""
    table = dc.Table.of(counts, names_of(counts))
    share = data.draw(st.sampled_from([0.2, 0.4, 0.6]))
    hidden = np.random.default_rng(data.draw(st.integers(0, 1000))).random(len(table)) < share
    done = dc.protect(table, dc.Hide(hidden))
    path = tmp_path_factory.mktemp("out") / "t.csv"
    cells = from_csv(done.release().to_csv(path), names_of(counts), [])
    attacker = Attacker(cells, whole=True)
    known = {key for key, value in cells.items() if value is None and attacker.knows(key)}
    read = dc.Release.read(
        path, total=TOTAL, marks=NumberMarks(zeros_hidden=True)
    )  # cells are hidden whatever they hold
    for found in (dc.audit(done), dc.audit(done.release()), dc.audit(read)):
        assert not (found.ok and known)
        frame = found.cells
        exact = {tuple(row) for row in frame.loc[frame["finding"] == "exact", names_of(counts)].to_numpy().tolist()}
        assert exact == known


@st.composite
def firms(draw: st.DrawFn) -> pd.DataFrame:
    """Some firms in each cell of a small table, with whole turnovers of very different size."""
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from([1, 2, 5, 20, 90, 400])),
            min_size=12, max_size=40,
        )
    )  # fmt: skip
    return pd.DataFrame(rows, columns=["d0", "d1", "v"]).astype({"v": float})


@QUIET
@given(firms(), st.sampled_from([10, 25]), st.sampled_from(["gauss", "optimal", "modular"]))
def test_no_firm_is_known_more_closely_than_the_rule_allows(frame: pd.DataFrame, p: int, method: str) -> None:
    """p %: the attacker's interval of every sensitive cell reaches the level on both sides, worked out here."""
    data = dc.Microdata.of(frame, dimensions=["d0", "d1"], magnitudes=["v"])
    table = dc.tabulate(data, by=["d0", "d1"], value="v", top=3)
    try:
        done = dc.protect(table, dc.Suppress(dc.PPercent(p), method=method))
    except dc.Refused:
        return
    text = done.release().to_csv()
    cells = rows_of(pd.read_csv(io.BytesIO(text), dtype={"d0": str, "d1": str}), ["d0", "d1"], "v")
    attacker = Attacker(cells, whole=False)
    for key, value in cells.items():
        inside = frame[(frame["d0"] == key[0]) | (key[0] == TOTAL)]
        size = np.sort(inside.loc[(inside["d1"] == key[1]) | (key[1] == TOTAL), "v"].to_numpy())[::-1]
        if not len(size):
            continue
        level = p / 100 * size[0] - size[2:].sum()
        if level <= 1e-9:
            continue
        assert value is None
        low, high = attacker.interval(key)
        assert low <= max(size.sum() - level, 0) + 1e-4
        assert high >= size.sum() + level - 1e-4
