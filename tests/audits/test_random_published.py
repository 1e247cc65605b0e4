"""Random published cross-tables, audited as readers have them: every interval is that of an independent solver."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from discreet.base.annotations import Array
from discreet.cli import run

WARDS = ["North", "East", "South", "West", "Mid"]
MOST, FAR = 1e6, 1e5  # no count is anywhere near: as large as this only where nothing bounds it
COLUMNS = ["Red", "Green", "Blue", "Gold"]


class Published(NamedTuple):
    """A cross-table with its totals as it is published: texts, least and greatest count behind each, what adds up."""

    texts: list[list[str]]
    lower: Array
    upper: Array
    sums: Array
    options: list[str]


def counts(random: Random) -> Array:
    rows, columns = random.randint(2, 5), random.randint(2, 4)
    zeros = random.choice([0, 0.15])

    def count() -> int:
        most = random.choice([4, 30, 300])
        return 0 if random.random() < zeros else random.randint(1, most)

    inner = np.array([[count() for _ in range(columns)] for _ in range(rows)])
    wide = np.hstack([inner, inner.sum(1, keepdims=True)])
    return np.vstack([wide, wide.sum(0, keepdims=True)])


def sums_of(shape: tuple[int, int]) -> Array:
    place = np.arange(shape[0] * shape[1]).reshape(shape)
    lines = [*place, *place.T]
    matrix = np.zeros((len(lines), place.size))
    for row, line in zip(matrix, lines, strict=True):
        row[line[:-1]], row[line[-1]] = 1, -1
    return matrix


def shown(random: Random, kind: str, count: int, under: int) -> tuple[str, float, float]:
    """What stands there of a count that is not hidden, and the least and greatest count that it may be."""
    if kind == "nearest":
        value = 5 * ((count + 2) // 5)
        return str(value), max(0, value - 2), value + 2
    if kind == "even":
        value = round(count, -1)  # halves to the even multiple
        far = 5 - value // 10 % 2
        return str(value), max(0, value - far), value + far
    if kind == "random":
        value = 3 * (count // 3) + (3 if random.random() < count % 3 / 3 else 0)
        return str(value), max(0, value - 2), value + 2
    if kind == "midpoint":
        value = 6 * -(-count // 6) - 3 if count else 0
        return str(value), value - 2 if count else 0, value + 3 if count else 0
    if kind == "below" and 1 <= count < under:
        return f"<{under}", 1, under - 1
    return str(count), count, count


def published(random: Random, kind: str) -> Published:
    table, under, often = counts(random), random.choice([4, 5, 8]), random.uniform(0.1, 0.6)
    texts, lower, upper = [["Ward", *COLUMNS[: table.shape[1] - 1], "Total"]], [], []
    for r, row in enumerate(table.tolist()):
        line = [WARDS[r] if r < len(table) - 1 else "Total"]
        for c, count in enumerate(row):
            inner = r < len(table) - 1 and c < len(row) - 1
            text, least, most = shown(random, kind, count, under)
            if count and not text.startswith("<") and random.random() < often * (1 if inner else 0.3):
                text, least, most = "*", 1, np.inf
            line.append(text)
            lower.append(least)
            upper.append(most)
        texts.append(line)
    said = {"nearest": ["--rounded", "5"], "random": ["--rounded", "3:random"], "midpoint": ["--rounded", "6:midpoint"]}
    said["even"] = ["--rounded", "10:even"]
    return Published(texts, np.array(lower, float), np.array(upper), sums_of(table.shape), said.get(kind, []))


def bounds(table: Published, cell: int) -> tuple[float, float]:
    found = []
    for sign in (1, -1):
        aim = np.zeros(len(table.lower))
        aim[cell] = sign
        solved = milp(
            aim,
            constraints=LinearConstraint(table.sums, 0, 0),
            bounds=Bounds(table.lower, np.minimum(table.upper, MOST)),
            integrality=np.ones(len(aim), int),
        )
        assert solved.status == 0
        value = float(np.rint(solved.x[cell]))
        found.append(np.inf if value >= FAR else value)
    return found[0], found[1]


def audited(table: Published, path: Path, capfdbinary: Any) -> dict[str, Any] | None:
    """What the command says; None where it asks."""
    path.write_text("\n".join(",".join(line) for line in table.texts) + "\n")
    code = run(["audit", str(path), "--suppressed", "*", "--json", *table.options])
    said = capfdbinary.readouterr().out.decode()
    return None if code == 2 else json.loads(said)


@pytest.mark.parametrize("kind", ["hidden", "below", "nearest", "random", "midpoint", "even"])
def test_intervals_of_random_tables(kind: str, tmp_path: Path, capfdbinary: Any) -> None:
    """Hidden at random, ranges, rounded by each rule: the same intervals, and no pass where something is known."""
    asked = 0
    for seed in range(25):
        table = published(Random(f"{kind}{seed}"), kind)
        content = audited(table, tmp_path / "table.csv", capfdbinary)
        if content is None:
            asked += 1
            continue
        wide = len(table.texts[0]) - 1
        found = {(one["Ward"], one["column"]): one for one in content["cells"]}
        known = False
        for cell in np.flatnonzero(table.lower < table.upper):
            row, column = divmod(int(cell), wide)
            one = found[table.texts[row + 1][0], table.texts[0][column + 1]]
            least, most = bounds(table, int(cell))
            told = np.inf if one["upper"] is None else one["upper"]
            assert (one["lower"], told) == (least, most), (kind, seed, row, column)
            known |= least == most
        assert (content["verdict"] == "fail") == known, (kind, seed)  # else pass, or unknown where few cells are shown
    assert asked <= 2


@pytest.mark.parametrize(
    ("header", "rows", "options"),
    [
        ("Red,Blue,Total", ["North,<8,<8,<8", "East,<8,<8,<8", "Total,<8,<8,12"], []),
        ("Red,Blue,Gold,Total", ["North,21,*,<5,278", "East,226,3,<5,*", "Total,247,258,<5,509"], []),
        ("Red,Blue,Total", ["North,9,3,9", "East,0,3,*", "Total,9,3,15"], ["--rounded", "6:midpoint"]),
    ],
)
def test_a_column_of_one_count_is_not_a_dimension(
    header: str, rows: list[str], options: list[str], tmp_path: Path, capfdbinary: Any
) -> None:
    """A cross-table of few rows whose last columns say the same in each was read as a list of cells."""
    path = tmp_path / "table.csv"
    path.write_text("\n".join([f"Ward,{header}", *rows]) + "\n")
    run(["audit", str(path), "--suppressed", "*", "--json", *options])
    content = json.loads(capfdbinary.readouterr().out)
    assert {"Ward", "column"} <= set(content["cells"][0])


def test_a_column_of_one_year_is_a_dimension(tmp_path: Path, capfdbinary: Any) -> None:
    """Also beside a column of numbers that is called a total."""
    path = tmp_path / "table.csv"
    path.write_text("Ward,Year,Total\nNorth,2021,*\nEast,2021,7\nTotal,2021,12\n")
    assert run(["audit", str(path), "--suppressed", "*", "--json"]) == 1
    assert [(one["Ward"], one["Year"]) for one in json.loads(capfdbinary.readouterr().out)["cells"]] == [
        ("North", "2021")
    ]
