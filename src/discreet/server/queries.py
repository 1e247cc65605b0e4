"""Text of an address or a command line as a Query, with the codebook at hand."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlencode

from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.policy import Query


def address(query: Query) -> str:
    """The query part of an address, which ``query_from`` reads.

    >>> address(Query.of("sex, county:region", where="age=100+"))
    'variables=county:region,sex&where=age=100%2B'
    """
    told = {"variables": ",".join(n if n == level else f"{n}:{level}" for n, level in query.variables)}
    if query.where:
        told["where"] = ";".join(f"{name}={'+'.join(codes)}" for name, codes in query.where)
    if query.measure != "count":
        told["measure"] = query.measure
    return urlencode(told, safe=":,;=")


def query_from(dimensions: Iterable[Dimension], variables: str, where: str = "", measure: str = "count") -> Query:
    """A query from ``"sex,county:region"`` and ``"age=young;sex=f"``; codes of a grouping are joined by ``+``.

    A code that has a plus itself is taken as the code that it is.

    >>> age = Dimension.flat("age", ["0-99", "100+"])
    >>> query_from([age], "sex", "age=100+").where
    (('age', ('100+',)),)
    """
    known = {d.name: d.position for d in dimensions}
    population: dict[str, list[str]] = {}
    for text in filter(None, (part.strip() for part in where.split(";"))):
        name, equals, codes = (piece.strip() for piece in text.partition("="))
        if not equals:
            raise InputError(f"a population is VARIABLE=CODE, not {text!r}")
        if name in population:
            raise InputError("a variable is named twice in the population")
        whole = codes in known.get(name, ())
        population[name] = [codes] if whole else [code.strip() for code in codes.split("+")]
    return Query.of(variables, where=population or None, measure=measure)
