"""Protection levels: formulas, files, what the audit says of them, and patterns that reach them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import discreet as dc
from discreet import InputError, Refused, Table
from discreet.formats import argus
from discreet.rules import asked, from_toml
from tests.strategies import tables

TABLE = Table.of([[20, 5, 9], [4, 30, 8], [7, 6, 12]], ["a", "b"])


def firms(waiver: str | None = None) -> Table:
    frame = pd.DataFrame(
        {"branch": list("aaaabbb"), "region": list("nnnnsss"), "x": [70.0, 20, 6, 4, 50, 30, 20], "w": list("ynnnnnn")}
    )
    data = dc.Microdata.of(frame, dimensions=["branch", "region", "w"], magnitudes=["x"])
    where = None if waiver is None else {"w": waiver}
    return dc.tabulate(data, by=["branch", "region"], value="x", top=4, where=where)


def at(table: Table, numbers: Any, **codes: str) -> float:
    return float(numbers[table.where(**codes)][0])


# -- formulas ---------------------------------------------------------------------------------------------------------


def test_levels_of_the_handbook() -> None:
    """Branch a: 70, 20, 6, 4 of 100."""
    table, cell = firms(), {"branch": "a", "region": "n"}
    for rule, level in (
        (dc.Dominance(1, 60), 100 / 60 * 70 - 100),
        (dc.Dominance(2, 80), 100 / 80 * 90 - 100),
        (dc.PPercent(20), 0.2 * 70 - 10),
        (dc.PPercent(10, coalition=2), 0.1 * 70 - 4),
        (dc.PQ(12, q=60), 0.2 * 70 - 10),
        (dc.FewContributors(5, level=30), 30.0),
        (dc.Threshold(5, level=30), 30.0),
        (dc.Dominance(1, 75), 0.0),  # holds not, so nothing is asked
    ):
        low, high = rule.levels(table)
        assert at(table, low, **cell) == at(table, high, **cell) == pytest.approx(level), rule


def test_waivers_protect_the_largest_of_the_others() -> None:
    """The largest has waived: s = 20 and r = 70 leave 10, so p % asks for 0.8 * 20 - 10."""
    table = firms()
    rule = dc.Waived(dc.PPercent(80), firms("n"))
    low, high = rule.levels(table)
    assert at(table, low, branch="a", region="n") == at(table, high, branch="a", region="n") == pytest.approx(6)


def test_the_widest_of_several_rules_counts_and_sliding_levels_add_width() -> None:
    """A rule that does not hold asks for nothing; text and TOML know the word."""
    rule = dc.Threshold(5, level=50) | dc.Request([{"a": "2", "b": "1"}], level=80, sliding=150)
    found = asked(TABLE, rule)
    assert at(TABLE, found.below, a="2", b="1") == pytest.approx(3.2)
    assert at(TABLE, found.sliding, a="2", b="1") == pytest.approx(6)
    assert at(TABLE, found.above, a="1", b="2") == 0
    assert from_toml(rule.to_toml()) == rule
    assert dc.Threshold(3, sliding=50) == from_toml('rule = "threshold"\nn = 3\nsliding = 50')
    with pytest.raises(InputError, match="in percent"):
        dc.Threshold(3, sliding=0.5)


# -- files ------------------------------------------------------------------------------------------------------------


def test_levels_from_a_file_stand_instead_of_the_rules(tmp_path: Path) -> None:
    """Empty fields say nothing; bounds go with them."""
    path = tmp_path / "levels.csv"
    path.write_text("a,b,below,above,sliding,lower,upper\n2,1,1,6,,,\n1,2,,,8,2,\n")
    rule = dc.Threshold(6, level=50)
    found = asked(TABLE, rule, dc.read_levels(path))
    assert at(TABLE, found.below, a="2", b="1") == 1
    assert at(TABLE, found.above, a="2", b="1") == 6
    assert at(TABLE, found.above, a="1", b="2") == pytest.approx(2.5)
    assert at(TABLE, found.sliding, a="1", b="2") == 8
    done = dc.protect(TABLE, dc.Suppress(rule, levels=dc.read_levels(path), repair="levels"))
    assert done.room.bounds is not None
    assert at(TABLE, done.room.bounds[0], a="1", b="2") == 2
    assert np.isinf(at(TABLE, done.room.bounds[1], a="1", b="2"))
    cells: Any = dc.audit(done).cells.set_index(["a", "b"])
    assert cells.loc[("2", "1"), "upper"] >= 10
    assert cells.loc[("1", "2"), "lower"] >= 2
    assert cells.loc[("1", "2"), "width"] >= 8


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "needs a head"), ("a,b\n1,1\n", "needs a head"), ("a,b,below,lpl\n1,1,1,1\n", "mean the same"),
        ("a,b,above\n1,1\n", "line 2: 2 fields"), ("a,b,above\n1,1,x\n", "line 2: a level is not a number"),
        ("a,b,above\n1,1,-2\n", "not negative"), ("a,b,above\n1,7,2\n", "names no published cell"),
        ("a,c,above\n1,1,2\n", "a dimension that the table has not; known: 'a', 'b'"),
    ],
)  # fmt: skip
def test_wrong_levels_are_refused(tmp_path: Path, text: str, says: str) -> None:
    """The file and the line are named."""
    path = tmp_path / "levels.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        dc.protect(TABLE, dc.Suppress(dc.Threshold(5), levels=dc.read_levels(path), repair="levels"))


def test_levels_and_bounds_of_tau_argus(tmp_path: Path) -> None:
    """pl and ab lines of an a-priori file."""
    path = tmp_path / "t.hst"
    path.write_text("2;1;u\n2;1;pl;2;5\n2;1;ab;0;40\n")
    marks = argus.read_apriori(path, TABLE)
    rule = dc.Request(marks.unsafe)
    done = dc.protect(TABLE, dc.Suppress(rule, levels=marks.levels, repair="levels"))
    found: Any = dc.audit(done).cells.set_index(["a", "b"]).loc[("2", "1")]
    assert found["lower"] <= 2
    assert 9 <= found["upper"] <= 40


# -- the audit --------------------------------------------------------------------------------------------------------


def test_the_audit_checks_levels_for_every_method() -> None:
    """A rule as protection: narrow where the interval falls short; a sliding level looks at the width alone."""
    rule = dc.Threshold(6, level=100)
    narrow = {
        type(method).__name__: int((dc.audit(dc.protect(TABLE, method), protection=rule).finding == "narrow").sum())
        for method in (dc.Round(3), dc.RandomRound(10, seed=1), dc.CTA(rule), dc.Hide(rule(TABLE)))
    }
    assert narrow == {"Round": 2, "RandomRound": 1, "CTA": 0, "Hide": 0}  # 5 became 0: nobody takes it for 10
    bare = dc.protect(TABLE, dc.Hide(rule(TABLE)))
    assert (dc.audit(bare).finding == "exact").sum() == 2
    rounded = dc.protect(TABLE, dc.RandomRound(3, seed=1))
    widths = dc.audit(rounded, protection=dc.Levels([{"a": "2", "b": "1"}], sliding=[4]))
    assert widths.ok
    assert not dc.audit(rounded, protection=dc.Levels([{"a": "2", "b": "1"}], sliding=[5])).ok


def test_the_audit_goes_by_the_levels_of_the_rule() -> None:
    """They are asked for by default; where less is asked for, ``ok`` means them all the same."""
    rule = dc.Threshold(6, level=200)
    asked_for = dc.protect(TABLE, dc.Suppress(rule))
    assert dc.audit(asked_for).ok
    assert np.array_equal(asked_for.hidden, dc.protect(TABLE, dc.Suppress(rule, repair="levels")).hidden)
    less = dc.protect(TABLE, dc.Suppress(rule, repair="exact"))
    assert dc.audit(less).verdict is dc.Verdict.FAIL
    assert dc.audit(less, protection=0).ok
    assert not dc.audit(less, protection=rule).ok


RULES = (dc.PPercent(10), dc.Dominance(1, 60), dc.PQ(10, q=50) | dc.FewContributors(3))


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize(
    "shape",
    [
        {"by": ["region", "size"]},
        {"by": ["activity", "size"]},
        {"margins": [("region", "size"), ("activity", "size")]},
        {"margins": [("region",), ("activity",), ("region", "size")]},
    ],
    ids=lambda s: "+".join("x".join(m) for m in s.get("margins", [s.get("by", ())])),
)
def test_a_rule_with_levels_has_them_by_default(shape: Any, rule: dc.Rule) -> None:
    """p %, dominance and pq on tables of one and several margins: every interval reaches as far as the rule asks.

    The intervals are worked out here by linear programs of their own.
    """
    table = dc.tabulate(dc.datasets.business(n=250, seed=4), value="turnover", top=3, **shape)
    done = dc.protect(table, dc.Suppress(rule))
    primary = np.flatnonzero(rule(table))
    below, above = rule.levels(table)
    assert (np.maximum(below, above)[primary] > 0).any()
    shown = ~done.hidden
    matrix, inner = table.matrix.T.tocsr(), table.statistic(table.measure)
    unit = 10.0**inner.decimals
    value = inner.cells / unit
    scale = float(value.max())
    for cell in primary[:25]:
        row = matrix[[cell]].toarray().ravel()
        equal: Any = matrix[np.flatnonzero(shown)]
        ends: list[Any] = [
            linprog(sign * row, A_eq=equal, b_eq=value[shown] / scale, bounds=(0, None)) for sign in (1, -1)
        ]
        low = ends[0].fun * scale
        high = np.inf if ends[1].status == 3 else -ends[1].fun * scale
        slack = 1e-6 * max(value[cell], 1) + 1e-9 * scale
        assert low <= max(value[cell] - below[cell], 0) + slack
        assert high >= value[cell] + above[cell] - slack
    assert not len(dc.audit(done).primary)


# -- patterns ---------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=12)
@given(tables(most_count=6), st.sampled_from([(50, 0), (100, 0), (0, 150), (60, 250)]))
def test_repair_reaches_upper_lower_and_sliding_levels(table: Table, shares: tuple[int, int]) -> None:
    """The audit finds no sensitive cell below its level, or the table is refused; without a sum it says unknown."""
    rule = dc.Threshold(4, level=shares[0], sliding=shares[1])
    try:
        done = dc.protect(table, dc.Suppress(rule, repair="levels"))
    except Refused:
        return
    primary = np.flatnonzero(done.status == "u")
    if not len(primary):
        return
    report = dc.audit(done, targets=primary)
    matrix = table.layout.matrix.toarray()
    shared = (matrix != 0).sum(axis=1) > 1  # inner cells that stand in several published ones
    in_a_sum = all((shared & (matrix[:, cell] != 0)).any() for cell in primary)
    assert report.ok if in_a_sum else report.verdict is not dc.Verdict.FAIL


@pytest.mark.parametrize("bounds", [50, (lambda t: 0.5 * t.value, lambda t: 1.5 * t.value), (None, TABLE.value * 2)])
def test_what_is_known_beforehand_narrows_every_hidden_cell(bounds: Any) -> None:
    """More cells are needed when each can move less, and the audit knows the bounds."""
    rule = dc.Threshold(6, level=40)
    free = dc.protect(TABLE, dc.Suppress(rule, repair="levels"))
    tight = dc.protect(TABLE, dc.Suppress(rule, repair="levels", bounds=bounds))
    assert tight.hidden.sum() >= free.hidden.sum()
    found = dc.audit(tight)
    assert found.ok
    value, top = TABLE.value[found.number], (1.5 if not isinstance(bounds, tuple) or callable(bounds[0]) else 2)
    assert (found.upper <= top * value).all()


def test_bounds_that_contradict_the_table_or_the_levels_are_refused() -> None:
    """The truth lies within them, and so must the protection levels."""
    with pytest.raises(InputError, match="do not lie between"):
        dc.protect(TABLE, dc.Suppress(dc.Threshold(5), bounds=(TABLE.value + 1, None)))
    with pytest.raises(InputError, match="known beforehand more closely"):
        dc.protect(TABLE, dc.Suppress(dc.Threshold(5, level=80), bounds=50, repair="levels"))
    with pytest.raises(InputError, match="percent"):
        dc.protect(TABLE, dc.Suppress(dc.Threshold(5), bounds=0.5))
