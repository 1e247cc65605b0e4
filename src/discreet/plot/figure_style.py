"""The one style of all figures: type, size, colours, lines, and numbers on axes.

Colours are those of Okabe and Ito, which people with any kind of colour blindness tell apart; the background is light.
``finishing.finish`` brings any axes into this style.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from discreet.base.arguments import checked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
INK, GREY, PALE, PAPER = "#222222", "#767676", "#D9D9D9", "#FFFFFF"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # colours repeat after seven, colours with markers after 56
COUNTS, RISKS = "Blues", "YlOrRd"  # one colour scale for numbers of people, another for how much is given away
FONT, NORMAL, SMALL = "DejaVu Sans", 9.0, 8.0  # the font that comes with matplotlib; points
LARGEST = 14.0  # inches; larger figures are not read as one
LONGEST, LONGEST_NAME = 40, 32  # characters of a label on an axis, and of a name beside a point or in a legend
MOST_NAMES = 10  # entries of a legend
STYLE: dict[Any, Any] = {
    "font.family": FONT,
    "font.size": NORMAL,
    "axes.titlesize": NORMAL,
    "axes.labelsize": NORMAL,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 5.0,
    "axes.axisbelow": True,
    "figure.dpi": 80.0,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "text.parse_math": False,  # a name with two dollar signs is a name
}


@checked
def axes(ax: Axes | None = None, *, width: float = 6.4, height: float = 4.2) -> Axes:
    """The given axes, or new ones in the style of all figures, on a figure of their own that needs no display.

    >>> [text.get_fontsize() for text in (axes().xaxis.label, axes().title)]
    [9.0, 9.0]
    """
    return panels(1, width=width, height=height)[0] if ax is None else ax


@checked
def panels(number: int = 2, *, width: float = 9.0, height: float = 3.0) -> Sequence[Axes]:
    """New axes side by side on one figure in the style of all figures; ``width`` and ``height`` are in inches.

    >>> left, right = panels(2)
    >>> left.get_figure() is right.get_figure()
    True
    """
    from cycler import cycler
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({**STYLE, "axes.prop_cycle": cycler(color=COLOURS)}):
        figure = Figure(figsize=(min(width, LARGEST), min(height, LARGEST)), layout="constrained")
        return list(figure.subplots(1, number, squeeze=False)[0])


def number_text(value: float) -> str:
    """A number of an axis: in full, with commas, without the last digits of binary fractions.

    >>> [number_text(v) for v in (0.30000000000000004, -1500, 1e7)]
    ['0.3', '−1,500', '10,000,000']
    """
    return f"{value:,.10g}".replace("-", "\N{MINUS SIGN}")


def shortened(text: object, most: int = LONGEST) -> str:
    """A name in one line of so many characters: what is in the middle of a longer one is left out.

    >>> shortened("Persons in institutions for the elderly", 20)
    'Persons in…e elderly'
    """
    line = " ".join(str(text).split())
    if len(line) <= most:
        return line
    head = most // 2
    return f"{line[:head]}…{line[len(line) - (most - head - 1) :]}"


def shortened_apart(texts: Iterable[object], most: int = LONGEST) -> list[str]:
    """Names in one line of so many characters; of those that would look alike then, what differs is kept.

    >>> shortened_apart(["cell key method, d=3, secret kept", "cell key method, d=12, secret kept", "round"], 16)
    ['cell key meth…3…', 'cell key met…12…', 'round']
    """
    lines = [" ".join(str(text).split()) for text in texts]
    names = [shortened(line, most) for line in lines]
    for name in {name for name in names if names.count(name) > 1}:
        alike = [k for k, other in enumerate(names) if other == name]
        whole = list(dict.fromkeys(lines[k] for k in alike))
        if len(whole) == 1:
            continue
        begins = _alike(whole)
        ends = _alike([line[begins:][::-1] for line in whole])
        told: dict[str, str] = {}
        for line in whole:
            own = shortened(line[begins : len(line) - ends], most - 2)
            tail = f"…{own}{'…' if ends else ''}"
            told[line] = f"{line[: max(min(begins, most - len(tail)), 0)]}{tail}"
        if len(set(told.values())) < len(whole):
            told = {line: f"{shortened(line, most - 5)} ({n})" for n, line in enumerate(whole, 1)}
        for k in alike:
            names[k] = told[lines[k]]
    return names


def _alike(texts: Sequence[str]) -> int:
    """With how many signs all texts begin alike."""
    least, most = min(texts), max(texts)
    return next((k for k, sign in enumerate(least) if most[k : k + 1] != sign), len(least))


def draw_legend(ax: Axes) -> None:
    """The legend beside the axes where the figure makes room for it, else in their emptiest corner."""
    from matplotlib.lines import Line2D

    handles, names = ax.get_legend_handles_labels()
    if not handles:
        return
    if len(names) > MOST_NAMES:
        left_out = len(names) - MOST_NAMES + 1
        handles = [*handles[: MOST_NAMES - 1], Line2D([], [], linestyle="none")]
        names = [*names[: MOST_NAMES - 1], f"and {left_out:,} more"]
    names = shortened_apart(names, 24)
    if figure_of(ax).get_layout_engine() is None:
        ax.legend(handles, names, loc="best", frameon=True)
    else:
        ax.legend(handles, names, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def figure_of(ax: Axes | Figure) -> Any:
    """The figure, of axes or itself."""
    return ax if hasattr(ax, "savefig") else ax.get_figure()
