"""audit(): intervals hold the truth, equal linear programs, and say what is exactly known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

import discreet as dc
from discreet.audits import InfeasibleError, Known, frechet, intervals, unmovable, view
from discreet.audits.contradiction import contradicting
from discreet.audits.feasible_sample import enumerate_points
from discreet.audits.view import view_of_release
from discreet.cli import run
from discreet.linear.intervals import solve
from discreet.linear.network import network
from discreet.linear.presolve import propagated, reduce
from discreet.linear.system import System
from discreet.tables.relations import of_layout, of_matrix
from tests.strategies import tables

Array = NDArray[Any]
LAWS = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def patterns(data: st.DataObject, table: dc.Table) -> Array:
    return np.array(data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))))


def by_scipy(known: Known, targets: Array, integrality: Literal[0, 1] = 0) -> tuple[Array, Array]:
    """Two linear (or integer) programs over the inner cells per target."""
    sums = known.matrix.T.toarray().astype(float)
    low, high = np.isfinite(known.lower), np.isfinite(known.upper)
    rows, limit = np.vstack([sums[high], -sums[low]]), np.concatenate([known.upper[high], -known.lower[low]])
    bounds = list(zip(known.inner_lower, known.inner_upper, strict=True))
    out = np.empty((2, len(targets)))
    for k, target in enumerate(targets):
        for side, sign in enumerate((1.0, -1.0)):
            done = linprog(
                sign * sums[target], rows if len(limit) else None, limit if len(limit) else None, bounds=bounds,
                integrality=integrality,
            )  # fmt: skip
            out[side, k] = sign * float(done.fun or 0) if done.status == 0 else -sign * np.inf
    return out[0], out[1]


@LAWS
@given(tables(), st.data())
def test_every_interval_holds_the_truth(table: dc.Table, data: st.DataObject) -> None:
    """Whatever is hidden, the true value is possible."""
    hidden = patterns(data, table)
    lower, upper = intervals(Known.hiding(table, hidden), hidden)
    assert (lower <= table.value[hidden]).all()
    assert (table.value[hidden] <= upper).all()


@LAWS
@given(tables(most_count=4), st.data())
def test_intervals_equal_linear_programs(table: dc.Table, data: st.DataObject) -> None:
    """Without integrality the ends are those of scipy.linprog, whichever way the sums are written."""
    hidden = patterns(data, table)
    known = replace(Known.hiding(table, hidden), integer=False)
    targets = np.flatnonzero(hidden)[:6]
    expected = by_scipy(known, targets)
    for form in (known, replace(known, relations=None)):
        found = intervals(form, targets)
        for mine, theirs in zip(found, expected, strict=True):
            assert np.allclose(mine, theirs, atol=1e-5)


@LAWS
@given(tables(most_count=3), st.data())
def test_exactly_known_counts_are_those_with_one_whole_value(table: dc.Table, data: st.DataObject) -> None:
    """One possible whole number, by integer programs, is an interval of one value, and the other way round."""
    hidden = patterns(data, table)
    known = Known.hiding(table, hidden)
    targets = np.flatnonzero(hidden)[:5]
    lower, upper = intervals(known, targets)
    low, high = by_scipy(known, targets, 1)
    assert ((lower == upper) == (np.abs(high - low) < 0.5)).all()
    assert ((lower <= low + 1e-6) & (high - 1e-6 <= upper)).all()
    assert (unmovable(known, targets) == (lower == upper)).all()


@LAWS
@given(st.integers(2, 4), st.integers(2, 4), st.data())
def test_two_way_tables_equal_counting_all_of_them(rows: int, columns: int, data: st.DataObject) -> None:
    """A 2-D table is a network: its interval ends are those of all tables that fit, one by one."""
    flat = data.draw(st.lists(st.integers(0, 3), min_size=rows * columns, max_size=rows * columns))
    table = dc.Table.of(np.array(flat).reshape(rows, columns), ["a", "b"])
    hidden = patterns(data, table) & table.is_inner
    known = Known.hiding(table, hidden)
    points = enumerate_points(known.system())
    lower, upper = intervals(known, hidden)
    assert (lower == points[:, hidden.nonzero()[0]].min(axis=0, initial=99)).all()
    assert (upper == points[:, hidden.nonzero()[0]].max(axis=0, initial=-99)).all()


@LAWS
@given(tables())
def test_relations_say_the_same_as_the_matrix(table: dc.Table) -> None:
    """Both forms of the sums hold for the true cells and have the same rank."""
    values = np.zeros(of_matrix(table.matrix).shape[1])
    known = Known.hiding(table, np.zeros(len(table), bool))
    values[known.inner_variables()] = table.statistic("count").inner
    values[: len(table)] = table.count
    short, long = of_layout(table.layout), of_matrix(table.matrix)
    assert not (short @ values).any()
    assert not (long @ values).any()
    empty = table.layout.parts == 0
    kept = np.ones(len(values), bool)
    kept[: len(table)] = ~empty
    ranks = [np.linalg.matrix_rank(m.toarray()[:, kept]) if m.shape[0] else 0 for m in (short, long)]
    assert ranks[0] == ranks[1]


def test_a_three_way_table_with_threads() -> None:
    """A component that is no network, large enough for two workers, agrees with scipy on some bounds."""
    counts = np.random.default_rng(3).integers(0, 6, (7, 7, 7))
    table = dc.Table.of(counts, ["a", "b", "c"])
    hidden = table.is_inner & (np.random.default_rng(4).random(len(table)) < 0.5)
    known = replace(Known.hiding(table, hidden), integer=False)
    done: list[tuple[int, int]] = []
    lower, upper = intervals(known, hidden, progress=lambda a, b: done.append((a, b)))
    some = np.flatnonzero(hidden)[::40]
    low, high = by_scipy(known, some)
    at = np.searchsorted(np.flatnonzero(hidden), some)
    assert np.allclose(lower[at], low, atol=1e-5)
    assert np.allclose(upper[at], high, atol=1e-5)
    assert done[-1][0] == done[-1][1]


def test_odf03_table_1() -> None:
    """ODF03 section 4.1: the four intervals, 407 values each, risk 0.115."""
    found = dc.audit(dc.datasets.willenborg_suppressed())
    assert found.lower.tolist() == [0, 1131, 0, 845]
    assert found.upper.tolist() == [406, 1537, 406, 1251]
    assert found.m.tolist() == [407] * 4
    assert found.risk.round(3).tolist() == [0.115] * 4
    assert found.ok
    assert list(found.findings()["cells"]) == [0, 0, 4, 0]


def test_odf03_redesign() -> None:
    """ODF03 section 4.3: twelve unknowns; each cell of rows 5 and 6 can be anything up to the combined one."""
    found = dc.audit(dc.Redesign({"activity": {"5,6": ["5", "6"]}})(dc.datasets.willenborg()))
    assert len(found.number) == 12
    assert found.upper.reshape(2, 6).tolist() == [[8179, 649, 406, 1275, 2382, 3467]] * 2
    assert not found.lower.any()


def rounded(values: Any, base: int) -> dc.Protected:
    """Deterministic rounding by hand: a multiple of the base came from half a base below to half above."""
    table = dc.Table.of(values, ["a", "b"])
    shown = np.floor(table.value / base + 0.5) * base
    room = dc.Room(lower=np.maximum(shown - base // 2, 0), upper=shown + (base - 1) // 2)
    return dc.Protected(table, {"count": shown}, np.full(len(table), "s"), "rounding", room=room)


def test_odf03_rounding() -> None:
    """ODF03 section 4.2: base 5 leaves five values to a cell alone, fewer where rounded margins are published."""
    alone = rounded(np.full((2, 2), 10), 5)
    found = dc.audit(alone)
    inner = np.isin(found.number, np.flatnonzero(alone.table.is_inner))
    assert (found.m[inner] == 5).all()
    tight = rounded([[2, 2], [2, 2]], 5)  # shown as 0, 0 / 0, 0 with margins 5: the parts must be 2 or 1
    found = dc.audit(tight)
    assert (found.lower[np.isin(found.number, np.flatnonzero(tight.table.is_inner))] >= 1).all()


def test_values_that_changed_without_a_word_are_refused() -> None:
    """Fail closed: published values that differ from the truth need what they imply."""
    table = dc.Table.of([[1, 2], [3, 4]], ["a", "b"])
    changed = dc.Protected(table, {"count": table.value + 1.0}, np.full(9, "s"), "noise")
    with pytest.raises(dc.Unjudged, match="lower"):
        dc.audit(changed)
    wrong = dc.Room(lower=table.value + 1.0, upper=table.value + 2.0)
    with pytest.raises(dc.InputError, match="do not hold"):
        dc.audit(replace(changed, room=wrong))


def test_prior_knowledge_and_protection() -> None:
    """Prior bounds shrink intervals; protection levels make short ones narrow."""
    protected = dc.datasets.willenborg_suppressed()
    free, known = dc.audit(protected), dc.audit(protected, prior=0.1, protection=0.2)
    assert (known.upper - known.lower < free.upper - free.lower).all()
    assert (known.finding == "narrow").all()
    assert len(known.exposed) == 4
    assert dc.audit(protected, prior=(np.zeros(36), np.full(36, 1400.0)), nonnegative=True).upper.max() == 1400
    with pytest.raises(dc.InputError, match="prior"):
        dc.audit(protected, prior=-1)


def test_half_a_count_is_known() -> None:
    """A count in [0.5, 1.5] is 1: exactly known means one possible value, not width 0."""
    assert dc.risk.cell.possible_values([0.5], [1.5]).tolist() == [1.0]


def test_zeros_give_secondaries_away() -> None:
    """METHODS 7: counts [[0,0,4],[4,0,1]], below 4 hidden, zeros as secondaries: every hidden cell is determined."""
    table = dc.Table.of([[0, 0, 4], [4, 0, 1]], ["a", "b"])
    hidden = table.is_inner & (table.count < 4)
    found = dc.audit(dc.protect(table, dc.Hide(hidden)))
    assert (found.finding == "exact").all()
    assert found.cells["finding"].iloc[0] == "exact"


def test_negative_magnitudes_have_no_floor() -> None:
    """Where inner cells can be negative only sums determine them."""
    table = dc.Table.of([[1.5, -2.0], [3.0, 4.0]], ["a", "b"], value="x")
    found = dc.audit(dc.protect(table, dc.Hide(table.is_inner)))
    assert np.isinf(found.lower).all()
    assert (found.risk == 0).all()


def test_decimals_count_on_their_grid() -> None:
    """A magnitude in cents has a hundred times as many values."""
    table = dc.Table.of([[1.25, 2.0], [3.0, 4.0]], ["a", "b"], value="x", decimals=2)
    found = dc.audit(dc.protect(table, dc.Hide(table.is_inner)))
    assert found.m.tolist() == [326.0] * 4


@pytest.mark.parametrize("shape", [(3, 3), (3, 3, 3)])
def test_large_values_with_a_small_hidden_part(shape: tuple[int, ...]) -> None:
    """A unit still counts beside values of 10**12: adding a constant to every cell moves intervals by that constant."""
    small = np.random.default_rng(2).integers(0, 9, shape)
    known = []
    for shift in (0, 10**12):
        table = dc.Table.of(small + shift, list("abc")[: len(shape)], value="x")
        hidden = table.is_inner & (np.random.default_rng(3).random(len(table)) < 0.7)
        floor = np.full(table.layout.n_inner, float(shift))
        known.append(replace(Known.hiding(table, hidden), inner_lower=floor))
    (low, high), (far_low, far_high) = (intervals(k, hidden) for k in known)
    assert np.allclose(far_low - 10**12, low, atol=1e-3)
    assert np.allclose(far_high - 10**12, high, atol=1e-3)


def test_linked_tables_together() -> None:
    """Two tables give away more together than each alone, and inner cells on request."""
    counts = np.random.default_rng(0).integers(0, 5, (3, 3, 2))
    whole = dc.Table.of(counts, ["A", "S", "R"])
    one = dc.protect(dc.Table.of(counts.sum(axis=2), ["A", "S"]), dc.Publish())
    other = dc.protect(dc.Table.of(counts.sum(axis=1), ["A", "R"]), dc.Publish())
    both = dc.audit([one, other], targets="inner")
    first = dc.audit(dc.protect(whole.with_margins([("A", "S")]), dc.Publish()), targets="inner")
    joint = dc.audit(dc.protect(whole.with_margins([("A", "S"), ("A", "R")]), dc.Publish()), targets="inner")
    assert both.upper.tolist() == joint.upper.tolist()
    assert (both.upper <= first.upper).all()
    assert list(both.cells.columns[:4]) == ["table", "A", "S", "R"]
    assert (both.lower <= counts.ravel()).all()


@pytest.mark.parametrize(
    "margins",
    [[("A",), ("S",), ("R",)], [("A", "S"), ("S", "R")], [("A", "S")], [("A", "S"), ("R",)], [("A", "S", "R")]],
)
def test_frechet_bounds_equal_the_programs(margins: list[tuple[str, ...]]) -> None:
    """Decomposable margins: the closed form is what the linear programs give."""
    table = dc.Table.of(np.random.default_rng(1).integers(0, 7, (3, 4, 2)), ["A", "S", "R"])
    seen = view(dc.protect(table.with_margins(margins), dc.Publish()))
    found = frechet(seen.layouts[0], seen.known.lower)
    assert found is not None
    for mine, theirs in zip(found, intervals(seen.known, seen.known.inner_variables()), strict=True):
        assert np.allclose(mine, theirs)


def test_frechet_declines_what_is_not_decomposable() -> None:
    """All three two-way margins of a three-way table have no closed form."""
    table = dc.Table.of(np.ones((2, 2, 2), int), ["A", "S", "R"])
    linked = table.with_margins([("A", "S"), ("A", "R"), ("S", "R")])
    assert frechet(linked.layout, linked.value) is None


def test_contradictions_are_named() -> None:
    """An infeasible release: a smallest contradicting set by codes, every member of which is needed."""
    table = dc.Table.of([[3, 1], [2, 4]], ["area", "sex"])
    shown = table.value.astype(float)
    shown[table.where(area="1", sex="1")] = 5
    wrong = replace(dc.protect(table, dc.Publish()).release(), values={"count": shown})
    with pytest.raises(InfeasibleError, match=r"smallest such set has 3 cells.*1 1") as caught:
        dc.audit(wrong)
    known = view_of_release(wrong).known
    system = known.system()
    assert set(caught.value.cells) == set(contradicting(system, known.blank())[0])
    for cell in caught.value.cells:  # without any one of them something fits
        lower, upper = known.lower.copy(), known.upper.copy()
        others = np.setdiff1d(np.arange(9), caught.value.cells)
        lower[[cell, *others]], upper[[cell, *others]] = -np.inf, np.inf
        intervals(replace(known, lower=lower, upper=upper, point=None))


def test_presolve_keeps_duplicate_variables_apart() -> None:
    """Two cells that stand in the same rows share what their sum leaves."""
    from scipy.sparse import csr_array

    rows = csr_array(np.array([[1.0, 1.0, 1.0]]))
    system = System(rows, np.array([5.0]), np.zeros(3), np.array([2.0, 9.0, 1.0]), True)
    lower, upper = solve(system, np.arange(3))
    assert lower.tolist() == [0, 2, 0]
    assert upper.tolist() == [2, 5, 1]
    assert reduce(system)[0].size == 0
    assert propagated(system)[1].tolist() == [2, 5, 1]


def test_networks_are_recognised() -> None:
    """Two-way tables are networks, rows with signs too, three-way tables are not."""
    two, three = (dc.Table.of(np.ones(s, int), list("abc")[: len(s)]) for s in ((3, 3), (2, 2, 2)))
    for table, expected in ((two, True), (three, False)):
        rows = of_layout(table.layout)[:, np.flatnonzero(table.is_inner)]
        assert (network(rows[np.diff(rows.indptr) > 0]) is not None) is expected


def test_pictures_and_pages() -> None:
    """The faces of a result."""
    found = dc.audit(dc.datasets.willenborg_suppressed())
    assert len(found.plot().patches) == 4
    assert "<td>406</td>" in found.to_html()
    assert "confidential" in found._repr_html_()
    assert found.to_dict()["summary"] == {"exact": 0, "narrow": 0, "open": 4, "unknown": 0}
    assert repr(found) == "Audit(pass; count: 4 cells, 0 exact, 0 narrow, 4 open)"


@pytest.mark.parametrize("targets", ["everything", np.array([99]), np.zeros(3, bool)])
def test_unknown_targets_are_errors(targets: Any) -> None:
    with pytest.raises(dc.InputError):
        dc.audit(dc.datasets.willenborg_suppressed(), targets=targets)


def test_the_command_reads_a_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """discreet audit sees what the world sees: no truth, the same intervals."""
    path, out = tmp_path / "table.csv", tmp_path / "audit.csv"
    dc.datasets.willenborg_suppressed().release().to_csv(path)
    assert run(["audit", str(path), "--zeros-hidden", "-o", str(out)]) == 0
    said = capsys.readouterr()
    assert "4 open" in said.err
    assert "1,251" in said.out
    assert "true" not in out.read_text().splitlines()[0]
    assert run(["audit", str(path), "-o", str(tmp_path / "audit.html")]) == 0
