"""Groups of codes: how they come from links, which leaves each adds up, and the order of codes that they give.

Functions of leaves, groups and a total, on which ``Dimension`` stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.data.hierarchy import Link
from discreet.errors import InputError, nearest


@dataclass(frozen=True)
class Group:
    """A code that stands for others: ``parts`` are (code, sign) pairs.

    ``tree`` numbers the hierarchy the group belongs to; a signed group (EU = Europe − others) stands outside all.
    """

    code: str
    parts: tuple[tuple[str, int], ...]
    tree: int = 0

    @property
    def signed(self) -> bool:
        return any(sign < 0 for _, sign in self.parts)


def groups_of_links(trees: Sequence[Sequence[Link]]) -> tuple[Group, ...]:
    """Groups in order of first mention; those with a part taken away stand outside the hierarchies."""
    groups: dict[str, Group] = {}
    for tree, links in enumerate(trees):
        parts: dict[str, list[tuple[str, int]]] = {}
        for link in links:
            parts.setdefault(link.parent, []).append((link.child, link.sign))
        for code, members in parts.items():
            if code in groups and set(groups[code].parts) != set(members):
                raise InputError(f"group {code!r} has different parts in two hierarchies; give them two codes")
            group = Group(code, tuple(members), tree)
            groups.setdefault(code, replace(group, tree=-1) if group.signed else group)
    return tuple(groups.values())


def single_root(groups: Sequence[Group], leaves: Sequence[str]) -> str | None:
    """The one group that nothing contains, if all leaves lie below it."""
    inside = {part for g in groups if not g.signed for part, _ in g.parts}
    tops = [g.code for g in groups if not g.signed and g.code not in inside]
    loose = [leaf for leaf in leaves if leaf not in inside]
    return tops[0] if len(tops) == 1 and not loose else None


def check_groups(name: str, groups: Sequence[Group], known: set[str]) -> None:
    """Refuse a group without parts, with an unknown one, or with one that another group of its hierarchy has."""
    parent: dict[tuple[int, str], str] = {}
    for group in groups:
        if not group.parts:
            raise InputError(f"dimension {name!r}: group {group.code!r} has no parts")
        for part, _ in group.parts:
            if part not in known:
                raise InputError(
                    f"dimension {name!r}: group {group.code!r} has the unknown part {part!r}; " + nearest(part, known)
                )
            first = parent.setdefault((group.tree, part), group.code)
            if first != group.code and group.tree >= 0:
                raise InputError(
                    f"dimension {name!r}: {part!r} has two parents, {first!r} and {group.code!r}; "
                    "give the second grouping as a hierarchy of its own (from_parents(name, first, second))"
                )


def check_leaf_sums(name: str, leaves_of: Mapping[str, Mapping[str, int]]) -> None:
    """Refuse a code that adds up nothing, or a leaf more than once."""
    for code, leaves in leaves_of.items():
        if not leaves or any(abs(sign) > 1 for sign in leaves.values()):
            what = "nothing" if not leaves else "a code more than once"
            raise InputError(f"dimension {name!r}: group {code!r} holds {what}")


def leaf_sums(
    name: str, leaves: Sequence[str], groups: Sequence[Group], total: str | None
) -> dict[str, dict[str, int]]:
    """Every code as a signed sum of leaves.

    >>> leaf_sums("geo", ["no", "se"], [Group("EU", (("Europe", 1), ("no", -1)))], "Europe")["EU"]
    {'se': 1}
    """
    parts = {g.code: g.parts for g in groups}
    done: dict[str, dict[str, int]] = {leaf: {leaf: 1} for leaf in leaves}
    if total is not None:
        done[total] = dict.fromkeys(leaves, 1)

    def expand(code: str, path: tuple[str, ...]) -> dict[str, int]:
        if code in done:
            return done[code]
        if code in path:
            circle = " in ".join(repr(c) for c in (*path[path.index(code) :], code))
            raise InputError(f"dimension {name!r}: the groups form a cycle: {circle}")
        out: dict[str, int] = {}
        for part, sign in parts[code]:
            for leaf, coefficient in expand(part, (*path, code)).items():
                out[leaf] = out.get(leaf, 0) + sign * coefficient
        done[code] = {leaf: c for leaf, c in out.items() if c}
        return done[code]

    for group in groups:
        expand(group.code, ())
    return done


def display_order(
    leaves: Sequence[str], groups: Sequence[Group], total: str | None, first_leaf: Callable[[str], int]
) -> tuple[str, ...]:
    """All codes: the total, then the first hierarchy from above, then other groups."""
    tree = {g.code: [p for p, _ in g.parts] for g in groups if g.tree == 0}
    inside = {part for parts in tree.values() for part in parts}
    order: dict[str, None] = {} if total is None else {total: None}

    def walk(code: str) -> None:
        order[code] = None
        for child in tree.get(code, ()):
            walk(child)

    tops = [c for c in (*tree, *leaves) if c not in inside]
    for code in sorted(tops, key=first_leaf):
        walk(code)
    order.update(dict.fromkeys(g.code for g in groups))
    return tuple(order)


def hierarchies(
    leaves: Sequence[str],
    groups: Sequence[Group],
    leaves_of: Mapping[str, Mapping[str, int]],
    first_leaf: Callable[[str], int],
) -> list[tuple[tuple[str, ...], dict[str, list[str]]]]:
    """Of every hierarchy its topmost codes and each group's children."""
    trees = []
    for number in sorted({g.tree for g in groups if g.tree >= 0}) or [0]:
        children = {g.code: [p for p, _ in g.parts] for g in groups if g.tree == number}
        inside = {leaf for code in children for leaf in leaves_of[code]}
        nested = {part for parts in children.values() for part in parts}
        tops = [c for c in children if c not in nested] + [leaf for leaf in leaves if leaf not in inside]
        trees.append((tuple(sorted(tops, key=first_leaf)), children))
    return trees
