"""SDMX-CSV 2.0: one row per observation, attributes beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.texts import csv_rows, read_text
from discreet.errors import InputError
from discreet.tables.reading.number_cells import number_cells
from discreet.tables.reading.raw_table import HIDDEN, RawTable, heading_or_title

OBSERVED = ("OBS_VALUE", "OBS_STATUS", "CONF_STATUS", "DECIMALS", "TITLE", "SOURCE", "METHOD", "NOTE")
STRUCTURE = ("STRUCTURE", "STRUCTURE_ID", "ACTION")
SUPPRESSED = ("Q", "C")  # CL_OBS_STATUS: missing value, suppressed


def sdmx_file(path: Path) -> RawTable:
    """The observations of a file; columns between the structure and the value are dimensions, MEASURE the measures."""
    rows = [row for row in csv_rows(read_text(path), ",", repr(path.name)) if row]
    head = rows[0] if rows else []
    if "OBS_VALUE" not in head or head[: len(STRUCTURE)] != list(STRUCTURE) or not rows[1:]:
        raise InputError(f"{path.name!r} is no SDMX-CSV 2.0 file: its columns begin with {', '.join(STRUCTURE)}")
    if bad := next((n for n, row in enumerate(rows, 1) if len(row) != len(head)), 0):
        raise InputError(f"{path.name!r} line {bad}: {len(rows[bad - 1])} fields where the head has {len(head)}")
    columns = dict(zip(head, zip(*rows[1:], strict=True), strict=True))
    stop = head.index("MEASURE") if "MEASURE" in head else head.index("OBS_VALUE")
    names = head[len(STRUCTURE) : stop]
    blank = ("",) * len(rows[1:])
    measure = columns.get("MEASURE", ("value",) * len(blank))
    marks = zip(columns.get("CONF_STATUS", blank), columns.get("OBS_STATUS", blank), strict=True)
    hidden = np.array([confidential == "C" or observed in SUPPRESSED for confidential, observed in marks])
    measures = list(dict.fromkeys(measure))
    cells = list(zip(*(columns[n] for n in names), strict=True))
    place = {cell: k for k, cell in enumerate(dict.fromkeys(cells))}
    rows_of = {m: np.array([k for k, other in enumerate(measure) if other == m]) for m in measures}
    values, decimals = {}, {}
    status = np.full(len(place), "", object)
    for m, at in rows_of.items():
        read = number_cells([columns["OBS_VALUE"][k] for k in at], f"{path.name!r}: OBS_VALUE", plain=True)
        where = np.array([place[cells[k]] for k in at])
        if len(set(where.tolist())) < len(where):
            raise InputError(f"{path.name!r}: some observations of {m!r} stand on two lines; keep one for each cell")
        values[m] = np.full(len(place), np.nan)
        values[m][where] = read.values
        stated = [columns["DECIMALS"][k] for k in at if columns["DECIMALS"][k]] if "DECIMALS" in columns else []
        decimals[m] = max((int(d) for d in stated if d.isdecimal()), default=read.decimals)
        status[where[hidden[at]]] = HIDDEN
    first: dict[str, Any] = {name: columns[name][0] if name in columns else "" for name in OBSERVED[4:]}
    title = heading_or_title(first["TITLE"], names, measures)
    upper = title.upper().replace(" ", "_")
    title = "" if upper == heading_or_default(names, measures) else title
    return RawTable(
        name=path.name,
        names=tuple(names),
        codes=tuple([cell[k] for cell in place] for k in range(len(names))),
        values=values,
        decimals=decimals,
        status=status.astype(str),
        words={"title": title, "source": first["SOURCE"], "method": first["METHOD"]},
        notes=(first["NOTE"],) if first["NOTE"] else (),
    )


def heading_or_default(names: list[str], measures: list[str]) -> str:
    """What a writer puts in place of a title, as identifiers are written.

    >>> heading_or_default(["SEX"], ["count"])
    'COUNT_BY_SEX'
    """
    return f"{', '.join(measures)} by {', '.join(names)}".upper().replace(" ", "_")
