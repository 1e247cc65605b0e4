"""What is said of a protected table: cells that one person more or less leaves open are open, and the verdict holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.audits.one_person import open_by_one
from discreet.audits.view import view
from discreet.in_place.protection_report import ProtectionReport, report_on

METHODS: dict[str, Any] = {
    "nhs": dc.NHS(),
    "midpoint": dc.MidpointRound(),
    "round": dc.Round(5),
    "opensafely": dc.OpenSAFELY(),
    "random": dc.RandomRound(3, seed=1),
    "cell key": dc.CellKey(2, 1, seed=1),
    "suppress": dc.Suppress("threshold(n=4)"),
}
TABLES = st.lists(st.lists(st.integers(0, 15), min_size=3, max_size=3), min_size=2, max_size=4)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 15), min_size=3, max_size=3), min_size=2, max_size=4), st.sampled_from([*METHODS])
)
def test_what_is_open_by_one_person_is_open(rows: list[list[int]], name: str) -> None:
    """The full audit finds more than one value for all of them, and the verdict is the one of the full audit."""
    done = dc.protect(dc.Table.of(np.array(rows), ["a", "b"]), METHODS[name])
    full = dc.audit(done)
    free = open_by_one(view(done))
    assert not (free[full.number] & (full.m == 1)).any()
    exact = full.number[full.m == 1]
    truth, status = done.table.count[exact], done.status[exact]
    small = (truth > 0) & (truth < 10) & (status != "x")
    report = report_on(done, "t")
    assert report.exact == int(((status == "u") | small).sum())
    assert report.verdict.ok == (report.exact == 0)
    assert report.audited == len(full.number)


def test_words_for_the_form_and_for_whoever_protects() -> None:
    """Numbers of cells and shares, never a count of the table; a failed audit raises with a cure."""
    done = dc.protect(dc.Table.of([[200, 3], [150, 170]], ["a", "b"]), dc.Suppress("threshold(n=4)"))
    report = report_on(done, "wards.xlsx")
    assert report.lines() == [
        "wards.xlsx: 9 cells, 1 primary, 3 secondary, 25.0 % of the value lost",
        "audit: pass, 4 cells judged",
    ]
    assert report.statement == (
        "Cell suppression; 4 of 9 cells are not shown; an audit of all 4 hidden cells found none that follows from "
        "what is shown."
    )
    report.check()
    failed = report_on(dc.protect(dc.Table.of([1, 10, 15], ["a"]), dc.Redact(7)), "ages")
    with pytest.raises(dc.Refused, match="ages: 1 cell that must stay unknown follows"):
        failed.check()
    assert failed.statement.endswith("the audit is not passed.")


def test_a_table_without_totals_says_so() -> None:
    """Nothing follows by subtraction from a table that shows no sums."""
    flat = dc.Dimension.flat("a", ["x", "y"], total=None)
    report = report_on(dc.protect(dc.Table.of([3, 40], [flat]), dc.Redact(7)), "t")
    assert report.verdict.ok
    assert "no totals" in report.remarks[0]


@pytest.mark.parametrize(
    ("under", "rows", "statement"),
    [
        (
            6,
            [3, 50],
            "Counts from 1 to 5 and cells that would give them away are not shown; 1 of 2 cells is not shown; ",
        ),
        (2, [1, 50], "Counts of 1 and cells that would give them away are not shown; 1 of 2 cells is not shown; "),
        (6, [3, 4, 50], "Counts from 1 to 5 and cells that would give them away are not shown; 2 of 3 cells are not "),
    ],
)
def test_one_and_several(under: int, rows: list[int], statement: str) -> None:
    """The sentence for the form, and what is said on stderr, in the singular and the plural."""
    reports: list[ProtectionReport] = []
    counts = pd.Series(rows, index=[f"ward {k}" for k in range(len(rows))])
    dc.suppress_small_counts(counts, under=under, report=reports.append)
    assert reports[0].statement.startswith(statement)
    hidden = len(rows) - 1
    assert reports[0].lines()[1] == f"audit: pass, {hidden} cell{'s' if hidden > 1 else ''} judged"
