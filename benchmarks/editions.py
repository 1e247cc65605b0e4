"""What a second edition tells of the records by which it differs from the first, by their number.

    python benchmarks/editions.py [PERSONS] [--changed NUMBER ...] [--trials NUMBER]

Records are added, like those that are there, and all answers of both editions are subtracted. The figure is how well
the differences tell a new record from another one like them, by its codes (area under the curve; 0.5 is blind), for the
demo's policy and for cell keys: under the same secret, under another one for the second edition, and, beside them,
where the new records are a population of their own with noise of its own, as in one protected table.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import resources

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet.policy.attacks.answers import UNKNOWN, AllAnswers, Truth, collect
from discreet.policy.attacks.edition_differences import with_records
from discreet.policy.attacks.finding import area_under_curve
from discreet.policy.pretabular import cube_of
from discreet.tables.table import Table

SECRETS = (b"a secret that attackers do not know", b"another one that they do not know")
KEYS = (
    "[query]\nmax_dimensions = 3\nmax_cells = 245700\n[table]\nmin_population = 500\n"
    '[[method]]\nname = "cell-key"\nd = 5\nv = 3\n'
)
VARIANCE = 3.0  # of the noise of both policies
OTHERS = 1000  # records that are not new
COLUMNS = ("same secret", "another secret", "a table of the new records alone")


@dataclass(frozen=True, eq=False)
class Difference:
    """Two editions subtracted: what changed in every cell of one set of variables, as shown and in truth."""

    frame: tuple[int, ...]
    shown: NDArray[np.float64]
    true: NDArray[np.float64]
    known: NDArray[np.bool_]


def differences(before: AllAnswers, after: AllAnswers, added: Truth) -> Iterator[Difference]:
    for frame, values in before.frames.items():
        later = after.frames.get(frame)
        if frame and later is not None:
            known = (values != UNKNOWN) & (later != UNKNOWN)
            shown = np.where(known, later - values, 0).astype(float)
            yield Difference(frame, shown, np.asarray(added.frame(frame), float), known)


def told(
    cells: list[tuple[tuple[int, ...], NDArray[np.float64]]],
    truth: Truth,
    new: NDArray[np.int64],
    other: NDArray[np.int64],
) -> float:
    """The area under the curve of the better of two scores: how much cells moved, and how many of them did."""
    leaves = [np.array([d.position[leaf] for leaf in d.leaves]) for d in truth.dimensions]
    places = np.unravel_index(np.concatenate([new, other]), truth.counts.shape)
    moved, touched = np.zeros(len(new) + len(other)), np.zeros(len(new) + len(other))
    for frame, shown in cells:
        at = tuple(leaves[k][places[k]] for k in frame)
        moved += shown[at] / (shown.std() + 1e-9)
        touched += shown[at] != 0
    is_new = np.arange(len(moved)) < len(new)
    return max(area_under_curve(score, is_new) for score in (moved, touched))


def one_trial(cube: Table, policy: dc.Policy, before: AllAnswers, number: int, seed: int) -> list[float]:
    """The three figures for one choice of new records."""
    rng = np.random.default_rng(seed)
    truth = Truth.of(cube)
    chances = truth.counts.ravel() / truth.counts.sum()
    new = rng.choice(truth.counts.size, size=number, p=chances)
    other = rng.choice(truth.counts.size, size=OTHERS, p=chances)
    added = Truth(truth.dimensions, np.bincount(new, minlength=truth.counts.size).reshape(truth.counts.shape))
    second = with_records(cube, new, rng)
    figures = []
    for secret in SECRETS:
        apart = list(differences(before, collect(second, replace(policy, secret=secret)), added))
        figures.append(told([(one.frame, one.shown) for one in apart], truth, new, other))
    alone = [
        (one.frame, np.where(one.known, one.true + np.rint(rng.normal(0, VARIANCE**0.5, one.true.shape)), 0.0))
        for one in apart
    ]
    return [*figures, told(alone, truth, new, other)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("persons", nargs="?", type=int, default=100_000)
    parser.add_argument("--changed", nargs="+", type=int, default=[1, 10, 100, 500, 1000])
    parser.add_argument("--trials", type=int, default=3, help="of 1 and 10 new records so many; of more one")
    parser.add_argument("--only", choices=["demo", "cell keys"])
    given = parser.parse_args()
    cube = cube_of(dc.datasets.census(n=given.persons))
    demo = resources.files("discreet.server").joinpath("demo.toml").read_text(encoding="utf-8")
    demo = "\n".join(line for line in demo.splitlines() if not line.startswith("secret"))
    print(f"| policy | new records | {' | '.join(COLUMNS)} |\n|---|--:|" + "--:|" * len(COLUMNS))
    for name, text in (("demo", demo), ("cell keys", KEYS)):
        if given.only not in (None, name):
            continue
        policy = replace(dc.policy.parse_policy(text), edition=dc.policy.EditionRules(min_changes=0), secret=SECRETS[0])
        before = collect(cube, policy)
        for number in given.changed:
            trials = given.trials if number <= 10 else 1
            figures = np.mean([one_trial(cube, policy, before, number, 10 * number + k) for k in range(trials)], axis=0)
            print(f"| {name} | {number:,} | " + " | ".join(f"{one:.2f}" for one in figures) + " |", flush=True)


if __name__ == "__main__":
    main()
