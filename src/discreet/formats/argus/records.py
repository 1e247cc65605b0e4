"""Microdata of tau-ARGUS: a text file and its ``.rda`` description."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.base.arguments import checked
from discreet.data.codebook import Codebook, Magnitude
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.errors import DiscreetWarning, InputError
from discreet.formats.argus.description import Description, Variable, read_description
from discreet.formats.argus.fields import dimension, field_numbers, read_fields

NONE = "none"  # the code of a request variable that is blank


@checked
def read_microdata(
    data: str | Path,
    description: str | Path | Description | None = None,
    *,
    weighted: bool | None = None,
    by: Sequence[str] = (),
) -> Microdata:
    r"""Microdata in fixed columns (``.asc``) or with separators, described by an ``.rda`` file.

    The description stands beside the data under the same name unless given. <RECODEABLE> variables become dimensions,
    <NUMERIC> ones magnitudes; a holding keeps its part. A <REQUEST> variable becomes a dimension too, so
    that ``tabulate(..., where={...})`` counts those who asked for protection.

    As in tau-ARGUS, a <WEIGHT> is applied only when asked for: ``weighted=True``. Unless it is said, a DiscreetWarning
    tells that it was not. A variable whose codes cannot be read is left out, with a DiscreetWarning, so that it does
    not stand in the way of other tables; those named in ``by`` are an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = Path(folder, "firms.asc").write_text("N 90\nN  5\nS 40\n")
    ...     size = Path(folder, "firms.rda").write_text("Area 1 1\n<RECODEABLE>\nTurnover 2 3\n<NUMERIC>\n")
    ...     data = read_microdata(f"{folder}/firms.asc")
    >>> data.n, data.dimension("Area").leaves
    (3, ('N', 'S'))
    """
    import pyarrow as pa

    path = Path(data)
    about = description if isinstance(description, Description) else read_description(description or sibling(path))
    fields = read_fields(path, about)
    book = _codebook(about, fields, weighted, by)
    columns: dict[str, Any] = {}
    for v in about.variables:
        kept = "category" not in v.kinds or v.name in book.columns
        if kept and {"category", "request", "holding"} & set(v.kinds):
            columns[v.name] = _blank_is_missing(fields[v.name])
        if "response" in v.kinds or v.name == book.weight:
            columns[_number_column(v)] = field_numbers(fields[v.name], v, path, comma=about.separator != ",")
    return Microdata.read(pa.table(columns), book)


def sibling(path: Path) -> Path:
    """The description beside a data file: the same name with the suffix ``.rda``, however it is spelt."""
    for file in sorted(path.parent.glob("*")):
        if file.name.lower() == f"{path.stem}.rda".lower():
            return file
    raise InputError(f"no description {path.stem + '.rda'!r} beside {path.name!r}; name it")


def _codebook(about: Description, fields: dict[str, Any], weighted: bool | None, by: Sequence[str]) -> Codebook:
    dims, missing = [], {}
    for v in about.of_kind("category"):
        if (dimension := _dimension(about, v, fields[v.name], by)) is None:
            continue
        dims.append(dimension)
        if v.missing:
            missing[v.name] = v.missing[0]
    if not dims:
        raise InputError(f"{about.path.name}: no <RECODEABLE> variable can be read")
    if request := about.one("request"):
        held = [c for c in fields[request.name].unique().to_pylist() if c]
        dims.append(Dimension.flat(request.name, [*dict.fromkeys([*request.requests, *sorted(held)]), NONE]))
        missing[request.name] = NONE
    weight, holding = _weight(about, weighted), about.one("holding")
    return Codebook(
        dimensions=tuple(dims),
        missing=missing,
        weight=None if weight is None else weight.name,
        holding=None if holding is None else holding.name,
        magnitudes=tuple(Magnitude(v.name, _number_column(v), v.decimals) for v in about.of_kind("response")),
    )


def _dimension(about: Description, variable: Variable, column: Any, by: Sequence[str]) -> Dimension | None:
    """The codes of a variable, or None if they cannot be read and the table at hand does without."""
    try:
        return dimension(about, variable, column)
    except InputError as error:
        if variable.name in by:
            raise
        words = f"variable {variable.name!r} is left out, tables by it are not possible: {error}"
    warnings.warn(words, DiscreetWarning, stacklevel=5)
    return None


def _weight(about: Description, weighted: bool | None) -> Variable | None:
    """The weight, if it is to be applied."""
    weight = about.one("weight")
    if weighted and weight is None:
        raise InputError(f"{about.path.name}: no variable is a <WEIGHT>, so nothing can be weighted")
    if weight is not None and weighted is None:
        warnings.warn(
            f"{weight.name!r} is a <WEIGHT> and is not applied, as in tau-ARGUS; weighted=True (--weighted) applies "
            "it, weighted=False (--unweighted) says the same",
            DiscreetWarning,
            stacklevel=5,
        )
    return weight if weighted else None


def _number_column(variable: Variable) -> str:
    return f"{variable.name} (number)" if "category" in variable.kinds else variable.name


def _blank_is_missing(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
