"""A release as the viewer of the page takes it: variables in words, values in row-major order, their likely ranges.

One more format of the same release: it holds nothing that the release does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from discreet.base.annotations import Array
from discreet.data.variable_description import is_ordered
from discreet.formats import Format
from discreet.formats.layers import ABSENT, MEANING, Cube, heading
from discreet.release import CONFIDENTIAL, Release
from discreet.release.noise_law import LEVEL
from discreet.release.sum_errors import OWN_ENDS

VIEW = Format(
    "view", ".view.json", "application/vnd.discreet.view+json", "the page's own: values with likely ranges", "view_data"
)
COUNTS = ("count", "weighted count")  # of which parts are a share
SIGNS = range(ord("0"), ord("Z") + 1)  # none that JSON writes otherwise


def view_bytes(release: Release) -> bytes:
    """The table for the viewer: null where a value is not shown, with the reason in ``marks`` by position.

    >>> import discreet as dc
    >>> release = dc.protect(dc.Table.of([3, 8], ["sex"]), dc.Redact(9)).release()
    >>> document = orjson.loads(view_bytes(release))
    >>> document["values"], document["marks"]
    ([11.0, None, None], {'1': 'c', '2': 'c'})
    """
    release.check_marked()
    cube = Cube.of(release)
    measure = next(iter(release.values))
    likely = release.likely(measure)
    marks = cube.spread(release.status.astype("<U1"), ABSENT)
    document = {
        "title": release.title or heading(release),
        "source": release.source,
        "method": release.method,
        "notes": list(release.notes),
        "measure": _measure(release, measure),
        "level": LEVEL,
        "dimensions": [_variable(cube, k) for k in range(len(cube.dimensions))],
        "population": [
            {"name": d.name, "label": d.title, "code": code, "category": d.label(code)} for d, code in release.fixed
        ],
        "values": _numbers(cube.spread(release.values[measure].astype(float), np.nan)),
        "low": None if likely is None else _numbers(cube.spread(likely[0], np.nan)),
        "high": None if likely is None else _numbers(cube.spread(likely[1], np.nan)),
        "errors": _errors(cube, release, measure),
        "marks": {str(place): str(marks[place]) for place in np.flatnonzero(marks != "").tolist()},
        "meaning": {CONFIDENTIAL: MEANING[CONFIDENTIAL], ABSENT: MEANING[ABSENT]},
    }
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)


def _measure(release: Release, name: str) -> dict[str, Any]:
    said = {"name": name, "label": release.words.label(name), "unit": release.words.unit(name)}
    return {**said, "decimals": release.decimals[name], "shares": name in COUNTS}


def _numbers(values: Array) -> Array:
    """Whole numbers without a point, where all are shown and whole."""
    whole = np.isfinite(values).all() and bool((values % 1 == 0).all())
    return np.ascontiguousarray(values.astype(np.int64) if whole else values)


def _errors(cube: Cube, release: Release, measure: str) -> dict[str, Any] | None:
    """What cells add to the range of a sum of them, as the viewer takes it: a sign for each cell that says its row.

    Signs begin with that of cells whose own ends are added. There are few different rows, since a method has few
    parameters; where there are more than signs, places of rows are a list.
    """
    errors = release.errors(measure)
    if errors is None:
        return None
    rows, row = np.unique(errors.rows, axis=0, return_inverse=True)
    kinds = np.where(errors.kinds == OWN_ENDS, OWN_ENDS, row.reshape(-1)[errors.kinds])
    used = np.unique(kinds[kinds != OWN_ENDS])
    places = cube.spread(np.where(kinds == OWN_ENDS, OWN_ENDS, np.searchsorted(used, kinds)), OWN_ENDS)
    written = (places + SIGNS[0] + 1).astype(np.uint8).tobytes().decode() if len(used) < len(SIGNS) else places
    return {"once": errors.once, "rows": rows[used].tolist(), "kinds": written}


def _variable(cube: Cube, k: int) -> dict[str, Any]:
    """A variable in words, and its categories as they lie in each other; ``parents`` are positions."""
    dimension, codes = cube.dimensions[k], cube.codes[k]
    place = {code: n for n, code in enumerate(codes)}
    parents: list[int | None] = [None] * len(codes)
    for code, below in cube.children(k).items():
        for part in below:
            if parents[place[part]] is None and part != code:
                parents[place[part]] = place[code]
    labels = cube.labels(k)
    leaves = [labels[n] for n, code in enumerate(codes) if code in dimension.leaf_position]
    return {
        "name": dimension.name,
        **dimension.description.texts,
        "label": dimension.title,
        "codes": codes,
        "labels": labels,
        "parents": parents,
        "total": None if dimension.total is None else place.get(dimension.total),
        "ordered": is_ordered(leaves),
        "geometry": bool(dimension.description.geometry),
    }
