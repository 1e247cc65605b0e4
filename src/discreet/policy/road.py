"""answer(): the one road out. Library, command line and server release through it and give the same bytes.

Whatever a user can see (refused or not, which method, the stated utility) is a function of the protected table, the
codebook and the policy. So a refusal cannot be probed for true counts, and a quality figure cannot be inverted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import checked
from discreet.errors import InputError, Refused
from discreet.microdata import Microdata
from discreet.policy.guess import Shown, bounded_small_share, guesses, reach_of, small_share
from discreet.policy.policy import Policy, TableRules
from discreet.policy.protection import check_hides
from discreet.policy.query import Query, Resolved
from discreet.release import AS_IT_IS, Protected, Publish, Release, protect
from discreet.risk.frequency import r1, r2
from discreet.table import Table, tabulate
from discreet.utility import hellinger_utility

Array = NDArray[Any]

DRAWS = 4  # tables guessed to estimate the risk and the utility
UNPROTECTED = "Published as it is: no number was changed or hidden to protect anybody."
BANDS = ((0.99, "very high"), (0.95, "high"), (0.85, "moderate"), (0.0, "low"))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a decision rests on: numbers computed from a protected table alone."""

    population: float
    mean: float
    small_share: float
    before: float
    after: float
    utility: float | None


@checked
def answer(data: Microdata | Table, query: Query | str, policy: Policy) -> Release:
    """The protected table that a query asks for, or ``Refused`` with the rule, the reason and what to change.

    ``data`` are records, or a Table of all variables (a cube), from which tables are sums.
    """
    query = Query.of(query) if isinstance(query, str) else query
    resolved = query.resolved(data.dimensions)
    check_query(resolved, policy)
    table = unfiltered(data, resolved)
    chosen, evidence = protect_by(table, resolved, policy)
    return _release(chosen, evidence, resolved, policy)


@checked
def dry_run(data: Microdata | Table, query: Query | str, policy: Policy) -> Resolved:
    """Whether the codebook allows a query, without counting anything; raises like ``answer``."""
    query = Query.of(query) if isinstance(query, str) else query
    resolved = query.resolved(data.dimensions)
    check_query(resolved, policy)
    return resolved


@checked
def evidence(data: Microdata | Table, query: Query | str, policy: Policy, *, number: int = 0) -> Evidence:
    """What ``answer`` would decide by, for one of the policy's methods: numbers of the protected table alone."""
    resolved = dry_run(data, query, policy)
    method = policy.make(number)
    return weigh(method(unfiltered(data, resolved)), method, resolved, policy)


# -- the codebook decides ---------------------------------------------------------------------------------------


def check_query(resolved: Resolved, policy: Policy) -> None:
    """The preliminary rules (JOS15 section 2.3), from the codebook alone."""
    rules, query = policy.query, resolved.query
    names = set(query.names) | set(resolved.population)
    if len(query.names) > rules.max_dimensions:
        raise Refused(
            "max_dimensions",
            f"{len(query.names)} variables are asked, {rules.max_dimensions} are allowed",
            "ask for fewer variables",
        )
    if len(resolved.population) > rules.max_filters:
        raise Refused(
            "max_filters",
            f"{len(resolved.population)} filters are asked, {rules.max_filters} are allowed",
            "choose a wider population",
        )
    if rules.nested_only and any(len(codes) > 1 for _, codes in resolved.population.values()):
        raise Refused("nested_only", "a population is one category of the codebook", "choose a single category")
    for name in sorted(names & set(rules.disallowed)):
        raise Refused("disallowed", f"variable {name!r} is not published", "leave it out")
    for together in rules.forbidden:
        if set(together) <= names:
            raise Refused("forbidden", f"{' and '.join(together)} are not published together", "leave one of them out")
    for name, needed in rules.required.items():
        if name in names and not set(needed) <= names:
            raise Refused("required", f"{name!r} is published only with {' and '.join(needed)}", "add what is missing")
    if resolved.cells > rules.max_cells:
        raise Refused(
            "max_cells",
            f"{resolved.cells:,} cells are asked, {rules.max_cells:,} are allowed",
            "ask for fewer variables or less detail",
        )


# -- the table --------------------------------------------------------------------------------------------------


def unfiltered(data: Microdata | Table, resolved: Resolved) -> Table:
    """The table before its population is chosen, in the asked detail: filters are one more dimension."""
    names = [d.name for d in data.dimensions if d.name in resolved.levels]  # the codebook's order, whoever asks
    value = None if resolved.query.measure == "count" else resolved.query.measure
    if isinstance(data, Table):
        if value is not None and value not in data.statistics:
            raise InputError(f"the data hold no measure {value!r}")
        out = {d.name: d.total for d in data.dimensions if d.name not in names}
        for name, total in out.items():
            if total is None:
                raise Refused("total", f"variable {name!r} has no total, so it must be asked", f"add {name!r}")
        table = data.slice(**out) if out else data
    else:
        table = tabulate(data, by=names, value=value)
    return table.at_levels(**resolved.levels)


def protect_by(table: Table, resolved: Resolved, policy: Policy) -> tuple[Protected, Evidence]:
    """The first method that passes, or with ``search`` the one of best expected utility that does.

    Before any of them T1 is looked at: a table whose risk is below it is published as it is, if the rules for tables
    allow it ([Ant16]_ section 5.2, step 4). The risk is the one expected from what the first method would show.
    """
    passed: list[tuple[Protected, Evidence]] = []
    refusals: list[Refused] = []
    for number in range(len(policy.methods)):
        method = policy.make(number)
        protected = method(table)
        check_hides(protected)
        evidence = weigh(protected, method, resolved, policy)
        try:
            table_rules(evidence, policy)
            if number == 0 and policy.risk.t1 is not None and evidence.before < policy.risk.t1:
                return Publish()(table), replace(evidence, after=evidence.before, utility=1.0)
            _thresholds(evidence, policy)
        except Refused as refused:
            refusals.append(refused)
            continue
        passed.append((protected, evidence))
        if not policy.search:
            break
    if not passed:
        raise refusals[0]
    return max(passed, key=lambda pair: pair[1].utility if pair[1].utility is not None else -1.0)


def weigh(protected: Protected, method: Any, resolved: Resolved, policy: Policy) -> Evidence:
    """The evidence of a protected table, as anybody could compute it who sees the whole of it.

    All of it is about the table before it is filtered, so that no choice of a filter opens what another closes; only
    the population is that of the asked one. Risks and utility are expected ones, over the tables that the method could
    have shown like this (``guesses``). A method without a transition matrix is credited with nothing: its risk after is
    R1 of what is shown. A table of magnitudes is judged by its counts, protected in the same way.
    """
    if "count" not in protected.published:
        protected = counted(protected.table, method, policy)
    shown, hidden = _shown(protected)
    total = float(_population(shown, protected.table, resolved).sum())
    small_share = _small_share(protected, shown, hidden, method, policy.table.small)
    if shown.sum() <= 0:
        return Evidence(population=0, mean=0, small_share=small_share, before=1, after=1, utility=None)
    before, after, utility = _risks(Table.of(shown, protected.table.dimensions), method, resolved, policy)
    return Evidence(
        population=total,
        mean=float(shown.mean()),
        small_share=small_share,
        before=before,
        after=after,
        utility=utility,
    )


def counted(table: Table, method: Any, policy: Policy) -> Protected:
    """The counts behind a table of magnitudes, protected by the same method."""
    counts = replace(table, measure="count", magnitude=None)
    try:
        return protect(counts, method)
    except InputError:
        if policy.table == TableRules() and policy.risk.t2 is None and policy.risk.t3 is None:
            return Publish()(replace(counts, statistics=_nothing(counts)))
        raise Refused(
            "measure", "the policy's rules for counts cannot be applied to this measure", "ask for counts"
        ) from None


def _nothing(table: Table) -> dict[str, Any]:
    """Counts of zero: a stand-in where no rule looks at counts."""
    held = table.statistics["count"]
    return {"count": replace(held, inner=np.zeros_like(held.inner), cells=np.zeros_like(held.cells))}


def _risks(shown: Table, method: Any, resolved: Resolved, policy: Policy) -> tuple[float, float, float | None]:
    """Expected risk before and after and expected utility, over tables that the method could have shown like this."""
    w, counts = policy.risk.weights, shown.array()
    if not hasattr(method, "transition"):
        risk = float(r1(counts, w).value)
        return risk, risk, 1.0 if isinstance(method, Publish) else None
    transition = method.transition(shown)  # of the shown table: a matrix made for the true one would tell of it
    rng = np.random.default_rng(int(resolved.query.digest[:16], 16))  # the same query is judged the same way each time
    was = guesses(counts, transition, rng, DRAWS)
    axes = tuple(range(1, was.ndim))
    was = was[was.sum(axis=axes) > 0]
    if not len(was):
        return 1.0, 1.0, None
    now = np.broadcast_to(counts, was.shape)
    before, after = r1(was, w, axis=axes).value, r2(was, now, w, axis=axes).value
    return float(np.mean(before)), float(np.mean(after)), float(np.mean(hellinger_utility(was, now, axis=axes)))


def _small_share(protected: Protected, shown: Array, hidden: Array, method: Any, small: int) -> float:
    """Expected share of small cells, given what is shown: by the method's matrix, or by the bounds that it tells."""
    layout, bounds = protected.table.layout, [protected.details.get(name) for name in ("lower", "upper")]
    if hasattr(method, "transition"):
        transition = method.transition(Table.of(shown, protected.table.dimensions))
        return small_share(Shown.of(shown, hidden, small, reach_of(transition)), transition, small)
    if bounds[0] is not None and bounds[1] is not None:
        low, high = (layout.dense(_inner(protected, np.asarray(bound, float))) for bound in bounds)
        return bounded_small_share(shown, low, high, hidden, small)
    return small_share(Shown.of(shown, hidden, small, 0), None, small)


def _inner(protected: Protected, cells: Array) -> Array:
    """Values of published cells laid out over the inner ones."""
    layout = protected.table.layout
    inner = np.full(layout.n_inner, np.nan)
    at = layout.inner_of_cell >= 0
    inner[layout.inner_of_cell[at]] = cells[at]
    return inner


def _shown(protected: Protected) -> tuple[Array, Array]:
    """What is shown of the inner cells (0 where hidden), and which are hidden, as arrays."""
    layout, inner = protected.table.layout, protected.shown_inner()
    counts = np.rint(np.maximum(np.nan_to_num(inner), 0)).astype(np.int64)
    return layout.dense(counts), layout.dense(np.isnan(inner))


def _population(array: Array, table: Table, resolved: Resolved) -> Array:
    """The part of an array over inner cells that lies in the asked population."""
    for axis, dimension in enumerate(table.dimensions):
        if dimension.name in resolved.population:
            _, codes = resolved.population[dimension.name]
            array = np.take(array, [dimension.leaf_position[c] for c in codes], axis=axis)
    return array


def table_rules(evidence: Evidence, policy: Policy) -> None:
    """The rules for tables, on the protected one before it is filtered."""
    rules = policy.table
    if evidence.population < rules.min_population:
        raise Refused("min_population", f"fewer than {rules.min_population:,} people", "choose a larger population")
    if evidence.mean < rules.min_mean:
        raise Refused("min_mean", f"fewer than {rules.min_mean:g} people per cell", "ask for less detail")
    if evidence.small_share > rules.max_small_share:
        raise Refused(
            "max_small_share",
            f"more than {rules.max_small_share:.0%} of the cells are small",
            "ask for less detail or a larger population",
        )


def _thresholds(evidence: Evidence, policy: Policy) -> None:
    risk = policy.risk
    if risk.t2 is not None and evidence.after > risk.t2:
        raise Refused("t2", "the risk after protection is above what is allowed", "ask for less detail")
    if risk.t3 is not None and (evidence.utility is None or 1 - evidence.utility > risk.t3):
        raise Refused("t3", "protection would cost more than is allowed", "ask for less detail")


# -- out --------------------------------------------------------------------------------------------------------


def _release(chosen: Protected, evidence: Evidence, resolved: Resolved, policy: Policy) -> Release:
    notes = [*policy.notes, *protection_notes(chosen), *_quality(evidence, policy), *population_notes(resolved)]
    whole = chosen.release(notes=notes)
    return filtered(whole, {name: codes for name, (_, codes) in resolved.population.items()})


def protection_notes(protected: Protected) -> list[str]:
    """That a table is not protected, where it is not."""
    return [UNPROTECTED] if protected.method == AS_IT_IS else []


def population_notes(resolved: Resolved) -> list[str]:
    """Whom a filtered table is about."""
    notes = []
    for name, (_, codes) in resolved.population.items():
        label = " or ".join(resolved.source[name].label(c) for c in codes)
        notes.append(f"Population: {name} = {label}.")
    return notes


def _quality(evidence: Evidence, policy: Policy) -> list[str]:
    if policy.utility == "none" or evidence.utility is None:
        return []
    if policy.utility == "expected":
        return [f"Expected utility {evidence.utility:.2f} (1 is the table itself)."]
    return [f"Expected quality: {next(word for least, word in BANDS if evidence.utility >= least)}."]


def filtered(release: Release, population: Mapping[str, Sequence[str]]) -> Release:
    """The cells of one population; a dimension with a single code falls away."""
    for name, codes in population.items():
        release = release.only(name, codes)
    return release
