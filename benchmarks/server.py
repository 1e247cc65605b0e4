"""The table server on the census of 1.5 million persons: latency, tables a second, start, memory, the largest table.

The load generator runs on the same machine. Every answer is protected by cell keys, weighed, guarded and recorded. With
the address of an empty PostgreSQL (``--store postgresql://...``) two servers that share it are set against one.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import discreet as dc
from discreet.server.counting import cube

CALLERS = 12  # enough that the kernel spreads their connections over both workers
POLICY = """
secret = {{ env = "DISCREET_SECRET" }}
[query]
max_cells = 1000000
max_dimensions = {dimensions}
[table]
min_population = 10
[guard]
action = "warn"
[[method]]
{method}
"""
METHODS = {
    "cell keys": 'name = "cell-key"\nd = 5\nv = 3',
    "semi-controlled rounding": 'name = "semi-controlled-round"\nbase = 3',
}


def addresses() -> list[str]:
    """Every table of three variables and one filter, in random order."""
    dimensions = dc.datasets.census_dimensions()
    made = []
    for names in itertools.combinations([d.name for d in dimensions], 3):
        for d in dimensions:
            if d.name not in names:
                made += [f"/api/table.csv?variables={','.join(names)}&where={d.name}={code}" for code in d.leaves]
    made = [address.replace("+", "%2B") for address in made]
    random.Random(1).shuffle(made)
    return made


class Connection:
    """A keep-alive HTTP connection with as little work of its own as possible."""

    client = "10.0.0.1"  # who asks, as a proxy would tell it

    async def open(self, port: int) -> Connection:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 26)
        return self

    async def get(self, address: str) -> tuple[int, bytes]:
        self.writer.write(f"GET {address} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {self.client}\r\n\r\n".encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        size = re.search(rb"content-length: (\d+)", head)
        return int(head[9:12]), await self.reader.readexactly(int(size[1]) if size else 0)


async def spread(server: Server, callers: int) -> list[int]:
    """How connections of so many callers, who ask at once, are spread over the workers."""
    held = await asyncio.gather(*(Connection().open(server.port) for _ in range(callers)))
    await asyncio.gather(*(connection.get("/api/metadata") for connection in held))
    counts = server.connections()
    for connection in held:
        connection.writer.close()
        await connection.writer.wait_closed()
    await asyncio.sleep(0.05)
    return counts


async def load(
    ports: int | Sequence[int], work: list[str], connections: int
) -> tuple[list[float], float, dict[int, int]]:
    """Milliseconds of each request, seconds in all, and how often which status came; callers in turn to each port."""
    times: list[float] = []
    statuses: dict[int, int] = {}
    left = iter(work)

    async def caller(port: int) -> None:
        connection = await Connection().open(port)
        for address in left:
            start = time.perf_counter()
            status, _ = await connection.get(address)
            times.append((time.perf_counter() - start) * 1000)
            statuses[status] = statuses.get(status, 0) + 1

    start = time.perf_counter()
    found = itertools.cycle([ports] if isinstance(ports, int) else ports)
    await asyncio.gather(*(caller(next(found)) for _ in range(connections)))
    return times, time.perf_counter() - start, statuses


class Server:
    """`discreet serve` of a cube, on a store of its own unless another is named."""

    def __init__(
        self, folder: Path, method: str, dimensions: int = 4, *, store: str = "", workers: int = 2, policy: str = ""
    ) -> None:
        store = store or f"sqlite:///{folder / f'{time.monotonic_ns()}.db'}"
        (folder / "policy.toml").write_text(policy or POLICY.format(method=method, dimensions=dimensions))
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = int(found.getsockname()[1])
        command = [sys.executable, "-c", "import discreet.cli; discreet.cli.main()", "serve", str(folder / "cube"),
                   "--policy", str(folder / "policy.toml"), "--port", str(self.port), "--workers", str(workers),
                   "--rate", "100000000", "--tables", "100000000", "--proxy"]  # fmt: skip
        environment = {**os.environ, "DISCREET_SECRET": "a secret for the benchmark only", "DISCREET_STORE": store}
        self.log = folder / f"{self.port}.log"
        start = time.perf_counter()
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        while self.log.read_text().count('"event": "started"') < workers:
            if self.process.poll() is not None:
                raise SystemExit(self.log.read_text())
            time.sleep(0.02)
        self.seconds = time.perf_counter() - start

    def megabytes(self) -> list[float]:
        """Memory of each worker; what they share (the cube, libraries) counts by its share."""
        workers = re.findall(r'"event": "started", "worker": (\d+)', self.log.read_text())
        told = [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in workers]
        return [int(re.findall(r"Pss:\s+(\d+)", text)[0]) / 1024 for text in told]

    def cpu(self) -> float:
        """Processor seconds that the workers have used."""
        workers = re.findall(r'"event": "started", "worker": (\d+)', self.log.read_text())
        told = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in workers]
        return sum(int(t[11]) + int(t[12]) for t in told) / os.sysconf("SC_CLK_TCK")

    def connections(self) -> list[int]:
        """How many connections each worker holds now."""
        workers = re.findall(r'"event": "started", "worker": (\d+)', self.log.read_text())
        open_ = [{os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir()} for pid in workers]
        listed = Path("/proc/net/tcp").read_text().splitlines()[1:]
        mine = {f"socket:[{line.split()[9]}]" for line in listed if line.split()[1].endswith(f":{self.port:04X}")
                and line.split()[3] == "01"}  # fmt: skip
        return [len(files & mine) for files in open_]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def measure(folder: Path, name: str, method: str) -> None:
    """One method: the figures side by side with what issue 8 asks for."""
    server = Server(folder, method)
    work = addresses()
    asyncio.run(load(server.port, work[-20:], 2))
    spent = [server.cpu()]
    one, _, statuses = asyncio.run(load(server.port, work[:300], 1))
    spent.append(server.cpu())
    _, seconds, more = asyncio.run(load(server.port, work[300:900], CALLERS))
    spent.append(server.cpu())
    cached, cached_seconds, _ = asyncio.run(load(server.port, work[:50] * 100, 8))
    spent.append(server.cpu())
    _, four_seconds, _ = asyncio.run(load(server.port, work[900:1200], 4))
    each = np.diff(spent) / [300, 600, 5000] * 1000
    spreads = [asyncio.run(spread(server, 4)) for _ in range(10)]
    print(f"\n{name}")
    median, slowest = float(np.median(one)), float(np.percentile(one, 99))
    rate, cached_rate = 600 / seconds, 5000 / cached_seconds
    most = max(server.megabytes())
    print(
        f"  uncached, one caller: median {median:.1f} ms {at_most(median, 15)}, "
        f"p99 {slowest:.1f} ms {at_most(slowest, 60)}"
    )
    print(f"  distinct tables a second, {CALLERS} callers: {rate:.0f} {at_least(rate, 150)}")
    print(f"  distinct tables a second, 4 callers: {300 / four_seconds:.0f}")
    evenly = sum(counts == [2, 2] for counts in spreads)
    print(f"  connections of 4 callers by worker, ten times: {spreads}, even {evenly} {at_least(evenly, 10)}")
    print(
        f"  cached answers a second, 8 callers: {cached_rate:.0f} {at_least(cached_rate, 1500)}, "
        f"median {np.median(cached):.1f} ms"
    )
    print(f"  processor time of an answer: {each[0]:.1f} to {each[1]:.1f} ms uncached, {each[2]:.2f} ms cached")
    print(f"  start from a built cube: {server.seconds:.1f} s {at_most(server.seconds, 3)}, two workers")
    print(f"  memory a worker: {', '.join(f'{mb:.0f}' for mb in server.megabytes())} MB {at_most(most, 500)}")
    print(f"  statuses: {statuses} {more}")
    server.stop()


def at_most(figure: float, goal: float) -> str:
    """The goal in brackets, and that it is missed where the figure is larger."""
    return f"({goal:,g}{': missed' if figure > goal else ''})"


def at_least(figure: float, goal: float) -> str:
    """The same where the figure is smaller."""
    return f"({goal:,g}{': missed' if figure < goal else ''})"


def largest(folder: Path) -> None:
    """All 245,700 inner cells, which with their totals are 997,920, and six variables of the seven (166,320)."""
    server = Server(folder, METHODS["cell keys"], dimensions=7)
    six = "region,sex,age,activity,occupation,education"
    for words, variables in (("six variables, 166,320 cells", six), ("all seven, 997,920 cells", f"{six},citizenship")):
        times, _, statuses = asyncio.run(load(server.port, [f"/api/table.csv?variables={variables}"], 1))
        print(f"  {words} as CSV: {times[0] / 1000:.2f} s (1 for 245,700) {statuses}")
    server.stop()


def many(folder: Path, store: str) -> None:
    """One server with two workers on SQLite and on PostgreSQL, and two servers with one worker each on PostgreSQL."""
    print("\nmany servers: two workers in all, cell keys")
    work = addresses()
    ways = (("one server, SQLite", "", [2]), ("one, PostgreSQL", store, [2]), ("two, PostgreSQL", store, [1, 1]))
    for number, (words, address, workers) in enumerate(ways):
        Connection.client = f"10.0.1.{number}"  # somebody new each time: the store remembers what was answered
        found = [Server(folder, METHODS["cell keys"], store=address, workers=n) for n in workers]
        ports = [server.port for server in found]
        asyncio.run(load(ports, work[-20:], 2))
        one, _, _ = asyncio.run(load(ports, work[:300], 1))
        spent = [sum(server.cpu() for server in found)]
        _, seconds, statuses = asyncio.run(load(ports, work[300:900], CALLERS))
        spent.append(sum(server.cpu() for server in found))
        _, cached, _ = asyncio.run(load(ports, work[:50] * 60, 8))
        spent.append(sum(server.cpu() for server in found))
        each = np.diff(spent) / [600, 3000] * 1000
        print(
            f"  {words}: uncached median {np.median(one):.1f} ms, {600 / seconds:.0f} different tables a second, "
            f"{3000 / cached:.0f} cached; processor time {each[0]:.1f} and {each[1]:.2f} ms; statuses {statuses}"
        )
        for server in found:
            server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="address of an empty PostgreSQL: measure two servers that share it, only")
    parser.add_argument("--people", type=int, default=1_500_000)
    given = parser.parse_args()
    store = given.store
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        start = time.perf_counter()
        cube.build(dc.datasets.census(n=given.people), folder / "cube")
        print(
            f"census made and cube built in {time.perf_counter() - start:.1f} s; load {os.getloadavg()[0]:.1f} before"
        )
        if store:
            many(folder, store)
            return
        for name, method in METHODS.items():
            measure(folder, name, method)
        print("\nlargest tables")
        largest(folder)


if __name__ == "__main__":
    main()
