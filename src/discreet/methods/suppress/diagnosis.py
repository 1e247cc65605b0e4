"""When a table cannot be protected: the fewest marks to lift, or the cells for which nothing can be done."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.base import deadline
from discreet.base.arguments import above, checked
from discreet.base.verdicts import Verdict
from discreet.errors import OutOfTimeError, Refused
from discreet.methods.suppress.model import earlier_tables as before
from discreet.methods.suppress.model.from_table import Made, problem_of
from discreet.methods.suppress.model.roles import Array, Roles, names, roles_of
from discreet.methods.suppress.model.solution import GRACE
from discreet.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from discreet.methods.suppress.method import Suppress
    from discreet.methods.suppress.model.problem import Problem

SECONDS = 10.0
QUICK = 3.0  # where a refusal waits for it
LARGEST = 20_000  # cells of a table that is diagnosed whenever it is refused; larger ones when somebody asks


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """Why a table cannot be protected, and what to change. Confidential: it names sensitive cells.

    ``lift``: cells that must be published now and would have to be allowed to be hidden; there is no smaller set if
    ``least``. ``hopeless``: sensitive cells that could not be protected even if every mark were lifted, and ``cure``
    what would help them.
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


@checked
def diagnose(table: Table, suppress: Suppress, *, seconds: float = SECONDS) -> Diagnosis:
    """The fewest cells that must be published now and would have to be allowed to be hidden; ties by their value.

    The same problem as suppression itself, where marks cost 1 and all other cells nothing.

    >>> from discreet.methods.suppress import Suppress
    >>> table = Table.of([[20, 5], [1, 30]], ["a", "b"])
    >>> diagnose(table, Suppress("threshold(n=2)", forced=table.where(a="1") | table.where(a="Total")))
    let '1/1', '1/2' be hidden: 2 of 6 marks, the fewest
    """
    above("seconds", seconds)
    roles = roles_of(suppress, table, clash=True)
    both = roles.primary & roles.forced
    roles = replace(roles, forced=roles.forced & (~both | roles.old))
    with deadline.within(GRACE[0] * seconds + GRACE[1]):
        found = _diagnosed(suppress, table, roles, seconds)
    return replace(found, lift=found.lift | both[: len(table)], marks=found.marks + int(both.sum()))


def _diagnosed(method: Suppress, table: Table, roles: Roles, seconds: float) -> Diagnosis:
    from discreet.methods.suppress.solve import closed

    n = len(table)
    made, marked = _marks_only(method, table, roles)
    nothing = np.zeros(n, bool)
    if len(unmet := _unmet(made.problem, made.problem.hidden | marked)):
        hopeless = np.unique(made.problem.needs.cell[unmet])
        return Diagnosis(table, nothing, int(marked.sum()), True, hopeless, _cure(method, table, roles))
    if not marked.any():
        return Diagnosis(table, nothing, 0, True, np.empty(0, np.int64))
    from discreet.methods.suppress.exact.optimal import Optimal

    least = True

    def find(problem: Problem) -> Array:
        nonlocal least
        solution = Optimal(time=seconds).solve(problem)
        least = solution.bound >= np.floor(solution.cost + 1e-9) - 1e-6  # with a mark less it would cost less than that
        return np.asarray(solution.hidden, bool)

    try:
        with deadline.within(seconds):
            pattern, shut = closed(made, find)
    except OutOfTimeError:  # to lift every mark is known to be enough
        pattern, shut = marked, False
    return Diagnosis(table, (pattern & marked)[:n], int(marked.sum()), least and shut, np.empty(0, np.int64))


def _marks_only(method: Suppress, table: Table, roles: Roles) -> tuple[Made, Array]:
    """The problem in which only marks cost anything, and the marked variables."""
    free = replace(roles, forced=roles.old)
    made = problem_of(method, table, free, "value")
    marked = np.zeros(len(made.problem), bool)
    marked[: roles.n] = roles.forced & ~roles.old & np.isfinite(made.problem.weight[: roles.n])
    size = np.zeros(len(marked))
    size[: len(table)] = np.abs(table.value.astype(float))
    weight = np.where(marked, 1 + size / (1 + size[marked].sum()), 0.0)
    weight[np.isinf(made.problem.weight)] = np.inf
    hidden = made.problem.hidden | (~marked & np.isfinite(made.problem.weight))
    return replace(made, problem=replace(made.problem, weight=weight, hidden=hidden)), marked


def _unmet(problem: Problem, pattern: Array) -> Array:
    """Numbers of the needs that a pattern does not meet."""
    from discreet.methods.suppress.attacker.all_at_once import met

    return np.flatnonzero(~met(problem, pattern))


def _cure(method: Suppress, table: Table, roles: Roles) -> str:
    """What would help cells that no free cell can protect."""
    ways = []
    if roles.safe_zeros:
        ways.append(("let zeros be hidden (zeros=True)", replace(roles, zeros=True, safe_zeros=False)))
    if roles.asked is not None:
        ways.append(("lower the protection levels (repair='exact' asks for none)", replace(roles, asked=None)))
        if roles.safe_zeros:
            both = replace(roles, asked=None, zeros=True, safe_zeros=False)
            ways.append(("let zeros be hidden and lower the protection levels", both))
    for words, other in ways:
        made, marked = _marks_only(method, table, other)
        if not len(_unmet(made.problem, made.problem.hidden | marked)):
            return words
    if roles.old.any():
        return "what is out already gives them away"
    return "use coarser codes, or leave them out of the table"


def possible(method: Suppress, table: Table, made: Made, problem: Problem) -> None:
    """Refuse before anything is solved what cannot be solved."""
    unmet = _unmet(problem, problem.hidden | problem.free)
    if len(unmet):
        raise refusal(method, table, made.roles, np.unique(problem.needs.cell[unmet]))


def refusal(method: Suppress, table: Table, roles: Roles, unsafe: Array) -> Refused:
    """The answer when sensitive cells cannot be protected: which, why, and what would help."""
    layout = roles.joined.layout
    what = names(layout, unsafe[unsafe < roles.n]) or "a sum that a rule keeps unknown"
    reason = f"{len(unsafe):,} sensitive cells cannot be protected: {what}"
    forced = np.flatnonzero(roles.forced)
    first = int(unsafe[0])
    guilty = before.blame(roles.matrix, first, forced) if len(forced) and first < roles.n else np.empty(0, np.int64)
    if len(guilty):
        reason += f"; the first follows from {names(layout, guilty)}"
    if len(old := guilty[roles.old[guilty]]):
        reason += f"; published before: {names(layout, old)}"
    cure = "force fewer cells, or let zeros be hidden (zeros=True)"
    try:
        with deadline.within(QUICK):
            found = _diagnosed(method, table, roles, QUICK) if roles.n <= LARGEST else None
    except OutOfTimeError:  # the refusal does not wait for its cure
        found = None
    if found is not None and not found.ok:
        cure = str(found)
    return Refused("suppression", reason, cure)
