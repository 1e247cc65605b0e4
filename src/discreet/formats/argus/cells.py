"""Tables of tau-ARGUS: a ``.tab`` file of cells and its ``.rda`` description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.formats.argus.description import Description, Variable, read_description
from discreet.formats.argus.fields import dimension, field_numbers, read_fields
from discreet.formats.argus.marks import LETTERS, ArgusMarks
from discreet.formats.argus.records import sibling
from discreet.release import Status
from discreet.tables.contributions import Contributions
from discreet.tables.table import Table
from discreet.tables.totals import Totals

EMPTY = "E"
_SPECIAL = {"shadow", "cost", "lower", "upper"}


@dataclass(frozen=True, eq=False)
class Tabular:
    """A table that tau-ARGUS or its user made, and what is said of its cells. Confidential."""

    table: Table
    marks: ArgusMarks


@checked
def read_table(
    data: str | Path,
    description: str | Path | Description | None = None,
    *,
    response: str | None = None,
    totals: str = "check",
    tolerance: float = 0,
    total: Totals = None,
) -> Tabular:
    r"""A table in a text file with separators, described by an ``.rda`` file.

    ``response`` names the <NUMERIC> variable if there are several; without any, the <FREQUENCY> is the measure.
    ``totals``, ``tolerance`` and ``total`` as in ``Table.of``; a <TOTCODE> states the total of its variable. <MAXSCORE>
    variables are the largest contributions (they are left aside if there is a <SHADOW> variable other than the
    response, since they are then its contributions); <STATUS>, <COSTVAR>, <LOWERPL> and <UPPERPL> become marks.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = Path(folder, "firms.tab").write_text("T;135\nN;95\nS;40\n")
    ...     about = '<SEPARATOR> ";"\nArea\n<RECODEABLE>\n<TOTCODE> "T"\nTurnover\n<NUMERIC>\n'
    ...     size = Path(folder, "firms.rda").write_text(about)
    ...     print(read_table(f"{folder}/firms.tab").table)
           N   S    T
    Area  95  40  135
    """
    path = Path(data)
    about = description
    if not isinstance(about, Description):
        about = read_description(about or sibling(path), table=True)
    fields = read_fields(path, about)
    categories = about.of_kind("category")
    dims = [dimension(about, v, fields[v.name]) for v in categories]
    count, value = about.one("frequency"), _response(about, response)
    if count is None and value is None:
        raise InputError(f"{about.path.name}: neither a <NUMERIC> nor a <FREQUENCY> variable; there are no numbers")
    used = [v for v in about.variables if v.is_number]
    needed = [v for v in about.variables if set(v.kinds) & {"largest", "cost", "lower", "upper", "shadow"}]
    if torn := [v.name for v in needed if v not in used]:
        raise InputError(f"{about.path.name}: {torn[0]!r} cannot hold codes and numbers too; drop one of its keywords")
    columns = {v.name: field_numbers(fields[v.name], v, path, comma=about.separator != ",") for v in used}
    frame = {d.name: _codes(fields[d.name], d) for d in dims} | columns
    table = Table.of(
        frame,
        [v.name if v.from_data else d for v, d in zip(categories, dims, strict=True)],
        count=None if count is None else count.name,
        value=None if value is None else value.name,
        decimals=None if value is None else value.decimals,
        totals=totals,
        tolerance=tolerance,
        total=total,
    )
    dims = list(table.dimensions)
    position = [[d.position[c] for c in frame[d.name]] for d in dims]
    cell = np.ravel_multi_index(position, table.layout.code_shape)
    table = _with_contributions(about, table, columns, cell, count, value)
    return Tabular(table, _marks(about, path, fields, columns, cell, len(table)))


def _response(about: Description, wanted: str | None) -> Variable | None:
    responses = [v for v in about.of_kind("response") if not _SPECIAL & set(v.kinds)]
    if wanted is not None:
        responses = [v for v in responses if v.name == wanted]
        if not responses:
            raise InputError(f"{about.path.name}: no <NUMERIC> variable {wanted!r}")
    if len(responses) > 1:
        names = ", ".join(repr(v.name) for v in responses)
        raise InputError(f"{about.path.name}: several <NUMERIC> variables; name one: response= one of {names}")
    return responses[0] if responses else None


def _codes(column: Any, dimension: Dimension) -> list[str]:
    """Codes of the rows; nothing stands for the total."""
    return [c or str(dimension.total) for c in column.to_pylist()]


def _with_contributions(
    about: Description,
    table: Table,
    columns: Mapping[str, Array],
    cell: Array,
    count: Variable | None,
    value: Variable | None,
) -> Table:
    tops, shadow = about.of_kind("largest"), about.one("shadow")
    if not tops or value is None:
        return table
    if shadow is not None and not np.array_equal(columns[shadow.name], columns[value.name]):
        return table
    row = table.layout.inner_of_cell[cell]
    inner = row >= 0
    largest = np.full((table.layout.n_inner, len(tops)), np.nan)
    for rank, v in enumerate(tops):
        scores = columns[v.name][inner]
        there = scores != 0 if count is None else columns[count.name][inner] > rank
        largest[row[inner], rank] = np.where(there, scores, np.nan)
    contributors = np.sum(~np.isnan(largest), axis=1)
    if count is not None:
        contributors = np.zeros(table.layout.n_inner, np.int64)
        contributors[row[inner]] = columns[count.name][inner].astype(np.int64)
    nobody = np.full(largest.shape, -1)
    contributions = Contributions(largest, np.where(np.isnan(largest), np.nan, 1.0), nobody, contributors)
    return replace(table, _inner_contributions=contributions)


def _marks(
    about: Description, path: Path, fields: Mapping[str, Any], columns: Mapping[str, Array], cell: Array, n: int
) -> ArgusMarks:
    marks = ArgusMarks.none(n)
    for kind, numbers_of in (("cost", marks.cost), ("lower", marks.lower), ("upper", marks.upper)):
        if (v := about.one(kind)) is not None:
            numbers_of[cell] = columns[v.name]
    if (v := about.one("status")) is not None:
        known = {letter: status.value for letter, status in LETTERS.items()} | {EMPTY: "", "": ""}
        own = {"SAFE": Status.PUBLISHED, "UNSAFE": Status.PRIMARY, "PROTECT": Status.FORCED}
        known |= {about.statuses[key].upper(): status.value for key, status in own.items()}
        letters = [text.upper() for text in fields[v.name].to_pylist()]
        if bad := next((k for k, text in enumerate(letters, start=1) if text not in known), 0):
            raise InputError(f"{path.name}, line {bad}: a status other than {', '.join(k for k in known if k)}")
        marks.status[cell] = [known[text] for text in letters]
    return marks
