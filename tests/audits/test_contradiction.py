"""Cells and files that contradict each other: what is named has no solution, and without any one of it there is one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import discreet as dc
from discreet.audits.contradiction import InfeasibleError

DIMENSIONS = [dc.Dimension.flat("area", ["1", "2"]), dc.Dimension.flat("sex", ["f", "m"])]


def fits(matrix: Any, shown: Mapping[int, float], *, whole: bool, negative: bool) -> bool:
    """Whether inner cells exist that give the shown cells: an integer program over nothing but the matrix."""
    n = matrix.shape[0]
    cells = sorted(shown)
    values = [shown[cell] for cell in cells]
    sums = LinearConstraint(matrix.toarray().T[cells], values, values) if cells else ()
    found = milp(
        np.zeros(n),
        constraints=sums,
        integrality=np.full(n, int(whole)),
        bounds=Bounds(np.full(n, -50 if negative else 0), np.full(n, 50)),
    )
    return bool(found.status == 0)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("measure", ["count", "pay"])
def test_every_cell_of_the_set_is_needed(measure: str, negative: bool) -> None:
    """Some shown cells of random tables are wrong; with negative ones among them zero is no bound of any."""
    generator = np.random.default_rng([len(measure), negative])
    seen = set()
    for _ in range(40):
        table = dc.Table.of(generator.integers(-4 if negative else 0, 6, (2, 2)), DIMENSIONS, value="pay")
        shown = table.value + generator.integers(-3, 4, len(table)) * (generator.random(len(table)) < 0.3)
        shown = np.where(generator.random(len(table)) < 0.2, np.nan, shown if negative else np.abs(shown))
        plain = dc.protect(table, dc.Publish()).release()
        wrong = replace(plain, values={measure: shown}, decimals={measure: 0})
        every = {k: float(v) for k, v in enumerate(shown) if v == v}
        how = {"whole": measure == "count", "negative": negative}
        if fits(table.matrix, every, **how):
            dc.audit(wrong, nonnegative=not negative)
            continue
        with pytest.raises(InfeasibleError) as caught:
            dc.audit(wrong, nonnegative=not negative)
        named = {int(cell): every[int(cell)] for cell in caught.value.cells}
        assert caught.value.smallest
        assert not fits(table.matrix, named, **how)
        for cell in named:
            assert fits(table.matrix, {k: v for k, v in named.items() if k != cell}, **how)
        seen.add(len(named))
    assert len(seen) > 1


def test_a_negative_part_contradicts_nothing_by_itself() -> None:
    """3 in all and 5 in one part is possible where parts may be negative: the other part is needed, too."""
    table = dc.Table.of([5, -2], [dc.Dimension.flat("area", ["1", "2"])], value="pay")
    wrong = replace(dc.protect(table, dc.Publish()).release(), values={"pay": np.array([3.0, 5.0, 0.0])})
    with pytest.raises(InfeasibleError, match="has 3 cells"):
        dc.audit(wrong, nonnegative=False)
    with pytest.raises(InfeasibleError, match="has 2 cells"):
        dc.audit(wrong)


def cells(table: dc.Table) -> list[dict[str, str]]:
    """The codes of every cell."""
    return [
        {d.name: d.codes[c] for d, c in zip(table.dimensions, row, strict=True)} for row in table.layout.codes.tolist()
    ]


@pytest.mark.parametrize("seed", range(3))
def test_every_file_of_the_set_is_needed(seed: int) -> None:
    """Five files of single numbers, some of them wrong: the files named contradict each other, all of them needed."""
    generator = np.random.default_rng(seed)
    table = dc.Table.of(generator.integers(0, 5, (2, 2)), DIMENSIONS)
    codes = cells(table)
    tried = 0
    for _ in range(12):
        chosen = sorted(generator.choice(len(table), 6, replace=False).tolist())
        shown = {k: float(abs(table.value[k] + generator.integers(-2, 3))) for k in chosen}
        files = {
            f"{k}.csv": dc.Release(
                dimensions=tuple(dc.Dimension.flat(n, [c], total=None) for n, c in codes[k].items()),
                codes=np.zeros((1, 2), np.int32),
                values={"count": np.array([value])},
                decimals={"count": 0},
                status=np.array([""]),
                method="",
            )
            for k, value in shown.items()
        }
        sums = {d.name: {"Total": list(d.leaves)} for d in DIMENSIONS}
        how = {"whole": True, "negative": False}
        if fits(table.matrix, shown, **how):
            continue
        tried += 1
        with pytest.raises(InfeasibleError) as caught:
            dc.audit(files, mapping={"sums": sums})
        named = {int(k) for k in re.findall(r"'(\d+)\.csv'", str(caught.value).partition(" contradict")[0])}
        assert not fits(table.matrix, {k: shown[k] for k in named}, **how)
        for fewer in combinations(named, len(named) - 1):
            assert fits(table.matrix, {k: shown[k] for k in fewer}, **how)
    assert tried
