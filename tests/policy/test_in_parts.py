"""Tables in parts under a policy: the same bytes, evidence and refusals as in one go."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.policy import Query, answer, answer_in_parts, evidence, parse_policy
from tests.in_parts import POLICY, people


@pytest.mark.parametrize("query", ["area, sex, age", "sex, area:level 1", "area, age where sex=f", "age where area=N"])
def test_a_policy_gives_the_same_bytes(query: str, tmp_path: Path) -> None:
    """Levels, populations, notes: what ``answer`` releases."""
    made = parse_policy(POLICY.format(rules="min_mean = 0.5\nmax_small_share = 0.9"))
    names, _, where = query.partition(" where ")
    asked = Query.of(names, where=where or None)
    for suffix in ("csv", "parquet"):
        path = answer_in_parts(people(), asked, made, tmp_path / f"t.{suffix}", cells=12)
        assert path.read_bytes() == dc.formats.to_bytes(answer(people(), asked, made), suffix)


@pytest.mark.parametrize("rules", ["min_mean = 8.0", "max_small_share = 0.02", "min_population = 10000"])
def test_a_policy_refuses_in_parts_as_in_one_go(rules: str, tmp_path: Path) -> None:
    """The same rule and reason, and no file."""
    made = parse_policy(POLICY.format(rules=rules))
    with pytest.raises(dc.Refused) as whole:
        answer(people(), "area, sex, age", made)
    with pytest.raises(dc.Refused) as parts:
        answer_in_parts(people(), "area, sex, age", made, tmp_path / "t.csv", cells=12)
    assert str(parts.value) == str(whole.value)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("least", [1, 2, 3, 4, 9])
def test_several_codes_are_judged_in_parts_as_in_one_go(least: int, tmp_path: Path) -> None:
    """Each code of a filter has to reach the least population, wherever the parts are cut."""
    text = POLICY.replace("[query]\n", "[query]\nnested_only = false\nmax_filters = 2\n")
    made = parse_policy(text.format(rules=f"min_population = {least}"))
    asked, path = Query.of("sex", where={"age": ["00", "03"], "area": ["a", "d"]}), tmp_path / "t.csv"

    def said(door: Any, *rest: Any, **more: Any) -> Any:
        try:
            return door(people(), asked, made, *rest, **more)
        except dc.Refused as refused:
            return str(refused)

    whole, parts = said(answer), said(answer_in_parts, path, cells=12)
    assert (parts.read_bytes() if isinstance(parts, Path) else parts) == (
        whole if isinstance(whole, str) else dc.formats.to_bytes(whole, "csv")
    )
    assert isinstance(whole, str) == (least > 3)


def test_the_evidence_is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    """At the very mean and share of small cells a table passes, a hair further it does not."""
    data = people()
    shown = np.array(dc.protect(dc.tabulate(data, by=["area", "sex", "age"]), dc.CellKey(d=2, v=1)).shown_inner())
    share = evidence(data, "area, sex, age", parse_policy(POLICY.format(rules=""))).small_share
    mean = float(shown.mean())
    assert share > 0
    for at, beyond in [
        (f"min_mean = {mean!r}", f"min_mean = {float(np.nextafter(mean, 9))!r}"),
        (f"max_small_share = {share!r}", f"max_small_share = {float(np.nextafter(share, 0))!r}"),
    ]:
        answer_in_parts(data, "area, sex, age", parse_policy(POLICY.format(rules=at)), tmp_path / "t.csv", cells=12)
        with pytest.raises(dc.Refused):
            answer_in_parts(
                data, "area, sex, age", parse_policy(POLICY.format(rules=beyond)), tmp_path / "u.csv", cells=12
            )


@pytest.mark.parametrize("extra", ["search = true", 'utility = "band"', "[risk]\nt2 = 0.5", "[risk]\nt1 = 0.1"])
def test_a_policy_that_looks_at_the_whole_table_is_not_bent(extra: str, tmp_path: Path) -> None:
    """Thresholds, search and stated quality are refused in parts, not approximated."""
    text = POLICY.format(rules="")
    key = extra.split(" =")[0]
    text = "\n".join(line for line in text.split("\n") if not line.startswith(f"{key} "))
    text = text + extra if extra.startswith("[") else f"{extra}\n{text}"
    with pytest.raises(dc.InputError, match="as a whole"):
        answer_in_parts(people(), "area", parse_policy(text), tmp_path / "t.csv")
