"""The catalogue: which tables may ever be asked, declared beforehand, and how much that is in all."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from discreet.base.arguments import checked
from discreet.data.dimension import Dimension
from discreet.errors import InputError, Refused
from discreet.policy.policy import Policy
from discreet.policy.query import Resolved

MOST_SETS = 1_000_000  # sets of variables that are counted
Detail = tuple[tuple[str, str], ...]  # variables, each with a level


def check_catalogue(resolved: Resolved, policy: Policy) -> None:
    """Refuse a query whose variables, those of filters among them, lie in no table of the catalogue."""
    if not policy.catalogue.tables:
        return
    for table in policy.catalogue.levels:
        if all(n in table and _within(resolved.source[n], level, table[n]) for n, level in resolved.levels.items()):
            return
    raise Refused(
        "catalogue",
        "no table of the catalogue has these variables in this detail",
        f"ask within one of: {'; '.join(', '.join(table) for table in policy.catalogue.tables[:5])}"
        + (" ..." if len(policy.catalogue.tables) > 5 else ""),
    )


@dataclass(frozen=True)
class ClosureSize:
    """How much a policy ever answers: different sets of variables, and cells that stand in any of their tables.

    >>> from discreet import Dimension
    >>> policy = Policy(methods=(("round", {"base": 5}),))
    >>> closure_size([Dimension.flat("sex", ["f", "m"]), Dimension.flat("area", ["N", "S", "W"])], policy)
    ClosureSize(sets=3, cells=12)
    """

    sets: int
    cells: int


@checked
def closure_size(dimensions: Sequence[Dimension], policy: Policy) -> ClosureSize:
    """Every set of variables that may be asked, and how many different cells their tables have, totals among them.

    Decided from the codebook alone; rules for tables may refuse some of it. A cell is counted once, whichever tables
    have it; sums of several codes that a filter can make are not counted.

    >>> from discreet import Dimension
    >>> from discreet.policy import QueryRules
    >>> policy = Policy(query=QueryRules(max_dimensions=1), methods=(("round", {"base": 5}),))
    >>> closure_size([Dimension.flat("sex", ["f", "m"]), Dimension.flat("area", ["N", "S", "W"])], policy)
    ClosureSize(sets=2, cells=6)
    """
    known = {d.name: d for d in dimensions}
    sets: set[tuple[str, ...]] = set()
    told: dict[tuple[str, ...], set[Detail]] = {}  # by the variables of which a cell has another code than the total
    for detail in _sets(dimensions, policy):
        sets.add(tuple(name for name, _ in detail))
        _tell(detail, known, told)
        if sum(map(len, told.values())) > MOST_SETS:
            raise InputError(f"the policy answers more than {MOST_SETS:,} sets of variables: declare fewer tables")
    codes = lru_cache(maxsize=None)(lambda name, level: _codes(known[name], level))
    cells = sum(_united([tuple(codes(*pair) for pair in detail) for detail in details]) for details in told.values())
    return ClosureSize(len(sets), cells)


def _tell(detail: Detail, known: Mapping[str, Dimension], told: dict[tuple[str, ...], set[Detail]]) -> None:
    """Note what a table has cells of: all its variables, and all but those that stand at their total."""
    todo = [detail]
    while todo:
        one = todo.pop()
        held = told.setdefault(tuple(name for name, _ in one), set())
        if one not in held:
            held.add(one)
            todo += [one[:k] + one[k + 1 :] for k, (name, _) in enumerate(one) if known[name].total is not None]


def _united(boxes: Sequence[tuple[frozenset[str], ...]]) -> int:
    """How many different combinations of codes some products of sets of codes have together."""
    if not boxes or not boxes[0]:
        return min(len(boxes), 1)
    alike = Counter(
        tuple(k for k, box in enumerate(boxes) if code in box[0]) for code in frozenset().union(*(b[0] for b in boxes))
    )
    return sum(number * _united([boxes[k][1:] for k in chosen]) for chosen, number in alike.items())


def _sets(dimensions: Sequence[Dimension], policy: Policy) -> Iterator[Detail]:
    """Sets of variables that some table holds and no rule forbids, with the finest level of each."""
    rules, known = policy.query, [d for d in dimensions if d.name not in policy.query.disallowed]
    tables = policy.catalogue.levels or [{d.name: d.name for d in known}]
    for table in tables:
        mine = [d.name for d in known if d.name in table]
        for size in range(1, min(rules.max_dimensions, len(mine)) + 1):
            for names in itertools.combinations(mine, size):
                if _allowed_together(set(names), policy):
                    yield tuple((name, table[name]) for name in names)


def _allowed_together(names: set[str], policy: Policy) -> bool:
    rules = policy.query
    if any(set(together) <= names for together in rules.forbidden):
        return False
    return all(set(needed) <= names for name, needed in rules.required.items() if name in names)


def _within(dimension: Dimension, asked: str, allowed: str) -> bool:
    """Whether every code of one level is made of whole codes of another."""
    parts = [set(dimension.leaves_of(code)) for code in dimension.level(allowed)]
    wholes = [set(dimension.leaves_of(code)) for code in dimension.level(asked)]
    return all(part & whole in (set(), part) for part in parts for whole in wholes)


def _codes(dimension: Dimension, level: str) -> frozenset[str]:
    """Codes of a level and of the groups above it, the total left out."""
    coarse = dimension.at_level(level)
    return frozenset(code for code in coarse.codes if code != coarse.total)
