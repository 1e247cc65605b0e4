"""Likely ranges hold the truth as often as they say, for every method that serves tables: by repetition."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.base.annotations import Array
from discreet.methods.likely import cell_noise, law_of
from discreet.methods.synthetic.crossing import crossings, measured_sets
from discreet.release.noise_law import LEVEL, FittedNoise, ShownCells
from discreet.risk.transition import Transition

SECRET = "sixteen bytes or more of a secret"
METHODS: dict[str, Callable[[int], Any]] = {
    "cell-key": lambda seed: dc.CellKey(2, 1, seed=seed),
    "cell-key js": lambda seed: dc.CellKey(5, 3, js=2, seed=seed),
    "cell-key zeros": lambda seed: dc.CellKey(3, 2, zeros=0.1, seed=seed),
    "round": lambda seed: dc.Round(5),
    "random-round 3": lambda seed: dc.RandomRound(3, seed=seed),
    "random-round 10": lambda seed: dc.RandomRound(10, seed=seed),
    "semi-controlled 3": lambda seed: dc.SemiControlledRound(3, seed=seed),
    "semi-controlled 10": lambda seed: dc.SemiControlledRound(10, seed=seed, unbiased=True),
    "semi-controlled by a": lambda seed: dc.SemiControlledRound(5, control="a", seed=seed),
    "controlled": lambda seed: dc.ControlledRound(5),
    "small counts 3": lambda seed: dc.SmallCountRound(3, seed=seed),
    "small counts 10": lambda seed: dc.SmallCountRound(10, seed=seed),
    "barnard": lambda seed: dc.Barnard(0.6, seed=seed),
    "midpoint": lambda seed: dc.MidpointRound(6),
    "synthetic": lambda seed: dc.Synthetic(seed=seed),
    "synthetic v": lambda seed: dc.Synthetic(v=20, seed=seed),
    "discrete-gaussian": lambda seed: dc.DiscreteGaussian(rho=1, seed=seed),
    "discrete-gaussian 3": lambda seed: dc.DiscreteGaussian(rho=0.3, order=3, seed=seed),
}


def tables(number: int) -> Iterator[dc.Table]:
    """Sparse to dense counts whose variables all interact, so that no model of two-way margins is right."""
    for seed in range(number):
        rng = np.random.default_rng(seed)
        size = rng.choice([0.5, 3, 20, 200])
        yield dc.Table.of(rng.poisson(size * rng.gamma(1, 1, (6, 5, 4))), ["a", "b", "c"])


def ranges(method: Any, table: dc.Table) -> tuple[Array, Array, Array]:
    """What is shown, and the likely least and greatest values."""
    shown = np.asarray(dc.protect(table, method).published["count"], float)
    law = law_of(method, table.dimensions)
    assert law is not None
    low, high = law.ranges(ShownCells(table.dimensions, table.layout.codes, shown))
    return shown, low, high


@pytest.mark.parametrize("name", METHODS)
def test_a_range_holds_the_truth_nine_times_in_ten(name: str) -> None:
    """Of all cells together, and of totals, margins and inner cells each by themselves."""
    held: dict[int, list[bool]] = {}
    for seed, table in enumerate(tables(16)):
        shown, low, high = ranges(METHODS[name](seed), table)
        true = table.count
        crossed = ShownCells(table.dimensions, table.layout.codes, shown).crossed.sum(axis=1)
        inside = (low <= true) & ((true <= high) | np.isnan(high))
        assert (low <= shown).all()
        assert ((shown <= high) | np.isnan(high)).all()
        for order, is_inside in zip(crossed.tolist(), inside.tolist(), strict=True):
            held.setdefault(order, []).append(is_inside)
    for order, hits in held.items():
        slack = 2.5 * np.sqrt(LEVEL * (1 - LEVEL) / len(hits))  # of the repetition
        assert np.mean(hits) >= LEVEL - slack, f"cells of {order} variables"
    assert np.mean([hit for hits in held.values() for hit in hits]) >= LEVEL


@pytest.mark.parametrize("name", ["cell-key", "random-round 3", "semi-controlled 3", "synthetic"])
def test_the_range_of_a_percentage_follows_from_both_numbers(name: str) -> None:
    """Least part of the greatest whole to greatest part of the least, as the page has it: nine times in ten."""
    hits: list[bool] = []
    for seed, table in enumerate(tables(12)):
        shown, low, high = ranges(METHODS[name](seed), table)
        codes = table.layout.codes
        cells = ShownCells(table.dimensions, codes, shown)
        wholes = [dataclasses.replace(cells, values=side).summed_over(2) for side in (shown, low, high)]
        true_whole = dataclasses.replace(cells, values=table.count.astype(float)).summed_over(2)
        use = (codes[:, 2] > 0) & (true_whole > 0) & (wholes[1] > 0) & np.isfinite(high)
        share = table.count[use] / true_whole[use]
        least, most = low[use] / wholes[2][use], np.minimum(high[use] / wholes[1][use], 1)
        hits += ((least <= share) & (share <= most)).tolist()
    assert len(hits) > 200
    assert np.mean(hits) >= LEVEL


@pytest.mark.parametrize("name", METHODS)
def test_the_range_of_a_sum_holds_the_truth_nine_times_in_ten(name: str) -> None:
    """Of readers' groups: some codes of one variable, at a code or the total of the others, and all cells below."""
    hits: dict[str, list[bool]] = {}
    for seed, table in enumerate(tables(12)):
        method, codes, rng = METHODS[name](seed), table.layout.codes, np.random.default_rng(seed)
        shown = np.asarray(dc.protect(table, method).published["count"], float)
        cells = ShownCells(table.dimensions, codes, shown)
        law = law_of(method, table.dimensions)
        assert law is not None
        errors, own = law.errors(cells), law.ranges(cells)
        assert errors is not None
        for kind in ("margin", "line", "inner") * 12:
            axis = int(rng.integers(3))
            others = [one for one in range(3) if one != axis]
            group = 1 + rng.choice(6 - axis, rng.integers(2, 7 - axis), replace=False)
            line = [0, 0] if kind == "margin" else [int(rng.integers(7 - one)) for one in others]
            beside = (codes[:, others] > 0).all(axis=1) if kind == "inner" else (codes[:, others] == line).all(axis=1)
            which = np.flatnonzero(beside & np.isin(codes[:, axis], group))
            low, high = errors.range_of(which, shown, own, whole=True)
            assert low <= shown[which].sum()
            assert not high < shown[which].sum()
            hits.setdefault(kind, []).append(low <= table.count[which].sum() and not table.count[which].sum() > high)
    for kind, some in hits.items():
        assert np.mean(some) >= LEVEL, kind


def test_ends_of_ranges_are_not_added_up_where_noise_is_mostly_none() -> None:
    """Ten numbers that are each left alone nine times in ten have ranges of one number; their sum has not."""
    transition = Transition([[1, 0, 0, 0], [0.05, 0.9, 0.05, 0], [0, 0.05, 0.9, 0.05]])
    law = cell_noise(transition)
    sex = dc.Dimension.flat("sex", "fm")
    true = np.full(40, 7)
    for size, seed in ((10, 1), (40, 2)):
        shown = transition.sample(np.tile(true[:size], (400, 1)), np.random.default_rng(seed)).astype(float)
        ends = within = 0
        for line in shown:
            cells = ShownCells((sex,), np.zeros((size, 1), int), line)
            errors, own = law.errors(cells), law.ranges(cells)
            assert errors is not None
            low, high = errors.range_of(np.arange(size), line, own, whole=True)
            within += low <= true[:size].sum() <= high
            ends += own[0].sum() <= true[:size].sum() <= own[1].sum()
        assert ends < 0.6 * len(shown)
        assert within >= LEVEL * len(shown)


@pytest.mark.parametrize(
    "transition", [Transition.rounding(3), Transition.rounding(10), dc.CellKey(2, 1, seed=1).transition()]
)
def test_the_chance_of_every_count_is_in_its_ranges(transition: Transition) -> None:
    """Computed, not drawn: for each true count the outcomes whose range holds it have 90 % of its chance."""
    law = cell_noise(transition)
    sex = dc.Dimension.flat("sex", "fm")
    for count in range(60):
        shown, chance = (np.array(side) for side in zip(*transition.outcomes(count), strict=True))
        low, high = law.ranges(ShownCells((sex,), np.zeros((len(shown), 1), int), shown.astype(float)))
        assert chance[(low <= count) & (count <= high)].sum() >= LEVEL - 1e-9


def test_ranges_are_narrow_enough_to_be_of_use() -> None:
    """Cell keys of d=2 reach 2 at most, rounding to base 3 less than 3, the total that is kept half a base."""
    table = next(tables(1))
    for method, most in ((dc.CellKey(2, 1, seed=1), 4), (dc.RandomRound(3, seed=1), 4), (dc.Synthetic(seed=1), 8)):
        _, low, high = ranges(method, table)
        of_few = ShownCells(table.dimensions, table.layout.codes, low).crossed.sum(axis=1) <= 2
        assert (high - low)[of_few].max() <= most
    shown, low, high = ranges(dc.SemiControlledRound(3, seed=1), table)
    assert (high - low)[0] == 2
    assert shown[0] == dc.SemiControlledRound(3, seed=1)(table).published["count"][0]


def test_what_is_measured_is_what_the_method_measures() -> None:
    """The sets of names come from the sizes of levels alone and agree with the margins that are fitted."""
    dimensions = dc.datasets.census(100).dimensions
    for order in (1, 2, 3):
        fitted = crossings(dimensions, order)
        sets, number = measured_sets(dimensions, order)
        assert number == len(fitted)
        together = {frozenset(dimensions[a].name for a in one.axes) for one in fitted}
        assert sets <= together
        assert {names for names in together if len(names) <= 2} <= sets


def test_methods_that_say_nothing_have_no_range() -> None:
    """Swapped records, and invariant noise whose matrix is a secret of the data."""
    assert law_of(dc.Swap("a", seed=1), ()) is None
    assert law_of(dc.Stochastic(seed=1), ()) is None
    assert law_of(dc.OpenSAFELY(), ()) is None
    assert law_of(dc.NHS(), ()) is not None


POLICIES = {
    "rounding": '[[method]]\nname = "random-round"\nbase = 5\nseed = 1',
    "synthetic": '[[before]]\nname = "synthetic"\nseed = 1',
    "suppression": (
        'secret = { env = "DISCREET_TEST_SECRET" }\n[[rule]]\nrule = "threshold"\nn = 5\n[[method]]\nname = "suppress"'
    ),
}


@pytest.mark.parametrize("name", POLICIES)
def test_answers_have_ranges_that_hold_the_truth(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a policy, with a filter: hidden cells have none, and the filter counts as a variable."""
    monkeypatch.setenv("DISCREET_TEST_SECRET", SECRET)
    people = dc.datasets.census(3_000)
    policy = dc.policy.parse_policy(POLICIES[name])
    for query in ("sex, age", dc.policy.Query.of("age", where={"region": ("R1",)})):
        release = dc.answer(people, query, policy)
        likely = release.likely()
        assert likely is not None
        low, high = likely
        gone = np.isnan(release.values["count"])
        assert (np.isnan(low) == gone).all()
        assert np.isnan(high[gone]).all()
        truth = dc.answer(people, query, dc.policy.parse_policy('publish = "as it is"'))
        true = truth.values["count"]
        assert ((low <= true) & (true <= high))[~gone].mean() >= 0.85
        if name == "suppression":
            assert (low[~gone] == true[~gone]).all()
            assert (high[~gone] == true[~gone]).all()


def test_a_policy_that_states_no_quality_states_no_range() -> None:
    """Ranges tell the parameters of the noise; ``told = "none"`` keeps both back."""
    people = dc.datasets.census(500)
    quiet = dc.policy.parse_policy(f'[utility]\ntold = "none"\n{POLICIES["rounding"]}')
    assert dc.answer(people, "sex", quiet).likely() is None


def test_a_law_holds_no_secret() -> None:
    """What a release carries pickles without key, seed or secret of its method."""
    table = next(tables(1))
    for method in (dc.CellKey(2, 1, secret=SECRET), dc.Synthetic(secret=SECRET)):
        text = pickle.dumps(law_of(method, table.dimensions))
        assert SECRET.encode() not in text
        assert b"ecret" not in text


def test_a_modelled_count_is_no_greater_than_its_margins() -> None:
    """Small counts of three variables: from none to what was not measured, and to the least margin shown."""
    names = ["a", "b", "c"]
    sets = frozenset(frozenset(some) for n in (1, 2, 3) for some in itertools.combinations(names, n))
    law = FittedNoise(3.0, 3, 50.0, sets)
    counts = np.array([[[5, 400], [30, 2]], [[0, 300], [700, 90]]])
    table = dc.Table.of(counts, names)
    cells = ShownCells(table.dimensions, table.layout.codes, table.count.astype(float))
    low, high = law.ranges(cells)
    at = {codes: k for k, codes in enumerate(map(tuple, table.layout.codes.tolist()))}
    assert (low[at[1, 1, 1]], high[at[1, 1, 1]]) == (0, 5 + law.reach)  # with 0 in the other half of its margin
    assert (low[at[2, 2, 2]], high[at[2, 2, 2]]) == (90 - law.reach, 90 + law.reach)
    assert np.isnan(law.ranges(dataclasses.replace(cells, values=np.full(len(table), np.nan)))).all()
