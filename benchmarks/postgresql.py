"""A PostgreSQL of one's own with the records of some Parquet files, for scale.py; Debian's package will do."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SETTINGS = {"fsync": "off", "max_wal_size": "4GB", "shared_buffers": "512MB", "work_mem": "256MB"}
TYPES = {"VARCHAR": "text", "DOUBLE": "double precision", "BIGINT": "bigint", "UBIGINT": "numeric(20, 0)"}
PIECE = 1 << 20


def binaries() -> Path | None:
    """Where its programs are, if anywhere."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


@contextmanager
def server() -> Iterator[str]:
    """The address of a running one; its folder is removed at the end."""
    where = binaries()
    assert where is not None
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="discreet-pg-"))
    as_user = []
    if os.getuid() == 0:  # it refuses to run as root
        shutil.chown(folder, "postgres", "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]

    def call(program: str, *arguments: str) -> None:
        command = [*as_user, str(where / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)

    given = {"port": str(port), "listen_addresses": "127.0.0.1", "unix_socket_directories": str(folder), **SETTINGS}
    try:
        call("initdb", "-A", "trust", "-U", "postgres", "--no-sync")
        options = " ".join(f"-c {name}={value}" for name, value in given.items())
        call("pg_ctl", "-o", options, "-l", str(folder / "log"), "-w", "start")
        try:
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        finally:
            call("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def load(url: str, files: str, table: str) -> None:
    """The records of Parquet files as a table."""
    import duckdb
    import psycopg

    found = f"FROM '{files}/*.parquet'"
    with duckdb.connect() as here, tempfile.TemporaryDirectory() as folder:
        kinds = here.execute(f"DESCRIBE {found}").fetchall()
        text = Path(folder, "records.csv")
        here.execute(f"COPY ({found}) TO '{text}' (FORMAT csv, HEADER false)")
        columns = ", ".join(f"{name} {TYPES[kind]}" for name, kind, *_ in kinds)
        with psycopg.connect(url, autocommit=True) as there:
            there.execute(f"CREATE TABLE {table} ({columns})".encode())
            with text.open("rb") as file, there.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv)".encode()) as copy:
                while piece := file.read(PIECE):
                    copy.write(piece)
            there.execute(f"ANALYZE {table}".encode())
