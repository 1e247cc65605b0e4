"""What the elimination kernel asks of a candidate before it is published: what would follow from it?"""

from __future__ import annotations

from typing import Any

from discreet.base.compiled import compiled_part
from discreet.linear._reduction import DEAD, ONE, inverse, times
from discreet.methods.suppress.gauss._kernel_state import place_of

SECONDARY = 1
SUMS = 1  # as in discreet.methods.suppress.model.singletons


@compiled_part
def scale_to_one(row: int, left: int, candidate: Any) -> None:
    """Multiply a candidate so that it has a 1 in a row."""
    factor = inverse(candidate.work[row])
    if factor != ONE:
        for j in range(left):
            candidate.work[candidate.touched[j]] = times(candidate.work[candidate.touched[j]], factor)


@compiled_part
def asked_at_pivot(
    pivot: int,
    left: int,
    candidate: Any,
    published: Any,
    primaries: Any,
    lists: Any,
    question: Any,
    forced: bool,
    hit: Any,
) -> Any:
    """How many primaries with an entry in the pivot row are in ``hit``, and whether the last one is exposed.

    What is forced exposes nothing that anybody could keep.
    """
    hits = 0
    if lists.count[pivot] == 0:
        return hits, False
    lists.tick[0] += 1
    node = lists.head[pivot]
    while node >= 0:
        p = lists.item[node]
        node = lists.following[node]
        if lists.stamp[p] == lists.tick[0] or primaries.live[p] == 0:
            continue
        lists.stamp[p] = lists.tick[0]
        place = place_of(pivot, p, primaries)
        if place < 0:
            continue
        hit[hits] = p
        hits += 1
        if not forced and exposes(p, place, left, candidate, published, primaries, question):
            return hits, True
    return hits, False


@compiled_part
def exposed_elsewhere(
    pivot: int, left: int, candidate: Any, published: Any, primaries: Any, lists: Any, question: Any
) -> bool:
    """Whether a primary is exposed to the owner of the pivot row: asked at a row of somebody else."""
    second = -1
    for j in range(left):
        if question.group[candidate.touched[j]] != question.group[pivot]:
            second = candidate.touched[j]
            break
    if second < 0 or lists.count[second] == 0:
        return False
    scale_to_one(second, left, candidate)
    exposed = False
    node = lists.head[second]
    while node >= 0 and not exposed:
        p = lists.item[node]
        node = lists.following[node]
        if primaries.live[p] > 0:
            place = place_of(second, p, primaries)
            exposed = place >= 0 and exposes(p, place, left, candidate, published, primaries, question)
    scale_to_one(pivot, left, candidate)
    return exposed


@compiled_part
def exposes(p: int, place: int, left: int, candidate: Any, published: Any, primaries: Any, question: Any) -> bool:
    """Whether candidate c gives primary p away: p = λ c, or p − λ c lies in the cells of one singleton contributor.

    c is scaled to 1 in the row at p's ``place``, so λ is p's entry there; c's rows are marked.
    """
    own = question.insider[p]
    if not own and primaries.live[p] != left:
        return False
    factor = primaries.value[place]
    group = question.group
    who = 0
    common = 0
    for j in range(primaries.start[p], primaries.start[p] + primaries.length[p]):
        row = primaries.row[j]
        if published.pivot_of[row] == DEAD:
            continue
        if candidate.has[row]:
            common += 1
            if times(factor, candidate.work[row]) == primaries.value[j]:
                continue
        if not own or group[row] == 0 or (who != 0 and group[row] != who):
            return False
        who = group[row]
    if common == left:
        return True
    return bool(own) and rest_is_own(p, left, candidate, primaries, group, who)


@compiled_part
def rest_is_own(p: int, left: int, candidate: Any, primaries: Any, group: Any, who: int) -> bool:
    """Whether the rows of a candidate that a primary lacks are all one contributor's: ``who``, if he is not 0.

    Rows that may be lacking are marked meanwhile.
    """
    for j in range(left):
        candidate.mark[candidate.touched[j]] = True
    for j in range(primaries.start[p], primaries.start[p] + primaries.length[p]):
        candidate.mark[primaries.row[j]] = False
    one = True
    for j in range(left):
        row = candidate.touched[j]
        if candidate.mark[row]:
            candidate.mark[row] = False
            if group[row] == 0 or (who != 0 and group[row] != who):
                one = False
            who = group[row]
    return one
