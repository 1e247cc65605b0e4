"""Writing files so that a reader never meets half of one, and reading those that only their owner may read."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from discreet.errors import InputError


def write_whole(path: str | Path, data: bytes) -> None:
    """Write to a temporary name beside the target, then rename: all of it or nothing."""
    with whole_file(path) as file:
        file.write(data)


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write piece by piece, which takes its name at the end; after an error nothing of it is left."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            os.chmod(temporary, target.stat().st_mode & 0o777 if target.exists() else 0o644)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}; nothing was written") from None


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
