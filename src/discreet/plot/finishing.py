"""Axes brought into the one style of all figures, whoever made them, with texts that make room for each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.base.arguments import checked
from discreet.plot.figure_style import FONT, GREY, INK, NORMAL, PAPER, SMALL, figure_of, number_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text


@checked
def finish(ax: Axes) -> Axes:
    """Bring axes into the style of all figures; texts that would overlap make room when the figure is drawn.

    For your own drawings: every function of this package, ``svg`` and ``png`` call it. Doing it twice changes nothing.

    >>> from discreet import plot
    >>> ax = plot.axes()
    >>> [line] = ax.plot([0, 1], [2000, 1000])
    >>> finish(ax).yaxis.get_major_formatter()(1500)
    '1,500'
    """
    figure_of(ax).set_facecolor(PAPER)
    ax.set_facecolor(PAPER)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    for axis in (ax.xaxis, ax.yaxis):
        _numbers(axis)
        axis.label.set(color=INK, fontsize=NORMAL, fontfamily=FONT, parse_math=False)
        axis.set_tick_params(labelsize=SMALL, labelcolor=INK, color=GREY, labelfontfamily=FONT)
        for tick in axis.get_major_ticks(len(axis.get_majorticklocs())):  # they are made now, and would forget it later
            tick.label1.set_parse_math(False)
    _written([ax.title], NORMAL)
    _written(ax.texts, SMALL)
    if (legend := ax.get_legend()) is not None:
        _written([*legend.get_texts(), legend.get_title()], SMALL)
    from discreet.plot.text_fit import text_fit_of

    text_fit_of(ax)
    return ax


def _written(texts: Sequence[Text], size: float) -> None:
    for text in texts:
        text.set(fontsize=size, fontfamily=FONT, parse_math=False)
        if text.get_color() == "black":  # what nobody chose a colour for
            text.set_color(INK)


def _numbers(axis: Any) -> None:
    """Numbers in full, with commas, on linear and logarithmic axes alike; labels that were set stay."""
    from matplotlib.ticker import FuncFormatter, LogFormatter, NullFormatter, ScalarFormatter

    if isinstance(axis.get_major_formatter(), ScalarFormatter | LogFormatter):
        axis.set_major_formatter(FuncFormatter(lambda value, place: number_text(value)))
        axis.set_minor_formatter(NullFormatter())
