"""Areas that do not exist, for maps of synthetic data: neighbours with crooked borders, always the same."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from typing import Any

HALVINGS = 4  # of every border
CROOKED = 0.16  # how far the middle of a border is moved, by its length
SPREAD = 0.28  # how far a corner is moved, by the size of a field

Point = tuple[float, float]


def invented_areas(codes: Sequence[str]) -> str:
    """GeoJSON of one area for each code, in rows from the north.

    >>> [one["properties"]["code"] for one in json.loads(invented_areas(["R1", "R2"]))["features"]]
    ['R1', 'R2']
    """
    across = math.ceil(math.sqrt(len(codes)))
    rows = [codes[k : k + across] for k in range(0, len(codes), across)]
    features: list[dict[str, Any]] = []
    for y, line in enumerate(rows):
        for x, code in enumerate(line):
            last = x == len(line) - 1
            # the last of a short row takes the rest of it; its borders go through all corners of the row below
            right = range(x + 1, (across if last else x + 1) + 1)
            bottom = [(k, y + 1) for k in (x, *right)]
            corners = [(x, y), *((k, y) for k in right), *reversed(bottom)]
            ring = _ring(corners, across, len(rows))
            shape = {"type": "Polygon", "coordinates": [ring]}
            features.append({"type": "Feature", "properties": {"code": code}, "geometry": shape})
    return json.dumps({"type": "FeatureCollection", "features": features}, separators=(",", ":"))


def _ring(corners: Sequence[tuple[int, int]], across: int, down: int) -> list[list[float]]:
    """The border of an area, closed; neighbours have the same points on what they share."""
    points = []
    for one, two in zip(corners, [*corners[1:], corners[0]], strict=True):
        a, b = sorted((one, two))
        border = _border(_corner(a, across, down), _corner(b, across, down), f"{a}{b}", HALVINGS)
        points += border[:-1] if (a, b) == (one, two) else border[::-1][:-1]
    return [[round(8 + x, 4), round(54 - y, 4)] for x, y in [*points, points[0]]]


def _corner(at: tuple[int, int], across: int, down: int) -> Point:
    east, south = _chances(f"corner {at} {across} {down}")
    return at[0] + SPREAD * east, 0.75 * (at[1] + SPREAD * south)


def _border(one: Point, two: Point, name: str, halvings: int) -> list[Point]:
    if not halvings:
        return [one, two]
    aside, along = _chances(f"{name} {halvings}")
    dx, dy = two[0] - one[0], two[1] - one[1]
    middle = (
        (one[0] + two[0]) / 2 + CROOKED * (along * dx / 2 - aside * dy),
        (one[1] + two[1]) / 2 + CROOKED * (along * dy / 2 + aside * dx),
    )
    return _border(one, middle, f"{name}a", halvings - 1)[:-1] + _border(middle, two, f"{name}b", halvings - 1)


def _chances(name: str) -> tuple[float, float]:
    """Two numbers from -1 to 1 that a name always has."""
    digest = hashlib.sha256(name.encode()).digest()
    one, two = (int.from_bytes(digest[k : k + 4], "big") / 2**31 - 1 for k in (0, 4))
    return one, two
