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


def test_the_size_is_that_of_what_can_be_asked() -> None:
    """Counted by asking the codebook about every set of variables, and by adding up their cells."""
    made = policy('[["sex", "age", "area"], ["job", "sex"]]')
    sets = cells = 0
    sizes = {"area": 5, "sex": 2, "age": 2, "job": 1}
    for number in (1, 2, 3):
        for names in itertools.combinations(sizes, number):
            try:
                check_query(Query.of(list(names)).resolved(DIMENSIONS), made)
            except Refused:
                continue
            sets += 1
            product = 1
            for name in names:
                product *= sizes[name]
            cells += product
    found = closure_size(DIMENSIONS, made)
    assert (found.sets, found.cells) == (sets, cells)


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
    assert b"63 sets of variables with 14,977 different cells" in capfdbinary.readouterr().err
