"""Whether numbers are counts does not depend on what their column is called."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

import discreet as dc
from discreet.cli import run

SIZES = (2, 2, 2, 3)
POSSIBLE = {(*at, k) for at in ((0, 0, 1), (0, 1, 0), (1, 0, 0)) for k in range(3)} | {(1, 1, 1, 0)}
MAGNITUDE = {"kinds": {"persons": "magnitude"}}


def only_whole_numbers_tell(path: Path, measure: str, form: str = "{}") -> Path:
    """A table of which fractions leave more than one value in cells that whole numbers leave with one."""
    lines = [f"p,q,r,s,{measure}"]
    for cell in itertools.product(*(range(size + 1) for size in SIZES)):
        covers = [c for c in POSSIBLE if all(a in (size, b) for a, b, size in zip(cell, c, SIZES, strict=True))]
        text = "*"
        if not covers:
            text = form.format(0)
        elif cell == SIZES:
            text = form.format(4)
        elif cell == (1, 1, 1, 0) or (cell[3] < 3 and cell[:3].count(2) == 2 and 0 in cell[:3]):
            text = "0-1"
        codes = ["Total" if a == size else str(a + 1) for a, size in zip(cell, SIZES, strict=True)]
        lines.append(",".join([*codes, text]))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_whole_numbers_of_any_name_are_never_passed_as_fractions(tmp_path: Path) -> None:
    counts = dc.audit(only_whole_numbers_tell(tmp_path / "a.csv", "count"))
    assert counts.verdict.value == "fail"
    for name in ("persons", "Anzahl"):
        report = dc.audit(only_whole_numbers_tell(tmp_path / "b.csv", name))
        assert report.verdict.value == "unknown"
        exact = int((counts.finding == "exact").sum())
        assert any(f"{exact} cells more may be known" in text and "[kinds]" in text for text in report.unjudged)
        assert report.certificate().verdict.value == "unknown"


@pytest.mark.parametrize(
    ("mapping", "verdict"),
    [
        ({"kinds": {"persons": "count"}}, "fail"),
        ({"measures": {"persons": "count"}}, "fail"),
        (MAGNITUDE, "pass"),
    ],
)
def test_what_is_said_of_numbers_settles_it(tmp_path: Path, mapping: dict[str, dict[str, str]], verdict: str) -> None:
    path = only_whole_numbers_tell(tmp_path / "a.csv", "persons")
    report = dc.audit(path, mapping=mapping)
    assert report.verdict.value == verdict
    if "kinds" in mapping:
        assert report.certificate().verdict.value == verdict


def test_decimals_that_are_all_zero_are_whole_numbers(tmp_path: Path) -> None:
    path = only_whole_numbers_tell(tmp_path / "a.csv", "persons", "{}.0")
    report = dc.audit(path)
    assert report.verdict.value == "unknown"
    assert any("decimals are all zero" in text for text in report.unjudged)


def test_numbers_with_decimals_are_magnitudes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("area;turnover\nTotal;61.5\nA;50.2\nB;*\nC;*\n")
    assert dc.audit(path).verdict.value == "pass"


def test_unknown_kinds_and_measures_are_refused(tmp_path: Path) -> None:
    path = only_whole_numbers_tell(tmp_path / "a.csv", "persons")
    with pytest.raises(dc.InputError, match="did you mean 'persons'"):
        dc.audit(path, mapping={"kinds": {"persens": "count"}})
    with pytest.raises(dc.InputError, match="must be one of 'count', 'magnitude'"):
        dc.audit(path, mapping={"kinds": {"persons": "sum"}})


def test_json_of_one_file_names_it(tmp_path: Path) -> None:
    path = only_whole_numbers_tell(tmp_path / "a.csv", "persons")
    assert run(["audit", str(path), "-o", str(tmp_path / "report.json")]) == 1
    assert json.loads((tmp_path / "report.json").read_text())["files"] == ["a.csv"]
