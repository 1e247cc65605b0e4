"""When a table cannot be protected: the fewest marks to lift, or the cells for which nothing can be done."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.base import deadline
from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.verdicts import Verdict
from discreet.errors import OutOfTimeError, Refused, Unjudged, many
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.insider_rounds import solved_for_insiders
from discreet.methods.suppress.model.earlier_tables import blame
from discreet.methods.suppress.model.from_table import TableProblem, problem_of
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.roles import names
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.solve import unmet
from discreet.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """Why a table cannot be protected, and what to change. Confidential: it names sensitive cells.

    ``lift``: cells that must be published now and would have to be allowed to be hidden; there is no smaller set if
    ``least``. ``hopeless``: sensitive cells that could not be protected even if every mark were lifted, and ``cure``
    what would help them.

    >>> import discreet as dc
    >>> table = dc.Table.of([[20, 5], [1, 30]], ["a", "b"])
    >>> why = dc.diagnose(table, dc.Suppress("threshold(n=2)", forced=table.where(a="1") | table.where(a="Total")))
    >>> int(why.lift.sum()), why.marks
    (2, 6)
    """

    table: Table
    lift: Array
    marks: int
    least: bool
    hopeless: Array
    cure: str = ""

    @property
    def verdict(self) -> Verdict:
        """Pass if the table can be protected as it is asked for, unknown if time ran out before that was decided."""
        return Verdict.of(fails=len(self.hopeless) or (self.lift.any() and self.least), unknown=self.lift.any())

    @property
    def ok(self) -> bool:
        """Whether the verdict is a pass."""
        return self.verdict.ok

    @property
    def cells(self) -> pd.DataFrame:
        """The cells concerned: marks to lift, sensitive cells without help."""
        import pandas as pd

        from discreet.base.naming import beside
        from discreet.tables.table import code_columns

        at = np.concatenate([np.flatnonzero(self.lift), self.hopeless[self.hopeless < len(self.table)]])
        frame = pd.DataFrame(code_columns(self.table.layout)).iloc[at]
        what = ["lift"] * int(self.lift.sum()) + ["hopeless"] * (len(at) - int(self.lift.sum()))
        return beside(frame, {"what": what})

    def __str__(self) -> str:
        if self.ok:
            return "the table can be protected"
        layout = self.table.layout
        words = []
        if len(self.hopeless):
            mine = self.hopeless[self.hopeless < len(self.table)]
            what = names(layout, mine) or "a sum that a rule keeps unknown"
            words.append(f"no free cell can protect {what}" + (f"; {self.cure}" if self.cure else ""))
        if self.lift.any():
            few = "the fewest" if self.least else "enough, perhaps not the fewest"
            words.append(
                f"let {names(layout, np.flatnonzero(self.lift))} be hidden: {int(self.lift.sum()):,} of "
                f"{self.marks:,} marks, {few}"
            )
        return "; ".join(words)

    __repr__ = __str__


def diagnosis_of(task: Task, seconds: float) -> Diagnosis:
    """The fewest marks to lift, or the cells that no pattern protects even without marks.

    The same problem as suppression itself, where marks cost 1 and all other cells nothing.
    """
    n = len(task.table)
    marks_only, marked = _marks_only(task)
    problem = marks_only.problem
    nothing = np.zeros(n, bool)
    if len(hopeless := unmet(problem, problem.hidden | marked)):
        cells = np.unique(problem.needs.cell[hopeless])
        return Diagnosis(task.table, nothing, int(marked.sum()), True, cells, _cure(task))
    if not marked.any():
        return Diagnosis(task.table, nothing, 0, True, np.empty(0, np.int64))
    least = True

    def find(problem: Problem) -> Array:
        nonlocal least
        solution = Optimal(time=seconds).solve(problem)
        least = solution.bound >= np.floor(solution.cost + 1e-9) - 1e-6  # with a mark less it would cost less than that
        return np.asarray(solution.hidden, bool)

    try:
        with deadline.within(seconds):
            pattern, proved = solved_for_insiders(marks_only, find)
    except (OutOfTimeError, Unjudged):  # to lift every mark is known to be enough
        pattern, proved = marked, False
    lift = (pattern & marked)[:n]
    return Diagnosis(task.table, lift, int(marked.sum()), least and proved, np.empty(0, np.int64))


def _marks_only(task: Task) -> tuple[TableProblem, Array]:
    """The problem in which only marks cost anything, and the marked variables."""
    roles = task.roles
    of_table = problem_of(replace(task, roles=replace(roles, forced=roles.old)), "value")
    problem = of_table.problem
    marked = np.zeros(len(problem), bool)
    marked[: roles.n] = roles.forced & ~roles.old & np.isfinite(problem.weight[: roles.n])
    size = np.zeros(len(marked))
    size[: len(task.table)] = np.abs(task.table.value.astype(float))
    weight = np.where(marked, 1 + size / (1 + size[marked].sum()), 0.0)
    weight[np.isinf(problem.weight)] = np.inf
    hidden = problem.hidden | (~marked & np.isfinite(problem.weight))
    return replace(of_table, problem=replace(problem, weight=weight, hidden=hidden)), marked


def _cure(task: Task) -> str:
    """What would help cells that no free cell can protect."""
    roles = task.roles
    cures = []
    if roles.safe_zeros:
        cures.append(("let zeros be hidden (zeros=True)", replace(roles, zeros=True, safe_zeros=False)))
    if roles.asked is not None:
        cures.append(("lower the protection levels (repair='exact' asks for none)", replace(roles, asked=None)))
        if roles.safe_zeros:
            both = replace(roles, asked=None, zeros=True, safe_zeros=False)
            cures.append(("let zeros be hidden and lower the protection levels", both))
    for words, eased in cures:
        marks_only, marked = _marks_only(replace(task, roles=eased))
        if not len(unmet(marks_only.problem, marks_only.problem.hidden | marked)):
            return words
    if roles.old.any():
        return "they follow from what is published already"
    return "use coarser codes, or leave them out of the table"


def refusal(task: Task, unsafe: Array) -> Refused:
    """The answer when sensitive cells cannot be protected: which, why, and what would help."""
    roles, limits = task.roles, task.tuning.limits
    layout = roles.joined.layout
    what = names(layout, unsafe[unsafe < roles.n]) or "a sum that a rule keeps unknown"
    reason = f"{many(len(unsafe), 'sensitive cell')} cannot be protected: {what}"
    forced = np.flatnonzero(roles.forced)
    first = int(unsafe[0])
    guilty = np.empty(0, np.int64)
    if len(forced) and first < roles.n:
        guilty = blame(roles.matrix, first, forced, task.tuning.problem.blame_seconds)
    if len(guilty):
        reason += f"; the first follows from {names(layout, guilty)}"
    if len(old := guilty[roles.old[guilty]]):
        reason += f"; published before: {names(layout, old)}"
    cure = "force fewer cells, or let zeros be hidden (zeros=True)"
    try:
        with deadline.within(limits.refusal_seconds):
            diagnosis = None if roles.n > limits.refusal_cells else diagnosis_of(task, limits.refusal_seconds)
    except (OutOfTimeError, Unjudged):  # the refusal does not wait for its cure
        diagnosis = None
    if diagnosis is not None and not diagnosis.ok:
        cure = str(diagnosis)
    return Refused("suppression", reason, cure)
