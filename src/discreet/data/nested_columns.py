"""Columns of records that are levels of each other, such as region and municipality, as one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata

LEAST = 3
"""Fewer codes than this are no levels."""
BITS = 20.0
"""Records by which columns must agree, as evidence against chance: of few records any two columns seem nested."""


@dataclass(frozen=True, eq=False)
class NestedColumns:
    """Records whose nested columns are one dimension, the dimensions of their table, and what was found."""

    data: Microdata
    by: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    """Per dimension that has levels its columns, finest first."""

    @property
    def words(self) -> list[str]:
        """A sentence for each dimension with levels."""
        return [
            f"{' and '.join(map(repr, coarser))} {'is a level' if len(coarser) == 1 else 'are levels'} of {finest!r}: "
            "one dimension with subtotals (--no-nested crosses them as they are)"
            for finest, *coarser in self.levels
        ]


def with_nested_columns(data: Microdata, by: Sequence[str]) -> NestedColumns:
    """Dimensions of which one is a level of another made one dimension, named after the finest.

    A column is a level of another if every code of the other stands with one code of it, and some of its codes stand
    with several. Only flat dimensions are looked at; of two levels that are not nested in each other the finer counts.
    """
    flat = [name for name in by if not data.dimension(name).groups]
    coarser = {fine: [c for c in flat if c != fine and _is_level(data, fine, c)] for fine in flat}
    inside = {name for levels in coarser.values() for name in levels}
    chains = []
    for fine in [name for name in flat if coarser[name] and name not in inside]:
        chain = [fine]
        for level in sorted(coarser[fine], key=lambda name: -len(data.dimension(name).leaves)):
            if chain == [fine] or level in coarser[chain[-1]]:
                chain.append(level)
        chains.append(tuple(chain))
    used: set[str] = set()
    levels = [chain for chain in chains if not used & set(chain) and not used.update(chain)]  # type: ignore[func-returns-value]
    found = {chain[0]: _dimension(data, chain) for chain in levels}
    gone = {name for chain in levels for name in chain[1:]}
    dimensions = tuple(found.get(d.name, d) for d in data.dimensions)
    book = replace(data.codebook, dimensions=dimensions)
    return NestedColumns(replace(data, codebook=book), tuple(n for n in by if n not in gone), tuple(levels))


def _is_level(data: Microdata, fine: str, coarse: str) -> bool:
    """Whether every code of one stands with one code of the other, and some of these with several."""
    many, few = len(data.dimension(fine).leaves), len(data.dimension(coarse).leaves)
    if not 2 <= few < many or many < LEAST:
        return False
    groups = data.base_cells([fine, coarse])
    codes, count = groups.codes, groups.count.astype(float)
    if len(codes) > len(np.unique(codes[:, 0])) or len(np.unique(codes[:, 1])) == len(codes):
        return False
    share = np.bincount(codes[:, 1], count).max() / count.sum()
    return bool((count.sum() - len(codes)) * -np.log2(share) >= BITS)


def _dimension(data: Microdata, chain: Sequence[str]) -> Dimension:
    """The finest column with the others as its levels; a code that two levels share is told apart by its column."""
    codes = data.base_cells(list(chain)).codes
    leaves = [np.array(data.dimension(name).leaves, object)[codes[:, k]].tolist() for k, name in enumerate(chain)]
    taken = set(leaves[0])
    for k, name in enumerate(chain[1:], 1):
        if taken & set(leaves[k]):
            leaves[k] = [f"{name} {code}" for code in leaves[k]]
        taken |= set(leaves[k])
    finest = data.dimension(chain[0])
    nested = Dimension.nested(dict(zip(chain, leaves, strict=True)), list(chain), total=finest.total)
    return replace(nested, observed=finest.observed)
