"""What protection costs: printed values, laws, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.stats.contingency import association

from discreet import utility as ut
from discreet.errors import InputError


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """A table with someone in it and another of its length."""
    n = draw(st.integers(1, 8))
    one = st.lists(st.integers(0, 40), min_size=n, max_size=n)
    return draw(one.filter(any)), draw(one)


def test_worked_example() -> None:
    """PSD14 section 2.3: HD of (0, 2, 4) and (0, 3, 3) is 0.2940; utility by JOS15 section 4.3."""
    found = ut.compare([0, 2, 4], [0, 3, 3])
    assert round(found.hellinger, 4) == 0.2940
    assert found.utility == pytest.approx(1 - 0.2940 / math.sqrt(6), abs=1e-4)
    assert (found.mean_absolute, found.max_absolute, found.mean_relative) == pytest.approx(
        (2 / 3, 1, (1 / 2 + 1 / 4) / 2)
    )
    assert found.changed == pytest.approx(2 / 3)
    assert found.total_change == 0


@given(pairs())
def test_laws(pair: tuple[list[int], list[int]]) -> None:
    """An unchanged table loses nothing; utility is at most 1, and at least 0 when the total does not grow."""
    f, g = pair
    same = ut.compare(f, f)
    assert (same.utility, same.hellinger, same.changed, same.max_absolute) == (1, 0, 0, 0)
    assert same.kl == pytest.approx(0, abs=1e-12)
    found = ut.compare(f, g)
    assert found.utility <= 1
    if sum(g) <= sum(f):
        assert found.utility >= -1e-12
    assert 0 <= found.changed <= 1
    assert found.utility == pytest.approx(ut.hellinger_utility(f, g))


@given(pairs())
def test_ranks_are_spearmans(pair: tuple[list[int], list[int]]) -> None:
    """As scipy's, ties at their mean rank; NaN when a side is constant."""
    f, g = pair
    ours = ut.rank_correlation(f, g)
    if len(set(f)) > 1 and len(set(g)) > 1:
        assert ours == pytest.approx(float(stats.spearmanr(f, g).statistic))
    else:
        assert math.isnan(ours)


def test_cramers_v() -> None:
    """As scipy's; empty lines do not count; of three variables the pair that changes most."""
    table = np.array([[10, 4, 3], [2, 8, 1]])
    assert ut.cramers_v(table) == pytest.approx(association(table, method="cramer"))
    assert ut.cramers_v(np.vstack([table, [0, 0, 0]])) == pytest.approx(ut.cramers_v(table))
    assert math.isnan(ut.cramers_v([[1, 2]]))
    cube = np.stack([table, table])
    changed = cube.copy()
    changed[0] = changed[0][:, ::-1]
    margins = [ut.cramers_v(changed.sum(axis=a)) - ut.cramers_v(cube.sum(axis=a)) for a in (0, 1, 2)]
    assert ut.cramers_v_change(cube, changed) == max(margins, key=abs)
    assert math.isnan(ut.compare([1, 2], [2, 1]).cramers_v_change)


def test_batches() -> None:
    """One utility a table."""
    rng = np.random.default_rng(0)
    f, g = rng.integers(1, 9, (5, 4)), rng.integers(0, 9, (5, 4))
    assert ut.hellinger_utility(f, g, axis=1)[2] == pytest.approx(ut.hellinger_utility(f[2], g[2]))


def test_zeros() -> None:
    """KL is infinite where only one side is 0; nothing published has no distribution."""
    found = ut.compare([0, 2, 4], [1, 2, 0])
    assert (found.kl, found.kl_reverse) == (math.inf, math.inf)
    silent = ut.compare([1, 2], [0, 0])
    assert math.isnan(silent.kl)
    assert math.isnan(silent.hellinger_share)
    assert silent.total_change == -1


def test_result() -> None:
    """A frame with the meaning of each number, and plain numbers."""
    found = ut.compare([[0, 2], [4, 1]], [[0, 3], [3, 1.5]])
    assert list(found.summary().index) == list(found.to_dict())
    assert found.summary().columns.tolist() == ["value", "meaning"]


def test_additivity_gap() -> None:
    """Published totals against published inner cells, dense and sparse."""
    matrix = np.array([[1, 0, 1], [0, 1, 1]])
    for m in (matrix, sparse.csr_matrix(matrix), sparse.csc_array(matrix)):
        gap = ut.additivity_gap(m, [3, 3], [3, 3, 9])
        assert gap.gaps.tolist() == [0, 0, 3]
        assert (gap.mean, gap.largest, gap.share) == pytest.approx((1, 3, 1 / 3))
    assert ut.additivity_gap(matrix, [0.1, 0.2], [0.1, 0.2, 0.3]).share == 0


def test_refusals() -> None:
    """Shapes, negatives, suppressed cells, nobody; no message shows a count."""
    calls: list[Callable[[], Any]] = [
        lambda: ut.compare([98765, 1], [98765]),
        lambda: ut.compare([98765, 1], [98765, -1]),
        lambda: ut.compare([98765, 1], [98765, math.nan]),
        lambda: ut.compare([0, 0], [98765, 1]),
        lambda: ut.hellinger_utility([[98765, 1], [0, 0]], [[1, 1], [1, 1]], axis=1),
        lambda: ut.cramers_v([98765, 1]),
        lambda: ut.additivity_gap([[1, 0]], [98765, 1], [98765]),
    ]
    for call in calls:
        with pytest.raises(InputError) as caught:
            call()
        assert "98765" not in str(caught.value)
