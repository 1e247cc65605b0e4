"""Expected risk over a transition matrix: exact, by draws, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import risk
from discreet.errors import InputError
from tests.papers.printed import PSD14

SEX = PSD14["sex"].counts
RELIGION = PSD14["religion"].counts
BASE3 = risk.Transition.rounding(3)


def test_expected_r2_exact() -> None:
    """The multiset enumeration equals the plain one over all outcomes."""
    f = np.array([0, 1, 1, 1, 2, 4])
    total, weight = 0.0, 0.0
    grids = np.meshgrid(*([range(2)] * 6), indexing="ij")
    for choice in np.stack([g.ravel() for g in grids], axis=1):
        options = [BASE3.outcomes(int(x)) for x in f]
        if any(c >= len(o) for c, o in zip(choice, options, strict=True)):
            continue
        g, p = zip(*(o[c] for c, o in zip(choice, options, strict=True)), strict=True)
        total += math.prod(p) * risk.r2(f, g).value
        weight += math.prod(p)
    mean = risk.expected_r2(f, BASE3)
    assert weight == pytest.approx(1)
    assert mean.value == pytest.approx(total)
    assert (mean.exact, mean.standard_error) == (True, 0)
    assert mean.to_dict()["exact"]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=4).filter(any))
def test_averaging_the_channel_hides_more(f: list[int]) -> None:
    """Theorem 6's conditional entropy of the mean channel is never below the mean: its risk is never above."""
    mean, mixed = risk.expected_r2(f, BASE3), risk.expected_r2(f, BASE3, average="channel")
    assert mixed.value <= mean.value + 1e-9
    assert mixed.terms["zeros"] == mean.terms["zeros"]


def test_expected_r2_monte_carlo() -> None:
    """Within its standard error of the exact mean; the seed decides; rows at once; a function as method."""
    exact = risk.expected_r2(SEX, BASE3, axis=1)
    drawn = risk.expected_r2(SEX, BASE3, axis=1, seed=1, draws=400)
    assert (np.abs(drawn.value - exact.value) <= 5 * drawn.standard_error + 1e-12).all()
    assert not drawn.exact
    same = risk.expected_r2(SEX, BASE3, axis=1, seed=1, draws=400)
    assert np.array_equal(same.value, drawn.value)
    whole = risk.expected_r2(SEX, lambda x, rng: BASE3.sample(x, rng), seed=2, draws=50)
    assert isinstance(whole.value, float)
    assert whole.standard_error > 0
    assert whole.value == pytest.approx(risk.expected_r2(SEX, BASE3).value, abs=5 * whole.standard_error)


def test_expected_r2_lines_with_nobody() -> None:
    """An empty row is NaN in a batch, an error alone."""
    f = [[0, 0], [1, 2]]
    assert np.isnan(risk.expected_r2(f, BASE3, axis=1).value).tolist() == [True, False]
    assert np.isnan(risk.expected_r2(f, BASE3, axis=1, seed=1, draws=5).value).tolist() == [True, False]
    for seed in (None, 1):
        with pytest.raises(InputError, match="nobody"):
            risk.expected_r2([0, 0], BASE3, seed=seed)


def test_expected_r2_refusals() -> None:
    """A function needs a seed; too many outcomes need one too; the channel is exact; one draw has no error."""
    calls: list[Callable[[], Any]] = [
        lambda: risk.expected_r2([1, 2], lambda x, rng: x),
        lambda: risk.expected_r2(RELIGION, BASE3),
        lambda: risk.expected_r2([1, 2], BASE3, seed=1, average="channel"),
        lambda: risk.expected_r2([1, 2], BASE3, seed=1, draws=1),
        lambda: risk.expected_r2([1, 2], BASE3, average="mean"),  # type: ignore[arg-type]
        lambda: risk.expected_r2([1, 2], lambda x, rng: x[:1], seed=1),
    ]
    for call in calls:
        with pytest.raises(InputError):
            call()


def test_transitions() -> None:
    """Rows repeat beyond the matrix by period; a cap moves as its row does; nonsense is refused."""
    values, chances = zip(*BASE3.outcomes(98), strict=True)
    assert values == (96, 99)
    assert chances == pytest.approx((1 / 3, 2 / 3))
    assert BASE3.outcomes(99) == ((99, 1.0),)
    capped = risk.Transition([[1, 0, 0], [0.5, 0, 0.5]])
    assert capped.outcomes(10) == ((9, 0.5), (11, 0.5))
    drawn = BASE3.sample(np.full(3000, 4), np.random.default_rng(0))
    assert set(drawn.tolist()) == {3, 6}
    assert drawn.mean() == pytest.approx(4, abs=0.15)
    for bad in ([[0.5, 0.4]], [[1.5, -0.5]], [1, 0], [[1], [1]], [["a"]]):
        with pytest.raises(InputError):
            risk.Transition(bad)
    with pytest.raises(InputError, match="period"):
        risk.Transition([[1, 0]], period=2)
    with pytest.raises(InputError, match="base"):
        risk.Transition.rounding(1)
