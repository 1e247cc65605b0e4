"""What the true table may have been, guessed from the protected one alone: the way decisions look at a table.

Everybody who sees a protected table and knows the method can compute this, so a decision based on it tells nothing
that the table itself would not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.risk.transition import Transition

Array = NDArray[Any]

SMALL = 100  # counts up to here have a prior of their own; larger ones are as likely as their neighbours
SWEEPS = 50  # of the fit of that prior


def guesses(shown: Array, transition: Transition, rng: np.random.Generator, draws: int) -> Array:
    """``draws`` tables that the method could have shown like this, each cell drawn by P(was i | shows j).

    The prior over small counts is what makes the shown counts most likely (expectation-maximisation over the transition
    matrix); it is needed because most zeros of a sparse table are true, and a flat prior would not believe it.

    >>> rng = np.random.default_rng(1)
    >>> sorted(set(guesses(np.array([0, 3, 300]), Transition.rounding(3), rng, 50)[:, 2].tolist()))
    [298, 299, 300, 301, 302]
    """
    flat = shown.ravel()
    out = np.repeat(flat[None, :], draws, axis=0)
    reach = _reach(transition)
    prior = _prior(flat, transition, reach)
    for values, cells in _alike(flat, transition.period):
        was, p = _posterior(int(values[0]), transition, reach, prior)
        offset = was - int(values[0])
        out[:, cells] += rng.choice(offset, size=(draws, len(cells)), p=p)
    return out.reshape(draws, *shown.shape)


def _reach(transition: Transition) -> int:
    """How far the method can move a count."""
    rows, columns = np.nonzero(transition.matrix)
    return int(np.abs(columns - rows).max(initial=0))


def _alike(flat: Array, period: int) -> list[tuple[Array, Array]]:
    """Cells that are guessed the same way: of one small count, or of large counts with one residue."""
    name = np.where(flat <= SMALL, flat, SMALL + 1 + flat % period)
    found, start, inverse = np.unique(name, return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    cuts = np.searchsorted(inverse[order], np.arange(len(found) + 1))
    return [(flat[start[k] : start[k] + 1], order[cuts[k] : cuts[k + 1]]) for k in range(len(found))]


def _forward(was: int, transition: Transition) -> dict[int, float]:
    return dict(transition.outcomes(was))


def _prior(flat: Array, transition: Transition, reach: int) -> Array:
    """Share of cells that held 0, 1, ..., SMALL, fitted to the shown small counts."""
    size = SMALL + reach + 1
    table = np.zeros((size, size + reach + 1))
    for was in range(size):
        for value, p in _forward(was, transition).items():
            table[was, value] += p
    seen = np.bincount(np.minimum(flat, table.shape[1] - 1), minlength=table.shape[1])[: SMALL + 1].astype(float)
    held = table[:, : SMALL + 1]
    prior = np.full(size, 1.0 / size)
    for _ in range(SWEEPS):
        shown = prior @ held
        pull = np.divide(seen, shown, out=np.zeros_like(shown), where=shown > 0)
        prior = prior * (held @ pull + (1 - held.sum(axis=1)) * seen.sum())  # what would show beyond stays as it was
        prior /= prior.sum() or 1.0
    return prior


def _posterior(seen: int, transition: Transition, reach: int, prior: Array) -> tuple[Array, Array]:
    was = np.arange(max(seen - reach, 0), seen + reach + 1)
    p = np.array([_forward(int(w), transition).get(seen, 0.0) for w in was])
    if seen <= SMALL:
        weighed = p * prior[was]
        p = weighed if weighed.sum() > 0 else p
    if p.sum() == 0:  # the matrix cannot show this: take it as it is
        return np.array([seen]), np.ones(1)
    return was[p > 0], p[p > 0] / p.sum()
