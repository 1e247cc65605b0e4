"""ODT04: Oganian, Domingo-Ferrer and Torra, Internal intrusion scenarios in inference control (2004)."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.cli import run
from discreet.risk.intruder import (
    Groups,
    LargestKnown,
    NotRank,
    RankKnown,
    ValueOnly,
    internal_risk,
    intruder_risk,
    rank_values,
    sensitive,
)
from discreet.rules import from_toml, parse


def numbers(rest: int, n: int) -> list[int]:
    """A_j of section 3 by counting: X_(j) in (0, x'/(N-j+1)] for j < N, X_(N) in [x'/N, x')."""
    small = [sum(1 for x in range(1, rest + 1) if x * (n - j + 1) <= rest) for j in range(1, n)]
    return [max(x, 1) for x in [*small, sum(1 for x in range(1, rest) if x * n >= rest)]]


def size_bits(rest: int, n: int) -> float:
    """H(X_v | r_v): the mean of log2 A_j."""
    return sum(math.log2(a) for a in numbers(rest, n)) / n


CASES = [(100, 3), (60, 2), (997, 7), (400, 12)]


@pytest.mark.parametrize(("rest", "n"), CASES)
def test_bounds_by_rank(rest: int, n: int) -> None:
    """Section 3: the numbers A_j counted one by one; true counts by enumeration are never above them."""
    assert rank_values(rest, n).tolist() == numbers(rest, n)
    if n <= 3:
        every = [p for p in itertools.product(range(1, rest), repeat=n - 1) if sum(p) < rest]
        ranked = [sorted([*p, rest - sum(p)]) for p in every]
        possible = [len({r[j] for r in ranked}) for j in range(n)]
        assert all(true <= bound for true, bound in zip(possible, numbers(rest, n), strict=True))


def test_own_numbers_of_values() -> None:
    """Section 3: a protector who knows better gives the A_j; equation (4) is the case of one rank."""
    assert intruder_risk(100, 2, RankKnown(), values=[4, 16]) == pytest.approx(1 / ((2 + 4) / 2))
    assert intruder_risk(100, 1, RankKnown(), values=[8]) == pytest.approx(1 / 3)


@pytest.mark.parametrize(("rest", "n"), CASES)
def test_rank_known(rest: int, n: int) -> None:
    """DR_rank, equation (5)."""
    assert intruder_risk(rest, n, RankKnown()) == pytest.approx(n / sum(math.log2(a) for a in numbers(rest, n)))


@pytest.mark.parametrize(("rest", "n"), CASES)
def test_not_rank_k(rest: int, n: int) -> None:
    """DR_k-contr, equation (6)."""
    assert intruder_risk(rest, n, NotRank()) == pytest.approx(1 / (math.log2(n - 1) + size_bits(rest, n)))


@pytest.mark.parametrize(("rest", "n"), CASES)
def test_largest_known(rest: int, n: int) -> None:
    """DR_m-group, equation (9) with its reciprocal: both groups as likely, and every m."""
    each = [(math.log2(m) + math.log2(n - m)) / 2 for m in range(1, n)]
    assert intruder_risk(rest, n, LargestKnown()) == pytest.approx(1 / (sum(each) / (n - 1) + size_bits(rest, n)))
    for m in range(1, n):
        assert intruder_risk(rest, n, LargestKnown(m)) == pytest.approx(1 / (each[m - 1] + size_bits(rest, n)))


@pytest.mark.parametrize(
    ("sizes", "overlap"), [((6, 6), (0.4, 0.1)), ((4, 6, 10), (0.3,)), ((8, 8, 8), (0.5, 0.25, 0.1)), ((5, 15), ())]
)
def test_fuzzy_groups(sizes: tuple[int, ...], overlap: tuple[float, ...]) -> None:
    """DR_approx, equations (10) to (14): the distribution over the positions of each group written out."""
    n, entropies = sum(sizes), []
    for i, size in enumerate(sizes):
        p: dict[tuple[int, int], float] = {(i, at): 1 / size for at in range(size)}  # (12), the proper zone
        for j in (i - 1, i + 1):
            if 0 <= j < len(sizes):
                for d, share in enumerate(overlap):
                    own = d if j < i else size - 1 - d
                    p[i, own] -= share / size  # (13), shared with the neighbour
                    p[j, d if j > i else sizes[j] - 1 - d] = share / size  # (14), the neighbour's zone
        assert sum(p.values()) == pytest.approx(1)
        entropies.append(-sum(q * math.log2(q) for q in p.values() if q))
    expected = sum(entropies) / len(sizes) + size_bits(900, n)
    scenario = Groups(tuple(s / n for s in sizes), overlap)
    assert intruder_risk(900, n, scenario) == pytest.approx(1 / expected)


@pytest.mark.parametrize(("rest", "n"), CASES)
def test_value_only(rest: int, n: int) -> None:
    """DR_min, equation (15)."""
    assert intruder_risk(rest, n, ValueOnly()) == pytest.approx(1 / (math.log2(n) + size_bits(rest, n)))


def test_more_knowledge_is_more_risk() -> None:
    """Property 1 and section 7: rank known at the top, value only at the bottom, 38 sizes and 3 totals."""
    others: list[Any] = [
        NotRank(),
        LargestKnown(),
        LargestKnown(2),
        Groups((0.5, 0.5)),
        Groups((0.3, 0.3, 0.4), (0.3, 0.1)),
    ]
    for n, rest in itertools.product(range(2, 40), (200, 5_000, 100_000)):
        top, bottom = intruder_risk(rest, n, RankKnown()), intruder_risk(rest, n, ValueOnly())
        for scenario in others:
            assert top + 1e-12 >= intruder_risk(rest, n, scenario) >= bottom - 1e-12


def test_the_risk_is_the_reciprocal_of_both_uncertainties() -> None:
    """Equation (3), for any scenario at all: H(r) is asked of it, H(X | r) is the same for all."""

    class Half:
        def rank_bits(self, n: int) -> float:
            return n / 2

    assert intruder_risk(100, 3, Half()) == pytest.approx(1 / (1.5 + size_bits(100, 3)))


# -- the rule --------------------------------------------------------------------------------------------------------


def firms(seed: int, cells: int = 40, most: int = 9) -> tuple[pd.DataFrame, dict[str, list[int]]]:
    """Cells of 1 to ``most`` firms with very unequal turnovers."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[str, str, int]] = []
    for cell in range(cells):
        for size in rng.integers(1, 10, rng.integers(1, most + 1)) ** rng.integers(1, 4):
            rows.append((f"r{cell:02}", f"f{len(rows)}", int(size)))
    frame = pd.DataFrame(rows, columns=["region", "firm", "turnover"])
    held = {str(r): sorted(g["turnover"].tolist(), reverse=True) for r, g in frame.groupby("region")}
    return frame, held


def table_of(frame: pd.DataFrame, top: int) -> dc.Table:
    data = dc.Microdata.of(frame, dimensions=["region"], magnitudes=["turnover"], unit="firm")
    return dc.tabulate(data, by=["region"], value="turnover", top=top)


def rank_bits(scenario: str, n: int) -> float:
    if scenario == "m-group":
        return sum(math.log2(m) + math.log2(n - m) for m in range(1, n)) / (2 * (n - 1)) if n > 1 else 0.0
    return {"rank": 0.0, "k-contr": math.log2(max(n - 1, 1))}[scenario]


def algorithm_1(held: list[int], scenario: str, t: float, colluders: int) -> bool:
    """By hand: for every coalition up to that size, DR_min/DR < t, or somebody is known."""
    if len(held) == 1:
        return True
    for n in range(colluders + 1):
        rest = held[n + 1 :] or held[-1:]
        if len(rest) == 1:
            return True
        sizes = size_bits(sum(rest), len(rest))
        high, low = rank_bits(scenario, len(rest)) + sizes, math.log2(len(rest)) + sizes
        if high == 0 or high / low < t:  # DR_min/DR is the quotient of the denominators, turned round
            return True
    return False


@pytest.mark.parametrize("scenario", ["rank", "k-contr", "m-group"])
@pytest.mark.parametrize("t", [0.6, 0.75, 0.9])
def test_the_t_rule(scenario: str, t: float) -> None:
    """Algorithm 1 on forty cells, 0 to 3 colluders besides the intruder: every judgement worked out by hand."""
    frame, held = firms(7)
    table = table_of(frame, top=4)
    names = [str(r) for r in sorted(held)]
    last = np.zeros(len(table), bool)
    for colluders in range(4):
        found = dc.TSensitivity(t, scenario, colluders=colluders)(table)
        at = [int(np.flatnonzero(table.where(region=r))[0]) for r in names]
        assert found[at].tolist() == [algorithm_1(held[r], scenario, t, colluders) for r in names]
        assert (found >= last).all()
        last = found


@pytest.mark.parametrize("seed", range(2))
def test_collusion_is_monotone(seed: int) -> None:
    """Section 8: a cell that is sensitive for n colluders is so for n + 1, whatever the scenario and t."""
    table = table_of(firms(seed)[0], top=5)
    rules: list[dict[str, Any]] = [{"scenario": "rank"}, {"scenario": "k-contr"}, {"scenario": "m-group", "m": 2}]
    rules += [{"scenario": "m-group"}, {"scenario": "approx", "shares": (0.6, 0.4), "overlap": (0.2,)}]
    for given, t in itertools.product(rules, (0.0, 0.5, 0.7, 0.8, 0.9, 1.0)):
        found = [dc.TSensitivity(float(t), colluders=n, **given)(table) for n in range(5)]
        assert all((b >= a).all() for a, b in itertools.pairwise(found))


def test_colluders_are_counted_besides_the_intruder() -> None:
    """Section 8: n colluders leave N - n of the N others, and take their parts out of the sum."""
    frame = pd.DataFrame({"region": "x", "firm": list("abcde"), "turnover": [50, 30, 20, 9, 6]})
    found = internal_risk(table_of(frame, top=3), RankKnown(), colluders=1).set_index("region").loc["x"]
    assert (found["others"], found["rest"]) == (3, 35)
    assert found["DR"] == pytest.approx(1 / size_bits(35, 3))
    assert found["DR_min"] == pytest.approx(1 / (math.log2(3) + size_bits(35, 3)))
    alone = internal_risk(table_of(frame, top=3), RankKnown()).set_index("region").loc["x"]
    assert (alone["others"], alone["rest"]) == (4, 65)


def test_what_is_known_is_sensitive_for_every_t() -> None:
    """One contributor, two contributors, and others who have nothing; an empty cell is nobody's."""
    rows = [("one", 5), ("two", 7), ("two", 3), ("none", 9), ("none", 0), ("none", 0)]
    frame = pd.DataFrame(rows, columns=["region", "turnover"]).assign(firm=[f"f{i}" for i in range(6)])
    table = table_of(frame, top=2)
    for scenario in ("rank", "k-contr", "m-group"):
        assert dc.TSensitivity(0.0, scenario)(table)[np.flatnonzero(table.where(region=["one", "two", "none"]))].all()
    assert sensitive(math.inf, 0.1, 0.0)
    assert sensitive(0.2, 0.1, 0.6)
    assert not sensitive(0.2, 0.15, 0.6)


def test_the_t_rule_in_text_toml_policy_and_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same cells are hidden, whichever way the rule is given."""
    frame, _ = firms(3, cells=12)
    table = table_of(frame, top=3)
    rule = dc.TSensitivity(0.7, "m-group", colluders=1, m=2)
    text = "t_sensitivity(t=0.7, scenario='m-group', colluders=1, m=2)"
    assert from_toml(rule.to_toml()) == rule == parse(text)
    done = dc.protect(table, dc.Suppress(rule)).release()
    (tmp_path / "policy.toml").write_text(f"""
[query]
max_dimensions = 1
[[rule]]
{rule.to_toml()}
[[method]]
name = "suppress"
[measures.turnover]
""")
    policy = dc.read_policy(tmp_path / "policy.toml")
    data = dc.Microdata.of(frame, dimensions=["region"], magnitudes=["turnover"], unit="firm")
    answered = dc.answer(data, dc.Query.of("region", measure="turnover"), policy)
    assert answered.cells["turnover"].isna().tolist() == done.cells["turnover"].isna().tolist()
    monkeypatch.chdir(tmp_path)
    frame[["region", "turnover"]].to_csv("firms.csv", index=False)
    arguments = ["firms.csv", "--by", "region", "--value", "turnover", "--top", "3", "--rule", text, "-o", "out.csv"]
    assert run(["protect", *arguments]) == 0
    assert pd.read_csv("out.csv")["turnover"].isna().tolist() == done.cells["turnover"].isna().tolist()
    assert 0 < done.cells["turnover"].isna().sum() < len(table)
