"""Searches that go on where they ended: for the owner alone, never worse, never another problem's."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from discreet import InputError
from discreet.methods.suppress.exact.optimal import Optimal
from tests.problems import TIME, larger_problem, small_problem, sound


def test_a_search_goes_on_where_it_ended(tmp_path: Path) -> None:
    """The state is the owner's alone; neither pattern nor bound gets worse, and in the end it is proved."""
    problem, path = larger_problem(4, (20, 14), 0.15), tmp_path / "state"
    found = Optimal(time=0.5, resume=path).solve(problem)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for seconds in (0.3, 1.0):
        again = Optimal(time=seconds, resume=path, seed=2).solve(problem)
        assert again.bound >= found.bound - 1e-9
        assert again.cost <= found.cost + 1e-9
        assert sound(problem, again)
        found = again


def test_a_proof_is_kept(tmp_path: Path) -> None:
    """What was optimal is so at once."""
    problem, path = small_problem("three-way", 1), tmp_path / "state"
    first = Optimal(time=TIME, resume=path).solve(problem)
    again = Optimal(time=0.01, resume=path).solve(problem)
    assert again.status == first.status == "optimal"
    assert again.cost == first.cost == again.bound


def test_states_of_others_are_refused(tmp_path: Path) -> None:
    """Another problem's, one that is cut short, and one that is none."""
    path = tmp_path / "state"
    Optimal(time=1, resume=path).solve(small_problem("two-way", 0))
    with pytest.raises(InputError, match="another problem"):
        Optimal(time=1, resume=path).solve(small_problem("two-way", 1))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="no state"):
        Optimal(time=1, resume=path).solve(small_problem("two-way", 0))
    path.write_text("hello")
    with pytest.raises(InputError, match="no state"):
        Optimal(time=1, resume=path).solve(small_problem("two-way", 0))


@pytest.mark.parametrize("spoil", ["pattern", "beyond", "negative", "coefficients", "bound"])
def test_a_state_that_does_not_fit_is_refused(tmp_path: Path, spoil: str) -> None:
    """A pattern of fewer cells, and an inequality over a cell that does not exist."""
    path = tmp_path / "state"
    problem = small_problem("two-way", 0)
    Optimal(time=1, resume=path).solve(problem)
    row = json.loads(path.read_text())
    if spoil == "pattern":
        row["pattern"] = row["pattern"][:-1]
    elif spoil == "bound":
        row["bound"] = float("nan")
    else:
        cell = {"beyond": [len(problem)], "negative": [-1], "coefficients": [0, 1]}[spoil]
        row["cuts"] = [[[cell, [1.0]]]]
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(InputError, match="does not fit the problem"):
        Optimal(time=1, resume=path).solve(problem)
