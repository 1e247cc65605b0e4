"""Connections that ask nothing, ask slowly or do not read make room for others: limits of the server itself.

A worker holds so many connections, and so many of one address. When they are used up, the connection that has waited
longest without a whole request is closed for a new one, so that whoever asks at once is answered however many others
are held open. A request has to arrive within some seconds of its first byte, and what is sent has to be read.
"""

from __future__ import annotations

import asyncio
from asyncio.events import TimerHandle
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from discreet.server.accepting import HELD_CONNECTIONS

REQUEST_SECONDS = 10.0  # from a connection, or the first byte of a request, to its last byte
READ_SECONDS = 30.0  # in which a caller has to read on when we wait for it
IDLE_SECONDS = 5  # between two requests
MOST_HEAD = 32_768  # bytes of request line and headers
MOST_HEADERS = 200
MOST_CONNECTIONS = 1000  # a worker; fewer where the system gives it fewer files
MOST_OF_ADDRESS = 100  # a worker; through a proxy all have one address, and only the number above counts


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's, with an end to all waiting. Workers have one class each (``bounded_protocol``), and count in it."""

    waiting: dict[BoundedProtocol, str]
    held: Counter[str]
    most: int
    most_of_address: int

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count it, and let another go if there are too many."""
        super().connection_made(transport)
        self._late: TimerHandle | None = None
        self._unread: TimerHandle | None = None
        self._cycles: list[RequestResponseCycle] = []
        self._head = 0
        self._parsed = 0
        self._headed = False
        self._address = self.client[0] if self.client else ""
        self._make_room()
        self.held[self._address] += 1
        HELD_CONNECTIONS.begun()
        HELD_CONNECTIONS.note(self.held.total())
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._arrived()
        self._reads()
        self.waiting.pop(self, None)
        self.held[self._address] -= 1
        if not self.held[self._address]:
            del self.held[self._address]
        HELD_CONNECTIONS.note(self.held.total())
        super().connection_lost(exc)
        for cycle in self._cycles:  # uvicorn tells the last one only, and requests may wait behind each other
            cycle.disconnected = cycle.disconnected or not cycle.response_complete
            cycle.message_event.set()

    def data_received(self, data: bytes) -> None:
        """A head that does not end is not waited for."""
        super().data_received(data)
        self._head += len(data)
        if not self._headed and self._head > MOST_HEAD and not self.transport.is_closing():
            self._say(431)

    def on_message_begin(self) -> None:
        """The first byte of a request: the time for the rest of it runs."""
        super().on_message_begin()
        self._headed = False
        self._head = 0
        self._parsed = 0
        self._wait()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Headers that came in one piece are bounded, too."""
        super().on_header(name, value)
        self._parsed += len(name) + len(value)
        if len(self.url) + self._parsed > MOST_HEAD or len(self.headers) > MOST_HEADERS:
            raise ValueError("a head that is too large")

    def on_headers_complete(self) -> None:
        """From now on somebody is being answered."""
        self._headed = True
        self._head = 0
        self.waiting.pop(self, None)
        super().on_headers_complete()
        self._cycles = [cycle for cycle in (*self._cycles, self.cycle) if not cycle.response_complete]

    def on_message_complete(self) -> None:
        """All of the request is there."""
        self._arrived()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """It waits for the next request, which uvicorn ends after ``IDLE_SECONDS``."""
        super().on_response_complete()
        if not self.transport.is_closing() and not self._answering():
            self.waiting[self] = self._address

    def pause_writing(self) -> None:
        """The caller does not read what it asked for."""
        super().pause_writing()
        self._unread = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads on."""
        self._reads()
        super().resume_writing()

    def _unsupported_upgrade_warning(self) -> None:
        """Nobody has to know that somebody asked for another protocol; it is answered as an ordinary request."""

    def _make_room(self) -> None:
        """Close the connection that has waited longest, of this address if that has too many."""
        if self.held[self._address] >= self.most_of_address:
            oldest = next((one for one, address in self.waiting.items() if address == self._address), None)
        elif self.held.total() >= self.most:
            oldest = next(iter(self.waiting), None)
        else:
            return
        if oldest is None:  # all of them are being answered
            self._say(503)
            return
        self.waiting.pop(oldest)
        oldest.transport.abort()

    def _wait(self) -> None:
        self._arrived()
        if not self._answering():
            self.waiting.pop(self, None)
            self.waiting[self] = self._address
        self._late = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def _answering(self) -> bool:
        cycle: Any = self.cycle  # None before the first request, whatever its type says
        return cycle is not None and not cycle.response_complete

    def _arrived(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _reads(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _say(self, status: int) -> None:
        self.transport.write(STATUS_LINE[status] + b"content-length: 0\r\nconnection: close\r\n\r\n")
        self.transport.close()


def bounded_protocol(*, proxy: bool) -> type[BoundedProtocol]:
    """A class of connections for one worker, with counts of its own."""
    most = min(MOST_CONNECTIONS, _files() // 2)
    limits: dict[str, Any] = {"waiting": {}, "held": Counter(), "most": most}
    return type("WorkerProtocol", (BoundedProtocol,), limits | {"most_of_address": most if proxy else MOST_OF_ADDRESS})


def _files() -> int:
    """How many files and connections the system lets this process have."""
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows has no such limit
        return 2 * MOST_CONNECTIONS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2 * MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else soft
