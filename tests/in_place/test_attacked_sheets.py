"""Sheets as offices publish them, protected and then attacked: sums as equations, hidden counts as unknowns.

The sums are those that a reader of the sheet knows, written down by hand; nothing of the reader of sheets is used.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.in_place import grouped_sheets, published_sheets, variables_on_sheets

from discreet.cli import run

Cell = tuple[int, int]
LAYOUTS = {**variables_on_sheets.LAYOUTS, **published_sheets.LAYOUTS, **grouped_sheets.LAYOUTS}


def cells_of(text: str) -> list[Cell]:
    """The cells of a range such as B2:D4, row by row."""
    first, _, last = text.partition(":")
    corners = [(int(re.sub(r"\D", "", end)), ord(end[0]) - 64) for end in (first, last or first)]
    (top, left), (bottom, right) = corners
    return [(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)]


def equations(sums: tuple[str, ...]) -> list[tuple[Cell, list[Cell]]]:
    """Wholes and their parts, from sums of ranges cell by cell."""
    pairs = []
    for line in sums:
        whole, parts = line.split("=")
        ranges = [cells_of(part) for part in parts.split("+")]
        pairs += [(cell, [own[k] for own in ranges]) for k, cell in enumerate(cells_of(whole))]
    return pairs


def count_in(rows: list[list[str]], cell: Cell) -> float | None:
    """The count that a cell begins with; None for a mark or nothing."""
    row, column = cell
    text = rows[row - 1][column - 1] if column <= len(rows[row - 1]) else ""
    match = re.search(r"%\s*\((\d+)\)", text) or re.match(r"\s*(\d[\d,\u202f]*)", text)
    return float(re.sub(r"\D", "", match[1])) if match else None


def furthest(aim: Any, sums: list[tuple[Cell, list[Cell]]], unknown: Mapping[Cell, int], known: Any) -> float:
    """The greatest value of a sum of unknowns that are not negative."""
    matrix = np.zeros((len(sums), len(unknown)))
    right = np.zeros(len(sums))
    for k, (whole, parts) in enumerate(sums):
        for cell, sign in [(whole, 1), *((part, -1) for part in parts)]:
            if cell in unknown:
                matrix[k, unknown[cell]] += sign
            else:
                right[k] -= sign * known(cell)
    solved = linprog(-aim, A_eq=matrix if len(sums) else None, b_eq=right if len(sums) else None, bounds=(0, None))
    return np.inf if solved.status == 3 or solved.fun is None else float(-solved.fun)


@pytest.mark.parametrize("name", list(LAYOUTS))
def test_no_small_count_is_shown_or_follows(name: str, tmp_path: Path, capfdbinary: Any) -> None:
    """Every count below 6 is hidden, none of them is known by the sums of the sheet, and what is shown is true."""
    text, stated, others = LAYOUTS[name]
    rows = [[field.strip(" ") for field in line.split(" | ")] for line in text.strip("\n").split("\n")]
    separator = "\t" if "\\TIME" in text else ","
    source, target = (tmp_path / f"{stem}{'.tsv' if separator != ',' else '.csv'}" for stem in ("in", "out"))
    with source.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    assert run(["protect", str(source), "--hide-under", "6", "-o", str(target)]) == 0
    capfdbinary.readouterr()
    with target.open(newline="", encoding="utf-8") as file:
        after = list(csv.reader(file, delimiter=separator))
    sums = equations(stated)
    cells = {cell for whole, parts in sums for cell in (whole, *parts)}
    cells |= {cell for part in others.split(",") if part for cell in cells_of(part)}
    truth = {cell: count_in(rows, cell) or 0.0 for cell in cells}
    assert all(truth[whole] == sum(truth[part] for part in parts) for whole, parts in sums)
    small = [cell for cell in cells if 0 < truth[cell] < 6]
    assert small
    assert not [cell for cell in small if count_in(after, cell) is not None]
    assert all(count_in(after, cell) in (None, truth[cell]) for cell in cells)
    unknown = {c: k for k, c in enumerate(sorted(c for c in cells if truth[c] and count_in(after, c) is None))}
    for cell in small:
        aim = np.eye(len(unknown))[unknown[cell]]
        most = furthest(aim, sums, unknown, truth.__getitem__)
        least = -furthest(-aim, sums, unknown, truth.__getitem__)
        assert most - least > 0.99, cell
