"""What is wrong with a programme is said at once, all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dc
from discreet.cli import run as cli
from discreet.publishing import (
    parse_programme,
    run,
)
from tests.publishing.programmes import HEAD, KEYED, MANY, made


def test_unknown_keys_and_sections_hide_no_other_fault(home: Path) -> None:
    """Each key that is none has the line where it stands, and what else is wrong is said beside it."""
    text = HEAD + KEYED + '[default]\nname = "x"\n[[table]]\nname = "one"\nby = ["sexx"]\ntop2 = 1\nnots = []\n'
    text = 'colour = "red"\nshape = "round"\n' + text
    with pytest.raises(dc.InputError) as caught:
        parse_programme(text, source="p.toml")
    first, *said = str(caught.value).splitlines()
    assert first.startswith("6 faults")
    lines = text.splitlines()
    for key, found in zip(
        ("colour", "shape", "[default]", "[[table]]", "top2", "nots"), sorted(said, key=_line_of), strict=True
    ):
        number = next(n for n, line in enumerate(lines, 1) if line.startswith(key))
        assert _line_of(found) == number, found
        assert key.strip("[]") in found


def _line_of(said: str) -> int:
    return int(said.partition(", line ")[2].partition(":")[0])


def test_all_faults_are_said_at_once_with_table_and_key(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unknown dimensions, levels, codes, methods, parameters, rules, groups, names: one list, each with its line."""
    entries = {
        "dim": 'by = ["arae"]\nmethod = "publish"',
        "lev": 'by = ["area:levle 1"]\nmethod = "publish"',
        "cod": 'by = ["sex"]\nwhere = { area = "n9" }\nmethod = "publish"',
        "val": 'by = ["sex"]\nvalue = "turnover"\nmethod = "publish"',
        "met": 'by = ["sex"]\nmethod = "supress"',
        "par": 'by = ["sex"]\nmethod = "round"\nparameters = { bas = 3 }',
        "rul": 'by = ["sex"]\nrule = "treshold(n=3)"',
        "non": 'by = ["sex"]',
        "grp": 'by = ["sex"]\nlinked = "nobody"',
        "pol": 'by = ["sex"]\npolicy = "none.toml"',
        "nob": 'method = "publish"',
        "src": 'by = ["sex"]\nsource = "elsewhere"\nmethod = "publish"',
        "fmt": 'by = ["sex"]\nmethod = "publish"\nformats = ["cvs"]',
        "each": 'by = ["sex"]\nmethod = "publish"\nfor_each = { area = ["x1"] }',
        "a/b": 'by = ["sex"]\nmethod = "publish"',
        "report": 'by = ["sex"]\nmethod = "publish"\nformats = ["json-stat"]',
    }
    Path("bad.toml").write_text(HEAD + "".join(f'[[table]]\nname = "{n}"\n{e}\n' for n, e in entries.items()))
    assert cli(["run", "bad.toml", "--dry-run"]) == 2
    said = capsys.readouterr().err
    for name in entries:
        assert f"table '{name}'" in said
    hints = ("'area'", "'level 1'", "'suppress'", "'base'", "'threshold'", "needs a rule", "'csv'", "policy not found")
    assert all(h in said for h in hints)
    lines = [int(line.split("line ")[1].split(":")[0]) for line in said.splitlines()[1:]]
    assert lines == sorted(lines)
    assert said.splitlines()[1].startswith("  bad.toml, line 7: table 'dim': by: unknown dimension 'arae'")
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[programme\n", "line 1: not valid TOML"),
        ('[programme]\nname = "x"\noutput = "o"\n', "'table'"),
        (HEAD + '[[table]]\nname = "t"\nbye = ["sex"]\n', "did you mean 'by'"),
        (HEAD + '[[table]]\nname = "t"\nby = "sex"\n', "must be a list"),
        (HEAD.replace('codebook = "people.toml"', "") + '[[table]]\nname = "t"\nby = ["sex"]\n', "together"),
        (HEAD.replace("people.parquet", "none.csv") + '[[table]]\nname = "t"\nby = ["sex"]\n', "data not found"),
        (HEAD + '[[linked]]\nname = "g"\n[[table]]\nname = "t"\nby = ["sex"]\nrule = "x"\n', "no table belongs"),
        (HEAD + 2 * '[[table]]\nname = "t"\nby = ["sex"]\nmethod = "publish"\n', "two tables are called 't'"),
        (HEAD + '[[table]]\nname = "t"\nby = ["sex"]\npolicy = "p.toml"\nrule = "x"\n', "the policy decides"),
        (HEAD + '[consistency]\nmixed = "off"\n[[table]]\nname = "t"\nby = ["sex"]\n', "one of"),
    ],
)  # fmt: skip
def test_a_programme_that_is_no_programme(home: Path, text: str, words: str) -> None:
    """The message has the line and what to change."""
    with pytest.raises(dc.InputError, match=words) as caught:
        made(text)
    assert "programme, line" in str(caught.value)


def test_linked_tables_share_source_value_and_population(home: Path) -> None:
    """And have no method of their own."""
    base = HEAD + '[[linked]]\nname = "g"\nrule = "threshold(n=3)"\n[[table]]\nname = "a"\nby = ["sex"]\nlinked = "g"\n'
    with pytest.raises(dc.InputError, match="'where' differs"):
        made(base + '[[table]]\nname = "b"\nby = ["age"]\nlinked = "g"\nwhere = { area = "N" }\n')
    with pytest.raises(dc.InputError, match="'rule' belongs to the group"):
        made(base + '[[table]]\nname = "b"\nby = ["age"]\nlinked = "g"\nrule = "threshold(n=3)"\n')


def test_the_plan_counts_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--dry-run prints every table; no folder is made."""
    Path("p.toml").write_text(MANY)
    assert cli(["run", "p.toml", "--dry-run"]) == 0
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 19
    assert "all-area-sex: count by area x sex, 24 cells, cell-key" in said.out
    assert not Path("out").exists()


def test_a_fault_of_one_table_is_withheld_and_stops_no_other(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception's message may hold data: only its kind is told."""
    from discreet.publishing import protect as work

    real = work.unit_releases

    def broken(unit: object, data: object) -> object:
        if unit.name == "all-sex":  # type: ignore[attr-defined]
            raise ZeroDivisionError("the value 42")
        return real(unit, data)  # type: ignore[arg-type]

    monkeypatch.delenv("DISCREET_TRACEBACK", raising=False)
    monkeypatch.setattr(work, "unit_releases", broken)
    report = run(made(MANY))
    assert (report.count("failed"), report.count("published"), report.exit_code) == (1, 18, 1)
    assert "42" not in Path("out/report.json").read_text().split('"all-sex"')[1][:700]
    assert "ZeroDivisionError" in Path("out/report.html").read_text()
