"""attack(): what everything that a policy ever answers gives away, all answers together. Off line, by the owner."""

from __future__ import annotations

import secrets as chance
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from discreet.base.arguments import checked, whole
from discreet.data.microdata import Microdata
from discreet.methods import parameters
from discreet.policy.attacks.answers import UNKNOWN, AllAnswers, Truth, collect
from discreet.policy.attacks.attack_report import Attack, Attacked
from discreet.policy.attacks.claims import Claimed, calibration_of, score_claims
from discreet.policy.attacks.least_squares import Recovered, fit_margins, recovered, score_counts
from discreet.policy.attacks.mechanism import Mechanism, mechanism_of
from discreet.policy.attacks.sampling import Effort, sample_tables
from discreet.policy.attacks.small_populations import CellsOf, SmallPopulation, published_cells, small_populations
from discreet.policy.attacks.two_way import TwoWayModel
from discreet.policy.policy import Policy
from discreet.tables.table import Table

Progress = Callable[[str], None]


@checked
def attack(
    data: Microdata | Table,
    policy: Policy,
    *,
    limit: int = 2000,
    most: int = 12,
    together: int = 1,
    secrets: int = 1,
    effort: Effort | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Attack:
    """Ask for everything that ``policy`` allows and rebuild what can be rebuilt.

    ``limit``: populations of fewer people are attacked, the ``most`` smallest of them; ``together=2`` takes pairs of
    categories too. ``secrets``: the policy's own, and so many less one drawn for the purpose, since one noise is luck.
    """
    for name, number in (("limit", limit), ("most", most), ("together", together), ("secrets", secrets)):
        whole(name, number, 1)
    say: Progress = progress or (lambda _: None)
    truth = Truth.of(data)
    mechanism = mechanism_of(policy)
    every = small_populations(truth, limit=limit, together=together, most=1_000_000)
    chosen = every[:most]
    rounds = []
    policies = _secrets(policy, secrets)
    for number, one in enumerate(policies):
        say(f"secret {number + 1} of {len(policies)}: asking for everything")
        rounds.append(_round(collect(data, one), truth, mechanism, chosen, effort or Effort(), seed + number, say))
    answers = rounds[0][0]
    unjudged = []
    if len(every) > len(chosen):
        unjudged.append(f"{len(every) - len(chosen):,} further populations under {limit:,} people were not attacked")
    if any(counts is None for _, counts, _ in rounds):
        unjudged.append("too many combinations of codes for least squares over all margins")
    return Attack(
        policy=policy.digest,
        mechanism="no known chances" if mechanism is None else mechanism.words,
        requests=answers.requests,
        refused=answers.refused,
        tables=answers.tables,
        cells=answers.cells,
        conflicts=answers.conflicts,
        left_out=answers.left_out,
        secrets=len(policies),
        populations=tuple(_pooled([one[2][k] for one in rounds]) for k in range(len(chosen))),
        counts=rounds[0][1] or (),
        unjudged=tuple(unjudged),
    )


def _secrets(policy: Policy, number: int) -> list[Policy]:
    """The policy with its own secret and with others, where its methods take one."""
    keyed = any("secret" in parameters(name) and "seed" not in stated for name, stated in policy.methods)
    more = number - 1 if keyed else 0
    return [policy, *(replace(policy, secret=chance.token_bytes(32)) for _ in range(more))]


def _round(
    answers: AllAnswers,
    truth: Truth,
    mechanism: Mechanism | None,
    chosen: list[SmallPopulation],
    effort: Effort,
    seed: int,
    say: Progress,
) -> tuple[AllAnswers, tuple[tuple[int, Recovered], ...] | None, list[Attacked]]:
    """Everything with one secret."""
    model = TwoWayModel.of(answers)
    say("least squares over all margins")
    fitted = fit_margins(answers, model)
    counts = None
    if fitted is not None:
        sizes = sorted({len(frame) for frame in answers.frames})
        scores = [(size, recovered(answers, truth, fitted, size)) for size in sizes]
        counts = tuple((size, one) for size, one in scores if one is not None and size > 0)
    attacked = []
    for number, population in enumerate(chosen):
        say(f"population {number + 1} of {len(chosen)}: {population.name}")
        attacked.append(_attacked(answers, truth, model, mechanism, population, effort, seed))
    return answers, counts, attacked


def _attacked(
    answers: AllAnswers,
    truth: Truth,
    model: TwoWayModel,
    mechanism: Mechanism | None,
    population: SmallPopulation,
    effort: Effort,
    seed: int,
) -> Attacked:
    """One population with one secret."""
    names = tuple(k for k, _ in population.codes)
    people = answers.shown(names, [code for _, code in population.codes])
    if mechanism is None:
        return Attacked(name=population.name, people=people, why="the chances of the policy's methods are not known")
    cells = published_cells(answers, model, population)
    sampled = None if cells is None else sample_tables(cells, mechanism, effort=effort, seed=seed)
    if cells is None or sampled is None:
        return Attacked(name=population.name, people=people, why="there are too many combinations of codes")
    true = truth.counts[np.ix_(*cells.leaves)].ravel()
    claimed = score_claims(sampled, true, cells.prior.ravel())
    return Attacked(
        name=population.name,
        people=people,
        claimed=claimed,
        calibration=calibration_of(sampled, true),
        counts=_small_counts(cells, sampled.counts, truth.counts[np.ix_(*cells.leaves)]),
        covered=tuple(one.right / population.people for one in claimed),
        mixed=sampled.mixed,
    )


def _small_counts(cells: CellsOf, guessed: np.ndarray, true: np.ndarray) -> Recovered | None:
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


def _pooled(rounds: list[Attacked]) -> Attacked:
    """One population over all secrets."""
    first = rounds[0]
    if any(one.why for one in rounds):
        return next(one for one in rounds if one.why)
    claimed: list[Claimed] = list(first.claimed)
    calibration = first.calibration
    for other in rounds[1:]:
        claimed = [a + b for a, b in zip(claimed, other.claimed, strict=True)]
        if calibration is not None and other.calibration is not None:
            calibration = calibration + other.calibration
    every = [one.counts for one in rounds if one.counts is not None]
    return replace(
        first,
        claimed=tuple(claimed),
        calibration=calibration,
        counts=_mean(every),
        covered=tuple(float(np.mean(column)) for column in zip(*(one.covered for one in rounds), strict=True)),
        mixed=all(one.mixed for one in rounds),
    )


def _mean(every: list[Recovered]) -> Recovered | None:
    """Over secrets: the cells are the same, the noise is not."""
    if not every:
        return None
    names = ("rmse_shown", "rmse", "exact_shown", "exact", "single")
    means = {name: float(np.mean([getattr(one, name) for one in every])) for name in names}
    return Recovered(cells=every[0].cells, small=every[0].small, **means)
