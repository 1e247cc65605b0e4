"""Mechanism-exact sampling: which whole-number tables of a small population could have been shown as they were?

Metropolis-Hastings over lists of records, several chains, each cooled from a hot start. Claims are frequencies over the
samples of all chains: "at least k such records" with the share of samples in which that is so.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array, Floats
from discreet.base.parallel import side_by_side
from discreet.policy.attacks.answers import UNKNOWN
from discreet.policy.attacks.mechanism import Mechanism
from discreet.policy.attacks.small_populations import CellsOf, combinations_of
from discreet.population.ipf import SumsOverAxes, scale_in_turn

if TYPE_CHECKING:
    from discreet.policy.attacks import _sampled_table as sampled
    from discreet.policy.attacks import _sampling_kernels as kernels


MOST_COMBINATIONS = 4_000_000  # of a population that is sampled
STOCK = 1 << 18  # records drawn beforehand, from which proposals are taken
MOST_MASKS = 64  # sets of variables that a proposal redraws together
HOTTEST = 6.0
STAGES = 24  # of cooling
ROOM = 1.3  # records that a list can have, times the number shown
APART, APART_EACH = 12.0, 0.2  # log-probability by which a chain may be behind the best one, and for each of the people
MOST_HELD = 8  # records of a cell that are told apart in its most likely count
PENALTY = 14.0  # minus the log-probability of what cannot be


@dataclass(frozen=True)
class Effort:
    """How long a population is sampled: moves of a chain for each of its people, within bounds.

    >>> Effort()
    Effort(chains=4, moves_each=4000, fewest=150000, most=1500000, samples=300)
    """

    chains: int = 4
    moves_each: int = 4_000
    fewest: int = 150_000
    most: int = 1_500_000
    samples: int = 300
    """Of each chain."""

    def moves(self, people: int) -> int:
        """Of one chain.

        >>> Effort().moves(100), Effort().moves(10)
        (400000, 150000)
        """
        return min(max(self.moves_each * people, self.fewest), self.most)


@dataclass(frozen=True, eq=False)
class Sampled:
    """Records that are claimed, the surest first: the combination, which copy of it, and the share of samples."""

    combination: Array
    copy: Array
    chance: Floats
    counts: Array
    """Of every published cell the count that most samples have."""
    mixed: bool
    """Whether the chains agree on how well their tables fit; else the claims rest on those that fit best."""


@dataclass(frozen=True, eq=False)
class _Chain:
    """Samples of one chain, how often each cell held 0, 1, ... records, and the mean log-probability."""

    samples: list[Array]
    held: Array
    level: float


def sample_tables(cells: CellsOf, mechanism: Mechanism, *, effort: Effort, seed: int = 0) -> Sampled | None:
    """Claims about the records of a population; None where there are too many possible records."""
    if combinations_of(cells) > MOST_COMBINATIONS:
        return None
    if cells.prior.sum() <= 0:  # all that is shown says that nobody is there: nobody is claimed
        nobody = np.zeros(0, np.int64)
        return Sampled(nobody, nobody, np.zeros(0), np.zeros(cells.shown.size, np.int64), True)
    from discreet.policy.attacks import _sampled_table as sampled  # loads the compiler

    public = sampled.PublishedCells(
        cells.offset,
        cells.step,
        cells.shown,
        _kinds(cells, mechanism),
        np.maximum(mechanism.log_chance, -1e300),
        mechanism.period,
        mechanism.keyed,
    )
    prior = _prior(cells, np.random.default_rng(seed))
    chains = side_by_side(
        lambda number: _chain(public, prior, cells, effort, seed * 1000 + number), range(effort.chains)
    )
    best = max(one.level for one in chains)
    good = [one for one in chains if one.level > best - APART - APART_EACH * max(cells.total, 0)]
    counts = np.argmax(np.sum([one.held for one in good], axis=0), axis=1)
    return _claims([sample for one in good for sample in one.samples], counts, len(good) == len(chains))


def _kinds(cells: CellsOf, mechanism: Mechanism) -> Array:
    """Which of the mechanism's chances hold for each cell: by its number of variables."""
    kinds = np.zeros(cells.shown.size, np.int64)
    most = len(mechanism.log_chance)
    for (frame, shape), start in zip(cells.blocks, cells.offset, strict=True):
        kinds[start : start + int(np.prod(shape))] = min(max(len(frame), 1), most) - 1
    return kinds


# -- prior and proposals ----------------------------------------------------------------------------------------


def _prior(cells: CellsOf, rng: np.random.Generator) -> kernels.Prior:
    from discreet.policy.attacks import _sampling_kernels as kernels

    shape = cells.prior.shape
    believed = cells.prior / cells.prior.sum()
    believed = believed + 1e-7 / believed.size * (cells.prior > 0)
    proposal = 0.5 * believed / believed.sum() + 0.5 * _hot(cells, believed)
    proposal /= proposal.sum()
    masks = _masks(shape)
    offsets = []
    strides = np.zeros((len(masks), len(shape)), np.int64)
    tables = []
    at = 0
    for number, mask in enumerate(masks):
        margin = proposal.sum(axis=tuple(k for k in range(len(shape)) if not mask[k]))
        stride = 1
        for k in reversed(range(len(shape))):
            if mask[k]:
                strides[number, k] = stride
                stride *= shape[k]
        offsets.append(at)
        tables.append(np.ravel(margin))
        at += stride
    cumulative = np.cumsum(proposal.ravel())
    places = np.searchsorted(cumulative, rng.random(STOCK) * cumulative[-1], side="right")
    stock = np.column_stack(np.unravel_index(np.minimum(places, proposal.size - 1), shape)).astype(np.int64)
    with np.errstate(divide="ignore"):
        log_prior = np.maximum(np.log(believed.ravel()), -1e6)
        log_proposal = np.maximum(np.log(np.concatenate(tables)), -1e6)
    steps = np.array([int(np.prod(shape[k + 1 :])) for k in range(len(shape))], np.int64)
    return kernels.Prior(log_prior, steps, masks, strides, np.array(offsets, np.int64), log_proposal, stock)


def _masks(shape: tuple[int, ...]) -> Array:
    """Sets of variables that are redrawn together: single ones, pairs, ..., and all of them last."""
    free = [k for k, size in enumerate(shape) if size > 1]
    chosen = []
    for number in range(1, len(free)):
        chosen += list(itertools.combinations(free, number))
    chosen = [*chosen[: MOST_MASKS - 1], tuple(free)]
    masks = np.zeros((len(chosen), len(shape)), np.bool_)
    for row, one in enumerate(chosen):
        masks[row, list(one)] = True
    return masks


def _hot(cells: CellsOf, believed: Floats) -> Floats:
    """The prior scaled to what is shown of the population by one and two variables: where a chain begins."""
    values = believed * max(cells.total, 1)
    margins = []
    for number, (frame, shape) in enumerate(cells.blocks):
        free = [k for k in frame if len(cells.leaves[k]) > 1]
        finest = all(size == len(cells.leaves[k]) for k, size in zip(frame, shape, strict=True))
        if not 1 <= len(free) <= 2 or not finest:
            continue
        start = cells.offset[number]
        shown = cells.shown[start : start + int(np.prod(shape))].reshape(shape)
        over = tuple(k for k in range(values.ndim) if k not in free)
        now = values.sum(axis=over, keepdims=True)
        wide = shown.reshape([values.shape[k] if k in free else 1 for k in range(values.ndim)])
        goal = np.where(wide == UNKNOWN, now, np.where(wide > 0, wide, np.minimum(now, 0.2)))
        if goal.sum() > 0:
            margins.append(SumsOverAxes(over, goal * (values.sum() / goal.sum())))
    if margins:
        scale_in_turn(values, margins, tolerance=1e-4, iterations=20)
    total = values.sum()
    hot: Floats = values / total if total > 0 else believed
    return hot


# -- chains -----------------------------------------------------------------------------------------------------


def _chain(public: sampled.PublishedCells, prior: kernels.Prior, cells: CellsOf, effort: Effort, seed: int) -> _Chain:
    """One chain: cooled in stages, then sampled."""
    from discreet.policy.attacks import _sampling_kernels as kernels

    rng = np.random.default_rng(seed)
    start = max(cells.total, 1)
    moves = effort.moves(start) // 2
    state = _state(public, prior, start, rng)
    level = kernels.begin(public, state, PENALTY)
    for stage in range(STAGES):
        deadline.check()
        heat = HOTTEST ** (1 - stage / (STAGES - 1))
        level += kernels.advance(public, prior, state, moves // STAGES, heat, PENALTY, int(rng.integers(2**31)))
    gap = max(moves // effort.samples, 1)
    samples = []
    levels = []
    held = np.zeros((public.shown.size, MOST_HELD + 1), np.int32)
    rows = np.arange(public.shown.size)
    for _ in range(effort.samples):
        deadline.check()
        level += kernels.advance(public, prior, state, gap, 1.0, PENALTY, int(rng.integers(2**31)))
        combinations = state.record[: state.size[0]] @ prior.stride
        samples.append(combinations)
        levels.append(level + float(prior.log_prior[combinations].sum()))
        held[rows, np.minimum(state.held, MOST_HELD)] += 1
    return _Chain(samples, held, float(np.mean(levels)))


def _state(
    public: sampled.PublishedCells, prior: kernels.Prior, start: int, rng: np.random.Generator
) -> sampled.TableState:
    from discreet.policy.attacks import _sampled_table as sampled

    room = int(start * ROOM) + 20
    records = np.zeros((room, prior.stride.size), np.int64)
    records[:start] = prior.stock[rng.integers(len(prior.stock), size=start)]
    slots = 1 << int(np.ceil(np.log2(8 * min(public.shown.size, room * public.offset.size) + 64)))
    return sampled.TableState(
        records,
        rng.integers(1, 2**63, size=room, dtype=np.uint64) * np.uint64(2) + np.uint64(1),
        np.zeros((room, public.offset.size), np.int64),
        np.array([start], np.int64),
        np.zeros(public.shown.size, np.int64),
        np.zeros(public.shown.size, np.uint64),
        np.zeros(slots, np.uint64),
        np.zeros(slots, np.int64),
        np.zeros(1, np.uint64),
    )


def _claims(samples: list[Array], counts: Array, mixed: bool) -> Sampled:
    """Frequencies over all samples: of every combination, in how many it stands at least once, twice, ..."""
    names = []
    for sample in samples:
        ordered = np.sort(sample)
        first = np.searchsorted(ordered, ordered)
        names.append(np.stack([ordered, np.arange(len(ordered)) - first + 1]))
    every, times = np.unique(np.concatenate(names, axis=1), axis=1, return_counts=True)
    chance = times / len(samples)
    order = np.argsort(-chance, kind="stable")
    return Sampled(every[0][order], every[1][order], chance[order], counts, mixed)
