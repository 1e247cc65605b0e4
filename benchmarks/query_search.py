"""A14: an automated search for queries against a running server, in the manner of QuerySnout and QueryCheetah.

    python benchmarks/query_search.py [PERSONS] [--targets NUMBER]

A caller asks a server over HTTP for every table that it gives, its guard included. Of each target all but one attribute
is known. Sets of questions are bred on shadow data; the best ones are read off the server's answers. Prints the area
under the curve on shadow data and on the real answers, for cell keys and for the demo's policy; 0.5 is blind.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from importlib import resources
from pathlib import Path

import numpy as np

import discreet as dc
from discreet.policy.attacks.answers import UNKNOWN, AllAnswers, Truth
from discreet.policy.attacks.mechanism import AS_HELD, mechanism_of
from discreet.policy.attacks.query_search import searched_targets
from discreet.policy.attacks.shadow import learned_mechanism
from discreet.policy.attacks.two_way import TwoWayModel
from discreet.policy.pretabular import cube_of
from discreet.server.counting import cube

sys.path.insert(0, str(Path(__file__).parent))
from attacks import Victim, scratch

SECRET = 'secret = { env = "DISCREET_ATTACKS" }'
GUARD = '[guard]\naction = "refuse"\n'
KEYS = (
    f'{SECRET}\n[query]\nmax_dimensions = 4\nmax_cells = 245700\n{GUARD}[[method]]\nname = "cell-key"\nd = 5\nv = 3\n'
)


def fetched(victim: Victim, dimensions: tuple[dc.Dimension, ...], most: int) -> AllAnswers:
    """Every table of up to ``most`` variables that the server gives."""
    frames: dict[tuple[int, ...], np.ndarray] = {}
    requests = refused = 0
    for size in range(most, 0, -1):
        for chosen in itertools.combinations(range(len(dimensions)), size):
            requests += 1
            cells = victim.ask([dimensions[k].name for k in chosen])
            if cells is None:
                refused += 1
                continue
            for codes, count in cells.items():
                kept = [(k, code) for k, code in zip(chosen, codes, strict=True) if code != dimensions[k].total]
                names = tuple(k for k, _ in kept)
                if names not in frames:
                    frames[names] = np.full(tuple(len(dimensions[k].codes) for k in names), UNKNOWN, np.int64)
                frames[names][tuple(dimensions[k].position[code] for k, code in kept)] = count
    return AllAnswers(dimensions, frames, requests, refused, requests - refused, 0, 0, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("persons", nargs="?", type=int, default=100_000)
    parser.add_argument("--targets", type=int, default=40)
    given = parser.parse_args()
    os.environ.setdefault("DISCREET_ATTACKS", "a secret that attackers do not know")
    people = dc.datasets.census(n=given.persons)
    demo = resources.files("discreet.server").joinpath("demo.toml").read_text(encoding="utf-8")
    demo = demo.replace('secret = { file = "SECRET_FILE" }', SECRET)
    for name, text in (("cell keys, four variables, guard", KEYS), ("the demo's policy", demo)):
        policy = dc.policy.parse_policy(text)
        folder = scratch() / "cube"
        cube.build(people, folder, policy)
        victim = Victim(text, folder)
        answers = fetched(victim, tuple(people.dimensions), policy.query.max_dimensions)
        victim.close()
        model = TwoWayModel.of(answers)
        learned = learned_mechanism(cube_of(people), policy, model, 1) if policy.before else None
        mechanism = learned or mechanism_of(policy) or AS_HELD
        truth = Truth.of(people)
        print(f"{name}: {answers.requests} requests, {answers.refused} refused, {answers.cells:,} cells")
        for one in searched_targets(answers, truth, model, mechanism, number=given.targets, seed=1):
            print(f"  {one.attack}: area under the curve {one.rate:.2f} ({one.cases} targets; blind {one.blind})")


if __name__ == "__main__":
    main()
