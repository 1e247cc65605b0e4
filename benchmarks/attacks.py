"""Attacks on the table server, each against an undefended and a defended policy; prints the table of docs/security.md.

python benchmarks/attacks.py [PERSONS]
"""

from __future__ import annotations

import argparse
import atexit
import csv
import io
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

import discreet as dc
from discreet.methods import method
from discreet.server import Settings, create_app
from discreet.server.counting import cube
from discreet.tables.table import Table
from discreet.utility import hellinger_utility

sys.path.insert(0, str(Path(__file__).resolve().parent))  # also when it is loaded from elsewhere
from hidden_amounts import found_by_subtraction

Array = NDArray[Any]
Cells = Mapping[tuple[str, ...], int]
D2 = 'name = "cell-key"\nd = 2\nv = 0.9'
D5 = 'name = "cell-key"\nd = 5\nv = 3'
FREE = "max_dimensions = 7\nmax_filters = 7\nnested_only = false\nmax_cells = 1000000"
STRICT = "max_dimensions = 3\nmax_filters = 1"
OFF, REFUSE = 'action = "off"', 'action = "refuse"'


@dataclass(frozen=True)
class Outcome:
    """How often an attack succeeded without and with the defence, and what that means."""

    name: str
    without: float
    with_defence: float
    success: str
    defence: str


def policy(protection: str, query: str, guard: str, table: str = "") -> str:
    """A policy as TOML."""
    return (
        'secret = { env = "DISCREET_ATTACKS" }\n'
        f"[query]\n{query}\n[table]\n{table}\n[guard]\n{guard}\n[[method]]\n{protection}\n"
    )


def scratch() -> Path:
    """A folder that goes away at the end."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-attack-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Victim:
    """A running server, and the truth to score by."""

    def __init__(self, text: str, people: dc.Microdata | Path) -> None:
        os.environ.setdefault("DISCREET_ATTACKS", "a secret that attackers do not know")
        self.folder = scratch()
        where = people if isinstance(people, Path) else self.folder / "cube"
        if not isinstance(people, Path):
            cube.build(people, where)
        (self.folder / "policy.toml").write_text(text)
        settings = Settings(
            policy=str(self.folder / "policy.toml"), cube=str(where), store=f"sqlite:///{self.folder}/s.db",
            rate=10**8, tables=10**8,
        )  # fmt: skip
        self.client = TestClient(create_app(settings))
        self.client.__enter__()
        self.truth: Table = self.client.app.state.service.data  # type: ignore[attr-defined]

    def must(self, variables: Sequence[str], **where: Sequence[str]) -> Cells:
        """A table that is not refused."""
        cells = self.ask(variables, **where)
        assert cells is not None, variables
        return cells

    def ask(self, variables: Sequence[str], **where: Sequence[str]) -> Cells | None:
        """A table by codes in the order of the variables, or None if it is refused."""
        filters = ";".join(f"{name}={'+'.join(codes)}" for name, codes in where.items())
        answer = self.client.get("/api/table.csv", params={"variables": ",".join(variables), "where": filters})
        if answer.status_code != 200:
            return None
        rows = csv.DictReader(io.StringIO(answer.text))
        return {tuple(row[name] for name in variables): int(row["count"]) for row in rows if row["count"]}

    def true(self, variables: Sequence[str], **where: Sequence[str]) -> Cells:
        """The same from the truth."""
        small = cube.narrowed(self.truth, [*variables, *where])
        order = [d.name for d in small.dimensions]
        counts = small.array()
        for name, codes in where.items():
            axis = order.index(name)
            counts = counts.take([small.dimensions[axis].leaf_position[c] for c in codes], axis).sum(
                axis, keepdims=True
            )
        dims = {d.name: d for d in small.dimensions}
        counts = counts.sum(tuple(order.index(n) for n in where)) if where else counts
        order = [n for n in order if n not in where]
        counts = counts.transpose([order.index(n) for n in variables])
        out: dict[tuple[str, ...], int] = {}
        for chosen in itertools.product(*[(None, *dims[n].leaves) for n in variables]):
            at = tuple(
                slice(None) if c is None else dims[n].leaf_position[c] for n, c in zip(variables, chosen, strict=True)
            )
            out[tuple("Total" if c is None else c for c in chosen)] = int(counts[at].sum())
        return out

    def close(self) -> None:
        self.client.__exit__(None, None, None)


def leaves(name: str) -> tuple[str, ...]:
    return next(d.leaves for d in dc.datasets.census_dimensions() if d.name == name)


def both(people: Path, attack: Callable[[Victim], float], without: str, with_defence: str) -> tuple[float, float]:
    """An attack against two servers."""
    found = []
    for text in (without, with_defence):
        victim = Victim(text, people)
        found.append(attack(victim))
        victim.close()
    return found[0], found[1]


# -- the attacks, in the order of the list ------------------------------------------------------------------------


def a1_repeat(people: Path) -> Outcome:
    """The same cells in other tables, orders, formats and slices: share of cells that ever show two values."""
    asked = [order for others in ([], ["sex"], ["region"], ["sex", "region"], ["education"])
             for order in (["age", *others], [*others, "age"])]  # fmt: skip

    def values(ask: Callable[[int, list[str]], Cells]) -> float:
        seen: dict[str, set[int]] = {code: set() for code in leaves("age")}
        for number, order in enumerate(asked):
            cells = ask(number, order)
            for code in seen:
                seen[code].add(cells[tuple(code if name == "age" else "Total" for name in order)])
        return float(np.mean([len(found) > 1 for found in seen.values()]))

    def anew(number: int, order: list[str]) -> Cells:  # a server that draws its noise for each answer
        text = policy(f'name = "random-round"\nbase = 3\nseed = {2**64 + number}', FREE, OFF).partition("\n")[2]
        drawn = Victim(text, people)
        cells = drawn.must(order)
        drawn.close()
        return cells

    victim = Victim(policy(D5, STRICT, OFF), people)
    found = values(anew), values(lambda _, order: victim.must(order))
    victim.close()
    return Outcome("A1 repeat", *found, "cells that show two values", "noise belongs to the set of records")


def a2_reload(n: int) -> Outcome:
    """One record is edited and the server restarted: share of untouched cells whose value changes."""
    import pyarrow as pa

    before = dc.datasets.census_arrow(n)
    sex = before["sex"].to_pylist()
    sex[0] = "M" if sex[0] == "F" else "F"
    edited = before.set_column(before.column_names.index("sex"), "sex", pa.array(sex))
    keys = pa.array(np.random.default_rng(5).integers(0, 2**64, n, dtype=np.uint64))
    rekeyed = edited.set_column(edited.column_names.index("rkey"), "rkey", keys)
    book = dc.datasets.census_codebook()
    shown = []
    for source in (before, edited, rekeyed):
        victim = Victim(policy(D5, STRICT, OFF), dc.Microdata.read(source, book))
        shown.append((victim.must(["age", "sex"]), victim.true(["age", "sex"])))
        victim.close()

    def changed(after: tuple[Any, Any]) -> float:
        same = [k for k, count in shown[0][1].items() if after[1][k] == count and k[1] != "Total" and count]
        return float(np.mean([shown[0][0][k] != after[0][k] for k in same]))

    found = changed(shown[2]), changed(shown[1])
    return Outcome("A2 reload", *found, "untouched cells that change", "a record's key never changes")


def a3_subsets(n: int, queries: int = 64) -> Outcome:
    """A careless codebook with many groups of one variable: totals of all, least squares: cells recovered exactly."""
    codes, rng = leaves("education"), np.random.default_rng(3)
    groups = [g for g in rng.random((queries, len(codes))) < 0.5 if 1 < g.sum() < len(codes) - 1]
    parents = [{c: f"in {k}" if i else f"out {k}" for c, i in zip(codes, g, strict=True)} for k, g in enumerate(groups)]
    people = regrouped(n, dc.Dimension.from_parents("education", *parents))
    asked = [(g, f"in {k}") for k, g in enumerate(groups)] + [
        (np.eye(len(codes))[k] > 0, c) for k, c in enumerate(codes)
    ]

    def attack(victim: Victim) -> float:
        told = [(g, victim.ask(["region", "sex"], education=[name])) for g, name in asked]
        rows = [(g, cells) for g, cells in told if cells is not None]
        true = [victim.true(["region", "sex"], education=[c]) for c in codes]
        good = []
        for key in true[0]:
            a, b = np.array([g for g, _ in rows], float), np.array([float(cells[key]) for _, cells in rows])
            guess = np.rint(np.linalg.lstsq(a, b, rcond=None)[0])
            good += [guess[k] == true[k][key] for k in range(len(codes))]
        return float(np.mean(good))

    found = both(people, attack, policy(D2, FREE, OFF), policy(D5, STRICT, REFUSE))
    return Outcome("A3 subset averaging", *found, "cells recovered exactly", "overlap guard, V = 3")


def regrouped(n: int, dimension: dc.Dimension) -> Path:
    """A cube of persons whose codebook has another version of one variable."""
    book = dc.datasets.census_codebook()
    dimensions = tuple(dimension if d.name == dimension.name else d for d in book.dimensions)
    folder = scratch()
    cube.build(dc.Microdata.read(dc.datasets.census_arrow(n), replace(book, dimensions=dimensions)), folder)
    return folder


def a4_breakdowns(people: Path) -> Outcome:
    """A cell summed from its breakdowns by every subset of four variables, weighted: share recovered exactly."""
    others = ["region", "activity", "education", "citizenship"]

    def attack(victim: Victim) -> float:
        true = victim.true(["age", "sex"])
        keys = [k for k in true if "Total" not in k and true[k] > 0]
        sums = {k: [0.0, 0.0] for k in keys}
        for size in range(len(others) + 1):
            for some in itertools.combinations(others, size):
                cells = victim.ask(["age", "sex", *some])
                if cells is None:
                    continue
                parts: dict[tuple[str, ...], list[int]] = {k: [] for k in keys}
                for code, count in cells.items():
                    if code[:2] in parts and "Total" not in code[2:]:
                        parts[code[:2]].append(count)
                for k, counts in parts.items():
                    weight = 1 / max(sum(1 for c in counts if c), 1)
                    sums[k][0] += weight * sum(counts)
                    sums[k][1] += weight
        return float(np.mean([round(s / w) == true[k] for k, (s, w) in sums.items()]))

    found = both(people, attack, policy(D2, FREE, OFF), policy(D5, STRICT, REFUSE))
    return Outcome("A4 breakdown averaging", *found, "cells recovered exactly", "three dimensions, V = 3")


def a5_additivity(people: Path) -> Outcome:
    """A + B = T, all perturbed, the method known: share of parts that the most likely explanation gets right."""

    def attack(victim: Victim) -> float:
        name, parameters = victim.client.app.state.service.policy.methods[0]  # type: ignore[attr-defined]
        made: Any = method(name, **dict(parameters), seed=1)
        reach = int(parameters["d"])
        noise = {int(j) - 500: p for j, p in made.transition().outcomes(500)}
        shown, true = victim.must(["age", "sex"]), victim.true(["age", "sex"])
        right = []
        for age in (*leaves("age"), "Total"):
            m, f, t = (shown[age, sex] for sex in ("M", "F", "Total"))
            if min(m, f) <= 2 * reach:
                continue
            steps = range(-reach, reach + 1)
            best = max(
                ((noise[a] * noise[b] * noise.get(t - (m - a) - (f - b), 0.0), m - a) for a in steps for b in steps
                 if a in noise and b in noise), key=lambda pair: pair[0])  # fmt: skip
            right.append(best[1] == true[age, "M"])
        return float(np.mean(right))

    found = both(people, attack, policy(D2, STRICT, OFF), policy(D5, STRICT, OFF))
    return Outcome("A5 additivity gap", *found, "parts guessed exactly", "D = 5, V = 3, mixed key sums")


def a6_differencing(people: Path) -> Outcome:
    """Everyone less the nationals, by age, occupation and activity: is there a foreigner? Accuracy at prior 1/2."""
    variables = ["age", "occupation", "activity"]

    def attack(victim: Victim) -> float:
        one, two = victim.ask(variables), victim.ask(variables, citizenship=["NAT"])
        if one is None or two is None:
            return 0.5
        foreign = victim.true(variables, citizenship=list(leaves("citizenship")[1:]))
        nobody = [one[k] == two[k] for k, n in foreign.items() if n == 0 and one[k]]
        somebody = [one[k] != two[k] for k, n in foreign.items() if n == 1]
        return float((np.mean(nobody) + np.mean(somebody)) / 2)

    strict = policy(D5, STRICT, REFUSE, "min_mean = 10")
    found = both(people, attack, policy(D2, FREE, OFF), strict)
    return Outcome("A6 set differencing", *found, "presence guessed (1/2 is blind)", "guard: rules for tables hold")


def a7_zeros(people: Path) -> Outcome:
    """A published zero: how likely is it a true one? (And published above 0 always means somebody, without zeros=.)"""

    def attack(victim: Victim) -> float:
        variables = ["age", "occupation", "citizenship"]
        shown, true = victim.must(variables), victim.true(variables)
        impossible = np.asarray(dc.datasets.census_structural().all(axis=(0, 1, 3, 5)))
        ages, jobs, lands = (leaves(v) for v in variables)
        zeros = [
            true[a, o, c] == 0
            for (i, a), (j, o), (k, c) in itertools.product(enumerate(ages), enumerate(jobs), enumerate(lands))
            if shown[a, o, c] == 0 and not impossible[i, j, k]
        ]
        return float(np.mean(zeros))

    noisy = 'name = "cell-key"\nd = 5\nv = 3\nzeros = 0.1'
    found = both(people, attack, policy(D2, STRICT, OFF), policy(noisy, STRICT, OFF))
    return Outcome("A7 zeros", *found, "published zeros that are true", "js, zeros by category keys; little helps")


def a8_rounding(people: Path) -> Outcome:
    """A + B = T, each rounded to base 3: share of parts for which only one value fits."""

    def attack(victim: Victim) -> float:
        variables = ["age", "occupation", "sex"]
        shown = victim.must(variables)
        base = 3 if "round" in victim.client.app.state.service.policy.methods[0][0] else 0  # type: ignore[attr-defined]
        reach = base - 1 if base else 5
        pinned = []
        for age, job in itertools.product(leaves("age"), leaves("occupation")):
            m, f, t = (shown[age, job, sex] for sex in ("M", "F", "Total"))
            if t == 0:
                continue
            fits = {
                x
                for x in range(max(m - reach, 0), m + reach + 1)
                if max(f - reach, 0) + x <= t + reach and f + reach + x >= t - reach
            }
            pinned.append(len(fits) == 1)
        return float(np.mean(pinned))

    rounded = 'name = "random-round"\nbase = 3'
    found = both(people, attack, policy(rounded, STRICT, OFF), policy(D5, STRICT, OFF))
    return Outcome("A8 rounding unpick", *found, "cells pinned to one value", "cell keys instead of rounding")


def a9_tracker(n: int) -> Outcome:
    """A population that is refused, from everyone less all the others: share of its cells found exactly."""
    rest = {c: "citizens" if c != "STL" else "stateless" for c in leaves("citizenship")}
    people = regrouped(n, dc.Dimension.from_parents("citizenship", rest))

    def attack(victim: Victim) -> float:
        one, two = victim.ask(["age", "sex"]), victim.ask(["age", "sex"], citizenship=["citizens"])
        if one is None or two is None:
            return 0.0
        true = victim.true(["age", "sex"], citizenship=["STL"])
        return float(np.mean([k in one and k in two and one[k] - two[k] == count for k, count in true.items()]))

    minimum = policy(D5, FREE, REFUSE, "min_population = 2000")
    found = both(people, attack, policy(D2, FREE, OFF), minimum)
    return Outcome("A9 tracker", *found, "cells of a small population found", "minimum population, guard")


def a10_utility(people: Path) -> Outcome:
    """Noise vectors that fit a printed utility with three decimals: share of 4-cell tables with just one."""

    def attack(victim: Victim) -> float:
        exact = victim.client.app.state.service.policy.title == "prints the true utility"  # type: ignore[attr-defined]
        moves = np.array(list(itertools.product(range(-2, 3), repeat=4)))
        unique = []
        for age, land in itertools.product(leaves("age")[3:17], ("EU", "EUR", "OTH")):
            where = {"age": [age], "citizenship": [land]}
            shown, true = victim.must(["region", "sex"], **where), victim.true(["region", "sex"], **where)
            keys = [k for k in true if "Total" not in k]
            seen, was = np.array([shown[k] for k in keys]), np.array([true[k] for k in keys])
            before = seen - moves
            before = before[(before >= 0).all(axis=1) & (before.sum(axis=1) > 0)]
            if exact and was.sum() and seen.sum():  # what a server would print that compares with the truth
                told = round(float(hellinger_utility(was, seen)), 3)
                values = hellinger_utility(before, np.broadcast_to(seen, before.shape), axis=(1,))
                unique.append(int((np.round(values, 3) == told).sum()) == 1)
            else:  # what ours prints is a function of what it shows: every vector fits
                unique.append(len(before) == 1)
        return float(np.mean(unique))

    true_utility = 'title = "prints the true utility"\n' + policy(D2, FREE, OFF)
    found = both(people, attack, true_utility, policy(D2, FREE, OFF))
    return Outcome("A10 utility leak", *found, "tables with one noise vector left", "expected utility, in bands")


def a12_reconstruction(people: Path) -> Outcome:
    """All two-way tables of a population of about 50, integer program, least L1: share of records matched."""
    names = ["region", "sex", "activity", "education"]
    shape = tuple(len(leaves(n)) for n in names)

    def attack(victim: Victim) -> float:
        sizes = victim.true(["occupation", "age"])
        job, age = min((k for k in sizes if "Total" not in k), key=lambda k: abs(sizes[k] - 50))
        where = {"occupation": [job], "age": [age]}
        tables = {pair: victim.ask(pair, **where) for pair in itertools.combinations(names, 2)}
        true = victim.true(names, **where)
        truth = np.array([true[c] for c in itertools.product(*[leaves(n) for n in names])]).reshape(shape)
        if all(cells is not None for cells in tables.values()):
            guess = _fitted(shape, names, {k: v for k, v in tables.items() if v is not None})
            return float(np.minimum(guess, truth).sum() / truth.sum())
        whole = [victim.must([n]) for n in names]
        margins = [np.array([cells[c,] for c in leaves(n)], float) for n, cells in zip(names, whole, strict=True)]
        draws = np.random.default_rng(1).multinomial(truth.sum(), _product(margins).ravel(), 200).reshape(-1, *shape)
        return float(np.minimum(draws, truth).sum() / truth.sum() / 200)

    strict = policy(D5, "max_dimensions = 3\nmax_filters = 2", REFUSE, "min_population = 500")
    found = both(people, attack, policy(D2, FREE, OFF), strict)
    return Outcome("A12 reconstruction", *found, "records matched", "minimum population; what is left is chance")


def _product(margins: Sequence[Array]) -> Array:
    out = np.ones(())
    for m in margins:
        out = np.multiply.outer(out, m / m.sum())
    return np.asarray(out)


def _fitted(shape: tuple[int, ...], names: Sequence[str], tables: Mapping[Any, Cells]) -> Array:
    """The cells whose two-way tables are nearest to those published."""
    n = int(np.prod(shape))
    rows, wanted = [], []
    number = np.arange(n).reshape(shape)
    for (a, b), cells in tables.items():
        for (i, x), (j, y) in itertools.product(enumerate(leaves(a)), enumerate(leaves(b))):
            row = np.zeros(n)
            row[np.take(np.take(number, [i], names.index(a)), [j], names.index(b)).ravel()] = 1
            rows.append(row)
            wanted.append(cells[x, y])
    m = len(rows)
    a_, eye, b_ = np.array(rows), np.eye(m), np.array(wanted, float)
    limits = LinearConstraint(np.block([[a_, -eye, eye]]), b_, b_)
    cost = np.concatenate([np.zeros(n), np.ones(2 * m)])
    found = milp(cost, constraints=limits, bounds=Bounds(0, np.inf), integrality=np.concatenate(
        [np.ones(n), np.zeros(2 * m)]), options={"time_limit": 20})  # fmt: skip
    best: Array = np.asarray(found.x)[:n]
    return np.rint(best).reshape(shape)


def a13_refusals(n: int) -> Outcome:
    """A minimum set to the size of a population: does the refusal tell whether the last record is there?"""
    without = 1.0  # a rule on true counts answers with the record and refuses without it, every time
    people = dc.datasets.census_arrow(n)
    table, _ = _cube_of(people)
    book, right = dc.datasets.census_codebook(), []
    columns = {d.name: people[d.name].to_pylist() for d in dc.datasets.census_dimensions()}
    rng = np.random.default_rng(1)
    for row in rng.choice(n, 12, replace=False).tolist():
        cut = dc.tabulate(
            dc.Microdata.read(people.filter(np.arange(n) != row), book), by=[d.name for d in table.dimensions]
        )
        for name in ("age", "occupation", "education", "activity"):
            code = columns[name][row]
            size = int(
                cube.narrowed(table, [name]).array()[table.dimensions[table.layout.axis(name)].leaf_position[code]]
            )
            made = dc.policy.parse_policy(policy(D5, STRICT, OFF, f"min_population = {size}"))
            query = dc.Query.of("sex", where={name: code})
            right += [_answered(table, query, made), not _answered(cut, query, made)]
    return Outcome("A13 refusal leak", without, float(np.mean(right)), "presence guessed (1/2 is blind)",
                   "decisions on protected counts")  # fmt: skip


def a23_hidden_amounts(n: int) -> Outcome:
    """Amounts that a rule hides: a total less the others of the line, within the rule's percentage of the truth."""
    hidden, refused = found_by_subtraction(n, "hide"), found_by_subtraction(n, "refuse")
    return Outcome("A23 hidden amounts", hidden, refused, "pay of a few people within 10 %", "such tables are refused")


def _answered(table: Table, query: dc.Query, made: dc.Policy) -> bool:
    try:
        dc.answer(table, query, made)
    except dc.Refused:
        return False
    return True


def _cube_of(people: Any) -> tuple[Table, str]:
    folder = scratch()
    cube.build(dc.Microdata.read(people, dc.datasets.census_codebook()), folder)
    return cube.read_cube(folder)


def run(n: int = 100_000, only: Sequence[str] = ()) -> list[Outcome]:
    """Every attack that applies, on so many synthetic persons."""
    os.environ.setdefault("DISCREET_ATTACKS", "a secret that attackers do not know")
    folder = scratch()
    cube.build(dc.datasets.census(n=n), folder)
    attacks: dict[str, Callable[[], Outcome]] = {
        "A1": lambda: a1_repeat(folder),
        "A2": lambda: a2_reload(n),
        "A3": lambda: a3_subsets(n),
        "A4": lambda: a4_breakdowns(folder),
        "A5": lambda: a5_additivity(folder),
        "A6": lambda: a6_differencing(folder),
        "A7": lambda: a7_zeros(folder),
        "A8": lambda: a8_rounding(folder),
        "A9": lambda: a9_tracker(n),
        "A10": lambda: a10_utility(folder),
        "A12": lambda: a12_reconstruction(folder),
        "A13": lambda: a13_refusals(min(n, 20_000)),
        "A23": lambda: a23_hidden_amounts(n),
    }
    return [attack() for name, attack in attacks.items() if not only or name in only]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("persons", nargs="?", type=int, default=100_000)
    persons = parser.parse_args().persons
    print("| attack | success means | without | with | defence |\n|---|---|--:|--:|---|")
    for found in run(persons):
        print(f"| {found.name} | {found.success} | {found.without:.1%} | {found.with_defence:.1%} | {found.defence} |")


if __name__ == "__main__":
    main()
