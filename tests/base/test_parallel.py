"""Several processors: as many as there are or as one says, the same bits for any number."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.audits.known import Known, settled_intervals, unmovable
from discreet.base import deadline, parallel
from discreet.errors import InputError, OutOfTimeError

MORE = str(2 * (os.cpu_count() or 1) + 3)  # workers than there are processors


def test_the_number_can_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """DISCREET_WORKERS counts; what is no number is refused; unset, it is the processors of this process."""
    monkeypatch.setenv("DISCREET_WORKERS", "5")
    assert parallel.workers() == 5
    for wrong in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv("DISCREET_WORKERS", wrong)
        with pytest.raises(InputError, match="DISCREET_WORKERS"):
            parallel.workers()
    monkeypatch.delenv("DISCREET_WORKERS")
    able = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert parallel.workers() == able


@pytest.mark.parametrize("workers", [1, 3, 40])
def test_order_and_time_limit_are_kept(workers: int) -> None:
    """Answers come in the order of the items, and no thread goes on when the time is up."""
    assert parallel.side_by_side(lambda k: k * k, range(20), workers) == [k * k for k in range(20)]
    with deadline.within(5):
        assert max(parallel.side_by_side(lambda _: deadline.left(), range(6), workers)) <= 5
    with deadline.within(0), pytest.raises(OutOfTimeError):
        parallel.side_by_side(lambda _: deadline.check(), range(6), workers)


def test_work_inside_work_takes_a_share_of_the_workers() -> None:
    """Two threads with eight workers have four each inside; threads do not multiply."""
    both = threading.Barrier(2)  # both must really run at once

    def inner(_: int) -> int:
        both.wait(10)
        return parallel.workers()

    assert parallel.side_by_side(inner, range(2), 8) == [4, 4]
    assert parallel.side_by_side(lambda _: parallel.workers(), range(9), 3) == [1] * 9


@pytest.mark.parametrize("number", [0, 1, 7, 1000])
def test_ranges_cover_every_number_once(number: int) -> None:
    """Pieces of a range neither overlap nor leave anything out."""
    times = np.zeros(number, int)

    def work(first: int, last: int) -> None:
        times[first:last] += 1

    parallel.over_ranges(work, number)
    assert (times == 1).all()


def _table(shape: tuple[int, ...], seed: int) -> dc.Table:
    counts = np.random.default_rng(seed).negative_binomial(0.9, 0.12, shape)
    return dc.Table.of(counts, [f"d{k}" for k in range(len(shape))])


def _audit() -> list[Any]:
    """Three-way, so that linear programs in lanes decide, in fractions too; two-way, so that flows do."""
    solid, flat = _table((8, 8, 6), 2), _table((30, 30), 4)
    random = np.random.default_rng(5)
    hidden = solid.is_inner & (random.random(len(solid)) < 0.45)
    known = replace(Known.hiding(solid, hidden), integer=False, point=None)
    plain = Known.hiding(flat, flat.is_inner & (random.random(len(flat)) < 0.4))
    return [*settled_intervals(known, hidden), unmovable(known, hidden), *settled_intervals(plain)]


def _magnitudes() -> dc.Table:
    from discreet.data.codebook import Magnitude

    random, names = np.random.default_rng(7), ("a", "b", "c")
    import pandas as pd

    frame = pd.DataFrame({n: np.array(list("uvwxy"))[random.integers(0, 5, 300)] for n in names})
    frame["amount"] = np.round(random.lognormal(4, 1.3, len(frame)))
    dimensions = tuple(dc.Dimension.flat(n, sorted(set(frame[n]))) for n in names)
    book = dc.Codebook(dimensions=dimensions, magnitudes=(Magnitude("amount"),))
    return dc.tabulate(dc.Microdata.read(frame, book), by=list(names), value="amount")


def _hidden(table: dc.Table, rule: str, **how: Any) -> Any:
    release = dc.protect(table, dc.Suppress(rule, **how))
    return release.status


def _repair() -> list[Any]:
    """Elimination, then an audit with protection levels and further cells where they fall short."""
    return [_hidden(_magnitudes(), "p_percent(p=15)")]


def _solved(method: Any) -> list[Any]:
    """Cost and verdict of the solver: among equally cheap patterns the tree may end in another one."""
    release = dc.protect(_table((5, 5, 4), 3), dc.Suppress("threshold(n=3)", method=method))
    return [np.array([release.details["cost"]]), np.array([release.details["solver status"]])]


def _optimal() -> list[Any]:
    """Proved: what is cheapest, not what was found in time."""
    return _solved(dc.Optimal(time=60))


def _modular() -> list[Any]:
    return _solved(dc.Modular(time=60))


def _risk() -> list[Any]:
    from discreet.population import Multinomial
    from discreet.risk import draw_risks

    estimates = [Multinomial().fit(np.arange(1, 13).reshape(3, 4), 900)]
    draws = draw_risks(estimates, 200, seed=1)
    tables = np.random.default_rng(1).integers(0, 9, (400, 60))
    from discreet.risk._kernels import summaries

    return [draws.r1, draws.r2, draws.uniques, summaries(tables, tables[::-1].copy(), 9)]


def _population() -> list[Any]:
    from discreet.population import Multinomial, Polya

    sample = np.arange(1, 13).reshape(3, 4)
    return [model.fit(sample, 900).draw(50, seed=3) for model in (Multinomial(), Polya())]


@pytest.mark.parametrize(
    "work", [_audit, _repair, _optimal, _modular, _risk, _population], ids=lambda f: f.__name__.strip("_")
)
def test_the_same_bits_for_any_number_of_workers(monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any]) -> None:
    """One worker, or more than there are processors: every number and every pattern is the same to the last bit."""
    results = []
    for workers in ("1", MORE):
        monkeypatch.setenv("DISCREET_WORKERS", workers)
        results.append([np.asarray(array).tobytes() for array in work()])
    assert results[0] == results[1]
    assert sum(map(len, results[0])) > 0


def test_work_beside_other_work_is_ended_or_waited_for() -> None:
    """It has one worker, the time limit and an end of its own; what is inside keeps its own time."""
    ended: list[bool] = []

    def until_ended() -> None:
        while not deadline.over():
            time.sleep(0.001)
        ended.append(parallel.workers() == 1 and deadline.left() == 0)

    with deadline.within(3600), parallel.alongside(until_ended) as end:
        assert not deadline.over()
        end()
        assert not deadline.over()
    assert ended == [True]
    with deadline.within(0.01), parallel.alongside(until_ended):
        pass
    assert ended == [True, True]


def test_an_error_on_either_side_ends_both_and_is_told() -> None:
    """Whatever is inside ends what is beside it; what is beside it fails aloud."""
    ended: list[bool] = []

    def until_ended() -> None:
        while not deadline.over():
            time.sleep(0.001)
        ended.append(True)

    def inside() -> None:
        with parallel.alongside(until_ended):
            raise InputError("inside")

    with pytest.raises(InputError, match="inside"):
        inside()
    assert ended == [True]

    def fails() -> None:
        raise InputError("beside")

    with pytest.raises(InputError, match="beside"), parallel.alongside(fails):
        pass


def test_an_end_is_handed_on_to_further_threads() -> None:
    """Threads of work that is ended end with it."""
    event = threading.Event()
    with deadline.unless(event):
        event.set()
        with pytest.raises(OutOfTimeError):
            parallel.side_by_side(lambda _: deadline.check(), range(4), 2)
    deadline.check()


def test_threads_side_by_side_hand_over_soon_and_leave_no_trace() -> None:
    """However they are nested and whoever ends first, the interpreter's own interval is back at the end."""
    before = sys.getswitchinterval()
    first, second = parallel.alongside(lambda: None), parallel.alongside(lambda: None)
    with first:
        inside = sys.getswitchinterval()
        second.__enter__()
    assert inside == sys.getswitchinterval() < before
    second.__exit__(None, None, None)
    assert sys.getswitchinterval() == before
    assert set(parallel.side_by_side(lambda _: sys.getswitchinterval(), range(8), 2)) == {inside}
    assert sys.getswitchinterval() == before
