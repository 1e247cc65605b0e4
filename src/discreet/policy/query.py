"""Query: what is asked. Two ways of asking for the same table are one query with one hash."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discreet.base.arguments import checked, one_of
from discreet.data.dimension import Dimension
from discreet.data.filters import filter_text, parse_filters
from discreet.errors import InputError, nearest

Names = str | Sequence[str] | Mapping[str, str]
Where = str | Sequence[str] | Mapping[str, str | Sequence[str]]


@checked
@dataclass(frozen=True)
class Query:
    """Variables with the level of detail of each, the population, the measure and what is asked of it; in canonical
    order. ``statistic`` is "" for the count, or the sum of another measure.

    >>> Query.of("sex, county:region", where="age=young") == Query.of(["county:region", "sex"], where={"age": "young"})
    True
    """

    variables: tuple[tuple[str, str], ...]
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    measure: str = "count"
    statistic: str = ""

    @classmethod
    def of(cls, variables: Names, *, where: Where | None = None, measure: str = "count", statistic: str = "") -> Query:
        """From ``"sex, county:region"`` (a list, {variable: level}) and ``"age=young"`` (a list, {variable: codes}).

        >>> Query.of("sex, county:region", where="age=young").variables
        (('county', 'region'), ('sex', 'sex'))
        """
        pairs = _pairs(variables)
        if not pairs:
            raise InputError("a query names at least one variable: 'sex' or 'county:region'")
        population = _population(where)
        for name in [n for n, _ in population if n in dict(pairs)]:
            raise InputError(f"{name!r} is a variable of the table and also its population; leave one of them out")
        plain = ("", "count" if measure == "count" else "sum")
        return cls(tuple(sorted(pairs)), tuple(sorted(population)), measure, "" if statistic in plain else statistic)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, without levels."""
        return tuple(name for name, _ in self.variables)

    @cached_property
    def canonical(self) -> str:
        """The query as JSON, the same text for the same query."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical form."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, ready for JSON.

        >>> Query.of("sex, county:region", where="age=young").to_dict()
        {'variables': {'county': 'region', 'sex': 'sex'}, 'where': {'age': ['young']}, 'measure': 'count'}
        """
        where = {name: list(codes) for name, codes in self.where}
        plain = {"variables": dict(self.variables), "where": where, "measure": self.measure}
        return plain | ({"statistic": self.statistic} if self.statistic else {})

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Query:
        """The query that ``to_dict`` wrote.

        >>> Query.from_dict({"variables": {"sex": "sex"}}).names
        ('sex',)
        """
        for key in given:
            one_of("a key of a query", key, ("variables", "where", "measure", "statistic"))
        if "variables" not in given:
            raise InputError("a query names its variables: {'variables': ...}")
        measure, statistic = given.get("measure", "count"), given.get("statistic", "")
        return cls.of(given["variables"], where=given.get("where"), measure=measure, statistic=statistic)

    def resolved(self, dimensions: Iterable[Dimension]) -> Resolved:
        """The query against the codebook: unknown variables, levels and codes are errors that name the nearest.

        >>> from discreet import Dimension
        >>> Query.of("sex").resolved([Dimension.flat("sex", ["f", "m"])]).cells
        3
        """
        known = {d.name: d for d in dimensions}
        for name in (*self.names, *(n for n, _ in self.where)):
            if name not in known:
                raise InputError(f"unknown variable {name!r}; {nearest(name, known)}")
        detail = {name: known[name].at_level(level) for name, level in self.variables}
        population = {}
        for name, codes in self.where:
            population[name] = (_filter_level(known[name], codes), codes)
        return Resolved(self, detail, population, {d: known[d] for d in (*self.names, *population)}, [*known.values()])

    def __str__(self) -> str:
        variables = ", ".join(name if name == level else f"{name}:{level}" for name, level in self.variables)
        where = filter_text(self.where, "|", "; ")
        asked = " ".join(part for part in (self.statistic, self.measure) if part and part != "count")
        return (f"{asked}: " if asked else "") + variables + (f" where {where}" if where else "")


@dataclass(frozen=True)
class Resolved:
    """A query whose names are known: the asked dimensions in their detail, and the level each filter stands at."""

    query: Query
    detail: Mapping[str, Dimension]
    population: Mapping[str, tuple[str, tuple[str, ...]]]
    source: Mapping[str, Dimension]
    known: Sequence[Dimension]
    """All variables of the codebook."""

    @property
    def several(self) -> dict[str, tuple[str, ...]]:
        """The filters of more than one code: each of their codes is shown by itself, so they are dimensions too."""
        return {name: codes for name, (_, codes) in self.population.items() if len(codes) > 1}

    @property
    def cells(self) -> int:
        """How many cells are asked, totals included; those of every code, where a filter has several."""
        asked = math.prod(len(codes) for codes in self.several.values())
        for dimension in self.detail.values():
            asked *= len(dimension.leaves) + (dimension.total is not None)
        return asked

    @property
    def levels(self) -> dict[str, str]:
        """The level of every dimension of the unfiltered table."""
        return dict(self.query.variables) | {name: level for name, (level, _) in self.population.items()}


def _pairs(variables: Names) -> list[tuple[str, str]]:
    if isinstance(variables, Mapping):
        pairs = [(str(name), str(level) or str(name)) for name, level in variables.items()]
    else:
        parts = variables.split(",") if isinstance(variables, str) else list(variables)
        split = [part.partition(":") for part in (p.strip() for p in parts) if part]
        pairs = [(name.strip(), level.strip() or name.strip()) for name, _, level in split]
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise InputError(f"variable {name!r} is named twice")
        seen.add(name)
    return pairs


def _population(where: Where | None) -> list[tuple[str, tuple[str, ...]]]:
    if not where:
        return []
    if isinstance(where, Mapping):
        population = {name: [codes] if isinstance(codes, str) else list(codes) for name, codes in where.items()}
    else:
        population = parse_filters(where, sign="|")
    return [(name, tuple(sorted(set(codes)))) for name, codes in population.items()]


def _filter_level(dimension: Dimension, codes: Sequence[str]) -> str:
    """The coarsest level that holds the codes, so that the unfiltered table is no larger than it need be."""
    for code in codes:
        dimension.index(code)
    for level, held in dimension.levels.items():
        if set(codes) <= set(held):
            return level
    for code in [group.code for group in dimension.groups if group.signed and group.code in codes]:
        parts = "|".join(leaf for leaf, sign in dimension.leaves_of(code).items() if sign > 0)
        raise InputError(
            f"{code!r} of {dimension.name!r} is a group from which others are taken away, and such a group cannot be a "
            f"filter: name the codes that it holds, {dimension.name}={parts}"
        )
    raise InputError(
        f"{'|'.join(codes)!r} of {dimension.name!r} is not a population: no level of the codebook holds its codes"
    )
