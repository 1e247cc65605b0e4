"""Percentages beside hidden counts, some confirmed and some not: never a pass where they tell a count."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from discreet.base.annotations import Array
from discreet.cli import run

WARDS = ["North", "East", "South", "West", "Mid", "Abbey"]
COLUMNS = ["Yes", "No", "Total"]
MOST = 1e5  # no count is anywhere near


class Told:
    """What a published table says of its counts: least and greatest of each, and rows that hold within bounds."""

    def __init__(self, cells: int) -> None:
        self.lower, self.upper = np.ones(cells), np.full(cells, MOST)
        self.rows: list[Array] = []
        self.least: list[float] = []
        self.most: list[float] = []

    def row(self, parts: dict[int, float], least: float = 0, most: float = 0) -> None:
        line = np.zeros(len(self.lower))
        line[list(parts)] = list(parts.values())
        self.rows.append(line)
        self.least.append(least)
        self.most.append(most)

    def bounds(self, cell: int) -> list[float]:
        """Its least and greatest value."""
        ends = []
        for sign in (1.0, -1.0):
            aim = np.zeros(len(self.lower))
            aim[cell] = sign
            solved = milp(
                aim,
                constraints=LinearConstraint(np.array(self.rows), self.least, self.most),
                bounds=Bounds(self.lower, self.upper),
                integrality=np.ones(len(aim), int),
            )
            assert solved.status == 0
            ends.append(float(np.rint(solved.x[cell])))
        return ends


def published(random: Random) -> tuple[str, Told, list[int]]:
    """A sheet of wards by yes and no, half of it hidden, its percentages shown; the places of hidden counts."""
    size, decimals, often = random.randint(3, 6), random.choice([0, 1, 2]), random.uniform(0.2, 0.9)
    yes = [random.randint(1, random.choice([6, 60])) for _ in range(size)]
    no = [random.randint(1, 200) for _ in range(size)]
    counts = np.array([[y, n, y + n] for y, n in zip(yes, no, strict=True)])
    counts = np.vstack([counts, counts.sum(0)])
    told = Told(counts.size)
    lines, hidden = ["Ward,Yes,No,Total,% yes"], []
    for r, row in enumerate(counts.tolist()):
        line = [WARDS[r] if r < size else "Total"]
        told.row({3 * r: 1, 3 * r + 1: 1, 3 * r + 2: -1})
        for c, count in enumerate(row):
            is_hidden = random.random() < often * (1 if r < size else 0.3)
            line.append("*" if is_hidden else str(count))
            if is_hidden:
                hidden.append(3 * r + c)
            else:
                told.lower[3 * r + c] = told.upper[3 * r + c] = count
        shown = random.random() < 0.6
        share = f"{100 * row[0] / row[2]:.{decimals}f}"
        line.append(share if shown else "*")
        if shown:
            half = 0.5 * 10.0**-decimals + 1e-9
            told.row({3 * r: 100, 3 * r + 2: -(float(share) - half)}, 0, np.inf)
            told.row({3 * r: 100, 3 * r + 2: -(float(share) + half)}, -np.inf, 0)
        lines.append(",".join(line))
    for c in range(3):
        told.row({**{3 * r + c: 1.0 for r in range(size)}, 3 * size + c: -1.0})
    return "\n".join(lines) + "\n", told, hidden


def test_no_false_pass_beside_percentages(tmp_path: Path, capfdbinary: Any) -> None:
    """Every interval holds all that fits; a pass means that nothing is known, by an independent solver."""
    failed = 0
    for seed in range(40):
        text, told, hidden = published(Random(seed))
        path = tmp_path / "table.csv"
        path.write_text(text)
        code = run(["audit", str(path), "--suppressed", "*", "--json"])
        said = capfdbinary.readouterr().out.decode()
        if code == 2:
            continue
        content = json.loads(said)
        intervals = {(one.get("Ward"), one.get("column")): one for one in content["cells"]}
        known = False
        for cell in hidden:
            least, most = told.bounds(cell)
            known |= least == most
            row, column = divmod(cell, 3)
            ward = WARDS[row] if 3 * row + 5 < len(told.lower) else "Total"
            one = intervals.get((ward, COLUMNS[column]))
            assert one is None or one["lower"] <= least
            assert one is None or one["upper"] is None or one["upper"] >= most or most >= MOST / 2, (seed, cell)
        assert not (known and content["verdict"] == "pass"), seed
        failed += content["verdict"] == "fail"
    assert failed > 5


def test_one_per_cent_is_not_a_number_over_itself(tmp_path: Path, capfdbinary: Any) -> None:
    """1 % of 72 is one person; the only percentage that is shown was taken for 72 / 72."""
    path = tmp_path / "table.csv"
    path.write_text("Ward,Yes,No,Total,% yes\nNorth,*,*,23,*\nEast,*,*,144,*\nWest,*,*,72,1\nTotal,115,124,239,*\n")
    assert run(["audit", str(path), "--suppressed", "*", "--json"]) == 1
    content = json.loads(capfdbinary.readouterr().out)
    assert content["verdict"] == "unknown"
    assert any("could not be confirmed" in reason for reason in content["unjudged"])
