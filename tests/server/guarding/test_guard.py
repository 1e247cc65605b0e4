"""The differencing guard: what it flags, what it leaves alone, how fast it is, and what its verdicts rest on."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.policy import GuardRules, Policy, Query, parse_policy
from discreet.server.counting.counting import CubeCounting
from discreet.server.guarding.guard import Earlier, Geometry, Guard
from tests import servers


def data(counts: list[int]) -> dc.Table:
    """People by area, where areas have hierarchies that cross, and by sex."""
    districts = {"a1": "A", "a2": "A", "b1": "B", "b2": "B"}
    valleys = {"a1": "west", "a2": "east", "b1": "east", "b2": "east"}
    plans = {"a1": "most", "a2": "most", "b1": "most", "b2": "rest"}
    area = dc.Dimension.from_parents("area", districts, valleys, plans, total="All")
    return dc.Table.of(np.array([counts, counts]).T, [area, dc.Dimension.flat("sex", ["f", "m"])])


def guard(counts: list[int], **rules: int | str) -> Guard:
    return Guard(CubeCounting(data(counts)), Policy(publish="as it is", guard=GuardRules(action="refuse", **rules)))  # type: ignore[arg-type]


def flagged(found: Guard, new: str, *before: str) -> str:
    def geometry(words: str) -> Geometry:
        variables, _, where = words.partition(" where ")
        return found.geometry(Query.of(variables, where=where or None))

    flag = found.check(geometry(new), Earlier(map(geometry, before)).rows())
    return "" if flag is None else flag.rule


def test_populations_that_differ_by_a_few_people_are_flagged() -> None:
    """All but one small area, after all."""
    small = guard([300, 300, 300, 4], min_difference=10)
    assert flagged(small, "sex where area=most", "sex") == "guard_difference"
    assert flagged(small, "sex", "sex where area=most") == "guard_difference"
    assert flagged(small, "sex where area=b1", "sex where area=B") == "guard_difference"
    large = guard([300, 300, 300, 40], min_difference=10)
    assert flagged(large, "sex where area=most", "sex") == ""


def test_hierarchies_that_cross_are_flagged_when_a_piece_is_small() -> None:
    """District A less valley 'west' leaves area a2, which no table showed."""
    assert flagged(guard([300, 4, 300, 300]), "area:level 1", "area:hierarchy 2 level 1") == "guard_difference"
    assert flagged(guard([300, 40, 300, 300]), "area:level 1", "area:hierarchy 2 level 1") == ""


def test_what_was_told_directly_is_not_news() -> None:
    """A table with its totals, a slice of it, and less detail of the same hierarchy are free."""
    small = guard([300, 3, 300, 4])
    assert flagged(small, "sex where area=a1", "area, sex") == ""
    assert flagged(small, "area, sex", "sex", "area") == ""
    assert flagged(small, "area:level 1", "area") == ""
    assert flagged(small, "sex where area=a1", "sex where area=a1") == ""
    assert flagged(small, "sex where area=a2", "sex where area=b2") == ""


def test_a_filter_that_leaves_few_out_is_flagged_within_its_context() -> None:
    """Women of A and women of a1: the difference is the women of a2."""
    small = guard([300, 4, 300, 300])
    assert flagged(small, "area where sex=f", "area:level 1 where sex=f") == ""
    assert flagged(small, "sex where area=a1", "sex where area=A") == "guard_difference"


def test_a_difference_is_judged_by_the_rules_for_tables() -> None:
    """What would be refused if it were asked is not given by subtraction: too few people, or too few per cell."""

    def found(rules: str) -> str:
        policy = parse_policy(f'publish = "as it is"\n[guard]\naction = "refuse"\n[table]\n{rules}')
        return flagged(Guard(CubeCounting(data([300, 300, 300, 40])), policy), "sex", "sex where area=most")

    assert found("min_population = 80") == ""
    assert found("min_population = 81") == "guard_difference"
    assert found("min_mean = 40") == ""
    assert found("min_mean = 41") == "guard_difference"


def test_many_overlapping_groups_are_flagged() -> None:
    """Averaging over groups that cut across each other; groups of one classification are free."""
    codes = "abcdefgh"
    pairs = [{c: f"{x}{y}" if c in (x, y) else f"not {x}{y}" for c in codes} for x, y in itertools.pairwise(codes)]
    kind = dc.Dimension.from_parents("kind", *pairs)
    table = dc.Table.of(np.full((8, 2), 300), [kind, dc.Dimension.flat("sex", ["f", "m"])])
    rules = GuardRules(action="refuse", max_overlaps=3, min_difference=0)
    found = Guard(CubeCounting(table), Policy(publish="as it is", guard=rules))
    asked = [f"sex where kind={x}{y}" for x, y in ("ab", "bc", "cd", "de", "ef")]
    assert flagged(found, "sex where kind=not bc", *asked[:1], asked[2]) == ""
    assert flagged(found, "sex where kind=not cd", *asked) == ""
    rest = [f"sex where kind=not {x}{y}" for x, y in ("ab", "bc", "de")]
    assert flagged(found, "sex where kind=not gh", *rest) == "guard_overlap"
    assert flagged(found, "sex where kind=a", *(f"sex where kind={c}" for c in codes)) == ""


def test_a_filter_of_several_codes_tells_about_each() -> None:
    """They are not added up, so nothing new comes of them."""
    small = guard([300, 300, 300, 4])
    assert flagged(small, "sex where area=a1|a2|b1", "sex, area") == ""


def test_a_verdict_is_one_of_protected_counts() -> None:
    """Two data sets that the method shows alike get the same verdict; the truth alone decides nothing."""
    policy = parse_policy(
        '[guard]\naction = "refuse"\nmin_difference = 10\n[[method]]\nname = "random-round"\nbase = 10\nseed = 1'
    )
    shown, verdicts = [], []
    for true in range(1, 10):
        found = Guard(CubeCounting(data([300, 300, 300, true])), policy)
        earlier = Earlier([found.geometry(Query.of("sex", where="area=most"))]).rows()
        (left,) = found.differences(found.geometry(Query.of("sex")), earlier)
        shown += found.counts([left])
        verdicts.append(flagged(found, "sex", "sex where area=most") != "")
    assert verdicts == [count < 10 for count in shown]
    assert set(shown) <= {0.0, 10.0, 20.0}


def test_the_work_grows_with_the_classifications_and_not_with_the_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of earlier tables against a new one: each family of sets is compared once, then nothing again.

    Counted, not timed: on the census cube a check takes 5 ms.
    """
    from discreet.server.counting import cube
    from discreet.server.guarding import guard as module
    from discreet.server.guarding.unions import compare_unions

    table, _ = cube.read_cube(servers.small_cube())
    tried = Guard(CubeCounting(table), Policy(publish="as it is", guard=GuardRules(action="refuse")))
    before = []
    for dimension in table.dimensions:
        for leaf in dimension.leaves:
            rest = [d.name for d in table.dimensions if d.name != dimension.name]
            before += [
                tried.geometry(Query.of([a, b], where={dimension.name: leaf})) for a in rest for b in rest if a < b
            ]
    new = tried.geometry(Query.of("sex, age", where="citizenship=STL"))
    compared: list[int] = []
    shown = tried._shown

    def comparing(*sets: Any) -> Any:
        compared.append(1)
        return compare_unions(*sets)

    def showing(boxes: Any) -> Any:
        compared.append(len(boxes))
        return shown(boxes)

    monkeypatch.setattr(module, "compare_unions", comparing)
    monkeypatch.setattr(tried, "_shown", showing)
    earlier = Earlier(before).rows()
    first = tried.check(new, earlier)
    families = sum(map(len, tried.families))
    assert len(before) > 800
    assert 0 < sum(compared) < 2 * families < len(before) / 5
    compared.clear()
    assert tried.check(new, earlier) == first
    assert compared == []


@pytest.mark.parametrize("action", ["warn", "refuse", "budget"])
def test_the_policy_decides_what_follows(tmp_path: Path, action: str) -> None:
    """Warn: a header. Refuse: 403 with the guard's rule. Budget: so many, then 403. What was told stays told."""
    rules = "min_difference = 100000\nbudget = 2"
    text = servers.policy_text(rules, guard=action)
    asked = ["sex", "sex&where=age=0-4", "sex&where=age=5-9", "sex&where=age=10-14", "sex&where=age=0-4"]
    with servers.client(tmp_path, text) as client:
        answers = [client.get(f"/api/table.csv?variables={one}") for one in asked]
        lines = client.app.state.service.store.last_answers(10)  # type: ignore[attr-defined]
    statuses = [answer.status_code for answer in answers]
    assert (
        statuses
        == {"warn": [200] * 5, "refuse": [200, 403, 403, 403, 403], "budget": [200, 200, 200, 403, 200]}[action]
    )
    if action == "warn":
        assert answers[1].headers["x-discreet-guard"] == "guard_difference"
        assert "no-store" in answers[1].headers["cache-control"]
        assert [line["guard"] for line in lines[::-1]] == [
            "",
            "guard_difference",
            "guard_difference",
            "guard_difference",
            "",
        ]
    else:
        assert next(a for a in answers if a.status_code == 403).json()["rule"] == "guard_difference"
        assert "private" in answers[0].headers["cache-control"]


def test_two_users_are_two_or_one(tmp_path: Path) -> None:
    """With scope "everyone" what one was told counts against the other."""
    from discreet.server import auth
    from discreet.server.record.store import Store

    for scope, status in (("user", 200), ("everyone", 403)):
        folder = tmp_path / scope
        folder.mkdir()
        store = Store(f"sqlite:///{folder}/store.db")
        heads = []
        for name in ("ada", "bob"):
            auth.new_user(store, name, "approved", None)
            heads.append({"authorization": f"Bearer {auth.new_token(store, name)}"})
        rules = f'min_difference = 100000\nscope = "{scope}"'
        with servers.client(folder, servers.policy_text(rules, guard="refuse")) as client:
            assert client.get("/api/table?variables=sex", headers=heads[0]).status_code == 200
            answer = client.get("/api/table?variables=sex&where=age=0-4", headers=heads[1])
            assert answer.status_code == status
        store.close()


def test_the_guard_survives_a_restart(tmp_path: Path) -> None:
    """Its memory is the store."""
    text = servers.policy_text("min_difference = 100000", guard="refuse")
    with servers.client(tmp_path, text) as client:
        assert client.get("/api/table?variables=sex").status_code == 200
    with servers.client(tmp_path, text) as client:
        assert client.get("/api/table?variables=sex&where=age=0-4").status_code == 403
        assert client.get("/api/table?variables=sex").status_code == 200


def test_two_questions_at_the_same_moment_are_not_both_answered(tmp_path: Path) -> None:
    """By one worker or by two: one is decided first, and the other knows."""
    from discreet.server.auth import Caller
    from discreet.server.service import Service

    caller = Caller("user:ada")
    for number in range(6):
        folder = tmp_path / str(number)
        folder.mkdir()
        made = servers.settings(folder, servers.policy_text("min_difference = 100000", guard="refuse"))
        services = [Service(made) for _ in range(1 + number % 2)]

        async def both(services: list[Service] = services) -> list[bool]:
            queries = (Query.of("sex"), Query.of("sex", where="age=0-4"))
            asked = [services[0].resolved(query) for query in queries]
            replies = await asyncio.gather(*(services[k % len(services)].ask(caller, q) for k, q in enumerate(asked)))
            again = await services[0].ask(caller, asked[1])
            for service in services:
                await service.close()
            return [isinstance(reply.answer.result, dc.Release) for reply in (*replies, again)]

        answered = asyncio.run(both())
        assert answered[:2].count(True) == 1
        assert not (answered[0] and answered[2])


def test_a_past_of_another_codebook_is_left_out(tmp_path: Path) -> None:
    """Variables that are no more do not stop anybody."""
    found = guard([300, 300, 300, 300])
    assert found.known(Query.of("shoe")) is None
    assert found.known(Query.of("sex", where="area=c9")) is None


def test_the_template_has_the_guard_s_defaults() -> None:
    """Every key, commented."""
    assert parse_policy(dc.policy.template()).guard == GuardRules()
    with pytest.raises(dc.errors.InputError, match="did you mean 'action'"):
        parse_policy('[guard]\nacton = "warn"')


def test_a_share_tells_about_what_it_is_a_share_of() -> None:
    """The share of 'most' in all areas, beside its count, is that of all areas, and leaves one small area."""
    small, large = (guard([300, 300, 300, few], min_difference=10) for few in (4, 400))

    def rule(found: Guard, new: Query, *before: Query) -> str:
        flag = found.flag(new, Earlier(one for query in before for one in found.geometries(query)).rows())
        return "" if flag is None else flag.rule

    most = Query.of("sex", where="area=most")
    for statistic in ("percent-area", "rate-area"):
        share = Query.of("sex", where="area=most", statistic=statistic)
        assert rule(small, share) == rule(small, share, most) == "guard_difference"
        assert rule(large, share) == rule(large, share, most) == ""
        assert rule(small, share, Query.of("area, sex")) == ""
        assert len(small.geometries(share)) == 2
    assert rule(small, Query.of("sex", where="area=most", statistic="percent"), most) == ""
    assert rule(small, Query.of("sex"), most) == "guard_difference"
