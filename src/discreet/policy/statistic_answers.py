"""Sums, means, quotients, shares and quantiles: each from protected numbers alone.

A mean is a protected sum by a protected count, a ratio one protected sum by another, a median is read off protected
counts of bands. A true mean beside a perturbed count would tell the count (total by mean), and is never made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.engines.protocol import PRODUCT_DECIMALS
from discreet.errors import InputError, Refused, nearest
from discreet.methods.contract import protect
from discreet.policy.deciding import ProtectedTable, filtered, noted_release, protect_by
from discreet.policy.judging import Evidence
from discreet.policy.policy import Policy
from discreet.policy.populations import without_cells, without_closed
from discreet.policy.query import Query, Resolved
from discreet.policy.sensitive_cells import cells_told, sensitive_cells
from discreet.policy.served_measures import COUNT, SUM, Statistic
from discreet.policy.whole_variables import TableOf, WholeVariables
from discreet.release import CONFIDENTIAL, OPEN, Protected, Release
from discreet.tables.layout import Layout
from discreet.tables.table import Table

DECIMALS = 1  # of percentages and rates
MORE_DECIMALS = 2  # of a mean or a ratio than its sum has
DIGITS = 4  # of the quotient of everybody that say something, at least
MOST_DECIMALS = 9
OF_WEIGHTS = "weighted count"
GIVING = ", or give something"


def statistic_of(query: Query) -> Statistic:
    """What a query asks of its measure."""
    return Statistic.of(query.statistic or SUM)


def counted_query(query: Query, policy: Policy) -> Query:
    """The query of the counts that a quantile comes from, its bands one more variable; any other query itself.

    No number of a measure is given by its own bands: people of a band have about the same, so a sum counts them.
    """
    served = policy.measures.get(query.measure)
    if served is not None and served.bands in (*query.names, *(name for name, _ in query.where)):
        raise InputError(
            f"{query.measure!r} is not given by {served.bands!r}, the bands of its medians: leave it out of the table"
        )
    if served is None or statistic_of(query).kind != "quantile":
        return query
    return Query.of({**dict(query.variables), served.bands: served.bands}, where=dict(query.where))


def bands_count_too(query: Query, policy: Policy) -> str:
    """What a reader of a refusal has to know who asked for a quantile: bands are a variable that nobody ticked."""
    if counted_query(query, policy) == query:
        return ""
    return f"; the bands that a median or quantile is read from ({policy.measures[query.measure].bands!r}) count too"


def check_statistic(resolved: Resolved, policy: Policy) -> None:
    """Whether the policy serves the measure and the statistic: from the codebook and the policy alone."""
    query, asked = resolved.query, statistic_of(resolved.query)
    if query.measure != COUNT and query.measure not in policy.measures:
        raise InputError(f"no measure {query.measure!r} is served; {nearest(query.measure, [COUNT, *policy.measures])}")
    if asked.is_share and asked.other:
        dimension = resolved.source.get(asked.other)
        if dimension is None:
            known = nearest(asked.other, resolved.source)
            raise InputError(f"{query.statistic!r}: the table has no {asked.other!r}; {known}")
        if dimension.total is None:
            raise InputError(f"{query.statistic!r}: {asked.other!r} has no total to take shares of")
    if query.measure == COUNT:
        if not (asked.is_share or asked.kind in (SUM, "se")):
            others = f"name one of {', '.join(policy.measures)}" if policy.measures else "and none is served"
            raise InputError(f"{query.statistic!r} is a statistic of a measure, {others}")
        return
    allowed = policy.measures[query.measure].statistics
    wanted = SUM if asked.is_share else query.statistic or SUM
    if wanted not in allowed:
        raise Refused(
            "statistic", f"{wanted!r} of {query.measure!r} is not published", f"ask for one of: {', '.join(allowed)}"
        )


@dataclass(frozen=True)
class ProtectedMeasure:
    """One measure of a table as it may be shown, with what was decided by its counts."""

    table: ProtectedTable
    evidence: Evidence
    counts: ProtectedTable

    @property
    def shown(self) -> Protected:
        """Without what is withheld."""
        return self.table.protected

    @property
    def name(self) -> str:
        """The statistic that is shown."""
        return next(iter(self.shown.published))

    @property
    def values(self) -> Floats:
        """Per published cell; NaN where it is hidden."""
        return np.asarray(self.shown.published[self.name], np.float64)

    @property
    def people(self) -> Floats:
        """The same of how many there are, protected, where the values count each by a weight."""
        return np.asarray(self.counts.grounds.counts.published[COUNT], np.float64)


def answer_statistic(table_of: TableOf, resolved: Resolved, policy: Policy, whole: WholeVariables) -> Release:
    """The answer to a query of another measure than counts, or of another statistic than the sum."""
    query, asked = resolved.query, statistic_of(resolved.query)
    if asked.kind == "quantile":
        return _quantiles(table_of, resolved, policy, whole)
    table = table_of(resolved)
    main = _counts(table, resolved, policy, whole) if query.measure == COUNT else _sums(table, resolved, policy, whole)
    decimals = _decimals(main)
    words = [main.shown.method]
    if asked.kind == SUM:
        served = policy.measures.get(query.measure)
        notes = [_few_note(served.min_count, main, GIVING)] if served is not None and served.noise is not None else []
        return _given(main, resolved, policy, main.name, main.values, decimals, words, *notes)
    if asked.is_share:
        base = _at_total(main.shown.table.layout, main.values, [asked.other] if asked.other else [*resolved.detail])
        factor, name = (100, "percent") if asked.kind == "percent" else (1000, "per 1,000")
        name = name if query.measure == COUNT else f"{name} of {main.name}"
        return _given(main, resolved, policy, name, _quotient(main.values, base) * factor, DECIMALS, words)
    counts = _counts(table, resolved, policy, whole)
    if asked.kind == "se":
        return _given(main, resolved, policy, "standard error", _standard_errors(counts, policy), 0, words)
    least = policy.measures[query.measure].min_count
    few = ~(counts.people >= least)
    if asked.kind == "mean":
        other, name = counts, f"mean {main.name}"
    else:
        other_query = Query.of(dict(query.variables), where=dict(query.where), measure=asked.other)
        other_resolved = other_query.resolved(resolved.known)
        other = _sums(table_of(other_resolved), other_resolved, policy, whole)
        name = f"{main.name} per {other.name}"
    values = np.where(few, np.nan, _quotient(main.values, other.values))
    words = [*dict.fromkeys([*words, other.shown.method])]
    digits = _quotient_decimals(values, decimals + MORE_DECIMALS)
    return _given(main, resolved, policy, name, values, digits, words, _few_note(least, main, GIVING))


def _decimals(main: ProtectedMeasure) -> int:
    """Of the numbers of a measure; a weight brings none that its own numbers do not have."""
    stated = main.shown.table.statistic(main.name).decimals
    weighted = OF_WEIGHTS in main.shown.table.statistics and main.name not in (COUNT, OF_WEIGHTS)
    return max(stated - PRODUCT_DECIMALS, 0) if weighted else stated


def _few_note(least: int, part: ProtectedMeasure, giving: str = "") -> str:
    how = "counted, without their weights" if OF_WEIGHTS in part.shown.table.statistics else "shown"
    return f"Not shown where fewer than {least:,} people are {how}{giving}."


# -- protected parts --------------------------------------------------------------------------------------------


def _counts(table: Table, resolved: Resolved, policy: Policy, whole: WholeVariables) -> ProtectedMeasure:
    """The counts behind a table, weighted if there are weights, never published as they are by T1."""
    counts = whole.held.worked_out(table, "counts", partial(_counts_of, table))
    judged = policy if policy.risk.t1 is None else replace(policy, risk=replace(policy.risk, t1=None))
    chosen, evidence = protect_by(counts, resolved, judged, whole, quality=False)
    shown = whole.held.worked_out(counts, ("shown", chosen), lambda: replace(chosen, protected=chosen.shown))
    return ProtectedMeasure(shown, evidence, chosen)


def _counts_of(table: Table) -> Table:
    measure = OF_WEIGHTS if OF_WEIGHTS in table.statistics else COUNT
    return replace(table, measure=measure, magnitude=None, _inner_contributions=None, _spanning=None)


def _sums(table: Table, resolved: Resolved, policy: Policy, whole: WholeVariables) -> ProtectedMeasure:
    """The sums of a measure: refused or not by their counts and by the rules about contributions, before noise."""
    served = policy.measures[resolved.query.measure]
    if served.noise is None:
        decided, evidence = protect_by(table, resolved, policy, whole, quality=False)
        chosen, gone = decided.protected, decided.protected.hidden
    else:
        counts = _counts(table, resolved, policy, whole)
        decided, evidence = counts.counts, counts.evidence
        noise = policy.measure_noise(resolved.query.measure)
        giving = whole.held.worked_out(table, "givers", lambda: noise.givers(table))
        few = ~(np.minimum(counts.people, giving) >= served.min_count)  # a sum of few tells how many, or whose it is
        gone = counts.shown.hidden | few
        chosen = whole.held.worked_out(table, "noise", lambda: protect(table, noise))
    sensitive = whole.held.worked_out(table, "sensitive", partial(sensitive_cells, table, served))
    if served.sensitive == "refuse" and sensitive.any():
        exposed = partial(_exposed, table, sensitive, gone, policy, resolved.query.measure)
        if whole.held.worked_out(table, ("exposed", decided), exposed).any():
            raise Refused("sensitive", "cells of this table rest on too few contributors", "ask for less detail")
    shown = whole.held.worked_out(
        table, ("not closed", decided), lambda: without_closed(without_cells(chosen, gone), decided.closed)
    )
    unjudged = table.layout.signed if served.hide else np.zeros(len(table), bool)  # no rule says anything of a minus
    given = whole.held.worked_out(
        table,
        ("shown", decided),
        lambda: replace(decided, protected=without_cells(shown, sensitive | unjudged)),
    )
    return ProtectedMeasure(given, evidence, decided)


def _exposed(table: Table, sensitive: Array, gone: Array, policy: Policy, measure: str) -> Array:
    """Sensitive cells for which a table is refused: of a measure without noise of its own, all of them."""
    if policy.measures[measure].noise is None:
        return sensitive
    return cells_told(table, sensitive, gone, policy.measure_noise(measure).spread(table))


# -- quotients --------------------------------------------------------------------------------------------------


def _quotient(above: Floats, below: Floats) -> Floats:
    """Where there is something to divide by; NaN elsewhere."""
    held = below > 0
    return np.where(held, above, np.nan) / np.where(held, below, 1.0)


def _quotient_decimals(values: Floats, least: int) -> int:
    """As many as the quotient of everybody, which is the same in all tables, needs for some digits; ``least`` or more.

    >>> _quotient_decimals(np.array([0.00213, 0.3]), 2), _quotient_decimals(np.array([81.2, 0.3]), 2)
    (6, 2)
    """
    first = abs(values[0]) if len(values) else np.nan
    needed = DIGITS - 1 - math.floor(math.log10(first)) if first > 0 else least
    return min(max(least, needed), MOST_DECIMALS)


def _at_total(layout: Layout, values: Floats, names: list[str]) -> Floats:
    """For each cell the value of the one that has the totals of some variables instead of its codes."""
    totals = {
        axis: dimension.position[dimension.total]
        for axis, dimension in enumerate(layout.dimensions)
        if dimension.name in names and dimension.total is not None
    }
    return _at_codes(layout, values, totals)


def _at_codes(layout: Layout, values: Floats, instead: dict[int, int]) -> Floats:
    """For each cell the value of the one that has other codes along some axes; NaN where there is none."""
    codes = layout.codes.copy()
    for axis, code in instead.items():
        codes[:, axis] = code
    places = np.full(int(np.prod(layout.code_shape)), -1)
    places[layout.flat] = np.arange(len(layout))
    at = places[np.ravel_multi_index(tuple(codes.T), layout.code_shape)]
    return np.where(at >= 0, values[at], np.nan)


def _standard_errors(counts: ProtectedMeasure, policy: Policy) -> Floats:
    """Of weighted counts, as of a simple random sample: from the numbers that are shown, two digits of them."""
    table = counts.shown.table
    if counts.name != OF_WEIGHTS:
        raise InputError("standard errors are of weighted counts, and the data have no weights")
    plain = protect(replace(table, measure=COUNT), policy.make(0, [d.name for d in table.dimensions]))
    people = float(np.nanmax(counts.values, initial=0.0))
    weight = people / max(float(np.nanmax(np.asarray(plain.published[COUNT], float), initial=0.0)), 1.0)
    variance = counts.values * max(weight - 1, 0.0) * (1 - counts.values / max(people, 1.0))
    return _two_digits(np.sqrt(np.maximum(variance, 0.0)))


def _two_digits(values: Floats) -> Floats:
    """Whole numbers with two digits that say something."""
    size = np.floor(np.log10(np.maximum(values, 1.0)))
    unit = 10.0 ** np.maximum(size - 1, 0)
    return np.asarray(np.rint(values / unit) * unit)


# -- quantiles --------------------------------------------------------------------------------------------------


def _quantiles(table_of: TableOf, resolved: Resolved, policy: Policy, whole: WholeVariables) -> Release:
    """From the protected counts of bands, evenly spread within each."""
    query, asked = resolved.query, statistic_of(resolved.query)
    served = policy.measures[query.measure]
    by_band = counted_query(query, policy).resolved(resolved.known)
    counts = _counts(table_of(by_band), by_band, policy, whole)
    layout = counts.shown.table.layout
    axis = layout.axis(served.bands)
    bands = layout.dimensions[axis]
    parts, people = (
        np.stack([_at_codes(layout, of, {axis: bands.position[one]}) for one in bands.leaves], axis=1)
        for of in (counts.values, counts.people)
    )
    values = quantile_of_bands(parts, np.asarray(served.edges), asked.share)
    values[~np.isfinite(values)] = np.nan
    values[~(np.maximum(people, 0).sum(axis=1) >= served.min_count)] = np.nan
    name = "median" if query.statistic == "median" else f"{round(asked.share * 100)}th percentile"
    notes = [f"Read off the counts of {served.bands}.", _few_note(served.min_count, counts)]
    if np.isinf(served.edges).any():
        notes.append(f"Not shown where it lies in a band of {served.bands} that has no end.")
    release = _given(counts, by_band, policy, f"{name} {query.measure}", values, 0, [counts.shown.method], *notes)
    return release.only(served.bands, [bands.total or bands.leaves[0]])


def quantile_of_bands(parts: Floats, edges: Floats, share: float) -> Floats:
    """The value below which a share of the people of each row lie, if those of a band are evenly spread in it; no
    number, or an infinite one, in a band without an end.

    >>> quantile_of_bands(np.array([[10.0, 10.0, 20.0]]), np.array([0.0, 10.0, 20.0, 50.0]), 0.5).tolist()
    [20.0]
    >>> quantile_of_bands(np.array([[10.0, 10.0, 20.0]]), np.array([0.0, 10.0, 20.0, np.inf]), 0.9).tolist()
    [inf]
    """
    people = np.maximum(parts, 0.0)
    below = np.cumsum(people, axis=1)
    target = share * below[:, -1]
    band = np.argmax(below >= target[:, None], axis=1)
    rows = np.arange(len(people))
    start = below[rows, band] - people[rows, band]
    within = (target - start) / np.where(people[rows, band] > 0, people[rows, band], 1.0)
    low, high = edges[band], edges[band + 1]
    with np.errstate(invalid="ignore"):
        values = np.where(within >= 1, high, low + within * (high - low))
    return np.where(np.isnan(parts).any(axis=1) | (below[:, -1] <= 0), np.nan, values)


# -- out --------------------------------------------------------------------------------------------------------


def _given(
    part: ProtectedMeasure,
    resolved: Resolved,
    policy: Policy,
    name: str,
    values: Floats,
    decimals: int,
    words: list[str],
    *notes: str,
) -> Release:
    """Numbers worked out of protected ones as a release of the asked population."""
    evidence = replace(part.evidence, utility=None)  # what is stated is the quality of counts
    if len(part.table.release) != len(values):
        raise InputError("the method leaves cells out of the table, so no statistic of them can be worked out")
    values = np.round(values, decimals)
    stated = part.shown.table.statistic(part.name).decimals
    release = noted_release(
        part.table,
        evidence,
        resolved,
        policy,
        *notes,
        values={name: values},
        decimals={name: decimals},
        status=np.where(np.isnan(values), CONFIDENTIAL, OPEN),
        method="; ".join(words),
        truthful=part.shown.truthful if part.name == name and decimals == stated else False,
    )
    return filtered(release, {one: codes for one, (_, codes) in resolved.population.items()})
