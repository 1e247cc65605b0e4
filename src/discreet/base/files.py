"""Writing files so that a reader never meets half of one, and those that only their owner may read.

Whatever holds true values, or functions of them, is written by ``private=True``, ``append_private``, ``own_file`` or
into an ``own_folder``: nobody but its owner can read it from the moment it exists.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from discreet.errors import InputError, listed

HTML, CSV, TEXT = (".html", ".htm"), (".csv",), (".csv", ".txt")
OWNER = 0o600  # the mode of a file that holds something confidential
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would write two bytes for the end of a line


def exists(path: Path) -> bool:
    """Whether there is such a file or folder; a name that no system can hold is none."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """Whether there is such a file, and no folder."""
    return exists(path) and path.is_file()


def same_file(one: Path, other: Path) -> bool:
    """Whether two names stand for one file, through links, too, or would once it is written."""
    try:
        if one.exists() and other.exists():
            return one.samefile(other)
        return one.resolve() == other.resolve()
    except (OSError, ValueError):  # a name that no system can hold: whoever opens it says so
        return one == other


def write_whole(path: str | Path, data: bytes, *, private: bool = False) -> None:
    """Write to a temporary name beside the target, then rename: all of it or nothing."""
    with whole_file(path, private=private) as file:
        file.write(data)


@contextmanager
def whole_file(path: str | Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """A file to write piece by piece, which takes its name at the end; after an error nothing of it is left.

    A ``private`` one can be read by its owner alone, whatever stood there before.
    """
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            kept = target.stat().st_mode & 0o777 if target.exists() else 0o644
            os.chmod(temporary, OWNER if private else kept)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}; nothing was written") from None


def append_private(path: str | Path, data: bytes) -> None:
    """Add a line to a file of its owner's in one write, so that it is there whole or not at all.

    A last line that was cut off is ended first.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _BINARY, OWNER)
        try:
            _close_to_others(handle)
            size = os.fstat(handle).st_size
            os.lseek(handle, max(size - 1, 0), os.SEEK_SET)  # what is written goes to the end all the same
            torn = size > 0 and os.read(handle, 1) != b"\n"
            os.write(handle, (b"\n" if torn else b"") + data)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None


def own_file(path: str | Path) -> None:
    """Let a file be there that its owner alone can read, before something else writes to it.

    One that is there is not opened: closing it again would drop all locks that this process has on it.
    """
    try:
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER))
        except FileExistsError:
            if os.name == "posix" and os.stat(path).st_mode & stat.S_IRWXO:
                os.chmod(path, OWNER)
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None


def lock(path: str | Path | int, busy: str) -> int:
    """A handle that keeps others who lock the file away until it is closed, or the process ends; ``busy`` if it is not.

    The file must exist. One that was replaced while we waited for it is not the one that others know: try that again.
    """
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows has no such locks
        return os.dup(path) if isinstance(path, int) else os.open(path, os.O_RDWR)
    while True:
        handle = os.dup(path) if isinstance(path, int) else os.open(path, os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if isinstance(path, int) or os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
        except OSError:
            os.close(handle)
            raise InputError(busy) from None
        os.close(handle)


def own_folder(path: str | Path) -> None:
    """Let a folder be there that nobody but its owner can look into."""
    try:
        Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chmod(path, 0o700)
    except OSError as error:
        raise InputError(f"cannot make the folder {str(path)!r}: {error.strerror}") from None


def _close_to_others(handle: int) -> None:
    """A file that strangers could read is theirs no longer; what its owner gave to a group stays so."""
    if os.name == "posix" and os.fstat(handle).st_mode & stat.S_IRWXO:
        os.fchmod(handle, OWNER)


def check_suffix(path: str | Path | None, kinds: Iterable[str], what: str) -> None:
    """Refuse a file whose suffix promises something else than what will be written to it.

    >>> check_suffix("report.pdf", [".html"], "a report")
    Traceback (most recent call last):
    ...
    discreet.errors.InputError: 'report.pdf': a report is written as '.html'; give the file that suffix
    """
    if path is None:
        return
    kinds = list(kinds)
    name = Path(path).name
    if not name.lower().endswith(tuple(kinds)):
        tail = "that suffix" if len(kinds) == 1 else "one of these suffixes"
        raise InputError(f"{name!r}: {what} is written as {listed(kinds)}; give the file {tail}")


def read_private(path: str | Path, what: str) -> bytes:
    """A file that holds a secret; one that strangers can read, or others change, is refused before it is used."""
    try:
        with open(path, "rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            data = file.read()
    except OSError as error:
        raise InputError(f"cannot read the file of {what}: {error.strerror}") from None
    if os.name == "posix" and mode & (stat.S_IRWXO | stat.S_IWGRP):
        raise InputError(f"the file of {what} has mode {mode:o}, so others can get at it; run chmod 600 on it")
    return data
