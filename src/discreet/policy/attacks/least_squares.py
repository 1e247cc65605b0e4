"""Least squares over all margins: noise that is independent from cell to cell averages out over the sums they share.

The counts of full combinations are fitted to every published cell at once, by LSQR (Paige and Saunders 1982), from what
the two-way tables lead one to expect. Sums below zero are taken for zero.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.data.dimension import Dimension
from discreet.policy.attacks.answers import UNKNOWN, AllAnswers, Frame, Truth
from discreet.policy.attacks.two_way import TwoWayModel

ITERATIONS = 250
MOST_ENTRIES = 60_000_000  # of the matrix
NOBODY = 1e-6  # people expected: no record is looked for there
SMALL = 3  # counts that give people away


@dataclass(frozen=True)
class Recovered:
    """How near to the truth numbers are, as shown and after an attack; and of small counts the share that is exact."""

    cells: int
    small: int
    """Of the cells those with 1 to 3."""
    rmse_shown: float
    rmse: float
    exact_shown: float
    exact: float
    """Share of true counts of 1 to 3 that are hit exactly."""
    single: float
    """The same for the best single number, said of all of them."""


def fit_margins(answers: AllAnswers, model: TwoWayModel) -> dict[Frame, Floats] | None:
    """Fitted counts of every published set of variables, over all codes; None where there are too many combinations."""
    if model.expected is None:
        return None
    shape = model.expected.shape
    open_ = np.flatnonzero(model.expected.ravel() > NOBODY)
    if len(open_) * len(answers.frames) > MOST_ENTRIES:
        return None
    published = _Published.of(answers, np.unravel_index(open_, shape))
    values = model.expected.ravel()[open_]
    values = values + _correction(published, values)
    counts = np.zeros(math.prod(shape))
    counts[open_] = values
    whole = Truth(answers.dimensions, counts.reshape(shape))
    return {frame: np.maximum(whole.frame(frame), 0.0) for frame in answers.frames}


@dataclass(frozen=True, eq=False)
class _Published:
    """Published cells as sums of full combinations: one row a cell, one column a combination."""

    matrix: Any
    shown: Floats

    @classmethod
    def of(cls, answers: AllAnswers, leaves: Sequence[Array]) -> _Published:
        from scipy.sparse import csr_array

        rows = []
        numbers = []
        at = 0
        for frame, values in answers.frames.items():
            known = (values != UNKNOWN).ravel()
            if not known.any():
                continue
            row_of = np.where(known, np.cumsum(known) - 1 + at, -1)
            maps = [_codes_of_leaf(answers.dimensions[k]) for k in frame]
            for chosen in itertools.product(*maps):
                cell = np.zeros(len(leaves[0]), np.int64)
                outside = np.zeros(len(leaves[0]), bool)
                for k, of_leaf in zip(frame, chosen, strict=True):
                    code = of_leaf[leaves[k]]
                    outside |= code < 0
                    cell = cell * len(answers.dimensions[k].codes) + code
                rows.append(np.where(outside, -1, row_of[np.where(outside, 0, cell)]))
            numbers.append(values.ravel()[known])
            at += int(known.sum())
        row = np.concatenate(rows)
        column = np.tile(np.arange(len(leaves[0])), len(rows))
        held = row >= 0
        matrix = csr_array((np.ones(int(held.sum())), (row[held], column[held])), shape=(at, len(leaves[0])))
        return cls(matrix, np.concatenate(numbers).astype(float))


def _codes_of_leaf(dimension: Dimension) -> list[Array]:
    """Of every leaf the codes that it is part of, one after another (-1 where there are no more), without the total."""
    matrix = dimension.matrix.toarray()
    plain = [n for n, code in enumerate(dimension.codes) if code != dimension.total and matrix[:, n].min() >= 0]
    codes = [[n for n in plain if matrix[leaf, n]] for leaf in range(len(dimension.leaves))]
    most = max(len(one) for one in codes)
    return [np.array([one[number] if number < len(one) else -1 for one in codes]) for number in range(most)]


def _correction(published: _Published, values: Floats) -> Floats:
    """The change of the counts that brings the sums nearest to what is shown."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import lsqr

    scale = np.maximum(values, 1e-2) ** 0.25  # a large count may be further off than a small one
    found = lsqr(
        published.matrix @ diags_array(scale), published.shown - published.matrix @ values, iter_lim=ITERATIONS
    )
    change: Floats = found[0] * scale
    return change


def recovered(answers: AllAnswers, truth: Truth, fitted: dict[Frame, Floats], size: int) -> Recovered | None:
    """How near the fitted numbers are to the truth, over cells of so many variables; None where there are none."""
    shown: list[Array] = []
    guessed: list[Array] = []
    true: list[Array] = []
    for frame, values in answers.frames.items():
        if len(frame) == size:
            known = values != UNKNOWN
            shown.append(values[known])
            guessed.append(fitted[frame][known])
            true.append(np.asarray(truth.frame(frame))[known])
    return score_counts(_joined(shown), _joined(guessed), _joined(true))


def _joined(parts: Sequence[Array]) -> Floats:
    return np.concatenate([np.ravel(one) for one in parts]).astype(float) if parts else np.zeros(0)


def score_counts(shown: Floats, guessed: Floats, true: Floats) -> Recovered | None:
    """Errors over cells of somebody, exact shares over counts of 1 to 3."""
    held = true > 0
    if not held.any():
        return None
    small = held & (true <= SMALL)
    shares = [float((true[small] == number).mean()) if small.any() else 0.0 for number in range(1, SMALL + 1)]

    def exact(numbers: Floats) -> float:
        return float((np.rint(numbers[small]) == true[small]).mean()) if small.any() else 0.0

    return Recovered(
        cells=int(held.sum()),
        small=int(small.sum()),
        rmse_shown=float(np.sqrt(((shown - true)[held] ** 2).mean())),
        rmse=float(np.sqrt(((guessed - true)[held] ** 2).mean())),
        exact_shown=exact(shown),
        exact=exact(guessed),
        single=max(shares),
    )
