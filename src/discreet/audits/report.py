"""audit(): what an intruder can still work out of a release, cell by cell."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.audits.contradiction import InfeasibleError
from discreet.audits.frechet import frechet
from discreet.audits.known import settled_intervals
from discreet.audits.lines import Lines, flagged, judged, sums_of
from discreet.audits.view import Prior, View, view, view_of_release
from discreet.base.arguments import checked, numbers, positive
from discreet.base.naming import unused
from discreet.base.verdicts import Verdict
from discreet.errors import InputError
from discreet.release import Protected, Release, Status
from discreet.risk.cell import bits, cell_risk, possible_values, risk_of_bits
from discreet.rules import Levels, Rule, as_rule, asked
from discreet.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Array = NDArray[Any]
Protection = float | tuple[Array, ...] | Rule | Levels | str | None
EXACT, NARROW, OPEN, UNKNOWN = "exact", "narrow", "open", "unknown"
FINDINGS = (EXACT, NARROW, OPEN, UNKNOWN)
REASONS = {
    EXACT: "one value fits what is shown",
    NARROW: "less room than its protection level",
    OPEN: "",
    UNKNOWN: "not settled in time",
}
PLACEHOLDER = "the values that stand in cells marked as confidential do not fit the sums and were left out"
NO_TOTAL = (
    "no total found: no cell that is not shown stands in a sum with others, so nothing can be said of it; name the "
    "total of each dimension, or give its hierarchy"
)
NO_TARGETS = "no cell was named, so nothing was judged"
NOTHING_HIDDEN = (
    "every value is shown as it is and no rule is given that says which cells are sensitive, so nothing was judged; "
    "name one with protection= (on the command line, what `protect` wrote beside it with --confidential)"
)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """Feasible interval of each audited cell, and the risk that follows from it. Confidential: it may hold the truth.

    ``number`` says which cell of the tables (laid one after the other) each row is about; inner cells that are not
    published come after them.
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
    others: tuple[Audit, ...] = ()
    """The audits of the other measures of a Release, which the verdict is on too; ``cells`` are those of one."""

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
            slack = 1e-9 * np.maximum(1, np.abs(self.upper - self.lower))  # programmes answer to so many digits
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
            words[there] = [f"marked as confidential, and its {names} stands there" for names in self.left[there]]
        return words

    @property
    def verdict(self) -> Verdict:
        """Fail if an audited cell is exposed; unknown if one, or the release, could not be judged; else pass."""
        fails: object = len(self.exposed)
        unknown: object = self.unjudged or (self.finding == UNKNOWN).any()
        if self.sums is not None:
            fails, unknown = fails or self.sums.exposed.any(), unknown or self.sums.unknown.any()
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
        names = _names(self.view, self.view.known.inner_variables())
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
            raise InputError("which cells are sensitive is not known of what is out; audit a Protected")
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

        codes = {unused(name, COLUMNS): column for name, column in _codes(self.view, self.number).items()}
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

    def summary(self) -> pd.DataFrame:
        """How many cells are exact, narrow, open and unknown, and how uncertain they are.

        ``insiders`` is 0: an audit is of what outsiders can work out, people in the table are for ``dc.insiders``.
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
        return pd.DataFrame.from_dict(rows, orient="index").assign(insiders=0)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python (confidential)."""
        frame = self.cells
        return {
            "verdict": self.verdict.value,
            "unjudged": list(self.unjudged),
            "summary": self.summary()["cells"].to_dict(),
            "lines": self.lines.astype(object).to_dict("records"),
            "cells": frame.astype(object).to_dict("records"),
            **({"others": [other.to_dict() for other in self.others]} if self.others else {}),
        }

    def plot(self, ax: Axes | None = None, *, most: int = 40) -> Axes:
        """Intervals as bars, the truth marked (confidential)."""
        from discreet import plot

        frame = self.cells.head(most)
        names = [c for c in frame.columns if c not in COLUMNS]
        labels = [" ".join(str(v) for v in row) for row in frame[names].itertuples(index=False)]
        truth = frame["true"].to_numpy() if "true" in frame else None
        exact = (frame["finding"] != OPEN).to_numpy()
        return plot.intervals(labels, frame["lower"].to_numpy(), frame["upper"].to_numpy(), truth, exact, ax=ax)

    def to_html(self, *, most: int = 200) -> str:
        """A table of the riskiest cells for a report (confidential)."""
        frame = self.cells
        head = "".join(f'<th scope="col">{html.escape(str(c))}</th>' for c in frame.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_text(v))}</td>" for v in row) + "</tr>"
            for row in frame.head(most).itertuples(index=False)
        )
        more = f"<p>{len(frame) - most:,} more cells</p>" if len(frame) > most else ""
        title = f"<caption>{html.escape(repr(self))} (confidential)</caption>"
        more += "".join(f"<p>{html.escape(text)}</p>" for text in self.unjudged)
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
        return f"Audit({'; '.join([words, *self.unjudged, *map(repr, self.others)])})"


COLUMNS = ("lower", "upper", "width", "values", "bits", "DR", "finding", "reason", "status", "true")


@checked
def audit(
    released: Protected | Release | Sequence[Protected],
    *,
    targets: str | Array = "unknown",
    measure: str | None = None,
    prior: Prior | None = None,
    protection: Protection = None,
    nonnegative: bool | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Audit:
    """What can be worked out of one release, or of several linked ones together.

    ``targets``: "unknown" (cells not published as they are), "inner" (all inner cells), or cells by mask or number.
    ``prior``: what an intruder knows beforehand of hidden cells (see ``discreet.audits.view``). ``protection``: how far
    an interval must reach on both sides of the truth not to be "narrow": 0.1 for a tenth of it, arrays of amounts
    (below, above, and perhaps the whole width) over the cells, or a rule or ``Levels`` whose protection levels are
    meant. With a rule, cells that it calls sensitive are audited even where they are shown, and the sums that a rule on
    whole lines keeps unknown are judged (see ``Audit.lines``). By default what a method was asked for, which it leaves
    in ``details["levels"]`` and ``details["sums"]``. Without any rule, what shows everything as it is cannot be judged.
    ``measure``: of a Release all are judged unless one is named (see ``Audit.others``), of a Protected the table's own.

    >>> from discreet import datasets
    >>> a = audit(datasets.willenborg_suppressed())
    >>> a.m.tolist(), a.risk.round(3).tolist()
    ([407.0, 407.0, 407.0, 407.0], [0.115, 0.115, 0.115, 0.115])
    """
    if isinstance(released, Release):
        if prior is not None:
            raise InputError("prior is measured from the truth, which a Release does not hold; audit the Protected")
        names = list(released.values) if measure is None else [measure]
        each = [_of_release(released, name, targets, protection, nonnegative, progress) for name in names]
        return replace(each[0], others=tuple(each[1:]))
    seen = view(released, measure=measure, prior=prior, nonnegative=nonnegative)
    several = [released] if isinstance(released, Protected) else list(released)
    if protection is not None and not isinstance(protection, (int, float, tuple, Levels)):
        protection = as_rule(protection)
    rule = protection if isinstance(protection, Rule) else None
    nothing = empty(seen, targets, ruled=rule is not None or all(RULED & p.details.keys() for p in several))
    sensitive = np.zeros(len(seen.unknown), bool)
    amounts = _levels(several, seen.measure, protection)
    if rule is not None:
        sensitive = np.concatenate([flagged(rule, p.table) for p in several]) & ~seen.unknown
    elif protection is not None and isinstance(amounts, tuple):
        sensitive = _asked_of(amounts, len(sensitive)) & ~seen.unknown
    if sensitive.any() and isinstance(targets, str) and targets == "unknown":
        targets, nothing = np.flatnonzero(seen.unknown | sensitive), ()
    report = of_view(seen, targets, protection=amounts, progress=progress)
    sums, words = _lines(several, seen, rule, protection is None, progress)
    inside = report.number < len(sensitive)
    shown = inside & sensitive[np.where(inside, report.number, 0)]
    return replace(
        report,
        status=_status(released, report.number),
        sums=sums,
        sensitive=shown if shown.any() else None,
        unjudged=(*report.unjudged, *words, *nothing),
    )


RULED = {"rule", "levels", "sums"}
"""What a method leaves in its details if it was told which cells are sensitive."""


def _of_release(
    release: Release,
    measure: str,
    targets: str | Array,
    protection: Protection,
    nonnegative: bool | None,
    progress: Any,
) -> Audit:
    seen = view_of_release(release, measure=measure, nonnegative=nonnegative)
    report = of_view(seen, targets, protection=protection, progress=progress)
    return replace(report, unjudged=(*report.unjudged, *empty(seen, targets)))


def empty(seen: View, targets: str | Array, *, ruled: bool = False) -> tuple[str, ...]:
    """Why nothing is judged, if so: no cell is named, or all is shown and no rule says what should not be."""
    if not isinstance(targets, str):
        return () if len(_targets(seen, targets)) else (NO_TARGETS,)
    return (NOTHING_HIDDEN,) if targets == "unknown" and not ruled and not seen.withheld.any() else ()


def _asked_of(amounts: tuple[Array, ...], cells: int) -> Array:
    """Of which cells a protection level is asked."""
    asked = np.zeros(cells, bool)
    for amount in amounts:
        level = numbers("protection", amount)[:cells]
        asked[: len(level)] |= level > 0
    return asked


def _lines(
    several: Sequence[Protected], seen: View, rule: Rule | None, asked_for: bool, progress: Any
) -> tuple[Lines | None, tuple[str, ...]]:
    """The sums that the rule, or what the method was asked for, keeps unknown; and what of it cannot be judged."""
    tables = [p.table for p in several]
    if rule is not None:
        sums, words = sums_of([(table, rule) for table in tables])
    else:
        sums, words = [p.details.get("sums") if asked_for else None for p in several], ()
    if all(s is None for s in sums):
        return None, words
    if seen.measure != "count":
        return None, (*words, f"a rule on whole lines is about counts, and the audit is of {seen.measure!r}")
    return judged(seen, tables, sums, progress), words


def _status(released: Protected | Sequence[Protected], number: Array) -> Array:
    """The status of each audited cell; inner cells that are not published have none."""
    several = [released] if isinstance(released, Protected) else released
    cells = np.concatenate([p.status for p in several])
    inside = number < len(cells)
    return np.where(inside, cells[np.where(inside, number, 0)], "")


def _levels(several: Sequence[Protected], measure: str, protection: Protection) -> Protection:
    """Protection levels as arrays over the cells of all tables; None if nobody asked for any."""
    if protection is None:
        levels = [p.details.get("levels") if measure == p.table.measure else None for p in several]
        if all(f is None for f in levels):
            return None
        nothing = [(np.zeros(len(p.table)),) * 3 for p in several]
        parts = [n if f is None else f for f, n in zip(levels, nothing, strict=True)]
        return tuple(np.concatenate([part[k] for part in parts]) for k in range(3))
    if isinstance(protection, (Rule, Levels)):
        rule, single = (protection, None) if isinstance(protection, Rule) else (None, protection)
        amounts = [asked(p.table, rule, single) for p in several]
        below = [np.minimum(a.below, most_below(p.table)) for a, p in zip(amounts, several, strict=True)]
        return (
            np.concatenate(below),
            np.concatenate([a.above for a in amounts]),
            np.concatenate([a.sliding for a in amounts]),
        )
    return protection


def most_below(table: Table) -> Array:
    """How far below its value anybody can take a cell to lie: no further than zero, unless there are negative ones."""
    nonnegative = bool((table.statistic(table.measure).inner >= 0).all())
    return np.where(nonnegative & (table.value >= 0), table.value.astype(float), np.inf)


def of_view(
    seen: View,
    targets: str | Array = "unknown",
    *,
    protection: Protection = None,
    progress: Callable[[int, int], None] | None = None,
) -> Audit:
    """The same for what is known already."""
    number = _targets(seen, targets)
    try:
        quick = _quick(seen, targets)
        lower, upper, settled = quick or settled_intervals(seen.known, number, progress=progress)
    except InfeasibleError as error:
        if seen.left is not None and (seen.left != "").any():
            return _without_left(seen, targets, protection, progress)
        codes = _codes(seen, error.cells)
        names = [" ".join(str(c) for c in row) for row in zip(*codes.values(), strict=True)]
        raise InfeasibleError(error.cells, names) from None
    grid = 10.0**seen.decimals
    truth = None
    if seen.truth is not None:
        cells = len(seen.truth)
        every = seen.truth
        if (number >= cells).any():
            if seen.inner_truth is None:
                every = np.concatenate([every, np.full(int(number.max()) + 1 - cells, np.nan)])
            else:
                every = np.concatenate([every, np.full(len(seen.inner_truth), np.nan)])
                every[seen.known.inner_variables()] = seen.inner_truth
        truth = every[number] / grid
        truth = None if np.isnan(truth).any() else truth
    need = None
    if protection is not None:
        if truth is None:
            raise InputError("protection is measured from the truth, which is not at hand here")
        need = _need(protection, truth, number)
    unjudged = (*seen.unjudged, *((NO_TOTAL,) if _alone(seen, number) else ()))
    left = None
    if seen.left is not None and (number < len(seen.left)).all() and (seen.left[number] != "").any():
        left = seen.left[number]
    return Audit(seen, number, lower / grid, upper / grid, truth, need, settled=settled, left=left, unjudged=unjudged)


def _without_left(seen: View, targets: str | Array, protection: Protection, progress: Any) -> Audit:
    """The audit when what stands in marked cells contradicts the sums: a dot or a zero that means nothing, perhaps."""
    assert seen.left is not None
    there, known = seen.left != "", seen.known
    number = _targets(seen, targets)
    lower, upper = np.where(there, -np.inf, known.lower), np.where(there, np.inf, known.upper)
    blank = replace(seen, known=replace(known, lower=lower, upper=upper), left=None)
    report = of_view(blank, number, protection=protection, progress=progress)
    return replace(report, left=seen.left[report.number], unjudged=(*report.unjudged, PLACEHOLDER))


def _need(protection: Any, truth: Array, number: Array) -> tuple[Array, Array, Array]:
    """Where the interval of every audited cell must begin and end, and how wide it must be."""
    if isinstance(protection, tuple):
        if len(protection) not in (2, 3):
            raise InputError("protection is (below, above) or (below, above, width), arrays over the cells")
        parts = []
        for amounts in protection:
            level = numbers("protection", amounts)
            if level.ndim != 1 or not (level >= 0).all():
                raise InputError("protection levels are arrays over the cells, none negative")
            laid = np.zeros(max(len(level), int(number.max(initial=-1)) + 1))  # nothing is asked of inner cells
            laid[: len(level)] = level
            parts.append(laid[number])
        width = parts[2] if len(parts) == 3 else np.zeros(len(number))
        return truth - parts[0], truth + parts[1], width
    if not isinstance(protection, (int, float)):
        raise InputError("protection is a share, arrays over the cells, a rule or Levels")
    positive("protection", protection)
    room = protection * np.abs(truth)
    return truth - room, truth + room, np.zeros(len(number))


def _alone(seen: View, number: Array) -> bool:
    """Whether there are cells to audit and none of those that are not published stands in a sum with others."""
    hidden = np.flatnonzero(seen.unknown)
    if not len(np.intersect1d(hidden, number)):
        return False
    rows = seen.known.system().rows
    together = rows[np.diff(rows.indptr) > 1]
    return not np.isin(together.indices, hidden).any()


def _quick(seen: View, targets: str | Array) -> tuple[Array, Array, None] | None:
    """Inner cells from decomposable margins need no programme."""
    plain = not seen.unknown.any() and bool((seen.known.inner_lower == 0).all()) and len(seen.layouts) == 1
    if not isinstance(targets, str) or targets != "inner" or not plain:
        return None
    bounds = frechet(seen.layouts[0], seen.known.lower)
    return None if bounds is None else (*bounds, None)


def _targets(seen: View, targets: str | Array) -> Array:
    if isinstance(targets, str):
        if targets == "unknown":
            return np.flatnonzero(seen.withheld)
        if targets == "inner":
            return seen.known.inner_variables()
        raise InputError(f'targets are "unknown", "inner", a mask or cell numbers, not {targets!r}')
    numbers = np.asarray(targets)
    cells = seen.known.matrix.shape[1]
    if numbers.dtype == bool:
        if numbers.shape != (cells,):
            raise InputError(f"the mask has shape {numbers.shape}, the release {cells:,} cells")
        return np.flatnonzero(numbers)
    if numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= cells):
        raise InputError(f"cells to audit are numbers from 0 to {cells - 1:,}")
    return numbers.astype(np.int64)


def _codes(seen: View, number: Array) -> dict[str, Any]:
    """The codes of cells and inner cells, one column per dimension; of several tables, which one it is in."""
    layouts, known = seen.layouts, seen.known
    cells = known.matrix.shape[1]
    names = list(dict.fromkeys(d.name for layout in layouts for d in layout.dimensions))
    columns: dict[str, Array] = {name: np.full(len(number), "", object) for name in names}
    start, table = 0, np.zeros(len(number), np.int64)
    for k, layout in enumerate(layouts):
        here = (number >= start) & (number < start + len(layout))
        table[here] = k + 1
        for j, d in enumerate(layout.dimensions):
            columns[d.name][here] = np.array(d.codes, object)[layout.codes[number[here] - start, j]]
        start += len(layout)
    beyond = number >= cells
    if beyond.any():
        variable = known.inner_variables()
        rows = np.argsort(variable)[np.searchsorted(np.sort(variable), number[beyond])]
        leaves = {d.name: d.leaves for layout in layouts for d in layout.dimensions}
        at = rows if seen.inner_place is None else seen.inner_place[rows]
        places = np.unravel_index(at, [len(leaves[n]) for n in names])
        for name, place in zip(names, places, strict=True):
            columns[name][beyond] = np.array(leaves[name], object)[place]
    return {"table": table, **columns} if len(layouts) > 1 else dict(columns)


def _names(seen: View, number: Array) -> list[str]:
    """Cells by their codes, for people."""
    codes = _codes(seen, number)
    return [" ".join(str(c) for c in row) for row in zip(*(v for k, v in codes.items() if k != "table"), strict=True)]


def _text(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
