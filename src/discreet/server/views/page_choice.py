"""What a visitor has chosen, as the fields of a form and as the parameters of a permanent link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from discreet.data.dimension import Dimension
from discreet.data.filters import filter_text, parse_filters
from discreet.policy import Query
from discreet.policy.served_measures import COUNT
from discreet.server.queries import SIGN, query_from, query_parameters
from discreet.server.views.page_measures import form_value, from_form_value
from discreet.server.views.sheet import PLACES

OLD_NAMES = {"wafers": "layers", "wafer": "layer"}  # of permanent links that version 0.1.0 gave
VIEWS = ("table", "heat", "bars", "stacked", "lines", "pyramid", "multiples", "grid", "map")
FIELD = "only"
QUERY = ("variables", "where", "measure", "statistic")  # what of an address is asked; the rest is how it is shown


@dataclass(frozen=True)
class PageChoice:
    """What a visitor has chosen so far: the query's parts and how the table is laid out."""

    variables: tuple[tuple[str, str], ...] = ()
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    view: str = "table"
    layer: int = 0
    page: int = 0
    measure: str = COUNT
    statistic: str = ""
    groups: str = ""
    """A reader's own groups of categories, which the page makes of the table; in the notation of its script."""

    @property
    def measured(self) -> str:
        """Measure and statistic as the field of the form has them."""
        return form_value(self.measure, self.statistic)

    @property
    def levels(self) -> dict[str, str]:
        return dict(self.variables)

    @property
    def only(self) -> dict[str, str]:
        """Each filter as its field of the form has it."""
        return {name: codes_text(codes) for name, codes in self.where}

    @property
    def codes(self) -> dict[str, tuple[str, ...]]:
        return dict(self.where)

    @property
    def place(self) -> dict[str, str]:
        return dict(self.places)

    def query(self) -> Query:
        """The query; raises if nothing is chosen."""
        population = dict(self.where) or None
        return Query.of(dict(self.variables), where=population, measure=self.measure, statistic=self.statistic)

    def parameters(self, **changes: Any) -> dict[str, str]:
        """The permalink's parameters."""
        out = query_parameters(self.variables, self.where) | self._asked()
        for place in PLACES:
            if names := [name for name, at in self.places if at == place]:
                out[place] = ",".join(names)
        usual = {"groups": "", "view": "table", "layer": "0", "page": "0"}
        shown_as = {name: str(getattr(self, name)) for name in usual} | {k: str(v) for k, v in changes.items()}
        return out | {k: v for k, v in shown_as.items() if v != usual.get(k)}

    def _asked(self) -> dict[str, str]:
        """Measure and statistic as parameters, where they are not the usual ones."""
        parts = {"measure": "" if self.measure == COUNT else self.measure, "statistic": self.statistic}
        return {name: value for name, value in parts.items() if value}

    def link(self, **changes: Any) -> str:
        """The permalink: the address is the query."""
        return "/table?" + urlencode(self.parameters(**changes), safe=":,;=")

    def title(self, dimensions: Sequence[Dimension], measured: str = "") -> str:
        """The table in words: what is measured, if it is not people, its variables, then its population.

        >>> sex, age = Dimension.flat("sex", "fm"), Dimension.flat("age", ["0", "1"], labels={"0": "young"})
        >>> PageChoice((("sex", "sex"),), (("age", ("0",)),)).title([sex, age])
        'sex · age: young'
        """
        known = {d.name: d for d in dimensions}
        shown = [known[name].title for name, _ in self.variables if name in known]
        only = [
            f"{known[name].title}: {', '.join(map(known[name].label, codes))}"
            for name, codes in self.where
            if name in known
        ]
        return " · ".join([*filter(None, [measured]), " × ".join(shown), *only])

    @property
    def api(self) -> str:
        """The query part of the API's address."""
        return urlencode({k: v for k, v in self.parameters().items() if k in QUERY}, safe=":,;=")

    @classmethod
    def from_link(cls, parameters_given: Mapping[str, str], dimensions: Sequence[Dimension]) -> PageChoice:
        """From the parameters of a permalink."""
        parameters_given = {OLD_NAMES.get(name, name): value for name, value in parameters_given.items()}
        asked = {name: parameters_given.get(name, "") for name in QUERY}
        query = query_from(
            dimensions, asked["variables"], asked["where"], asked["measure"] or COUNT, asked["statistic"]
        )
        places = [
            (name.strip(), place)
            for place in PLACES
            for name in parameters_given.get(place, "").split(",")
            if name.strip()
        ]
        view = parameters_given.get("view", "table")
        numbers = {name: parameters_given.get(name, "0") for name in ("layer", "page")}
        return cls(
            variables=query.variables,
            where=query.where,
            places=tuple(places),
            view=view if view in VIEWS else "table",
            measure=query.measure,
            statistic=query.statistic,
            groups=parameters_given.get("groups", ""),
            **{name: int(text) if text.isdecimal() and len(text) < 7 else 0 for name, text in numbers.items()},
        )

    @classmethod
    def from_form(cls, fields: Mapping[str, str], dimensions: Sequence[Dimension]) -> PageChoice:
        """From the fields of the form: v_NAME, level_NAME, place_NAME, only_NAME, measure, groups and view."""
        chosen = [d.name for d in dimensions if fields.get(f"v_{d.name}")]
        variables = tuple(sorted((name, fields.get(f"level_{name}") or name) for name in chosen))
        where = tuple(
            (d.name, form_codes(d, fields[f"only_{d.name}"])) for d in dimensions if fields.get(f"only_{d.name}")
        )
        places = tuple((n, at) for n in chosen if (at := fields.get(f"place_{n}", "")) in PLACES)
        measure, statistic = from_form_value(fields.get("measure", ""))
        groups, view = fields.get("groups", ""), fields.get("view", "")
        view = view if view in VIEWS else "table"
        return cls(variables, where, places, view=view, measure=measure, statistic=statistic, groups=groups)


def codes_text(codes: Sequence[str]) -> str:
    """The codes of a filter as a field of the form has them.

    >>> codes_text(["0-99", "100+"])
    '0-99+"100+"'
    """
    return filter_text([(FIELD, codes)], SIGN).removeprefix(f"{FIELD}=")


def form_codes(dimension: Dimension, text: str) -> tuple[str, ...]:
    """The codes of a field of the form, joined as in an address.

    >>> form_codes(Dimension.flat("age", ["0-99", "100+"]), '0-99+"100+"')
    ('0-99', '100+')
    """
    codes = parse_filters([f"{FIELD}={text}"], sign=SIGN, known={FIELD: dimension.position})[FIELD]
    return tuple(sorted(set(codes)))
