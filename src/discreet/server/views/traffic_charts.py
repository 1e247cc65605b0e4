"""Bars of what a server did, as SVG: no script, and a title with the number on every bar."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from markupsafe import Markup

WIDE, HIGH, EDGE = 640, 180, 34  # units of a picture, and what stands below and beside its bars
LINE = 22  # height of a bar that lies
NAME_WIDE = 190  # what the names of such bars take


def standing_bars(bars: Sequence[tuple[str, Sequence[int]]], kinds: Sequence[str], words: str) -> Markup:
    """Bars side by side, each stacked of several kinds, with some of the names below."""
    most = max([sum(parts) for _, parts in bars], default=0) or 1
    step = (WIDE - EDGE) / max(len(bars), 1)
    every = max(len(bars) // 6, 1)
    shapes = [_scale(most)]
    for place, (name, parts) in enumerate(bars):
        x, top = EDGE + place * step, float(HIGH - EDGE)
        for kind, number in enumerate(parts):
            height = number / most * (HIGH - 2 * EDGE)
            top -= height
            title = f"<title>{escape(name)}: {number:,} {escape(kinds[kind])}</title>"
            if number:
                shapes.append(
                    f'<rect class="c{kind}" x="{x:.1f}" y="{top:.1f}" width="{step * 0.8:.1f}" height="{height:.1f}">'
                    f"{title}</rect>"
                )
        if place % every == 0:
            shapes.append(f'<text x="{x:.1f}" y="{HIGH - EDGE + 16}">{escape(name)}</text>')
    return _picture("".join([*shapes, _legend(kinds)]), HIGH, words)


def _scale(most: int) -> str:
    bottom, top = HIGH - EDGE, EDGE
    lines = "".join(f'<line x1="{EDGE}" x2="{WIDE}" y1="{y}" y2="{y}"/>' for y in (bottom, top))
    return f'{lines}<text x="{EDGE}" y="{top - 4}">{most:,}</text>'


def _legend(kinds: Sequence[str]) -> str:
    parts = []
    for place, kind in enumerate(kinds if len(kinds) > 1 else ()):
        x = WIDE - 110 * (len(kinds) - place)
        parts.append(f'<rect class="c{place}" x="{x}" y="6" width="10" height="10"/>')
        parts.append(f'<text x="{x + 14}" y="15">{escape(kind)}</text>')
    return "".join(parts)


def lying_bars(bars: Sequence[tuple[str, float]], words: str, unit: str = "") -> Markup:
    """Bars one below the other, with name and number."""
    most = max([number for _, number in bars], default=0) or 1
    shapes = []
    for place, (name, number) in enumerate(bars):
        y = place * LINE
        width = number / most * (WIDE - NAME_WIDE - 90)
        shapes.append(f'<text x="0" y="{y + 15}">{escape(name)}</text>')
        shapes.append(f'<rect class="c0" x="{NAME_WIDE}" y="{y + 3}" width="{max(width, 1):.1f}" height="{LINE - 6}"/>')
        shapes.append(f'<text x="{NAME_WIDE + width + 6:.1f}" y="{y + 15}">{number:,.6g}{escape(unit)}</text>')
    return _picture("".join(shapes), max(len(bars), 1) * LINE, words)


def _picture(shapes: str, high: int, words: str) -> Markup:
    return Markup(
        f'<svg class="chart map" role="img" aria-label="{escape(words)}" viewBox="0 0 {WIDE} {high}">{shapes}</svg>'
    )
