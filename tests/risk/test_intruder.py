"""Internal intruders: ODT04."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.risk.intruder import (
    Groups,
    LargestKnown,
    NotRank,
    RankKnown,
    ValueOnly,
    insider_interval,
    internal_risk,
    intruder_risk,
    outsider_interval,
    rank_values,
    sensitive,
)


@st.composite
def scenarios(draw: st.DrawFn, n: int) -> list[object]:
    overlap = tuple(sorted(draw(st.lists(st.floats(0, 0.5), max_size=3)), reverse=True))
    shares = np.array(draw(st.lists(st.integers(1, 5), min_size=2, max_size=4)), float)
    m = draw(st.integers(1, max(n - 1, 1)))
    return [NotRank(), LargestKnown(), LargestKnown(m), Groups(tuple(shares / shares.sum()), overlap)]


@given(st.integers(2, 40), st.integers(100, 100_000), st.data())
def test_property_1(n: int, rest: int, data: st.DataObject) -> None:
    """More knowledge never lowers the risk: rank known >= every scenario >= value only."""
    top, bottom = intruder_risk(rest, n, RankKnown()), intruder_risk(rest, n, ValueOnly())
    for scenario in data.draw(scenarios(n)):
        assert top + 1e-12 >= intruder_risk(rest, n, scenario) >= bottom - 1e-12  # type: ignore[arg-type]


@given(st.integers(4, 30), st.integers(1000, 100_000))
def test_collusion_never_lowers_the_risk(n: int, rest: int) -> None:
    """One contributor more who tells his part leaves fewer others with less between them."""
    share = rest / (2 * n)
    assert intruder_risk(rest - share, n - 1, ValueOnly()) >= intruder_risk(rest, n, ValueOnly())


def test_rank_bits() -> None:
    """Sections 3 to 7 with N = 8."""
    assert RankKnown().rank_bits(8) == 0
    assert NotRank().rank_bits(8) == np.log2(7)
    assert np.isclose(LargestKnown().rank_bits(8), np.log2(np.arange(1, 8)).sum() / 7)
    assert LargestKnown(4).rank_bits(8) == 2
    assert ValueOnly().rank_bits(8) == 3
    assert LargestKnown().rank_bits(1) == 0
    assert LargestKnown(9).rank_bits(8) == 3


def test_groups_with_overlap_are_distributions() -> None:
    """Equations (11) to (14): overlap adds uncertainty, none gives the bits of the group sizes."""
    sharp, fuzzy = Groups((0.25, 0.25, 0.5)), Groups((0.25, 0.25, 0.5), (0.4, 0.2))
    assert np.isclose(sharp.rank_bits(16), (2 + 2 + 3) / 3)
    assert sharp.rank_bits(16) < fuzzy.rank_bits(16) <= 4


def test_rank_values_rise() -> None:
    """A_j < A_{j+1}, and a single other contributor is known."""
    assert (np.diff(rank_values(1000, 6)) > 0).all()
    assert rank_values(50, 1).tolist() == [1]
    assert np.isinf(intruder_risk(50, 1, ValueOnly()))
    assert intruder_risk(100, 2, RankKnown(), values=[4, 16]) == 1 / 3


def test_t_sensitivity() -> None:
    """Algorithm 1; a known contribution is sensitive for every t."""
    assert sensitive(0.2, 0.1, 0.6)
    assert not sensitive(0.2, 0.15, 0.6)
    assert sensitive(np.inf, 0.1, 0.0)


def test_the_insider_of_odf03() -> None:
    """[995, 1004] with 400 of one's own: the largest has 401 to 604; an outsider knows 1 to 1004."""
    assert insider_interval(995, 1004, 400) == (401, 604)
    assert insider_interval(995, 1004, 400, contributors=2) == (595, 604)
    assert insider_interval(1000, 1000, 400, contributors=3) == (401, 600)
    assert outsider_interval(1004) == (1, 1004)


def test_internal_risk_of_a_table() -> None:
    """Per cell of a magnitude table; two contributors leave nothing uncertain."""
    rows = [("x", "a", 50.0), ("x", "b", 30.0), ("x", "c", 20.0), ("x", "d", 9.0), ("y", "e", 7.0), ("y", "f", 6.0)]
    frame = pd.DataFrame(rows, columns=["region", "firm", "turnover"])
    data = dc.Microdata.of(frame, dimensions=["region"], magnitudes=["turnover"], unit="firm")
    table = dc.tabulate(data, by=["region"], value="turnover", top=3)
    found = internal_risk(table, RankKnown(), t=0.8).set_index("region")
    assert found["others"].loc["x"] == 3
    assert np.isinf(found["DR"].to_numpy()[found.index == "y"]).all()
    assert found["sensitive"].loc["y"]
    assert internal_risk(table, ValueOnly(), colluders=1).set_index("region").loc["x", "others"] == 2
    with pytest.raises(dc.InputError, match="top=4"):
        internal_risk(table, RankKnown(), colluders=3)
    for wrong in ({"colluders": -1}, {"t": 80}):
        with pytest.raises(dc.InputError):
            internal_risk(table, RankKnown(), **wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: sensitive(0.1, 0.1, 2),
        lambda: rank_values(10, 0),
        lambda: intruder_risk(10, 2, RankKnown(), values=[1]),
        lambda: insider_interval(10, 20, 15),
        lambda: insider_interval(10, 20, 5, contributors=1),
        lambda: Groups((0.5, 0.6)),
        lambda: Groups((0.5, 0.5), (0.1, 0.2)),
    ],
)
def test_bad_input(wrong: object) -> None:
    with pytest.raises(dc.InputError):
        wrong()  # type: ignore[operator]
