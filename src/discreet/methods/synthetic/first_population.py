"""The first population: cells that can be, fitted to the two-way margins in the mean, then made whole."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.methods.synthetic.noisy_margins import NoisyMargin
from discreet.population.ipf import SumsByLabel, scale_in_turn

MOST_CELLS = 3_000_000  # combinations of codes up to which all are looked at; of more, a sample
MOST_DRAWN = 2_000_000  # combinations in such a sample
ROUNDS = 30  # of proportional fitting: noisy margins do not agree, so it does not end by itself


def start_records(
    margins: Sequence[NoisyMargin], shape: tuple[int, ...], total: int, possible: Array | None, rng: np.random.Generator
) -> Array:
    """The codes of so many records, whose two-way margins are near the measured ones."""
    low = [m for m in margins if m.crossing.order <= 2 and m.crossing.shape == tuple(shape[a] for a in m.crossing.axes)]
    if math.prod(shape) <= MOST_CELLS:
        codes = _all_cells(low, shape, possible)
    else:
        codes = _drawn_cells(low, shape, min(MOST_DRAWN, 4 * total + 1000), rng)
    means = _fitted_means(codes, low, total)
    return np.repeat(codes, _whole(means, total, rng), axis=0)


def number_of_people(total: int, margins: Sequence[NoisyMargin]) -> int:
    """How many people to draw: the noisy total and the sums of the one-way margins, by their precision together.

    A sum of b noisy counts has b times the variance of one.
    """
    alone = [m for m in margins if m.crossing.order == 1]
    precision = [1.0, *(1 / m.crossing.size for m in alone)]
    sums = [float(total), *(float(m.goal.sum()) for m in alone)]
    return max(0, round(float(np.average(sums, weights=precision))))


def _all_cells(margins: Sequence[NoisyMargin], shape: tuple[int, ...], possible: Array | None) -> Array:
    """Every combination that no margin calls empty; every possible one, if none is left."""
    grid = np.ones(shape, bool) if possible is None else possible.reshape(shape).copy()
    open_ = grid.copy()
    for margin in margins:
        others = tuple(a for a in range(len(shape)) if a not in margin.crossing.axes)
        open_ &= np.expand_dims((margin.goal > 0).reshape(margin.crossing.shape), others)
    return np.argwhere(open_ if open_.any() else grid).astype(np.int32)


def _drawn_cells(
    margins: Sequence[NoisyMargin], shape: tuple[int, ...], number: int, rng: np.random.Generator
) -> Array:
    """Distinct combinations of records drawn along a tree of the most telling pairs (Chow and Liu 1968)."""
    one = {m.crossing.axes[0]: m.goal for m in margins if m.crossing.order == 1}
    pairs = {m.crossing.axes: m.goal.reshape(m.crossing.shape) for m in margins if m.crossing.order == 2}
    telling = {axes: _mutual_information(goal) for axes, goal in pairs.items()}
    codes = np.empty((number, len(shape)), np.int32)
    done = [0]
    codes[:, 0] = _draw(one.get(0, np.ones(shape[0])), number, rng)
    while len(done) < len(shape):
        known = [axes for axes in telling if (axes[0] in done) != (axes[1] in done)]
        if not known:  # its pairs have too many cells to be measured
            new = next(a for a in range(len(shape)) if a not in done)
            codes[:, new] = _draw(one.get(new, np.ones(shape[new])), number, rng)
        else:
            axes = max(known, key=lambda pair: telling[pair])
            old, new = axes if axes[0] in done else axes[::-1]
            _draw_given(codes, old, new, pairs[axes] if old < new else pairs[axes].T, rng)
        done.append(new)
    return np.unique(codes, axis=0)


def _draw_given(codes: Array, old: int, new: int, goal: Floats, rng: np.random.Generator) -> None:
    """One more variable for every record, by its code of another."""
    for code in range(len(goal)):
        at = np.flatnonzero(codes[:, old] == code)
        if len(at):
            codes[at, new] = _draw(goal[code] if goal[code].any() else goal.sum(axis=0), len(at), rng)


def _draw(weights: Floats, number: int, rng: np.random.Generator) -> Array:
    chances = weights / weights.sum() if weights.sum() > 0 else None
    return rng.choice(len(weights), size=number, p=chances)


def _mutual_information(goal: Floats) -> float:
    p = goal / max(goal.sum(), 1.0)
    alone = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    held = p > 0
    return float((p[held] * np.log(p[held] / alone[held])).sum())


def _fitted_means(codes: Array, margins: Sequence[NoisyMargin], total: int) -> Floats:
    """Expected records of each combination: proportional fitting from equal ones to the margins of most variables."""
    means = np.full(len(codes), total / max(len(codes), 1))
    pairs = [m for m in margins if m.crossing.order == 2] or list(margins)
    goals = []
    for margin in pairs:
        label = margin.crossing.cell(codes)
        reached = np.bincount(label, minlength=margin.crossing.size) > 0
        held = np.where(reached, margin.goal, 0.0)
        if held.sum() > 0:
            goals.append(SumsByLabel(label, held * (total / held.sum())))
    if goals and total > 0:
        scale_in_turn(means, goals, tolerance=1e-6, iterations=ROUNDS)
        means *= total / means.sum() if means.sum() > 0 else 0.0
    return means


def _whole(means: Floats, total: int, rng: np.random.Generator) -> Array:
    """Whole numbers next to the means that sum to the total: systematic sampling of what is left after the point."""
    floor = np.floor(means)
    ends = np.cumsum(means - floor)
    if not len(ends):
        return floor.astype(np.int64)
    ends *= (total - floor.sum()) / ends[-1] if ends[-1] > 0 else 0.0
    places = np.floor(ends + rng.random())
    counts: Array = (floor + np.diff(places, prepend=0.0)).astype(np.int64)
    counts[int(counts.argmax())] += total - int(counts.sum())
    return counts
