"""Midpoint rounding of a file: what a recipe publishes is judged as a file as it is judged before it is one."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.audits.joined.publication import Rounding
from discreet.cli import run


@pytest.mark.parametrize("base", [2, 5, 6, 7])
def test_every_count_lies_behind_the_midpoint_that_it_shows(base: int) -> None:
    counts = np.arange(200)
    shown = np.array([base * -(-n // base) - base // 2 if n else 0 for n in counts.tolist()], float)
    least, most = Rounding(base, midpoint=True).behind(shown, 0)
    for value in np.unique(shown[:-base]):
        same = counts[shown == value]
        assert (least[same[0]], most[same[0]]) == (same.min(), same.max())
    assert Rounding(base, midpoint=True).possible(shown).all()
    if base > 2:
        assert not Rounding(base, midpoint=True).possible(shown[1:] + 1).any()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 14), min_size=2, max_size=3))
def test_a_file_is_judged_as_counting_through_all_tables_finds(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int]
) -> None:
    done = dc.protect(dc.Table.of(counts, ["area"]), dc.MidpointRound(6))
    path = tmp_path_factory.mktemp("midpoint") / "a.csv"
    frame = done.release().cells.drop(columns="status")
    path.write_text(frame.to_csv(index=False))
    total, *parts = (round(v) for v in np.asarray(done.published["count"]).tolist())
    behind = [range(1) if not v else range(v - 2, v + 4) for v in parts]
    whole = {0} if not total else set(range(total - 2, total + 4))
    fits = [own for own in product(*behind) if sum(own) in whole]
    report = dc.audit({"a": path}, mapping={"tables": {"a": {"rounding": 6, "midpoint": True}}}, total="Total")
    ends = {row["area"]: (row["lower"], row["upper"]) for row in report.cells.to_dict("records")}
    for k, value in enumerate(parts):
        if value:
            assert ends[str(k + 1)] == (min(own[k] for own in fits), max(own[k] for own in fits))
    alone = any(low == high for low, high in ends.values())
    assert report.verdict.value == ("fail" if alone else "unknown" if not ends else "pass")


def test_the_command_line_says_it_so(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "a.csv"
    path.write_text("area,count\na,3\nb,15\nc,9\nTotal,27\n")
    assert run(["audit", str(path), "--rounded", "6:midpoint"]) == 0
    path.write_text("area,count\na,3\nb,3\nc,0\nTotal,3\n")
    assert run(["audit", str(path), "--rounded", "6:midpoint"]) == 0
    path.write_text("area,count\na,3\nb,15\nc,10\nTotal,27\n")
    assert run(["audit", str(path), "--rounded", "6:midpoint"]) == 2
    assert b"is not rounded to midpoints of 6" in capfdbinary.readouterr().err
    assert run(["audit", str(path), "--rounded", "6:middle"]) == 2
    assert b"BASE:midpoint" in capfdbinary.readouterr().err
