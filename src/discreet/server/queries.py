"""Text of an address or a command line as a Query, with the codebook at hand."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlencode

from discreet.data.dimension import Dimension
from discreet.data.filters import Filters, filter_text, parse_filters
from discreet.policy import Query

SIGN = "+"  # between the codes of a variable: a bar would have to be escaped in an address


def address(query: Query) -> str:
    """The query part of an address, which ``query_from`` reads.

    >>> address(Query.of("sex, county:region", where="age=100+"))
    'variables=county:region,sex&where=age=%22100%2B%22'
    """
    parts = query_parameters(query.variables, query.where)
    if query.measure != "count":
        parts["measure"] = query.measure
    if query.statistic:
        parts["statistic"] = query.statistic
    return urlencode(parts, safe=":,;=")


def query_parameters(variables: Iterable[tuple[str, str]], where: Filters) -> dict[str, str]:
    """Variables and population as the parameters of an address; none for everybody."""
    parts = {"variables": ",".join(name if name == level else f"{name}:{level}" for name, level in variables)}
    if population := filter_text(where, SIGN):
        parts["where"] = population
    return parts


def query_from(
    dimensions: Iterable[Dimension], variables: str, where: str = "", measure: str = "count", statistic: str = ""
) -> Query:
    """A query from ``"sex,county:region"`` and ``"age=young;sex=f"``; codes of a grouping are joined by ``+``.

    A code that has a plus itself is taken as the code that it is, unless its pieces are codes too; in double quotes it
    always is (``data.filters``).

    >>> age = Dimension.flat("age", ["0-99", "100+"])
    >>> query_from([age], "sex", "age=100+").where
    (('age', ('100+',)),)
    """
    known = {d.name: d.position for d in dimensions}
    population = parse_filters(where, sign=SIGN, known=known)
    return Query.of(variables, where=population or None, measure=measure, statistic=statistic)
