"""Intervals on demand: those of the whole audit, whatever was asked for before, and never of a release that changed."""

from __future__ import annotations

import gc
from typing import Any
from weakref import ref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import discreet as dc
from discreet.audits import on_demand
from discreet.audits.view import view
from discreet.linear.intervals import OnDemand, settled
from tests.linear.systems import random_system
from tests.strategies import tables

Array = NDArray[Any]


def made(seed: int) -> list[dc.Protected]:
    """A table of two to four dimensions, one with groups, counts or amounts, small cells and others hidden; or two."""
    random = np.random.default_rng(seed)
    shape = [(9, 8), (5, 4, 6), (4, 3, 3, 4)][seed % 3]
    codes = [f"{'ABC'[k % 3]}{k}" for k in range(shape[0])]
    dims = [dc.Dimension.from_prefix("area", codes, [1])]
    dims += [dc.Dimension.flat(f"d{k}", [str(c) for c in range(n)]) for k, n in enumerate(shape[1:])]
    counts = random.poisson(2.0, shape)
    table = dc.Table.of(counts, dims)
    if seed % 2:
        amounts = np.where(counts > 0, random.gamma(0.7, 900, shape).round(1), 0)
        table = dc.Table.of(amounts, dims, value="turnover", decimals=1)
    hidden = table.is_inner & (random.random(len(table)) < 0.45)
    done = dc.protect(table, dc.Hide(hidden))
    if seed % 6 != 4:
        return [done]
    first = table.with_margins([tuple(d.name for d in dims)])
    return [done, dc.protect(first, dc.Hide(first.is_inner))]


@pytest.mark.parametrize("seed", range(12))
def test_intervals_are_those_of_the_whole_audit(seed: int) -> None:
    """One by one in any order, some at once, and those that are shown."""
    several = made(seed)
    released: Any = several[0] if len(several) == 1 else several
    whole = dc.audit(released)
    order = np.random.default_rng(seed).permutation(len(whole.number))
    assert len(order) > 5
    for some in [*order[:12].reshape(-1, 1), order[6:30]]:
        report = dc.audit(released, cells=whole.number[some])
        assert report.number.tolist() == whole.number[some].tolist()
        np.testing.assert_allclose(report.lower, whole.lower[some], atol=1e-6)
        np.testing.assert_allclose(report.upper, whole.upper[some], atol=1e-6)
        assert (report.finding == whole.finding[some]).all()
    shown = np.flatnonzero(~view(several).unknown)[:3]
    report = dc.audit(released, cells=shown)
    assert (report.lower == report.upper).all()
    assert (report.lower == report.truth).all()


@given(tables(), st.data())
@settings(max_examples=30)
def test_of_any_table(table: dc.Table, data: st.DataObject) -> None:
    """Hierarchies, signed groups, structural zeros, few margins: each cell by itself has the interval of the whole."""
    hidden = np.array(data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))))
    done = dc.protect(table, dc.Hide(hidden))
    whole = dc.audit(done)
    for k, cell in enumerate(whole.number.tolist()):
        report = dc.audit(done, cells=[cell])
        assert (report.lower[0], report.upper[0]) == (whole.lower[k], whole.upper[k])


def test_systems_of_no_form() -> None:
    """Fixed, joined, added up and unbounded variables, one after the other, as all at once; progress ends at all."""
    for seed in range(30):
        system = random_system(seed, largest=1 + seed % 2)
        one_by_one = OnDemand(system)
        lower, upper, _ = settled(system, np.arange(system.size))
        counts: list[tuple[int, int]] = []
        for k in np.random.default_rng(seed).permutation(system.size):
            ends = one_by_one.settled(np.array([k]), lambda done, total: counts.append((done, total)))  # noqa: B023
            np.testing.assert_allclose([ends[0][0], ends[1][0]], [lower[k], upper[k]], atol=1e-5)
            assert counts[-1] == (2, 2)
        again = one_by_one.settled(np.array([0, 0, system.size - 1]))
        np.testing.assert_allclose(again[0], lower[[0, 0, -1]], atol=1e-5)


def test_the_system_is_made_once_and_goes_with_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second question finds it; another prior is another system; nothing is left when the release is gone."""
    begun: list[int] = []

    class Counted(OnDemand):
        def __init__(self, system: Any) -> None:
            begun.append(system.size)
            super().__init__(system)

    monkeypatch.setattr(on_demand, "OnDemand", Counted)
    done = made(1)[0]
    cells = np.flatnonzero(done.hidden)
    dc.audit(done, cells=cells[:1])
    dc.audit(done, cells=cells[1:3])
    assert len(begun) == 1
    dc.audit(done, cells=cells[:1], prior=0.5)
    assert len(begun) == 2
    kept = ref(on_demand._KEPT[id(done)]["turnover"])
    del done
    gc.collect()
    assert kept() is None


def test_a_release_that_was_written_to_is_looked_at_anew() -> None:
    """Arrays of a Protected can be changed in place: what was kept is not of that release any more."""
    done = dc.protect(dc.Table.of([[3, 1, 2], [2, 4, 5], [6, 7, 8]], ["area", "sex"]), dc.Round(5))
    cell = int(np.flatnonzero(done.table.where(area="2", sex="2"))[0])
    before = dc.audit(done, cells=[cell])
    assert before.upper[0] > before.lower[0]
    assert done.room.lower is not None
    assert done.room.upper is not None
    done.room.lower[cell] = done.room.upper[cell] = 4
    after = dc.audit(done, cells=[cell])
    assert after.lower[0] == after.upper[0] == 4


def test_cells_by_codes_and_of_a_release() -> None:
    """Codes, a mask and numbers name the same cells; a Release knows no truth and gives the same intervals."""
    done = dc.datasets.willenborg_suppressed()
    hidden = np.flatnonzero(done.hidden)
    names = [d.name for d in done.table.dimensions]
    codes = {
        n: d.codes[c] for n, d, c in zip(names, done.table.dimensions, done.table.layout.codes[hidden[0]], strict=True)
    }
    by_code = dc.audit(done, cells=codes)
    assert by_code.number.tolist() == [hidden[0]]
    assert (by_code.lower[0], by_code.upper[0]) == (0, 406)
    outside = dc.audit(done.release(), cells=done.hidden)
    assert outside.lower.tolist() == [0, 1131, 0, 845]
    assert outside.truth is None


def test_what_cannot_be_meant_is_refused() -> None:
    """Both names at once, a word, an unknown code, a cell that is not there; no cell at all is not a pass."""
    done = dc.datasets.willenborg_suppressed()
    wrong: Any
    for wrong in ("unknown", [10_000], [-1], [0.5], {"nothing": "1"}, np.ones(3, bool)):
        with pytest.raises(dc.InputError):
            dc.audit(done, cells=wrong)
    with pytest.raises(dc.InputError, match="give one of them"):
        dc.audit(done, cells=[0], targets="inner")
    with pytest.raises(dc.InputError, match="one table"):
        dc.audit([done, done], cells={"activity": "1"})
    assert dc.audit(done, cells=[]).verdict == "unknown"


def test_a_contradiction_is_named_at_the_first_question() -> None:
    """Also where the cells that contradict each other are not those asked for."""
    from dataclasses import replace

    table = dc.Table.of([[3, 1], [2, 4]], ["area", "sex"])
    shown = table.value.astype(float)
    shown[table.where(area="1", sex="1")] = 5
    wrong = replace(dc.protect(table, dc.Publish()).release(), values={"count": shown})
    with pytest.raises(dc.InputError, match="smallest such set has 3 cells"):
        dc.audit(wrong, cells=[0])
