"""Intervals on demand: the system behind a release, made smaller once and kept as long as the release is."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any
from weakref import finalize, ref

import numpy as np

from discreet.audits.known import Known
from discreet.audits.view import View
from discreet.base.annotations import Array, Progress
from discreet.linear.intervals import OnDemand
from discreet.linear.system import ContradictionError, System


class KeptSystem:
    """What an intruder knows, for questions about a few cells now and then. Confidential, and never written."""

    def __init__(self, seen: View, releases: Sequence[Any] = ()) -> None:
        self.seen = seen
        self.known = seen.known
        self.releases = [ref(release) for release in releases]
        self.lock = threading.Lock()

    @cached_property
    def system(self) -> System:
        return self.known.system()

    @cached_property
    def tied(self) -> Array:
        """Variables that stand in a sum with others (mask)."""
        rows = self.system.rows
        mask = np.zeros(rows.shape[1], bool)
        mask[rows[np.diff(rows.indptr) > 1].indices] = True
        return mask

    @cached_property
    def _intervals(self) -> OnDemand:
        return OnDemand(self.system)

    def settled(self, number: Array, progress: Progress | None = None) -> tuple[Array, Array, Array]:
        """Feasible intervals of cells, and which are settled; InputError naming cells if nothing fits the release."""
        try:
            with self.lock:
                return self._intervals.settled(number, progress)
        except ContradictionError:
            from discreet.audits.contradiction import explain

            raise explain(self.system, self.known.blank(), self.known.matrix.shape[1]) from None

    def answers(self, known: Known, releases: Sequence[Any]) -> bool:
        """Whether it is of the very same releases, and these still say the same: an array may have been written to."""
        mine = self.known
        pairs = (
            (mine.lower, known.lower),
            (mine.upper, known.upper),
            (mine.inner_lower, known.inner_lower),
            (mine.inner_upper, known.inner_upper),
            (mine.rhs, known.rhs),
            (mine.ordered, known.ordered),
        )
        return self.is_of(releases) and mine.integer == known.integer and all(_same_bounds(a, b) for a, b in pairs)

    def is_of(self, releases: Sequence[Any]) -> bool:
        """Whether it was made of the very same releases."""
        mine = [kept() for kept in self.releases]
        return len(mine) == len(releases) and all(a is b for a, b in zip(mine, releases, strict=True))


_KEPT: dict[int, dict[str, KeptSystem]] = {}
"""The last system of each release (the first, of several) by its id and measure, gone when the release is."""


def earlier_view(measure: str, releases: Sequence[Any]) -> View | None:
    """The last view of these releases that a system was kept of, for its sums."""
    kept = _KEPT.get(id(releases[0]), {}).get(measure)
    return kept.seen if kept is not None and kept.is_of(releases) else None


def kept_system(seen: View, releases: Sequence[Any]) -> KeptSystem:
    """The system that was made for these releases before, or a new one if what is known of them is not the same."""
    first = releases[0]
    if id(first) not in _KEPT:
        finalize(first, _KEPT.pop, id(first), None)
    by_measure = _KEPT.setdefault(id(first), {})
    kept = by_measure.get(seen.measure)
    if kept is None or not kept.answers(seen.known, releases):
        kept = by_measure[seen.measure] = KeptSystem(seen, releases)
    return kept


def _same_bounds(one: Array | None, other: Array | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))
