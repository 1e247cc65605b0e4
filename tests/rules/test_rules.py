"""Rules: what they flag, why, how they combine and how they are written down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import discreet as dc
from discreet import InputError, Table
from discreet.datasets import printed
from discreet.rules import AnyOf, Rule, as_rule, from_dict, from_toml, parse, read_marks
from tests.strategies import tables

FIRMS = pd.DataFrame(
    {
        "branch": ["a", "a", "a", "b", "b", "c", "c", "c", "c"],
        "region": ["n", "n", "s", "n", "s", "n", "n", "n", "n"],
        "turnover": [90.0, 6.0, 4.0, 50.0, 50.0, 40.0, 30.0, 20.0, 10.0],
        "group": ["x", "y", "x", "u", "v", "p", "q", "r", "s"],
        "waiver": ["yes", "no", "yes", "no", "no", "no", "no", "no", "no"],
    }
)


def firms(*, top: int = 4, holding: str | None = "group", **options: Any) -> Table:
    data = dc.Microdata.of(FIRMS, dimensions=["branch", "region", "waiver"], magnitudes=["turnover"], holding=holding)
    return dc.tabulate(data, by=["branch", "region"], value="turnover", top=top, **options)


def flagged(rule: Any, table: Table) -> set[tuple[str, ...]]:
    at = np.flatnonzero(as_rule(rule)(table))
    return {tuple(d.codes[table.layout.codes[n, k]] for k, d in enumerate(table.dimensions)) for n in at}


def test_threshold_flags_small_counts_and_zeros_on_request() -> None:
    """0 < count < n; zeros only when asked, structural zeros never."""
    table = Table.of([[3, 0], [1, 2]], ["area", "sex"], structural=[{"area": "1", "sex": "2"}])
    assert flagged(dc.Threshold(3), table) == {("2", "1"), ("2", "2"), ("Total", "2")}
    assert ("1", "2") not in flagged(dc.Threshold(3, zeros=True), table)


def test_dominance_merges_holdings() -> None:
    """x owns two firms of branch a: together 94 of 100."""
    table = firms()
    assert flagged(dc.Dominance(1, 93), table) >= {("a", "Total"), ("a", "s"), ("b", "n"), ("b", "s")}
    assert ("a", "Total") not in flagged(dc.Dominance(1, 95), table)
    assert ("a", "Total") not in flagged(dc.Dominance(1, 93), firms(holding=None))


def test_p_percent_against_a_coalition() -> None:
    """c/n: 40, 30, 20, 10. One other leaves 30 of the rest, two others 10."""
    table = firms()
    assert ("c", "n") not in flagged(dc.PPercent(74), table)
    assert ("c", "n") in flagged(dc.PPercent(76), table)
    assert ("c", "n") in flagged(dc.PPercent(26, coalition=2), table)
    assert flagged(dc.PQ(38, q=50), table) == flagged(dc.PPercent(76), table)
    low, high = dc.PPercent(76).levels(table)
    at = table.where(branch="c", region="n")
    assert low[at] == high[at] == pytest.approx(0.76 * 40 - 30)


def test_a_percentage_is_never_a_fraction() -> None:
    """0.1 is refused where 10 is meant."""
    for make in (lambda: dc.PPercent(0.1), lambda: dc.Dominance(1, 0.75), lambda: dc.PQ(0.1, q=50)):
        with pytest.raises(InputError, match="in percent: write"):
            make()


def test_weights_multiply_the_largest_or_enlarge_the_total() -> None:
    """A firm of weight 3 stands for three of its size: the two largest are both of that size."""
    frame = pd.DataFrame({"b": ["a", "a"], "x": [10.0, 5.0], "w": [3.0, 1.0]})
    data = dc.Microdata.of(frame, dimensions=["b"], magnitudes=["x"], weight="w")
    table = dc.tabulate(data, by=["b"], value="x")
    assert dc.Dominance(2, 57)(table).all()  # 20 of 35
    assert not dc.Dominance(2, 58)(table).any()
    assert dc.Dominance(2, 42, weights="total")(table).all()  # 15 of 35
    assert not dc.Dominance(2, 43, weights="total")(table).any()


def test_weights_and_holdings_together() -> None:
    """Two firms of one owner, weights 1 and 2: his contribution is 10 + 2*5, seen as one of weight 20/15."""
    frame = pd.DataFrame({"b": ["a", "a", "a"], "x": [10.0, 5.0, 4.0], "w": [1.0, 2.0, 1.0], "h": ["o", "o", "z"]})
    data = dc.Microdata.of(frame, dimensions=["b"], magnitudes=["x"], weight="w", holding="h")
    table = dc.tabulate(data, by=["b"], value="x")
    share = dc.Dominance(1, 50).evidence(table)["share of 1 largest, %"]
    assert share[0] == pytest.approx(100 * 15 / 24)
    assert dc.FewContributors(3)(table).all()
    assert not dc.FewContributors(2)(table).any()


def test_waivers_full_and_partial() -> None:
    """x waived everywhere: a/s is his alone and needs no protection; in a/n the smaller y is the one to protect."""
    table, protected = firms(), firms(where={"waiver": "no"})
    rule = dc.Waived(dc.PPercent(10), protected)
    assert ("a", "s") in flagged(dc.PPercent(10), table)
    assert ("a", "s") not in flagged(rule, table)
    assert ("a", "n") in flagged(rule, table)  # X - x_s - x_r = 0 < 0.1 * 6
    assert ("a", "s") not in flagged(dc.Waived(dc.Dominance(1, 90), protected), table)
    with pytest.raises(InputError, match="cannot be written down"):
        rule.to_toml()


def test_entropy_is_bounded_when_not_all_contributions_are_kept() -> None:
    """ODF03 eq 1 on 40, 30, 20, 10: H / log2 4 = 0.923; two kept contributions leave a range."""
    table = firms()
    at = table.where(branch="c", region="n")
    exact = float(dc.EntropyRule(0.5).evidence(table)["entropy to"][at][0])
    p = np.array([0.4, 0.3, 0.2, 0.1])
    assert exact == pytest.approx(float(-(p * np.log2(p)).sum() / 2))
    assert dc.EntropyRule(0.93)(table)[at].all()
    assert not dc.EntropyRule(0.92)(table)[at].any()
    few = dc.EntropyRule(0.5).evidence(firms(top=2))
    assert few["entropy from"][at][0] <= exact <= few["entropy to"][at][0] + 1e-12
    with pytest.raises(InputError, match="top=k"):
        dc.EntropyRule(0.92)(firms(top=2))


def test_a_rule_that_needs_more_contributions_says_how_to_get_them() -> None:
    """tabulate(..., top=5)."""
    with pytest.raises(InputError, match=r"top=4"):
        dc.Dominance(4, 80)(firms(top=2))


def test_direct_disclosure_as_printed() -> None:
    """LL21 section 2.2: one cell for k=0, four for k=3; with Unknown nondisclosive three are left (Table 2)."""
    table = printed.injuries()
    rows = [f"{g}" for g in printed.INJURY_GROUPS]
    rule = dc.DirectDisclosure(0, sensitive=["injury"])
    assert flagged(rule, table) == {(rows[0], "Serious")}
    four = {(rows[0], "Serious"), (rows[1], "Serious"), (rows[2], "Serious"), (rows[3], "Unknown")}
    assert flagged(dc.DirectDisclosure(3, sensitive=["injury"]), table) == four
    known = dc.DirectDisclosure(3, sensitive=["injury"], unknown={"injury": ["Unknown"]})
    assert flagged(known, table) == four - {(rows[3], "Unknown")}


def test_nobody_is_recognised_by_an_unknown_value() -> None:
    """LL21 section 2.3: lines within an unknown region need no protection."""
    table = Table.of(
        {"region": ["r", "?", "r", "?"], "injury": ["none", "none", "bad", "bad"], "n": [1, 1, 9, 7]},
        ["region", "injury"], count="n",
    )  # fmt: skip
    every = flagged(dc.DirectDisclosure(1, sensitive=["injury"]), table)
    assert ("?", "bad") in every
    some = flagged(dc.DirectDisclosure(1, sensitive=["injury"], unknown={"region": ["?"]}), table)
    assert some == {c for c in every if c[0] != "?"}


def test_unions_of_values_count_when_named() -> None:
    """All of a line lightly or seriously hurt is no disclosure unless the union is named."""
    table = Table.of(np.array([[0, 5, 6], [9, 4, 3]]), [dc.Dimension.flat("g", "ab"), dc.Dimension.flat("hurt", "nls")])
    assert not dc.GroupDisclosure(sensitive=["hurt"])(table).any()
    rule = dc.GroupDisclosure(sensitive=["hurt"], unions={"hurt": [["l", "s"]]})
    sums = rule.virtual(table)
    assert sums is not None
    assert sums.matrix.toarray()[:, 0].tolist() == [1, 0, 0, 0, 0, 0]  # what must stay open: a/n, the rest of the line
    hidden = dc.protect(table, dc.Suppress(rule))
    assert hidden.hidden[table.where(g="a", hurt="n")].all()


def test_k_disclosure_marks_no_cell_but_keeps_differences_open() -> None:
    """The difference of a cell and one within it, where k or fewer are left."""
    table = Table.of([[4, 1], [5, 9]], ["a", "b"])
    rule = dc.KDisclosure(1)
    assert not rule(table).any()
    assert rule.virtual(table) is not None
    assert dc.KDisclosure(0).virtual(table) is None


def test_rules_combine_and_print() -> None:
    """| and &, with functions and masks in between."""
    table = Table.of([[3, 0], [1, 2]], ["area", "sex"])

    def big(t: Table) -> Any:
        return t.count > 4

    rule = dc.Threshold(2) | big
    assert isinstance(rule, AnyOf)
    assert str(rule) == "Threshold(n=2) | big"
    assert (rule(table) == ((table.count == 1) | (table.count > 4))).all()
    both = (dc.Threshold(3) | dc.GroupDisclosure()) & dc.Threshold(4)
    assert str(both) == "(Threshold(n=3) | GroupDisclosure()) & Threshold(n=4)"
    assert (both(table) <= dc.Threshold(4)(table)).all()
    with pytest.raises(InputError, match="truth array"):
        as_rule(lambda t: t.count)(table)


RULES: list[Rule] = [
    dc.Threshold(3),
    dc.Threshold(3, zeros=True, level=50),
    dc.Dominance(2, 85.5, weights="total"),
    dc.PPercent(10, coalition=2),
    dc.PQ(10, q=50),
    dc.EntropyRule(0.5),
    dc.FewContributors(3),
    dc.TSensitivity(0.8),
    dc.TSensitivity(0.8, "m-group", colluders=2, m=3),
    dc.TSensitivity(0.5, scenario="approx", shares=(0.5, 0.5), overlap=(0.2, 0.1)),
    dc.DirectDisclosure(2, sensitive=["a"], unknown={"a": ["?"]}, unions={"b": [["x", 'say "y"']]}),
    dc.KDisclosure(1, most=20),
    dc.GroupDisclosure(share=90),
    dc.Request([{"a": "1", "b": ["2", "3"]}], level=10),
    dc.Threshold(3) | dc.PPercent(10) & dc.FewContributors(4),
    (dc.Threshold(3) | dc.PPercent(10)) & dc.FewContributors(4),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rules_survive_toml_and_plain_values(rule: Rule) -> None:
    """to_toml and from_toml, to_dict and from_dict."""
    assert from_toml(rule.to_toml()) == rule
    assert from_dict(rule.to_dict()) == rule


@pytest.mark.parametrize(
    "text", ["threshold(n=3)", "p_percent(p=10) | PQ(p=5, q=50)", "entropy(t=0.5)", "t_sensitivity(t=0.8, colluders=1)"]
)
def test_rules_are_read_from_a_line_of_text(text: str) -> None:
    """As the command line takes them."""
    assert parse(str(parse(text))) == parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "treshold(n=3)",
        "threshold(m=3)",
        "threshold",
        "threshold(3)",
        "threshold(n=__import__('os'))",
        "a b",
        "pq()",
        "t_sensitivity(t=8)",
        "t_sensitivity(t=0.8, scenario='ranks')",
        "t_sensitivity(t=0.8, m=2)",
        "t_sensitivity(t=0.8, colluders=-1)",
        "t_sensitivity(t=0.8, scenario='approx')",
        "t_sensitivity(t=0.8, scenario='m-group', m=0)",
    ],
)
def test_a_wrong_rule_is_named(text: str) -> None:
    """No code is run, and the nearest name is offered."""
    with pytest.raises(InputError):
        parse(text)


def test_why_gives_the_numbers_of_the_sensitive_cells() -> None:
    """One row per cell and rule (confidential)."""
    found = (dc.Threshold(2) | dc.Dominance(1, 90)).why(firms())
    assert set(found["rule"]) == {"Threshold(n=2)", "Dominance(n=1, k=90)"}
    alone = found[found["rule"] == "Dominance(n=1, k=90)"]
    assert (alone["share of 1 largest, %"] > 90).all()
    assert (found[found["rule"] == "Threshold(n=2)"]["count"] < 2).all()


def test_marks_from_a_file(tmp_path: Path) -> None:
    """With a head, or as tau-ARGUS writes them."""
    table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    path = tmp_path / "marks.csv"
    path.write_text("area,sex,mark\n1,1,u\n2,1,safe\nTotal,Total,z\n")
    marks = read_marks(path)
    assert table.count[marks.mask(table, "unsafe")].tolist() == [3]
    assert table.count[marks.mask(table, "safe")].tolist() == [1]
    assert table.count[marks.mask(table, "publish")].tolist() == [6]
    path.write_text("1;1;u\n2;2;w\n")
    assert read_marks(path, ["area", "sex"]).never == ({"area": "2", "sex": "2"},)
    path.write_text("area,sex,mark\n1,1,maybe\n")
    with pytest.raises(InputError, match="row 1 has none of the marks"):
        read_marks(path)


@settings(deadline=None, max_examples=60)
@given(tables())
def test_more_is_sensitive_with_a_larger_threshold(table: Table) -> None:
    """Rules are monotone in their parameter, and a union flags at least what its parts do."""
    small, large = dc.Threshold(2)(table), dc.Threshold(4)(table)
    assert (small <= large).all()
    group = dc.GroupDisclosure()
    assert (group(table) <= (group | dc.Threshold(2))(table)).all()
    assert (dc.DirectDisclosure(1)(table) <= dc.DirectDisclosure(2)(table)).all()
    assert (dc.DirectDisclosure(2, every=False)(table) <= dc.DirectDisclosure(2)(table)).all()
