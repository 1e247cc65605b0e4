"""Tables by the exact method: certified costs, levels, insiders, earlier tables, last period, and what is refused."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet import InputError, Refused, Table
from discreet.audits.known import Known, intervals, unmovable
from discreet.cli import run
from discreet.methods.suppress.gauss.insiders import openers
from discreet.methods.suppress.model.singletons import alone
from tests.strategies import tables

QUICK = dc.Optimal(time=20)
TABLE = Table.of([[20, 5, 9], [4, 30, 8], [7, 6, 12]], ["a", "b"])


def optimal(table: Table, rule: Any, **options: Any) -> dc.Protected:
    return dc.protect(table, dc.Suppress(rule, **{"method": QUICK, **options}))


def cheapest(table: Table, primary: Any, free: Any, weight: Any) -> float:
    """The least cost by trying every set of cells: none of the sensitive ones may have a single value."""
    best = np.inf
    numbers = np.flatnonzero(free)
    for size in range(len(numbers) + 1):
        for chosen in itertools.combinations(numbers, size):
            cost = float(weight[list(chosen)].sum())
            if cost >= best:
                continue
            gone = primary.copy()
            gone[list(chosen)] = True
            low, high = intervals(Known.hiding(table, gone), np.flatnonzero(primary))
            best = cost if (high > low).all() else best
    return best


# -- laws -------------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=15)
@given(tables(most_count=6), st.integers(2, 4), st.booleans())
def test_every_sensitive_cell_keeps_its_level_and_the_bound_holds(table: Table, n: int, zeros: bool) -> None:
    """Hierarchies, linked tables, structural zeros: the audit is the judge, and the bound never exceeds the cost."""
    rule = dc.Threshold(n, level=60)
    try:
        done = optimal(table, rule, zeros=zeros)
    except Refused:
        return
    primary = np.flatnonzero(done.status == "u")
    if len(primary):
        assert not len(dc.audit(done, targets=primary).exposed)  # a table without sums is unknown, not exposed
    assert done.details["bound"] <= done.details["cost"] + 1e-6
    secondary = np.maximum(np.abs(table.value[done.status == "x"].astype(float)), 1)
    assert done.details["cost"] == pytest.approx(secondary.sum())


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**32 - 1))
def test_the_cost_is_the_least_of_all_patterns(seed: int) -> None:
    """Against every set of cells of small tables, values that leave room for whole numbers."""
    rng = np.random.default_rng(seed)
    table = Table.of(rng.integers(3, 30, (2, 3)), ["a", "b"])
    primary = np.zeros(len(table), bool)
    primary[rng.choice(np.flatnonzero(table.is_inner), 1)] = True
    weights = rng.integers(1, 20, len(table)).astype(float)
    done = optimal(table, dc.Request(primary), method=dc.Optimal(weights=weights, time=20), zeros=True)
    assert done.details["solver status"] == "optimal"
    assert done.details["cost"] == pytest.approx(cheapest(table, primary, ~primary, weights))


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**32 - 1))
def test_nobody_alone_in_cells_can_open_a_sensitive_one(seed: int) -> None:
    """Firms that know their own cells learn no other sensitive cell."""
    rng = np.random.default_rng(seed)
    a, b = (dc.Dimension.flat(name, [f"{name}{k}" for k in range(3)]) for name in "ab")
    rows = [
        (i, j, float(np.round(rng.lognormal(3, 1), 1)), f"h{rng.integers(9)}" if rng.random() < 0.4 else f"{i}{j}{n}")
        for i in a.leaves for j in b.leaves for n in range(rng.integers(1, 5))
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["a", "b", "x", "firm"])
    data = dc.Microdata.of(frame, dimensions=[a, b], magnitudes=["x"], holding="firm")
    table = dc.tabulate(data, by=["a", "b"], value="x", top=3)
    rule = dc.PPercent(15)
    try:
        done = optimal(table, rule)
    except Refused:
        return
    primary, group = np.flatnonzero(rule(table)), alone(table)
    assume(len(primary))
    nothing = table.statistic("x").inner == 0
    assert not openers(table.matrix, np.flatnonzero(~done.hidden), primary, group, nothing).any()
    assert dc.audit(done, targets=primary).ok


# -- examples ---------------------------------------------------------------------------------------------------------


def test_a_firm_alone_in_its_cell_costs_a_cell_more() -> None:
    """Two sensitive cells of a line protect each other from outside, not from the firm that is one of them."""
    frame = pd.DataFrame(
        [("n", "a", 50, "f1"), ("n", "b", 30, "f2"), ("n", "b", 2, "f3"), ("s", "a", 45, "f4"), ("s", "b", 25, "f5")]
        + [(r, b, 40 + k, f"{r}{b}{k}") for r in "nswe" for b in "abcd" for k in range(4) if r + b not in
           ("na", "nb", "sa", "sb")],
        columns=["region", "branch", "x", "firm"],
    )  # fmt: skip
    data = dc.Microdata.of(frame, dimensions=["region", "branch"], magnitudes=["x"], holding="firm")
    table = dc.tabulate(data, by=["region", "branch"], value="x", top=3)
    costs = {
        kind: optimal(table, dc.PPercent(20), singletons=kind, repair="exact", unions=False).details["cost"]
        for kind in ("none", "own")
    }
    assert costs["none"] == 0
    assert costs["own"] > 0


@pytest.mark.parametrize(
    ("weights", "cost"),
    [
        ("value", 27), ("unity", 3), ("count", 27), (np.ones(16), 3), (lambda t: 2.0 * t.count, 54),
        ("log", np.log1p([7, 8, 12]).sum()),
    ],
)  # fmt: skip
def test_weights(weights: Any, cost: float) -> None:
    """4 of 2/1 is protected most cheaply by 7, 8 and 12; which cells are cheap is the user's choice."""
    rule = dc.Request([{"a": "2", "b": "1"}])
    done = optimal(TABLE, rule, method=dc.Optimal(weights=weights, time=20))
    assert done.details["gap"] == 0
    assert done.details["cost"] == pytest.approx(cost)


def test_wrong_choices_are_refused() -> None:
    """Names, shapes and signs."""
    with pytest.raises(InputError, match="did you mean 'optimal'"):
        dc.Suppress(dc.Threshold(3), method="optmal")
    with pytest.raises(InputError, match="an Optimal or a Modular"):
        dc.Suppress(dc.Threshold(3), method=3)
    with pytest.raises(InputError, match="did you mean 'value'"):
        optimal(TABLE, dc.Threshold(5), method=dc.Optimal(weights="valu"))
    with pytest.raises(InputError, match="one number"):
        optimal(TABLE, dc.Threshold(5), method=dc.Optimal(weights=np.ones(3)))


def test_earlier_tables_stay_and_limit_the_new_one() -> None:
    """What is out cannot be taken back; the joint pattern protects."""
    counts = np.array([[[9, 8], [7, 12]], [[3, 9], [11, 6]], [[10, 9], [9, 14]]])
    full = Table.of(counts, ["a", "b", "c"])
    first = optimal(full.with_margins([("a", "b")]), dc.Threshold(4))
    second_table = full.with_margins([("a", "c"), ("b", "c")])
    second = optimal(second_table, dc.Threshold(10), earlier=[first])
    both = full.with_margins([("a", "c"), ("b", "c"), ("a", "b")])
    gone = np.zeros(len(both), bool)
    gone[: len(second_table)] = second.hidden
    place = {tuple(row): k for k, row in enumerate(both.layout.codes.tolist())}
    for row, hidden in zip(first.table.layout.codes.tolist(), first.hidden, strict=True):
        gone[place[tuple(row)]] |= hidden
    primary = np.flatnonzero(dc.Threshold(10)(both) & gone)
    assert not unmovable(Known.hiding(both, gone), primary).any()
    with pytest.raises(Refused, match=r"published already|published before"):
        optimal(second_table, dc.Threshold(16), earlier=[dc.protect(full, dc.Publish())])


def test_last_periods_pattern_changes_only_where_it_must() -> None:
    """With the same sensitive cells the old pattern comes back although cheaper cells exist now."""
    rule = dc.Request([{"a": "2", "b": "1"}])
    before = optimal(TABLE, rule)
    later = Table.of(np.where(before.hidden[TABLE.is_inner].reshape(3, 3), 40, 3) + TABLE.array(), ["a", "b"])
    free, kept = (optimal(later, rule, last=p) for p in (None, before))
    assert not np.array_equal(free.hidden, before.hidden)
    assert np.array_equal(kept.hidden, before.hidden)


def test_rules_on_lines_are_kept_by_the_exact_method() -> None:
    """The rest of a disclosive line can hold one more than it does."""
    table = Table.of([[9, 0, 0], [4, 3, 6], [5, 7, 2]], ["a", "b"])
    rule = dc.DirectDisclosure(1, sensitive=["b"])
    sums = rule.virtual(table)
    assert sums is not None
    done = optimal(table, rule)
    other = dc.protect(table, dc.Suppress(rule))
    assert done.details["cost"] <= np.maximum(table.value[other.status == "x"], 1).sum()
    high = intervals(Known.hiding(table, done.hidden), np.flatnonzero(table.is_inner & (table.count == 0)))[1]
    assert high.max() >= 1


def test_clean_up_makes_elimination_cheaper_and_leaves_nothing_needless() -> None:
    """Each cell that is left protects something."""
    rng = np.random.default_rng(7)
    table = Table.of(rng.poisson(rng.gamma(0.8, 9, (6, 7))), ["a", "b"])
    rule = dc.Threshold(4, level=80)
    plain, clean = (dc.protect(table, dc.Suppress(rule, repair="levels", clean_up=c)) for c in (False, True))
    assert clean.details["clean-up"] == plain.hidden.sum() - clean.hidden.sum() >= 0
    primary = np.flatnonzero(clean.status == "u")
    assert dc.audit(clean, targets=primary).ok
    least = optimal(table, rule)
    assert least.details["cost"] <= np.maximum(table.value[clean.status == "x"], 1).sum() + 1e-6


def test_time_is_kept_and_the_gap_is_certified() -> None:
    """A moment is not enough for a proof, but the pattern protects and the bound is below its cost."""
    rng = np.random.default_rng(3)
    table = Table.of(rng.poisson(rng.gamma(0.5, 9, (9, 9, 4))), ["a", "b", "c"])
    rule = dc.Threshold(4, level=100)
    done = optimal(table, rule, method=dc.Optimal(time=4), zeros=True)
    assert 0 <= done.details["gap"] <= 1
    assert dc.audit(done, targets=np.flatnonzero(done.status == "u")).ok


# -- the command line -------------------------------------------------------------------------------------------------


def test_the_command_line_knows_the_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Parameters by -P, levels from a file, the proof in the summary, levels in the confidential file."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{a},{b}\n" * n for (a, b), n in {("n", "f"): 20, ("n", "m"): 12, ("s", "f"): 9, ("s", "m"): 1,
            ("e", "f"): 15, ("e", "m"): 14}.items()]  # fmt: skip
    Path("people.csv").write_text("area,sex\n" + "".join(rows))
    Path("levels.csv").write_text("area,sex,above\ns,m,5\n")
    base = ["protect", "people.csv", "--by", "area,sex", "--rule", "threshold(n=3)", "--method", "optimal"]
    more = [
        "-P",
        "weights=value",
        "-P",
        "time=20",
        "--levels",
        "levels.csv",
        "-o",
        "out.csv",
        "--confidential",
        "all.csv",
    ]
    assert run([*base, *more]) == 0
    said = capsys.readouterr().err
    assert "3 secondary" in said
    assert "proved to cost least" in said
    frame = pd.read_csv("all.csv")
    assert frame.loc[frame["status"] == "u", "above"].tolist() == [5.0]
    assert run(["audit", "out.csv", "--confidential", "all.csv"]) == 0
    assert "0 exact, 0 narrow" in capsys.readouterr().err
    frame["above"] = np.where(frame["status"] == "u", 400, 0)
    frame.to_csv("all.csv", index=False)
    assert run(["audit", "out.csv", "--confidential", "all.csv"]) == 1
    assert "1 narrow" in capsys.readouterr().err
    assert run([*base, "-P", "tme=3"]) == 2
    assert run(["protect", "people.csv", "--by", "area,sex", "--method", "round", "-P", "base=3", "--levels", "x"]) == 2
