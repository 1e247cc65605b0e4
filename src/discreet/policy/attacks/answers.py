"""All answers of a policy together, taken as the server would give them, and the truth to score attacks by.

A cell is known by the variables that are not at their total and by a code of each, so that the same cell of several
tables is one. Attacks see ``AllAnswers`` and the policy; only the score looks at the true counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.errors import OutOfTimeError, Refused
from discreet.policy.answering import unfiltered
from discreet.policy.attacks.closure import candidates
from discreet.policy.deciding import answer_table
from discreet.policy.policy import Policy
from discreet.policy.pretabular import cube_of, ready
from discreet.policy.query import Resolved
from discreet.policy.whole_variables import WholeVariables
from discreet.release import Release
from discreet.tables.table import Table

Frame = tuple[int, ...]
UNKNOWN = -1
MOST_CELLS = 20_000_000  # of one set of variables, over all codes


@dataclass(frozen=True, eq=False)
class AllAnswers:
    """What a caller knows who has asked for everything: numbers by cell, and what it took.

    ``frames`` has an array for every set of variables, over all codes of each; ``UNKNOWN`` where nothing was shown, and
    where a code is the total, since that is a cell of fewer variables.
    """

    dimensions: tuple[Dimension, ...]
    frames: Mapping[Frame, Array] = field(repr=False)
    requests: int
    refused: int
    tables: int
    hidden: int
    conflicts: int
    """Cells that showed another number in another answer."""
    left_out: int
    """Requests that were not looked at, because there are too many; what they tell is not known."""

    @cached_property
    def cells(self) -> int:
        """Distinct cells with a number."""
        return sum(int((values != UNKNOWN).sum()) for values in self.frames.values())

    def total(self) -> int | None:
        """The number of everybody as shown, if it is."""
        whole = self.frames.get(())
        return None if whole is None or int(whole) == UNKNOWN else int(whole)

    def shown(self, frame: Frame, codes: Sequence[int]) -> int:
        """One cell, or ``UNKNOWN``."""
        values = self.frames.get(frame)
        return UNKNOWN if values is None else int(values[tuple(codes)])


@dataclass(frozen=True, eq=False)
class ShownTable:
    """An answer: of each variable of the table or its filter the codes of all cells, and their counts (NaN: hidden)."""

    codes: Mapping[int, Array]
    counts: Array


Asking = Callable[[Sequence[Resolved]], Iterator[ShownTable | None]]
"""Answers to requests for one set of variables, one after another; None where one is refused."""


class NoMoreAnswers(Exception):  # noqa: N818 - what is left is counted, not an accident
    """Whoever is asked gives no more: what was not asked stays unknown."""


@dataclass
class _Collected:
    """AllAnswers while they come in."""

    dimensions: tuple[Dimension, ...]
    frames: dict[Frame, Array] = field(default_factory=dict)
    conflicts: int = 0
    hidden: int = 0

    def frame(self, names: Frame) -> Array:
        if names not in self.frames:
            shape = tuple(len(self.dimensions[k].codes) for k in names)
            self.frames[names] = np.full(shape, UNKNOWN, np.int64)
        return self.frames[names]

    def add(self, shown: ShownTable) -> None:
        """The cells of an answer."""
        columns, values = shown.codes, shown.counts
        open_ = np.isfinite(values)
        self.hidden += int((~open_).sum())
        names = sorted(columns)
        codes = np.column_stack([columns[k] for k in names])[open_]
        numbers = np.rint(values[open_]).astype(np.int64)
        totals = [self.dimensions[k].position.get(self.dimensions[k].total or "", -1) for k in names]
        at_total = codes == np.array(totals)
        pattern = at_total @ (1 << np.arange(len(names)))
        for one in np.unique(pattern):
            rows = pattern == one
            kept = [j for j in range(len(names)) if not one >> j & 1]
            array = self.frame(tuple(names[j] for j in kept))
            flat = array.reshape(-1)  # a view: frames are held as they were made
            at = np.ravel_multi_index([codes[rows, j] for j in kept], array.shape) if kept else np.zeros(1, np.int64)
            held = flat[at]
            self.conflicts += int(((held != UNKNOWN) & (held != numbers[rows])).sum())
            flat[at] = np.where(held == UNKNOWN, numbers[rows], held)

    def lacks(self, resolved: Resolved) -> bool:
        """Whether a request could tell a cell that is not known yet, among those of all its variables.

        What it tells of fewer is known from other tables, which are asked too.
        """
        frame = []
        picked = []
        for k, dimension in enumerate(self.dimensions):
            if dimension.name in resolved.population:
                codes = resolved.population[dimension.name][1]
            elif dimension.name in resolved.detail:
                codes = tuple(code for code in resolved.detail[dimension.name].codes if code != dimension.total)
            else:
                continue
            frame.append(k)
            picked.append([dimension.position[code] for code in codes])
        values = self.frames.get(tuple(frame))
        return values is None or bool((values[np.ix_(*picked)] == UNKNOWN).any())


def collect(data: Microdata | Table, policy: Policy, *, progress: Callable[[str], None] | None = None) -> AllAnswers:
    """Ask for everything, and keep what is shown. Refused tables are absent."""
    held = ready(data, policy) if policy.before else cube_of(ready(data, policy))
    dimensions = tuple(data.dimensions)
    whole = WholeVariables(held.dimensions, policy, partial(unfiltered, held))

    def ask(requests: Sequence[Resolved]) -> Iterator[ShownTable | None]:
        table = unfiltered(held, requests[0])
        for resolved in requests:
            try:
                release = answer_table(table, resolved, policy, whole)
            except Refused:
                yield None
                continue
            yield ShownTable(_positions(release, resolved, dimensions), np.asarray(release.values["count"], float))

    return collect_by(dimensions, policy, ask, progress=progress)


def collect_by(
    dimensions: tuple[Dimension, ...], policy: Policy, ask: Asking, *, progress: Callable[[str], None] | None = None
) -> AllAnswers:
    """The same from whoever answers, such as a running server of the policy."""
    collected = _Collected(dimensions)
    requests = refused = tables = left_out = 0
    ended = False
    for candidate in candidates(dimensions, policy):
        ended = ended or deadline.over()  # what was not asked is said to be left out
        left_out += candidate.left_out
        if ended or math.prod(len(dimensions[k].codes) for k in candidate.names) > MOST_CELLS:
            left_out += sum(len(way) for way in candidate.ways[:1])
            continue
        for way in candidate.ways:
            open_requests = [resolved for resolved in way if collected.lacks(resolved)]
            if not open_requests:
                break
            answered = 0
            try:
                for shown in ask(open_requests):
                    answered += 1
                    if shown is None:
                        refused += 1
                        continue
                    tables += 1
                    collected.add(shown)
            except (NoMoreAnswers, OutOfTimeError):
                ended = True
                left_out += len(open_requests) - answered
            requests += answered
            if ended:
                break
        if progress is not None:
            progress(f"{requests:,} requests")
    return AllAnswers(
        dimensions, collected.frames, requests, refused, tables, collected.hidden, collected.conflicts, left_out
    )


def merged(every: Sequence[AllAnswers]) -> AllAnswers:
    """What somebody knows who has the answers of several policies; of two different numbers the first is kept."""
    first = every[0]
    frames = {frame: np.array(values) for frame, values in first.frames.items()}
    conflicts = sum(one.conflicts for one in every)
    for other in every[1:]:
        for frame, values in other.frames.items():
            held = frames.setdefault(frame, np.full(np.shape(values), UNKNOWN, np.int64))
            conflicts += int(((held != UNKNOWN) & (values != UNKNOWN) & (held != values)).sum())
            frames[frame] = np.where(held == UNKNOWN, values, held)
    sums = {name: sum(getattr(one, name) for one in every) for name in ("requests", "refused", "tables", "hidden")}
    left_out = sum(one.left_out for one in every)
    return AllAnswers(first.dimensions, frames, conflicts=conflicts, left_out=left_out, **sums)


def _positions(release: Release, resolved: Resolved, dimensions: Sequence[Dimension]) -> dict[int, Array]:
    """The codes of the cells of an answer, as positions among all codes of each variable."""
    shown = {d.name: (column, d) for column, d in enumerate(release.dimensions)}
    columns: dict[int, Array] = {}
    for k, dimension in enumerate(dimensions):
        if dimension.name in shown:
            column, asked = shown[dimension.name]
            place = np.array([dimension.position[code] for code in asked.codes])
            columns[k] = place[release.codes[:, column]]
        elif dimension.name in resolved.population:
            _, codes = resolved.population[dimension.name]
            columns[k] = np.full(len(release), dimension.position[codes[0]])
    return columns


# -- the truth --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """True counts, for the score alone (confidential)."""

    dimensions: tuple[Dimension, ...]
    counts: Array
    possible: Array | None = None
    """Which combinations of finest codes can exist, by the codebook; None when all can."""

    @classmethod
    def of(cls, data: Microdata | Table) -> Truth:
        """Of records or their cube."""
        cube = cube_of(data)
        able = cube.layout.possible
        possible = None if able is None else able.reshape(cube.layout.shape)
        return cls(tuple(cube.dimensions), cube.array().astype(np.int64), possible)

    def can_exist(self, names: Frame) -> Array:
        """Which cells can hold anybody: that the others are empty is no secret."""
        able = np.ones(self.counts.shape, bool) if self.possible is None else self.possible
        matrices = [abs(self.dimensions[k].matrix).toarray().astype(np.int64) for k in names]
        out = able.sum(axis=tuple(k for k in range(able.ndim) if k not in names))
        for axis, matrix in enumerate(matrices):
            out = np.moveaxis(np.tensordot(out, matrix, axes=(axis, 0)), -1, axis)
        return np.asarray(out > 0)

    def frame(self, names: Frame) -> Array:
        """The true counts of all codes of some variables, as ``AllAnswers.frames`` has what is shown."""
        out = self.counts.sum(axis=tuple(k for k in range(self.counts.ndim) if k not in names))
        for axis, k in enumerate(names):
            matrix = self.dimensions[k].matrix.toarray().astype(np.int64)
            out = np.moveaxis(np.tensordot(out, matrix, axes=(axis, 0)), -1, axis)
        result: Array = out
        return result

    def pairs(self, answers: AllAnswers) -> Iterator[tuple[Frame, Array, Array]]:
        """Of every set of variables, what was shown and what is true, cell by cell where something was shown."""
        for names, values in answers.frames.items():
            known = values != UNKNOWN
            if known.any():
                yield names, values[known], np.asarray(self.frame(names))[known]
