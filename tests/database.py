"""A PostgreSQL of our own in a temporary folder, which can be taken away and brought back; Debian's package will do."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import servers


class Database:
    """A running PostgreSQL and its address."""

    def __init__(self, folder: Path, binary: Path) -> None:
        self.folder, self.binary, self.port = folder, binary, servers.free_port()
        self.as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        if self.as_user:
            shutil.chown(folder, "postgres", "postgres")
        self._call("initdb", "-A", "trust", "-U", "postgres", "--no-sync")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Begin to answer."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} -c fsync=off"
        self._call("pg_ctl", "-o", options, "-l", str(self.folder / "log"), "-w", "start")

    def stop(self) -> None:
        """End at once, as in a crash: whoever is connected is cut off."""
        self._call("pg_ctl", "-m", "immediate", "stop")

    def _call(self, program: str, *arguments: str) -> None:
        command = [*self.as_user, str(self.binary / program), "-D", str(self.folder / "data"), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder)


@contextmanager
def database() -> Iterator[Database]:
    """One for as long as it is needed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    assert found, "these tests need PostgreSQL: apt-get install postgresql"
    folder = Path(tempfile.mkdtemp(prefix="discreet-pg-"))
    try:
        made = Database(folder, found[-1].parent)
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
