"""Zero proofs: a number 0 behind which somebody must be, because its parts, its total or its neighbours say so.

Where one part of a total shows a number and the others show 0, the two are the same people if the others are empty, and
a keyed method would show the same number twice. If it does not, somebody is behind one of the zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.policy.attacks.answers import UNKNOWN, AllAnswers, Frame, Truth
from discreet.policy.attacks.finding import AttackFinding
from discreet.policy.attacks.mechanism import Mechanism
from discreet.policy.attacks.two_way import TwoWayModel

MANY = np.int64(1) << np.int64(40)  # no count is as large
NOBODY = 1e-3  # people expected by the model, below which a zero is not doubted


def zero_proofs(answers: AllAnswers, truth: Truth, mechanism: Mechanism, model: TwoWayModel) -> list[AttackFinding]:
    """Of the cells that show 0 and are not empty the share that is found; of those found the share that is right."""
    lower = lower_bounds(answers, mechanism)
    unequal = _unequal(answers, model) if mechanism.keyed else {}
    hidden = said = right = 0
    for frame, values in answers.frames.items():
        zero = np.asarray(values) == 0
        people = np.asarray(truth.frame(frame)) > 0
        doubted = zero & ((lower[frame] > 0) | unequal.get(frame, np.zeros(zero.shape, bool))) & truth.can_exist(frame)
        hidden += int((zero & people).sum())
        said += int(doubted.sum())
        right += int((doubted & people).sum())
    if not hidden or not said:
        return []
    return [
        AttackFinding(
            attack="zero proofs", success="hidden people found", rate=right / hidden, blind=0.0, cases=hidden
        ),
        AttackFinding(
            attack="zero proofs", success="proofs that are right", rate=right / said, blind=0.0, cases=said, fair=False
        ),
    ]


def _unequal(answers: AllAnswers, model: TwoWayModel) -> dict[Frame, Array]:
    """Zeros that are the only ones to explain why a total and its one part show different numbers."""
    if model.expected is None:
        return {}
    expected = Truth(answers.dimensions, model.expected)
    out = {}
    for frame, values in answers.frames.items():
        doubted = np.zeros(np.asarray(values).shape, bool)
        for axis, k in enumerate(frame):
            parent = frame[:axis] + frame[axis + 1 :]
            dimension = answers.dimensions[k]
            if parent not in answers.frames or dimension.total is None:
                continue
            leaves = [dimension.position[leaf] for leaf in dimension.leaves]
            parts = np.take(np.asarray(values), leaves, axis=axis)
            total = np.expand_dims(np.asarray(answers.frames[parent]), axis)
            zero = (parts == 0) & (np.take(np.asarray(expected.frame(frame)), leaves, axis=axis) > NOBODY)
            known = (parts != UNKNOWN).all(axis=axis, keepdims=True) & (total != UNKNOWN)
            alone = ((parts > 0).sum(axis=axis, keepdims=True) == 1) & (zero.sum(axis=axis, keepdims=True) == 1)
            differ = parts.sum(axis=axis, keepdims=True) != total
            at: list[Any] = [slice(None)] * len(frame)
            at[axis] = leaves
            doubted[tuple(at)] |= zero & known & alone & differ
        out[frame] = doubted
    return out


def lower_bounds(answers: AllAnswers, mechanism: Mechanism) -> dict[Frame, Array]:
    """The least count of every cell: by its own number, by its parts, and by its total less the most of the others."""
    lower = {}
    upper = {}
    for frame, values in answers.frames.items():
        lower[frame], upper[frame] = _own_bounds(np.asarray(values), mechanism)
    for frame in sorted(answers.frames, key=len, reverse=True):
        for axis, k in enumerate(frame):
            parent = frame[:axis] + frame[axis + 1 :]
            if parent in lower and answers.dimensions[k].total is not None:
                leaves = [answers.dimensions[k].position[leaf] for leaf in answers.dimensions[k].leaves]
                parts = np.take(lower[frame], leaves, axis=axis).sum(axis=axis)
                lower[parent] = np.maximum(lower[parent], parts)
    for frame in sorted(answers.frames, key=len):
        for axis, k in enumerate(frame):
            parent = frame[:axis] + frame[axis + 1 :]
            if parent in lower and answers.dimensions[k].total is not None:
                leaves = [answers.dimensions[k].position[leaf] for leaf in answers.dimensions[k].leaves]
                most = np.take(upper[frame], leaves, axis=axis)
                others = most.sum(axis=axis, keepdims=True) - most
                least = np.expand_dims(lower[parent], axis) - others
                at: list[Any] = [slice(None)] * len(frame)
                at[axis] = leaves
                lower[frame][tuple(at)] = np.maximum(np.take(lower[frame], leaves, axis=axis), least)
    return lower


def _own_bounds(values: Array, mechanism: Mechanism) -> tuple[Array, Array]:
    """The least and the largest count that may show a number."""
    rows, reach = mechanism.log_chance.shape[1], mechanism.reach
    last = rows + 2 * reach + mechanism.period
    counts = np.arange(last + reach + 1)
    possible = np.zeros((len(counts) + reach + 1, len(counts)), bool)  # shown, count
    for count in counts:
        for change in range(-reach, reach + 1):
            if count + change >= 0 and mechanism.possible(int(count), change):
                possible[count + change, count] = True
    at = np.clip(values, 0, last)
    shift = np.where(values > last, values - last, 0)
    least = np.argmax(possible, axis=1)[at] + shift
    most = possible.shape[1] - 1 - np.argmax(possible[:, ::-1], axis=1)[at] + shift
    unknown = values == UNKNOWN
    return np.where(unknown, 0, least), np.where(unknown, MANY, most)
