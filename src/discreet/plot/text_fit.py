"""Texts that make room for each other when a figure is drawn, whatever its size and resolution by then.

Labels of points go where there is room, labels of ticks and numbers in cells that do not fit are left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.text import Annotation, Text

from discreet.plot.figure_style import GREY, INK, LONGEST_NAME, SMALL, shortened, shortened_apart
from discreet.plot.label_places import Box, label_boxes, overlapping

FIRST = -1e9  # below everything else, so that it is drawn, and has moved the others, before they are drawn
LEAST = 5.0  # points; smaller numbers are not read


@dataclass(eq=False)
class TextFit(Artist):
    """Draws nothing itself: it finds places for the texts of its axes just before they are drawn."""

    names: list[Annotation] = field(default_factory=list)
    """Labels of points, the most important first."""
    numbers: list[Text] = field(default_factory=list)
    """Numbers that stand in cells one unit wide and high."""

    def __post_init__(self) -> None:
        super().__init__()
        self.set_zorder(FIRST)
        self.set_in_layout(False)
        self._hidden: list[Text] = []
        self._cuts: dict[Text, tuple[str, str]] = {}  # as it was, and as it was cut

    def draw(self, renderer: Any) -> None:
        """Places for this size and resolution."""
        ax: Any = self.axes
        for text in self._hidden:
            text.set_visible(True)
        self._hidden = []
        for axis in (ax.xaxis, ax.yaxis):
            self._thin(axis, renderer)
        frame = ax.get_window_extent(renderer)
        self._cut(ax.xaxis.label, frame.width, renderer)
        self._cut(ax.yaxis.label, frame.height, renderer)
        self._cut(ax.title, frame.width, renderer)
        self._fit_numbers(ax, renderer)
        self._place_names(ax, renderer)

    def _thin(self, axis: Axis, renderer: Any) -> None:
        """Every label of a tick, or every second one, or every third, until none overlaps its neighbour."""
        texts = [text for text in axis.get_majorticklabels() if text.get_text()]
        boxes = np.array([text.get_window_extent(renderer).extents for text in texts]).reshape(-1, 4)
        step = next((k for k in range(1, len(texts)) if not _touching(boxes[::k])), max(len(texts), 1))
        for place, text in enumerate(texts):
            if place % step:
                text.set_visible(False)
                self._hidden.append(text)

    def _cut(self, text: Text, room: float, renderer: Any) -> None:
        """Leave out the middle of a title or of an axis' name that is longer than the axes; the unit is at the end."""
        if text in self._cuts and text.get_text() == self._cuts[text][1]:
            text.set_text(self._cuts[text][0])
        whole = text.get_text()
        length = float(max(text.get_window_extent(renderer).size))
        most = len(whole)
        while length > room and most > 1:
            most = max(1, min(most - 1, int(most * room / length)))
            text.set_text(_cut_name(whole, most))
            length = float(max(text.get_window_extent(renderer).size))
        self._cuts[text] = (whole, text.get_text())

    def _fit_numbers(self, ax: Axes, renderer: Any) -> None:
        """One size for all numbers in cells: the largest that fits every cell, none at all if that cannot be read."""
        if not self.numbers:
            return
        for text in self.numbers:
            text.set(visible=True, fontsize=SMALL)
        (left, lower), (right, upper) = ax.transData.transform([(0, 0), (1, 1)])
        sizes = np.array([text.get_window_extent(renderer).size for text in self.numbers])
        room = 0.92 * np.abs([right - left, upper - lower])
        scale = min(1.0, float(np.min(room / np.maximum(sizes.max(axis=0), 1e-9))))
        for text in self.numbers:
            text.set(fontsize=SMALL * scale, visible=SMALL * scale >= LEAST)

    def _place_names(self, ax: Axes, renderer: Any) -> None:
        if not self.names:
            return
        for name in self.names:
            name.set_visible(True)
        taken = [_box(text, renderer) for text in ax.texts if text not in self.names and text.get_visible()]
        if (legend := ax.get_legend()) is not None:
            taken.append(_box(legend, renderer))
        points = ax.transData.transform([name.xy for name in self.names])
        sizes = [Text.get_window_extent(name, renderer).size for name in self.names]
        line = renderer.points_to_pixels(SMALL)
        frame = _box(ax.patch, renderer)
        boxes = label_boxes(points.tolist(), sizes, frame, taken=taken, line=line, margin=line / 8)
        for name, point, box in zip(self.names, points, boxes, strict=True):
            name.set_visible(box is not None)
            if box is not None:
                _move(name, point, box, line, 72 / renderer.points_to_pixels(72))


def _move(name: Annotation, point: Any, box: Box, line: float, points_a_pixel: float) -> None:
    """Put a label into its box; one that is not beside its point gets a line to it."""
    middle = np.array([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2])
    name.set_position(((middle - point) * points_a_pixel).tolist())
    nearest = np.clip(point, (box[0], box[1]), (box[2], box[3]))
    if name.arrow_patch is not None:
        name.arrow_patch.set_visible(float(np.abs(nearest - point).max()) > line)


def _cut_name(whole: str, most: int) -> str:
    """So many characters of a label, the unit in brackets in full if any of the name is left beside it.

    >>> _cut_name("probability (0 to 1)", 15), _cut_name("probability (0 to 1)", 7)
    ('pro…ty (0 to 1)', 'pro… 1)')
    """
    name, bracket, unit = whole.rpartition(" (")
    left = most - len(bracket + unit)
    return f"{shortened(name, left)}{bracket}{unit}" if bracket and left >= 4 else shortened(whole, most)


def _box(artist: Any, renderer: Any) -> Box:
    left, lower, right, upper = artist.get_window_extent(renderer).extents
    return float(left), float(lower), float(right), float(upper)


def _touching(boxes: Any) -> bool:
    """Whether a box overlaps the next one; ticks come in order along their axis, so no others can."""
    return any(overlapping(one, other).any() for one, other in itertools.pairwise(boxes))


def text_fit_of(ax: Axes) -> TextFit:
    """What finds places for the texts of these axes; made when it is first asked for."""
    for artist in ax.artists:
        if isinstance(artist, TextFit):
            return artist
    return ax.add_artist(TextFit())  # type: ignore[return-value]


def name_points(ax: Axes, points: Sequence[tuple[float, float]], names: Sequence[str]) -> None:
    """Write names beside points of the data, the most important first: those that find no room are left out."""
    fit = text_fit_of(ax)
    for point, name in zip(points, shortened_apart(names, LONGEST_NAME), strict=True):
        fit.names.append(
            ax.annotate(
                name,
                point,
                xytext=(0, 0),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize=SMALL,
                color=INK,
                parse_math=False,
                arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3},
            )
        )


def write_numbers(ax: Axes, numbers: Iterator[tuple[float, float, str, str]]) -> None:
    """Write numbers into cells of one unit: where the middle is, what is written, and its colour."""
    fit = text_fit_of(ax)
    for x, y, number, colour in numbers:
        fit.numbers.append(ax.text(x, y, number, ha="center", va="center", color=colour, fontsize=SMALL))
