"""Pictures as SVG, made here: no script, no font, no colour that a style sheet cannot change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from markupsafe import Markup

from discreet.server.sheet import Sheet

MOST_BARS = 120
LINE, LEFT, WIDTH = 18, 260, 900


@dataclass(frozen=True)
class Point:
    """A method on the risk-utility map."""

    name: str
    risk: float
    utility: float
    best: bool


def bars(sheet: Sheet) -> Markup:
    """Horizontal bars, one for each cell that is not a total."""
    names: list[str] = []
    values: list[tuple[float, str, int]] = []
    across = [head.text for head in sheet.heads[-1]] if sheet.heads else [""]
    for stub, line in zip(sheet.stubs, sheet.body, strict=True):
        for k, cell in enumerate(line):
            if not cell.total and cell.value is not None and len(names) < MOST_BARS:
                head = across[k] if k < len(across) else ""
                names.append(", ".join(part for part in (*stub, head) if part))
                values.append((cell.value, cell.text, k % 6))
    top = max((v for v, _, _ in values), default=0.0) or 1.0
    lines = [
        f'<text x="{LEFT - 8}" y="{n * LINE + 13}" text-anchor="end">{escape(name[:40])}</text>'
        f'<rect class="c{shade}" x="{LEFT}" y="{n * LINE + 3}" width="{max(v / top, 0) * (WIDTH - LEFT - 90):.1f}" '
        f'height="{LINE - 5}"></rect><text x="{LEFT + max(v / top, 0) * (WIDTH - LEFT - 90) + 6:.1f}" '
        f'y="{n * LINE + 13}">{text}</text>'
        for n, (name, (v, text, shade)) in enumerate(zip(names, values, strict=True))
    ]
    words = f"Bar chart of {len(lines)} cells; the table view has the same numbers"
    return Markup(
        f'<svg class="chart" role="img" aria-label="{words}" viewBox="0 0 {WIDTH} {len(lines) * LINE + 8}">'
        f"{''.join(lines)}</svg>"
    )


def risk_utility_chart(points: Sequence[Point], t2: float | None) -> Markup:
    """The risk-utility map: risk to the right, utility upwards; the upper left corner is the best."""
    width, height, edge = 640, 360, 50

    def x(risk: float) -> float:
        return edge + risk * (width - 2 * edge)

    low = min((p.utility for p in points), default=0.0)
    low = min(low, 0.95)

    def y(utility: float) -> float:
        return height - edge - (utility - low) / (1 - low) * (height - 2 * edge)

    drawn = [
        f'<circle class="{"best" if p.best else "point"}" cx="{x(p.risk):.1f}" cy="{y(p.utility):.1f}" r="7">'
        f"<title>{escape(p.name)}</title></circle>"
        f'<text x="{x(p.risk) + 11:.1f}" y="{y(p.utility) + 4:.1f}">{escape(p.name)}</text>'
        for p in points
    ]
    limit = "" if t2 is None else f'<line class="limit" x1="{x(t2)}" x2="{x(t2)}" y1="{edge}" y2="{height - edge}"/>'
    axes = (
        f'<line x1="{edge}" x2="{width - edge}" y1="{height - edge}" y2="{height - edge}"/>'
        f'<line x1="{edge}" x2="{edge}" y1="{edge}" y2="{height - edge}"/>'
        f'<text x="{width / 2}" y="{height - 12}" text-anchor="middle">risk after protection, 0 to 1</text>'
        f'<text x="{edge}" y="{edge - 14}">utility, {low:.2f} to 1</text>'
    )
    return Markup(
        f'<svg class="chart map" role="img" aria-label="Risk-utility map of {len(points)} methods; the table below has '
        f'the same numbers" viewBox="0 0 {width} {height}">{axes}{limit}{"".join(drawn)}</svg>'
    )
