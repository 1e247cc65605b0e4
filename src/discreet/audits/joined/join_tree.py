"""How tables hang together by their dimensions, and which further cells make the joint system whole.

Tables with their margins that agree on every margin they share come from one table over all dimensions, in whole
numbers too, if their sets of dimensions form a tree in which each dimension stands on connected places (a decomposable
set of margins): two tables with a margin in common can be put together cell by cell of that margin, each time a table
with given row and column sums. Then nothing but the shared margins, in the finest codes, need be written down. Where
the sets go in a circle, the tables of the circle need all their dimensions crossed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

Names = frozenset[str]


def crossed_sets(sets: Sequence[Names]) -> tuple[list[Names], list[Names]]:
    """Sets of dimensions to write down in full: shared margins, and the dimensions of tables that go in a circle.

    >>> margins, circles = crossed_sets([frozenset("ab"), frozenset("bc"), frozenset("cd")])
    >>> sorted("".join(sorted(m)) for m in margins), circles
    (['b', 'c'], [])
    >>> crossed_sets([frozenset("ab"), frozenset("bc"), frozenset("ac")])[1] == [frozenset("abc")]
    True
    """
    nodes = list(dict.fromkeys(sets))
    circles = []
    for core in _cores(nodes):
        whole = frozenset().union(*core)
        circles.append(whole)
        nodes = [n for n in nodes if n not in core] + [whole]
    nodes = list(dict.fromkeys(nodes))
    return [m for m in dict.fromkeys(_separators(nodes)) if m], circles


def _cores(nodes: Sequence[Names]) -> list[list[Names]]:
    """What is left of each connected part when sets inside others and dimensions of one set alone are taken out."""
    left = {k: set(node) for k, node in enumerate(nodes)}
    changed = True
    while changed:
        changed = False
        for k in list(left):
            own = {name for name in left[k] if not any(name in left[o] for o in left if o != k)}
            if own:
                left[k] -= own
                changed = True
        for k in sorted(left, key=lambda k: len(left[k])):
            if any(o != k and left[k] <= left[o] for o in left):
                del left[k]
                changed = True
    remaining = [k for k in left if left[k]]
    parts: list[list[int]] = []
    for k in remaining:
        touching = [part for part in parts if any(left[k] & left[o] for o in part)]
        parts = [part for part in parts if part not in touching] + [[k, *(o for part in touching for o in part)]]
    return [[nodes[k] for k in sorted(part)] for part in parts if len(part) > 1]


def _separators(nodes: Sequence[Names]) -> list[Names]:
    """The sets that neighbours share in a tree of greatest weight."""
    parent = list(range(len(nodes)))

    def root(k: int) -> int:
        while parent[k] != k:
            k = parent[k]
        return k

    shared = []
    pairs = sorted(combinations(range(len(nodes)), 2), key=lambda p: -len(nodes[p[0]] & nodes[p[1]]))
    for one, other in pairs:
        if root(one) != root(other):
            parent[root(one)] = root(other)
            shared.append(nodes[one] & nodes[other])
    return shared
