"""Suppression: nobody can work out a sensitive cell, with the linear programmes of the audit as judge."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array, hstack

import discreet as dc
from discreet import Refused, Table
from discreet.audits.known import Known, intervals, unmovable
from discreet.audits.view import view
from discreet.datasets import printed
from discreet.linear import modular
from discreet.methods.suppress.model.singletons import alone
from discreet.methods.suppress.repair.insider_bounds import learned
from discreet.release import Protected
from tests.strategies import tables

Array = Any


def suppressed(table: Table, rule: Any, **options: Any) -> Protected | None:
    """The protected table, or None when it is refused."""
    try:
        return dc.protect(table, dc.Suppress(rule, **options))
    except Refused:
        return None


def two_way(counts: Any) -> Table:
    return Table.of(np.asarray(counts), ["a", "b"])


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


@settings(deadline=None, max_examples=40)
@given(tables())
def test_last_periods_pattern_is_enough_for_the_same_table(table: Table) -> None:
    """Elimination that prefers the cells hidden last time hides no others."""
    rule = dc.Threshold(3)
    done = suppressed(table, rule, singletons="none")
    assume(done is not None)
    assert done is not None
    repeated = dc.protect(table, dc.Suppress(rule, singletons="none", last=done, repair="off"))
    assert (repeated.hidden <= done.hidden).all()


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_the_pattern_does_not_depend_on_row_order(seed: int) -> None:
    """Cells given in another order, categories numbered as before: the same cells are hidden."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.7, 6, (4, 5)))
    rows = pd.DataFrame([(f"a{i}", f"b{j}", counts[i, j]) for i in range(4) for j in range(5)], columns=["a", "b", "n"])
    dims = [dc.Dimension.flat("a", [f"a{i}" for i in range(4)]), dc.Dimension.flat("b", [f"b{j}" for j in range(5)])]
    made = [
        suppressed(Table.of(frame, dims, count="n"), dc.Threshold(4))
        for frame in (rows, rows.sample(frac=1, random_state=seed % 2**31))
    ]
    first, second = made
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert (first.status == second.status).all()


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


@pytest.mark.parametrize("zeros", [False, True])
def test_independence_alone_does_not_protect(zeros: bool) -> None:
    """[[0,0,4],[4,0,1]], threshold 4: with zeros as secondaries elimination alone leaves every cell determined."""
    table = two_way([[0, 0, 4], [4, 0, 1]])
    primary = np.flatnonzero(dc.Threshold(4)(table))
    bare = dc.protect(table, dc.Suppress(dc.Threshold(4), zeros=True, singletons="none", repair="off"))
    assert unmovable(Known.hiding(table, bare.hidden), primary).all()
    assert not modular.in_span(table.matrix, ~bare.hidden, primary).any()
    done = dc.protect(table, dc.Suppress(dc.Threshold(4), zeros=zeros, singletons="none"))
    assert not unmovable(Known.hiding(table, done.hidden), primary).any()


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


def test_rank_aware_order_on_the_linked_tables_of_the_paper() -> None:
    """ODF03 section 4.5.3 with totals released: of the cells that are no totals the rank falls by 7 instead of 4."""
    counts = np.full((3, 4, 3), 60)
    table = Table.of(counts, ["a", "s", "r"], margins=[("a", "s"), ("a", "r"), ("s", "r")])
    cell = {(a, s, r): table.where(a=a, s=s, r=r) for a, s, r in _cells()}
    primary = cell["1", "1", "Total"] | cell["1", "Total", "1"] | cell["Total", "1", "1"]
    naive = np.full(len(table), 5.0)
    for name in ("13T", "31T", "33T", "1T3", "2T1", "2T3", "T12", "T41", "T42"):  # the paper's choice of partners
        a, s, r = (c.replace("T", "Total") for c in name)
        naive[cell[a, s, r]] = 1.0
    margins = (table.layout.codes == 0).sum(axis=1) > 1
    naive[margins] = 9.0
    inside = ~margins

    def decrease(order: Any) -> tuple[int, int]:
        done = dc.protect(table, dc.Suppress(dc.Request(primary), order, forced=margins))
        return int(done.hidden.sum()), modular.rank(table.matrix, inside) - modular.rank(
            table.matrix, inside & ~done.hidden
        )

    assert decrease(naive) == (12, 4)
    assert decrease("rank") == (12, 7)


def _cells() -> list[tuple[str, str, str]]:
    codes = [["Total", "1", "2", "3"], ["Total", "1", "2", "3", "4"], ["Total", "1", "2", "3"]]
    return [(a, s, r) for a in codes[0] for s in codes[1] for r in codes[2] if "Total" in (a, s, r)]


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


def test_protection_levels_are_reached_by_repair() -> None:
    """Exact only needs two values; levels need room of 100 percent, down to the 1 that everybody knows of."""
    table = two_way([[20, 5, 9], [4, 30, 8], [7, 6, 12]])
    rule = dc.Threshold(5, level=100)
    done = dc.protect(table, dc.Suppress(rule, repair="levels"))
    primary = np.flatnonzero(rule(table))
    low, high = intervals(Known.hiding(table, done.hidden), primary)
    value = table.count[primary]
    assert (high >= 2 * value).all()
    assert (low <= 1).all()
    assert (done.details["why"][done.status == "u"] == "rule").all()


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


def test_tables_added_later_leave_the_old_ones_as_they_are() -> None:
    """The first table stays; what it shows limits the second, and when nothing can be done its cells are to blame."""
    counts = np.array([[[9, 8], [7, 12]], [[3, 9], [11, 6]], [[10, 9], [9, 14]]])
    full = Table.of(counts, ["a", "b", "c"])
    first = dc.protect(full.with_margins([("a", "b")]), dc.Suppress(dc.Threshold(4)))
    second_table = full.with_margins([("a", "c"), ("b", "c")])
    second = dc.protect(second_table, dc.Suppress(dc.Threshold(10), earlier=[first]))
    both = full.with_margins([("a", "c"), ("b", "c"), ("a", "b")])
    gone = np.zeros(len(both), bool)
    gone[: len(second_table)] = second.hidden
    primary = np.flatnonzero(dc.Threshold(10)(both) & gone)
    assert not unmovable(Known.hiding(both, gone), primary).any()
    shown = dc.protect(full.with_margins([("a", "b", "c")]), dc.Publish())
    with pytest.raises(Refused) as caught:
        dc.protect(second_table, dc.Suppress(dc.Threshold(16), earlier=[shown]))
    assert "published before" in str(caught.value) or "out already" in str(caught.value)


def test_last_periods_pattern_is_preferred() -> None:
    """With slightly other numbers the same cells are hidden again."""
    rng = np.random.default_rng(4)
    counts = rng.poisson(rng.gamma(0.6, 9, (6, 6)))
    before = dc.protect(two_way(counts), dc.Suppress(dc.Threshold(3)))
    later = two_way(np.where(counts > 5, counts + rng.integers(-2, 3, counts.shape), counts))
    free, kept = (dc.protect(later, dc.Suppress(dc.Threshold(3), last=p)) for p in (None, before))
    assert (kept.hidden & ~before.hidden).sum() <= (free.hidden & ~before.hidden).sum()
    assert not (kept.hidden & ~before.hidden).any()


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


@pytest.mark.parametrize(
    ("n", "rule"), [(1000, dc.FewContributors(3)), (5000, dc.FewContributors(2) | dc.PPercent(15))]
)
def test_no_firm_alone_in_a_cell_learns_a_sensitive_one(n: int, rule: dc.Rule) -> None:
    """Elimination leaves some open by bounds: what remains of a sum beside one's own part; repair closes them all."""
    table = dc.tabulate(dc.datasets.business(n=n), by=["activity", "region"], value="turnover", top=3)
    nothing = table.statistic("count").inner == 0
    for repair in ("off", "exact"):
        done = dc.protect(table, dc.Suppress(rule, repair=repair))
        sensitive = np.flatnonzero(done.status == "u")
        known = view(done).known
        found = learned(known, alone(table), sensitive, nothing)
        assert bool(found) == (repair == "off")
    assert not unmovable(known, sensitive).any()


@pytest.mark.parametrize("method", ["gauss", dc.Optimal(time=5), dc.Modular(time=5)])
@pytest.mark.parametrize("clean_up", [False, True])
def test_nor_does_it_by_other_methods_or_after_clean_up(method: Any, clean_up: bool) -> None:
    """By bounds as well: where what is left of a sum beside the firm's own part may be nothing."""
    table = dc.tabulate(dc.datasets.business(n=300), by=["region", "size"], value="turnover", top=3)
    nothing, group = table.statistic("count").inner == 0, alone(table)
    rule, open_without = dc.FewContributors(3), []
    for singletons in ("none", "own"):
        how = dc.Suppress(rule, method=method, clean_up=clean_up, singletons=singletons, repair="exact")
        done = dc.protect(table, how)
        known, sensitive = view(done).known, np.flatnonzero(done.status == "u")
        open_without.append(bool(learned(known, group, sensitive, nothing)))
        assert not unmovable(known, sensitive).any()
    assert open_without == [True, False]


def test_what_a_firm_learns_is_what_the_programmes_say() -> None:
    """The quick audit from inside agrees with an audit for each contributor, who also knows his cells' margins."""
    table = dc.tabulate(dc.datasets.business(n=300), by=["region", "size"], value="turnover", top=3)
    nothing, group = table.statistic("count").inner == 0, alone(table)
    done = dc.protect(table, dc.Suppress(dc.FewContributors(3), singletons="none"))
    known, sensitive = view(done).known, np.flatnonzero(done.status == "u")
    expected = {}
    for who in np.unique(group[group > 0]):
        own, inner = group == who, table.statistic(table.measure).inner.astype(float)
        fixed = replace(
            known, inner_lower=np.where(own, inner, known.inner_lower), inner_upper=np.where(own, inner, np.inf)
        )
        others = (table.matrix.T @ (~own & ~nothing).astype(int))[sensitive] > 0
        stuck = sensitive[unmovable(fixed, sensitive) & others]
        if len(stuck):
            expected[int(who)] = stuck.tolist()
    assert expected
    assert {who: cells.tolist() for who, cells in learned(known, group, sensitive, nothing).items()} == expected


def test_many_linked_tables_of_a_sparse_census_are_repaired() -> None:
    """All tables of one to three of four sparse dimensions: nearly every sensitive cell is stuck until repair."""
    names = ["age", "activity", "occupation", "citizenship"]
    margins = [m for k in (1, 2, 3) for m in itertools.combinations(names, k)]
    table = dc.tabulate(dc.datasets.census(n=20_000), margins=margins)
    done = dc.protect(table, dc.Suppress(dc.Threshold(3)))
    assert done.details["repair"] > 0
    known = Known.hiding(table, done.hidden)
    known = replace(known, lower=np.where(done.hidden, 1, known.lower))
    assert not unmovable(known, np.flatnonzero(done.status == "u")).any()
