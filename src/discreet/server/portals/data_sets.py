"""The data sets of a server for whoever looks for one: variables, limits for every role, editions, where to go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.errors import InputError
from discreet.policy.measure_words import measure_unit
from discreet.server.api import query_text
from discreet.server.editions.edition_history import published_versions
from discreet.server.languages import ENGLISH, LANGUAGES, counted_word, number_of, spoken
from discreet.server.parameter_checks import check_parameters
from discreet.server.portals.dcat import is_hub
from discreet.server.portals.portal_table import PortalTable, listed_tables, tables_of
from discreet.server.portals.pxweb_answers import json_bytes
from discreet.server.portals.pxweb_documents import matches_words, searched_text
from discreet.server.record.server_key import keyed_name
from discreet.server.service import Service
from discreet.server.settings import ROLES

MOST_SEARCHED = 200  # characters of a search
router = APIRouter(prefix="/api", tags=["tables"])


@router.get("/datasets", summary="The data sets, with search over titles, variables and categories")
async def datasets(request: Request) -> Response:
    """Every data set with its variables, limits and editions; ``q`` keeps those that hold all its words."""
    check_parameters(query_text(request), ("q",))
    entries = await found_sets(request)
    return Response(json_bytes({"datasets": entries}), 200, {"Cache-Control": "private, no-cache"}, "application/json")


async def found_sets(request: Request) -> list[dict[str, Any]]:
    """The data sets that hold all words of the search ``q`` of an address; all, if it has none."""
    wanted = request.query_params.get("q", "")
    if len(wanted) > MOST_SEARCHED:
        raise InputError(f"a search has at most {MOST_SEARCHED} characters")
    root = str(request.scope.get("root_path", "")).rstrip("/")
    sites, hub = tables_of(request), is_hub(request)
    entries = []
    for table in await listed_tables(request):
        if matches_words(wanted, searched_text(table)):
            public = sites[table.identity].state.service
            entries.append(set_entry(table, public, f"{root}/{table.identity}" if hub else root, wanted))
    return entries


def set_entry(table: PortalTable, public: Service, home: str, wanted: str = "") -> dict[str, Any]:
    """A data set: what it is about, what may be asked by whom, and its editions, the last one present."""
    return {
        "name": table.identity,
        "title": table.title,
        "address": f"{home}/",
        "api": f"{home}/api/metadata",
        "counted": counted_word(spoken(table.service.dimensions), ENGLISH),
        "number_of": {code: number_of(spoken(table.service.dimensions), code) for code in LANGUAGES},
        "notes": list(table.service.policy.notes),
        "sources": stated_once(d.description.source for d in table.variables.values()),
        "dates": stated_once(d.description.date for d in table.variables.values()),
        "measures": [
            {
                "name": name,
                "label": served.label or name,
                "unit": measure_unit(table.service.policy, table.service.dimensions, name),
                "statistics": list(served.statistics),
            }
            for name, served in table.service.policy.measures.items()
        ],
        "variables": [
            {
                "name": d.name,
                "title": d.title,
                "definition": d.description.definition,
                "categories": len(d.leaves),
                "found": found_labels(wanted, [d.label(code) for code in d.codes]),
            }
            for d in table.variables.values()
        ],
        "roles": role_limits(public),
        "edition": table.service.edition,
        "data_edition": public.version,
        "editions": edition_names(public),
    }


def stated_once(texts: Iterable[str]) -> list[str]:
    """What the variables of a data set state, each text once.

    >>> stated_once(["Census", "", "Census", "Register"])
    ['Census', 'Register']
    """
    return [text for text in dict.fromkeys(texts) if text]


def found_labels(wanted: str, labels: Sequence[str], most: int = 3) -> list[str]:
    """The first labels that hold a word of a search: why a data set was found.

    >>> found_labels("nurse", ["Teachers", "Nurses"]), found_labels("", ["Teachers"])
    (['Nurses'], [])
    """
    words = wanted.casefold().split()
    return [label for label in labels if any(word in label.casefold() for word in words)][:most]


def role_limits(public: Service) -> list[dict[str, Any]]:
    """What each role may ask: the public, and the roles that have a policy of their own."""
    services = {ROLES[0]: public, **{role: public.roles[role] for role in ROLES if role in public.roles}}
    limits = []
    for role, service in services.items():
        rules = service.policy.query
        limits.append(
            {
                "role": role,
                "policy": service.policy.title,
                "max_dimensions": rules.max_dimensions,
                "max_cells": rules.max_cells,
                "max_filters": rules.max_filters,
            }
        )
    return limits


def edition_names(public: Service) -> list[str]:
    """The names of the editions of the data that were published here, oldest first; the last is the present one.

    A name is one by the server's secret and tells nothing of the data.
    """
    folder = public.settings.folder
    versions = published_versions_once(str(folder)) if folder is not None else ()
    names = [keyed_name(public.settings.key, "data", version) for version in versions]
    earlier = [name for name in names if name != public.version]
    return [*earlier, public.version]


@lru_cache(maxsize=64)
def published_versions_once(folder: str) -> tuple[str, ...]:
    """The versions that a folder has held: while a server runs, its cube is the same."""
    return published_versions(Path(folder))
