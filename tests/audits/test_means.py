"""Means beside counts: what the audit says is what counting through all tables in whole numbers says."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.base.verdicts import Verdict
from discreet.tables.means import Means

NAN = float("nan")
Numbers = Sequence[float]
Ends = tuple[Fraction, Fraction | None]


def published(counts: Numbers, means: Numbers, decimals: int, unit: float | None) -> dc.Release:
    """A table of one dimension, its total last, with a mean beside every count; NaN is not shown."""
    codes = [f"a{k}" for k in range(len(counts) - 1)] + ["Total"]
    frame = pd.DataFrame({"area": codes, "count": pd.array([None if n != n else int(n) for n in counts], "Int64")})
    frame["status"] = ["c" if n != n else "" for n in counts]
    release = dc.Release.of_frame(frame, total="Total")
    order = [codes.index(release.dimensions[0].codes[c]) for c in release.codes[:, 0]]
    own = Means("mean age", np.array(means, float)[order], decimals, unit)
    return replace(release, means={"count": (own,)})


def rounded_ends(mean: float, decimals: int) -> tuple[Fraction, Fraction]:
    """The least and greatest mean that is shown so."""
    shown = Fraction(round(mean * 10**decimals), 10**decimals)
    half = Fraction(1, 2 * 10**decimals)
    return shown - half, shown + half


def sum_ends(n: int, mean: float, decimals: int, unit: Fraction | None) -> Ends | None:
    """The least and greatest sum of so many values, None if there is none; in units where there is one."""
    if mean != mean:
        return Fraction(0), None
    low, high = (end * n for end in rounded_ends(mean, decimals))
    low = max(low, Fraction(0))
    if unit:
        low, high = Fraction(math.ceil(low / unit)) * unit, Fraction(math.floor(high / unit)) * unit
    return (low, high) if low <= high else None


def upper_end(ends: Sequence[Ends]) -> Fraction | None:
    """The greatest sum of several sums, None if there is none."""
    highs = [high for _, high in ends if high is not None]
    return sum(highs, Fraction(0)) if len(highs) == len(ends) else None


def fitting(
    counts: Numbers, means: Numbers, decimals: int, unit: Fraction | None
) -> Iterator[tuple[tuple[int, ...], list[Ends]]]:
    """All counts of the parts that fit, with the ends of the sum of each part."""
    total, parts = int(counts[-1]), counts[:-1]
    choices = [range(1, total + 1) if n != n else [int(n)] for n in parts]
    for some in product(*choices):
        if sum(some) != total:
            continue
        tried = [sum_ends(n, m, decimals, unit) for n, m in zip((*some, total), means, strict=True)]
        ends = [end for end in tried if end is not None]
        if len(ends) < len(tried):
            continue
        low, top = sum(end[0] for end in ends[:-1]), upper_end(ends[:-1])
        whole_low, whole_high = ends[-1]
        if (whole_high is not None and low > whole_high) or (top is not None and top < whole_low):
            continue
        yield some, ends


def possible_means(some: Sequence[int], ends: Sequence[Ends], k: int, decimals: int, unit: Fraction | None) -> set[int]:
    """What the mean of a part can be shown as, where some counts and sums of the others are fixed."""
    others = [end for j, end in enumerate(ends[:-1]) if j != k]
    whole_low, whole_high = ends[-1]
    top = upper_end(others)
    least = Fraction(0) if top is None else whole_low - top
    most = None if whole_high is None else whole_high - sum(low for low, _ in others)
    least = max(least, Fraction(0))
    if most is None:
        return {0, 1}
    if unit:
        least, most = Fraction(math.ceil(least / unit)) * unit, Fraction(math.floor(most / unit)) * unit
    step = 10**decimals
    first, last = least / some[k] * step, most / some[k] * step
    # a mean on the border of two may be shown as either
    return {
        v for v in range(math.floor(first), math.ceil(last) + 1) if first - Fraction(1, 2) <= v <= last + Fraction(1, 2)
    }


def possible_totals(some: Sequence[int], ends: Sequence[Ends], decimals: int) -> set[int]:
    """What the mean of all can be shown as."""
    top = upper_end(ends[:-1])
    if top is None:
        return {0, 1}
    first, last = (end / sum(some) * 10**decimals for end in (sum(low for low, _ in ends[:-1]), top))
    half = Fraction(1, 2)
    return {v for v in range(math.floor(first), math.ceil(last) + 1) if first - half <= v <= last + half}


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[float], list[float], int]:
    """Counts and ages, a mean beside each, some of both not shown."""
    size = draw(st.integers(2, 4))
    counts = draw(st.lists(st.integers(1, 4), min_size=size, max_size=size))
    decimals = draw(st.sampled_from([0, 1, 2]))
    ages = [draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)) for n in counts]
    means = [sum(own) / len(own) for own in ages] + [sum(map(sum, ages)) / sum(counts)]
    shown = [float(round(Fraction(m).limit_denominator(1000) * 10**decimals)) / 10**decimals for m in means]
    hidden = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    without = draw(st.lists(st.booleans(), min_size=size + 1, max_size=size + 1))
    numbers = [NAN if h else float(n) for n, h in zip(counts, hidden, strict=True)] + [float(sum(counts))]
    return numbers, [NAN if w else m for m, w in zip(shown, without, strict=True)], decimals


@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from([0.0, 1.0]))
def test_counts_and_means_that_follow_are_those_that_counting_finds(
    table: tuple[list[float], list[float], int], unit: float
) -> None:
    counts, means, decimals = table
    exact_unit = Fraction(unit) if unit else None
    fits = list(fitting(counts, means, decimals, exact_unit))
    assert fits  # the truth is one
    report = dc.audit(published(counts, means, decimals, unit))
    codes = report.cells["area"].tolist()
    for row, code in zip(report.cells.to_dict("records"), codes, strict=True):
        k = int(code[1:])
        values = {some[k] for some, _ in fits}
        assert row["lower"] <= min(values)
        assert row["upper"] >= max(values)
        assert (row["finding"] == "exact") == (len(values) == 1)
    follow = False
    for k, mean in enumerate(means[:-1]):
        if mean != mean:
            values = set().union(*(possible_means(some, ends, k, decimals, exact_unit) for some, ends in fits))
            follow |= len(values) == 1
    if means[-1] != means[-1]:
        values = set().union(*(possible_totals(some, ends, decimals) for some, ends in fits))
        follow |= len(values) == 1
    assert any("follow from" in text for text in report.follows) == follow


@pytest.mark.parametrize("people", [1, 2, 3])
@pytest.mark.parametrize("value", [4, 21, 43, 80])
def test_hidden_means_of_one_or_two_that_are_known_closely(people: int, value: int) -> None:
    """Whole minus part, to what rounding leaves: within 10 % a person's value is given away, that of two is unknown."""
    part = 20
    half = Fraction(1, 20)
    total = Fraction(round(Fraction(10 * (people * value + part * 45), people + part)), 10)
    least = max((total - half) * (people + part) - (45 + half) * part, Fraction(0))
    most = (total + half) * (people + part) - (45 - half) * part
    close = (most - least) / 2 <= Fraction(1, 10) * (most + least) / 2
    shown = [float("nan"), 45.0, float(total)]
    report = dc.audit(published([people, part, people + part], shown, 1, 0.0))
    told = {1: report.follows, 2: report.unjudged, 3: ()}[people]
    assert any("known to within 10%" in text for text in told) == (close and people < 3)
    assert (report.verdict == "fail") == (close and people == 1)


def test_a_pass_needs_means_of_hidden_counts_out() -> None:
    """A mean of a hidden count that may be 1 is perhaps one person's value: never a pass."""
    shown = published([6, NAN, NAN, 11], [NAN, 4.0, 5.0, 4.5], 1, 0.0)
    hidden = published([6, NAN, NAN, 11], [4.2, NAN, NAN, 4.5], 1, 0.0)
    assert dc.audit(shown).verdict is Verdict.UNKNOWN
    assert "may be 1" in " ".join(dc.audit(shown).unjudged)
    assert dc.audit(hidden).verdict is Verdict.PASS


def test_whole_numbers_behind_means_are_the_worse_case_unless_denied() -> None:
    """34.33 is no mean of one, two or four whole numbers."""
    counts, means = [6, NAN, NAN, 12], [NAN, 34.33, NAN, NAN]
    release = published(counts, means, 2, None)
    ranges = {
        "count": (
            np.where(np.isnan(release.values["count"]), 2.0, -np.inf),
            np.where(np.isnan(release.values["count"]), 4.0, np.inf),
        )
    }
    unsaid = dc.audit(replace(release, ranges=ranges))
    assert unsaid.verdict is Verdict.UNKNOWN
    assert "means of whole numbers" in " ".join(unsaid.unjudged)
    said = dc.audit(replace(published(counts, means, 2, 1.0), ranges=ranges))
    assert said.verdict is Verdict.FAIL
    assert dict(zip(said.cells["area"], said.cells["lower"], strict=True)) == {"a1": 3.0, "a2": 3.0}
    assert dc.audit(replace(published(counts, means, 2, 0.0), ranges=ranges)).verdict is Verdict.PASS


def test_means_that_fit_no_counts_are_never_a_pass() -> None:
    report = dc.audit(published([6, NAN, NAN, 12], [10.0, 10.0, 10.0, 90.0], 1, 0.0))
    assert report.verdict is Verdict.UNKNOWN
    assert "no counts that fit the table have such means" in " ".join(report.unjudged)


def test_no_certificate_is_written_of_means() -> None:
    report = dc.audit(published([6, NAN, NAN, 11], [4.2, NAN, NAN, 4.5], 1, 0.0))
    with pytest.raises(dc.InputError):
        report.certificate()


def crossed(counts: Numbers, means: Numbers, decimals: int) -> dc.Release:
    """Two areas by two sexes with totals, a mean beside each count."""
    codes = [(a, s) for a in ("a0", "a1", "Total") for s in ("f", "m", "Total")]
    frame = pd.DataFrame(codes, columns=["area", "sex"])
    frame["count"] = pd.array([None if n != n else int(n) for n in counts], "Int64")
    frame["status"] = ["c" if n != n else "" for n in counts]
    release = dc.Release.of_frame(frame, total="Total")
    names = [tuple(d.codes[c] for d, c in zip(release.dimensions, row, strict=True)) for row in release.codes]
    own = Means("mean", np.array(means, float)[[codes.index(name) for name in names]], decimals, 0.0)
    return replace(release, means={"count": (own,)})


def linear_sums_exist(table: Sequence[int], means: Numbers, decimals: int) -> bool:
    """Whether sums of any size fit counts and means, by a linear program of its own."""
    from scipy.optimize import linprog

    rows = [[0, 1, -1, 2], [3, 4, -1, 5], [6, 7, -1, 8], [0, 3, -1, 6], [1, 4, -1, 7], [2, 5, -1, 8]]
    equal = np.zeros((6, 9))
    for k, (a, b, _, whole) in enumerate(rows):
        equal[k, [a, b]], equal[k, whole] = 1, -1
    bounds = []
    for n, mean in zip(table, means, strict=True):
        ends = sum_ends(n, mean, decimals, None)
        assert ends is not None
        bounds.append((float(ends[0]) - 1e-9, None if ends[1] is None else float(ends[1]) + 1e-9))
    return linprog(np.zeros(9), A_eq=equal, b_eq=np.zeros(6), bounds=bounds).status == 0


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_counts_of_crossed_tables_follow_as_counting_finds(data: st.DataObject) -> None:
    inner = [data.draw(st.integers(1, 5)) for _ in range(4)]
    ages = [data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)) for n in inner]
    groups = [[0], [1], [0, 1], [2], [3], [2, 3], [0, 2], [1, 3], [0, 1, 2, 3]]
    truth = [sum(inner[k] for k in group) for group in groups]
    own = [[age for k in group for age in ages[k]] for group in groups]
    means = [round(sum(some) / len(some) * 10) / 10 for some in own]
    without = data.draw(st.lists(st.booleans(), min_size=9, max_size=9))
    means = [NAN if gone else mean for mean, gone in zip(means, without, strict=True)]
    counts = [NAN if k in (0, 1, 3, 4) else float(n) for k, n in enumerate(truth)]
    fits = set()
    for first in range(1, truth[2]):
        table = [first, truth[2] - first, truth[2], truth[6] - first, truth[7] - truth[2] + first, *truth[5:]]
        if min(table) >= 1 and linear_sums_exist(table, means, 1):
            fits.add(first)
    report = dc.audit(crossed(counts, means, 1))
    first_cell = {(row["area"], row["sex"]): row for row in report.cells.to_dict("records")}["a0", "f"]
    assert first_cell["lower"] <= min(fits)
    assert first_cell["upper"] >= max(fits)
    assert (first_cell["finding"] == "exact") == (len(fits) == 1)
