"""What to hide for very many cells of amounts at once: short moves by local search, each of them a proof by itself.

A linear program for every cell that lacks room does not end where there are thousands of them. A walk over the sums
finds a move of some twenty cells that takes a cell as far as it must get, and serves whatever else it touches. Walks
shun dear cells; what they find is not the cheapest, but it is certain: a move that keeps every sum and every bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.base.parallel import side_by_side
from discreet.linear.presolve import Affine, Step, reduce
from discreet.linear.system import System
from discreet.linear.whole_moves import FAR, has_whole_point
from discreet.methods.suppress.model.problem import Requirements
from discreet.methods.suppress.model.tuning import RepairTuning

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from discreet.audits.known import Known
    from discreet.linear._level_moves import MoveList, Rooms
    from discreet.linear._whole_moves import Entries
    from discreet.methods.suppress.repair.further_cells import Costs


@dataclass(frozen=True)
class Served:
    """Which cells are hidden now, and which needs are shown to be met by moves of hidden cells."""

    hidden: Array
    met: Array


class ShortMoves:
    """All cells that are hidden or could be, in the smallest system of equations, and the moves found so far."""

    def __init__(self, known: Known, truth: Array, costs: Costs, hidden: Array, tuning: RepairTuning) -> None:
        from discreet.linear._level_moves import Rooms
        from discreet.linear._whole_moves import Entries

        self.tuning, self.truth, self.known, self.costs = tuning, truth, known, costs
        self.hidden = hidden.copy()
        cost = np.where(hidden, 0.0, costs.cost)
        n = len(cost)
        can = np.isfinite(cost) & ~(hidden & (known.lower == known.upper))  # not what is known all the same
        opened = replace(
            known,
            lower=np.where(can, np.where(hidden, known.lower, costs.bottom), truth[:n]),
            upper=np.where(can, np.where(hidden, known.upper, costs.top), truth[:n]),
        ).system()
        small, steps = reduce(replace(opened, point=truth), merge=False)
        self.place, self.factor = _places(opened.size, steps)
        self.size = small.size
        self.usable = has_whole_point(small)
        inside = self.place[:n] >= 0
        self.price = np.zeros(small.size)
        np.add.at(self.price, self.place[:n][inside], np.where(np.isfinite(cost), cost, 0.0)[inside])
        matrices = (small.rows, small.columns)
        self.entries: Entries = Entries(*(a.astype(np.int64) for m in matrices for a in (m.indptr, m.indices, m.data)))
        point = np.zeros(small.size) if small.point is None else small.point
        down, up = (_whole_room(room) for room in (point - small.lower, small.upper - point))
        seen = np.zeros((2, small.size), np.int64)
        self.rooms: Rooms = Rooms(down, up, seen[0], seen[1], self.price.copy(), _tolls(self.price))
        self.lists: list[MoveList] = []

    def walk(
        self,
        targets: Array,
        steps: Array,
        schedule: tuple[int, int, int],
        *,
        both: bool,
        banned: tuple[Array, Array] | None = None,
        ceiling: float = np.inf,
    ) -> None:
        """Look for a move of each target by its step, of cells that cost no more than ``ceiling`` (0: hidden ones).

        Some chunks of targets side by side, as many for any number of processors, then those that come after them: what
        one finds is free for the next ones.
        """
        from discreet.linear._level_moves import level_moves

        most, tries, toll = schedule
        none = np.empty(0, np.int64)
        size = self.tuning.walk_chunk

        def chunk(first: int) -> tuple[Rooms, MoveList]:
            now = slice(first, first + size)
            stay, ends = none, none
            if banned is not None:
                begin = int(banned[1][first - 1]) if first else 0
                ends = banned[1][now] - begin
                stay = banned[0][begin : begin + int(ends[-1])]
            kept = _room_for(len(targets[now]), self.size, self.tuning.walk_room)
            rooms = _own(self.rooms, ceiling)
            level_moves(
                self.entries, rooms, targets[now], steps[now], most, tries, toll, both, 1 + first, stay, ends, kept
            )
            return rooms, _cut(kept)

        starts = range(0, len(targets), size)
        for first in range(0, len(starts), self.tuning.walk_lanes):
            deadline.check()
            for rooms, found in side_by_side(chunk, starts[first : first + self.tuning.walk_lanes]):
                _learn(self.rooms, rooms)
                self.lists.append(found)

    def moves(self) -> tuple[Array, Array, Array]:
        """All moves: what they change, by how much, and where each ends."""
        if not self.lists:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
        before = np.cumsum([0, *(len(one.variables) for one in self.lists)])
        ends = [one.ends + begin for one, begin in zip(self.lists, before, strict=False)]
        return (
            np.concatenate([one.variables for one in self.lists]),
            np.concatenate([one.changes for one in self.lists]),
            np.concatenate(ends),
        )

    def leave_out(self, targets: Array) -> None:
        """Drop moves without which all targets that are moved still are, the dearest first."""
        from discreet.linear._level_moves import MoveList

        variables, changes, ends = self.moves()
        starts = np.concatenate([[0], ends])
        of = np.repeat(np.arange(len(ends)), np.diff(starts))
        asked = np.zeros(self.size, bool)
        asked[targets] = True
        served = np.bincount(variables[asked[variables]], minlength=self.size)  # moves of each target
        paid = np.bincount(of, self.price[variables], len(ends))
        kept = np.ones(len(ends), bool)
        for move in np.argsort(-paid, kind="stable").tolist():
            here = variables[starts[move] : starts[move + 1]]
            here = here[asked[here]]
            if paid[move] > 0 and (served[here] > 1).all():
                kept[move] = False
                served[here] -= 1
        left = np.cumsum(np.diff(starts)[kept])
        number = np.array([len(left), int(kept[of].sum())])
        self.lists = [MoveList(variables[kept[of]], changes[kept[of]], left, number)]

    def pattern(self) -> Array:
        """The hidden cells with all that the moves change."""
        touched = np.zeros(self.size + 1, bool)
        touched[self.moves()[0]] = True
        touched[-1] = False  # what has no place
        n = len(self.hidden)
        return np.asarray(self.hidden | touched[self.place[:n]])

    def reach(self, hidden: Array) -> tuple[Array, Array]:
        """How far below and above the truth every variable of the intruder's system gets; which moves fit at all.

        Worked out from his own equations and from his bounds in front of the pattern: a move that breaks one of them
        counts for nothing, whatever the search made of it.
        """
        from scipy.sparse import csr_array

        now = replace(
            self.known,
            lower=np.where(hidden & ~self.hidden, self.costs.bottom, self.known.lower),
            upper=np.where(hidden & ~self.hidden, self.costs.top, self.known.upper),
        ).system()
        variables, changes, ends = self.moves()
        out = np.zeros((2, now.size))
        if not len(ends):
            return out, np.ones(0, bool)
        inside = np.flatnonzero(self.place >= 0)
        spread = csr_array((self.factor[inside], (self.place[inside], inside)), shape=(self.size, now.size))
        moves = csr_array((changes.astype(float), variables, np.concatenate([[0], ends])), shape=(len(ends), self.size))
        full = csr_array(moves @ spread)
        down, up = np.maximum(self.truth - now.lower, 0), np.maximum(now.upper - self.truth, 0)
        return _reach(full, now, down, up)


def served_by_moves(
    known: Known, truth: Array, needs: Requirements, costs: Costs, hidden: Array, tuning: RepairTuning
) -> Served:
    """Hide what short moves ask for, so that needs are met; those that no move was found for are left."""
    moves = ShortMoves(known, truth, costs, hidden, tuning)
    if not moves.usable:
        return Served(hidden, np.zeros(len(needs), bool))
    least = np.maximum(needs.sliding, 1)
    place = moves.place[needs.cell]
    some = np.flatnonzero(place >= 0)
    for most, tries, toll in tuning.level_walks:
        even = _highest(moves.size, place[some], np.maximum(np.maximum(needs.below, needs.above), least / 2)[some])
        targets = _in_order(even, np.minimum(moves.rooms.rose, moves.rooms.fell))
        tries = max(tries, min(tuning.level_tries // max(len(targets), 1), tuning.level_most))
        moves.walk(targets, even[targets], (most, tries, toll), both=True)
    above = _highest(moves.size, place[some], np.maximum(needs.above, least - needs.below)[some])
    below = _highest(moves.size, place[some], needs.below[some])
    met = (moves.rooms.rose >= above) & (moves.rooms.fell >= below)
    for level, seen, sign in ((above, moves.rooms.rose, 1), (below, moves.rooms.fell, -1)):
        targets = _in_order(np.where(met, 0, level), seen)
        moves.walk(targets, sign * level[targets], tuning.level_walks[-1], both=False)
    pattern = moves.pattern()
    fell, rose = moves.reach(pattern)[0][:, needs.cell]
    enough = (fell >= needs.below) & (rose >= needs.above) & (fell + rose >= least)
    return Served(pattern, np.asarray(enough))


def _highest(size: int, place: Array, level: Array) -> Array:
    """Per variable of the small system the highest level asked of it, in whole units and a little more."""
    highest = np.zeros(size, np.int64)
    np.maximum.at(highest, place, np.ceil(level * (1 + 1e-9)).astype(np.int64))
    return highest


def _in_order(level: Array, seen: Array) -> Array:
    """Variables that are not known to get as far as their level, those with the highest first."""
    targets = np.flatnonzero((level > 0) & (seen < level))
    return targets[np.argsort(-level[targets], kind="stable")]


def _places(size: int, steps: Sequence[Step]) -> tuple[Array, Array]:
    """Per variable the one of the small system that it goes with (-1: it stays) and whether along or against it."""
    place, factor = np.arange(size), np.ones(size)
    for step in steps:
        assert isinstance(step, Affine)
        at = np.where(place >= 0, place, 0)
        factor = np.where(place >= 0, factor * step.factor[at], 0.0)
        place = np.where(place >= 0, step.variable[at], -1)
    return place, factor


def _whole_room(room: Array) -> Array:
    return np.minimum(np.floor(room + 1e-6), FAR).astype(np.int64)


def _tolls(price: Array) -> Array:
    """Prices as walks see them: nothing, or from 1 on by one for each doubling."""
    least = float(price[price > 0].min(initial=np.inf))
    return np.where(price > 0, 1 + np.rint(np.log2(np.maximum(price, least) / least)), 0).astype(np.int64)


def _own(rooms: Rooms, ceiling: float) -> Rooms:
    """The rooms for one chunk of walks to change; none for what costs more than ``ceiling``."""
    shown = rooms.price > ceiling
    copied = rooms._replace(**{name: getattr(rooms, name).copy() for name in ("fell", "rose", "price", "toll")})
    return copied._replace(down=np.where(shown, 0, rooms.down), up=np.where(shown, 0, rooms.up))


def _learn(rooms: Rooms, found: Rooms) -> None:
    """Note how far variables were seen to go, and which of them cost nothing any more."""
    for mine, new in ((rooms.fell, found.fell), (rooms.rose, found.rose)):
        np.maximum(mine, new, out=mine)
    for mine, new in ((rooms.price, found.price), (rooms.toll, found.toll)):
        np.minimum(mine, new, out=mine)


def _room_for(targets: int, size: int, room: int) -> MoveList:
    from discreet.linear._level_moves import MoveList

    many = room * targets + size
    return MoveList(
        np.empty(many, np.int64), np.empty(many, np.int64), np.empty(targets, np.int64), np.zeros(2, np.int64)
    )


def _cut(kept: MoveList) -> MoveList:
    moves, entries = kept.number.tolist()
    return kept._replace(
        variables=kept.variables[:entries].copy(), changes=kept.changes[:entries].copy(), ends=kept.ends[:moves].copy()
    )


def _reach(full: csr_array, system: System, down: Array, up: Array) -> tuple[Array, Array]:
    """The furthest that any of some moves takes each variable, down and up; those that break a row do nothing.

    And which moves fit, one way or back.
    """
    many = full.shape[0]
    of = np.repeat(np.arange(many), np.diff(full.indptr))
    kept = np.ones(many, bool)
    broken = (full @ system.rows.T).tocoo()
    kept[broken.coords[0][broken.data != 0]] = False
    size = np.abs(full.data)
    rises = full.data > 0
    ahead, back = np.full(many, np.inf), np.full(many, np.inf)
    np.minimum.at(ahead, of, np.where(rises, up[full.indices], down[full.indices]) / np.maximum(size, 1))
    np.minimum.at(back, of, np.where(rises, down[full.indices], up[full.indices]) / np.maximum(size, 1))
    ahead, back = np.where(kept, ahead, 0), np.where(kept, back, 0)
    out = np.zeros((2, system.size))
    changed = size > 0
    at, of, size, rises = full.indices[changed], of[changed], size[changed], rises[changed]
    np.maximum.at(out[0], at, size * np.where(rises, back[of], ahead[of]))
    np.maximum.at(out[1], at, size * np.where(rises, ahead[of], back[of]))
    return out, np.asarray(np.maximum(ahead, back) >= 1)
