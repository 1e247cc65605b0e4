"""Machine code kept on disk: never older than any source it was made of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from discreet.base.compiled import digest_of

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


@pytest.fixture
def loops(tmp_path: Path) -> Path:
    """A package of two files with compiled loops, one calling the other."""
    package = tmp_path / "loops"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text(INNER.format(step=1, factor=1))
    (package / "outer.py").write_text(OUTER.format(second="compiled"))
    return package


def said(package: Path, code: str) -> str:
    """What a new process prints that works with the package."""
    paths = os.pathsep.join([str(package.parent), os.environ.get("PYTHONPATH", "")])
    env = os.environ | {"PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(package.parent / "cache")}
    words = [sys.executable, "-c", code]
    return subprocess.run(words, capture_output=True, text=True, check=True, env=env).stdout.strip()


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
