"""answer(): what every release goes through. Library, command line and server use it and give the same bytes.

Whatever a user can see (refused or not, which method, the stated utility) is a function of the protected table, the
codebook and the policy. So a refusal cannot be probed for true counts, and a quality figure cannot be inverted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from discreet.base.arguments import checked
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.errors import InputError, Refused, listed
from discreet.methods.by_hand import Publish
from discreet.methods.contract import protect
from discreet.methods.effect import check_hides
from discreet.methods.likely import law_of
from discreet.policy.catalogue import check_catalogue
from discreet.policy.judging import Evidence, below_t1, table_rules, thresholds, weigh_evidence
from discreet.policy.policy import Policy
from discreet.policy.populations import Closed, without_closed
from discreet.policy.pretabular import TWIN, ready
from discreet.policy.query import Query, Resolved
from discreet.policy.steps import words_of
from discreet.policy.untouched import check_untouched
from discreet.policy.whole_variables import WholeVariables
from discreet.release import Protected, Release
from discreet.release.noise_law import NoiseLaw, NoNoise
from discreet.tables.table import Table
from discreet.tables.tabulation import tabulate

SEEN = "The quality stated is an estimate from the changed data."
UNSEEN = "What that costs is not stated."
COUNTS = ("count", "weighted count")
UNPROTECTED = "Published as it is: no number was changed or hidden to protect anybody."
BANDS = ((0.99, "very high"), (0.95, "high"), (0.85, "moderate"), (0.0, "low"))


@checked
def answer(data: Microdata | Table, query: Query | str, policy: Policy) -> Release:
    """The protected table that a query asks for, or ``Refused`` with the rule, the reason and what to change.

    ``data`` are records, or a Table of all variables (a cube), from which tables are sums.

    >>> import discreet as dc
    >>> people = dc.datasets.census(500)
    >>> policy = dc.policy.parse_policy('[[method]]\\nname = "random-round"\\nseed = 1')
    >>> answer(people, "sex", policy)
    Release(sex: 3 cells, 0 not shown; count)
    """
    resolved = dry_run(data, query, policy)
    held = ready(data, policy)
    whole = WholeVariables(held.dimensions, policy, partial(unfiltered, held))
    return answer_table(unfiltered(held, resolved), resolved, policy, whole)


def answer_table(table: Table, resolved: Resolved, policy: Policy, whole: WholeVariables) -> Release:
    """The answer to a query that ``check_query`` allows, from the table of it before its population is chosen.

    ``whole`` knows, for all tables of the same data, which populations are not broken down.
    """
    chosen, evidence, closed = protect_by(table, resolved, policy, whole)
    release = _release(without_closed(chosen, closed), evidence, resolved, policy, closed)
    return replace(release, noise=noise_of(chosen, policy, list(whole.dimensions.values())))


def noise_of(chosen: Protected, policy: Policy, dimensions: Sequence[Dimension]) -> NoiseLaw | None:
    """What the policy's method says of true counts behind shown ones; None if it says nothing, or is not to.

    ``dimensions`` are those of all data, to which steps before counting are done.
    """
    if policy.utility == "none" or chosen.table.measure != "count":
        return None
    done = (
        NoNoise() if chosen.as_it_is else None if chosen.call is None else law_of(chosen.call, chosen.table.dimensions)
    )
    if not policy.before:
        return done
    steps = policy.steps
    return law_of(steps[0], dimensions) if len(steps) == 1 and isinstance(done, NoNoise) else None


@checked
def dry_run(data: Microdata | Table, query: Query | str, policy: Policy) -> Resolved:
    r"""Whether the codebook allows a query, without counting anything; raises like ``answer``.

    >>> import discreet as dc
    >>> people = dc.datasets.census(500)
    >>> policy = dc.policy.parse_policy('[[method]]\nname = "random-round"\nseed = 1')
    >>> dry_run(people, "sex, age", policy).cells
    66
    """
    query = Query.of(query) if isinstance(query, str) else query
    resolved = query.resolved(data.dimensions)
    check_query(resolved, policy)
    return resolved


@checked
def evidence(data: Microdata | Table, query: Query | str, policy: Policy, *, number: int = 0) -> Evidence:
    r"""What ``answer`` would decide by, for one of the policy's methods: numbers of the protected table alone.

    >>> import discreet as dc
    >>> people = dc.datasets.census(500)
    >>> policy = dc.policy.parse_policy('[[method]]\nname = "random-round"\nseed = 1')
    >>> numbers = evidence(people, "sex", policy)
    >>> numbers.population, round(numbers.mean)
    (498.0, 249)
    """
    resolved = dry_run(data, query, policy)
    method = policy.make(number, [*resolved.levels])
    return weigh_evidence(protect(unfiltered(ready(data, policy), resolved), method), method, resolved, policy)


# -- the codebook decides ---------------------------------------------------------------------------------------


def check_query(resolved: Resolved, policy: Policy) -> None:
    """The preliminary rules (JOS15 section 2.3), from the codebook alone."""
    rules, query = policy.query, resolved.query
    names = set(query.names) | set(resolved.population)
    if (asked := len(query.names) + len(resolved.population)) > rules.max_dimensions:
        filters = f" (those of filters among them: {listed(resolved.population)})" if resolved.population else ""
        raise Refused(
            "max_dimensions",
            f"{asked} variables are asked{filters}, {rules.max_dimensions} are allowed",
            "ask for fewer variables" + (", or for everyone instead of a population" if resolved.population else ""),
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
            "ask for fewer variables or less detail" + (", or filter by fewer codes" if resolved.several else ""),
        )
    check_catalogue(resolved, policy)
    check_untouched(resolved, policy)


# -- the table --------------------------------------------------------------------------------------------------


def unfiltered(data: Microdata | Table, resolved: Resolved) -> Table:
    """The table before its population is chosen, in the asked detail: filters are one more dimension."""
    return from_cube(data, resolved) if isinstance(data, Table) else from_records(data, resolved)


def from_cube(cube: Table, resolved: Resolved) -> Table:
    """The same as sums of a table of all variables, or of all that are asked."""
    value = resolved.query.measure
    if value != "count" and (value not in cube.statistics or value.startswith(TWIN)):
        raise InputError(f"the data hold no measure {value!r}")
    out = {d.name: d.total for d in cube.dimensions if d.name not in resolved.levels}
    for name, total in out.items():
        if total is None:
            raise Refused("total", f"variable {name!r} has no total, so it must be asked", f"add {name!r}")
    return (cube.slice(**out) if out else cube).at_levels(**resolved.levels)


def from_records(records: Microdata, resolved: Resolved) -> Table:
    """The same by counting records."""
    names = [d.name for d in records.dimensions if d.name in resolved.levels]  # the codebook's order, whoever asks
    value = None if resolved.query.measure == "count" else resolved.query.measure
    return tabulate(records, by=names, value=value).at_levels(**resolved.levels)


def protect_by(
    table: Table, resolved: Resolved, policy: Policy, whole: WholeVariables
) -> tuple[Protected, Evidence, Closed]:
    """The table by the first method that passes, or with ``search`` by the one of best expected utility that does; with
    its evidence and the populations that it may not break down.

    Before any of them T1 is looked at: a table whose risk is below it is published as it is, if the rules for tables
    allow it ([Ant16]_ section 5.2, step 4). The risk is the one expected from what the first method would show, and it
    is one of counts, so it lets no table of magnitudes out.
    """
    passed: list[tuple[Protected, Evidence, Closed]] = []
    refusals: list[Refused] = []
    for number in range(len(policy.methods)):
        method = policy.make(number, [*resolved.levels])
        protected = protect(table, method)
        check_hides(protected)
        evidence = weigh_evidence(protected, method, resolved, policy, risks=policy.risk.decides)
        closed = whole.closed(table.dimensions)
        try:
            table_rules(evidence, policy, resolved)
            closed.check(resolved)
            if number == 0 and table.measure in COUNTS and below_t1(evidence, policy):
                return Publish()(table), evidence.unchanged, closed
            thresholds(evidence, policy)
        except Refused as refused:
            refusals.append(refused)
            continue
        passed.append((protected, evidence, closed))
        if not policy.search:
            break
    if not passed:
        raise refusals[0]
    return min(passed, key=lambda pair: pair[1].loss if pair[1].loss is not None else math.inf)


# -- out --------------------------------------------------------------------------------------------------------


def _release(chosen: Protected, evidence: Evidence, resolved: Resolved, policy: Policy, closed: Closed) -> Release:
    open_ = [] if policy.before else protection_notes(chosen)
    notes = [*policy.notes, *open_, *_quality(evidence, policy), *population_notes(resolved)]
    notes += closed.notes(chosen.table.layout)
    if policy.before:
        notes.insert(
            len(policy.notes), f"Before counting: {words_of(policy.before)}. {SEEN if evidence.utility else UNSEEN}"
        )
        chosen = replace(chosen, method=changed_words(chosen, policy), truthful=False)
    whole = chosen.release(notes=notes)
    return filtered(whole, {name: codes for name, (_, codes) in resolved.population.items()})


def changed_words(protected: Protected, policy: Policy) -> str:
    """What was done to a table of changed data, the step first."""
    return words_of(policy.before) if protected.as_it_is else f"{words_of(policy.before)}; {protected.method}"


def protection_notes(protected: Protected) -> list[str]:
    """That a table is not protected, where it is not."""
    return [UNPROTECTED] if protected.as_it_is else []


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
    if policy.utility == "expected" and policy.loss != "hellinger" and evidence.loss is not None:
        loss = f"{evidence.loss:.2f}" if math.isfinite(evidence.loss) else "infinite"
        return [f"Expected loss ({policy.loss}) {loss} (0 is the table itself)."]
    if policy.utility == "expected":
        return [f"Expected utility {evidence.utility:.2f} (1 is the table itself)."]
    return [f"Expected quality: {next(word for least, word in BANDS if evidence.utility >= least)}."]


def filtered(release: Release, population: Mapping[str, Sequence[str]]) -> Release:
    """The cells of one population; a dimension with a single code falls away."""
    for name, codes in population.items():
        release = release.only(name, codes)
    return release
