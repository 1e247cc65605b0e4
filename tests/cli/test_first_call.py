"""The first command of a fresh install: small tables wait for no compiler, wherever code could be kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.cli import run

COUNTS = "area,injury,count\n" + "".join(
    f"{area},{injury},{count}\n"
    for (area, injury), count in zip(
        [(area, injury) for area in "NSE" for injury in ("slight", "serious", "fatal")],
        [17, 3, 9, 12, 1, 8, 2, 14, 6],
        strict=True,
    )
)
COMMANDS = {
    "protect": ("protect", "table.csv", "--ready", "--count", "count", "--rule", "threshold(n=5)"),
    "audit": ("audit", "shown.csv", "--json"),
    "risk": ("risk", "table.csv", "--ready", "--count", "count", "--json"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small table, and what may be published of it."""
    (tmp_path / "table.csv").write_text(COUNTS)
    monkeypatch.chdir(tmp_path)
    assert run([*COMMANDS["protect"], "-o", "shown.csv"]) == 0
    return tmp_path


def first_call(folder: Path, name: str, **variables: str | None) -> tuple[bytes, str]:
    """What a command prints in a fresh process with these variables, and what it says."""
    environment = {**os.environ, **variables}
    kept = {key: value for key, value in environment.items() if value is not None}
    words = [sys.executable, "-X", "importtime", "-m", "discreet", *COMMANDS[name]]
    done = subprocess.run(words, cwd=folder, env=kept, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return done.stdout, done.stderr.decode()


@pytest.mark.parametrize("name", COMMANDS)
def test_small_tables_wait_for_no_compiler(folder: Path, name: str) -> None:
    """With an empty folder for compiled code, with one that cannot be made, and without a home: the same bytes."""
    (folder / "file").write_text("")
    empty = folder / "empty"
    empty.mkdir(mode=0o700)
    ways: list[dict[str, str | None]] = [
        {"NUMBA_CACHE_DIR": str(empty)},
        {"NUMBA_CACHE_DIR": str(folder / "file" / "in")},
        {"NUMBA_CACHE_DIR": None, "HOME": None, "XDG_CACHE_HOME": None},
    ]
    results = [first_call(folder, name, **way) for way in ways]
    assert len({printed for printed, _ in results}) == 1
    for printed, words in results:
        assert printed
        assert "compiling for" not in words
        assert "numba" not in {line.rpartition("|")[2].strip() for line in words.splitlines()}
    assert not list(empty.iterdir())


def test_warm_up_says_where_code_is_kept(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """And fails where it cannot be, so that the build of an image does, too."""
    from discreet import warm_up

    monkeypatch.setattr(warm_up, "warm_up", lambda progress: warm_up.WarmUp(42, ("here", "there")))
    assert run(["warm-up"]) == 0
    assert capsys.readouterr().err.split()[-2:] == ["here", "there"]
    monkeypatch.setattr(warm_up, "warm_up", lambda progress: warm_up.WarmUp(42, ()))
    assert run(["warm-up"]) == 2
    assert "NUMBA_CACHE_DIR" in capsys.readouterr().err


def test_after_a_warm_up_nothing_is_compiled() -> None:
    """Every loop of the package lies on disk then, and a process that uses all of them compiles none."""
    code = """
import importlib, pkgutil
import discreet
from discreet.base.compiled import loops_of
from discreet.warm_up import warm_up
warm_up()
for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
    if module.name.rpartition(".")[2].startswith("_") and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print([loop.__name__ for loop in loops_of("discreet") if not loop.on_disk])
"""
    words = [sys.executable, "-c", code]
    subprocess.run(words, capture_output=True, check=True)  # where the other tests keep theirs: hardly anything is new
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
