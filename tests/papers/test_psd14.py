"""PSD14: Antal, Shlomo and Elliot, Measuring Disclosure Risk with Entropy (2014)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import discreet as dc
from discreet import information, risk
from tests.papers import own
from tests.papers.printed import RELIGION, TRAVEL, Printed

BASE_3 = dc.Transition.rounding(3)


@pytest.mark.parametrize(
    ("printed", "column", "value"),
    [(TRAVEL, 4, 0.2868), (TRAVEL, 7, 0.4924), (RELIGION, 2, 0.2235), (RELIGION, 4, 0.3282), (RELIGION, 7, 0.0986)],
)
def test_r2_of_columns_of_small_counts(printed: Printed, column: int, value: float) -> None:
    """Tables 3 and 5: five columns of small counts; an all-zero G has no second term; the print is of 1,000 draws."""
    counts = printed.counts[:, column - 1]
    every = list(own.roundings(counts))
    assert any(not any(g) for g, _ in every) == (max(counts) < 3)
    each = np.array([own.weighted(own.terms(counts, g, form="psd14")) for g, _ in every])
    p = np.array([q for _, q in every])
    mean = dc.expected_r2(counts, BASE_3, form="psd14")
    assert mean.exact
    assert mean.value == pytest.approx(p @ each, abs=1e-12)
    spread = math.sqrt(p @ (each - p @ each) ** 2)
    assert abs(mean.value - value) < 2 * spread / math.sqrt(1000) + 5e-5


def test_an_all_zero_rounding_has_no_second_term() -> None:
    """One table, a batch, and the form of the thesis, where such a table hides everything as well."""
    f, g = [0, 1, 1], [0, 0, 0]
    assert dc.r2(f, g, form="psd14").terms["entropy"] == 0
    assert dc.r2([f, f], [g, [0, 3, 0]], form="psd14", axis=1).terms["entropy"].tolist() == pytest.approx(
        [0, own.terms(f, [0, 3, 0], form="psd14")[1]]
    )
    assert dc.r2(f, g).terms["entropy"] == 0
    assert information.conditional_entropy_perturbed(f, g) == pytest.approx(own.entropy(f))
    assert risk.r2_star(f, g, form="psd14").terms["entropy"] == 0
