"""The catalogue: which tables may ever be asked, declared beforehand, and how much that is in all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from discreet.base.arguments import checked
from discreet.data.dimension import Dimension
from discreet.errors import InputError, Refused
from discreet.policy.policy import Policy
from discreet.policy.query import Resolved

MOST_SETS = 1_000_000  # sets of variables that are counted


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
    """How much a policy ever answers: different sets of variables, and cells that stand in any of them.

    >>> from discreet import Dimension
    >>> policy = Policy(methods=(("round", {"base": 5}),))
    >>> closure_size([Dimension.flat("sex", ["f", "m"]), Dimension.flat("area", ["N", "S", "W"])], policy)
    ClosureSize(sets=3, cells=11)
    """

    sets: int
    cells: int


@checked
def closure_size(dimensions: Sequence[Dimension], policy: Policy) -> ClosureSize:
    """Every set of variables that may be asked, and how many different cells their tables have at the finest level.

    Decided from the codebook alone; rules for tables may refuse some of it. A total is not counted as a cell of a wider
    table, since a table of fewer variables has it.

    >>> from discreet import Dimension
    >>> from discreet.policy import QueryRules
    >>> policy = Policy(query=QueryRules(max_dimensions=1), methods=(("round", {"base": 5}),))
    >>> closure_size([Dimension.flat("sex", ["f", "m"]), Dimension.flat("area", ["N", "S", "W"])], policy)
    ClosureSize(sets=2, cells=5)
    """
    sets = cells = 0
    for names in _sets(dimensions, policy):
        sets += 1
        cells += math.prod(_codes(d, names[d.name]) for d in dimensions if d.name in names)
        if sets > MOST_SETS:
            raise InputError(f"the policy answers more than {MOST_SETS:,} sets of variables: declare fewer tables")
    return ClosureSize(sets, cells)


def _sets(dimensions: Sequence[Dimension], policy: Policy) -> Iterator[dict[str, str]]:
    """Sets of variables that some table holds and no rule forbids, with the finest level of each."""
    rules, known = policy.query, [d for d in dimensions if d.name not in policy.query.disallowed]
    tables = policy.catalogue.levels or [{d.name: d.name for d in known}]
    seen = set()
    for table in tables:
        mine = [d.name for d in known if d.name in table]
        for size in range(1, min(rules.max_dimensions, len(mine)) + 1):
            for names in itertools.combinations(mine, size):
                key = tuple((name, table[name]) for name in names)
                if key not in seen and _allowed_together(set(names), policy):
                    seen.add(key)
                    yield dict(key)


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


def _codes(dimension: Dimension, level: str) -> int:
    """Codes of a level and of the groups above it, the total left out."""
    coarse = dimension.at_level(level)
    return len([code for code in coarse.codes if code != coarse.total])
