"""Tables that a worker holds from its start: which they are, and that nothing changes by it."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dc
from discreet.policy import Policy, Query, parse_policy, ready
from discreet.policy.answering import answer_query
from discreet.policy.whole_variables import WholeVariables
from discreet.server import cube, held_shapes
from discreet.server.counting import CubeCounting

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
