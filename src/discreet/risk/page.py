"""A risk report as one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from discreet import plot
from discreet.base.style import style
from discreet.information import Array
from discreet.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd

RULES = (
    ".warning{border-left:.4rem solid #d7191c;padding:.4rem 1rem;background:#d7191c18}"
    "table{margin:1rem 0}th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #8884}"
    "th:first-child,td:last-child{text-align:left}"
    "figure{margin:1rem 0}figure svg{max-width:100%;height:auto;background:#fff}"
)
WARNING = (
    "Confidential. This page holds functions of the true counts: with enough decimals some of them can be turned back "
    "into counts. It is not a release and must not be published."
)


class Reported(Protocol):
    """What the page shows: the faces of a :class:`RiskReport`."""

    @property
    def table(self) -> Table: ...
    @property
    def counts(self) -> Array: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def lines(self) -> pd.DataFrame: ...
    @property
    def margins(self) -> pd.DataFrame: ...
    @property
    def rules(self) -> Mapping[str, Array]: ...
    @property
    def extra(self) -> Mapping[str, Any]: ...
    def summary(self) -> pd.DataFrame: ...
    def plot(self) -> Any: ...
    def plot_terms(self) -> Any: ...


def page(report: Reported) -> str:
    """The whole page."""
    names = " x ".join(d.name for d in report.table.dimensions)
    title = report.table.title or f"Risk of {names}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="warning" role="note">{escape(WARNING)}</p>',
        f"<p>{escape(names)}: {report.counts.size:,} inner cells, {len(report.table):,} published cells, "
        f"{int(report.counts.sum()):,} people.</p>",
        *(f"<p>{escape(note)}</p>" for note in report.notes),
        "<h2>The table</h2>",
        _table(report.summary().reset_index(), "Measures of the whole table"),
        _figure(plot.svg(report.plot_terms()), "The terms of the risk"),
        _figure(plot.svg(report.plot()), "Risk of the lines"),
        "<h2>Lines, the riskiest first</h2>",
        _table(report.lines.head(20), "Risk of single rows and columns"),
        "<h2>Margins</h2>",
        _table(report.margins, "Risk of every margin"),
    ]
    if report.rules:
        parts += ["<h2>Rules</h2>", "<ul>"]
        parts += [f"<li>{escape(name)}: {int(broken.sum()):,} cells</li>" for name, broken in report.rules.items()]
        parts.append("</ul>")
    for name, result in report.extra.items():
        parts += [f"<h2>{escape(name.capitalize())}</h2>", f"<p>{escape(result.statement)}</p>"]
        parts.append(_table(result.summary().reset_index(), f"{name.capitalize()}: the models side by side"))
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><meta name="viewport" content="width=device-width">'
    return f'<!doctype html><html lang="en"><head>{head}{style(RULES)}</head><body>{"".join(parts)}</body></html>'


def _table(frame: pd.DataFrame, caption: str) -> str:
    body = frame.to_html(index=False, border=0, float_format="{:.4f}".format, na_rep="–")
    return (
        '<div class="scroll">' + body.replace("<thead>", f"<caption>{escape(caption)}</caption><thead>", 1) + "</div>"
    )


def _figure(svg: str, caption: str) -> str:
    return f'<figure role="img" aria-label="{escape(caption)}">{svg}<figcaption>{escape(caption)}</figcaption></figure>'
