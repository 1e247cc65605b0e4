"""What a defence costs and holds: policies side by side, by claims on small populations, small counts and utility.

Prints rows of docs/security.md: `python benchmarks/defences.py` for the demo's 1.5 million persons, `-n 20000` for
fewer; `--claims` also runs the attack on small populations, which takes minutes for each policy.
"""

from __future__ import annotations

import argparse
import itertools
import os
from typing import Any

import numpy as np

import discreet as dc
from discreet.policy.answering import unfiltered
from discreet.policy.pretabular import cube_of, ready
from discreet.policy.query import Query
from discreet.tables.table import Table

HEAD = """
secret = {{ env = "DISCREET_DEFENCES" }}
[query]
max_dimensions = 3
max_cells = 1000000
[table]
min_population = {least}
"""
COLUMNS = ("RMSE, cells over 100", "relative error", "1 - HD/sqrt(N)", "1 to 3 shown exactly", "best single number")
CLAIMS = ("worst claims right", "two-way model")
DIGITS = (2, 4, 4, 3, 3)
CELL_KEYS = '[[method]]\nname = "cell-key"\nd = 5\nv = 3\n'
POLICIES = {
    "cell keys, D = 5, V = 3": CELL_KEYS,
    "5 % swapped, then cell keys": '[[before]]\nname = "swap"\ngeography = "region"\nrate = 0.05\n' + CELL_KEYS,
    "synthetic population, v = 3": '[[before]]\nname = "synthetic"\nv = 3\n',
    "the same, group = 0 (the demo)": '[[before]]\nname = "synthetic"\nv = 3\ngroup = 0\n',
    "discrete Gaussian, rho = 1": '[[before]]\nname = "discrete-gaussian"\nrho = 1\n',
}


def main() -> None:
    """One row for each policy."""
    os.environ.setdefault("DISCREET_DEFENCES", "a secret that attackers do not know")
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("-n", type=int, default=1_500_000, help="synthetic persons")
    options.add_argument("--least", type=int, default=500, help="minimum population")
    options.add_argument("--claims", action="store_true", help="attack small populations too")
    asked = options.parse_args()
    people = dc.datasets.census(n=asked.n)
    true = cube_of(people)
    columns = COLUMNS + CLAIMS * asked.claims
    print(f"| policy | {' | '.join(columns)} |\n|---|" + "--:|" * len(columns))
    for name, text in POLICIES.items():
        policy = dc.policy.parse_policy(HEAD.format(least=asked.least) + text)
        numbers = utility(true, ready(people, policy), policy)
        figures = [f"{number:.{digits}f}" for number, digits in zip(numbers, DIGITS, strict=True)]
        if asked.claims:
            figures += claims(true if not policy.before else people, policy)
        print(f"| {name} | " + " | ".join(figures) + " |", flush=True)


def utility(true: Table, data: Any, policy: dc.Policy) -> list[float]:
    """Over all tables of three variables: error of cells over 100, how often counts 1 to 3 are shown as they are."""
    gaps, sizes, losses, small, shown_small = [], [], [], [], []
    for names in itertools.combinations([d.name for d in true.dimensions], 3):
        query = Query.of(list(names))
        resolved = query.resolved(true.dimensions)
        truth = unfiltered(true, resolved).count.astype(float)
        shown = np.asarray(dc.answer(data, query, policy).values["count"], float)
        known = ~np.isnan(shown)
        large = known & (truth > 100)
        gaps.append((shown - truth)[large])
        sizes.append(truth[large])
        apart = np.sqrt(np.maximum(shown[large], 0)) - np.sqrt(truth[large])
        losses.append(np.sqrt((apart**2).sum() / 2) / np.sqrt(truth[large].sum()))
        few = known & (truth >= 1) & (truth <= 3)
        small.append(truth[few])
        shown_small.append(shown[few])
    gap, size, few_true = np.concatenate(gaps), np.concatenate(sizes), np.concatenate(small)
    best = max(float((few_true == n).mean()) for n in (1, 2, 3))
    exact = float((np.concatenate(shown_small) == few_true).mean())
    return [float(np.sqrt((gap**2).mean())), float(np.abs(gap / size).mean()), 1 - float(np.mean(losses)), exact, best]


def claims(data: Any, policy: dc.Policy) -> list[str]:
    """Full records of the worst population that were claimed and right, and those of the two-way model."""
    worst = dc.policy.attack(data, policy, most=5, editions=False).worst
    if worst is None or not worst.claimed:
        return ["-", "-"]
    most = max((c for c in worst.claimed if c.claims), key=lambda c: c.precision - c.baseline_precision, default=None)
    if most is None:
        return ["none", "-"]
    return [f"{most.precision:.0%} of {most.claims}", f"{most.baseline_precision:.0%}"]


if __name__ == "__main__":
    main()
