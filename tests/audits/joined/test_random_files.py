"""Random files over one population, in different codes, margins and parts of it: the intervals of a brute program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import discreet as dc
from discreet.audits.joined.argument import Arguments

PLACES = ("l0", "l1", "l2", "l3")
WAYS: dict[str, dict[str, tuple[str, ...]]] = {  # ways of dividing the places: codes and the leaves of each
    "finest": {leaf: (leaf,) for leaf in PLACES},
    "halves": {"west": ("l0", "l1"), "east": ("l2", "l3")},
    "rings": {"l0": ("l0",), "middle": ("l1", "l2"), "l3": ("l3",)},
}
SUMS = {"west": ["l0", "l1"], "east": ["l2", "l3"], "middle": ["l1", "l2"], "Total": ["west", "east"]}
SEXES, AGES = ("m", "f"), ("young", "old", "older")
LEAVES = list(product(PLACES, SEXES, AGES))


@dataclass(frozen=True)
class File:
    """A published table: its release, the sets of finest cells of its rows, whose they are."""

    release: dc.Release
    cells: list[set[tuple[str, str, str]]]
    fixed: dict[str, str]


@st.composite
def files(
    draw: st.DrawFn, counts: dict[tuple[str, str, str], int], names: list[str] | None = None, way_of: str = ""
) -> File:
    """Some dimensions, a way of dividing the places, totals or none, some cells hidden, perhaps men only."""
    names = names or draw(st.lists(st.sampled_from(["place", "sex", "age"]), min_size=1, max_size=3, unique=True))
    way = WAYS[way_of or draw(st.sampled_from(sorted(WAYS)))]
    fixed = {"sex": "m"} if "sex" not in names and draw(st.booleans()) else {}
    codes: dict[str, dict[str, tuple[str, ...]]] = {
        "place": way,
        "sex": {s: (s,) for s in SEXES},
        "age": {a: (a,) for a in AGES},
    }
    dims, listed = [], []
    for name in names:
        total = draw(st.sampled_from(["Total", None]))
        own = list(codes[name])
        if total is None and len(own) > 2 and draw(st.booleans()):
            own = own[:-1]  # a table that leaves out a category
        dims.append(dc.Dimension.flat(name, own, total=total))
        whole = {"place": PLACES, "sex": SEXES, "age": AGES}[name]
        listed.append({**({total: whole} if total else {}), **{c: codes[name][c] for c in own}})
    rows, cells, values = [], [], []
    for row in product(*(list(one) for one in listed)):
        chosen = dict(zip(names, (one[c] for one, c in zip(listed, row, strict=True)), strict=True))
        if fixed:
            chosen["sex"] = ("m",)
        inside = {
            leaf
            for leaf in LEAVES
            if all(leaf[k] in chosen.get(n, (leaf[k],)) for k, n in enumerate(("place", "sex", "age")))
        }
        rows.append([d.position[c] for d, c in zip(dims, row, strict=True)])
        cells.append(inside)
        values.append(float(sum(counts[leaf] for leaf in inside)))
    hidden = np.array(draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    release = dc.Release(
        dimensions=tuple(dims),
        codes=np.array(rows),
        values={"count": np.where(hidden, np.nan, values)},
        decimals={"count": 0},
        status=np.where(hidden, "c", ""),
        method="",
    )
    return File(release, cells, fixed)


def bounds(several: list[File]) -> list[tuple[float, float]]:
    """The linear bounds of all hidden cells over the 24 finest cells."""

    def column(cell: set[tuple[str, str, str]]) -> list[float]:
        return [float(leaf in cell) for leaf in LEAVES]

    shown: list[Any] = []
    values: list[float] = []
    hidden: list[Any] = []
    for file in several:
        for cell, value in zip(file.cells, file.release.values["count"], strict=True):
            if np.isnan(value):
                hidden.append(column(cell))
            else:
                shown.append(column(cell))
                values.append(float(value))
    ends = []
    for target in hidden:
        fits = [
            linprog(sign * np.array(target), A_eq=np.array(shown) if shown else None, b_eq=values or None)
            for sign in (1, -1)
        ]
        ends.append((abs(float(fits[0].fun or 0)), np.inf if fits[1].status == 3 else abs(float(fits[1].fun or 0))))
    return ends


def named_files(several: list[Any]) -> tuple[dict[str, dc.Release], dict[str, Any]]:
    """Files by name, and what is known of their codes."""
    named = {f"t{k}": file.release for k, file in enumerate(several)}
    tables = {f"t{k}": {"fixed": file.fixed} for k, file in enumerate(several) if file.fixed}
    sums = {"place": SUMS, "sex": {"Total": list(SEXES)}, "age": {"Total": list(AGES)}}
    held = {name for file in several for name in (*(d.name for d in file.release.dimensions), *file.fixed)}
    return named, {"sums": {name: own for name, own in sums.items() if name in held}, "tables": tables}


@settings(max_examples=40)
@given(st.data())
def test_intervals_are_those_over_the_finest_cells(data: st.DataObject) -> None:
    """Linear bounds to the unit where whole numbers cannot say more; never wider; the truth inside."""
    counts = dict(zip(LEAVES, data.draw(st.lists(st.integers(0, 5), min_size=24, max_size=24)), strict=True))
    check_bounds(counts, [data.draw(files(counts)) for _ in range(data.draw(st.integers(1, 4)))])


@settings(max_examples=20)
@given(st.data())
def test_sums_of_places_bind_what_finer_tables_say_apart(data: st.DataObject) -> None:
    """Halves by sex and age, places by sex, rings of them by age: no two are enough, and all three are used."""
    counts = dict(zip(LEAVES, data.draw(st.lists(st.integers(0, 2), min_size=24, max_size=24)), strict=True))
    kinds = [(["place", "sex", "age"], "halves"), (["place", "sex"], "finest"), (["place", "age"], "rings")]
    check_bounds(counts, [data.draw(files(counts, list(names), way)) for names, way in kinds])


def test_men_of_a_ring_are_of_the_age_that_their_half_has() -> None:
    """Two men in l3, the only two there, and the men of the east are older: so are the two of l3."""
    two = {("l2", "f", "old"): 2, ("l3", "m", "older"): 2}
    counts = {leaf: two.get(leaf, 0) for leaf in LEAVES}
    releases = {
        "rings by sex": table(counts, "rings", "sex"),
        "rings by age": table(counts, "rings", "age", hidden=lambda codes: codes[0] > 1 and codes[1] > 0),
        "places": table(counts, "finest"),
        "halves": table(counts, "halves", "sex", "age"),
    }
    sums = {"place": SUMS, "sex": {"Total": list(SEXES)}, "age": {"Total": list(AGES)}}
    report = dc.audit(releases, mapping={"sums": sums})
    known = {(row["place"], row["age"]): (row["lower"], row["upper"]) for row in report.cells.to_dict("records")}
    assert known["l3", "older"] == known["middle", "old"] == (2, 2)
    assert known["l3", "old"] == (0, 0)


def table(
    counts: dict[tuple[str, str, str], int],
    way: str,
    *names: str,
    hidden: Callable[[list[int]], bool] = lambda _: False,
) -> dc.Release:
    """A table of places and further dimensions with all totals."""
    every: dict[str, dict[str, tuple[str, ...]]] = {
        "place": {"Total": PLACES, **WAYS[way]},
        "sex": {"Total": SEXES, **{s: (s,) for s in SEXES}},
        "age": {"Total": AGES, **{a: (a,) for a in AGES}},
    }
    used = ["place", *names]
    dims = tuple(dc.Dimension.flat(n, list(every[n])[1:], total="Total") for n in used)
    rows, values = [], []
    for row in product(*(every[n] for n in used)):
        chosen = {n: every[n][code] for n, code in zip(used, row, strict=True)}
        inside = [
            leaf
            for leaf in LEAVES
            if all(leaf[k] in chosen.get(n, (leaf[k],)) for k, n in enumerate(("place", "sex", "age")))
        ]
        rows.append([d.position[code] for d, code in zip(dims, row, strict=True)])
        values.append(float(sum(counts[leaf] for leaf in inside)))
    gone = np.array([hidden(row) for row in rows])
    return dc.Release(
        dimensions=dims,
        codes=np.array(rows),
        values={"count": np.where(gone, np.nan, values)},
        decimals={"count": 0},
        status=np.where(gone, "c", ""),
        method="",
    )


def check_bounds(counts: dict[tuple[str, str, str], int], several: list[File]) -> None:
    """Linear bounds to the unit where whole numbers cannot say more; never wider; the truth inside."""
    named, mapping = named_files(several)
    report = dc.audit(named, mapping=mapping)
    assert all("every count or sum is shown" in text or "no total found" in text for text in report.unjudged)
    lower = dict(zip(report.number.tolist(), report.lower, strict=True))
    upper = dict(zip(report.number.tolist(), report.upper, strict=True))
    start, expected = 0, iter(bounds(several))
    for file in several:
        shape = [len(d.codes) for d in file.release.dimensions]
        for row, cell, value in zip(file.release.codes, file.cells, file.release.values["count"], strict=True):
            if not np.isnan(value):
                continue
            least, most = next(expected)
            at = start + int(np.ravel_multi_index(tuple(row), shape))
            truth = sum(counts[leaf] for leaf in cell)
            assert lower[at] <= truth <= upper[at]
            assert lower[at] >= np.ceil(least - 1e-6)
            assert upper[at] <= (np.inf if most == np.inf else np.floor(most + 1e-6))
            if most - least > 2:
                assert lower[at] == pytest.approx(np.ceil(least - 1e-6))
        start += int(np.prod(shape))


@settings(max_examples=15)
@given(st.data())
def test_arguments_add_up_and_their_files_are_enough(data: st.DataObject) -> None:
    """The shown numbers come to the value, and the files that are named are enough."""
    counts = dict(zip(LEAVES, data.draw(st.lists(st.integers(0, 5), min_size=24, max_size=24)), strict=True))
    several = [data.draw(files(counts)) for _ in range(data.draw(st.integers(2, 3)))]
    named, mapping = named_files(several)
    report = dc.audit(named, mapping=mapping)
    arguments = Arguments(report.view)
    known = np.flatnonzero(report.lower == report.upper)[:3]
    for k in known:
        number, value = int(report.number[k]), float(report.lower[k])
        told = arguments.of(number, value, value)
        for one in told:
            total = sum(term.factor * int(term.value) for term in one.terms)
            assert total == value or (one.kind != "exactly" and abs(total - value) < 1)
        if not told or {one.kind for one in told} not in ({"exactly"}, {"at most", "at least"}):
            continue
        needed = {file for one in told for file in one.files}

        def exact(names: set[str], number: int = number) -> bool:
            some = {n: r if n in names else blank(r) for n, r in named.items()}
            fewer = dc.audit(some, mapping=mapping)
            at = np.flatnonzero(fewer.number == number)
            return bool((fewer.lower[at] == fewer.upper[at]).all())

        assert exact(needed)


def blank(release: dc.Release) -> dc.Release:
    """The same table with nothing shown."""
    values = {name: np.full(len(release), np.nan) for name in release.values}
    return replace(release, values=values, status=np.full(len(release), "c"))
