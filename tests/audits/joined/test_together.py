"""Several published tables as one system: the same intervals as the table over all dimensions gives."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.audits.joined.join_tree import crossed_sets

NAMES = ("area", "sex", "age")


def published(table: dc.Table, margin: tuple[str, ...], hidden: np.ndarray[Any, Any]) -> dc.Release:
    """A margin of a table with some of its cells hidden."""
    part = table.with_margins([margin])
    return dc.protect(part, dc.Hide(np.flatnonzero(hidden[: len(part)]).tolist())).release()


def brute(table: dc.Table, margins: list[tuple[str, ...]], releases: list[dc.Release]) -> list[tuple[float, float]]:
    """Intervals of all hidden cells by one program over the inner cells of the whole table, with SciPy."""
    from scipy.optimize import linprog

    parts = [table.with_margins([m]) for m in margins]
    columns = [p.matrix.toarray() for p in parts]
    known: list[Any] = []
    values: list[float] = []
    hidden: list[Any] = []
    for part, matrix, release in zip(parts, columns, releases, strict=True):
        shown = release.values["count"]
        for k in range(len(part)):
            (hidden if np.isnan(shown[k]) else known).append(matrix[:, k])
            if not np.isnan(shown[k]):
                values.append(shown[k])
    out = []
    for target in hidden:
        ends = [
            linprog(sign * target, A_eq=np.array(known) if known else None, b_eq=values or None, bounds=(0, None))
            for sign in (1, -1)
        ]
        least, most = (np.inf if end.status == 3 else abs(float(end.fun or 0)) for end in ends)
        out.append((least, most))
    return out


@settings(max_examples=25)
@given(st.data())
def test_intervals_are_those_of_all_dimensions_crossed(data: st.DataObject) -> None:
    """Margins in a tree, in a circle and inside each other: linear bounds as of the full table (whole tables apart)."""
    shape = data.draw(st.tuples(*[st.integers(2, 3)] * 3))
    values = data.draw(st.lists(st.integers(0, 6), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    table = dc.Table.of(np.array(values).reshape(shape), NAMES)
    every = [("area", "sex"), ("sex", "age"), ("area", "age"), ("area",), ("area", "sex", "age")]
    margins = data.draw(st.lists(st.sampled_from(every), min_size=1, max_size=3, unique=True))
    hidden = np.array(data.draw(st.lists(st.booleans(), min_size=64, max_size=64)))
    releases = [published(table, m, hidden) for m in margins]
    report = dc.audit(dict(zip(map(str, margins), releases, strict=True)))
    expected = brute(table, margins, releases)
    assert len(report.number) == len(expected)
    for lower, upper, (least, most) in zip(report.lower, report.upper, expected, strict=True):
        assert lower >= np.ceil(least - 1e-6) - 1e-6  # whole numbers may say more than the linear program
        assert upper <= (np.inf if most == np.inf else np.floor(most + 1e-6) + 1e-6)
        if most - least > 2:
            assert (lower, upper) == (pytest.approx(np.ceil(least - 1e-6)), pytest.approx(np.floor(most + 1e-6)))


def test_releases_are_judged_as_their_protected_tables_are() -> None:
    """Together, each alone, and in a dict with names."""
    table = dc.Table.of(np.arange(12).reshape(2, 3, 2) % 5, NAMES)
    parts = [table.with_margins([m]) for m in (("area", "sex"), ("sex", "age"))]
    done = [dc.protect(part, dc.Suppress(dc.Threshold(3))) for part in parts]
    inside = dc.audit(done)
    outside = dc.audit({"first": done[0].release(), "second": done[1].release()})
    assert set(outside.cells["table"]) <= {"first", "second"}
    assert sorted(zip(inside.lower, inside.upper, strict=True)) == sorted(
        zip(outside.lower, outside.upper, strict=True)
    )


def test_linked_margins_are_read_back(tmp_path: Path) -> None:
    """A dimension that is nothing but its total in a file says nothing, and the files are judged together."""
    table = dc.Table.of(np.arange(1, 13).reshape(2, 3, 2), NAMES)
    whole = dc.protect(table.with_margins([("area", "sex")]), dc.Publish()).release()
    cells = [{"area": a, "sex": s, "age": "Total"} for a, s in product(("1", "2"), ("1", "2"))]
    some = dc.protect(table.with_margins([("area", "sex")]), dc.Hide(cells)).release()
    one = dc.protect(table.with_margins([("area",)]), dc.Publish()).release()
    for name, release in (("whole", whole), ("some", some), ("one", one)):
        release.to_csv(tmp_path / f"{name}.csv")
        assert dc.Release.read(tmp_path / f"{name}.csv").values["count"].tolist() == pytest.approx(
            release.values["count"].tolist(), nan_ok=True
        )
    assert dc.audit([tmp_path / "some.csv", tmp_path / "one.csv"]).ok
    report = dc.audit([tmp_path / "some.csv", tmp_path / "whole.csv"])
    assert report.verdict == "fail"
    assert (report.finding == "exact").all()


def test_two_ways_of_dividing_the_whole_cross_freely() -> None:
    """Municipalities beside a grid: known where they must be, and a reason for unknown unless the mapping says so."""
    towns = dc.Table.of([7, 5, 9], [dc.Dimension.flat("place", ["A", "B", "C"])])
    grid = dc.Table.of([4, 17], [dc.Dimension.flat("place", ["x1", "x2"])])
    one = dc.protect(towns, dc.Hide([{"place": "A"}, {"place": "B"}])).release()
    two = dc.protect(grid, dc.Publish()).release()
    report = dc.audit({"towns": one, "grid": two})
    assert report.verdict == "unknown"
    assert "cross freely" in report.unjudged[0]
    assert dc.audit({"towns": one, "grid": two}, mapping={"crossing": ["place"]}).ok
    nested = dc.audit({"towns": one, "grid": two}, mapping={"sums": {"place": {"A": ["x1"], "x2": ["B", "C"]}}})
    assert nested.verdict == "fail"
    assert nested.lower.tolist() == nested.upper.tolist() == [4, 8]


def test_a_contradiction_names_the_fewest_files() -> None:
    """Two of five releases do not fit, one cell of each; whichever they are."""
    table = dc.Table.of(np.arange(1, 7).reshape(2, 3), ["area", "sex"])
    good = dc.protect(table, dc.Hide([{"area": "1", "sex": "1"}, {"area": "1", "sex": "2"}])).release()
    values = good.values["count"].copy()
    values[-1] += 1
    values[-4] += 2
    wrong = replace(good, values={"count": values})
    part = dc.protect(table.with_margins([("area",)]), dc.Publish()).release()
    with pytest.raises(dc.InputError) as error:
        dc.audit({"a": part, "b": part, "c": good, "d": part, "e": wrong})
    text = str(error.value)
    assert "'e'" in text
    assert sum(f"'{name}'" in text for name in "abcde") <= 2
    with pytest.raises(dc.InputError, match="contradict"):
        dc.audit({"c": good, "e": wrong})


def test_sets_of_dimensions_in_a_tree_and_in_a_circle() -> None:
    """Only circles are crossed."""
    sets = [frozenset(s) for s in ("ab", "bc", "cd", "da", "e", "ae")]
    assert crossed_sets(sets)[1] == [frozenset("abcd")]
    assert crossed_sets([frozenset(s) for s in ("abc", "bcd", "cde", "c")])[1] == []
    assert crossed_sets([frozenset("ab")]) == ([], [])


def test_values_that_were_changed_need_their_base() -> None:
    """A method that rounds says so in its sentence; one that says nothing of use is not judged."""
    table = dc.Table.of([[7, 8], [9, 3]], ["area", "sex"])
    rounded = dc.protect(table, dc.Round(3)).release()
    truth = dc.protect(table.with_margins([("area",)]), dc.Publish()).release()
    report = dc.audit({"rounded": rounded, "true": truth})
    assert len(report.number) == len(table)
    for lower, upper, true in zip(report.lower, report.upper, table.value, strict=True):
        assert lower <= true <= upper
    changed = replace(rounded, method="changed a little")
    with pytest.raises(dc.Unjudged, match="changed a little"):
        dc.audit({"rounded": changed, "true": truth})
    base = {"tables": {"rounded": {"rounding": 3}}}
    assert dc.audit({"rounded": changed, "true": truth}, mapping=base).lower.tolist() == report.lower.tolist()
