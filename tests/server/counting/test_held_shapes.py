"""Tables that a worker holds from its start: which they are, and that nothing changes by it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import discreet as dc
from discreet.policy import Policy, Query, parse_policy, ready
from discreet.policy.answering import answer_query
from discreet.policy.whole_variables import WholeVariables
from discreet.server.counting import cube, held_shapes
from discreet.server.counting.counting import CubeCounting
from discreet.server.service import Service
from tests import servers

POLICY = """
[query]
max_dimensions = 3
[table]
min_population = 10
[[method]]
name = "{method}"
seed = 1
[guard]
action = "refuse"
"""


def policy_of(method: str) -> Policy:
    return parse_policy(POLICY.format(method=method))


def counting_of(folder: Path, policy: Policy) -> CubeCounting:
    cube.build(dc.datasets.census(n=2000), folder / "cube")
    table = ready(cube.read_cube(folder / "cube")[0], policy)
    assert isinstance(table, dc.Table)
    return CubeCounting(table)


@pytest.mark.parametrize("method", ["cell-key", "semi-controlled-round", "random-round"])
def test_answers_are_the_same_bytes_from_held_tables(tmp_path: Path, method: str) -> None:
    policy = policy_of(method)
    plain, holding = counting_of(tmp_path / "a", policy), counting_of(tmp_path / "b", policy)
    before = WholeVariables(plain.dimensions, policy, plain.table)
    after = WholeVariables(holding.dimensions, policy, holding.table)
    for shape in held_shapes.held_shapes(holding.dimensions, policy):
        table = holding.made(shape)
        after.held.hold(table)
        holding.hold(shape, table)
    asked = [
        Query.of("sex, age"),
        Query.of("sex, age", where="region=R1"),
        Query.of("sex, age", where="region=R2"),
        Query.of("region, age", where="sex=M|F"),
        Query.of("sex, education", statistic="percent"),
    ]
    for query in (*asked, *asked):
        made = []
        for counting, whole in ((plain, before), (holding, after)):
            resolved = query.resolved(counting.dimensions)
            release = answer_query(counting.table, resolved, policy, whole)
            made.append((release.to_csv(), release.notes, release.method, release.truthful))
        assert made[0] == made[1]


def test_what_is_held_does_not_depend_on_who_asks(tmp_path: Path) -> None:
    policy = policy_of("cell-key")
    counting = counting_of(tmp_path, policy)
    whole = WholeVariables(counting.dimensions, policy, counting.table)
    resolved = Query.of("sex, age").resolved(counting.dimensions)
    answer_query(counting.table, resolved, policy, whole)
    assert not whole.held.has(counting.table(resolved))
    assert counting.table(resolved) is not counting.table(resolved)


def test_a_table_that_is_refused_is_held_like_any_other(tmp_path: Path) -> None:
    """Else every question about it would take longer, and by the data."""
    service = Service(servers.settings(tmp_path, servers.policy_text("[table]\nmin_mean = 200\n")))
    service.hold_tables()
    counting, shape = service.counting, service.resolved(Query.of("age, occupation"))
    assert isinstance(counting, CubeCounting)
    with pytest.raises(dc.Refused):
        answer_query(counting.table, shape, service.policy, service.whole)
    assert counting.table(shape) is counting.table(shape)
    assert service.whole.held.has(counting.table(shape))
    service.store.close()


def test_no_more_is_held_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = policy_of("cell-key")
    dimensions = dc.datasets.census_dimensions()
    every = list(held_shapes.held_shapes(dimensions, policy))
    assert len(every) == 7 + 21 + 35
    monkeypatch.setattr(held_shapes, "MOST_CELLS", 200)
    some = list(held_shapes.held_shapes(dimensions, policy))
    assert 0 < sum(shape.cells for shape in some) <= 200
    monkeypatch.setattr(held_shapes, "MOST_TABLES", 5)
    assert len(list(held_shapes.held_shapes(dimensions, policy))) == 5


def test_tables_that_the_policy_does_not_give_are_not_held() -> None:
    policy = parse_policy(
        '[query]\ndisallowed = ["age"]\nforbidden = [["sex", "region"]]\n[[method]]\nname = "random-round"\nseed = 1'
    )
    names = [set(shape.query.names) for shape in held_shapes.held_shapes(dc.datasets.census_dimensions(), policy)]
    assert names
    assert not any("age" in some or {"sex", "region"} <= some for some in names)


def test_pairs_of_codes_are_decided_before_the_first_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the start if they are few, beside the first questions if they are many; then nothing is left to decide."""
    text = servers.policy_text("[table]\nmin_population = 50\n")
    first = Service(servers.settings(tmp_path, text))
    assert first.policy.query.max_dimensions > 2
    names = [d.name for d in first.dimensions]
    every = [*itertools.combinations(names, 3)]
    first.warm_up()
    assert all(first.whole.is_decided(three) for three in every)
    first.store.close()
    monkeypatch.setattr("discreet.server.service.FEW_CODES", 0)
    second = Service(servers.settings(tmp_path, text))
    second.warm_up()
    assert not any(second.whole.is_decided(three) for three in every)
    monkeypatch.setattr("discreet.server.service.held_shapes", lambda *_: ())
    second.hold_tables()
    assert all(second.whole.is_decided(three) for three in every)
    for three in every:
        for two in itertools.combinations(three, 2):
            assert (second.whole.of_variables(two) == first.whole.of_variables(two)).all()
    second.store.close()
