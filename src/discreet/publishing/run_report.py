"""One report of a run, for machines (JSON) and for people (one HTML file that needs no network).

It tells what the releases themselves tell, and no more: no true value, no risk figure, no name of a sensitive cell.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any
from urllib.parse import quote

from discreet.base.style import style
from discreet.base.verdicts import Verdict
from discreet.publishing.compare.consistency import ERROR, UNCHECKED, WARNING, Finding
from discreet.release import AS_IT_IS

OF_THE_RUN = ("when", "seconds", "jobs", "python", "kept")
PUBLISHED, WITHHELD, REFUSED, FAILED = "published", "withheld", "refused", "failed"


@dataclass(frozen=True, kw_only=True)
class TableLine:
    """What became of one table."""

    name: str
    outcome: str
    table: str
    source: str
    measure: str
    how: str
    unit: str = ""
    method: str = ""
    cells: int = 0
    hidden: int = 0
    share: float = 0.0
    seconds: float = 0.0
    kept: bool = False
    files: tuple[str, ...] = ()
    rule: str = ""
    reason: str = ""
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class Report:
    """All tables, all findings, and what the run was made with.

    >>> line = TableLine(name="sexes", outcome="published", table="sex", source="", measure="count", how="round")
    >>> report = Report(programme="Demo", version="1", python="3", when="", seconds=2.0, jobs=1,
    ...                 lines=(line,), findings=())
    >>> report.verdict, report.exit_code
    (<Verdict.PASS: 'pass'>, 0)
    """

    programme: str
    version: str
    python: str
    when: str
    seconds: float
    jobs: int
    lines: tuple[TableLine, ...]
    findings: tuple[Finding, ...]
    messages: tuple[str, ...] = ()
    """For whoever runs the programme; not part of what is written."""

    def count(self, outcome: str) -> int:
        """How many tables have an outcome.

        >>> line = TableLine(name="sexes", outcome="published", table="sex", source="", measure="count", how="round")
        >>> report = Report(programme="Demo", version="1", python="3", when="", seconds=2.0, jobs=1,
        ...                 lines=(line,), findings=())
        >>> report.count("published"), report.count("refused")
        (1, 0)
        """
        return sum(line.outcome == outcome for line in self.lines)

    @property
    def verdict(self) -> Verdict:
        """On the tables together: fail if some contradict or give each other away, unknown if not all was checked."""
        return Verdict.of(
            fails=any(f.level == ERROR for f in self.findings),
            unknown=any(f.level == WARNING and f.kind in UNCHECKED for f in self.findings),
        )

    @property
    def unprotected(self) -> tuple[str, ...]:
        """The tables that are published as they are."""
        return tuple(line.name for line in self.lines if line.outcome == PUBLISHED and line.method == AS_IT_IS)

    @property
    def consistent(self) -> bool:
        """Whether the verdict is a pass."""
        return self.verdict.ok

    @property
    def exit_code(self) -> int:
        """0 all published, 1 a table failed, tables are inconsistent or not all was checked, 3 some were refused."""
        if self.count(FAILED) or not self.consistent:
            return 1
        return 3 if self.count(REFUSED) else 0

    def summary(self) -> str:
        """One line.

        >>> made = Report(programme="p", version="1", python="3", when="", seconds=2.0, jobs=1, lines=(), findings=())
        >>> made.summary()
        'p: no tables, consistent, 2.0 s'
        """
        words = [f"{n:,} {o}" for o in (PUBLISHED, WITHHELD, REFUSED, FAILED) if (n := self.count(o))]
        together = {Verdict.PASS: "consistent", Verdict.FAIL: "INCONSISTENT"}.get(self.verdict, "consistency UNKNOWN")
        return f"{self.programme}: {', '.join(words) or 'no tables'}, {together}, {self.seconds:.1f} s"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, ready for JSON.

        >>> line = TableLine(name="sexes", outcome="published", table="sex", source="", measure="count", how="round")
        >>> report = Report(programme="Demo", version="1", python="3", when="", seconds=2.0, jobs=1,
        ...                 lines=(line,), findings=())
        >>> report.to_dict()["counts"]
        {'published': 1, 'withheld': 0, 'refused': 0, 'failed': 0}
        """
        content = asdict(self)
        del content["messages"]
        content["tables"] = content.pop("lines")
        content["consistent"] = self.consistent
        content["verdict"] = self.verdict.value
        content["unprotected"] = list(self.unprotected)
        content["counts"] = {o: self.count(o) for o in (PUBLISHED, WITHHELD, REFUSED, FAILED)}
        return content

    def to_json(self) -> bytes:
        """What depends on the programme, its data and this package alone: the same input gives the same bytes.

        When it ran, how long, on how many processes and what was kept from an earlier run stand in the page.

        >>> line = TableLine(name="sexes", outcome="published", table="sex", source="", measure="count", how="round")
        >>> report = Report(programme="Demo", version="1", python="3", when="", seconds=2.0, jobs=1,
        ...                 lines=(line,), findings=())
        >>> json.loads(report.to_json())["consistent"]
        True
        """
        content = {name: value for name, value in self.to_dict().items() if name not in OF_THE_RUN}
        content["tables"] = [{k: v for k, v in line.items() if k not in OF_THE_RUN} for line in content["tables"]]
        return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()

    def to_html(self) -> bytes:
        """The page.

        >>> line = TableLine(name="sexes", outcome="published", table="sex", source="", measure="count", how="round")
        >>> report = Report(programme="Demo", version="1", python="3", when="", seconds=2.0, jobs=1,
        ...                 lines=(line,), findings=())
        >>> report.to_html()[:15]
        b'<!doctype html>'
        """
        return report_page(self).encode()


# -- the page ---------------------------------------------------------------------------------------------------

_RULES = (
    "th,td{border-bottom:1px solid #8884;padding:.2rem .6rem;text-align:left;vertical-align:top}"
    "td.n,th.n{text-align:right}.verdict,li.error,li.warning{border-left:.4rem solid #2c7bb6;padding:.3rem 1rem}"
    ".verdict.bad,li.error{border-color:#d7191c}li.warning{border-color:#fdae61}li.note{padding:.3rem 1.4rem}"
    "ul{list-style:none;padding:0}li{margin:.5rem 0}tr.refused td,tr.failed td,tr.withheld td{font-style:italic}"
)
_COLUMNS = ("table", "dimensions", "measure", "protected by", "cells", "hidden", "seconds", "outcome")
_RIGHT = ("cells", "hidden", "seconds")


def report_page(report: Report) -> str:
    """The report as one HTML file without a script."""
    title = escape(f"{report.programme}: report")
    bad = report.exit_code == 1
    parts = [
        f"<h1>{title}</h1>",
        f'<p class="verdict{" bad" if bad else ""}"><strong>{escape(report.summary())}</strong></p>',
        _unprotected(report.unprotected),
        "<h2>Consistency across tables</h2>",
        _findings(report.findings),
        "<h2>Tables</h2>",
        _lines(report.lines),
        f"<h2>About</h2><p>discreet {escape(report.version)}, Python {escape(report.python)}, {report.jobs} jobs, "
        f"{escape(report.when)}. A share is that of the cells which are not shown. Only what the releases themselves "
        "tell is on this page.</p>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title>{style(_RULES)}</head>\n<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _unprotected(names: Sequence[str]) -> str:
    if not names:
        return ""
    return (
        f'<p class="verdict bad"><strong>Not protected:</strong> published as they are, with no number changed or '
        f"hidden: {escape(', '.join(names))}</p>"
    )


def _findings(findings: Sequence[Finding]) -> str:
    if not findings:
        return "<p>Nothing was found: cells of several tables agree, and no hidden cell follows from them.</p>"
    items = []
    for f in findings:
        about = ", ".join(filter(None, (f.measure, f.source and f"source {f.source}")))
        names = ", ".join(f.tables[:12]) + (f" and {len(f.tables) - 12} more" if len(f.tables) > 12 else "")
        examples = "".join(f"<br>{escape(e)}" for e in f.examples)
        items.append(
            f'<li class="{f.level}"><strong>{f.level}: {escape(f.kind)}</strong> ({escape(about)})<br>'
            f"{escape(f.text)}.<br>Tables: {escape(names)}{examples}</li>"
        )
    return f"<ul>{''.join(items)}</ul>"


def _lines(lines: Sequence[TableLine]) -> str:
    head = "".join(f'<th scope="col"{_class(c)}>{c}</th>' for c in _COLUMNS)
    return (
        '<div class="scroll"><table><caption>Every table of the programme</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, lines))}</tbody></table></div>"
    )


def _row(line: TableLine) -> str:
    there = line.outcome in (PUBLISHED, WITHHELD)
    links = " ".join(f'<a href="{quote(f)}">{escape(f)}</a>' for f in line.files) if line.outcome == PUBLISHED else ""
    why = ": ".join(filter(None, (line.rule, line.reason))) + (f" ({line.hint})" if line.hint else "")
    texts = {
        "table": escape(line.name),
        "dimensions": escape(line.table),
        "measure": escape(line.measure),
        "protected by": escape(line.how),
        "cells": f"{line.cells:,}" if there else "–",
        "hidden": f"{line.hidden:,} ({line.share:.1%})" if there else "–",
        "seconds": "kept" if line.kept else f"{line.seconds:.1f}" if there else "–",
        "outcome": f"{line.outcome} {links}{escape(why)}",
    }
    cells = "".join(f"<td{_class(c)}>{texts[c]}</td>" for c in _COLUMNS)
    return f'<tr class="{line.outcome}">{cells}</tr>'


def _class(column: str) -> str:
    return ' class="n"' if column in _RIGHT else ""
