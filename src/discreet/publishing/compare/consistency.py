"""The check across tables, on what is published and nothing else: same cells, hidden cells, sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from discreet.audits.joined.common_cells import NOBODY, CommonCells, too_large
from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.publishing.compare.cross_table import Derived, derived
from discreet.publishing.compare.published_table import Shown
from discreet.publishing.spec import Consistency

ERROR, WARNING, NOTE = "error", "warning", "note"
STRICT = Consistency()
LINK = "protect the tables together (linked), or hide the same cells in all of them (marks)"
EXAMPLES = 5
UNSAID = (
    "the method does not say of every value whether it is the true one (truthful=True or False in its Contract), so "
    "the table cannot be set against others"
)
UNCHECKED = ("not checked", "not compared")  # kinds of findings that leave the verdict open


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was found: how grave, what, about how many cells of which tables.

    >>> import discreet as dc
    >>> from discreet.publishing import Shown
    >>> book = dc.Codebook(dimensions=(dc.Dimension.flat("area", ["1", "2"]),))
    >>> table, gone = dc.Table.of([3, 8], list(book.dimensions)), [{"area": "1"}, {"area": "2"}]
    >>> methods = {"may": dc.Hide(gone), "june": dc.Publish()}
    >>> tables = [Shown.of(dc.protect(table, how).release(), book, {}, name=name) for name, how in methods.items()]
    >>> check(tables)[0].text.partition(";")[0]
    '2 cells are hidden in one table and shown in another'
    """

    level: str
    kind: str
    text: str
    source: str = ""
    measure: str = ""
    cells: int = 0
    tables: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


@checked
def check(tables: Sequence[Shown], settings: Consistency = STRICT) -> list[Finding]:
    """Everything that is wrong, doubtful or not checked, the gravest first.

    Tables are compared that have the source and the measure in common. Errors: a cell hidden in one table and shown in
    another; a hidden cell that follows from several tables together; a true value that differs between tables; a cell
    shown exactly here and perturbed there; a table whose method does not say whether it shows true values.

    >>> import discreet as dc
    >>> from discreet.publishing import Shown
    >>> book = dc.Codebook(dimensions=(dc.Dimension.flat("area", ["1", "2"]),))
    >>> table, gone = dc.Table.of([3, 8], list(book.dimensions)), [{"area": "1"}, {"area": "2"}]
    >>> methods = {"may": dc.Hide(gone), "june": dc.Publish()}
    >>> tables = [Shown.of(dc.protect(table, how).release(), book, {}, name=name) for name, how in methods.items()]
    >>> [(one.level, one.kind, one.tables) for one in check(tables)]
    [('error', 'hidden', ('may', 'june'))]
    """
    findings: list[Finding] = []
    for table in tables:
        if table.problem or too_large(table):
            why = table.problem or "it has too many combinations of codes"
            findings.append(
                Finding(
                    level=WARNING,
                    kind="not compared",
                    text=f"not compared with other tables: {why}",
                    source=table.source,
                    cells=len(table.cells),
                    tables=(table.name,),
                )
            )
        if table.exact is None:
            findings.append(
                Finding(
                    level=ERROR,
                    kind="not judged",
                    text=UNSAID,
                    source=table.source,
                    cells=len(table.cells),
                    tables=(table.name,),
                )
            )
    said = [t for t in tables if t.exact is not None]
    fit = sorted((t for t in said if not t.problem and not too_large(t)), key=lambda t: t.source)
    for _, group in groupby(fit, key=lambda t: t.source):
        common = CommonCells.of(list(group))
        for measure in dict.fromkeys(m for t in common.tables for m in t.values):
            findings += _measure(common, measure, settings)
    order = {ERROR: 0, WARNING: 1, NOTE: 2}
    return sorted(findings, key=lambda f: order[f.level])


@dataclass(frozen=True, eq=False)
class Stack:
    """All cells of the tables of one measure, one after the other."""

    common: CommonCells[Shown]
    measure: str
    chosen: tuple[int, ...]
    key: Array
    table: Array
    cell: Array
    hidden: Array
    value: Array
    exact: Array

    @classmethod
    def of(cls, common: CommonCells[Shown], measure: str) -> Stack:
        chosen = tuple(t for t, shown in enumerate(common.tables) if measure in shown.values)
        some = [common.tables[t] for t in chosen]
        most = max(t.decimals[measure] for t in some)
        sizes = [len(t.cells) for t in some]
        return cls(
            common,
            measure,
            chosen,
            np.concatenate([common.cells[t] for t in chosen]),
            np.repeat(chosen, sizes),
            np.concatenate([np.arange(n) for n in sizes]),
            np.concatenate([t.hidden for t in some]),
            np.concatenate([t.values[measure] * 10.0 ** (most - t.decimals[measure]) for t in some]),
            np.repeat([t.exact for t in some], sizes),
        )

    def names(self, rows: Array) -> tuple[str, ...]:
        """The tables that cells stand in, in the programme's order."""
        return tuple(self.common.tables[t].name for t in np.unique(self.table[rows]))

    def words(self, row: int) -> str:
        shown = self.common.tables[int(self.table[row])]
        return shown.words(int(self.cell[row]))

    def first(self, mask: Array) -> Array:
        """For every key the first row of a mask, −1 where there is none."""
        rows = np.flatnonzero(mask)
        out = np.full(self.common.size, -1)
        out[self.key[rows[::-1]]] = rows[::-1]
        out[NOBODY] = -1
        return out


def _measure(common: CommonCells[Shown], measure: str, settings: Consistency) -> list[Finding]:
    stack = Stack.of(common, measure)
    findings = [
        *_hidden(stack),
        *_different(stack, stack.exact & ~stack.hidden, ERROR, "different", "true value", "one of them is wrong"),
        *_mixed(stack, settings.mixed),
        *_different(
            stack,
            ~stack.exact & ~stack.hidden,
            _level(settings.differences),
            "differences",
            "perturbed value",
            "their average is nearer to the truth; use a keyed method",
        ),
    ]
    if (stack.exact & stack.hidden).any():
        if any(f.kind == "different" for f in findings):
            findings.append(
                _finding(
                    stack,
                    WARNING,
                    "not checked",
                    np.flatnonzero(stack.exact & stack.hidden),
                    "hidden cells were not worked out: the tables contradict each other",
                )
            )
        else:
            findings += _derived(stack, derived(stack.common, measure, settings.most_cells))
    return findings + _additive(stack)


def _level(word: str) -> str:
    return ERROR if word == "error" else WARNING


def _finding(
    stack: Stack, level: str, kind: str, rows: Array, text: str, examples: Sequence[str] = (), cells: int | None = None
) -> Finding:
    source = stack.common.tables[0].source
    many = len(np.unique(stack.key[rows])) if cells is None else cells
    return Finding(
        level=level,
        kind=kind,
        text=text,
        source=source,
        measure=stack.measure,
        cells=many,
        tables=stack.names(rows),
        examples=tuple(examples),
    )


def _cells(many: int) -> str:
    return "1 cell is" if many == 1 else f"{many:,} cells are"


def _hidden(stack: Stack) -> list[Finding]:
    """Cells hidden in a table and shown, exactly or not, in another."""
    text = f"hidden in one table and shown in another; {LINK}"
    return _both(stack, ERROR, "hidden", text, {"hidden": stack.hidden, "shown": ~stack.hidden})


def _mixed(stack: Stack, word: str) -> list[Finding]:
    """Cells shown as they are in one table and perturbed in another: the first undoes the second."""
    text = "shown as they are in one table and perturbed in another; use one method for all"
    shown = {"true": stack.exact & ~stack.hidden, "perturbed": ~stack.exact & ~stack.hidden}
    return _both(stack, _level(word), "mixed", text, shown)


def _both(stack: Stack, level: str, kind: str, text: str, states: dict[str, Array]) -> list[Finding]:
    """Cells that are in one state in a table and in another elsewhere."""
    (one, one_rows), (other, other_rows) = states.items()
    here, there = stack.first(one_rows), stack.first(other_rows)
    both = np.flatnonzero((here >= 0) & (there >= 0))
    if not len(both):
        return []
    examples = [
        f"{stack.words(here[k])}: {one} in {stack.names(here[k : k + 1])[0]!r}, "
        f"{other} in {stack.names(there[k : k + 1])[0]!r}"
        for k in both[:EXAMPLES]
    ]
    rows = np.flatnonzero(np.isin(stack.key, both))
    return [_finding(stack, level, kind, rows, f"{_cells(len(both))} {text}", examples)]


def _different(stack: Stack, mask: Array, level: str, kind: str, what: str, why: str) -> list[Finding]:
    """Cells that are shown with more than one value."""
    rows = np.flatnonzero(mask & (stack.key != NOBODY))
    low, high = np.full(stack.common.size, np.inf), np.full(stack.common.size, -np.inf)
    np.minimum.at(low, stack.key[rows], stack.value[rows])
    np.maximum.at(high, stack.key[rows], stack.value[rows])
    off = np.flatnonzero(high > low)
    if not len(off):
        return []
    at = rows[np.isin(stack.key[rows], off)]
    unit = 10.0 ** -max(stack.common.tables[t].decimals[stack.measure] for t in stack.chosen)
    most = float((high[off] - low[off]).max()) * unit
    first = stack.first(mask)
    examples = [f"{stack.words(first[k])}: differs by {(high[k] - low[k]) * unit:g}" for k in off[:EXAMPLES]]
    text = f"{len(off):,} cells have more than one {what}, at most {most:g} apart: {why}"
    return [_finding(stack, level, kind, at, text, examples)]


def _derived(stack: Stack, cells_derived: Derived) -> list[Finding]:
    out = []
    first = stack.first(stack.exact & stack.hidden)
    if len(cells_derived.together):
        rows = np.flatnonzero(np.isin(stack.table, cells_derived.tables) | np.isin(stack.key, cells_derived.together))
        examples = [stack.words(first[k]) for k in cells_derived.together[:EXAMPLES]]
        text = f"{len(cells_derived.together):,} hidden cells follow from several tables together; {LINK}"
        out.append(_finding(stack, ERROR, "derived", rows, text, examples, len(cells_derived.together)))
    if cells_derived.contradiction:
        at = np.flatnonzero(np.isin(stack.table, stack.chosen) & stack.exact)
        out.append(_finding(stack, ERROR, "contradiction", at, "no records fit all of the tables; their data differ"))
    if len(cells_derived.alone):
        rows = np.flatnonzero(np.isin(stack.key, cells_derived.alone) & stack.hidden)
        text = f"{len(cells_derived.alone):,} hidden cells follow from their own table, as its method allows"
        out.append(_finding(stack, NOTE, "alone", rows, text))
    for text, keys in cells_derived.unchecked:
        rows = np.flatnonzero(np.isin(stack.key, keys) & stack.hidden & stack.exact)
        out.append(_finding(stack, WARNING, "not checked", rows, text))
    return out


def _additive(stack: Stack) -> list[Finding]:
    """How far perturbed tables are from adding up."""
    sums = off = 0
    largest, involved = 0.0, []
    for t in stack.chosen:
        shown = stack.common.tables[t]
        if shown.exact or shown.hidden.any():
            continue
        gaps = additivity(stack.common, t, stack.measure)
        sums, off = sums + len(gaps), off + int((gaps != 0).sum())
        if (gaps != 0).any():
            involved.append(shown.name)
            largest = max(largest, float(np.abs(gaps).max()) * 10.0 ** -shown.decimals[stack.measure])
    if not off:
        return []
    text = f"{off:,} of {sums:,} sums of perturbed tables do not add up; the largest gap is {largest:g}"
    source = stack.common.tables[0].source
    return [
        Finding(
            level=NOTE,
            kind="additivity",
            text=text,
            source=source,
            measure=stack.measure,
            cells=off,
            tables=tuple(involved),
        )
    ]


def additivity(common: CommonCells[Shown], t: int, measure: str) -> Array:
    """What is missing in every sum of a table whose cells are all shown."""
    shown = common.tables[t]
    values = np.full(common.size, np.nan)
    values[common.cells[t]] = shown.values[measure]
    values[NOBODY] = 0
    gaps = common.sums(t) @ np.nan_to_num(values)
    known = (abs(common.sums(t)) @ np.isnan(values).astype(float)) == 0  # sums whose cells the table has
    return np.asarray(gaps[known])
