"""Tables in parts on the command line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from discreet.cli import run
from tests.in_parts import POLICY, frame, people


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with records and two policies, in which commands run."""
    monkeypatch.chdir(tmp_path)
    frame(300).to_parquet("people.parquet")
    (tmp_path / "people.toml").write_text(people().codebook.to_toml())
    (tmp_path / "policy.toml").write_text(POLICY.format(rules=""))
    (tmp_path / "strict.toml").write_text(POLICY.format(rules="min_population = 10000"))
    return tmp_path


BASE = ["protect", "people.parquet", "--codebook", "people.toml", "--by", "area,sex,age"]


@pytest.mark.parametrize("how", [["--method", "cell-key", "--where", "sex=f"], ["--policy", "policy.toml"]])
def test_the_command_line_in_parts(folder: Path, how: list[str]) -> None:
    """By a method or under a policy, the same bytes with and without --in-parts."""
    assert run([*BASE, *how, "-o", "whole.csv"]) == 0
    assert run([*BASE, *how, "--in-parts", "--part-cells", "40", "--memory", "500MB", "-o", "parts.csv"]) == 0
    assert (folder / "parts.csv").read_bytes() == (folder / "whole.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--method", "round", "--in-parts"], 2, "goes to a file"),
        (["--method", "round", "--in-parts", "-o", "t.px"], 2, "in one go"),
        (["--method", "round", "--part-cells", "5", "-o", "t.csv"], 2, "give both"),
        (["--method", "round", "--in-parts", "--top", "2", "-o", "t.csv"], 2, "--top"),
        (["--method", "round", "--in-parts", "--confidential", "c.csv", "-o", "t.csv"], 2, "no true values"),
        (["--method", "suppress", "--in-parts", "-o", "t.csv"], 2, "needs the whole table"),
        (["--method", "round", "--memory", "plenty", "-o", "t.csv"], 2, "'4GB'"),
        (["--policy", "policy.toml", "--record", "r.jsonl", "--in-parts", "-o", "t.csv"], 2, "digest"),
        (["--policy", "strict.toml", "--in-parts", "-o", "t.csv"], 3, "min_population"),
    ],
)
def test_the_command_line_refuses(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    """What does not go together is said, and no file is there."""
    before = sorted(os.listdir(folder))
    assert run([*BASE, *arguments]) == code
    assert words in capsys.readouterr().err
    assert sorted(os.listdir(folder)) == before
