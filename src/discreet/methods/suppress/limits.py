"""How a suppression by a solver shares its time: a pattern to fall back on, the search, and the audit of what it finds.

The fall-back is the pattern of elimination, audited and repaired, so that something protected is at hand whenever the
time is up. What its audit took is kept free at the end for the audit of the solver's pattern.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.errors import OutOfTimeError, Unjudged
from discreet.methods.suppress.gauss.on_table import eliminated
from discreet.methods.suppress.model.parameters import OFF
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.model.tuning import DEFAULT, LimitTuning
from discreet.methods.suppress.repair.judge import audited


@dataclass(frozen=True)
class FallBack:
    """Columns hidden by elimination and repair, and how long their audit took."""

    hidden: Array
    rounds: int
    seconds: float


@dataclass(frozen=True)
class Limit:
    """When a suppression began and how long it may take; infinite without a limit."""

    began: float
    seconds: float
    clean_up: bool
    tuning: LimitTuning = DEFAULT.limits

    @classmethod
    def starting(cls, solver: Any, *, clean_up: bool, tuning: LimitTuning = DEFAULT.limits) -> Limit:
        """The limit of a solver (None: elimination, which has none), from now on."""
        if solver is not None:
            _load()
        return cls(time.monotonic(), float(getattr(solver, "time", None) or np.inf), clean_up, tuning)

    @property
    def hard(self) -> float:
        """When whatever is not proved is given up."""
        return self.began + self.tuning.hard(self.seconds)

    def search(self, spare: FallBack | None) -> float:
        """Until when the solver may go on."""
        kept = self.tuning.unknown * self.seconds if spare is None else self.tuning.audits * spare.seconds
        ends = self.began + self.seconds * (1 - (self.tuning.cleaned if self.clean_up else 0))
        return min(ends, self.hard - kept)

    def exceeded(self) -> OutOfTimeError:
        """The error when no pattern was proved to protect."""
        return OutOfTimeError(
            f"no pattern was proved to protect the table in {self.seconds:g} seconds, and nothing is returned; give "
            "more (time=), use elimination (method='gauss'), or take the table apart"
        )


def fall_back(task: Task, limit: Limit) -> FallBack | None:
    """The pattern to fall back on; None if there is no limit, no time for it, or elimination finds none."""
    if limit.seconds == np.inf or task.asked.asks == OFF:
        return None
    try:
        with deadline.until(limit.began + limit.tuning.spare * limit.seconds):
            pattern = eliminated(task)
            if len(pattern.unsafe):
                return None
            hidden = task.withheld
            hidden[pattern.secondary] = True
            began = time.monotonic()
            result = audited(task, hidden, task.owners)
            return None if len(result.hopeless) else FallBack(result.hidden, result.rounds, time.monotonic() - began)
    except (OutOfTimeError, Unjudged):
        return None


def _load() -> None:
    """Have the libraries in memory before the clock starts: in a new process that takes as long as a small table."""
    import highspy  # noqa: F401
    import scipy.optimize
    import scipy.sparse.csgraph  # noqa: F401

    from discreet.linear import _propagation, _short_moves  # noqa: F401
    from discreet.methods.suppress.exact import _kernels  # noqa: F401
    from discreet.methods.suppress.gauss import _kernel  # noqa: F401
