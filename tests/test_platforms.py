"""Other people's machines: no fork and no locks, odd folders, nothing writable, consoles of another time."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx2 as httpx
import pytest

import discreet as dc
from tests import servers

ROOT = Path(__file__).parents[1]
SOURCES = Path(dc.__file__).parents[1]
BARE = ROOT / "tests" / "bare"
CORE = (
    "tables/test_table", "release/test_release", "rules/test_rules", "data/test_codebook", "methods/test_keys",
    "methods/perturb/test_small_counts",
)  # fmt: skip
PROGRAMME = """
[programme]
name = "One table"
data = "people.parquet"
codebook = "people.toml"
output = "published"

[defaults]
method = "cell-key"
parameters = { d = 2, v = 1.0 }

[[table]]
name = "sex"
by = ["region", "sex"]
"""
ALL = "import json, sys; from discreet.cli import run; sys.exit(any(run(words) for words in json.loads(sys.argv[1])))"


def run(*commands: list[str], cwd: Path, code: int = 0, environment: Mapping[str, str] | None = None) -> str:
    """Commands of `discreet` in a process of their own; gives what they say."""
    words = ["-m", "discreet", *commands[0]] if len(commands) == 1 else ["-c", ALL, json.dumps(commands)]
    done = attempt([sys.executable, *words], cwd, environment or {})
    said = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
    assert done.returncode == code, said
    assert "Traceback" not in said
    return said


def attempt(command: list[str], cwd: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTEST", "NUMBA"))}
    kept |= {"PYTHONPATH": str(SOURCES), **environment}
    return subprocess.run(command, cwd=cwd, env=kept, capture_output=True)


def walk(folder: Path, name: str = "people", **environment: str) -> bytes:
    """From records to a protected, audited, published table on the command line; gives the table."""
    data = [f"{name}.parquet", "--codebook", f"{name}.toml", "--by", "region,age"]
    said = run(
        ["datasets", "census", "-n", "3000", "-o", f"{name}.parquet"],
        ["risk", *data],
        ["protect", *data, "--rule", "threshold(n=8)", "-o", f"{name} safe.csv"],
        ["audit", f"{name} safe.csv"],
        ["show", f"{name} safe.csv"],
        cwd=folder,
        environment=environment,
    )
    assert "verdict: pass" in said
    return (folder / f"{name} safe.csv").read_bytes()


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table on a machine like ours."""
    return walk(tmp_path_factory.mktemp("usual"))


def test_the_core_runs_without_posix(tmp_path: Path) -> None:
    """Tests of the core with fork, locks, limits and the signals that Windows lacks taken away."""
    files = [str(ROOT / "tests" / f"{name}.py") for name in CORE]
    words = [sys.executable, "-m", "pytest", "-n0", "-q", "-p", "no:cacheprovider", "--no-header", *files]
    done = attempt(words, ROOT, {"PYTHONPATH": f"{BARE}{os.pathsep}{SOURCES}"})
    assert done.returncode == 0, done.stdout.decode()[-3000:]


def test_nothing_of_posix_is_there() -> None:
    """That what should be gone is gone: a fork would be an error."""
    code = (
        "import os, signal\ntry: import fcntl\nexcept ImportError: print(hasattr(os, 'fork'), hasattr(signal, 'alarm'))"
    )
    assert attempt([sys.executable, "-c", code], ROOT, {"PYTHONPATH": str(BARE)}).stdout.split() == [b"False"] * 2


def test_the_command_line_runs_without_posix(usual: bytes, tmp_path: Path) -> None:
    """The walk and a publishing programme with two processes give the usual bytes."""
    environment = {"PYTHONPATH": f"{BARE}{os.pathsep}{SOURCES}"}
    assert walk(tmp_path, **environment) == usual
    (tmp_path / "programme.toml").write_text(PROGRAMME)
    run(["run", "programme.toml", "--jobs", "2"], cwd=tmp_path, environment=environment)
    assert (tmp_path / "published" / "sex.csv").exists()


def test_one_process_serves_without_posix(tmp_path: Path) -> None:
    """Two workers are asked for, one serves, says so, and gives what two would."""
    (tmp_path / "policy.toml").write_text(servers.policy_text())
    port, environment = servers.free_port(), {**os.environ, "DISCREET_TEST_SECRET": servers.SECRET}
    environment["PYTHONPATH"] = f"{BARE}{os.pathsep}{SOURCES}"
    words = [sys.executable, "-m", "discreet", "serve", str(servers.small_cube()), "--policy", "policy.toml"]
    with (tmp_path / "serve.log").open("w") as log:
        words += ["--port", str(port), "--workers", "2"]
        process = subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=log, stderr=log)
    try:
        base = f"http://127.0.0.1:{port}"
        servers.wait_for(base, process, tmp_path / "serve.log")
        answer = httpx.get(f"{base}/api/table.csv?variables=region,sex", trust_env=False, timeout=30)
        assert answer.status_code == 200
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert "one process serves" in (tmp_path / "serve.log").read_text()
    assert "Traceback" not in (tmp_path / "serve.log").read_text()
    folder = tmp_path / "forked"
    folder.mkdir()
    with servers.running(folder, servers.policy_text(), workers=2) as other:
        assert httpx.get(f"{other}/api/table.csv?variables=region,sex", trust_env=False).content == answer.content


def test_folders_and_files_may_have_any_name(usual: bytes, tmp_path: Path) -> None:
    """Spaces, umlauts, quotes and signs that shells and URLs read otherwise."""
    folder = tmp_path / "Größe & Maß (1) 100% o'clock #2"
    folder.mkdir()
    assert walk(folder, "Übersicht  1") == usual
    run(["cube", "Übersicht  1.parquet", "--codebook", "Übersicht  1.toml", "-o", "der Würfel"], cwd=folder)
    (folder / "richtlinie ü.toml").write_text(servers.policy_text(), encoding="utf-8")
    words = ["answer", "der Würfel", "--policy", "richtlinie ü.toml", "--variables", "sex"]
    assert run(words, cwd=folder, environment={"DISCREET_TEST_SECRET": servers.SECRET}).startswith("sex,count,status")
    store = f"sqlite:///{(folder / 'gemerktes & mehr.db').as_posix()}"
    run(["admin", "users", "--store", store], cwd=folder)
    assert (folder / "gemerktes & mehr.db").exists()


def test_nothing_need_be_writable(usual: bytes, tmp_path: Path) -> None:
    """A package folder without a cache, no home, no place for configuration: slower, with the same bytes.

    Files stand where the folders for caches would be made, which stops a superuser too.
    """
    installed = tmp_path / "site-packages"
    shutil.copytree(SOURCES / "discreet", installed / "discreet", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [installed / "discreet", *(p for p in installed.rglob("*") if p.is_dir())]:
        (folder / "__pycache__").write_text("")
    work = tmp_path / "work"
    work.mkdir()
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), "/dev/null/none")
    assert walk(work, PYTHONPATH=str(installed), **nowhere) == usual
    assert not list(installed.rglob("*.nb?")), "a cache was written"


@pytest.mark.parametrize(
    "console",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
    ids=lambda c: " ".join(f"{k}={v}" for k, v in c.items()),
)
def test_any_console_will_do(usual: bytes, tmp_path: Path, console: dict[str, str]) -> None:
    """What it cannot show is a question mark; files are the same."""
    assert walk(tmp_path, **console) == usual


def test_a_name_that_the_console_garbles_is_said(tmp_path: Path) -> None:
    """Not a fault of ours, and the cure is in the message."""
    (tmp_path / "ä.csv").write_text("sex,count\nf,1\n", encoding="utf-8")
    console = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert "PYTHONUTF8=1" in run(["show", "ä.csv"], cwd=tmp_path, code=2, environment=console)
