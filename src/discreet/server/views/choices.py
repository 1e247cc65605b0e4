"""What may still be added to a choice, and why the rest may not: decided from the codebook and the policy alone.

Nothing is counted, so nothing of the people can be told by it, and nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.data.dimension import Dimension
from discreet.errors import InputError, Refused
from discreet.policy import Policy, Query
from discreet.policy.answering import check_query
from discreet.policy.query import Resolved
from discreet.policy.served_measures import COUNT
from discreet.policy.statistic_answers import bands_count_too

Pairs = tuple[tuple[str, str], ...]
Population = tuple[tuple[str, tuple[str, ...]], ...]
WAITING = ("untouched", "total")  # rules that a table breaks until something is added to it
IN_TABLE = "this variable is in the table"
IN_FILTER = "the population is restricted by this variable"


@dataclass(frozen=True)
class VariableOptions:
    """Of one variable the reason why each level cannot be shown, and why no category of each level can be a filter.

    An empty reason: it can.
    """

    name: str
    levels: Mapping[str, str]
    filters: Mapping[str, str]


class Choices:
    """What is possible under a policy, for one choice after the other."""

    def __init__(self, dimensions: Sequence[Dimension], policy: Policy) -> None:
        self.known = {d.name: d for d in dimensions if d.name not in policy.query.disallowed}
        self.policy = policy
        self._detail: dict[tuple[str, str], Dimension] = {}

    def options(
        self, variables: Pairs, where: Population, measure: str = COUNT, statistic: str = ""
    ) -> list[VariableOptions]:
        """For every variable what may be added to a choice, or put in the place of what is chosen of it."""
        asked = (measure, statistic)
        return [self._of_variable(d, variables, where, asked) for d in self.known.values()]

    def _of_variable(
        self, dimension: Dimension, variables: Pairs, where: Population, asked: tuple[str, str]
    ) -> VariableOptions:
        name, levels = dimension.name, [level for level in dimension.levels if level != "total"]
        others = tuple(pair for pair in variables if pair[0] != name)
        elsewhere = tuple(pair for pair in where if pair[0] != name)
        shown = {level: self._reason((*others, (name, level)), where, asked) for level in levels}
        kept = {
            level: self._reason(variables, (*elsewhere, (name, dimension.level(level)[:1])), asked, {name: level})
            for level in levels
        }
        if name in dict(variables):
            kept = dict.fromkeys(kept, IN_TABLE)
        if name in dict(where):
            shown = dict.fromkeys(shown, IN_FILTER)
        return VariableOptions(name, shown, kept)

    def _reason(
        self, variables: Pairs, where: Population, asked: tuple[str, str], levels: Mapping[str, str] | None = None
    ) -> str:
        """Why a choice cannot become an allowed table by adding to it; empty if it can."""
        if not variables and len(where) >= self.policy.query.max_dimensions:  # no room for a variable
            return self._in_words("max_dimensions")
        variables = self._with_required(variables, where)
        try:
            check_query(self._resolved(variables, where, asked, levels or {}), self.policy)
        except Refused as refused:
            words = self._in_words(refused.rule)
            if refused.rule == "max_dimensions":
                words += bands_count_too(Query((), (), *asked), self.policy)
            return "" if refused.rule in WAITING else words or refused.reason
        except InputError as error:  # a measure that does not go with a variable
            return str(error)
        return ""

    def _in_words(self, rule: str) -> str:
        """The reason as it is said of something that is not chosen yet, where a rule counts what is chosen."""
        rules = self.policy.query
        if rule == "max_dimensions":
            return f"more than {rules.max_dimensions} variables are not allowed"
        if rule == "max_filters":
            most = rules.max_filters
            return f"only {most} restriction is allowed" if most == 1 else f"only {most} restrictions are allowed"
        return ""

    def _with_required(self, variables: Pairs, where: Population) -> Pairs:
        """The variables with those that the policy asks for beside them, in the least detail."""
        held = {name for name, _ in (*variables, *where)}
        added: dict[str, str] = {}
        while wanted := [
            needed
            for name in (*held, *added)
            for needed in self.policy.query.required.get(name, ())
            if needed in self.known and needed not in held and needed not in added
        ]:
            added |= {name: self._coarsest(name) for name in wanted}
        return (*variables, *added.items())

    def _coarsest(self, name: str) -> str:
        return next(level for level in self.known[name].levels if level != "total")

    def _resolved(
        self, variables: Pairs, where: Population, asked: tuple[str, str], levels: Mapping[str, str]
    ) -> Resolved:
        """A query whose names are known, with dimensions in less detail kept from one question to the next."""
        query = Query(tuple(sorted(variables)), tuple(sorted(where)), *asked)
        population = {name: (levels.get(name) or self._filter_level(name, codes), codes) for name, codes in where}
        names = {name: self.known[name] for name in (*query.names, *population)}
        detail = {name: self._at(name, level) for name, level in variables}
        return Resolved(query, detail, population, names, tuple(self.known.values()))

    def _filter_level(self, name: str, codes: Sequence[str]) -> str:
        held = self.known[name].levels
        return next((level for level, members in held.items() if set(codes) <= set(members)), name)

    def _at(self, name: str, level: str) -> Dimension:
        if (name, level) not in self._detail:
            self._detail[name, level] = self.known[name].at_level(level)
        return self._detail[name, level]
