"""The .jj format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import discreet as dc
from discreet.cli import run
from discreet.errors import InputError
from discreet.formats.jj import parse_jj, read_jj
from discreet.linear.null_space import basis, whole_columns
from discreet.methods.suppress.attacker.feasibility import examine
from discreet.methods.suppress.heuristics.elimination import pattern_by_elimination
from discreet.methods.suppress.model.problem import Problem, Requirements
from discreet.methods.suppress.model.solution import UnprotectedError
from tests.scripts import script

# two rows and two columns with totals; the upper left cell is primary, its row and column neighbours secondary
TEXT: str = script("fuzz_files").JJ.decode()


def test_an_instance_is_audited() -> None:
    """With its secondaries the primary is protected, without them it is exactly known."""
    instance = parse_jj(TEXT)
    whole, bare = instance.audit(), instance.audit(instance.primary)
    assert whole.ok
    assert whole.lower[0] == 1
    assert whole.upper[0] == 10
    assert bare.finding.tolist() == ["exact"]


def test_protection_levels_make_narrow() -> None:
    """An interval that does not reach the protection level is exposed though not exact."""
    instance = parse_jj(TEXT.replace("4 5 5 u 0 20 2 2 0", "4 5 5 u 4 6 2 2 0"))
    assert instance.audit().finding[0] == "narrow"


def test_decimals_of_the_file() -> None:
    """Values with decimals are counted at their precision."""
    text = "0 3 0 1.5 1 s 0 9 0 0 0 1 1.0 1 u 0 9 0 0 0 2 0.5 1 x 0 9 0 0 0 1 0 3 : 0 (-1) 1 (1) 2 (1)"
    assert parse_jj(text).audit().m.tolist() == [16.0, 16.0]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """discreet audit instance.jj."""
    path = tmp_path / "small.jj"
    path.write_text(TEXT)
    assert len(read_jj(path)) == 9
    assert run(["audit", str(path)]) == 0
    assert "0 exact, 0 narrow, 4 open" in capsys.readouterr().err
    assert run(["audit", str(path), "--primary-only"]) == 1
    assert "1 exact" in capsys.readouterr().err


def test_an_instance_is_a_problem() -> None:
    """Primaries are hidden, what has status z or no room is published, levels stay within the bounds."""
    text = (
        TEXT.replace("4 5 5 u 0 20 2 2 0", "4 5 5 u 4 20 2 2 30")
        .replace("8 4 4 x", "8 4 4 z")
        .replace("7 6 6 x 0 20", "7 6 6 s 6 6")
    )
    problem = parse_jj(text).problem()
    assert np.flatnonzero(problem.hidden).tolist() == [4]
    assert np.flatnonzero(np.isinf(problem.weight)).tolist() == [7, 8]
    needs = problem.needs
    assert (needs.below[0], needs.above[0], needs.sliding[0]) == (1, 2, 16)
    assert problem.weight[[0, 4]].tolist() == [20, 0]


def test_a_primary_without_levels_needs_a_second_value() -> None:
    """It must not be known exactly."""
    problem = parse_jj(TEXT.replace("4 5 5 u 0 20 2 2 0", "4 5.5 5 u 0 20 0 0 0")).problem()
    assert problem.needs.sliding.tolist() == [0.1]


@pytest.mark.parametrize(
    ("weights", "cost"),
    [("cost", 15), ("value", 15), ("unity", 3), ("log", np.log1p([5, 6, 4]).sum()), (np.ones(9), 3)],
)
def test_instances_are_protected(weights: Any, cost: float) -> None:
    """By every method, to the level, and the pattern can be written and read again."""
    instance = parse_jj(TEXT)
    for method in ("gauss", "optimal", "modular", dc.Optimal(weights=weights, time=10)):
        found = instance.protect(method, weights=weights if isinstance(method, str) else None, clean_up=True)
        assert instance.audit(found.hidden).ok
        assert found.cost == pytest.approx(cost)
        assert found.bound <= found.cost
        again = parse_jj(instance.marked(found.hidden).text())
        assert np.array_equal(again.hidden, found.hidden)
        assert again.audit().ok


def test_what_cannot_be_done_with_an_instance_is_said() -> None:
    """Unknown methods and weights, weights of the wrong shape, needs that cannot be met, cells that must be shown."""
    instance = parse_jj(TEXT)
    for wrong in ({"method": "gaus"}, {"weights": "size"}, {"weights": [1, 2]}, {"weights": np.full(9, -1)}):
        with pytest.raises(InputError):
            instance.protect(**wrong)
    frozen = parse_jj(TEXT.replace(" x ", " z ").replace(" s ", " z "))
    for method in ("gauss", "optimal", "modular"):
        with pytest.raises(UnprotectedError):
            frozen.protect(method)
    with pytest.raises(InputError, match="must be published"):
        frozen.marked(np.ones(9, bool))


@pytest.mark.parametrize("seed", range(4))
def test_elimination_protects_any_system_of_sums(seed: int) -> None:
    """Sums with several cells on both sides and factors other than one; repair reaches what elimination does not."""
    random = np.random.default_rng(seed)
    rows = random.integers(-2, 3, (4, 12)) * (random.random((4, 12)) < 0.6)
    cell = random.choice(12, 2, replace=False)
    hidden = np.isin(np.arange(12), cell)
    weight = np.where(hidden, 0, random.integers(1, 20, 12)).astype(float)
    needs = Requirements.of(cell, np.full(2, 2.0), np.full(2, 2.0))
    problem = Problem(csr_array(rows.astype(float)), np.full(12, 3.0), np.full(12, 3.0), weight, hidden, needs)
    whole = whole_columns(basis(problem.rows))
    assert np.abs(rows @ whole.T.toarray()).max(initial=0) == 0
    if not examine(problem, np.ones(12, bool)).met.all():
        with pytest.raises(UnprotectedError):
            pattern_by_elimination(problem)
        return
    pattern = pattern_by_elimination(problem)
    assert examine(problem, pattern).met.all()
    assert pattern[cell].all()


@pytest.mark.parametrize(
    "text",
    [
        "", "hello", "0 2 0 1 1 s 0 1 0 0 0", TEXT.replace("\n4 5 5 u", "\n7 5 5 u"), TEXT.replace(" u ", " q "),
        TEXT.replace("11 11 s", "eleven 11 s"), TEXT.replace("\n6\n", "\n7\n"), TEXT.replace("0 3 : 2", "0 4 : 2"),
        TEXT.replace("8 (1)", "9 (1)"),
    ],
)  # fmt: skip
def test_bad_files_are_named(text: str) -> None:
    with pytest.raises(InputError, match="instance"):
        parse_jj(text)
