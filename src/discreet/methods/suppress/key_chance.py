"""With which chance a random key makes a table hide given cells, by importance sampling.

A pattern of a larger table comes about with one key in thousands, too few to be met by chance. So draws are taken from
a mixture: as a key draws, and with the cells in question drawn to be hidden, in two strengths. Each draw counts by how
much likelier it is from a key than from the mixture [Veach and Guibas 1995, the balance heuristic].

Whether *any* key does takes one call: the draw in which every cell in question is a decoy. Nothing is left to choose
then, so the table gives the pattern or needs further cells whatever the weights are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.model.keyed_draw import KeyedDraw, decoy_chance, spread_of
from discreet.methods.suppress.model.task import Task

Sieve = Callable[[Task, Array, Array, Array], Array]


def hiding_chance(
    task: Task,
    cells: Array,
    gives: Callable[[Task, Array], bool],
    draws: int,
    random: np.random.Generator,
    sieve: Sieve | None = None,
) -> float:
    """The chance that exactly these cells of the table are hidden; ``gives`` says whether a task with its draw does.

    ``sieve`` says of many draws at once which may, so that the others need not be tried.
    """
    n, roles = len(task.table), task.roles
    if (roles.primary[:n] & ~cells).any():
        return 0.0
    tuning = task.tuning.key
    usual = decoy_chance(task.table, roles, tuning)
    asked = cells & ~roles.primary[:n]
    likely = [np.where(usual > 0, np.maximum(usual, least), 0) for least in tuning.as_decoys[1:]]
    chances = np.stack([usual, *(np.where(asked, chance, 0) for chance in likely)])
    tilts = np.array(tuning.tilts)
    part = random.integers(len(tilts), size=draws)
    uniform = random.random((draws, n))
    noise = np.log((uniform + 2.0**-54) / (1 - uniform)) - np.where(asked, tilts[part][:, None], 0)
    factors, decoys = np.ones((draws, roles.n)), np.zeros((draws, roles.n), bool)
    factors[:, :n] = np.exp(spread_of(task.table, tuning) * noise)
    decoys[:, :n] = random.random((draws, n)) < chances[part]
    may = np.ones(draws, bool) if sieve is None else sieve(task, factors, decoys, cells)
    total = 0.0
    for d in np.flatnonzero(may):
        if gives(task.with_draw(KeyedDraw(factors[d], decoys[d])), cells):
            parts = zip(tilts, chances, strict=True)
            total += len(tilts) / sum(_ratio(noise[d], decoys[d, :n], asked, t, usual, c) for t, c in parts)
    return total / draws


def least_chance(task: Task, cells: Array, gives: Callable[[Task, Array], bool]) -> float:
    """The chance of the draw that makes decoys of all these cells but the sensitive ones, if that hides exactly them.

    0 where it does not: then further cells would be needed, or a cell in question can be no decoy.
    """
    n, roles = len(task.table), task.roles
    hidden_anyway = roles.primary[:n] | roles.never[:n]
    if (hidden_anyway & ~cells).any():
        return 0.0
    usual = decoy_chance(task.table, roles, task.tuning.key)
    asked = cells & ~hidden_anyway
    factor, mask = np.ones(roles.n), np.zeros(roles.n, bool)
    mask[:n] = asked
    if (usual[asked] == 0).any() or not gives(task.with_draw(KeyedDraw(factor, mask)), cells):
        return 0.0
    return float(np.prod(np.where(asked, usual, 1 - usual)))


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
