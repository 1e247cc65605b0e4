"""Answers kept by a worker, the least used thrown out first. Only releases and refusals, never a table."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from discreet.errors import Refused
from discreet.release import Release


@dataclass
class CachedAnswer:
    """What became of a query: a release with its forms as bytes, or a refusal."""

    result: Release | Refused
    digest: str
    bodies: dict[str, bytes] = field(default_factory=dict)

    @property
    def size(self) -> int:
        cells = len(self.result) if isinstance(self.result, Release) else 1
        return 1000 + 40 * cells + sum(map(len, self.bodies.values()))


class Answers:
    """The newest answers, up to so many bytes."""

    def __init__(self, megabytes: int) -> None:
        self.room = megabytes * 1_000_000
        self.held = 0
        self._kept: OrderedDict[str, tuple[CachedAnswer, int]] = OrderedDict()

    def get(self, name: str) -> CachedAnswer | None:
        """A kept answer, which thereby is the newest."""
        entry = self._kept.get(name)
        if entry is None:
            return None
        self._kept.move_to_end(name)
        return entry[0]

    def put(self, name: str, answer: CachedAnswer) -> None:
        """Keep an answer, or take note that it has grown."""
        _, old_size = self._kept.pop(name, (None, 0))
        self.held -= old_size
        size = answer.size
        if size > self.room:
            return
        self._kept[name] = (answer, size)
        self.held += size
        while self.held > self.room:
            _, (_, gone) = self._kept.popitem(last=False)
            self.held -= gone
