"""Numbers that are not available: part of totals, or in none; never a pass where that matters."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.audits.joined.mapping import NameMapping
from discreet.base.verdicts import Verdict

MAPPING = {"marks": {"n/a": "unavailable", "*": "suppressed"}}


def written(path: Path, parts: list[str], total: int) -> Path:
    """A list of cells, the total last; codes in an order that makes none the sum of the next."""
    lines = [f"{code},{text}" for code, text in zip("abcde", parts, strict=False)]
    path.write_text("area,count\n" + "\n".join(lines) + f"\nTotal,{total}\n")
    return path


def test_a_number_beside_one_that_is_not_available_is_never_passed(tmp_path: Path) -> None:
    """20 + * + n/a = 44: it is 24, if what was not collected is in no total."""
    report = dc.audit([written(tmp_path / "a.csv", ["20", "*", "n/a"], 44)], mapping=MAPPING)
    assert report.verdict is Verdict.UNKNOWN
    assert any("are in no total, 1 cell more may be known" in text for text in report.unjudged)


@pytest.mark.parametrize(("meaning", "verdict"), [("zero", Verdict.FAIL), ("suppressed", Verdict.PASS)])
def test_what_the_mark_means_settles_it(tmp_path: Path, meaning: str, verdict: Verdict) -> None:
    path = written(tmp_path / "a.csv", ["20", "*", "n/a"], 44)
    assert dc.audit([path], mapping={"marks": {"n/a": meaning, "*": "suppressed"}}).verdict is verdict


def test_totals_that_hold_some_of_what_is_not_available_are_never_passed(tmp_path: Path) -> None:
    """All is shown but what is not available, and the total is greater: it holds some of it."""
    path = written(tmp_path / "a.csv", ["20", "30", "n/a", "n/a"], 60)
    report = dc.audit([path], mapping=MAPPING)
    assert report.verdict is Verdict.UNKNOWN


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["*", "n/a", "3", "7"]), min_size=2, max_size=5), st.integers(1, 6), st.integers(0, 4))
def test_no_pass_where_counting_finds_one_value(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], hidden: int, nobody: int
) -> None:
    """All ways to fill in what is hidden, with what is not available in the total or not."""
    marks, gone = parts.count("*"), parts.count("n/a")
    total = sum(int(text) for text in parts if text.isdigit()) + hidden * marks + nobody * gone
    if not marks or not total:
        return
    shown = sum(int(text) for text in parts if text.isdigit())
    path = written(tmp_path_factory.mktemp("left") / "a.csv", parts, total)
    names = NameMapping.of({**MAPPING, "sums": {"area": {"Total": list("abcde"[: len(parts)])}}})
    report = dc.audit([path], mapping=names)
    for most in (0, total):
        fits = [
            own
            for own in product(range(1, total + 1), repeat=marks)
            for rest in [total - shown - sum(own)]
            if (rest == 0 if not gone or not most else rest >= 0)
        ]
        if fits and any(len({own[k] for own in fits}) == 1 for k in range(marks)):
            assert report.verdict is not Verdict.PASS
