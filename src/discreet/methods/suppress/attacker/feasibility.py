"""Whether a pattern protects: for every need a move of the hidden cells that reaches its level, or proof of none."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.base import parallel
from discreet.base.annotations import Array
from discreet.methods.suppress.attacker.cheapest_move import MoveFinder
from discreet.methods.suppress.attacker.furthest_move import reachable
from discreet.methods.suppress.attacker.joint_moves import reached
from discreet.methods.suppress.attacker.witnesses import (
    Move,
    Refusal,
    Witnesses,
    met_by,
    needs_by_cell,
    prices,
    spread,
    still,
)
from discreet.methods.suppress.model.condense import condense, hidden_part, hidden_part_with_moves
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning


@dataclass(frozen=True, eq=False)
class Examined:
    """Which needs a pattern meets; for those met, a move to each of their levels.

    ``refusals`` has the rest.
    """

    met: Array
    witnesses: Witnesses = field(repr=False)
    refusals: dict[int, Refusal] = field(repr=False)


def met(problem: Problem, pattern: Array, tuning: Tuning = DEFAULT) -> Array:
    """Which needs a pattern meets: the one door.

    Many needs are first asked about together; what a few moves of all cells leave open is examined need by need.

    >>> from scipy.sparse import csr_array
    >>> from discreet.methods.suppress.model.problem import Requirements
    >>> sums = csr_array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
    >>> hidden = np.array([True, False, False, False])
    >>> needs = Requirements.of(np.array([0]), np.array([2]), np.array([2]))
    >>> two = Problem(sums, np.full(4, 5.0), np.full(4, 5.0), np.ones(4), hidden, needs)
    >>> met(two, hidden).tolist(), met(two, np.ones(4, bool)).tolist()
    ([False], [True])
    """
    outside = problem.needs.coalition < 0
    done = np.zeros(len(problem.needs), bool)
    if outside.sum() > tuning.attacker.few:
        done = reached(hidden_part(problem, np.asarray(pattern, bool) | problem.hidden)[0], tuning)
    rest = np.flatnonzero(~done)
    if len(rest):
        done[rest] = examine(problem.with_needs(problem.needs.take(rest)), pattern, tuning=tuning).met
    return done


def examine(
    problem: Problem,
    pattern: Array,
    *,
    witnesses: Witnesses | None = None,
    tuning: Tuning = DEFAULT,
) -> Examined:
    """Whether moves of the hidden cells reach every level; ``witnesses`` of an earlier pattern save programs.

    >>> from scipy.sparse import csr_array
    >>> from discreet.methods.suppress.model.problem import Requirements
    >>> sums = csr_array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
    >>> hidden = np.array([True, False, False, False])
    >>> needs = Requirements.of(np.array([0]), np.array([2]), np.array([2]))
    >>> two = Problem(sums, np.full(4, 5.0), np.full(4, 5.0), np.ones(4), hidden, needs)
    >>> examine(two, hidden).met.tolist(), examine(two, np.ones(4, bool)).met.tolist()
    ([False], [True])
    """
    hidden = np.asarray(pattern, bool) | problem.hidden
    part, cells, basis = hidden_part_with_moves(problem, hidden)
    place = np.full(len(problem), -1)
    place[cells] = np.arange(len(cells))
    old = {} if witnesses is None else still(hidden, witnesses)
    known = {key: Move(place[move.cells], move.by) for key, move in old.items()}
    examined = moves_for_all(MoveFinder(part, basis, tuning), known)
    back = {key: Move(cells[move.cells], move.by) for key, move in examined.witnesses.items()}
    judged = _second_opinion(part, examined.met, tuning)
    refusals = {k: Refusal(refusal.proved) for k, refusal in examined.refusals.items() if not judged[k]}
    return Examined(judged, back, refusals)


def _second_opinion(part: Problem, met: Array, tuning: Tuning) -> Array:
    """Requirements not met by one solver's word put to the intruder's program, whose every answer carries a proof."""
    out = met.copy()
    for k in np.flatnonzero(~met).tolist() if (~met).sum() <= tuning.attacker.doubts else ():
        small = condense(part.with_needs(part.needs.take(np.array([k]))))
        if not len(small.hopeless) and len(small.small.needs):
            out[k] = reachable(small, 10 * tuning.attacker.tiny, tuning)
    return out


def moves_for_all(finder: MoveFinder, known: Witnesses, price: Array | None = None) -> Examined:
    """All needs of a problem whose cells are all hidden; ``known`` are moves there are already.

    ``price``: what moving each cell counts for; nothing for all of them if any moves will do.
    """
    problem, table = finder.problem, needs_by_cell(finder.problem)
    pattern, price = np.ones(len(problem), bool), prices(problem) if price is None else price
    together(finder, pattern, known, table, price)
    refusals = in_turn(finder, pattern, list(range(len(problem.needs))), known, table, price)
    met = np.array([k not in refusals for k in range(len(problem.needs))], bool)
    return Examined(met, known, refusals)


def in_turn(
    finder: MoveFinder,
    pattern: Array,
    waiting: list[int],
    known: Witnesses,
    table: dict[int, list[int]],
    price: Array,
) -> dict[int, Refusal]:
    """Moves for some needs, a few at a time, each tried on the others; what was refused is returned."""
    problem = finder.problem
    refusals: dict[int, Refusal] = {}
    size = finder.tuning.attacker.batch
    lanes = [finder.twin() for _ in range(parallel.lanes(len(waiting), finder.tuning.attacker.lane))]
    while waiting := [k for k in waiting if not met_by(problem, k, known, finder.tuning)]:
        batch, waiting = waiting[:size], waiting[size:]
        for outcome in _batch(lanes, pattern, batch, dict(known), price):
            for key, move in outcome.witnesses.items():
                known[key] = move
                spread(problem, move, known, table, finder.tuning)
            refusals |= outcome.refusals
    return refusals


def _batch(lanes: list[MoveFinder], pattern: Array, batch: list[int], known: Witnesses, price: Array) -> list[Examined]:
    """Some needs, a fixed share for each lane: the same moves whatever the number of processors."""

    def work(number: int) -> list[Examined]:
        return [settle_need(lanes[number], pattern, k, known, price) for k in batch[number :: len(lanes)]]

    shares = parallel.side_by_side(work, range(min(len(lanes), len(batch))))
    return [shares[k % len(lanes)][k // len(lanes)] for k in range(len(batch))]


def together(finder: MoveFinder, pattern: Array, known: Witnesses, table: dict[int, list[int]], price: Array) -> None:
    """Moves that serve many needs at once, as long as they do; each cell is wanted up or down by turns."""
    problem, needs, several = finder.problem, finder.problem.needs, finder.tuning.attacker.several
    for turn in range(finder.tuning.attacker.together):
        wanted: dict[int, float] = {}
        for k, cell in enumerate(needs.cell.tolist()):
            lacking = [s for s in (1, 0) if (needs.above if s else needs.below)[k] > 0 and (k, s) not in known]
            if needs.coalition[k] < 0 and lacking:
                side = lacking[(turn + k) % len(lacking)]
                wanted[cell] = float(needs.above[k] if side else -needs.below[k])
        move = finder.together(pattern, wanted, price) if len(wanted) >= several else None
        if move is None or len(spread(problem, move, known, table, finder.tuning)) < several:
            return


def settle_need(finder: MoveFinder, pattern: Array, need: int, known: Witnesses, price: Array) -> Examined:
    """One need: the moves that it still lacks, or the proof that one of them does not exist."""
    needs = finder.problem.needs
    below, above, sliding = (float(f[need]) for f in (needs.below, needs.above, needs.sliding))
    new: Witnesses = {}
    wanted = {1: above, 0: below}
    slides = sliding > below + above
    if slides:  # as far up as there is use for, and what is left of it downwards
        reached = finder.furthest(finder.movable(pattern, need), int(needs.cell[need]), above, sliding - below)
        if isinstance(reached, Refusal):
            return Examined(np.zeros(1, bool), {}, {need: reached})
        new[need, 1] = reached
        top = reached.of(int(needs.cell[need]))
        rest = sliding - top
        if rest <= 10 * finder.tuning.attacker.tiny * sliding:
            rest = 0.0  # no program for the solver's rounding
        wanted = {0: max(below, rest)}
    for side, amount in wanted.items():
        if amount <= 0 or (not slides and (need, side) in known):
            continue
        way = finder.find(pattern, need, 1 if side else 0, amount, price)
        if isinstance(way, Refusal):
            return Examined(np.zeros(1, bool), new, {need: way})
        new[need, side] = way
    return Examined(np.ones(1, bool), new, {})
