"""Data files of tau-ARGUS as columns of text, and columns of text as codes and numbers.

Messages name the file, the line and the variable, never what stands there.
"""

from __future__ import annotations

import io
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.base.texts import natural, read_text
from discreet.data.dimension import Dimension
from discreet.errors import InputError, many
from discreet.formats.argus.description import Description, Variable

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = "missing"  # the label of a code for missing values


def read_fields(path: Path, description: Description) -> dict[str, pa.Array]:
    """Every variable as text without blanks around it."""
    import pyarrow.compute as pc

    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path.name!r} is empty")
    columns = _separated(text, path, description) if description.separator else _fixed(text, description)
    return {name: pc.utf8_trim_whitespace(column) for name, column in columns.items()}


def _fixed(text: str, description: Description) -> dict[str, pa.Array]:
    import pyarrow as pa
    import pyarrow.compute as pc

    lines = pa.array([line.rstrip("\r") for line in text.rstrip("\r\n\x1a").split("\n")], pa.string())
    return {v.name: pc.utf8_slice_codeunits(lines, v.start - 1, v.start - 1 + v.width) for v in description.variables}


def _separated(text: str, path: Path, description: Description) -> dict[str, pa.Array]:
    import pyarrow as pa
    from pyarrow import csv

    names = [v.name for v in description.variables]
    fault = None
    try:
        table = csv.read_csv(
            io.BytesIO(text.rstrip("\r\n\x1a").encode()),
            read_options=csv.ReadOptions(column_names=names, use_threads=False),
            parse_options=csv.ParseOptions(delimiter=description.separator, quote_char='"', ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(column_types={n: pa.string() for n in names}, strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:  # its message holds the row
        row = re.search(r"Row #(\d+)", str(error))
        fault = f"{path.name}, line {row[1] if row else '?'}: not the {len(names)} fields that the description names"
    if fault is not None:
        raise InputError(fault)
    return {name: table.column(name).combine_chunks() for name in names}


def field_numbers(column: pa.Array, variable: Variable, path: Path, *, comma: bool) -> Array:
    """A column of text as numbers, with a decimal comma if ``comma``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.replace_substring(column, ",", ".") if comma else column
    if "largest" in variable.kinds:  # fewer contributors than places
        text = pc.if_else(pc.is_in(text, pa.array(["", "."])), pa.scalar("0"), text)
    for code in variable.missing:
        if coded := int(pc.sum(pc.equal(column, code)).as_py() or 0):
            raise InputError(
                f"{path.name}: {many(coded, 'record has', 'records have')} the missing code of {variable.name!r}; give "
                "them a number first"
            )
    with suppress(pa.ArrowInvalid):  # not chained to ours: its message holds the value
        values = np.asarray(pc.cast(text, pa.float64()))
        if np.isfinite(values).all():
            return values
    good = pc.match_substring_regex(text, r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
    line = int(np.argmin(np.asarray(good.cast(pa.int8())))) + 1
    raise InputError(f"{path.name}, line {line}: {variable.name!r} is not a number")


def dimension(description: Description, variable: Variable, column: pa.Array) -> Dimension:
    """The codes of a variable: of its hierarchy, else of its code list, else those that the data hold.

    Codes for missing values become codes of their own, as in tau-ARGUS.
    """
    labels = _code_list(description, variable)
    held = sorted((c for c in column.unique().to_pylist() if c), key=natural)
    own = [c for c in held if c not in variable.missing and c != variable.total]
    if variable.hierarchy:
        path = description.beside(variable, variable.hierarchy)
        try:
            result = Dimension.from_hrc(path, name=variable.name, leader=variable.leader, total=variable.total)
        except InputError as error:
            raise InputError(f"{path.name}: {error}") from None
    elif variable.levels:
        result = _by_levels(description, variable, own)
    else:
        listed = [c for c in labels if c not in variable.missing and c != variable.total]
        result = Dimension.flat(variable.name, listed or own, total=variable.total)
    for code in variable.missing:
        if code not in result.codes:
            result = result.with_leaf(code, label=labels.get(code, MISSING))
    if unknown := sum(c not in result.codes for c in own):
        where = variable.hierarchy or variable.code_list
        raise description.fault(
            variable.line, f"the data hold {many(unknown, 'code')} of {variable.name!r} that {where!r} does not list"
        )
    known = {code: text for code, text in labels.items() if code in result.codes}
    observed = not description.table and not (variable.hierarchy or labels)
    return replace(result, labels={**result.labels, **known}, observed=observed)


def _by_levels(description: Description, variable: Variable, codes: list[str]) -> Dimension:
    """Codes whose first characters name their groups: <HIERLEVELS> 2 2 means 2 characters, then 2 more."""
    ends = np.cumsum(variable.levels).tolist()
    if description.table:  # groups stand there as rows of their own
        codes = [c for c in codes if len(c) == ends[-1]]
    if not codes or any(len(c) != ends[-1] for c in codes):
        raise description.fault(
            variable.line, f"codes of {variable.name!r} do not all have the {ends[-1]} characters of <HIERLEVELS>"
        )
    return Dimension.from_prefix(variable.name, codes, ends[:-1] or [ends[-1]], total=variable.total)


def _code_list(description: Description, variable: Variable) -> dict[str, str]:
    """A ``.cdl`` file: a code, a comma and a label on each line."""
    if not variable.code_list:
        return {}
    path = description.beside(variable, variable.code_list)
    labels: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        code, _, label = line.partition(",")
        code, label = code.strip().strip('"').strip(), label.strip().strip('"')
        if not code or code in labels:
            raise InputError(f"{path.name}, line {number}: {'a code appears twice' if code else 'no code'}")
        labels[code] = label or code
    return labels
