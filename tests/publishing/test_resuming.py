"""A programme that is stopped goes on, and ends the same."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.publishing import (
    read_programme,
    run,
)
from discreet.publishing.folder import Folder
from tests.persons import persons
from tests.publishing.programmes import HEAD, KEYED, MANY, files, made


def kept(report: object) -> set[str]:
    return {line.name for line in report.lines if line.kept}  # type: ignore[attr-defined]


def test_only_what_changed_is_done_again(home: Path) -> None:
    """An entry, a file of the output, the codebook, the records: each makes exactly its tables be done again."""
    first = run(made(MANY))
    names = {line.name for line in first.lines}
    before = files("out")
    assert kept(first) == set()
    assert kept(run(made(MANY))) == names
    Path("out/all-sex.csv").write_bytes(b"tampered")
    Path("out/all-age.json").unlink()
    assert kept(run(made(MANY))) == names - {"all-sex", "all-age"}
    assert files("out") == before
    changed = MANY.replace('by = ["area:level 1", "sex"]', 'by = ["sex", "area:level 1"]')
    assert kept(run(made(changed))) == {n for n in names if not n.startswith("coarse")}
    assert kept(run(made(changed), resume=False)) == set()
    pq.write_table(persons(301), "people.parquet")
    assert kept(run(made(changed))) == set()
    assert files("out") != before


def test_tables_that_left_the_programme_leave_the_folder(home: Path) -> None:
    """Only files that a run wrote are removed, and only its own."""
    run(made(MANY))
    Path("out/notes.txt").write_text("mine")
    run(made(HEAD + KEYED + '[[table]]\nname = "only"\nby = ["sex"]\n'), resume=False)
    assert set(files("out")) == {"only.csv", "notes.txt"}


def test_a_changed_secret_makes_tables_anew(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is named in the programme, its value decides; a secret itself is refused."""
    text = HEAD + '[[table]]\nname = "t"\nby = ["sex"]\nmethod = "cell-key"\nparameters = { secret = "env:NOISE" }\n'
    monkeypatch.setenv("NOISE", "a secret of many characters")
    run(made(text))
    assert kept(run(made(text))) == {"t"}
    monkeypatch.setenv("NOISE", "another one of many characters")
    assert kept(run(made(text))) == set()
    with pytest.raises(dc.InputError, match="is not written in a programme"):
        made(text.replace("env:NOISE", "a secret of many characters"))


def test_the_state_is_private_and_tells_nothing(home: Path) -> None:
    """Nobody else reads the folder, digests are keyed, and a torn line does no harm."""
    run(made(MANY))
    private = Path(".out.state")
    assert private.stat().st_mode & 0o077 == 0
    state = (private / "state.jsonl").read_text()
    for data in files("out").values():
        assert hashlib.sha256(data).hexdigest() not in state
    assert hashlib.sha256(Path("people.parquet").read_bytes()).hexdigest() not in state
    assert set(json.loads(state.splitlines()[0])) == {"unit", "fingerprint", "tables"}
    with (private / "state.jsonl").open("a") as file:
        file.write('{"unit": "table all-s')
    assert len(kept(run(made(MANY)))) == 19


def test_two_runs_into_one_folder_are_refused(home: Path) -> None:
    """The second is told to wait."""
    programme = made(MANY)
    with Folder.open(programme).alone(), pytest.raises(dc.InputError, match="another run"):
        run(programme)


def started(home: Path, jobs: int) -> subprocess.Popen[bytes]:
    """A run in a process (and group) of its own, well under way but not finished."""
    code = "import sys; from discreet.cli import main; main(sys.argv[1:])"
    arguments = [sys.executable, "-c", code, "run", "many.toml", "--jobs", str(jobs)]
    process = subprocess.Popen(arguments, cwd=home, stderr=subprocess.PIPE, start_new_session=True)
    state = home / ".out.state/state.jsonl"
    for _ in range(6000):
        if state.exists() and state.read_bytes().count(b"\n") >= 2:
            return process
        assert process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.01)
    raise AssertionError("no table was finished in a minute")


def gone(group: int) -> bool:
    """Whether no process of a group is left, at the latest after some seconds."""
    for _ in range(1000):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def slow(home: Path) -> Callable[[], dict[str, bytes]]:
    """A programme of some seconds, and what it gives when nothing stops it."""
    source = 'data = "people.parquet"\ncodebook = "people.toml"\n'
    text = MANY + "".join(
        f'[[table]]\nname = "r{n}"\nby = ["area", "sex", "age"]\nsource = "s{n}"\n[source.s{n}]\n{source}'
        for n in range(40)
    )
    (home / "many.toml").write_text(text)

    def whole() -> dict[str, bytes]:
        assert run(made(text, "whole")).exit_code == 0
        return files("whole")

    return whole


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_it_goes_on_and_ends_the_same(home: Path, jobs: int) -> None:
    """SIGKILL in the middle: nothing published yet, no process left; the next run keeps what was finished."""
    whole = slow(home)
    process = started(home, jobs)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert gone(process.pid)
    assert files("out") == {}
    finished = (home / ".out.state/state.jsonl").read_bytes().count(b"\n")
    report = run(read_programme("many.toml"))
    assert len(kept(report)) >= min(finished, 2)
    assert files("out") == whole()
    assert not list(Path(".out.state/waiting").iterdir())


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_it_leaves_a_valid_state(home: Path, jobs: int) -> None:
    """Ctrl-C: exit code 130, no process left behind, finished tables are kept."""
    whole = slow(home)
    process = started(home, jobs)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert gone(process.pid)
    assert files("out") == {}
    assert kept(run(read_programme("many.toml"), jobs=2))
    assert files("out") == whole()
