"""Speed of tables of a magnitude from a server, and attacks on what is shown: averaging, differences, means, areas.

    python benchmarks/measures.py [people] [places]

Every attack has a blind guess beside it, which sees one answer or none; what is gained over it is what the server gives
away. Nobody in the data is real.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa

import discreet as dc
from discreet.data.codebook import Magnitude
from discreet.datasets.census import census_arrow, census_codebook
from discreet.policy import Policy, Query, parse_policy
from discreet.policy.answering import answer_query, check_query, unfiltered
from discreet.policy.area_release import failing_areas
from discreet.policy.sections import AreaRules
from discreet.policy.whole_variables import WholeVariables
from discreet.server.counting import cube
from server import CALLERS, Connection, Server, at_least, at_most, load

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


def people(n: int) -> dc.Microdata:
    """The synthetic census with an income for everybody."""
    table = census_arrow(n)
    income = np.random.default_rng(1).lognormal(10, 0.8, n).round().astype(np.int64)
    book = replace(census_codebook(), magnitudes=(Magnitude("income", decimals=0),))
    return dc.Microdata.read(table.append_column("income", pa.array(income)), book)


def addresses(book: dc.Codebook) -> list[str]:
    """Every table of up to three variables, and every one of two variables and a filter: sums and means, mixed."""
    names = [d.name for d in book.dimensions]
    asked = [",".join(chosen) for size in (1, 2, 3) for chosen in itertools.combinations(names, size)]
    for one, other in itertools.combinations(names, 2):
        for d in book.dimensions:
            if d.name not in (one, other):
                asked += [f"{one},{other}&where={d.name}={quote(code)}" for code in d.leaves]
    made = [f"/api/table.csv?variables={one}&measure=income&statistic={s}" for one in asked for s in ("sum", "mean")]
    random.Random(1).shuffle(made)
    return made


def speed(data: dc.Microdata) -> None:
    """`discreet serve` with two workers, as it is run: answers are protected, judged, guarded and recorded."""
    folder = Path(tempfile.mkdtemp())
    text = 'secret = { env = "DISCREET_SECRET" }\n[guard]\naction = "refuse"\n' + POLICY
    os.environ["DISCREET_SECRET"] = "a secret for the benchmark only"
    start = time.perf_counter()
    cube.build(data, folder / "cube", parse_policy(text))
    print(f"cube of {data.n:,} people with one magnitude built in {time.perf_counter() - start:.1f} s")
    asked = addresses(data.codebook)
    work = given(folder, text, asked, 940)
    print(f"of {len(asked):,} tables of sums and means the first {len(work):,} that are given are asked for")
    server = Server(folder, "", policy=text)
    try:
        time.sleep(10)  # tables that answers are cut out of are made beside the first questions
        asyncio.run(load(server.port, work[-40:], 2))
        used = server.cpu()
        one, _, statuses = asyncio.run(load(server.port, work[:300], 1))
        used = (server.cpu() - used) / 300 * 1000
        _, seconds, more = asyncio.run(load(server.port, work[300:900], CALLERS))
        p50, p99 = (float(np.percentile(one, share)) for share in (50, 99))
        rate = more.get(200, 0) / seconds
        print("sums and means, each table asked once")
        print(f"  one caller: median {p50:.1f} ms {at_most(p50, 20)}, p99 {p99:.1f} ms {at_most(p99, 80)}")
        both = sum(more.values()) / seconds
        print(f"  tables a second, {CALLERS} callers: {rate:.0f} {at_least(rate, 100)}, with refusals {both:.0f}")
        print(f"  processor time of an answer: {used:.1f} ms; start {server.seconds:.1f} s")
        print(f"  statuses: {statuses} {more}")
    finally:
        server.stop()


def given(folder: Path, policy: str, work: list[str], most: int) -> list[str]:
    """The first tables that a server gives: those with a sensitive cell are refused, which is not what is timed."""
    server = Server(folder, "", policy=policy)

    async def answered() -> list[str]:
        connection, found = await Connection().open(server.port), []
        for address in work:
            if (await connection.get(address))[0] == 200:
                found.append(address)
            if len(found) == most:
                break
        return found

    try:
        return asyncio.run(answered())
    finally:
        server.stop()


def refusals() -> None:
    """How many tables of the demonstration's earnings are refused, and by which rule.

    The mean pay by every one or two variables, a filter among them, each asked by somebody new.
    """
    data, policy = demo_earnings()
    whole = WholeVariables(data.dimensions, policy, partial(unfiltered, data))
    bands = policy.measures["pay"].bands  # pay by its own bands is not given
    dimensions = [d for d in data.dimensions if d.name != bands]
    names = [d.name for d in dimensions]
    asked: list[tuple[tuple[str, ...], dict[str, str]]]
    asked = [(chosen, {}) for size in (1, 2) for chosen in itertools.combinations(names, size)]
    for one, other in itertools.permutations(dimensions, 2):
        asked += [((one.name,), {other.name: code}) for code in other.codes if code != other.total]
    rules: dict[str, int] = {}
    for variables, where in asked:
        resolved = Query.of(list(variables), where=where, measure="pay", statistic="mean").resolved(data.dimensions)
        rule = "answered"
        try:
            check_query(resolved, policy)
            answer_query(partial(unfiltered, data), resolved, policy, whole)
        except dc.Refused as refused:
            rule = refused.rule
        rules[rule] = rules.get(rule, 0) + 1
    print(f"mean pay of {data.n:,} people of the demonstration, {len(asked)} tables of up to two variables: {rules}")


def demo_earnings() -> tuple[dc.Microdata, Policy]:
    """The demonstration's second data set and its policy."""
    text = resources.files("discreet.server").joinpath("demo_earnings.toml").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder, "secret.key")
        key.write_bytes(SECRET)
        key.chmod(0o600)
        return dc.datasets.earnings(), parse_policy(text.replace("SECRET_FILE", key.as_posix()))


# -- attacks ----------------------------------------------------------------------------------------------------

SECRET = b"a secret of sixteen letters"
TOWN = """
[table]
min_population = {least}
[[method]]
name = "cell-key"
d = 5
v = 3
[measures.income]
statistics = ["sum", "mean"]
min_count = 1
noise = {{ flex = 50000, p = [0.25, 0.05], epsilon = [1, 0.5], separation = 5000 }}
"""
GROUPS = [f"g{k}" for k in range(7)]
OTHERS = [f"v{k}" for k in range(4)]
NEAR = 0.05  # an estimate within 5 % of the truth is right


@dataclass(frozen=True)
class Town:
    """People of one place with seven groups, four further variables and a skewed income."""

    columns: dict[str, Any]

    @classmethod
    def drawn(cls, seed: int, n: int) -> Town:
        rng = np.random.default_rng(seed)
        columns: dict[str, Any] = {"group": rng.choice(GROUPS, n), "person": np.arange(n) + 100_000 * seed}
        columns |= {name: rng.choice(["a", "b"], n) for name in OTHERS}
        return cls(columns | {"income": rng.lognormal(10, 0.8, n).round().astype(np.int64)})

    def without(self, person: int) -> Town:
        return Town({name: np.delete(values, person) for name, values in self.columns.items()})

    def asked(self, variables: str, least: int = 0, **more: Any) -> Any:
        """What the policy shows, as an array over all codes, totals first; NaN where it is hidden."""
        data = dc.Microdata.of(
            pa.table(self.columns), dimensions=["group", *OTHERS], unit="person", magnitudes=["income"], secret=SECRET
        )
        made = replace(parse_policy(TOWN.format(least=least)), secret=SECRET)
        release = dc.answer(data, Query.of(variables, **more), made)
        return np.asarray(next(iter(release.values.values())))

    def sums(self, *names: str) -> Any:
        """True sums of the finest cells."""
        return self._added(names, self.columns["income"])

    def counts(self, *names: str) -> Any:
        """True counts of the finest cells."""
        return self._added(names, np.ones(len(self.columns["income"])))

    def _added(self, names: Sequence[str], amounts: Any) -> Any:
        codes = [GROUPS if name == "group" else ["a", "b"] for name in names]
        sums = np.zeros([len(one) for one in codes])
        places = tuple(np.searchsorted(one, self.columns[name]) for one, name in zip(codes, names, strict=True))
        np.add.at(sums, places, amounts)
        return sums


def right(estimate: Any, truth: Any) -> float:
    """How often an estimate of a filled cell is near the truth; a cell of which nothing is known is not."""
    estimate, truth = np.concatenate(estimate), np.concatenate(truth)
    held = truth > 0
    return float(np.mean(np.abs(estimate - truth)[held] <= NEAR * truth[held]))


def told(words: str, attacked: float, blind: float) -> None:
    print(f"  {words}: right {attacked:.1%}, blind {blind:.1%}, gain {100 * (attacked - blind):+.1f} points")


def subsets(towns: int, n: int) -> None:
    """A3: sums of seven groups from those of 40 sets of them, each set counted as one, by least squares.

    A policy refuses sets that are not codes (``nested_only``), so that the same attack has the groups alone.
    """
    blind, attacked, truth = [], [], []
    for seed in range(towns):
        town, rng = Town.drawn(seed, n), np.random.default_rng(seed)
        direct = town.asked("group", measure="income")[1:]
        rows, shown = [np.eye(7)], [direct]
        for _ in range(40):
            inside = rng.random(7) < 0.5
            if not inside.any() or inside.all():
                continue
            joined = np.where(inside[np.searchsorted(GROUPS, town.columns["group"])], "a", "b")
            rows.append(inside[None].astype(float))
            shown.append(Town({**town.columns, "v0": joined}).asked("v0", measure="income")[1:2])
        blind.append(direct)
        attacked.append(np.linalg.lstsq(np.concatenate(rows), np.concatenate(shown), rcond=None)[0])
        truth.append(town.sums("group"))
    told("A3, 40 free groupings, if they were allowed", right(attacked, truth), right(blind, truth))
    try:
        Town.drawn(0, n).asked("v0", where="group=g0|g1", measure="income")
        told("A3, under the policy", right(attacked, truth), right(blind, truth))
    except dc.Refused as refused:
        print(f"    under the policy they are refused ({refused.rule}): what is left is the blind guess")


def breakdowns(towns: int, n: int, least: int) -> None:
    """A4: the sums of groups from all breakdowns by one and two of four variables, the mean by precision."""
    blind, attacked, truth = [], [], []
    for seed in range(towns):
        town = Town.drawn(seed, n)
        direct = town.asked("group", least, measure="income")[1:]
        estimates, spread = [direct], [1.0]
        for size in (1, 2):
            for chosen in itertools.combinations(OTHERS, size):
                shown = town.asked(", ".join(["group", *chosen]), least, measure="income").reshape(8, *[3] * size)
                estimates.append(shown[(slice(1, None), *[slice(1, None)] * size)].reshape(7, -1).sum(axis=1))
                spread.append(2.0**size)  # as many largest contributions with noise of their own
        weights = ~np.isnan(np.stack(estimates)) / np.array(spread)[:, None]
        blind.append(direct)
        summed, weight = (np.nan_to_num(np.stack(estimates)) * weights).sum(axis=0), weights.sum(axis=0)
        attacked.append(np.where(weight > 0, summed / np.maximum(weight, 1e-9), np.nan))
        truth.append(town.sums("group"))
    told(f"A4, ten breakdowns averaged, min_population {least}", right(attacked, truth), right(blind, truth))


def lone_people(towns: int, n: int) -> None:
    """A4 on persons: the income of whoever is alone in a cell, from all tables of three variables by least squares."""
    names = ["group", *OTHERS]
    shape = (7, 2, 2, 2, 2)
    blind, attacked, truth = [], [], []
    for seed in range(towns):
        town = Town.drawn(seed, n)
        finest = np.arange(np.prod(shape)).reshape(shape)
        rows, shown = [], []
        for axes in itertools.combinations(range(5), 3):
            sizes = [shape[k] for k in axes]
            cells = town.asked(", ".join(names[k] for k in axes), measure="income")
            inner = cells.reshape([size + 1 for size in sizes])[1:, 1:, 1:].ravel()
            where = np.moveaxis(finest, axes, (0, 1, 2)).reshape(len(inner), -1)
            row = np.zeros((len(inner), finest.size))
            np.put_along_axis(row, where, 1.0, axis=1)
            rows.append(row)
            shown.append(inner)
        matrix, right_side = np.concatenate(rows), np.concatenate(shown)
        matrix, right_side = matrix[~np.isnan(right_side)], right_side[~np.isnan(right_side)]  # what is not shown
        scale = 1 / (0.25 * right_side + 1000)
        cells = np.maximum(np.linalg.lstsq(matrix * scale[:, None], right_side * scale, rcond=None)[0], 0)
        alone = town.counts("group", "v0", "v1").ravel() == 1
        blind.append(shown[0][alone])
        attacked.append(cells.reshape(28, 4).sum(axis=1)[alone])
        truth.append(town.sums("group", "v0", "v1").ravel()[alone])
    told("A4 on persons alone in a cell, all tables by least squares", right(attacked, truth), right(blind, truth))


def gaps(towns: int, n: int) -> None:
    """A5: A + B = T, all perturbed; A corrected by a third of the gap."""
    blind, attacked, truth = [], [], []
    for seed in range(towns):
        town = Town.drawn(seed, n)
        shown = town.asked("group, v0", measure="income").reshape(8, 3)[1:]
        gap = shown[:, 0] - shown[:, 1] - shown[:, 2]
        blind.append(shown[:, 1:].ravel())
        attacked.append((shown[:, 1:] + np.nan_to_num(gap)[:, None] / 3).ravel())
        truth.append(town.sums("group", "v0").ravel())
    told("A5, additivity gap", right(attacked, truth), right(blind, truth))


def differences(towns: int, n: int) -> None:
    """A6: the income of one person as the difference of two sums, with and without; blind: the median income.

    Whether the person is there at all two different sums always tell; a server refuses the second one.
    """
    blind, attacked, truth = [], [], []
    for seed in range(towns):
        town = Town.drawn(seed, n)
        gap = town.asked("v0", measure="income")[0] - town.without(0).asked("v0", measure="income")[0]
        blind.append([np.exp(10.0)])
        attacked.append([gap])
        truth.append([town.columns["income"][0]])
    told("A6, income of one by two sums (refused by the guard)", right(attacked, truth), right(blind, truth))


def means(towns: int, n: int) -> None:
    """A11: the number of people as sum by mean; blind: as it is shown."""
    blind, attacked = [], []
    for seed in range(towns):
        town = Town.drawn(seed, n)
        true = np.array([np.sum(town.columns["group"] == one) for one in GROUPS])
        total, mean = (town.asked("group", measure="income", statistic=one)[1:] for one in ("sum", "mean"))
        blind.append(town.asked("group")[1:] == true)
        attacked.append(np.rint(total / mean) == true)
    told("A11, count by sum and mean", float(np.mean(attacked)), float(np.mean(blind)))


GRANTS = """
[table]
min_population = 100
[[method]]
name = "cell-key"
d = 5
v = 3
[measures.grant]
noise = {{ flex = {flex}, p = [0.25, 0.25], own = 0.8 }}
hide = [{{ rule = "p-percent", p = 10 }}]
"""


def has_anything(draws: int, n: int, flex: float) -> None:
    """Has one of one or two people anything at all? By a refusal, or by how far the sums with and without them differ.

    The limit of that difference, and on which side of it they have something, is found on the other half of the draws.
    """
    made = replace(parse_policy(GRANTS.format(flex=flex)), secret=SECRET)
    refused, gaps, truth = [], [], []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        few = int(rng.integers(1, 3))
        grant = np.where(rng.random(n) < 0.3, rng.lognormal(8, 1, n).round(), 0.0)
        columns = {"few": np.where(np.arange(n) < few, "yes", "no"), "sex": rng.choice(["f", "m"], n), "grant": grant}
        people = pa.table(columns | {"id": np.arange(n) + n * seed})
        data = dc.Microdata.of(people, dimensions=["few", "sex"], unit="id", magnitudes=["grant"], secret=SECRET)
        truth.append(bool(grant[:few].any()))
        try:
            total, others = next(iter(dc.answer(data, Query.of("few", measure="grant"), made).values.values()))[:2]
            gaps.append(float(total - others))
            refused.append(False)
        except dc.Refused:
            gaps.append(np.nan)
            refused.append(True)
    has, gone, apart = np.array(truth), np.array(refused), np.abs(gaps)
    halves = [np.arange(draws) % 2 == k for k in (0, 1)]
    right_ones = int(has[gone].sum())
    for mine, other in zip(halves, halves[::-1], strict=True):
        learn, judge = mine & ~gone, other & ~gone
        limit, side = max(
            itertools.product(np.nanquantile(apart[learn], np.linspace(0, 1, 40)), (True, False)),
            key=lambda pair: np.mean(((apart[learn] > pair[0]) == pair[1]) == has[learn]),
        )
        right_ones += int((((apart[judge] > limit) == side) == has[judge]).sum())
    told(f"whether one or two of {n:,} have anything", right_ones / draws, max(has.mean(), 1 - has.mean()))


def alike_measures(draws: int, number: int) -> None:
    """How many people a cell has, from its count and sums of so many measures of which all have about as much."""
    names = [f"hours{k}" for k in range(number)]
    rules = "".join(f"[measures.{name}]\nnoise = {{ flex = 40 }}\n" for name in names)
    made = replace(parse_policy('[[method]]\nname = "cell-key"\nd = 5\nv = 3\n' + rules), secret=SECRET)
    noise = made.measure_noise(names[0]).people ** 2
    blind, attacked = [], []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        columns: dict[str, Any] = {"area": rng.choice(list("uvwxyzabcd"), 1500), "job": rng.choice(list("klmno"), 1500)}
        columns |= {name: rng.integers(37, 42, 1500) for name in names} | {"id": np.arange(1500) + 1500 * seed}
        data = dc.Microdata.of(
            pa.table(columns), dimensions=["area", "job"], unit="id", magnitudes=names, secret=SECRET
        )
        true = dc.tabulate(data, ["area", "job"]).cells["count"].to_numpy(float)
        counts, *sums = (
            np.asarray(next(iter(dc.answer(data, query, made).values.values())), float)
            for query in [Query.of("area, job"), *(Query.of("area, job", measure=name) for name in names)]
        )
        mean = np.average([counts, *(one / 39 for one in sums)], axis=0, weights=[1 / 3, *[1 / noise] * number])
        small = (true < 100) & ~np.isnan(mean)
        blind.append(np.mean(counts[small] == true[small]))
        attacked.append(np.mean(np.rint(mean[small]) == true[small]))
    told(f"people by count and {number} measures that are alike", float(np.mean(attacked)), float(np.mean(blind)))


FIRMS = {"region": 5, "sector": 6, "size": 3}
TOLD = 0.1  # the amount of a firm is known to within 10 %, as the rule of the policy has it


def giants(draws: int, p: tuple[float, float], own: float) -> None:
    """The turnover of one large firm, as what is shown of it less what its neighbours have on average.

    The p % rule asks whether a competitor can bound it, not whether it stands out of firms that are alike. All tables
    of one and two variables without a sensitive cell are averaged by precision; blind is the best single one of them.
    """
    blind, attacked = [], []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        columns: dict[str, Any] = {one: rng.choice([f"{one}{k}" for k in range(n)], 3000) for one, n in FIRMS.items()}
        turnover = rng.lognormal(10, 0.6, 3000).round()
        turnover[0] = round(0.5 * turnover[columns["region"] == columns["region"][0]].sum())
        frame = pa.table(columns | {"turnover": turnover})
        data = dc.Microdata.of(frame, dimensions=[*FIRMS], magnitudes=["turnover"])
        method, usual = dc.CellKeyMagnitude(flex=50_000, p=p, separation=5000, own=own, seed=seed), turnover[1:].mean()
        found: list[float] = []
        spread: list[float] = []
        for by in (by for size in (1, 2) for by in itertools.combinations(FIRMS, size)):
            table = dc.tabulate(data, list(by), value="turnover")
            if dc.PPercent(10)(table).any():
                continue
            counts = dc.tabulate(data, list(by)).cells["count"].to_numpy()
            mine = np.flatnonzero(np.all([table.cells[one].isin([columns[one][0], "Total"]) for one in by], axis=0))
            mine = mine if not found else mine[1:]  # the grand total is in each table
            found += list(np.asarray(method(table).published["turnover"])[mine] - (counts[mine] - 1) * usual)
            spread += list(counts[mine] * turnover[1:].var() + (p[1] * turnover[0]) ** 2)
        weights = 1 / np.array(spread)
        blind.append(found[int(np.argmax(weights))] / turnover[0])
        attacked.append(float(np.average(found, weights=weights)) / turnover[0])
    near = [float(np.mean(np.abs(np.array(one) - 1) <= TOLD)) for one in (attacked, blind)]
    print(f"  one large firm of 3,000, p = {p}, own = {own}: within 10 % {near[0]:.0%}, by one answer {near[1]:.0%}")


def lists(draws: int) -> None:
    """Is somebody in an area? Only the list of areas that a table is not given for is seen; prior one half.

    The best guess for each area by the chance that it is on the list with and without one more person, over areas of
    all sizes about the limit, and for those where it tells most.
    """
    rng = np.random.default_rng(5)
    rules = AreaRules(variable="area", min_mean=2.0, max_small_share=0.4)
    noise, cells = dc.CellKey(5, 3, seed=1).noise, 20
    gains = []
    for mean in np.repeat(np.linspace(0.5, 6, 12), 5):
        counts = rng.poisson(mean, cells)
        more = counts.copy()
        more[rng.integers(cells)] += 1
        shares = []
        for one in (counts, more):
            uniform = rng.random((draws, cells))
            shown = one + np.where(one > 0, noise.look_up(np.broadcast_to(one, uniform.shape), uniform), 0)
            shares.append(failing_areas(shown.astype(float), shown.sum(axis=1).astype(float), rules).mean())
        gains.append(abs(shares[0] - shares[1]) / 2)
    worst = float(np.sort(gains)[-5:].mean())
    print(f"  lists of areas: right {0.5 + np.mean(gains):.1%}, blind 50 %, gain {100 * np.mean(gains):+.1f} points")
    print(f"    the five of 60 areas where it tells most: gain {100 * worst:+.1f} points")


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_500_000
    towns = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    speed(people(n))
    refusals()
    print(f"attacks on sums of 60 people in seven groups, {towns} places; right is within 5 %")
    subsets(towns, 60)
    breakdowns(towns, 60, 0)
    breakdowns(towns, 60, 20)
    lone_people(towns, 60)
    gaps(towns, 60)
    differences(towns, 60)
    means(towns, 60)
    for n, flex in ((2000, 20_000), (300, 5_000)):
        has_anything(5 * towns, n, flex)
    for number in (1, 3):
        alike_measures(towns // 2, number)
    for p, own in (((0.25, 0.05), 0.0), ((0.25, 0.25), 0.0), ((0.25, 0.25), 0.8)):
        giants(5 * towns, p, own)
    lists(20_000)


if __name__ == "__main__":
    main()
