"""What a build adds to the files of the package: the commit that it is made of, for ``discreet --version``."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACES = {"wheel": "discreet/commit.txt", "sdist": "src/discreet/commit.txt"}


class Commit(BuildHookInterface[Any]):
    """Adds ``commit.txt`` where there is a repository; a wheel made of an sdist takes over the one that is there."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        kept, commit = Path(self.root, PLACES["sdist"]), commit_of(Path(self.root))
        if commit is None and kept.is_file():
            commit = kept.read_text(encoding="ascii").strip()
        if version == "editable" or commit is None:
            return
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name, "commit.txt")
        path.write_text(commit + "\n", encoding="ascii", newline="\n")
        build_data["force_include"][str(path)] = PLACES[self.target_name]


def commit_of(root: Path) -> str | None:
    """The commit checked out in ``root`` itself, with ``+`` where files differ from it; None without a repository."""
    if not (root / ".git").exists():
        return None
    try:
        said = [
            subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True).stdout.strip()
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        ]
    except (OSError, subprocess.CalledProcessError):
        return None
    return said[0] + ("+" if said[1] else "")
