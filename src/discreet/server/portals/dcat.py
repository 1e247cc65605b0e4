"""Data sets as DCAT and schema.org describe them, in JSON-LD that needs nothing from elsewhere to be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.formats import by_name
from discreet.policy import Query
from discreet.server.languages import ENGLISH, counted_word, spoken
from discreet.server.portals.portal_table import PortalTable, listed_tables, site_address, tables_of
from discreet.server.portals.pxweb import sent_parameters
from discreet.server.portals.pxweb_answers import json_bytes
from discreet.server.queries import address

CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "schema": "https://schema.org/",
}
GIVEN = ("csv", "json-stat", "px", "sdmx-csv", "xlsx")
SERVICES = {"api/table": "Tables", "api/pxweb/v2": "PxWeb API, version 2", "api/sdmx/2.1": "SDMX REST, version 1.5"}
router = APIRouter(include_in_schema=False)


@router.get("/catalogue.jsonld")
async def linked_catalogue(request: Request) -> Response:
    """The catalogue of all data sets that a caller may ask."""
    sent_parameters(request)
    content = catalogue_document(await listed_tables(request), site_address(request), is_hub(request))
    return Response(json_bytes(content), 200, {"Cache-Control": "private, no-cache"}, "application/ld+json")


def is_hub(request: Request) -> bool:
    """Whether tables stand below names of their own."""
    return any(site is not request.app for site in tables_of(request).values())


def catalogue_document(tables: Sequence[PortalTable], base: str, hub: bool) -> dict[str, Any]:
    """The data sets of a server and the interfaces at which they can be asked."""
    homes = {table.identity: f"{base}/{table.identity}" if hub else base for table in tables}
    services = [
        {
            "@id": f"{base}/{path}",
            "@type": "dcat:DataService",
            "dct:title": title,
            "dcat:endpointURL": {"@id": f"{base}/{path}"},
            "dcat:servesDataset": [{"@id": _name(home)} for home in homes.values()],
        }
        for path, title in SERVICES.items()
        if not (hub and path == "api/table")
    ]
    return {
        "@context": CONTEXT,
        "@id": f"{base}/catalogue.jsonld",
        "@type": ["dcat:Catalog", "schema:DataCatalog"],
        "dct:title": "Tables",
        "schema:name": "Tables",
        "dcat:dataset": [dataset_node(table, homes[table.identity]) for table in tables],
        "dcat:service": services,
    }


def dataset_document(table: PortalTable, home: str) -> dict[str, Any]:
    """One data set by itself, as a page shows it to search engines."""
    return {"@context": CONTEXT, **dataset_node(table, home)}


def _name(home: str) -> str:
    return f"{home}/#data"


def dataset_node(table: PortalTable, home: str) -> dict[str, Any]:
    """A data set with its variables, the edition of its answers, and where a first table of it can be had."""
    notes = " ".join(table.service.policy.notes)
    counted = counted_word(spoken(table.service.dimensions), ENGLISH)
    about = f"{table.title}: tables of {counted} by {', '.join(table.variables)}"
    words = f"{about}, made when they are asked for. {notes}".strip()
    return {
        "@id": _name(home),
        "@type": ["dcat:Dataset", "schema:Dataset"],
        "dct:identifier": table.identity,
        "dct:title": table.title,
        "schema:name": table.title,
        "dct:description": words,
        "schema:description": words,
        "dcat:landingPage": {"@id": f"{home}/"},
        "schema:url": {"@id": f"{home}/"},
        "dcat:version": table.service.edition,
        "schema:version": table.service.edition,
        "dcat:keyword": list(table.variables),
        "schema:variableMeasured": [_variable(d.name, d.title, d.description.texts) for d in table.variables.values()],
        "dcat:distribution": _distributions(table, home),
    }


def _variable(name: str, title: str, texts: dict[str, str]) -> dict[str, str]:
    node = {"@type": "schema:PropertyValue", "schema:propertyID": name, "schema:name": title}
    about = [texts[part] for part in ("definition", "universe") if part in texts]
    return node | ({"schema:description": " ".join(about)} if about else {})


def _distributions(table: PortalTable, home: str) -> list[dict[str, Any]]:
    query = address(Query.of(list(table.default)))
    nodes = []
    for form in map(by_name, GIVEN):
        kind = form.media_type.partition(";")[0]
        place = f"{home}/api/table{form.suffix}?{query}"
        nodes.append(
            {
                "@type": ["dcat:Distribution", "schema:DataDownload"],
                "dct:title": f"{', '.join(table.default)}: {form.description}",
                "dcat:accessURL": {"@id": place},
                "schema:contentUrl": {"@id": place},
                "dcat:mediaType": kind,
                "schema:encodingFormat": kind,
            }
        )
    return nodes
