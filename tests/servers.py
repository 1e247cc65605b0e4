"""What the server's tests share: a small cube, policies, an app in the process, and a real server on a free port."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import httpx2 as httpx
import uvicorn
from fastapi.testclient import TestClient

import discreet as dc
from discreet.server import Settings, create_app
from discreet.server.counting import cube

SECRET = "a secret that only the tests know"
KEYED = '[[method]]\nname = "cell-key"\nd = {d}\nv = {v}\n'


@cache
def small_cube(n: int = 30_000) -> Path:
    """A cube of synthetic persons, built once a test run and process."""
    folder = Path(mkdtemp(prefix="discreet-cube-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    cube.build(dc.datasets.census(n=n), folder)
    return folder


def policy_text(extra: str = "", *, method: str = "", guard: str = "off", query: str = "") -> str:
    """A policy with a keyed method."""
    method = method or KEYED.format(d=5, v=3)
    return (
        'secret = { env = "DISCREET_TEST_SECRET" }\n'
        f'[query]\nmax_dimensions = 3\nmax_filters = 2\n{query}\n[guard]\naction = "{guard}"\n{extra}\n{method}'
    )


def settings(folder: Path, text: str | None = None, **more: Any) -> Settings:
    """Settings with everything in one folder."""
    os.environ.setdefault("DISCREET_TEST_SECRET", SECRET)
    file = folder / "policy.toml"
    file.write_text(policy_text() if text is None else text)
    given: dict[str, Any] = {"cube": str(small_cube()), "store": f"sqlite:///{folder}/store.db", "rate": 100_000}
    return Settings(policy=str(file), **(given | more))


@contextmanager
def client(folder: Path, text: str | None = None, **more: Any) -> Iterator[TestClient]:
    """An app in this process."""
    with TestClient(create_app(settings(folder, text, **more)), follow_redirects=False) as found:
        yield found


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def running(
    folder: Path, text: str, *options: str, workers: int = 1, rate: int = 1_000_000, data: Path | None = None,
    seconds: float = 60, files: int | None = None,
) -> Iterator[str]:  # fmt: skip
    """`discreet serve` in processes of its own, of the small cube or another; its address, and stopped at the end.

    ``files``: how many it may have open.
    """
    (folder / "policy.toml").write_text(text)
    port = free_port()
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files})); " if files else ""
    start = f"{limit}import discreet.cli; discreet.cli.main()"
    given = ["--policy", "policy.toml", "--port", str(port), "--workers", str(workers), "--rate", str(rate), *options]
    command = [sys.executable, "-c", start, "serve", str(data or small_cube()), *given]
    environment = {**os.environ, "DISCREET_TEST_SECRET": SECRET}
    with (folder / "serve.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(address, process, folder / "serve.log", seconds)
            yield address
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def serving(folder: Path, text: str | None = None, **more: Any) -> Iterator[str]:
    """An app in this process on a free port, for clients that open connections of their own; gives its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(create_app(settings(folder, text, **more)), log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        while not server.started:
            assert thread.is_alive(), "the server ended while it was starting"
            time.sleep(0.02)
        yield address
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path, seconds: float = 60) -> None:
    """Until the server answers."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert process.poll() is None, f"the server ended: {log.read_text()[-2000:]}"
        try:
            if httpx.get(f"{address}/health", timeout=5, trust_env=False).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise AssertionError(f"the server did not start: {log.read_text()[-2000:]}")


def workers_of(log: Path) -> list[int]:
    """The process numbers of the workers that said they started, oldest first."""
    return [int(found) for found in re.findall(r'"event": "started", "worker": (\d+)', log.read_text())]
