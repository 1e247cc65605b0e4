"""A count that a file does not show is 1 at least where zeros are shown; every interval against an integer program."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

import discreet as dc
from discreet.cli import run

Grid = list[list[Any]]
KNOWN: Grid = [
    ["Area", "a", "b", "c", "d", "Total"],
    ["N", "*", "*", 10, 0, 12],
    ["S", "*", "*", 20, 9, 39],
    ["Total", 7, 5, 30, 9, 51],
]


def written(path: Path, rows: Grid) -> str:
    """Rows as a file: wide in a CSV or on a sheet, or as a list of cells (``.long.csv``)."""
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in rows:
            book.worksheets[0].append(row)
        book.save(path)
    elif path.name.endswith(".long.csv"):
        cells = [
            f"{row[0]},{code},{value}" for row in rows[1:] for code, value in zip(rows[0][1:], row[1:], strict=True)
        ]
        path.write_text("\n".join(["area,group,count", *cells]) + "\n")
    else:
        path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    return str(path)


def audited(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any], str]:
    """The exit code, the report and what was said."""
    code = run(["audit", *arguments, "--json"])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else {}, err


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx", "a.long.csv"])
def test_where_a_zero_is_shown(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All four are known: each row of two hidden counts with the sum 2 is 1 and 1; --zeros-hidden denies it."""
    path = written(tmp_path / name, KNOWN)
    code, report, said = audited([path], capsys)
    assert (code, report["verdict"], report["summary"]["exact"]) == (1, "fail", 4)
    assert "taken as 1 at least, as zeros are shown" in said
    code, report, said = audited([path, "--zeros-hidden"], capsys)
    assert (code, report["verdict"], report["summary"]["exact"]) == (0, "pass", 0)
    assert "1 at least" not in said


def test_of_several_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same where a file is judged with others, and in Python."""
    path = written(tmp_path / "a.csv", KNOWN)
    other = written(
        tmp_path / "b.csv", [["Area", "x", "y", "Total"], ["N", 5, 7, 12], ["S", 30, 9, 39], ["Total", 35, 16, 51]]
    )
    assert audited([path, other, "--measure", "count"], capsys)[1]["summary"]["exact"] == 4
    assert int((dc.audit(path).finding == "exact").sum()) == 4
    assert int((dc.audit(path, mapping={"zeros_hidden": True}).finding == "exact").sum()) == 0


def test_where_no_zero_is_shown_the_worse_case_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing says whether zeros are hidden: the verdict is that of those who know that they are not."""
    path = written(
        tmp_path / "a.csv", [["Area", "a", "b", "Total"], ["N", "*", "*", 2], ["S", 9, 9, 18], ["Total", "*", "*", 20]]
    )
    code, report, said = audited([path], capsys)
    assert (code, report["verdict"]) == (1, "fail")
    assert "the worse case, as nothing says whether zeros are hidden" in said


def test_hidden_zeros_that_the_sums_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two hidden counts with the sum 0: zeros are hidden, which is said, and nothing is taken of the others."""
    rows: Grid = [
        ["Area", "a", "b", "Total"],
        ["N", "*", "*", 0],
        ["S", "*", "*", 3],
        ["W", "*", "*", 30],
        ["Total", 13, 20, 33],
    ]
    code, report, said = audited([written(tmp_path / "a.csv", rows)], capsys)
    assert (code, report["summary"]["exact"]) == (1, 2)
    assert "so zeros are hidden, too" in said


def test_a_range_that_begins_at_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file with "0-4" hides zeros, and says so."""
    rows: Grid = [["Area", "a", "b", "Total"], ["N", "0-4", "*", 2], ["S", 9, 9, 18], ["Total", "*", "*", 20]]
    assert audited([written(tmp_path / "a.csv", rows)], capsys)[0] == 0


def test_a_certificate_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is taken as 1 at least is so for the checker, too."""
    path = written(tmp_path / "a.long.csv", KNOWN)
    proofs = str(tmp_path / "proofs.json")
    assert run(["audit", path, "--certificate", proofs]) == 1
    run(["verify", proofs, path])
    said = capsys.readouterr()
    assert "proved; verdict: fail" in said.out + said.err
    assert "4 exact" in said.out + said.err


def intervals(lower: np.ndarray[Any, Any], upper: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Least and greatest whole value of every cell of a table with margins, its bounds given; None if nothing fits."""
    rows, columns = lower.shape
    number = np.arange(rows * columns).reshape(rows, columns)
    equations = []
    for line in (*number, *number.T):
        equation = np.zeros(number.size)
        equation[line[:-1]], equation[line[-1]] = 1, -1
        equations.append(equation)
    sums = LinearConstraint(np.array(equations), 0, 0)
    ends = np.zeros((*lower.shape, 2))
    for cell, sign in itertools.product(range(number.size), (1, -1)):
        cost = np.zeros(number.size)
        cost[cell] = sign
        answer = milp(
            cost, constraints=sums, bounds=Bounds(lower.ravel(), upper.ravel()), integrality=np.ones(number.size, int)
        )
        if not answer.success or answer.fun is None:
            return None
        ends[cell // columns, cell % columns, int(sign < 0)] = round(sign * answer.fun)
    return ends


def with_margins(inner: list[list[int]]) -> np.ndarray[Any, Any]:
    table = np.array(inner)
    table = np.column_stack([table, table.sum(axis=1)])
    return np.vstack([table, table.sum(axis=0)])


SMALL = st.lists(st.lists(st.integers(0, 7), min_size=3, max_size=3), min_size=2, max_size=3)


@settings(max_examples=25, deadline=None)
@given(SMALL, st.integers(2, 4), st.data())
def test_intervals_of_hidden_counts(tmp_path_factory: Any, inner: list[list[int]], under: int, data: Any) -> None:
    """Random tables whose small counts and some others are hidden, zeros shown."""
    table = with_margins(inner)
    more = data.draw(st.lists(st.booleans(), min_size=table.size, max_size=table.size))
    hidden = ((table > 0) & (table < under)) | (np.array(more).reshape(table.shape) & (table > 0))
    hidden[-1] &= table[-1] < under
    hidden[:, -1] &= table[:, -1] < under
    hidden[-1, -1] = False
    if not hidden.any():
        return
    head = ["Area", *[f"c{k}" for k in range(table.shape[1] - 1)], "Total"]
    names = [*[f"r{k}" for k in range(table.shape[0] - 1)], "Total"]
    rows = [
        ["*" if h else int(v) for v, h in zip(row, gone, strict=True)] for row, gone in zip(table, hidden, strict=True)
    ]
    path = tmp_path_factory.mktemp("t") / "a.long.csv"
    written(path, [head, *([name, *row] for name, row in zip(names, rows, strict=True))])
    report = dc.audit(path, total="Total")
    ends = intervals(np.where(hidden, 1, table), np.where(hidden, table.sum() + 1, table))
    assert ends is not None
    place = {(a, b): (i, j) for i, a in enumerate(names) for j, b in enumerate(head[1:])}
    assert len(report.cells) == int(hidden.sum())
    for area, group, low, high in report.cells[["area", "group", "lower", "upper"]].itertuples(index=False):
        assert (low, high) == tuple(ends[place[area, group]])
        assert low <= table[place[area, group]] <= high


@settings(max_examples=20, deadline=None)
@given(SMALL, st.sampled_from([(3, True), (5, True), (3, False), (5, False)]), st.randoms(use_true_random=False))
def test_intervals_of_rounded_counts(
    tmp_path_factory: Any, inner: list[list[int]], rounding: tuple[int, bool], random: Any
) -> None:
    """Random tables, every number rounded by itself: sums are off, and the audit finds what the bounds leave."""
    table = with_margins(inner) * 3
    base, nearest = rounding
    if nearest:
        shown = (table + base // 2) // base * base
        lower, upper = shown - base // 2, shown + (base - 1) // 2
    else:
        up = np.array([random.random() < 0.5 for _ in range(table.size)]).reshape(table.shape)
        shown = np.where(table % base == 0, table, table // base * base + up * base)
        lower, upper = shown - base + 1, shown + base - 1
    head = ["Area", *[f"c{k}" for k in range(table.shape[1] - 1)], "Total"]
    names = [*[f"r{k}" for k in range(table.shape[0] - 1)], "Total"]
    path = tmp_path_factory.mktemp("t") / "a.xlsx"
    written(path, [head, *([name, *map(int, row)] for name, row in zip(names, shown, strict=True))])
    mapping = {"tables": {"a.xlsx": {"rounding": base, "random": not nearest}}}
    report = dc.audit(path, total="Total", mapping=mapping)
    ends = intervals(np.maximum(lower, 0), upper)
    assert ends is not None
    place = {(a, b): (i, j) for i, a in enumerate(names) for j, b in enumerate(head[1:])}
    columns = [d.name for d in report.view.layouts[0].dimensions]
    for area, group, low, high in report.cells[[*columns, "lower", "upper"]].itertuples(index=False):
        assert (low, high) == tuple(ends[place[area, group]])
        assert low <= table[place[area, group]] <= high
