"""Layers, two dimensions at one code of each other, put together again to the rows of one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.tables.reading.number_cells import PLAIN_SIGNS, NumberSigns, assumed_of, number_cells
from discreet.tables.reading.raw_table import HIDDEN, NOT_AVAILABLE, RawTable, heading_or_title, own_labels

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class LayerSheet:
    """One layer of one measure: codes with labels down and across, texts of the cells; "" is no cell."""

    measure: str
    decimals: int
    names: tuple[str, ...]
    fixed: tuple[tuple[str, ...], ...]
    """Code and label of every dimension before the last two."""
    down: Pairs
    across: Pairs
    cells: Array


def of_layers(
    name: str,
    sheets: Sequence[LayerSheet],
    words: Sequence[tuple[str, str]],
    title: str,
    signs: NumberSigns = PLAIN_SIGNS,
) -> RawTable:
    """All layers of all measures as one table."""
    names = sheets[0].names
    held: dict[tuple[str, ...], dict[str, str]] = {}
    labels: dict[str, dict[str, str]] = {n: {} for n in names}
    decimals: dict[str, int] = {}
    for sheet in sheets:
        if sheet.names != names:
            raise InputError(f"{name!r} holds layers of different tables; keep those of one")
        decimals[sheet.measure] = sheet.decimals
        last = sheet.across or (("", ""),)
        for axis, (code, label) in enumerate(sheet.fixed):
            labels[names[axis]][code] = label
        labels[names[len(sheet.fixed)]].update(dict(sheet.down))
        if sheet.across:
            labels[names[-1]].update(dict(sheet.across))
        fixed = tuple(code for code, _ in sheet.fixed)
        for r, (down, _) in enumerate(sheet.down):
            for c, (across, _) in enumerate(last):
                text = str(sheet.cells[r][c]).strip()
                if text:
                    cell = (*fixed, down, across) if sheet.across else (*fixed, down)
                    held.setdefault(cell, {})[sheet.measure] = text
    cells = list(held)
    values, ranges, columns = {}, {}, []
    status = np.full(len(cells), "", object)
    for measure in decimals:
        texts = [held[cell].get(measure, "") for cell in cells]
        read = number_cells(texts, f"{name!r}: {measure!r}", plain=True, signs=signs)
        values[measure] = read.values
        columns.append(read)
        if read.ranges is not None:
            ranges[measure] = read.ranges
        marked = np.array([text != "" for text in texts]) & (read.status != "")
        status[marked & (status == "")] = NOT_AVAILABLE
        status[marked & (read.status == HIDDEN)] = HIDDEN
    said = dict(words)
    return RawTable(
        name=name,
        names=names,
        codes=tuple([cell[k] for cell in cells] for k in range(len(names))),
        values=values,
        decimals=decimals,
        status=status.astype(str),
        labels={n: own_labels(of) for n, of in labels.items()},
        words={
            "title": heading_or_title(title, names, list(decimals)),
            "source": said.get("source", ""),
            "method": said.get("method", ""),
        },
        notes=tuple(text for term, text in words if term == "note"),
        ranges=ranges,
        assumed=assumed_of(columns),
    )
