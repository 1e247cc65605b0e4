"""The tables that a worker makes at its start and holds, so that an answer is cut out of one of them.

A filter is one more variable of the table that an answer is cut out of, so a few hundred of them hold the answers to
very many questions. Which ones they are follows from codebook and policy alone: those of fewest variables first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from discreet.data.dimension import Dimension
from discreet.errors import DiscreetError
from discreet.policy import Policy, Query
from discreet.policy.answering import check_query
from discreet.policy.query import Resolved

MOST_TABLES = 250
MOST_CELLS = 300_000  # of all of them
MOST_LOOKED_AT = 2_000
TOTAL = "total"


def held_shapes(dimensions: Sequence[Dimension], policy: Policy) -> Iterator[Resolved]:
    """Queries without a population, each of a table that is held; counts before sums.

    >>> sexes, places = Dimension.flat("sex", ["f", "m"]), Dimension.flat("place", ["a", "b", "c"])
    >>> policy = Policy(methods=(("round", {"base": 5}),))
    >>> [str(resolved.query) for resolved in held_shapes([sexes, places], policy)]
    ['sex', 'place', 'place, sex']
    """
    left, tables = MOST_CELLS, 0
    asked = itertools.product(_levels(dimensions, policy), ("count", *policy.measures))
    for levels, measure in itertools.islice(asked, MOST_LOOKED_AT):
        try:
            resolved = Query.of(dict(levels), measure=measure).resolved(dimensions)
            check_query(resolved, policy)
        except DiscreetError:
            continue
        cells = resolved.cells
        if cells <= left:
            left, tables = left - cells, tables + 1
            yield resolved
        if tables >= MOST_TABLES:
            return


def _levels(dimensions: Sequence[Dimension], policy: Policy) -> Iterator[tuple[tuple[str, str], ...]]:
    """Every choice of variables and their levels, as far as one table may have them."""
    asked = [d for d in dimensions if d.name not in policy.query.disallowed]
    for number in range(1, min(policy.query.max_dimensions, len(asked)) + 1):
        for chosen in itertools.combinations(asked, number):
            levels = [[(d.name, level) for level in d.levels if level != TOTAL] for d in chosen]
            yield from itertools.product(*levels)
