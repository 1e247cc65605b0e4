"""Suppress: rule, secondary cells by elimination or a solver, audit and repair in one method; and ``diagnose``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from discreet.audits.owner_attack import candidate_table
from discreet.base import deadline
from discreet.base.annotations import Array, Progress
from discreet.base.arguments import above, checked, whole
from discreet.base.compiled import always_compiled
from discreet.base.kinds import told
from discreet.errors import InputError, nearest
from discreet.methods.contract import Contract
from discreet.methods.keys import Secret, read_secret
from discreet.methods.suppress.against_owner import defended, elimination_gives
from discreet.methods.suppress.by_elimination import suppressed_by_elimination
from discreet.methods.suppress.by_solver import solver_adds_nothing, suppressed_by_solver
from discreet.methods.suppress.cleaning import cleaned
from discreet.methods.suppress.diagnosis import Diagnosis, diagnosis_of, refusal
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.gauss.many_draws import may_hide
from discreet.methods.suppress.key_chance import hiding_chance, least_chance
from discreet.methods.suppress.limits import Limit
from discreet.methods.suppress.model.parameters import EXACT, LEVELS, OFF, SuppressParameters
from discreet.methods.suppress.model.task import Task
from discreet.methods.suppress.sensitive_unions import sensitive_unions, union_rule, without_sensitive_unions
from discreet.methods.suppress.solve import solver_of, weights_of
from discreet.methods.suppress.suppressed import MODULAR, OPTIMAL, RANK, Suppressed, to_protected
from discreet.release import Protected
from discreet.rules import Levels, Marks, Rule, Threshold, as_rule
from discreet.rules.apriori import CellMarks
from discreet.tables.table import Table

Cells = Any  # a mask, numbers, [{dimension: code}], or a function from Table to one of these

GAUSS = "gauss"


@checked
@dataclass(frozen=True, eq=False)
class Suppress:
    """Hide the sensitive cells, and the others that would give them away.

    ``method`` finds those others: "gauss" by Gaussian elimination [LL21]_, an ``Optimal`` the cheapest set by a mixed
    integer program, a ``Modular`` sub-table by sub-table; the names "optimal" and "modular" take their defaults.
    ``order`` (gauss): which cells are wanted most: "value", "count", "rank" (see ``rank_aware``), a function or
    numbers. ``forced`` cells must be published, ``hidden`` ones never are and need no protection. ``singletons``:
    "auto", "none", "sums" (frequency tables), "own" (magnitudes), or a contributor's number per inner cell. ``zeros``:
    whether cells of zero may be secondary suppressions (by default only when a rule on whole lines asks for it).
    ``repair``: "levels" (no sensitive cell may have less room than its protection level, nor only one possible value),
    "exact" (only the latter), or "off"; by default "levels", which an audit goes by in any case. ``levels``: protection
    levels of single cells and what is known of them beforehand, instead of the rule's. ``bounds``: what an intruder
    knows of every hidden cell beforehand, (lower, upper) or a percentage of the value. ``clean_up`` shows again what
    need not be hidden. ``marks``: a-priori marks (``Marks``, ``read_marks``, or those of tau-ARGUS, whose levels count
    unless others are given). ``earlier``: tables over the same codes that are published and stay as they are.
    ``last``: the last period's table, whose hidden cells are hidden first. ``insiders``: of counts, how many people who
    know their own cells may work together, from anywhere in the table, and still learn no sensitive cell. ``key``: a
    secret, as for cell keys, from which the order of cells, the weights of a solver and a few further cells are drawn,
    so that nobody who runs the same call on other tables can tell which of them gives this pattern. ``owner``: with a
    key, whether that attack is tried on small tables and more is hidden where one value would be left. ``unions``: no
    sum of hidden cells that follows from the release is sensitive by the rule; by default where a dominance or p %
    rule is given (see ``discreet.audits.known_sums`` for which sums). If it cannot be done, ``Refused`` names
    the cells and the marks to lift. ``details`` tells what was hidden by which step.

    >>> from discreet.rules import Threshold
    >>> from discreet.methods.contract import protect
    >>> table = Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
    >>> protect(table, Suppress(Threshold(3))).release()
    Release(area x sex: 16 cells, 4 not shown; count)
    """

    contract: ClassVar[Contract] = Contract(
        acts_on="table", truthful=True, cellwise=False, transition=False, rule="lines"
    )
    rule: Any
    order: Any = "value"
    method: Any = field(default=GAUSS, kw_only=True)
    forced: Cells = field(default=None, kw_only=True)
    hidden: Cells = field(default=None, kw_only=True)
    singletons: Any = field(default="auto", kw_only=True)
    zeros: bool | None = field(default=None, kw_only=True)
    repair: str | None = field(default=None, kw_only=True)
    levels: Levels | Callable[[Table], Levels] | None = field(default=None, kw_only=True)
    bounds: Any = field(default=None, kw_only=True)
    clean_up: bool = field(default=False, kw_only=True)
    marks: Marks | CellMarks | None = field(default=None, kw_only=True)
    earlier: Sequence[Protected] = field(default=(), kw_only=True)
    last: Protected | None = field(default=None, kw_only=True)
    measures: Sequence[str] | None = field(default=None, kw_only=True)
    insiders: int = field(default=0, kw_only=True)
    key: str | bytes | Secret | None = field(default=None, repr=False, kw_only=True)
    owner: bool = field(default=True, kw_only=True)
    unions: bool | None = field(default=None, kw_only=True)
    progress: Progress | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", as_rule(self.rule))
        if isinstance(self.singletons, type) or hasattr(self.singletons, "columns"):
            raise InputError(f"{told('singletons', self.singletons)}: give 'auto', 'none', 'sums', 'own' or numbers")
        if self.repair not in (None, OFF, EXACT, LEVELS):
            raise InputError(f"repair is 'off', 'exact' or 'levels', not {self.repair!r}")
        frame = hasattr(self.marks, "columns")  # which has a mask, too, of another kind
        if self.marks is not None and (frame or not callable(getattr(self.marks, "mask", None))):
            raise InputError(f"{told('marks', self.marks)}: give Marks(...), read_marks(path), or marks of tau-ARGUS")
        whole("insiders", self.insiders, 0, 1_000_000)
        object.__setattr__(self, "key", read_secret(self.key))
        if self.insiders and self.asks == OFF:
            raise InputError("insiders= asks for an audit: leave repair='off' out")
        if isinstance(self.method, str):
            if self.method not in (GAUSS, OPTIMAL, MODULAR):
                known = nearest(self.method, (GAUSS, OPTIMAL, MODULAR))
                raise InputError(f"no method {self.method!r} of suppression; {known}")
        elif not callable(getattr(self.method, "solve", None)):
            raise InputError("method is 'gauss', 'optimal', 'modular', an Optimal or a Modular")

    def governing_rule(self) -> Rule | None:
        """The rule, unless cells are hidden by hand whatever it calls.

        >>> Suppress("threshold(n=3)").governing_rule()
        Threshold(n=3)
        """
        by_hand = self.hidden is not None and bool(np.size(self.hidden))
        if isinstance(self.marks, Marks):
            marked = bool(self.marks.unsafe or self.marks.never)
        else:
            marked = self.marks is not None  # those of tau-ARGUS tell of single cells only with the table
        return None if by_hand or marked else as_rule(self.rule)

    @property
    def asks(self) -> str:
        """What every sensitive cell is to have: "levels", "exact" (a second value), or "off" (nothing is checked)."""
        return LEVELS if self.repair is None else self.repair

    @property
    def parameters(self) -> SuppressParameters:
        """What is asked for, apart from how secondary cells are found."""
        shared = {f.name for f in fields(SuppressParameters)} & {f.name for f in fields(self)}
        return SuppressParameters(asks=self.asks, **{name: getattr(self, name) for name in shared})

    def would_hide(self, table: Table, cells: Array) -> bool:
        """Whether exactly these cells of a table would be hidden; said as soon as one is that should not be.

        >>> table = Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
        >>> method = Suppress("threshold(n=3)")
        >>> method.would_hide(table, method(table).hidden), method.would_hide(table, table.count < 3)
        (True, False)
        """
        return self._gives(Task.of(self.parameters, table), cells)

    def hiding_chance(self, table: Table, cells: Array, draws: int, random: np.random.Generator) -> float:
        """The chance that exactly these cells of a table would be hidden with a random key, from so many draws.

        >>> table = Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
        >>> method = Suppress("threshold(n=3)", key="a secret of sixteen bytes or more")
        >>> 0 < method.hiding_chance(table, method(table).hidden, 20, np.random.default_rng(1)) <= 1
        True
        """
        sieve = may_hide if self.method == GAUSS and not self._special and self.last is None else None
        return hiding_chance(Task.of(self.parameters, table), cells, self._gives, draws, random, sieve)

    def least_chance(self, table: Table, cells: Array) -> float:
        """A chance, with a random key, that exactly these cells would be hidden, certain to be reached; 0: unknown.

        >>> table = Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
        >>> method = Suppress("threshold(n=3)", key="a secret of sixteen bytes or more")
        >>> 0 <= method.least_chance(table, method(table).hidden) < 0.01
        True
        """
        return least_chance(Task.of(self.parameters, table), cells, self._keeps)

    def _gives(self, task: Task, cells: Array) -> bool:
        """Whether a task with its draw comes out so, before the repair against the holder of the program."""
        if self.method == GAUSS and not self._special and self._union_rule(task.table) is None:
            return elimination_gives(task, cells)
        return bool(np.array_equal(self._result(task).hidden[: len(cells)], cells))

    def _keeps(self, task: Task, cells: Array) -> bool:
        """The same of a task that withholds all these cells from the start: whether it needs no more."""
        solver = None if self.method == GAUSS else solver_of(self.method)
        if self._special or not (solver is None or isinstance(solver, Optimal)):
            return self._gives(task, cells)
        keeps = elimination_gives(task, cells) if solver is None else solver_adds_nothing(task, solver, cells)
        rule = self._union_rule(task.table)
        return keeps and (rule is None or not sensitive_unions(task, cells, rule))

    @property
    def _special(self) -> bool:
        """Whether more than the rule and the search has a say in what is hidden."""
        by_hand = self.clean_up or self.earlier or self.hidden is not None or self.marks is not None
        return bool(by_hand) or (isinstance(self.order, str) and self.order == RANK)

    def shows_zeros(self, table: Table) -> bool:
        """Whether no empty cell of a table of this kind is ever hidden, whatever is counted in it.

        >>> table = Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
        >>> Suppress("threshold(n=3)").shows_zeros(table), Suppress("threshold(n=3, zeros=True)").shows_zeros(table)
        (True, False)
        """
        by_hand = self.hidden is not None or self.marks is not None or self.earlier
        if self.zeros or by_hand or table.measure != "count":
            return False
        nobody = candidate_table(table, np.zeros(table.layout.n_inner))
        return self.rule.virtual(table) is None and not bool(self.rule(nobody).any())

    def __call__(self, table: Table) -> Protected:
        if self.insiders and table.measure != "count":
            raise InputError(
                "insiders= is for tables of counts; contributors who know their own amounts are singletons='own', "
                "several of them in a cell are for the rule"
            )
        task = Task.of(self.parameters, table)
        result = self._result(task)
        if self.key is not None and self.owner:
            result = defended(task, result, self, self._closed)
        return to_protected(task, result, self.measures)

    def _result(self, task: Task) -> Suppressed:
        """The pattern of the method, audited, repaired and cleaned up."""
        solver = None if self.method == GAUSS else solver_of(self.method)
        if solver is not None:
            kind: Any = type(solver)
            _compile(kind, len(task.table) > task.tuning.limits.quick_from)
        limit = Limit.starting(solver, clean_up=self.clean_up)
        with deadline.until(limit.hard):
            result = _found(task, solver, limit)
            if len(result.unsafe) and task.draw.decoys.any():  # those may be what cannot be protected
                task = task.without_decoys()
                result = _found(task, solver, limit)
            if len(result.unsafe):
                raise refusal(task, result.unsafe)
        if self.clean_up:
            result = cleaned(task, result, weights_of(solver), limit.hard)
        result = self._without_unions(task, result)
        if len(result.unsafe):
            raise refusal(task, result.unsafe)
        return result

    def _closed(self, task: Task) -> Suppressed:
        """The pattern of elimination, whatever the method is, audited and repaired, unions too."""
        result = suppressed_by_elimination(task)
        return result if len(result.unsafe) else self._without_unions(task, result)

    def _without_unions(self, task: Task, result: Suppressed) -> Suppressed:
        """The result with no sum of hidden cells that follows and is sensitive, where a rule asks for it."""
        rule = self._union_rule(task.table)
        return result if rule is None else without_sensitive_unions(task, result, rule)

    def _union_rule(self, table: Table) -> Rule | None:
        """The rule for sums of hidden cells; None where there is none, or nothing is checked."""
        if self.asks == OFF or not table.has_contributions:
            return None
        return union_rule(self.rule, self.unions)


@lru_cache
def _compile(solver: Any, large: bool) -> None:
    """Have a solver's loops compiled before the clock starts, by a small table: on a new machine it takes long.

    A ``large`` table needs elimination as machine code, too, which a small one does without.
    """
    counts = np.array([[1, 9, 5, 7], [6, 2, 8, 4], [9, 7, 1, 6], [5, 8, 9, 7]])
    task = Task.of(Suppress(Threshold(3)).parameters, Table.of(counts, ["row", "column"]))
    slow = solver(time=3600.0)
    with always_compiled() if large else nullcontext():
        _found(task, slow, Limit.starting(slow, clean_up=False))


def _found(task: Task, solver: Any, limit: Limit) -> Suppressed:
    """The pattern of a solver, or of elimination where there is none."""
    return suppressed_by_elimination(task) if solver is None else suppressed_by_solver(task, solver, limit)


@checked
def diagnose(table: Table, suppress: Suppress, *, seconds: float = 10.0) -> Diagnosis:
    """The fewest cells that must be published now and would have to be allowed to be hidden; ties by their value.

    >>> from discreet.methods.suppress import Suppress
    >>> table = Table.of([[20, 5], [1, 30]], ["a", "b"])
    >>> diagnose(table, Suppress("threshold(n=2)", forced=table.where(a="1") | table.where(a="Total")))
    let '1/1', '1/2' be hidden: 2 of 6 marks, the fewest
    """
    above("seconds", seconds)
    task = Task.of(suppress.parameters, table, clash=True).without_decoys()
    roles = task.roles
    both = roles.primary & roles.forced
    eased = replace(task, roles=replace(roles, forced=roles.forced & (~both | roles.old)))
    with deadline.within(task.tuning.limits.hard(seconds)):
        diagnosis = diagnosis_of(eased, seconds)
    return replace(diagnosis, lift=diagnosis.lift | both[: len(table)], marks=diagnosis.marks + int(both.sum()))
