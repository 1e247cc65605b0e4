"""Nested columns of records, and finished tables that are taken for records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.cli import run
from discreet.data.nested_columns import with_nested_columns


def people(n: int = 400, seed: int = 0) -> pd.DataFrame:
    """Nine municipalities in three regions in two countries."""
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 9, n)
    return pd.DataFrame(
        {
            "municipality": [f"m{k}" for k in place],
            "region": [f"r{k // 3}" for k in place],
            "country": ["x" if k < 6 else "y" for k in place],
            "sex": rng.choice(["f", "m"], n),
        }
    )


def test_levels_are_one_dimension_with_subtotals() -> None:
    """The subtotals are those of a table by the coarser column itself, whatever the order of the names."""
    data = dc.Microdata.of(people(), dimensions=["sex", "region", "municipality", "country"])
    table = dc.tabulate(data, by=["region", "sex", "country", "municipality"], nested=True)
    assert [d.name for d in table.dimensions] == ["sex", "municipality"]
    assert list(table.dimensions[1].levels) == [
        "total", "country", "region", "municipality",
    ]  # fmt: skip
    for column in ("region", "country"):
        plain = dc.tabulate(data, by=["sex", column])
        for code in plain.dimensions[1].leaves:
            there = plain.count[plain.where(**{column: code})]
            assert table.count[table.where(municipality=code)].tolist() == there.tolist()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_crossed_columns_stay_crossed(seed: int) -> None:
    """One record out of place, or columns that are crossed, or few records, and nothing is joined."""
    frame = people(seed=seed)
    frame.loc[len(frame)] = ["m0", "r2", "x", "f"]
    data = dc.Microdata.of(frame, dimensions=["sex", "region", "municipality"])
    assert with_nested_columns(data, ["sex", "region", "municipality"]).by == ("sex", "region", "municipality")
    few = dc.Microdata.of(people(6, seed), dimensions=["municipality", "sex"])
    assert with_nested_columns(few, ["municipality", "sex"]).by == ("municipality", "sex")


def test_codes_that_two_levels_share_are_told_apart() -> None:
    """Region 1 and municipality 1 are not the same."""
    frame = people()
    frame["region"] = frame["region"].str[1:]
    frame["municipality"] = frame["municipality"].str[1:]
    data = dc.Microdata.of(frame, dimensions=["region", "municipality"])
    table = dc.tabulate(data, by=["region", "municipality"], nested=True)
    assert "region 1" in table.dimensions[0].codes
    assert int(table.count[table.where(municipality="region 1")][0]) == int((frame["region"] == "1").sum())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Records, some of them without a sex, and a finished table."""
    monkeypatch.chdir(tmp_path)
    frame = people()
    frame.loc[::7, "sex"] = None
    frame.to_csv("people.csv", index=False)
    (tmp_path / "finished.csv").write_text("area,sex,count\na,f,3\na,m,4\nb,f,5\nb,m,9\n")
    (tmp_path / "totals.csv").write_text("area,sex,pay\na,f,3\na,m,4\na,All,7\nb,f,5\nb,m,9\nb,All,14\n")
    return tmp_path


def test_on_the_command_line(folder: Path, capfdbinary: Any) -> None:
    """Found and said; not if it is said; missing values of one dimension get a category."""
    arguments = ["tabulate", "people.csv", "--by", "region,municipality,sex", "--missing", "sex=unknown"]
    assert run(arguments) == 0
    out, err = capfdbinary.readouterr()
    assert out.decode().splitlines()[0] == "municipality,sex,count,status"
    assert f"Total,unknown,{len(range(0, 400, 7))}," in out.decode().splitlines()
    assert b"'region' is a level of 'municipality'" in err
    assert run([*arguments, "--no-nested"]) == 0
    assert capfdbinary.readouterr().out.decode().splitlines()[0] == "region,municipality,sex,count,status"
    assert run([*arguments, "--missing", "unknown"]) == 2
    assert b"one CODE for all dimensions, or DIMENSION=CODE" in capfdbinary.readouterr().err


@pytest.mark.parametrize(("file", "words"), [("finished.csv", "a column 'count'"), ("totals.csv", "'sex' has a total")])
def test_a_finished_table_is_not_counted_line_by_line(folder: Path, capfdbinary: Any, file: str, words: str) -> None:
    """Refused with what to do, on the command line and in Python; as a table it is read."""
    assert run(["tabulate", file, "--by", "area,sex"]) == 2
    assert run(["protect", file, "--by", "area,sex", "--method", "round"]) == 2
    text = capfdbinary.readouterr().err.decode()
    assert text.count(words) == 2
    assert "--ready" in text
    data = dc.Microdata.of(pd.read_csv(file), dimensions=["area", "sex"])
    with pytest.raises(dc.InputError, match="read_table"):
        dc.tabulate(data, by=["area", "sex"])
    assert dc.tabulate(data, by=["area"]).n in (4, 6)  # lines of one area are alike, as records are


@pytest.mark.parametrize("cells", [["120", "3", "45"], ["1,204", "*", "45"], ["12", "", "-"]])
def test_a_wide_table_is_not_counted_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any, cells: list[str]
) -> None:
    """Numbers across, with or without marks and signs between thousands; records with a unit are records."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"area": ["a", "b", "c"], "Male": cells, "Female": ["7", "8", "9"]})
    frame.to_csv("wide.csv", index=False)
    assert run(["protect", "wide.csv", "--by", "area", "--rule", "threshold(n=3)"]) == 2
    text = capfdbinary.readouterr().err.decode()
    assert "'Male'" in text
    assert "'Female'" in text
    assert "--hide-under" in text
    with pytest.raises(dc.InputError, match="finished table"):
        dc.tabulate(dc.Microdata.of(frame, dimensions=["area"]), by=["area"])
    frame = frame.assign(person=["x", "y", "z"])
    assert dc.tabulate(dc.Microdata.of(frame, dimensions=["area"], unit="person"), by=["area"]).n == 3


def test_records_that_differ_are_records() -> None:
    """Each has labels of its own; what stands beside them is no whole number, or two lines are alike."""
    frame = pd.DataFrame({"area": ["a", "b", "c"], "pay": [1.5, 2.25, 7.0], "job": ["x", "y", "z"]})
    assert dc.tabulate(dc.Microdata.of(frame, dimensions=["area"]), by=["area"]).n == 3
    frame = pd.DataFrame({"area": ["a", "b", "b"], "age": [31, 40, 51]})
    assert dc.tabulate(dc.Microdata.of(frame, dimensions=["area"]), by=["area"]).n == 3


def test_numbers_that_are_text_are_asked_about() -> None:
    """One or a thousand: an error in place of a silent one."""
    frame = pd.DataFrame({"a": ["x", "y"], "count": ["1.000", "2"]})
    with pytest.raises(dc.InputError, match=r"thousands='.'"):
        dc.Table.of(frame, ["a"])
    assert dc.Table.of(frame, ["a"], thousands=".").count.tolist() == [1002, 1000, 2]
    assert dc.Table.of(frame, ["a"], decimal=".").count.tolist() == [3, 1, 2]
    assert dc.Table.of({"a": ["x", "y"], "count": ["12", "2"]}, ["a"]).count.tolist() == [14, 12, 2]
    with pytest.raises(dc.InputError, match="holds numbers, not text"):
        dc.Table.of(pd.DataFrame({"a": ["x"], "count": [1]}), ["a"], decimal=",")
