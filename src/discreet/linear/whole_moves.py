"""Second whole values without programs: moves of one unit from a known solution, found by local search.

A move is a change in whole numbers that keeps every row and every bound; adding it to a known solution gives another,
so every variable in it has two values, and the search goes on from there. What is found is certain; what is not found
says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.base.parallel import side_by_side
from discreet.linear.linear_tuning import LINEAR, LinearTuning
from discreet.linear.system import System

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from discreet.linear._whole_moves import BasePoint, Entries

FAR = 2**40  # room without end
_CHANGING = ("distance", "down", "up", "least", "most")  # what a walk changes of the solution that it begins from


def seen_by_moves(
    system: System, targets: Array, tuning: LinearTuning = LINEAR, *, making: bool = False
) -> tuple[Array, Array] | None:
    """Least and greatest value of each variable in the solutions that moves of single targets lead to.

    None without a whole-number solution to begin with, or with rows of fractions. Walks get longer from turn to turn;
    a turn ends where too few of the targets that it tries are moved, and two that move none are the last. ``making``:
    for a pattern in the making walks end sooner.

    >>> from scipy.sparse import csr_array
    >>> s = System(csr_array([[1.0, 1.0, 1.0]]), np.array([3.0]), np.zeros(3), np.full(3, 3.0), True, np.ones(3))
    >>> low, high = seen_by_moves(s, np.arange(3))
    >>> bool((high > low).all())
    True
    """
    if not has_whole_point(system):
        return None
    search = _Walks(system, tuning)
    left = np.asarray(targets, np.int64)
    budget = tuning.walk_steps[0] + tuning.walk_steps[1] * len(left)
    idle = 0
    walks = [walk for walk in tuning.walks if not making or walk[0] <= tuning.walk_longest]
    for turn, (steps, tries) in enumerate(walks):
        some = max(tuning.walk_sample // steps, tuning.walk_least)
        rest = left
        while len(rest) and budget > 0:  # a few first, then more at a time while it pays
            deadline.check()
            now, rest = rest[:some], rest[some:]
            taken = search.walk(now, steps, tries, 1 + turn + 7 * len(rest))
            budget -= taken
            moved = int(search.moved(now).sum())
            if moved < tuning.walk_share * len(now) or (making and taken > tuning.walk_worth * moved):
                break
        before, left = len(left), left[~search.moved(left)]
        idle = 0 if len(left) < before else idle + 1
        if idle > 1:
            break
    return system.point + search.base.least, system.point + search.base.most


class _Walks:
    """The solution that walks have led to, and how heavy the rows are by now."""

    def __init__(self, system: System, tuning: LinearTuning) -> None:
        self.entries, self.base = _begin(system)
        self.weight = np.ones(system.rows.shape[0], np.int64)
        self.tuning = tuning

    def moved(self, targets: Array) -> Array:
        """Of each target whether it was seen at another value."""
        return np.asarray((self.base.least[targets] < 0) | (self.base.most[targets] > 0))

    def walk(self, targets: Array, steps: int, tries: int, seed: int) -> int:
        """Look for a move of each target; the steps taken.

        Long walks go in shares side by side, each from the same solution: what any of them sees is noted, and the next
        ones go on from where the first of those that moved most has come.
        """
        from discreet.linear._whole_moves import find_moves

        lanes = self.tuning.walk_lanes if steps >= self.tuning.walk_apart else 1
        if lanes == 1 or len(targets) < 2 * lanes:
            return int(find_moves(self.entries, self.base, targets, steps, tries, self.weight, seed))

        def walked(lane: int) -> tuple[int, BasePoint, Array]:
            own = self.base._replace(**{name: getattr(self.base, name).copy() for name in _CHANGING})
            weight = self.weight.copy()
            share = np.ascontiguousarray(targets[lane::lanes])
            return find_moves(self.entries, own, share, steps, tries, weight, seed + 48_611 * lane), own, weight

        shares = side_by_side(walked, range(lanes))
        furthest = max(shares, key=lambda share: int((share[1].distance != self.base.distance).sum()))
        for _, own, _ in shares:
            np.minimum(self.base.least, own.least, out=self.base.least)
            np.maximum(self.base.most, own.most, out=self.base.most)
        least, most = self.base.least, self.base.most
        self.base, self.weight = furthest[1]._replace(least=least, most=most), furthest[2]
        return sum(int(taken) for taken, _, _ in shares)


class MovePool:
    """Moves of one unit from a known solution, for whoever knows some of the variables: those that keep these.

    A move counts for everybody who knows none of its variables, so that few are looked for.
    """

    def __init__(self, system: System, targets: Array, tuning: LinearTuning = LINEAR) -> None:
        self.tuning = tuning
        self.entries, self.base = _begin(system)
        self.moves: list[Array] = []
        self.moves_of: dict[int, list[int]] = {}
        self.count = np.zeros(system.size, np.int64)
        self.idle = np.zeros(system.size, bool)  # what no walk moves while nothing is known: walks are in vain
        self.idle[self.unmoved(np.empty(0, np.int64), targets)] = True

    def unmoved(self, known: Array, targets: Array) -> Array:
        """Targets that no move was found for among those that keep the known variables."""
        touched = {move for v in known.tolist() for move in self.moves_of.get(v, ())}
        left = targets
        usable = self.count.copy()
        for move in touched:
            usable[self.moves[move]] -= 1
        left = left[(usable[left] == 0) & ~np.isin(left, known)]
        idle, left = left[self.idle[left]], left[~self.idle[left]]
        rooms = self.base.down[known], self.base.up[known]
        self.base.down[known] = self.base.up[known] = 0
        for turn, (steps, tries) in enumerate(self.tuning.pool_walks):
            if not len(left):
                break
            deadline.check()
            moved = self._look(left, steps, tries, 1 + turn + 7 * len(self.moves))
            left = np.setdiff1d(left, moved)
        self.base.down[known], self.base.up[known] = rooms
        return np.concatenate([idle, left, np.intersect1d(targets, known)])

    def _look(self, targets: Array, steps: int, tries: int, seed: int) -> Array:
        """Look for further moves of some targets; the variables that these change."""
        from discreet.linear._whole_moves import list_moves

        variables = np.empty(self.tuning.pool_room * len(targets) + len(self.count), np.int64)
        ends = np.empty(len(targets), np.int64)
        many = list_moves(self.entries, self.base, targets.astype(np.int64), steps, tries, seed, variables, ends)
        changed = variables[: ends[many - 1] if many else 0]
        for move in np.split(changed, ends[: max(many - 1, 0)]) if many else []:
            for v in move.tolist():
                self.moves_of.setdefault(v, []).append(len(self.moves))
            self.moves.append(move)
            self.count[move] += 1
        return np.unique(changed)


class PricedMoves:
    """Cheap moves in whole numbers, where each variable has a price for being changed at all: walks that shun the dear.

    What a walk finds is a move for certain; that it is the cheapest is not said.

    >>> from scipy.sparse import csr_array
    >>> moves = PricedMoves(csr_array([[1.0, 1.0, 1.0]]), np.ones(3), np.ones(3))
    >>> moves.cheapest(0, 1, np.array([0.0, 5.0, 2.0])).tolist()
    [1, 0, -1]
    """

    def __init__(self, rows: csr_array, down: Array, up: Array, tuning: LinearTuning = LINEAR) -> None:
        size = len(down)
        self.system = System(rows, np.zeros(rows.shape[0]), -down, up, True, np.zeros(size))
        self.entries, self.base = _begin(self.system)
        self.tuning = tuning

    def cheapest(self, target: int, step: int, price: Array) -> Array | None:
        """The cheapest move found of a variable by ``step``, None if none was found. Prices are positive or zero."""
        from discreet.linear._whole_moves import cheapest_move

        least = float(price[price > 0].min(initial=np.inf))
        dear = np.where(price > 0, 1 + np.log2(np.maximum(price, least) / least), 0.0)
        found: list[tuple[float, Array]] = []
        for toll, steps, tries in self.tuning.priced_walks:
            deadline.check()
            base = self.base._replace(toll=1 + np.rint(toll * dear).astype(np.int64))
            change = np.zeros(self.system.size, np.int64)
            paid = cheapest_move(self.entries, base, target, step, steps, tries, price, change)
            if paid >= 0:
                found.append((paid, change))
        return min(found, key=lambda one: one[0])[1] if found else None


def has_whole_point(system: System) -> bool:
    """Whether there is a known solution in whole numbers, of rows of whole numbers."""
    whole = bool((system.rows.data == np.rint(system.rows.data)).all())
    return whole and system.point is not None and system.fits(system.point)


def _begin(system: System) -> tuple[Entries, BasePoint]:
    """The rows twice, and the known solution with the room it has."""
    from discreet.linear._whole_moves import BasePoint, Entries

    matrices = (system.rows, system.columns)
    entries = Entries(*(a.astype(np.int64) for m in matrices for a in (m.indptr, m.indices, m.data)))
    rooms = system.point - system.lower, system.upper - system.point
    down, up = (np.minimum(np.floor(room + 1e-6), FAR).astype(np.int64) for room in rooms)
    none = np.zeros((3, system.size), np.int64)
    return entries, BasePoint(none[0], down, up, none[1], none[2], np.ones(system.size, np.int64))
