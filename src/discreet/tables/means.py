"""Means beside counts: a column of averages, of the people that the counts of the same rows count."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError


@dataclass(frozen=True, eq=False)
class Means:
    """The mean of something in each row of a table, to half a unit of its last decimal; NaN where none is shown.

    ``unit``: what single values are multiples of, 1 for ages in years or visits; 0 if they may be any number, None
    where nobody says.
    """

    name: str
    values: Array
    decimals: int
    unit: float | None = None

    def kept(self, rows: Array) -> Means:
        """The means of rows that are kept (a mask)."""
        return replace(self, values=np.asarray(self.values)[rows])


def checked_unit(text: str, what: str) -> float | None:
    """The unit of single values as it is said: "" for none, 0 for any number, or 1, 0.1, 0.01.

    >>> checked_unit("", "mean"), checked_unit("0", "mean"), checked_unit("0.01", "mean")
    (None, 0.0, 0.01)
    """
    if not text:
        return None
    try:
        unit = float(text)
    except ValueError:
        unit = -1.0
    if unit and not any(abs(unit * 10**places - 1) < 1e-9 for places in range(7)):
        raise InputError(
            f"{what}: single values are multiples of 1, 0.1, 0.01 and so on, or 0 for any number, not {text!r}"
        )
    return unit
