"""Pictures of the server's pages: texts do not overlap, axes have units, the map shows frontier and threshold."""

from __future__ import annotations

import itertools
import math
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import ImageFont

from discreet.server.views.charts import Point, risk_utility_chart

FONT = ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf"), 12)
NAMES = st.text("abcmwRU 0123=,()<&", min_size=1, max_size=60)
POINTS = st.builds(Point, NAMES, st.floats(0, 1), st.floats(0, 1), st.booleans())


def boxes(svg: str) -> list[tuple[str, float, float, float, float]]:
    """Texts with the boxes around their ink, by a font that is wider than most; turned ones on their side."""
    found = []
    for text in ET.fromstring(svg).iter("text"):
        words = text.text or ""
        left, top, right, bottom = FONT.getbbox(words, anchor="ls")
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        shift = {"middle": (right - left) / 2, "end": right - left}.get(text.attrib.get("text-anchor", ""), 0.0)
        if "transform" in text.attrib:
            found.append((words, x + top, y - shift, x + bottom, y + shift))
        else:
            found.append((words, x - shift + left, y + top, x - shift + right, y + bottom))
    return found


def overlaps(svg: str) -> list[tuple[str, str]]:
    return [
        (one[0], other[0])
        for one, other in itertools.combinations(boxes(svg), 2)
        if min(one[3], other[3]) - max(one[1], other[1]) > 0.5
        and min(one[4], other[4]) - max(one[2], other[2]) > 0.5
    ]  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(st.lists(POINTS, max_size=30), st.none() | st.floats(0, 1))
def test_texts_of_a_map_do_not_overlap(points: list[Point], t2: float | None) -> None:
    """Wherever methods are; axes say their units, and the threshold its name."""
    svg = str(risk_utility_chart(points, t2))
    assert overlaps(svg) == []
    texts = [text for text, *_ in boxes(svg)]
    assert {"utility (1 = nothing lost)", "disclosure risk (0 = none)"} <= set(texts)
    assert t2 is None or f"most risk allowed: {t2:g}" in texts
    assert svg.count("<circle") == len(points)


def test_a_name_apart_from_its_point_has_a_line_to_it_and_what_is_for_comparison_no_step() -> None:
    """Which point a name is of can be told; publishing a table as it is is none of the methods."""
    close = [Point(f"{n}. a-method", 0.04 + 0.001 * n, 0.99 + 0.001 * n, n == 0) for n in range(6)]
    svg = str(risk_utility_chart([*close, Point("as it is", 0.1, 1.0, best=False, reference=True)], None))
    assert svg.count('class="leader"') >= 1
    assert svg.count('class="reference"') == 1
    path = ET.fromstring(svg).find("path")
    assert path is not None
    ring = next(one for one in ET.fromstring(svg).iter("circle") if one.attrib["class"] == "reference")
    assert f"H{ring.attrib['cx']}" not in path.attrib["d"]


@pytest.mark.parametrize("number", [0, 1, 2, 40])
def test_equal_methods_and_those_that_cannot_be_drawn(number: int) -> None:
    """Many names at one place; a method without risk or utility is not drawn."""
    points = [Point(f"random-round(base={k})", 0.2, 0.9, False) for k in range(number)]
    nowhere = [Point("refused", math.nan, 0.5, False), Point("nothing left", 0.1, -math.inf, False)]
    svg = str(risk_utility_chart([*points, *nowhere], 0.2))
    assert overlaps(svg) == []
    assert svg.count("<circle") == number
    assert "nan" not in svg
    assert "inf" not in svg
    assert ('class="frontier"' in svg) == (number > 0)


def test_steps_go_through_the_non_dominated_methods() -> None:
    """By rising utility; a dominated one is beside them."""
    points = [Point("a", 0.1, 0.5, False), Point("b", 0.3, 0.9, True), Point("c", 0.3, 0.7, False)]
    root = ET.fromstring(str(risk_utility_chart(points, None)))
    at = {circle[0].text: (circle.attrib["cx"], circle.attrib["cy"]) for circle in root.iter("circle")}
    [path] = [one.attrib["d"] for one in root.iter("path")]
    assert path == f"M{at['a'][0]} {at['a'][1]}V{at['b'][1]}H{at['b'][0]}"
