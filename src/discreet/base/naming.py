"""Names of columns: a dimension keeps its name whatever it is; a column of ours gives way.

A dimension may be called status, count or like the measure. Our own column is then called ``status_``, in every frame
and every file, and a reader takes the underscore off again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

STATUS = "status"


def unused(name: str, taken: Iterable[str]) -> str:
    """A name that is not taken yet.

    >>> unused("measure", ["area", "measure"])
    'measure_'
    """
    taken = set(taken)
    while name in taken:
        name += "_"
    return name


def meant(head: str, taken: Iterable[str]) -> str:
    """The name that ``unused`` made ``head`` of.

    >>> meant("count_", ["count", "sex"]), meant("count_", ["sex"])
    ('count', 'count_')
    """
    taken = set(taken)
    while head.endswith("_") and head[:-1] in taken:
        head = head[:-1]
    return head


def heads(dimensions: Sequence[str], measures: Iterable[str]) -> list[str]:
    """The heads of a table written in rows: dimensions, measures, status; none twice.

    >>> heads(["status", "sex"], ["count"])
    ['status', 'sex', 'count', 'status_']
    """
    names = list(dimensions)
    for name in (*measures, STATUS):
        names.append(unused(name, names))
    return names


def beside(frame: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """A frame of codes with more columns behind it, none of which takes the name of a dimension."""
    wider = frame.copy(deep=False)
    for name, values in columns.items():
        wider[unused(name, wider.columns)] = values
    return wider
