"""LL21: Lupp and Langsrud, Suppression of directly-disclosive cells in frequency tables (2021)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import discreet as dc

TABLE_1 = np.array([[0, 0, 17, 0], [0, 3, 8, 0], [1, 0, 12, 0], [0, 1, 0, 14], [3, 2, 2, 0]])
INJURY = ("None", "Light", "Serious", "Unknown")
GROUPS = (
    "Oslo Car Driver",
    "Oslo Car Passenger",
    "Bergen Car Driver",
    "Bergen Car Passenger",
    "Trondheim Bicycle Driver",
)


def table(rows: np.ndarray = TABLE_1, groups: tuple[str, ...] = GROUPS, **given: object) -> dc.Table:
    dims = [dc.Dimension.flat("group", groups, total=None), dc.Dimension.flat("injury", INJURY)]
    return dc.Table.of(rows, dims, **given)  # type: ignore[arg-type]


def marked(rule: dc.Rule, made: dc.Table) -> set[tuple[str, ...]]:
    """The codes of sensitive cells."""
    at = np.flatnonzero(rule(made))
    return {tuple(d.codes[made.layout.codes[n, k]] for k, d in enumerate(made.dimensions)) for n in at}


def by_definition(counts: np.ndarray, k: int) -> set[tuple[str, str]]:
    """2.2: freq(p_c) - k <= freq(c), c a populated cell of a line along injury, p_c its total."""
    rows = dict(zip(GROUPS, counts, strict=True))
    return {(g, INJURY[j]) for g, r in rows.items() for j in range(4) if r[j] > 0 and r.sum() - k <= r[j]}


def test_directly_disclosive_cells() -> None:
    """2.2, Table 1: one cell for k = 0, four for k = 3, by the definition; k = 1 is the default."""
    made = table()
    for k in range(6):
        found = marked(dc.DirectDisclosure(k, sensitive=["injury"]), made)
        assert found == by_definition(TABLE_1, k)
    assert len(by_definition(TABLE_1, 0)) == 1
    assert len(by_definition(TABLE_1, 3)) == 4
    assert dc.DirectDisclosure() == dc.DirectDisclosure(1)
    assert dc.datasets.injuries().array().tolist() == TABLE_1.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_definition_in_three_dimensions(seed: int) -> None:
    """2.2: every published marginal within a sensitive variable, all pairs of cell and marginal tried."""
    x = np.random.default_rng(seed).poisson(1.2, (2, 3, 2))
    made = dc.Table.of(x, ["a", "b", "c"])
    whole = made.count.reshape(3, 4, 3)
    for k in (0, 1, 2):
        found = dc.DirectDisclosure(k)(made).reshape(3, 4, 3)
        for at in np.ndindex(3, 4, 3):
            tops = [whole[tuple(0 if d == axis else i for d, i in enumerate(at))] for axis in range(3) if at[axis]]
            assert found[at] == (whole[at] > 0 and any(t - k <= whole[at] for t in tops))


def test_unions_by_choice() -> None:
    """2.1: single values only, unless a union is named: Oslo passengers are all light or serious."""
    made = table()
    assert ("Oslo Car Passenger", "Serious") not in marked(dc.DirectDisclosure(0, sensitive=["injury"]), made)
    rule = dc.DirectDisclosure(0, sensitive=["injury"], unions={"injury": [["Light", "Serious"]]})
    shown = ~dc.protect(made, dc.Suppress(dc.DirectDisclosure(0, sensitive=["injury"]))).hidden.reshape(5, 5)
    joined = ~dc.protect(made, dc.Suppress(rule)).hidden.reshape(5, 5)
    assert shown[1].all()  # None and Unknown are 0 there: all are light or serious, and that may be known
    assert not (joined[1, 1] and joined[1, 4])  # now one of the two is hidden


def test_sensitive_variables() -> None:
    """2.2: all variables unless some are named; along the group no injury is told."""
    made = dc.Table.of([[5, 1, 0], [0, 9, 0]], ["group", "injury"])
    whole = made.count.reshape(3, 4)
    every = dc.DirectDisclosure(0)(made).reshape(3, 4)
    only = dc.DirectDisclosure(0, sensitive=["injury"])(made).reshape(3, 4)
    for at in np.ndindex(3, 4):
        along = [whole[at[0], 0]] if at[1] else []
        across = [whole[0, at[1]]] if at[0] else []
        assert only[at] == (whole[at] > 0 and any(t <= whole[at] for t in along))
        assert every[at] == (whole[at] > 0 and any(t <= whole[at] for t in along + across))


def test_nondisclosive_unknowns() -> None:
    """2.3: Unknown injury tells nothing, an unknown region identifies nobody; Bergen's passengers are excused."""
    made = table()
    rule = dc.DirectDisclosure(3, sensitive=["injury"], unknown={"injury": ["Unknown"]})
    assert marked(rule, made) == {c for c in by_definition(TABLE_1, 3) if c[1] != "Unknown"}
    rows = np.vstack([TABLE_1[:2], [1, 0, 7, 0]])
    other = table(rows, ("Oslo", "Bergen", "Unknown"))
    plain = dc.DirectDisclosure(1, sensitive=["injury"])
    excused = dc.DirectDisclosure(1, sensitive=["injury"], unknown={"group": ["Unknown"]})
    assert ("Unknown", "Serious") in marked(plain, other)
    assert ("Unknown", "Serious") not in marked(excused, other)


@pytest.mark.parametrize(("k", "rows"), [(1, [0, 2]), (3, [0, 1, 2, 3, 4])])
def test_the_rest_of_the_line_stays_unknown(k: int, rows: list[int]) -> None:
    """2.4, Figure 1 panel 3 and Table 2: totals of rows shown, and the rest of a disclosive row may be more than k."""
    counts = TABLE_1[rows]
    made = table(counts, tuple(GROUPS[i] for i in rows))
    rule = dc.DirectDisclosure(k, sensitive=["injury"], unknown={"injury": ["Unknown"]})
    done = dc.protect(made, dc.Suppress(rule))
    hidden = done.hidden.reshape(len(rows), 5)
    assert not hidden[:, 0].any()
    disclosive = rule(made).reshape(len(rows), 5)[:, 1:]
    assert (done.status.reshape(len(rows), 5)[:, 1:] == "u").tolist() == disclosive.tolist()
    for i, j in np.argwhere(disclosive):
        free = [c for c in range(4) if hidden[i, c + 1] and c != j]  # what the row leaves may lie in these
        assert free
        assert counts[i].sum() - sum(counts[i, c] for c in range(4) if not hidden[i, c + 1]) > k


def test_table_2() -> None:
    """2.4: three primaries for k = 3, each with a secondary in its own row; rows without stay as they are."""
    rule = dc.DirectDisclosure(3, sensitive=["injury"], unknown={"injury": ["Unknown"]})
    status = dc.protect(table(), dc.Suppress(rule)).status.reshape(5, 5)[:, 1:]
    assert [(i, j) for i, j in np.argwhere(status == "u")] == [(0, 2), (1, 2), (2, 2)]
    assert (status == "x").sum(axis=1).tolist() == [1, 1, 1, 0, 0]
    assert (status[3:] == "s").all()


def sums(counts: np.ndarray) -> np.ndarray:
    """The matrix X of section 3: inner cells x published cells, in the order of the table."""
    r, c = counts.shape
    grid = np.arange(r * c).reshape(r, c)
    cells = [grid.ravel(), *grid.T, *[x for row in grid for x in (row, *[[k] for k in row])]]
    return np.array([np.isin(np.arange(r * c), s) for s in cells], float).T


@pytest.mark.parametrize("seed", range(4))
def test_gaussian_elimination(seed: int) -> None:
    """3: no primary lies in the span of what is published; taking the cells in order gives the same secondaries."""
    counts = np.random.default_rng(seed).integers(1, 20, (4, 4))
    made = dc.Table.of(counts, ["a", "b"])
    rule = dc.Threshold(4)
    if not rule(made).any():
        pytest.fail("no primary cell: choose another seed")
    done = dc.protect(made, dc.Suppress(rule, singletons="none", repair="off"))
    x, hidden, primary = sums(counts), done.hidden, rule(made)
    published = x[:, ~hidden]
    rank = np.linalg.matrix_rank(published)
    for p in np.flatnonzero(primary):
        assert np.linalg.matrix_rank(np.column_stack([published, x[:, p]])) == rank + 1
    order = sorted(np.flatnonzero(~primary).tolist(), key=lambda n: -made.count[n])
    taken: list[int] = []
    for n in order:  # the sequential algorithm of section 3, by ranks
        trial = x[:, [*taken, n]]
        if all(np.linalg.matrix_rank(np.column_stack([trial, x[:, p]])) > np.linalg.matrix_rank(trial)
               for p in np.flatnonzero(primary)):  # fmt: skip
            taken.append(n)
    assert (~hidden).sum() == len(taken)
    assert sorted(made.count[taken]) == sorted(made.count[~hidden])


@pytest.mark.parametrize("seed", range(6))
def test_singletons_and_zeros(seed: int) -> None:
    """3: no primary cell follows from what is shown, by equations or by bounds; zeros are hidden only if asked."""
    counts = np.random.default_rng(seed).integers(0, 7, (4, 5))
    made = dc.Table.of(counts, ["a", "b"])
    rule = dc.Threshold(3)
    x, primary = sums(counts), rule(made)
    for zeros in (True, False):
        done = dc.protect(made, dc.Suppress(rule, zeros=zeros))
        shown = x[:, ~done.hidden]
        rank = np.linalg.matrix_rank(shown)
        for p in np.flatnonzero(primary):
            assert np.linalg.matrix_rank(np.column_stack([shown, x[:, p]])) > rank
        if not zeros:
            assert not done.hidden[made.count == 0].any()
        assert not len(dc.audit(done).primary)
    sparse = dc.Table.of([[0, 0, 4], [4, 0, 1]], ["a", "b"])
    done = dc.protect(sparse, dc.Suppress(dc.Threshold(4), zeros=True))  # by equations alone every cell would be known
    assert not len(dc.audit(done).primary)


def test_structural_zeros() -> None:
    """3: an ordinary zero may protect a neighbour, a structural one never, since everybody knows it."""
    counts = np.array([[2, 0, 9], [0, 5, 9]])
    free = dc.Table.of(counts, ["a", "b"])
    never = dc.Table.of(counts, ["a", "b"], structural=[{"a": "1", "b": "2"}])
    for made in (free, never):
        done = dc.protect(made, dc.Suppress(dc.Threshold(3), zeros=True))
        assert not (done.hidden & made.structural).any()
        assert dc.audit(done).ok
        cell = dc.audit(done).cells
        assert (cell[cell["status"] == "u"]["values"] > 1).all()


def test_rules_combine() -> None:
    """4: or, and, and a function of one's own; cell by cell."""
    made = table()
    a, b = dc.Threshold(4), dc.DirectDisclosure(1, sensitive=["injury"])
    assert ((a | b)(made) == (a(made) | b(made))).all()
    assert ((a & b)(made) == (a(made) & b(made))).all()
    large = a | (lambda t: t.count > 12)
    assert (large(made) == (a(made) | (made.count > 12))).all()


def test_hierarchical_variables() -> None:
    """4: Hurt = Light + Serious; a single value is told by the total of its group and by that of all."""
    injury = dc.Dimension.from_parents("injury", {"None": "Total", "Light": "Hurt", "Serious": "Hurt", "Hurt": "Total"})
    counts = np.array([[4, 0, 6], [0, 2, 5], [0, 0, 3]])
    made = dc.Table.of(counts, [dc.Dimension.flat("g", "xyz"), injury])
    found = marked(dc.DirectDisclosure(0, sensitive=["injury"]), made)
    leaf = list(injury.leaves)
    for g, row in zip("xyz", counts, strict=True):
        value = dict(zip(leaf, row.tolist(), strict=True))
        value["Hurt"] = value["Light"] + value["Serious"]
        value["Total"] = value["Hurt"] + value["None"]
        for part, tops in {"None": ["Total"], "Light": ["Hurt", "Total"], "Serious": ["Hurt", "Total"]}.items():
            assert ((g, part) in found) == (value[part] > 0 and any(value[t] <= value[part] for t in tops))


def test_k_zero_is_two_diversity() -> None:
    """4: for k = 0 a row is disclosive if and only if it has one value: 300 random tables."""
    rng = np.random.default_rng(9)
    for _ in range(300):
        counts = rng.poisson(0.8, (4, 3))
        made = dc.Table.of(counts, ["g", "v"])
        found = dc.DirectDisclosure(0, sensitive=["v"])(made).reshape(5, 4)
        for row, at in itertools.zip_longest(counts, found[1:]):
            assert at.any() == (np.count_nonzero(row) == 1)
