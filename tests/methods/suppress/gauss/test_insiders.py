"""Contributors alone in cells: what they know of their own opens no other's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array, hstack

import discreet as dc
from discreet.audits.known import Known, unmovable
from discreet.linear import modular
from discreet.methods.suppress.model.singletons import alone
from tests.problems import suppressed, two_way


def test_a_firm_alone_in_its_cell_learns_nothing_of_another() -> None:
    """Two hidden cells of a line, one of a single firm: that firm subtracts itself from the known sum."""
    frame = pd.DataFrame(
        [("n", "a", 50, "f1"), ("n", "b", 30, "f2"), ("n", "b", 2, "f3")]
        + [(r, b, 40 + k, f"{r}{b}{k}") for r in "nswe" for b in "abcd" for k in range(4) if r + b not in ("na", "nb")],
        columns=["region", "branch", "x", "firm"],
    )  # fmt: skip
    data = dc.Microdata.of(frame, dimensions=["region", "branch"], magnitudes=["x"], holding="firm")
    table = dc.tabulate(data, by=["region", "branch"], value="x", top=3)
    rule = dc.PPercent(20)
    primary = np.flatnonzero(rule(table))
    own = table.where(region="n", branch="a")
    assert set(np.flatnonzero(table.where(region="n", branch=["a", "b"]))) == set(primary)
    for choice, safe in (("none", False), ("auto", True)):
        done = dc.protect(table, dc.Suppress(rule, singletons=choice, repair="off"))
        other = [p for p in primary if not own[p]]
        assert (not modular.in_span(table.matrix, ~done.hidden | own, other).any()) == safe


def test_two_singletons_do_not_open_each_other() -> None:
    """Ones among published zeros: a known sum of m hidden ones that is m gives them all away."""
    table = two_way([[1, 1, 9, 8], [1, 1, 7, 9], [9, 8, 9, 9], [8, 9, 9, 8]])
    for kind, known in (("none", True), ("sums", False)):
        done = dc.protect(table, dc.Suppress(dc.Threshold(2), singletons=kind, repair="off"))
        ones = np.flatnonzero(done.status == "u")
        least = Known.hiding(table, done.hidden)
        least = replace(least, lower=np.where(done.hidden, 1, least.lower))
        assert unmovable(least, ones).any() == known
    mended = dc.protect(table, dc.Suppress(dc.Threshold(2), singletons="none"))
    assert mended.details["repair"] > 0


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_nobody_alone_in_cells_can_open_a_sensitive_one(seed: int) -> None:
    """Holdings over several cells: published cells and one's own never add up to somebody else's."""
    rng = np.random.default_rng(seed)
    a, b = (dc.Dimension.flat(name, [f"{name}{k}" for k in range(rng.integers(3, 5))]) for name in "ab")
    rows = [
        (i, j, float(np.round(rng.lognormal(3, 1), 1)), f"h{rng.integers(9)}" if rng.random() < 0.5 else f"{i}{j}{n}")
        for i in a.leaves for j in b.leaves for n in range(rng.integers(0, 5))
    ]  # fmt: skip
    assume(rows)
    frame = pd.DataFrame(rows, columns=["a", "b", "x", "firm"])
    data = dc.Microdata.of(frame, dimensions=[a, b], magnitudes=["x"], holding="firm")
    table = dc.tabulate(data, by=["a", "b"], value="x", top=3)
    rule = dc.PPercent(15)
    done = suppressed(table, rule, repair="off")
    if done is None:
        return
    group = alone(table)
    for who in np.unique(group[group > 0]):
        own = np.flatnonzero(group == who)
        units = csc_array((np.ones(len(own), int), own, np.arange(len(own) + 1)), shape=(len(group), len(own)))
        wider = csr_array(hstack([table.matrix, units]))
        others = [
            p for p in np.flatnonzero(rule(table)) if not np.isin(table.matrix.tocsc()[:, [p]].indices, own).all()
        ]
        known = np.concatenate([np.flatnonzero(~done.hidden), len(table) + np.arange(len(own))])
        assert not modular.in_span(wider, known, np.array(others, int)).any()
