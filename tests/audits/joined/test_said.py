"""What is said of files and is not so: rounding bases, names in a mapping, totals; and why an audit stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.cli import run

SQUARE = [{"area": a, "sex": s} for a in ("1", "2") for s in ("1", "2")]


def write(path: Path, counts: Any, hide: list[Any] | None = None) -> str:
    """A table published in a file, with some cells hidden."""
    method = dc.Hide(hide) if hide else dc.Publish()
    return str(dc.write(dc.protect(dc.Table.of(counts, ["area", "sex"]), method).release(), path))


def test_a_base_that_the_numbers_are_no_multiples_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By option, by mapping, and by what the file itself says of its method."""
    path = write(tmp_path / "a.csv", [[20, 52], [35, 35]], SQUARE)
    assert run(["audit", path, "--rounded", "5"]) == 2
    text = capsys.readouterr().err
    assert "'a.csv' is not rounded to base 5: 3 of its numbers are no multiple of it" in text
    assert "cell area Total, sex Total" in text
    mapping = tmp_path / "map.toml"
    mapping.write_text('[tables."a.csv"]\nrounding = 3\n')
    assert run(["audit", path, "--mapping", str(mapping)]) == 2
    assert "rounded to base 3" in capsys.readouterr().err
    assert run(["audit", path, "--difference", "--rounded", "5"]) == 2
    even = write(tmp_path / "b.csv", [[20, 50], [35, 35]], SQUARE)
    assert run(["audit", even, "--rounded", "5"]) == 0


def test_a_rounded_file_says_its_base_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One file as well as several: its numbers are not taken for the true ones."""
    table = dc.Table.of([[3, 1], [2, 4]], ["area", "sex"])
    release = dc.protect(table, dc.Round(5)).release()
    path = str(dc.write(release, tmp_path / "rounded.xlsx"))
    assert run(["audit", path]) == 0
    assert "0 exact, 0 narrow, 9 open" in capsys.readouterr().err


def test_why_an_audit_stops_for_bits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "a.csv", [[20, 3], [35, 35]], SQUARE)
    assert run(["audit", path]) == 0
    capsys.readouterr()
    assert run(["audit", path, "--fail-on", "risk=9"]) == 1
    assert "--fail-on risk=9: 4 cells have fewer than 9 bits left, the least 4.46" in capsys.readouterr().err
    assert run(["audit", path, "--fail-on", "risk=4"]) == 0
    assert "--fail-on" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"dimensions": {"aera": "area"}}, "names the dimension 'aera', which no table has; did you mean 'area'"),
        ({"measures": {"cuont": "count"}}, "names the measure 'cuont', which no table has; did you mean 'count'"),
        ({"codes": {"sx": {"1": "m"}}}, "names the dimension 'sx', which no table has; did you mean 'sex'"),
        ({"codes": {"sex": {"11": "m"}}}, "names the code of 'sex' '11', which no table has; did you mean '1'"),
        ({"sums": {"are": {"N": ["1", "2"]}}}, "names the dimension 'are', which no table has; did you mean 'area'"),
        ({"sums": {"area": {"N": ["7", "8"]}}}, "names the sum 'N' of 'area', and no table has it"),
        ({"crossing": ["sec"]}, "names the dimension 'sec', which no table has; did you mean 'sex'"),
        ({"tables": {"b.csv": {"dimensions": {"place": "area"}}}}, "names the dimension 'place', which no table has"),
        ({"tables": {"b.csv": {"codes": {"sex": {"m": "1"}}}}}, "names the code of 'sex' 'm'"),
    ],
)
def test_names_that_no_file_has(mapping: dict[str, Any], message: str, tmp_path: Path) -> None:
    paths = [write(tmp_path / name, [[20, 52], [35, 35]], SQUARE) for name in ("a.csv", "b.csv")]
    for ask in (dc.audit, dc.difference):
        with pytest.raises(dc.InputError) as caught:
            ask(paths, mapping=mapping)
        assert message in str(caught.value)


def test_names_that_some_file_has(tmp_path: Path) -> None:
    """A name of one file is enough, and a part of a sum may be in none."""
    first = write(tmp_path / "a.csv", [[20, 52], [35, 35]], SQUARE)
    second = tmp_path / "b.csv"
    second.write_text("place,sex,count\nN,1,20\n")
    mapping = {"dimensions": {"place": "area"}, "codes": {"area": {"N": "1"}}, "sums": {"area": {"1": ["1a", "1b"]}}}
    assert dc.audit([first, second], mapping=mapping).verdict == "fail"


def test_totals_and_codebooks_that_no_file_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [write(tmp_path / name, [[20, 52], [35, 35]], SQUARE) for name in ("a.csv", "b.csv")]
    assert run(["audit", *paths, "--total", "aera=Total"]) == 2
    assert "no table has the dimension 'aera'; did you mean 'area'?" in capsys.readouterr().err
    book = dc.Codebook(dimensions=(dc.Dimension.flat("job", ["a", "b"]),))
    (tmp_path / "book.toml").write_text(book.to_toml())
    assert run(["audit", *paths, "--codebook", str(tmp_path / "book.toml")]) == 2
    assert "no table has a dimension that the codebook knows" in capsys.readouterr().err


def test_marks_in_a_mapping(tmp_path: Path) -> None:
    """Of all files, and of one, which goes first."""
    lines = ["area,count", "Total,9", "1,-", "2,-", "3,5"]
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("\n".join(lines))
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    report = dc.audit(paths, mapping={"marks": {"-": "suppressed"}})
    assert report.upper.tolist() == [3.0] * 4  # and 1 at least
    narrower = {"marks": {"-": "suppressed"}, "tables": {"b.csv": {"marks": {"-": "<3"}}}}
    assert dc.audit(paths, mapping=narrower).finding.tolist() == ["exact"] * 4
    wider = {**narrower, "zeros_hidden": True}
    assert np.unique(dc.audit(paths, mapping=wider).lower).tolist() == [2.0]
