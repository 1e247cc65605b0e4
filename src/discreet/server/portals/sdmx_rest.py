"""SDMX's REST interface (version 1.5, of SDMX 2.1) over the answers of the table server.

A data set is one dataflow with all variables, whose totals are codes, and smaller dataflows of some variables, in which
a key need not name the totals of the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.errors import InputError
from discreet.server.api import HttpFault, headers
from discreet.server.portals.asked_cells import asked_cells
from discreet.server.portals.portal_table import asked_table, listed_tables, missing_name, tables_of
from discreet.server.portals.pxweb import sent_parameters
from discreet.server.portals.sdmx_names import AGENCY, BETWEEN, VERSION_OF_STRUCTURES, Flow, SdmxSet, set_identity
from discreet.server.portals.sdmx_observations import generic_data, key_selection, observation_csv, specific_data
from discreet.server.portals.sdmx_structures import codelist_texts, structure_message
from discreet.server.service import LARGE

GENERIC = "application/vnd.sdmx.genericdata+xml;version=2.1"
SPECIFIC = "application/vnd.sdmx.structurespecificdata+xml;version=2.1"
WRITERS = {GENERIC: generic_data, SPECIFIC: specific_data}
STRUCTURES = "application/vnd.sdmx.structure+xml;version=2.1"
CSV = "application/vnd.sdmx.data+csv;version=2.0.0"
ALL = "all"
RELATED = ("none", ALL, "children", "descendants", "parents", "parentsandsiblings", "datastructure", "codelist")
DETAILS = ("full", "allstubs", "referencestubs", "referencepartial", "allcompletestubs", "referencecompletestubs")
router = APIRouter(prefix="/api/sdmx/2.1", tags=["SDMX"])


async def sets_of(request: Request) -> list[SdmxSet]:
    """All data sets that a caller may ask."""
    return [SdmxSet(table) for table in await listed_tables(request)]


def _xml(body: bytes) -> Response:
    return Response(body, 200, {"Cache-Control": "private, no-cache", "Content-Type": STRUCTURES})


def _asked(agency: str, version: str) -> None:
    """Raise unless the agency and the version are ours, or any."""
    if agency not in (AGENCY, ALL):
        raise missing_name("agency", agency, [AGENCY])
    if version not in (VERSION_OF_STRUCTURES, "latest", ALL):
        raise missing_name("version", version, [VERSION_OF_STRUCTURES])


def _with_references(request: Request) -> bool:
    sent = sent_parameters(request, "references", "detail")
    for name, known in (("references", RELATED), ("detail", DETAILS)):
        if sent.get(name, known[0]) not in known:
            raise InputError(f"{name} is one of {', '.join(known)}")
    return sent.get("references", "none") != "none"


def flow_of(sets: Sequence[SdmxSet], identity: str) -> Flow:
    """The dataflow of an identifier, of whichever data set."""
    first = identity.partition(BETWEEN)[0]
    for one in sets:
        if one.identity == first:
            return one.flow(identity)
    raise missing_name("dataflow", identity, [flow.identity for one in sets for flow in one.flows])


@router.get("/dataflow", include_in_schema=False)
@router.get("/dataflow/{agency}", include_in_schema=False)
@router.get("/dataflow/{agency}/{identity}", include_in_schema=False)
@router.get("/dataflow/{agency}/{identity}/{version}", summary="SDMX: dataflows")
async def dataflows(request: Request, agency: str = ALL, identity: str = ALL, version: str = "latest") -> Response:
    """The dataflows, or one of them; with references also structures, concepts and codelists."""
    related = _with_references(request)
    _asked(agency, version)
    sets = await sets_of(request)
    flows = [flow for one in sets for flow in one.flows] if identity == ALL else [flow_of(sets, identity)]
    held = {id(flow.whole): flow.whole for flow in flows}
    return _xml(structure_message(flows, *((flows, list(held.values())) if related else ())))


@router.get("/datastructure", include_in_schema=False)
@router.get("/datastructure/{agency}", include_in_schema=False)
@router.get("/datastructure/{agency}/{identity}", include_in_schema=False)
@router.get("/datastructure/{agency}/{identity}/{version}", summary="SDMX: data structure definitions")
async def datastructures(request: Request, agency: str = ALL, identity: str = ALL, version: str = "latest") -> Response:
    """The data structure definitions, or one of them; with references also concepts and codelists."""
    related = _with_references(request)
    _asked(agency, version)
    sets = await sets_of(request)
    flows = [flow for one in sets for flow in one.flows]
    if identity != ALL:
        if not identity.startswith("DSD_"):
            raise missing_name("datastructure", identity, [flow.structure for flow in flows])
        flows = [flow_of(sets, identity.removeprefix("DSD_"))]
    held = {id(flow.whole): flow.whole for flow in flows}
    return _xml(structure_message(flows if related else (), flows, list(held.values()) if related else ()))


@router.get("/codelist", include_in_schema=False)
@router.get("/codelist/{agency}", include_in_schema=False)
@router.get("/codelist/{agency}/{identity}", include_in_schema=False)
@router.get("/codelist/{agency}/{identity}/{version}", summary="SDMX: codelists")
async def codelists(request: Request, agency: str = ALL, identity: str = ALL, version: str = "latest") -> Response:
    """The codelists, or one of them."""
    _with_references(request)
    _asked(agency, version)
    sets = await sets_of(request)
    known = [name for one in sets for name, _ in codelist_texts(one)]
    if identity != ALL and identity not in known:
        raise missing_name("codelist", identity, known)
    return _xml(structure_message(sets=sets, lists=known if identity == ALL else [identity]))


@router.get("/conceptscheme", include_in_schema=False)
@router.get("/conceptscheme/{agency}", include_in_schema=False)
@router.get("/conceptscheme/{agency}/{identity}", include_in_schema=False)
@router.get("/conceptscheme/{agency}/{identity}/{version}", summary="SDMX: concepts")
async def concepts(request: Request, agency: str = ALL, identity: str = ALL, version: str = "latest") -> Response:
    """The concepts of the data sets, with their codelists."""
    _with_references(request)
    _asked(agency, version)
    sets = await sets_of(request)
    kept = [one for one in sets if identity in (ALL, one.concepts)]
    if not kept:
        raise missing_name("conceptscheme", identity, [one.concepts for one in sets])
    return _xml(structure_message(sets=kept))


@router.get("/data/{flow}", include_in_schema=False)
@router.get("/data/{flow}/{key}", summary="SDMX: the observations of a key")
@router.get("/data/{flow}/{key}/{provider}", include_in_schema=False)
async def observations(request: Request, flow: str, key: str = ALL, provider: str = ALL) -> Response:
    """The cells of a key, in the format that Accept names: generic or structure-specific SDMX-ML 2.1, or SDMX-CSV."""
    sent = sent_parameters(request, "detail", "dimensionAtObservation")
    detail = sent.get("detail", "full")
    if detail not in ("full", "dataonly"):
        raise InputError(f"detail={detail[:20]!r}: data are given in 'full', or as 'dataonly'")
    if sent.get("dimensionAtObservation", "AllDimensions") != "AllDimensions":
        raise InputError("observations are given with their whole key: dimensionAtObservation=AllDimensions")
    agency, identity, version = _parts(flow)
    _asked(agency, version)
    _asked(provider, ALL)
    form = accepted_form(request.headers.get("accept", "*/*"))
    names = {set_identity(name): name for name in tables_of(request)}
    first = identity.partition(BETWEEN)[0]
    if first not in names:
        raise missing_name("dataflow", identity, [one.identity for one in await sets_of(request)])
    table, caller = await asked_table(request, names[first])
    asked = SdmxSet(table).flow(identity)
    cells = await asked_cells(table, caller, key_selection(asked, key))
    request.state.cached = cells.cached
    extra = headers(table.service, "", cells.reply)
    del extra["ETag"]  # a message says when it was prepared
    if form == CSV:
        write = partial(observation_csv, asked, cells.parts)
    else:
        write = partial(WRITERS[form], asked, cells.parts, attributes=detail == "full")
    body = await asyncio.to_thread(write) if cells.size > LARGE else write()
    return Response(body, 200, extra | {"Content-Type": form})


def accepted_form(accept: str) -> str:
    """The first format of SDMX that an Accept header names; generic data if any will do.

    >>> accepted_form("application/vnd.sdmx.data+csv;version=2.0.0") == CSV, accepted_form("*/*") == GENERIC
    (True, True)
    """
    for part in accept.split(","):
        kind = part.partition(";")[0].strip().lower()
        if kind in (CSV.partition(";")[0], "text/csv"):
            return CSV
        if kind == SPECIFIC.partition(";")[0]:
            return SPECIFIC
        if kind in (GENERIC.partition(";")[0], "application/xml", "text/xml", "*/*", "application/*", ""):
            return GENERIC
    known = ", ".join((GENERIC, SPECIFIC, CSV))
    raise HttpFault(406, "no such format", "format", "no format of the Accept header is served", f"known: {known}")


def _parts(flow: str) -> tuple[str, str, str]:
    parts = flow.split(",")
    if len(parts) > 3:
        raise InputError("a dataflow is written AGENCY,ID,VERSION")
    agency, identity = (parts[0], parts[1]) if len(parts) > 1 else (ALL, parts[0])
    return agency, identity, parts[2] if len(parts) == 3 else "latest"
