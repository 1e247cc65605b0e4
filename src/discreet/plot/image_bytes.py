"""Figures as text and bytes, the same every time."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from discreet.base.arguments import checked
from discreet.plot.figure_style import STYLE, figure_of
from discreet.plot.finishing import finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOUR_BAR = "<colorbar>"  # how matplotlib marks axes that are a scale


@checked
def svg(ax: Axes | Figure) -> str:
    """The picture as SVG text to put into a page, the same bytes every time.

    >>> from discreet import plot
    >>> plot.svg(plot.term_bars({"R1": {"zeros": 0.1}}))[:4]
    '<svg'
    """
    out = io.StringIO()
    _save(ax, out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


@checked
def png(ax: Axes | Figure, *, dpi: int = 110) -> bytes:
    """The picture as PNG bytes, ``dpi`` pixels an inch.

    >>> from discreet import plot
    >>> plot.png(plot.term_bars({"R1": {"zeros": 0.1}}))[1:4]
    b'PNG'
    """
    out = io.BytesIO()
    _save(ax, out, format="png", dpi=dpi, metadata={"Software": None})
    return out.getvalue()


def _save(ax: Axes | Figure, out: Any, **options: Any) -> None:
    from matplotlib import rc_context

    figure = figure_of(ax)
    for one in figure.axes:
        if one.get_label() != COLOUR_BAR:
            finish(one)
    with rc_context({**STYLE, "svg.hashsalt": "discreet", "svg.fonttype": "none"}):
        figure.savefig(out, **options)
