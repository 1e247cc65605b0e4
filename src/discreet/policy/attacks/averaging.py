"""Averaging over groupings: the same cell as the sum of its parts by every published variable, and their mean."""

from __future__ import annotations

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.policy.attacks.answers import UNKNOWN, AllAnswers, Frame, Truth
from discreet.policy.attacks.finding import AttackFinding

SMALLEST, LARGEST = 1, 100  # counts that are looked at


def averaged(answers: AllAnswers, truth: Truth, size: int) -> AttackFinding | None:
    """Cells of ``size`` variables hit exactly by the mean of all breakdowns; blind is the number as shown."""
    shown: list[Array] = []
    guessed: list[Array] = []
    true: list[Array] = []
    for frame, values in answers.frames.items():
        if len(frame) == size:
            counts = np.asarray(truth.frame(frame))
            held = (np.asarray(values) != UNKNOWN) & (counts >= SMALLEST) & (counts <= LARGEST)
            shown.append(np.asarray(values)[held])
            guessed.append(_mean(answers, frame)[held])
            true.append(counts[held])
    if not shown or not (number := sum(one.size for one in shown)):
        return None
    truth_values = np.concatenate(true)
    return AttackFinding(
        attack=f"averaging, {size} variable{'s' if size > 1 else ''}",
        success="counts up to 100 hit exactly",
        rate=float((np.rint(np.concatenate(guessed)) == truth_values).mean()),
        blind=float((np.concatenate(shown) == truth_values).mean()),
        cases=number,
    )


def _mean(answers: AllAnswers, frame: Frame) -> Floats:
    """What is shown of a set of variables and the sums of its parts, weighed by how few parts there are."""
    values = np.asarray(answers.frames[frame])
    sums = np.maximum(values, 0).astype(float)
    weights = (values != UNKNOWN).astype(float)
    for larger, parts in answers.frames.items():
        if not set(frame) < set(larger):
            continue
        added = tuple(axis for axis, k in enumerate(larger) if k not in frame)
        leaves = [
            [answers.dimensions[k].position[leaf] for leaf in answers.dimensions[k].leaves]
            if k not in frame
            else list(range(len(answers.dimensions[k].codes)))
            for k in larger
        ]
        every = np.asarray(parts)[np.ix_(*leaves)]
        whole = (every != UNKNOWN).all(axis=added)
        noisy = np.maximum((every > 0).sum(axis=added), 1)
        sums += np.where(whole, every.sum(axis=added) / noisy, 0.0)
        weights += np.where(whole, 1.0 / noisy, 0.0)
    mean: Floats = sums / np.maximum(weights, 1e-12)
    return mean
