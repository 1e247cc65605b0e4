"""Dimensions called like columns of ours: every way out and back keeps their codes, read by others than us."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet import cli
from discreet.base.naming import heads, meant, unused
from discreet.formats import NAMES, to_bytes
from discreet.formats.growing import growing

HARD = ["status", "count", "inner", "measure", "pay", "OBS_VALUE", "Freq", "published count", "index", "status_", "key"]


def release(name: str, *, value: bool = False) -> dc.Release:
    """A table over a dimension of that name, with one inner cell and what protects it hidden."""
    cells = {name: ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"], "N": [3, 1, 4, 5], "£": [1.5, 2.25, 4, 8]}
    if value and name != "pay":
        cells["pay"] = cells.pop("£")
    measure = ("pay" if name != "pay" else "£") if value else None
    table = dc.Table.of(cells, [name, "sex"], count="N", value=measure)
    return dc.protect(table, dc.Hide(table.where(**{name: ["a", "b"], "sex": ["f", "m"]}))).release()


@pytest.mark.parametrize("name", HARD)
def test_frames_keep_the_codes(name: str) -> None:
    """No column of ours overwrites a dimension."""
    table = dc.Table.of({name: ["a", "b"], "N": [3, 1]}, [name], count="N")
    hidden = dc.protect(table, dc.Hide([1]))
    for frame in (table.cells, hidden.cells, hidden.release().cells, dc.Threshold(2).why(table)):
        assert set(frame[name].astype(str)) <= {"Total", "a", "b"}
        assert not frame.columns.duplicated().any()
    assert table.cells.shape[1] == 3
    assert hidden.cells.iloc[:, -1].tolist() == ["s", "u", "s"]
    assert hidden.release().cells.iloc[:, -1].tolist() == ["", "c", ""]


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("value", [False, True])
def test_rows_are_read_by_others(name: str, value: bool, tmp_path: Path) -> None:
    """CSV, with and without labels, and Parquet as pandas and pyarrow see them: dimensions, measure, status."""
    made = release(name, value=value)
    measure = next(iter(made.values))
    expected = made.cells
    for data, read in (
        (to_bytes(made, "csv"), lambda b: pd.read_csv(io.BytesIO(b), keep_default_na=False, dtype=str)),
        (to_bytes(made, "parquet"), lambda b: pq.read_table(io.BytesIO(b)).to_pandas()),
        (to_bytes(made, "parquet"), lambda b: pd.read_parquet(io.BytesIO(b))),
    ):
        frame = read(data)
        assert not frame.columns.duplicated().any()
        assert frame.columns[:2].tolist() == [name, "sex"]
        assert frame[name].astype(str).tolist() == expected[name].astype(str).tolist()
        assert meant(frame.columns[2], [name, "sex"]) == measure
        numbers = pd.to_numeric(frame.iloc[:, 2], errors="coerce").astype(float)
        assert np.array_equal(numbers, made.values[measure], equal_nan=True)
        assert frame.iloc[:, 3].tolist() == made.status.tolist()
    labelled = pd.read_csv(io.BytesIO(to_bytes(made, "csv", labels=True)), keep_default_na=False)
    assert labelled[name].tolist() == expected[name].astype(str).tolist()
    about = json.loads(to_bytes(made, "csvw", labels=True))
    assert [c["titles"] for c in about["tableSchema"]["columns"]] == labelled.columns.tolist()
    for kind in ("csv", "parquet"):
        sink = io.BytesIO()
        file = growing(kind, sink)
        file.add(made)
        file.close()
        assert sink.getvalue() == to_bytes(made, kind)


@pytest.mark.parametrize("name", HARD)
def test_every_other_format_names_the_dimension_once(name: str) -> None:
    """Nothing is written twice under one name; the dimension has its codes."""
    made = release(name)
    for kind in NAMES:
        assert to_bytes(made, kind)
    data = json.loads(to_bytes(made, "json-stat"))
    assert len(set(data["id"])) == len(data["id"]) == len(data["size"])
    assert data["dimension"][name]["category"]["index"] == ["Total", "a", "b"]
    sdmx = pd.read_csv(io.BytesIO(to_bytes(made, "sdmx-csv")), dtype=str, keep_default_na=False)
    assert not sdmx.columns.duplicated().any()
    assert sdmx.iloc[:, 3].tolist() == made.cells[name].astype(str).tolist()
    book = openpyxl.load_workbook(io.BytesIO(to_bytes(made, "xlsx")))
    sheet = book.worksheets[-1]
    assert [sheet.cell(row, 1).value for row in (5, 6, 7)] == ["Total", "a", "b"]
    first = to_bytes(made, "argus-csv", names=True).decode().splitlines()[0].split(",")
    assert len(set(first)) == len(first)
    assert f'VALUES("{name}")="Total","a","b";' in to_bytes(made, "px").decode().replace("\r\n", "")


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("value", [False, True])
def test_what_was_written_reads_back_and_is_audited_alike(name: str, value: bool, tmp_path: Path) -> None:
    """Renaming the dimension changes nothing that an audit finds."""
    made, plain = release(name, value=value), release("area", value=value)
    for k, one in enumerate((made, plain)):
        (tmp_path / f"{k}.csv").write_bytes(one.to_csv())
    back, other = (dc.Release.read_csv(tmp_path / f"{k}.csv") for k in range(2))
    assert replace(back, method=made.method) == made
    assert back.to_csv() == made.to_csv()
    found, expected = dc.audit(back), dc.audit(other)
    assert (found.lower.tolist(), found.upper.tolist()) == (expected.lower.tolist(), expected.upper.tolist())


@pytest.mark.parametrize("name", ["true", "status", "lower", "count", "below"])
def test_an_audit_against_the_truth_shows_no_truth(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever a dimension is called, the confidential file is read by its columns and its values stay in it."""
    monkeypatch.chdir(tmp_path)
    counts = [73001, 73002, 73003, 2, 73005, 73006]
    cells = {name: list("abcabc"), "sex": list("fffmmm"), "N": counts}
    pd.DataFrame(cells).to_csv("cells.csv", index=False)
    command = ["protect", "cells.csv", "--ready", "--count", "N", "--rule", "threshold(n=3, level=1)"]
    assert cli.run([*command, "-o", "out.csv", "--confidential", "truth.csv"]) == 0
    capfd.readouterr()
    assert cli.run(["audit", "out.csv", "--confidential", "truth.csv", "-o", "audit.csv"]) in (0, 1)
    written = pd.read_csv("audit.csv", dtype=str)
    assert "true" not in written or set(written["true"]) <= {"a", "b", "c", "Total"}
    assert unused(name, ["lower", "true", "status"]) in written or name in written
    columns = {str(c): set(written[c]) for c in written}
    truth = {str(n) for n in counts if n > 70_000} & {
        t for c, texts in columns.items() for t in texts if "lower" not in c
    }
    assert not truth - set(written["lower"]) - set(written["upper"])


def test_records_with_such_columns_are_counted() -> None:
    """The engine's own columns give way too."""
    frame = pd.DataFrame({"status": ["a", "b", "b"], "count": ["x", "x", "y"], "inner": [1, 2, 2], "pay": [1, 2, 3]})
    data = dc.Microdata.of(frame, dimensions=["status", "count", "inner"], magnitudes=["pay"])
    table = dc.tabulate(data, value="pay", by=["status", "count", "inner"])
    assert table.n == 3
    assert table.value[table.where(status="b", count="y", inner="2")].tolist() == [3]
    assert table.cells["status"].astype(str).unique().tolist() == ["Total", "a", "b"]


def test_a_ready_file_with_such_dimensions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A status of persons is a dimension; ours is a status only if it says so and nothing else."""
    monkeypatch.chdir(tmp_path)
    Path("persons.csv").write_text("sex,count,status\nf,3,single\nm,2,single\nf,4,married\nm,9,married\n")
    assert cli.run(["tabulate", "persons.csv", "--ready", "-o", "out.csv"]) == 0
    assert Path("out.csv").read_text().splitlines()[0] == "sex,status,count,status_"
    assert cli.run(["tabulate", "out.csv", "--ready", "-o", "again.csv"]) == 0
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()
    assert cli.run(["tabulate", "out.csv", "--ready", "-o", "out.parquet"]) == 0
    assert cli.run(["tabulate", "out.parquet", "--ready", "-o", "again.csv"]) == 0
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()
    made = release("count")
    Path("count.csv").write_bytes(
        dc.protect(dc.Table.of([[3, 1], [4, 5]], ["count", "sex"]), dc.Publish()).release().to_csv()
    )
    assert cli.run(["tabulate", "count.csv", "--ready", "-o", "again.csv"]) == 0
    assert Path("again.csv").read_bytes() == Path("count.csv").read_bytes()
    assert made.cells.columns.tolist() == ["count", "sex", "count_", "status"]


def test_what_cannot_be_told_apart_is_refused_by_name(tmp_path: Path) -> None:
    """Levels, marks and lines of risk have columns of their own."""
    table = dc.Table.of({"lower": ["1", "2"], "N": [3, 1]}, ["lower"], count="N")
    (tmp_path / "levels.csv").write_text("sex,lower,below\nf,1,2\n")
    with pytest.raises(dc.InputError, match="called 'lower'"):
        dc.rules.read_levels(tmp_path / "levels.csv").over(table)
    (tmp_path / "marks.csv").write_text("mark,mark\n1,u\n")
    with pytest.raises(dc.InputError, match="called 'mark'"):
        dc.rules.read_marks(tmp_path / "marks.csv")
    with pytest.raises(dc.InputError, match="called 'share'"):
        dc.assess(dc.Table.of([[3, 1], [2, 2]], ["share", "sex"])).lines  # noqa: B018
    frame = pd.DataFrame([["a", 1, 2]], columns=["d", "n", "n"])
    with pytest.raises(dc.InputError, match="more than one column is called 'n'"):
        dc.Table.of(frame, ["d"], count="n")
    with pytest.raises(dc.InputError, match="as a dimension and as numbers"):
        dc.Table.of({"d": ["1"], "n": [1]}, ["d", "n"], count="n")


def test_names_give_way_and_come_back() -> None:
    """``meant`` takes off what ``unused`` put on."""
    for dims in (["a"], ["status"], ["count", "count_"], ["status", "status_", "count"]):
        *_, measure, status = heads(dims, ["count"])
        assert len({*dims, measure, status}) == len(dims) + 2
        assert meant(measure, dims) == "count"
        assert meant(status, [*dims, measure]) == "status"
    assert unused("x", ["y"]) == "x"
