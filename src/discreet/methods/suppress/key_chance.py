"""With which chance a random key makes a table hide given cells, by importance sampling.

A pattern of a larger table comes about with one key in thousands, too few to be met by chance. So draws are taken from
a mixture: as a key draws, and with the cells in question drawn to be hidden, in two strengths. Each draw counts by how
much likelier it is from a key than from the mixture [Veach and Guibas 1995, the balance heuristic].
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.model.keyed_draw import KeyedDraw, decoy_chance, spread_of
from discreet.methods.suppress.model.task import Task


def hiding_chance(
    task: Task, cells: Array, gives: Callable[[Task, Array], bool], draws: int, random: np.random.Generator
) -> float:
    """The chance that exactly these cells of the table are hidden; ``gives`` says whether a task with its draw does."""
    n, roles = len(task.table), task.roles
    if (roles.primary[:n] & ~cells).any():
        return 0.0
    tuning = task.tuning.key
    spread = spread_of(task.table, tuning)
    usual = decoy_chance(task.table, roles, tuning)
    asked = cells & ~roles.primary[:n]
    likely = [np.where(usual > 0, np.maximum(usual, least), 0) for least in tuning.as_decoys]
    chances = [np.where(asked, chance, usual) for chance in likely]
    chances = [usual, *(np.where(asked, chance, 0) for chance in chances[1:])]
    total = 0.0
    for _ in range(draws):
        part = int(random.integers(len(tuning.tilts)))
        uniform = random.random(n)
        noise = np.log((uniform + 2.0**-54) / (1 - uniform)) - np.where(asked, tuning.tilts[part], 0)
        decoys = random.random(n) < chances[part]
        parts = zip(tuning.tilts, chances, strict=True)
        likelier = [_ratio(noise, decoys, asked, tilt, usual, chance) for tilt, chance in parts]
        factor, mask = np.ones(roles.n), np.zeros(roles.n, bool)
        factor[:n], mask[:n] = np.exp(spread * noise), decoys
        if gives(task.with_draw(KeyedDraw(factor, mask)), cells):
            total += len(tuning.tilts) / sum(likelier)
    return total / draws


def _ratio(noise: Array, decoys: Array, asked: Array, tilt: float, usual: Array, chance: Array) -> float:
    """How much likelier a draw is from one part of the mixture than from a key."""
    z = noise[asked]
    size = np.log(_logistic(z + tilt) / _logistic(z)).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        yes = np.where(decoys, np.log(chance / usual), np.log((1 - chance) / (1 - usual)))
    return float(np.exp(size + np.where(usual > 0, yes, 0).sum()))


def _logistic(z: Array) -> Array:
    """Density of the logistic distribution."""
    return np.asarray(0.25 / np.cosh(z / 2) ** 2)
