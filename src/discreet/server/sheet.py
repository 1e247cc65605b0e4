"""A release laid out for a page: rows, columns and layers. Knows numbers only as a Release has them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.release import Release

PLACES = ("rows", "columns", "layers")
MOST_ROWS, MOST_COLUMNS = 400, 60
SHADES = 9


@dataclass(frozen=True)
class Cell:
    """One shown value: its text, the number (None where hidden), its shade, and whether it is a total."""

    text: str
    value: float | None
    shade: int
    total: bool


@dataclass(frozen=True)
class Head:
    """A heading and over how many lines it runs."""

    text: str
    span: int


@dataclass(frozen=True)
class Sheet:
    """One layer of a table."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    heads: tuple[tuple[Head, ...], ...]
    stubs: tuple[tuple[str, ...], ...]
    body: tuple[tuple[Cell, ...], ...]
    layers: tuple[str, ...]
    layer: int
    measure: str
    cut: str


def placed(dimensions: Sequence[Dimension], wanted: Mapping[str, str]) -> dict[str, list[int]]:
    """Where each dimension goes: as wanted; else the longest down, the next across, the rest as layers."""
    out: dict[str, list[int]] = {place: [] for place in PLACES}
    rest: list[int] = []
    for k, dimension in enumerate(dimensions):
        place = wanted.get(dimension.name, "")
        (out[place] if place in PLACES else rest).append(k)
    for k in sorted(rest, key=lambda k: -len(dimensions[k].codes)):
        empty = [place for place in ("rows", "columns") if not out[place]]
        out[empty[0] if empty else "layers"].append(k)
    if not out["rows"]:  # a table has rows
        source = "columns" if out["columns"] else "layers"
        out["rows"].append(out[source].pop(0))
    return out


def laid_out(release: Release, wanted: Mapping[str, str], layer: int = 0) -> Sheet:
    """The chosen layer of a release, cut to what a page can show."""
    at = placed(release.dimensions, wanted)
    used = [_order(d, release.codes[:, k]) for k, d in enumerate(release.dimensions)]
    measure = next(iter(release.values))
    array = _dense(release, used, release.values[measure])
    order = [*at["layers"], *at["rows"], *at["columns"]]
    n_rows = math.prod(len(used[k]) for k in at["rows"])
    cube = array.transpose(order).reshape(-1, n_rows, math.prod(len(used[k]) for k in at["columns"]))
    names = _lines(release.dimensions, used, at["layers"])
    layer = min(max(layer, 0), len(cube) - 1)
    page = cube[layer][:MOST_ROWS, :MOST_COLUMNS]
    stubs = _lines(release.dimensions, used, at["rows"])[: len(page)]
    across = _lines(release.dimensions, used, at["columns"])[: page.shape[1]]
    totals = (_totals(release.dimensions, used, at["rows"]), _totals(release.dimensions, used, at["columns"]))
    return Sheet(
        rows=tuple(release.dimensions[k].name for k in at["rows"]),
        columns=tuple(release.dimensions[k].name for k in at["columns"]),
        heads=_heads(across),
        stubs=tuple(stubs),
        body=_cells(page, totals, release.decimals[measure]),
        layers=tuple(", ".join(name) for name in names) if at["layers"] else (),
        layer=layer,
        measure=measure,
        cut=_cut(cube.shape[1:], page.shape),
    )


def _order(dimension: Dimension, codes: Array) -> list[int]:
    """The codes that occur, totals last as readers of tables expect."""
    found = np.unique(codes).tolist()
    total = None if dimension.total is None else dimension.position[dimension.total]
    return [c for c in found if c != total] + ([total] if total in found else [])


def _dense(release: Release, used: Sequence[Sequence[int]], values: Array) -> Array:
    out = np.full([len(u) for u in used], np.nan)
    places = []
    for k, codes in enumerate(used):
        rank = np.zeros(len(release.dimensions[k].codes), np.int64)
        rank[list(codes)] = np.arange(len(codes))
        places.append(rank[release.codes[:, k]])
    out[tuple(places)] = values
    return out


def _lines(dimensions: Sequence[Dimension], used: Sequence[Sequence[int]], axes: Sequence[int]) -> list[Any]:
    labels = [[dimensions[k].label(dimensions[k].codes[c]) for c in used[k]] for k in axes]
    return list(itertools.product(*labels))


def _totals(dimensions: Sequence[Dimension], used: Sequence[Sequence[int]], axes: Sequence[int]) -> list[bool]:
    marks = [[dimensions[k].codes[c] not in dimensions[k].leaf_position for c in used[k]] for k in axes]
    return [any(line) for line in itertools.product(*marks)]


def _heads(lines: Sequence[tuple[str, ...]]) -> tuple[tuple[Head, ...], ...]:
    """Headings above the columns, equal neighbours joined."""
    out = []
    for depth in range(len(lines[0]) if lines else 0):
        runs = itertools.groupby(lines, key=lambda line: line[: depth + 1])
        out.append(tuple(Head(key[-1], len(list(group))) for key, group in runs))
    return tuple(out)


def _cells(page: Array, totals: tuple[list[bool], list[bool]], decimals: int) -> tuple[tuple[Cell, ...], ...]:
    inner = page[np.ix_(~np.array(totals[0][: len(page)]), ~np.array(totals[1][: page.shape[1]]))]
    top = float(np.nanmax(inner)) if inner.size and not np.isnan(inner).all() else 0.0

    def cell(value: float, total: bool) -> Cell:
        if math.isnan(value):
            return Cell("×", None, 0, total)
        share = math.sqrt(min(value, top) / top) if top > 0 and value > 0 else 0.0
        return Cell(f"{value:,.{decimals}f}", value, 0 if total else round(share * SHADES), total)

    return tuple(
        tuple(cell(float(v), totals[0][r] or totals[1][c]) for c, v in enumerate(line)) for r, line in enumerate(page)
    )


def _cut(whole: tuple[int, ...], shown: tuple[int, ...]) -> str:
    more = [f"{w - s:,} more {name}" for w, s, name in zip(whole, shown, ("rows", "columns"), strict=True) if w > s]
    return f"{' and '.join(more)} are in the download" if more else ""
