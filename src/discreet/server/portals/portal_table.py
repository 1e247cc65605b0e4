"""A data set as portals list it: one table with all variables that may be asked, each of which can be left out.

A policy answers tables of a few variables at a time. A variable that is left out is summed over, which PxWeb calls
elimination and SDMX writes as the code of the total.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from fastapi import FastAPI, Request

from discreet.base.naming import unused
from discreet.data.counted_units import ENGLISH, counted_words
from discreet.data.dimension import Dimension
from discreet.errors import InputError, Refused, nearest
from discreet.policy import Query
from discreet.policy.measure_words import filled_sentence, measure_label, sentence_of, unit_of
from discreet.policy.served_measures import SUM
from discreet.server.api import HttpFault, admitted
from discreet.server.auth import Caller
from discreet.server.service import Service

CONTENTS = "ContentsCode"  # the variable that PxWeb keeps measures in
COUNT = "count"
MOST_SHOWN = 60  # characters of a name or code that a message repeats


@dataclass(frozen=True)
class Codelist:
    """A level of a variable under a name of its own: codes to select from, each with the finest codes it stands for."""

    identity: str
    variable: str
    label: str
    codes: tuple[str, ...]
    groups: bool
    """Whether the codes are groups of finer ones."""


@dataclass(frozen=True)
class PortalStatistic:
    """A measure with a statistic of it, in words, and its unit."""

    measure: str
    statistic: str
    label: str
    unit: str


@dataclass(frozen=True)
class PortalTable:
    """A data set under the name that portals know it by, as one caller may ask it."""

    identity: str
    service: Service

    @property
    def title(self) -> str:
        """What the data set is called."""
        return self.service.counting.title or self.service.policy.title or self.identity

    @cached_property
    def variables(self) -> dict[str, Dimension]:
        """The variables that are published, in the codebook's order."""
        hidden = self.service.policy.query.disallowed
        return {d.name: d for d in self.service.dimensions if d.name not in hidden}

    @cached_property
    def contents(self) -> str:
        """The name of the variable that holds the measures."""
        return unused(CONTENTS, self.variables)

    @cached_property
    def statistics(self) -> dict[str, PortalStatistic]:
        """What can be asked of the cells, by the code that portals know it by: the count, sums, means, ..."""
        policy, dimensions = self.service.policy, self.service.dimensions
        counted = counted_words(dimensions).get(ENGLISH, "")
        stated = {COUNT: PortalStatistic(COUNT, "", COUNT, counted)}
        for name, served in policy.measures.items():
            for statistic in served.statistics:
                code = unused(name if statistic == SUM else f"{name}-{statistic}", stated)
                said = filled_sentence(*sentence_of(policy, dimensions, name, statistic, COUNT))
                words = measure_label(policy, name) if statistic == SUM else said
                stated[code] = PortalStatistic(name, statistic, words, unit_of(policy, dimensions, name, statistic))
        return stated

    @property
    def measures(self) -> dict[str, str]:
        """The labels of what can be asked of the cells."""
        return {code: one.label for code, one in self.statistics.items()}

    def variable(self, name: str) -> Dimension:
        """A variable by its name; an error that tells the nearest one."""
        if name not in self.variables:
            raise InputError(f"the table has no variable {name!r}; {nearest(name, self.variables)}")
        return self.variables[name]

    @cached_property
    def codelists(self) -> dict[str, Codelist]:
        """The levels of all variables that have more than one, by name."""
        lists: dict[str, Codelist] = {}
        for d in self.variables.values():
            levels = {name: codes for name, codes in d.levels.items() if codes != (d.total,)}
            for level, codes in levels.items() if len(levels) > 1 else ():
                groups = codes != d.leaves
                wanted = f"{'agg' if groups else 'vs'}_{self.identity}.{_plain(d.name)}.{_plain(level)}"
                identity = unused(wanted, lists)
                lists[identity] = Codelist(identity, d.name, d.description.level(level) or level, codes, groups)
        return lists

    @cached_property
    def default(self) -> dict[str, tuple[str, ...]]:
        """The selection of a caller who selects nothing: the first variable that the policy gives by itself."""
        needed = {name: d.codes for name, d in self.variables.items() if d.total is None}
        for name, d in self.variables.items():
            chosen = {name: d.codes} | needed
            try:
                self.service.check(self.service.resolved(Query.of(list(chosen))))
            except Refused:
                continue
            return {one: chosen[one] for one in self.variables if one in chosen}
        raise InputError("no variable is given by itself; select some")


def tables_of(request: Request) -> Mapping[str, FastAPI]:
    """The sites behind the names of tables: all cubes of a hub, or the one of a server of one."""
    sites: Mapping[str, FastAPI] = request.app.state.tables
    return sites


def site_address(request: Request) -> str:
    """The address of the server as the caller wrote it, without a slash at its end; behind TLS it is one of https."""
    address = request.base_url
    if next(iter(tables_of(request).values())).state.service.settings.https:
        address = address.replace(scheme="https")
    return str(address).rstrip("/")


async def listed_tables(request: Request) -> list[PortalTable]:
    """All tables that a caller may ask; the request is counted once."""
    sites = tables_of(request)
    caller = await admitted(request, next(iter(sites.values())))
    return [PortalTable(name, site.state.service.of(caller)) for name, site in sites.items()]


async def asked_table(request: Request, identity: str) -> tuple[PortalTable, Caller]:
    """The table of a name, and who asks."""
    sites = tables_of(request)
    if identity not in sites:
        await admitted(request, next(iter(sites.values())))
        raise missing_name("table", identity, sites)
    caller = await admitted(request, sites[identity])
    return PortalTable(identity, sites[identity].state.service.of(caller)), caller


def missing_name(kind: str, name: str, known: Iterable[str]) -> HttpFault:
    """That nothing of a kind has a name."""
    names = list(known)
    hint = nearest(name[:MOST_SHOWN], names) if names else "there is none"
    return HttpFault(404, "not found", kind, f"there is no {kind} {name[:MOST_SHOWN]!r}; {hint}")


def _plain(text: str) -> str:
    """A name as it can stand in an address."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-") or "x"
