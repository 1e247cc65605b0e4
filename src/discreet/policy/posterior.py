"""What the true table may have been, guessed from the protected one alone: the way decisions look at a table.

Everybody who sees a protected table and knows the method can compute this, so a decision based on it tells nothing
that the table itself would not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.base.annotations import Array
from discreet.risk.transition import Transition

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
    return Guess.of(shown, transition).drawn(rng, draws)


@dataclass(frozen=True, eq=False)
class Guess:
    """What is shown of a table, and for every cell the row of ``chances`` that says what it may have been.

    ``chances[k]`` of a row is the chance of no more than what is shown, less ``reach``, plus k.
    """

    shown: Array
    alike: Array
    chances: Array
    reach: int

    @classmethod
    def of(cls, shown: Array, transition: Transition) -> Guess:
        """Of shown counts, by the matrix of the method."""
        flat = shown.ravel()
        chances = np.cumsum(_posteriors(transition, _seen(flat)), axis=1)
        alike = np.where(flat <= SMALL, flat, SMALL + 1 + flat % transition.period)
        rows, alike = np.unique(alike, return_inverse=True)
        return cls(shown, alike, chances[rows].T.copy(), reach_of(transition))

    def drawn(self, rng: np.random.Generator, draws: int) -> Array:
        """So many tables (``guesses``)."""
        flat = self.shown.ravel()
        drawn = rng.random((draws, flat.size))
        out = np.broadcast_to(flat - self.reach, drawn.shape).copy()
        for k in range(2 * self.reach):  # one more for every step that the drawn number lies above
            out += drawn >= self.chances[k][self.alike]
        return out.reshape(draws, *self.shown.shape)


@dataclass(frozen=True)
class ShownCounts:
    """How often each count is shown, as far as it matters to which cells are small; sums over parts of a table.

    ``often[j]`` is the number of cells that show j, the last entry those that show more.
    """

    often: Array
    cells: int
    hidden: int = 0

    @classmethod
    def of(cls, counts: Array, hidden: Array, small: int, reach: int) -> ShownCounts:
        """Of shown counts (whatever stands in hidden cells), for cells of 1 to ``small`` and noise of ``reach``."""
        size = max(SMALL, small + reach) + 2
        seen = np.minimum(counts[~hidden], size - 1).ravel()
        return cls(np.bincount(seen, minlength=size), int(counts.size), int(hidden.sum()))

    def __add__(self, other: ShownCounts) -> ShownCounts:
        return ShownCounts(self.often + other.often, self.cells + other.cells, self.hidden + other.hidden)


def small_share(shown: ShownCounts, transition: Transition | None, small: int) -> float:
    r"""Expected share of cells that held 1 to ``small`` people, given what is shown of all; hidden ones count as small.

    .. math:: \frac1K \sum_j n_j P(1 \le \text{was} \le s \mid \text{shows } j)

    by the same fitted prior as ``guesses``, and computed, not drawn. Without a transition matrix what is shown is all
    there is to go by. [JOS15]_ section 2.3; counting small cells after rounding to base 3 would never find any.

    >>> shown = ShownCounts.of(np.array([0] * 80 + [3] * 20), np.zeros(100, bool), 2, 2)
    >>> round(small_share(shown, Transition.rounding(3), 2), 2), small_share(shown, None, 2)
    (0.4, 0.0)
    """
    counts = np.arange(len(shown.often))
    if transition is None:
        chance = ((counts > 0) & (counts <= small)).astype(float)
    else:
        reach = reach_of(transition)
        after = _posteriors(transition, shown.often[: SMALL + 1])
        was = counts[:, None] + np.arange(-reach, reach + 1)
        alike = np.where(counts <= SMALL, counts, SMALL + 1 + counts % transition.period)
        chance = (after[alike] * ((was > 0) & (was <= small))).sum(axis=1)
        chance[-1] = 0.0  # larger than any that could have been small
    return float((shown.often @ chance + shown.hidden) / shown.cells)


def bounded_small_share(counts: Array, lower: Array, upper: Array, hidden: Array, small: int) -> float:
    """The same for a method that tells bounds on each cell instead of a matrix.

    A count shows what its bounds allow: of two shown values with the chance that keeps its mean, of more alike often.

    >>> shown = np.array([0] * 80 + [3] * 20)
    >>> round(bounded_small_share(shown, np.maximum(shown - 2, 0), shown + 2, np.zeros(100, bool), 2), 2)
    0.37
    """
    open_ = ~hidden
    seen, first, often = np.unique(counts[open_], return_index=True, return_counts=True)
    low, high = lower[open_][first], upper[open_][first]
    width = int(np.max(np.minimum(high - low, 10 * SMALL), initial=0))  # some methods tell no upper bound
    was = np.arange(small + width + SMALL + 1)[:, None]
    inside = (low <= was) & (was <= high)
    shows = inside / np.maximum(inside.sum(axis=1, keepdims=True), 1)
    two = np.flatnonzero(inside.sum(axis=1) == 2)
    for i in two.tolist():
        a, b = np.flatnonzero(inside[i])
        shows[i, b] = np.clip((i - seen[a]) / (seen[b] - seen[a]), 0.0, 1.0)
        shows[i, a] = 1.0 - shows[i, b]
    prior = np.full(len(was), 1.0 / len(was))
    for _ in range(SWEEPS):
        pull = np.divide(often, prior @ shows, out=np.zeros(len(seen)), where=prior @ shows > 0)
        prior = prior * (shows @ pull)
        prior /= prior.sum() or 1.0
    total, held = prior @ shows, prior[1 : small + 1] @ shows[1 : small + 1]
    chance = np.divide(held, total, out=((seen > 0) & (seen <= small)).astype(float), where=total > 0)
    return float((often @ chance + hidden.sum()) / counts.size)


def _seen(flat: Array) -> Array:
    """How often each small count is shown."""
    return np.bincount(np.minimum(flat, SMALL + 1), minlength=SMALL + 2)[: SMALL + 1]


def reach_of(transition: Transition | None) -> int:
    """How far a method can move a count; 0 without a matrix."""
    return 0 if transition is None else _channel(transition).reach


@dataclass(frozen=True, eq=False)
class _Channel:
    """A transition matrix laid out for the fit: ``shows[i, j]`` is P(shows j | was i) of counts with their own prior.

    ``shown_small`` are its columns of small j, and ``beyond`` is the chance to show more. ``large`` is
    P(was j + offset | shows j) by the residue of a large j, where every count is as likely as its neighbours.
    """

    reach: int
    shows: Array
    shown_small: Array
    beyond: Array
    large: Array


def _channel(transition: Transition) -> _Channel:
    matrix = transition.matrix
    return _laid_out(matrix.tobytes(), matrix.shape, transition.period)


@lru_cache(maxsize=64)
def _laid_out(matrix: bytes, shape: tuple[int, ...], period: int) -> _Channel:
    """The same matrix is laid out only once."""
    transition = Transition(np.frombuffer(matrix).reshape(shape), period)
    rows, columns = np.nonzero(transition.matrix)
    reach = int(np.abs(columns - rows).max(initial=0))
    size = SMALL + reach + 1
    shows = np.zeros((size, size + reach + 1))
    for was in range(size):
        for value, p in transition.outcomes(was):
            shows[was, value] += p
    large = np.zeros((period, 2 * reach + 1))
    for seen in range(size, size + period):
        for k in range(2 * reach + 1):
            large[seen % period, k] = dict(transition.outcomes(seen - reach + k)).get(seen, 0.0)
    shown_small = np.ascontiguousarray(shows[:, : SMALL + 1])
    beyond = 1 - shown_small.sum(axis=1)
    for array in (shows, shown_small, beyond, large):
        array.flags.writeable = False
    return _Channel(reach, shows, shown_small, beyond, large)


def _prior(seen: Array, channel: _Channel) -> Array:
    """Share of cells that held 0, 1, ..., SMALL, fitted to the shown small counts."""
    size = len(channel.shows)
    held = channel.shown_small
    stays = channel.beyond * seen.sum()  # what would show beyond stays as it was
    prior = np.full(size, 1.0 / size)
    for _ in range(SWEEPS):
        shown = prior @ held
        pull = np.divide(seen, shown, out=np.zeros_like(shown), where=shown > 0)
        prior = prior * (held @ pull + stays)
        prior /= prior.sum() or 1.0
    return prior


def _posteriors(transition: Transition, seen: Array) -> Array:
    """P(was j + offset | shows j) by rows j = 0, ..., SMALL, then by the residue of larger j; columns are offsets.

    ``seen`` says how often each small count is shown. What the matrix cannot show is taken as it is.
    """
    return _fitted(_channel(transition), seen.astype(float).tobytes())


@lru_cache(maxsize=1)  # a table is judged by its small cells and by guesses, one after the other
def _fitted(channel: _Channel, seen: bytes) -> Array:
    reach = channel.reach
    prior = _prior(np.frombuffer(seen), channel)
    shown = np.arange(SMALL + 1)[:, None]
    was = shown + np.arange(-reach, reach + 1)
    possible = np.where(was >= 0, channel.shows[np.maximum(was, 0), shown], 0.0)
    weighed = possible * prior[np.maximum(was, 0)]
    small = np.where(weighed.sum(axis=1, keepdims=True) > 0, weighed, possible)
    p = np.concatenate([small, channel.large])
    p[p.sum(axis=1) == 0, reach] = 1.0
    p /= p.sum(axis=1, keepdims=True)
    p.flags.writeable = False
    return p
