"""Planted cases: what several files give away is found, with the files and the sum; what is clean passes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.cli import run


def write(path: Path, table: dc.Table, hide: list[Any] | None = None) -> str:
    """A table published in a file, with some cells hidden."""
    method = dc.Hide(hide) if hide else dc.Publish()
    return str(dc.write(dc.protect(table, method).release(), path))


def test_one_person_between_january_and_february(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As an audit the files contradict each other; their difference is one person."""
    counts = np.array([[40, 39, 17], [30, 31, 22]])
    first = write(tmp_path / "january.csv", dc.Table.of(counts, ["area", "job"]))
    counts[1, 1] -= 1
    second = write(tmp_path / "february.xlsx", dc.Table.of(counts, ["area", "job"]))
    assert run(["audit", first, second]) == 2
    text = capsys.readouterr().err
    assert "'january.csv', 'february.xlsx' contradict each other" in text
    assert "A smallest such set has 2 cells" in text
    assert run(["audit", first, second, "--difference", "--under", "3"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "area 2, job 2: 31 - 30 = 1 from january.csv and february.xlsx (difference)"
    assert len(out) == 4
    assert run(["audit", first, first.replace("january", "again"), "--difference"]) == 2


def test_men_beside_everybody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By difference; and, if the mapping says whose table it is, as one system in which the women follow."""
    men = np.array([[12, 30], [25, 18]])
    women = np.array([[1, 26], [21, 33]])
    every = write(tmp_path / "all.px", dc.Table.of(men + women, ["area", "age"]))
    males = write(tmp_path / "males.json", dc.Table.of(men, ["area", "age"]))
    assert run(["audit", every, males, "--difference"]) == 1
    assert "area 1, age 1: 13 - 12 = 1 from all.px and males.json (difference)" in capsys.readouterr().out
    mapping = tmp_path / "map.toml"
    mapping.write_text('[tables."males.json"]\nfixed = { sex = "m" }\n')
    found = dc.difference([every, males], mapping=mapping)
    assert found.groups == (("all.px", "males.json"),)
    assert [(one.size, one.kind, one.files) for one in found.populations] == [
        (1, "subtraction", ("all.px", "males.json"))
    ]
    assert found.populations[0].argument == "13 - 12 = 1 from all.px and males.json"


def test_a_grid_beside_municipalities(tmp_path: Path) -> None:
    """Two geographies over the same leaves: a sliver of two people, and one of two leaves, neither known alone."""
    towns = dc.Dimension.flat("place", ["A", "B", "C"])
    squares = dc.Dimension.flat("place", ["x1", "x2", "x3"])
    first = write(tmp_path / "towns.csv", dc.Table.of([70, 52, 90], [towns]))
    second = write(tmp_path / "grid.parquet", dc.Table.of([68, 51, 93], [squares]))
    leaves = {"A": ["x1", "l2"], "B": ["l3", "l4"], "x2": ["l2", "l5"], "C": ["l5", "l6"], "x3": ["l3", "l4", "l6"]}
    unknown = dc.difference([first, second])
    assert unknown.verdict == "unknown"
    found = dc.difference([first, second], mapping={"sums": {"place": leaves}})
    assert found.verdict == "fail"
    sliver = found.populations[0]
    assert (sliver.cell, sliver.size, sliver.files) == ("place l2", 2, ("grid.parquet", "towns.csv"))
    assert sliver.argument == "70 - 68 = 2 from grid.parquet and towns.csv"
    assert not dc.difference([first, second], under=2, mapping={"sums": {"place": leaves}}).populations


def test_a_firm_in_two_linked_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each table hides enough by itself; together they show the turnover of one firm."""
    values = np.array([[[800.0, 120.0], [50.0, 70.0]], [[300.0, 90.0], [40.0, 65.0]]])
    dims = ["branch", "region", "size"]
    table = dc.Table.of(values, dims, value="turnover")
    by_region = table.with_margins([("branch", "region")])
    by_size = table.with_margins([("branch", "size")])
    square = [{"branch": b, "region": r, "size": "Total"} for b in ("1", "2") for r in ("1", "2")]
    first = write(tmp_path / "regions.csv", by_region, square)
    second = write(tmp_path / "sizes.html", by_size)
    one = dc.Dimension.flat("branch", ["1"], total=None)
    detail = dc.Table.of(
        values[:1, :1], [one, dc.Dimension.flat("region", ["1"], total=None), "size"], value="turnover"
    )
    third = write(tmp_path / "detail.sdmx.csv", detail)
    assert run(["audit", first]) == 0
    assert run(["audit", first, second]) == 0
    capsys.readouterr()
    assert run(["audit", third, first]) == 1
    told = capsys.readouterr().err
    assert "regions.csv 1 1 Total: 920 from detail.sdmx.csv" in told
    assert "regions.csv 1 2 Total: 1040 - 920 = 120 from detail.sdmx.csv and regions.csv" in told


def test_a_rounding_base_that_is_known() -> None:
    """Rounded cells beside a rounded total: with the base known the ends meet."""
    dims = [dc.Dimension.flat("area", ["1", "2", "3", "4"])]
    table = dc.Table.of([2, 2, 2, 2], dims)
    rounded = dc.protect(table.with_margins([{"area": ["1", "2", "3", "4"]}]), dc.Round(5)).release()
    exact = dc.protect(table.with_margins([{"area": ["Total"]}]), dc.Publish()).release()
    report = dc.audit({"rounded.csv": rounded, "total.csv": exact})
    assert rounded.values["count"].tolist() == [0, 0, 0, 0]
    assert not (dc.audit({"rounded.csv": rounded}).finding == "exact").any()
    assert (report.finding == "exact").all()
    because = report.because()
    assert because["files"].iloc[-1] == ("rounded.csv", "total.csv")
    bare = replace(rounded, method="", truthful=None)
    with pytest.raises(dc.InputError, match="contradict"):
        dc.audit({"rounded.csv": bare, "total.csv": exact})
    base = {"tables": {"rounded.csv": {"rounding": 5}}}
    again = dc.audit({"rounded.csv": bare, "total.csv": exact}, mapping=base)
    assert again.lower.tolist() == report.lower.tolist()


def test_a_clean_set_of_fifty_files_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protected together by hiding the same cells; in seconds on a quiet machine, here with room to spare."""
    generator = np.random.default_rng(3)
    shape = (6, 5, 4)
    counts = generator.integers(20, 90, shape)
    counts[0, 0], counts[1, 0], counts[0, 1], counts[1, 1] = 2, 30, 40, 50
    files = []
    for k in range(50):
        axes = ["area", "job", f"kind {k}"]
        split = generator.multinomial(1, [0.25] * 4, shape[:2]).argmax(axis=2)
        own = np.stack(
            [np.where(split == j, counts.sum(axis=2) // 2, counts.sum(axis=2) // 6) for j in range(4)], axis=2
        )
        own[:, :, 0] += counts.sum(axis=2) - own.sum(axis=2)
        corner = [{"area": a, "job": j} for a in ("1", "2") for j in ("1", "2")]
        files.append(write(tmp_path / f"t{k}.csv", dc.Table.of(own, axes), corner))
    assert run(["audit", *files, "--rows", "1"]) == 0
    assert "verdict: pass" in capsys.readouterr().err


def test_exit_codes_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What fails is what --fail-on says; reports say the same as the terminal; nothing is written over."""
    table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "job"])
    corner = [{"area": a, "job": j} for a in ("2", "3") for j in ("1", "2")]
    first = write(tmp_path / "a.csv", table, corner)
    second = tmp_path / "b.csv"
    second.write_text("area;job;count\n2;1;10\n")
    page, found = tmp_path / "r.html", tmp_path / "r.json"
    assert run(["audit", first, str(second), "--html", str(page), "-o", str(found)]) == 1
    assert "a.csv 2 2: 20 - 10 - 8 = 2 from a.csv and b.csv" in capsys.readouterr().err
    content = json.loads(found.read_text())
    assert content["files"] == ["a.csv", "b.csv"]
    assert content["arguments"][1]["argument"] == "20 - 10 - 8 = 2 from a.csv and b.csv"
    assert "20 - 10 - 8 = 2" in page.read_text()
    assert run(["audit", first]) == 0
    assert run(["audit", first, "--fail-on", "risk=3"]) == 0
    assert run(["audit", first, "--fail-on", "risk=4"]) == 1
    assert run(["audit", first, "--fail-on", "exact"]) == 0
    assert run(["audit", first, "--fail-on", "often"]) == 2
    assert run(["audit", first, first]) == 2
    assert run(["audit", first, "-o", first]) == 2
    assert run(["audit", first, "--under", "3"]) == 2
    assert run(["audit", first, "--mapping", str(tmp_path / "none.toml")]) == 2


def test_a_mapping_matches_names_codes_and_measures(tmp_path: Path) -> None:
    """Names in another language; what the mapping does not know is refused."""
    table = dc.Table.of([[20, 50], [10, 2], [30, 7]], ["area", "job"])
    corner = [{"area": a, "job": j} for a in ("2", "3") for j in ("1", "2")]
    first = write(tmp_path / "a.csv", table, corner)
    second = tmp_path / "b.csv"
    second.write_text("Gebiet;Beruf;Personen\nzwei;eins;10\n")
    text = '[dimensions]\nGebiet = "area"\nBeruf = "job"\n[measures]\nPersonen = "count"\n'
    text += '[codes.area]\nzwei = "2"\n[tables."b.csv".codes.job]\neins = "1"\n'
    mapping = tmp_path / "map.toml"
    mapping.write_text(text)
    report = dc.audit([first, second], mapping=mapping)
    assert (report.finding == "exact").all()
    with pytest.raises(dc.InputError, match=r"'c\.csv', which is not given"):
        dc.audit([first, second], mapping={"tables": {"c.csv": {}}})
    with pytest.raises(dc.InputError, match="unknown key 'sum'"):
        dc.audit([first, second], mapping={"sum": {}})


def test_sums_of_a_file_come_from_the_mapping(tmp_path: Path) -> None:
    """A hierarchy in a CSV, which the file itself cannot tell."""
    path = tmp_path / "tree.csv"
    path.write_text("area,count\nTotal,30\nN,12\nN1,c\nN2,8\nS,c\nW,7\n")
    assert dc.audit([path]).lower.tolist() == [1, 1]
    report = dc.audit([path], mapping={"sums": {"area": {"N": ["N1", "N2"]}}})
    assert report.lower.tolist() == report.upper.tolist() == [4, 11]
    assert report.because()["argument"].tolist() == ["12 - 8 = 4 from tree.csv", "30 - 12 - 7 = 11 from tree.csv"]


def test_numbers_under_another_name_are_asked_about(tmp_path: Path) -> None:
    """They may be the same; until the mapping says whether they are, nothing passes."""
    table = dc.Table.of([[20, 50], [10, 2], [30, 7]], ["area", "table"])  # a dimension that is called as our column is
    corner = [{"area": a, "table": j} for a in ("2", "3") for j in ("1", "2")]
    first = write(tmp_path / "a.csv", table, corner)
    second = tmp_path / "b.csv"
    second.write_text("area,table,persons\n2,1,10\n")
    report = dc.audit([first, second])
    assert report.verdict == "unknown"
    assert any("'persons' and not 'count'" in text for text in report.unjudged)
    other = dc.audit([first, second], mapping={"measures": {"persons": "persons", "count": "count"}})
    assert not any("'persons' and not 'count'" in text for text in other.unjudged)
    same = dc.audit([first, second], mapping={"measures": {"persons": "count"}})
    assert same.because()["argument"].iloc[1] == "12 - 10 = 2 from a.csv and b.csv"


def test_months_of_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table with its months in a column is one for each month."""
    path = tmp_path / "months.csv"
    lines = ["area,month,count"]
    for k, month in enumerate(("jan", "feb", "mar")):
        lines += [f"Total,{month},{70 + k}", f"1,{month},{40 + k}", f"2,{month},30"]
    path.write_text("\n".join(lines))
    assert run(["audit", str(path), "--total", "month=", "--difference", "--along", "month", "--under", "3"]) == 1
    out = capsys.readouterr().out
    assert "area 1: 41 - 40 = 1 from months.csv feb and months.csv jan (difference)" in out
    assert "area 2" not in out
    assert run(["audit", str(path), "--total", "month=", "--difference", "--along", "mouth"]) == 2
