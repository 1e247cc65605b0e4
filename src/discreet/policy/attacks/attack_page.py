"""The report of an attack as one HTML file that needs no network."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from discreet import plot
from discreet.base.style import style
from discreet.base.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes

    from discreet.policy.attacks.finding import AttackFinding
    from discreet.policy.attacks.least_squares import Recovered

RULES = (
    ".warning{border-left:.4rem solid #d7191c;padding:.4rem 1rem;background:#d7191c18}"
    "table{margin:1rem 0}th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #8884}"
    "th:first-child,td:first-child{text-align:left}"
    "figure{margin:1rem 0}figure svg{max-width:100%;height:auto;background:#fff}"
)
WARNING = (
    "Confidential. These are rates of success against the true data. They hold no record, but they are not a release "
    "and must not be published without a look."
)
WORDS = {
    Verdict.PASS: "The policy holds: no attack that was tried is better than it may be.",
    Verdict.FAIL: "The policy does not hold: an attack is better than it may be.",
    Verdict.UNKNOWN: "Unknown: something could not be attacked, or the cases are too few.",
}


class AttackFaces(Protocol):
    """What the page shows."""

    @property
    def requests(self) -> int: ...
    @property
    def cells(self) -> int: ...
    @property
    def mechanism(self) -> str: ...
    @property
    def counts(self) -> Sequence[tuple[int, Recovered]]: ...
    @property
    def findings(self) -> Sequence[AttackFinding]: ...
    @property
    def unjudged(self) -> Sequence[str]: ...
    @property
    def omitted(self) -> Sequence[str]: ...
    @property
    def verdict(self) -> Verdict: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_frame(self) -> pd.DataFrame: ...
    def plot(self) -> Axes: ...


def attack_page(report: AttackFaces) -> str:
    """The whole page."""
    import pandas as pd

    title = "All answers together: what the policy discloses"
    frame = report.to_frame()
    findings = pd.DataFrame(report.to_dict()["findings"])
    counts = pd.DataFrame([{"variables": size, **vars(one)} for size, one in report.counts])
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="warning" role="note">{escape(WARNING)}</p>',
        f"<p><strong>{escape(WORDS[report.verdict])}</strong></p>",
        f"<p>{report.requests:,} requests give {report.cells:,} distinct cells ({escape(report.mechanism)}).</p>",
        *(f"<p>Left out, so the verdict says nothing of it: {escape(words)}.</p>" for words in report.omitted),
        *(f"<p>Not judged: {escape(words)}.</p>" for words in report.unjudged),
        "<h2>Small populations</h2>",
        _figure(report) if "precision" in frame else "",
        _table(frame, "Records claimed, right, and right by the two-way model"),
        "<h2>Least squares over all margins</h2>",
        _table(counts, "Errors as shown and after, by the number of variables of a cell"),
        "<h2>Other attacks</h2>",
        _table(findings, "Rate of success, and without the answers"),
    ]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><meta name="viewport" content="width=device-width">'
    return f'<!doctype html><html lang="en"><head>{head}{style(RULES)}</head><body>{"".join(parts)}</body></html>'


def _table(frame: pd.DataFrame, caption: str) -> str:
    if frame.empty:
        return f"<p>{escape(caption)}: none.</p>"
    body = frame.to_html(index=False, border=0, float_format="{:.3f}".format, na_rep="–")
    return (
        '<div class="scroll">' + body.replace("<thead>", f"<caption>{escape(caption)}</caption><thead>", 1) + "</div>"
    )


def _figure(report: AttackFaces) -> str:
    caption = "Share of claims that are right, and of the model's"
    picture = plot.svg(report.plot())
    return f'<figure role="img" aria-label="{caption}">{picture}<figcaption>{caption}</figcaption></figure>'
