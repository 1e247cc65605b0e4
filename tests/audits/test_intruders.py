"""The table of intruders: who was tried, and what each can work out, against attacks written out here."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.audits.intruders import NOT_JUDGED, NOT_TRIED
from tests.strategies import tables

COUNTS = [[5, 1, 3], [6, 4, 6], [7, 8, 9]]


def square() -> dc.Protected:
    table = dc.Table.of(COUNTS, ["area", "sex"])
    return dc.protect(table, dc.Hide(table.where(area=["1", "2"], sex=["1", "2"])))


def firms() -> dc.Protected:
    frame = pd.DataFrame(
        {
            "branch": list("aaabccc" + "aaabbbccc"),
            "region": ["n"] * 7 + ["s"] * 9,
            "firm": [1, 2, 3, 4, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8],
            "turnover": [50, 20, 5, 30, 9, 8, 7, 20, 40, 5, 6, 7, 8, 9, 3, 4],
        }
    )
    data = dc.Microdata.of(frame, dimensions=["branch", "region"], magnitudes=["turnover"], holding="firm")
    table = dc.tabulate(data, by=["branch", "region"], value="turnover", top=3)
    return dc.protect(table, dc.Hide(table.where(branch=["a", "b"], region=["n", "s"])))


def test_who_was_not_tried_says_so() -> None:
    """No row is left out, and none that was not tried has a zero."""
    summary = dc.audit(square()).summary()
    assert summary.index.tolist() == [
        "outsider", "insiders", "holder of the program", "holder of last period's table",
    ]  # fmt: skip
    assert (summary.drop(columns="note").iloc[1:] == NOT_TRIED).all(axis=None)
    assert summary.loc["outsider", "narrow"] == "no level"
    levels = tuple(np.full(16, 1.0) for _ in range(2))
    assert dc.audit(square(), protection=levels).summary().loc["outsider", "narrow"] == 0


@pytest.mark.parametrize("protected", [square(), firms()], ids=["counts", "firms"])
@pytest.mark.parametrize("size", [1, 2])
def test_insiders_know_what_the_attack_of_each_coalition_finds(protected: dc.Protected, size: int) -> None:
    """The cells of the row are those that `insiders` names for any coalition, each tried by itself."""
    who = range(len(protected.table.layout.inner)) if protected.table.measure == "count" else range(10)
    people = [n for n in who for _ in range(2)] if protected.table.measure == "count" else list(who)
    held = protected.table.statistic("count").inner
    coalitions = {c for k in range(1, size + 1) for c in combinations(people, k)}
    if protected.table.measure == "count":
        coalitions = {c for c in coalitions if all(c.count(n) <= held[n] for n in c)}
    attacked = dc.insiders(protected, coalitions=[list(c) for c in sorted(coalitions)])
    cells = {cell for row in attacked["cells"] for cell in row}
    report = dc.audit(protected, insiders=size)
    row = report.summary().loc["1 insider" if size == 1 else f"{size} insiders"]
    assert row["exact"] == len(cells) > 0
    assert row["least bits"] == 0
    assert report.verdict == "fail"


def test_the_holder_of_last_periods_table() -> None:
    """All tables within the share of the earlier values are listed: what they leave is what the row says."""
    before = dc.Table.of([[5, 2, 3], [6, 4, 6], [7, 8, 9]], ["area", "sex"])
    protected = square()
    report = dc.audit(protected, earlier=dc.protect(before, dc.Publish()), change=0.5)
    fits = [x for x in range(12) if all(abs(v - w) <= w / 2 for v, w in zip(_filled(x), (5, 2, 6, 4), strict=True))
            and min(_filled(x)) >= 0]  # fmt: skip
    row = report.summary().loc["holder of last period's table"]
    assert row["least bits"] == np.log2(len(fits))
    assert row["exact"] == 0
    assert report.ok
    sure = dc.audit(protected.release(), earlier=dc.protect(protected.table, dc.Publish()))
    assert sure.summary().loc["holder of last period's table", "exact"] == 4
    assert sure.verdict == "fail"


def _filled(x: int) -> tuple[int, ...]:
    """The four hidden cells by the first of them: rows add up to 6 and 10, columns to 11 and 5."""
    return x, 6 - x, 11 - x, x - 1


def test_what_contradicts_is_not_judged() -> None:
    """An earlier table too far from this one leaves nothing to say, and the audit is not a pass."""
    before = dc.protect(dc.Table.of([[50, 20, 3], [6, 4, 6], [7, 8, 9]], ["area", "sex"]), dc.Publish())
    report = dc.audit(square(), earlier=before, change=0.01)
    row = report.summary().loc["holder of last period's table"]
    assert row["exact"] == row["narrow"] == NOT_JUDGED
    assert row["unknown"] == 4
    assert report.verdict == "unknown"


@given(tables(), st.integers(1, 2))
@settings(max_examples=15, deadline=None)
def test_more_knowledge_never_leaves_more(table: dc.Table, size: int) -> None:
    """A larger coalition knows at least as many cells, and no coalition less than an outsider of the same cells."""
    protected = dc.protect(table, dc.Hide(np.arange(len(table)) % 2 == 0))
    outside = dc.audit(protected)
    try:
        small, large = (dc.audit(protected, insiders=k).informed[0] for k in (size, size + 1))
    except dc.InputError:
        return  # more coalitions than are tried
    assert (small.exact or 0) <= (large.exact or 0)
    if small.least_bits is not None and large.least_bits is not None:
        assert large.least_bits <= small.least_bits
    assert len(outside.number) >= small.cells


def test_the_same_rows_in_every_form() -> None:
    """Plain Python, the page and the frame tell of the same intruders."""
    report = dc.audit(square(), insiders=1)
    rows = report.to_dict()["intruders"]
    assert [row["intruder"] for row in rows] == report.summary().index.tolist()
    assert "not tried" in report.to_html()
    assert "1 insider" in report.to_html()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"insiders": -1}, "whole number"),
        ({"change": 0.2}, "name the earlier tables"),
        ({"change": -0.1}, "0 or more"),
        ({"insiders": 9}, "coalitions"),
        ({"earlier": dc.protect(dc.Table.of([1, 2], ["year"]), dc.Publish())}, "same dimensions"),
    ],
)
def test_what_cannot_be_tried_is_refused(options: dict[str, object], words: str) -> None:
    """In words, before anything is judged."""
    with pytest.raises(dc.InputError, match=words):
        dc.audit(square(), **options)  # type: ignore[arg-type]


def test_insiders_need_contributions() -> None:
    """A release does not know who contributes."""
    with pytest.raises(dc.InputError, match="one Protected"):
        dc.audit(square().release(), insiders=1)


def test_bits_without_end_are_figures_too() -> None:
    """Where a hidden total leaves a cell without a greatest value, the row says so."""
    table = dc.Table.of([[5, 1], [6, 4]], ["area", "sex"])
    hidden = np.ones(len(table), bool)
    hidden[table.where(area="1", sex="1")] = False
    report = dc.audit(dc.protect(table, dc.Hide(hidden)))
    assert report.summary().loc["outsider", "median bits"] == np.inf
