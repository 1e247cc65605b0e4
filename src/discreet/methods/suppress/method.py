"""Suppress: rule, elimination, audit and repair in one method."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Refused, listed
from discreet.methods.suppress import earlier as before
from discreet.methods.suppress import gauss, insiders, order, singletons
from discreet.methods.suppress.repair import Costs, Need, Repaired, repair
from discreet.release import Hide, Protected, Status, publishable
from discreet.rules import Marks, Rule, as_rule
from discreet.rules.base import Sums
from discreet.table import Table

if TYPE_CHECKING:
    from discreet.audits.system import Known

Array = NDArray[Any]
Cells = Any  # a mask, numbers, [{dimension: code}], or a function from Table to one of these
Progress = Callable[[int, int], None]

OFF, EXACT, LEVELS = "off", "exact", "levels"


@dataclass(frozen=True, eq=False)
class Suppress:
    """Hide the sensitive cells and, by Gaussian elimination [LL21]_, the others that would give them away.

    ``order``: which cells are wanted most: "value", "count", "rank" (see ``order.rank_aware``), a function or numbers.
    ``forced`` cells must be published, ``hidden`` ones never are and need no protection. ``singletons``: "auto",
    "none", "sums" (frequency tables), "own" (magnitudes), or a contributor's number per inner cell. ``zeros``: whether
    cells of zero may be hidden for others' sake (by default only when a rule on whole lines asks for it). ``repair``:
    "exact" (no sensitive cell may have only one possible value), "levels" (nor less room than its rule's protection
    level; one or two linear programmes a cell), or "off". ``marks``: a-priori marks. ``earlier``: tables over the same
    codes that are published and stay as they are. ``last``: the last period's table, whose hidden cells are hidden
    first. If it cannot be done, ``Refused`` names the cells. ``details`` tells what was hidden by which step.

    >>> from discreet.rules import Threshold
    >>> from discreet.release import protect
    >>> table = Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
    >>> protect(table, Suppress(Threshold(3))).release()
    Release(area x sex: 16 cells, 4 not shown; count)
    """

    rule: Any
    order: Any = "value"
    forced: Cells = field(default=None, kw_only=True)
    hidden: Cells = field(default=None, kw_only=True)
    singletons: Any = field(default="auto", kw_only=True)
    zeros: bool | None = field(default=None, kw_only=True)
    repair: str = field(default=EXACT, kw_only=True)
    marks: Marks | None = field(default=None, kw_only=True)
    earlier: Sequence[Protected] = field(default=(), kw_only=True)
    last: Protected | None = field(default=None, kw_only=True)
    measures: Sequence[str] | None = field(default=None, kw_only=True)
    progress: Progress | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", as_rule(self.rule))
        if self.repair not in (OFF, EXACT, LEVELS):
            raise InputError(f"repair is 'off', 'exact' or 'levels', not {self.repair!r}")

    def __call__(self, table: Table) -> Protected:
        began = time.perf_counter()
        roles = _roles(self, table)
        enough = _enough(self, table, roles)
        found = np.empty(0, np.int64) if enough else _eliminated(self, table, roles).secondary
        step = np.full(len(table), "", "<U11")
        step[roles.primary[: len(table)]] = "rule"
        step[found[found < len(table)]] = "elimination"
        middle = time.perf_counter()
        gone = roles.primary | roles.never
        gone[found] = True
        rounds = 0
        if self.repair != OFF:
            mended = enough or _mended(self, table, roles, gone)
            step[(mended.hidden & ~gone)[: len(table)]] = "repair"
            gone, rounds = mended.hidden, mended.rounds
        status = _status(table, roles, gone)
        names = self.measures or (table.measure,)
        shown = {
            n: np.where(gone[: len(table)], np.nan, publishable(table, n).astype(float)) for n in names
        }  # fmt: skip
        details = {
            "rule": str(self.rule), "why": step, "primary": int((status == "u").sum()),
            "elimination": int((step == "elimination").sum()), "repair": int((step == "repair").sum()),
            "audits": rounds, "seconds elimination": middle - began, "seconds repair": time.perf_counter() - middle,
        }  # fmt: skip
        return Protected(table, shown, status, "cell suppression", details)


@dataclass(frozen=True)
class Roles:
    """What each column is: the table's cells, then those of earlier tables."""

    joined: before.Joined
    matrix: Any
    primary: Array
    forced: Array
    never: Array
    zeros: bool
    safe_zeros: bool
    sums: Sums | None

    @property
    def n(self) -> int:
        return int(self.matrix.shape[1])


def _roles(method: Suppress, table: Table) -> Roles:
    rule: Rule = method.rule
    joined = before.join(table, method.earlier)
    n, m = len(table), len(joined.layout)
    sums = rule.virtual(table)
    primary, forced, never = (np.zeros(m, bool) for _ in range(3))
    primary[:n] = rule(table)
    forced[:n] = _cells(method.forced, table)
    never[:n] = _cells(method.hidden, table)
    if method.marks is not None:
        primary[:n] |= method.marks.mask(table, "unsafe")
        primary[:n] &= ~method.marks.mask(table, "safe")
        forced[:n] |= method.marks.mask(table, "publish")
        never[:n] |= method.marks.mask(table, "never")
    structural = joined.layout.parts == 0
    primary &= ~structural
    never |= joined.withheld & ~joined.primary & ~structural
    forced |= joined.published
    primary |= joined.primary
    never &= ~primary
    if (clash := primary & forced).any():
        raise Refused(
            "suppression", f"{int(clash.sum()):,} sensitive cells must be published or are out already: "
            + _names(joined.layout, np.flatnonzero(clash)), "mark them safe, or do not force them",
        )  # fmt: skip
    zeros = sums is not None if method.zeros is None else method.zeros
    count = joined.layout.aggregate(table.statistic("count").inner)
    safe_zeros = not zeros and not (primary & (count == 0)).any()
    return Roles(joined, joined.layout.matrix, primary, forced & ~never, never, zeros, safe_zeros, sums)


def _cells(given: Cells, table: Table) -> Array:
    if given is None:
        return np.zeros(len(table), bool)
    return Hide(given(table) if callable(given) else given)._mask(table)


def _wanted(method: Suppress, table: Table, roles: Roles) -> Array:
    """How important each column is; those of earlier tables only do not count."""
    wanted = np.zeros(roles.n)
    size = order.importance(table, method.order, roles.primary[: len(table)])
    if roles.sums is not None:  # a line is better hidden by somebody than by nobody
        small = size[(table.count > 0) & (table.count <= roles.sums.k)]
        empty = table.count == 0
        above = small.max(initial=size[empty].max(initial=0)) + 1e-3 * (1 + np.arange(len(size)) / len(size))
        size = np.where(empty, above, size)
    if method.last is not None:
        size = np.where(before.hidden_before(table, method.last), size - size.max(initial=0) - 1, size)
    wanted[: len(table)] = size
    return wanted


def _enough(method: Suppress, table: Table, roles: Roles) -> Repaired | None:
    """The audit's word if the cells withheld from the start protect already: it finds nothing to add.

    Without this the cautious rule for singletons might add cells to a table that is protected as it is. Contributors
    who know their own cells are beyond the audit, so their tables go through elimination always.
    """
    own = table.magnitude is not None and method.singletons != "none"
    if method.repair == OFF or own or not roles.never.any():
        return None
    gone = roles.primary | roles.never
    try:
        mended = _mended(method, table, roles, gone)
    except Refused:
        return None
    return mended if np.array_equal(mended.hidden, gone) else None


def _eliminated(method: Suppress, table: Table, roles: Roles) -> gauss.Pattern:
    from scipy.sparse import csc_array, hstack

    n = len(table)
    zeros = roles.zeros or bool((roles.primary[:n] & (table.count == 0)).any())
    single = singletons.find(table, method.singletons, roles.primary[:n], zeros=zeros)
    extra = [gauss.unseen_singletons(roles.matrix, single)]
    if roles.sums is not None:
        extra.insert(0, roles.sums.matrix)
        single = replace(single, lenient=True)
    virtual = sum(e.shape[1] for e in extra)
    matrix = csc_array(hstack([roles.matrix.tocsc(), *extra])) if virtual else roles.matrix
    free = ~(roles.primary | roles.never | roles.forced)
    count = np.ones(roles.n)
    count[:n] = table.count if table.magnitude is None else table.value
    first = np.zeros(roles.n, bool) if roles.zeros else count == 0
    forced = np.flatnonzero(roles.forced)
    sequence = np.concatenate([forced, order.sequence(_wanted(method, table, roles), first, free)])
    primary = np.concatenate([np.flatnonzero(roles.primary), roles.n + np.arange(virtual)])
    found = gauss.eliminate(
        matrix, primary, sequence, forced=len(forced), singletons=single, virtual=virtual, progress=method.progress
    )
    if single.kind == singletons.OWN and not len(found.unsafe):
        sensitive = np.flatnonzero(roles.primary)
        found = insiders.close_insiders(matrix, sensitive, sequence, len(forced), found.secondary, single.group)
    if len(found.unsafe):
        _refuse(roles, matrix, found.unsafe, forced)
    return found


def _refuse(roles: Roles, matrix: Any, unsafe: Array, forced: Array) -> None:
    """Say which sensitive cells follow from cells that must be published, and from which."""
    first = int(unsafe[0])
    guilty = before.blame(matrix, first, forced) if len(forced) else np.empty(0, np.int64)
    old = guilty[roles.joined.published[guilty]]
    what = _names(roles.joined.layout, unsafe[unsafe < roles.n]) or "a sum that a rule keeps unknown"
    why = f"; the first follows from {_names(roles.joined.layout, guilty)}" if len(guilty) else ""
    hint = f"published before: {_names(roles.joined.layout, old)}" if len(old) else "force fewer cells"
    raise Refused("suppression", f"{len(unsafe):,} sensitive cells cannot be protected: {what}{why}", hint)


def _mended(method: Suppress, table: Table, roles: Roles, gone: Array) -> Repaired:
    """The pattern after the audit found nothing wrong with it any more."""
    statistic, n = table.statistic(table.measure), roles.n
    cells = roles.joined.layout.aggregate(statistic.inner).astype(float)
    sums = np.zeros(0) if roles.sums is None else (roles.sums.matrix.T @ statistic.inner).astype(float)
    values = np.concatenate([cells, sums])
    hide = np.concatenate([gone, np.ones(len(sums), bool)])
    bottom = np.full(len(values), -np.inf)
    empty = (cells == 0) & gone & ~roles.never
    if roles.safe_zeros and table.measure == "count" and not empty.any():  # nobody takes a hidden cell to be empty
        bottom[:n][~roles.never & ~roles.joined.layout.signed] = 1
    known = _known(table, roles, values, hide, bottom)
    stays = roles.forced | (roles.safe_zeros & (cells == 0))
    cost = np.concatenate([np.where(stays, np.inf, np.abs(cells) + 1), np.full(len(sums), np.inf)])
    truth = np.zeros(known.system().size)
    truth[: len(values)] = values
    truth[known.inner_variables()] = statistic.inner
    need = _need(method, table, roles, values, bottom)
    done = repair(known, truth, need, Costs(cost, bottom), method.progress)
    if len(done.hopeless):
        what = _names(roles.joined.layout, done.hopeless[done.hopeless < n]) or "a sum that a rule keeps unknown"
        raise Refused(
            "suppression", f"{len(done.hopeless):,} sensitive cells cannot be protected: {what}",
            "force fewer cells, or let zeros be hidden (zeros=True)",
        )  # fmt: skip
    return replace(done, hidden=done.hidden[:n])


def _known(table: Table, roles: Roles, values: Array, hide: Array, bottom: Array) -> Known:
    from scipy.sparse import csr_array, hstack

    from discreet.audits.relations import of_layout
    from discreet.audits.system import Known, inner_floor

    plain = roles.sums is None
    return Known(
        matrix=roles.matrix if roles.sums is None else csr_array(hstack([roles.matrix, roles.sums.matrix])),
        lower=np.where(hide, bottom, values),
        upper=np.where(hide, np.inf, values),
        inner_lower=inner_floor(table, None),
        inner_upper=np.full(table.layout.n_inner, np.inf),
        integer=table.measure == "count",
        point=np.concatenate([values, table.statistic(table.measure).inner.astype(float)]),
        relations=of_layout(roles.joined.layout) if plain else None,
    )


def _need(method: Suppress, table: Table, roles: Roles, values: Array, bottom: Array) -> Need:
    """What must be possible; nobody can be made to believe less than what is known of every hidden cell."""
    scale = 10 ** table.statistic(table.measure).decimals
    cells = np.flatnonzero(roles.primary)
    below, above = np.zeros(len(values)), np.zeros(len(values))
    if method.repair == LEVELS:
        low, high = method.rule.levels(table)
        below[: len(table)], above[: len(table)] = low * scale, high * scale
        below = np.clip(below, 0, np.maximum(values - np.maximum(bottom, np.where(values < 0, -np.inf, 0)), 0))
    if roles.sums is not None:
        cells = np.concatenate([cells, np.arange(roles.n, len(values))])
        above[roles.n :] = roles.sums.above
    return Need(cells, below[cells], above[cells])


def _status(table: Table, roles: Roles, gone: Array) -> Array:
    n = len(table)
    status = np.full(n, Status.PUBLISHED.value)
    status[gone[:n]] = Status.SECONDARY.value
    status[roles.forced[:n]] = Status.FORCED.value
    status[roles.never[:n] & ~roles.joined.withheld[:n]] = Status.NEVER.value
    status[roles.primary[:n]] = Status.PRIMARY.value
    return status


def _names(layout: Any, cells: Array) -> str:
    """Cells by their codes, for a message."""
    found = [
        "/".join(d.codes[c] for d, c in zip(layout.dimensions, layout.codes[cell], strict=True)) for cell in cells[:6]
    ]
    return listed(found, most=5) if len(cells) <= 5 else f"{listed(found[:5])} and {len(cells) - 5:,} more"
