"""An intruder who has the program: he repeats the call on every table that fits a release [Minami and Abe 2019].

Tables for which the call gives another release are ruled out. Where the call has a key that he does not know he repeats
it with random ones: a table counts by the share of keys with which it gives this release.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from discreet.audits.intruders import PROGRAM, Intruder, least_and_median
from discreet.audits.known import Known
from discreet.audits.view import view
from discreet.base.annotations import Array
from discreet.base.arguments import above, checked, whole
from discreet.base.verdicts import Verdict
from discreet.errors import InputError, OutOfTimeError, Refused, Unjudged
from discreet.linear.whole_points import all_points, neighbours, points_on_walk
from discreet.release import Protected, Status
from discreet.risk.cell import distribution_bits
from discreet.tables.additive import Additive
from discreet.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd

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

    def shows_zeros(self, table: Table) -> bool:
        """Whether no empty cell of a table of this kind is ever hidden, whatever is counted in it."""
        ...


@checked
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OwnerAudit:
    """What the holder of the program can work out of a release, for each sensitive cell (confidential).

    Of a method without sensitive cells, as rounding, all cells that are not shown as they are.
    """

    number: Array
    """Which cells of the table were judged."""
    values: tuple[Array, ...]
    """Per cell the values of the tables that survive, in the measure's own units."""
    chances: tuple[Array, ...]
    """Per cell how likely each of these is, if every table that fits is as likely as the next."""
    fitting: int
    """How many tables that fit the release were tried."""
    surviving: int
    """For how many of them the call gave the release, with some key."""
    complete: bool
    """Whether these are all tables that fit; otherwise they are draws."""
    calls: int
    """How often the call was repeated."""
    keyed: bool
    """Whether the call has a key, which he does not know."""
    inconclusive: bool = False
    """Whether no key tried made the true table give the release again: then no other table is ruled out either."""
    unjudged: str = ""
    """Why nothing could be worked out, in words; empty otherwise."""

    @property
    def left(self) -> Array:
        """Per cell how many values survive."""
        return np.array([len(v) for v in self.values], np.int64)

    @property
    def exact(self) -> Array:
        """Numbers of the cells with one value left. Of draws a second value may have been missed: see ``unknown``."""
        return np.asarray(self.number[(self.left == 1) & self.complete & (not self.inconclusive)])

    @property
    def unknown(self) -> Array:
        """Numbers of the cells that could not be judged: only one value among draws, or no call could be repeated."""
        if self.unjudged:
            return self.number
        return np.asarray(self.number[(self.left == 1) & (not self.complete or self.inconclusive)])

    @property
    def survivors(self) -> float:
        """Share of the tables that fit for which the call gave the release."""
        return self.surviving / self.fitting if self.fitting else float("nan")

    @property
    def bits(self) -> Array:
        """Entropy of each cell's value, given the release and the program."""
        return np.array([distribution_bits(p) for p in self.chances])

    @property
    def likeliest(self) -> Array:
        """Per cell the chance of its likeliest value."""
        return np.array([p.max() for p in self.chances])

    @property
    def verdict(self) -> Verdict:
        """Fail if a cell has one value left, unknown if one could not be judged."""
        return Verdict.of(fails=len(self.exact), unknown=self.unjudged or len(self.unknown))

    @property
    def ok(self) -> bool:
        """Whether the verdict is a pass."""
        return self.verdict.ok

    @property
    def cells(self) -> pd.DataFrame:
        """One row per judged cell, the best known first (confidential)."""
        import pandas as pd

        frame = pd.DataFrame({"cell": self.number, "values": self.left, "likeliest": self.likeliest, "bits": self.bits})
        return frame.iloc[np.argsort(self.bits, kind="stable")]

    def intruder(self) -> Intruder:
        """The row in the table of intruders."""
        least, median = least_and_median(self.bits)
        what = "all tables that fit" if self.complete else "draws of the tables that fit"
        note = self.unjudged or (
            f"{self.surviving:,} of {self.fitting:,} ({what}) survive {self.calls:,} calls"
            + (" with random keys" if self.keyed else "")
        )
        judged = not self.unjudged
        return Intruder(
            name=PROGRAM,
            cells=len(self.number),
            exact=len(self.exact) if judged else None,
            narrow=None,
            unknown=len(self.unknown),
            least_bits=least if judged else None,
            median_bits=median if judged else None,
            exposed=bool(len(self.exact)),
            note=note,
        )

    def __repr__(self) -> str:
        return (
            f"OwnerAudit({self.verdict.value}; {len(self.number):,} cells, {len(self.exact):,} exact; "
            f"{self.intruder().note})"
        )


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
    for ``seconds`` in all. Magnitudes keep each contributor's share of his cell.

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
        return _nothing(number, truth.values, "")  # no cell is sensitive, and all are shown as they are
    random = np.random.default_rng(seed)
    try:
        candidates, complete = fitting_tables(protected, seen.known, call, most, draws, random)
        search = OwnerSearch(protected, call, candidates, number, random, calls, time.monotonic() + seconds)
        search.count_keys(keys)
        search.look_for_second_values()
    except OutOfTimeError:
        return _nothing(number, truth.values, f"not settled in {seconds:g} seconds")
    except InputError as error:
        return _nothing(number, truth.values, str(error))
    if not search.repeats:
        return _nothing(number, truth.values, "the call does not give this release")
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

    def count_keys(self, keys: int) -> None:
        """Every candidate with so many keys; without a key once."""
        if self.keyed:
            for k in range(len(self.tables)):
                self.try_keys(k, keys)
            return
        self.repeats = self._gives(0, self.call)
        self.tried[:] = 1
        for k in range(1, len(self.tables)):
            self.hits[k] = self._gives(k, self.call)
        self.hits[0] = 1

    def look_for_second_values(self) -> None:
        """More keys for the candidates that would leave a cell a second value, in rounds, until every one has it.

        The true table is tried with as many: where the release does not come about again, the attack tells nothing.
        """
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
        return self.keyed and self.hits[0] == 0

    def lone(self) -> Array:
        """Which cells have one value among the tables that survive."""
        survive = self.hits > 0
        survive[0] = True  # it did give the release
        return np.asarray((self.values[survive] == self.values[0]).all(axis=0))

    def report(self, complete: bool) -> OwnerAudit:
        weight = np.divide(self.hits, self.tried, out=np.zeros(len(self.hits)), where=self.tried > 0)
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


def _nothing(number: Array, values: Array, why: str) -> OwnerAudit:
    """A report that nothing was worked out, which is never a pass."""
    return OwnerAudit(
        number=number,
        values=tuple(values[[cell]] for cell in number),
        chances=tuple(np.ones(1) for _ in number),
        fitting=0,
        surviving=0,
        complete=False,
        calls=0,
        keyed=False,
        unjudged=why,
    )
