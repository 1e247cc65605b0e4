"""Keys of SDMX as selections, and selected cells as observations: generic data of SDMX-ML 2.1, and SDMX-CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from xml.sax.saxutils import quoteattr

from discreet.data.dimension import Dimension
from discreet.errors import InputError, nearest
from discreet.formats import to_bytes
from discreet.formats.layers import facts, heading, number_texts
from discreet.formats.sdmx import CONFIDENTIALITY, OBSERVATION
from discreet.release import CONFIDENTIAL, Release
from discreet.server.portals.portal_table import COUNT, MOST_SHOWN
from discreet.server.portals.sdmx_names import AGENCY, MEASURE_DIMENSION, VERSION_OF_STRUCTURES, Flow
from discreet.server.portals.sdmx_structures import SAID, SCHEMAS, SPACES, header, reference
from discreet.server.portals.selecting import Selection

INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"


def key_selection(flow: Flow, key: str) -> Selection:
    """The selection of a key: codes of each dimension joined by ``+``, dimensions separated by ``.``; none is all.

    The last dimension is the measure: the count, if none is named.
    """
    one = flow.whole
    places = [one.dimensions[name] for name in flow.variables] + [MEASURE_DIMENSION]
    parts = [""] * len(places) if key in ("", "all") else key.split(".")
    if len(parts) != len(places):
        raise InputError(
            f"the key has {len(parts)} dimensions and the dataflow {len(places)}: {'.'.join(places)}; "
            "a dimension may be left empty, and a total is written by its code"
        )
    codes = {}
    for name, part in zip(flow.variables, parts, strict=False):
        codes[name] = _meant(one.dimensions[name], one.codes[name], part)
    measures = _meant(MEASURE_DIMENSION, one.measures, parts[-1]) if parts[-1] else (COUNT,)
    return Selection(codes, measures)


def _meant(dimension: str, known: dict[str, str], part: str) -> tuple[str, ...]:
    wanted = set(part.split("+")) if part else set(known.values())
    for identifier in sorted(wanted - set(known.values())):
        shown = identifier[:MOST_SHOWN]
        raise InputError(f"{shown!r} is not a code of {dimension}; {nearest(shown, known.values())}")
    return tuple(code for code, identifier in known.items() if identifier in wanted)


def generic_data(flow: Flow, parts: Sequence[Release], *, attributes: bool = True) -> bytes:
    """The cells of each measure as generic data: each observation with its whole key."""
    referred = f"<com:Structure>{reference(flow.structure, 'datastructure', 'DataStructure')}</com:Structure>"
    identity = f'structureID="{flow.structure}" dimensionAtObservation="AllDimensions"'
    head = header(f"<mes:Structure {identity}>{referred}</mes:Structure>")
    words = _words(parts) if attributes else ""
    observations = "".join(text for release in parts for text in _observations(flow, release, attributes))
    body = f'<mes:DataSet structureRef="{flow.structure}">{words}{observations}</mes:DataSet>'
    spaces = f'{SPACES} xmlns:gen="{SCHEMAS}/data/generic"'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<mes:GenericData {spaces}>{head}{body}</mes:GenericData>'.encode()


def specific_data(flow: Flow, parts: Sequence[Release], *, attributes: bool = True) -> bytes:
    """The same as structure-specific data: the dimensions of each observation are attributes of its element."""
    space = (
        f"urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure={AGENCY}:{flow.structure}({VERSION_OF_STRUCTURES})"
    )
    space += ":ObsLevelDim:AllDimensions"
    referred = f"<com:Structure>{reference(flow.structure, 'datastructure', 'DataStructure')}</com:Structure>"
    identity = f'structureID="{flow.structure}" namespace="{space}" dimensionAtObservation="AllDimensions"'
    head = header(f"<mes:Structure {identity}>{referred}</mes:Structure>")
    keys = [
        [f"{flow.whole.dimensions[d.name]}={quoteattr(flow.whole.codes[d.name][code])} " for code in d.codes]
        for d in parts[0].dimensions
    ]
    stated = {}
    for hidden in (False, True):
        marks = f' OBS_STATUS="{OBSERVATION[hidden]}" CONF_STATUS="{CONFIDENTIALITY[hidden]}"'
        stated[hidden] = marks if attributes else ""
    observations = []
    for measure, release in ((name, one) for one in parts for name in one.values):
        last = f"{MEASURE_DIMENSION}={quoteattr(flow.whole.measures[measure])}"
        numbers = number_texts(release, measure, "").to_pylist()
        for row, number, mark in zip(release.codes.tolist(), numbers, release.status.tolist(), strict=True):
            key = "".join([keys[k][code] for k, code in enumerate(row)])
            value = f' OBS_VALUE="{number}"' if number else ""
            observations.append(f"<Obs {key}{last}{value}{stated[mark == CONFIDENTIAL]}/>")
    words = [f"{name}={quoteattr(text)}" for name, text in _said(parts).items()] if attributes else []
    opening = f'<mes:DataSet ss:structureRef="{flow.structure}" xsi:type="own:DataSetType" ss:dataScope="DataStructure"'
    body = f"{' '.join([opening, *words])}>{''.join(observations)}</mes:DataSet>"
    spaces = f'{SPACES} xmlns:ss="{SCHEMAS}/data/structurespecific" xmlns:own="{space}" xmlns:xsi="{INSTANCE}"'
    message = f"<mes:StructureSpecificData {spaces}>{head}{body}</mes:StructureSpecificData>"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{message}'.encode()


def _observations(flow: Flow, release: Release, attributes: bool) -> list[str]:
    keys = [
        [_value(flow.whole.dimensions[d.name], flow.whole.codes[d.name][code]) for code in d.codes]
        for d in release.dimensions
    ]
    stated = {hidden: _status(hidden) if attributes else "" for hidden in (False, True)}
    texts = []
    for measure in release.values:
        last = _value(MEASURE_DIMENSION, flow.whole.measures[measure])
        numbers = number_texts(release, measure, "").to_pylist()
        for row, number, mark in zip(release.codes.tolist(), numbers, release.status.tolist(), strict=True):
            key = "".join([keys[k][code] for k, code in enumerate(row)])
            value = f'<gen:ObsValue value="{number}"/>' if number else ""
            texts.append(
                f"<gen:Obs><gen:ObsKey>{key}{last}</gen:ObsKey>{value}{stated[mark == CONFIDENTIAL]}</gen:Obs>"
            )
    return texts


def _value(identity: str, value: str) -> str:
    return f'<gen:Value id="{identity}" value={quoteattr(value)}/>'


def _status(hidden: bool) -> str:
    marks = {"OBS_STATUS": OBSERVATION[hidden], "CONF_STATUS": CONFIDENTIALITY[hidden]}
    return f"<gen:Attributes>{''.join(_value(name, mark) for name, mark in marks.items())}</gen:Attributes>"


def _words(parts: Sequence[Release]) -> str:
    return f"<gen:Attributes>{''.join(_value(name, text) for name, text in _said(parts).items())}</gen:Attributes>"


def _said(parts: Sequence[Release]) -> dict[str, str]:
    """Title, source, method and notes as attributes of a data set, what several measures have in common once."""
    texts: dict[str, list[str]] = {"TITLE": [heading(release) for release in parts]}
    for name, text in (fact for release in parts for fact in facts(release)):
        if name.upper() in SAID and name != "title":
            texts.setdefault(name.upper(), []).append(text)
    return {name: " ".join(dict.fromkeys(said)) for name, said in texts.items()}


def observation_csv(flow: Flow, parts: Sequence[Release]) -> bytes:
    """The cells of each measure as SDMX-CSV 2.0, with the identifiers of the codelists."""
    texts = [_measure_csv(flow, release) for release in parts]
    if len(texts) == 1:
        return texts[0]
    rows = [row for text in texts for row in csv.DictReader(io.StringIO(text.decode(), newline=""))]
    heads = dict.fromkeys(name for row in rows for name in row)  # a unit or a note that only some of them have
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, [*heads], restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def _measure_csv(flow: Flow, release: Release) -> bytes:
    dimensions = []
    for d in release.dimensions:
        codes = [flow.whole.codes[d.name][code] for code in d.codes]
        dimensions.append(Dimension.flat(flow.whole.dimensions[d.name], codes, total=None))
    measures = {flow.whole.measures[name]: values for name, values in release.values.items()}
    decimals = {flow.whole.measures[name]: digits for name, digits in release.decimals.items()}
    words = replace(release.words.renamed(flow.whole.measures), subject="")  # which stands in the heading
    named = replace(
        release,
        dimensions=tuple(dimensions),
        values=measures,
        decimals=decimals,
        title=heading(release),
        words=words,
    )
    return to_bytes(named, "sdmx-csv", structure=f"{AGENCY}:{flow.identity}({VERSION_OF_STRUCTURES})")
