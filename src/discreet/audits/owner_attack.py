"""An intruder who has the program: he repeats the call on every table that fits a release [Minami and Abe 2019].

Tables for which the call gives another release are ruled out. Where the call has a key that he does not know he repeats
it with random ones: a table counts by the share of keys with which it gives this release. Whether any key does is told
apart from that, by the one draw that makes a decoy of every hidden cell that is not sensitive: a share of keys that is
too small to be met by chance is not none.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from discreet.audits.known import Known
from discreet.audits.owner_report import OwnerAudit, nothing_judged
from discreet.audits.view import view
from discreet.base.annotations import Array
from discreet.base.arguments import above, checked, whole
from discreet.errors import InputError, OutOfTimeError, Refused, Unjudged
from discreet.linear.whole_points import all_points, neighbours, points_on_walk
from discreet.release import Protected, Status
from discreet.tables.additive import Additive
from discreet.tables.table import Table

Call = Callable[[Table], Protected]
FIRST, MORE = 2, 4  # keys of the first round of the search for a second value, and how many times as many in the next
KEY_BYTES = 32
MOST = 1_000_000  # tables, keys or calls: more are never gone through


@runtime_checkable
class SaysHidden(Protocol):
    """A method that hides cells and tells sooner than by a whole call which ones, and whether it shows every zero."""

    def would_hide(self, table: Table, cells: Array) -> bool:
        """Whether exactly these cells of a table would be hidden."""
        ...

    def hiding_chance(self, table: Table, cells: Array, draws: int, random: np.random.Generator) -> float:
        """The chance that exactly these cells would be hidden with a random key, estimated by so many draws."""
        ...

    def least_chance(self, table: Table, cells: Array) -> float:
        """A chance of this that is certain to be reached; 0 where none is known, which is not to say that none is."""
        ...

    def shows_zeros(self, table: Table) -> bool:
        """Whether no empty cell of a table of this kind is ever hidden, whatever is counted in it."""
        ...


@checked
def owner_audit(
    protected: Protected,
    call: Call,
    *,
    most: int = 1_000,
    draws: int = 200,
    keys: int = 20,
    calls: int = 5_000,
    seed: int = 0,
    seconds: float = 120.0,
) -> OwnerAudit:
    """The attack of somebody who has the program: which values are left of each sensitive cell.

    ``call`` is the method that made the release. All tables that fit are tried if there are at most ``most``, otherwise
    ``draws`` of them on a random walk, and as many next to the true one, where a second value is found soonest. Of a
    method with a key each is tried with ``keys`` random ones, which gives the
    chances of values; a cell for which one value is left then is looked at with more keys, up to ``calls`` calls and
    for ``seconds`` in all. Magnitudes keep each contributor's share of a cell.

    >>> from discreet.release import hidden
    >>> from discreet.audits.owner_attack import owner_audit
    >>> t = Table.of([[1, 4], [5, 9]], ["a", "b"])
    >>> def hide_inner(table):
    ...     gone = np.where(table.is_inner, "u", "s")
    ...     return Protected(table, {"count": np.where(table.is_inner, np.nan, table.count)}, gone, "inner hidden")
    >>> owner_audit(hide_inner(t), hide_inner).left.tolist()
    [6, 6, 6, 6]
    """
    whole("most", most, 1, MOST)
    whole("draws", draws, 1, MOST)
    whole("keys", keys, 1, MOST)
    whole("calls", calls, 1, MOST)
    whole("seed", seed, 0)
    above("seconds", seconds)
    seen = view(protected)
    number = _judged_cells(protected, seen.unknown)
    truth = protected.table.statistic(protected.table.measure)
    if not len(number):
        return nothing_judged(number, truth.values, "")  # no cell is sensitive, and all are shown as they are
    random = np.random.default_rng(seed)
    try:
        candidates, complete = fitting_tables(protected, seen.known, call, most, draws, random)
        search = OwnerSearch(protected, call, candidates, number, random, calls, time.monotonic() + seconds)
        search.count_keys(keys)
        search.look_for_second_values()
    except OutOfTimeError:
        return nothing_judged(number, truth.values, f"not settled in {seconds:g} seconds")
    except InputError as error:
        return nothing_judged(number, truth.values, str(error))
    if not search.repeats:
        return nothing_judged(number, truth.values, "the call does not give this release")
    return search.report(complete)


def holds_a_key(call: Any) -> bool:
    """Whether a method draws from a key."""
    known = {f.name for f in dataclasses.fields(call)} if dataclasses.is_dataclass(call) else set()
    return "key" in known and getattr(call, "key", None) is not None


def rekeyed(call: Any, key: bytes) -> Call:
    """The same call with another key, and without the repair against the holder of the program.

    What that repair lets pass is as the call gives it without, so nothing that is found possible so is impossible.
    """
    known = {f.name for f in dataclasses.fields(call)}
    repeated: Call = replace(call, key=key, **({"owner": False} if "owner" in known else {}))
    return repeated


def fitting_tables(
    protected: Protected, known: Known, call: Any, most: int, draws: int, random: np.random.Generator
) -> tuple[Array, bool]:
    """Inner cells of tables that fit a release, the true one first, one a row; and whether they are all."""
    system = known.system()
    inner, table = known.inner_variables(), protected.table
    if isinstance(call, SaysHidden) and call.shows_zeros(table):
        gone = np.flatnonzero(protected.hidden)
        lower = system.lower.copy()
        lower[gone] = np.maximum(lower[gone], 1)
        system = replace(system, lower=lower)
    assert system.point is not None
    truth = system.point[inner]
    try:
        points = all_points(system, most=most)[:, inner]
        complete = True
    except InputError:
        near = neighbours(system, system.point, draws)
        points = np.concatenate([near, points_on_walk(system, system.point, draws, random)])[:, inner]
        complete = False
    points = np.unique(points, axis=0)
    far = np.abs(points - truth).sum(axis=1)
    return np.concatenate([truth[None], points[np.argsort(far, kind="stable")][np.sort(far) > 0]]), complete


def candidate_table(table: Table, inner: Array) -> Table:
    """The same table with other inner cells of its measure; contributors keep their shares of a cell."""
    measure = table.statistic(table.measure)
    whole_inner = np.rint(inner).astype(np.int64)
    other = Additive(whole_inner, table.layout.aggregate(whole_inner), measure.decimals)
    changed: dict[str, Any] = {"statistics": {**table.statistics, table.measure: other}}
    if table.measure != "count" and table._inner_contributions is not None:
        times = np.divide(whole_inner, measure.inner, out=np.ones(len(whole_inner)), where=measure.inner != 0)
        parts = table._inner_contributions
        changed["_inner_contributions"] = replace(parts, value=parts.value * times[:, None])
        if table._spanning is not None:
            spread = table._spanning
            scaled = [
                np.rint(amount * times[spread.inner]).astype(amount.dtype) for amount in (spread.value, spread.weighted)
            ]
            changed["_spanning"] = replace(spread, value=scaled[0], weighted=scaled[1])
    return replace(table, **changed)


class OwnerSearch:
    """Candidate tables, how often the call gave the release for each, and with how many keys it was tried."""

    def __init__(
        self,
        protected: Protected,
        call: Any,
        candidates: Array,
        number: Array,
        random: np.random.Generator,
        most: int,
        until: float = np.inf,
    ) -> None:
        self.until = until
        self.protected, self.call, self.number, self.random = protected, call, number, random
        self.tables = candidates
        layout = protected.table.layout
        whole_numbers = np.rint(candidates).astype(np.int64)
        self.values = np.stack([layout.aggregate(row)[number] for row in whole_numbers])
        self.hits, self.tried = np.zeros(len(candidates)), np.zeros(len(candidates))
        self.least = np.full(len(candidates), np.nan)  # a chance that is certain; NaN where it was not asked for
        self.keyed, self.calls, self.most, self.repeats = holds_a_key(call), 0, most, True

    def _table(self, k: int) -> Table:
        if time.monotonic() > self.until:  # looked at here: a limit on the calls themselves would slow each of them
            raise OutOfTimeError("the time for the attack of the holder of the program is up")
        return candidate_table(self.protected.table, self.tables[k]) if k else self.protected.table

    def _gives(self, k: int, call: Any) -> bool:
        """Whether the call gives the release for a candidate."""
        table = self._table(k)
        self.calls += 1
        try:
            if isinstance(call, SaysHidden) and self.protected.truthful:
                return call.would_hide(table, self.protected.hidden)
            return same_release(self.protected, call(table))
        except (Refused, Unjudged):
            return False

    def try_keys(self, k: int, keys: int) -> None:
        """A candidate with so many random keys."""
        if isinstance(self.call, SaysHidden) and self.protected.truthful:
            chance = self.call.hiding_chance(self._table(k), self.protected.hidden, keys, self.random)
            self.hits[k] += chance * keys
            self.calls += keys
        else:
            self.hits[k] += sum(self._gives(k, rekeyed(self.call, self.random.bytes(KEY_BYTES))) for _ in range(keys))
        self.tried[k] += keys

    def settle(self, k: int) -> None:
        """Whether a candidate gives the release at all: without a key, or with some key as far as that is certain."""
        if not self.keyed:
            self.hits[k] = self._gives(k, self.call)
            self.tried[k] = 1
        elif isinstance(self.call, SaysHidden) and self.protected.truthful and np.isnan(self.least[k]):
            self.calls += 1
            try:
                self.least[k] = self.call.least_chance(self._table(k), self.protected.hidden)
            except (Refused, Unjudged):
                self.least[k] = 0

    def count_keys(self, keys: int) -> None:
        """Every candidate with so many keys; without a key once."""
        if self.keyed:
            for k in range(len(self.tables)):
                self.settle(k)
                self.try_keys(k, keys)
            return
        self.repeats = self._gives(0, self.call)
        self.tried[:] = 1
        for k in range(1, len(self.tables)):
            self.hits[k] = self._gives(k, self.call)
        self.hits[0] = 1

    def settle_lone(self) -> None:
        """Candidates that would leave a cell a second value, until every cell has one or none is left to ask.

        In turn the one that changes most of the cells in question, which serves many at once, and the nearest, for
        which the release comes about most easily.
        """
        self.settle(0)
        changed = self.values != self.values[0]
        open_yet = np.arange(len(self.tables)) > 0
        turn = 0
        while self.calls < self.most:
            serves = (changed[:, self.lone()].sum(axis=1)) * open_yet
            if not serves.any():
                return
            k = int(np.argmax(serves) if turn % 2 == 0 else np.argmax(serves > 0))
            self.settle(k)
            open_yet[k] = False
            turn += 1

    def look_for_second_values(self) -> None:
        """Second values of every cell: what is certain first, then, with a key, by trying more and more of them.

        The true table is tried with as many: where the release does not come about again, the attack tells nothing.
        """
        self.settle_lone()
        keys = FIRST
        while self.keyed and self.calls < self.most and (lone := self.lone()).any():
            able = [k for k in range(1, len(self.tables)) if (self.values[k] != self.values[0])[lone].any()]
            if not able:
                return
            for k in [0, *able]:
                if k == 0 or (self.values[k] != self.values[0])[self.lone()].any():
                    self.try_keys(k, keys)
                if self.calls >= self.most:
                    return
            keys *= MORE

    @property
    def inconclusive(self) -> bool:
        """Whether no key made the true table give the release again, so that other tables are not ruled out either."""
        return self.keyed and not self.surviving()[0]

    def surviving(self) -> Array:
        """Which candidates give the release with some key, as far as that is seen."""
        return np.asarray((self.hits > 0) | (np.nan_to_num(self.least) > 0))

    def lone(self) -> Array:
        """Which cells have one value among the tables that survive."""
        survive = self.surviving()
        survive[0] = True  # it did give the release
        return np.asarray((self.values[survive] == self.values[0]).all(axis=0))

    def report(self, complete: bool) -> OwnerAudit:
        weight = np.divide(self.hits, self.tried, out=np.zeros(len(self.hits)), where=self.tried > 0)
        weight = np.maximum(weight, np.nan_to_num(self.least))
        if self.inconclusive:
            weight[0] = 1 / (self.tried[0] + 1)  # it did give the release, with the key that nobody knows
        values, chances = [], []
        scale = 10 ** self.protected.table.statistic(self.protected.table.measure).decimals
        for column in self.values.T:
            distinct, place = np.unique(column[weight > 0], return_inverse=True)
            mass = np.bincount(place, weight[weight > 0])
            values.append(distinct / scale if scale > 1 else distinct)
            chances.append(mass / mass.sum())
        return OwnerAudit(
            number=self.number,
            values=tuple(values),
            chances=tuple(chances),
            fitting=len(self.tables),
            surviving=int((weight > 0).sum()),
            complete=complete,
            calls=self.calls,
            keyed=self.keyed,
            inconclusive=self.inconclusive,
        )


def same_release(one: Protected, other: Protected) -> bool:
    """Whether two tables show the same: the same cells hidden, the same values elsewhere."""
    if not np.array_equal(one.hidden, other.hidden):
        return False
    names = one.published.keys() & other.published.keys()
    return all(np.array_equal(one.published[n], other.published[n], equal_nan=True) for n in names)


def _judged_cells(protected: Protected, unknown: Array) -> Array:
    """The sensitive cells; of a method without any, those that are not shown as they are."""
    primary = protected.status == Status.PRIMARY.value
    return np.flatnonzero(primary if primary.any() else unknown[: len(protected.table)])
