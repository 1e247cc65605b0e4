"""Methods in a row: what a shown value and a mark say of the true count, by trying every count."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.methods import method, parameters
from discreet.policy import answer, parse_policy
from discreet.publishing.spec import How

STEPS: dict[str, tuple[Any, ...]] = {
    "redact, round": (dc.Redact(7), dc.Round(5)),
    "redact less, round": (dc.Redact(5), dc.Round(5)),
    "round, redact": (dc.Round(5), dc.Redact(9)),
    "midpoint, redact": (dc.MidpointRound(6), dc.Redact(7)),
    "redact zeros, midpoint": (dc.Redact(3, zeros=True), dc.MidpointRound(4)),
    "round, round": (dc.Round(3), dc.Round(10)),
    "redact, round, redact": (dc.Redact(2), dc.Round(3), dc.Redact(5)),
}
MOST = 80


def single(counts: list[int]) -> dc.Table:
    """Counts without a sum over them."""
    codes = [str(k) for k in range(len(counts))]
    return dc.Table.of(np.array(counts), [dc.Dimension.flat("cell", codes, total=None)])


def told(done: dc.Protected) -> list[tuple[float | None, float, float]]:
    """Of every cell what is shown (None: a mark), and the least and greatest true count that is said to be behind."""
    room, out = done.room, []
    assert room.bounds is not None
    for k, gone in enumerate(done.hidden):
        shown = None if gone else float(done.published["count"][k])
        if gone:
            ends = room.bounds[0][k], room.bounds[1][k]
        elif room.lower is None or room.upper is None:
            ends = shown, shown
        else:
            ends = room.lower[k], room.upper[k]
        out.append((shown, float(ends[0]), float(ends[1])))
    return out


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_bounds_are_those_of_all_counts_that_come_out_alike(steps: tuple[Any, ...]) -> None:
    """Neither too narrow nor too wide, for what is shown and for what is hidden."""
    said = told(dc.protect(single(list(range(MOST + 20))), dc.Chain(steps)))
    alike: dict[float | None, list[int]] = {}
    for count, (shown, _, _) in enumerate(said):
        alike.setdefault(shown, []).append(count)
    for count, (shown, low, high) in enumerate(said[:MOST]):
        assert (low, high) == (min(alike[shown]), max(alike[shown])), (count, shown)


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_a_chain_shows_what_its_steps_show_one_by_one(steps: tuple[Any, ...]) -> None:
    """A count at a time, with a new table for every step."""
    done = dc.protect(single(list(range(MOST))), dc.Chain(steps))
    for count in range(MOST):
        value: float = count
        for step in steps:
            now = step(single([int(value)])).published["count"][0]
            value = float(now)
            if math.isnan(value):
                break
        shown = float(done.published["count"][count])
        assert shown == value or (math.isnan(shown) and math.isnan(value))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0, 6, 10]))
def test_noise_and_a_threshold_bound_the_truth(seed: int, threshold: int) -> None:
    """Whatever the seed: the count lies within the bounds, and a mark says no more than the noise leaves open."""
    recipe = dc.ONSCellKey(seed=seed, threshold=threshold)
    counts = list(range(40))
    for count, (shown, low, high) in enumerate(told(dc.protect(single(counts), _with_bounds(recipe)))):
        assert low <= count <= high
        if shown is None:
            assert (low, high) == (0, threshold - 1 + 2)


def _with_bounds(recipe: Any) -> Any:
    return dc.Chain(recipe.steps)


def test_a_chain_of_one_is_that_method() -> None:
    """Cells, marks and bounds."""
    table = dc.Table.of([[3, 8, 1], [16, 23, 0]], ["area", "age"])
    for one in (dc.Redact(7), dc.Round(5), dc.Suppress("threshold(n=4)"), dc.RandomRound(5, seed=2)):
        alone, chain = dc.protect(table, one), dc.protect(table, dc.Chain((one,)))
        assert np.array_equal(alone.published["count"], chain.published["count"], equal_nan=True)
        assert alone.status.tolist() == chain.status.tolist()
        first, second = dc.audit(alone), dc.audit(chain)
        assert (first.lower.tolist(), first.upper.tolist()) == (second.lower.tolist(), second.upper.tolist())


def look_up(name: str) -> list[float]:
    """What a recipe shows for every count by itself; -1 stands for a mark."""
    counts = list(range(19 * 3))
    shown = dc.protect(single(counts), method(name)).published["count"].astype(float)
    return np.nan_to_num(shown, nan=-1).tolist()  # type: ignore[no-any-return]


SHOWN = {name: look_up(name) for name in ("nhs", "midpoint6", "opensafely")}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 14), min_size=2, max_size=3), st.sampled_from(list(SHOWN)))
def test_the_audit_finds_what_every_table_that_fits_agrees_on(counts: list[int], name: str) -> None:
    """Tables that are published alike are what a reader cannot tell apart; the intervals hold these and no more."""
    look = SHOWN[name]

    def release(inner: tuple[int, ...]) -> tuple[float, ...]:
        parts = tuple(look[n] for n in inner)
        return parts if name == "opensafely" else (*parts, look[sum(inner)])

    done = dc.protect(dc.Table.of(np.array(counts), ["a"]), method(name))
    seen = release(tuple(counts))
    fit = [inner for inner in itertools.product(range(19), repeat=len(counts)) if release(inner) == seen]
    report = dc.audit(done)
    assert len(report.number) == int(done.hidden.sum()) or name == "midpoint6" or any(counts)
    for number, low, high in zip(report.number, report.lower, report.upper, strict=True):
        inner = int(done.table.layout.inner_of_cell[number])
        values = [sum(one) if inner < 0 else one[inner] for one in fit]
        assert (low, high) == (min(values), max(values))


# -- in a row with suppression, and by name ---------------------------------------------------------------------


def test_suppression_then_rounding_leaves_nothing_known() -> None:
    """Rounding what suppression shows is a function of it, so no less is open."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        table = dc.Table.of(rng.poisson(6, (5, 4)), ["area", "age"])
        done = dc.protect(table, dc.Chain((dc.Suppress("threshold(n=4)"), dc.Round(5))))
        plain = dc.protect(table, dc.Suppress("threshold(n=4)"))
        assert done.hidden.tolist() == plain.hidden.tolist()
        assert not len(dc.audit(done).primary)


def test_steps_by_name_as_in_a_policy() -> None:
    """Names and parameters make the same chain; the policy answers with it, a programme builds it."""
    steps = [{"name": "redact", "most": 7}, {"name": "round", "base": 5}]
    table = dc.Table.of([[3, 8, 30], [16, 23, 9]], ["area", "age"])
    expected = dc.protect(table, dc.Chain((dc.Redact(7), dc.Round(5)), totals="sum")).release()
    assert dc.protect(table, dc.Chain(steps, totals="sum")).release().to_csv() == expected.to_csv()
    text = (
        '[[method]]\nname = "chain"\ntotals = "sum"\nsteps = [{name = "redact", most = 7}, {name = "round", base = 5}]'
    )
    assert answer(table, "area,age", parse_policy(text)).to_csv() == expected.to_csv()
    built = How(method="opensafely", parameters={"base": 10}).build(["area", "age"])
    assert built == dc.OpenSAFELY(base=10)


def test_the_seed_of_a_chain_goes_to_its_random_step() -> None:
    """By name only; a step that is a method already keeps its own."""
    table = dc.Table.of([[3, 8, 31], [16, 23, 9]], ["area", "age"])
    named = dc.Chain(["redact", {"name": "random-round", "base": 5}], seed=7)
    assert named.steps == (dc.Redact(7), dc.RandomRound(5, seed=7))
    assert dc.protect(table, named).release().to_csv() == dc.protect(table, named).release().to_csv()
    assert "secret" in parameters("chain")


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ((), "at least one step"),
        ((dc.Round(5), dc.Suppress("threshold(n=3)")), "put it first"),
        ((dc.ControlledRound(3), dc.Round(5)), "let it stand alone"),
        ((dc.RandomRound(3, seed=1), dc.RandomRound(5, seed=1)), "same random numbers"),
        ((dc.Pram("sex", seed=1),), "changes records"),
        (("suppress",), "needs a rule"),
        (("redacted",), "'redact'"),
        (({"base": 5},), "its name"),
        ((7,), "a step is a method"),
    ],
)
def test_what_cannot_stand_in_a_row_is_refused(steps: Any, words: str) -> None:
    """With what to do."""
    with pytest.raises(dc.InputError, match=words):
        dc.Chain(steps)


def test_a_chain_is_for_counts() -> None:
    """A magnitude has no small counts."""
    table = dc.Table.of(np.array([3.5, 8.5]), ["a"], value="income")
    with pytest.raises(dc.InputError, match="works on counts"):
        dc.Chain((dc.Round(5),))(table)
