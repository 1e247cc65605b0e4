"""The law of a method's noise, from its published parameters: likely ranges of what it shows.

A range is one of Neyman's confidence sets: for every true count the shown values that hold at least 90 % of its chance,
the most probable first, are accepted; the range of a shown value is from the least to the greatest count that accepts
it. So the range holds the truth with that chance whatever the truth is, and no guess about the data is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.base.annotations import Floats
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.methods.contract import SaysNoise, contract_of, transition_of
from discreet.release.noise_law import LEVEL, CellNoise, NoiseLaw, NoNoise
from discreet.release.sum_errors import chance_square
from discreet.risk.transition import Transition

SLACK = 1e-9  # of a chance that is a sum


def law_of(method: Any, dimensions: Sequence[Dimension]) -> NoiseLaw | None:
    """What a method says of true values behind those it shows of data of these dimensions; None if it says nothing.

    >>> from discreet import Publish, RandomRound, Swap
    >>> type(law_of(Publish(), ())).__name__, type(law_of(RandomRound(3, seed=1), ())).__name__
    ('NoNoise', 'CellNoise')
    """
    contract = contract_of(method)
    if isinstance(method, SaysNoise):
        return method.noise_law(dimensions)
    if contract.acts_on == "table" and contract.truthful:
        return NoNoise()
    if contract.cellwise and contract.transition:
        try:
            matrix = transition_of(method)
        except InputError:  # of magnitudes, or of a base that has no matrix
            return None
        return None if matrix is None else cell_noise(matrix)
    return _law_of_steps(getattr(method, "steps", ()), getattr(method, "totals", "own"), dimensions)


def _law_of_steps(steps: Sequence[Any], totals: str, dimensions: Sequence[Dimension]) -> NoiseLaw | None:
    """Of methods in a row of which one alone changes values; sums of what is shown lack what is hidden."""
    changing = [step for step in steps if contract_of(step).truthful is not True]
    return law_of(changing[0], dimensions) if len(changing) == 1 and totals == "own" else None


def cell_noise(transition: Transition) -> CellNoise:
    """Likely ranges of counts that are moved one by one.

    >>> law = cell_noise(Transition.rounding(3))
    >>> int(law.below[3]), int(law.above[3])
    (2, 2)
    """
    return _inverted(transition.matrix.tobytes(), transition.matrix.shape, transition.period)


@lru_cache(maxsize=64)
def _inverted(matrix: bytes, shape: tuple[int, ...], period: int) -> CellNoise:
    """For every shown value the least and greatest count of which it is one of the usual outcomes."""
    transition = Transition(np.frombuffer(matrix).reshape(shape), period)
    rows, columns = np.nonzero(transition.matrix)
    reach = int(np.abs(columns - rows).max(initial=0))
    last = len(transition.matrix) + reach + period  # from here on rows repeat
    below, above = np.zeros(last + period, np.int64), np.zeros(last + period, np.int64)
    seen = np.zeros(last + period, bool)
    possible_below, possible_above = below.copy(), above.copy()
    for count in range(last + period + reach + 1):
        usual: set[int] = set()
        chance, least = 0.0, 1.0
        for shown, p in sorted(transition.outcomes(count), key=lambda pair: (-pair[1], abs(pair[0] - count))):
            if chance < LEVEL - SLACK or p > least - SLACK:  # the other of two alike, too: ranges are even
                usual.add(shown)
                least = p
            chance += p
            if shown < len(below):
                possible_below[shown] = max(possible_below[shown], shown - count)
                possible_above[shown] = max(possible_above[shown], count - shown)
        for shown in (value for value in usual if value < len(below)):
            seen[shown] = True
            below[shown] = max(below[shown], shown - count)
            above[shown] = max(above[shown], count - shown)
    below, above = np.where(seen, below, possible_below), np.where(seen, above, possible_above)
    summed = _summed(transition, len(below), reach)
    for array in (below, above, summed):
        array.flags.writeable = False
    return CellNoise(below, above, period, summed)


def _summed(transition: Transition, size: int, reach: int) -> Floats:
    """For every shown value what it adds to the range of a sum: the worst over all counts that can show it.

    The columns are those of :class:`~discreet.release.sum_errors.SumErrors`.
    """
    bias, most, variance, width = np.zeros((size, 2)), np.zeros((size, 2)), np.zeros(size), np.zeros(size)
    for count in range(size + reach + 1):
        shown, chance = (np.array(side) for side in zip(*transition.outcomes(count), strict=True))
        mean = float(shown @ chance)
        spread = float((shown - mean) ** 2 @ chance)
        for value in shown[shown < size].tolist():
            bias[value] = np.maximum(bias[value], [mean - count, count - mean])
            most[value] = np.maximum(most[value], [value - count, count - value])
            variance[value], width[value] = max(variance[value], spread), max(width[value], float(np.ptp(shown)))
    return np.column_stack([bias, chance_square(variance, width), most])
