"""What two families of sets tell together: the sets that both make up, and what subtracting one from the other leaves.

Sets are those of the finest codes of one variable, as bits. A family tells about all unions of its sets, since whoever
has the numbers of two sets without a common element can add them up.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import lru_cache

Sets = frozenset[int]
MOST = 10  # sets of one piece whose unions are all tried; where both families have more, nobody can tell
NOBODY = 0  # stands for what a piece that is too large may leave
NEAR = 0.8  # share of codes that two populations have in common when they are nearly the same


@lru_cache(maxsize=4096)
def compare_unions(mine: Sets, theirs: Sets) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The smallest sets that unions of both families make up, and the sets that subtraction leaves.

    The families are cut into pieces that have nothing in common. Where the sets of a piece have the same union in both
    families, both tell about it. Otherwise the difference of two unions, one within the other (or nearly the same), is
    left; not, where sets of the families themselves add up to it: then it was told anyway. Whatever else can be worked
    out by adding and subtracting is a union of such differences and of told sets. Of differences within each other the
    smallest is enough, since the others have more people.

    >>> compare_unions(frozenset([0b0111]), frozenset([0b0001, 0b0010]))
    ((), (4,))
    >>> compare_unions(frozenset([0b0011]), frozenset([0b0001, 0b0010]))
    ((3,), ())
    """
    if mine == theirs:
        return tuple(sorted(atoms(mine))), ()
    both, left = [], set()
    first, second = atoms(mine), atoms(theirs)
    known = first | second
    for ours, others in _pieces(first, second):
        whole = union(ours)
        if whole == union(others):
            both.append(whole)
        for difference in _differences(ours, others):
            if not adds_up(difference, known):
                left.add(difference)
    smallest = [one for one in left if not any(other != one and other & ~one == 0 for other in left)]
    return tuple(sorted(both)), tuple(sorted(smallest))


@lru_cache(maxsize=4096)
def atoms(family: Sets) -> Sets:
    """The sets without a common element of which all sets of a family are made: what lies in the same ones of them.

    >>> sorted(atoms(frozenset([0b111, 0b001, 0b010])))
    [1, 2, 4]
    """
    parts: set[int] = set()
    covered = 0
    for one in sorted(family, key=int.bit_count):
        if one & covered:  # most sets of a family have nothing in common with smaller ones: no part is cut
            parts = {part for held in parts for part in (held & one, held & ~one)} - {0}
        if new := one & ~covered:
            parts.add(new)
        covered |= one
    return frozenset(parts)


def _pieces(first: Sets, second: Sets) -> Iterator[tuple[list[int], list[int]]]:
    """Sets of both families that hang together by common elements, piece by piece."""
    rest = [(one, 0) for one in sorted(first)] + [(one, 1) for one in sorted(second)]
    while rest:
        held, piece, grown = rest[0][0], [], True
        while grown:
            inside = [entry for entry in rest if entry[0] & held]
            rest = [entry for entry in rest if not entry[0] & held]
            piece += inside
            grown, held = bool(inside), held | union(one for one, _ in inside)
        ours, others = [one for one, side in piece if side == 0], [one for one, side in piece if side == 1]
        if ours and others:
            yield ours, others


def _differences(ours: list[int], others: list[int]) -> Iterator[int]:
    """What unions of one side leave of unions of the other: the fewer sets are gone through, the others follow."""
    few, many = sorted((ours, others), key=len)
    if len(few) > MOST:
        yield NOBODY
        return
    sizes = range(1, len(few) + 1)
    for chosen in itertools.chain.from_iterable(itertools.combinations(few, n) for n in sizes):
        whole = union(chosen)
        within = union(one for one in many if one & ~whole == 0)
        if within and within != whole:
            yield whole & ~within
        around = union(one for one in many if one & whole)
        if around == whole:
            continue
        if whole & ~around == 0:
            yield around & ~whole
        elif (whole & around).bit_count() >= NEAR * (whole | around).bit_count():
            yield whole ^ around


def adds_up(wanted: int, sets: Sets) -> bool:
    """Whether some of the sets, none with a common element, make up another: then it was told.

    >>> adds_up(0b111, frozenset([0b011, 0b100])), adds_up(0b111, frozenset([0b011, 0b110])), adds_up(0, frozenset())
    (True, False, False)
    """
    inside = [one for one in sets if one & ~wanted == 0]
    reached, todo = set(), [wanted] if wanted and union(inside) == wanted else []
    while todo:
        rest = todo.pop()
        if not rest:
            return True
        lowest = rest & -rest
        for one in inside:
            if one & lowest and one & ~rest == 0 and rest & ~one not in reached:
                reached.add(rest & ~one)
                todo.append(rest & ~one)
    return False


def union(sets: Iterable[int]) -> int:
    """All elements of some sets."""
    out = 0
    for one in sets:
        out |= one
    return out
