"""Answers leave when most answers of their size do: the time does not tell whether somebody has asked the same before.

What others asked leaves traces that save time: sums that are held, geometry that is known, counts of differences. An
answer that a caller has not had yet therefore waits until seven of ten recent answers of as many cells were ready.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque

SHARE, RECENT = 0.7, 50
STEP = 0.1  # of the usual time: those that take longer leave at multiples of it


class Pace:
    """The usual times of one worker, by size."""

    def __init__(self) -> None:
        self._times: dict[int, deque[float]] = {}

    async def wait(self, start: float, cells: int) -> None:
        """Until an answer of so many cells, begun at ``start`` (``time.perf_counter``), usually leaves."""
        spent = time.perf_counter() - start
        recent = self._times.setdefault(cells.bit_length(), deque(maxlen=RECENT))
        usual = sorted(recent)[math.floor(SHARE * len(recent))] if recent else spent
        recent.append(spent)
        leaves = usual if spent <= usual else math.ceil(spent / (STEP * usual)) * STEP * usual
        await asyncio.sleep(leaves - spent)
