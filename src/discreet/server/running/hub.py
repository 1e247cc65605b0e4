"""Several cubes in one server, as a census hub has them (JOS15 section 2.1): each at its own address, with one store.

Cubes with the same number of people are taken to be of the same people, and what somebody was told of one counts when
another is asked: differences across cubes are differences too.
"""

from __future__ import annotations

import difflib
import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlencode

import orjson
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.base.version import VERSION
from discreet.errors import InputError, Refused
from discreet.policy import read_policy
from discreet.server.api import HttpFault, query_text
from discreet.server.counting.cube import read_cube
from discreet.server.languages import LANGUAGES, language_of
from discreet.server.logs import error_place, log
from discreet.server.metrics import METERS, TYPE
from discreet.server.pages.corrections import ALIKE
from discreet.server.pages.pages import known_fields, rendered, root
from discreet.server.parameter_checks import check_parameters
from discreet.server.portals import PORTALS
from discreet.server.portals.data_sets import found_sets
from discreet.server.portals.dcat import catalogue_document
from discreet.server.portals.portal_table import PortalTable, site_address
from discreet.server.portals.sdmx_names import set_identity
from discreet.server.record.rate_limits import Over
from discreet.server.record.store import Store, Unreachable
from discreet.server.running.site import (
    FAULT,
    HUNG_UP,
    count_request,
    description,
    ill_formed_request,
    living,
    make_safe,
    plain_fault,
    site,
    site_paths,
    stated_fault,
    static,
)
from discreet.server.service import Service
from discreet.server.settings import ROLES, Settings


def create_hub(settings: Settings) -> FastAPI:
    """A server of all cubes of ``settings``: /NAME/ is what a server of that cube alone has at /.

    The addresses of its first cube, if it has one, are also there without a name, but for /, which is the catalogue.
    """
    people = same_people(settings.cubes)
    shown_alike(settings, people)
    named_apart(settings.cubes)
    store = Store(settings.store)
    sites = {name: site(replace(one, people=people[name]), store) for name, one in settings.sites.items()}
    for name, one in sites.items():
        one.state.beside = [other.state.service for known, other in sites.items() if known != name]
    hub = FastAPI(title="discreet table servers", version=VERSION, docs_url=None, redoc_url=None, openapi_url=None)
    hub.router.lifespan_context = living(list(sites.values()))
    hub.state.sites = hub.state.tables = sites
    for router in PORTALS:
        hub.include_router(router)
    known = [Depends(known_fields)]
    hub.add_api_route("/", index, include_in_schema=False)
    hub.add_api_route("/api/cubes", cubes, summary="The cubes that can be asked, and where", dependencies=known)
    hub.add_api_route("/api/openapi.json", description, include_in_schema=False, dependencies=known)
    hub.add_api_route("/health", hub_health, include_in_schema=False, dependencies=known)
    if settings.metrics:
        hub.add_api_route("/metrics", hub_metrics, include_in_schema=False, dependencies=known)
    hub.mount("/static", static(), name="static")
    for name, one in sites.items():
        hub.mount(f"/{name}", one, name=name)
    if settings.first:
        hub.mount("/", Unnamed(sites[settings.first]))  # last: whatever the hub and the names do not answer
    for kind in (HttpFault, Refused, InputError, Over, Unreachable, RequestValidationError, HTTPException):
        hub.add_exception_handler(kind, hub_fault)
    hub.add_middleware(Safe)
    return hub


def same_people(folders: Mapping[str, str]) -> dict[str, str]:
    """For every cube the name of the first one with as many people: whose questions are set against each other."""
    first: dict[int, str] = {}
    found = {}
    for name, folder in folders.items():
        table, _ = read_cube(Path(folder))
        found[name] = first.setdefault(int(table.statistics["count"].inner.sum()), name)
    return found


def named_apart(names: Iterable[str]) -> None:
    """Raise if two cubes would have one name in SDMX: who asks for one would be given the other.

    >>> named_apart(["2021", "d-2021"])
    Traceback (most recent call last):
    ...
    discreet.errors.InputError: the cubes '2021' and 'd-2021' have one name in SDMX, 'D_2021': rename one of them
    """
    taken: dict[str, str] = {}
    for name in names:
        if (first := taken.setdefault(set_identity(name), name)) != name:
            raise InputError(
                f"the cubes {first!r} and {name!r} have one name in SDMX, {set_identity(name)!r}: rename one of them"
            )


def shown_alike(settings: Settings, people: Mapping[str, str]) -> None:
    """Raise if two cubes of the same people protect in two ways: a number asked of both would be shown twice.

    What may be asked, and from what risk on it is refused, may differ from cube to cube.
    """
    sites = settings.sites
    for role in ROLES:
        ways = {name: _way(one, role) for name, one in sites.items()}
        for name, first in people.items():
            if ways[name] != ways[first]:
                raise InputError(
                    f"the cubes {first!r} and {name!r} have the same number of people, so they are taken to be of the "
                    f"same, and their policies for the role {role!r} protect in two ways: a caller who asks both has "
                    "two values of a number. Let the policies differ in what may be asked only"
                )


def _way(settings: Settings, role: str) -> tuple[object, ...]:
    """How numbers are shown to a role, and under which secret."""
    mine = [settings.roles[one] for one in ROLES[: ROLES.index(role) + 1] if one in settings.roles]
    policy = read_policy(mine[-1] if mine else settings.policy)
    chosen = policy.risk if policy.search or len(policy.methods) > 1 else policy.risk.t1
    rules = [repr(rule) for rule in policy.rules]
    noise = {name: served.noise for name, served in policy.measures.items()}
    return (policy.publish, policy.before, policy.methods, rules, policy.search, chosen, noise, policy.secret)


def _services(request: Request) -> dict[str, Service]:
    return {name: one.state.service for name, one in request.app.state.sites.items()}


def _listed(request: Request) -> list[dict[str, str]]:
    return [
        {"name": name, "title": service.counting.title or name,
         "address": f"{root(request)}/{name}/"}
        for name, service in _services(request).items()
    ]  # fmt: skip


async def index(request: Request) -> Response:
    """The data sets as a page, with search."""
    check_parameters(query_text(request), ("q", "lang"))
    sets = await found_sets(request)
    tables = [PortalTable(name, service) for name, service in _services(request).items()]
    wanted = request.query_params.get("q", "")
    searched = {"q": wanted} if wanted else {}
    addresses = {code: f"{root(request)}/?{urlencode({**searched, 'lang': code})}" for code in LANGUAGES}
    text = rendered(
        "hub.html",
        language_of(request),
        sets=sets,
        total=len(tables),
        q=wanted,
        root=root(request),
        in_languages=[(code, LANGUAGES[code], address) for code, address in addresses.items()],
        described=catalogue_document(tables, site_address(request), hub=True),
    )
    return Response(text, media_type="text/html")


async def cubes(request: Request) -> Response:
    """The cubes, for programs: name, title, and the address below which their API is."""
    return Response(orjson.dumps({"cubes": _listed(request)}), media_type="application/json")


async def _state(request: Request) -> tuple[bool, str]:
    """Whether every cube can be asked, and the edition, which is the same for servers that give the same answers."""
    good, editions = True, []
    for name, service in _services(request).items():
        good = good and await service.commits.run(service.store.alive)
        editions.append(f"{name} {service.editions}")
    return good, hashlib.sha256(" ".join(editions).encode()).hexdigest()[:16]


async def hub_metrics(request: Request) -> Response:
    """Counts over all cubes for a monitor that asks this server itself."""
    if "x-forwarded-for" in request.headers or "forwarded" in request.headers:
        raise HTTPException(404)
    good, edition = await _state(request)
    return Response("\n".join(METERS.lines(edition=edition, store=good)) + "\n", media_type=TYPE)


async def hub_health(request: Request) -> Response:
    """Whether every cube can be asked, and the edition."""
    good, edition = await _state(request)
    words = {"status": "ok" if good else "no store", "edition": edition}
    return Response(orjson.dumps(words), 200 if good else 503, media_type="application/json")


async def hub_fault(request: Request, error: Exception) -> Response:
    """An address that no cube has, or that is wrong: a page for a reader, the canonical form below /api."""
    fault = stated_fault(error, "see /api/cubes")
    request.state.rule = fault.body["rule"]
    path = str(request.scope["path"]).removeprefix(root(request))
    written, _, rest = path.removeprefix("/").partition("/")
    for_programs = ("api", "health", "static")
    if fault.status != 404 or {written, rest.partition("/")[0]} & {*for_programs} or request.method != "GET":
        return plain_fault(request.scope, fault)
    near = difflib.get_close_matches(written.casefold(), _services(request), n=1, cutoff=ALIKE)
    listed = {one["name"]: one for one in _listed(request)}
    meant = f"{listed[near[0]]['address']}{rest}" if near else ""
    query = query_text(request)
    text = rendered(
        "hub_fault.html",
        language_of(request),
        written=unquote(written),
        near=(listed[near[0]]["title"], f"{meant}?{query}" if query else meant) if near else None,
        sets=list(listed.values()),
        root=root(request),
        in_languages=[(code, name, f"{root(request)}/?lang={code}") for code, name in LANGUAGES.items()],
    )
    return Response(text, 404, media_type="text/html")


class Unnamed:
    """A cube at addresses without its name: those that it has. Any other one is the hub's to answer."""

    def __init__(self, cube: FastAPI) -> None:
        self.cube = cube
        self.known = {path.split("/")[1].partition(".")[0] for path in site_paths(cube)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope["path"]).removeprefix(str(scope.get("root_path", "")))
        if path.removeprefix("/").partition("/")[0].partition(".")[0] not in self.known:
            raise HTTPException(404)
        await self.cube(scope, receive, send)


class Safe:
    """The safe headers around what the hub says itself, which is counted and logged; a cube does this for its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = time.perf_counter()
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                make_safe(scope, message)
            await send(message)

        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        wrong, hub = ill_formed_request(scope), scope["app"]
        try:
            await (self.app if wrong is None else plain_fault(scope, wrong))(scope, receive, sending)
        except ClientDisconnect:  # whoever asked has hung up: nobody to answer, and nothing went wrong here
            status = status or HUNG_UP
        except Exception as error:  # noqa: BLE001 - a traceback or its message could hold a value
            log.error("fault", extra={"where": error_place(error), "kind": type(error).__name__})
            if not status:
                await plain_fault(scope, FAULT)(scope, receive, sending)
        if scope["app"] is hub:  # and not that of a cube, which has counted it
            count_request(scope, status, start)
