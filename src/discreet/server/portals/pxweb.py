"""PxWeb's interface, version 2, over the answers of the table server: clients of PxWeb work unchanged.

A data set is one table. Variables that are not selected are eliminated, and a selection that the policy does not allow
is an error in PxWeb's form with the reason. Every answer goes through the same admission, guard and record as others.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.errors import InputError, nearest
from discreet.formats import FORMATS
from discreet.server.api import HttpFault, headers, query_text, same
from discreet.server.auth import Caller
from discreet.server.parameter_checks import check_parameters
from discreet.server.portals.asked_cells import asked_cells
from discreet.server.portals.portal_table import (
    PortalTable,
    asked_table,
    listed_tables,
    missing_name,
    site_address,
    tables_of,
)
from discreet.server.portals.pxweb_answers import TextLayout, answer_bytes, json_bytes
from discreet.server.portals.pxweb_documents import (
    FORMS,
    LANGUAGE,
    SEPARATORS,
    TEXT_OPTIONS,
    all_codes,
    codelist_document,
    metadata_dataset,
    root_folder,
    selection_document,
    stated_limits,
    table_entry,
    tables_page,
)
from discreet.server.portals.selecting import Selection, bare_codes, listed_codes, selection_of
from discreet.server.service import LARGE

BASE = "/api/pxweb/v2"
MOST_BODY = 200_000  # bytes of a selection that is posted
MOST_PAGE = 1000
OF_VARIABLES = ("valuecodes", "codelist", "outputvalues")
OF_VARIABLE = re.compile(rf"({'|'.join(OF_VARIABLES)})\[(.*)\]", re.IGNORECASE)
MEDIA = {f.name: f.media_type for f in FORMATS} | {
    "json-stat2": "application/json",
    "json-px": "application/json",
    "csv": "text/csv; charset=utf-8",
}
SUFFIXES = {"json-stat2": ".json", "json-px": ".json"} | {f.name: f.suffix for f in FORMATS}
router = APIRouter(prefix=BASE, tags=["PxWeb"])


def base_of(request: Request) -> str:
    """The address of the interface, whole, as links are."""
    return site_address(request) + BASE


def sent_parameters(request: Request, *known: str) -> dict[str, str]:
    """The parameters of an address by their names as documented, whatever capitals they were sent in.

    Of a name in ``OF_VARIABLES`` every parameter such as ``valuecodes[sex]`` is known.
    """
    text = query_text(request)
    plain = {name.lower(): name for name in ("lang", *known) if name not in OF_VARIABLES}
    named: dict[str, str] = {}
    read: set[str] = set()
    for name, value in parse_qsl(text, keep_blank_values=True):
        call = OF_VARIABLE.fullmatch(name)
        of_variable = call is not None and call[1].lower() in known
        meant = f"{call[1].lower()}[{call[2]}]" if call and of_variable else plain.get(name.lower())
        if meant is not None:
            read.add(name)
            if meant in named:
                raise InputError(f"the parameter {meant[:60]!r} is given twice")
            named[meant] = value
    check_parameters(text, read or plain.values())
    if named.get("lang", LANGUAGE["id"]) != LANGUAGE["id"]:
        raise InputError(f"no language {named['lang'][:20]!r}; known: {LANGUAGE['id']!r}")
    return named


def json_response(content: Any) -> Response:
    """A document about tables, for the asker alone."""
    return Response(json_bytes(content), media_type="application/json", headers={"Cache-Control": "private, no-cache"})


@router.get("/config", summary="PxWeb: limits and formats")
async def config(request: Request) -> Response:
    """The configuration of the interface."""
    sent_parameters(request)
    tables = await listed_tables(request)
    return json_response(stated_limits(next(iter(tables_of(request).values())).state.service.settings, tables))


@router.get("/navigation", summary="PxWeb: the folder of tables")
async def navigation(request: Request) -> Response:
    """All tables in one folder."""
    sent_parameters(request)
    return json_response(root_folder(await listed_tables(request), base_of(request)))


@router.get("/tables", summary="PxWeb: tables, with search")
async def list_tables(request: Request) -> Response:
    """One page of tables."""
    sent = sent_parameters(request, "query", "pastDays", "includeDiscontinued", "pageNumber", "pageSize")
    tables = await listed_tables(request)
    number = page_parameter(sent, "pageNumber", 1)
    size = page_parameter(sent, "pageSize", 20)
    page_parameter(sent, "pastDays", 1)  # read and not used: when tables were last changed is not told
    return json_response(tables_page(tables, base_of(request), sent.get("query", ""), number, size))


def page_parameter(sent: Mapping[str, str], name: str, default: int) -> int:
    """A parameter that is a number from 1 to 1000."""
    text = sent.get(name, str(default))
    if not re.fullmatch("[0-9]{1,6}", text) or not 1 <= int(text) <= MOST_PAGE:
        raise InputError(f"{name} is a number from 1 to {MOST_PAGE}")
    return int(text)


@router.get("/tables/{identity}", summary="PxWeb: a table")
async def one_table(request: Request, identity: str) -> Response:
    """A table as in the list."""
    sent_parameters(request)
    table, _ = await asked_table(request, identity)
    return json_response({"language": LANGUAGE["id"], **table_entry(table, base_of(request))})


@router.get("/tables/{identity}/metadata", summary="PxWeb: variables and codes of a table")
async def table_metadata(request: Request, identity: str) -> Response:
    """Variables, codes and codelists in JSON-stat 2.0."""
    sent = sent_parameters(request, "outputFormat", "defaultSelection", "codelist")
    if sent.get("outputFormat", "json-stat2") not in ("json-stat2",):
        raise InputError("metadata are given as 'json-stat2'")
    table, _ = await asked_table(request, identity)
    lists = {name[9:-1]: text for name, text in sent.items() if name.startswith("codelist[")}
    codes = dict(table.default) if is_true(sent.get("defaultSelection", "false")) else all_codes(table)
    listed = {name: listed_codes(table, table.variable(name), one) for name, one in lists.items()}
    return json_response(metadata_dataset(table, base_of(request), codes | listed))


def is_true(text: str) -> bool:
    """What a parameter that is true or false says."""
    if text.lower() not in ("true", "false"):
        raise InputError(f"defaultSelection is 'true' or 'false', not {text[:60]!r}")
    return text.lower() == "true"


@router.get("/tables/{identity}/defaultselection", summary="PxWeb: what is given if nothing is selected")
async def default_selection(request: Request, identity: str) -> Response:
    """The selection that stands in for none."""
    sent_parameters(request)
    table, _ = await asked_table(request, identity)
    return json_response(selection_document(table, Selection(table.default), base_of(request)))


@router.get("/codelists/{identity}", summary="PxWeb: a level of a variable")
async def one_codelist(request: Request, identity: str) -> Response:
    """The codes of a level, with the finest codes that each stands for."""
    sent_parameters(request)
    tables = await listed_tables(request)
    for table in tables:
        if identity in table.codelists:
            return json_response(codelist_document(table, table.codelists[identity], base_of(request)))
    raise missing_name("codelist", identity, [one for table in tables for one in table.codelists])


_SELECTING = ("outputFormat", "outputFormatParams", "heading", "stub", "valuecodes", "codelist", "outputvalues")


@router.get("/tables/{identity}/data", summary="PxWeb: the selected cells of a table")
async def table_data(request: Request, identity: str) -> Response:
    """The cells that ``valuecodes[variable]=...`` selects."""
    sent = sent_parameters(request, *_SELECTING)
    table, caller = await asked_table(request, identity)
    wanted = {name[11:-1]: bare_codes(text) for name, text in sent.items() if name.startswith("valuecodes[")}
    lists = {name[9:-1]: text for name, text in sent.items() if name.startswith("codelist[")}
    layout = TextLayout(
        tuple(bare_codes(sent.get("heading", ""))),
        tuple(bare_codes(sent.get("stub", ""))),
        text_options(sent),
    )
    single = [name[13:-1] for name, text in sent.items() if name.startswith("outputvalues[") and is_single(text)]
    chosen = selection_of(table, wanted, lists, single)
    return await cells_response(request, table, caller, chosen, sent.get("outputFormat", ""), layout)


def is_single(text: str) -> bool:
    """Whether groups are to be shown by their finest codes: ``single``, and not ``aggregated``."""
    if text.lower() not in ("single", "aggregated"):
        raise InputError(f"outputvalues is 'single' or 'aggregated', not {text[:60]!r}")
    return text.lower() == "single"


@router.post("/tables/{identity}/data", summary="PxWeb: the selected cells of a table, by a posted selection")
async def posted_data(request: Request, identity: str) -> Response:
    """The cells that the posted selection names."""
    sent = sent_parameters(request, "outputFormat", "outputFormatParams")
    table, caller = await asked_table(request, identity)
    posted = await posted_object(request, ("selection", "placement"))
    wanted: dict[str, list[str]] = {}
    lists: dict[str, str] = {}
    single: list[str] = []
    for entry in posted_list(posted.get("selection") or [], "selection"):
        known_keys(entry, ("variableCode", "valueCodes", "codelist", "codeList", "outputValues"))
        name = posted_text(entry.get("variableCode"), "variableCode")
        if name in wanted:
            raise InputError(f"the variable {name[:60]!r} is selected twice")
        wanted[name] = posted_texts(entry.get("valueCodes") or ["*"], "valueCodes")
        if listed := entry.get("codelist") or entry.get("codeList"):
            lists[name] = posted_text(listed, "codelist")
        if is_single(posted_text(entry.get("outputValues") or "aggregated", "outputValues")):
            single.append(name)
    placement = posted.get("placement") or {}
    known_keys(placement, ("heading", "stub"))
    layout = TextLayout(
        tuple(posted_texts(placement.get("heading") or [], "heading")),
        tuple(posted_texts(placement.get("stub") or [], "stub")),
        text_options(sent),
    )
    chosen = selection_of(table, wanted, lists, single)
    return await cells_response(request, table, caller, chosen, sent.get("outputFormat", ""), layout)


def text_options(sent: Mapping[str, str]) -> tuple[str, ...]:
    """The options of a text format, whatever capitals they were sent in."""
    known = {option.lower(): option for option in (*TEXT_OPTIONS, *SEPARATORS)}
    return tuple(known.get(part.lower(), part) for part in bare_codes(sent.get("outputFormatParams", "")))


# -- answers ----------------------------------------------------------------------------------------------------


async def cells_response(
    request: Request, table: PortalTable, caller: Caller, chosen: Selection, form: str, layout: TextLayout
) -> Response:
    """The selected cells in a format."""
    form = form or "json-stat2"
    if form not in FORMS:
        raise InputError(f"no format {form[:60]!r}; {nearest(form[:60], FORMS)}")
    asked = await asked_cells(table, caller, chosen)
    request.state.cached = asked.cached
    named = f"{table.service.edition} {table.identity} {chosen.canonical} {form} {layout}"
    tag = '"' + hashlib.sha256(named.encode()).hexdigest()[:32] + '"'
    extra = headers(table.service, tag, asked.reply)
    if same(request, tag):
        return Response(status_code=304, headers=extra)
    make = (table, asked.parts, form, layout, asked.addresses)
    try:
        body = await asyncio.to_thread(answer_bytes, *make) if asked.size > LARGE else answer_bytes(*make)
    except InputError as error:
        raise HttpFault(413, "too large", "format", str(error), "take another format or a smaller table") from None
    extra["Content-Type"] = MEDIA[form]
    extra["Content-Disposition"] = f'inline; filename="{table.identity}{SUFFIXES[form]}"'
    return Response(body, 200, extra)


# -- what is posted ---------------------------------------------------------------------------------------------


async def posted_object(request: Request, known: Collection[str]) -> dict[str, Any]:
    """The JSON object that was posted, whose keys are known."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BODY:
            raise HttpFault(413, "too large", "body", f"a selection has at most {MOST_BODY:,} bytes", "select less")
    try:
        posted = json.loads(body or b"{}", object_pairs_hook=keys_once)
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError("the body is not JSON") from None
    known_keys(posted, known)
    return dict(posted)


def keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of some keys and values; a key that stands there twice is an error, as in an address."""
    for key, times in Counter(key for key, _ in pairs).items():
        if times > 1:
            raise InputError(f"the key {key[:60]!r} is given twice")
    return dict(pairs)


def known_keys(posted: object, known: Collection[str]) -> None:
    """Raise unless this is an object that has known keys only."""
    if not isinstance(posted, dict):
        raise InputError(f"an object with {', '.join(known)} was expected")
    for key in posted:
        if key not in known:
            raise InputError(f"unknown key {key[:60]!r}; {nearest(key[:60], known)}")


def posted_list(posted: object, name: str) -> list[Any]:
    """A list, or an error that names what should be one."""
    if not isinstance(posted, list):
        raise InputError(f"{name} is a list")
    return posted


def posted_text(posted: object, name: str) -> str:
    """A text, or an error that names what should be one."""
    if not isinstance(posted, str):
        raise InputError(f"{name} is a text")
    return posted


def posted_texts(posted: object, name: str) -> list[str]:
    """A list of texts."""
    return [posted_text(one, f"each of {name}") for one in posted_list(posted, name)]
