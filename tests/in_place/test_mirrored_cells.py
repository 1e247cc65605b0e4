"""Tables that are the same across their diagonal: a pair of cells is one number, and every reader sees it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import discreet as dc
from discreet.cli import run

CONDITIONS = ("Asthma", "Stroke", "Cancer", "Gout", "Lupus")


def table(rng: np.random.Generator, mirrored: bool) -> np.ndarray[Any, Any]:
    """Counts with totals of both sides; the pair at the top holds a small one."""
    inner = rng.poisson(14, (5, 5))
    inner[0, 1] = inner[1, 0] = 3
    if mirrored:
        inner = np.triu(inner) + np.triu(inner, 1).T
    rows = np.vstack([inner, inner.sum(axis=0)])
    return np.hstack([rows, rows.sum(axis=1, keepdims=True)])


def protected(folder: Path, counts: np.ndarray[Any, Any]) -> list[list[str]]:
    names = [*CONDITIONS, "Total"]
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow(["Condition", *names])
        csv.writer(file).writerows([name, *row] for name, row in zip(names, counts.tolist(), strict=True))
    assert run(["protect", str(folder / "t.csv"), "--hide-under", "6"]) == 0
    with (folder / "t.safe.csv").open(newline="", encoding="utf-8") as file:
        return [row[1:] for row in csv.reader(file)][1:]


@pytest.mark.parametrize("seed", range(4))
def test_no_small_count_follows_from_the_other_side(seed: int, tmp_path: Path) -> None:
    """An intruder adds to the sums of rows and columns that both cells of a pair are equal."""
    counts = table(np.random.default_rng(seed), mirrored=True)
    after = protected(tmp_path, counts)
    size, cells = len(counts), counts.size
    number = np.arange(cells).reshape(counts.shape)
    equations = []
    for k in range(size):
        for line in (number[k], number[:, k]):
            equation = np.zeros(cells)
            equation[line[:-1]], equation[line[-1]] = 1, -1
            equations.append(equation)
    for i in range(size):
        for j in range(i):
            equation = np.zeros(cells)
            equation[number[i, j]], equation[number[j, i]] = 1, -1
            equations.append(equation)
    shown = np.array([[text != "*" for text in row] for row in after])
    least, most = np.where(shown, counts, 0).ravel(), np.where(shown, counts, 10**6).ravel()
    for place in np.argwhere((counts > 0) & (counts < 6)):
        aim = np.zeros(cells)
        aim[number[tuple(place)]] = 1
        ends = []
        for sign in (1, -1):
            constraint, whole = LinearConstraint(np.array(equations), 0, 0), np.ones(cells, np.int64)
            solved = milp(sign * aim, constraints=constraint, bounds=Bounds(least, most), integrality=whole)
            assert solved.fun is not None
            ends.append(sign * solved.fun)
        assert ends[1] - ends[0] > 0.5, place


def test_a_table_that_is_not_mirrored_is_protected_as_it_was(tmp_path: Path, capfdbinary: Any) -> None:
    """Moves between places have the same labels on both sides, and no sums in common."""
    protected(tmp_path, table(np.random.default_rng(5), mirrored=False))
    assert b"judged together" not in capfdbinary.readouterr().err


def test_a_frame_is_protected_as_a_file_is(tmp_path: Path) -> None:
    """The same cells are hidden in both."""
    counts = table(np.random.default_rng(1), mirrored=True)
    names = [*CONDITIONS, "Total"]
    frame = pd.DataFrame(counts, index=pd.Index(names, name="Condition"), columns=names)
    out = dc.suppress_small_counts(frame, under=6)
    hidden = np.array([[text == "*" for text in row] for row in protected(tmp_path, counts)])
    assert (out.isna().to_numpy() == hidden).all()


@pytest.mark.parametrize("recipe", ["midpoint6", "statcan-base5", "nhs", "opensafely"])
def test_recipes_take_mirrored_tables(recipe: str, tmp_path: Path) -> None:
    """Numbers that are changed and not hidden have nothing that more hiding would mend."""
    protected(tmp_path, table(np.random.default_rng(2), mirrored=True))
    seed = ["-P", "seed=1"] if recipe == "statcan-base5" else []
    assert run(["protect", str(tmp_path / "t.csv"), "--recipe", recipe, "--force", *seed]) == 0


HALF = [(0, 1), (0, 2), (1, 1), (1, 2)]
"""Cells of one side, each with another in its row and column: unknown unless the other side is the same."""


def published(folder: Path, counts: np.ndarray[Any, Any], hidden: list[tuple[int, int]]) -> Path:
    names = [*CONDITIONS, "Total"]
    cells = counts.astype(object)
    for place in hidden:
        cells[place] = "*"
    with (folder / "out.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow(["Condition", *names])
        csv.writer(file).writerows([name, *row] for name, row in zip(names, cells.tolist(), strict=True))
    return folder / "out.csv"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mirrored", [True, False])
def test_an_audit_knows_the_other_side(seed: int, mirrored: bool, tmp_path: Path, capfdbinary: Any) -> None:
    """Cells hidden on one side follow from the other where all that is shown is the same on both, and only there."""
    counts = table(np.random.default_rng(seed), mirrored)
    out = published(tmp_path, counts, HALF)
    assert run(["audit", str(out), "--suppressed", "*"]) == int(mirrored)
    assert (b"4 exact" in capfdbinary.readouterr().err) == mirrored
    both = [(j, i) for i, j in HALF] + HALF
    assert run(["audit", str(published(tmp_path, counts, both)), "--suppressed", "*"]) == 0


def test_an_audit_of_several_files_knows_the_other_side(tmp_path: Path) -> None:
    """The same holds for a table that is judged beside others."""
    counts = table(np.random.default_rng(4), mirrored=True)
    out = published(tmp_path, counts, HALF)
    (tmp_path / "more.csv").write_text("Age,Patients\nYoung,40\nOld,52\nTotal,92\n", encoding="utf-8")
    assert run(["audit", str(out), str(tmp_path / "more.csv"), "--suppressed", "*"]) == 1


@pytest.mark.parametrize("seed", range(3))
def test_what_is_protected_is_passed_by_its_audit(seed: int, tmp_path: Path) -> None:
    """The audit of the published file judges with the same pairs."""
    protected(tmp_path, table(np.random.default_rng(seed), mirrored=True))
    command = ["audit", str(tmp_path / "t.safe.csv"), "--original", str(tmp_path / "t.csv"), "--suppressed", "*"]
    assert run([*command, "--hidden-under", "6"]) == 0
