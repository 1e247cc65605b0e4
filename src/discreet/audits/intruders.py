"""The table of intruders: who was tried on a release, and how many cells each of them can work out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array

if TYPE_CHECKING:
    import pandas as pd

OUTSIDER, INSIDERS = "outsider", "insiders"
PROGRAM, EARLIER = "holder of the program", "holder of last period's table"
NOT_TRIED, NOT_JUDGED, NO_LEVEL = "not tried", "not judged", "no level"
FIGURES = ("cells", "exact", "narrow", "unknown", "least bits", "median bits")


@dataclass(frozen=True, kw_only=True)
class Intruder:
    """What one intruder was found to know: numbers of cells, and bits of uncertainty that are left (confidential).

    ``None`` is a figure that was not worked out for this intruder.

    >>> Intruder(name="outsider", cells=4, exact=0, narrow=None, unknown=0).figures()["narrow"]
    'no level'
    """

    name: str
    cells: int
    """How many cells were judged."""
    exact: int | None
    """Cells with one value left; None: nothing could be judged."""
    narrow: int | None
    """Cells with less room than their protection level; None: no level was asked for."""
    unknown: int
    """Cells that could not be judged."""
    least_bits: float | None = None
    """Uncertainty about the best known cell."""
    median_bits: float | None = None
    exposed: bool = False
    """Whether the verdict on the release is a fail because of this intruder."""
    note: str = ""
    """What was tried: how many coalitions, by how much a value may have changed."""

    def figures(self) -> dict[str, Any]:
        """The row of the table; what was not worked out says so.

        >>> outsider = Intruder(name="outsider", cells=4, exact=1, narrow=None, unknown=0, least_bits=0.0)
        >>> outsider.figures()["narrow"], outsider.figures()["median bits"]
        ('no level', 'not judged')
        """
        worked = (self.cells, self.exact, self.narrow, self.unknown, self.least_bits, self.median_bits)
        row: dict[str, Any] = dict(zip(FIGURES, worked, strict=True))
        if self.narrow is None and self.exact is not None:
            row["narrow"] = NO_LEVEL
        return {name: NOT_JUDGED if value is None else value for name, value in row.items()} | {"note": self.note}


def least_and_median(bits: Array) -> tuple[float | None, float | None]:
    """Bits of uncertainty about the best known cell and about the one in the middle; None of no cell."""
    if not len(bits):
        return None, None
    return float(np.min(bits)), float(np.median(bits))


def all_intruders(tried: Sequence[Intruder]) -> list[dict[str, Any]]:
    """One row for every kind of intruder, in order; one that was not tried has no figure at all, never a zero."""
    kinds = (OUTSIDER, INSIDERS, PROGRAM, EARLIER)
    rows = []
    for kind in kinds:
        of_kind = [one for one in tried if intruder_kind(one.name) == kind]
        rows += [{"intruder": one.name, **one.figures()} for one in of_kind]
        if not of_kind:
            rows.append({"intruder": kind, **dict.fromkeys(FIGURES, NOT_TRIED), "note": ""})
    return rows


def intruder_kind(name: str) -> str:
    """The kind of an intruder: "1 insider" and "2 insiders" are insiders.

    >>> intruder_kind("2 insiders"), intruder_kind("outsider")
    ('insiders', 'outsider')
    """
    return INSIDERS if name.split(" ")[-1] in ("insider", INSIDERS) else name


def intruder_frame(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """The rows as a data frame, one intruder a row; figures are numbers or words, so columns hold objects."""
    import pandas as pd

    columns = ["intruder", *FIGURES, "note"]
    return pd.DataFrame(list(rows), columns=columns, dtype=object).set_index("intruder")
