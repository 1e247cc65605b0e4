"""Ant16 sections 3.6.2 and 3.6.5, 6.3: the channel from X to Y, by listing every recategorisation of the units."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet import information, risk
from tests.papers import own

Y = tuple[int, ...]
TABLES = [([0, 2, 4], [0, 3, 3]), ([1, 2, 2], [2, 2, 1]), ([3, 0, 1], [1, 1, 2]), ([2, 3], [4, 1]), ([2, 2], [2, 2])]
UNEVEN = [([1, 2], [2, 1]), ([1, 1], [3, 0]), ([0, 2, 1], [1, 0, 1]), ([2, 1], [1, 0])]


def recategorisations(before: list[int], after: list[int]) -> tuple[Y, Iterator[Y]]:
    """X, and every Y in Omega_G: who is where afterwards, units told apart."""
    x = tuple(c for c, number in enumerate(before) for _ in range(number))
    goal = Counter({c: number for c, number in enumerate(after) if number})
    return x, (y for y in itertools.product(range(len(after)), repeat=len(x)) if Counter(y) == goal)


def mean_channel(before: list[int], after: list[int], weight: Callable[[Y, Y], float]) -> np.ndarray:
    """E(Z_ij) of (3.6.2) under a distribution R_G proportional to the weight."""
    x, every = recategorisations(before, after)
    total, mass = np.zeros((len(before), len(before))), 0.0
    for y in every:
        w = weight(x, y)
        for i, j in zip(x, y, strict=True):
            total[i, j] += w / before[i]
        mass += w
    return total / mass


def stretched(before: list[int], after: list[int]) -> tuple[list[int], list[int]]:
    """M copies of every unit before, N after (section 3.6.2.2)."""
    n, m = sum(before), sum(after)
    return [m * x for x in before], [n * x for x in after]


def fewest(before: list[int], after: list[int]) -> Callable[[Y, Y], float]:
    """Omega*_G: 1 for those that leave as many units in place as the tables allow."""
    most = sum(min(a, b) for a, b in zip(before, after, strict=True))
    return lambda x, y: float(sum(a == b for a, b in zip(x, y, strict=True)) == most)


@pytest.mark.parametrize(("before", "after"), TABLES)
def test_theorem_1(before: list[int], after: list[int]) -> None:
    """All recategorisations alike: G_j/N; Y then tells nothing."""
    found = risk.channel(before, after, over="all")
    assert np.allclose(found, mean_channel(before, after, lambda x, y: 1.0))
    assert information.conditional_entropy(np.array(before)[:, None] * found) == pytest.approx(own.entropy(before))


@pytest.mark.parametrize(("before", "after"), UNEVEN)
def test_theorem_3(before: list[int], after: list[int]) -> None:
    """The same for unequal sums: G_j/M, by copies of the units."""
    expected = mean_channel(*stretched(before, after), lambda x, y: 1.0)
    assert np.allclose(risk.channel(before, after, over="all"), expected)


@pytest.mark.parametrize(("before", "after"), TABLES)
def test_theorem_2(before: list[int], after: list[int]) -> None:
    """Those that move the fewest units; Table 3.6.1 is the first of these."""
    found = risk.channel(before, after)
    assert np.allclose(found, mean_channel(before, after, fewest(before, after)))
    assert np.allclose(found, own.nearest_channel(before, after))


def test_table_3_6_1() -> None:
    """The example: 20 variables Y, four of them nearest; E(Z_22) is 1/2 over all."""
    x, every = recategorisations([0, 2, 4], [0, 3, 3])
    kept = [sum(a == b for a, b in zip(x, y, strict=True)) for y in every]
    assert (len(kept), kept.count(max(kept))) == (20, 4)
    assert risk.channel([0, 2, 4], [0, 3, 3], over="all")[1, 1] == 0.5


@pytest.mark.parametrize(("before", "after"), UNEVEN)
def test_theorem_4(before: list[int], after: list[int]) -> None:
    """The nearest ones for unequal sums."""
    a, b = stretched(before, after)
    assert np.allclose(risk.channel(before, after), mean_channel(a, b, fewest(a, b)))


@pytest.mark.parametrize("before", [[1, 3], [2, 1, 0], [4, 5]])
@pytest.mark.parametrize("over", ["all", "nearest"])
def test_theorems_5_and_6(before: list[int], over: Literal["all", "nearest"]) -> None:
    """The mean over the tables that random rounding gives, each with its probability."""
    total = np.zeros((len(before), len(before)))
    for g, p in own.roundings(before):
        if not any(g):
            z = np.where(np.array(before)[:, None] > 0, 1 / len(before), np.zeros((len(before), 1)))
        elif over == "all":
            z = np.where(np.array(before)[:, None] > 0, np.array(g) / sum(g), 0.0)
        else:
            z = own.nearest_channel(before, g)
        total += p * z
    assert np.allclose(risk.expected_channel(before, dc.Transition.rounding(3), over=over), total)


@pytest.mark.parametrize("theta", [0.0, 0.7, 5.0])
@pytest.mark.parametrize(("before", "after"), TABLES)
def test_another_distribution_of_recategorisations(before: list[int], after: list[int], theta: float) -> None:
    """Section 6.3, topic 1: R_G that falls with the number of units moved; theta = 0 is Theorem 1."""

    def moved(x: Y, y: Y) -> float:
        return math.exp(-theta * sum(a != b for a, b in zip(x, y, strict=True)))

    found = risk.channel(before, after, over=lambda m: math.exp(-theta * (m.sum() - np.trace(m))))
    assert np.allclose(found, mean_channel(before, after, moved))
    if theta == 0:
        assert np.allclose(found, risk.channel(before, after, over="all"))


def test_what_is_no_distribution_is_refused() -> None:
    """A weight below 0, weights of nothing, unequal sums, an unknown name."""
    over: Any
    for over in (lambda m: -1.0, lambda m: 0.0, lambda m: math.nan, "some"):
        with pytest.raises(dc.InputError):
            risk.channel([1, 2], [2, 1], over=over)
    with pytest.raises(dc.InputError, match="equal"):
        risk.channel([1, 2], [2, 2], over=lambda m: 1.0)


# -- pre-tabular methods -----------------------------------------------------------------------------------------


def people(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    area = rng.integers(0, 4, n)
    return pd.DataFrame(
        {"id": range(n), "area": area.astype(str), "faith": ((rng.random(n) ** 2 * 3).astype(int)).astype(str)}
    )


def by_hand(before: pd.DataFrame, after: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Joint numbers of records by cell before and after, and the two tables."""
    a, b = (f["area"].astype(int).to_numpy() * 3 + f["faith"].astype(int).to_numpy() for f in (before, after))
    joint = np.zeros((12, 12))
    for i, j in zip(a, b, strict=True):
        joint[i, j] += 1
    return joint, joint.sum(axis=1), joint.sum(axis=0)


@pytest.mark.parametrize("method", [dc.Swap("area", rate=0.1, seed=3), dc.Pram("faith", stay=0.7, seed=3)])
def test_moves_of_a_pre_tabular_method(method: dc.Swap | dc.Pram) -> None:
    """Section 3.6.5: stayed, tables and channel counted record by record; R2 with the exact channel."""
    frame = people(300, 1)
    data = dc.Microdata.of(frame, dimensions=["area", "faith"], unit="id")
    changed = method(data)
    found = dc.moves(data, changed, ["area", "faith"])
    after = own.records(changed, "id", "area", "faith").set_index("id").loc[frame["id"]]
    joint, f, g = by_hand(frame, after)
    assert found.before.ravel().tolist() == f.tolist()
    assert found.after.ravel().tolist() == g.tolist()
    assert found.stayed.ravel().tolist() == np.diag(joint).tolist()
    exact = np.divide(joint, f[:, None], out=np.zeros_like(joint), where=f[:, None] > 0)
    assert np.allclose(found.channel, exact)
    ours = dc.r2(found.before, found.after, channel=found.channel)
    h, unknown = own.entropy(f), own.left_unknown(f, exact)
    assert ours.terms["entropy"] == pytest.approx((1 - h / math.log(12)) * (1 - unknown / h))
    assert ours.value == pytest.approx(own.weighted([ours.terms["zeros"], ours.terms["entropy"], own.terms(f)[2]]))
    assert ours.terms["zeros"] == pytest.approx(own.terms(f.astype(int), g.astype(int))[0])
    assert dc.r2(found.before, found.after).terms["entropy"] == pytest.approx(
        own.terms(f.astype(int), g.astype(int))[1]
    )


def test_gad_from_microdata() -> None:
    """PSD14 section 4: lines whose only cell keeps the same people, straight from the records before and after."""
    frame = pd.DataFrame({"id": range(9), "area": list("aaabbbccc"), "faith": list("xxxyyyxyx")})
    other = frame.assign(area=list("aaabbaccb"))
    before, after = (dc.Microdata.of(f, dimensions=["area", "faith"], unit="id") for f in (frame, other))
    found = dc.moves(before, after, ["area", "faith"])
    share = risk.gad(found.before, found.after, found.stayed)
    assert (share.kept, share.at_risk) == (0, 2)  # a: somebody came, b: somebody went
    same = dc.moves(before, before, ["area", "faith"])
    assert risk.gad(same.before, same.after, same.stayed).value == 1
    shuffled = dc.Microdata.of(frame.sample(frac=1, random_state=1), dimensions=before.dimensions, unit="id")
    assert dc.moves(before, shuffled, ["area", "faith"]).stayed.tolist() == same.before.tolist()
    with pytest.raises(dc.InputError):
        dc.moves(
            before, dc.Microdata.of(frame.assign(id=range(1, 10)), dimensions=before.dimensions, unit="id"), "area"
        )
    with pytest.raises(dc.InputError):
        dc.moves(before, dc.Microdata.of(frame[:8], dimensions=before.dimensions, unit="id"), "area")


def test_wrong_channels_are_refused() -> None:
    """Shape, rows that do not sum to 1, more than one table."""
    for wrong in (np.eye(2), np.full((3, 3), 0.5)):
        with pytest.raises(dc.InputError):
            dc.r2([0, 2, 4], [0, 3, 3], channel=wrong)
    with pytest.raises(dc.InputError):
        dc.r2([[0, 2], [2, 2]], [[0, 2], [2, 2]], axis=1, channel=np.eye(2))


@pytest.mark.parametrize("before", [[2, 1], [1, 2, 1], [0, 3, 1]])
def test_probability_of_a_table_under_pram(before: list[int]) -> None:
    """(6.3.2): the sum over all matrices of who went where; and over every unit's own choice."""
    k = len(before)
    p = np.random.default_rng(k).dirichlet(np.ones(k), k)
    x, chance = tuple(c for c, n in enumerate(before) for _ in range(n)), Counter[tuple[int, ...]]()
    for y in itertools.product(range(k), repeat=len(x)):
        chance[tuple(y.count(c) for c in range(k))] += math.prod(p[i, j] for i, j in zip(x, y, strict=True))
    for g, expected in chance.items():
        assert risk.pram_probability(before, g, p) == pytest.approx(expected)
        total = 0.0
        for matrix in own.with_margins(before, g):
            ways = [math.factorial(sum(r)) / math.prod(map(math.factorial, r)) for r in matrix]
            total += math.prod(ways) * math.prod(p[i, j] ** n for i, r in enumerate(matrix) for j, n in enumerate(r))
        assert total == pytest.approx(expected)
        mean = np.array(before) @ p
        poisson = math.prod(math.exp(-m) * m**c / math.factorial(c) for m, c in zip(mean, g, strict=True))
        assert risk.pram_probability(before, g, p, model="poisson") == pytest.approx(poisson)
    assert sum(chance.values()) == pytest.approx(1)
    assert risk.pram_probability(before, [x + 1 for x in before], p) == 0


def test_error_of_an_estimated_population() -> None:
    """(6.3.5) and (6.3.6) as the appendix proves it: the difference is what it is, and never above the bound."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        f = rng.poisson(rng.gamma(0.7, 8, 6)) + np.array([1, 1, 0, 0, 0, 0])
        guess = np.maximum(f + rng.integers(-4, 5, 6), 0) + np.array([1, 1, 0, 0, 0, 0])
        g = np.maximum(f + rng.integers(-4, 5, 6), 0)
        if not g.any():
            continue
        found = risk.estimation_error(f, guess, g)
        true, other = own.terms(f, g), own.terms(guess, g)
        assert found.zeros == pytest.approx(abs(true[0] - other[0]), abs=1e-12)
        assert found.entropy == pytest.approx(abs(true[1] - other[1]), abs=1e-9)
        h, h2 = own.entropy(f), own.entropy(guess)
        c, c2 = (own.left_unknown(t, own.nearest_channel(t, g)) for t in (f, guess))
        e1, e2 = abs(h - h2), abs(c - c2)
        assert found.bound == pytest.approx((e1 + e2) / h2 + e1 * (h - c) / (h * h2))
        assert found.entropy <= found.bound + 1e-12
