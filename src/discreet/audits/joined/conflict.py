"""Files that contradict each other: the fewest that do, and the fewest of their cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.audits.contradiction import InfeasibleError, contradicting, only, possible, some_whole_solution
from discreet.audits.view import View, cell_places
from discreet.base.annotations import Array
from discreet.errors import Unjudged, listed
from discreet.linear.system import System

CURE = (
    "if they are of different populations or times, say so in the mapping (fixed) or look at their differences "
    "(--difference); if values are rounded, say the base (--rounded)"
)


def conflict(seen: View) -> InfeasibleError:
    """The error to raise where no table fits several files: a smallest set of files, then of their cells."""
    system, blank = seen.known.system(), seen.known.blank()
    starts = np.concatenate([[0], np.cumsum([len(layout) for layout in seen.layouts])])
    variables, _ = contradicting(system, blank)
    files = sorted({int(np.searchsorted(starts, v, "right")) - 1 for v in variables if v < starts[-1]})
    for k in list(files):
        fewer = [f for f in files if f != k]
        if fewer and not _fits(only(system, blank, _cells_of(starts, fewer, system.size))):
            files = fewer
    variables, smallest = contradicting(only(system, blank, _cells_of(starts, files, system.size)), blank)
    cells = variables[variables < starts[-1]]
    names = [f"{table}: {words}" for table, words in cell_places(seen, cells)]
    held = [seen.names[k] for k in files]
    which = f"{listed(held, 6)} contradict each other" if len(held) > 1 else f"{held[0]!r} contradicts itself"
    return InfeasibleError(cells, names, smallest=smallest, which=which, cure=CURE)


def _cells_of(starts: Array, files: list[int], size: int) -> Array:
    """Which variables are cells of some files."""
    own = np.zeros(size, bool)
    for k in files:
        own[starts[k] : starts[k + 1]] = True
    return own


def _fits(system: System) -> bool:
    """Whether some table fits; where that is not settled, yes: the file stays in the set."""
    try:
        return possible(replace(system, integer=False)) and (not system.integer or some_whole_solution(system))
    except Unjudged:
        return True
