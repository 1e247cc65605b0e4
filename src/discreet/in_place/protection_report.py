"""What was done to a table, what the audit says of it, and a sentence for the form; no cell and no true value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from discreet.audits import audit
from discreet.audits.one_person import open_by_one
from discreet.audits.report import Audit
from discreet.audits.view import view
from discreet.audits.view_audit import NO_TOTAL
from discreet.base.arguments import checked
from discreet.base.verdicts import Verdict
from discreet.errors import Refused, many
from discreet.methods.recipes.further_hidden import SMALL, exposed_cells, known_cells
from discreet.release import Protected, Status
from discreet.tables.table import Table

ALONE = (
    "the table shows no totals, so nothing follows by subtraction; totals that are published elsewhere may tell more"
)
CURE = (
    "hide cells instead of rounding them (suppress_small_counts, --hide-under 8), or, with a recipe, hide further "
    "cells (secondary=True, -P secondary=true), round to a larger base (base=10, -P base=10), or leave totals out"
)


@checked
@dataclass(frozen=True, kw_only=True)
class ProtectionReport:
    """What became of a table: numbers of cells, shares and sentences. ``lost`` is for whoever protects, not for all.

    >>> import pandas as pd
    >>> import discreet as dc
    >>> reports = []
    >>> _ = dc.round_counts(pd.Series([21, 3], index=["a", "b"]), report=reports.append)
    >>> reports[0].cells, reports[0].changed, reports[0].hidden
    (2, True, 0)
    """

    name: str
    """The file and sheet, or the kind of frame."""
    method: str
    cells: int
    primary: int
    secondary: int
    changed: bool
    """Whether values are shown that are not the true ones."""
    lost: float
    """Share of the value that stands in hidden cells."""
    audited: int
    """Cells whose true value is not shown as it is."""
    exact: int
    """Of these, cells of which one value is left."""
    verdict: Verdict
    remarks: tuple[str, ...] = ()

    @property
    def hidden(self) -> int:
        """Cells that are not shown."""
        return self.primary + self.secondary

    @property
    def statement(self) -> str:
        """One sentence for the governance form: what was done, and what was checked."""
        done = f"{self.method[:1].upper()}{self.method[1:]}"
        be = "is" if self.hidden == 1 else "are"
        hidden = f"; {self.hidden:,} of {many(self.cells, 'cell')} {be} not shown" if self.hidden else ""
        if not self.audited:
            checked = "no cell had to be protected"
        elif self.verdict.ok:
            what = "hidden or changed" if self.changed else "hidden"
            those = f"all {self.audited:,} {what} cells found none that follows" if self.audited > 1 else ""
            checked = f"an audit of {those or f'the one {what} cell found that it does not follow'} from what is shown"
        else:
            checked = "the audit is not passed"
        return f"{done}{hidden}; {checked}."

    def to_dict(self) -> dict[str, Any]:
        """What may go with the published table: nothing that says which or how much was sensitive.

        >>> import pandas as pd
        >>> import discreet as dc
        >>> reports = []
        >>> counts = pd.Series([21, 3, 4], index=["a", "b", "c"])
        >>> shown = dc.suppress_small_counts(counts, under=6, report=reports.append)
        >>> reports[0].to_dict()["not shown"], reports[0].to_dict()["audit"]
        (2, 'pass')
        """
        return {
            "method": self.method,
            "cells": self.cells,
            "not shown": self.hidden,
            "changed": self.changed,
            "audit": self.verdict.value,
            "statement": self.statement,
        }

    def lines(self) -> list[str]:
        """For whoever protects (confidential).

        >>> import pandas as pd
        >>> import discreet as dc
        >>> reports = []
        >>> counts = pd.Series([21, 3, 4], index=["a", "b", "c"])
        >>> shown = dc.suppress_small_counts(counts, under=6, report=reports.append)
        >>> reports[0].lines()[0]
        'the Series: 3 cells, 2 primary, 0 secondary, 25.0 % of the value lost'
        """
        words = [many(self.cells, "cell"), f"{self.primary:,} primary", f"{self.secondary:,} secondary"]
        if self.hidden:
            words.append(f"{100 * self.lost:.1f} % of the value lost")
        first = f"{self.name}: {', '.join(words)}"
        exposed = f", {self.exact:,} known exactly" if self.exact else ""
        second = f"audit: {self.verdict.value}, {many(self.audited, 'cell')} judged{exposed}"
        return [first, second, *self.remarks]

    def check(self) -> None:
        """Raise unless the audit is passed.

        >>> import pandas as pd
        >>> import discreet as dc
        >>> from dataclasses import replace
        >>> reports = []
        >>> counts = pd.Series([21, 3, 4], index=["a", "b", "c"])
        >>> shown = dc.suppress_small_counts(counts, under=6, report=reports.append)
        >>> reports[0].check()
        >>> replace(reports[0], verdict=Verdict.FAIL, exact=2).check()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        discreet.errors.Refused: audit: the Series: 2 cells that mus...
        """
        if self.verdict.ok:
            return
        if self.verdict is Verdict.FAIL:
            raise Refused(
                "audit",
                f"{self.name}: {many(self.exact, 'cell')} that must stay unknown "
                f"follow{'s' if self.exact == 1 else ''} from what would be shown ({self.method})",
                CURE,
            )
        raise Refused("audit", f"{self.name}: it could not be judged: {'; '.join(self.remarks)}", CURE)


class CellNumbers(NamedTuple):
    """How many cells of a file hold a number of its tables, how many are not shown, and how many were judged."""

    cells: int
    hidden: int
    judged: int


def form_sentence(reports: Sequence[ProtectionReport], cells: CellNumbers) -> str:
    """One sentence for the governance form on all tables of a file; a cell of several tables counts once."""
    if len(reports) == 1:
        return reports[0].statement
    together = replace(
        reports[0],
        method="; ".join(dict.fromkeys(report.method for report in reports)),
        cells=cells.cells,
        primary=0,
        secondary=cells.hidden,
        audited=cells.judged,
        changed=any(report.changed for report in reports),
        verdict=Verdict.worst([report.verdict for report in reports]),
    )
    return f"{many(len(reports), 'table')}: {together.statement[:1].lower()}{together.statement[1:]}"


def report_on(done: Protected, name: str, *, remarks: Sequence[str] = ()) -> ProtectionReport:
    """Audit a protected table and say what came of it.

    A cell that was hidden for another's sake may be known, and so may a large count among changed ones; a sensitive
    one may not, nor a count under ``SMALL``.
    """
    seen = view(done)
    asked = seen.withheld & ~(open_by_one(seen) if _only_exact(done) else np.zeros(len(done.table), bool))
    report = audit(done, targets=np.flatnonzero(asked)) if asked.any() else None
    reasons = report.unjudged if report is not None else ()
    unjudged = [text for text in reasons if text != NO_TOTAL]
    bad, harmless = (0, 0) if report is None else _exposed(report)
    table: Table = done.table
    public = done.status != Status.NEVER.value
    gone = done.hidden & public
    size = np.where(public, np.abs(table.value.astype(float)), 0)
    alone: tuple[str, ...] = (ALONE,) if len(table) == table.layout.n_inner and seen.withheld.any() else ()
    if harmless:
        alone += (f"{harmless:,} counts of {SMALL} or more, or secondary suppressions, follow exactly",)
    primary, secondary = status_counts(done)
    unknown = unjudged or (report is not None and (report.finding == "unknown").any())
    return ProtectionReport(
        name=name,
        method=done.method,
        cells=int(public.sum()),
        primary=primary,
        secondary=secondary,
        changed=done.truthful is not True,
        lost=float(size[gone].sum() / (size.sum() or 1)),
        audited=int((seen.withheld & public).sum()),
        exact=bad,
        verdict=Verdict.of(fails=bool(bad), unknown=bool(unknown)),
        remarks=(*remarks, *unjudged, *alone),
    )


def status_counts(done: Protected) -> tuple[int, int]:
    """How many cells are not shown because they are sensitive, and how many for their sake."""
    primary = done.status == Status.PRIMARY.value
    gone = done.hidden & (done.status != Status.NEVER.value)
    return int(primary.sum()), int((gone & ~primary).sum())


def _only_exact(done: Protected) -> bool:
    """Whether nothing is asked of a cell but that it is not known exactly."""
    room = done.room
    return room.sums is None and (room.levels is None or not any(np.any(level) for level in room.levels))


def _exposed(report: Audit) -> tuple[int, int]:
    """How many audited cells are known and must not be, and how many others are known."""
    bad = exposed_cells(report)
    return int(bad.sum()), int((known_cells(report) & ~bad).sum())
