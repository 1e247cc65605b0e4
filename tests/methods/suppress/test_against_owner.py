"""The defence against whoever has the program: which tables a pattern can come from, with which chance, and repair."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.audits.owner_attack import OwnerSearch, candidate_table, fitting_tables, rekeyed
from discreet.audits.view import view
from discreet.methods.suppress.gauss.many_draws import may_hide
from discreet.methods.suppress.gauss.on_table import eliminated
from discreet.methods.suppress.key_chance import hiding_chance
from discreet.methods.suppress.model.keyed_draw import KeyedDraw
from discreet.methods.suppress.model.task import Task

METHODS: dict[str, Any] = {"gauss": "gauss", "optimal": dc.Optimal(time=20), "modular": dc.Modular(time=20)}
RULES = {"counts": dc.Threshold(3), "magnitudes": dc.PPercent(15)}


def table_of(kind: str, seed: int, shape: tuple[int, ...] = (3, 3)) -> dc.Table:
    """Small counts, or turnover of a few firms a cell."""
    random, names = np.random.default_rng(seed), ["a", "b", "c"][: len(shape)]
    if kind == "counts":
        return dc.Table.of(random.poisson(4 * random.lognormal(0, 0.8, shape)), names)
    codes = [code for code in np.ndindex(*shape) for _ in range(int(random.integers(1, 7)))]
    frame = pd.DataFrame(codes, columns=names).astype(str)
    frame["turnover"] = np.rint(random.lognormal(3, 1, len(frame))).astype(int) + 1
    frame["firm"] = np.arange(len(frame))
    dimensions = [dc.Dimension.flat(name, range(size)) for name, size in zip(names, shape, strict=True)]
    micro = dc.Microdata.of(frame, dimensions=dimensions, unit="firm", magnitudes=["turnover"])
    return dc.tabulate(micro, names, value="turnover", top=3)


def call_of(kind: str, method: str, seed: int) -> dc.Suppress:
    """A call with a key of its own."""
    return dc.Suppress(RULES[kind], method=METHODS[method], key=b"a secret of sixteen bytes and %d" % seed)


def attacked(done: dc.Protected, call: dc.Suppress) -> OwnerSearch:
    """The attack, as far as it is needed to see a second value of every sensitive cell."""
    random, number = np.random.default_rng(7), np.flatnonzero(done.status == "u")
    tables, _ = fitting_tables(done, view(done).known, call, 300, 60, random)
    search = OwnerSearch(done, call, tables, number, random, 1_000)
    search.settle_lone()
    return search


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", RULES)
def test_chance_that_is_certain_belongs_to_a_draw_that_gives_the_pattern(kind: str, method: str) -> None:
    """Where a table is said to survive, the whole method gives the pattern for it, with the decoys that are claimed."""
    seen = 0
    for seed in range(3):
        table, call = table_of(kind, seed), replace(call_of(kind, method, seed), owner=False)
        done = dc.protect(table, call)
        tables, _ = fitting_tables(done, view(done).known, call, 300, 20, np.random.default_rng(1))
        for inner in tables[:: max(len(tables) // 4, 1)]:
            other = candidate_table(table, inner)
            if not call.least_chance(other, done.hidden):
                continue
            task = Task.of(call.parameters, other)
            decoys = done.hidden & ~task.roles.primary
            draw = KeyedDraw(np.exp(np.random.default_rng(seed).normal(0, 0.3, len(table))), decoys)
            assert np.array_equal(call._result(task.with_draw(draw)).hidden, done.hidden)
            seen += 1
    assert seen >= 3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", RULES)
def test_every_method_leaves_a_second_value(kind: str, method: str) -> None:
    """With a key, whatever finds the pattern, the attack shows two values of every sensitive cell; the audit holds."""
    for seed in range(10, 13):
        table, call = table_of(kind, seed), call_of(kind, method, seed)
        done = dc.protect(table, call)
        assert done.details["owner"] == 0
        assert dc.audit(done).ok
        search = attacked(done, call)
        assert not search.lone().any()
        assert search.surviving()[0]


def test_repair_in_cubes_hides_more_where_one_value_is_left() -> None:
    """Where few tables fit and the singletons of each other one would need more, further cells are hidden."""
    random, repaired = np.random.default_rng(1), 0
    for number in range(21):
        table = dc.Table.of(random.poisson(4 * random.lognormal(0, 0.8, (3, 3, 3))), ["a", "b", "c"])
        call = dc.Suppress(dc.Threshold(3), key=random.bytes(32), owner=False)
        if number not in (19, 20):
            continue
        bare = dc.protect(table, call)
        assert attacked(bare, call).lone().any()
        done = dc.protect(table, replace(call, owner=True))
        assert done.details["owner"] == 0
        assert not attacked(done, call).lone().any()
        assert (done.hidden | ~bare.hidden).all()
        assert dc.audit(done).ok
        assert set(done.details["why"][done.hidden & ~bare.hidden]) == {"owner"}
        repaired += 1
    assert repaired == 2


@pytest.mark.parametrize("kind", RULES)
def test_sieve_rules_out_only_what_elimination_rules_out(kind: str) -> None:
    """Many draws in one compiled loop: none is ruled out whose elimination stays in the pattern, most others are."""
    random, sieved, outside = np.random.default_rng(3), 0, 0
    for seed in range(4):
        table, call = table_of(kind, seed), replace(call_of(kind, "gauss", seed), owner=False)
        cells, task = dc.protect(table, call).hidden, Task.of(call.parameters, table)
        factors = np.exp(random.normal(0, 0.4, (30, len(table))))
        decoys = (random.random((30, len(table))) < 0.08) & ~task.roles.primary
        may = may_hide(task, factors, decoys, cells)
        for factor, decoy, said in zip(factors, decoys, may, strict=True):
            pattern = eliminated(task.with_draw(KeyedDraw(factor, decoy)))
            inside = bool(len(pattern.unsafe)) or not ((decoy & ~cells).any() or (~cells[pattern.secondary]).any())
            assert said or not inside
            sieved, outside = sieved + (not said), outside + (not inside)
    assert sieved > 0.8 * outside > 0


def test_chance_of_a_pattern_is_the_share_of_keys_that_give_it() -> None:
    """Importance sampling against plain counting: the same call with two hundred random keys."""
    table = table_of("counts", 4)
    call = replace(call_of("counts", "gauss", 4), owner=False)
    random = np.random.default_rng(5)
    patterns = [rekeyed(call, random.bytes(32))(table).hidden for _ in range(200)]
    task = Task.of(call.parameters, table)
    for common, times in Counter(pattern.tobytes() for pattern in patterns).most_common(2):
        cells, share = np.frombuffer(common, bool), times / len(patterns)
        plain, sieved = (
            hiding_chance(task, cells, call._gives, 400, np.random.default_rng(6), sieve) for sieve in (None, may_hide)
        )
        assert plain == pytest.approx(sieved)
        assert abs(plain - share) < 4 * np.sqrt(share / len(patterns))
        assert call.least_chance(table, cells) <= share + 4 * np.sqrt(share / len(patterns))
