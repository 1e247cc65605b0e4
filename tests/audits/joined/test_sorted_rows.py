"""Rows sorted by their counts: the order as inequalities, against integer programs; a note where it may be so."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

import discreet as dc
from discreet.audits.known import Known, intervals
from discreet.cli import run
from tests.audits.joined.test_hidden_counts import audited, written

ROWS: list[list[Any]] = [["Area", "n"], ["A", 40], ["B", 12], ["C", 6], ["D", "*"], ["E", "*"], ["Total", 69]]


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_the_order_tells_the_smaller_from_the_greater(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """11 in two counts of 6 at most, the first not less: 6 and 5."""
    path = written(tmp_path / name, ROWS)
    code, report, said = audited([path], capsys)
    assert (code, report["summary"]["exact"]) == (0, 0)
    assert "--sorted judges that" in said
    code, report, _ = audited([path, "--sorted"], capsys)
    assert (code, report["summary"]["exact"]) == (1, 2)
    assert audited([path, "--sorted", "--rounded", "1"], capsys)[0] == 1  # read with the rounding of files


def test_rows_in_no_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is said, and --sorted changes nothing."""
    path = written(tmp_path / "a.csv", [ROWS[0], ROWS[2], ROWS[1], *ROWS[3:]])
    code, report, said = audited([path, "--sorted"], capsys)
    assert (code, report["summary"]["exact"]) == (0, 0)
    assert "--sorted" not in said
    assert run(["audit", path, "--sorted", "--certificate", str(tmp_path / "c.json")]) == 2


@pytest.mark.parametrize("text", ["sorted = true", '[tables."a.csv"]\nsorted = true'])
def test_a_mapping_says_it_too(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of all tables, or of one; and no certificate is of an order."""
    path = written(tmp_path / "a.csv", ROWS)
    (tmp_path / "m.toml").write_text(text)
    code, report, _ = audited([path, "--mapping", str(tmp_path / "m.toml")], capsys)
    assert (code, report["summary"]["exact"]) == (1, 2)
    again = dc.audit({"a.csv": path}, mapping=tmp_path / "m.toml")
    assert again.verdict.value == "fail"
    call = ["audit", str(path), "--mapping", str(tmp_path / "m.toml"), "--certificate", str(tmp_path / "c.json")]
    assert run(call) == 2


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=3, max_size=6), st.data())
def test_intervals_under_an_order(counts: list[int], data: Any) -> None:
    """A sorted list with its total, some counts hidden: the ends are those of integer programs."""
    counts = sorted(counts, reverse=True)
    n = len(counts)
    hidden = np.array([*data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), False])
    table = np.array([*counts, sum(counts)], float)
    matrix = np.column_stack([np.eye(n), np.ones(n)])
    known = Known(
        matrix=csr_array(matrix),
        lower=np.where(hidden, -np.inf, table),
        upper=np.where(hidden, np.inf, table),
        inner_lower=np.zeros(n),
        inner_upper=np.full(n, np.inf),
        ordered=np.column_stack([np.arange(n - 1), np.arange(1, n)]),
    )
    lower, upper = intervals(known)
    sums = LinearConstraint(np.append(np.ones(n), -1)[None], 0, 0)
    steps = LinearConstraint(np.column_stack([np.eye(n)[:-1] - np.eye(n)[1:], np.zeros(n - 1)]), 0, np.inf)
    box = Bounds(np.where(hidden, 0, table), np.where(hidden, table[-1], table))
    for cell, sign in itertools.product(range(n + 1), (1, -1)):
        cost = np.zeros(n + 1)
        cost[cell] = sign
        answer = milp(cost, constraints=[sums, steps], bounds=box, integrality=np.ones(n + 1, int))
        assert answer.fun is not None
        assert round(sign * answer.fun) == (lower if sign > 0 else upper)[cell]
