"""A certificate as one page to print and file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from discreet.audits.verify import FINDINGS
from discreet.base.style import style

RULES = (
    "th,td{padding:.2rem .7rem;text-align:left;border-bottom:1px solid #8884;vertical-align:top}"
    "code{word-break:break-all}.confidential{border-left:.4rem solid #d7191c;padding:.4rem 1rem;background:#d7191c18}"
    "@media print{body{margin:0;font-size:.8rem}}"
)
MOST = 12  # cells of each finding that the page names; the file has all
MEANING = {
    "exact": "one value fits what is published; the combination of cells that gives it away is in the file",
    "stated": "one value fits, as the audit found; no proof of it is in the file",
    "narrow": "less room than its protection level",
    "open": "tables in the file fit what is published and differ at the cell",
    "unknown": "not shown to be open",
}


def page_of(content: Mapping[str, Any]) -> str:
    """The whole page; cells are named where they are not open."""
    warning = (
        '<p class="confidential" role="note"><strong>Confidential.</strong> Protection levels are measured from true '
        "values; this copy is not for publication.</p>"
        if content["confidential"]
        else "<p>Open copy: everything in it follows from what is published.</p>"
    )
    parts = [
        "<h1>Certificate of disclosure control</h1>",
        f"<p><strong>Verdict: {escape(content['verdict'])}</strong></p>",
        warning,
        _facts(content),
        *(_measure(measure, content["files"]) for measure in content["measures"]),
        _intruders(content["intruders"]),
        "<h2>How to check it</h2><p><code>discreet verify certificate.json table.csv</code>, or the "
        "folder <code>verify</code> by itself with any Python: it adds up every witness table, compares it with the "
        "published one and works out every combination of cells.</p>",
    ]
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Certificate</title>{style(RULES)}</head>'
    return f"{head}<body>{''.join(parts)}</body></html>"


def _facts(content: Mapping[str, Any]) -> str:
    rows = {
        "Date": content["date"] or "not stated",
        "Made by": content["program"],
        "Method": "; ".join(content["method"]) or "not stated",
        "Rule": content["rule"],
        "Protection levels": content["levels"],
        "Verdict of the whole audit": content["audit"],
        "Seal of this certificate": content["seal"],
    }
    return _table("", ["", ""], [(name, str(value)) for name, value in rows.items()])


def _measure(measure: Mapping[str, Any], files: Sequence[Mapping[str, Any]]) -> str:
    held = [files[k] for k in measure["tables"]]
    tables = [(str(n), " x ".join(t["dimensions"]), f"{t['cells']:,}", t["sha256"]) for n, t in enumerate(held, 1)]
    counts = [(name, f"{measure['summary'][name]:,}", MEANING[name]) for name in FINDINGS if measure["summary"][name]]
    named = []
    for finding in FINDINGS:
        cells = [c for c in measure["cells"] if c["finding"] == finding] if finding != "open" else []
        for cell in cells[:MOST]:
            named.append(
                (finding, str(cell["table"] + 1), ", ".join(cell["cell"]), argument(cell, measure["decimals"]))
            )
        if len(cells) > MOST:
            named.append((finding, "", f"{len(cells) - MOST:,} more", "in the file"))
    unjudged = "".join(f"<p>Not judged: {escape(text)}</p>" for text in measure["unjudged"])
    return (
        f"<h2>{escape(measure['measure'])}</h2>"
        + _table("What was published", ["table", "dimensions", "cells", "SHA-256 of its cells"], tables)
        + _table("What an outsider can work out of the hidden cells", ["finding", "cells", "meaning"], counts)
        + (_table("Cells that are not open", ["finding", "table", "cell", "why"], named) if named else "")
        + unjudged
        + _assumptions(measure)
    )


def argument(cell: Mapping[str, Any], decimals: int) -> str:
    """The combination that gives a cell away, as a sum of published cells; nothing where there is none."""
    if cell["finding"] != "exact":
        return ""
    value, divisor, terms = cell["proof"][0]
    words = []
    for amount, _, codes in terms:
        times = "" if abs(amount) == 1 else f"{abs(amount)} x "
        words.append(f"{'-' if amount < 0 else '+'} {times}({', '.join(codes)})")
    text = " ".join(words).removeprefix("+ ")
    over = "" if divisor == 1 else f", divided by {divisor}"
    unit = "" if decimals == 0 else f" in units of 1e-{decimals}"
    return f"{text}{over} = {value}{unit}"


def _intruders(rows: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return _table("Intruders", names, [tuple(str(row.get(name, "")) for name in names) for row in rows])


def _assumptions(measure: Mapping[str, Any]) -> str:
    sums = []
    for d in measure["dimensions"]:
        codes = list(d["sums"])
        more = " ..." if len(codes) > MOST else ""
        sums.append((d["name"], f"{len(d['leaves']):,}", ", ".join(codes[:MOST]) + more))
    least = "no finest cell is negative" if measure["least"] == 0 else "cells may be negative"
    whole = ", and all are whole numbers" if measure["whole"] else ""
    return _table("What everybody is taken to know", ["dimension", "finest codes", "codes that are sums"], sums) + (
        f"<p>Besides: {least}{whole}.</p>"
    )


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    head = "<thead><tr>" + "".join(f'<th scope="col">{escape(h)}</th>' for h in heads) + "</tr></thead>"
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table>{caption}{head if any(heads) else ""}<tbody>{body}</tbody></table></div>'
