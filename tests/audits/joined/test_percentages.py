"""Columns of percentages in lists of cells are equations, once it is said what they are a share of."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dc
from discreet.cli import run

LINES = """area,sex,count,share
Total,Total,90,100.0
Total,f,45,50.0
Total,m,45,50.0
N,Total,20,100.0
N,f,*,*
N,m,*,*
S,Total,15,100.0
S,f,*,20.0
S,m,*,*
E,Total,55,100.0
E,f,30,54.5
E,m,25,45.5
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A square of hidden counts, one of them with its share of the row."""
    (tmp_path / "shares.csv").write_text(LINES)
    return str(tmp_path / "shares.csv")


def test_a_share_of_the_row_gives_the_square_away(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    """20.0 % of 15 is 3; of everything it cannot be."""
    assert run(["audit", path, "--measures", "2", "--percent", "share=sex"]) == 1
    told = capsys.readouterr().err
    assert "4 exact, 0 narrow, 0 open" in told
    assert "S m: 15 - 3 = 12" in told
    assert run(["audit", path, "--measures", "2", "--percent", "share=all"]) == 2
    assert "contradict" in capsys.readouterr().err


def test_what_it_is_a_share_of_must_be_there(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", path, "--measures", "2", "--percent", "share=sec"]) == 2
    assert "which is not a dimension; did you mean 'sex'?" in capsys.readouterr().err
    assert run(["audit", path, "--measures", "2", "--percent", "shar=sex"]) == 2
    assert "has no column of numbers 'shar'; did you mean 'share'?" in capsys.readouterr().err


def test_in_python(path: str) -> None:
    """Without a word on it a column of percentages is a measure that does not add up."""
    release = dc.Release.read(path, measures=2)
    assert list(release.values) == ["count", "share"]
    with pytest.raises(dc.InputError, match="contradict"):
        dc.audit(release)
    with pytest.raises(dc.InputError, match="no table has the column of percentages"):
        dc.audit([release], mapping={"percent": {"share": "sex"}})
