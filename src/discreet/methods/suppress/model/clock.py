"""The clock of a search: how much of its time is left; what is returned when none is, ``limits.py`` says."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """When a search began and how long it may take."""

    began: float
    seconds: float

    @classmethod
    def of(cls, seconds: float) -> Clock:
        """So many seconds from now on."""
        return cls(time.monotonic(), seconds)

    def at(self, share: float) -> float:
        """The moment when this share of the time is used."""
        return self.began + share * self.seconds

    def soon(self, share: float) -> float:
        """The moment when this share of the time left is used."""
        return time.monotonic() + share * self.left

    @property
    def left(self) -> float:
        """Seconds."""
        return max(self.at(1) - time.monotonic(), 0.0)
