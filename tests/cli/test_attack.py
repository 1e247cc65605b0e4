"""discreet attack: the report, its files and exit codes."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from discreet.cli import run
from discreet.server.counting import cube
from tests.policy.attacks.test_attack import people

HELD = '[query]\nmax_dimensions = 1\nmax_filters = 0\n[[method]]\nname = "cell-key"\nd = 5\nv = 3\n'
OPEN = 'publish = "as it is"\n[query]\nmax_dimensions = 4\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cube and two policies."""
    home = tmp_path_factory.mktemp("attack")
    cube.build(people(), home / "cube")
    (home / "held.toml").write_text(HELD)
    (home / "open.toml").write_text(OPEN)
    return home


def attacked(folder: Path, policy: str, *more: str) -> int:
    quick = ("--limit", "100", "--effort", "quick", "--targets", "2")
    return run(["attack", str(folder / "cube"), "--policy", str(folder / policy), *quick, *more])


def test_a_policy_that_holds_is_exit_0_and_its_report_is_private(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {kind: tmp_path / f"report.{kind}" for kind in ("json", "html", "png")}
    options = ["--json", str(files["json"]), "--html", str(files["html"]), "--plot", str(files["png"])]
    assert attacked(folder, "held.toml", *options) == 0
    assert "verdict: pass" in capsys.readouterr().out
    for path in files.values():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(files["json"].read_text())["verdict"] == "pass"
    assert "land = rare" in files["html"].read_text()


def test_a_policy_that_gives_everything_away_is_exit_1_and_work_is_kept(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.jsonl"
    assert attacked(folder, "open.toml", "--resume", str(kept)) == 1
    first = capsys.readouterr()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    rows = kept.read_bytes()
    assert attacked(folder, "open.toml", "--resume", str(kept)) == 1
    second = capsys.readouterr()
    assert second.out == first.out
    assert "population 1" not in second.err
    assert kept.read_bytes() == rows


def test_what_is_wrong_is_exit_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert attacked(folder, "none.toml") == 2
    assert attacked(folder, "held.toml", "--role", "approved") == 2
    assert "ROLE=POLICY" in capsys.readouterr().err
    assert attacked(folder, "held.toml", "--html", "report.txt") == 2


def test_roles_are_attacked_one_by_one_and_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who has an account may ask without it, too: the union is a report of its own, and counts."""
    role = f"approved={folder / 'open.toml'}"
    assert attacked(folder, "held.toml", "--no-editions", "--role", role) == 1
    lines = capsys.readouterr().out.splitlines()
    heads = ["public", "approved", "all roles together"]
    assert [line for line in lines if line in heads] == heads
