"""What tells that a table is the one of a page which was just answered and recorded: its numbers are one line, not two.

A page of a table asks for the same table once more, as numbers for its viewer. It sends a mark by the server's secret,
which holds for who was given the page, for its table and edition, and for a few minutes; any other request has a line.
"""

from __future__ import annotations

import hmac
import time

from discreet.server.record.server_key import keyed_name

PERIOD = 60  # seconds; a mark holds in the period in which it was made and in the next two
HEADER = "x-discreet-page"


def page_mark(key: bytes, who: str, digest: str, edition: str, now: float | None = None) -> str:
    """The mark of a page that shows a table.

    >>> mark = page_mark(b"k", "user:ada", "d", "e", now=100.0)
    >>> is_page_mark(b"k", mark, "user:ada", "d", "e", now=130.0), is_page_mark(b"k", mark, "user:bob", "d", "e", 130.0)
    (True, False)
    """
    period = int((time.time() if now is None else now) // PERIOD)
    return f"{period}.{keyed_name(key, 'page', who, digest, edition, str(period))}"


def is_page_mark(key: bytes, mark: str, who: str, digest: str, edition: str, now: float | None = None) -> bool:
    """Whether a mark is that of this page, made by a server with this key a moment ago.

    >>> is_page_mark(b"k", page_mark(b"k", "w", "d", "e", 100.0), "w", "d", "e", 400.0)
    False
    """
    now = time.time() if now is None else now
    return any(
        hmac.compare_digest(mark.encode(), page_mark(key, who, digest, edition, now - PERIOD * back).encode())
        for back in range(3)
    )
