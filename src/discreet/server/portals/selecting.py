"""Selections of codes, as PxWeb writes them, and the query that a selection asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate

from discreet.data.dimension import Dimension
from discreet.errors import InputError, Refused, nearest
from discreet.policy import Query
from discreet.server.portals.portal_table import COUNT, MOST_SHOWN, PortalTable

MOST_EXPRESSIONS = 50  # of one variable: each is compared with all of its codes
MOST_EXPRESSION = 1000  # characters
EXPRESSION = re.compile(r"(TOP|BOTTOM|RANGE|FROM|TO)\((.*)\)", re.IGNORECASE)


@dataclass(frozen=True)
class Selection:
    """The codes that are wanted of every variable named, in the order of the table, and what is asked of the cells:
    one or several measures, each a table of its own."""

    codes: Mapping[str, tuple[str, ...]]
    measures: tuple[str, ...] = (COUNT,)

    @property
    def canonical(self) -> str:
        """The selection as text, the same for the same selection."""
        return repr((list(self.codes.items()), self.measures))


def selection_of(
    table: PortalTable,
    wanted: Mapping[str, Sequence[str]],
    codelists: Mapping[str, str] | None = None,
    single: Collection[str] = (),
) -> Selection:
    """Codes and expressions per variable as a selection; variables with a codelist select from its codes.

    Of the variables in ``single`` the finest codes within the selected ones are shown instead of these.
    """
    lists = codelists or {}
    for name in (*wanted, *lists, *single):
        if name != table.contents:
            table.variable(name)
    measures: tuple[str, ...] = (COUNT,)
    if table.contents in wanted:
        measures = matching_codes(table.contents, tuple(table.measures), wanted[table.contents])
    codes = {}
    for name, dimension in table.variables.items():
        if name in wanted or name in lists:
            held = listed_codes(table, dimension, lists.get(name))
            codes[name] = matching_codes(name, held, wanted.get(name) or ["*"])
            if name in single:
                leaves = {leaf for code in codes[name] for leaf in dimension.leaves_of(code)}
                codes[name] = tuple(leaf for leaf in dimension.leaves if leaf in leaves)
        elif dimension.total is None:
            raise InputError(f"the variable {name!r} has no total, so codes of it must be selected")
    if not codes:
        return Selection(table.default, measures)
    return Selection(codes, measures)


def listed_codes(table: PortalTable, dimension: Dimension, identity: str | None) -> tuple[str, ...]:
    """The codes of a variable, or those of one of its codelists."""
    if identity is None or identity == "":
        return dimension.codes
    known = [one for one, codelist in table.codelists.items() if codelist.variable == dimension.name]
    if identity not in known:
        hint = nearest(identity, known) if known else "it has none"
        raise InputError(f"the variable {dimension.name!r} has no codelist {identity[:MOST_SHOWN]!r}; {hint}")
    return table.codelists[identity].codes


def matching_codes(name: str, codes: Sequence[str], expressions: Sequence[str]) -> tuple[str, ...]:
    """The codes that one of the expressions selects, in the order of the variable.

    >>> years = ["2021", "2022", "2023", "2024"]
    >>> matching_codes("year", years, ["TOP(1)", "FROM(2023)"]), matching_codes("year", years, ["*1", "20?3"])
    (('2021', '2023', '2024'), ('2021', '2023'))
    >>> matching_codes("year", years, ["1999"])
    Traceback (most recent call last):
    ...
    discreet.errors.InputError: '1999' selects no code of 'year'; known: '2021', '2022', '2023', '2024'
    """
    known = set(codes)
    chosen = {one for one in expressions if one in known}
    expanded = [one for one in dict.fromkeys(expressions) if one not in known]
    for number, expression in enumerate(expanded):
        selected = set(_expanded(codes, expression)) if len(expression) <= MOST_EXPRESSION else set()
        if selected and number >= MOST_EXPRESSIONS:
            raise InputError(f"of {name!r} at most {MOST_EXPRESSIONS} patterns and ranges are selected by; list codes")
        if not selected:
            shown = expression[:MOST_SHOWN]
            raise InputError(f"{shown!r} selects no code of {name!r}; {nearest(shown, codes)}")
        chosen |= selected
    return tuple(code for code in codes if code in chosen)


def _expanded(codes: Sequence[str], expression: str) -> Sequence[str]:
    """The codes that a pattern or a call such as ``TOP(3)`` selects."""
    if call := EXPRESSION.fullmatch(expression.strip()):
        return CALLS[call[1].upper()](codes, [_bare(part) for part in split_list(call[2])])
    if "*" in expression or "?" in expression:
        fits = re.compile(translate(re.sub(r"\*+", "*", expression).replace("[", "[[]"))).match
        return [code for code in codes if fits(code)]
    return []


def split_list(text: str) -> list[str]:
    """A list of codes and expressions separated by commas; those within brackets of either kind do not separate.

    >>> split_list("a,TOP(2,1),[b,c]")
    ['a', 'TOP(2,1)', '[b,c]']
    """
    parts: list[str] = []
    depth = start = 0
    for place, sign in enumerate(text):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth <= 0:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def bare_codes(text: str) -> list[str]:
    """A list of codes as an address has it, without the square brackets around codes that hold a comma."""
    return [_bare(part) for part in split_list(text)]


def _bare(part: str) -> str:
    part = part.strip()
    return part[1:-1] if part.startswith("[") and part.endswith("]") else part


def _whole(texts: Sequence[str], call: str) -> list[int]:
    if not 1 <= len(texts) <= 2 or not all(re.fullmatch("[0-9]{1,9}", text) for text in texts):
        raise InputError(f"{call} takes a number of codes and, if wanted, how many to leave out before: {call}(5,1)")
    return [int(text) for text in texts]


def _top(codes: Sequence[str], texts: Sequence[str]) -> Sequence[str]:
    number, *left_out = _whole(texts, "TOP")
    first = left_out[0] if left_out else 0
    return codes[first : first + number]


def _bottom(codes: Sequence[str], texts: Sequence[str]) -> Sequence[str]:
    number, *left_out = _whole(texts, "BOTTOM")
    end = len(codes) - (left_out[0] if left_out else 0)
    return codes[max(end - number, 0) : max(end, 0)]


def _between(codes: Sequence[str], first: str | None, last: str | None) -> Sequence[str]:
    for code in (first, last):
        if code is not None and code not in codes:
            raise InputError(f"{code[:MOST_SHOWN]!r} is not a code, so no range can begin or end at it")
    begin = 0 if first is None else codes.index(first)
    return codes[begin : len(codes) if last is None else codes.index(last) + 1]


def _range(codes: Sequence[str], texts: Sequence[str]) -> Sequence[str]:
    if len(texts) != 2:
        raise InputError("RANGE takes the first and the last code: RANGE(a,b)")
    return _between(codes, texts[0], texts[1])


def _from(codes: Sequence[str], texts: Sequence[str]) -> Sequence[str]:
    return _between(codes, _only(texts, "FROM"), None)


def _to(codes: Sequence[str], texts: Sequence[str]) -> Sequence[str]:
    return _between(codes, None, _only(texts, "TO"))


def _only(texts: Sequence[str], call: str) -> str:
    if len(texts) != 1:
        raise InputError(f"{call} takes one code: {call}(a)")
    return texts[0]


CALLS: Mapping[str, Callable[[Sequence[str], Sequence[str]], Sequence[str]]] = {
    "TOP": _top,
    "BOTTOM": _bottom,
    "RANGE": _range,
    "FROM": _from,
    "TO": _to,
}


# -- the query --------------------------------------------------------------------------------------------------


def selection_query(table: PortalTable, selection: Selection, measure: str) -> Query:
    """The query whose answer holds every cell of a selection, for one of its measures.

    A variable of which only the total is selected is left out. One other code is the population of the table, as far as
    the policy allows filters, those of long variables first. All others are variables of the table, in no more detail
    than the codes need.
    """
    detailed = {name: codes for name, codes in selection.codes.items() if codes != (table.variables[name].total,)}
    singles = [
        name for name, codes in detailed.items() if len(codes) == 1 and _can_filter(table.variables[name], codes)
    ]
    singles.sort(key=lambda name: (-len(table.variables[name].codes), name))
    if len(singles) == len(detailed):
        singles = singles[:-1]
    filters = singles[: table.service.policy.query.max_filters]
    variables = {
        name: level_holding(table.variables[name], codes) for name, codes in detailed.items() if name not in filters
    }
    where = {name: detailed[name] for name in filters}
    asked = table.statistics[measure]
    shown = variables or {_smallest(table): _smallest(table)}
    return Query.of(shown, where=where or None, measure=asked.measure, statistic=asked.statistic)


def _can_filter(dimension: Dimension, codes: Sequence[str]) -> bool:
    return any(set(codes) <= set(held) for held in dimension.levels.values())


def level_holding(dimension: Dimension, codes: Sequence[str]) -> str:
    """The coarsest level of detail of a table that shows all of some codes.

    >>> area = Dimension.from_prefix("nace", ["A01", "A02", "B05"], [1])
    >>> level_holding(area, ["Total", "B"]), level_holding(area, ["A", "A01"])
    ('level 1', 'nace')
    """
    for level, held in dimension.levels.items():
        if held != (dimension.total,) and set(codes) <= set(dimension.at_level(level).codes):
            return level
    return dimension.name


def _smallest(table: PortalTable) -> str:
    """The shortest variable that the policy gives by itself: what is asked when only totals are wanted."""
    for name, _ in sorted(table.variables.items(), key=lambda pair: (len(pair[1].codes), pair[0])):
        try:
            table.service.check(table.service.resolved(Query.of([name])))
        except Refused:
            continue
        return name
    raise InputError("no variable is given by itself; select some")
