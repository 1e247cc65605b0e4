"""A release as one HTML file: every layer a table with real headings, no file beside it, no script."""

from __future__ import annotations

import json
from html import escape

import numpy as np

from discreet.base.style import style
from discreet.formats.layers import (
    MEANING,
    MOST_CELLS,
    Cube,
    Layer,
    facts,
    heading,
    layers,
    number_texts,
    small_enough,
)
from discreet.release import CONFIDENTIAL, Release

_RULES = (
    "th,td{border:1px solid #8888;padding:.2rem .5rem;text-align:right;vertical-align:top}"
    "tbody th{text-align:left}dt{font-weight:600}"
)


def to_bytes(release: Release, *, most_cells: int = MOST_CELLS, language: str = "en") -> bytes:
    """A page of its own: title, one table per layer and measure, then source, method, marks and notes.

    A value that is not shown reads 'c' with its meaning; a combination that is not part of the table is blank.

    >>> from discreet import Hide, Table
    >>> page = to_bytes(Hide([0])(Table.of([[3, 1], [1, 2]], ["area", "sex"])).release()).decode()
    >>> page.count("<td>"), page.count("<abbr")
    (9, 1)
    """
    cube = Cube.of(release)
    instead = "write .csv or .parquet, or take fewer dimensions"
    small_enough(cube.size * len(release.values), most_cells, "an HTML page (most_cells=)", instead)
    title = escape(heading(release))
    tables = "\n".join(_tables(release, cube))
    words = "".join(
        f"<dt>{escape(name.capitalize())}</dt><dd>{escape(text)}</dd>"
        for name, text in facts(release)
        if name != "title"
    )
    return (
        f'<!doctype html>\n<html lang="{escape(language)}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title>{style(_RULES)}</head>\n<body><main><h1>{title}</h1>\n"
        f"{tables}\n<h2>About this table</h2><dl>{words}</dl></main></body></html>\n"
    ).encode()


def _tables(release: Release, cube: Cube) -> list[str]:
    mark = f'<abbr title="{escape(MEANING[CONFIDENTIAL])}">{CONFIDENTIAL}</abbr>'
    rows, columns = cube.shape[-2:] if len(cube.shape) > 1 else (cube.shape[0], 1)
    grids = {}
    for name in release.values:
        texts = np.array(number_texts(release, name, mark).to_pylist(), object)
        grids[name] = cube.spread(texts, "").reshape(-1, rows, columns)
    pages = layers(cube, list(release.values))
    return [_table(cube, page, release, grids[page.measure][page.number].tolist()) for page in pages]


def _table(cube: Cube, page: Layer, release: Release, body: list[list[str]]) -> str:
    down = max(len(cube.codes) - 2, 0)
    flat = len(cube.codes) == 1
    measured = release.words.measured(page.measure)
    heads = [measured] if flat else cube.labels(down + 1)
    corner = cube.dimensions[down].title if flat else f"{cube.dimensions[down].title} by {cube.dimensions[-1].title}"
    caption = page.caption(measured)
    codes = heads if flat else cube.codes[down + 1]
    head = "".join(_head("col", code, text) for code, text in ((corner, corner), *zip(codes, heads, strict=True)))
    lines = "\n".join(
        f"<tr>{_head('row', code, label)}<td>" + "</td><td>".join(cells) + "</td></tr>"
        for code, label, cells in zip(cube.codes[down], cube.labels(down), body, strict=True)
    )
    layer = {
        "measure": page.measure,
        "decimals": release.decimals[page.measure],
        "dimensions": [d.name for d in cube.dimensions],
        "fixed": [[code, d.label(code)] for d, code in page.fixed],
    }
    about = escape(json.dumps(layer, ensure_ascii=False))
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table data-layer="{about}">'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>\n<tbody>{lines}</tbody></table></div>"
    )


def _head(scope: str, code: str, label: str) -> str:
    """A heading; the code stands beside a label that differs from it."""
    beside = "" if code == label else f' data-code="{escape(code)}"'
    return f'<th scope="{scope}"{beside}>{escape(label)}</th>'
