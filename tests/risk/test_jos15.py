"""The measure of JOS15: printed values, rounding, swapping, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet import risk
from discreet.errors import InputError
from tests.papers.printed import PSD14

RELIGION = PSD14["religion"].counts
BASE3 = risk.Transition.rounding(3)
JOS15 = [
    ([1534, 44, 35, 27, 20, 17], 2457, 854_539, 0.318),
    ([49, 14, 2, 5, 4, 1], 210, 645_461, 0.248),
    ([275, 16, 9, 3, 9, 5], 585, 736_355, 0.339),
    ([84, 9, 4, 6, 1, 4], 234, 96_656, 0.298),
]


@pytest.mark.parametrize(("few", "cells", "units", "printed"), JOS15)
def test_jos15_table_5(few: list[int], cells: int, units: int, printed: float) -> None:
    """JOS15 Tables 2 and 5: what is known of the tables leaves the unknown large counts a possible share of R."""
    known = np.repeat(np.arange(6), few)
    table = np.concatenate([known, np.full(cells - known.size, (units - known.sum()) // (cells - known.size))])
    ours = risk.jos15_risk(table)  # large counts all equal: their term is 0
    assert ours.terms["large"] == pytest.approx(0, abs=1e-9)
    assert 0 <= printed - ours.value <= 0.03


def test_jos15_parts() -> None:
    """The sub-tables have their own K and N, a batch equals single tables, and without units a part is 0."""
    r = risk.jos15_risk([0, 1, 2, 7, 14])
    assert r.terms["small"] == pytest.approx(risk.r1([0, 1, 2]).terms["entropy"])
    assert r.terms["large"] == pytest.approx(risk.r1([7, 14]).terms["entropy"])
    assert risk.jos15_risk([0, 0, 9, 9]).terms["small"] == 0
    assert risk.jos15_risk(RELIGION, axis=1).value[3] == pytest.approx(risk.jos15_risk(RELIGION[3]).value)


def test_jos15_after_rounding() -> None:
    """JOS15 section 4.2: cells that show 0 or 3 get the expected totals written out there; the multiplier is 1/3."""
    before, after = np.array([0, 0, 1, 1, 1, 2, 3, 4, 5]), np.array([0, 0, 0, 0, 3, 3, 3, 3, 6])
    zero = (3 * 2 / 3 + 2 * 1 / 3) / 4
    three = (3 * 1 / 3 + 2 * 2 / 3 + 3 + 4 * 2 / 3 + 5 * 1 / 3) / 4
    six = 4 * 1 / 3 + 5 * 2 / 3
    spread = np.array([zero] * 4 + [three] * 4 + [six])
    p = spread / spread.sum()
    ours = risk.jos15_after(before, after, BASE3)
    assert ours.terms["small"] == pytest.approx((1 + (p * np.log(p)).sum() / math.log(9)) / 3)
    assert ours.terms["zeros"] == pytest.approx((2 / 9) ** (4 / 2))
    assert ours.value < risk.jos15_risk(before).value
    half = risk.jos15_after(before, after, BASE3, multiplier=(0.5, 0.9))
    assert half.terms["small"] == pytest.approx(1.5 * ours.terms["small"])


def test_jos15_after_swapping_and_matrices() -> None:
    """A stay probability is the matrix with equal off-diagonals; multipliers by small and large rows; a batch."""
    before, after = np.array([[0, 1, 8, 8], [2, 2, 9, 1]]), np.array([[1, 0, 8, 8], [2, 1, 9, 2]])
    matrix = np.full((10, 10), 0.1 / 9) + np.eye(10) * (0.9 - 0.1 / 9)
    matrix_of_8 = np.full((9, 9), 0.1 / 8) + np.eye(9) * (0.9 - 0.1 / 8)
    swapped = risk.jos15_after(before, after, 0.9, axis=1)
    assert swapped.value[1] == pytest.approx(risk.jos15_after(before[1], after[1], matrix).value)
    assert swapped.value[0] == pytest.approx(risk.jos15_after(before[0], after[0], matrix_of_8).value)
    mixed = np.eye(10) * 0.5 + np.eye(10, k=1) * 0.5
    mixed[9, 9] = 1.0
    ours = risk.jos15_after([1, 8, 9], [1, 8, 9], mixed, multiplier=None)
    assert ours.terms["large"] == pytest.approx(
        (0.5 + 0.5 + 1) / 3 * risk.jos15_after([1, 8, 9], [1, 8, 9], mixed, multiplier=1).terms["large"]
    )


def test_jos15_refusals() -> None:
    """A table the matrix cannot give, a probability above 1, a wrong multiplier or number of weights."""
    with pytest.raises(InputError, match="cannot give"):
        risk.jos15_after([1, 2], [1, 3], BASE3)
    with pytest.raises(InputError, match="between 0 and 1"):
        risk.jos15_after([1, 2], [1, 3], 1.5)
    with pytest.raises(InputError, match="multiplier"):
        risk.jos15_after([1, 2], [0, 3], BASE3, multiplier=2)
    with pytest.raises(InputError, match="weights"):
        risk.jos15_risk([1, 2], (0.1, 0.8, 0.1))


def test_jos15_after_an_observed_perturbation() -> None:
    """Cells that show the same get the mean of what they were; without a matrix the multiplier must be said."""
    before, after = [0, 1, 2, 9, 12], [0, 0, 3, 9, 12]
    ours = risk.jos15_after(before, after, "observed", multiplier=0.5)
    h = -sum(x * math.log(x) for x in (0.5 / 3, 0.5 / 3, 2 / 3))
    assert ours.terms["small"] == pytest.approx(0.5 * (1 - h / math.log(3)))
    with pytest.raises(InputError, match="multiplier"):
        risk.jos15_after(before, after, "observed")
