"""New connections go to the worker that holds fewest: one that woke first does not take them all.

All workers wait on one socket, and whoever is woken first would accept everything that has arrived. Here a worker
accepts one connection at a time, and for a moment leaves it to others that hold fewer.
"""

from __future__ import annotations

import asyncio
import mmap
import socket
from collections.abc import Callable

import numpy as np
import uvicorn

from discreet.server.metrics import WORKERS

PAUSE, PAUSES = 0.002, 5  # seconds in which others may accept, and how often; then it is accepted all the same
NO_ROOM_PAUSE = 1.0  # when the system gives no more files
GONE = -1


class HeldConnections:
    """How many connections each worker of this server holds, in memory that they share."""

    def __init__(self, workers: int = WORKERS) -> None:
        self._memory = mmap.mmap(-1, workers * 8)  # shared with processes that are forked from this one
        self.rows = np.frombuffer(self._memory, np.int64)
        self.rows[:] = GONE
        self.row = 0
        self._coming = 0

    def begin(self, row: int) -> None:
        """This worker counts in this row from now on."""
        self.row = row
        self.rows[row] = 0

    def end(self, row: int | None) -> None:
        """The worker of this row is gone."""
        if row is not None:
            self.rows[row] = GONE

    def accepted(self) -> None:
        """One more has been accepted by this worker, and is not yet among those that it holds."""
        self._coming += 1
        self.rows[self.row] += 1

    def begun(self) -> None:
        """One of those that were accepted is held from now on."""
        self._coming = max(self._coming - 1, 0)

    def failed(self) -> None:
        """One of those that were accepted has gone before it could be held."""
        self.begun()
        self.rows[self.row] -= 1

    def note(self, number: int) -> None:
        """So many are held by this worker."""
        self.rows[self.row] = number + self._coming

    @property
    def fewer_elsewhere(self) -> bool:
        """Whether another worker holds fewer."""
        alive = self.rows[self.rows != GONE]
        return bool(len(alive) and alive.min() < self.rows[self.row])


HELD_CONNECTIONS = HeldConnections()


class Acceptor:
    """Accepts from the socket that all workers share. Use it from one event loop."""

    def __init__(
        self, listener: socket.socket, make: Callable[[], asyncio.Protocol], held: HeldConnections = HELD_CONNECTIONS
    ) -> None:
        self.listener, self.make, self.held = listener, make, held
        self._loop = asyncio.get_running_loop()
        self._left = 0  # how often the waiting connection was left to others
        self._open = True
        self._tasks: set[asyncio.Task[None]] = set()
        listener.setblocking(False)
        self._watch()

    def close(self) -> None:
        """Accept nothing more."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self.listener.fileno())

    def _watch(self) -> None:
        if self._open:
            self._loop.add_reader(self.listener.fileno(), self._arrived)

    def _pause(self, seconds: float) -> None:
        self._loop.remove_reader(self.listener.fileno())
        self._loop.call_later(seconds, self._watch)

    def _arrived(self) -> None:
        """Somebody waits to be accepted, by whichever worker."""
        if self._left < PAUSES and self.held.fewer_elsewhere:
            self._left += 1
            self._pause(PAUSE)
            return
        self._left = 0
        try:
            accepted, _ = self.listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return  # another worker was first
        except OSError:
            self._pause(NO_ROOM_PAUSE)
            return
        self.held.accepted()
        accepted.setblocking(False)
        if accepted.family in (socket.AF_INET, socket.AF_INET6):
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = self._loop.create_task(self._connect(accepted))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, accepted: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self.make, accepted)
        except OSError:  # gone before it could be served
            accepted.close()
            self.held.failed()


class EvenServer(uvicorn.Server):
    """uvicorn's, with connections that are spread evenly over the workers."""

    def __init__(self, config: uvicorn.Config, listener: socket.socket) -> None:
        super().__init__(config)
        self.listener = listener
        self.acceptor: Acceptor | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Everything but the accepting is uvicorn's."""
        await super().startup(sockets=[])
        self.acceptor = Acceptor(self.listener, self._protocol)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """No more connections, then as uvicorn ends."""
        if self.acceptor is not None:
            self.acceptor.close()
        await super().shutdown(sockets=[self.listener])

    def _protocol(self) -> asyncio.Protocol:
        made: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return made
