"""The catalogue: what may be asked is declared, and how much it is can be told beforehand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.cli import run
from discreet.data.dimension import Dimension
from discreet.datasets import census_codebook
from discreet.errors import InputError, Refused
from discreet.policy import Policy, Query, closure_size, parse_policy
from discreet.policy.answering import check_query

METHOD = '[[method]]\nname = "cell-key"\n'
AREA = replace(Dimension.from_parents("area", {"n1": "N", "n2": "N", "s1": "S"}), level_names=("region", "area"))
DIMENSIONS = (AREA, Dimension.flat("sex", ["f", "m"]), Dimension.flat("age", ["y", "o"]), Dimension.flat("job", ["a"]))


def policy(tables: str, more: str = "") -> Policy:
    return parse_policy(f"{more}\n[catalogue]\ntables = {tables}\n{METHOD}")


@pytest.mark.parametrize(
    ("query", "allowed"),
    [
        (Query.of("sex, age"), True),
        (Query.of("sex", where="age=y"), True),
        (Query.of("sex", where="job=a"), False),
        (Query.of("area:region, sex"), True),
        (Query.of("area, sex"), False),
        (Query.of("sex", where="area=N"), True),
        (Query.of("sex", where="area=n1"), False),
        (Query.of("age", where="area=N"), False),
        (Query.of("job"), True),
    ],
)
def test_queries_within_a_declared_table(query: Query, allowed: bool) -> None:
    """All variables, those of filters among them, lie in one table, in no finer detail."""
    made = policy('[["sex", "age"], ["area:region", "sex"], ["job"]]')
    resolved = query.resolved(DIMENSIONS)
    if allowed:
        check_query(resolved, made)
    else:
        with pytest.raises(Refused) as caught:
            check_query(resolved, made)
        assert caught.value.rule == "catalogue"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[query]\nmax_dimensions = 2",
        '[query]\nrequired = { area = ["sex"], age = ["job"] }',
        '[query]\nforbidden = [["sex", "age"]]\ndisallowed = ["job"]',
        '[catalogue]\ntables = [["sex", "age", "area"], ["job", "sex"]]',
        '[catalogue]\ntables = [["sex", "area:region"], ["area"], ["age", "area:region"]]',
    ],
)
def test_the_size_is_that_of_what_can_be_asked(text: str) -> None:
    """Counted by asking the codebook about every set of variables at every level, and listing the cells of each."""
    made = parse_policy(f"{text}\n{METHOD}")
    sets, cells = set(), set()
    for number in (1, 2, 3, 4):
        for chosen in itertools.combinations(DIMENSIONS, number):
            for levels in itertools.product(*(d.levels for d in chosen)):
                try:
                    check_query(
                        Query.of({d.name: level for d, level in zip(chosen, levels, strict=True)}).resolved(DIMENSIONS),
                        made,
                    )
                except Refused:
                    continue
                sets.add(frozenset(d.name for d in chosen))
                codes = [d.at_level(level).codes for d, level in zip(chosen, levels, strict=True)]
                cells |= {
                    frozenset((d.name, code) for d, code in zip(chosen, cell, strict=True) if code != d.total)
                    for cell in itertools.product(*codes)
                }
    size = closure_size(DIMENSIONS, made)
    assert (size.sets, size.cells) == (len(sets), len(cells))


def test_without_a_catalogue_all_that_the_rules_allow() -> None:
    """Of the census: 7 + 21 + 35 sets of up to three variables."""
    made = parse_policy(METHOD)
    assert closure_size(census_codebook().dimensions, made).sets == 63
    fewer = parse_policy('[query]\nforbidden = [["sex", "age"]]\ndisallowed = ["region"]\n' + METHOD)
    assert closure_size(census_codebook().dimensions, fewer).sets == 6 + 14 + 16


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ('[["sexx"]]', "did you mean 'sex'"),
        ('[["area:country"]]', "no level 'country'"),
        ('[["sex", "sex"]]', "different variables"),
        ('[["sex", "age", "area", "job"]]', "nobody could ask for it"),
    ],
)
def test_what_cannot_be_is_said(tables: str, words: str) -> None:
    """By name, before anything is asked."""
    with pytest.raises(InputError, match=words):
        policy(tables).check(DIMENSIONS)


def test_policy_check_tells_the_size(tmp_path: Path, capfdbinary: Any) -> None:
    """For the owner to sign."""
    (tmp_path / "p.toml").write_text(METHOD)
    (tmp_path / "c.toml").write_text(census_codebook().to_toml())
    assert run(["policy", "check", str(tmp_path / "p.toml"), "--codebook", str(tmp_path / "c.toml")]) == 0
    assert b"63 sets of variables with 14,978 different cells" in capfdbinary.readouterr().err
