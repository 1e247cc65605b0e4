"""The price of the differencing guard: how many honest questions it refuses, and how long it takes as the past grows.

Visitors of a simulated mix each ask a few tables of the variables they care about, some of them filtered; the more
people a category has, the more often it is chosen. Questions that the policy refuses anyway do not count. Compared are
callers by themselves and everybody together (``scope``).

Run: python benchmarks/guard.py [--people 1500000] [--sessions 300] [--policy policy.toml]
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import discreet as dc
from discreet.errors import Refused
from discreet.policy import Policy, Query, QueryRules, parse_policy, ready
from discreet.policy.answering import check_query
from discreet.policy.deciding import answer_table
from discreet.policy.whole_variables import WholeVariables
from discreet.server.counting import cube
from discreet.server.counting.counting import CubeCounting, counting_of
from discreet.server.guarding.guard import Guard
from discreet.server.guarding.history import Past
from discreet.tables.table import Table

POLICY = """
secret = { env = "DISCREET_BENCHMARK" }
[query]
max_dimensions = 3
max_filters = FILTERS
[table]
min_population = 100
[guard]
min_difference = 10
[[method]]
name = "cell-key"
d = 5
v = 3
"""


def docs_policy(filters: int) -> Policy:
    """The policy of docs/server.md."""
    os.environ["DISCREET_BENCHMARK"] = "a secret for the benchmark only"
    return parse_policy(POLICY.replace("FILTERS", str(filters)))


def sessions(table: Table, number: int, rules: QueryRules, seed: int) -> list[list[Query]]:
    """Questions of each visitor, in the order in which they are asked."""
    draw = random.Random(seed)
    names = [d.name for d in table.dimensions]
    liking = [1 / (k + 1) for k in range(len(names))]
    shares = {d.name: cube.narrowed(table, [d.name]).array().ravel() for d in table.dimensions}
    out = []
    for _ in range(number):
        favourites = list(dict.fromkeys(draw.choices(names, liking, k=5)))
        asked = []
        for _ in range(draw.randint(3, 10)):
            chosen = draw.sample(favourites, min(draw.choice((1, 2, 2, 3)), rules.max_dimensions, len(favourites)))
            rest = [d for d in table.dimensions if d.name not in chosen]
            population = draw.sample(rest, draw.randint(1, rules.max_filters) if draw.random() < 0.4 else 0)
            where = {d.name: draw.choices(d.leaves, shares[d.name].tolist())[0] for d in population}
            asked.append(Query.of(chosen, where=where or None))
        out.append(asked)
    return out


def allowed(counting: CubeCounting, query: Query, policy: Policy) -> bool:
    """Whether the policy gives the table, the guard aside."""
    try:
        resolved = query.resolved(counting.dimensions)
        check_query(resolved, policy)
        answer_table(
            counting.table(resolved), resolved, policy, WholeVariables(counting.dimensions, policy, counting.table)
        )
    except Refused:
        return False
    return True


def run(table: Table, policy: Policy, visits: list[list[Query]], scope: str) -> None:
    """One scope: visitors take turns, question by question."""
    counting = counting_of(ready(table, policy))
    assert isinstance(counting, CubeCounting)
    guard = Guard(counting, policy)
    pasts: dict[int, Past] = {}
    given: dict[str, bool] = {}
    outcomes: list[bool] = []
    times: list[float] = []
    sizes: list[int] = []
    turns = [(turn, who, query) for who, asked in enumerate(visits) for turn, query in enumerate(asked)]
    order = random.Random(2)
    for _, who, query in sorted(turns, key=lambda one: (one[1] // 20, one[0], order.random())):
        if query.digest not in given:
            given[query.digest] = allowed(counting, query, policy)
        past = pasts.setdefault(0 if scope == "everyone" else who, Past())
        if not given[query.digest] or query.digest in past.answered:
            continue
        geometry = guard.geometry(query)
        start = time.process_time()
        flag = guard.check(geometry, past.told.rows())
        times.append((time.process_time() - start) * 1000)
        sizes.append(len(past.answered))
        outcomes.append(flag is not None)
        if flag is None:
            past.note({query.digest: (geometry,)})
    quarters = np.array_split(np.array(outcomes, float), 4)
    print(f"{scope}: {len(outcomes)} new tables, refused {np.mean(outcomes):.1%} "
          f"(by quarters of the run: {', '.join(f'{quarter.mean():.1%}' for quarter in quarters)})")  # fmt: skip
    for least in (0, 50, 200, 500, 1000):
        some = [ms for ms, size in zip(times, sizes, strict=True) if least <= size < 2.5 * max(least, 20)]
        if some:
            print(f"  a past of {least} tables or more: processor time, median {np.median(some):.1f} ms, "
                  f"99 % {np.percentile(some, 99):.1f} ms")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1_500_000)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--filters", type=int, default=1, help="most filters of a table")
    parser.add_argument("--policy", type=Path, help="instead of that of docs/server.md")
    chosen = parser.parse_args()
    policy = docs_policy(chosen.filters) if chosen.policy is None else dc.policy.read_policy(chosen.policy)
    policy = replace(policy, guard=replace(policy.guard, action="refuse"))
    with tempfile.TemporaryDirectory() as scratch:
        cube.build(dc.datasets.census(n=chosen.people), Path(scratch) / "cube")
        table, _ = cube.read_cube(Path(scratch) / "cube")
        visits = sessions(table, chosen.sessions, policy.query, seed=1)
        for scope in ("user", "everyone"):
            run(table, policy, visits, scope)


if __name__ == "__main__":
    main()
