"""Shapes of areas on a map: GeoJSON whose features have codes of a variable."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from discreet.base.texts import code_text
from discreet.errors import InputError, nearest

KINDS = ("Polygon", "MultiPolygon")
MOST_BYTES = 20_000_000
FORM = "a FeatureCollection of Polygons or MultiPolygons"


def read_shapes(stated: str, base: Path, codes: Collection[str], variable: str) -> str:
    """The shapes that a codebook names, by file or as text, with ``code`` as the only property of each.

    A feature's code is its property ``code``, else its ``id``; all must be codes of the variable.
    """
    text = stated if stated.lstrip().startswith("{") else _file_text(base / stated, variable)
    try:
        document = json.loads(text)
    except ValueError:
        raise InputError(f"geometry of {variable!r} is not JSON: give {FORM}, as a .geojson file") from None
    features = document.get("features") if isinstance(document, dict) else None
    if not isinstance(features, list) or not features:
        raise InputError(f"geometry of {variable!r} is not GeoJSON of areas: give {FORM}")
    shapes = [_feature(one, codes, variable) for one in features]
    if len({one["properties"]["code"] for one in shapes}) < len(shapes):
        raise InputError(
            f"geometry of {variable!r} has a code twice: give each area one feature, a MultiPolygon if need be"
        )
    return json.dumps({"type": "FeatureCollection", "features": shapes}, ensure_ascii=False, separators=(",", ":"))


def _file_text(path: Path, variable: str) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(
                f"geometry of {variable!r} has more than {MOST_BYTES:,} bytes: simplify the shapes, a map on a page "
                "needs few points"
            )
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"geometry of {variable!r}: the file {path.name!r} cannot be read") from None


def _feature(feature: Any, codes: Collection[str], variable: str) -> dict[str, Any]:
    """A feature with its code and its shape, and nothing else."""
    try:
        shape, properties = feature["geometry"], feature.get("properties") or {}
        stated = properties.get("code", feature.get("id"))
        kind, coordinates = shape["type"], shape["coordinates"]
    except (TypeError, KeyError, AttributeError):
        raise InputError(f"geometry of {variable!r} has a feature without a shape: give {FORM}") from None
    if kind not in KINDS:
        raise InputError(f"geometry of {variable!r} has a shape of another kind than areas: give {FORM}")
    if stated is None:
        raise InputError(
            f"geometry of {variable!r} has a feature without a code: give each a property 'code', or an id"
        )
    code = code_text(stated)
    if code not in codes:
        raise InputError(
            f"geometry of {variable!r} has a code that the variable has not, {code!r}; {nearest(code, codes)}"
        )
    return {"type": "Feature", "properties": {"code": code}, "geometry": {"type": kind, "coordinates": coordinates}}
