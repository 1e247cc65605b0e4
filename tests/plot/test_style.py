"""One style for all figures: colours that everybody tells apart, type, and what the map must show."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import colormaps, rc_context
from matplotlib.colors import to_rgb

import discreet as dc
from discreet.errors import DiscreetError
from discreet.plot.figure_style import COLOURS, COUNTS, FONT, NORMAL, PAPER, RISKS, SMALL, shortened, shortened_apart
from discreet.plot.label_places import label_boxes

ROOT = Path(__file__).parents[2]
# Machado, Oliveira and Fernandes (2009), severity 1: what linear light becomes to the three kinds of colour blindness
BLIND = {
    "nobody": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def lab(colour: Any, kind: str = "nobody") -> np.ndarray:
    """CIELAB of a colour as somebody with this kind of colour blindness sees it."""
    rgb = np.array(to_rgb(colour))
    light = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = TO_XYZ @ np.clip(np.array(BLIND[kind]) @ light, 0, 1) / WHITE
    root = np.where(seen > 0.008856, np.cbrt(seen), 7.787 * seen + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


@pytest.mark.parametrize("kind", BLIND)
def test_colours_differ_for_every_eye(kind: str) -> None:
    """Neighbouring colours of a figure, and each from the background, by far more than the eye needs (about 2)."""
    for one, other in itertools.combinations((*COLOURS, PAPER), 2):
        assert np.linalg.norm(lab(one, kind) - lab(other, kind)) > 9, (one, other)
    for scale in (COUNTS, RISKS):
        lightness = [lab(colormaps[scale](share), kind)[0] for share in np.linspace(0, 0.85, 12)]
        assert (np.diff(lightness) < 0).all(), "more is darker"


def test_red_and_green_would_not_do() -> None:
    """The law above can fail."""
    assert np.linalg.norm(lab("#808000", "deuteranopia") - lab("#a06a00", "deuteranopia")) < 9


def test_axes_of_others_take_the_style() -> None:
    """Whatever style the user has chosen for theirs, and twice as once."""
    from matplotlib.figure import Figure

    with rc_context({"font.size": 20, "axes.facecolor": "black", "text.color": "white", "axes.labelcolor": "white"}):
        ax = Figure().subplots()
        dc.plot.risk_utility([0.1, 0.2], [0.9, 0.95], ["a", "b"], threshold=0.2, ax=ax)
    first = dc.plot.svg(ax)
    assert dc.plot.svg(ax) == first
    assert ax.get_facecolor() == (1, 1, 1, 1)
    sizes = {text.get_fontsize() for text in (ax.xaxis.label, ax.yaxis.label, ax.title)}
    assert sizes == {NORMAL}
    assert {text.get_fontsize() for text in ax.texts} == {SMALL}
    assert {text.get_fontfamily()[0] for text in (*ax.texts, ax.xaxis.label)} == {FONT}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_the_map_draws_the_frontier(points: list[tuple[int, int]]) -> None:
    """The steps go through exactly those places that no other point dominates."""
    risk, utility = [p[0] / 9 for p in points], [p[1] / 9 for p in points]
    ax = dc.plot.risk_utility(risk, utility, [str(k) for k in range(len(points))])
    [line] = [one for one in ax.lines if one.get_label() == "frontier"]
    drawn = {(u, r) for u, r in np.asarray(line.get_xydata(), float).tolist()}
    places = set(zip(utility, risk, strict=True))
    free = {(u, r) for u, r in places if not any(v >= u and s <= r and (v, s) != (u, r) for v, s in places)}
    assert drawn == free


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.5, 1.0])
def test_the_map_names_its_threshold(threshold: float) -> None:
    """Within the axes, also where no point is near it, and however many names there are."""
    number = 200
    ax = dc.plot.risk_utility([0.4] * number, [0.9] * number, ["name"] * number, threshold=threshold)
    figure: Any = ax.get_figure()
    figure.draw_without_rendering()
    [text] = [one for one in ax.texts if one.get_text() == f"most risk allowed: {threshold:g}"]
    assert text.get_visible()
    assert text.get_bbox_patch() is not None  # the line of the frontier ends behind it
    low, high = ax.get_ylim()
    assert low < threshold < high


BOX = st.tuples(st.floats(1, 60), st.floats(1, 20))
POINT = st.tuples(st.floats(0, 100), st.floats(0, 100))


@given(st.lists(st.tuples(POINT, BOX), max_size=25))
def test_boxes_of_labels_are_apart_and_inside(labels: list[tuple[tuple[float, float], tuple[float, float]]]) -> None:
    """Of the size that was asked for; the first label, if it is small, always finds a place."""
    boxes = label_boxes([p for p, _ in labels], [s for _, s in labels], (0, 0, 100, 100), line=5)
    placed = [(box, size) for box, (_, size) in zip(boxes, labels, strict=True) if box is not None]
    for (left, lower, right, upper), size in placed:
        assert min(left, lower) >= 0
        assert max(right, upper) <= 100
        assert (right - left, upper - lower) == pytest.approx(size)
    for (one, _), (other, _) in itertools.combinations(placed, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    if labels and max(labels[0][1]) < 20:
        assert boxes[0] is not None


def test_scripts_draw_through_the_one_style() -> None:
    """Pictures of the pages, notebooks and benchmarks: nobody asks matplotlib for figures of another style."""
    scripts = [*(ROOT / "docs").rglob("*.py"), *(ROOT / "docs").rglob("*.ipynb"), *(ROOT / "benchmarks").glob("*.py")]
    assert len(scripts) > 30
    asked = re.compile(r"pyplot|matplotlib\.figure|import matplotlib")
    assert [path.name for path in scripts if asked.search(path.read_text(encoding="utf-8"))] == []


def test_lengths_that_differ_are_refused() -> None:
    """In a sentence that names what must agree."""
    with pytest.raises(DiscreetError, match="same length"):
        dc.plot.risk_utility([0.1], [0.9], ["a"], groups=["x", "y"])


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.text(st.sampled_from("ab =,12"), min_size=1, max_size=60), min_size=1, max_size=8), st.integers(16, 40)
)
def test_names_that_differ_differ_when_they_are_short(names: list[str], most: int) -> None:
    lines = [" ".join(name.split()) for name in names]
    short = shortened_apart(names, most)
    assert all(len(name) <= most for name in short)
    assert all(line == name for line, name in zip(lines, short, strict=True) if len(line) <= most) or len(short) > 1
    alike = [shortened(line, most) for line in lines]
    for k, line in enumerate(lines):
        for m, other in enumerate(lines[:k]):
            if line != other and alike[k] == alike[m]:
                assert short[k] != short[m]


def test_the_name_of_the_threshold_covers_no_point() -> None:
    """It stands at the other end of the line, and points are drawn over its ground."""
    ax = dc.plot.risk_utility([0.1, 0.3], [0.1, 0.9], ["a", "b"], threshold=0.1)
    (name,) = [text for text in ax.texts if text.get_text().startswith("most risk")]
    assert name.get_horizontalalignment() == "right"
    assert all(points.get_zorder() > name.get_zorder() for points in ax.collections)


def test_lines_to_names_run_through_no_other_name() -> None:
    rng = np.random.default_rng(5)
    points = (1000 * rng.random((40, 2))).tolist()
    sizes = [(160.0, 12.0)] * 40
    boxes = label_boxes(points, sizes, (0.0, 0.0, 1000.0, 1000.0), line=12)
    assert sum(box is not None for box in boxes) > 20
    for point, box in zip(points, boxes, strict=True):
        if box is None:
            continue
        nearest = np.clip(point, box[:2], box[2:])
        steps = np.linspace(0, 1, 50)[:, None]
        line = point + steps * (nearest - point) if np.abs(nearest - point).max() > 12 else np.empty((0, 2))
        for other in boxes:
            if other is not None and other is not box:
                inside = (line > np.array(other[:2]) + 1) & (line < np.array(other[2:]) - 1)
                assert not inside.all(axis=1).any()
