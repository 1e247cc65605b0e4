"""Where the labels of points go so that none overlaps another: boxes on rings around each point, the nearest first.

Geometry alone, in whatever unit the caller measures: pixels of a figure, or units of an SVG page.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.base.annotations import Array

Box = tuple[float, float, float, float]
"""Left, lower, right and upper edge."""

DIRECTIONS = ((1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))
STEPS = 60
"""Points by which a line is looked at."""
RINGS = (0.5, 1.5, 2.75, 4.25, 6.0, 8.0)  # distances from the point, in heights of a line


def overlapping(box: Array, others: Array) -> Array:
    """Which of the other boxes share an inner point with this one; one row ``(left, lower, right, upper)`` a box.

    >>> overlapping(np.array([0, 0, 2, 1]), np.array([[1, 0, 3, 1], [2, 0, 4, 1]])).tolist()
    [True, False]
    """
    left, lower, right, upper = np.moveaxis(np.asarray(others, float).reshape(-1, 4), 1, 0)
    return np.asarray((left < box[2]) & (right > box[0]) & (lower < box[3]) & (upper > box[1]))


def around(point: Sequence[float], size: Sequence[float], line: float) -> Array:
    """Boxes of one size around a point, the nearest first; ``line`` is the height of a line of text.

    >>> around((0, 0), (10, 4), 4)[0].tolist()
    [2.0, 2.0, 12.0, 6.0]
    """
    (x, y), (width, height) = point, size
    boxes = []
    for ring in RINGS:
        for across, up in DIRECTIONS:
            gap = ring * line
            left = x - width / 2 + across * (gap + width / 2)
            lower = y - height / 2 + up * (gap + height / 2)
            boxes.append((left, lower, left + width, lower + height))
    return np.array(boxes, float)


def label_boxes(
    points: Sequence[Sequence[float]],
    sizes: Sequence[Sequence[float]],
    frame: Box,
    *,
    taken: Sequence[Box] = (),
    line: float = 10.0,
    margin: float = 1.0,
) -> list[Box | None]:
    """A box for the label of each point, in the order of the points: inside the frame, over no label, no taken box.

    A label that would cover points goes over them only if there is nowhere else; one that fits nowhere gets None. The
    line from a point to a label that stands apart from it runs through no other label.

    >>> label_boxes([(50, 50), (50, 50)], [(20, 8), (20, 8)], (0, 0, 100, 100), line=8)
    [(54.0, 54.0, 74.0, 62.0), (54.0, 38.0, 74.0, 46.0)]
    >>> label_boxes([(50, 50)], [(200, 8)], (0, 0, 100, 100))
    [None]
    """
    there = np.array(list(taken), float).reshape(-1, 4)
    lines = np.empty((0, 2))
    marks = np.array([(x - line / 3, y - line / 3, x + line / 3, y + line / 3) for x, y in points]).reshape(-1, 4)
    chosen: list[Box | None] = []
    for point, size in zip(points, sizes, strict=True):
        free = []
        for box in around(point, size, line):
            wide = box + np.array([-margin, -margin, margin, margin])
            inside = box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]
            if not inside or overlapping(wide, there).any() or _inside(lines, box):
                continue
            if not any(_inside(_line_to(box, point, line), other) for other in there):
                free.append(box)
        if not free:
            chosen.append(None)
            continue
        clear = [box for box in free if not overlapping(box, marks).any()]
        best = (clear or free)[0]
        there = np.vstack([there, best])
        lines = np.vstack([lines, _line_to(best, point, line)])
        chosen.append((float(best[0]), float(best[1]), float(best[2]), float(best[3])))
    return chosen


def _line_to(box: Array, point: Sequence[float], line: float) -> Array:
    """Points of the line between a point and its label, from its middle on; none where the label is beside it."""
    nearest = np.clip(point, box[:2], box[2:])
    if float(np.abs(nearest - point).max()) <= line:
        return np.empty((0, 2))
    middle = (box[:2] + box[2:]) / 2
    return np.asarray(point + np.linspace(0, 1, STEPS)[:, None] * (middle - point))


def _inside(points: Array, box: Array) -> bool:
    """Whether one of the points is inside a box."""
    return bool(((points > box[:2]) & (points < box[2:])).all(axis=1).any())
