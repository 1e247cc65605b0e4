"""Microdata of tau-ARGUS: a text file and its ``.rda`` description."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.arguments import checked
from discreet.codebook import Codebook, Magnitude
from discreet.dimension import Dimension
from discreet.errors import InputError
from discreet.formats.argus.description import Description, Variable, read_description
from discreet.formats.argus.fields import dimension, numbers, read_fields
from discreet.microdata import Microdata

NONE = "none"  # the code of a request variable that is blank


@checked
def read_microdata(data: str | Path, description: str | Path | Description | None = None) -> Microdata:
    """Microdata in fixed columns (``.asc``) or with separators, described by an ``.rda`` file.

    The description stands beside the data under the same name unless given. <RECODEABLE> variables become dimensions,
    <NUMERIC> ones magnitudes; weight and holding keep their parts. A <REQUEST> variable becomes a dimension too, so
    that ``tabulate(..., where={...})`` counts those who asked for protection.
    """
    import pyarrow as pa

    path = Path(data)
    about = description if isinstance(description, Description) else read_description(description or sibling(path))
    fields = read_fields(path, about)
    book = _codebook(about, fields)
    columns: dict[str, Any] = {}
    for v in about.variables:
        if "category" in v.kinds or "request" in v.kinds or "holding" in v.kinds:
            columns[v.name] = _blank_is_missing(fields[v.name])
        if {"response", "weight"} & set(v.kinds):
            columns[_number_column(v)] = numbers(fields[v.name], v, path, comma=about.separator != ",")
    return Microdata.read(pa.table(columns), book)


def sibling(path: Path) -> Path:
    """The description beside a data file: the same name with the suffix ``.rda``, however it is spelt."""
    for found in sorted(path.parent.glob("*")):
        if found.name.lower() == f"{path.stem}.rda".lower():
            return found
    raise InputError(f"no description {path.stem + '.rda'!r} beside {path.name!r}; name it")


def _codebook(about: Description, fields: dict[str, Any]) -> Codebook:
    dims, missing = [], {}
    for v in about.of_kind("category"):
        dims.append(dimension(about, v, fields[v.name]))
        if v.missing:
            missing[v.name] = v.missing[0]
    if request := about.one("request"):
        held = [c for c in fields[request.name].unique().to_pylist() if c]
        dims.append(Dimension.flat(request.name, [*dict.fromkeys([*request.requests, *sorted(held)]), NONE]))
        missing[request.name] = NONE
    weight, holding = about.one("weight"), about.one("holding")
    return Codebook(
        dimensions=tuple(dims),
        missing=missing,
        weight=None if weight is None else weight.name,
        holding=None if holding is None else holding.name,
        magnitudes=tuple(Magnitude(v.name, _number_column(v), v.decimals) for v in about.of_kind("response")),
    )


def _number_column(variable: Variable) -> str:
    return f"{variable.name} (number)" if "category" in variable.kinds else variable.name


def _blank_is_missing(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
