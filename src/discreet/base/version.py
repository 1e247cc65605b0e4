"""Which discreet this is: the version, and the commit it was built from or runs in, where there is one."""

from __future__ import annotations

import subprocess
from pathlib import Path

VERSION = "0.1.0"
PACKAGE = Path(__file__).parents[1]
LETTERS = 12  # of a commit's name: enough to find it


def described() -> str:
    """Version and commit: ``0.1.0 (1a2b3c4d5e6f)``; a ``+`` behind the commit says that files differ from it."""
    name = commit()
    return VERSION if name is None else f"{VERSION} ({name})"


def commit() -> str | None:
    """The commit that a build wrote into the package, else that of the checkout it runs from, else None."""
    written = PACKAGE / "commit.txt"
    if written.is_file():
        return _short(written.read_text(encoding="ascii").strip())
    root = PACKAGE.parents[1]
    if PACKAGE.parent.name != "src" or not (root / ".git").exists():
        return None  # installed; a repository further up is somebody else's
    try:
        name, changed = (
            subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True).stdout.strip()
            for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--untracked-files=no"))
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return _short(name + ("+" if changed else ""))


def _short(name: str) -> str:
    return name[:LETTERS] + ("+" if name.endswith("+") else "")
