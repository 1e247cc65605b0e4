"""Where machine code is kept between processes: only in folders that nobody else can write to.

What lies in such a folder is run. So a folder counts only if it belongs to whoever runs this process, to the
administrator or to the owner of the source itself, and if neither its group nor others can write to it. Four places
are looked at: ``NUMBA_CACHE_DIR`` (and no other, if it is set), beside the source, the user's folder for caches, and a
folder of the user's own in the one for temporary files, for accounts without a home.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"
PRIVATE, READABLE = 0o700, 0o755
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True)
class CacheFolder:
    """A folder of machine code that may be read, and whether more can be kept in it."""

    path: Path
    writable: bool


def cache_folders(source: Path, *, create: bool = False) -> list[CacheFolder]:
    """The folders to look for the machine code of a source file, in their order; the first writable one keeps it.

    ``create``: folders that are not there are made.
    """
    folders: list[CacheFolder] = []
    for path in _places(source):
        folder = _usable(path, source, create)
        if folder is not None:
            folders.append(folder)
            if folder.writable:
                break
    return folders


def _places(source: Path) -> Iterator[Path]:
    if stated := os.environ.get(VARIABLE):
        yield Path(stated)
        return
    yield source.parent / "__pycache__"
    if (home := _user_caches()) is not None:
        yield home / "discreet"
    yield Path(tempfile.gettempdir()) / f"discreet-{_user()}"


def _user_caches() -> Path | None:
    """The user's folder for caches by the custom of the system; None for an account without a home."""
    if sys.platform == "win32":
        stated = os.environ.get("LOCALAPPDATA")
        return Path(stated) if stated else None
    if stated := os.environ.get("XDG_CACHE_HOME"):
        return Path(stated) if os.path.isabs(stated) else None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")


def _usable(path: Path, source: Path, create: bool) -> CacheFolder | None:
    """The folder; None if it is not there or others could have put something into it."""
    try:
        if create:
            beside = path.parent == source.parent  # as byte code: others may read what the administrator compiled
            path.mkdir(mode=READABLE if beside else PRIVATE, parents=True, exist_ok=True)
        safe = only_ours(path, source)
    except OSError:
        return None
    return CacheFolder(path, os.access(path, os.W_OK | os.X_OK)) if safe else None


def only_ours(path: Path, source: Path) -> bool:
    """Whether nobody else can put a file into a folder or another folder in its place.

    Where the system knows neither owners nor modes of files, as Windows does not in this way, its own rules for the
    user's folders have to do.
    """
    if not hasattr(os, "geteuid"):
        return True
    owners = {0, os.geteuid(), source.stat().st_uid if source.exists() else 0}
    state = os.lstat(path)
    if stat.S_ISLNK(state.st_mode):  # a link can be pointed elsewhere by whoever owns it
        return state.st_uid in owners and only_ours(path.resolve(), source)
    above = path.parent.resolve().stat().st_mode
    replaceable = above & stat.S_IWOTH and not above & stat.S_ISVTX
    ours = stat.S_ISDIR(state.st_mode) and state.st_uid in owners and not state.st_mode & OTHERS_WRITE
    return bool(ours and not replaceable)
