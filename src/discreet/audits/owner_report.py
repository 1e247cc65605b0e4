"""What the holder of the program can work out of a release, for each sensitive cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.audits.intruders import PROGRAM, Intruder, least_and_median
from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.verdicts import Verdict
from discreet.risk.cell import distribution_bits

if TYPE_CHECKING:
    import pandas as pd


@checked
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OwnerAudit:
    """What the holder of the program can work out of a release, for each sensitive cell (confidential).

    Of a method without sensitive cells, as rounding, all cells that are not shown as they are.

    >>> import discreet as dc
    >>> table = dc.Table.of([[20, 5, 9], [10, 2, 8]], ["area", "sex"])
    >>> method = dc.Suppress(dc.Threshold(3))
    >>> report = dc.owner_audit(dc.protect(table, method), method, most=2000, draws=20, seed=1)
    >>> report.left.tolist()
    [4]
    """

    number: Array
    """Which cells of the table were judged."""
    values: tuple[Array, ...]
    """Per cell the values of the tables that survive, in the measure's own units."""
    chances: tuple[Array, ...]
    """Per cell how likely each of these is, if every table that fits is as likely as the next."""
    fitting: int
    """How many tables that fit the release were tried."""
    surviving: int
    """For how many of them the call gave the release, with some key."""
    complete: bool
    """Whether these are all tables that fit; otherwise they are draws."""
    calls: int
    """How often the call was repeated."""
    keyed: bool
    """Whether the call has a key, which the intruder does not know."""
    inconclusive: bool = False
    """Whether no key tried made the true table give the release again: then no other table is ruled out either."""
    unjudged: str = ""
    """Why nothing could be worked out, in words; empty otherwise."""

    @property
    def left(self) -> Array:
        """Per cell how many values survive."""
        return np.array([len(v) for v in self.values], np.int64)

    @property
    def exact(self) -> Array:
        """Numbers of the cells with one value left. Of draws a second value may have been missed: see ``unknown``."""
        return np.asarray(self.number[(self.left == 1) & self.complete & (not self.inconclusive)])

    @property
    def unknown(self) -> Array:
        """Numbers of the cells that could not be judged: only one value among draws, or no call could be repeated."""
        if self.unjudged:
            return self.number
        return np.asarray(self.number[(self.left == 1) & (not self.complete or self.inconclusive)])

    @property
    def survivors(self) -> float:
        """Share of the tables that fit for which the call gave the release."""
        return self.surviving / self.fitting if self.fitting else float("nan")

    @property
    def bits(self) -> Array:
        """Entropy of each cell's value, given the release and the program."""
        return np.array([distribution_bits(p) for p in self.chances])

    @property
    def likeliest(self) -> Array:
        """Per cell the chance of its likeliest value."""
        return np.array([p.max() for p in self.chances])

    @property
    def verdict(self) -> Verdict:
        """Fail if a cell has one value left, unknown if one could not be judged."""
        return Verdict.of(fails=len(self.exact), unknown=self.unjudged or len(self.unknown))

    @property
    def ok(self) -> bool:
        """Whether the verdict is a pass."""
        return self.verdict.ok

    @property
    def cells(self) -> pd.DataFrame:
        """One row per judged cell, the best known first (confidential)."""
        import pandas as pd

        frame = pd.DataFrame({"cell": self.number, "values": self.left, "likeliest": self.likeliest, "bits": self.bits})
        return frame.iloc[np.argsort(self.bits, kind="stable")]

    def intruder(self) -> Intruder:
        """The row in the table of intruders.

        >>> import discreet as dc
        >>> table = dc.Table.of([[20, 5, 9], [10, 2, 8]], ["area", "sex"])
        >>> method = dc.Suppress(dc.Threshold(3))
        >>> report = dc.owner_audit(dc.protect(table, method), method, most=2000, draws=20, seed=1)
        >>> report.intruder().name, report.intruder().exact
        ('holder of the program', 0)
        """
        least, median = least_and_median(self.bits)
        what = "all tables that fit" if self.complete else "draws of the tables that fit"
        note = self.unjudged or (
            f"{self.surviving:,} of {self.fitting:,} ({what}) survive {self.calls:,} calls"
            + (" with random keys" if self.keyed else "")
        )
        judged = not self.unjudged
        return Intruder(
            name=PROGRAM,
            cells=len(self.number),
            exact=len(self.exact) if judged else None,
            narrow=None,
            unknown=len(self.unknown),
            least_bits=least if judged else None,
            median_bits=median if judged else None,
            exposed=bool(len(self.exact)),
            note=note,
        )

    def __repr__(self) -> str:
        return (
            f"OwnerAudit({self.verdict.value}; {len(self.number):,} cells, {len(self.exact):,} exact; "
            f"{self.intruder().note})"
        )


def nothing_judged(number: Array, values: Array, why: str) -> OwnerAudit:
    """A report that nothing was worked out, which is never a pass."""
    return OwnerAudit(
        number=number,
        values=tuple(values[[cell]] for cell in number),
        chances=tuple(np.ones(1) for _ in number),
        fitting=0,
        surviving=0,
        complete=False,
        calls=0,
        keyed=False,
        unjudged=why,
    )
