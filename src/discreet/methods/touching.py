"""Whether a method can change a table at all, told from the codebook alone: which variables, at which level.

Swapping keeps the numbers by area and those by everything else; PRAM changes one variable; recoding likewise. A table
that lies outside is the true one, whatever is done to the records. Each method says so itself (``SaysUntouched``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.methods import registered_name
from discreet.methods.contract import SaysUntouched


def untouched(method: object, asked: Mapping[str, str], dimensions: Mapping[str, Dimension]) -> str:
    """What a table that the method changes is like, if it leaves the one of these variables as it is; else empty."""
    return method.untouched(asked, dimensions) if isinstance(method, SaysUntouched) else ""


def check_touched(
    method: object, asked: Mapping[str, str], dimensions: Mapping[str, Dimension], *, ask: str = ""
) -> None:
    """Raise if a method leaves the table of these variables as it is; ``ask`` says how the truth is asked for."""
    if needed := untouched(method, asked, dimensions):
        raise InputError(
            f"method {registered_name(method)!r} changes nothing in this table: {needed}, or take another method"
            + (f"; {ask}" if ask else "")
        )


def in_more_detail(variable: str, *, alone: bool) -> str:
    """What a table is like that a change of one variable shows in; ``alone``: also in the table of it alone."""
    return f"ask for one with {variable!r}{'' if alone else ' and another variable'}, in more detail than is kept"


def level_of(dimension: Dimension, codes: Sequence[str]) -> str:
    """The coarsest level that holds some codes; the finest if none does."""
    return next((name for name, held in dimension.levels.items() if set(codes) <= set(held)), dimension.name)


def group_numbers(dimension: Dimension, level: str) -> Array:
    """For every finest code the number of its code at a level."""
    numbers = np.arange(len(dimension.leaves))
    for k, code in enumerate(dimension.level(level)):
        numbers[[dimension.leaf_position[leaf] for leaf in dimension.leaves_of(code)]] = k
    return numbers


def lies_within(fine: Array, coarse: Array) -> bool:
    """Whether all codes of one fine group lie in one coarse group."""
    return len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == len(set(fine.tolist()))
