"""The site of one cube: routes, headers that keep a browser safe, errors that tell nothing, start and end."""

from __future__ import annotations

import asyncio
import gzip
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import orjson
from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.base.version import VERSION
from discreet.errors import InputError, Refused
from discreet.server import api
from discreet.server.api import HttpFault, fault_of
from discreet.server.attack_standing import attack_reports
from discreet.server.auth import Gate
from discreet.server.browser_safety import content_policy
from discreet.server.logs import error_place, log, milliseconds
from discreet.server.metrics import METERS, TYPE
from discreet.server.pages import methodologist as method
from discreet.server.pages import pages, short_links
from discreet.server.parameter_checks import check_parameters, ill_formed
from discreet.server.portals import PORTALS
from discreet.server.portals.portal_faults import portal_fault
from discreet.server.record.rate_limits import Over
from discreet.server.record.store import Store, Unreachable
from discreet.server.service import Service
from discreet.server.settings import Settings

SAFE = (
    (b"content-security-policy", content_policy().encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
HUNG_UP = 499  # for the log only
ONLY_TABLE = "table"  # what portals call the table of a server of one cube
FAULT = HttpFault(500, "fault", "server", "something went wrong on our side", "try again")


def living(sites: Sequence[FastAPI]) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    """What is done when a worker starts and when it ends, for each of its sites."""

    @asynccontextmanager
    async def life(app: Any) -> AsyncIterator[None]:
        for one in sites:
            one.state.service.warm_up()
        holding = [asyncio.create_task(_holding(one.state.service)) for one in sites]
        following = [asyncio.create_task(one.state.gate.follow_keys()) for one in sites]
        log.info("started", extra={"worker": os.getpid()})
        for service in [d for one in sites for d in (one.state.service, *one.state.service.roles.values())]:
            for mind in filter(None, (service.policy.openly, service.policy.unkeyed)):
                log.warning(mind, extra={"worker": os.getpid()})
        yield
        for task in following:
            task.cancel()
        for one in sites:
            one.state.service.stop_holding()
        await asyncio.gather(*holding)
        for one in sites:
            await one.state.service.close()
        log.info("stopped", extra={"worker": os.getpid()})

    return life


async def _holding(service: Service) -> None:
    """Tables are made beforehand; without them answers take longer, and are the same."""
    try:
        await asyncio.to_thread(service.hold_tables)
    except Exception as error:  # noqa: BLE001 - its message may hold data
        log.error("fault", extra={"where": error_place(error), "kind": type(error).__name__})


def site(settings: Settings, store: Store | None = None) -> FastAPI:
    """The routes and pages of one cube; ``store`` is one that other cubes of this worker have, too."""
    service = Service(settings, store=store)
    app = FastAPI(
        title="discreet table server", version=VERSION, docs_url=None, redoc_url=None, openapi_url=None,
    )  # fmt: skip
    app.state.service, app.state.gate = service, Gate(service.store, settings)
    app.include_router(api.router)
    app.include_router(pages.router)
    app.include_router(method.router)
    app.include_router(short_links.router)
    app.state.tables = {ONLY_TABLE: app}
    app.state.attacks = attack_reports(settings)
    for router in PORTALS:
        app.include_router(router)
    known = [Depends(pages.known_fields)]
    app.add_api_route("/api/openapi.json", description, include_in_schema=False, dependencies=known)
    app.add_api_route("/health", health, include_in_schema=False, dependencies=known)
    if settings.metrics:
        app.add_api_route("/metrics", metrics, include_in_schema=False, dependencies=known)
    app.mount("/static", static(), name="static")
    for kind in (HttpFault, Refused, InputError, Over, Unreachable, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, fault_response)
    app.add_middleware(Watched)
    METERS.name_routes(site_paths(app))
    return app


def site_paths(app: FastAPI) -> list[str]:
    """The addresses of the site of a cube."""
    return route_names(app, api.router, pages.router, method.router, short_links.router, *PORTALS)


def route_names(app: FastAPI, *routers: APIRouter) -> list[str]:
    """The addresses of an application and of the routers in it, as metrics name them."""
    routes = [*app.routes, *(route for router in routers for route in router.routes)]
    return sorted({path for route in routes if (path := getattr(route, "path", ""))})


class StaticFolder(StaticFiles):
    """Files, compressed for browsers that take it; an address with parameters is an error here too.

    Pages and answers are not compressed: their length would tell of what is in them.
    """

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, or the error."""
        request = Request(scope)
        check_parameters(api.query_text(request), ())
        response = await super().get_response(path, scope)
        if not isinstance(response, FileResponse) or not path.endswith((".js", ".css")):
            return response
        response.headers["Vary"] = "Accept-Encoding"
        if "gzip" not in request.headers.get("accept-encoding", "") or "range" in request.headers:
            return response
        kept = {name: response.headers[name] for name in ("etag", "last-modified", "vary")}
        body = await asyncio.to_thread(compressed, str(response.path))
        return Response(body, headers={**kept, "Content-Encoding": "gzip"}, media_type=response.media_type)


@lru_cache(maxsize=64)
def compressed(path: str) -> bytes:
    """A file of ours, compressed once."""
    return gzip.compress(Path(path).read_bytes(), 9, mtime=0)


def static() -> StaticFiles:
    """Style and scripts, all our own."""
    return StaticFolder(directory=str(resources.files("discreet.server").joinpath("static")))


async def description(request: Request) -> Response:
    """The interface as OpenAPI has it, with the address at which a proxy or hub shows it."""
    content = request.app.openapi()
    if root := pages.root(request):
        content = content | {"servers": [{"url": root}]}
    return Response(orjson.dumps(content), media_type="application/json")


async def health(request: Request) -> Response:
    """Whether this worker can answer: its data are loaded, or it would not be here, and its store can be written.

    The edition is the same for servers that give the same answers.
    """
    service: Service = request.app.state.service
    good = await service.commits.run(service.store.alive)
    body = {"status": "ok" if good else "no store", "edition": service.editions}
    return Response(orjson.dumps(body), 200 if good else 503, media_type="application/json",
                    headers={"Cache-Control": "no-store"})  # fmt: skip


async def metrics(request: Request) -> Response:
    """Counts for a monitor that asks this server itself; who comes through a proxy is a visitor and finds nothing."""
    if "x-forwarded-for" in request.headers or "forwarded" in request.headers:
        raise HTTPException(404)
    service: Service = request.app.state.service
    good = await service.commits.run(service.store.alive)
    text = "\n".join(METERS.lines(edition=service.editions, store=bool(good))) + "\n"
    return Response(text, media_type=TYPE, headers={"Cache-Control": "no-store"})


async def fault_response(request: Request, error: Exception) -> Response:
    """An error in the form that fits who asks: that of a portal, JSON under /api, else a page."""
    fault = stated_fault(error)
    request.state.rule = fault.body["rule"]
    path = str(request.scope["path"]).removeprefix(pages.root(request))
    if (response := portal_fault(path, fault)) is not None:
        return response
    if path.startswith("/api") or path == "/health":
        return fault.response()
    return pages.fault_page(request, fault)


def stated_fault(error: Exception, hint: str = "see /api/metadata") -> HttpFault:
    """An error of the framework or the library in the canonical form; ``hint`` is for an address that is wrong."""
    if isinstance(error, RequestValidationError):
        named = ", ".join(sorted({str(part["loc"][-1]) for part in error.errors()}))
        return HttpFault(422, "bad query", "input", f"wrong or missing: {named}", "see /api/openapi.json")
    if isinstance(error, HTTPException):
        words = {404: "there is nothing here", 405: "an address is asked with GET"}
        kind = "method" if error.status_code == 405 else "not found"
        return HttpFault(error.status_code, kind, "path", words.get(error.status_code, "not possible"), hint)
    return error if isinstance(error, HttpFault) else fault_of(error)


class Watched:
    """Around everything: time it, log it without values, catch what should not happen, add the safe headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0
        wrong = ill_formed_request(scope)
        if scope["method"] == "HEAD":  # answered like GET; uvicorn leaves the body out
            scope = {**scope, "method": "GET"}

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                make_safe(scope, message)
            await send(message)

        try:
            if wrong is None:
                await self.app(scope, receive, sending)
            else:
                await plain_fault(scope, wrong)(scope, receive, sending)
        except ClientDisconnect:  # whoever asked has hung up: nobody to answer, and nothing went wrong here
            status = status or HUNG_UP
        except Exception as error:  # noqa: BLE001 - a traceback or its message could hold a value
            log.error("fault", extra={"where": error_place(error), "kind": type(error).__name__})
            if not status:
                request = Request(scope, receive)
                await (await fault_response(request, FAULT))(scope, receive, sending)
        count_request(scope, status, start)


def count_request(scope: Scope, status: int, start: float) -> None:
    """A request in the metrics and in the log, without values."""
    facts = _facts(scope, status, start)
    METERS.count(facts["path"], status, facts["ms"] / 1000, facts.get("cached"))
    log.info("request", extra=facts)


def ill_formed_request(scope: Scope) -> HttpFault | None:
    """The answer to a request whose address or host is not worth a route's time; None for all others."""
    sent = scope.get("raw_path") or scope["path"].encode()
    host = next((value for name, value in scope["headers"] if name == b"host"), b"")
    reason = ill_formed(sent + scope["query_string"], host.decode("latin-1"))
    return None if reason is None else HttpFault(reason[0], "bad request", "address", reason[1], "see /api/metadata")


def plain_fault(scope: Scope, fault: HttpFault) -> Response:
    """An error without a route: in the form of a portal below its address, else the canonical one."""
    path = str(scope["path"]).removeprefix(scope.get("root_path", ""))
    return portal_fault(path, fault) or fault.response()


def make_safe(scope: Scope, message: Message) -> None:
    """Add the headers that keep a browser safe, and that nothing is kept unless it was said to be."""
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    given = {name for name, _ in message["headers"]}
    framed = (b"x-frame-options",) if b"content-security-policy" in given else ()  # it says who may frame the page
    message["headers"] = [*message["headers"], *((n, v) for n, v in SAFE if n not in given and n not in framed)]
    if b"cache-control" not in given:
        kept = b"public, max-age=3600" if path.startswith("/static/") else b"no-store"
        message["headers"].append((b"cache-control", kept))


def _facts(scope: Scope, status: int, start: float) -> dict[str, Any]:
    route = scope.get("route")
    facts: dict[str, Any] = {"method": scope["method"], "path": getattr(route, "path", "other"), "status": status}
    facts |= {"ms": milliseconds(start), "worker": os.getpid()}
    facts |= {name: value for name, value in scope.get("state", {}).items() if name in ("role", "rule", "cached")}
    return facts
