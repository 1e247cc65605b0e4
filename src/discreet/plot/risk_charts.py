"""Risk as pictures: terms, lines, a two-way table, the risk-utility map, and what an attack claims."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.plot.figure_style import (
    BLUE,
    COLOURS,
    COUNTS,
    GREY,
    INK,
    MARKERS,
    NORMAL,
    PAPER,
    RISKS,
    SMALL,
    VERMILION,
    axes,
    draw_legend,
    figure_of,
    panels,
    shortened,
    shortened_apart,
)
from discreet.plot.finishing import finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_WRITTEN = 400  # cells beyond which numbers would not be legible
MOST_TICKS = 40
MOST_AT_ONE = 4
"""Names that stand beside one place."""
ABOVE = 4  # points are drawn over the ground of names
NEAR = 0.1
"""Part of an axis within which a point is near a line."""
GAP = 0.25  # between a table and the risks in its margins, in cells


@checked
def r1_terms(three: Sequence[Axes] | None = None) -> Sequence[Axes]:
    """The three terms of R1 as functions of what drives them, in the manner of Figure 1 of JOS15.

    >>> [ax.get_title() for ax in r1_terms()]
    ['zeros', 'entropy', 'size']
    """
    if three is None:
        three = panels(3, width=9.6)
    left, middle, right = three
    share = np.linspace(0, 1, 101)
    left.plot(share, share, color=BLUE)
    left.set(title="zeros", xlabel="cells that are zero (share)")
    filled = np.arange(1, 11)
    middle.plot(10 - filled, 1 - np.log(filled) / np.log(10), marker="o", color=BLUE)
    middle.set(title="entropy", xlabel="empty cells, the rest equal (of ten)")
    people = np.arange(1, 1001)
    right.plot(people, (1 + np.log(people) / 2) / np.sqrt(people), color=BLUE)
    right.set(title="size", xlabel="people in the table (number)", xscale="log")
    for one in three:
        one.set(ylim=(-0.03, 1.03), ylabel="term of R1 (0 to 1)")
        one.grid(alpha=0.3)
        finish(one)
    return three


@checked
def heat_map(
    counts: Array,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    row_risks: Array,
    column_risks: Array,
    *,
    names: tuple[str, str] = ("", ""),
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """A two-way table with the risk of every row and column in its margins.

    >>> import numpy as np
    >>> ax = heat_map(np.array([[5, 0]]), ["a"], ["x", "y"], np.array([0.7]), np.array([0.2, 0.9]))
    >>> [text.get_text() for text in ax.texts]
    ['5', '0', '0.70', '0.20', '0.90']
    """
    from discreet.plot.text_fit import write_numbers

    rows, columns = counts.shape
    wide = _needs_turning(column_labels)
    ax = axes(ax, width=3.4 + 0.55 * columns, height=2.4 + 0.34 * rows + (1.2 if wide else 0))
    if counts.size:
        _paint(ax, counts, row_risks, column_risks)
    if counts.size <= MOST_WRITTEN:
        write_numbers(ax, _numbers(counts, row_risks, column_risks))
    ax.set_xlim(0, columns + GAP + 1)
    ax.set_ylim(rows + GAP + 1, 0)
    _ticks(ax, column_labels, row_labels, wide)
    row_name, column_name = (shortened(name or word) for name, word in zip(names, ("rows", "columns"), strict=True))
    ax.set(ylabel=f"{row_name} (category)", xlabel=f"{column_name} (category)", title=shortened(title, 60))
    ax.xaxis.set_label_position("top")
    bar = figure_of(ax).colorbar(_scale(), ax=ax, fraction=0.03, pad=0.02)
    bar.set_label("risk of the line (R1, 0 to 1)", size=NORMAL, color=INK)
    bar.ax.tick_params(labelsize=SMALL, labelcolor=INK)
    finish(ax)
    for edge in ax.spines.values():
        edge.set_visible(False)
    return ax


def _paint(ax: Axes, counts: Array, row_risks: Array, column_risks: Array) -> None:
    rows, columns = counts.shape
    right, below = columns + GAP, rows + GAP
    ax.imshow(_rgba(np.log1p(counts), COUNTS), extent=(0, columns, rows, 0), aspect="auto")
    ax.imshow(_rgba(row_risks[:, None], RISKS, 1.0), extent=(right, right + 1, rows, 0), aspect="auto")
    ax.imshow(_rgba(column_risks[None, :], RISKS, 1.0), extent=(0, columns, below + 1, below), aspect="auto")


def _numbers(counts: Array, row_risks: Array, column_risks: Array) -> Iterator[tuple[float, float, str, str]]:
    """Place, text and colour of every number."""
    rows, columns = counts.shape
    top = float(np.log1p(counts).max(initial=0)) or 1
    for (i, j), count in np.ndenumerate(counts):
        yield j + 0.5, i + 0.5, f"{count:,.0f}", PAPER if np.log1p(count) > 0.6 * top else INK
    for i, risk in enumerate(row_risks):
        yield columns + GAP + 0.5, i + 0.5, _risk_text(risk), PAPER if risk > 0.6 else INK
    for j, risk in enumerate(column_risks):
        yield j + 0.5, rows + GAP + 0.5, _risk_text(risk), PAPER if risk > 0.6 else INK


@checked
def line_bars(labels: Sequence[str], risks: Array, *, after: Array | None = None, ax: Axes | None = None) -> Axes:
    """The riskiest lines as bars, before and (when given) after protection.

    >>> import numpy as np
    >>> line_bars(["area 3"], np.array([0.4])).get_xlabel()
    'risk of the line (R1, 0 to 1)'
    """
    ax = axes(ax, width=7.2, height=1.2 + 0.3 * max(len(labels), 1))
    at = np.arange(len(labels))
    ax.barh(at, risks, color=VERMILION, label="before (R1)")
    if after is not None:
        ax.barh(at, after, height=0.45, color=BLUE, label="after (R2)")
        draw_legend(ax)
    ax.set_yticks(at, shortened_apart(labels))
    ax.invert_yaxis()
    measure = "R1" if after is None else "R1 and R2"
    ax.set(xlim=(0, 1), xlabel=f"risk of the line ({measure}, 0 to 1)", ylabel="line (codes)")
    return finish(ax)


@checked
def term_bars(risks: Mapping[str, Mapping[str, float]], *, ax: Axes | None = None) -> Axes:
    """What each risk is made of: its weighted terms, one bar a risk.

    >>> term_bars({"R1": {"zeros": 0.1, "entropy": 0.2}, "R2": {"zeros": 0.1, "size": 0.1}}).get_ylabel()
    'risk (measure)'
    """
    ax = axes(ax, width=7.2, height=1.4 + 0.5 * max(len(risks), 1))
    at, left = np.arange(len(risks)), np.zeros(len(risks))
    terms = dict.fromkeys(term for one in risks.values() for term in one)
    for term, colour in zip(terms, itertools.cycle(COLOURS), strict=False):
        width = np.array([one.get(term, 0.0) for one in risks.values()])
        ax.barh(at, width, left=left, label=term, color=colour)
        left = left + width
    ax.set_yticks(at, shortened_apart(risks))
    ax.invert_yaxis()
    top = max(1.0, float(left.max(initial=0)))
    ax.set(xlabel="weighted terms (0 to 1 in all)", xlim=(0, top), ylabel="risk (measure)")
    draw_legend(ax)
    return finish(ax)


@checked
def risk_utility(
    risk: Sequence[float],
    utility: Sequence[float],
    labels: Sequence[str],
    *,
    threshold: float | None = None,
    groups: Sequence[str] | None = None,
    measure: str = "R",
    ax: Axes | None = None,
) -> Axes:
    """The risk-utility map: one point a method, the best ones low and to the right.

    The steps join the non-dominated ones, the dashed line is the most risk allowed. Names stand where there is room,
    those of non-dominated methods first; a name that would overlap others is left out, and of many methods at one place
    the first is named with the number of others.

    >>> ax = risk_utility([0.3, 0.1], [0.9, 0.5], ["swap", "round"], threshold=0.2)
    >>> [text.get_text() for text in ax.texts]
    ['most risk allowed: 0.2', 'round', 'swap']
    """
    from discreet.plot.text_fit import name_points

    if not len(risk) == len(utility) == len(labels) == len(labels if groups is None else groups):
        raise InputError("risk, utility, labels and groups must have the same length")
    ax = axes(ax)
    groups = list(groups or [""] * len(risk))
    finite = np.flatnonzero(np.isfinite(risk) & np.isfinite(utility)).tolist()
    for place, group in enumerate(dict.fromkeys(groups)):
        at = [k for k in finite if groups[k] == group]
        look: Any = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
        ax.scatter([utility[k] for k in at], [risk[k] for k in at], label=group or None, s=30, zorder=ABOVE, **look)
    best = non_dominated(risk, utility)
    steps = [utility[k] for k in best], [risk[k] for k in best]
    ax.step(*steps, where="pre", color=GREY, linewidth=1, zorder=0, label="frontier")
    if threshold is not None:
        _threshold(ax, threshold, [(utility[k], risk[k]) for k in finite])
    order = [*best, *(k for k in finite if k not in best)]
    name_points(ax, *_named_once([(utility[k], risk[k]) for k in order], [labels[k] for k in order]))
    draw_legend(ax)
    ax.set(xlabel="utility (1 = nothing lost)", ylabel=f"disclosure risk ({shortened(measure)}, 0 = none)")
    ax.margins(0.15)
    ax.set(xlim=_at_least(*ax.get_xlim()), ylim=_at_least(*ax.get_ylim()))
    return finish(ax)


def _named_once(
    points: Sequence[tuple[float, float]], names: Sequence[str]
) -> tuple[list[tuple[float, float]], list[str]]:
    """Points with their names; where more stand at one place than there is room beside it, the first and how many more.

    >>> _named_once([(0, 1)] * 6 + [(1, 1)], ["a", "b", "c", "d", "e", "f", "g"])
    ([(0, 1), (1, 1)], ['a and 5 more', 'g'])
    """
    at: dict[tuple[float, float], list[str]] = {}
    for point, name in zip(points, names, strict=True):
        at.setdefault(point, []).append(name)
    pairs = [
        (point, name)
        for point, own in at.items()
        for name in (own if len(own) <= MOST_AT_ONE else [f"{shortened(own[0], 26)} and {len(own) - 1:,} more"])
    ]
    return [point for point, _ in pairs], [name for _, name in pairs]


def _at_least(low: float, high: float, span: float = 0.02) -> tuple[float, float]:
    """Ends of an axis no nearer to each other than that: differences below are of no interest, and rounding."""
    short = max(span - (high - low), 0.0)
    return low - short / 2, high + short / 2


def _threshold(ax: Axes, threshold: float, points: Sequence[tuple[float, float]]) -> None:
    """The most risk allowed as a line with its name, at the end of it where fewer points are near."""
    ax.axhline(threshold, color=VERMILION, linestyle="--", linewidth=1.2)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    near = [x for x, y in points if abs(y - threshold) < NEAR * (max(high, threshold) - min(low, threshold))]
    middle = (left + right) / 2
    at_right = sum(x < middle for x in near) > sum(x >= middle for x in near)
    ax.annotate(
        f"most risk allowed: {threshold:g}",
        (0.99 if at_right else 0.01, threshold),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right" if at_right else "left",
        color=VERMILION,
        fontsize=SMALL,
        bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5},  # the frontier may run through it
    )


def non_dominated(risk: Sequence[float], utility: Sequence[float]) -> list[int]:
    """The points that no other exceeds in both respects, by rising utility.

    >>> non_dominated([0.3, 0.1, 0.4, 0.2], [0.9, 0.5, 0.8, 0.9])
    [1, 3]
    """
    best: list[int] = []
    judged = np.flatnonzero(np.isfinite(risk) & np.isfinite(utility)).tolist()
    for k in sorted(judged, key=lambda k: (-utility[k], risk[k])):
        if not best or risk[k] < risk[best[-1]]:
            best.append(k)
    return best[::-1]


@checked
def precision_bars(
    labels: Sequence[str],
    precision: Sequence[float],
    baseline: Sequence[float],
    claims: Sequence[int],
    *,
    margin: float = 0.0,
    ax: Axes | None = None,
) -> Axes:
    """Shares of claims that are right, with the number of claims, and of a model's claims with the margin allowed.

    >>> ax = precision_bars(["area 3"], [0.4], [0.35], [120], margin=0.05)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['area 3 (120)']
    """
    ax = axes(ax, width=7.2, height=1.6 + 0.45 * max(len(labels), 1))
    at = np.arange(len(labels))
    ax.barh(at - 0.2, precision, height=0.38, color=VERMILION, label="attack")
    ax.barh(at + 0.2, baseline, height=0.38, color=BLUE, label="two-way model")
    allowed = np.minimum(np.asarray(baseline, float) + margin, 1.0)
    ax.vlines(allowed, at - 0.42, at + 0.42, color=INK, linestyle="--", linewidth=1.2, label="allowed")
    names = shortened_apart(labels, 30)
    numbered = [f"{name} ({number:,})" for name, number in zip(names, claims, strict=True)]
    ax.set_yticks(at, numbered)
    ax.invert_yaxis()
    ax.set(xlim=(0, 1.02), xlabel="claimed records that are right (share)", ylabel="population (claims)")
    draw_legend(ax)
    return finish(ax)


def _rgba(values: Array, colours: str, top: float | None = None) -> Array:
    from matplotlib import colormaps

    values = np.asarray(values, float)
    top = top or float(np.nanmax(values, initial=0.0)) or 1.0
    painted = colormaps[colours](np.nan_to_num(values) / top * 0.85)
    painted[np.isnan(values)] = (0.9, 0.9, 0.9, 1.0)
    return np.asarray(painted)


def _risk_text(risk: float) -> str:
    return "–" if np.isnan(risk) else f"{risk:.2f}"


def _scale() -> Any:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    shown = ListedColormap(colormaps[RISKS](np.linspace(0, 1, 256) * 0.85))
    return ScalarMappable(Normalize(0, 1), shown)


def _needs_turning(labels: Sequence[str]) -> bool:
    """Whether labels are too long to stand side by side above the columns of a table."""
    return max(map(len, labels), default=0) > 5


def _ticks(ax: Axes, x_labels: Sequence[str], y_labels: Sequence[str], turned: bool) -> None:
    for axis, labels in ((ax.xaxis, x_labels), (ax.yaxis, y_labels)):
        step = max(1, len(labels) // MOST_TICKS)
        shown = shortened_apart(labels[::step], 24)
        axis.set_ticks((np.arange(len(labels)) + 0.5)[::step].tolist(), shown)
    ax.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False)
    if turned:
        ax.tick_params(axis="x", labelrotation=90)
