"""Shapes for maps: read with the codebook, held to its codes, carried with it, and nothing else of the file."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.data.codebook import read_codebook
from discreet.datasets.area_maps import invented_areas

SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}


def feature(code: Any = "N", shape: Any = SQUARE, **more: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": {"code": code, "owner": "somebody"}, "geometry": shape, **more}


def book(folder: Path, features: Any) -> dc.Codebook:
    """A codebook whose variable has these shapes, read from files."""
    document = {"type": "FeatureCollection", "features": features}
    (folder / "areas.geojson").write_text(json.dumps(document))
    (folder / "book.toml").write_text('[[dimension]]\nname = "area"\ncodes = ["N", "S"]\ngeometry = "areas.geojson"\n')
    return read_codebook(folder / "book.toml")


def test_shapes_go_with_the_codebook(tmp_path: Path) -> None:
    """Written and read again without the file, with the code alone of all properties."""
    shapes = book(tmp_path, [feature("N"), feature("S")]).dimensions[0].description.geometry
    assert [one["properties"] for one in json.loads(shapes)["features"]] == [{"code": "N"}, {"code": "S"}]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "book.toml").write_text(book(tmp_path, [feature("N"), feature("S")]).to_toml())
    assert read_codebook(tmp_path / "other" / "book.toml").dimensions[0].description.geometry == shapes


def test_a_code_may_be_the_id(tmp_path: Path) -> None:
    """As many files have it; a number is a code, too."""
    shape = {"type": "Feature", "id": "S", "properties": None, "geometry": SQUARE}
    assert '"code":"S"' in book(tmp_path, [shape]).dimensions[0].description.geometry


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ([feature("NN")], "did you mean 'N'"),
        ([feature("N"), feature("N")], "a code twice"),
        ([feature(None)], "without a code"),
        ([feature("N", {"type": "Point", "coordinates": [0, 0]})], "another kind than areas"),
        ([feature("N", None)], "without a shape"),
        (["N"], "without a shape"),
        ([], "not GeoJSON of areas"),
        ("N", "not GeoJSON of areas"),
    ],
)
def test_wrong_shapes_are_errors(tmp_path: Path, features: Any, words: str) -> None:
    """In words that say what to give."""
    with pytest.raises(dc.InputError, match=words):
        book(tmp_path, features)


def test_a_file_that_is_not_there_or_not_json(tmp_path: Path) -> None:
    """Named, without the folder it should be in."""
    text = '[[dimension]]\nname = "area"\ncodes = ["N"]\ngeometry = "none.geojson"\n'
    (tmp_path / "book.toml").write_text(text)
    with pytest.raises(dc.InputError, match=r"'none\.geojson' cannot be read") as error:
        read_codebook(tmp_path / "book.toml")
    assert str(tmp_path / "none") not in str(error.value)
    (tmp_path / "none.geojson").write_text("shapes")
    with pytest.raises(dc.InputError, match="is not JSON"):
        read_codebook(tmp_path / "book.toml")


@pytest.mark.parametrize("number", [1, 2, 3, 7, 16])
def test_invented_areas_are_neighbours_without_gaps(number: int) -> None:
    """The areas of all add up to that of their common border: nothing overlaps, nothing is left out."""
    codes = [f"A{k}" for k in range(number)]
    features = json.loads(invented_areas(codes))["features"]
    assert [one["properties"]["code"] for one in features] == codes
    rings = [one["geometry"]["coordinates"][0] for one in features]
    assert all(ring[0] == ring[-1] for ring in rings)
    sides: dict[tuple[tuple[float, float], tuple[float, float]], int] = {}
    for ring in rings:
        for one, two in itertools.pairwise(ring):
            a, b = sorted([(one[0], one[1]), (two[0], two[1])])
            sides[a, b] = sides.get((a, b), 0) + 1
    assert set(sides.values()) <= {1, 2}
    outer = [side for side, times in sides.items() if times == 1]
    ends = [point for side in outer for point in side]
    assert all(ends.count(point) == 2 for point in ends)  # the common border is closed
    assert (2 in sides.values()) == (number > 1)
