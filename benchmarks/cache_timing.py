"""Does the time of an answer tell whether somebody else has asked the same? One caller asks half of the tables, another
all of them once; the AUC says how well the second can tell the halves apart by time (0.5 is chance).

Run: python benchmarks/cache_timing.py [--people 1500000] [--tables 400] [--rounds 3]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

import discreet as dc
from discreet.server.counting import cube
from server import METHODS, Connection, Server, addresses

GOAL = 0.55


async def times(port: int, client: str, asked: list[str]) -> list[float]:
    """Milliseconds of each answer to a caller of this address."""
    connection = await Connection().open(port)
    connection.client = client
    found = []
    for address in asked:
        start = time.perf_counter()
        status, _ = await connection.get(address)
        found.append((time.perf_counter() - start) * 1000)
        assert status == 200, status
    return found


def auc(slow: list[float], quick: list[float]) -> float:
    """The chance that an answer of the first kind takes longer than one of the second."""
    first, second = np.array(slow)[:, None], np.array(quick)[None, :]
    return float((first > second).mean() + 0.5 * (first == second).mean())


def one_round(folder: Path, tables: int, seed: int) -> tuple[float, list[float]]:
    """A new server and store: AUC, and the times of tables that nobody had asked."""
    draw = random.Random(seed)
    server = Server(folder, METHODS["cell keys"], workers=1)
    try:
        work = addresses()
        asyncio.run(times(server.port, "10.0.0.9", work[-20:]))  # what is loaded once
        work = draw.sample(work[:-20], tables)
        asked = set(draw.sample(work, tables // 2))
        asyncio.run(times(server.port, "10.0.0.1", [address for address in work if address in asked]))
        draw.shuffle(work)
        found = dict(zip(work, asyncio.run(times(server.port, "10.0.0.2", work)), strict=True))
    finally:
        server.stop()
    new = [ms for address, ms in found.items() if address not in asked]
    return auc(new, [found[address] for address in asked]), new


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1_500_000)
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        cube.build(dc.datasets.census(n=chosen.people), folder / "cube")
        rounds = [one_round(folder, chosen.tables, seed) for seed in range(chosen.rounds)]
    for number, (found, _) in enumerate(rounds, 1):
        print(f"round {number}: AUC {found:.2f} of 'somebody has asked this' (goal at most {GOAL}): ", end="")
        print("reached" if round(found, 2) <= GOAL else "missed")
    print(f"median time of a new table: {statistics.median(ms for _, new in rounds for ms in new):.1f} ms")


if __name__ == "__main__":
    main()
