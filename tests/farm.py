"""What the tests of several servers share: servers that can be killed whole, a proxy, one database behind them."""

from __future__ import annotations

import http.client
import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import httpx2 as httpx

from discreet.server import auth
from discreet.server.record.store import Store
from tests import servers
from tests.database import Database

TABLES, RATE = 8, 400  # of a stranger; an approved user has five times as many
POLICY = """
secret = { env = "DISCREET_TEST_SECRET" }
[query]
max_dimensions = 7
max_cells = 1000000
[guard]
action = "refuse"
min_difference = 100000
scope = "user"
[[method]]
name = "cell-key"
d = 5
v = 3
"""
HALVES = ("/api/table.csv?variables=sex", "/api/table.csv?variables=sex&where=age=0-4")
WEB = httpx.Client(timeout=60, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))  # servers come and go
MATTER = ("etag", "cache-control", "vary", "content-type", "content-disposition", "content-security-policy")


class Answer(NamedTuple):
    """What a client can tell apart."""

    status: int
    body: bytes
    headers: tuple[str, ...]


def told(response: Any) -> Answer:
    return Answer(response.status_code, response.content, tuple(response.headers.get(name, "") for name in MATTER))


class Server:
    """`discreet serve` with a process group of its own, so that all of it can be killed at once."""

    def __init__(self, folder: Path, store: str) -> None:
        self.folder, self.store, self.port = folder, store, servers.free_port()
        self.base, self.log = f"http://127.0.0.1:{self.port}", folder / f"{self.port}.log"
        self.begin()

    def begin(self) -> None:
        start = "import discreet.cli; discreet.cli.main()"
        given = ["--policy", "policy.toml", "--port", str(self.port), "--workers", "1"]
        limits = ["--rate", str(RATE), "--tables", str(TABLES)]
        environment = {**os.environ, "DISCREET_TEST_SECRET": servers.SECRET, "DISCREET_STORE": self.store}
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", start, "serve", str(servers.small_cube()), *given, *limits],
                cwd=self.folder, env=environment, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def ready(self) -> None:
        servers.wait_for(self.base, self.process, self.log)

    def busy(self) -> float:
        """Processor seconds that its worker has used."""
        worker = servers.workers_of(self.log)[-1]
        spent = Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """No chance to say goodbye."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


class Proxy(ThreadingHTTPServer):
    """In turn to each server; a question that got no whole answer is asked of the other, since asking twice is safe."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, ports: Sequence[int]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ports, self.turn, self.again = list(ports), itertools.count(), 0
        self.base = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    server: Proxy

    def do_GET(self) -> None:
        first = next(self.server.turn)
        for attempt in range(len(self.server.ports) + 1):
            port = self.server.ports[(first + attempt) % len(self.server.ports)]
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            try:
                connection.request("GET", self.path, headers=dict(self.headers.items()))
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException):
                self.server.again += 1
                continue
            finally:
                connection.close()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "date", "server"):
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_error(502)

    def log_message(self, *_: Any) -> None:
        """Nothing to say."""


class Farm(NamedTuple):
    """All that stands for the tests of this page."""

    database: Database
    servers: tuple[Server, Server]
    proxy: Proxy
    store: Store

    def user(self, name: str) -> dict[str, str]:
        """The header of a new approved user."""
        auth.new_user(self.store, name, "approved", None)
        return {"authorization": f"Bearer {auth.new_token(self.store, name)}"}


def get(address: str, headers: dict[str, str] | None = None) -> Answer:
    return told(WEB.get(address, headers=headers))
