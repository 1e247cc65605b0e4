"""The state of a search in a file, so that it can go on another time. Confidential: only its owner can read it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.resume import ResumeFile
from discreet.errors import InputError
from discreet.methods.suppress.exact.inequalities import Cut
from discreet.methods.suppress.model.problem import Problem


@dataclass(frozen=True)
class State:
    """The best pattern, what is proved, and the inequalities of each part."""

    pattern: Array | None = None
    bound: float = 0.0
    cuts: list[list[Cut]] = field(default_factory=list)
    file: ResumeFile | None = None

    @classmethod
    @contextmanager
    def open(cls, path: str | Path | None, problem: Problem) -> Iterator[State]:
        """What an earlier search left, and the file to keep what this one leaves; without a path nothing is kept."""
        if path is None:
            yield cls()
            return
        with ResumeFile.open(path) as file:
            yield cls._read(file, problem)

    @classmethod
    def _read(cls, file: ResumeFile, problem: Problem) -> State:
        try:
            rows = file.rows()
            if not rows:
                return cls(file=file)
            row = rows[-1]
            cuts = [
                [Cut(np.array(cell, np.int64), np.array(coefficient, float)) for cell, coefficient in part]
                for part in row["cuts"]
            ]
            state = cls(np.array(row["pattern"], bool), float(row["bound"]), cuts, file)
            mark = row["problem"]
        except (InputError, TypeError, ValueError, KeyError):
            raise InputError(f"{str(file.path)!r} holds no state of a search; name another file or remove it") from None
        if mark != fingerprint(problem):
            raise InputError(f"{str(file.path)!r} is of another problem: name another file or remove it")
        if state.pattern is None or state.pattern.shape != (len(problem),) or not np.isfinite(state.bound):
            raise _spoilt(file)
        return state

    def part(self, number: int, cells: int) -> list[Cut]:
        """The inequalities of one part, which has so many cells in its smaller problem."""
        cuts = self.cuts[number] if number < len(self.cuts) else []
        if self.file is not None and not all(_fits(cut, cells) for cut in cuts):
            raise _spoilt(self.file)
        return cuts

    def keep(self, problem: Problem, pattern: Array, bound: float, cuts: list[list[Cut]]) -> None:
        """Keep these in the place of what was read."""
        if self.file is None:
            return
        row: Mapping[str, Any] = {
            "problem": fingerprint(problem),
            "pattern": np.asarray(pattern, int).tolist(),
            "bound": float(bound),
            "cuts": [[[cut.cell.tolist(), cut.coefficient.tolist()] for cut in part] for part in cuts],
        }
        self.file.replace([row])


def _fits(cut: Cut, cells: int) -> bool:
    """Whether an inequality is over cells that there are, one coefficient each."""
    if cut.cell.ndim != 1 or cut.coefficient.shape != cut.cell.shape or not np.isfinite(cut.coefficient).all():
        return False
    return bool(((cut.cell >= 0) & (cut.cell < cells)).all())


def _spoilt(file: ResumeFile) -> InputError:
    return InputError(f"{str(file.path)!r} does not fit the problem that it names; name another file or remove it")


def fingerprint(problem: Problem) -> str:
    """The same for the same problem."""
    needs = problem.needs
    mark = hashlib.sha256()
    arrays = (
        problem.rows.indptr,
        problem.rows.indices,
        problem.rows.data,
        problem.down,
        problem.up,
        problem.weight,
        problem.hidden,
        needs.cell,
        needs.below,
        needs.above,
        needs.sliding,
        needs.coalition,
        *needs.known,
    )
    for array in arrays:
        mark.update(np.ascontiguousarray(array).astype(float).tobytes())
        mark.update(b"|")
    return mark.hexdigest()
