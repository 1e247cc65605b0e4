"""JSON-stat 2.0: one dataset, dense when every combination of codes is a cell."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from discreet.base.naming import unused
from discreet.formats.layers import MEANING, MEASURE, Cube, clean, heading
from discreet.release import CONFIDENTIAL, Release


def to_bytes(release: Release) -> bytes:
    """A JSON-stat 2.0 dataset; the last dimension holds the measures, so that their names and decimals have a place.

    ``value`` is a list, null where a value is not shown. If some combinations of codes are not part of the table it is
    an object by position instead, and those combinations have neither value nor status. ``status`` is 'c' where a
    value is confidential.

    >>> from discreet import Hide, Table
    >>> t = Table.of([[3, 1], [1, 2]], ["area", "sex"])
    >>> made = json.loads(to_bytes(Hide([{"area": "1", "sex": "2"}])(t).release()))
    >>> made["size"], made["value"], made["status"]
    ([3, 3, 1], [7, 4, 3, 4, 3, None, 3, 1, 2], {'5': 'c'})
    """
    cube = Cube.of(release)
    names = [d.name for d in release.dimensions]
    measure = unused(MEASURE, names)
    dataset: dict[str, Any] = {"version": "2.0", "class": "dataset", "label": heading(release)}
    if release.source:
        dataset["source"] = release.source
    dataset["note"] = [text for text in (release.method, *release.notes) if text]
    dataset["id"] = [*names, measure]
    dataset["size"] = [*cube.shape, len(release.values)]
    dataset["role"] = {"metric": [measure]}
    dataset["dimension"] = {
        **{d.name: _dimension(cube, k) for k, d in enumerate(release.dimensions)},
        measure: _measures(release, measure),
    }
    places = np.concatenate([cube.place * len(release.values) + m for m in range(len(release.values))])
    order = np.argsort(places, kind="stable")
    values = [v for name in release.values for v in _plain(release, name)]
    status = np.tile(release.status, len(release.values))
    if cube.full:
        dataset["value"] = [values[i] for i in order.tolist()]
    else:
        dataset["value"] = {str(places[i]): values[i] for i in order.tolist() if values[i] is not None}
    hidden = np.sort(places[status == CONFIDENTIAL]).tolist()
    dataset["status"] = {str(place): CONFIDENTIAL for place in hidden}
    dataset["extension"] = {
        "discreet": {"method": release.method, "status": {CONFIDENTIAL: MEANING[CONFIDENTIAL]}},
    }
    return json.dumps(dataset, ensure_ascii=False, separators=(",", ":")).encode()


def _dimension(cube: Cube, k: int) -> dict[str, Any]:
    category: dict[str, Any] = {
        "index": list(cube.codes[k]),
        "label": dict(zip(cube.codes[k], cube.labels(k), strict=True)),
    }
    if children := cube.children(k):
        category["child"] = children
    return {"label": cube.dimensions[k].title, "category": category}


def _measures(release: Release, name: str) -> dict[str, Any]:
    words = release.words
    units: dict[str, dict[str, Any]] = {n: {"decimals": digits} for n, digits in release.decimals.items()}
    units = {n: {**told, **({"label": words.unit(n)} if words.unit(n) else {})} for n, told in units.items()}
    labels = {n: words.label(n) for n in release.values}
    return {"label": name, "category": {"index": [*labels], "label": labels, "unit": units}}


def _plain(release: Release, name: str) -> list[Any]:
    """The values of a measure as Python numbers, None where not shown."""
    values, digits = release.values[name], release.decimals[name]
    gone = np.isnan(values)
    plain: list[Any] = (clean(values, digits) if digits else np.where(gone, 0, values).astype(np.int64)).tolist()
    for i in np.flatnonzero(gone).tolist():
        plain[i] = None
    return plain
