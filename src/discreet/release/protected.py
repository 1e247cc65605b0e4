"""A table with what is to be published of it. Confidential: it holds the truth beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.naming import STATUS, beside
from discreet.errors import InputError, listed, nearest
from discreet.release.release import Release, read_only
from discreet.release.status import AS_IT_IS, CONFIDENTIAL, OPEN, Status, hidden
from discreet.tables import display
from discreet.tables.room import NONE_STATED, STATED, Room
from discreet.tables.table import INTERNAL, Table, code_columns

if TYPE_CHECKING:
    import pandas as pd


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Protected:
    """A table with what is to be published of it. Confidential: it holds the truth beside it.

    >>> import discreet as dc
    >>> done = dc.protect(dc.Table.of([[3, 0], [1, 2]], ["area", "sex"]), dc.Round(5))
    >>> done.published["count"].tolist(), done.table.count.tolist()
    ([5, 5, 0, 5, 5, 0, 5, 0, 0], [6, 4, 2, 3, 3, 0, 3, 1, 2])
    """

    table: Table
    published: Mapping[str, Array]
    status: Array
    method: str
    """What was done, in words for the public: no key, seed or other secret parameter."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What was done, for the methodologist (confidential)."""
    truthful: bool | None = None
    """Whether every value that is shown is the true one; None: the method does not say, and nothing that hangs on it
    (the check of tables against each other) can be judged."""
    room: Room = NONE_STATED
    """What the method states of the cells, which is what an audit goes by (confidential). A method that changes values
    gives ``Room(lower=..., upper=...)``: the least and greatest true value that each published one allows."""

    call: Callable[[Table], Protected] | None = field(default=None, repr=False, compare=False)
    """The method that made it, for an audit that repeats it on other tables; set by ``protect``, and in no pickle."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "call": None}

    def __post_init__(self) -> None:
        n = len(self.table)
        object.__setattr__(self, "status", np.asarray(self.status))
        object.__setattr__(self, "published", {name: _numbers(name, v) for name, v in self.published.items()})
        self.room.check_cells(n)
        if stray := [name for name in STATED if name in self.details]:
            raise InputError(f"{listed(stray)} of the cells are not details: give them as room=Room({stray[0]}=...)")
        others = self.status[self.status != Status.PUBLISHED.value]  # few, as a rule
        if self.status.shape != (n,) or (len(others) and not np.isin(others, [s.value for s in Status]).all()):
            raise InputError(f"a status is one of {', '.join(Status)} for each of the {n:,} cells")
        gone = self.hidden
        for name, values in self.published.items():
            if values.shape != (n,):
                raise InputError(f"{name!r} must have one value for each of the {n:,} cells")
            shown = np.isfinite(values.astype(float))
            if (shown & gone).any() or (~shown & ~gone).any():
                raise InputError(
                    f"{name!r}: a hidden cell has a value or a published one has none; nothing is released"
                )
            if self.table.statistic(name).decimals == 0 and (values[shown] % 1 != 0).any():
                raise InputError(f"{name!r} is in whole numbers, and some that are to be published are not: round them")
            if self.truthful and not np.array_equal(values[shown], self.table.statistic(name).values[shown]):
                raise InputError(
                    f"{self.method!r} says that the values it shows are the true ones (truthful=True), and some of "
                    f"{name!r} are not: say truthful=False"
                )

    @cached_property
    def hidden(self) -> Array:
        """Which cells are not shown."""
        return read_only(hidden(self.status))

    @property
    def as_it_is(self) -> bool:
        """Whether nothing was done to protect anybody."""
        return self.method == AS_IT_IS

    def shown_inner(self, name: str = "count") -> Array:
        """What is published of every inner cell; NaN where it is hidden or not part of the publication.

        >>> import discreet as dc
        >>> dc.protect(dc.Table.of([[3, 0], [1, 2]], ["area", "sex"]), dc.Round(5)).shown_inner().tolist()
        [5.0, 0.0, 0.0, 0.0]
        """
        rows = self.table.layout.inner_of_cell
        inner = np.full(self.table.layout.n_inner, np.nan)
        inner[rows[rows >= 0]] = np.asarray(self.published[name], float)[rows >= 0]
        return inner

    @property
    def cells(self) -> pd.DataFrame:
        """Codes, true and published values and status (confidential)."""
        import pandas as pd

        columns: dict[str, Any] = {}
        for name, values in self.published.items():
            columns[name] = self.table.statistic(name).values
            columns[f"published {name}"] = values
        return beside(pd.DataFrame(code_columns(self.table.layout)), {**columns, STATUS: self.status})

    def summary(self) -> pd.DataFrame:
        """How many cells have which status, and how much of the measure they hold (confidential).

        ``insiders``, of suppressed counts: how many people who work together the pattern holds for; 0: for outsiders.

        >>> import discreet as dc
        >>> table = dc.Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> dc.protect(table, dc.Hide([{"area": "2", "sex": "1"}])).summary()
                   cells  share of value
        published      8        0.958333
        primary        1        0.041667
        """
        import pandas as pd

        size = np.abs(self.table.value.astype(float))
        rows = {
            s.name.lower(): {"cells": int(at.sum()), "share of value": float(size[at].sum() / (size.sum() or 1))}
            for s in Status
            if (at := self.status == s.value).any()
        }
        frame = pd.DataFrame.from_dict(rows, orient="index")
        return frame.assign(insiders=self.details["insiders"]) if "insiders" in self.details else frame

    def release(self, *, title: str | None = None, source: str | None = None, notes: Sequence[str] = ()) -> Release:
        """What may be published: published values, open codes, nothing else.

        >>> import discreet as dc
        >>> done = dc.protect(dc.Table.of([[3, 0], [1, 2]], ["area", "sex"]), dc.Round(5))
        >>> done.release(title="People", source="census", notes=["provisional"])
        Release(area x sex: 9 cells, 0 not shown; count)
        """
        keep = np.flatnonzero(self.status != Status.NEVER.value)
        gone = self.hidden[keep]
        values, decimals = {}, {}
        for name, values_of in self.published.items():
            shown = np.array(values_of, float)[keep]
            shown[gone] = np.nan
            values[name] = read_only(shown)
            decimals[name] = self.table.statistic(name).decimals
        return Release(
            dimensions=self.table.dimensions,
            codes=read_only(self.table.layout.codes[keep].copy()),
            values=values,
            decimals=decimals,
            status=read_only(np.where(gone, CONFIDENTIAL, OPEN)),
            method=self.method,
            title=self.table.title if title is None else title,
            source=self.table.source if source is None else source,
            notes=tuple(notes),
            truthful=self.truthful,
        )

    def __repr__(self) -> str:
        names = " x ".join(d.name for d in self.table.dimensions)
        return f"Protected({names}: {len(self.table):,} cells, {int(self.hidden.sum()):,} hidden; {self.method})"

    def _repr_html_(self) -> str:
        measure = next(iter(self.published))
        return display.html(
            self.table.dimensions, self.table.layout.codes, self.published[measure], caption=f"{measure} (as published)"
        )


def _numbers(name: str, values: Any) -> Array:
    """What is to be published of a statistic as an array; what stands there is in no message."""
    array = np.asarray(values)
    if array.dtype.kind not in "iufb":
        raise InputError(f"{name!r}: what is published are numbers, one for each cell, NaN where it is hidden")
    return array


def publishable(table: Table, name: str) -> Array:
    """A statistic that can be published; keys cannot."""
    known = [n for n in table.statistics if n not in INTERNAL and not n.startswith("again ")]
    if name not in known:
        raise InputError(f"no measure {name!r} to publish; {nearest(name, known)}")
    return np.array(table.statistic(name).values)
