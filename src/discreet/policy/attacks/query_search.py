"""A search for the questions that tell most of one target, in the manner of QuerySnout and QueryCheetah.

Cretu et al. (2022), Stevanoski et al. (2024). Sets of questions are bred on shadow data: the fitness of a set is how
well a linear rule on its answers tells the target's unknown attribute on data that the rule has not seen. What is
reported is the area under the curve on further shadow data, which neither the rule nor the search has seen, and on the
real answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Floats
from discreet.policy.attacks.answers import AllAnswers, Truth
from discreet.policy.attacks.finding import AttackFinding, area_under_curve
from discreet.policy.attacks.mechanism import Mechanism
from discreet.policy.attacks.target_cells import KnownTarget, TargetCells
from discreet.policy.attacks.two_way import TwoWayModel

TRAINED, CHECKED, HELD_OUT = 1500, 1000, 2000  # shadow data for the rule, for the search, and for the report
QUESTIONS = 8  # sets of attributes that a target's questions are about
GENERATIONS, OFFSPRING = 12, 8
RIDGE = 1.0
FEW = 3  # people of a combination from which targets are drawn


@dataclass(frozen=True, eq=False)
class Searched:
    """The best questions about a target: how well they tell its attribute, and what the real answers say."""

    questions: tuple[tuple[int, ...], ...]
    area: float
    """Under the curve, on shadow data that the search has not seen."""
    log_odds: float
    """Of the second category, by the real answers."""


def search_questions(cells: TargetCells, mechanism: Mechanism, seed: int) -> Searched | None:
    """Questions about one target; None where the policy answers none."""
    if not cells.sets:
        return None
    rng = np.random.default_rng(seed)
    answers, second = cells.shadows(TRAINED + CHECKED + HELD_OUT, mechanism, rng)
    values = _features(answers)
    parts = np.split(np.arange(len(second)), [TRAINED, TRAINED + CHECKED])

    def fitness(chosen: Sequence[int], judge: Array) -> tuple[float, Array]:
        rule = _rule(values[parts[0]][:, chosen], second[parts[0]])
        return area_under_curve(_scores(values[judge][:, chosen], rule), second[judge]), rule

    best, level = _bred(len(cells.sets), lambda chosen: fitness(chosen, parts[1])[0], rng)
    area, rule = fitness(best, parts[2])
    seen = _scores(values[parts[1]][:, best], rule)
    real = float(_scores(_features(cells.shown[None])[:, best], rule)[0])
    odds = _log_odds(real, seen[second[parts[1]]], seen[~second[parts[1]]])
    return Searched(tuple(cells.sets[k] for k in best), area if level > 0.5 else 0.5, odds)


def _log_odds(score: float, second: Floats, first: Floats) -> float:
    """For the second category, where scores of both are taken for normal with one variance: targets can be compared."""
    spread = float((second.var() + first.var()) / 2) + 1e-9
    apart = float(second.mean() - first.mean())
    return apart / spread * (score - float(second.mean() + first.mean()) / 2)


def _bred(number: int, fitness: Any, rng: np.random.Generator) -> tuple[list[int], float]:
    """The best set of questions: greedy at first, then changed one question at a time."""
    best: list[int] = []
    level = 0.5
    for _ in range(min(QUESTIONS, number)):
        tried = rng.permutation([k for k in range(number) if k not in best])[: 2 * OFFSPRING]
        levels = [fitness([*best, int(k)]) for k in tried]
        if len(best) and max(levels) <= level:
            break
        best, level = [*best, int(tried[int(np.argmax(levels))])], max(levels)
    for _ in range(GENERATIONS):
        deadline.check()
        for _ in range(OFFSPRING):
            child = list(best)
            new = int(rng.integers(number))
            if new in child:
                continue
            if len(child) < QUESTIONS and rng.random() < 0.3:
                child.append(new)
            else:
                child[int(rng.integers(len(child)))] = new
            if (reached := fitness(child)) > level:
                best, level = child, reached
    return best, level


def _features(answers: Array) -> Floats:
    """What a rule looks at, by question: numbers, which of them are zero, and which are equal."""
    first, second, both = (answers[..., kind].astype(float) for kind in range(3))
    columns = [
        np.minimum(first, 20.0),
        np.minimum(second, 20.0),
        np.clip(first - second, -10.0, 10.0),
        np.clip(both - first, -10.0, 10.0),
        np.clip(both - second, -10.0, 10.0),
        (first == 0).astype(float),
        (second == 0).astype(float),
        (both == first).astype(float),
        (both == second).astype(float),
    ]
    return np.stack(columns, axis=-1)


def _rule(values: Floats, second: Array) -> Array:
    """A linear rule by ridge regression; the last three rows are its constant, the means and the scales."""
    flat = values.reshape(len(values), -1)
    mean, scale = flat.mean(axis=0), flat.std(axis=0) + 1e-9
    scaled = (flat - mean) / scale
    goal = np.where(second, 1.0, -1.0)
    weights = np.linalg.solve(scaled.T @ scaled + RIDGE * np.eye(scaled.shape[1]), scaled.T @ (goal - goal.mean()))
    return np.stack([weights, mean, scale])


def _scores(values: Floats, rule: Array) -> Floats:
    flat = values.reshape(len(values), -1)
    scores: Floats = ((flat - rule[1]) / rule[2]) @ rule[0]
    return scores


# -- several targets --------------------------------------------------------------------------------------------


def searched_targets(
    answers: AllAnswers, truth: Truth, model: TwoWayModel, mechanism: Mechanism, *, number: int, seed: int
) -> list[AttackFinding]:
    """Targets whose known attributes few others share: the mean area on shadow data, and that of the real answers."""
    if model.expected is None:
        return []
    rng = np.random.default_rng(seed)
    results = []
    seconds = []
    for k in range(number):
        target, second = draw_target(truth, model.expected, rng)
        cells = TargetCells.of(answers, model.expected, target)
        if (found := search_questions(cells, mechanism, seed + k)) is not None:
            results.append(found)
            seconds.append(second)
    if not results:
        return []
    real = area_under_curve(np.array([one.log_odds for one in results]), np.array(seconds))
    areas = float(np.mean([one.area for one in results]))
    words = "attribute of a target (area under the curve)"
    return [
        AttackFinding(
            attack="query search, shadow data", success=words, rate=areas, blind=0.5, cases=len(results), area=True
        ),
        AttackFinding(
            attack="query search, real answers", success=words, rate=real, blind=0.5, cases=len(results), area=True
        ),
    ]


def draw_target(truth: Truth, expected: Floats, rng: np.random.Generator) -> tuple[KnownTarget, bool]:
    """A person whom the model expects least, a variable that is not known of them, and another category it may be.

    Drawn from the rarest tenth of combinations of one to three people, since those are whom a table server has to
    protect; and whether the second of the two categories is the true one.
    """
    shape, counts = truth.counts.shape, truth.counts.ravel()
    few = np.flatnonzero((counts > 0) & (counts <= FEW))
    few = few if few.size else np.flatnonzero(counts > 0)
    rare = few[np.argsort(expected.ravel()[few], kind="stable")][: max(len(few) // 10, 1)]
    leaves = tuple(int(k) for k in np.unravel_index(int(rng.choice(rare)), shape))
    unknown = int(rng.choice([k for k, size in enumerate(shape) if size > 1]))
    line = tuple(slice(None) if k == unknown else leaf for k, leaf in enumerate(leaves))
    likely = expected[line] + 1e-9 * (expected.sum(axis=tuple(k for k in range(len(shape)) if k != unknown)) > 0)
    likely = np.where(np.arange(len(likely)) == leaves[unknown], 0.0, likely)
    other = int(rng.choice(len(likely), p=likely / likely.sum()))
    second = bool(rng.random() < 0.5)
    two = (other, leaves[unknown]) if second else (leaves[unknown], other)
    return KnownTarget(leaves, unknown, two), second
