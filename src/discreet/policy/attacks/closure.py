"""Everything that a policy ever answers: which requests fetch it, each table once.

A filter is one more dimension of the same cells, so the closure is a list of variable sets at levels of detail. A set
is asked as a table where the policy allows that many dimensions, else one category after another of its smallest
variables. The largest tables come first, then what filters add to them: what a table tells as its totals
is not asked again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from discreet.data.dimension import Dimension
from discreet.errors import Refused
from discreet.policy.answering import check_query
from discreet.policy.policy import Policy
from discreet.policy.query import Query, Resolved

Detail = tuple[tuple[int, str], ...]
"""Variables by number, each with the name of its level."""
MOST_REQUESTS = 20_000  # that the codebook alone is asked about
MOST_FILTERS = 2_000  # single categories in the place of one table


@dataclass(frozen=True)
class TableSet:
    """A set of variables at levels, and the ways to ask for its cells: each a list of requests that give all of it."""

    detail: Detail
    ways: tuple[tuple[Resolved, ...], ...]
    left_out: int = 0
    """Requests that were not looked at, because there are too many."""

    @property
    def names(self) -> tuple[int, ...]:
        """The variables by number."""
        return tuple(number for number, _ in self.detail)


def candidates(dimensions: Sequence[Dimension], policy: Policy, *, most: int = MOST_REQUESTS) -> Iterator[TableSet]:
    """Variable sets that the codebook allows, the largest and finest first, with the requests that give their cells.

    >>> from discreet.policy.policy import parse_policy
    >>> two = [Dimension.flat("sex", ["f", "m"]), Dimension.flat("age", ["young", "old"])]
    >>> policy = parse_policy('[query]\\nmax_dimensions = 1\\n[[method]]\\nname = "random-round"')
    >>> [[str(way.query) for way in one.ways[0]] for one in candidates(two, policy)]
    [['sex'], ['age']]
    """
    asked = 0
    for detail in details(dimensions, policy):
        ways = []
        left_out = 0
        for filters in _filter_choices(dimensions, detail, policy):
            number = math.prod(len(dimensions[k].level(level)) for k, level in filters)
            if asked + number > most or number > MOST_FILTERS:
                left_out += number
                continue
            asked += number
            if way := tuple(_allowed(dimensions, detail, filters, policy)):
                ways.append(way)
        if ways or left_out:
            yield TableSet(detail, tuple(ways), left_out)


def details(dimensions: Sequence[Dimension], policy: Policy) -> Iterator[Detail]:
    """Sets of variables at levels of detail, no larger than the policy could ever answer."""
    rules, size = policy.query, len(dimensions)
    widest = range(min(rules.max_dimensions, size), min(rules.max_dimensions + rules.max_filters, size) + 1)
    for number in (*widest, *range(widest.start - 1, 0, -1)):
        for chosen in itertools.combinations(range(len(dimensions)), number):
            if any(d.total is None and k not in chosen for k, d in enumerate(dimensions)):
                continue  # a variable without a total is part of every table
            levels = [[name for name in reversed(dimensions[k].levels) if name != "total"] for k in chosen]
            for combination in itertools.product(*levels):
                yield tuple(zip(chosen, combination, strict=True))


def _filter_choices(dimensions: Sequence[Dimension], detail: Detail, policy: Policy) -> list[Detail]:
    """Which variables of a set are filters, the choice with the fewest requests first."""
    rules = policy.query
    fewest = max(len(detail) - rules.max_dimensions, 0)
    choices = [
        filters
        for number in range(fewest, min(rules.max_filters, len(detail) - 1) + 1)
        for filters in itertools.combinations(detail, number)
    ]
    return sorted(choices, key=lambda one: math.prod(len(dimensions[k].level(level)) for k, level in one))


def _allowed(dimensions: Sequence[Dimension], detail: Detail, filters: Detail, policy: Policy) -> Iterator[Resolved]:
    """The requests of one way that the codebook allows."""
    variables = {dimensions[k].name: level for k, level in detail if (k, level) not in filters}
    for codes in itertools.product(*(dimensions[k].level(level) for k, level in filters)):
        where = {dimensions[k].name: [code] for (k, _), code in zip(filters, codes, strict=True)}
        resolved = Query.of(variables, where=where).resolved(dimensions)
        try:
            check_query(resolved, policy)
        except Refused:
            continue
        yield resolved
