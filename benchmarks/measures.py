"""Speed of tables of a magnitude from a cube, and attacks on what is shown of it: averaging, differences, means, areas.

    python benchmarks/measures.py [people]

Every attack has a blind guess beside it, which sees one answer or none; what is gained over it is what the server gives
away. Nobody in the data is real.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import discreet as dc
from discreet.data.codebook import Magnitude
from discreet.datasets.census import census_arrow, census_codebook
from discreet.policy import Policy, Query, parse_policy
from discreet.policy.answering import answer_query
from discreet.policy.whole_variables import WholeVariables
from discreet.server import cube
from discreet.server.counting import CubeCounting

POLICY = """
[query]
max_dimensions = 3
[table]
min_population = 100
[[method]]
name = "cell-key"
d = 5
v = 3
[measures.income]
statistics = ["sum", "mean"]
noise = { flex = 50000, p = [0.25, 0.05], epsilon = [1, 0.5], separation = 5000 }
hide = [{ rule = "p-percent", p = 10 }]
"""


def policy() -> Policy:
    return replace(parse_policy(POLICY), secret=b"a secret of sixteen letters")


def people(n: int) -> dc.Microdata:
    """The synthetic census with an income for everybody."""
    table = census_arrow(n)
    income = np.random.default_rng(1).lognormal(10, 0.8, n).round().astype(np.int64)
    book = replace(census_codebook(), magnitudes=(Magnitude("income", decimals=0),))
    return dc.Microdata.read(table.append_column("income", pa.array(income)), book)


def speed(data: dc.Microdata) -> None:
    """Every table of up to three variables: first asked, and asked again."""
    made = policy()
    folder = Path(tempfile.mkdtemp()) / "cube"
    start = time.perf_counter()
    cube.build(data, folder, made)
    print(f"cube of {data.n:,} people with one magnitude built in {time.perf_counter() - start:.1f} s")
    counting = CubeCounting(cube.read_cube(folder)[0])
    whole = WholeVariables(counting.dimensions, made, counting.table)
    start = time.perf_counter()
    whole.decide_all()
    counting.warm_up(made.measures)
    print(f"warmed up in {time.perf_counter() - start:.1f} s")
    names = [d.name for d in counting.dimensions]
    for words, statistic in (("sums, first asked", "sum"), ("means", "mean"), ("sums again", "sum")):
        times = []
        for size in (1, 2, 3):
            for chosen in itertools.combinations(names, size):
                query = Query.of(list(chosen), measure="income", statistic=statistic).resolved(counting.dimensions)
                start = time.perf_counter()
                answer_query(counting.table, query, made, whole).to_csv()
                times.append(1000 * (time.perf_counter() - start))
        p50, p99 = np.percentile(times, [50, 99])
        print(
            f"  {words}: {len(times)} tables, median {p50:.1f} ms, p99 {p99:.1f} ms, {1000 / np.mean(times):.0f} a second"
        )


# -- attacks ----------------------------------------------------------------------------------------------------


def within(estimate: Any, truth: Any, share: float = 0.01) -> float:
    """How often an estimate is within a share of the truth."""
    estimate, truth = np.asarray(estimate, float), np.asarray(truth, float)
    return float(np.mean(np.abs(estimate - truth) <= share * np.abs(truth)))


def small_town(seed: int, n: int = 400) -> tuple[dc.Microdata, Any]:
    """People of one place with seven groups, four further variables and a skewed income."""
    rng = np.random.default_rng(seed)
    columns = {"group": rng.choice([f"g{k}" for k in range(7)], n), "person": np.arange(n) + 10_000 * seed}
    columns |= {f"v{k}": rng.choice(["a", "b"], n) for k in range(4)}
    columns["income"] = rng.lognormal(10, 0.8, n).round().astype(np.int64)
    frame = pa.table(columns)
    dimensions = ["group", *(f"v{k}" for k in range(4))]
    secret = "a secret of sixteen letters"
    data = dc.Microdata.of(frame, dimensions=dimensions, unit="person", magnitudes=["income"], secret=secret)
    return data, columns


def town_policy() -> Policy:
    text = POLICY.replace("min_population = 100", "min_population = 0").replace(
        'hide = [{ rule = "p-percent", p = 10 }]', ""
    )
    return replace(parse_policy(text), secret=b"a secret of sixteen letters")


def asked(data: dc.Microdata, variables: str, **more: Any) -> Any:
    release = dc.answer(data, Query.of(variables, measure="income", **more), town_policy())
    return np.asarray(next(iter(release.values.values())))


def averaging(towns: int) -> None:
    """A4: a sum over a group, and the same from its breakdowns by up to two of four variables, weighted by size."""
    one, many, truth = [], [], []
    for seed in range(towns):
        data, columns = small_town(seed)
        true = np.array([columns["income"][columns["group"] == f"g{k}"].sum() for k in range(7)])
        direct = asked(data, "group")[1:]
        estimates = [direct]
        for size in (1, 2):
            for chosen in itertools.combinations([f"v{k}" for k in range(4)], size):
                shown = asked(data, ", ".join(["group", *chosen])).reshape(8, *[3] * size)[1:]
                cells = shown[(slice(None), *[slice(1, None)] * size)]
                estimates.append(cells.reshape(7, -1).sum(axis=1))
        weights = 1 / np.array([np.var(e - direct) + np.var(direct) * 1e-4 for e in estimates])
        one.append(direct)
        many.append((np.stack(estimates) * weights[:, None]).sum(axis=0) / weights.sum())
        truth.append(true)
    print(f"A4 breakdowns: within 1 % of the sum {within(many, truth):.1%}, from one answer {within(one, truth):.1%}")


def gaps(towns: int) -> None:
    """A5: A + B = T, all perturbed: the best estimate of A from three numbers against A as shown."""
    shown, combined, truth = [], [], []
    for seed in range(towns):
        data, columns = small_town(seed)
        total, a, b = asked(data, "v0")
        gap = total - a - b
        shown.append(a)
        combined.append(a + gap / 3)
        truth.append(columns["income"][columns["v0"] == "a"].sum())
    print(f"A5 additivity gap: within 1 % {within(combined, truth):.1%}, as shown {within(shown, truth):.1%}")


def differences(towns: int) -> None:
    """A6: two groups that differ by one target; is the target there? The best threshold on the difference of sums."""
    gap = {True: [], False: []}
    for seed in range(towns):
        data, columns = small_town(seed)
        for there in (True, False):
            keep = np.ones(len(columns["group"]), bool)
            keep[0] = there
            frame = pa.table({name: np.asarray(values)[keep] for name, values in columns.items()})
            part = dc.Microdata.of(
                frame, dimensions=["group", *(f"v{k}" for k in range(4))], unit="person", magnitudes=["income"],
                secret="a secret of sixteen letters",
            )  # fmt: skip
            whole = asked(part, "group")[0]
            keep[0] = False
            others = pa.table({name: np.asarray(values)[keep] for name, values in columns.items()})
            rest = dc.Microdata.of(
                others, dimensions=["group", *(f"v{k}" for k in range(4))], unit="person", magnitudes=["income"],
                secret="a secret of sixteen letters",
            )  # fmt: skip
            gap[there].append(float(whole != asked(rest, "group")[0]))
    right = (np.mean(gap[True]) + 1 - np.mean(gap[False])) / 2
    print(f"A6 differencing, no guard: right {right:.1%} (blind 50 %); the guard refuses a difference of one person")


def means(towns: int) -> None:
    """A11: the number of people from sum by mean, and from the count that is shown."""
    from_mean, blind, truth = [], [], []
    for seed in range(towns):
        data, columns = small_town(seed)
        total, mean = asked(data, "group")[1:], asked(data, "group", statistic="mean")[1:]
        count = dc.answer(data, Query.of("group"), town_policy()).values["count"][1:]
        from_mean.append(np.rint(total / mean))
        blind.append(count)
        truth.append([np.sum(columns["group"] == f"g{k}") for k in range(7)])
    exact = np.mean(np.array(from_mean) == np.array(truth))
    print(
        f"A11 sum by mean: the count exactly {exact:.1%}, as it is shown {np.mean(np.array(blind) == np.array(truth)):.1%}"
    )


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_500_000
    speed(people(n))
    towns = 12 if n < 1_000_000 else 60
    averaging(towns)
    gaps(towns)
    differences(towns)
    means(towns)


if __name__ == "__main__":
    main()
