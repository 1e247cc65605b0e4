"""Small populations by subtraction: none is missed that a search through all sets finds, and each is proved."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import discreet as dc
from discreet.audits.joined.known_sets import _sharing, _zero_one, small_sets
from discreet.audits.joined.posterior_counts import common_posterior, count_posterior
from discreet.audits.joined.publication import Publication, Rounding
from discreet.audits.joined.together import JoinedTables, view_together
from discreet.risk import Transition

LEAVES = tuple(f"l{k}" for k in range(6))


def geography(
    name: str, parts: list[list[int]], counts: np.ndarray[Any, Any]
) -> tuple[dc.Release, dict[str, list[str]]]:
    """A published geography over six leaves, and which leaves each of its codes has."""
    codes = [f"{name}{k}" for k in range(len(parts))]
    table = dc.Table.of([int(counts[p].sum()) for p in parts], [dc.Dimension.flat("place", codes)])
    sums = {code: [LEAVES[leaf] for leaf in part] for code, part in zip(codes, parts, strict=True)}
    return dc.protect(table, dc.Publish()).release(), sums


@st.composite
def partitions(draw: st.DrawFn) -> list[list[int]]:
    """The six leaves in up to four parts."""
    where = draw(st.lists(st.integers(0, 3), min_size=6, max_size=6))
    return [[leaf for leaf in range(6) if where[leaf] == k] for k in sorted(set(where))]


@settings(max_examples=30)
@given(partitions(), partitions(), partitions(), st.lists(st.integers(0, 8), min_size=6, max_size=6))
def test_every_small_set_in_the_span_is_found(
    one: list[list[int]], two: list[list[int]], three: list[list[int]], counts: list[int]
) -> None:
    """Against all 63 sets of leaves and the rank of the published totals; and each set found is proved by programs."""
    under, people = 6, np.array(counts)
    made = [geography(name, parts, people) for name, parts in (("a", one), ("b", two), ("c", three))]
    sums = {code: leaves for _, own in made for code, leaves in own.items()}
    joined = JoinedTables.of([Publication.of(str(k), r) for k, (r, _) in enumerate(made)], {"place": sums})
    seen = view_together(joined, "count")
    found = small_sets(seen, under)
    columns = np.array([[leaf in part for leaf in range(6)] for part in chain(one, two, three)], float)
    labels = [set(_leaves(joined, seen, members)) for members in found.sets]
    for members, size in zip(labels, found.sizes, strict=True):
        target = np.array([LEAVES[k] in members for k in range(6)], float)
        ends = [linprog(s * target, A_eq=columns, b_eq=columns @ people, bounds=(0, None)).fun for s in (1, -1)]
        assert float(ends[0] or 0) == pytest.approx(size)
        assert -float(ends[1] or 0) == pytest.approx(size)
    published = [{LEAVES[k] for k in part} for part in chain(one, two, three)]
    for chosen in chain.from_iterable(combinations(range(6), r) for r in range(1, 7)):
        target = np.array([k in chosen for k in range(6)], float)
        known = np.linalg.matrix_rank(np.vstack([columns, target])) == np.linalg.matrix_rank(columns)
        names = {LEAVES[k] for k in chosen}
        if known and 0 < people[list(chosen)].sum() < under:
            inside = [s for s in (*labels, *published) if s and s <= names and _count(s, people) > 0]
            assert inside, names


@settings(max_examples=60)
@given(st.integers(2, 7), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_groups_of_sums_are_searched_apart(rows: int, more: int, seed: int) -> None:
    """The least sets by groups of sums with cells in common are those by all sums at once."""
    random = np.random.default_rng(seed)
    matrix = np.hstack([np.eye(rows, dtype=int), random.choice([-1, 0, 0, 0, 1], size=(rows, more))])
    sizes = random.integers(1, 4, rows + more)
    at_once = {frozenset(s) for s, _ in _zero_one(matrix, sizes, 1e9)}
    apart = {frozenset(s) for group in _sharing(matrix) for s, _ in _zero_one(matrix[group], sizes, 1e9)}
    least = [{s for s in sets if not any(other < s for other in sets)} for sets in (at_once, apart)]
    assert least[0] == least[1]


def _count(names: set[str], people: np.ndarray[Any, Any]) -> int:
    return int(sum(people[LEAVES.index(n)] for n in names))


def _leaves(joined: JoinedTables, seen: Any, members: tuple[int, ...]) -> list[str]:
    """The leaves of variables of the system."""
    key_of = {int(v): k + 1 for k, v in enumerate(seen.known.inner_variables())}
    names = []
    for v in members:
        for table, keys in zip(joined.common.tables, joined.common.keys, strict=True):
            at = np.flatnonzero(keys == key_of[v])
            if len(at):
                parts = table.axes[0].parts[int(at[0])]
                names += [leaf for p in parts for leaf in joined.atoms["place"][p - 1].split(" and ") if leaf in LEAVES]
                break
    return names


def test_three_tables_in_one_combination() -> None:
    """Everybody without men and without women: few of neither, in cells that no two tables give."""
    generator = np.random.default_rng(5)
    men, women = generator.integers(20, 60, (2, 4, 3))
    others = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 1], [0, 0, 0]])
    tables = {"all": men + women + others, "men": men, "women": women}
    releases = {k: dc.protect(dc.Table.of(v, ["area", "age"]), dc.Publish()).release() for k, v in tables.items()}
    found = dc.difference(releases, under=3)
    cells = {one.cell: one.size for one in found.populations if one.kind == "combination"}
    assert cells["area 2, age 1"] == 2
    assert {"area 1, age 2", "area 3, age 3"} <= set(cells)
    assert not [one for one in dc.difference(releases, under=3, terms=2).populations if one.kind == "combination"]


def test_a_hidden_cell_counts_by_what_follows() -> None:
    """January hides a cell that follows; the difference is of the value that follows."""
    table = dc.Table.of([[40, 39], [30, 31]], ["area", "sex"])
    hidden = dc.protect(table, dc.Hide([{"area": "2", "sex": "2"}])).release()
    later = dc.protect(dc.Table.of([[40, 39], [30, 33]], ["area", "sex"]), dc.Publish()).release()
    found = dc.difference({"january": hidden, "february": later}, under=3)
    assert "area 2, sex 2" in {one.cell for one in found.populations}


def test_tables_of_the_same_people_have_no_differences() -> None:
    """The same numbers in two files, and one of them coarser: nothing new follows."""
    table = dc.Table.of([[40, 39], [30, 31]], ["area", "sex"])
    whole = dc.protect(table, dc.Publish()).release()
    part = dc.protect(table.with_margins([("area",)]), dc.Publish()).release()
    found = dc.difference({"a": whole, "b": whole, "c": part})
    assert found.ok
    assert found.groups == (("a", "b", "c"),)


def test_differences_and_averages_of_changed_counts() -> None:
    """Posteriors by enumeration; two random roundings of a cell leave what both allow."""
    noise = Transition.rounding(3)
    posterior = count_posterior(6, noise)
    by_hand = {t: dict(noise.outcomes(t)).get(6, 0.0) for t in range(12)}
    total = sum(by_hand.values())
    assert posterior.values.tolist() == [t for t, p in by_hand.items() if p]
    assert posterior.p.tolist() == pytest.approx([p / total for p in by_hand.values() if p])
    change = posterior.minus(count_posterior(3, noise))
    assert change.p.sum() == pytest.approx(1)
    assert change.values[change.p.argmax()] == 3
    assert common_posterior([3, 6], [noise, noise]).p.tolist() == pytest.approx([0.5, 0.5])
    assert count_posterior(5, Rounding(5)).values.tolist() == [3, 4, 5, 6, 7]
    with pytest.raises(dc.InputError, match="different populations"):
        common_posterior([3, 30], [noise, noise])


def test_changed_releases_are_told_with_probabilities() -> None:
    """Randomly rounded tables of two months; an exact table beside a rounded one; averages of five."""
    table = dc.Table.of([[4, 40], [30, 31]], ["area", "sex"])
    rounded = [dc.protect(table, dc.RandomRound(3, seed=k)).release() for k in range(5)]
    found = dc.difference({str(k): r for k, r in enumerate(rounded)}, under=6, likely=0.5)
    averages = [one for one in found.populations if one.kind == "average"]
    assert averages
    for one in averages:
        assert 0.5 <= one.probability <= 1
    exact = dc.protect(dc.Table.of([[30, 40], [30, 31]], ["area", "sex"]), dc.Publish()).release()
    other = dc.difference({"rounded": rounded[0], "exact": exact}, under=40, likely=0.9)
    assert any(one.kind == "difference" and one.probability > 0.9 for one in other.populations)
    keyed = dc.protect(dc.Table.of([5, 60], ["sex"]), dc.Publish()).release()
    table_of_noise = dc.PTable.design(d=2, v=1.0)
    noisy = dc.difference(
        {"a": keyed, "b": keyed}, noise={"a": table_of_noise, "b": table_of_noise}, under=3, likely=0.1
    )
    assert all(0 < one.probability < 1 for one in noisy.populations)
    with pytest.raises(dc.InputError, match="'c', which is not given"):
        dc.difference({"a": keyed, "b": keyed}, noise={"c": table_of_noise})


@pytest.mark.parametrize(("name", "codes"), [("month", ("x", "y")), ("t", ("2024Q1", "2024Q2")), ("t", ("jan", "feb"))])
def test_times_within_a_table_are_not_passed_without_being_set_against_each_other(
    tmp_path: Path, name: str, codes: tuple[str, str]
) -> None:
    path = tmp_path / "a.csv"
    rows = [(codes[0], 31, 40, 71), (codes[1], 30, 40, 70)]
    lines = [f"{t};{area};{n}" for t, *ns in rows for area, n in zip(("N", "S", "Total"), ns, strict=True)]
    path.write_text("\n".join([f"{name};area;count", *lines]) + "\n")
    whole = dc.difference([path], under=3)
    assert whole.verdict.value == "unknown"
    assert f"--along {name}" in whole.unjudged[0]
    assert dc.difference([path], under=3, along=name).verdict.value == "fail"
    path.write_text(
        path.read_text().replace(f"{name};", "sex;", 1).replace(codes[0], "m").replace(codes[1], "separated")
    )
    assert dc.difference([path], under=3).verdict.value == "pass"
