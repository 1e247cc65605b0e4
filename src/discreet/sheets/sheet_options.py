"""What a caller says about a sheet, where it does not say it itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from discreet.errors import InputError, listed
from discreet.sheets.sheet_grid import cell_range

BLANKS = ("zero", "hidden", "none")
TOTALS = ("check", "compute", "trust")


@dataclass(frozen=True, kw_only=True)
class SheetOptions:
    """Options of ``read_table``; None means: found, or asked about."""

    range: str | None = None
    header_rows: int | None = None
    stub_columns: int | Sequence[str] | None = None
    """How many columns from the first hold labels, or the headers of those that do."""
    total: str | Mapping[str, str | None] | None = None
    totals: str = "check"
    tolerance: float = 0
    names: Sequence[str] | None = None
    measure: str | Sequence[str] | None = None
    value: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    blank: str | None = None
    zero: str | Sequence[str] = ()
    suppressed: str | Sequence[str] = ()
    unavailable: str | Sequence[str] = ()
    flag: str | Sequence[str] = ()
    missing: str | Mapping[str, str] | None = None
    percent: str | Sequence[str] = ()
    leave: str | Sequence[str] = ()
    nested: bool = True
    partly: bool = False
    several: bool = False
    """Whether the options are for several sheets, so that a total need not be a label of each."""
    hidden_under: int | None = None
    """Counts below it were to be hidden in a published table, so that one that follows and is not below is no harm."""
    parents: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Per dimension the code above each other one, where a format says it."""
    rounding: float = 0.0
    """How far each number of a published table may have been rounded; sums leave no remainder then."""

    @classmethod
    def among(cls, arguments: Mapping[str, Any]) -> SheetOptions:
        """The options that stand among all the arguments of a call."""
        return cls(**{option.name: arguments[option.name] for option in fields(cls) if option.name in arguments})

    def __post_init__(self) -> None:
        if self.range is not None:
            cell_range(self.range)
        if self.blank is not None and self.blank not in BLANKS:
            raise InputError(f"blank can be {listed(BLANKS)}, not {self.blank!r}")
        if self.totals not in TOTALS:
            raise InputError(f"totals can be {listed(TOTALS)}, not {self.totals!r}")
        if self.tolerance < 0:
            raise InputError("tolerance cannot be negative")
        if self.hidden_under is not None and self.hidden_under < 2:
            raise InputError("hidden_under is the least count that need not be hidden: 2 or more")
        if not 0 <= self.rounding < float("inf"):
            raise InputError("rounding is how far a number may have been rounded, as 2.5 to base 5: 0 or more")
        object.__setattr__(self, "tolerance", float(self.tolerance))
        if self.measure is not None:
            names = (self.measure,) if isinstance(self.measure, str) else tuple(str(text) for text in self.measure)
            object.__setattr__(self, "measure", names)
        if isinstance(self.stub_columns, str):
            object.__setattr__(self, "stub_columns", (self.stub_columns,))
        for name in ("zero", "suppressed", "unavailable", "flag", "percent", "leave"):
            texts = getattr(self, name)
            object.__setattr__(self, name, (texts,) if isinstance(texts, str) else tuple(str(t) for t in texts))
