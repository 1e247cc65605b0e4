"""Magnitudes of a cube: sums, keys and the largest contributions of every combination of finest codes, as files.

A table of a magnitude is then a sum over axes, and its largest contributions are the largest of those of its parts.
Confidential, like the records.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.files import whole_file
from discreet.data.microdata import Microdata
from discreet.errors import InputError
from discreet.policy.pretabular import corner
from discreet.policy.served_measures import TOP_KEPT
from discreet.tables.additive import Additive
from discreet.tables.contributions import Contributions, Spanning
from discreet.tables.layout import Layout
from discreet.tables.table import GIVERS, VALUE_KEY, Table
from discreet.tables.tabulation import tabulate

MOST_CELLS = 3_000_000  # inner cells of a cube with magnitudes, of which each keeps its largest contributions
TOP = ("value", "weight", "contributor", "count")
PARTS = ("inner", "contributor", "value", "weighted")


def measured_tables(data: Microdata, names: Iterable[str]) -> dict[str, Table]:
    """A table of each magnitude over every combination of finest codes, with its largest contributions."""
    cells = math.prod(len(d.leaves) for d in data.dimensions)
    by, margins = [d.name for d in data.dimensions], [corner(data.dimensions)]
    tables = {}
    for name in names:
        if cells > MOST_CELLS:
            raise InputError(
                f"a cube of {cells:,} cells is too large to keep contributions to {name!r}: serve the records, or take "
                "a codebook of fewer or coarser dimensions"
            )
        tables[name] = tabulate(data, by, margins=margins, value=name, top=TOP_KEPT)
    return tables


def arrays_of(table: Table) -> dict[str, Array]:
    """All numbers of a table of a magnitude, by the names of their files."""
    top, spanning = table._inner_contributions, table._spanning
    assert top is not None
    arrays = {f"statistic-{k}": s.inner for k, s in enumerate(table.statistics.values())}
    arrays |= {f"top-{name}": getattr(top, name) for name in TOP}
    if spanning is not None:
        arrays |= {f"spanning-{name}": getattr(spanning, name) for name in PARTS}
    return arrays


def write_measured(folder: Path, tables: Mapping[str, Table]) -> list[dict[str, Any]]:
    """Write the numbers; what is not in them comes back, for the head of the cube."""
    heads = []
    for number, (name, table) in enumerate(tables.items()):
        for part, array in arrays_of(table).items():
            with whole_file(folder / f"measure-{number}-{part}.npy", private=True) as file:
                np.save(file, np.ascontiguousarray(array))
        spanning = table._spanning
        heads.append(
            {
                "name": name,
                "measure": table.measure,
                "decimals": {one: statistic.decimals for one, statistic in table.statistics.items()},
                "spanning": None if spanning is None else [spanning.decimals, spanning.weighted_decimals],
            }
        )
    return heads


def read_measured(folder: Path, heads: Iterable[Mapping[str, Any]], layout: Layout) -> dict[str, Table]:
    """The tables that ``write_measured`` wrote, mapped from the files."""
    tables = {}
    for number, head in enumerate(heads):

        def load(part: str, number: int = number) -> Array:
            array: Array = np.load(folder / f"measure-{number}-{part}.npy", mmap_mode="r")
            return array

        if VALUE_KEY in head["decimals"] and GIVERS not in head["decimals"]:
            raise InputError("the cube does not know how many give something to its sums; build it again")
        statistics = {}
        for k, (name, decimals) in enumerate(head["decimals"].items()):
            inner = load(f"statistic-{k}")
            if inner.shape != (layout.n_inner,):
                raise InputError("the cube does not fit its codebook; build it again")
            statistics[name] = Additive(inner, layout.aggregate(inner), decimals)
        top = Contributions(*[load(f"top-{name}") for name in TOP])
        spanning = None
        if head["spanning"] is not None:
            inner, contributor, value, weighted = (load(f"spanning-{name}") for name in PARTS)
            spanning = Spanning(inner, contributor, value, weighted, *head["spanning"])
        tables[head["name"]] = Table(layout, statistics, head["measure"], head["name"], "", "", top, spanning)
    return tables
