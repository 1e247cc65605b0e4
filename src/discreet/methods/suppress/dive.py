"""A pattern straight from the relaxation: its cells nearest to hidden are hidden for good, and it is cut and solved anew.

Inequalities found on the way hold for every pattern, so they stay; only the cells are set free again at the end.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.methods.suppress.cuts import VIOLATED
from discreet.methods.suppress.relaxation import Relaxation

Array = NDArray[Any]

NEAR = 0.9  # cells hidden at least this much are hidden
SHARE = 0.1  # of the fractional cells hidden in a step, at least
ROUNDS = 3  # of cutting between steps


def dive(relaxation: Relaxation, until: float) -> Array | None:
    """A pattern that protects, None if the time did not suffice; it is not cleaned up."""
    from discreet.methods.suppress.searching import violated

    sure: set[int] = set()
    try:
        while time.monotonic() < until:
            relaxation.separation.until = until
            x = relaxation.x
            open_ = relaxation.free[(x[relaxation.free] > VIOLATED) & (x[relaxation.free] < 1 - VIOLATED)]
            if not len(open_):
                found = violated(relaxation.separation, np.rint(x))
                if not found:
                    return np.rint(x).astype(bool) if relaxation.separation.complete else None
                if not relaxation.add(found):
                    return None
                relaxation.solve()
                continue
            _hide(relaxation, sure, _chosen(x, open_))
            relaxation.solve()
            for _ in range(ROUNDS):
                if time.monotonic() > until or not relaxation.round():
                    break
        return None
    finally:
        _set_free(relaxation, sure)


def _chosen(x: Array, able: Array) -> Array:
    """The cells hidden most."""
    order = able[np.argsort(-x[able], kind="stable")]
    least = max(1, int(SHARE * len(order)))
    return order[: max(least, int((x[order] >= NEAR).sum()))]


def _hide(relaxation: Relaxation, sure: set[int], cells: Array) -> None:
    for cell in cells.tolist():
        if cell not in sure:
            sure.add(cell)
            relaxation.highs.changeColBounds(int(relaxation.place[cell]), 1.0, 1.0)


def _set_free(relaxation: Relaxation, sure: set[int]) -> None:
    for cell in sure:
        relaxation.highs.changeColBounds(int(relaxation.place[cell]), 0.0, 1.0)
    relaxation.closed = False
    relaxation.solve()
