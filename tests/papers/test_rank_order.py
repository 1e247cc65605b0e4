"""[ODF03] section 4.5.3: hidden cells of linked tables in the same rows and columns lower the rank most."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet as dc

PAIRS = [(0, 1), (0, 2), (1, 2)]
NAMES = "asr"


def linked(counts: Any, *, totals: bool) -> dc.Table:
    """AS, AR and SR of three dimensions, with all their totals or with none."""
    full = dc.Table.of(
        counts, [dc.Dimension.flat(n, range(1, k + 1)) for n, k in zip(NAMES, counts.shape, strict=True)]
    )
    if totals:
        return full.with_margins([(NAMES[i], NAMES[j]) for i, j in PAIRS])
    leaves = [[str(c) for c in range(1, k + 1)] for k in counts.shape]
    return full.with_margins([{NAMES[i]: leaves[i], NAMES[j]: leaves[j]} for i, j in PAIRS])


def sums(table: dc.Table, shape: tuple[int, ...]) -> Any:
    """Cells x inner cells, read off the codes of each cell alone."""
    rows = []
    for row in table.cells[list(NAMES)].itertuples(index=False):
        inside = [slice(None) if code == "Total" else int(code) - 1 for code in row]
        one = np.zeros(shape)
        one[tuple(inside)] = 1
        rows.append(one.ravel())
    return np.array(rows)


def fall(table: dc.Table, shape: tuple[int, ...], hidden: Any) -> int:
    """By how much the rank of what is released falls."""
    every = sums(table, shape)
    return int(np.linalg.matrix_rank(every) - np.linalg.matrix_rank(every[~hidden]))


def one_sensitive(table: dc.Table) -> Any:
    """The first cell of each of the three tables."""
    codes = table.cells[list(NAMES)].astype(str)
    return ((codes == "1") | (codes == "Total")).all(axis=1).to_numpy() & ((codes == "1").sum(axis=1) == 2).to_numpy()


def test_without_totals_the_rank_falls_by_seven() -> None:
    """The paper's tables, 3 x 4 x 3: 12 hidden cells in two rows and columns each; its other 12 lower it by 4."""
    counts = np.full((3, 4, 3), 60)
    table = linked(counts, totals=False)
    assert len(table) == 33
    assert np.linalg.matrix_rank(sums(table, counts.shape)) == 24
    done = dc.protect(table, dc.Suppress(dc.Request(one_sensitive(table)), order="rank"))
    assert done.hidden.sum() == 12
    assert fall(table, counts.shape, done.hidden) == 7 == done.details["rank falls by"]
    assert done.details["rank order holds"]
    other = np.zeros(len(table), bool)
    for name in ("11T", "13T", "31T", "33T", "1T1", "1T3", "2T1", "2T3", "T11", "T12", "T41", "T42"):
        other |= table.where(**{d: c.replace("T", "Total") for d, c in zip(NAMES, name, strict=True)})
    assert other.sum() == 12
    assert fall(table, counts.shape, other) == 4


def test_with_totals_the_order_says_that_it_cannot() -> None:
    """Every total that is shown keeps the rank up: 3 with either order, and ``details`` says so."""
    counts = np.full((3, 4, 3), 60)
    table = linked(counts, totals=True)
    done = dc.protect(table, dc.Suppress(dc.Request(one_sensitive(table)), order="rank"))
    assert not done.details["rank order holds"]
    assert done.details["rank falls by"] == fall(table, counts.shape, done.hidden)
    inside = (table.cells[list(NAMES)] == "Total").sum(axis=1).to_numpy() == 1
    every = sums(table, counts.shape)
    left = np.linalg.matrix_rank(every[inside]) - np.linalg.matrix_rank(every[inside & ~done.hidden])
    assert done.details["without totals"] == left


@pytest.mark.parametrize("seed", range(6))
def test_on_random_linked_tables_the_order_never_keeps_the_rank_higher(seed: int) -> None:
    """Without totals the rank falls at least as far as by value, and every hidden sensitive cell has another value."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(2, 3, (4, 5, 3))) + 1
    table = linked(counts, totals=False)
    rule = dc.Request(one_sensitive(table))
    by_value, by_rank = (dc.protect(table, dc.Suppress(rule, order=o)) for o in ("value", "rank"))
    assert fall(table, counts.shape, by_rank.hidden) > fall(table, counts.shape, by_value.hidden)
    assert dc.audit(by_rank, targets=np.flatnonzero(by_rank.status == "u")).ok
    assert "rank falls by" not in by_value.details
