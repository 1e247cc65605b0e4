"""Random dimensions and tables for the laws."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet import Dimension, Table


@st.composite
def dimensions(draw: st.DrawFn, name: str = "d", most: int = 5) -> Dimension:
    """Flat, with one or two hierarchies over the same leaves, or with a signed group; with or without a total."""
    leaves = [f"{name}{k}" for k in range(draw(st.integers(1, most)))]
    made = Dimension.flat(name, leaves, total=draw(st.sampled_from(["Total", "All", None])))
    for tree in range(draw(st.integers(0, 2))):
        part = draw(st.integers(1, len(leaves)))
        made = made.with_group(f"{name}-g{tree}", leaves[:part] if tree == 0 else leaves[-part:])
    if len(leaves) > 1 and draw(st.booleans()):
        plus = draw(st.lists(st.sampled_from(leaves), min_size=1, unique=True))
        minus = [c for c in leaves if c not in plus][:1]
        if minus:
            made = made.with_group(f"{name}-signed", plus, minus)
    return made


@st.composite
def dimension_lists(draw: st.DrawFn, most: int = 3) -> list[Dimension]:
    return [draw(dimensions(name)) for name in "abc"[: draw(st.integers(1, most))]]


@st.composite
def tables(draw: st.DrawFn, most_count: int = 9) -> Table:
    """A frequency table with hierarchies, perhaps with structural zeros and only some margins."""
    dims = draw(dimension_lists())
    shape = [len(d.leaves) for d in dims]
    size = int(np.prod(shape))
    counts = np.array(draw(st.lists(st.integers(0, most_count), min_size=size, max_size=size))).reshape(shape)
    structural: NDArray[Any] | None = None
    if draw(st.booleans()):
        structural = (counts == 0) & np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size))).reshape(
            shape
        )
        if structural.all():
            structural = None
    margins = None
    if draw(st.booleans()):
        needed = [d.name for d in dims if d.total is None]
        chosen = draw(st.lists(st.lists(st.sampled_from([d.name for d in dims]), unique=True), min_size=1, max_size=3))
        margins = [list(dict.fromkeys([*needed, *m])) or [dims[0].name] for m in chosen]
    return Table.of(counts, dims, structural=structural, margins=margins)
