"""Equal-number tests: a part that shows the number of its total may hold the same people, who then share a category."""

from __future__ import annotations

import numpy as np

from discreet.policy.attacks.answers import AllAnswers, Truth
from discreet.policy.attacks.finding import AttackFinding
from discreet.policy.attacks.two_way import TwoWayModel

FEW = 10  # people of a group that is looked at


def equal_sets(answers: AllAnswers, truth: Truth, model: TwoWayModel) -> AttackFinding | None:
    """Groups of whom all are said to have one category, because total and part show the same number and the rest 0.

    That is right of a group in which there is somebody, all of them with that category. Blind is how often the category
    that the two-way model holds for the likeliest is right of the same groups.
    """
    if model.expected is None:
        return None
    expected = Truth(answers.dimensions, model.expected)
    said = right = guessed = 0
    for frame, values in answers.frames.items():
        for axis, k in enumerate(frame):
            parent = frame[:axis] + frame[axis + 1 :]
            dimension = answers.dimensions[k]
            if parent not in answers.frames or dimension.total is None or len(dimension.leaves) < 2:
                continue
            leaves = [dimension.position[leaf] for leaf in dimension.leaves]
            parts = np.take(np.asarray(values), leaves, axis=axis)
            total = np.expand_dims(np.asarray(answers.frames[parent]), axis)
            alone = (parts > 0).sum(axis=axis, keepdims=True) == 1
            known = (parts >= 0).all(axis=axis, keepdims=True)
            able = np.take(truth.can_exist(frame), leaves, axis=axis).sum(axis=axis, keepdims=True) > 1
            equal = (parts == total) & (total > 0) & (total <= FEW) & alone & known & able
            if not equal.any():
                continue
            true_parts = np.take(np.asarray(truth.frame(frame)), leaves, axis=axis)
            true_total = np.expand_dims(np.asarray(truth.frame(parent)), axis)
            model_parts = np.take(np.asarray(expected.frame(frame)), leaves, axis=axis)
            shared = (true_parts == true_total) & (true_total > 0)
            likeliest = np.take_along_axis(shared, model_parts.argmax(axis=axis, keepdims=True), axis)
            said += int(equal.sum())
            right += int((equal & shared).sum())
            guessed += int((equal & likeliest).sum())
    if not said:
        return None
    return AttackFinding(
        attack="equal sets",
        success="groups said to share a category that do",
        rate=right / said,
        blind=guessed / said,
        cases=said,
    )
