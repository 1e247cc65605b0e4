"""Release area by area: a table that fails in a few areas is given for the others, and says which it is not given for.

Each area is judged by itself, on the protected counts of the whole table before its population is chosen, so that the
list of areas tells nothing that the counts would not. Where a single area of a group would be left out, it would follow
from the group and the others; the smallest other one is left out with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.data.dimension import Dimension
from discreet.errors import Refused
from discreet.linear.modular import in_span
from discreet.policy.populations import counts_by_code, population_counts
from discreet.policy.query import Resolved
from discreet.policy.sections import AreaRules
from discreet.release import Protected
from discreet.tables.layout import Layout

MOST_NAMED = 100  # areas that a note names


@dataclass(frozen=True, eq=False)
class WithheldAreas:
    """The areas of a table that it is not given for, as a mask over the codes of their variable."""

    dimension: Dimension
    codes: Array

    @classmethod
    def of(cls, counts: Protected, rules: AreaRules) -> WithheldAreas | None:
        """By the protected counts of a table; None where it has no areas, or they are not judged one by one."""
        names = [d.name for d in counts.table.dimensions]
        if rules.variable not in names:
            return None
        axis = names.index(rules.variable)
        dimension = counts.table.dimensions[axis]
        people = population_counts(counts, [axis])
        failing = failing_areas(_tables(counts, axis), people, rules) & ~dimension.is_whole
        return cls(dimension, with_company(dimension, failing, people))

    def cells(self, layout: Layout) -> Array:
        """Which cells of a table are about one of them."""
        axis = [d.name for d in layout.dimensions].index(self.dimension.name)
        return np.asarray(self.codes[layout.codes[:, axis]])

    def check(self, resolved: Resolved) -> None:
        """Refuse a filter by one of them."""
        _, chosen = resolved.population.get(self.dimension.name, ("", ()))
        if any(self.codes[self.dimension.index(code)] for code in chosen):
            raise Refused(
                "areas",
                f"this table is not given for the chosen {self.dimension.name}: too few people for so many cells",
                "choose another area, or ask for less detail",
            )

    def notes(self) -> list[str]:
        """Which areas they are, for the readers of a table."""
        gone = [self.dimension.label(self.dimension.codes[k]) for k in np.flatnonzero(self.codes)]
        if not gone:
            return []
        more = f" and {len(gone) - MOST_NAMED:,} more" if len(gone) > MOST_NAMED else ""
        finest = [self.dimension.position[code] for code in self.dimension.leaves]
        groups = len(gone) > int(self.codes[finest].sum())
        areas = int((~self.dimension.is_whole).sum()) if groups else len(finest)  # groups count where one is gone
        named = f"{', '.join(gone[:MOST_NAMED])}{more}"
        return [
            f"Not given for {len(gone):,} of {areas:,} categories of {self.dimension.title} ({named}): too few people "
            "for so many cells, or numbers from which those of another one would follow."
        ]


def failing_areas(tables: Floats, people: Floats, rules: AreaRules) -> Array:
    """Which areas break a rule; ``tables`` has the shown counts of the finest cells of each in a row.

    >>> failing_areas(np.array([[9.0, 7.0], [1.0, 0.0]]), np.array([16.0, 1.0]), AreaRules(variable="area", min_mean=2))
    array([False,  True])
    """
    shown = np.nan_to_num(tables)
    small = ((shown > 0) & (shown <= rules.small)).mean(axis=1)
    fails = (people < rules.min_population) | (shown.mean(axis=1) < rules.min_mean) | (small > rules.max_small_share)
    return np.asarray(fails)


def with_company(dimension: Dimension, failing: Array, people: Floats) -> Array:
    """The failing codes, and the smallest others without which none of these follows from what is given.

    What follows is found by linear algebra over the finest codes, so over all levels and groups at once: a group does
    not follow from the one above it less its neighbours. Failing groups of finest codes that are all given may follow.
    """
    parts = _Parts(dimension)
    kept = np.flatnonzero(failing & (parts.of_leaf.T @ failing[parts.leaves] > 0))
    gone = failing.copy()
    while len(follows := kept[in_span(dimension.matrix, ~gone, kept)]):
        further = np.zeros(len(gone), bool)
        for code in follows.tolist():  # what is left out for one may do for its neighbours: they are looked at again
            further |= parts.company(code, gone | dimension.is_whole, further, people)
        if not further.any():
            return np.asarray(~dimension.is_whole)
        gone |= further
    return gone


class _Parts:
    """Which finest codes every code of a variable holds."""

    def __init__(self, dimension: Dimension) -> None:
        from scipy.sparse import csr_array

        self.leaves = np.array([dimension.position[leaf] for leaf in dimension.leaves])
        self.matrix = dimension.matrix
        self.of_leaf = csr_array(abs(dimension.matrix)).astype(float)

    def company(self, code: int, firm: Array, chosen: Array, people: Floats) -> Array:
        """Given codes that tell one more finest code apart from those of ``code``, in the smallest group around them.

        ``firm`` codes are not given, or are everybody. Of the finest codes in the group it is the one with the fewest
        people in the codes that tell it apart; none where one in the group is ``chosen`` already.
        """
        places = self._places(code)
        around = self.of_leaf[places].sum(axis=0) == len(places)
        apart = ~around & ~firm
        groups = np.flatnonzero(around)
        for group in groups[np.argsort(np.diff(self.matrix.indptr)[groups], kind="stable")]:
            others = np.setdiff1d(self._places(group), places)
            able = others[self.of_leaf[others] @ apart > 0]
            if len(able):
                if (self.of_leaf[able] @ (chosen & apart) > 0).any():
                    break
                least = able[np.argmin(self.of_leaf[able] @ np.where(apart, people, 0.0))]
                return np.asarray((self.of_leaf[[least]].toarray()[0] > 0) & apart)
        return np.zeros(len(firm), bool)

    def _places(self, code: int) -> Array:
        return np.asarray(self.matrix.indices[self.matrix.indptr[code] : self.matrix.indptr[code + 1]])


def _tables(counts: Protected, axis: int) -> Floats:
    """The shown counts of the finest cells of every area, a row each."""
    layout = counts.table.layout
    values = counts_by_code(layout, np.asarray(counts.published["count"], float))
    for k, dimension in enumerate(layout.dimensions):
        if k != axis:
            values = np.take(values, [dimension.position[leaf] for leaf in dimension.leaves], axis=k)
    return np.moveaxis(values, axis, 0).reshape(len(layout.dimensions[axis].codes), -1)
