"""Codes below a total: whether the numbers confirm that none is a sum of others, and who would read one as a sum."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.tables.nested_names import same_level, within_by_name

NESTED = {
    "codes": {"Total": 61, "A": 50, "A1": None, "A2": None, "B": None},
    "numbers": {"Total": 61, "01": 50, "011": None, "012": None, "02": None},
    "places": {"Total": 61, "North": 50, "Ayr": None, "Bute": None, "South": None},
    "ages": {"Total": 61, "0-14": 50, "0-4": None, "5-14": None, "15+": None},
    "hidden parent": {"Total": 61, "A": None, "A1": 20, "A2": 30, "B": None},
    "two levels": {"Total": 90, "A": 50, "A1": None, "A2": None, "B": None, "B1": 20, "B2": None},
}
FLAT = {
    "sex": {"Total": 61, "m": None, "f": None},
    "ages": {"Total": 61, "0-14": 50, "15-24": None, "25-64": None, "65+": None},
    "letters": {"Total": 61, "A": 50, "B": None, "C": None, "D": None},
    "months": {"Total": 91, "1": 50, **dict.fromkeys(map(str, range(2, 13)))},
    "no other hidden": {"Total": 90, "North": 50, "Ayr": None, "Bute": None, "South": 11},
    "more than the parent": {"Total": 300, "A": 30, "A1": 90, "A2": None, "B": None, "A3": 20, "C": 85},
}


def written(path: Path, table: dict[str, int | None], measure: str = "count") -> Path:
    lines = [f"area;{measure}", *(f"{code};{'*' if value is None else value}" for code, value in table.items())]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("name", NESTED)
def test_codes_that_may_be_sums_of_others_are_never_passed(tmp_path: Path, name: str) -> None:
    report = dc.audit(written(tmp_path / "a.csv", NESTED[name]))
    assert report.verdict.value == "unknown"
    assert any("may be the sum of" in text and "[sums] area" in text for text in report.unjudged)
    assert report.certificate().verdict.value == "unknown"


@pytest.mark.parametrize("name", FLAT)
def test_common_flat_tables_are_judged_and_what_is_taken_as_so_is_noted(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "a.csv", FLAT[name])
    assert dc.audit(path).verdict.value == "pass"
    noted = [text for text in dc.Release.read(path).assumed if "are taken as parts of 'Total'" in text]
    assert len(noted) == (name != "sex")  # of two codes none is a sum of others


def test_what_is_said_of_the_sums_settles_it(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", NESTED["codes"])
    nested = dc.audit(path, mapping={"sums": {"area": {"A": ["A1", "A2"]}}})
    assert nested.verdict.value == "fail"
    assert nested.lower[nested.finding == "exact"].tolist() == [11.0]
    flat = dc.audit(path, mapping={"sums": {"area": {"Total": ["A", "A1", "A2", "B"]}}})
    assert flat.verdict.value == "pass"
    book = dc.Codebook(dimensions=(dc.Dimension.flat("area", ["A", "A1", "A2", "B"]),))
    assert dc.audit(path, codebook=book).verdict.value == "pass"


def test_a_line_that_shows_all_codes_settles_it(tmp_path: Path) -> None:
    def table(men: list[object]) -> Path:
        columns = {"m": men, "w": [60, 50, "*", "*", "*"]}
        rows = [f"{sex};{area};{n}" for sex, ns in columns.items() for area, n in zip(areas, ns, strict=True)]
        path = tmp_path / "a.csv"
        path.write_text("\n".join(["sex;area;count", *rows]) + "\n")
        return path

    areas = ["Total", "A", "A1", "A2", "B"]

    def verdict(men: list[object]) -> str:
        return dc.audit(table(men), total={"sex": None, "area": "Total"}).verdict.value

    assert verdict([21, 5, 6, 7, 3]) == "pass"  # flat: 5 + 6 + 7 + 3
    assert verdict([3, 0, 0, 0, 3]) == "unknown"  # zeros say nothing of A
    assert verdict([100, 5, 6, "*", "*"]) == "pass"  # 6 is no part of 5


def test_numbers_that_add_up_flat_deny_every_nesting() -> None:
    """Law: where all codes count and add up, no code can be the sum of others and the table still add up."""
    random = np.random.default_rng(4)
    for _ in range(50):
        values = random.integers(1, 9, 5)
        for chosen in range(1, 32):
            parts = [k for k in range(1, 5) if chosen >> k & 1]
            if len(parts) > 1 and values[parts].sum() == values[0]:
                assert np.delete(values, parts).sum() != values.sum()


def test_names_that_lie_within_others() -> None:
    assert within_by_name(["North", "North East", "North West", "South"]) == {"North": ["North East", "North West"]}
    assert within_by_name(["Nor", "Norway", "Norfolk"]) == {}
    assert within_by_name(["DE1", "DE11", "DE12", "DE2"]) == {"DE1": ["DE11", "DE12"]}
    assert within_by_name([f"r{k}" for k in range(1, 13)]) == {}
    assert within_by_name(["1", "11", "12", "2", "21", "22"]) == {"1": ["11", "12"], "2": ["21", "22"]}
    assert same_level(["under 15", "15 to 64", "65 and over"])
