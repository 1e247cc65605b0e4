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
MOST_ROWS, MOST_COLUMNS = 200, 40  # of one page of the plain table
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
    depths: tuple[tuple[int, ...], ...]
    """How deep each name of ``stubs`` lies in its hierarchy; what lies in no group but the total is at 0."""
    body: tuple[tuple[Cell, ...], ...]
    layers: tuple[str, ...]
    layer: int
    measure: str
    pages: tuple[str, ...] = ()
    """What each page holds, where one is not enough: rows and columns from and to, counted from 1."""
    page: int = 0


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


def laid_out(release: Release, wanted: Mapping[str, str], layer: int = 0, page: int = 0) -> Sheet:
    """A page of the chosen layer of a release."""
    at = placed(release.dimensions, wanted)
    used = [_order(d, release.codes[:, k]) for k, d in enumerate(release.dimensions)]
    measure = next(iter(release.values))
    array = _dense(release, used, release.values[measure])
    order = [*at["layers"], *at["rows"], *at["columns"]]
    n_rows = math.prod(len(used[k]) for k in at["rows"])
    cube = array.transpose(order).reshape(-1, n_rows, math.prod(len(used[k]) for k in at["columns"]))
    names = _lines(release.dimensions, used, at["layers"])
    layer = min(max(layer, 0), len(cube) - 1)
    blocks = _blocks(*cube.shape[1:])
    page = min(max(page, 0), len(blocks) - 1)
    down, right = blocks[page]
    stubs = _lines(release.dimensions, used, at["rows"])[down]
    across = _lines(release.dimensions, used, at["columns"])[right]
    totals = (
        _totals(release.dimensions, used, at["rows"])[down],
        _totals(release.dimensions, used, at["columns"])[right],
    )
    return Sheet(
        rows=tuple(release.dimensions[k].title for k in at["rows"]),
        columns=tuple(release.dimensions[k].title for k in at["columns"]),
        heads=_heads(across),
        stubs=tuple(stubs),
        depths=tuple(itertools.product(*(_depths(release.dimensions[k], used[k]) for k in at["rows"])))[down],
        body=_cells(cube[layer][down, right], totals, release.decimals[measure]),
        layers=_layer_names([release.dimensions[k].title for k in at["layers"]], names),
        layer=layer,
        measure=measure,
        pages=_page_names(blocks, cube.shape[1:]),
        page=page,
    )


def _order(dimension: Dimension, codes: Array) -> list[int]:
    """The codes that occur, the total first and groups before what is in them."""
    present: list[int] = np.unique(codes).tolist()
    return present


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


def _depths(dimension: Dimension, used: Sequence[int]) -> list[int]:
    """In how many groups of the first hierarchy each code lies."""
    above = {part: group.code for group in dimension.groups if group.tree == 0 for part, _ in group.parts}

    def depth(code: str) -> int:
        return 0 if code not in above else 1 + depth(above[code])

    return [depth(dimension.codes[c]) for c in used]


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
    inner = page[np.ix_(~np.array(totals[0]), ~np.array(totals[1]))]
    top = float(np.nanmax(inner)) if inner.size and not np.isnan(inner).all() else 0.0

    def cell(value: float, total: bool) -> Cell:
        if math.isnan(value):
            return Cell("×", None, 0, total)
        share = math.sqrt(min(value, top) / top) if top > 0 and value > 0 else 0.0
        return Cell(f"{value:,.{decimals}f}", value, 0 if total else round(share * SHADES), total)

    return tuple(
        tuple(cell(float(v), totals[0][r] or totals[1][c]) for c, v in enumerate(line)) for r, line in enumerate(page)
    )


def _layer_names(variables: Sequence[str], lines: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Each layer with the names of its variables; none where there are no layers."""
    if not variables:
        return ()
    return tuple(", ".join(f"{v}: {label}" for v, label in zip(variables, line, strict=True)) for line in lines)


def _blocks(rows: int, columns: int) -> list[tuple[slice, slice]]:
    """The pages of a layer, first to the right and then down."""
    return [
        (slice(down, down + MOST_ROWS), slice(right, right + MOST_COLUMNS))
        for down in range(0, max(rows, 1), MOST_ROWS)
        for right in range(0, max(columns, 1), MOST_COLUMNS)
    ]


def _page_names(blocks: Sequence[tuple[slice, slice]], shape: tuple[int, ...]) -> tuple[str, ...]:
    """From which row (and column) to which each page goes; none where one page is all."""
    if len(blocks) == 1:
        return ()
    names = []
    for down, right in blocks:
        name = f"{down.start + 1}–{min(down.stop, shape[0])}"
        names.append(name + (f" × {right.start + 1}–{min(right.stop, shape[1])}" if shape[1] > MOST_COLUMNS else ""))
    return tuple(names)
