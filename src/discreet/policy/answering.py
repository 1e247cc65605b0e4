"""answer(): what every release goes through. Library, command line and server use it and give the same bytes.

Whatever a user can see (refused or not, which method, the stated utility) is a function of the protected table, the
codebook and the policy. So a refusal cannot be probed for true counts, and a quality figure cannot be inverted.
"""

from __future__ import annotations

from functools import partial

from discreet.base.arguments import checked
from discreet.data.microdata import Microdata
from discreet.errors import Refused, listed, many
from discreet.methods.contract import protect
from discreet.policy.catalogue import check_catalogue
from discreet.policy.counted_words import noting_counted, refusing_in_words
from discreet.policy.deciding import answer_table
from discreet.policy.judging import Evidence, weigh_evidence
from discreet.policy.measure_words import described_answer
from discreet.policy.policy import Policy
from discreet.policy.pretabular import ready
from discreet.policy.query import Query, Resolved
from discreet.policy.served_measures import COUNT, TOP_KEPT
from discreet.policy.statistic_answers import answer_statistic, bands_count_too, check_statistic, counted_query
from discreet.policy.untouched import check_untouched
from discreet.policy.whole_variables import TableOf, WholeVariables
from discreet.release import Release
from discreet.tables.table import Table
from discreet.tables.tabulation import tabulate


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
    table_of = partial(unfiltered, held)
    return answer_query(table_of, resolved, policy, WholeVariables(held.dimensions, policy, table_of))


def answer_query(table_of: TableOf, resolved: Resolved, policy: Policy, whole: WholeVariables) -> Release:
    """The answer to a query that ``check_query`` allows; ``table_of`` gives tables before their population is chosen.

    ``whole`` knows, for all tables of the same data, which populations are not broken down.
    """
    with refusing_in_words(resolved):
        if resolved.query.measure == COUNT and not resolved.query.statistic:
            release = answer_table(table_of(resolved), resolved, policy, whole)
        else:
            release = answer_statistic(table_of, resolved, policy, whole)
    return noting_counted(described_answer(release, resolved, policy), resolved)


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


def allowed(most: int) -> str:
    """How many are allowed, as a reason says it.

    >>> allowed(1), allowed(3)
    ('1 is allowed', '3 are allowed')
    """
    return many(most, "is allowed", "are allowed")


# -- the codebook decides ---------------------------------------------------------------------------------------


def check_query(resolved: Resolved, policy: Policy) -> None:
    """The preliminary rules (JOS15 section 2.3), from the codebook alone."""
    rules, query = policy.query, resolved.query
    check_statistic(resolved, policy)
    if (counted := counted_query(query, policy)) != query:
        try:
            check_query(counted.resolved(resolved.known), policy)
        except Refused as refused:
            too = bands_count_too(query, policy) if refused.rule in ("max_dimensions", "max_cells") else ""
            raise Refused(refused.rule, refused.reason + too, refused.hint) from None
        return
    names = set(query.names) | set(resolved.population)
    if (asked := len(query.names) + len(resolved.population)) > rules.max_dimensions:
        filters = f" (those of filters among them: {listed(resolved.population)})" if resolved.population else ""
        raise Refused(
            "max_dimensions",
            f"{asked} variables are asked{filters}, {allowed(rules.max_dimensions)}",
            "ask for fewer variables" + (", or for everyone instead of a population" if resolved.population else ""),
        )
    if len(resolved.population) > rules.max_filters:
        raise Refused(
            "max_filters",
            f"{len(resolved.population)} filters are asked, {allowed(rules.max_filters)}",
            "choose a wider population",
        )
    if rules.nested_only and any(len(codes) > 1 for _, codes in resolved.population.values()):
        raise Refused("nested_only", "a population is one category of the codebook", "choose a single category")
    for name in sorted(names & set(rules.disallowed)):
        raise Refused("disallowed", f"variable {name!r} is not published", "leave it out")
    for together in rules.forbidden:
        if set(together) <= names:
            raise Refused(
                "forbidden", f"{' and '.join(map(repr, together))} are not published together", "leave one of them out"
            )
    for name, needed in rules.required.items():
        if name in names and not set(needed) <= names:
            raise Refused(
                "required", f"{name!r} is published only with {' and '.join(map(repr, needed))}", "add what is missing"
            )
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
    if resolved.query.measure != COUNT:
        cube = cube.measured(resolved.query.measure)
    out = {d.name: d.total for d in cube.dimensions if d.name not in resolved.levels}
    for name, total in out.items():
        if total is None:
            raise Refused("total", f"variable {name!r} has no total, so it must be asked", f"add {name!r}")
    return (cube.slice(**out) if out else cube).at_levels(**resolved.levels)


def from_records(records: Microdata, resolved: Resolved) -> Table:
    """The same by counting records."""
    names = [d.name for d in records.dimensions if d.name in resolved.levels]  # the codebook's order, whoever asks
    value = None if resolved.query.measure == COUNT else resolved.query.measure
    top = None if value is None else TOP_KEPT
    return tabulate(records, by=names, value=value, top=top).at_levels(**resolved.levels)
