"""discreet protect: any method, parameters as TOML, rules as text, words on stderr."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from discreet.cli import run

PEOPLE = "area,sex\n" + "n,f\n" * 20 + "n,m\n" * 12 + "s,f\n" * 9 + "s,m\n" * 1 + "e,f\n" * 15 + "e,m\n" * 14


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    return "people.csv"


def test_suppress_writes_a_release_and_a_confidential_view(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Primary and secondary cells are told apart only in the confidential file."""
    arguments = [people, "--by", "area,sex", "--rule", "threshold(n=3)", "-o", "out.csv", "--confidential", "all.csv"]
    assert run(["protect", *arguments]) == 0
    said = capsys.readouterr().err
    for word in ("12 cells", "1 primary", "3 secondary", "% of the value lost", " s"):
        assert word in said
    shown = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    assert set(shown["status"]) == {"", "c"}
    assert (shown.loc[shown["status"] == "c", "count"] == "").all()
    assert set(pd.read_csv("all.csv")["status"]) == {"s", "u", "x"}


def test_parameters_are_toml_values(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers, truth values and text; an unknown one is refused with the nearest name."""
    base = ["protect", people, "--by", "area,sex", "--rule", "threshold(n=3)"]
    assert run([*base, "-P", "zeros=true", "-P", "order=count", "-P", 'repair="off"']) == 0
    capsys.readouterr()
    assert run([*base, "-P", "sinletons=none"]) == 2
    assert "did you mean 'singletons'" in capsys.readouterr().err
    assert run([*base, "-P", "zeros"]) == 2
    assert run(["protect", people, "--by", "area,sex"]) == 2
    assert "needs a rule" in capsys.readouterr().err


def test_other_methods_come_from_the_registry(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    """publish takes no rule; a name that is none offers the nearest."""
    assert run(["protect", people, "--by", "area,sex", "--method", "publish"]) == 0
    assert run(["protect", people, "--by", "area,sex", "--method", "publish", "--rule", "threshold(n=3)"]) == 2
    assert run(["protect", people, "--by", "area,sex", "--method", "supress"]) == 2
    assert "did you mean 'suppress'" in capsys.readouterr().err
    assert run(["protect", people, "--method", "list"]) == 0
    assert "suppress" in capsys.readouterr().out


def test_what_cannot_be_protected_is_refused(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 3, the cells named, nothing written."""
    Path("marks.csv").write_text("area,sex,mark\nTotal,m,z\nn,m,z\ne,m,z\n")
    arguments = ["--by", "area,sex", "--rule", "threshold(n=3)", "--marks", "marks.csv", "-o", "out.csv"]
    assert run(["protect", people, *arguments]) == 3
    assert "'s/m'" in capsys.readouterr().err
    assert not Path("out.csv").exists()


def test_magnitudes_and_contributions(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--value and --top give the rule what it looks at."""
    frame = pd.DataFrame(
        {"b": list("xxxxyyyyzzzz"), "r": list("pqpqpqpqpqpq"), "v": [90, 5, 4, 6, 7, 8, 9, 9, 8, 7, 6, 5]}
    )
    pd.concat([frame] * 2).to_csv("firms.csv", index=False)
    base = ["protect", "firms.csv", "--by", "b,r", "--value", "v", "--rule", "dominance(n=3, k=97)"]
    assert run([*base, "--top", "2"]) == 2
    assert "--top 3" in capsys.readouterr().err
    assert run([*base, "--top", "3"]) == 0
