"""Linked tables protected one after the other until all of them hide the same cells.

For groups whose dimensions crossed have too many inner cells for one matrix. Every table is protected by itself; a cell
hidden in one is then sensitive in the others that show it, which are protected again, until nothing changes. Each table
is safe by itself; whether all are together, the check across tables tells.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discreet.audits.joined.common_cells import CommonCells
from discreet.base.annotations import Array
from discreet.data.codebook import Codebook
from discreet.errors import Refused
from discreet.publishing.compare.published_table import Shown
from discreet.publishing.spec import Entry
from discreet.release import Protected, Release, Status
from discreet.tables.table import Table

ROUNDS = 100  # far more than hiding takes to spread


def protect_in_turn(tables: Sequence[Table], entries: Sequence[Entry], method: Any, book: Codebook) -> list[Release]:
    """The releases of linked tables that hide the same cells; ``method`` is a Suppress."""
    done: list[Protected] = [method(table) for table in tables]
    releases = [one.release() for one in done]
    common = CommonCells.of(
        [Shown.of(r, book, e.population, name=e.name) for r, e in zip(releases, entries, strict=True)]
    )
    asked = [np.zeros(len(table), bool) for table in tables]
    gone = np.zeros(common.size, bool)
    changed = list(range(len(tables)))
    for _ in range(ROUNDS):
        for t in changed:
            gone[common.cells[t][_hidden(done[t])]] = True
        gone[0] = False  # cells of nobody are no cells in common
        changed = []
        for t, one in enumerate(done):
            kept = np.flatnonzero(one.status != Status.NEVER.value)
            late = kept[gone[common.cells[t]] & ~_hidden(one)]
            if len(late):
                asked[t][kept[gone[common.cells[t]]]] = True
                changed.append(t)
        if not changed:
            return [one.release() for one in done]
        for t in changed:
            done[t] = dataclasses.replace(method, rule=method.rule | _mask(asked[t]))(tables[t])
    raise Refused("linked", "the tables cannot be made to hide the same cells", "leave out marks that keep cells open")


def _hidden(protected: Protected) -> Array:
    """Which cells are hidden, of those that are part of the publication."""
    return np.asarray(protected.hidden[protected.status != Status.NEVER.value])


def _mask(cells: Array) -> Callable[[Table], Array]:
    def hidden_elsewhere(table: Table) -> Array:
        return cells

    return hidden_elsewhere
