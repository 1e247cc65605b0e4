"""Files in which long work keeps what is finished, so that it can go on another time.

One JSON object a line, appended in one write: work that is killed leaves whole lines. What is kept is a function of
true values, so the file is its owner's alone (0600) from the moment it exists, and it is locked while somebody works
with it, since two runs would spoil each other's results. A row says what it belongs to; who reads it takes no other.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.base.files import OWNER, append_private, lock, own_file, whole_file
from discreet.errors import InputError

Row = Mapping[str, Any]


class ResumeFile:
    """The rows of a file that is private and locked. Several threads may add to it."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path, self._handle = path, handle
        self._adding = threading.Lock()

    @classmethod
    @contextmanager
    def open(cls, path: str | Path) -> Iterator[ResumeFile]:
        """Make the file if there is none, and keep others out of it until the work is done."""
        own_file(path)
        handle = lock(path, f"another run keeps its results in {str(path)!r}; wait for it to end, or name another file")
        file = cls(Path(path), handle)
        try:
            if os.name == "posix":
                os.fchmod(handle, OWNER)
            yield file
        finally:
            os.close(file._handle)

    def rows(self) -> list[dict[str, Any]]:
        """What is kept, the oldest first; a last line that was cut off counts for nothing, any other is an error."""
        lines = self.path.read_bytes().split(b"\n")
        rows = [_row(line) for line in lines[:-1]]
        if None in rows or (lines[-1] and not rows):
            raise InputError(f"{str(self.path)!r} does not hold kept results; name another file or remove it")
        return [row for row in rows if row is not None]

    def append(self, row: Row) -> None:
        """Keep one more, on disk before this returns."""
        with self._adding:
            append_private(self.path, _line(row))

    def replace(self, rows: Iterable[Row]) -> None:
        """Keep these instead of all others: the old ones or the new ones are there, never a part."""
        with whole_file(self.path, private=True) as file:
            file.write(lines_of(rows))
            file.flush()
            handle = lock(file.fileno(), "")  # held before the file has its name, so nobody comes between
        os.close(self._handle)
        self._handle = handle


def kept_rows(path: str | Path) -> list[dict[str, Any]]:
    """The rows of a file, those that are none left out: for work that is done anew where something is missing."""
    if not Path(path).exists():
        return []
    return [row for line in Path(path).read_bytes().split(b"\n") if (row := _row(line)) is not None]


def lines_of(rows: Iterable[Row]) -> bytes:
    """Rows as a file holds them."""
    return b"".join(map(_line, rows))


def _line(row: Row) -> bytes:
    return (json.dumps(row, ensure_ascii=False) + "\n").encode()


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None
