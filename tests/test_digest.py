"""The digest that a restructuring is held to: the same twice, and told when something differs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "digest.py"


def run(*words: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, str(SCRIPT), "--only", "jj/text", *words], capture_output=True, text=True)
    return done.returncode, done.stdout


def test_the_same_code_has_the_same_digest_and_a_difference_is_told(tmp_path: Path) -> None:
    """Different, new and missing cases are named; only new ones are no fault."""
    file = tmp_path / "before.json"
    assert run("--write", str(file)) == (0, "")
    found = json.loads(file.read_text())
    assert list(found) == ["jj/text"]
    assert run("--compare", str(file)) == (0, "1 same, 0 different, 0 new, 0 missing\n")
    file.write_text(json.dumps({"jj/text": "0" * 64, "jj/text more": "0" * 64}))
    code, told = run("--compare", str(file))
    assert code == 1
    assert told.splitlines() == [
        "different  jj/text", "missing    jj/text more", "0 same, 1 different, 0 new, 1 missing",
    ]  # fmt: skip
