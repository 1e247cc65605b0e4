"""Laws of every figure: no text overlaps another, every axis says its unit; for nasty inputs as for good ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

import discreet as dc

SLACK = 0.5  # pixels: what rounding to whole pixels may cost
NAMES = st.text(st.sampled_from("abcXYZ 0123=,()$_^\\äé\n"), max_size=80)
SHARES = st.floats(0, 1)
VALUES = st.floats(-1e7, 1e7)


def written(figure: Figure, *, dpi: float) -> list[tuple[str, Any]]:
    """Every text that is drawn, with the box around it."""
    figure.set_dpi(dpi)
    figure.draw_without_rendering()
    texts = [text for text in figure.findobj(Text) if _is_drawn(text)]
    return [(text.get_text(), Text.get_window_extent(text)) for text in texts]


def _is_drawn(text: Any) -> bool:
    """Whether there is ink: some texts are the far side of a tick, or of an axis that is switched off."""
    if not text.get_text().strip() or not text.get_visible():
        return False
    axis = next((a for ax in text.figure.axes for a in (ax.xaxis, ax.yaxis) if text in _tick_texts(a)), None)
    return axis is None or text in _shown_tick_texts(axis)


def _tick_texts(axis: Any) -> list[Text]:
    return [text for tick in (*axis.majorTicks, *axis.minorTicks) for text in (tick.label1, tick.label2)]


def _shown_tick_texts(axis: Any) -> list[Text]:
    """Of the ticks within the view: matplotlib keeps spare ones."""
    low, high = sorted(axis.get_view_interval())
    room = 1e-9 * max(high - low, 1e-300)
    ticks = [tick for tick in axis.majorTicks if low - room <= tick.get_loc() <= high + room]
    return [text for tick in ticks for text in (tick.label1, tick.label2) if text.get_visible()]


def overlaps(figure: Figure, *, dpi: float = 100) -> list[tuple[str, str]]:
    """Pairs of texts whose boxes share more than a rounding error."""
    boxes = written(figure, dpi=dpi)
    pairs = []
    for (one, a), (other, b) in combinations(boxes, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        up = min(a.y1, b.y1) - max(a.y0, b.y0)
        if across > SLACK and up > SLACK:
            pairs.append((one, other))
    return pairs


def unlabelled(figure: Figure) -> list[str]:
    """Axes without a name and, in brackets, a unit."""
    labels = [axis.label.get_text() for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) if _is_scale(ax, axis)]
    return [label for label in labels if not re.fullmatch(r"\S.* \(.+\)", label, re.S)]


def _is_scale(ax: Axes, axis: Any) -> bool:
    """Colour bars have one axis only."""
    return ax.get_label() != "<colorbar>" or axis is ax.yaxis


def figure_of(drawn: Any) -> Figure:
    ax = drawn[0] if isinstance(drawn, Sequence) else drawn
    figure: Figure = ax.get_figure()
    return figure


def assert_laws(drawn: Any) -> None:
    figure = figure_of(drawn)
    assert overlaps(figure, dpi=90) == []
    assert unlabelled(figure) == []


class Outcomes:
    """A method that turns a count into any of some others."""

    def __init__(self, reach: int) -> None:
        self.reach = reach

    def outcomes(self, count: int) -> list[tuple[int, float]]:
        n = 2 * self.reach + 1
        return [(count + k, 1 / n) for k in range(-self.reach, self.reach + 1)]


def names(number: int, word: str = "name") -> list[str]:
    return [f"{word} {k}" for k in range(number)]


LONG = "Persons in institutions for the elderly, by the country of birth of their $mother$ and of their $father$"
rng = np.random.default_rng(5)


def heat(rows: int, columns: int, word: str, top: int = 10**6) -> Axes:
    counts = rng.integers(0, top, (rows, columns))
    labels = names(rows, word), names(columns, word)
    return dc.plot.heat_map(counts, *labels, rng.random(rows), rng.random(columns), names=(word, ""), title=word)


def cloud(number: int, word: str, spread: float, threshold: float | None = None) -> Axes:
    """Methods at, or around, one point."""
    risk, utility = (0.5 + spread * (rng.random((2, number)) - 0.5)).tolist()
    groups = [f"{word} {k % 20}" for k in range(number)]
    return dc.plot.risk_utility(risk, utility, names(number, word), threshold=threshold, groups=groups)


def bars(number: int, word: str) -> Axes:
    return dc.plot.line_bars(names(number, word), rng.random(number), after=rng.random(number))


def claims(number: int, word: str) -> Axes:
    attack, model = rng.random((2, number)).tolist()
    numbers = rng.integers(0, 10**9, number).tolist()
    return dc.plot.precision_bars(names(number, word), attack, model, numbers, margin=0.05)


def spans(number: int, word: str, top: float) -> Axes:
    low = top * rng.random(number)
    high = np.where(rng.random(number) < 0.2, np.inf, low * 2)
    exposed = rng.random(number) < 0.5
    return dc.plot.intervals(names(number, word), low, high, low, exposed, unit=word)


def terms(number: int, word: str) -> Axes:
    return dc.plot.term_bars({name: dict.fromkeys(names(min(number, 12), word), 0.01) for name in names(number, word)})


NASTY: dict[str, Callable[[], Any]] = {
    "terms of R1": dc.plot.r1_terms,
    **{f"heat map {r} x {c} {w[:4]}": lambda r=r, c=c, w=w: heat(r, c, w)  # type: ignore[misc]
       for r, c in ((0, 0), (1, 1), (3, 2), (20, 20), (150, 3), (2, 300)) for w in ("x", LONG)},
    **{f"map of {n} {w[:4]} within {s}": lambda n=n, w=w, s=s: cloud(n, w, s, 0.52)  # type: ignore[misc]
       for n in (0, 1, 2, 12, 300) for w in ("m", LONG) for s in (0.0, 1e-9, 0.3)},
    **{f"{draw.__name__} {n} {w[:4]}": lambda draw=draw, n=n, w=w: draw(n, w)  # type: ignore[misc]
       for draw in (bars, claims, terms) for n in (0, 1, 3, 60) for w in ("x", LONG)},
    **{f"intervals {n} {t}": lambda n=n, t=t: spans(n, LONG, t)  # type: ignore[misc]
       for n, t in ((0, 1.0), (1, 0.0), (40, 1e-6), (40, 1e12), (200, 1.0))},
    **{f"noise of {n} counts up to {r}": lambda n=n, r=r: dc.plot.noise(Outcomes(r), range(n), title=LONG)  # type: ignore[misc]
       for n, r in ((0, 3), (1, 0), (4, 100), (60, 3))},
    **{f"changes {k}": lambda v=v: dc.plot.changes(v, v, unit=LONG, title=LONG)  # type: ignore[misc]
       for k, v in enumerate(([], [0], [7] * 9, [-1e9, 1e9], list(range(2000)), [np.nan, 3], [1e-9, 2e-9]))},
}  # fmt: skip


@pytest.mark.parametrize("case", NASTY)
def test_texts_of_a_nasty_figure_do_not_overlap_and_axes_have_units(case: str) -> None:
    """Many points, equal points, long names, one, none."""
    assert_laws(NASTY[case]())


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(SHARES, SHARES, NAMES), max_size=40), st.none() | SHARES)
def test_texts_of_any_map_do_not_overlap(points: list[tuple[float, float, str]], threshold: float | None) -> None:
    """Wherever the methods are and whatever they are called; with the threshold among them."""
    risk, utility, labels = ([point[k] for point in points] for k in range(3))
    assert_laws(dc.plot.risk_utility(risk, utility, labels, threshold=threshold))  # type: ignore[arg-type]


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(VALUES, VALUES, st.booleans(), NAMES), max_size=30), NAMES)
def test_texts_of_any_intervals_do_not_overlap(rows: list[tuple[float, float, bool, str]], unit: str) -> None:
    """Of any size, with any names and unit."""
    ends = np.sort(np.array([row[:2] for row in rows], float).reshape(-1, 2), axis=1)
    exposed = np.array([row[2] for row in rows], bool)
    unit = unit if unit.strip() else "people"
    low, high = ends.T
    assert_laws(dc.plot.intervals([row[3] for row in rows], low, high, low, exposed, unit=unit))


@pytest.mark.parametrize("size", [(2.0, 1.5), (3.5, 2.5), (12.0, 9.0)])
def test_texts_make_room_in_axes_of_any_size(size: tuple[float, float]) -> None:
    """Also if the figure is the user's, and if it changes its size after it was drawn upon."""
    figure = Figure(figsize=size, layout="constrained")
    labels = names(40, "random-round(base=3)")
    dc.plot.risk_utility(rng.random(40).tolist(), rng.random(40).tolist(), labels, ax=figure.subplots())
    assert overlaps(figure) == []
    figure.set_size_inches(6, 4)
    assert overlaps(figure) == []
    assert overlaps(figure, dpi=300) == []


def test_the_law_can_fail() -> None:
    """Two texts on each other, and an axis without a unit."""
    ax = Figure().subplots()
    ax.text(0.5, 0.5, "one")
    ax.text(0.5, 0.5, "other")
    ax.set(xlabel="utility", ylabel="risk (share)")
    assert overlaps(figure_of(ax)) == [("one", "other")]
    assert unlabelled(figure_of(ax)) == ["utility"]


@pytest.mark.parametrize("names", [["", "$$"], ["a", "$x$"], ["$$", "a"]])
def test_dollar_signs_are_no_formula(names: list[str]) -> None:
    """In any row: rows are made when they are drawn, each after the first."""
    ax = dc.plot.intervals(names, np.zeros(2), np.ones(2), np.zeros(2), np.zeros(2, bool), unit="people")
    assert isinstance(ax.figure, Figure)
    ax.figure.draw_without_rendering()
    assert [label.get_text() for label in ax.get_yticklabels()] == names
