"""Writing files so that a reader never meets half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from discreet.errors import InputError


def write_whole(path: str | Path, data: bytes) -> None:
    """Write to a temporary name beside the target, then rename: all of it or nothing."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(temporary, target.stat().st_mode & 0o777 if target.exists() else 0o644)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}; nothing was written") from None
