"""What a suppression is asked for: the parameters of ``Suppress`` that do not say how secondary cells are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.base.annotations import Progress
from discreet.methods.keys import Secret
from discreet.release import Protected
from discreet.rules.levels import Levels
from discreet.tables.table import Table

OFF, EXACT, LEVELS = "off", "exact", "levels"  # what is checked: nothing, a second value, room as the levels ask


@dataclass(frozen=True, eq=False, kw_only=True)
class SuppressParameters:
    """As they were given to ``Suppress``, where each is explained.

    ``asks`` is what every sensitive cell is to have: "levels", "exact" (a second value), or "off" (nothing is checked).
    """

    rule: Any
    order: Any
    forced: Any
    hidden: Any
    singletons: Any
    zeros: bool | None
    asks: str
    levels: Levels | Callable[[Table], Levels] | None
    bounds: Any
    marks: Any
    earlier: Sequence[Protected]
    last: Protected | None
    insiders: int
    key: str | Secret | None
    progress: Progress | None
