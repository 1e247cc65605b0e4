"""audit(): from a release and what is asked of it to the report on it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audits.contradiction import InfeasibleError
from discreet.audits.if_beyond_ranges import known_if_beyond_ranges
from discreet.audits.if_counts import known_if_counts
from discreet.audits.if_left_out import known_if_left_out
from discreet.audits.joined.mapping import MAGNITUDE, NameMapping
from discreet.audits.joined.publication import Publication
from discreet.audits.joined.sheet_populations import apart_words, same_population
from discreet.audits.joined.sources import publications
from discreet.audits.joined.together import DividedDifferentlyError, JoinedTables, view_together
from discreet.audits.lines import Lines, flagged, judged, sums_of
from discreet.audits.mean_audit import with_means
from discreet.audits.on_demand import earlier_view
from discreet.audits.owner_attack import owner_audit
from discreet.audits.owner_report import OwnerAudit
from discreet.audits.report import Audit
from discreet.audits.view import Prior, View, view_like, view_of_release
from discreet.audits.view_audit import NOTHING_HIDDEN, Protection, cells_by_name, empty, of_view
from discreet.base.annotations import Array
from discreet.base.arguments import checked, numbers, positive, whole
from discreet.errors import DiscreetWarning, InputError
from discreet.release import Protected, Release
from discreet.rules import Levels, Rule, as_rule, asked
from discreet.tables.room import KeptSums
from discreet.tables.table import Table
from discreet.tables.totals import Totals

if TYPE_CHECKING:
    import pandas as pd

    from discreet.data.codebook import Codebook

MOST_INSIDERS = 100
TRUTH_NEEDED = "{} is measured from the truth, which a Release does not hold; audit the Protected"


@checked
def audit(
    released: Protected | Release | str | Path | pd.DataFrame | Sequence[Any] | Mapping[str, Any],
    *,
    targets: str | Array = "unknown",
    cells: Array | Sequence[int] | Mapping[str, Any] | None = None,
    measure: str | None = None,
    prior: Prior | None = None,
    protection: Protection = None,
    nonnegative: bool | None = None,
    insiders: int = 0,
    earlier: Protected | Release | Sequence[Protected | Release] = (),
    change: float = 0.0,
    owner: bool | OwnerAudit | Callable[[Table], Protected] = False,
    mapping: str | Path | Mapping[str, Any] | NameMapping | None = None,
    codebook: Codebook | None = None,
    total: Totals = None,
    progress: Callable[[int, int], None] | None = None,
) -> Audit:
    """What can be worked out of one release, or of several together: linked Protected tables, or publications.

    Publications: a list (or a dict, by name) of releases, paths and frames, matched by their dimensions and codes;
    ``mapping`` says where names differ and which codes are sums of others (see ``discreet.audits.joined.mapping``),
    ``codebook`` and ``total`` how files are read.

    ``targets``: "unknown" (cells not published as they are), "inner" (all inner cells), or cells by mask or number.
    ``cells``: only these, by mask, by number or by their codes ({"area": "1"}), on demand: what is needed for all of
    them is kept with the release, so that asking for others later takes little; intervals are the same.
    ``prior``: what an intruder knows beforehand of hidden cells (see ``discreet.audits.view``). ``protection``: how far
    an interval must reach on both sides of the truth not to be "narrow": 0.1 for a tenth of it, arrays of amounts
    (below, above, and perhaps the whole width) over the cells, or a rule or ``Levels`` whose protection levels are
    meant. With a rule, cells that it calls sensitive are audited even where they are shown, and the sums that a rule on
    whole lines keeps unknown are judged (see ``Audit.lines``). By default what a method was asked for, which it leaves
    in its ``room``. Without any rule, what shows everything as it is cannot be judged.
    ``measure``: of a Release all are judged unless one is named (see ``Audit.others``), of a Protected the table's own.
    Further intruders, a row each in ``Audit.summary()``: ``insiders=2`` tries all coalitions of up to two contributors;
    ``earlier`` somebody who holds earlier tables over the same cells, whose values have since changed by a share of at
    most ``change``; ``owner`` somebody who has this program and repeats the call on the tables that fit: the method
    that was called, True where ``protect`` did, or an ``owner_audit`` with limits of its own.

    >>> from discreet import datasets
    >>> a = audit(datasets.willenborg_suppressed())
    >>> a.m.tolist(), a.risk.round(3).tolist()
    ([407.0, 407.0, 407.0, 407.0], [0.115, 0.115, 0.115, 0.115])
    """
    whole("insiders", insiders, 0, MOST_INSIDERS)
    positive("change", change)
    if owner is not False and not isinstance(released, Protected):
        raise InputError("owner= repeats the call on other tables, which needs one Protected")
    if cells is not None and not (isinstance(targets, str) and targets == "unknown"):
        raise InputError("cells= and targets= both say what to audit; give one of them")
    before = [earlier] if isinstance(earlier, (Protected, Release)) else list(earlier)
    outside = tables_out(released, mapping, codebook, total)
    if outside is not None:
        if prior is not None or protection is not None:
            raise InputError(TRUTH_NEEDED.format("prior" if prior is not None else "protection"))
        if cells is not None:
            raise InputError("cells= is of a Protected, of several, or of one Release; of files see targets=")
        each = _together_or_apart(outside, NameMapping.of(mapping), targets, measure, nonnegative, progress)
        if not NameMapping.of(mapping).only_rounding:  # a certificate could not be held against the files by itself
            each = [replace(one, released=()) for one in each]
        each = [_informed(one, released, insiders, before, change) for one in each]
        return replace(each[0], others=tuple(each[1:]))
    if isinstance(released, Release):
        if prior is not None:
            raise InputError(TRUTH_NEEDED.format("prior"))
        names = list(released.values) if measure is None else [measure]
        each = [_of_release(released, name, targets, cells, protection, nonnegative, progress) for name in names]
        each = [_informed(one, released, insiders, before, change) for one in each]
        return replace(each[0], others=tuple(each[1:]))
    several = inside_tables(released)
    earlier_one = earlier_view(measure or several[0].table.measure, several) if cells is not None and several else None
    seen = view_like(several, earlier_one, measure=measure, prior=prior, nonnegative=nonnegative)
    if cells is not None:
        targets = cells_by_name(seen, cells)
    if protection is not None and not isinstance(protection, (int, float, tuple, Levels)):
        protection = as_rule(protection)
    rule = protection if isinstance(protection, Rule) else None
    nothing = empty(seen, targets, ruled=rule is not None or all(p.room.ruled for p in several))
    sensitive = np.zeros(len(seen.unknown), bool)
    amounts = _levels(several, seen.measure, protection)
    if rule is not None:
        sensitive = np.concatenate([flagged(rule, p.table) for p in several]) & ~seen.unknown
    elif isinstance(amounts, tuple):  # of the caller, or what the method was asked for
        sensitive = _asked_of(amounts, len(sensitive)) & ~seen.unknown
    if sensitive.any() and isinstance(targets, str) and targets == "unknown":
        targets, nothing = np.flatnonzero(seen.unknown | sensitive), ()
    keep = () if cells is None else several
    report = of_view(seen, targets, protection=amounts, progress=progress, keep=keep)
    sums, words = _lines(several, seen, rule, protection is None, progress)
    inside = report.number < len(sensitive)
    shown = inside & sensitive[np.where(inside, report.number, 0)]
    report = replace(
        report,
        status=_status(several, report.number),
        sums=sums,
        sensitive=shown if shown.any() else None,
        released=tuple(several),
        unjudged=(*report.unjudged, *words, *nothing),
    )
    return _informed(_against_owner(report, released, owner), released, insiders, before, change)


def _against_owner(report: Audit, released: Any, owner: bool | OwnerAudit | Callable[[Table], Protected]) -> Audit:
    """The report with what the holder of the program can work out, where he was asked for."""
    if owner is False:
        return report
    if isinstance(owner, OwnerAudit):
        return replace(report, owner=owner, informed=(*report.informed, owner.intruder()))
    call = released.call if owner is True else owner
    if call is None or not callable(call):
        raise InputError("owner=True needs to know the call: use protect(table, method), or give owner=method")
    attack = owner_audit(released, call)
    return replace(report, owner=attack, informed=(*report.informed, attack.intruder()))


def _informed(
    report: Audit,
    released: Any,
    insiders: int,
    earlier: Sequence[Protected | Release],
    change: float,
) -> Audit:
    """The report with a row for every further intruder that was asked for."""
    from discreet.audits.informed import tried_earlier, tried_insiders

    rows = []
    if insiders:
        if not isinstance(released, Protected):
            raise InputError("insiders are tried on one Protected, which knows the contributions; a release does not")
        rows.append(tried_insiders(released, report, insiders))
    if earlier:
        rows.append(tried_earlier(report, earlier, change))
    elif change:
        raise InputError("change= is by how much values of earlier= may have changed; name the earlier tables, too")
    return replace(report, informed=(*report.informed, *rows))


def inside_tables(released: Any) -> list[Protected]:
    """One Protected, or several, as a list."""
    if isinstance(released, Protected):
        return [released]
    return list(released.values() if isinstance(released, Mapping) else released)


def tables_out(
    released: Any,
    mapping: str | Path | Mapping[str, Any] | NameMapping | None,
    codebook: Codebook | None,
    total: Totals,
) -> list[Publication] | None:
    """Several tables as the world sees them, under common names; None for a Protected, several, or one Release."""
    if isinstance(released, (str, Path)) or hasattr(released, "columns"):
        released = [released]
    listed_ones = list(released.values()) if isinstance(released, Mapping) else released
    inside = isinstance(released, (Protected, Release)) or all(isinstance(one, Protected) for one in listed_ones)
    if inside and mapping is None:
        if codebook is not None or total is not None:
            raise InputError("codebook and total say how a file is read; a Protected and a Release know their sums")
        return None
    names = NameMapping.of(mapping)
    given = [released] if isinstance(released, (Protected, Release)) else released
    return publications(given, names, codebook=codebook, total=total)


def _laid_over(several: Sequence[Publication], names: NameMapping) -> JoinedTables:
    joined = JoinedTables.of(several, names.sums, names.crossing, names.known_measures)
    return replace(joined, kinds=names.kinds)


def _together_or_apart(
    several: Sequence[Publication],
    names: NameMapping,
    targets: str | Array,
    measure: str | None,
    nonnegative: bool | None,
    progress: Any,
) -> list[Audit]:
    """The audit of each measure, of all tables together; of those of one file that do not fit, by their totals."""
    try:
        return _of_publications(_laid_over(several, names), targets, measure, nonnegative, progress)
    except (InfeasibleError, DividedDifferentlyError):
        groups = same_population(several)
        if len(groups) < 2:
            raise
    parts = [_of_publications(_laid_over(g, names), targets, measure, nonnegative, progress) for g in groups]
    each = [one for part in parts for one in part]
    hiding = [one for one in each if NOTHING_HIDDEN not in one.unjudged] or each
    doubts = apart_words(groups, names.crossing)
    return [replace(one, unjudged=(*one.unjudged, *doubts), released=()) for one in hiding]


def _of_publications(
    joined: JoinedTables, targets: str | Array, measure: str | None, nonnegative: bool | None, progress: Any
) -> list[Audit]:
    """The audit of each measure, of all tables that have it together."""
    known = list(dict.fromkeys(name for p in joined.publications for name in p.release.values))
    if measure is not None and measure not in known:
        raise InputError(f"{measure!r} is not among what is published: {', '.join(known)}")
    each = []
    for name in known if measure is None else [measure]:
        own = joined
        seen = view_together(own, name, nonnegative)
        try:
            report = of_view(seen, targets, progress=progress)
        except InfeasibleError:
            own = replace(joined, publications=tuple(p.with_hidden_zeros() for p in joined.publications))
            allowed = view_together(own, name, nonnegative)
            if np.array_equal(seen.known.lower, allowed.known.lower):
                raise
            seen, report = allowed, of_view(allowed, targets, progress=progress)
            _tell_zeros(name)
        releases = tuple(p.release for p in own.publications if name in p.release.values)
        counts = () if joined.kinds.get(name) == MAGNITUDE else known_if_counts(report, releases, targets, progress)
        unjudged = (*report.unjudged, *counts, *_if_otherwise(report, targets, progress), *empty(seen, targets))
        each.append(with_means(replace(report, unjudged=unjudged, released=releases)))
    return each


def _of_release(
    release: Release,
    measure: str,
    targets: str | Array,
    cells: Array | Sequence[int] | Mapping[str, Any] | None,
    protection: Protection,
    nonnegative: bool | None,
    progress: Any,
) -> Audit:
    seen = view_of_release(release, measure=measure, nonnegative=nonnegative)
    keep = () if cells is None else (release,)
    if cells is not None:
        targets = cells_by_name(seen, cells)
    try:
        report = of_view(seen, targets, protection=protection, progress=progress, keep=keep)
    except InfeasibleError:
        release = replace(release, from_one=False)
        allowed = view_of_release(release, measure=measure, nonnegative=nonnegative)
        if np.array_equal(seen.known.lower, allowed.known.lower):
            raise
        seen, report = allowed, of_view(allowed, targets, protection=protection, progress=progress)
        _tell_zeros(measure)
    counts = known_if_counts(report, [release], targets, progress)
    unjudged = (*report.unjudged, *counts, *_if_otherwise(report, targets, progress), *empty(seen, targets))
    return with_means(replace(report, unjudged=unjudged, released=(release,)))


def _if_otherwise(report: Audit, targets: str | Array, progress: Any) -> tuple[str, ...]:
    """What more is known if marks mean what nobody says, so that it is no pass."""
    left_out = known_if_left_out(report, targets, progress)
    return (*left_out, *known_if_beyond_ranges(report, targets, progress))


def _tell_zeros(measure: str) -> None:
    """Say that zeros are hidden, as the numbers show."""
    warnings.warn(
        f"{measure}: no table fits if every count that is not shown is 1 at least, so zeros are hidden, too, and such "
        "a count was taken as 0 at least; --zeros-hidden says the same",
        DiscreetWarning,
        stacklevel=4,
    )


def _asked_of(amounts: tuple[Array, ...], cells: int) -> Array:
    """Of which cells a protection level is asked."""
    asked = np.zeros(cells, bool)
    for amount in amounts:
        level = numbers("protection", amount)
        if level.shape != (cells,):
            raise InputError(f"protection levels are arrays over the {cells:,} cells, none negative")
        asked |= level > 0
    return asked


def _lines(
    several: Sequence[Protected], seen: View, rule: Rule | None, asked_for: bool, progress: Any
) -> tuple[Lines | None, tuple[str, ...]]:
    """The sums that the rule, or what the method was asked for, keeps unknown; and what of it cannot be judged."""
    tables = [p.table for p in several]
    sums: Sequence[KeptSums | None]
    words: tuple[str, ...]
    if rule is not None:
        sums, words = sums_of([(table, rule) for table in tables])
    else:
        sums, words = [p.room.sums if asked_for else None for p in several], ()
    if all(s is None for s in sums):
        return None, words
    if seen.measure != "count":
        return None, (*words, f"a rule on whole lines is about counts, and the audit is of {seen.measure!r}")
    return judged(seen, tables, sums, progress), words


def _status(several: Sequence[Protected], number: Array) -> Array:
    """The status of each audited cell; inner cells that are not published have none."""
    cells = np.concatenate([p.status for p in several])
    inside = number < len(cells)
    return np.where(inside, cells[np.where(inside, number, 0)], "")


def _levels(several: Sequence[Protected], measure: str, protection: Protection) -> Protection:
    """Protection levels as arrays over the cells of all tables; None if nobody asked for any."""
    if protection is None:
        levels = [p.room.levels if measure == p.table.measure else None for p in several]
        if all(f is None for f in levels):
            return None
        nothing = [(np.zeros(len(p.table)),) * 3 for p in several]
        parts = [n if f is None else f for f, n in zip(levels, nothing, strict=True)]
        return tuple(np.concatenate([part[k] for part in parts]) for k in range(3))
    if isinstance(protection, (Rule, Levels)):
        rule, single = (protection, None) if isinstance(protection, Rule) else (None, protection)
        amounts = [asked(p.table, rule, single) for p in several]
        below = [np.minimum(a.below, most_below(p.table)) for a, p in zip(amounts, several, strict=True)]
        return (
            np.concatenate(below),
            np.concatenate([a.above for a in amounts]),
            np.concatenate([a.sliding for a in amounts]),
        )
    return protection


def most_below(table: Table) -> Array:
    """How far below its value anybody can take a cell to lie: no further than zero, unless there are negative ones."""
    nonnegative = bool((table.statistic(table.measure).inner >= 0).all())
    return np.where(nonnegative & (table.value >= 0), table.value.astype(float), np.inf)
