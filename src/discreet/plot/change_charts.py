"""What protection does to numbers, and what it leaves possible, as pictures."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.plot.figure_style import (
    BLUE,
    COLOURS,
    INK,
    PALE,
    VERMILION,
    axes,
    draw_legend,
    shortened,
    shortened_apart,
)
from discreet.plot.finishing import finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@checked
def noise(transition: Any, counts: Sequence[int] = (1, 2, 3, 10), *, title: str = "", ax: Axes | None = None) -> Axes:
    """What a method adds to small counts, with the probabilities: one group of bars a count.

    ``transition`` has a method ``outcomes(count)`` that gives pairs of shown count and probability.

    >>> import discreet as dc
    >>> noise(dc.RandomRound(3).transition(), (1, 2)).get_xlabel()
    'noise (units of the count)'
    """
    ax = axes(ax, width=5.2, height=2.8)
    width = 0.8 / max(len(counts), 1)
    lowest = highest = 0
    for k, (count, colour) in enumerate(zip(counts, itertools.cycle(COLOURS), strict=False)):
        shown, p = zip(*transition.outcomes(count), strict=True)
        added = np.array(shown) - count
        ax.bar(added + (k - (len(counts) - 1) / 2) * width, p, width=width, label=f"count {count:,}", color=colour)
        lowest, highest = min(lowest, int(added.min())), max(highest, int(added.max()))
    ax.set_xticks(range(lowest, highest + 1, max(1, (highest - lowest) // 12)))
    ax.set(xlabel="noise (units of the count)", ylabel="probability (0 to 1)", title=shortened(title, 60))
    draw_legend(ax)
    return finish(ax)


@checked
def changes(
    true: Any, shown: Any, *, title: str = "", unit: str = "units of the table", ax: Axes | None = None
) -> Axes:
    """Change of every cell against its true value (confidential unless the data are made up).

    >>> changes([1, 2], [0, 3], unit="people").get_ylabel()
    'change (people)'
    """
    x, y = np.asarray(true, float).ravel(), np.asarray(shown, float).ravel()
    ax = axes(ax, width=4.8, height=2.8)
    ax.axhline(0, color=PALE, linewidth=1)
    ax.plot(x, y - x, ".", markersize=3, alpha=0.5, color=BLUE)
    unit = shortened(unit)
    ax.set(xlabel=f"true value ({unit})", ylabel=f"change ({unit})", title=shortened(title, 60))
    ax.set_xscale("symlog")
    return finish(ax)


@checked
def intervals(
    labels: Sequence[str],
    lower: Array,
    upper: Array,
    truth: Array | None,
    exposed: Array,
    *,
    unit: str = "units of the table",
    ax: Axes | None = None,
) -> Axes:
    """What is left possible for each cell as a bar, exposed ones in another colour, the truth marked (confidential).

    >>> import numpy as np
    >>> ax = intervals(["a", "b"], np.array([0, 4]), np.array([9, 4]), None, np.array([False, True]), unit="people")
    >>> ax.get_xlabel()
    'possible values (people)'
    """
    ax = axes(ax, width=7.2, height=max(1.8, 0.26 * len(labels) + 0.9))
    top = float(np.max(upper[np.isfinite(upper)], initial=1.0))
    low, high = np.where(np.isfinite(lower), lower, -top), np.where(np.isfinite(upper), upper, 1.2 * top)
    place = np.arange(len(labels))
    for shown, colour, name in ((~exposed, BLUE, "not exposed"), (exposed, VERMILION, "exposed")):
        if shown.any():
            ax.barh(place[shown], (high - low)[shown], left=low[shown], height=0.6, color=colour, alpha=0.6, label=name)
    ax.plot(low[exposed], place[exposed], "d", color=VERMILION, markersize=5)
    if truth is not None:
        ax.plot(truth, place, "|", color=INK, markersize=9, label="true value")
    ax.set_yticks(place, shortened_apart(labels))
    ax.invert_yaxis()
    ax.set(xlabel=f"possible values ({shortened(unit)})", ylabel="cell (codes)")
    ax.set_title("confidential" if truth is not None else "")
    draw_legend(ax)
    return finish(ax)
