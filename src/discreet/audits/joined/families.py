"""One dimension in several tables: which codes are the same, which are sums of others, and their finest parts.

A table parts the whole of a dimension among its codes. Tables whose codes are the same, or sums of each other's by what
a file, a mapping or a codebook says, part it alike. Where two tables part the same whole in ways that nobody relates to
each other (municipalities here, grid squares there), their codes cross freely, as if they were two dimensions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from discreet.data.dimension import Dimension
from discreet.errors import InputError, listed
from discreet.tables.total_names import USUAL, like_a_total

WHOLE = ""  # the code of everything, whatever a table calls it
MOST_PAIRS = 5_000
NOT_ALL = (
    "{table!r} has no total of {name!r}, and nothing says whether its codes are all there are: say so in the mapping, "
    "[sums.{name}] Total = [...]"
)
Sums = Mapping[str, Sequence[str]]
Atom = frozenset[str]


@dataclass(frozen=True)
class Family:
    """Codes over the same finest parts. ``parts`` has for every code the parts it consists of, from 1, with signs.

    ``open``: the codes part no whole (years without a total), so that tables without the dimension are not about them.
    """

    name: str
    size: int
    parts: Mapping[str, tuple[int, ...]]
    atoms: tuple[str, ...] = ()
    """What each finest part is called: the codes that meet in it."""
    open: bool = False


@dataclass(frozen=True)
class Codes:
    """The codes of one table in one dimension: ``same`` gives the common code of each, WHOLE for the total."""

    table: str
    dimension: Dimension
    same: Mapping[str, str] = field(default_factory=dict)
    fixed: bool = False
    """Whether the whole table is about these codes: a part of a population that others may have whole."""


def only_total(dimension: Dimension, totals: Iterable[str]) -> bool:
    """Whether a dimension of a table has its total and nothing else: then it says nothing.

    ``totals`` are what other tables call the total of the dimension.
    """
    if len(dimension.codes) > 1:
        return False
    code = dimension.codes[0]
    return dimension.total is not None or code in set(totals) or like_a_total(code) == USUAL


def matched(several: Sequence[tuple[str, Dimension]]) -> list[Codes]:
    """Codes that are the same in several tables: by code, else by label, whatever its case."""
    known: dict[str, None] = {}
    labels: dict[str, str] = {}
    matches = []
    for table, dimension in several:
        same: dict[str, str] = {}
        for code in dimension.codes:
            if code == dimension.total:
                same[code] = WHOLE
                continue
            label = dimension.label(code).casefold()
            by_label = labels.get(label) or labels.get(code.casefold())
            common = code if code in known or by_label is None or by_label in same.values() else by_label
            same[code] = common
        if len(set(same.values())) < len(same):
            raise InputError(f"{table!r}: two codes of {dimension.name!r} would be the same one; give a mapping")
        for code, common in same.items():
            if common != WHOLE:
                known[common] = None
                labels.setdefault(dimension.label(code).casefold(), common)
                labels.setdefault(common.casefold(), common)
        matches.append(Codes(table, dimension, same))
    return matches


def families(name: str, several: Sequence[Codes], sums: Sums) -> tuple[list[Family], list[str]]:
    """The families of a dimension's codes, and what nobody says about them, in words."""
    totals = {code for codes in several for code, same in codes.same.items() if same == WHOLE}
    every = {code: parts for code, parts in sums.items() if code in totals or like_a_total(code) == USUAL}
    split = _Partitions(name, _relations(several, {c: parts for c, parts in sums.items() if c not in every}))
    wholes = _wholes(several, every)
    if not wholes and not any(codes.fixed for codes in several):
        return [_open(name, several)], []
    doubts = []
    groups: list[tuple[list[Atom], set[str]]] = []  # atoms, and the tables that part the whole so
    for parts, tables in wholes.items():
        groups = _with(groups, [atom for part in sorted(parts) for atom in split.atoms(part)], set(tables), split)
    for codes in several:
        if codes.dimension.total is None:
            leaves = [codes.same[leaf] for leaf in codes.dimension.leaves]
            placed = {code for atoms, _ in groups for atom in atoms for code in atom}
            atoms = [atom for leaf in leaves for atom in split.atoms(leaf)]
            if not all(atom <= placed for atom in atoms):  # parts of the whole, and perhaps not all of it
                groups = _with(groups, [*atoms, Atom([f"the rest of {codes.table}"])], {codes.table}, split)
                if not codes.fixed:
                    doubts.append(NOT_ALL.format(table=codes.table, name=name))
    if len(groups) > 1:
        who = [sorted(tables)[0] for _, tables in groups]
        doubts.append(
            f"{listed(who, 4)} have different codes of {name!r}, and nothing says which are sums of which: give a "
            "codebook or a mapping with [sums], or say in the mapping that they cross freely"
        )
    named = []
    for k, (atoms, _) in enumerate(groups, 1):
        title = name if len(groups) == 1 else f"{name} ({k})"
        named.append(_family(title, atoms, split))
    return named, doubts


def _with(
    groups: list[tuple[list[Atom], set[str]]], atoms: list[Atom], tables: set[str], split: _Partitions
) -> list[tuple[list[Atom], set[str]]]:
    """One more way of parting the whole, joined with those that have a part in common with it."""
    apart = [(other, others) for other, others in groups if not set(other) & set(atoms)]
    for other, others in groups:
        if set(other) & set(atoms):
            atoms, tables = split.refined(other, atoms), tables | others
    return [*apart, (atoms, tables)]


def _wholes(several: Sequence[Codes], every: Sums) -> dict[frozenset[str], list[str]]:
    """The ways in which the whole is parted, and the tables that do so."""
    ways: dict[frozenset[str], list[str]] = {}
    for codes in several:
        for whole, parts in codes.dimension.relations:
            if codes.same[whole] == WHOLE:
                ways.setdefault(frozenset(codes.same[p] for p, _ in parts), []).append(codes.table)
    for texts in every.values():
        ways.setdefault(frozenset(texts), []).append("the mapping")
    return ways


def _relations(several: Sequence[Codes], sums: Sums) -> dict[str, list[tuple[tuple[str, int], ...]]]:
    """For every code that is a sum, the ways in which it is."""
    relations: dict[str, list[tuple[tuple[str, int], ...]]] = {}

    def add(code: str, parts: tuple[tuple[str, int], ...]) -> None:
        ways = relations.setdefault(code, [])
        if set(parts) not in [set(way) for way in ways]:
            ways.append(parts)

    for codes in several:
        for code, parts in codes.dimension.relations:
            if codes.same[code] != WHOLE:
                add(codes.same[code], tuple((codes.same[p], s) for p, s in parts))
    for code, texts in sums.items():
        add(code, tuple((part, 1) for part in texts))
    return relations


class _Partitions:
    """Codes taken apart into their finest parts; a part is known by the codes that meet in it."""

    def __init__(self, name: str, relations: Mapping[str, list[tuple[tuple[str, int], ...]]]) -> None:
        self.name, self.relations = name, relations
        self.known: dict[str, list[Atom]] = {}

    def atoms(self, code: str, path: tuple[str, ...] = ()) -> list[Atom]:
        """The finest parts of a code that is a sum of others, or itself."""
        if code in self.known:
            return self.known[code]
        if code in path:
            raise InputError(f"dimension {self.name!r}: the sums form a cycle: {listed([*path, code])}")
        parts = [Atom([code])]
        for number, way in enumerate(self._positive(code)):
            each = [atom for part, _ in way for atom in self.atoms(part, (*path, code))]
            parts = each if number == 0 else self.refined(parts, each)
        self.known[code] = parts
        return parts

    def _positive(self, code: str) -> list[tuple[tuple[str, int], ...]]:
        return [way for way in self.relations.get(code, []) if all(sign > 0 for _, sign in way)]

    def refined(self, one: list[Atom], other: list[Atom]) -> list[Atom]:
        """Two ways of parting the same: what both have, and the rest of one crossed with the rest of the other."""
        both = set(one) & set(other)
        rest = [a for a in one if a not in both]
        more = [a for a in other if a not in both]
        if len(rest) * len(more) > MOST_PAIRS:
            raise InputError(
                f"dimension {self.name!r}: some codes are the same in two tables and {len(rest):,} others cross "
                f"{len(more):,}; say which are sums of which, in a codebook or a mapping with [sums]"
            )
        return [*(a for a in one if a in both), *(a | b for a in rest for b in more)]

    def signed(self, code: str) -> dict[Atom, int] | None:
        """The finest parts of a code that takes others away; None if it does not."""
        ways = [way for way in self.relations.get(code, []) if any(sign < 0 for _, sign in way)]
        if not ways:
            return None
        held: dict[Atom, int] = {}
        for part, sign in ways[0]:
            inside = self.signed(part) or dict.fromkeys(self.atoms(part), 1)
            for atom, factor in inside.items():
                held[atom] = held.get(atom, 0) + sign * factor
        return {atom: factor for atom, factor in held.items() if factor}


def _family(name: str, atoms: list[Atom], split: _Partitions) -> Family:
    """The positions of every code in the finest parts of a family."""
    member: dict[str, set[int]] = {}
    for k, atom in enumerate(atoms, 1):
        for code in atom:
            member.setdefault(code, set()).add(k)

    def places(atom: Atom) -> set[int]:
        return set.intersection(*(member.get(code, set()) for code in atom))

    parts: dict[str, tuple[int, ...]] = {WHOLE: tuple(range(1, len(atoms) + 1))}
    for code in sorted({*split.known, *split.relations, *member}):
        taken = split.signed(code)
        if taken is None:
            held = set().union(*(places(atom) for atom in split.atoms(code)))
            signs = dict.fromkeys(held, 1)
        else:
            signs = {k: factor for atom, factor in taken.items() for k in places(atom)}
        if signs:
            parts[code] = tuple(sorted(k * factor for k, factor in signs.items()))
    return Family(name, len(atoms), parts, tuple(" and ".join(sorted(atom)) for atom in atoms))


def _open(name: str, several: Sequence[Codes]) -> Family:
    """Codes without a whole; the last part is for tables that do not have the dimension."""
    codes = dict.fromkeys(code for codes in several for code in codes.same.values())
    parts = {code: (k,) for k, code in enumerate(codes, 1)}
    return Family(name, len(codes) + 1, parts, (*codes, "not stated"), open=True)
