"""Files of unfinished work: the owner's alone, one run at a time, whole lines, never another's."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.base.resume import ResumeFile, kept_rows
from discreet.errors import InputError
from discreet.policy import grid, ru_map

TABLE = dc.Table.of([[30, 4], [1, 22]], ["area", "sex"])


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o666, None])
def test_a_file_is_its_owners_alone_before_anything_is_written(tmp_path: Path, mode: int | None) -> None:
    """Whatever it was before, and whatever the umask."""
    path = tmp_path / "kept"
    if mode is not None:
        path.touch()
        path.chmod(mode)
    old = os.umask(0)
    try:
        with ResumeFile.open(path) as file:
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            file.append({"a": 1})
            file.replace([{"b": 2}])
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(old)
    assert kept_rows(path) == [{"b": 2}]


def test_rows_come_back_and_a_line_that_was_cut_off_does_not(tmp_path: Path) -> None:
    """Exact numbers, any text; what is no row is refused by who would go on writing behind it."""
    path = tmp_path / "kept"
    rows: list[dict[str, Any]] = [{"x": 0.1 + 0.2, "n": "Łódź\n"}, {"x": -1e-300}]
    with ResumeFile.open(path) as file:
        for row in rows:
            file.append(row)
    with path.open("ab") as torn:
        torn.write(b'{"x": 1')
    with ResumeFile.open(path) as file:
        assert file.rows() == rows
        file.append({"x": 2})
    assert kept_rows(path) == [*rows, {"x": 2}]
    with ResumeFile.open(path) as file, pytest.raises(InputError, match="remove it"):
        file.rows()
    for text in ("hello", "hello\n", "[1]\n"):
        path.write_text(text)
        with ResumeFile.open(path) as file, pytest.raises(InputError, match="remove it"):
            file.rows()


def test_one_run_at_a_time(tmp_path: Path) -> None:
    """A second one is refused, from this process or another, also after the file was replaced; then it may."""
    path = tmp_path / "kept"
    code = f"from discreet.base.resume import ResumeFile\nwith ResumeFile.open({str(path)!r}): print('in')"

    def other() -> str:
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stdout.strip()

    with ResumeFile.open(path) as file:
        assert other() == ""
        file.replace([{"a": 1}])
        assert other() == ""
        with pytest.raises(InputError, match="another run"), ResumeFile.open(path):
            pass
        file.append({"a": 2})
    assert other() == "in"
    assert kept_rows(path) == [{"a": 1}, {"a": 2}]


def test_threads_keep_whole_rows(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    with ResumeFile.open(path) as file:
        work = [threading.Thread(target=file.append, args=({"k": k, "text": "x" * 5000},)) for k in range(40)]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
        assert sorted(row["k"] for row in file.rows()) == list(range(40))


def test_a_map_keeps_its_confidential_numbers_to_itself(tmp_path: Path) -> None:
    """0600 and locked while it works; another run into the same file is refused before anything is computed."""
    path = tmp_path / "map.jsonl"
    modes, refusals = [], []

    def look(done: int, total: int) -> None:
        modes.append(stat.S_IMODE(path.stat().st_mode))
        try:
            ru_map(TABLE, grid("round", base=[3]), resume=path)
        except InputError as error:
            refusals.append(str(error))

    ru_map(TABLE, grid("round", base=[3, 5]), resume=path, progress=look)
    assert modes == [0o600, 0o600]
    assert len(refusals) == 2
    assert all("another run" in said for said in refusals)
    assert {json.loads(line)["method"] for line in path.read_text().splitlines()} == {"round(base=3)", "round(base=5)"}
    path.write_text("area,sex\n1,2\n")
    with pytest.raises(InputError, match="does not hold kept results"):
        ru_map(TABLE, grid("round", base=[3]), resume=path)
    assert path.read_text() == "area,sex\n1,2\n"
