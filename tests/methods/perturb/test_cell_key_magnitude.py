"""The cell key method for magnitudes: bounded, unbiased, by the keys of those who give something."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc

SECRET = "sixteen letters!"


def firms(top: int = 3) -> dc.Table:
    data = dc.datasets.business(2000)
    return dc.tabulate(data, by=["region", "size"], value="turnover", top=top)


def test_the_multiplier() -> None:
    """p[0] up to the flex point, p[1] in the end, falling in between, never above p[0]."""
    method = dc.CellKeyMagnitude(flex=100, p=(0.3, 0.05), q=3, d=2)
    x = np.geomspace(1, 1e8, 200)
    m = method.multiplier(x)
    assert np.allclose(m[x <= 100], 0.3)
    assert m[-1] == pytest.approx(0.05, rel=1e-3)
    assert (np.diff(m) <= 1e-12).all()
    assert dc.CellKeyMagnitude(flex=100, p=(0.3, 0.25), q=2, d=2).multiplier(x).max() <= 0.3
    # x = 3 z: p1 (1 + (3 p0 - p1) / p1 (2 / 4)^3)
    assert method.multiplier(300.0) == pytest.approx(0.05 * (1 + (0.9 - 0.05) / 0.05 / 8))


@pytest.mark.parametrize("epsilon", [(1.0,), (1.0, 0.5, 0.2)])
def test_magnitudes_bounded_and_never_negative(epsilon: tuple[float, ...]) -> None:
    """|noise| <= d times the multiplied contributions; the stated bounds hold the truth; empty cells stay empty."""
    table = firms()
    method = dc.CellKeyMagnitude(flex=500, epsilon=epsilon, seed=1)
    made = dc.protect(table, method)
    shown, true = made.published[table.measure], table.value
    top = np.nan_to_num(table.contributions.value * table.contributions.weight)
    size = sum(w * method.multiplier(top[:, k]) * top[:, k] for k, w in enumerate(epsilon))
    assert (np.abs(shown - true) <= method.d * size + 10.0**-3).all()
    assert (shown >= 0).all()
    assert (shown[true == 0] == 0).all()
    assert (made.room.lower <= true).all()
    assert (made.room.upper >= true).all()
    assert (shown != true)[true > 0].mean() > 0.9


def test_own_noise_follows_a_large_amount_through_its_cells() -> None:
    """Cells of the same largest amount have noise that correlates, of variance 1 still; below flex it is as without."""
    frame = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "v"], "amount": [9000, 100, 100, 100]})
    data = dc.Microdata.of(frame, dimensions=["a", "b"], magnitudes=["amount"])
    tables = [dc.tabulate(data, by, value="amount") for by in ("a", "b")]

    def noise(own: float, cell: int, flex: float = 500) -> np.ndarray:
        made = [[dc.CellKeyMagnitude(flex=flex, own=own, seed=s)(t) for t in tables] for s in range(1500)]
        shown = np.array([[one.published["amount"][cell] - one.table.value[cell] for one in pair] for pair in made])
        return shown / (dc.CellKeyMagnitude(flex=flex).multiplier(9000) * 9000)

    shared = noise(0.8, 1)
    assert np.corrcoef(shared.T)[0, 1] == pytest.approx(0.8, abs=0.05)
    assert abs(np.corrcoef(noise(0.0, 1).T)[0, 1]) < 0.1
    assert shared.mean() == pytest.approx(0, abs=0.1)
    assert shared.var() == pytest.approx(1, abs=0.12)
    assert abs(np.corrcoef(noise(0.8, 1, flex=9000).T)[0, 1]) < 0.1
    with pytest.raises(dc.InputError, match="own"):
        dc.CellKeyMagnitude(own=0.95, seed=1)


def test_magnitude_noise_is_unbiased_with_the_stated_variance() -> None:
    """Over many seeds: mean 0 and variance (m x)² for the largest contribution."""
    table = firms(1)
    method = dc.CellKeyMagnitude(flex=500)
    top = np.nan_to_num(table.contributions.value * table.contributions.weight)[:, 0]
    scale = np.maximum(method.multiplier(top) * top, 1e-9)
    z = np.array(
        [
            (dc.CellKeyMagnitude(flex=500, seed=s)(table).published[table.measure] - table.value) / scale
            for s in range(400)
        ]
    )
    z = z[:, top > 100]
    assert abs(z.mean()) < 0.02
    assert abs(z.var() - 1) < 0.05


def test_extra_noise_for_sensitive_cells() -> None:
    """mu adds to the size of the noise, where the rule says so."""
    table = firms(1)

    def few(t: dc.Table) -> Any:
        return t.contributions.count < 5

    method = dc.CellKeyMagnitude(seed=1, d=2, p=(0.25, 0.05), mu=1.0, mu_rule=few)
    top = np.nan_to_num(table.contributions.value * table.contributions.weight)[:, 0]
    moved = np.abs(method(table).published[table.measure] - table.value)
    units = method.multiplier(top) * top
    assert (moved[few(table)] >= units[few(table)] - 1).all()  # the rounding to whole numbers
    assert (moved <= np.where(few(table), 3, 2) * units + 1).all()
    assert (moved < units)[~few(table)].any()


def test_noise_of_two_sizes_is_not_the_same_noise_twice() -> None:
    """Who has a cell under two policies, of two roles, cannot subtract one size of noise from the other."""
    table, sizes = firms(1), (0.25, 0.1)
    held, told = table.value > 0, []
    unit = 0.25 * (table.contributions.value * table.contributions.weight)[held, 0]
    for seed in range(60):
        one, other = (dc.CellKeyMagnitude(seed=seed, p=(p, p))(table).published[table.measure] for p in sizes)
        told.append(((other * 0.25 - one * 0.1) / 0.15 - table.value)[held] / unit)
    assert np.mean(np.abs(told) < 0.1) < 0.1


def test_noise_has_no_steps() -> None:
    """A lone contribution that is a round number is not the one of few candidates that is round."""
    frame = pd.DataFrame({"area": [f"A{k}" for k in range(300)], "pay": 50_000, "id": range(300)})
    data = dc.Microdata.of(frame, dimensions=["area"], unit="id", magnitudes=["pay"], secret=SECRET)
    table = dc.tabulate(data, "area", value="pay")
    shown = dc.CellKeyMagnitude(flex=1e6, p=(0.25, 0.05))(table).published["pay"][table.is_inner]
    assert len(np.unique(shown)) > 290  # with steps of an eighth there would be 33
    assert (np.abs(shown - 50_000) <= 25_000).all()


def test_small_contributions_get_the_noise_of_the_separation_point() -> None:
    """Sums of many small amounts move by p0 times the separation point; none turns negative."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"area": rng.choice([f"A{k}" for k in range(400)], 8000), "pay": rng.integers(1, 10, 8000)})
    data = dc.Microdata.of(
        frame.assign(id=range(8000)), dimensions=["area"], unit="id", magnitudes=["pay"], secret=SECRET
    )
    table = dc.tabulate(data, "area", value="pay")
    method = dc.CellKeyMagnitude(flex=1000, separation=100, p=(0.25, 0.05))
    made = dc.protect(table, method)
    shown, true = made.published["pay"], table.value
    inner = table.is_inner
    units = np.minimum(25.0, true / 2)  # as much as the cell can bear: d is 2
    moved = (shown - true)[inner] / units[inner]
    assert abs(moved.mean()) < 0.15
    assert moved.var() == pytest.approx(1, abs=0.2)
    assert (shown >= 0).all()
    assert (np.abs(shown - true) <= 2 * units + 1).all()
    assert (made.room.lower <= true).all()
    assert (made.room.upper >= true).all()


def test_odd_numbers_of_contributors_are_moved_by_half_a_unit() -> None:
    """With parity, and with the stated variance all the same."""
    table = firms(1)
    top = np.nan_to_num(table.contributions.value * table.contributions.weight)[:, 0]
    odd = (table.contributions.count % 2 == 1) & (top > 100)
    units = []
    for seed in range(200):
        method = dc.CellKeyMagnitude(flex=500, parity=True, seed=seed)
        units.append((method(table).published[table.measure] - table.value)[odd] / (method.multiplier(top) * top)[odd])
    assert (np.abs(units) >= 0.5 - 1e-3).all()
    assert np.var(units) == pytest.approx(1, abs=0.05)


def test_records_that_give_nothing_change_no_noise() -> None:
    """The zero rule: a sum shows the same value with and without those who have 0; each magnitude its own noise."""
    rng = np.random.default_rng(2)
    pay = rng.integers(1, 900, 500)
    some = pd.DataFrame({"area": rng.choice(["N", "S"], 500), "pay": pay, "tax": pay, "id": range(500)})
    more = pd.concat([some, pd.DataFrame({"area": ["N"] * 40, "pay": 0, "tax": 0, "id": range(500, 540)})])
    shown = {}
    for name, frame in {"some": some, "more": more}.items():
        data = dc.Microdata.of(frame, dimensions=["area"], unit="id", magnitudes=["pay", "tax"], secret=SECRET)
        for value in ("pay", "tax"):
            table = dc.tabulate(data, "area", value=value)
            shown[name, value] = dc.CellKeyMagnitude(flex=500)(table).published[value].tolist()
    assert shown["some", "pay"] == shown["more", "pay"]
    assert shown["some", "pay"] != shown["some", "tax"]


def test_with_zero_keys_equal_sums_prove_nothing() -> None:
    """Those by whom two cells differ have nothing, and the sums differ all the same; of the same people they do not."""
    frame = pd.DataFrame({"pair": ["a"] * 50 + ["b"], "pay": [*range(1, 51), 0], "all": "x", "id": range(51)})
    data = dc.Microdata.of(frame, dimensions=["pair", "all"], unit="id", magnitudes=["pay"], secret=SECRET)
    for zero_keys in (False, True):
        shown = dc.CellKeyMagnitude(flex=500, zero_keys=zero_keys)(dc.tabulate(data, ["pair", "all"], value="pay"))
        values = shown.table.cells.assign(shown=shown.published["pay"]).set_index(["pair", "all"])["shown"]
        assert (values[("Total", "Total")] == values[("a", "Total")]) is not np.bool_(zero_keys)
        assert values[("a", "Total")] == values[("a", "x")]


def test_spread_is_the_deviation_of_the_noise_that_other_sums_do_not_share() -> None:
    """Over many seeds, without ``own``; with it less, for largest contributions above the flex point."""
    table, keyed = firms(), dc.CellKeyMagnitude(seed=1, flex=50, epsilon=(1, 0.5))
    held = table.value > 0
    errors = [
        (replace(keyed, seed=seed)(table).published[table.measure] - table.value)[held] / keyed.spread(table)[held]
        for seed in range(300)
    ]
    assert np.mean(np.square(errors)) == pytest.approx(1, abs=0.05)
    assert (replace(keyed, own=0.9).spread(table)[held] < keyed.spread(table)[held]).all()


def test_the_separation_point_is_not_above_the_flex_point() -> None:
    """Above it the share falls already."""
    with pytest.raises(dc.InputError, match="up to the flex point"):
        dc.CellKeyMagnitude(flex=100, separation=200)
