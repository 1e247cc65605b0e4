"""Suppress: rule, secondary cells by one of several roads, audit and repair in one method."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.base import deadline
from discreet.base.arguments import checked, whole
from discreet.base.kinds import told
from discreet.errors import InputError, OutOfTimeError, nearest
from discreet.methods.suppress.model.roles import LEVELS, Roles, levels_of, roles_of
from discreet.release import Protected, Status, publishable
from discreet.rules import Levels, Marks, as_rule
from discreet.rules.apriori import CellMarks
from discreet.tables.table import Table

if TYPE_CHECKING:
    from discreet.methods.suppress.limits import Limit
    from discreet.methods.suppress.repair.repair import Repaired
    from discreet.methods.suppress.solve import Found

Array = NDArray[Any]
Cells = Any  # a mask, numbers, [{dimension: code}], or a function from Table to one of these
Progress = Callable[[int, int], None]

OFF, EXACT = "off", "exact"
GAUSS, OPTIMAL, MODULAR = "gauss", "optimal", "modular"
STEPS = ("elimination", "rank", OPTIMAL, MODULAR, "repair")


@checked
@dataclass(frozen=True, eq=False)
class Suppress:
    """Hide the sensitive cells, and the others that would give them away.

    ``method`` finds those others: "gauss" by Gaussian elimination [LL21]_, an ``Optimal`` the cheapest set by a mixed
    integer programme, a ``Modular`` sub-table by sub-table; the names "optimal" and "modular" take their defaults.
    ``order`` (gauss): which cells are wanted most: "value", "count", "rank" (see ``order.rank_aware``), a function or
    numbers. ``forced`` cells must be published, ``hidden`` ones never are and need no protection. ``singletons``:
    "auto", "none", "sums" (frequency tables), "own" (magnitudes), or a contributor's number per inner cell. ``zeros``:
    whether cells of zero may be hidden for others' sake (by default only when a rule on whole lines asks for it).
    ``repair``: "levels" (no sensitive cell may have less room than its protection level, nor only one possible value),
    "exact" (only the latter), or "off"; by default "levels", which an audit goes by in any case. ``levels``: protection
    levels of single cells and what is known of them beforehand, instead of the rule's. ``bounds``: what an intruder
    knows of every hidden cell beforehand, (lower, upper) or a percentage of the value. ``clean_up`` shows again what
    need not be hidden. ``marks``: a-priori marks (``Marks``, ``read_marks``, or those of tau-ARGUS, whose levels count
    unless others are given). ``earlier``: tables over the same codes that are published and stay as they are.
    ``last``: the last period's table, whose hidden cells are hidden first. ``insiders``: of counts, how many people who
    know their own cells may work together, from anywhere in the table, and still learn no sensitive cell. If it cannot
    be done, ``Refused`` names the cells and the marks to lift. ``details`` tells what was hidden by which step.

    >>> from discreet.rules import Threshold
    >>> from discreet.release import protect
    >>> table = Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
    >>> protect(table, Suppress(Threshold(3))).release()
    Release(area x sex: 16 cells, 4 not shown; count)
    """

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
        if self.insiders and self.asks == OFF:
            raise InputError("insiders= asks for an audit: leave repair='off' out")
        if isinstance(self.method, str):
            if self.method not in (GAUSS, OPTIMAL, MODULAR):
                known = nearest(self.method, (GAUSS, OPTIMAL, MODULAR))
                raise InputError(f"no method {self.method!r} of suppression; {known}")
        elif not callable(getattr(self.method, "solve", None)):
            raise InputError("method is 'gauss', 'optimal', 'modular', an Optimal or a Modular")

    @property
    def asks(self) -> str:
        """What every sensitive cell is to have: "levels", "exact" (a second value), or "off" (nothing is checked)."""
        return LEVELS if self.repair is None else self.repair

    def __call__(self, table: Table) -> Protected:
        from discreet.methods.suppress.limits import Limit

        if self.insiders and table.measure != "count":
            raise InputError(
                "insiders= is for tables of counts; contributors who know their own amounts are singletons='own', "
                "several of them in a cell are for the rule"
            )
        limit, roles = Limit.of(self), roles_of(self, table)
        step = np.full(len(table), "", "<U11")
        step[roles.primary[: len(table)]] = "rule"
        if self.method == GAUSS:
            gone, details = _by_elimination(self, table, roles, step)
        else:
            gone, details = _by_solver(self, table, roles, step, limit)
        if self.clean_up:
            from discreet.methods.suppress.solve import cleaned

            kept, cost = cleaned(self, table, roles, gone, limit.hard)
            step[(gone & ~kept)[: len(table)]] = ""
            step[(kept & ~gone)[: len(table)]] = "repair"
            details["clean-up"] = int(gone.sum() - kept.sum())
            if "cost" in details:
                details |= {"cost": cost, "gap": max(cost - details["bound"], 0.0) / cost if cost else 0.0}
            gone = kept
        return self._protected(table, roles, gone, step, details)

    def _protected(self, table: Table, roles: Roles, gone: Array, step: Array, details: dict[str, Any]) -> Protected:
        status = _status(table, roles, gone)
        names = self.measures or (table.measure,)
        shown = {
            n: np.where(gone[: len(table)], np.nan, publishable(table, n).astype(float)) for n in names
        }  # fmt: skip
        told: dict[str, Any] = {"rule": str(self.rule), "why": step, "primary": int((status == "u").sum()), **details}
        told |= {name: int((step == name).sum()) for name in STEPS if name in details}
        words = "cell suppression"
        if table.measure == "count":
            told["insiders"] = self.insiders
            if self.insiders:
                words += safe_from(self.insiders, lines=roles.sums is not None)
        return Protected(table, shown, status, words, told | _room(self, table, roles), truthful=True)


def safe_from(k: int, *, lines: bool) -> str:
    """What is proved of insiders, in words for the release; of lines it is proved without knowing to be alone."""
    words = f", no sensitive cell follows for any {k} of the people in the table who work together"
    more = "; nor that all others of a line stand in one cell, for those who do not know that they are alone in theirs"
    return words + more if lines else words


def _by_elimination(method: Suppress, table: Table, roles: Roles, step: Array) -> tuple[Array, dict[str, Any]]:
    from discreet.methods.suppress.gauss.on_table import eliminated

    began = time.perf_counter()
    gone = roles.primary | roles.never
    enough = _enough(method, table, roles)
    if not enough:
        found = eliminated(method, table, roles)
        if len(found.unsafe):
            _refuse(method, table, roles, found.unsafe)
        gone[found.secondary] = True
        step[found.secondary[found.secondary < len(table)]] = "elimination"
        crossed = _crossed(method, table, roles, gone)
        gone |= crossed
        step[crossed[: len(table)]] = "rank"
    middle = time.perf_counter()
    rounds = 0
    if method.asks != OFF:
        done = enough or judged(method, table, roles, gone)
        step[(done.hidden & ~gone)[: len(table)]] = "repair"
        gone, rounds = done.hidden, done.rounds
    return gone, {
        "elimination": 0, "repair": 0, "audits": rounds, "seconds elimination": middle - began,
        "seconds repair": time.perf_counter() - middle, **_rank_told(method, table, gone),
    }  # fmt: skip


def _by_rank(method: Suppress) -> bool:
    return isinstance(method.order, str) and method.order == "rank"


def _crossed(method: Suppress, table: Table, roles: Roles, gone: Array) -> Array:
    """Further cells that ``order="rank"`` hides where no totals are released: the crossing of the primaries' lines."""
    from discreet.methods.suppress.gauss.candidate_order import crossing, totals_released

    more = np.zeros(roles.n, bool)
    if _by_rank(method) and len(table.layout.blocks) > 1 and not totals_released(table):
        n = len(table)
        stays = roles.forced[:n] | (roles.empty[:n] & (not roles.zeros))
        more[:n] = crossing(table, roles.primary[:n]) & ~gone[:n] & ~stays
    return more


def _rank_told(method: Suppress, table: Table, gone: Array) -> dict[str, Any]:
    """What ``order="rank"`` came to: by how much the rank of the release falls, and of its cells that are no totals."""
    from discreet.methods.suppress.gauss.candidate_order import rank_fall, totals_released

    if not _by_rank(method):
        return {}
    falls, inside = rank_fall(table, gone[: len(table)])
    reached = not totals_released(table)
    return {"rank": 0, "rank falls by": falls, "without totals": inside, "rank order holds": reached}


def _by_solver(method: Suppress, table: Table, roles: Roles, step: Array, limit: Limit) -> tuple[Array, dict[str, Any]]:
    """The solver's pattern after the audit; where the time is up before, elimination's, which has been audited."""
    from discreet.methods.suppress.limits import nothing, spare
    from discreet.methods.suppress.solve import fallen_back, solved

    base = roles.primary | roles.never
    with deadline.until(limit.hard):
        other = spare(method, table, roles, limit)
        try:
            found = solved(method, table, roles, limit.search(other))
            gone, rounds = found.hidden, 0
            if method.asks != OFF:
                gone, rounds = _audited(method, table, roles, found)
        except OutOfTimeError:
            if other is None:
                raise nothing(limit) from None
            found = fallen_back(method, table, roles, other.hidden)
            gone, rounds = other.hidden, other.rounds
    step[(gone & ~base)[: len(table)]] = "repair"
    step[(found.hidden & ~base)[: len(table)]] = found.step
    details = found.details if np.array_equal(gone, found.hidden) else found.repaired(gone).details
    audits = {"audits": rounds} if method.asks != OFF else {}
    return gone, {found.name: 0, found.step: 0, "repair": 0, **details, **audits}


def _audited(method: Suppress, table: Table, roles: Roles, found: Found) -> tuple[Array, int]:
    """What the audit made of a solver's pattern, and how often it ran.

    Without time for it the solver's own proof does for amounts; whole numbers only the audit looks at.
    """
    try:
        done = judged(method, table, roles, found.hidden)
    except OutOfTimeError:
        if not found.proved or table.measure == "count":
            raise
        return found.hidden, 0
    return done.hidden, done.rounds


def _enough(method: Suppress, table: Table, roles: Roles) -> Repaired | None:
    """The audit's word if the cells withheld from the start protect already: it finds nothing to add.

    Without this the cautious rule for singletons might add cells to a table that is protected as it is. Contributors
    who know their own cells are beyond the audit, so their tables go through elimination always.
    """
    from discreet.methods.suppress.model.requirements import mended

    own = table.magnitude is not None and method.singletons != "none"
    if method.asks == OFF or own or not roles.never.any():
        return None
    gone = roles.primary | roles.never
    done = mended(table, roles, gone, method.progress, insiders=method.insiders)
    return done if not len(done.hopeless) and np.array_equal(done.hidden, gone) else None


def judged(method: Suppress, table: Table, roles: Roles, gone: Array) -> Repaired:
    """The pattern that the audit has nothing against, or a refusal."""
    done = mended_for(method, table, roles, gone)
    if len(done.hopeless):
        _refuse(method, table, roles, done.hopeless)
    return done


def mended_for(method: Suppress, table: Table, roles: Roles, gone: Array) -> Repaired:
    """The pattern after audit and repair, for those too who know cells of their own; ``hopeless`` if there is none."""
    from discreet.methods.suppress.gauss.on_table import owners, singletons_of
    from discreet.methods.suppress.model.requirements import mended

    known = owners(singletons_of(method, table, roles), table, roles)
    return mended(table, roles, gone, method.progress, known, method.insiders)


def _refuse(method: Suppress, table: Table, roles: Roles, unsafe: Array) -> None:
    """Say which sensitive cells cannot be protected, and what would help."""
    from discreet.methods.suppress.diagnosis import refusal

    raise refusal(method, table, roles, unsafe)


def _room(method: Suppress, table: Table, roles: Roles) -> dict[str, Any]:
    """What an audit goes by: the levels of the rule, also where less was asked for, and bounds known beforehand."""
    from discreet.methods.suppress.model.requirements import quantities, required

    found: dict[str, Any] = {}
    n, scale = len(table), 10.0 ** table.statistic(table.measure).decimals
    if roles.asked is None:
        from discreet.audits.report import most_below

        wanted = levels_of(method, table)
        below = np.minimum(wanted.below, most_below(table))
        found["levels"] = tuple(np.where(roles.primary[:n], x, 0) for x in (below, wanted.above, wanted.sliding))
    else:
        need = required(table, roles, quantities(table, roles, roles.primary))
        mine = need.take(np.flatnonzero(need.cells < n))
        levels = np.zeros((3, n))
        levels[:, mine.cells] = mine.below / scale, mine.above / scale, mine.sliding / scale
        found["levels"] = tuple(levels)
    if roles.sums is not None:
        found["sums"] = roles.sums
    if np.isfinite(roles.low).any() or np.isfinite(roles.high).any():
        found["bounds"] = roles.low[:n] / scale, roles.high[:n] / scale
    return found


def _status(table: Table, roles: Roles, gone: Array) -> Array:
    n = len(table)
    status = np.full(n, Status.PUBLISHED.value)
    status[gone[:n]] = Status.SECONDARY.value
    status[roles.forced[:n]] = Status.FORCED.value
    status[roles.never[:n] & ~roles.joined.withheld[:n]] = Status.NEVER.value
    status[roles.primary[:n]] = Status.PRIMARY.value
    return status
