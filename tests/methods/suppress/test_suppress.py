"""Suppression: nobody can work out a sensitive cell, with the linear programs of the audit as judge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, hstack

import discreet as dc
from discreet import Refused, Table
from discreet.audits.known import Known, intervals, unmovable
from discreet.datasets import printed
from discreet.linear import modular
from tests.problems import suppressed, two_way
from tests.strategies import tables

Array = Any


# -- laws -----------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(tables(), st.integers(2, 4), st.booleans(), st.booleans())
def test_no_sensitive_cell_is_determined(table: Table, n: int, zeros: bool, protect_zeros: bool) -> None:
    """Every primary cell has at least two possible values, in hierarchies, linked tables, with structural zeros."""
    rule = dc.Threshold(n, zeros=protect_zeros)
    done = suppressed(table, rule, zeros=zeros)
    if done is None:
        return
    primary = np.flatnonzero(rule(table))
    assert done.hidden[primary].all()
    if len(primary):
        low, high = intervals(Known.hiding(table, done.hidden), primary)
        assert (high - low >= 1).all()
        assert not modular.in_span(table.matrix, ~done.hidden, primary).any()


@settings(deadline=None, max_examples=40)
@given(tables(), st.randoms(use_true_random=False))
def test_forced_cells_stay_or_the_table_is_refused(table: Table, random: Any) -> None:
    """A cell that must be published is, and has the status z."""
    rule = dc.Threshold(3)
    forced = np.array([random.random() < 0.2 for _ in range(len(table))]) & ~rule(table)
    done = suppressed(table, rule, forced=forced)
    if done is not None:
        assert (done.status[forced] == "z").all()


@settings(deadline=None, max_examples=40)
@given(tables())
def test_an_already_protected_table_needs_nothing_more(table: Table) -> None:
    """With the secondary cells withheld from the start nothing is added."""
    rule = dc.Threshold(3)
    done = suppressed(table, rule)
    assume(done is not None)
    assert done is not None
    again = dc.protect(table, dc.Suppress(rule, hidden=done.status == "x"))
    assert not (again.status == "x").any()


@settings(deadline=None, max_examples=25)
@given(tables(), st.sampled_from(["value", "count", "rank"]), st.sampled_from(["none", "sums"]))
def test_every_order_and_singleton_choice_ends_safe(table: Table, order: str, singletons: str) -> None:
    """They change which cells are hidden, not that the sensitive ones are protected."""
    done = suppressed(table, dc.Threshold(3), order=order, singletons=singletons)
    if done is not None and (done.status == "u").any():
        assert not unmovable(Known.hiding(table, done.hidden), np.flatnonzero(done.status == "u")).any()


@settings(deadline=None, max_examples=25)
@given(tables(), st.integers(0, 2))
def test_groups_are_not_disclosed(table: Table, k: int) -> None:
    """Direct disclosure: in every disclosive line one more may stand elsewhere than do."""
    rule = dc.DirectDisclosure(k)
    done = suppressed(table, rule)
    sums = rule.virtual(table)
    if done is None or sums is None:
        return
    known = Known.hiding(table, done.hidden)
    many = sums.matrix.shape[1]
    wider = replace(
        known, matrix=csr_array(hstack([known.matrix, sums.matrix])), relations=None, point=None,
        lower=np.r_[known.lower, np.full(many, -np.inf)], upper=np.r_[known.upper, np.full(many, np.inf)],
    )  # fmt: skip
    high = intervals(wider, len(table) + np.arange(many))[1]
    assert (high >= sums.matrix.T @ table.statistic("count").inner + 1).all()


# -- examples -------------------------------------------------------------------------------------------------------


def test_direct_disclosure_as_in_table_2() -> None:
    """LL21 Table 2: k = 3, Unknown nondisclosive, row totals published: three primary and three secondary cells."""
    table = printed.injuries().with_margins([{"group": "group", "injury": ["injury", "total"]}])
    done = dc.protect(table, dc.Suppress(dc.DirectDisclosure(3, sensitive=["injury"], unknown={"injury": ["Unknown"]})))
    status = {
        tuple(d.codes[c] for d, c in zip(table.dimensions, row, strict=True)): s
        for row, s in zip(table.layout.codes, done.status, strict=True)
        if s != "s"
    }
    oslo, passenger, bergen = printed.INJURY_GROUPS[:3]
    assert status == {
        (oslo, "None"): "x", (oslo, "Serious"): "u", (passenger, "Light"): "x", (passenger, "Serious"): "u",
        (bergen, "None"): "x", (bergen, "Serious"): "u",
    }  # fmt: skip


def test_figure_1_second_panel_does_not_hide_the_group_but_ours_does() -> None:
    """Small counts with zeros as secondaries leave Oslo's drivers disclosed; the third panel hides one in each row."""
    table = printed.injuries_figure().with_margins([{"group": "group", "injury": ["injury", "total"]}])
    rule = dc.DirectDisclosure(1, sensitive=["injury"])
    done = dc.protect(table, dc.Suppress(rule))
    totals = table.where(injury="Total")
    assert not done.hidden[totals].any()
    for group in printed.INJURY_GROUPS[0], printed.INJURY_GROUPS[2]:
        row = table.where(group=group) & ~totals
        assert done.hidden[row].sum() == 2
        assert done.hidden[row & table.where(injury="Serious")].all()


def test_marks_and_hidden_cells() -> None:
    """Unsafe is hidden, safe is not primary, must publish stays, never has its own status and is in no release."""
    table = two_way([[20, 5, 9], [4, 30, 8], [7, 6, 12]])
    marks = dc.Marks(
        unsafe=({"a": "3", "b": "3"},), safe=({"a": "2", "b": "1"},), publish=({"a": "1", "b": "1"},),
        never=({"a": "Total", "b": "3"},),
    )  # fmt: skip
    done = dc.protect(table, dc.Suppress(dc.Threshold(5), marks=marks))
    at = {k: done.status[table.where(a=k[0], b=k[1])][0] for k in (("3", "3"), ("2", "1"), ("1", "1"), ("Total", "3"))}
    assert at["3", "3"] == "u"
    assert at["2", "1"] in "sx"
    assert at["1", "1"] == "z"
    assert at["Total", "3"] == "w"
    assert len(done.release()) == len(table) - 1


def test_a_forced_sum_that_gives_a_cell_away_is_blamed() -> None:
    """The cells from which the sensitive one follows are named."""
    table = two_way([[20, 5], [1, 30]])
    with pytest.raises(Refused, match="2/1") as caught:
        dc.protect(table, dc.Suppress(dc.Threshold(2), forced=table.where(a="Total") | table.where(a="1")))
    assert "follows from" in str(caught.value)
    with pytest.raises(Refused, match="must be published"):
        dc.protect(table, dc.Suppress(dc.Threshold(2), forced=table.count == 1))


def test_progress_is_told_and_details_count_the_steps() -> None:
    """done runs up to total; the steps add up to what is hidden."""
    told: list[tuple[int, int]] = []
    table = two_way(np.arange(1, 31).reshape(5, 6))
    done = dc.protect(table, dc.Suppress(dc.Threshold(4), progress=lambda n, of: told.append((n, of))))
    assert told[0][0] <= told[0][1]
    d = done.details
    assert d["primary"] + d["elimination"] + d["repair"] == done.hidden.sum()
    assert str(d["rule"]) == "Threshold(n=4)"


def test_magnitude_tables_hide_by_value_and_publish_counts_too() -> None:
    """Several measures share one pattern."""
    frame = pd.DataFrame({"a": list("xxyyz") * 3, "b": list("pqpqp") * 3, "v": np.arange(15) + 0.5})
    data = dc.Microdata.of(frame, dimensions=["a", "b"], magnitudes=["v"])
    table = dc.tabulate(data, by=["a", "b"], value="v")
    done = dc.protect(table, dc.Suppress(dc.Threshold(4), measures=("v", "count")))
    for values in done.published.values():
        assert (np.isnan(values) == done.hidden).all()


@pytest.mark.parametrize("seed", range(4))
def test_zeros_that_everybody_can_work_out_are_shown(seed: int) -> None:
    """Amounts of 0 in cells with somebody in them are not hidden for each other's sake; the audit passes."""
    random = np.random.default_rng(seed)
    shape = (6, 4, 2, 2)
    firms = random.poisson(2.5, shape).ravel()
    codes = np.unravel_index(np.repeat(np.arange(len(firms)), firms), shape)
    frame = pd.DataFrame({name: [f"c{c}" for c in column] for name, column in zip("abcd", codes, strict=True)})
    frame["v"] = np.rint(random.lognormal(4, 2, len(frame))) * (random.random(len(frame)) < 0.9)
    table = dc.tabulate(dc.Microdata.of(frame, dimensions=list("abcd"), magnitudes=["v"]), list("abcd"), value="v")
    done = dc.protect(table, dc.Suppress(dc.PPercent(10)))
    found = dc.audit(done)
    assert found.ok, found.summary().to_string()
    assert (done.details["why"][~done.hidden] == "").all()
