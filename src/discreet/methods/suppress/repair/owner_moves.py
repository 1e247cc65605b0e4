"""Contributors who know their own cells, very many of them: moves that keep what somebody knows, found by local search.

A short move of a sensitive cell shows that it has a second value for everybody who knows none of the cells that it
changes. Two moves with no contributor in common show it for all of them; so a few moves for each sensitive cell do
what a program for each contributor did. Pairs of a cell and a contributor that are left are asked about exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import Unjudged
from discreet.methods.suppress.model.singletons import Owners
from discreet.methods.suppress.model.tuning import RepairTuning
from discreet.methods.suppress.repair.short_moves import ShortMoves

if TYPE_CHECKING:
    from discreet.audits.known import Known
    from discreet.methods.suppress.repair.further_cells import Costs


@dataclass(frozen=True)
class OwnersServed:
    """Which cells are hidden now, and of whom it is not shown that they learn nothing: some contributors of any
    cell, all of them of cells without a move."""

    hidden: Array
    left: Array
    unmoved: Array


def served_owners(
    known: Known,
    truth: Array,
    primary: Array,
    sole: Array,
    costs: Costs,
    hidden: Array,
    owners: Owners,
    tuning: RepairTuning,
    *,
    closed: bool = False,
) -> OwnersServed:
    """Moves past everybody's own cells, at first of hidden cells alone; what others ask for is hidden.

    ``closed``: of hidden cells alone, and no further ones: proofs for most contributors, the others are left.
    ``sole``: per sensitive cell the contributor who is all of it (0: several), to whom it is no news.
    """
    everybody = np.unique(owners.group[owners.group > 0])
    moves = ShortMoves(known, truth, costs, hidden, tuning)
    place = moves.place[primary]
    if not moves.usable or (place < 0).any():
        return OwnersServed(hidden, everybody, primary)
    search = _Search(moves, known, place, sole, owners)
    for ceiling in (0.0,) if closed else (0.0, np.inf):  # of hidden cells alone, then of all
        for schedule in tuning.owner_walks:
            search.unmoved(schedule, ceiling=ceiling)
            search.past_all(schedule, ceiling=ceiling)
            if not search.pairs()[0].size:
                break
    if not closed:
        search.one_by_one(tuning.owner_walks[-1])
    pattern = moves.pattern()
    (fell, rose), fits = moves.reach(pattern)
    if not fits.all():  # the moves do not stand in front of the pattern
        return OwnersServed(pattern, everybody, primary)
    return OwnersServed(pattern, np.unique(search.pairs()[1]), primary[(fell + rose)[primary] < 1])


class _Search:
    """Sensitive variables, who knows which variable, and the moves so far."""

    def __init__(self, moves: ShortMoves, known: Known, place: Array, sole: Array, owners: Owners) -> None:
        self.moves = moves
        self.targets, first, which = np.unique(place, return_index=True, return_inverse=True)
        own = sole[first]
        own[which[sole != own[which]]] = 0  # cells that are equal, but not to the same contributor alone
        self.own = own
        rows = np.flatnonzero(owners.group)
        at, who = moves.place[known.inner_variables()[rows]], owners.group[rows].astype(np.int64)
        at, who = at[at >= 0], who[at >= 0]
        order = np.lexsort((who, at))
        pairs = np.unique(np.stack([at[order], who[order]]), axis=1) if len(at) else np.zeros((2, 0), np.int64)
        self.owner_of = pairs[1].astype(np.int64)
        self.owner_ptr = np.searchsorted(pairs[0], np.arange(moves.size + 1)).astype(np.int64)
        by_owner = np.argsort(pairs[1], kind="stable")
        self.variables = pairs[0][by_owner].astype(np.int64)
        self.number = int(owners.group.max(initial=0))
        self.variable_ptr = np.searchsorted(pairs[1][by_owner], np.arange(self.number + 2)).astype(np.int64)

    def still(self) -> Array:
        """Targets without any move."""
        rooms = self.moves.rooms
        return np.asarray(self.targets[(rooms.rose[self.targets] < 1) & (rooms.fell[self.targets] < 1)])

    def unmoved(self, schedule: tuple[int, int, int], *, ceiling: float) -> None:
        """A first move of those that have none."""
        for unit in (1, -1):
            left = self.still()
            self.moves.walk(left, np.full(len(left), unit), schedule, both=False, ceiling=ceiling)

    def past_all(self, schedule: tuple[int, int, int], *, ceiling: float) -> None:
        """For each target with contributors in the way of all its moves one that none of them is in the way of."""
        for unit in (1, -1):
            targets, who = self.pairs()
            at, first = np.unique(targets, return_index=True)
            if not len(at):
                return
            groups = np.split(who, first[1:])
            banned = [np.unique(np.concatenate([self._known_to(w) for w in some])) for some in groups]
            self._walk(at, banned, unit, schedule, ceiling=ceiling)

    def one_by_one(self, schedule: tuple[int, int, int]) -> None:
        """A move for each pair that is left."""
        for unit in (1, -1):
            targets, who = self.pairs()
            self._walk(targets, [self._known_to(w) for w in who], unit, schedule, ceiling=np.inf)

    def pairs(self) -> tuple[Array, Array]:
        """Targets and contributors who know a cell of each of its moves."""
        from discreet.linear._level_moves import blocking_owners

        variables, _, ends = self.moves.moves()
        of = np.repeat(np.arange(len(ends)), np.diff(np.concatenate([[0], ends])))
        order = np.argsort(variables, kind="stable")
        moves_ptr = np.searchsorted(variables[order], np.arange(self.moves.size + 1)).astype(np.int64)
        found = np.empty(64 * len(self.targets) + self.number + 1, np.int64)
        found_ends = np.zeros(len(self.targets), np.int64)
        blocking_owners(
            self.targets,
            self.own.astype(np.int64),
            moves_ptr,
            of[order].astype(np.int64),
            ends.astype(np.int64),
            variables,
            self.owner_ptr,
            self.owner_of,
            self.number,
            found,
            found_ends,
        )
        if len(found_ends) and found_ends[-1] == len(found):  # no room for more: nobody is shown to learn nothing
            raise Unjudged("too many contributors are in the way of the moves of sensitive cells")
        many = np.diff(np.concatenate([[0], found_ends]))
        return np.repeat(self.targets, many), found[: int(many.sum())]

    def _known_to(self, who: int) -> Array:
        return np.asarray(self.variables[self.variable_ptr[who] : self.variable_ptr[who + 1]])

    def _walk(
        self, targets: Array, banned: list[Array], unit: int, schedule: tuple[int, int, int], *, ceiling: float
    ) -> None:
        """Moves of targets that keep what is banned; a target that is banned itself has none."""
        if not len(targets):
            return
        ends = np.cumsum([len(b) for b in banned]).astype(np.int64)
        stay = np.concatenate(banned).astype(np.int64)
        steps = np.full(len(targets), unit, np.int64)
        self.moves.walk(targets, steps, schedule, both=False, banned=(stay, ends), ceiling=ceiling)
