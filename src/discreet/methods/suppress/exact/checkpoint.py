"""The state of a search in a file, so that it can go on another time. Confidential: only its owner can read it."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.base.files import write_whole
from discreet.errors import InputError
from discreet.methods.suppress.exact.inequalities import Cut
from discreet.methods.suppress.model.problem import Problem

Array = NDArray[Any]


@dataclass(frozen=True)
class State:
    """The best pattern, what is proved, and the inequalities of each part."""

    pattern: Array | None = None
    bound: float = 0.0
    cuts: list[list[Cut]] = field(default_factory=list)

    def part(self, number: int) -> list[Cut]:
        """The inequalities of one part."""
        return self.cuts[number] if number < len(self.cuts) else []

    @classmethod
    def read(cls, path: str | Path | None, problem: Problem) -> State:
        """What an earlier search left; nothing if there is no such file."""
        if path is None or not Path(path).exists():
            return cls()
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as kept:
                held = {name: kept[name] for name in kept.files}
                mark = str(held["problem"])
                start, part = held["start"], held["part"]
                cell, coefficient = held["cell"], held["coefficient"]
                pattern, bound = held["pattern"], float(held["bound"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            raise InputError(f"{str(path)!r} holds no state of a search; name another file or remove it") from None
        if mark != fingerprint(problem):
            raise InputError(f"{str(path)!r} is of another problem: name another file or remove it")
        cuts: list[list[Cut]] = [[] for _ in range(int(part.max(initial=-1)) + 1)]
        for k, number in enumerate(part.tolist()):
            at = slice(start[k], start[k + 1])
            cuts[number].append(Cut(cell[at], coefficient[at]))
        return cls(pattern, bound, cuts)

    @staticmethod
    def write(path: str | Path | None, problem: Problem, pattern: Array, bound: float, cuts: list[list[Cut]]) -> None:
        """Keep it, readable by its owner alone."""
        if path is None:
            return
        flat = [cut for part in cuts for cut in part]
        whole = io.BytesIO()
        np.savez_compressed(
            whole,
            problem=np.array(fingerprint(problem)),
            pattern=pattern,
            bound=np.array(bound),
            part=np.array([k for k, part in enumerate(cuts) for _ in part], np.int64),
            start=np.cumsum([0, *(len(cut.cell) for cut in flat)]),
            cell=np.concatenate([cut.cell for cut in flat]) if flat else np.empty(0, np.int64),
            coefficient=np.concatenate([cut.coefficient for cut in flat]) if flat else np.empty(0),
        )
        write_whole(path, whole.getvalue(), private=True)


def fingerprint(problem: Problem) -> str:
    """The same for the same problem."""
    needs = problem.needs
    mark = hashlib.sha256()
    arrays = (
        problem.rows.indptr, problem.rows.indices, problem.rows.data, problem.down, problem.up, problem.weight,
        problem.hidden, needs.cell, needs.below, needs.above, needs.sliding, needs.coalition, *needs.known,
    )  # fmt: skip
    for array in arrays:
        mark.update(np.ascontiguousarray(array).astype(float).tobytes())
        mark.update(b"|")
    return mark.hexdigest()
