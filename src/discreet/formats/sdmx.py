"""SDMX-CSV 2.0: one row per observation, with the status codes of the SDMX code lists."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from discreet.base.naming import unused
from discreet.errors import InputError
from discreet.formats.csv import lines, quoted
from discreet.formats.layers import column, facts, heading, number_texts
from discreet.release import CONFIDENTIAL, Release

OBSERVATION = {False: "A", True: "Q"}  # CL_OBS_STATUS: normal value; missing value, suppressed
CONFIDENTIALITY = {False: "F", True: "C"}  # CL_CONF_STATUS: free; confidential
_OWN = ("STRUCTURE", "STRUCTURE_ID", "ACTION", "MEASURE", "OBS_VALUE", "OBS_STATUS", "CONF_STATUS", "DECIMALS")
UNIT = "UNIT_MEASURE"
_WORDS = ("TITLE", UNIT, "SOURCE", "METHOD", "NOTE")


def to_bytes(release: Release, *, structure: str = "DISCREET:TABLE(1.0.0)", words: bool = True) -> bytes:
    """SDMX-CSV 2.0 for the dataflow ``structure``; the measures are a dimension, MEASURE.

    A value that is not shown has OBS_STATUS Q (suppressed) and CONF_STATUS C (confidential), every other one A and F.
    Title, unit, source, method and notes are attributes, the same in every row; ``words=False`` leaves them out.

    >>> from discreet import Publish, Table
    >>> print(to_bytes(Publish()(Table.of([3], ["sex"])).release(), words=False).decode().replace("\\r", ""))
    STRUCTURE,STRUCTURE_ID,ACTION,SEX,MEASURE,OBS_VALUE,OBS_STATUS,CONF_STATUS,DECIMALS
    dataflow,DISCREET:TABLE(1.0.0),I,Total,count,3,A,F,0
    dataflow,DISCREET:TABLE(1.0.0),I,1,count,3,A,F,0
    <BLANKLINE>
    """
    if not re.fullmatch(r"[\w.-]+:[\w@$-]+\([\d.+]+\)", structure, re.ASCII):
        raise InputError(
            f"structure={structure!r} is not of the form AGENCY:ID(VERSION), such as DISCREET:TABLE(1.0.0)"
        )
    heads = ["STRUCTURE", "STRUCTURE_ID", "ACTION", *identifiers([d.name for d in release.dimensions])]
    codes = [column(release, k, [quoted(c) for c in d.codes]) for k, d in enumerate(release.dimensions)]
    attributes = _attributes(release) if words else {}
    with_units = words and any(release.words.unit(name) for name in release.values)
    parts = []
    for name in release.values:
        gone = release.status == CONFIDENTIAL
        columns: list[Any] = [*(_same(text, release) for text in ("dataflow", quoted(structure), "I")), *codes]
        columns += [_same(quoted(name), release), number_texts(release, name, "")]
        columns += [
            np.where(gone, codes[True], codes[False]).astype(object) for codes in (OBSERVATION, CONFIDENTIALITY)
        ]
        own = attributes | ({UNIT: quoted(release.words.unit(name))} if with_units else {})
        columns += [_same(text, release) for text in (str(release.decimals[name]), *own.values())]
        parts.append(lines([*heads, *_OWN[3:], *own], columns))
    first, *rest = parts
    return first + b"".join(part.partition(b"\r\n")[2] for part in rest)


def identifiers(names: list[str]) -> list[str]:
    """SDMX identifiers for names: capitals, digits and underscores, none twice.

    >>> identifiers(["Age group", "age-group", "1st", "obs_value"])
    ['AGE_GROUP', 'AGE_GROUP_', 'D_1ST', 'OBS_VALUE_']
    """
    taken: list[str] = []
    for name in names:
        identifier = re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_") or "D"
        identifier = identifier if identifier[0].isalpha() else f"D_{identifier}"
        taken.append(unused(identifier, [*_OWN, *_WORDS, *taken]))
    return taken


def _attributes(release: Release) -> dict[str, str]:
    words = [("title", heading(release)), *(fact for fact in facts(release) if fact[0] in ("source", "method", "note"))]
    attributes: dict[str, str] = {}
    for name, text in words:
        key = name.upper()
        attributes[key] = f"{attributes[key]} {text}" if key in attributes else text
    return {key: quoted(text) for key, text in attributes.items()}


def _same(text: str, release: Release) -> Any:
    import pyarrow as pa

    return pa.repeat(text, len(release)).cast(pa.string())
