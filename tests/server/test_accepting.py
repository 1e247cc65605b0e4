"""Connections are spread evenly over workers that wait on one socket."""

from __future__ import annotations

import asyncio
import os
import socket

import pytest

from discreet.server.accepting import Acceptor, HeldConnections


class Counted(asyncio.Protocol):
    """A connection that is counted, as a worker's are."""

    number = 0

    def __init__(self, held: HeldConnections) -> None:
        self.held = held

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        Counted.number += 1
        self.held.begun()
        self.held.note(Counted.number)

    def connection_lost(self, exc: Exception | None) -> None:
        Counted.number -= 1
        self.held.note(Counted.number)


def worker(row: int, listener: socket.socket, held: HeldConnections, ready: int) -> None:
    """Accept until the test ends it."""

    async def work() -> None:
        held.begin(row)
        Acceptor(listener, lambda: Counted(held), held)
        os.write(ready, b".")
        await asyncio.sleep(60)

    asyncio.run(work())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")
@pytest.mark.parametrize("callers", [2, 4, 8])
def test_callers_who_come_at_once_are_shared_out(callers: int) -> None:
    held = HeldConnections(4)
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)
    begun, ready = os.pipe()
    workers = []
    for row in range(2):
        pid = os.fork()
        if not pid:
            try:
                worker(row, listener, held, ready)
            finally:
                os._exit(0)
        workers.append(pid)
    try:
        assert len(os.read(begun, 1) + os.read(begun, 1)) == 2
        spread = asyncio.run(_spread(listener.getsockname()[1], callers, held))
        assert spread == [callers // 2, callers // 2, -1, -1]
    finally:
        for pid in workers:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        listener.close()
        os.close(begun)
        os.close(ready)


async def _spread(port: int, callers: int, held: HeldConnections) -> list[int]:
    opened = await asyncio.gather(*(asyncio.open_connection("127.0.0.1", port) for _ in range(callers)))
    for _ in range(500):
        if held.rows[:2].sum() == callers:
            break
        await asyncio.sleep(0.01)
    spread: list[int] = held.rows.tolist()
    for _, writer in opened:
        writer.close()
        await writer.wait_closed()
    return spread


def test_a_worker_that_is_gone_is_not_waited_for() -> None:
    held = HeldConnections(3)
    held.begin(1)
    held.accepted()
    found = [held.fewer_elsewhere]
    held.rows[0] = 0
    found.append(held.fewer_elsewhere)
    held.end(0)
    found.append(held.fewer_elsewhere)
    assert found == [False, True, False]


def test_what_is_accepted_counts_before_it_is_held() -> None:
    held = HeldConnections(1)
    held.begin(0)
    held.accepted()
    held.accepted()
    held.begun()
    held.note(1)
    assert held.rows.tolist() == [2]
    held.failed()
    assert held.rows.tolist() == [1]
