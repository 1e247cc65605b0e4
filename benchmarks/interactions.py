"""People of whom three variables say more than any two: does a synthetic population give small groups away then?

    python benchmarks/interactions.py [PERSONS] [--most NUMBER]

Occupation follows from ward, sex and age together, and from no two of them. Attacked are the policy that `discreet
policy init` writes, the same with tables of three variables, these from a population that is fitted to all large counts
of three, and from one that is fitted to two-way tables alone; beside it the mean relative error of counts over 100.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import discreet as dc
from discreet.policy.policy import template

sys.path.insert(0, str(Path(__file__).resolve().parent))  # also when it is loaded from elsewhere
from docs_policies import CHANCE, EFFORT, SECRET, SECRETS, figures

WARDS, AGES, OCCUPATIONS = 24, 10, 12


def people(n: int, seed: int = 1) -> dc.Microdata:
    """Persons in wards of very different sizes."""
    rng = np.random.default_rng(seed)
    size = 1 / np.arange(1, WARDS + 1) ** 1.3
    ward, age = rng.choice(WARDS, n, p=size / size.sum()), np.minimum(AGES - 1, rng.gamma(3, 1.3, n).astype(int))
    woman = rng.random(n) < 0.5
    common = 1 / np.arange(1, OCCUPATIONS + 1) ** 1.1
    drawn = rng.choice(OCCUPATIONS, n, p=common / common.sum())
    occupation = np.where(rng.random(n) < 0.45, (7 * age + 3 * ward + 5 * woman) % OCCUPATIONS, drawn)
    needy = rng.random(n) < np.where((ward % 2) ^ woman ^ (age % 2), 0.35, 0.03)
    frame = pd.DataFrame(
        {
            "ward": [f"W{one:02}" for one in ward],
            "sex": np.where(woman, "f", "m"),
            "age": [f"{10 * one}+" for one in age],
            "religion": rng.choice(["none", "one", "other", "rare"], n, p=[0.5, 0.4, 0.09, 0.01]),
            "benefit": np.where(needy, "yes", "no"),
            "occupation": [f"o{one}" for one in occupation],
        }
    )
    return dc.Microdata.of(frame, dimensions=[*frame.columns])


def relative_error(data: dc.Microdata, policy: dc.Policy) -> float:
    """The mean relative error of counts over 100 of three variables, as answered."""
    gaps = []
    for names in itertools.combinations((d.name for d in data.dimensions), 3):
        true, shown = dc.tabulate(data, by=names).cells, dc.answer(data, ", ".join(names), policy).cells
        both = true.merge(shown, on=[*names], suffixes=("", "_shown"))
        gaps.append((both["count_shown"] / both["count"] - 1)[both["count"] > 100].abs())
    return float(pd.concat(gaps).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("persons", nargs="?", type=int, default=30_000)
    parser.add_argument("--most", type=int, default=4)
    given = parser.parse_args()
    data = people(given.persons)
    first = replace(dc.policy.parse_policy(template()), secret=SECRET)
    three = replace(first, query=replace(first.query, max_dimensions=3))
    (name, stated), *_ = three.before
    large = replace(three, before=((name, {**stated, "group": 0}),))
    two_way = replace(three, before=((name, {**stated, "order": 2}),))
    print("| policy | records (model) | counts 1 to 3 exact (single number) | holds | error of counts over 100 |")
    print("|---|--:|--:|---|--:|")
    for words, policy in {
        "policy init (group = 2000)": first,
        "the same, three variables": three,
        "three variables, group = 0": large,
        "three variables, order = 2": two_way,
    }.items():
        asked = {"most": given.most, "editions": False, "targets": 0, "effort": EFFORT}
        found = figures(dc.policy.attack(copy(data), policy, **asked), stated=False)
        if found[-1] == CHANCE:
            found = figures(dc.policy.attack(copy(data), policy, secrets=SECRETS, **asked), stated=False)
        error = "-" if policy is first else f"{100 * relative_error(copy(data), policy):.1f} %"
        print(f"| {words} | {' | '.join(found)} | {error} |", flush=True)


if __name__ == "__main__":
    main()
