"""Text of an address or a command line as a Query, with the codebook at hand."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.dimension import Dimension
from discreet.errors import InputError
from discreet.policy import Query


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
