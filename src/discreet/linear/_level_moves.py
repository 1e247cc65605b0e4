"""Compiled local search for moves that take variables as far as they must get, at a price for each one changed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.base.annotations import Array
from discreet.base.compiled import compiled, compiled_part
from discreet.linear._whole_moves import (
    BROKEN,
    CLOCK,
    TOUCHED,
    Entries,
    apply_unit,
    end,
    has_room,
    no_walk,
    one_step,
)

PATIENT = 96  # tries that a target gets in any case,
PATIENCE = 4  # then as long as a cheaper move was found in the last three quarters of them


class Rooms(NamedTuple):
    """How far each variable may go down and up, how far it has been seen to, and what changing it costs now."""

    down: Array
    up: Array
    fell: Array
    rose: Array
    price: Array
    toll: Array  # the price as walks see it; nothing where the price is 0


class MoveList(NamedTuple):
    """Moves one after the other: what each changes and by how much, up to its end; ``number``: of them, of entries."""

    variables: Array
    changes: Array
    ends: Array
    number: Array


@compiled
def level_moves(
    entries: Entries,
    rooms: Rooms,
    targets: Array,
    steps_of: Array,
    most_steps: int,
    tries: int,
    toll: int,
    both: bool,
    seed: int,
    banned: Array,
    banned_ends: Array,
    kept: MoveList,
) -> None:
    """For each target the cheapest move found that takes it by its step (up or down; with ``both`` back as well).

    A walk counts in steps of its target: it changes that by one and then, as long as rows are broken, one variable of
    a broken row. What the cheapest move changes is free from then on, for this target and all that come after it.
    Where the last three quarters of many tries have found nothing cheaper, further ones are left out.
    ``banned``: per target variables that must stay, up to their end; with them a target is never taken as reached.
    """
    n = len(entries.column_ptr) - 1
    walk = no_walk(n, np.ones(len(entries.row_ptr) - 1, np.int64), seed)
    best_variables = np.empty(n, np.int64)
    best_changes = np.empty(n, np.int64)
    before = np.empty((len(banned), 2), np.int64)
    for k in range(len(targets)):
        target = targets[k]
        unit = 1 if steps_of[k] > 0 else -1
        step = abs(steps_of[k])
        first = banned_ends[k - 1] if k and len(banned_ends) else 0
        last = banned_ends[k] if len(banned_ends) else 0
        if first == last and _reached(rooms, target, step, unit, both):
            continue
        for b in range(first, last):
            before[b - first, 0] = rooms.down[banned[b]]
            before[b - first, 1] = rooms.up[banned[b]]
            rooms.down[banned[b]] = 0
            rooms.up[banned[b]] = 0
        least = -1.0
        size = 0
        roomy = has_room(rooms.down[target], rooms.up[target], unit, step, both)
        improved = 0
        for attempt in range(tries if roomy else 0):
            if least >= 0 and attempt >= PATIENT and attempt > PATIENCE * improved:
                break
            walk.number[CLOCK] = 0
            apply_unit(target, unit, entries, walk)
            for _ in range(most_steps):
                if walk.number[BROKEN] == 0:
                    break
                times = toll << (attempt % 3)
                one_step(target, step, both, 1, times, entries, rooms.down, rooms.up, rooms.toll, walk, 1)
            if walk.number[BROKEN] == 0:
                paid = 0.0
                for i in range(walk.number[TOUCHED]):
                    if walk.change[walk.touched[i]] != 0:
                        paid += rooms.price[walk.touched[i]]
                if least < 0 or paid < least:
                    least = paid
                    improved = attempt
                    size = 0
                    for i in range(walk.number[TOUCHED]):
                        j = walk.touched[i]
                        if walk.change[j] != 0:
                            best_variables[size] = j
                            best_changes[size] = walk.change[j]
                            size += 1
            end(entries, walk)
            if least == 0:
                break
        for b in range(first, last):
            rooms.down[banned[b]] = before[b - first, 0]
            rooms.up[banned[b]] = before[b - first, 1]
        if least >= 0 and kept.number[1] + size <= len(kept.variables) and kept.number[0] < len(kept.ends):
            _keep(rooms, best_variables[:size], best_changes[:size], kept)


@compiled_part
def _reached(rooms: Rooms, target: int, step: int, unit: int, both: bool) -> bool:
    """Whether a target is known to get as far as it must."""
    rises = rooms.rose[target] >= step
    falls = rooms.fell[target] >= step
    if both:
        return bool(rises and falls)
    return bool(rises if unit > 0 else falls)


@compiled_part
def _keep(rooms: Rooms, variables: Array, changes: Array, kept: MoveList) -> None:
    """Note a move, what it changes as free, and how far it takes each variable, one way and back."""
    ahead = 1 << 62
    back = 1 << 62
    for i in range(len(variables)):
        j = variables[i]
        far = abs(changes[i])
        ahead = min(ahead, (rooms.up[j] if changes[i] > 0 else rooms.down[j]) // far)
        back = min(back, (rooms.down[j] if changes[i] > 0 else rooms.up[j]) // far)
    place = kept.number[1]
    for i in range(len(variables)):
        j = variables[i]
        far = abs(changes[i])
        rise = far * (ahead if changes[i] > 0 else back)
        fall = far * (back if changes[i] > 0 else ahead)
        rooms.rose[j] = max(rooms.rose[j], rise)
        rooms.fell[j] = max(rooms.fell[j], fall)
        rooms.price[j] = 0.0
        rooms.toll[j] = 0
        kept.variables[place + i] = j
        kept.changes[place + i] = changes[i]
    kept.number[1] = place + len(variables)
    kept.ends[kept.number[0]] = kept.number[1]
    kept.number[0] += 1


@compiled
def blocking_owners(
    targets: Array,
    own: Array,
    moves_ptr: Array,
    moves_of: Array,
    ends: Array,
    variables: Array,
    owner_ptr: Array,
    owner_of: Array,
    owners: int,
    found: Array,
    found_ends: Array,
) -> None:
    """Per target the owners who know a variable of every one of its moves, but for its own (0: nobody's).

    ``moves_of`` lists the moves of each variable, ``owner_of`` those who know it. A target without moves has none.
    """
    seen = np.zeros(owners + 1, np.int64)  # moves of the target that an owner touches
    last = np.full(owners + 1, -1, np.int64)
    used = 0
    for k in range(len(targets)):
        target = targets[k]
        first = moves_ptr[target]
        stop = moves_ptr[target + 1]
        for m in range(first, stop):
            move = moves_of[m]
            for i in range(ends[move - 1] if move else 0, ends[move]):
                for o in range(owner_ptr[variables[i]], owner_ptr[variables[i] + 1]):
                    who = owner_of[o]
                    if last[who] != m:
                        last[who] = m
                        seen[who] += 1
                        if seen[who] == stop - first and who != own[k] and used < len(found):
                            found[used] = who
                            used += 1
        for m in range(first, stop):
            move = moves_of[m]
            for i in range(ends[move - 1] if move else 0, ends[move]):
                for o in range(owner_ptr[variables[i]], owner_ptr[variables[i] + 1]):
                    seen[owner_of[o]] = 0
                    last[owner_of[o]] = -1
        found_ends[k] = used
