"""Groupings of one total that divide each other: bands, then those within and over a target, against an intruder."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from discreet.base.annotations import Array
from discreet.cli import run

UNDER = 6


def groupings(rng: np.random.Generator, order: str) -> tuple[list[str], list[list[int]]]:
    """Labels of a line, and which finest bands each adds up; the groupings and the total stand in some order."""
    early, late = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    bands = [[k] for k in range(early + late)]
    mixed = rng.permutation(early + late).tolist() if order == "mixed" else list(range(early + late))
    target = [sorted(mixed[:early]), sorted(mixed[early:])]
    names = [f"Band {k + 1}" for k in range(len(bands))], ["Within target", "Over target"], ["Total"]
    held = bands, target, [list(range(early + late))]
    places = {"last": (0, 1, 2), "first": (2, 1, 0), "between": (0, 2, 1), "mixed": (0, 1, 2)}[order]
    return [name for k in places for name in names[k]], [own for k in places for own in held[k]]


def protected(folder: Path, rows: list[list[Any]], across: bool) -> list[list[str]]:
    lines = rows if across else [list(column) for column in zip(*rows, strict=True)]
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)
    assert run(["protect", str(folder / "t.csv"), "--hide-under", str(UNDER)]) == 0
    with (folder / "t.safe.csv").open(newline="", encoding="utf-8") as file:
        after = list(csv.reader(file))
    return after if across else [list(column) for column in zip(*after, strict=True)]


@pytest.mark.parametrize("across", [True, False])
@pytest.mark.parametrize("order", ["last", "first", "between", "mixed"])
@pytest.mark.parametrize("seed", range(4))
def test_nothing_hidden_follows_from_all_sums(seed: int, order: str, across: bool, tmp_path: Path) -> None:
    """No hidden cell has one value, so that none is hidden for nothing, either."""
    rng = np.random.default_rng([seed, len(order)])
    labels, held = groupings(rng, order)
    bands = max(map(len, held))
    lines = int(rng.integers(2, 5))
    people = rng.integers(UNDER, int(rng.choice([16, 60])), (lines, bands))
    people[rng.integers(lines), rng.integers(bands)] = rng.integers(1, UNDER)
    people = np.vstack([people, people.sum(axis=0)])
    counts = np.array([people[:, own].sum(axis=1) for own in held]).T
    names = [*("ENT", "Eyes", "Skin", "Heart", "Lungs")[:lines], "All"]
    rows = [["Specialty", *labels], *([name, *own] for name, own in zip(names, counts.tolist(), strict=True))]
    after = protected(tmp_path, rows, across)
    shown = np.array([[text != "*" for text in row[1:]] for row in after[1:]])
    assert not (shown & (counts > 0) & (counts < UNDER)).any()
    assert not shown.all()
    for place, (least, most) in intervals(counts, shown, held, bands).items():
        assert most - least > 0.5, place


def intervals(counts: Array, shown: Array, held: list[list[int]], bands: int) -> dict[tuple[int, int], Any]:
    """The least and the most that each hidden cell can be, over all counts of people by line and band."""
    lines = len(counts) - 1
    sums = np.zeros((*counts.shape, lines, bands))
    for line in range(lines + 1):
        for column, own in enumerate(held):
            sums[line, column, line if line < lines else slice(None), own] = 1
    matrix = sums.reshape(counts.size, -1)
    known = LinearConstraint(
        matrix, np.where(shown, counts, 1).ravel(), np.where(shown, counts.astype(float), np.inf).ravel()
    )
    found = {}
    for cell in np.flatnonzero(~shown.ravel()).tolist():
        ends = []
        for sign in (1, -1):
            solved = milp(
                sign * matrix[cell], constraints=known, bounds=Bounds(0, 10**4), integrality=np.ones(lines * bands, int)
            )
            assert solved.fun is not None
            ends.append(sign * solved.fun)
        found[cell // counts.shape[1], cell % counts.shape[1]] = ends
    return found
