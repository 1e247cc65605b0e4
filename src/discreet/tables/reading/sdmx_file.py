"""SDMX-CSV 2.0: one row per observation, attributes beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.texts import numbered_rows, read_text
from discreet.errors import InputError, many
from discreet.tables.reading.number_cells import PLAIN_SIGNS, NumberSigns, assumed_of, number_cells
from discreet.tables.reading.raw_table import HIDDEN, NOT_AVAILABLE, RawTable, heading_or_title

OBSERVED = ("OBS_VALUE", "OBS_STATUS", "CONF_STATUS", "DECIMALS", "TITLE", "SOURCE", "METHOD", "NOTE")
STRUCTURE = ("STRUCTURE", "STRUCTURE_ID", "ACTION")
SUPPRESSED = ("Q", "C")  # CL_OBS_STATUS: missing value, suppressed
CONFIDENTIAL = ("C", "N", "D", "S")  # CL_CONF_STATUS: primary, not for publication, secondary by sender and receiver
FREE = ("", "F", "A", "P")
MISSING = ("H", "L", "M", "O")  # CL_OBS_STATUS: holidays, not collected, cannot exist, missing
OBSERVED_CODES = ("", *"ABDEFGIJKNPRSTUVWXZ")  # values that are shown: normal, provisional, estimated, ...


def sdmx_file(path: Path, signs: NumberSigns = PLAIN_SIGNS) -> RawTable:
    """The observations of a file; columns between the structure and the value are dimensions, MEASURE the measures."""
    lines, rows = numbered_rows(read_text(path), ",", repr(path.name))
    head = rows[0] if rows else []
    if "OBS_VALUE" not in head or head[: len(STRUCTURE)] != list(STRUCTURE) or not rows[1:]:
        raise InputError(f"{path.name!r} is not an SDMX-CSV 2.0 file: its columns begin with {', '.join(STRUCTURE)}")
    if bad := next((n for n, row in enumerate(rows) if len(row) != len(head)), 0):
        raise InputError(
            f"{path.name!r} line {lines[bad]}: {many(len(rows[bad]), 'field')} where the head has {len(head)}"
        )
    columns = dict(zip(head, zip(*rows[1:], strict=True), strict=True))
    stop = head.index("MEASURE") if "MEASURE" in head else head.index("OBS_VALUE")
    names = head[len(STRUCTURE) : stop]
    blank = ("",) * len(rows[1:])
    measure = columns.get("MEASURE", ("value",) * len(blank))
    marks = zip(columns.get("CONF_STATUS", blank), columns.get("OBS_STATUS", blank), strict=True)
    coded = np.array([_status(*pair) for pair in marks], object)
    measures = list(dict.fromkeys(measure))
    cells = list(zip(*(columns[n] for n in names), strict=True))
    place = {cell: k for k, cell in enumerate(dict.fromkeys(cells))}
    rows_of = {m: np.array([k for k, other in enumerate(measure) if other == m]) for m in measures}
    values, decimals, ranges, read_columns = {}, {}, {}, []
    status = np.full(len(place), "", object)
    for m, at in rows_of.items():
        texts = [columns["OBS_VALUE"][k] for k in at]
        own = [lines[1 + k] for k in at]
        read = number_cells(texts, f"{path.name!r}: OBS_VALUE", plain=True, signs=signs, lines=own)
        where = np.array([place[cells[k]] for k in at])
        if len(set(where.tolist())) < len(where):
            raise InputError(f"{path.name!r}: some observations of {m!r} stand on two lines; keep one for each cell")
        read_columns.append(read)
        values[m] = np.full(len(place), np.nan)
        values[m][where] = read.values
        stated = [columns["DECIMALS"][k] for k in at if columns["DECIMALS"][k]] if "DECIMALS" in columns else []
        decimals[m] = max(read.decimals, *(int(d) for d in stated if d.isdecimal()), 0)
        if read.ranges is not None:
            least, most = np.full(len(place), -np.inf), np.full(len(place), np.inf)
            least[where], most[where] = read.ranges
            ranges[m] = (least, most)
        said = np.where((coded[at] == "") & (np.array(texts, object) != ""), read.status, coded[at])
        status[where] = np.where((said == HIDDEN) | (status[where] == ""), said, status[where])
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
        ranges=ranges,
        assumed=assumed_of(read_columns),
    )


def _status(confidential: str, observed: str) -> str:
    """The status of an observation by the code lists of SDMX; a code of neither stays, to be asked about."""
    if confidential in CONFIDENTIAL or observed in SUPPRESSED:
        return HIDDEN
    if confidential not in FREE:
        return confidential
    return NOT_AVAILABLE if observed in MISSING else "" if observed in OBSERVED_CODES else observed


def heading_or_default(names: list[str], measures: list[str]) -> str:
    """What a writer puts in place of a title, as identifiers are written.

    >>> heading_or_default(["SEX"], ["count"])
    'COUNT_BY_SEX'
    """
    return f"{', '.join(measures)} by {', '.join(names)}".upper().replace(" ", "_")
