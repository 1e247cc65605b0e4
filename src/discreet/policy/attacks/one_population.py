"""One small population under attack with one secret: records claimed by sampling, set against the truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.base.annotations import Array
from discreet.policy.attacks.answers import UNKNOWN, AllAnswers, Truth
from discreet.policy.attacks.attack_report import Attacked, excess
from discreet.policy.attacks.claims import calibration_of, score_claims
from discreet.policy.attacks.least_squares import Recovered, score_counts
from discreet.policy.attacks.mechanism import Mechanism
from discreet.policy.attacks.sampling import Effort, Sampled, sample_tables
from discreet.policy.attacks.small_populations import CellsOf, SmallPopulation, published_cells
from discreet.policy.attacks.two_way import TwoWayModel


def attacked_population(
    answers: AllAnswers,
    truth: Truth,
    model: TwoWayModel,
    mechanisms: Sequence[Mechanism],
    population: SmallPopulation,
    effort: Effort,
    seed: int,
) -> Attacked:
    """Under each of the mechanisms that may be at work; the one that gives most away counts."""
    people = answers.shown(tuple(k for k, _ in population.codes), [code for _, code in population.codes])
    cells = published_cells(answers, model, population)
    tried = []
    for mechanism in mechanisms:
        sampled = None if cells is None else sample_tables(cells, mechanism, effort=effort, seed=seed)
        if cells is None or sampled is None:
            return Attacked(name=population.name, people=people, why="there are too many combinations of codes")
        tried.append(_scored(cells, sampled, truth, population, people))
    return max(tried, key=excess)


def _scored(cells: CellsOf, sampled: Sampled, truth: Truth, population: SmallPopulation, people: int) -> Attacked:
    true = truth.counts[np.ix_(*cells.leaves)]
    claimed = score_claims(sampled, true.ravel(), cells.prior.ravel())
    return Attacked(
        name=population.name,
        people=people,
        claimed=claimed,
        calibration=calibration_of(sampled, true.ravel()),
        counts=_small_counts(cells, sampled.counts, true),
        covered=tuple(one.right / population.people for one in claimed),
        mixed=sampled.mixed,
    )


def _small_counts(cells: CellsOf, guessed: Array, true: Array) -> Recovered | None:
    """How near the most likely counts of the population's cells are to the true ones."""
    held = np.zeros(cells.shown.size, np.int64)
    where = np.nonzero(true)
    for block in range(len(cells.blocks)):
        at = np.full(len(where[0]), cells.offset[block])
        for variable, leaves in enumerate(where):
            at = at + cells.step[block, variable, leaves]
        np.add.at(held, at, true[where])
    known = cells.shown != UNKNOWN
    return score_counts(cells.shown[known].astype(float), guessed[known].astype(float), held[known].astype(float))
