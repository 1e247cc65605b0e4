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
    Walk,
    apply_unit,
    end,
    no_walk,
    random_below,
)


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
        for attempt in range(tries if _has_room(rooms, target, unit, step, both) else 0):
            walk.number[CLOCK] = 0
            apply_unit(target, unit, entries, walk)
            for _ in range(most_steps):
                if walk.number[BROKEN] == 0:
                    break
                _one_step(target, step, both, toll << (attempt % 3), entries, rooms, walk)
            if walk.number[BROKEN] == 0:
                paid = 0.0
                for i in range(walk.number[TOUCHED]):
                    if walk.change[walk.touched[i]] != 0:
                        paid += rooms.price[walk.touched[i]]
                if least < 0 or paid < least:
                    least = paid
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
def _has_room(rooms: Rooms, j: int, change: int, step: int, both: bool) -> bool:
    """Whether a variable may be changed by so many steps (and back, with ``both``)."""
    far = abs(change) * step
    if both:
        return bool(rooms.up[j] >= far and rooms.down[j] >= far)
    return bool((rooms.up[j] if change > 0 else rooms.down[j]) >= far)


@compiled_part
def _one_step(target: int, step: int, both: bool, toll: int, entries: Entries, rooms: Rooms, walk: Walk) -> None:
    """Change the best variable of a broken row by one; rows get heavier where nothing helps."""
    row = walk.broken[random_below(walk, walk.number[BROKEN])]
    other = walk.broken[random_below(walk, walk.number[BROKEN])]
    if walk.weight[other] > walk.weight[row]:
        row = other
    least = 1 << 60
    best = -1
    best_unit = 1
    ties = 0
    for e in range(entries.row_ptr[row], entries.row_ptr[row + 1]):
        j = entries.row_columns[e]
        unit = -1 if (walk.error[row] > 0) == (entries.row_values[e] > 0) else 1
        after = walk.change[j] + unit
        if j == target or walk.rests_until[j] > walk.number[CLOCK] or not _has_room(rooms, j, after, step, both):
            continue
        price = 1 + toll * rooms.toll[j] if walk.change[j] == 0 else 0
        for f in range(entries.column_ptr[j], entries.column_ptr[j + 1]):
            error = walk.error[entries.column_rows[f]]
            new = error + entries.column_values[f] * unit
            price += 2 * (abs(new) - abs(error)) * walk.weight[entries.column_rows[f]]
        if price < least:
            least = price
            best = j
            best_unit = unit
            ties = 1
        elif price == least:
            ties += 1
            if random_below(walk, ties) == 0:
                best = j
                best_unit = unit
    if least >= 0:
        for i in range(walk.number[BROKEN]):
            walk.weight[walk.broken[i]] += 1
    walk.number[CLOCK] += 1
    if best < 0:
        return
    apply_unit(best, best_unit, entries, walk)
    walk.rests_until[best] = walk.number[CLOCK] + 1 + random_below(walk, 2)


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
