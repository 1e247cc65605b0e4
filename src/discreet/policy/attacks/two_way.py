"""What anybody expects who has only the published two-way tables of everyone: the baseline, and the sampler's prior.

Iterative proportional fitting to the protected margins of every pair of variables. What such a model says of a person
is inference from statistics; what an attack says beyond it is what the answers give away.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.data.dimension import Dimension
from discreet.data.variable_description import is_ordered
from discreet.policy.attacks.answers import UNKNOWN, AllAnswers, Frame
from discreet.population.ipf import SumsOverAxes, scale_in_turn

MOST_COMBINATIONS = 20_000_000  # full combinations of codes that are held
ROUNDS = 30
FEW = 0.3  # people held to be behind a number 0 that need not be a true zero
DOUBT = 1e-4  # part of a code that is not shown which is not like its neighbours
FEWEST_ON_A_SCALE = 3  # codes that are numbers
SURELY = 20.0  # people expected in a cell that shows 0: then nobody can be in it


@dataclass(frozen=True, eq=False, repr=False)
class TwoWayModel:
    """Expected counts of every full combination of finest codes; ``None`` of them where there are too many."""

    expected: Floats | None

    @classmethod
    def of(cls, answers: AllAnswers, possible: Array | None = None) -> TwoWayModel:
        """Fitted to what is shown of one and two variables; nobody is where the codebook says that nobody can be.

        ``possible``: which full combinations can exist; that is public, so whoever attacks knows it.
        """
        shape = tuple(len(d.leaves) for d in answers.dimensions)
        if math.prod(shape) > MOST_COMBINATIONS:
            return cls(None)
        single = [leaf_counts(answers, (k,)) for k in range(len(shape))]
        total = answers.total() or max((float(np.maximum(one, 0).sum()) for one in single), default=1.0)
        shares = [_shares(one) for one in single]
        scales = [codes_on_scale(d) for d in answers.dimensions]
        values = np.ones(shape) if possible is None else possible.astype(float)
        margins = []
        for k, share in enumerate(shares):
            margins.append(_margin(share * total, (k,), len(shape)))
        for pair in itertools.combinations(range(len(shape)), 2):
            shown = leaf_counts(answers, pair)
            if (shown != UNKNOWN).any():
                sums, unknown = (shares[pair[0]] * total, shares[pair[1]] * total), shown == UNKNOWN
                goal = filled(believed(shown, np.outer(*sums) / total), unknown, *sums)
                for axis, k in enumerate(pair):
                    if len(scales[k]):
                        goal = filled(as_neighbours(goal, unknown, axis, scales[k]), unknown, *sums)
                    goal = filled(as_the_shown(goal, unknown, axis, scales[k], sums[1 - axis]), unknown, *sums)
                margins.append(_margin(goal * (total / goal.sum()), pair, len(shape)))
        scale_in_turn(values, margins, tolerance=1e-6, iterations=ROUNDS)
        return cls(values)


def leaf_counts(answers: AllAnswers, frame: Frame) -> Array:
    """What is shown of the finest codes of some variables; ``UNKNOWN`` where nothing is."""
    dimensions = [answers.dimensions[k] for k in frame]
    values = answers.frames.get(frame)
    if values is None:
        return np.full(tuple(len(d.leaves) for d in dimensions), UNKNOWN, np.int64)
    picked: Array = values[np.ix_(*([d.position[leaf] for leaf in d.leaves] for d in dimensions))]
    return picked


def believed(shown: Array, independent: Floats) -> Floats:
    """Counts behind shown ones: a 0 is a true one where many people would be expected, else a few may be there.

    >>> believed(np.array([5, 0, 0, -1]), np.array([4.0, 50.0, 1.0, 2.0])).tolist()
    [5.0, 0.0, 0.3, 2.0]
    """
    few = np.where(independent > SURELY, 0.0, np.minimum(FEW, independent))
    return np.where(shown == UNKNOWN, independent, np.where(shown > 0, shown, few))


def filled(counts: Floats, unknown: Array, rows: Floats, columns: Floats) -> Floats:
    """Counts of which some are not shown: those are what the shown ones leave of the sums of rows and columns.

    >>> counts = np.array([[4.0, 5.0], [5.0, 6.0]])
    >>> filled(counts, counts == 6, np.array([9.0, 8.0]), np.array([9.0, 8.0])).tolist()
    [[4.0, 5.0], [5.0, 3.0]]
    """
    out = counts.copy()
    for _ in range(ROUNDS if unknown.any() else 0):
        for axis, sums in enumerate((rows, columns)):
            held = np.where(unknown, 0.0, out).sum(axis=1 - axis)
            guessed = np.where(unknown, out, 0.0).sum(axis=1 - axis)
            scale = np.divide(np.maximum(sums - held, 0.0), guessed, out=np.ones(len(sums)), where=guessed > 0)
            out = np.where(unknown, out * np.expand_dims(scale, 1 - axis), out)
    return out


def codes_on_scale(dimension: Dimension) -> Array:
    """Which finest codes are on a scale: all of a variable whose labels rise, else those that are numbers, such as the
    grades of education beside "unknown" and "does not apply".

    >>> codes_on_scale(Dimension.flat("grade", ["1", "2", "3", "unknown", "none"])).tolist()
    [0, 1, 2]
    >>> codes_on_scale(Dimension.flat("sex", ["f", "m"])).tolist()
    []
    """
    if is_ordered([dimension.label(leaf) for leaf in dimension.leaves]):
        return np.arange(len(dimension.leaves))
    numbered = [place for place, leaf in enumerate(dimension.leaves) if leaf.isdecimal()]
    return np.array(numbered if len(numbered) >= FEWEST_ON_A_SCALE else [], np.int64)


def as_neighbours(counts: Floats, unknown: Array, axis: int, scale: Array) -> Floats:
    """Codes on a scale of which nothing is shown are made up as the nearest ones of it of which something is.

    The oldest who are not broken down are more like the next younger than like everybody.

    >>> counts = np.array([[8.0, 2.0], [0.0, 6.0], [3.0, 3.0]])
    >>> unknown = np.array([[False, False], [False, False], [True, True]])
    >>> as_neighbours(counts, unknown, 0, np.arange(3)).round(2).tolist()
    [[8.0, 2.0], [0.0, 6.0], [0.0, 6.0]]
    """
    lines, hidden = np.moveaxis(counts.copy(), axis, 0), np.asarray(np.moveaxis(unknown, axis, 0).all(axis=1))
    shown = scale[~hidden[scale]]
    for line in scale[hidden[scale]] if len(shown) else ():
        apart = np.abs(shown - line)
        near = lines[shown[apart == apart.min()]].sum(axis=0)
        if near.sum() > 0:
            lines[line] = lines[line].sum() * _mixed(near)
    return np.asarray(np.moveaxis(lines, 0, axis))


def as_the_shown(counts: Floats, unknown: Array, axis: int, scale: Array, sums: Floats) -> Floats:
    """Codes on no scale of which nothing is shown are made up as all those of which something is; but the largest of
    them is what these leave of the ``sums`` across.

    Who does not state something is like those who do. Whom a question does not concern are many, and are not.

    >>> counts = np.array([[0.0, 5.0, 5.0], [1.0, 1.0, 1.0], [10.0, 10.0, 10.0]])
    >>> unknown = np.array([[False] * 3, [True] * 3, [True] * 3])
    >>> as_the_shown(counts, unknown, 0, np.array([]), np.array([31.0, 6.0, 6.0])).round(1).tolist()
    [[0.0, 5.0, 5.0], [0.0, 1.5, 1.5], [30.0, 0.0, 0.0]]
    """
    lines, hidden = np.moveaxis(counts.copy(), axis, 0), np.asarray(np.moveaxis(unknown, axis, 0).all(axis=1))
    loose = np.setdiff1d(np.flatnonzero(hidden), scale)
    near = lines[~hidden].sum(axis=0)
    if len(loose) < 2 or near.sum() <= 0:
        return counts
    largest = loose[lines[loose].sum(axis=1).argmax()]
    lines[loose] = lines[loose].sum(axis=1, keepdims=True) * _mixed(near)
    left = np.maximum(sums - np.delete(lines, largest, axis=0).sum(axis=0), 0.0)
    if left.sum() > 0:
        lines[largest] = lines[largest].sum() * _mixed(left)
    return np.asarray(np.moveaxis(lines, 0, axis))


def _mixed(like: Floats) -> Floats:
    """Shares like these, and nothing impossible."""
    mixed: Floats = (1 - DOUBT) * like / like.sum() + DOUBT / like.size
    return mixed


def _shares(shown: Array) -> Floats:
    """One variable by itself; all alike where nothing is shown."""
    known = shown != UNKNOWN
    if not known.any() or shown[known].sum() <= 0:
        return np.full(shown.size, 1.0 / shown.size)
    counts = np.where(known, np.maximum(shown, FEW), np.maximum(shown[known], FEW).mean())
    shares: Floats = counts / counts.sum()
    return shares


def _margin(goal: Floats, frame: Frame, number: int) -> SumsOverAxes:
    over = tuple(k for k in range(number) if k not in frame)
    return SumsOverAxes(over, np.expand_dims(goal, over))
