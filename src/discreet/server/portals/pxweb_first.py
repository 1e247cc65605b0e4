"""PxWeb's interface, version 1, which many clients still speak: folders by GET, cells by a posted query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.errors import InputError, nearest
from discreet.server.portals.portal_table import PortalTable, asked_table, listed_tables, missing_name, tables_of
from discreet.server.portals.pxweb import (
    cells_response,
    json_response,
    known_keys,
    posted_list,
    posted_object,
    posted_text,
    posted_texts,
    sent_parameters,
)
from discreet.server.portals.pxweb_answers import TextLayout
from discreet.server.portals.pxweb_documents import LANGUAGE, MINUTE, matches_words, searched_text, stated_limits
from discreet.server.portals.selecting import Selection, selection_of

FOLDER = "tables"
FORM_NAMES = {
    "json": "json-px",
    "json-stat2": "json-stat2",
    "csv": "csv",
    "px": "px",
    "xlsx": "xlsx",
    "html5_table": "html",
}
FILTERS = ("item", "all", "top")
router = APIRouter(prefix="/api/pxweb/v1", tags=["PxWeb"])


def first_parameters(request: Request, language: str, folder: str | None, *known: str) -> dict[str, str]:
    """The parameters of an address; an unknown one, language or folder is an error."""
    sent = sent_parameters(request, *known)
    if language != LANGUAGE["id"]:
        raise missing_name("language", language, [LANGUAGE["id"]])
    if folder is not None and folder != FOLDER:
        raise missing_name("folder", folder, [FOLDER])
    return sent


async def first_document(request: Request, language: str, folder: str | None = None, *known: str) -> Response | None:
    """The limits, if ``?config`` asks for them; None otherwise."""
    if "config" not in first_parameters(request, language, folder, "config", *known):
        return None
    limits = stated_limits(next(iter(tables_of(request).values())).state.service.settings, await listed_tables(request))
    cells = limits["maxDataCells"]
    return json_response(
        {
            "maxValues": cells,
            "maxCells": cells,
            "maxCalls": limits["maxCallsPerTimeWindow"],
            "timeWindow": MINUTE,
            "CORS": False,
        }
    )


@router.get("/{language}", summary="PxWeb 1: the databases, which are one")
@router.get("/{language}/", include_in_schema=False)
async def databases(request: Request, language: str) -> Response:
    """One folder, which has all tables."""
    if limits := await first_document(request, language):
        return limits
    await listed_tables(request)  # admits the caller
    return json_response([{"dbid": FOLDER, "text": "Tables"}])


@router.get("/{language}/{folder}", summary="PxWeb 1: the tables")
@router.get("/{language}/{folder}/", include_in_schema=False)
async def folder_tables(request: Request, language: str, folder: str) -> Response:
    """The tables of the folder; with ``?query=words`` those whose names, variables or labels hold all the words."""
    if limits := await first_document(request, language, folder, "query"):
        return limits
    wanted = first_parameters(request, language, folder, "query").get("query", "")
    tables = [table for table in await listed_tables(request) if matches_words(wanted, searched_text(table))]
    return json_response([{"id": table.identity, "type": "t", "text": table.title} for table in tables])


@router.get("/{language}/{folder}/{identity}", summary="PxWeb 1: variables and codes of a table")
async def first_metadata(request: Request, language: str, folder: str, identity: str) -> Response:
    """Variables with their codes and the labels of these."""
    if limits := await first_document(request, language, folder):
        return limits
    table, _ = await asked_table(request, identity)
    contents = {
        "code": table.contents,
        "text": "contents",
        "values": list(table.measures),
        "valueTexts": list(table.measures.values()),
    }
    variables = [
        {
            "code": name,
            "text": d.title,
            "values": list(d.codes),
            "valueTexts": [d.label(code) for code in d.codes],
            "elimination": d.total is not None,
        }
        for name, d in table.variables.items()
    ]
    return json_response({"title": table.title, "variables": [contents, *variables]})


@router.post("/{language}/{folder}/{identity}", summary="PxWeb 1: the cells that a posted query selects")
async def first_data(request: Request, language: str, folder: str, identity: str) -> Response:
    """The cells of a query: for each variable an item list, a pattern, the first ones, or codes of a codelist."""
    first_parameters(request, language, folder)
    table, caller = await asked_table(request, identity)
    posted = await posted_object(request, ("query", "response"))
    answer = posted.get("response") or {}
    known_keys(answer, ("format", "params"))
    wanted_form = posted_text(answer.get("format", "px"), "format")
    if wanted_form not in FORM_NAMES:
        raise InputError(f"no format {wanted_form[:60]!r}; {nearest(wanted_form[:60], FORM_NAMES)}")
    chosen = first_selection(table, posted_list(posted.get("query") or [], "query"))
    return await cells_response(request, table, caller, chosen, FORM_NAMES[wanted_form], TextLayout())


def first_selection(table: PortalTable, query: list[Any]) -> Selection:
    """The entries of a posted query as a selection."""
    wanted: dict[str, list[str]] = {}
    lists: dict[str, str] = {}
    for entry in query:
        known_keys(entry, ("code", "selection"))
        name = posted_text(entry.get("code"), "code")
        if name in wanted:
            raise InputError(f"the variable {name[:60]!r} is selected twice")
        selection = entry.get("selection")
        known_keys(selection, ("filter", "values"))
        kind, _, listed = posted_text(selection.get("filter", "item"), "filter").partition(":")
        if listed and kind in ("vs", "agg"):
            lists[name] = next((one for one in (f"{kind}_{listed}", listed) if one in table.codelists), listed)
        elif kind not in FILTERS:
            raise InputError(f"no filter {kind[:60]!r}; {nearest(kind[:60], (*FILTERS, 'vs:NAME', 'agg:NAME'))}")
        wanted[name] = _values(table, name, kind, posted_texts(selection.get("values") or [], "values"))
    return selection_of(table, wanted, lists)


def _values(table: PortalTable, name: str, kind: str, values: list[str]) -> list[str]:
    if kind == "top":
        return [f"TOP({value})" for value in values]
    if kind != "item":
        return values or ["*"]
    known: Mapping[str, object] = table.measures if name == table.contents else table.variable(name).position
    for value in values:
        if value not in known:
            raise InputError(f"{value[:60]!r} is not a code of {name!r}; {nearest(value[:60], known)}")
    return values
