"""JSON-stat 2.0: one dataset, values as a list or by position, measures in the dimension of role metric."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.texts import read_text
from discreet.errors import InputError
from discreet.tables.reading.raw_table import HIDDEN, RawTable, heading_or_title, own_labels

VALUE = "value"  # what a measure without a name is called


def jsonstat_file(path: Path) -> RawTable:
    """The dataset of a file. A combination with neither value nor status is no cell if values are given by position."""
    text = read_text(path)
    try:
        dataset = json.loads(text)
    except json.JSONDecodeError:
        raise InputError(f"{path.name!r} is not JSON") from None
    if not isinstance(dataset, dict) or dataset.get("class") != "dataset":
        raise InputError(f"{path.name!r} is not a JSON-stat 2.0 dataset (class: dataset)")
    try:
        return _dataset(path.name, dataset)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise InputError(
            f"{path.name!r} is not a JSON-stat 2.0 dataset: id, size, dimension and value fit together"
        ) from None


def _dataset(file: str, dataset: Mapping[str, Any]) -> RawTable:
    names, size = list(dataset["id"]), [int(n) for n in dataset["size"]]
    categories = [_categories(dataset["dimension"][name]["category"]) for name in names]
    if [len(c) for c in categories] != size:
        raise ValueError
    metric = [n for n in (dataset.get("role") or {}).get("metric", []) if n in names]
    at = names.index(metric[0]) if metric else -1
    numbers, there = _values(dataset["value"], math.prod(size))
    marks = _marks(dataset.get("status"), len(numbers))
    there |= marks == HIDDEN
    order = [k for k in range(len(names)) if k != at] + ([at] if metric else [])
    cube = [a.reshape(size).transpose(order) for a in (numbers, there, marks)]
    measures = categories[at] if metric else [VALUE]
    flat = [a.reshape(-1, len(measures)) for a in cube]
    rows = np.flatnonzero(flat[1].any(axis=1))
    kept = [k for k in order if k != at]
    places = np.unravel_index(rows, [size[k] for k in kept]) if kept else ()
    units = dataset["dimension"][names[at]]["category"].get("unit", {}) if metric else {}
    values = {m: flat[0][rows, j] for j, m in enumerate(measures)}
    decimals = {m: max(int(units.get(m, {}).get("decimals", 0)), _decimals(values[m])) for m in measures}
    dims = tuple(names[k] for k in kept)
    return RawTable(
        name=file,
        names=dims,
        codes=tuple([categories[k][p] for p in place.tolist()] for k, place in zip(kept, places, strict=True)),
        values=values,
        decimals=decimals,
        status=_row_status(flat[2][rows]),
        labels={names[k]: _labels(dataset["dimension"][names[k]]["category"]) for k in kept},
        children={n: c for n in dims if (c := dataset["dimension"][n]["category"].get("child"))},
        **_words(dataset, dims, measures),
    )


def _categories(category: Mapping[str, Any]) -> list[str]:
    index = category.get("index", category.get("label", {}))
    if isinstance(index, Mapping):
        return [str(c) for c in sorted(index, key=lambda c: index[c])] if "index" in category else list(index)
    return [str(c) for c in index]


def _labels(category: Mapping[str, Any]) -> dict[str, str]:
    return own_labels({str(code): str(label) for code, label in category.get("label", {}).items()})


def _values(value: Any, size: int) -> tuple[Array, Array]:
    """Numbers over all combinations, NaN where there is none, and which combinations are cells."""
    numbers, there = np.full(size, np.nan), np.zeros(size, bool)
    if isinstance(value, Mapping):
        for place, number in value.items():
            there[int(place)] = True
            numbers[int(place)] = np.nan if number is None else float(number)
        return numbers, there
    if len(value) != size:
        raise ValueError
    numbers[:] = [np.nan if number is None else float(number) for number in value]
    return numbers, np.ones(size, bool)


def _marks(status: Any, size: int) -> Array:
    """The mark of every combination: that of a confidential value, any other as it stands, "" for none."""
    marks = np.full(size, "", object)
    if isinstance(status, Mapping):
        for place, mark in status.items():
            marks[int(place)] = _mark(mark)
    elif isinstance(status, Sequence) and not isinstance(status, str):
        marks[: len(status)] = [_mark(mark) for mark in status]
    elif isinstance(status, str):
        marks[:] = _mark(status)
    return marks


def _mark(mark: Any) -> str:
    text = "" if mark is None else str(mark).strip()
    return HIDDEN if text.lower() == HIDDEN else text


def _row_status(marks: Array) -> Array:
    """One mark for every row of measures: confidential if one is, else the first."""
    return np.array([HIDDEN if HIDDEN in row else next((m for m in row if m), "") for row in marks.tolist()])


def _decimals(values: Array) -> int:
    shown = values[~np.isnan(values)]
    return next((d for d in range(10) if np.allclose(shown, np.round(shown, d), rtol=0, atol=1e-12)), 9)


def _words(dataset: Mapping[str, Any], names: Sequence[str], measures: Sequence[str]) -> dict[str, Any]:
    own = (dataset.get("extension") or {}).get("discreet") or {}
    notes = dataset.get("note") or []
    notes = [notes] if isinstance(notes, str) else [str(n) for n in notes]
    method = str(own.get("method", ""))
    rest = notes[1:] if method and notes[:1] == [method] else notes
    title = heading_or_title(str(dataset.get("label", "")), names, measures)
    words = {"title": title, "source": str(dataset.get("source", "")), "method": method}
    return {"words": words, "notes": tuple(rest)}
