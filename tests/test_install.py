"""What is uploaded: built twice to the same bytes, checked, and installed into environments that hold nothing else."""

from __future__ import annotations

import hashlib
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2 as httpx
import pytest

import discreet
from discreet.base import version
from tests import servers

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
QUICK = {"PIP_NO_COMPILE": "1"}  # no byte code of what is not imported
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
FIRST_TABLE = (
    ("datasets", "census", "-n", "100000", "-o", "census.parquet"),
    ("protect", "census.parquet", "--codebook", "census.toml", "--by", "region,sex,age", "--rule", "threshold(n=3)",
     "-o", "table.csv"),
)  # fmt: skip
pytestmark = pytest.mark.xdist_group("install")  # gigabytes of wheels: unpacked by one worker, once


@dataclass(frozen=True)
class Environment:
    """A fresh environment and what it took to get to a first table with it."""

    folder: Path
    seconds: float

    @property
    def bin(self) -> Path:
        return self.folder / "venv" / "bin"


def outside() -> dict[str, str]:
    """The variables of a user who knows neither the repository nor our environment."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV", "NUMBA", "MAKE"))}


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """A command away from the sources."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=outside() | environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


def make(target: str, folder: Path) -> None:
    """A target of the Makefile with the environment that these tests run in, writing to ``folder``."""
    here = f"BIN={Path(sys.executable).parent}", f"DIST={folder}/dist", f"BUNDLE={folder}/bundle"
    run("make", "-C", ROOT, "-o", ".venv/installed", target, *here, cwd=folder)


def seconds() -> float:
    """Processor time of all that was run and has ended; a clock on the wall would measure the other tests."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with `dist` and `bundle`, as their targets make them."""
    folder = tmp_path_factory.mktemp("release")
    make("bundle", folder)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def plain(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """An environment with the wheel and nothing but its dependencies, used for a first table."""
    folder, before = tmp_path_factory.mktemp("plain"), seconds()
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    wheels = ("--no-index", "--find-links", built / "bundle" / "wheels")
    run(folder / "venv/bin/python", *PIP, "install", *wheels, "discreet", cwd=folder)
    for words in FIRST_TABLE:
        run(folder / "venv/bin/discreet", *words, cwd=folder)
    yield Environment(folder, seconds() - before)
    shutil.rmtree(folder, ignore_errors=True)


def head() -> str | None:
    """The commit that is checked out here, where git is there and trusts this folder."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        return None
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def names_in(archive: Path) -> list[str]:
    """Files of a wheel or of a source distribution."""
    if archive.suffix == ".whl":
        return zipfile.ZipFile(archive).namelist()
    with tarfile.open(archive) as opened:
        return [member.name.partition("/")[2] for member in opened.getmembers() if member.isfile()]


def sources(*folders: str) -> set[str]:
    """The files of the repository in these folders; what running leaves behind is no source."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    left = {"__pycache__", ".pytest_cache", ".ipynb_checkpoints"}
    return {path.relative_to(ROOT).as_posix() for path in found if not left & set(path.parts)}


def test_two_builds_give_the_same_bytes(built: Path, tmp_path: Path) -> None:
    """At another time, in another folder, with other permissions and another umask."""
    copy = tmp_path / "elsewhere"
    shutil.copytree(
        ROOT,
        copy,
        ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", "demo", "site", "dist", "bundle", ".*_cache"),
    )
    if (commit := version_file(built)) is not None:  # no repository there: the commit comes as in an sdist
        (copy / "src/discreet/commit.txt").write_bytes(commit)
    for path in (*copy.rglob("*.py"), copy / "README.md"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(0o600)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path / "dist", copy, cwd=tmp_path)
    for first in (built / "dist").iterdir():
        second = tmp_path / "dist" / first.name
        assert hashlib.sha256(first.read_bytes()).digest() == hashlib.sha256(second.read_bytes()).digest(), first.name


def version_file(built: Path) -> bytes | None:
    """commit.txt of the built wheel."""
    with zipfile.ZipFile(next((built / "dist").glob("*.whl"))) as wheel:
        return wheel.read("discreet/commit.txt") if "discreet/commit.txt" in wheel.namelist() else None


def test_the_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    """Every file of src, the commit, the licence; one wheel for all platforms."""
    (wheel,) = (built / "dist").glob("*.whl")
    assert wheel.name == f"discreet-{discreet.__version__}-py3-none-any.whl"
    about = f"discreet-{discreet.__version__}.dist-info"
    wanted = {name.removeprefix("src/") for name in sources("src")}
    wanted |= {f"{about}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
    found = names_in(wheel)
    assert len(found) == len(set(found))
    assert set(found) - {"discreet/commit.txt"} == wanted
    assert ("discreet/commit.txt" in found) == (head() is not None)
    text = zipfile.ZipFile(wheel).read(f"{about}/METADATA").decode()
    assert f"\nVersion: {discreet.__version__}\n" in text
    assert "\nRequires-Python: >=3.11\n" in text


def test_the_source_distribution_builds_and_tests_itself(built: Path) -> None:
    """Sources, tests, documentation, what the tests read; no environment, cache or dot-folder of the workshop."""
    (archive,) = (built / "dist").glob("*.tar.gz")
    folders = [name for name in ("src", "tests", "docs", "benchmarks", "deploy", "r") if (ROOT / name).is_dir()]
    files = {path.name for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".")}
    wanted = sources(*folders) | files | {"PKG-INFO", ".gitignore", ".containerignore", ".dockerignore"}
    assert set(names_in(archive)) - {"src/discreet/commit.txt"} == wanted


def test_the_version_stands_in_one_place() -> None:
    """The package says it; the project file asks the package, and the changelog tells what is in it."""
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    assert (ROOT / "src/discreet/base/version.py").read_text().count(f'"{discreet.__version__}"') == 1
    changes = (ROOT / "CHANGELOG.md").read_text()
    heads = re.findall(r"^## (.+)$", changes, re.M)
    assert heads[0] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", head) for head in heads[1:])
    assert any(head.startswith(f"{discreet.__version__} ") for head in heads[1:])
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", changes, re.M)) <= kinds


def test_the_version_names_the_commit(built: Path, plain: Environment, tmp_path: Path) -> None:
    """A checkout asks git, a wheel has it written down; both say the same."""
    said = run(plain.bin / "discreet", "--version", cwd=tmp_path).strip()
    assert said == f"discreet, version {version.described()}"
    commit = head()
    assert "(" not in said if commit is None else f"({commit[:12]}" in said


def test_from_nothing_to_a_first_table_in_a_minute(plain: Environment) -> None:
    """Environment, installation and the first protected table take less than 60 s of a processor."""
    assert plain.seconds < 60
    assert (plain.folder / "table.csv").read_text().startswith("region,sex,age,count,status\n")


def test_the_example_runs_without_extras(plain: Environment, tmp_path: Path) -> None:
    """The README in an environment that has no server, no solver and no test tools."""
    run_readme(plain.bin, tmp_path)
    assert (tmp_path / "table.xlsx").stat().st_size > 1000


def test_the_bundle_installs_without_a_network(built: Path, tmp_path: Path) -> None:
    """The three lines of its note, the network cut where the kernel lets us; the demo serves a table."""
    lines = (built / "bundle" / "INSTALL.txt").read_text().splitlines()
    assert len(lines) == 3
    shutil.copytree(built / "bundle", tmp_path / "bundle", symlinks=True)
    cut = (
        ["unshare", "--net"]
        if subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode == 0
        else []
    )
    for line in lines[:2]:
        run(*cut, "sh", "-ec", line, cwd=tmp_path / "bundle", PIP_CONFIG_FILE=os.devnull, PIP_FIND_LINKS="", **QUICK)
    shutil.rmtree(tmp_path / "bundle" / "wheels")
    check_demo(tmp_path / "bundle" / lines[2].split()[0], tmp_path)
    run_readme((tmp_path / "bundle" / lines[2].split()[0]).parent, tmp_path)
    shutil.rmtree(tmp_path / "bundle")


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the lowest versions are those with wheels for Python 3.11")
def test_the_lowest_versions_allowed_do(built: Path, tmp_path: Path) -> None:
    """Every dependency at the version behind its ``>=``: they install together, and example and demo run."""
    wanted = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["server"]
    lowest = [item.partition(";")[0].replace(">=", "==") for item in wanted]
    assert all(re.fullmatch(r"[a-z0-9]+==[0-9.]+", item) for item in lowest)
    (wheel,) = (built / "dist").glob("*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    programs = tmp_path / "venv" / "bin"
    run(
        programs / "python",
        *PIP,
        "install",
        "--only-binary",
        ":all:",
        f"{wheel}[server]",
        *lowest,
        cwd=tmp_path,
        **QUICK,
    )
    run_readme(programs, tmp_path)
    check_demo(programs / "discreet", tmp_path)
    shutil.rmtree(tmp_path / "venv")


def run_readme(programs: Path, folder: Path) -> None:
    """The Python of the README, warnings as errors, and its commands."""
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert blocks
    (folder / "readme.py").write_text("\n".join(blocks), encoding="utf-8")
    run(programs / "python", "-W", "error", "readme.py", cwd=folder)
    commands = re.findall(r"^\$ (discreet .*)$", text, re.M)
    assert len(commands) >= 4
    for line in commands:
        run(programs / "discreet", *shlex.split(line, comments=True)[1:], cwd=folder)


def check_demo(program: Path, folder: Path) -> None:
    """`discreet demo` on few persons: it comes up, gives a table and a page, and ends when asked."""
    port, log = servers.free_port(), folder / "demo.log"
    with log.open("w") as file:
        words = [str(program), "demo", "--folder", "demo", "-n", "5000", "--port", str(port)]
        process = subprocess.Popen(words, cwd=folder, env=outside(), stdout=file, stderr=file)
    try:
        base = f"http://127.0.0.1:{port}"
        servers.wait_for(base, process, log, seconds=180)
        for path, start in (
            ("/census/api/table.csv?variables=sex,region", "region,sex,count"),
            ("/", "<!doctype html>"),
        ):
            answer = httpx.get(base + path, timeout=60, trust_env=False)
            assert answer.status_code == 200
            assert answer.text.lower().startswith(start)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
