"""Short addresses of tables: ``/s/NAME`` leads to a table for ever, by a row of the store that holds its address.

A name is a keyed hash of the address: it tells nothing, the same table has the same one, and nobody can count them up.
The row says neither who made it nor what the table holds. Who follows a short address asks for the table as by its long
one, with the same rules, limits and record.
"""

from __future__ import annotations

import hmac
import time
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import orjson
from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite

from discreet.server.api import HttpFault, service_of
from discreet.server.languages import language_of
from discreet.server.pages.pages import FIELDS, gate_of, in_words, known_fields, rendered_page, root, visitor
from discreet.server.parameter_checks import check_parameters
from discreet.server.record.store import Store
from discreet.server.schema import links
from discreet.server.service import Service
from discreet.server.views.page_choice import PageChoice

router = APIRouter(include_in_schema=False, dependencies=[Depends(known_fields)])
LETTERS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"  # none that is read as another
LENGTHS = (11, 22, 33)  # the first has 64 bits; the others are for a name that another table has


@router.post("/s")
async def make_short_link(request: Request) -> Response:
    """A short address of a table that this visitor may have: a page, or JSON for who prefers it."""
    gate = gate_of(request)
    caller = await visitor(request)
    fields = await gate.form(request)
    if fields is None:
        raise HttpFault(403, "refused", "form", "the form is too old or not ours", "load the page again")
    service = service_of(request, caller)
    choice = stated_choice(service, fields.get("table", ""))
    refused = await service.preview(caller, service.resolved(choice.query()))
    if refused is not None:
        raise refused
    name = await service.commits.run(keep_link, service.store, service.settings.key, choice.link())
    address = f"{root(request)}/s/{name}"
    if request.headers.get("accept") == "application/json":
        return Response(orjson.dumps({"address": address}), media_type="application/json")
    scheme = {"scheme": "https"} if service.settings.https else {}
    whole = str(request.base_url.replace(path=address, **scheme))
    return rendered_page(
        request, caller, "short.html", short=whole, table=root(request) + choice.link(),
        words=in_words(service, choice, language_of(request)),
    )  # fmt: skip


@router.get("/s/{name}")
async def follow_short_link(request: Request, name: str) -> Response:
    """On to the table, which is asked for there."""
    caller = await visitor(request)
    service = service_of(request, caller)
    link = await service.commits.run(kept_link, service.store, name)
    if link is None:
        raise HttpFault(404, "not found", "path", "there is nothing here", "see /api/metadata")
    return RedirectResponse(root(request) + link, 303)


def stated_choice(service: Service, text: str) -> PageChoice:
    """The table of an address's parameters; where something else than its variables shall stand is left out."""
    check_parameters(text, (*FIELDS["/table"], "lang"))
    choice = PageChoice.from_link(dict(parse_qsl(text)), service.dimensions)
    return replace(choice, places=tuple((name, at) for name, at in choice.places if name in choice.levels))


def link_name(key: bytes, link: str, length: int = LENGTHS[0]) -> str:
    """The name of an address, by a key.

    >>> link_name(b"k", "/table?variables=sex")
    'Se3ZoXMzRpX'
    """
    number = int.from_bytes(hmac.new(key, f"link:{link}".encode(), "sha256").digest(), "big")
    name = ""
    for _ in range(length):
        number, place = divmod(number, len(LETTERS))
        name += LETTERS[place]
    return name


def keep_link(store: Store, key: bytes, link: str) -> str:
    """Keep an address, if it is not kept yet, and give its name. Takes as long either way."""
    kind: Any = postgresql if store.shared else sqlite
    with store.begin() as connection:
        for length in LENGTHS:
            name = link_name(key, link, length)
            adding = kind.insert(links).values(name=name, link=link, at=time.time())
            connection.execute(adding.on_conflict_do_nothing(index_elements=[links.c.name]))
            if connection.execute(select(links.c.link).where(links.c.name == name)).scalar_one() == link:
                return name
    raise HttpFault(500, "fault", "server", "something went wrong on our side", "try again")


def kept_link(store: Store, name: str) -> str | None:
    """The address of a name; None if nobody made it."""
    if not name.isascii() or not name.isalnum() or len(name) > LENGTHS[-1]:
        return None
    found = store.rows(select(links.c.link).where(links.c.name == name))
    return str(found[0]["link"]) if found else None
