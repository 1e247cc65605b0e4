"""What contributors learn by bounds: the quick audit agrees with the programs, and repair closes it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

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


def few_firms(seed: int) -> dc.Table:
    """A sparse table of three dimensions: most cells of nobody or of one, two or three firms."""
    rng = np.random.default_rng(seed)
    cells = [(f"a{a}", f"b{b}", f"c{c}") for a in range(2) for b in range(2) for c in range(3)]
    rows = [cell for cell in cells for _ in range(rng.choice([0, 0, 0, 0, 1, 2, 3, 6]))]
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    frame = frame.assign(v=rng.integers(1, 120, len(rows)), own=range(len(rows)))
    dimensions = [dc.Dimension.flat(name, sorted(frame[name].unique())) for name in "abc"]
    data = dc.Microdata.of(frame, dimensions=dimensions, magnitudes=["v"], holding="own")
    return dc.tabulate(data, by=["a", "b", "c"], value="v", top=3)


@pytest.mark.parametrize("seed", [15, 17, 27, 30, 120, 122])
def test_what_is_left_of_one_sum_is_asked_like_what_moves_in_many(seed: int) -> None:
    """Where a shown sum holds two hidden cells and nothing else ties them, one is the sum less the other for its firm:
    by linear programs over what is shown, his own cell added."""
    table = few_firms(seed)
    done = dc.protect(table, dc.Suppress(dc.FewContributors(3)))
    matrix, inner = table.layout.matrix.toarray(), table.statistic("v").inner
    firms, shown = table.statistic("count").inner, ~done.hidden
    asked = 0
    for own in np.flatnonzero(firms == 1):
        bounds = [(value, value) if cell == own else (0, None) for cell, value in enumerate(inner)]
        for cell in np.flatnonzero(done.status == "u"):
            if matrix[own, cell] and firms @ matrix[:, cell] == 1:
                continue
            ends: list[Any] = [
                linprog(sign * matrix[:, cell], A_eq=matrix[:, shown].T, b_eq=table.value[shown], bounds=bounds)
                for sign in (1, -1)
            ]
            least, most = ends
            assert most.status == 3 or (most.x - least.x) @ matrix[:, cell] > 1e-6
            asked += 1
    assert asked
