"""Cells of a magnitude that rules about contributions find, and which of them can be read off what is shown."""

from __future__ import annotations

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.policy.served_measures import ServedMeasure
from discreet.tables.table import Table

COVER = 2.0  # standard deviations of noise, at most, that a contribution is, so that noise hides it


def sensitive_cells(table: Table, served: ServedMeasure) -> Array:
    """Cells that the measure's rules find; they say nothing of groups with a minus."""
    if not served.hide:
        return np.zeros(len(table), bool)
    return np.asarray(np.logical_or.reduce([rule(table) for rule in served.hide]) & ~table.layout.signed)


def cells_told(table: Table, sensitive: Array, gone: Array, spread: Floats) -> Array:
    """Sensitive cells that are shown, or that are ``gone`` and follow from the sums around them.

    What is left of a sum less the other cells of its line is the cell and the noise of all of them, ``spread`` at least
    in the sum alone. A cell of few is not exposed if its largest contribution is no larger than that in all sums that
    are shown and touch it: a table that were refused for it would tell that somebody of few has something.
    """
    exposed = sensitive & ~gone
    hidden = np.flatnonzero(sensitive & gone)
    if not len(hidden):
        return exposed
    shown = np.flatnonzero(~gone)
    touching = abs(table.layout.matrix).astype(bool).astype(np.int32)
    pairs = (touching[:, hidden].T @ touching[:, shown]).tocsr()
    least = np.full(len(hidden), np.inf)
    held = np.flatnonzero(np.diff(pairs.indptr))
    if len(held):
        least[held] = np.minimum.reduceat(spread[shown][pairs.indices], pairs.indptr[held])
    largest = np.abs(table.contributions.value * table.contributions.weight)[hidden, 0]
    exposed[hidden] = ~(largest <= COVER * least)
    return exposed
