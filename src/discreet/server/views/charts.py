"""Pictures as SVG, made here: no script, no font, no colour that a style sheet cannot change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

from markupsafe import Markup

from discreet.plot.figure_style import shortened_apart
from discreet.plot.label_places import Box, label_boxes
from discreet.plot.risk_charts import non_dominated
from discreet.server.languages import ENGLISH, translated

MAP, EDGE = (640, 360), 60  # width and height of a map, and what its axes take of them
HIGH = 14.0  # a line of type of 12 units
WIDE, LETTER = 12.5, 9.0  # no less than any reader's font needs for a letter
TITLE = "Risk-utility map of %(methods)s methods; the table below has the same numbers"
UTILITY, RISK = "utility (1 = nothing lost)", "disclosure risk (0 = none)"
FRONTIER, LIMIT = "non-dominated methods", "most risk allowed: %(limit)s"
SENTENCES = (TITLE, UTILITY, RISK, FRONTIER, LIMIT)


@dataclass(frozen=True)
class Point:
    """A method on the risk-utility map."""

    name: str
    risk: float
    utility: float
    best: bool
    reference: bool = False


def risk_utility_chart(points: Sequence[Point], t2: float | None, language: str = ENGLISH) -> Markup:
    """The risk-utility map: utility to the right, risk upwards; low and to the right is the best.

    As in ``plot.risk_utility`` the steps join the non-dominated methods, the dashed line is the most risk allowed, and
    names that would overlap others are left out: they are titles of their points, and in the table below. What is
    there for comparison is a ring, and no step leads to it.
    """
    say = partial(translated, language=language)
    limit = None if t2 is None else (t2, say(LIMIT) % {"limit": f"{t2:g}"})
    drawn = [p for p in points if math.isfinite(p.risk) and math.isfinite(p.utility)]
    risks = [p.risk for p in drawn] + ([] if t2 is None else [t2])
    across, up = _Scale.over([p.utility for p in drawn], EDGE, MAP[0] - 20), _Scale.over(risks, MAP[1] - EDGE, 20)
    parts = [
        _axes(across, up, say(UTILITY), say(RISK)),
        _steps(drawn, across, up, say(FRONTIER)),
        "" if limit is None else _limit(*limit, across, up),
    ]
    parts += [_circle(p, across(p.utility), up(p.risk)) for p in drawn]
    words = escape(say(TITLE) % {"methods": len(points)})
    return Markup(
        f'<svg class="chart map" role="img" aria-label="{words}" viewBox="0 0 {MAP[0]} {MAP[1]}">'
        f"{''.join(parts)}{_names(drawn, across, up, limit)}</svg>"
    )


def _circle(point: Point, x: float, y: float) -> str:
    kind = "reference" if point.reference else "best" if point.best else "point"
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="6"><title>{escape(point.name)}</title></circle>'


@dataclass(frozen=True)
class _Scale:
    """Numbers of an axis as places on the page."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> _Scale:
        """An axis that has all values well inside."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        room = max(0.12 * (high - low), 0.01)
        return cls(low - room, high + room, start, end)

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, least: float = -math.inf) -> list[float]:
        """Some six round numbers, none above 1 or below what the axis can have."""
        step = 10.0 ** math.floor(math.log10(self.high - self.low))
        step = next(step * part for part in (0.2, 0.5, 1.0, 2.0) if (self.high - self.low) / (step * part) <= 7)
        marks = [k * step for k in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]
        return [mark for mark in marks if least <= mark <= 1 + 1e-9]


def _axes(across: _Scale, up: _Scale, below: str, beside: str) -> str:
    """Two lines with their numbers, names and units."""
    bottom, left = MAP[1] - EDGE, EDGE
    lines = f'<line x1="{left}" x2="{MAP[0] - 20}" y1="{bottom}" y2="{bottom}"/>'
    lines += f'<line x1="{left}" x2="{left}" y1="20" y2="{bottom}"/>'
    lines += "".join(
        f'<text x="{across(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{tick:.4g}</text>'
        for tick in across.ticks()
    )
    lines += "".join(
        f'<text x="{left - 6}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick:.4g}</text>' for tick in up.ticks(0)
    )
    middle = (bottom + 20) / 2
    return (
        f'{lines}<text x="{(left + MAP[0]) / 2}" y="{MAP[1] - 8}" text-anchor="middle">'
        f"{escape(below)}</text>"
        f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">'
        f"{escape(beside)}</text>"
    )


def _steps(points: Sequence[Point], across: _Scale, up: _Scale, words: str) -> str:
    """Through the non-dominated methods."""
    points = [p for p in points if not p.reference]
    best = [points[k] for k in non_dominated([p.risk for p in points], [p.utility for p in points])]
    if not best:
        return ""
    path = f"M{across(best[0].utility):.1f} {up(best[0].risk):.1f}"
    path += "".join(f"V{up(p.risk):.1f}H{across(p.utility):.1f}" for p in best[1:])
    return f'<path class="frontier" d="{path}"><title>{escape(words)}</title></path>'


def _limit(t2: float, words: str, across: _Scale, up: _Scale) -> str:
    y = up(t2)
    return (
        f'<line class="limit" x1="{across.start}" x2="{across.end}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text x="{across.start + 4}" y="{y - 4:.1f}">{escape(words)}</text>'
    )


def _width(text: str) -> float:
    return sum(WIDE if letter in "mwMW@%=+<>&~#OQ" or not letter.isascii() else LETTER for letter in text)


def _names(points: Sequence[Point], across: _Scale, up: _Scale, limit: tuple[float, str] | None) -> str:
    """Names where there is room, non-dominated methods first."""
    best = non_dominated([p.risk for p in points], [p.utility for p in points])
    order = [*best, *(k for k in range(len(points)) if k not in best)]
    names = shortened_apart([points[k].name for k in order], 32)
    places = [(across(points[k].utility), up(points[k].risk)) for k in order]
    sizes = [(_width(name), HIGH) for name in names]
    taken: list[Box] = []
    if limit is not None:
        y = up(limit[0])
        taken = [(across.start, y - HIGH - 2, across.start + 4 + _width(limit[1]), y)]
    boxes = label_boxes(places, sizes, (across.start, up.end, MAP[0], up.start), taken=taken, line=HIGH)
    shown = [(name, at, box) for name, at, box in zip(names, places, boxes, strict=True) if box is not None]
    return "".join(_named(name, at, box) for name, at, box in shown)


def _named(name: str, at: tuple[float, float], box: Box) -> str:
    """A name in its box, at the side of its point, with a line to it where it stands apart."""
    (x, y), middle = at, (box[1] + box[3]) / 2
    side = "end" if box[2] <= x else "start" if box[0] >= x else "middle"
    start = {"end": box[2], "start": box[0], "middle": (box[0] + box[2]) / 2}[side]
    apart = math.hypot(start - x, middle - y) > 1.5 * HIGH
    line = f'<line class="leader" x1="{x:.1f}" y1="{y:.1f}" x2="{start:.1f}" y2="{middle:.1f}"/>' if apart else ""
    return f'{line}<text x="{start:.1f}" y="{box[3] - 3:.1f}" text-anchor="{side}">{escape(name)}</text>'
