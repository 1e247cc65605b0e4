"""A frame in, the same frame out: its kind, index, columns and order stay, and no small count can be worked out."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc

RECORDS = pd.DataFrame(
    {
        "area": np.random.default_rng(1).choice(list("abcd"), 300, p=[0.4, 0.4, 0.15, 0.05]),
        "sex": np.random.default_rng(2).choice(["f", "m"], 300),
        "age": np.random.default_rng(3).choice(["o", "x", "y"], 300),
    }
)


def frames() -> dict[str, Any]:
    """Tables as they come out of pandas and polars."""
    r = RECORDS
    wide = pd.crosstab(r.area, r.age, margins=True)
    return {
        "crosstab": pd.crosstab(r.area, r.age),
        "with margins": wide,
        "index of two levels": pd.crosstab([r.area, r.sex], r.age, margins=True),
        "columns of two levels": pd.crosstab(r.area, [r.sex, r.age], margins=True),
        "grouped": r.groupby(["area", "age"]).size(),
        "long": r.groupby(["area", "age"]).size().reset_index(name="count"),
        "value counts": r.area.value_counts(),
        "pivot": r.assign(n=1.0).pivot_table(index="area", columns="age", values="n", aggfunc="sum", margins=True),
        "columns of labels": wide.reset_index(),
        "polars": pl.from_pandas(wide.reset_index()),
        "polars, long": pl.from_pandas(r).group_by(["area", "age"]).len(),
    }


def numbers(frame: Any) -> list[Any]:
    """All numbers, row by row; None where one is missing."""
    if isinstance(frame, pl.DataFrame):
        rows: list[Any] = [list(row) for row in frame.rows()]
    else:
        body = frame.to_frame() if isinstance(frame, pd.Series) else frame
        rows = body.astype(object).to_numpy().tolist()
    flat = [v for row in rows for v in row if not isinstance(v, str)]
    return [None if v is None or v is pd.NA or v != v else v for v in flat]


def kinds(frame: Any) -> list[str]:
    return [str(frame.dtype)] if isinstance(frame, pd.Series) else [str(kind) for kind in frame.dtypes]


@pytest.mark.parametrize("name", frames())
def test_the_same_frame_comes_back(name: str) -> None:
    """Kind, labels and order; every number that is shown is the one that was there, and none shown is small."""
    before = frames()[name]
    after = dc.suppress_small_counts(before, under=9)
    assert type(after) is type(before)
    if isinstance(before, pl.DataFrame):
        assert after.schema == before.schema
    else:
        assert after.index.equals(before.index)
        assert after.index.names == before.index.names
        if isinstance(before, pd.Series):
            assert after.name == before.name
        else:
            assert after.columns.equals(before.columns)
            assert after.columns.names == before.columns.names
    pairs = list(zip(numbers(before), numbers(after), strict=True))
    assert any(now is None for _, now in pairs) or name == "value counts"
    assert all(now is None or now == was for was, now in pairs)
    assert not [now for _, now in pairs if now is not None and 0 < now < 9]


@pytest.mark.parametrize("name", frames())
def test_rounding_and_noise_change_numbers_only(name: str) -> None:
    """Multiples of the base; noise of at most d; the kind of every column stays."""
    before = frames()[name]
    rounded, noisy = dc.round_counts(before, base=10), dc.perturb_counts(before, seed=5)
    for after in (rounded, noisy):
        assert type(after) is type(before)
        assert kinds(after) == kinds(before)
    assert all(n % 10 == 0 for n in numbers(rounded))
    assert all(abs(n - was) <= 2 for n, was in zip(numbers(noisy), numbers(before), strict=True))
    assert numbers(noisy) == numbers(dc.perturb_counts(before, seed=5))


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(st.integers(0, 12), min_size=3, max_size=3), min_size=2, max_size=3))
def test_no_small_count_follows_from_the_totals(rows: list[list[int]]) -> None:
    """No hidden small count is a combination of the sums that are shown."""
    inner = np.array(rows)
    frame = pd.DataFrame(inner, index=[f"r{k}" for k in range(len(rows))], columns=list("abc"))
    frame["Total"] = frame.sum(axis=1)
    frame.loc["Total"] = frame.sum()
    after = dc.suppress_small_counts(frame, under=5, total="Total")
    shown = {(r, c) for r, c in itertools.product(after.index, after.columns) if not pd.isna(after.loc[r, c])}
    hidden = [(r, c) for r in after.index[:-1] for c in "abc" if (r, c) not in shown]
    sums = [[int(r == name) for r, _ in hidden] for name in frame.index[:-1] if (name, "Total") in shown]
    sums += [[int(c == name) for _, c in hidden] for name in "abc" if ("Total", name) in shown]
    sums += [[1] * len(hidden)] if ("Total", "Total") in shown else []
    matrix = np.array(sums).reshape(len(sums), len(hidden))
    for k, cell in enumerate(hidden):
        if 0 < frame.loc[cell] < 5:
            unit = np.eye(len(hidden))[k]
            assert np.linalg.matrix_rank(np.vstack([matrix, unit])) > np.linalg.matrix_rank(matrix)


def test_marks_and_kinds_of_columns() -> None:
    """Missing in a column of whole numbers that can be missing; a mark makes it a column of any values."""
    frame = frames()["with margins"]
    plain, marked = dc.suppress_small_counts(frame, under=9), dc.suppress_small_counts(frame, under=9, mark="[c]")
    hidden = [c for c in frame.columns if plain[c].isna().any()]
    assert {str(plain[c].dtype) for c in hidden} == {"Int64"}
    assert {str(plain[c].dtype) for c in frame.columns if c not in hidden} == {"int64"}
    assert all((marked[c] == "[c]").tolist() == plain[c].isna().tolist() for c in frame.columns)
    text = dc.suppress_small_counts(pl.from_pandas(frame.reset_index()), under=9, mark="*")
    assert text[hidden[0]].dtype == pl.String
    small = pa.Table.from_pandas(frame.reset_index())
    arrow = dc.suppress_small_counts(small, under=9)
    assert arrow.schema.equals(small.schema, check_metadata=False)
    assert arrow.column(hidden[0]).null_count == int(plain[hidden[0]].isna().sum())


def test_a_mark_that_says_a_range_is_protected_as_one() -> None:
    """Only small counts have it, others a plain mark; a range that does not hold is refused."""
    frame = frames()["columns of two levels"]
    after = dc.suppress_small_counts(frame, under=6, mark="<6")
    flat = list(zip(frame.to_numpy().ravel(), after.astype(object).to_numpy().ravel(), strict=True))
    assert all((now == "<6") == (0 < was < 6) for was, now in flat)
    assert any(now == "*" for _, now in flat)
    with pytest.raises(dc.InputError, match="does not hold; hidden are counts from 1 to 5: '<6'"):
        dc.suppress_small_counts(frame, under=6, mark="<5")


@pytest.mark.parametrize(
    ("recipe", "mark", "most"), [("nhs", "<8", 7), ("opensafely", "1-7", 7), ("cms-11", "<11", 10)]
)
def test_a_mark_may_say_the_range_that_a_recipe_hides(recipe: str, mark: str, most: int) -> None:
    """It stands where a count is in that range, and the audit knows it."""
    frame = frames()["columns of two levels"]
    counts = frame * 40
    counts.iloc[0, 0] = 3
    after = dc.apply_recipe(counts.iloc[:3, :3], recipe, mark=mark)
    flat = list(zip(counts.iloc[:3, :3].to_numpy().ravel(), after.astype(object).to_numpy().ravel(), strict=True))
    assert any(now == mark for _, now in flat)
    assert all((now == mark) == (0 < was <= most) for was, now in flat)


@pytest.mark.parametrize(
    ("recipe", "mark", "settings", "words"),
    [
        ("midpoint6", "<6", {}, "does not hide just the counts from 1 to a limit"),
        ("nhs", "<8", {"secondary": True}, "hides further cells"),
        ("nhs", "<6", {}, "hidden are counts from 1 to 7: '<8'"),
    ],
)
def test_a_range_that_a_recipe_does_not_hide_is_refused(
    recipe: str, mark: str, settings: dict[str, bool], words: str
) -> None:
    with pytest.raises(dc.InputError, match=words):
        dc.apply_recipe(frames()["columns of two levels"], recipe, mark=mark, settings=settings)


def test_percentages_follow_what_is_shown() -> None:
    """Worked out of published numbers, missing where one of them is hidden."""
    frame = pd.crosstab(RECORDS.area, RECORDS.sex, margins=True)
    frame["% f"] = (100 * frame.f / frame.All).round(1)
    after = dc.suppress_small_counts(frame, under=9)
    assert after["% f"].isna().tolist() == after["f"].isna().tolist()
    assert after["f"].isna().any()
    rounded = dc.round_counts(frame, base=5)
    assert rounded["% f"].tolist() == (100 * rounded.f / rounded.All).round(1).tolist()


def test_what_was_done_is_told_without_a_true_number() -> None:
    """In a call of one's own and in ``attrs``, which says nothing of which or how much was sensitive."""
    frame = frames()["with margins"]
    frame.attrs["origin"] = "true numbers"
    outcomes: list[dc.ProtectionReport] = []
    after = dc.suppress_small_counts(frame, under=9, report=outcomes.append)
    [outcome] = outcomes
    assert (outcome.cells, outcome.hidden) == (20, int(after.isna().sum().sum()))
    assert outcome.verdict.ok
    assert after.attrs == {"discreet": outcome.to_dict()}
    assert set(outcome.to_dict()) == {"method", "cells", "not shown", "changed", "audit", "statement"}


def test_recipes_on_a_frame() -> None:
    """The published example of OpenSAFELY; random ones by a seed or a secret."""
    series = pd.Series([3, 8, 16, 23, 50], index=["21-30", "31-40", "41-50", "51+", "Total"])
    assert dc.apply_recipe(series, "opensafely").tolist() == [pd.NA, 10, 15, 25, 50]
    assert dc.apply_recipe(series, "nhs", mark="*").tolist() == ["*", 10, 15, 25, 50]
    one, two = (dc.apply_recipe(series, "statcan-base5", secret="sixteen letters and more") for _ in range(2))
    assert one.tolist() == two.tolist()
    assert dc.apply_recipe(series, "midpoint6", settings={"base": 10}).tolist() == [5, 5, 15, 25, 45]


def test_what_the_audit_does_not_pass_does_not_come_back() -> None:
    """Four ones, and the eight beside them, follow from a rounded total; with further cells hidden they do not."""
    series = pd.Series([1, 1, 1, 1, 8, 12], index=[*"abcde", "Total"])
    with pytest.raises(dc.Refused, match="5 cells that must stay unknown"):
        dc.apply_recipe(series, "nhs")
    assert dc.apply_recipe(series, "nhs", settings={"secondary": True}).isna().sum() == 5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f: dc.suppress_small_counts(f, under=1), "under"),
        (lambda f: dc.suppress_small_counts([1, 2], under=3), "is not a frame"),
        (lambda f: dc.suppress_small_counts(f), "under"),  # type: ignore[call-arg]
        (lambda f: dc.perturb_counts(f), "seed="),
        (lambda f: dc.round_counts(f, how="random"), "seed="),
        (lambda f: dc.round_counts(f, seed=1), "draws no random numbers"),
        (lambda f: dc.round_counts(f, how="upwards"), "how"),  # type: ignore[arg-type]
        (lambda f: dc.apply_recipe(f, "nsh"), "'nhs'"),
        (lambda f: dc.apply_recipe(f, "publish"), "does not protect"),
        (lambda f: dc.apply_recipe(f, "nhs", seed=1), "draws no random numbers"),
        (lambda f: dc.suppress_small_counts(f, under=3, totl="All"), "totl"),
        (lambda f: dc.suppress_small_counts(RECORDS, under=3), "no table was found"),
    ],
)
def test_errors_say_what_to_do(call: Any, words: str) -> None:
    """What was given, what is allowed."""
    with pytest.raises(dc.DiscreetError, match=words):
        call(frames()["with margins"])


def test_labels_that_cross_others_are_a_dimension_whatever_they_look_like() -> None:
    """Ages, halves of days and ranges beside wards; the counts that are not hidden stay."""
    counts = [14, 70, 30, 7, 59, 21, 1, 12, 6]
    for labels in (["0-17", "18-64", "65+"], ["1/2", "3/4", "5/6"], ["0.5-1.0", "1.0-2.5", ">2.5"]):
        index = pd.MultiIndex.from_product([["Ash", "Bray", "Coll"], labels], names=["ward", "group"])
        series = pd.Series(counts, index=index, name="n")
        for frame in (series, series.reset_index()["n"].set_axis(index), series.reset_index()):
            after = dc.suppress_small_counts(frame, under=6)
            numbers = after["n"] if isinstance(after, pd.DataFrame) else after
            assert numbers.isna().tolist() == [count == 1 for count in counts]


def test_a_level_of_the_index_is_named_and_kept_by_its_name() -> None:
    """The message names what the option takes: the name of the level, or its letter where it has none."""
    pairs = [("a", "0.5-2.1"), ("b", "1.5-2.7"), ("c", "3.5-4.1"), ("d", "1.1-9.9")]
    for names, option in ((["ward", "interval"], "interval"), ([None, None], "B")):
        series = pd.Series([14, 70, 30, 7], index=pd.MultiIndex.from_tuples(pairs, names=names), name="n")
        with pytest.raises(dc.InputError, match=f"looks measured: '{option}'"):
            dc.suppress_small_counts(series, under=8)
        with pytest.warns(dc.DiscreetWarning, match="stay as said"):
            after = dc.suppress_small_counts(series, under=8, keep_text=option)
        assert after.index.equals(series.index)
        assert after.isna().tolist() == [False, False, False, True]
