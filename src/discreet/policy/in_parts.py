"""answer_in_parts(): the way out for tables too large to be held, where the policy can be kept part by part.

The rules for tables are sums over the shown cells, so they are decided exactly, before the file takes its name. What
looks at the table as a whole (T1, T2, T3, the search, a stated utility) is refused: close would not be the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from discreet.base.arguments import checked
from discreet.base.files import whole_file
from discreet.data.microdata import Microdata
from discreet.errors import InputError, Refused
from discreet.formats import chosen_format
from discreet.formats.growing import check_growing, growing
from discreet.methods.contract import Method, protect, transition_of
from discreet.methods.effect import check_hides
from discreet.parts import CELLS, Parts, check_cellwise
from discreet.policy.answering import check_query, filtered, population_notes, protection_notes
from discreet.policy.judging import Evidence, counted, table_rules
from discreet.policy.policy import Policy
from discreet.policy.posterior import ShownCounts, reach_of, small_share
from discreet.policy.query import Query, Resolved
from discreet.release import Protected, Release
from discreet.risk.transition import Transition


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
    """Write what ``answer`` would release, CSV or Parquet, byte for byte, or raise ``Refused`` as it would."""
    query = Query.of(query) if isinstance(query, str) else query
    resolved = query.resolved(data.dimensions)
    check_query(resolved, policy)
    _check_policy(policy)
    methods = [policy.make(number) for number in range(len(policy.methods))]
    for method in methods:
        check_cellwise(method)
    name = chosen_format(path, format)
    check_growing(name)
    names = [d.name for d in data.dimensions if d.name in resolved.levels]
    value = None if query.measure == "count" else query.measure
    parts = Parts.of(data, names, levels=resolved.levels, value=value, cells=cells)
    refusals: list[Refused] = []
    for method in methods:
        try:
            with whole_file(path) as file:
                out, seen = growing(name, file), _Seen(method, policy.table.small)
                for done, release in _releases(parts, method, resolved, policy, seen):
                    out.add(release)
                    if progress is not None:
                        progress(done, len(parts))
                table_rules(seen.evidence, policy, resolved)
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
    population: dict[tuple[int, ...], int] = field(default_factory=dict)  # by the codes of filters that have several
    counts: ShownCounts | None = None

    @property
    def transition(self) -> Transition | None:
        """Of a method that looks at one cell at a time, so the same for every part."""
        return transition_of(self.method)

    def add(self, protected: Protected, resolved: Resolved) -> None:
        layout = protected.table.layout
        inner = np.flatnonzero(layout.inner_of_cell >= 0)
        values = np.asarray(protected.published["count"], float)[inner]
        shown = np.rint(np.maximum(np.nan_to_num(values), 0)).astype(np.int64)
        asked, apart = np.ones(len(inner), bool), [layout.axis(name) for name in resolved.several]
        for name, (_, codes) in resolved.population.items():
            k = layout.axis(name)
            asked &= np.isin(layout.codes[inner, k], [layout.dimensions[k].index(c) for c in codes])
        self.cells += len(inner)
        self.shown += int(shown.sum())
        if not self.population:
            every = (
                [layout.dimensions[layout.axis(n)].index(c) for c in codes] for n, codes in resolved.several.items()
            )
            self.population = dict.fromkeys(itertools.product(*every), 0)
        combinations, at = np.unique(layout.codes[inner][asked][:, apart], axis=0, return_inverse=True)
        for codes_, people in zip(
            combinations.tolist(), np.bincount(at.ravel(), shown[asked], len(combinations)), strict=True
        ):
            self.population[tuple(codes_)] += int(people)
        part = ShownCounts.of(shown, np.isnan(values), self.limit, reach_of(self.transition))
        self.counts = part if self.counts is None else self.counts + part

    @property
    def evidence(self) -> Evidence:
        """What the rules for tables look at; nothing else in it is used."""
        mean, fewest = self.shown / self.cells, min(self.population.values(), default=0)
        small = 0.0 if self.counts is None else small_share(self.counts, self.transition, self.limit)
        return Evidence(population=fewest, mean=mean, small_share=small, before=1, after=1, utility=None)


def _releases(
    parts: Parts, method: Method, resolved: Resolved, policy: Policy, seen: _Seen
) -> Iterator[tuple[int, Release]]:
    """The cells of the asked population part by part, and how many cells are done; ``seen`` is kept up to date."""
    population = {name: codes for name, (_, codes) in resolved.population.items()}
    done = 0
    for table in parts:
        protected = protect(table, method)
        check_hides(protected)
        notes = [*policy.notes, *protection_notes(protected), *population_notes(resolved)]
        done += len(table)
        seen.add(protected if "count" in protected.published else counted(table, method, policy), resolved)
        release = filtered(protected.release(notes=notes), population)
        if len(release):
            yield done, release
