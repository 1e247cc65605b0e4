"""answer_in_parts(): the way out for tables too large to be held, where the policy can be kept part by part.

The rules for tables are sums over the shown cells, so they are decided exactly, before the file takes its name. What
looks at the table as a whole (T1, T2, T3, the search, a stated utility) is refused: close would not be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.files import whole_file
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.errors import InputError, Refused
from discreet.formats import chosen_format
from discreet.formats.growing import check_growing, growing
from discreet.methods.contract import Method, protect, transition_of
from discreet.methods.effect import check_hides
from discreet.parts import CELLS, Parts, check_cellwise
from discreet.policy.answering import check_query, from_records
from discreet.policy.counted_words import noting_counted, refusing_in_words
from discreet.policy.deciding import filtered, population_notes, protection_notes
from discreet.policy.judging import Evidence, counted, table_rules
from discreet.policy.measure_words import described_answer
from discreet.policy.policy import Policy
from discreet.policy.populations import Closed, fewest_people, population_counts, without_closed
from discreet.policy.posterior import ShownCounts, reach_of, small_share
from discreet.policy.query import Query, Resolved
from discreet.policy.whole_variables import WholeVariables
from discreet.release import Protected, Release
from discreet.risk.transition import Transition
from discreet.tables.tabulation import tabulate


@checked
def answer_in_parts(
    data: Microdata,
    query: Query | str,
    policy: Policy,
    path: str | Path,
    *,
    format: str | None = None,
    cells: int = CELLS,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    r"""Write what ``answer`` would release, CSV or Parquet, byte for byte, or raise ``Refused`` as it would.

    >>> import discreet as dc
    >>> import tempfile
    >>> policy = dc.policy.parse_policy('utility = "none"\n[[method]]\nname = "random-round"\nseed = 1')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = answer_in_parts(dc.datasets.census(500), "sex", policy, f"{folder}/sex.csv")
    ...     print(path.read_text().split())
    ['sex,count,status', 'Total,498,', 'M,231,', 'F,267,']
    """
    query = Query.of(query) if isinstance(query, str) else query
    resolved = query.resolved(data.dimensions)
    check_query(resolved, policy)
    _check_policy(policy)
    if query.statistic or query.measure != "count":
        raise InputError("only counts can be answered in parts; ask for the measure in one go, or for less detail")
    methods = [policy.make(number, [*resolved.levels]) for number in range(len(policy.methods))]
    for method in methods:
        check_cellwise(method)
    name = chosen_format(path, format)
    check_growing(name)
    names = [d.name for d in data.dimensions if d.name in resolved.levels]
    parts = Parts.of(data, names, levels=resolved.levels, cells=cells)
    whole = WholeVariables(data.dimensions, policy, partial(from_records, data))
    refusals: list[Refused] = []
    for method in methods:
        try:
            with refusing_in_words(resolved), whole_file(path) as file:
                out, seen = growing(name, file), _Seen(method, policy.table.small)
                people = _People(data, method, resolved)
                _check_totals(people, policy)
                closed = whole.closed(people.dimensions)
                for done, release in _releases(parts, method, resolved, policy, seen, closed):
                    out.add(noting_counted(described_answer(release, resolved, policy), resolved))
                    if progress is not None:
                        progress(done, len(parts))
                table_rules(seen.evidence(people.fewest()), policy, resolved)
                closed.check(resolved)
                out.close()
            return Path(path)
        except Refused as refused:
            refusals.append(refused)
    raise refusals[0]


def _check_policy(policy: Policy) -> None:
    """Refuse a policy that looks at the table as a whole."""
    unsupported = [name for name in ("t1", "t2", "t3") if getattr(policy.risk, name) is not None]
    unsupported += ["search"] if policy.search else []
    unsupported += ["before"] if policy.before else []
    unsupported += ["areas"] if policy.areas.variable else []
    unsupported += [f"utility = {policy.utility!r}"] if policy.utility != "none" else []
    if unsupported:
        raise InputError(
            f"the policy looks at the table as a whole ({', '.join(unsupported)}), so it cannot be answered in parts; "
            "ask in one go, or for less detail"
        )


@dataclass
class _Seen:
    """Sums over the inner cells that have been shown so far."""

    method: Method
    limit: int
    cells: int = 0
    shown: int = 0
    counts: ShownCounts | None = None

    @property
    def transition(self) -> Transition | None:
        """Of a method that looks at one cell at a time, so the same for every part."""
        return transition_of(self.method)

    def add(self, protected: Protected) -> None:
        layout = protected.table.layout
        inner = np.flatnonzero(layout.inner_of_cell >= 0)
        values = np.asarray(protected.published["count"], float)[inner]
        shown = np.rint(np.maximum(np.nan_to_num(values), 0)).astype(np.int64)
        self.cells += len(inner)
        self.shown += int(shown.sum())
        part = ShownCounts.of(shown, np.isnan(values), self.limit, reach_of(self.transition))
        self.counts = part if self.counts is None else self.counts + part

    def evidence(self, population: float) -> Evidence:
        """What the rules for tables look at; nothing else in it is used."""
        mean = self.shown / self.cells
        small = 0.0 if self.counts is None else small_share(self.counts, self.transition, self.limit)
        return Evidence(population=population, mean=mean, small_share=small, before=1, after=1, utility=None)


@dataclass(frozen=True)
class _People:
    """Protected counts of populations, from tables of their variables alone.

    The method looks at one cell at a time, so these show what stands at the totals of the whole table.
    """

    data: Microdata
    method: Method
    resolved: Resolved

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The variables of the table, at its levels."""
        levels = self.resolved.levels
        return tuple(d.at_level(levels[d.name]) for d in self.data.dimensions if d.name in levels)

    def counts(self, axes: tuple[int, ...]) -> Array:
        """Of all combinations of codes of some variables."""
        names = [self.dimensions[a].name for a in axes or (0,)]
        table = tabulate(self.data, by=names).at_levels(**{name: self.resolved.levels[name] for name in names})
        return population_counts(protect(table, self.method), range(len(axes)))

    def fewest(self) -> float:
        """People in the asked population; the fewest of those that a filter of several codes shows side by side."""
        return fewest_people(self.dimensions, self.resolved, self.counts)


def _check_totals(people: _People, policy: Policy) -> None:
    if policy.table.min_population > 0 and any(d.total is None for d in people.dimensions):
        raise InputError("a variable has no total, so min_population cannot be kept part by part; ask in one go")


def _releases(
    parts: Parts, method: Method, resolved: Resolved, policy: Policy, seen: _Seen, closed: Closed
) -> Iterator[tuple[int, Release]]:
    """The cells of the asked population part by part, and how many cells are done; ``seen`` is kept up to date."""
    population = {name: codes for name, (_, codes) in resolved.population.items()}
    done = 0
    for table in parts:
        protected = protect(table, method)
        check_hides(protected)
        notes = [*policy.notes, *protection_notes(protected), *population_notes(resolved)]
        notes += closed.notes(table.layout)
        done += len(table)
        seen.add(protected if "count" in protected.published else counted(table, method, policy))
        release = filtered(without_closed(protected, closed).release(notes=notes), population)
        if len(release):
            yield done, release
