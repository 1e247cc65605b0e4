"""assess(): everything there is to say about the risk of one table, before and after protection.

A RiskReport is full of functions of the true counts. It is confidential and is never a Release.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import plot
from discreet.base.arguments import checked
from discreet.base.files import HTML, check_suffix, write_whole
from discreet.base.naming import beside
from discreet.errors import InputError, nearest
from discreet.information import Array, Floats
from discreet.population.sample import Population
from discreet.release import Protected
from discreet.risk.attribute import dr, frank_patterns, gad_star, wgad_star
from discreet.risk.frequency import (
    WEIGHTS,
    Risk,
    line_risks,
    mean_cell_size,
    r1,
    r1_star,
    r2,
    r2_star,
    read_weights,
    small_cell_share,
)
from discreet.risk.jos15 import jos15_risk
from discreet.risk.known_units import subtraction_attribution
from discreet.risk.sample_risk import SampleRisk, assess_sample
from discreet.tables.table import INTERNAL, Table
from discreet.utility import Utility, compare

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Rule = Callable[[Table], Array]

MOST_SUBTRACTED = 200  # subtraction-attribution is for small tables: cells beyond which it is left out
MEASURES: Mapping[str, str] = {
    "r1": "R1: zeros, entropy and size, weighted; 0 safe, 1 certain",
    "r1_star": "R1*: the same three terms without weights",
    "jos15": "R of JOS15: cells up to 6 and larger cells judged apart",
    "zeros": "share of cells that are zero",
    "small": "share of cells that are one or two",
    "mean": "people per cell",
    "frank": "lines in which everybody, or all but one, share a category (Frank 1976)",
    "subtraction": "chance that somebody who knows one person can rule a category out (small tables)",
    "r2": "R2: what remains of R1 after protection",
    "r2_star": "R2*: the same without weights",
    "gad_star": "GAD*: lines with a single category that still show it",
    "wgad_star": "WGAD*: lines with two categories, one of them a single person, that still show them",
    "dr": "DR: small cells shown that are true",
}


@checked
@dataclass(frozen=True, eq=False, repr=False)
class RiskReport:
    """The risk of a table, of all its lines and margins, and what protection did to it. Confidential.

    >>> import discreet as dc
    >>> report = dc.assess([[17, 0], [12, 1]], after=[[15, 0], [12, 3]])
    >>> round(report.before.value, 4), round(report.after.value, 4)
    (0.4116, 0.3849)
    """

    table: Table
    before: Risk
    after: Risk | None
    numbers: Mapping[str, float]
    utility: Utility | None
    shown: Array | None = field(default=None)
    rules: Mapping[str, Array] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further results with ``summary()``, ``rows()``, ``statement`` and ``to_dict()``: the risk of a sample."""

    @property
    def counts(self) -> Array:
        return self.table.array()

    def summary(self) -> pd.DataFrame:
        """One row a measure, the whole table's.

        >>> assess([[3, 0], [1, 20]]).summary()["value"].round(3).iloc[:2].to_dict()
        {'r1': 0.564, 'r1_star': 0.487}
        """
        import pandas as pd

        rows = [(name, value, MEASURES[name.partition(" ")[0]]) for name, value in self.numbers.items()]
        if self.utility is not None:
            utility = self.utility.summary()
            rows += [
                (n, float(v), str(m))
                for n, v, m in zip(utility.index, utility["value"], utility["meaning"], strict=True)
            ]
        rows += [row for result in self.extra.values() for row in result.rows()]
        return pd.DataFrame(rows, columns=["measure", "value", "meaning"]).set_index("measure")

    @cached_property
    def lines(self) -> pd.DataFrame:
        """Every line along every axis, the riskiest first.

        ``along`` is the dimension the line runs along, the other dimensions say where it stands. ``share`` is the
        part of the risk that people bear along that axis: n · R1, of the sum over its lines.
        """
        import pandas as pd

        for name in _OWN_COLUMNS:
            if name in [d.name for d in self.table.dimensions]:
                raise InputError(f"a dimension is called {name!r}, as a column of the riskiest lines is; rename it")
        counts = self.counts
        frames = []
        risks = line_risks(counts, self.before.weights)
        for axis, dimension in enumerate(self.table.dimensions):
            here = risks[axis].ravel()
            n = counts.sum(axis=axis).ravel()
            columns: dict[str, Any] = {"along": np.full(here.size, dimension.name, object)}
            grid = np.indices(risks[axis].shape).reshape(counts.ndim - 1, here.size)
            others = [d for k, d in enumerate(self.table.dimensions) if k != axis]
            for position, other in zip(grid, others, strict=True):
                columns[other.name] = np.array(other.leaves, object)[position]
            columns |= {"n": n, "r1": here}
            if self.shown is not None:
                columns["r2"] = np.asarray(_line_r2(counts, self.shown, axis, self.before.weights)).ravel()
            bearing = np.nan_to_num(here) * n
            columns["share"] = bearing / (bearing.sum() or 1)
            frames.append(pd.DataFrame(columns))
        frame = pd.concat(frames, ignore_index=True)[_columns(self)]
        order = np.lexsort((-frame["n"].to_numpy(), -frame["r1"].fillna(-1).to_numpy()))
        return frame.iloc[order].reset_index(drop=True)

    @cached_property
    def margins(self) -> pd.DataFrame:
        """Every margin, one row a set of dimensions: its cells, R1 and (after protection) R2."""
        import pandas as pd

        names = [d.name for d in self.table.dimensions]
        rows = []
        for size in range(len(names), 0, -1):
            for kept in itertools.combinations(range(len(names)), size):
                out = tuple(k for k in range(len(names)) if k not in kept)
                counts = self.counts.sum(axis=out)
                row = {"margin": " x ".join(names[k] for k in kept), "cells": counts.size}
                row |= {"zeros": int((counts == 0).sum()), "r1": r1(counts, self.before.weights).value}
                if self.shown is not None:
                    row["r2"] = r2(counts, self.shown.sum(axis=out), self.before.weights).value
                rows.append(row)
        return pd.DataFrame(rows)

    @property
    def cells(self) -> pd.DataFrame:
        """Every published cell with its count, what is shown of it, and which rules it breaks."""
        statistics = {name: s for name, s in self.table.statistics.items() if name not in INTERNAL}
        return beside(replace(self.table, statistics=statistics).cells, self.rules)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, ready for JSON (confidential).

        >>> assess([[3, 0], [1, 20]]).to_dict()["dimensions"]
        ['row', 'column']
        """
        entries: dict[str, Any] = {
            "confidential": True,
            "dimensions": [d.name for d in self.table.dimensions],
            "cells": int(self.counts.size),
            "n": int(self.counts.sum()),
            "before": self.before.to_dict(),
            "after": None if self.after is None else self.after.to_dict(),
            "measures": {name: float(value) for name, value in self.numbers.items()},
            "utility": None if self.utility is None else self.utility.to_dict(),
            "rules": {name: int(broken.sum()) for name, broken in self.rules.items()},
            "margins": self.margins.to_dict(orient="records"),
            "lines": self.lines.head(20).to_dict(orient="records"),
            "notes": list(self.notes),
        }
        return entries | {name: result.to_dict() for name, result in self.extra.items()}

    def plot(self, ax: Axes | None = None) -> Axes:
        """A two-way table as a heat map with the risk of its rows and columns; otherwise the riskiest lines.

        >>> assess([[3, 0], [1, 20]]).plot().get_title()
        'R1 = 0.564'
        """
        dims = self.table.dimensions
        if len(dims) == 2:
            columns, rows = line_risks(self.counts, self.before.weights)
            named = (dims[0].name, dims[1].name)
            title = f"R1 = {self.before.value:.3f}"
            return plot.heat_map(
                self.counts, dims[0].leaves, dims[1].leaves, rows, columns, names=named, title=title, ax=ax
            )
        top = self.lines.head(15)
        after = top["r2"].to_numpy() if self.shown is not None else None
        return plot.line_bars(self.line_labels(15), top["r1"].to_numpy(), after=after, ax=ax)

    def plot_terms(self, ax: Axes | None = None) -> Axes:
        """What R1 (and R2) are made of.

        >>> assess([[3, 0], [1, 20]]).plot_terms().get_xlabel()
        'weighted terms (0 to 1 in all)'
        """
        risks = [self.before] if self.after is None else [self.before, self.after]
        weighted = {
            r.name: {t: w * float(v) for (t, v), w in zip(r.terms.items(), r.weights, strict=True)} for r in risks
        }
        return plot.term_bars(weighted, ax=ax)

    def line_labels(self, most: int) -> list[str]:
        """The riskiest lines in words: 'area=3, sex=f over age'.

        >>> assess([[3, 0], [1, 20]]).line_labels(2)
        ['row=1 over column', 'column=2 over row']
        """
        names = [d.name for d in self.table.dimensions]
        said = []
        for row in self.lines.head(most).to_dict(orient="records"):
            where = ", ".join(f"{n}={row[n]}" for n in names if n != row["along"])
            said.append(f"{where} over {row['along']}" if where else str(row["along"]))
        return said

    def to_html(self, path: str | Path | None = None) -> str:
        """One self-contained page with tables and pictures, no network needed (confidential).

        >>> assess([[3, 0], [1, 20]]).to_html()[:15]
        '<!doctype html>'
        """
        from discreet.risk.page import page

        text = page(self)
        if path is not None:
            check_suffix(path, HTML, "a report")
            write_whole(path, text.encode(), private=True)
        return text

    def __repr__(self) -> str:
        after = "" if self.after is None else f", R2 {self.after.value:.4f}"
        return f"<RiskReport {' x '.join(d.name for d in self.table.dimensions)}: R1 {self.before.value:.4f}{after}>"

    def _repr_html_(self) -> str:
        return f"{self.summary().to_html()}<p>Confidential: functions of the true counts.</p>"


@checked
def assess(
    table: Any,
    after: Any = None,
    *,
    rules: Sequence[Rule] = (),
    weights: Sequence[float] = WEIGHTS,
    measures: Sequence[str] | None = None,
    population: Population | SampleRisk | None = None,
    strata: int | str | None = None,
) -> RiskReport:
    """The risk of a frequency table, and what remains of it after protection.

    ``table`` is a Table or an array of counts. ``after`` is the Protected, or a Table or array of the perturbed inner
    counts. ``rules`` mark sensitive cells. ``measures`` chooses among the keys of ``MEASURES`` (default: all of them).
    ``population`` says that the table was made from a sample: it is N, one N per category of ``strata``, "weights" for
    the sum of the weights, or what :func:`assess_sample` gave for models of your own; the report then has ``sample``.

    >>> assess([[17, 0], [12, 1]]).before
    <R1 0.4116: zeros 0.2500 x 0.1, entropy 0.4217 x 0.8, size 0.4931 x 0.1>
    """
    table = table if isinstance(table, Table) else Table.of(table)
    wanted = list(MEASURES) if measures is None else list(measures)
    for name in wanted:
        if name not in MEASURES:
            raise InputError(f"no measure {name!r}; {nearest(name, MEASURES)}")
    w = read_weights(weights)
    counts = table.array()
    shown, notes = (None, []) if after is None else _shown(table, after)
    if table.layout.possible is not None:
        notes = [*notes, f"{int((~table.layout.possible).sum()):,} structural zeros are counted as zero cells"]
    numbers = _numbers(counts, shown, w, wanted, [d.name for d in table.dimensions])
    marks = {_name(rule): np.asarray(rule(table), bool) for rule in rules}
    for name, mark in marks.items():
        if mark.shape != (len(table),):
            raise InputError(f"rule {name} must give one truth value for each of the {len(table):,} cells")
    sample = _sample(table, population, strata, w)
    notes = [*notes, *(sample.notes if sample else _unsaid(table))]
    return RiskReport(
        table,
        r1(counts, w),
        None if shown is None else r2(counts, shown, w),
        numbers,
        None if shown is None else compare(counts, shown),
        shown,
        marks,
        tuple(notes),
        {} if sample is None else {"sample": sample},
    )


def _sample(
    table: Table, population: Population | SampleRisk | None, strata: int | str | None, w: tuple[float, ...]
) -> SampleRisk | None:
    if population is None or isinstance(population, SampleRisk):
        if strata is not None:
            raise InputError("strata= goes with population= as one N per category; leave it out")
        return population
    return assess_sample(table, population, weights=w, strata=strata)


def _unsaid(table: Table) -> list[str]:
    if "weighted count" not in table.statistics:
        return []
    return ["the records carry weights: if they are a sample, give population='weights' for the risk of the population"]


def _numbers(
    counts: Array, shown: Array | None, w: tuple[float, ...], wanted: Sequence[str], names: Sequence[str]
) -> dict[str, float]:
    """The chosen measures of the whole table, by name; those of lines once for the lines along each dimension."""
    numbers: dict[str, float] = {}
    single: dict[str, Callable[[], Any]] = {
        "r1": lambda: r1(counts, w).value,
        "r1_star": lambda: r1_star(counts).value,
        "jos15": lambda: jos15_risk(counts).value,
        "zeros": lambda: (counts == 0).mean(),
        "small": lambda: small_cell_share(counts),
        "mean": lambda: mean_cell_size(counts),
    }
    if counts.size <= MOST_SUBTRACTED and counts.sum() > 1:  # somebody must be left when one is known
        single["subtraction"] = lambda: subtraction_attribution(counts, 1)
    if shown is not None:
        single |= {
            "r2": lambda: r2(counts, shown, w).value,
            "r2_star": lambda: r2_star(counts, shown).value,
            "dr": lambda: dr(counts, shown).value,
        }
    for name in wanted:
        if name in single:
            numbers[name] = float(single[name]())
        elif name == "frank":
            for axis, along in enumerate(names):
                patterns = frank_patterns(counts, axis=axis)
                numbers[f"frank along {along}"] = float((patterns.alone | patterns.singleton).sum())
        elif name in ("gad_star", "wgad_star") and shown is not None:
            measure = gad_star if name == "gad_star" else wgad_star
            for axis, along in enumerate(names):
                numbers[f"{name} along {along}"] = float(measure(counts, shown, axis=axis).value)
    return numbers


def _line_r2(counts: Array, shown: Array, axis: int, weights: Sequence[float]) -> Floats:
    return np.asarray(r2(counts, shown, weights, axis=axis, empty="nan").value)


def _shown(table: Table, after: Any) -> tuple[Array | None, list[str]]:
    """The perturbed inner counts, or None with a note when some are hidden."""
    if isinstance(after, Protected):
        if after.table.layout.shape != table.layout.shape:
            raise InputError("the protected table has other dimensions than the one assessed")
        if "count" not in after.published:
            raise InputError("risk is a function of counts, and the protected table publishes none")
        inner = after.shown_inner()
        if missing := int(np.isnan(inner).sum()):
            return None, [
                f"{missing:,} inner cells are not shown, so R2 does not apply; the audit says what can be known"
            ]
        return after.table.layout.dense(np.rint(inner).astype(np.int64)), []
    shown = after.array() if isinstance(after, Table) else np.asarray(after)
    if shown.shape != table.layout.shape:
        raise InputError(f"the protected table has shape {shown.shape}, the true one {table.layout.shape}")
    return shown, []


def _name(rule: Any) -> str:
    return getattr(rule, "__name__", None) or repr(rule)


_OWN_COLUMNS = ("along", "n", "r1", "r2", "share")


def _columns(report: RiskReport) -> list[str]:
    names = [d.name for d in report.table.dimensions]
    return [
        "along",
        *(names if len(names) > 1 else []),
        "n",
        "r1",
        *(["r2"] if report.shown is not None else []),
        "share",
    ]
