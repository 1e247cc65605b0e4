"""What contributors learn by bounds: the quick audit agrees with the programs, and repair closes it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.audits.known import unmovable
from discreet.audits.view import view
from discreet.methods.suppress.model.singletons import alone
from discreet.methods.suppress.repair.insider_bounds import learned


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


def test_without_the_true_table_nothing_is_said_to_be_safe() -> None:
    """What a contributor learns depends on his own parts: what is not known is not judged."""
    table = dc.tabulate(dc.datasets.business(n=300), by=["region", "size"], value="turnover", top=3)
    done = dc.protect(table, dc.Suppress(dc.FewContributors(3), singletons="none"))
    known, sensitive = replace(view(done).known, point=None), np.flatnonzero(done.status == "u")
    with pytest.raises(dc.Unjudged, match="the true table"):
        learned(known, alone(table), sensitive, table.statistic("count").inner == 0)
