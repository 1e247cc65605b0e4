"""What a monitor may know: how many requests of which route had which status, and how long they took.

Counts lie in memory that all workers of a server share, a row for each, so that any of them tells the same. No metric
has a variable, a code, a name, an address or a rule in it.
"""

from __future__ import annotations

import bisect
import mmap
import time
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from discreet.base.annotations import Floats
from discreet.base.version import VERSION

WORKERS, ROUTES = 64, 128
STATUSES = (200, 204, 302, 303, 304, 400, 401, 403, 404, 405, 406, 413, 414, 422, 429, 500, 503)
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
OTHER = "other"
TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Meters:
    """Counters of all workers. A worker that takes over a row goes on counting in it."""

    def __init__(self, workers: int = WORKERS) -> None:
        self.width = ROUTES * (len(STATUSES) + 1 + len(SECONDS) + 1 + 1) + 3
        self._memory = mmap.mmap(-1, workers * self.width * 8)  # shared with processes that are forked from this one
        self.rows = np.frombuffer(self._memory, np.float64).reshape(workers, self.width)
        self.row = 0
        self.routes: list[str] = []
        self.started = time.time()

    def begin(self, row: int) -> None:
        """Count in this row from now on."""
        self.row = row

    def name_routes(self, routes: Sequence[str]) -> None:
        """The routes that are told apart, the same in every worker; others are one."""
        self.routes = [*dict.fromkeys(routes)][: ROUTES - 1]

    def count(self, route: str, status: int, seconds: float, cached: bool | None) -> None:
        """One request, answered."""
        mine = self.rows[self.row]
        at = self.routes.index(route) if route in self.routes else len(self.routes)
        codes, times, sums = self._parts(mine)
        codes[at, STATUSES.index(status) if status in STATUSES else len(STATUSES)] += 1
        times[at, bisect.bisect_left(SECONDS, seconds)] += 1
        sums[at] += seconds
        if cached is not None:
            mine[-3 if cached else -2] += 1

    def _parts(self, row: Floats) -> tuple[Floats, Floats, Floats]:
        a = ROUTES * (len(STATUSES) + 1)
        b = a + ROUTES * (len(SECONDS) + 1)
        return row[:a].reshape(ROUTES, -1), row[a:b].reshape(ROUTES, -1), row[b : b + ROUTES]

    def lines(self, *, edition: str, store: bool) -> Iterator[str]:
        """The text format of Prometheus."""
        total = self.rows.sum(axis=0)
        codes, times, sums = self._parts(total)
        yield from _head("discreet_info", "gauge", "Version, and the edition that servers with the same answers share.")
        yield f'discreet_info{{version="{VERSION}",edition="{edition}"}} 1'
        yield from _head("discreet_store_up", "gauge", "Whether the store can be written.")
        yield f"discreet_store_up {int(store)}"
        yield from _head("discreet_start_time_seconds", "gauge", "When the server was started.")
        yield f"discreet_start_time_seconds {self.started:.3f}"
        names = [*self.routes, OTHER]
        yield from _head("discreet_requests_total", "counter", "Requests by route and status.")
        for at, name in enumerate(names):
            for k, code in enumerate([*STATUSES, OTHER]):
                if codes[at, k]:
                    yield f'discreet_requests_total{{route="{name}",code="{code}"}} {int(codes[at, k])}'
        yield from _head("discreet_request_seconds", "histogram", "Time to answer, by route.")
        for at, name in enumerate(names):
            if not times[at].any():
                continue
            for k, most in enumerate([*map(str, SECONDS), "+Inf"]):
                upto = int(times[at, : k + 1].sum())
                yield f'discreet_request_seconds_bucket{{route="{name}",le="{most}"}} {upto}'
            yield f'discreet_request_seconds_sum{{route="{name}"}} {sums[at]:.6f}'
            yield f'discreet_request_seconds_count{{route="{name}"}} {int(times[at].sum())}'
        yield from _head("discreet_answers_total", "counter", "Tables given, from a worker's memory or newly made.")
        yield f'discreet_answers_total{{cached="true"}} {int(total[-3])}'
        yield f'discreet_answers_total{{cached="false"}} {int(total[-2])}'

    def time_counts(self, routes: Collection[str]) -> list[tuple[str, int]]:
        """How many answers of some routes took how long, all workers together."""
        _, times, _ = self._parts(self.rows.sum(axis=0))
        places = [at for at, name in enumerate(self.routes) if name in routes]
        counts = times[places].sum(axis=0) if places else np.zeros(len(SECONDS) + 1)
        names = [
            *(f"up to {s:g} s" if s >= 1 else f"up to {1000 * s:g} ms" for s in SECONDS),
            f"more than {SECONDS[-1]:g} s",
        ]
        return [(name, int(number)) for name, number in zip(names, counts, strict=True)]


def _head(name: str, kind: str, words: str) -> tuple[str, str]:
    return f"# HELP {name} {words}", f"# TYPE {name} {kind}"


METERS = Meters()
