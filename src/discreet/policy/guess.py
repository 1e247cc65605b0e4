"""What the true table may have been, guessed from the protected one alone: the way decisions look at a table.

Everybody who sees a protected table and knows the method can compute this, so a decision based on it tells nothing
that the table itself would not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.risk.transition import Transition

Array = NDArray[Any]

SMALL = 100  # counts up to here have a prior of their own; larger ones are as likely as their neighbours
SWEEPS = 25  # of the fit of that prior


def guesses(shown: Array, transition: Transition, rng: np.random.Generator, draws: int) -> Array:
    """``draws`` tables that the method could have shown like this, each cell drawn by P(was i | shows j).

    The prior over small counts is what makes the shown counts most likely (expectation-maximisation over the transition
    matrix); it is needed because most zeros of a sparse table are true, and a flat prior would not believe it.

    >>> rng = np.random.default_rng(1)
    >>> sorted(set(guesses(np.array([0, 3, 300]), Transition.rounding(3), rng, 50)[:, 2].tolist()))
    [298, 299, 300, 301, 302]
    """
    flat = shown.ravel()
    reach = _reach(transition)
    chances = np.cumsum(_posteriors(transition, reach, _prior(flat, transition, reach)), axis=1)
    alike = np.where(flat <= SMALL, flat, SMALL + 1 + flat % transition.period)
    drawn = rng.random((draws, flat.size))
    out = np.broadcast_to(flat - reach, drawn.shape).copy()
    for k in range(2 * reach):  # one more for every step that the drawn number lies above
        out += drawn >= chances[alike, k]
    return out.reshape(draws, *shown.shape)


def _reach(transition: Transition) -> int:
    """How far the method can move a count."""
    rows, columns = np.nonzero(transition.matrix)
    return int(np.abs(columns - rows).max(initial=0))


def _shows(transition: Transition, reach: int) -> Array:
    """P(shows j | was i) for all counts that have a prior of their own; the same matrix is laid out only once."""
    matrix = transition.matrix
    return _laid_out(matrix.tobytes(), matrix.shape, transition.period, reach)


@lru_cache(maxsize=64)
def _laid_out(matrix: bytes, shape: tuple[int, ...], period: int, reach: int) -> Array:
    transition = Transition(np.frombuffer(matrix).reshape(shape), period)
    size = SMALL + reach + 1
    table = np.zeros((size, size + reach + 1))
    for was in range(size):
        for value, p in transition.outcomes(was):
            table[was, value] += p
    table.flags.writeable = False
    return table


def _prior(flat: Array, transition: Transition, reach: int) -> Array:
    """Share of cells that held 0, 1, ..., SMALL, fitted to the shown small counts."""
    table = _shows(transition, reach)
    size = len(table)
    seen = np.bincount(np.minimum(flat, table.shape[1] - 1), minlength=table.shape[1])[: SMALL + 1].astype(float)
    held = table[:, : SMALL + 1]
    prior = np.full(size, 1.0 / size)
    for _ in range(SWEEPS):
        shown = prior @ held
        pull = np.divide(seen, shown, out=np.zeros_like(shown), where=shown > 0)
        prior = prior * (held @ pull + (1 - held.sum(axis=1)) * seen.sum())  # what would show beyond stays as it was
        prior /= prior.sum() or 1.0
    return prior


def _posteriors(transition: Transition, reach: int, prior: Array) -> Array:
    """P(was j + offset | shows j) by rows j = 0, ..., SMALL, then by the residue of larger j; columns are offsets.

    What the matrix cannot show is taken as it is.
    """
    offset = np.arange(-reach, reach + 1)
    seen = np.arange(SMALL + 1)[:, None]
    was = seen + offset
    possible = np.where(was >= 0, _shows(transition, reach)[np.maximum(was, 0), seen], 0.0)
    weighed = possible * prior[np.maximum(was, 0)]
    small = np.where(weighed.sum(axis=1, keepdims=True) > 0, weighed, possible)
    p = np.concatenate([small, _large(transition, reach, offset)])
    p[p.sum(axis=1) == 0, reach] = 1.0
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _large(transition: Transition, reach: int, offset: Array) -> Array:
    """The same for a large count of each residue, where every count is as likely as its neighbours."""
    p = np.zeros((transition.period, len(offset)))
    for seen in range(SMALL + 1 + reach, SMALL + 1 + reach + transition.period):
        for k, was in enumerate((seen + offset).tolist()):
            p[seen % transition.period, k] = dict(transition.outcomes(was)).get(seen, 0.0)
    return p
