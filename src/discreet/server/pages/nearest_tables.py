"""The nearest tables that are allowed, for whoever was refused one: less detail, fewer variables, more people.

Each is decided as the live line decides, guard and record included, and counts as a request: nobody is told by it what
asking for these tables one by one would not tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from discreet.data.dimension import Dimension
from discreet.errors import DiscreetError, Refused
from discreet.policy import Query
from discreet.policy.served_measures import COUNT
from discreet.server.auth import Caller
from discreet.server.languages import number_of, spoken, translated
from discreet.server.record.rate_limits import Over
from discreet.server.service import Service
from discreet.server.views.choices import Pairs, Population
from discreet.server.views.variable_cards import level_text, parents_of

MOST_NEAREST = 4  # tables that are offered
MOST_ASKED = 6  # tables that are looked at
LESS_DETAIL = "%(variable)s in less detail: %(level)s"
LARGER_GROUP = "%(group)s instead of %(categories)s"
EVERYONE = "Everyone instead of %(categories)s"
WITHOUT = "Without %(variable)s"
TOGETHER = "Together with %(variable)s"
COUNTED = "%(number)s instead"
SENTENCES = (LESS_DETAIL, LARGER_GROUP, EVERYONE, WITHOUT, TOGETHER, COUNTED)
OF_PEOPLE = ("min_population", "max_filters", "nested_only", "guard_difference", "guard_overlap")  # rules about filters


@dataclass(frozen=True)
class NearTable:
    """A table near one that is refused: what was changed, in words, and what it asks."""

    words: tuple[str, ...]
    variables: Pairs
    where: Population
    measure: str = COUNT
    statistic: str = ""

    @property
    def query(self) -> Query:
        population = dict(self.where) or None
        return Query.of(dict(self.variables), where=population, measure=self.measure, statistic=self.statistic)

    def changed(self, words: str, variables: Pairs, where: Population) -> NearTable:
        """This table with one change more, in words."""
        return replace(self, words=(*self.words, words), variables=variables, where=where)


async def nearest_tables(
    service: Service, caller: Caller, start: NearTable, refused: Refused, language: str
) -> list[NearTable]:
    """Tables that would be answered now, the least changed first; ``start`` is the one that is refused."""
    shown: list[NearTable] = []
    for number, near in enumerate(_within_rules(service, start, refused.rule, language)):
        if number == MOST_ASKED or len(shown) == MOST_NEAREST:
            break
        try:
            await service.count_request(caller)
        except Over:
            break
        if await service.preview(caller, service.resolved(near.query)) is None:
            shown.append(near)
    return shown


def _within_rules(service: Service, start: NearTable, rule: str, language: str) -> Iterator[NearTable]:
    """Single changes that the rules for queries allow; if there is none, changes of two."""
    known = {d.name: d for d in service.dimensions}
    once = list(_changes(service, known, start, rule, language))
    allowed = [near for near in once if _may_be_asked(service, near)]
    seen = {near.query.digest for near in once if near.variables}
    yield from allowed
    if allowed:
        return
    for near in once:
        for further in _changes(service, known, near, rule, language):
            if further.query.digest not in seen and _may_be_asked(service, further):
                seen.add(further.query.digest)
                yield further


def _may_be_asked(service: Service, near: NearTable) -> bool:
    try:
        service.check(service.resolved(near.query))
    except DiscreetError:
        return False
    return True


def _changes(
    service: Service, known: dict[str, Dimension], start: NearTable, rule: str, language: str
) -> Iterator[NearTable]:
    """One change, of the population first where a rule speaks of people."""
    people = list(_of_population(known, start, language))
    if rule == "required":
        yield from _with_required(service, known, start, language)
    yield from people if rule in OF_PEOPLE else ()
    yield from _in_less_detail(known, start, language)
    if len(start.variables) > 1:
        for k, (name, _) in enumerate(start.variables):
            fewer = start.variables[:k] + start.variables[k + 1 :]
            yield start.changed(_say(WITHOUT, language, variable=known[name].title), fewer, start.where)
    yield from () if rule in OF_PEOPLE else people
    if start.measure != COUNT:
        words = (*start.words, _say(COUNTED, language, number=number_of(spoken([*known.values()]), language)))
        yield replace(start, words=words, measure=COUNT, statistic="")


def _of_population(known: dict[str, Dimension], start: NearTable, language: str) -> Iterator[NearTable]:
    """The group above the categories of a filter, then everyone."""
    for k, (name, codes) in enumerate(start.where):
        dimension, others = known[name], (start.where[:k], start.where[k + 1 :])
        categories = "; ".join(dimension.label(code) for code in codes)
        above = parents_of(dimension)
        groups = {above.get(code) for code in codes}
        group = groups.pop() if len(groups) == 1 else None
        while group is not None:
            words = _say(LARGER_GROUP, language, group=dimension.label(group), categories=categories)
            yield start.changed(words, start.variables, (*others[0], (name, (group,)), *others[1]))
            group = above.get(group)
        words = _say(EVERYONE, language, categories=categories)
        yield start.changed(words, start.variables, (*others[0], *others[1]))


def _in_less_detail(known: dict[str, Dimension], start: NearTable, language: str) -> Iterator[NearTable]:
    for k, (name, level) in enumerate(start.variables):
        levels = [one for one in known[name].levels if one != "total"]
        for coarser in reversed(levels[: levels.index(level)]):
            words = _say(
                LESS_DETAIL, language, variable=known[name].title, level=level_text(known[name], coarser, language)
            )
            changed = (*start.variables[:k], (name, coarser), *start.variables[k + 1 :])
            yield start.changed(words, changed, start.where)


def _with_required(
    service: Service, known: dict[str, Dimension], start: NearTable, language: str
) -> Iterator[NearTable]:
    """The table with a variable that the policy asks for beside one that is asked."""
    held = {name for name, _ in (*start.variables, *start.where)}
    for name, needed in service.policy.query.required.items():
        for missing in needed if name in held else ():
            if missing in known and missing not in held:
                words = _say(TOGETHER, language, variable=known[missing].title)
                yield start.changed(words, (*start.variables, (missing, missing)), start.where)


def _say(sentence: str, language: str, **values: str) -> str:
    return translated(sentence, language) % values
