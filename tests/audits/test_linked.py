"""Linked tables: ranks, redundancy, degrees of freedom, sampling, insiders, unions, redesign."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import discreet as dc
from discreet.audits import (
    enumerated,
    exactly_known,
    freedom,
    insiders,
    redundant,
    released_rank,
    sampled,
    spare,
    unions,
    view,
)
from discreet.audits.feasible_sample import diagnostics
from discreet.linear import modular
from discreet.methods.redesign import cheapest_merge
from tests.strategies import tables

Array = NDArray[Any]
TABLES = [("A", "S"), ("A", "R"), ("S", "R")]


def asr(n: int, m: int, t: int) -> dc.Table:
    return dc.Table.of(np.random.default_rng(0).integers(1, 9, (n, m, t)), ["A", "S", "R"])


def linked(table: dc.Table) -> dc.Table:
    """AS, AR and SR without their margins, as ODF03 section 4.5 has them."""
    leaves = {d.name: list(d.leaves) for d in table.dimensions}
    return table.with_margins([{name: leaves[name] for name in pair} for pair in TABLES])


def pattern(table: dc.Table, rows: dict[str, tuple[str, str]]) -> Array:
    """2 x 2 cells in each table: "AS": ("13", "13") are activities 1 and 3 by sizes 1 and 3."""
    mask = np.zeros(len(table), bool)
    for names, (first, second) in rows.items():
        codes = {"A": ["Total"], "S": ["Total"], "R": ["Total"], names[0]: list(first), names[1]: list(second)}
        mask |= table.where(**codes)
    return mask


@pytest.mark.parametrize(("n", "m", "t"), [(3, 4, 3), (2, 5, 4), (4, 2, 2)])
def test_ranks_of_odf03(n: int, m: int, t: int) -> None:
    """ODF03 section 4.5: nm; n(t+m−1); nm+nt+mt−n−m−t+1, with and without the tables' own margins."""
    table = asr(n, m, t)
    ranks = [released_rank(table.with_margins(TABLES[:k])) for k in (1, 2, 3)]
    assert ranks == [n * m, n * (t + m - 1), n * m + n * t + m * t - n - m - t + 1]
    assert released_rank(linked(table)) == ranks[2]


def test_patterns_of_odf03() -> None:
    """ODF03 section 4.5.3: the worked twelve suppressions free 4 dimensions, those of Proposition 2 free 7."""
    table = linked(asr(3, 4, 3))
    worked = pattern(table, {"AS": ("13", "13"), "AR": ("12", "13"), "SR": ("14", "12")})
    best = pattern(table, {"AS": ("13", "13"), "AR": ("13", "13"), "SR": ("13", "13")})
    assert worked.sum() == best.sum() == 12
    assert freedom(table, worked) == 4
    assert freedom(table, best) == 7


def test_n_plus_m_plus_t_minus_1_cells_are_spare() -> None:
    """ODF03 section 4.5.3: so many can be hidden without effect; here each single one can, too."""
    table = linked(asr(3, 4, 3))
    extra = spare(table)
    assert extra.sum() == 3 + 4 + 3 - 1
    assert freedom(table, extra) == 0
    assert redundant(table).all()
    assert not spare(table.with_margins([{"A": ["1", "2", "3"], "S": ["1", "2"]}])).any()


def test_exactly_known_by_rank_alone() -> None:
    """A single hidden cell of a row follows by subtraction; four in a rectangle do not."""
    table = dc.datasets.willenborg()
    one = dc.protect(table, dc.Hide([{"activity": "5", "size": "5"}]))
    assert exactly_known(one).sum() == 1
    assert not exactly_known(dc.datasets.willenborg_suppressed()).any()
    assert not exactly_known(dc.protect(table, dc.Publish())).any()


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), st.data())
def test_rank_agrees_with_the_span_of_the_columns(table: dc.Table, data: st.DataObject) -> None:
    """A hidden cell is determined by sums just when its column is in the span of the published ones."""
    hidden = np.array(data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))))
    found = exactly_known(dc.protect(table, dc.Hide(hidden)))
    gone = np.flatnonzero(hidden & ~table.structural)
    assert not found[~hidden].any()
    if len(gone):
        assert (found[gone] == modular.in_span(table.matrix, np.flatnonzero(~hidden), gone)).all()


def test_a_pattern_is_a_mask() -> None:
    with pytest.raises(dc.InputError, match="mask"):
        freedom(dc.datasets.willenborg(), np.array([1, 2]))


def test_sampling_agrees_with_counting() -> None:
    """Hit-and-run bits are near those of all 407 tables, and the diagnostic says so."""
    protected = dc.datasets.willenborg_suppressed()
    known, targets = view(protected).known, np.flatnonzero(protected.hidden)
    every, some = enumerated(known, targets), sampled(known, targets, draws=4000, seed=1)
    assert len(every.values) == 407
    assert np.allclose(every.bits(), np.log2(407))
    assert some.ok
    assert (some.effective > 500).all()
    assert np.allclose(some.bits(), every.bits(), atol=0.05)
    assert (
        sampled(known, targets, draws=400, seed=1).values == sampled(known, targets, draws=400, seed=1).values
    ).all()


def test_diagnostics_see_chains_that_disagree() -> None:
    """R-hat is near 1 for noise and large for chains about different values."""
    noise = np.random.default_rng(0).standard_normal((4, 500, 1))
    assert diagnostics(noise)[0][0] < 1.05
    assert diagnostics(noise + np.arange(4)[:, None, None])[0][0] > 1.5


def test_a_singleton_breaks_the_pattern_for_itself() -> None:
    """A cell of one person: he knows it, and with it the rest of the rectangle; nobody else learns anything."""
    table = dc.Table.of([[5, 1, 3], [6, 4, 6], [7, 8, 9]], ["a", "b"])
    protected = dc.protect(table, dc.Hide(table.where(a=["1", "2"], b=["1", "2"])))
    found = insiders(protected)
    assert list(found["coalition"]) == [(1,)]
    assert found["learned"].tolist() == [3]


def firms() -> dc.Table:
    """Two regions by three industries; firm a has most of two cells of the first region."""
    parts = {
        "r1 i1": "a40 b3 c30", "r1 i2": "a35 d25 e4", "r1 i3": "f20 g30 h20",
        "r2 i1": "j9 k8", "r2 i2": "l7 m9", "r2 i3": "n9 o8",
    }  # fmt: skip
    rows = [(*cell.split(), firm[0], int(firm[1:])) for cell, firms in parts.items() for firm in firms.split()]
    frame = pd.DataFrame(rows, columns=["region", "industry", "firm", "turnover"])
    data = dc.Microdata.of(frame, dimensions=["region", "industry"], magnitudes=["turnover"], holding="firm")
    return dc.tabulate(data, by=["region", "industry"], value="turnover", top=3)


def test_a_firm_that_dominates_a_union() -> None:
    """Two hidden cells of one firm do not protect each other: it has 54.7 % of their sum; two of different firms do."""
    table = firms()
    protected = dc.protect(table, dc.Hide(table.where(region=["r1", "r2"], industry=["i1", "i2"])))

    def over(share: float) -> Any:
        return lambda t: t.contributions.value[:, 0] > share * t.value

    found = unions(protected, over(0.54))
    assert found["cells"].tolist() == [tuple(np.flatnonzero(table.where(region="r1", industry=["i1", "i2"])))]
    assert found["total"].tolist() == np.flatnonzero(table.where(region="r1", industry="Total")).tolist()
    assert len(unions(protected, over(0.9))) == 0
    assert len(unions(dc.protect(table, dc.Publish()), over(0.1))) == 0


def test_insiders_of_a_magnitude_and_coalitions() -> None:
    """Firms know their own parts; two that make up a cell know it whole and so the others."""
    table = firms()
    protected = dc.protect(table, dc.Hide(table.where(region=["r1", "r2"], industry=["i1", "i2"])))
    done: list[int] = []
    assert insiders(protected, progress=lambda a, b: done.append(b)).empty
    assert done[-1] == len(done)


def test_a_margin_of_one_firm_is_its_own() -> None:
    """A firm alone in a cell whose line is empty otherwise learns nothing by knowing the line's total."""
    rows = [("n", "a", 5, "x"), ("s", "a", 7, "y"), ("s", "a", 3, "z"), ("s", "b", 9, "v"), ("s", "b", 4, "w")]
    frame = pd.DataFrame(rows, columns=["region", "branch", "turnover", "firm"])
    data = dc.Microdata.of(frame, dimensions=["region", "branch"], magnitudes=["turnover"], holding="firm")
    table = dc.tabulate(data, by=["region", "branch"], value="turnover", top=3)
    own = table.where(region="n", branch=["a", "Total"])
    protected = dc.protect(table, dc.Hide(own | table.where(region=["s", "Total"], branch="a")))
    found = insiders(protected)
    assert not {c for cells in found["cells"] for c in cells} & set(np.flatnonzero(own).tolist())
    everybody = insiders(protected, coalitions=[[int(c) for c in np.unique(table.contributions.contributor) if c >= 0]])
    assert everybody.empty


def test_the_audit_says_which_exposed_cells_are_sensitive() -> None:
    """A secondary cell that is known exactly is a waste, a primary one a leak: repr, cells and primary tell."""
    table = dc.Table.of([[5, 1, 3], [6, 4, 6], [7, 8, 9]], ["a", "b"])
    bare = dc.protect(table, dc.Suppress(dc.Threshold(2), method="gauss", repair="off"))
    assert "primary" not in repr(dc.audit(bare))
    hidden = dc.protect(table, dc.Hide(table.where(a="1", b="1")))
    found = dc.audit(hidden)
    assert "1 exact (" in repr(found)
    assert found.cells["status"].tolist() == hidden.status[found.number].tolist()
    assert found.primary.tolist() == [n for n in found.exposed if hidden.status[n] == "u"]
    with pytest.raises(dc.InputError, match="Protected"):
        dc.audit(hidden.release()).primary  # noqa: B018


def test_insiders_need_contributions() -> None:
    table = dc.Table.of([[1.5, 2.0], [3.0, 4.0]], ["a", "b"], value="x")
    with pytest.raises(dc.InputError, match="contributions"):
        insiders(dc.protect(table, dc.Hide(table.is_inner)))


def test_redesign_publishes_the_combined_row_only() -> None:
    """ODF03 Table 2 comes out, and its cells alone."""
    release = dc.Redesign({"activity": {"5,6": ["5", "6"]}})(dc.datasets.willenborg()).release()
    cells = release.cells.astype({"activity": str, "size": str})
    expected = dc.datasets.willenborg_redesigned().cells.astype({"activity": str, "size": str})
    merged = cells.merge(expected, on=["activity", "size"])
    assert len(cells) == len(merged) == len(expected)
    assert (merged["count_x"] == merged["count_y"]).all()


def test_redesign_of_linked_margins() -> None:
    """Margins that hold all merged codes get the combined one."""
    table = asr(3, 2, 2).with_margins([("A", "S"), ("A", "R")])
    protected = dc.Redesign({"A": {"1+2": ["1", "2"]}})(table)
    assert {"1+2", "3", "Total"} == set(protected.release().cells["A"].astype(str))


@pytest.mark.parametrize(
    "merge", [{"X": {}}, {"area": {"1": ["1", "2"]}}, {"area": {"x": ["1"]}}, {"area": {"x": ["1", "9"]}}]
)
def test_redesign_refuses(merge: Any) -> None:
    with pytest.raises(dc.InputError):
        dc.Redesign(merge)(dc.Table.of([[3, 0], [1, 2]], ["area", "sex"]))


def test_the_cheapest_merge() -> None:
    """Of all merges that satisfy a threshold the one that loses fewest cells; refuses when the search is cut short."""
    table = dc.Table.of([[3, 9, 9], [1, 9, 9], [8, 8, 8], [9, 9, 9]], ["area", "sex"])
    found = cheapest_merge(table, lambda t: t.count < 4)
    assert found is not None
    assert dict(found.merge) == {"area": {"1+2": ["1", "2"]}}
    protected = found(table)
    assert not (protected.table.count[~protected.hidden] < 4).any()
    with pytest.raises(dc.InputError, match="allow more"):
        cheapest_merge(table, lambda t: t.count < 4, most=1)
    assert cheapest_merge(table, lambda t: t.count < 99) is None
