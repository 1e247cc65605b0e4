"""Machine code kept on disk: never older than any source it was made of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from discreet.base.source_digest import digest_of

INNER = """
from discreet.base.compiled import compiled
STEP = {step}

@compiled
def longer(x):
    return x + STEP * {factor}
"""
OUTER = """
from discreet.base.compiled import compiled, compiled_part
from loops.inner import longer

@compiled
def first(x):  # calls what stands further down, which calls another file
    return second(x)

@{second}
def second(x):
    return longer(x)
"""

SLOW = """
from discreet.base.compiled import compiled

@compiled(steps=lambda n: n)
def slow(n):
    total = 0
    for i in range(n):
        total += i
    return total
"""


@pytest.fixture
def loops(tmp_path: Path) -> Path:
    """A package of two files with compiled loops, one calling the other."""
    package = tmp_path / "loops"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text(INNER.format(step=1, factor=1))
    (package / "outer.py").write_text(OUTER.format(second="compiled"))
    return package


def ran(package: Path, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A new process that works with the package."""
    paths = os.pathsep.join([str(package.parent), os.environ.get("PYTHONPATH", "")])
    env = os.environ | {"PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(package.parent / "cache")} | variables
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)


def said(package: Path, code: str) -> str:
    """What it prints."""
    return ran(package, code).stdout.strip()


def words(package: Path, code: str, **variables: str) -> str:
    """What it says on stderr."""
    return ran(package, code, **variables).stderr.strip()


@pytest.mark.parametrize("edit", [{"step": 5, "factor": 1}, {"step": 1, "factor": 5}], ids=["constant", "code"])
def test_an_edit_of_another_file_is_noticed(loops: Path, edit: dict[str, int]) -> None:
    """A function whose callee in another file was edited is compiled anew; what was not edited is taken from disk."""
    ask = "from loops.outer import first; print(first(10), sum(first.stats.cache_hits.values()))"
    assert said(loops, ask) == "11 0"
    assert said(loops, ask) == "11 1"
    (loops / "inner.py").write_text(INNER.format(**edit))
    assert said(loops, ask) == "15 0"


def test_an_edit_of_what_a_part_calls_is_noticed(loops: Path) -> None:
    """A part is no function of its own for the cache: what its file uses counts for every function that has it."""
    (loops / "outer.py").write_text(OUTER.format(second="compiled_part"))
    ask = "from loops.outer import first, second; print(first(10), second.py_func(10))"
    assert said(loops, ask) == "11 11"
    (loops / "inner.py").write_text(INNER.format(step=1, factor=5))
    assert said(loops, ask) == "15 15"


def test_an_edit_of_the_arithmetic_renames_the_elimination(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled elimination is kept under another name once the file of the arithmetic modulo a prime changes."""
    from discreet.linear import _reduction
    from discreet.methods.suppress.gauss import _kernel

    loop: Any = _kernel.eliminate_columns
    before = digest_of(loop.py_func)
    assert before is not None
    assert digest_of(loop.py_func) == before
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda file: read(file) + b"#" * (str(file) == _reduction.__file__))
    assert digest_of(loop.py_func) not in (None, before)


def test_nothing_is_kept_that_could_be_stale() -> None:
    """A function without a file that can be read has no digest: it is compiled in every process."""
    names: dict[str, object] = {"__name__": "typed_in"}
    exec(compile("def f(x):\n    return x\n", "<typed in>", "exec"), names)
    assert digest_of(names["f"]) is None  # type: ignore[arg-type]


def test_compiling_is_said_once_and_kept(loops: Path) -> None:
    """A line on stderr in the process that compiles; the next one loads in silence. Without a folder each says it."""
    ask = "from loops.outer import first; first(10)"
    assert words(loops, ask).count("compiling for") == 1
    assert words(loops, ask) == ""
    nowhere = {"NUMBA_CACHE_DIR": str(loops / "outer.py" / "folder")}
    for _ in range(2):
        assert "kept nowhere" in words(loops, ask, **nowhere)


def test_code_is_kept_without_a_home_beside_a_read_only_install(loops: Path, tmp_path: Path) -> None:
    """In a private folder among the temporary files."""
    (loops / "__pycache__").write_text("")  # a file: nobody can make the folder
    (tmp_path / "temporary").mkdir()
    environment = {"NUMBA_CACHE_DIR": "", "HOME": str(loops / "outer.py"), "TMPDIR": str(tmp_path / "temporary")}
    ask = "from loops.outer import first; first(10)"
    assert f"{tmp_path}/temporary/discreet-" in words(loops, ask, **environment)
    assert words(loops, ask, **environment) == ""


def test_a_damaged_file_is_compiled_anew(loops: Path) -> None:
    """Files cut short by a full disk or a loss of power, index or code, cost time and nothing else."""
    ask = "from loops.outer import first; print(first(10))"
    for ending in ("nbi", "nbc"):
        assert said(loops, ask) == "11"
        for file in (loops.parent / "cache").glob(f"*.{ending}"):
            file.write_bytes(b"")
        assert said(loops, ask) == "11"
        assert words(loops, ask) == ""


def test_small_work_runs_as_python_until_it_adds_up(loops: Path) -> None:
    """Neither compiler nor folder is touched by a few steps; many at once are compiled, and seconds that add up are."""
    (loops / "inner.py").write_text(SLOW)
    ask = "import sys; from loops.inner import slow; {calls}; print('numba' in sys.modules)"
    assert said(loops, ask.format(calls="slow(10)")) == "False"
    assert not (loops.parent / "cache").exists()
    assert said(loops, ask.format(calls="slow._spent = 1e9; slow(10)")) == "True"
    assert said(loops, ask.format(calls="slow(10**9)")) == "True"


LONGER = """
from discreet.base.compiled import compiled

@compiled(steps=lambda n, stop: 1, restarts=True)
def longer(n, stop):  # says one step, whatever it takes
    total = 0
    for i in range(n):
        if stop[0]:
            break
        total += i * i % 7
    stop[1] = total
    return total
"""


def test_what_takes_longer_than_thought_begins_again_as_machine_code(loops: Path) -> None:
    """A loop that told too few steps is left after a while; the result is the same, and only then is it compiled."""
    (loops / "inner.py").write_text(LONGER)
    ask = """
import numpy as np
from discreet.base import compiled
from loops.inner import longer
compiled.TO_COMPILE = compiled.TO_IMPORT = 0.05
for n in (10, 3_000_000):
    stop = np.zeros(2, np.int64)
    print(int(longer(n, stop)) == int(stop[1]) == sum(i * i % 7 for i in range(n)), compiled.is_in_memory(longer))
"""
    done = ran(loops, ask)
    assert done.stdout.split() == ["True", "False", "True", "True"]
    assert done.stderr.count("compiling for") == 1
