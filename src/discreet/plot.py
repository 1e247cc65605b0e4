"""Results as pictures. The only file that imports matplotlib; every function takes ``ax=None`` and returns the axes.

Pictures of true tables or of their risks are as confidential as the tables.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COUNTS, RISKS = "Blues", "YlOrRd"  # one colour scale for numbers of people, another for how much is given away
MOST_WRITTEN = 400  # cells beyond which numbers would not be legible


@checked
def axes(ax: Axes | None = None, *, width: float = 6.4, height: float = 4.2) -> Axes:
    """The given axes, or new ones on a figure of their own that needs no display."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").subplots()


@checked
def r1_terms(three: Sequence[Axes] | None = None) -> Sequence[Axes]:
    """The three terms of R1 as functions of what drives them, in the manner of Figure 1 of JOS15."""
    from matplotlib.figure import Figure

    if three is None:
        three = Figure(figsize=(9.6, 3.0), layout="constrained").subplots(1, 3)
    left, middle, right = three
    share = np.linspace(0, 1, 101)
    left.plot(share, share)
    left.set(title="zeros", xlabel="share of cells that are zero", ylabel="term")
    filled = np.arange(1, 11)
    middle.plot(10 - filled, 1 - np.log(filled) / np.log(10), marker="o")
    middle.set(title="entropy", xlabel="empty cells of ten, the rest equal")
    people = np.arange(1, 1001)
    right.plot(people, (1 + np.log(people) / 2) / np.sqrt(people))
    right.set(title="size", xlabel="people in the table", xscale="log")
    for one in (left, middle, right):
        one.set_ylim(-0.03, 1.03)
        one.grid(alpha=0.3)
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
    """A two-way table with the risk of every row and column in its margins."""
    from matplotlib import colormaps

    rows, columns = counts.shape
    ax = axes(ax, width=min(3 + 0.55 * columns, 14), height=min(2 + 0.34 * rows, 14))
    ax.imshow(_rgba(np.log1p(counts), COUNTS), extent=(0, columns, rows, 0), aspect="auto")
    risks = colormaps[RISKS]
    pad = 0.25
    ax.imshow(_rgba(row_risks[:, None], RISKS, 1.0), extent=(columns + pad, columns + pad + 1, rows, 0), aspect="auto")
    ax.imshow(_rgba(column_risks[None, :], RISKS, 1.0), extent=(0, columns, rows + pad + 1, rows + pad), aspect="auto")
    if counts.size <= MOST_WRITTEN:
        top = np.log1p(counts).max() or 1
        for (i, j), count in np.ndenumerate(counts):
            dark = np.log1p(count) > 0.6 * top
            ax.text(j + 0.5, i + 0.5, f"{count:,.0f}", ha="center", va="center", color="white" if dark else "black")
        for i, risk in enumerate(row_risks):
            ax.text(columns + pad + 0.5, i + 0.5, _risk_text(risk), ha="center", va="center", color=_ink(risk))
        for j, risk in enumerate(column_risks):
            ax.text(j + 0.5, rows + pad + 0.5, _risk_text(risk), ha="center", va="center", color=_ink(risk))
    ax.set_xlim(0, columns + pad + 1)
    ax.set_ylim(rows + pad + 1, 0)
    _ticks(ax, np.arange(columns) + 0.5, column_labels, np.arange(rows) + 0.5, row_labels)
    ax.set(ylabel=names[0], xlabel=names[1], title=title)
    ax.xaxis.set_label_position("top")
    scale = _scale(0, 1, risks)
    bar = ax.get_figure().colorbar(scale, ax=ax, fraction=0.03, pad=0.02)  # type: ignore[union-attr]
    bar.set_label("risk of the line (R1)")
    for edge in ax.spines.values():
        edge.set_visible(False)
    return ax


@checked
def line_bars(labels: Sequence[str], risks: Array, *, after: Array | None = None, ax: Axes | None = None) -> Axes:
    """The riskiest lines as bars, before and (when given) after protection."""
    ax = axes(ax, height=1.2 + 0.3 * max(len(labels), 1))
    at = np.arange(len(labels))
    ax.barh(at, risks, color="#d95f0e", label="before (R1)")
    if after is not None:
        ax.barh(at, after, height=0.45, color="#2c7fb8", label="after (R2)")
        ax.legend(loc="lower right")
    ax.set_yticks(at, list(labels))
    ax.invert_yaxis()
    ax.set(xlim=(0, 1), xlabel="risk of the line")
    return ax


@checked
def term_bars(risks: Mapping[str, Mapping[str, float]], *, ax: Axes | None = None) -> Axes:
    """What each risk is made of: its weighted terms, one bar a risk."""
    ax = axes(ax, height=1.2 + 0.5 * len(risks))
    left = np.zeros(len(risks))
    names = list(next(iter(risks.values())))
    for term, colour in zip(names, ("#fdae61", "#d7191c", "#abd9e9", "#2c7bb6"), strict=False):
        width = np.array([terms[term] for terms in risks.values()])
        ax.barh(list(risks), width, left=left, label=term, color=colour)
        left = left + width
    ax.invert_yaxis()
    ax.set(xlabel="weighted terms", xlim=(0, max(1.0, float(left.max()))))
    ax.legend(loc="lower right")
    return ax


@checked
def risk_utility(
    risk: Sequence[float],
    utility: Sequence[float],
    labels: Sequence[str],
    *,
    threshold: float | None = None,
    groups: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The risk-utility map: one point a method, the best ones low and to the right.

    The steps join those that no other beats, the dashed line is the most risk allowed.
    """
    if not len(risk) == len(utility) == len(labels):
        raise InputError("risk, utility and labels must have the same length")
    ax = axes(ax)
    groups = list(groups or [""] * len(risk))
    for group in dict.fromkeys(groups):
        at = [k for k, g in enumerate(groups) if g == group]
        ax.scatter([utility[k] for k in at], [risk[k] for k in at], label=group or None)
    for u, r, label in zip(utility, risk, labels, strict=True):
        ax.annotate(label, (u, r), xytext=(4, 4), textcoords="offset points", fontsize="small")
    best = _frontier(risk, utility)
    ax.step([utility[k] for k in best], [risk[k] for k in best], where="pre", color="#7f7f7f", linewidth=1, zorder=0)
    if threshold is not None:
        ax.axhline(threshold, color="#d7191c", linestyle="--", linewidth=1)
        text = f"most risk allowed: {threshold:g}"
        ax.annotate(
            text,
            (0.01, threshold),
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            color="#d7191c",
            fontsize="small",
        )
    if any(groups):
        ax.legend()
    ax.set(xlabel="utility", ylabel="disclosure risk")
    ax.margins(0.15)
    return ax


def _frontier(risk: Sequence[float], utility: Sequence[float]) -> list[int]:
    """Points that no other beats, by rising utility.

    >>> _frontier([0.3, 0.1, 0.4, 0.2], [0.9, 0.5, 0.8, 0.9])
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
    """Shares of claims that are right, with the number of claims, and of a model's claims with the margin allowed."""
    ax = axes(ax, height=1.4 + 0.45 * max(len(labels), 1))
    at = np.arange(len(labels))
    ax.barh(at - 0.2, precision, height=0.38, color="#d95f0e", label="attack")
    ax.barh(at + 0.2, baseline, height=0.38, color="#2c7fb8", label="two-way model")
    for place, share in zip(at, baseline, strict=True):
        allowed = min(share + margin, 1.0)
        ax.plot([allowed, allowed], [place - 0.42, place + 0.42], color="#d7191c", linestyle="--", linewidth=1)
    for place, share, number in zip(at, precision, claims, strict=True):
        ax.annotate(f"{number:,}", (share, place - 0.2), xytext=(3, 0), textcoords="offset points", va="center")
    ax.set_yticks(at, list(labels))
    ax.invert_yaxis()
    ax.set(xlim=(0, 1.08), xlabel="share of claimed records that are right (numbers: claims; dashed: allowed)")
    ax.legend(loc="lower right")
    return ax


@checked
def svg(ax: Axes | Figure) -> str:
    """The picture as SVG text to put into a page, the same bytes every time."""
    from matplotlib import rc_context

    out = io.StringIO()
    figure = ax if hasattr(ax, "savefig") else ax.get_figure()
    with rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})  # type: ignore[union-attr]
    text = out.getvalue()
    return text[text.index("<svg") :]


@checked
def png(ax: Axes | Figure, *, dpi: int = 110) -> bytes:
    """The picture as PNG bytes."""
    out = io.BytesIO()
    figure = ax if hasattr(ax, "savefig") else ax.get_figure()
    figure.savefig(out, format="png", dpi=dpi, metadata={"Software": None})  # type: ignore[union-attr]
    return out.getvalue()


def _rgba(values: Array, colours: str, top: float | None = None) -> Array:
    from matplotlib import colormaps

    values = np.asarray(values, float)
    top = top or float(np.nanmax(values, initial=0.0)) or 1.0
    painted = colormaps[colours](np.nan_to_num(values) / top * 0.85)
    painted[np.isnan(values)] = (0.9, 0.9, 0.9, 1.0)
    return np.asarray(painted)


def _risk_text(risk: float) -> str:
    return "–" if np.isnan(risk) else f"{risk:.2f}"


def _ink(risk: float) -> str:
    return "white" if risk > 0.6 else "black"


def _scale(low: float, high: float, colours: Any) -> Any:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    shown = ListedColormap(colours(np.linspace(low, high, 256) * 0.85))
    return ScalarMappable(Normalize(low, high), shown)


def _ticks(ax: Axes, x: Array, x_labels: Sequence[str], y: Array, y_labels: Sequence[str]) -> None:
    step_x, step_y = max(1, len(x) // 40), max(1, len(y) // 40)
    ax.set_xticks(x[::step_x], list(x_labels)[::step_x])
    ax.set_yticks(y[::step_y], list(y_labels)[::step_y])
    ax.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False)
    if max((len(t) for t in x_labels), default=0) > 5:
        ax.tick_params(axis="x", labelrotation=45)


@checked
def noise(transition: Any, counts: Sequence[int] = (1, 2, 3, 10), *, title: str = "", ax: Axes | None = None) -> Axes:
    """What a method adds to small counts, with the probabilities: one group of bars a count.

    ``transition`` has a method ``outcomes(count)`` that gives pairs of shown count and probability.
    """
    ax = axes(ax, width=4.8, height=2.8)
    width = 0.8 / len(counts)
    for k, count in enumerate(counts):
        shown, p = zip(*transition.outcomes(count), strict=True)
        place = np.array(shown) - count + (k - (len(counts) - 1) / 2) * width
        ax.bar(place, p, width=width, label=f"count {count}")
    low, high = (int(f(0.0, *ax.dataLim.intervalx)) for f in (min, max))
    ax.set_xticks(range(low, high + 1, max(1, (high - low) // 12)))
    ax.set(xlabel="noise", ylabel="probability", title=title)
    ax.legend(frameon=False, fontsize="small")
    return ax


@checked
def changes(true: Any, shown: Any, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Change of every cell against its true value (confidential unless the data are made up)."""
    x, y = np.asarray(true, float).ravel(), np.asarray(shown, float).ravel()
    ax = axes(ax, width=4.8, height=2.8)
    ax.axhline(0, color="0.8", linewidth=1)
    ax.plot(x, y - x, ".", markersize=3, alpha=0.5)
    ax.set(xlabel="true value", ylabel="change", title=title)
    ax.set_xscale("symlog")
    return ax


@checked
def intervals(
    labels: Sequence[str], lower: Array, upper: Array, truth: Array | None, exposed: Array, *, ax: Axes | None = None
) -> Axes:
    """What is left possible for each cell as a bar, exposed ones in another colour, the truth marked (confidential)."""
    ax = axes(ax, height=max(1.6, 0.26 * len(labels) + 0.9))
    top = float(np.max(upper[np.isfinite(upper)], initial=1.0))
    low, high = np.where(np.isfinite(lower), lower, -top), np.where(np.isfinite(upper), upper, 1.2 * top)
    place = np.arange(len(labels))
    ax.barh(place, high - low, left=low, height=0.6, color=np.where(exposed, "tab:red", "tab:blue").tolist(), alpha=0.6)
    ax.plot(low[exposed], place[exposed], "d", color="tab:red", markersize=5)
    if truth is not None:
        ax.plot(truth, place, "|", color="black", markersize=9)
    ax.set_yticks(place, labels)
    ax.invert_yaxis()
    ax.set(xlabel="possible values", title="confidential" if truth is not None else "")
    return ax
