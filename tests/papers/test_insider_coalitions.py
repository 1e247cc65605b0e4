"""[LL21] section 2.2 and [ODF03] section 4.5.4: coalitions against brute force, with earlier tables and within time.

Compatible tables are listed cell by cell (all whole ones near the true one), coalitions are all groups of up to k
people. Of the package only its public names are used.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import discreet as dc

AWAY = (1, 2, 3)  # how far inner cells are let move from their true values, the least first


def sums(cells: Any, names: Sequence[str], shape: tuple[int, ...]) -> Any:
    """Which inner cells each published cell adds up, by its codes: one row a cell."""
    axes = np.indices(shape).reshape(len(shape), -1)
    rows = []
    for _, row in cells.iterrows():
        said = [str(row[name]) if name in cells else "Total" for name in names]
        here = [(axes[k] == int(code) - 1) | (code == "Total") for k, code in enumerate(said) if code != "Total"]
        rows.append(np.all(here, axis=0) if here else np.ones(axes.shape[1], bool))
    return np.array(rows).astype(int)


def compatible(x: Any, equations: Any, least: Any, away: int) -> Any:
    """All whole tables within ``away`` of x, cells at least ``least``, that have the same sums."""
    seen = np.zeros((1, 0), np.int8)
    short = np.zeros((1, len(equations)), np.int64)  # what each sum is off by so far
    for cell in range(len(x)):
        moves = np.arange(max(-away, int(least[cell] - x[cell])), away + 1)
        seen = np.concatenate([np.repeat(seen, len(moves), 0), np.tile(moves, len(seen))[:, None]], axis=1)
        short = np.repeat(short, len(moves), 0) + np.tile(moves, len(short))[:, None] * equations[:, cell]
        left = away * equations[:, cell + 1 :].sum(axis=1)
        good = (np.abs(short) <= left).all(axis=1)
        seen, short = seen[good].astype(np.int8), short[good]
    return x + seen


def coalitions(x: Any, k: int) -> Iterator[Any]:
    """Own members per inner cell, of all groups of one to k people."""
    people = [at for at in range(len(x)) for _ in range(min(int(x[at]), k))]
    groups = {group for size in range(1, k + 1) for group in itertools.combinations(people, size)}
    return (np.bincount(group, minlength=len(x)) for group in sorted(groups))


def learned(x: Any, equations: Any, sensitive: Any, k: int, least: Any) -> int:
    """How many coalitions know a sensitive sum in which others are; who is alone in a cell knows that he is."""
    waiting = list(coalitions(x, k))
    for away in AWAY:
        tables = compatible(x, equations, least, away)
        waiting = [own for own in waiting if _knows(x, tables, sensitive, own)]
        if not waiting:
            return 0
    return len(waiting)


def _knows(x: Any, tables: Any, sensitive: Any, own: Any) -> bool:
    alone = (own == x) & (own > 0)
    fits = (tables >= own).all(axis=1) & (tables[:, alone] == x[alone]).all(axis=1)
    values = tables[fits] @ sensitive.T
    others = sensitive @ (x - own) > 0
    return bool(((values == values[:1]).all(axis=0) & (others | (sensitive @ x == 0))).any())


def release(x: Any, done: dc.Protected, names: Sequence[str], shape: tuple[int, ...]) -> tuple[Any, Any]:
    """The sums that are published, and the sensitive ones."""
    every = sums(done.release().cells, names, shape)
    return every[~np.asarray(done.hidden)], every[np.asarray(done.status == "u")]


def counts(shape: tuple[int, ...], seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(1.5, 2.0, shape))


METHODS = {"gauss": "gauss", "optimal": dc.Optimal(time=30)}


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("shape", "many"), [((3, 3), 5), ((4, 5), 2)])
def test_no_coalition_learns_a_cell_by_brute_force(name: str, k: int, shape: tuple[int, int], many: int) -> None:
    """Every coalition against every compatible table: without ``insiders`` some learn something, with it none."""
    before = tried = 0
    for seed in range(many):
        x = counts(shape, 40 + seed)
        table = dc.Table.of(x, [dc.Dimension.flat(n, range(1, m + 1)) for n, m in zip("ab", shape, strict=True)])
        least = np.minimum(x.ravel(), 1)  # empty cells are shown, and everybody knows that
        try:
            plain, safe = (dc.protect(table, dc.Suppress(dc.Threshold(3), method=METHODS[name], insiders=i))
                           for i in (0, k))  # fmt: skip
        except dc.Refused:
            continue
        tried += 1
        before += learned(x.ravel(), *release(x, plain, "ab", shape), k, least) > 0
        assert learned(x.ravel(), *release(x, safe, "ab", shape), k, least) == 0
    assert tried
    assert before > 0


@pytest.mark.parametrize("k", [1, 2])
def test_tables_that_are_out_already_are_known_to_coalitions(k: int) -> None:
    """Linked tables, AB out before AC: what follows for insiders from both is not published in the second."""
    shape, names = (2, 3, 2), "abc"
    before = tried = 0
    for name, seed in itertools.product(METHODS, range(60, 70)):
        x = counts(shape, seed)
        full = dc.Table.of(x, [dc.Dimension.flat(n, range(1, m + 1)) for n, m in zip(names, shape, strict=True)])
        old = dc.protect(full.with_margins([("a", "b")]), dc.Publish())
        new = full.with_margins([("a", "c"), ("b", "c")])
        try:
            safe, blind = (dc.protect(new, dc.Suppress(dc.Threshold(4), method=METHODS[name], insiders=k, earlier=e))
                           for e in ([old], []))  # fmt: skip
        except dc.Refused:
            continue
        tried += 1
        out, _ = release(x, old, names, shape)
        found = []
        for done in (blind, safe):
            shown, sensitive = release(x, done, names, shape)
            found.append(learned(x.ravel(), np.concatenate([out, shown]), sensitive, k, np.zeros(x.size)))
        before += found[0] > 0
        assert found[1] == 0
    assert tried > 5
    assert before > 0


def test_the_question_of_insiders_keeps_the_time() -> None:
    """A limit of the whole work holds for coalitions too, and nothing is returned that was not asked to the end."""
    table = dc.Table.of(counts((40, 40), 1), ["a", "b"])
    began = time.monotonic()
    with pytest.raises(dc.OutOfTimeError, match="nothing is returned"):
        dc.protect(table, dc.Suppress(dc.Threshold(3), method=dc.Optimal(time=1), insiders=2))
    assert time.monotonic() - began < 10
