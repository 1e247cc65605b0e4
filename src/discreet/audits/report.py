"""Audit: what an intruder can still work out of a release, cell by cell, and the verdict on it."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audits.intruders import OUTSIDER, Intruder, all_intruders, intruder_frame, least_and_median
from discreet.audits.joined.argument import Arguments, in_one_line
from discreet.audits.lines import Lines
from discreet.audits.owner_report import OwnerAudit
from discreet.audits.view import View, cell_codes, cell_names
from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.naming import unused
from discreet.base.verdicts import Verdict
from discreet.errors import InputError
from discreet.release import Protected, Release, Status
from discreet.risk.cell import bits, cell_risk, possible_values, risk_of_bits
from discreet.rules import Levels, Rule

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from discreet.audits.certificate import Certificate

Protection = float | tuple[Array, ...] | Rule | Levels | str | None
EXACT, NARROW, OPEN, UNKNOWN = "exact", "narrow", "open", "unknown"
FINDINGS = (EXACT, NARROW, OPEN, UNKNOWN)
REASONS = {
    EXACT: "one value fits what is shown",
    NARROW: "less room than its protection level",
    OPEN: "",
    UNKNOWN: "not settled in time",
}


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """Feasible interval of each audited cell, and the risk that follows from it. Confidential: it may hold the truth.

    ``number`` says which cell of the tables (laid one after the other) each row is about; inner cells that are not
    published come after them.

    >>> import discreet as dc
    >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
    >>> report = dc.audit(dc.protect(table, dc.Suppress(dc.Threshold(3))))
    >>> report.verdict, len(report.cells)
    (<Verdict.PASS: 'pass'>, 4)
    >>> report.findings()["cells"].to_dict()
    {'exact': 0, 'narrow': 0, 'open': 4, 'unknown': 0}
    """

    view: View
    number: Array
    lower: Array
    upper: Array
    truth: Array | None
    need: tuple[Array, Array, Array] | None = None
    """Per audited cell the greatest least value and the least greatest value that were asked for, and the width."""
    sampled_bits: Array | None = field(default=None)
    status: Array | None = field(default=None)
    """Per audited cell its ``Status``, where the release is a Protected: only "u" are sensitive themselves."""
    settled: Array | None = field(default=None)
    """Per audited cell whether its interval is beyond doubt; None: all are."""
    left: Array | None = field(default=None)
    """Per audited cell the measures whose values stand there although it is marked as confidential; None: nowhere."""
    sensitive: Array | None = field(default=None)
    """Per audited cell whether it is shown as it is although the rule that ``protection`` names calls it sensitive."""
    sums: Lines | None = field(default=None)
    """What can be worked out of the sums that a rule on whole lines keeps unknown; None if there is no such rule."""
    unjudged: tuple[str, ...] = ()
    """What could not be judged of the release as a whole, in words. Then the verdict is never a pass."""
    follows: tuple[str, ...] = ()
    """What else follows from the release, in words: means that are not shown. Then the verdict is a fail."""
    others: tuple[Audit, ...] = ()
    """The audits of the other measures of a Release, which the verdict is on too; ``cells`` are those of one."""
    owner: OwnerAudit | None = None
    """What the holder of the program can work out, who repeats the call on other tables; None if that was not tried."""
    informed: tuple[Intruder, ...] = ()
    """Intruders who know more than the release and were tried, too: contributors, holders of an earlier table."""
    released: tuple[Protected | Release, ...] = field(default=(), repr=False)
    """What was audited, for a certificate."""

    @property
    def m(self) -> Array:
        """Number of possible values at the released precision."""
        return possible_values(self.lower, self.upper, decimals=self.view.decimals)

    @property
    def bits(self) -> Array:
        """Uncertainty: log2 m, or the entropy of a sampled distribution."""
        return bits(self.m) if self.sampled_bits is None else self.sampled_bits

    @property
    def risk(self) -> Array:
        """DR = 1/H: equation (2) of ODF03, or (3) when all values count as equally likely."""
        return cell_risk(self.m) if self.sampled_bits is None else risk_of_bits(self.sampled_bits)

    @property
    def finding(self) -> Array:
        """ "exact" where one value is left, "narrow" where the interval is shorter than was asked for, else "open".

        "unknown" where the interval is in doubt and might be a single value.
        """
        narrow = np.zeros(len(self.number), bool)
        if self.need is not None:
            most, least, width = self.need
            slack = 1e-9 * np.maximum(1, np.abs(self.upper - self.lower))  # programs answer to so many digits
            slack = np.where(np.isfinite(slack), np.maximum(slack, 1e-6 * 10.0**-self.view.decimals), 0)
            with np.errstate(invalid="ignore"):
                short = self.upper - self.lower < width - slack
            narrow = (self.lower > most + slack) | (self.upper < least - slack) | short
        doubt = False if self.settled is None else ~self.settled
        there = False if self.left is None else self.left != ""
        return np.select([(self.m == 1) | there, narrow, doubt], [EXACT, NARROW, UNKNOWN], OPEN)

    @property
    def reason(self) -> Array:
        """Why a cell is not open, in words."""
        words = np.array([REASONS[name] for name in self.finding.tolist()], object)
        if self.sensitive is not None:
            words[self.sensitive & (self.finding == EXACT)] = "sensitive, and shown as it is"
        if self.left is not None:
            there = self.left != ""
            words[there] = [f"marked as confidential, and still shows its {names}" for names in self.left[there]]
        return words

    @property
    def verdict(self) -> Verdict:
        """Fail if an audited cell is exposed; unknown if one, or the release, could not be judged; else pass."""
        fails: object = len(self.exposed) or self.follows
        unknown: object = self.unjudged or (self.finding == UNKNOWN).any()
        if self.sums is not None:
            fails, unknown = fails or self.sums.exposed.any(), unknown or self.sums.unknown.any()
        fails = fails or any(one.exposed for one in self.informed)
        unknown = unknown or any(one.unknown for one in self.informed)
        own = Verdict.of(fails=fails, unknown=unknown)
        return Verdict.worst([own, *(other.verdict for other in self.others)])

    @property
    def lines(self) -> pd.DataFrame:
        """The sums that a rule on whole lines keeps unknown, the disclosed ones first (confidential).

        ``cells`` are the codes of the inner cells in the sum, ``reach`` is what it must be able to be.
        """
        import pandas as pd

        columns = ["cells", "lower", "upper", "reach", "true", "finding"]
        if self.sums is None:
            return pd.DataFrame({name: [] for name in columns})
        sums = self.sums
        word = np.select([sums.exposed, sums.unknown], [NARROW, UNKNOWN], OPEN)
        word = np.where(sums.exposed & (sums.lower == sums.upper), EXACT, word)
        names = cell_names(self.view, self.view.known.inner_variables())
        held = [tuple(names[k] for k in column.indices) for column in (sums.matrix[:, [j]] for j in range(len(word)))]
        frame = pd.DataFrame(
            dict(zip(columns, [held, sums.lower, sums.upper, sums.reach, sums.truth, word], strict=True))
        )
        return frame.iloc[np.argsort(np.select([sums.exposed, sums.unknown], [0, 1], 2), kind="stable")]

    @property
    def exposed(self) -> Array:
        """Numbers of the cells that are known exactly, or more closely than was asked for."""
        return np.asarray(self.number[np.isin(self.finding, [EXACT, NARROW])])

    @property
    def primary(self) -> Array:
        """Numbers of the exposed cells that are sensitive themselves; the others were hidden for the sake of these."""
        if self.status is None:
            raise InputError("which cells are sensitive is not known of a publication; audit a Protected")
        exposed = np.isin(self.finding, [EXACT, NARROW])
        return np.asarray(self.number[exposed & (self.status == Status.PRIMARY.value)])

    @property
    def ok(self) -> bool:
        """Whether the verdict is a pass: everything was judged, and no audited cell is exposed."""
        return self.verdict.ok

    @property
    def cells(self) -> pd.DataFrame:
        """One row per audited cell, the riskiest first (confidential)."""
        import pandas as pd

        codes = {unused(name, COLUMNS): column for name, column in cell_codes(self.view, self.number).items()}
        frame = pd.DataFrame(codes)  # the truth must be found under its name to be left out: here dimensions give way
        frame["lower"], frame["upper"] = self.lower, self.upper
        frame["width"] = self.upper - self.lower
        frame["values"], frame["bits"], frame["DR"] = self.m, self.bits, self.risk
        frame["finding"], frame["reason"] = self.finding, self.reason
        if self.status is not None:
            frame["status"] = self.status
        if self.truth is not None:
            frame["true"] = self.truth
        rank = np.select([self.finding == name for name in (EXACT, NARROW, UNKNOWN)], [0, 1, 2], 3)
        rank = rank if self.left is None else np.where(self.left == "", rank, -1)
        return frame.iloc[np.lexsort((-self.risk, rank))]

    @property
    def intruders(self) -> tuple[Intruder, ...]:
        """Who was tried, the outsider first, and what each of them can work out (confidential)."""
        counts = {name: int((self.finding == name).sum()) for name in FINDINGS}
        least, median = least_and_median(self.bits)
        outsider = Intruder(
            name=OUTSIDER,
            cells=len(self.number),
            exact=counts[EXACT],
            narrow=None if self.need is None else counts[NARROW],
            unknown=counts[UNKNOWN],
            least_bits=least,
            median_bits=median,
            exposed=bool(len(self.exposed)),
        )
        return (outsider, *self.informed)

    def because(self, *, most: int = 20) -> pd.DataFrame:
        """Why cells are known exactly: per cell the files that give it away together, and the sum that does.

        Of no more than ``most`` cells. The argument is empty where the value follows from whole numbers alone, or where
        no short one was found.

        >>> import discreet as dc
        >>> table = dc.Table.of([[20, 50], [10, 2]], ["area", "sex"])
        >>> report = dc.audit(dc.protect(table, dc.Redact(2)))
        >>> report.because()[["area", "sex", "value", "argument"]].to_dict("records")
        [{'area': '2', 'sex': '2', 'value': 2.0, 'argument': '12 - 10 = 2'}]
        """
        import pandas as pd

        known = np.flatnonzero(self.m == 1)[:most]
        codes = {unused(name, COLUMNS): c for name, c in cell_codes(self.view, self.number[known]).items()}
        arguments = Arguments(self.view) if len(known) else None
        grid = 10.0**self.view.decimals
        ends = [(int(self.number[k]), np.rint(self.lower[k] * grid), np.rint(self.upper[k] * grid)) for k in known]
        found = [arguments.of(*end) for end in ends] if arguments else []
        files = [tuple(sorted({file for one in several for file in one.files})) for several in found]
        return pd.DataFrame({**codes, "value": self.lower[known], "files": files,
                             "argument": [in_one_line(several) for several in found]})  # fmt: skip

    def summary(self) -> pd.DataFrame:
        """One row for every intruder: cells judged, known exactly, below their level, not settled; bits that are left.

        Intruders who were not tried say so: ``audit(..., insiders=1)`` tries everybody who contributes,
        ``earlier=`` somebody who holds an earlier table. How many cells have which finding is in ``findings()``.

        >>> import discreet as dc
        >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
        >>> report = dc.audit(dc.protect(table, dc.Suppress(dc.Threshold(3))))
        >>> report.summary()["exact"].tolist(), report.summary().index[1]
        ([0, 'not tried', 'not tried', 'not tried'], 'insiders')
        """
        return intruder_frame(all_intruders(self.intruders))

    def findings(self) -> pd.DataFrame:
        """How many cells are exact, narrow, open and unknown to an outsider, and how uncertain they are.

        >>> import discreet as dc
        >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
        >>> report = dc.audit(dc.protect(table, dc.Suppress(dc.Threshold(3))))
        >>> report.findings()
                 cells  least bits  median width
        exact        0         NaN           NaN
        narrow       0         NaN           NaN
        open         4    3.321928           9.0
        unknown      0         NaN           NaN
        """
        import pandas as pd

        rows = {}
        for name in FINDINGS:
            at = self.finding == name
            rows[name] = {
                "cells": int(at.sum()),
                "least bits": float(self.bits[at].min()) if at.any() else np.nan,
                "median width": float(np.median((self.upper - self.lower)[at])) if at.any() else np.nan,
            }
        return pd.DataFrame.from_dict(rows, orient="index")

    def certificate(self, *, confidential: bool = False, intervals: bool = False, date: str = "") -> Certificate:
        """What was published, who was tried, and proofs that ``discreet verify`` checks by itself.

        The open copy (default) holds functions of the release only; it says of each cell which values it was seen to
        have in tables that fit. ``confidential``: how far every cell must reach, and what other intruders know.
        ``intervals``: proofs of the least and greatest value of every cell, too; slower. ``date``: as it shall stand
        there.

        >>> import discreet as dc
        >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
        >>> report = dc.audit(dc.protect(table, dc.Suppress(dc.Threshold(3))))
        >>> report.certificate()
        Certificate(pass; open; 4 open)
        """
        from discreet.audits.certificate import certified

        return certified(self, self.verdict, confidential=confidential, intervals=intervals, date=date)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python (confidential).

        >>> import discreet as dc
        >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
        >>> report = dc.audit(dc.protect(table, dc.Suppress(dc.Threshold(3))))
        >>> report.to_dict()["summary"]
        {'exact': 0, 'narrow': 0, 'open': 4, 'unknown': 0}
        """
        frame = self.cells
        return {
            "verdict": self.verdict.value,
            "unjudged": list(self.unjudged),
            "follows": list(self.follows),
            "summary": self.findings()["cells"].to_dict(),
            "intruders": all_intruders(self.intruders),
            "lines": self.lines.astype(object).to_dict("records"),
            "cells": frame.astype(object).to_dict("records"),
            **({"others": [other.to_dict() for other in self.others]} if self.others else {}),
        }

    def plot(self, ax: Axes | None = None, *, most: int = 40) -> Axes:
        """Intervals as bars, the truth marked (confidential).

        >>> import discreet as dc
        >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
        >>> report = dc.audit(dc.protect(table, dc.Suppress(dc.Threshold(3))))
        >>> report.plot().get_xlabel()
        'possible values (count)'
        """
        from discreet import plot

        frame = self.cells.head(most)
        names = [c for c in frame.columns if c not in COLUMNS]
        labels = [" ".join(str(v) for v in row) for row in frame[names].itertuples(index=False)]
        truth = frame["true"].to_numpy() if "true" in frame else None
        exact = (frame["finding"] != OPEN).to_numpy()
        low, high = frame["lower"].to_numpy(), frame["upper"].to_numpy()
        return plot.intervals(labels, low, high, truth, exact, unit=self.view.measure, ax=ax)

    def to_html(self, *, most: int = 200) -> str:
        """A table of the riskiest cells for a report (confidential).

        >>> import discreet as dc
        >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
        >>> report = dc.audit(dc.protect(table, dc.Suppress(dc.Threshold(3))))
        >>> report.to_html()[:29]
        '<table><caption>Audit(pass; c'
        """
        frame = self.cells
        head = "".join(f'<th scope="col">{html.escape(str(c))}</th>' for c in frame.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_text(v))}</td>" for v in row) + "</tr>"
            for row in frame.head(most).itertuples(index=False)
        )
        more = f"<p>{len(frame) - most:,} more cells</p>" if len(frame) > most else ""
        title = f"<caption>{html.escape(repr(self))} (confidential)</caption>"
        more += self.summary().to_html(border=0, classes="intruders")
        more += "".join(f"<p>{html.escape(text)}</p>" for text in (*self.follows, *self.unjudged))
        more += "".join(other.to_html(most=most) for other in self.others)
        return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

    def _repr_html_(self) -> str:
        return self.to_html(most=24)

    def __repr__(self) -> str:
        counts = []
        for name in FINDINGS:
            at = self.finding == name
            if name == UNKNOWN and not at.any():
                continue
            counts.append(f"{int(at.sum()):,} {name}")
            if name in (EXACT, NARROW) and at.any() and self.status is not None:
                counts[-1] += f" ({int((self.status[at] == Status.PRIMARY.value).sum()):,} primary)"
        words = f"{self.verdict.value}; {self.view.measure}: {len(self.number):,} cells, {', '.join(counts)}"
        if self.sums is not None:
            some, doubt = int(self.sums.exposed.sum()), int(self.sums.unknown.sum())
            words += f"; {len(self.sums.truth):,} lines, {some:,} disclosed" + (f", {doubt:,} unknown" if doubt else "")
        return f"Audit({'; '.join([words, *self.follows, *self.unjudged, *map(repr, self.others)])})"


COLUMNS = ("lower", "upper", "width", "values", "bits", "DR", "finding", "reason", "status", "true")


def _text(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
