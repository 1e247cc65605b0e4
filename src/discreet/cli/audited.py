"""What an audit differences, on the terminal, as JSON, as a page; and whether a pipeline should stop on it."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from discreet.base.naming import unused
from discreet.base.style import style
from discreet.base.verdicts import Verdict
from discreet.cli.console import say
from discreet.cli.drawing import TextColumn, more, text_table
from discreet.cli.output import emit, emit_json, plain_json
from discreet.errors import InputError, many

if TYPE_CHECKING:
    import pandas as pd

    from discreet.audits import Audit, Differences

_PLACES = {"lower": 12, "upper": 12, "width": 12, "values": 12, "bits": 3, "DR": 3}  # significant ones
_SPARE = ("status", "reason", "bits", "values", "width")  # the last goes first
_RULES = "th,td{border:1px solid #8888;padding:.2rem .5rem;text-align:left}"


@dataclass(frozen=True)
class FailOn:
    """When an audit is a reason to stop: ``narrow`` cells too, and cells with fewer than so many bits left."""

    narrow: bool = True
    bits: float = 0.0

    @classmethod
    def of(cls, text: str) -> FailOn:
        """From ``exact``, ``narrow`` (exact or narrow) or ``risk=BITS`` (these, or fewer than so many bits).

        >>> FailOn.of("risk=2.5")
        FailOn(narrow=True, bits=2.5)
        """
        word, equals, number = text.partition("=")
        if text in ("exact", "narrow"):
            return cls(narrow=text == "narrow")
        try:
            bits = float(number) if word == "risk" and equals else -1.0
        except ValueError:
            bits = -1.0
        if not 0 < bits < float("inf"):
            raise InputError(f"--fail-on is exact, narrow or risk=BITS with a number above 0, not {text!r}")
        return cls(bits=bits)

    def code(self, report: Audit) -> int:
        """The exit code: 1 if a cell is a reason to stop, or if something could not be judged."""
        for one in (report, *report.others):
            stops = one.finding == "exact"
            stops |= self.narrow & (one.finding == "narrow")
            stops |= one.bits < self.bits
            sums = one.sums is not None and (one.sums.exposed.any() or one.sums.unknown.any())
            doubt = (one.finding == "unknown").any() or one.unjudged
            if stops.any() or sums or doubt or one.follows:
                return 1
        return 0 if report.ok or report.verdict is Verdict.FAIL else 1

    def because(self, report: Audit) -> list[str]:
        """Why cells are a reason to stop that the verdict does not count as one, a sentence for each measure."""
        reasons = []
        for one in (report, *report.others):
            low = (one.bits < self.bits) & ~np.isin(one.finding, ("exact", "narrow"))
            if low.any():
                name = f"{one.view.measure}: " if report.others else ""
                least = float(one.bits[low].min())
                cells = many(int(low.sum()), "cell has", "cells have")
                reasons.append(f"{name}{cells} fewer than {self.bits:g} bits left, the least {least:.3g}")
        return reasons


def audited_cells(report: Audit) -> pd.DataFrame:
    """All audited cells without the truth; of several measures, which one each is of."""
    import pandas as pd

    frames = [one.cells.drop(columns="true", errors="ignore") for one in (report, *report.others)]
    if not report.others:
        return frames[0]
    for one, frame in zip((report, *report.others), frames, strict=True):
        frame.insert(0, unused("measure", frame.columns), one.view.measure)
    return pd.concat(frames, ignore_index=True)


def unjudged_words(report: Audit) -> list[str]:
    """What could not be judged, and what follows beside cells, of all measures."""
    return list(dict.fromkeys(text for one in (report, *report.others) for text in (*one.follows, *one.unjudged)))


def audit_content(report: Audit, arguments: int, files: Sequence[str] = ()) -> dict[str, Any]:
    """What an intruder could know and why, and what could not be judged; never the truth beside it.

    ``files``: what was read, where the audit is of one table and knows it by no name.
    """
    from discreet.audits.intruders import all_intruders
    from discreet.audits.report import FINDINGS

    cells = audited_cells(report)
    return {
        "verdict": report.verdict.value,
        "files": list(report.view.names or files),
        "summary": cells["finding"].value_counts().reindex(FINDINGS, fill_value=0).to_dict(),
        "intruders": all_intruders(report.intruders),
        "unjudged": unjudged_words(report),
        "arguments": [row for one in (report, *report.others) for row in because_rows(one, arguments)],
        "cells": cells.astype(object).to_dict("records"),
    }


def because_rows(report: Audit, most: int) -> list[dict[str, Any]]:
    """Why cells are known exactly: codes, value, files and argument of each."""
    if not most or not (report.m == 1).any():
        return []
    return [{str(k): v for k, v in row.items()} for row in report.because(most=most).to_dict("records")]


def say_because(report: Audit, most: int) -> None:
    """The same in words, a line for each cell."""
    for row in because_rows(report, most):
        if row["argument"]:
            cell = " ".join(str(v) for k, v in row.items() if k not in ("value", "files", "argument") and v != "")
            say(f"{cell}: {row['argument']}")


def audit_page(report: Audit, arguments: int, files: Sequence[str] = ()) -> str:
    """A page of its own: the verdict, what could not be judged, why cells are known, all audited cells."""
    content = audit_content(report, arguments, files)
    words = "".join(f"<li>{html.escape(text)}</li>" for text in content["unjudged"])
    names = ", ".join(html.escape(name) for name in content["files"])
    parts = [f"<p>Verdict: <strong>{content['verdict']}</strong></p>", f"<p>{names}</p>" if names else ""]
    parts.append(f"<h2>Not judged</h2><ul>{words}</ul>" if words else "")
    if content["arguments"]:
        parts.append("<h2>Cells that are known, and why</h2>" + _html_rows(content["arguments"]))
    parts.append("<h2>Cells that are not shown</h2>" + _html_rows(content["cells"]))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Audit</title>'
        f"{style(_RULES)}</head>\n<body><main><h1>Audit</h1>{''.join(parts)}</main></body></html>\n"
    )


def _html_rows(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "<p>None.</p>"
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names)
    lines = [
        "<tr>" + "".join(f"<td>{html.escape(_text(row.get(name, '')))}</td>" for name in names) + "</tr>"
        for row in rows
    ]
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def _text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:,.6g}"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def tell_differences(
    differences: Differences, rows: int, output: Path | None, page: Path | None, *, as_json: bool
) -> int:
    """Small populations on the terminal and in files; 1 if there are any, or if something could not be judged."""
    listed_ones = differences.populations[:rows]
    if as_json:
        emit_json(differences.to_dict())
    else:
        for one in listed_ones:
            probably = "" if one.probability == 1 else f", probability {one.probability:.3g}"
            click.echo(f"{one.cell}: {one.argument} ({one.kind}{probably})")
        rest = len(differences.populations) - len(listed_ones)
        if rest:
            click.echo(f"({rest:,} more: --rows shows more, -o found.csv writes all)")
    for path in (output, page):
        if path is not None:
            emit(_differences_bytes(differences, path.suffix.lower()), path, private=True)
    say(f"{many(len(differences.populations), 'population')} smaller than {differences.under:g}")
    for text in differences.unjudged:
        say(text)
    say(f"verdict: {differences.verdict.value}")
    return 0 if differences.ok else 1


def _differences_bytes(differences: Differences, suffix: str) -> bytes:
    if suffix == ".json":
        return (
            json.dumps(plain_json(differences.to_dict()), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        ).encode()
    if suffix == ".csv":
        frame = differences.frame.assign(files=[" and ".join(one.files) for one in differences.populations])
        return str(frame.to_csv(index=False)).encode()
    verdict = f"<p>Verdict: <strong>{differences.verdict.value}</strong></p>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Differences</title>'
        f"{style(_RULES)}</head>\n<body><main><h1>Differences</h1>{verdict}{differences.to_html()}</main></body></html>\n"
    ).encode()


def audit_json(report: Audit, arguments: int, files: Sequence[str] = ()) -> bytes:
    """``audit_content`` as a JSON file."""
    text = json.dumps(
        plain_json(audit_content(report, arguments, files)), indent=2, ensure_ascii=False, allow_nan=False
    )
    return (text + "\n").encode()


def show_audit(report: Audit, rows: int) -> None:
    """The riskiest cells; what follows from the interval goes first when there is no room."""
    frame = report.cells.drop(columns="true", errors="ignore").head(rows)
    if frame.empty:
        hidden = "no count is hidden" if report.view.means else "nothing is hidden"
        say("nothing to show" if len(report.cells) else hidden)
        return
    if not frame["reason"].any():
        frame = frame.drop(columns="reason")
    measured = list(frame.columns[list(frame.columns).index("lower") :])
    columns = []
    for name, cells in frame.items():
        number = name in measured and name in _PLACES
        texts = [f"{v:,.{_PLACES[str(name)]}g}" for v in cells.astype(float)] if number else cells.tolist()
        spare = _SPARE.index(name) + 1 if name in measured and name in _SPARE else 0
        columns.append(TextColumn(str(name), texts, number, spare))
    gone = text_table(columns, f"Cells that are not shown: {report.view.measure}")
    more(len(report.cells) - len(frame), gone, "--rows shows more rows, COLUMNS=160 columns, -o audit.csv writes all")
