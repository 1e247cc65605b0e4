"""Tables of a running server, asked for by its address as anybody would, within its limits."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from discreet.data.dimension import Dimension
from discreet.errors import InputError, listed

if TYPE_CHECKING:
    from discreet.policy.attacks.answers import ShownTable
    from discreet.policy.query import Resolved

SECONDS = 60.0  # for one answer
LONGEST_WAIT = 90  # seconds until a limit is filled again; a limit of the day is not waited for
PATIENCE = 20  # waits for one table
LOCAL = ("localhost", "127.0.0.1", "::1")
REFUSED, BUSY = (403, 413), (429, 503)


@dataclass(frozen=True)
class ServedTables:
    """A server, who asks it, and what to do while waiting."""

    url: str
    dimensions: tuple[Dimension, ...]
    token: str = field(default="", repr=False)
    say: Callable[[str], None] = print
    wait: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise InputError(f"the server's address must be like https://tables.example.org/, not {self.url!r}")
        if parts.username or parts.password:
            raise InputError(
                "an address with a password would be visible in the list of processes: give a file with a token"
            )
        if self.token and parts.scheme == "http" and parts.hostname not in LOCAL:
            raise InputError("a token is not sent over a line that others can read: give an address with https")

    def check_codebook(self) -> None:
        """Refuse a server whose variables and codes are not those of the data that the attack is judged by."""
        document = json.loads(self._fetched("api/metadata") or b"{}")
        there = {one["name"]: set(one["labels"]) for one in document.get("variables", ())}
        here = {d.name: set(d.codes) for d in self.dimensions}
        if others := sorted({name for name in {*there, *here} if there.get(name) != here.get(name)}):
            raise InputError(
                f"the server and the data differ in {listed(others)}: give the records that it serves, by its codes"
            )

    def ask(self, requests: Sequence[Resolved]) -> Iterator[ShownTable | None]:
        """The tables, one after another; None where one is refused."""
        from discreet.server.queries import address

        for resolved in requests:
            body = self._fetched(f"api/table.csv?{address(resolved.query)}")
            yield None if body is None else self._shown(body, resolved)

    def _shown(self, body: bytes, resolved: Resolved) -> ShownTable:
        from discreet.policy.attacks.answers import ShownTable

        rows = list(csv.DictReader(io.StringIO(body.decode("utf-8-sig"))))
        codes: dict[int, Any] = {}
        for k, dimension in enumerate(self.dimensions):
            if dimension.name in resolved.detail:
                codes[k] = np.array([dimension.position[row[dimension.name]] for row in rows])
            elif dimension.name in resolved.population:
                codes[k] = np.full(len(rows), dimension.position[resolved.population[dimension.name][1][0]])
        return ShownTable(codes, np.array([float(row["count"] or "nan") for row in rows]))

    def _fetched(self, path: str) -> bytes | None:
        """What stands at an address of the server; None where it refuses. Waits if it is asked to, but not for long."""
        import urllib.error
        import urllib.request
        from http.client import HTTPException

        from discreet.policy.attacks.answers import NoMoreAnswers

        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        request = urllib.request.Request(f"{self.url.rstrip('/')}/{path}", headers=headers)
        for _ in range(PATIENCE):
            try:
                with urllib.request.build_opener(_no_redirects()).open(request, timeout=SECONDS) as answer:
                    body: bytes = answer.read()
                    return body
            except urllib.error.HTTPError as error:
                code, after = error.code, error.headers.get("Retry-After", "")
                error.close()
            except (OSError, HTTPException):
                raise InputError(f"the server at {self.url!r} cannot be reached") from None
            if code in REFUSED:
                return None
            if code not in BUSY:
                raise InputError(f"the server at {self.url!r} answered {code}{WORDS.get(code, '')}")
            seconds = int(after) if after.isdigit() else 1
            if seconds > LONGEST_WAIT:
                self.say("the server gives no more tables today: what is left is unknown")
                raise NoMoreAnswers
            self.say(f"the server asks to wait for {seconds} s")
            self.wait(seconds)
        raise NoMoreAnswers


WORDS = {
    401: ": it needs a user who has signed in, and the token is missing or not valid",
    404: ": there is no table server below this address",
}


def _no_redirects() -> Any:
    """A token goes to the address that was named and to no other."""
    import urllib.request

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any, **__: Any) -> None:
            return None

    return Stay()
