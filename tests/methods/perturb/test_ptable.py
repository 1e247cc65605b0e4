"""Perturbation tables: the rows of R's ptable, what they promise, and their files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.methods.perturb.entropy import largest_entropy

# CRAN ptable: {(D, V, js): {count: {noise: probability}}}
REFERENCE = {
    (2, 0.9, 0): {
        1: {-1: 0.3625, 0: 0.3625, 1: 0.1875, 2: 0.0875},
        2: {-2: 0.05154609, -1: 0.24381564, 0: 0.40927654, 1: 0.24381564, 2: 0.05154609},
    },
    (2, 1.0, 0): {1: {-1: 0.36648551, 0: 0.36648551, 1: 0.16757250, 2: 0.09945652}},
    (2, 1.05, 1): {
        1: {-1: 0.50833333, 1: 0.475, 2: 0.01666667},
        4: {-2: 0.07012498, -1: 0.24450007, 0: 0.37074990, 1: 0.24450007, 2: 0.07012498},
    },
    (5, 3.0, 2): {1: {-1: 0.73446954, 2: 0.13672019, 3: 0.07279631, 4: 0.03742956, 5: 0.01858440}},
}


@pytest.mark.parametrize("parameters", REFERENCE)
def test_the_rows_of_r_ptable(parameters: tuple[int, float, int]) -> None:
    """To 1e-6, and the number of rows: D, or D + js + 1, after the row of zeros."""
    d, v, js = parameters
    table = dc.PTable.design(d, v, js)
    for count, row in REFERENCE[parameters].items():
        assert table.row(count) == pytest.approx(row, abs=1e-6)
    assert len(table.probabilities) == 1 + (d if js == 0 else d + js + 1)
    assert table.row(10**6) == table.row(len(table.probabilities) - 1)


def test_a_variance_that_is_not_used_up() -> None:
    """D 2, V 1: the row of count 1 has variance .93188."""
    assert dc.PTable.design(2, 1.0).variance[1] == pytest.approx(0.93188, abs=1e-5)


@settings(max_examples=40)
@given(st.integers(1, 6), st.floats(0.2, 9), st.integers(0, 3), st.sampled_from([None, 0.2, 0.5, 0.8]), st.booleans())
def test_what_a_design_promises(d: int, v: float, js: int, pstay: float | None, mono: bool) -> None:
    """Mean 0, variance at most V, nothing below 0 or from 1 to js, staying likely enough, rising on the left."""
    try:
        table = dc.PTable.design(d, v, js, pstay, mono=mono)
    except dc.InputError:
        reject()
    p = table.probabilities
    assert np.abs(table.bias).max() < 1e-8
    assert (table.variance <= v + 1e-8).all()
    for i in range(len(p)):
        shown = [i + noise for noise in table.row(i)]
        assert min(shown) >= 0
        assert not any(1 <= j <= js for j in shown)
        if mono and i:
            left = [q for j, q in ((i + w, p[i, w + d]) for w in range(-min(d, i), 1)) if not 1 <= j <= js]
            assert (np.diff(left) >= -1e-8).all()


def negative_entropy(x: Any) -> float:
    """Of probabilities, none taken for less than 1e-12."""
    return float((x * np.log(np.maximum(x, 1e-12))).sum())


def test_the_entropy_is_the_largest() -> None:
    """Against a general solver, on rows with every kind of constraint active."""
    from scipy.optimize import minimize

    for noise, variance, stay in (
        (np.arange(-2, 4), 1.5, 0.0),
        (np.arange(-1, 4), 0.7, 0.6),
        (np.arange(-3, 4), 2.0, 0.3),
    ):
        p = largest_entropy(noise, variance, stay, True)
        assert p is not None
        at = int(np.flatnonzero(noise == 0)[0])
        constraints: list[Any] = [
            {"type": "eq", "fun": lambda x: x.sum() - 1},
            {"type": "eq", "fun": lambda x, noise=noise: x @ noise},
            {"type": "ineq", "fun": lambda x, noise=noise, variance=variance: variance - x @ noise**2},
            {"type": "ineq", "fun": lambda x, at=at, stay=stay: x[at] - stay},
            {"type": "ineq", "fun": lambda x, at=at: np.diff(x[: at + 1])},
        ]
        start = np.full(len(noise), 1 / len(noise))
        options: Any = {"ftol": 1e-14, "maxiter": 500}
        found = minimize(negative_entropy, start, bounds=[(1e-9, 1)] * len(noise),
                         constraints=constraints, method="SLSQP", options=options)  # fmt: skip
        assert p == pytest.approx(found.x, abs=2e-5)
        assert (p * np.log(p)).sum() <= found.fun + 1e-8


def test_a_stay_that_is_out_of_reach_is_cut() -> None:
    """Small variance and a hidden range leave no room for a high probability of staying: it is lowered in steps."""
    table = dc.PTable.design(5, 3, 2, 0.9)
    assert table.row(3)[0] > 0.5
    with pytest.raises(dc.InputError, match="larger v or d"):
        dc.PTable.design(3, 0.5, 2)


@pytest.mark.parametrize(("epsilon", "d"), [(0.5, 4), (1.0, 5), (2.0, 3)])
def test_the_stated_privacy_is_exact(epsilon: float, d: int) -> None:
    """Largest excess of one count's probabilities over e^epsilon times its neighbour's."""
    table = dc.PTable.geometric(epsilon, d)
    rows = table.transition()
    worst = 0.0
    for count in range(3 * d):
        for one, two in ((count, count + 1), (count + 1, count)):
            p, q = dict(rows.outcomes(one)), dict(rows.outcomes(two))
            worst = max(worst, sum(max(0.0, p[j] - math.exp(epsilon) * q.get(j, 0.0)) for j in p))
    assert table.delta is not None
    assert worst == pytest.approx(table.delta, rel=1e-9)
    assert table.moves_zeros
    assert "epsilon" in repr(table)


def test_written_and_read(tmp_path: Path) -> None:
    """As tau-ARGUS has it (semicolons, p_int_ub), as SAS has it (also p_int_lb), and with cumulated values only."""
    table = dc.PTable.design(3, 2, 1)
    text = table.write(tmp_path / "p.txt").decode()
    assert text.splitlines()[0] == '"i";"j";"p";"v";"p_int_ub"'
    assert dc.PTable.read(tmp_path / "p.txt") == table
    rows = [line.split(";") for line in text.splitlines()[1:]]
    (tmp_path / "q.csv").write_text("i,j,p_int_ub\n" + "".join(f"{r[0]},{r[1]},{r[4]}\n" for r in rows))
    assert np.allclose(dc.PTable.read(tmp_path / "q.csv").probabilities, table.probabilities, atol=1e-12)
    assert dc.CellKey(ptable=str(tmp_path / "p.txt"), seed=1).noise.d == 3


@pytest.mark.parametrize(
    "text", ["a;b\n1;2\n", "i;j;p;v\n0;0;1;0\n2;2;1;0\n", "i;v;p\n0;0;x\n", "i;v;p\n0;0;0.4\n", "i;v;p\n0;-1;1\n", ""]
)
def test_files_that_are_no_tables(text: str, tmp_path: Path) -> None:
    """Wrong columns, a missing count, no numbers, probabilities that do not sum to 1, a negative result."""
    (tmp_path / "p.txt").write_text(text)
    with pytest.raises(dc.InputError):
        dc.PTable.read(tmp_path / "p.txt")


def test_look_up_follows_the_probabilities() -> None:
    """Noise over an even grid of numbers has the row's distribution, within -D and D, and is 0 for a count of 0."""
    table = dc.PTable.design(4, 2, 1)
    u = (np.arange(100_000) + 0.5) / 100_000
    for count in (0, 1, 2, 5, 6, 7, 100):
        noise = table.look_up(np.full(u.shape, count), u)
        values, number = np.unique(noise, return_counts=True)
        assert dict(zip(values.tolist(), number / u.size, strict=True)) == pytest.approx(table.row(count), abs=2e-5)


def test_bounds_are_what_the_table_allows() -> None:
    """The least and largest count with a positive probability of showing each value."""
    table = dc.PTable.design(2, 1.05, 1)
    shown = np.arange(12)
    lower, upper = table.bounds(shown)
    for j in (0, 2, 3, 4, 7, 11):
        possible = [i for i in range(20) if j - i in table.row(i)]
        assert (lower[j], upper[j]) == (min(possible), max(possible))


def test_a_file_whose_counts_do_not_sum_to_one_each(tmp_path: Path) -> None:
    """Though all of them together do."""
    (tmp_path / "p.csv").write_text("i;v;p\n0;0;1\n1;0;2\n2;0;0\n")
    with pytest.raises(dc.InputError, match="of a count should sum to 1"):
        dc.PTable.read(tmp_path / "p.csv")
