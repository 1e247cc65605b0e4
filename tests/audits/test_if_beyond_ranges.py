"""Plain marks beside ranges: any count, or one above the ranges; never a pass where something follows from either."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.base.verdicts import Verdict


def audited(path: Path, parts: list[str], total: int, marks: dict[str, str] | None = None) -> dc.Audit:
    """The audit of a list of cells of which none is the sum of others."""
    codes = "abcdef"[: len(parts)]
    lines = [f"{code},{text}" for code, text in zip(codes, parts, strict=True)]
    path.write_text("area,count\n" + "\n".join(lines) + f"\nTotal,{total}\n")
    return dc.audit([path], mapping={"sums": {"area": {"Total": list(codes)}}, "marks": marks or {}})


def test_a_plain_mark_beside_ranges_may_be_none_of_them(tmp_path: Path) -> None:
    """<6 and two * add up to 13: if * is 6 or more all three are known."""
    report = audited(tmp_path / "a.csv", ["20", "<6", "*", "*"], 33)
    assert report.verdict is Verdict.UNKNOWN
    assert any("6 at least, 3 cells more may be known" in text for text in report.unjudged)
    assert audited(tmp_path / "a.csv", ["20", "<6", "*", "*"], 33, {"*": "1+"}).verdict is Verdict.PASS
    assert audited(tmp_path / "a.csv", ["20", "<6", "*", "*"], 33, {"*": "6+"}).verdict is Verdict.FAIL


def test_where_no_table_fits_it_nobody_can_think_so(tmp_path: Path) -> None:
    assert audited(tmp_path / "a.csv", ["20", "<6", "*", "*"], 28).verdict is Verdict.PASS


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["<4", "4-6", "*", "2"]), min_size=2, max_size=5), st.integers(4, 30))
def test_counts_are_known_where_counting_finds_one_value(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], total: int
) -> None:
    """All tables in which a mark stands for what no range of the file does."""
    first = 7 if {"<4", "4-6"} <= {*parts} else 4 if "<4" in parts else 1
    hidden = [k for k, text in enumerate(parts) if text != "2"]
    known = []
    for least in (1, first):
        choices = {"<4": range(1, 4), "4-6": range(4, 7), "*": range(least, total + 1), "2": [2]}
        fits = [own for own in product(*(choices[text] for text in parts)) if sum(own) == total]
        if fits:
            known.append(any(len({own[k] for own in fits}) == 1 for k in hidden))
    if not known or not hidden:
        return
    report = audited(tmp_path_factory.mktemp("beyond") / "a.csv", parts, total)
    expected = Verdict.FAIL if known[0] else Verdict.UNKNOWN if any(known) else Verdict.PASS
    assert report.verdict is expected
