"""Coalitions in tables of counts: who learns a sensitive cell, and what is hidden against it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.model.tuning import DEFAULT
from discreet.methods.suppress.repair.coalitions import CountsKnown, Target, learning_coalition
from discreet.methods.suppress.repair.further_cells import Costs
from discreet.methods.suppress.repair.judge import audited

TABLE = dc.Table.of([[20, 50, 9, 1], [10, 2, 8, 12], [30, 7, 5, 2]], ["area", "job"])


def learners(hidden: NDArray[np.bool_], k: int) -> list[dict[int, int] | None]:
    """Per sensitive cell the coalition of k people that learns it, by the release alone."""
    task = Task.of(dc.Suppress(dc.Threshold(3)).parameters, TABLE)
    known = replace(task.known(hidden), lower=np.where(hidden, 0.0, task.values))
    free = np.where(hidden, np.inf, task.values)
    costs = Costs(np.abs(task.values) + 1, np.zeros(len(hidden)), free)
    truth = np.zeros(known.system().size)
    truth[: len(task.values)] = task.values
    truth[known.inner_variables()] = TABLE.statistic("count").inner
    counts = CountsKnown(known, truth, k, hidden, costs)
    return [learning_coalition(counts, Target(int(c), rest=False)) for c in np.flatnonzero(task.roles.primary)]


def test_what_is_hidden_against_one_insider_is_needed_and_enough() -> None:
    """A pattern made for outsiders lets somebody learn; the one made for insiders nobody."""
    for_outsiders = dc.protect(TABLE, dc.Suppress(dc.Threshold(3))).hidden
    for_insiders = dc.protect(TABLE, dc.Suppress(dc.Threshold(3), insiders=1)).hidden
    assert any(learners(for_outsiders, 1))
    assert learners(for_insiders, 1) == [None] * int(dc.Threshold(3)(TABLE).sum())
    assert (for_insiders | ~for_outsiders).all()


def test_a_cell_that_is_not_proved_in_the_programs_allowed_counts_as_learned() -> None:
    """Without a program for it nothing is proved, so no pattern is believed to protect."""
    asked = dc.Suppress(dc.Threshold(3), insiders=1).parameters
    hidden = dc.protect(TABLE, dc.Suppress(dc.Threshold(3), insiders=1)).hidden
    none: Any = replace(DEFAULT, repair=replace(DEFAULT.repair, programs=0, hidings=2))
    assert not len(audited(Task.of(asked, TABLE), hidden, None).hopeless)
    assert len(audited(Task.of(asked, TABLE, tuning=none), hidden, None).hopeless)
