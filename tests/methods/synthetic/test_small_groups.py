"""Large counts of three variables that would break down a small group are not measured, nor what would follow."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import discreet as dc
from discreet.data.dimension import Dimension
from discreet.methods.keys import Secret
from discreet.methods.synthetic.crossing import InnerCells, crossings
from discreet.methods.synthetic.noisy_margins import Measurement, NoisyMargin, keyed_noise
from discreet.tables.table import Table


def margins(counts: np.ndarray, group: float, dimensions: list[Dimension] | None = None) -> list[NoisyMargin]:
    cells = InnerCells.of(Table.of(counts, dimensions or ["a", "b", "c"]))
    how = Measurement(v=3.0, large=50, zero=3, group=group)
    return how.margins(cells, crossings(cells.dimensions, 3), keyed_noise(3.0, Secret(b"sixteen bytes or more")))


def measured(counts: np.ndarray, group: float, dimensions: list[Dimension] | None = None) -> np.ndarray:
    """Which cells of the finest three-way table are measured."""
    (three,) = [m for m in margins(counts, group, dimensions) if m.crossing.shape == counts.shape]
    return (three.weight > 0).reshape(counts.shape)


def test_without_a_group_every_large_count_is() -> None:
    counts = np.full((3, 3, 3), 400)
    counts[0, 0, 0] = 7
    kept = measured(counts, 0)
    assert not kept[0, 0, 0]
    assert kept.sum() == 26


def test_no_two_codes_of_few_people_are_broken_down() -> None:
    counts = np.full((3, 4, 5), 900)
    counts[0, 0] = 300  # 1,500 people of both, each code of whom has many more
    kept = measured(counts, 2000)
    assert not kept[0, 0].any()
    gone = (~kept).all(axis=2)
    assert gone.sum() == 4  # with one other code of each variable, so that no line leads to it
    assert (kept.any(axis=2) == ~gone).all()
    assert kept[~gone].all()


def test_the_rest_of_a_line_is_no_small_group() -> None:
    """One small category alone would be what the measured ones leave of the sum of the others."""
    counts = np.full((2, 2, 5), 3000)
    counts[:, :, 4] = 200
    kept = measured(counts, 2000)
    assert not kept[:, :, 4].any()
    assert ((~kept).sum(axis=2) >= 2).all()  # another one with it
    assert kept.any()


@pytest.mark.parametrize("seed", range(6))
def test_what_is_left_of_a_line_has_enough_people_or_nobody(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(2, 6, 3))
    sizes = [rng.pareto(1.0, n) + 0.05 for n in shape]
    counts = rng.poisson(40_000 * np.einsum("i,j,k->ijk", *(one / one.sum() for one in sizes)))
    made = margins(counts, 2000)
    goals = {m.crossing.axes: m.goal.reshape(m.crossing.shape) for m in made}
    kept = measured(counts, 2000)
    for a, b in itertools.combinations(range(3), 2):
        people = np.expand_dims(goals[a, b], 3 - a - b)
        assert not (kept & (people < 2000)).any()
        for axis in (a, b):
            rest = np.where(kept, 0, people).sum(axis=axis)
            assert not (kept.any(axis=axis) & (rest > 0) & (rest < 2000)).any()


def ranks(rows: list[np.ndarray], cells: np.ndarray) -> int:
    """How many independent sums of some cells follow from rows."""
    held, each = np.array(rows), np.eye(len(rows[0]))[cells]
    rank = np.linalg.matrix_rank
    return int(rank(held) + len(cells) - rank(np.concatenate([held, each])))


@pytest.mark.parametrize("seed", range(8))
def test_no_sum_of_a_small_group_follows_by_any_equations(seed: int) -> None:
    """Not only along one line: by linear algebra over all two-way counts and all that is measured."""
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(2, 6, 3))
    sizes = [rng.dirichlet(np.full(n, 0.8)) + 0.02 for n in shape]
    shares = np.einsum("i,j,k->ijk", *(one / one.sum() for one in sizes)) * rng.choice([0.1, 1, 1], shape)
    counts = rng.poisson(200_000 * shares)
    goals = {m.crossing.axes: m.goal.reshape(m.crossing.shape) for m in margins(counts, 2000)}
    kept, number = measured(counts, 2000), np.arange(counts.size).reshape(shape)
    assert kept.any()
    each, pairs = np.eye(counts.size), list(itertools.combinations(range(3), 2))
    known = [each[line].sum(axis=0) for k in range(3) for line in np.moveaxis(number, k, -1).reshape(-1, shape[k])]
    for a, b in pairs:
        known += [each[n] for n in number[np.broadcast_to(np.expand_dims(goals[a, b] <= 0, 3 - a - b), shape)]]
    told = known + [each[n] for n in number[kept]]
    for a, b in pairs:
        for i, j in np.argwhere((goals[a, b] > 0) & (goals[a, b] < 2000)):
            cells = np.moveaxis(number, 3 - a - b, -1)[i, j]
            assert ranks(told, cells) == ranks(known, cells)


def test_the_rest_of_a_group_of_a_coarser_level_is_no_small_group() -> None:
    """A region of two counties, one of them small: the other would tell it, since the region is measured."""
    county = Dimension.from_parents("county", {"N1": "N", "N2": "N", "S1": "S", "S2": "S"})
    counts = np.full((4, 2, 2), 5000)
    counts[1] = 300
    kept = measured(counts, 2000, [county, Dimension.flat("b", "xy"), Dimension.flat("c", "xy")])
    assert not kept[:2].any()
    assert kept[2:].all()


def test_a_policy_takes_it() -> None:
    text = '[[before]]\nname = "synthetic"\ngroup = 300\nseed = 1\n'
    assert dc.policy.parse_policy(text).before[0][1]["group"] == 300
    with pytest.raises(dc.InputError, match="group"):
        dc.Synthetic(group=-1, seed=1)


def test_three_variables_that_depend_on_each_other_tell_nothing_of_a_small_group_by_default() -> None:
    """Which of two codes somebody has follows from the other two variables together, and from none of them alone."""
    area, sex, job = np.ix_(range(3), range(2), range(2))
    counts = np.where(area < 2, 5000, np.where((area + sex + job) % 2 == 0, 405, 45))
    table = Table.of(counts, ["area", "sex", "job"])  # 450 people of each sex in the last area
    true = counts[2]
    told = dc.Synthetic(group=0, seed=3).drawn(table).reshape(counts.shape)[2]
    kept = dc.Synthetic(seed=3).drawn(table).reshape(counts.shape)[2]
    assert (np.abs(told - true)[true > 400] < 20).all()
    assert (np.abs(kept - 225) < 40).all()  # what two-way tables tell
