"""A population that fits noisy margins: one of the many that could be measured like this, by Gibbs sampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.methods.synthetic.crossing import Crossing, InnerCells
from discreet.methods.synthetic.first_population import MOST_CELLS, start_records
from discreet.methods.synthetic.noisy_margins import EMPTY, NoisyMargin

VISITED = 200_000  # records a round: each variable of each is drawn again
LEAST_ROUNDS = 3
MOST_ROUNDS = 30
SETTLED = 0.02  # a round that lowers the root of the mean square by a smaller share is the last


@dataclass(frozen=True, eq=False)
class _Sums:
    """All margins end to end, as the compiled loop takes them."""

    begins: Array
    axes: Array
    steps: Array
    first: Array
    goal: Floats
    weight: Floats

    @classmethod
    def of(cls, margins: Sequence[NoisyMargin], shape: tuple[int, ...]) -> _Sums:
        first = np.concatenate([[0], np.cumsum(shape)]).astype(np.int64)
        most = max(m.crossing.order for m in margins)
        axes = np.full((len(margins), most), -1, np.int64)
        steps = np.zeros((len(margins), int(first[-1])), np.int64)
        for number, margin in enumerate(margins):
            for place, (axis, step) in enumerate(zip(margin.crossing.axes, margin.crossing.steps(), strict=True)):
                axes[number, place] = axis
                steps[number, first[axis] : first[axis + 1]] = step
        begins = np.concatenate([[0], np.cumsum([m.crossing.size for m in margins])]).astype(np.int64)
        goal = np.concatenate([m.goal for m in margins])
        return cls(begins, axes, steps, first, goal, np.concatenate([m.weight for m in margins]))

    def excess(self, codes: Array, margins: Sequence[NoisyMargin]) -> Floats:
        """Fitted less measured count of every cell."""
        counts = [np.bincount(m.crossing.cell(codes), minlength=m.crossing.size) for m in margins]
        out: Floats = np.concatenate(counts) - self.goal
        return out


def fitted_records(cells: InnerCells, margins: Sequence[NoisyMargin], total: int, seed: int) -> Array:
    """The codes of ``total`` records that fit the margins; of ``cells`` only the shape and what can be are used."""
    rng = np.random.default_rng(seed)
    codes = np.ascontiguousarray(start_records(margins, cells.shape, total, cells.possible, rng))
    if not len(codes):
        return codes
    from discreet.methods.synthetic._redraw import redraw  # compiled when it is first needed

    margins = [*margins, *_impossible(cells)]
    sums = _Sums.of(margins, cells.shape)
    excess = sums.excess(codes, margins)
    state = rng.integers(2**63, size=1, dtype=np.uint64)
    having = [np.flatnonzero((sums.axes == v).any(axis=1)) for v in range(len(cells.shape))]
    before = np.inf
    for turn in range(MOST_ROUNDS):
        for variable in rng.permutation(len(cells.shape)).tolist():
            visited = rng.choice(len(codes), size=min(len(codes), VISITED), replace=False)
            redraw(
                codes,
                visited,
                variable,
                cells.shape[variable],
                having[variable],
                sums.begins,
                sums.axes,
                sums.steps,
                sums.first,
                excess,
                sums.weight,
                state,
            )
        after = float(np.sqrt(np.mean(excess[sums.weight > 0] ** 2)))
        if turn + 1 >= LEAST_ROUNDS and after > (1 - SETTLED) * before:
            break
        before = min(before, after)
    return codes


def _impossible(cells: InnerCells) -> list[NoisyMargin]:
    """The structural zeros as a margin of all variables whose cells are to stay empty."""
    if cells.possible is None or cells.size > MOST_CELLS:
        return []
    whole = Crossing(tuple(range(len(cells.shape))), tuple(np.arange(n) for n in cells.shape), cells.dimensions)
    return [NoisyMargin(whole, np.zeros(cells.size), np.where(cells.possible.ravel(), 0.0, EMPTY))]
