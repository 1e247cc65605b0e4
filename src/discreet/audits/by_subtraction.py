"""difference(): small populations that follow from several published tables by subtraction."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audits.joined.argument import Arguments, in_one_line
from discreet.audits.joined.changes import MOST_GROUPS, GroupCombination, PeopleOf, agreeing, combined, people_of
from discreet.audits.joined.known_sets import small_sets
from discreet.audits.joined.mapping import NameMapping
from discreet.audits.joined.periods import periods_apart
from discreet.audits.joined.posterior_counts import Noise, common_posterior, count_posterior
from discreet.audits.joined.publication import Publication
from discreet.audits.joined.sources import publications
from discreet.audits.joined.together import JoinedTables, view_together
from discreet.base.arguments import above, checked, share, whole
from discreet.base.verdicts import Verdict
from discreet.errors import InputError, nearest
from discreet.risk.transition import Transition
from discreet.tables.totals import Totals

if TYPE_CHECKING:
    import pandas as pd

    from discreet.data.codebook import Codebook

MOST_ARGUMENTS = 200
FOLLOWS, DIFFERENCE, NET, COMBINATION, AVERAGE = "subtraction", "difference", "net change", "combination", "average"


@dataclass(frozen=True)
class DerivedPopulation:
    """People who follow from what is published: which cell, how many, from which files, by which sum.

    >>> from discreet import Publish, Table
    >>> months = [Publish()(Table.of([[40, 39], [30, 31 - k]], ["area", "sex"])).release() for k in (0, 1)]
    >>> report = difference({"january": months[0], "february": months[1]})
    >>> report.populations[0].size, report.populations[0].files
    (1.0, ('january', 'february'))
    """

    cell: str
    size: float
    kind: str
    files: tuple[str, ...]
    argument: str
    probability: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Differences:
    """Populations smaller than ``under`` that follow by subtraction, the smallest first.

    ``groups`` are the tables that fit each other; what stands in different groups is of other people or of another
    time. ``limits`` says what was looked for.

    >>> from discreet import Publish, Table
    >>> months = [Publish()(Table.of([[40, 39], [30, 31 - k]], ["area", "sex"])).release() for k in (0, 1)]
    >>> report = difference({"january": months[0], "february": months[1]})
    >>> report
    Differences(fail; 4 populations below 10)
    """

    populations: tuple[DerivedPopulation, ...]
    groups: tuple[tuple[str, ...], ...]
    under: float
    limits: str
    unjudged: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Fail if a small population follows; unknown if something could not be judged."""
        return Verdict.of(fails=self.populations, unknown=self.unjudged)

    @property
    def ok(self) -> bool:
        """Whether the verdict is a pass."""
        return self.verdict.ok

    @property
    def frame(self) -> pd.DataFrame:
        """A row for each population."""
        import pandas as pd

        names = ("cell", "size", "kind", "files", "argument", "probability")
        return pd.DataFrame({name: [getattr(one, name) for one in self.populations] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Plain Python.

        >>> from discreet import Publish, Table
        >>> months = [Publish()(Table.of([[40, 39], [30, 31 - k]], ["area", "sex"])).release() for k in (0, 1)]
        >>> report = difference({"january": months[0], "february": months[1]})
        >>> report.to_dict()["verdict"], report.to_dict()["under"]
        ('fail', 10)
        """
        return {
            "verdict": self.verdict.value,
            "under": self.under,
            "groups": [list(group) for group in self.groups],
            "limits": self.limits,
            "unjudged": list(self.unjudged),
            "populations": self.frame.astype(object).to_dict("records"),
        }

    def to_html(self) -> str:
        """A table for a report.

        >>> from discreet import Publish, Table
        >>> months = [Publish()(Table.of([[40, 39], [30, 31 - k]], ["area", "sex"])).release() for k in (0, 1)]
        >>> report = difference({"january": months[0], "february": months[1]})
        >>> "31 - 30 = 1 from january and february" in report.to_html()
        True
        """
        frame = self.frame.assign(files=[" and ".join(one.files) for one in self.populations])
        head = "".join(f'<th scope="col">{html.escape(str(c))}</th>' for c in frame.columns)
        rows = [
            "<tr>" + "".join(f"<td>{html.escape(str(v))}</td>" for v in row) + "</tr>"
            for row in frame.itertuples(index=False)
        ]
        words = "".join(f"<p>{html.escape(text)}</p>" for text in (self.limits, *self.unjudged))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{words}"

    def __repr__(self) -> str:
        return f"Differences({self.verdict.value}; {len(self.populations):,} populations below {self.under:g})"


@checked
def difference(
    released: Sequence[Any] | Mapping[str, Any],
    *,
    under: float = 10,
    terms: int = 3,
    measure: str | None = None,
    noise: Mapping[str, Any] | None = None,
    likely: float = 0.9,
    along: str | None = None,
    mapping: str | Path | Mapping[str, Any] | NameMapping | None = None,
    codebook: Codebook | None = None,
    total: Totals = None,
) -> Differences:
    """Populations smaller than ``under`` that follow from several published tables by subtraction.

    Tables of the same people (municipalities and a grid, cohorts that overlap, a part whose population the mapping
    names): every set of finest cells whose size is a combination of published totals. Tables that show different values
    for the same cell (two months, men beside everybody): the differences of every two, and combinations of up to
    ``terms`` of them that are negative nowhere. ``noise`` gives the perturbation of tables by name (a Transition, a
    perturbation table, a Rounding): differences and averages of changed counts are told where they are ``likely``.
    ``along="month"``: a table with several months is taken as one table for each.

    >>> from discreet import Publish, Table
    >>> months = [Publish()(Table.of([[40, 39], [30, 31 - k]], ["area", "sex"])).release() for k in (0, 1)]
    >>> [one.argument for one in difference({"january": months[0], "february": months[1]}).populations][:1]
    ['31 - 30 = 1 from january and february']
    """
    above("under", under)
    whole("terms", terms, 2, 4)
    share("likely", likely)
    names = NameMapping.of(mapping)
    several = publications(released, names, codebook=codebook, total=total)
    several = several if along is None else _split(several, along)
    kinds = _noise(noise or {}, several)
    several = [_bounded(p, kinds[p.name]) for p in several]
    joined = JoinedTables.of(several, names.sums, names.crossing, names.known_measures)
    joined = replace(joined, kinds=names.kinds)
    known = list(dict.fromkeys(name for p in several for name in p.release.values))
    if measure is not None and measure not in known:
        raise InputError(f"{measure!r} is not among what is published: {', '.join(known)}")
    derived: list[DerivedPopulation] = []
    groups: list[tuple[str, ...]] = []
    unjudged = [*joined.doubts, *([] if along else periods_apart(several))]
    for name in known if measure is None else [measure]:
        decimals = max(p.release.decimals[name] for p in several if name in p.release.values)
        parts = agreeing(joined, name, decimals)
        groups += [tuple(several[k].name for k in part) for part in parts]
        for part in parts:
            more, words = _within(joined, part, name, under * 10**decimals)
            derived += more
            unjudged += words
        derived += _between(joined, parts, name, under, terms, decimals)
        derived += _likely(joined, parts, name, under, likely, kinds)
    order = sorted(dict.fromkeys(derived), key=lambda one: (abs(one.size), -one.cell.count(","), one.cell))
    return Differences(
        tuple(order), tuple(dict.fromkeys(groups)), under, _limits(terms, groups), tuple(dict.fromkeys(unjudged))
    )


def _split(several: Sequence[Publication], along: str) -> list[Publication]:
    """A table for each finest code of a dimension, in place of one with all of them."""
    parts = []
    for p in several:
        held = {d.name: d for d in p.release.dimensions}
        if along not in held:
            parts.append(p)
            continue
        for code in held[along].leaves:
            own = p.release.codes[:, list(held).index(along)] == held[along].position[code]
            stated = {m: (low[own], high[own]) for m, (low, high) in p.stated.items()}
            ranges = {m: (low[own], high[own]) for m, (low, high) in p.release.ranges.items()}
            release = replace(p.release.only(along, [code]), ranges=ranges)
            parts.append(replace(p, name=f"{p.name} {code}", release=release, stated=stated))
    if len(parts) == len(several):
        known = dict.fromkeys(d.name for p in several for d in p.release.dimensions)
        raise InputError(f"along={along!r}: no table has codes of such a dimension; {nearest(along, known)}")
    return parts


def _limits(terms: int, groups: Sequence[tuple[str, ...]]) -> str:
    """What was looked for, in words."""
    several = f"combinations of up to {terms} tables with factors of 1 and -1 that are negative nowhere"
    rest = several if len(groups) <= MOST_GROUPS else f"no combinations of more than two, as there are {len(groups)}"
    return (
        "within tables that fit each other: every set of cells whose size is a combination of published totals, with "
        f"any factors; between others: differences of every two, and {rest}"
    )


def _noise(given: Mapping[str, Any], several: Sequence[Publication]) -> dict[str, Noise]:
    """The perturbation of every table; of those that are rounded, that."""
    kinds: dict[str, Noise] = {p.name: p.rounding for p in several}
    for name, one in given.items():
        if name not in kinds:
            raise InputError(f"noise names the table {name!r}, which is not given; {nearest(name, kinds)}")
        kinds[name] = one.transition() if hasattr(one, "transition") and callable(one.transition) else one
        if not isinstance(kinds[name], Transition) and not hasattr(one, "nearest"):
            raise InputError(f"noise of {name!r}: give a Transition, a perturbation table or a Rounding")
    return kinds


def _bounded(p: Publication, noise: Noise) -> Publication:
    """A table changed by a transition matrix with the true values that each shown one allows."""
    if not isinstance(noise, Transition):
        return p
    stated = {}
    for name, values in p.release.values.items():
        shown = np.asarray(values, float)
        least, most = np.full(len(shown), -np.inf), np.full(len(shown), np.inf)
        for value in np.unique(shown[~np.isnan(shown)]):
            posterior = count_posterior(float(value), noise)
            least[shown == value], most[shown == value] = posterior.values[0], posterior.values[-1]
        stated[name] = (least, most)
    return replace(p, stated=stated)


def _within(
    joined: JoinedTables, part: Sequence[int], measure: str, under: float
) -> tuple[list[DerivedPopulation], list[str]]:
    """Populations that follow from tables of the same people."""
    seen = view_together(joined, measure, only=part)
    small = small_sets(seen, under)
    arguments, grid = Arguments(seen), 10.0**seen.decimals
    key_of = {int(v): k + 1 for k, v in enumerate(seen.known.inner_variables())}
    hidden = seen.withheld
    derived = []
    for members, size in zip(small.sets[:MOST_ARGUMENTS], small.sizes, strict=False):
        several = arguments.of(members, size, size)
        own = len(members) == 1 and members[0] < len(hidden) and bool(hidden[members[0]])
        if several and not own and not any(t.factor < 0 and t.value for one in several for t in one.terms):
            continue  # a sum of what is shown takes nobody away
        cell = " and ".join(joined.cell_label(key_of[v]) for v in members)
        files = tuple(sorted({file for one in several for file in one.files}))
        derived.append(DerivedPopulation(cell, size / grid, FOLLOWS, files, in_one_line(several)))
    words = list(small.unjudged)
    if len(small.sets) > MOST_ARGUMENTS:
        words.append(f"of {len(small.sets):,} small populations the first {MOST_ARGUMENTS} are listed")
    return derived, words


def _between(
    joined: JoinedTables, parts: Sequence[Sequence[int]], measure: str, under: float, terms: int, decimals: int
) -> list[DerivedPopulation]:
    """Differences of tables that are not of the same people."""
    if len(parts) < 2:
        return []
    groups = [people_of(joined, part, measure) for part in parts]
    grid = 10.0**decimals
    derived = []
    for change in combined(groups, terms):
        small = np.flatnonzero((change.value != 0) & (np.abs(change.value) < under * grid))
        for k in small:
            derived.append(_told(joined, groups, change, int(k), grid))
    return derived


def _told(
    joined: JoinedTables, groups: Sequence[PeopleOf], change: GroupCombination, k: int, grid: float
) -> DerivedPopulation:
    key = int(change.cells[k])
    texts, files = [], []
    for n, (g, factor) in enumerate(sorted(change.factors, key=lambda f: -f[1])):
        value = groups[g].value[key] / grid
        texts.append(f"{value:g}" if n == 0 else f" {'-' if factor < 0 else '+'} {value:g}")
        source = int(groups[g].source[key])
        files += [joined.publications[t].name for t in ([source] if source >= 0 else groups[g].tables)]
    kind = COMBINATION if len(change.factors) > 2 else DIFFERENCE if change.inside else NET
    size = float(change.value[k] / grid)
    text = f"{''.join(texts)} = {size:g} from {' and '.join(dict.fromkeys(files))}"
    return DerivedPopulation(joined.cell_label(key), size, kind, tuple(dict.fromkeys(files)), text)


def _likely(
    joined: JoinedTables,
    parts: Sequence[Sequence[int]],
    measure: str,
    under: float,
    likely: float,
    kinds: Mapping[str, Noise],
) -> list[DerivedPopulation]:
    """Differences and averages of changed counts that are probably small populations."""
    noisy = {k for k, p in enumerate(joined.publications) if kinds[p.name] is not None and measure in p.release.values}
    if not noisy or measure != "count":
        return []
    shown = {k: _shown(joined, k, measure) for part in parts for k in part}
    derived = []
    for one, other in combinations(sorted(shown), 2):
        if {one, other} & noisy:
            derived += _likely_pair(joined, (one, other), shown, under, likely, kinds)
    for part in parts:
        several = [k for k in part if k in noisy]
        if len(several) > 1:
            derived += _averaged(joined, several, shown, under, likely, kinds)
    return derived


def _shown(joined: JoinedTables, k: int, measure: str) -> dict[int, float]:
    """The values that a table shows, by common cell."""
    release, table = joined.publications[k].release, joined.tables[k]
    keys = table.own(joined.common.keys[k])[np.ravel_multi_index(tuple(release.codes.T), table.shape)]
    values = np.asarray(release.values[measure], float)
    return {int(key): float(v) for key, v in zip(keys, values, strict=True) if v == v and key}


def _likely_pair(
    joined: JoinedTables,
    pair: tuple[int, int],
    shown: Mapping[int, Mapping[int, float]],
    under: float,
    likely: float,
    kinds: Mapping[str, Noise],
) -> list[DerivedPopulation]:
    names = [joined.publications[k].name for k in pair]
    known: dict[tuple[float, float], tuple[int, float, float]] = {}
    derived = []
    for key in sorted(set(shown[pair[0]]) & set(shown[pair[1]])):
        values = shown[pair[0]][key], shown[pair[1]][key]
        if values not in known:
            first, second = (count_posterior(v, kinds[n]) for v, n in zip(values, names, strict=True))
            change = first.minus(second)
            known[values] = (*change.likeliest, change.between(1, int(np.ceil(under)) - 1))
        value, _, probability = known[values]
        if probability >= likely:
            text = f"{values[0]:g} - {values[1]:g}, as shown, from {' and '.join(names)}"
            derived.append(
                DerivedPopulation(joined.cell_label(key), float(value), DIFFERENCE, tuple(names), text, probability)
            )
    return derived


def _averaged(
    joined: JoinedTables,
    several: Sequence[int],
    shown: Mapping[int, Mapping[int, float]],
    under: float,
    likely: float,
    kinds: Mapping[str, Noise],
) -> list[DerivedPopulation]:
    """Cells that several releases show with noise of their own: equal values may be one noise, and count once."""
    derived = []
    for key in sorted(set().union(*(shown[k] for k in several))):
        holding = [k for k in several if key in shown[k]]
        values = [shown[k][key] for k in holding]
        if len(set(values)) < 2:
            continue
        names = [joined.publications[k].name for k in holding]
        value, probability = common_posterior(values, [kinds[n] for n in names]).likeliest
        if probability >= likely and 0 < value < under:
            text = f"{', '.join(f'{v:g}' for v in values)}, as shown, from {' and '.join(names)}"
            derived.append(
                DerivedPopulation(joined.cell_label(key), float(value), AVERAGE, tuple(names), text, probability)
            )
    return derived
