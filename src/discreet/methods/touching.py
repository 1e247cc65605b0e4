"""Whether a method can change a table at all, told from the codebook alone: which variables, at which level.

Swapping keeps the numbers by area and those by everything else; PRAM changes one variable; recoding likewise. A table
that lies outside is the true one, whatever is done to the records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.methods.effect import LEAST, called

Array = NDArray[Any]
Asked = Mapping[str, str]
Dimensions = Mapping[str, Dimension]


def touches(made: Any, asked: Asked, dimensions: Dimensions) -> bool:
    """Whether the table of some variables, each at a level, can be another one after the method than before."""
    look = _LOOKS.get(called(made))
    return True if look is None else look(made, asked, dimensions)


def check_touched(made: Any, asked: Asked, dimensions: Dimensions, *, ask: str = "") -> None:
    """Raise if a method leaves the table of these variables as it is."""
    if not touches(made, asked, dimensions):
        raise InputError(
            f"method {called(made)!r} changes nothing in this table: {needed(made)}, or take another method"
            + (f"; {ask}" if ask else "")
        )


def needed(made: Any) -> str:
    """What a table that the method changes is like."""
    if called(made) == "swap":
        kept = f" and that is not among {', '.join(made.strata)}" if made.strata else ""
        return f"ask for one with {made.geography!r} and a variable that stays where it is{kept}"
    if called(made) == "stochastic":
        return "ask for one with a variable beside those of control and restore"
    alone = " and another variable" if getattr(made, "exact", False) else ""
    return f"ask for one with {made.variable!r}{alone}, in more detail than is kept"


def level_of(dimension: Dimension, codes: Sequence[str]) -> str:
    """The coarsest level that holds some codes; the finest if none does."""
    return next((name for name, held in dimension.levels.items() if set(codes) <= set(held)), dimension.name)


def _labels(dimension: Dimension, level: str) -> Array:
    """For every finest code the number of its code at a level."""
    out = np.arange(len(dimension.leaves))
    for k, code in enumerate(dimension.level(level)):
        out[[dimension.leaf_position[leaf] for leaf in dimension.leaves_of(code)]] = k
    return out


def _within(fine: Array, coarse: Array) -> bool:
    """Whether all that have one fine label have one coarse label."""
    return len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == len(set(fine.tolist()))


def _swap(made: Any, asked: Asked, dimensions: Dimensions) -> bool:
    """The joint numbers of what moves and of the strata are kept, and so are those of all that stays."""
    home, moved, kept = made.geography, {made.geography, *made.also}, set(made.strata)
    if home in asked:
        here = dimensions[home]
        shown = _labels(here, asked[home])
        inside = [name for name in made.strata if name in here.levels and name not in asked]
        if any(_within(_labels(here, name), shown) for name in inside):
            moved, kept = moved - {home}, kept | {home}
    return bool(set(asked) & moved) and bool(set(asked) - moved - kept)


def _pram(made: Any, asked: Asked, dimensions: Dimensions) -> bool:
    if made.variable not in asked or (made.exact and made.invariant and len(asked) == 1):
        return False
    dimension = dimensions[made.variable]
    shown = _labels(dimension, asked[made.variable])
    apart = shown[:, None] != shown
    if made.matrix is None:
        group = np.zeros(len(shown)) if made.within is None else _labels(dimension, made.within)
        return bool((apart & (group[:, None] == group)).any())
    matrix = np.array(made.matrix)
    if matrix.shape != apart.shape:
        return True  # the method itself refuses it
    return bool((made.alpha * (matrix * apart).sum(axis=1)).max() >= LEAST - 1e-9)


def _recode(made: Any, asked: Asked, dimensions: Dimensions) -> bool:
    if made.variable not in asked:
        return False
    dimension = dimensions[made.variable]
    shown = _labels(dimension, asked[made.variable])
    if made.level is not None:
        return not _within(_labels(dimension, made.level), shown)
    groups = [[dimension.leaf_position.get(str(code), -1) for code in codes] for codes in made.groups.values()]
    return any(min(group) < 0 or len(set(shown[group])) > 1 for group in groups if group)


def _stochastic(made: Any, asked: Asked, dimensions: Dimensions) -> bool:
    """Restored margins are true, and so are totals of control groups if the counts keep their distribution exactly."""
    kept = [set(margin) for margin in made.restore]
    if made.exact and made.invariant:
        kept.append(set(made.control))
    return not any(set(asked) <= margin for margin in kept)


_LOOKS = {"swap": _swap, "pram": _pram, "global-recode": _recode, "stochastic": _stochastic}
