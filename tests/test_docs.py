"""Every example of the README and of docs/ is run, in a folder of its own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|console|toml title=\S+)\n(.*?)^```", re.M | re.S)


def run_console(block: str, folder: Path, page: str) -> None:
    """Lines behind ``$ `` are commands; what follows is what they print (… stands for anything)."""
    block = block.replace("\\\n", "")  # a backslash at its end lets a command go on in the next line
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, expected = part.partition("\n")
        if command.startswith(("git ", "make ", "pip ", "R CMD ")):
            continue  # set-up that this very run has done
        bin_folder = str(Path(sys.executable).parent)
        environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}
        wanted = re.match(r".*# exit (\d+)$", command)
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, env=environment)
        assert done.returncode == (int(wanted[1]) if wanted else 0), f"{page}: {shlex.quote(command)}\n{done.stderr}"
        if expected.strip():
            pattern = ".*".join(re.escape(piece.strip()) for piece in expected.strip().split("…"))
            said = "\n".join(line.rstrip() for line in (done.stdout + done.stderr).splitlines())
            assert re.search(pattern, said, re.S), f"{page}: {command} printed\n{said}\ninstead of\n{expected}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python blocks of a page share their names; TOML blocks with a title are files; console blocks are commands."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, object] = {"__name__": page.stem}
    for kind, block in BLOCK.findall(page.read_text()):
        if kind == "python":
            exec(compile(block, f"{page.name}", "exec", dont_inherit=True), names)  # as a reader would run it
        elif kind == "console":
            run_console(block, tmp_path, page.name)
        else:
            (tmp_path / kind.partition("title=")[2].strip('"')).write_text(block)


def test_no_block_escapes() -> None:
    """Every block of code is one that is run, or is plainly not ours: another tool's input, or text."""
    for page in PAGES:
        kinds = re.findall(r"^```([^\n]*)\n.*?^```", page.read_text(), re.M | re.S)
        odd = [kind for kind in kinds if not re.fullmatch(r"python|console|toml title=\S+|text|r", kind)]
        assert not odd, f"{page.name}: {odd}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    """Relative links and pictures exist."""
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text()):
        assert (page.parent / target).exists(), target
