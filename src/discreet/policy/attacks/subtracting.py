"""Differences of any order: a total less all its other parts tells whether somebody is in a part, shown or not.

A difference of two numbers is its lowest order; with m categories m numbers are subtracted. Where parts are not shown,
it is the way to them; elsewhere it adds to what they show themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.base.annotations import Array
from discreet.policy.attacks.answers import UNKNOWN, AllAnswers, Frame, Truth
from discreet.policy.attacks.finding import AttackFinding, area_under_curve
from discreet.policy.attacks.two_way import TwoWayModel

MOST_CASES = 200_000
FEW = 3  # people that a difference is asked about
UNSURE = (0.2, 3.0)  # people expected by the model, where it cannot tell whether somebody is there


def differences(answers: AllAnswers, truth: Truth, model: TwoWayModel) -> list[AttackFinding]:
    """Is somebody there? Area under the curve of total less others, by how many numbers are subtracted.

    Blind is that of the number of people whom the two-way model expects there.
    """
    if model.expected is None:
        return []
    expected = Truth(answers.dimensions, model.expected)
    scores: dict[int, list[Array]] = {}
    believed: dict[int, list[Array]] = {}
    present: dict[int, list[Array]] = {}
    for frame, axis, leaves in _splits(answers):
        parent = frame[:axis] + frame[axis + 1 :]
        parts = np.take(np.asarray(answers.frames[frame]), leaves, axis=axis)
        total = np.expand_dims(np.asarray(answers.frames[parent]), axis)
        unknown = parts == UNKNOWN
        others = np.where(unknown, 0, parts).sum(axis=axis, keepdims=True) - np.where(unknown, 0, parts)
        lacking = unknown.sum(axis=axis, keepdims=True) - unknown  # parts that could not be subtracted
        true = np.take(np.asarray(truth.frame(frame)), leaves, axis=axis)
        likely = np.take(np.asarray(expected.frame(frame)), leaves, axis=axis)
        open_ = (likely > UNSURE[0]) & (likely < UNSURE[1])
        able = np.take(truth.can_exist(frame), leaves, axis=axis)
        asked = (total != UNKNOWN) & (lacking == 0) & (true <= FEW) & open_ & able
        order = len(leaves) - 1
        scores.setdefault(order, []).append((total - others)[asked][:MOST_CASES])
        believed.setdefault(order, []).append(likely[asked][:MOST_CASES])
        present.setdefault(order, []).append((true > 0)[asked][:MOST_CASES])
    out = []
    for order in sorted(scores):
        score = np.concatenate(scores[order])
        there = np.concatenate(present[order])
        if score.size:
            out.append(
                AttackFinding(
                    attack=f"difference of {order + 1} numbers",
                    success="presence (area under the curve)",
                    rate=area_under_curve(score.astype(float), there),
                    blind=area_under_curve(np.concatenate(believed[order]), there),
                    cases=score.size,
                    area=True,
                )
            )
    return out


def _splits(answers: AllAnswers) -> Iterator[tuple[Frame, int, list[int]]]:
    """Published sets of variables, one of which splits a published smaller set."""
    for frame in answers.frames:
        for axis, k in enumerate(frame):
            dimension = answers.dimensions[k]
            if frame[:axis] + frame[axis + 1 :] in answers.frames and dimension.total is not None:
                yield frame, axis, [dimension.position[leaf] for leaf in dimension.leaves]
