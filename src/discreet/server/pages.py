"""Pages for visitors: choose, look, download, sign in. Rendered here; they work without script and offline."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from discreet.data.dimension import Dimension
from discreet.errors import InputError, Refused
from discreet.policy import Query
from discreet.release import Release
from discreet.server.api import (
    ACCOUNT_ATTEMPTS,
    ATTEMPTS,
    SERVED,
    HttpFault,
    admitted,
    fault_of,
    query_text,
    service_of,
)
from discreet.server.auth import NONCE, SESSION, SESSION_SECONDS, Caller, Gate
from discreet.server.languages import ENGLISH, LANGUAGE, LANGUAGES, language_of, templates
from discreet.server.messages import explained, suggestions
from discreet.server.parameter_checks import check_parameters
from discreet.server.queries import query_from, query_parameters
from discreet.server.service import Reply, Service
from discreet.server.sheet import PLACES, laid_out


def known_fields(request: Request) -> None:
    """Every parameter of a page's address is one that the page reads, and stands there once."""
    path = request.scope["route"].path
    names = FIELDS.get(path, ())
    if path in PAGES:
        names = (*names, "lang")
    if path in ("/go", "/verdict"):
        names = tuple(
            f"{kind}_{d.name}" for kind in ("v", "level", "place", "only") for d in service_of(request).dimensions
        )
    check_parameters(query_text(request), names)


router = APIRouter(include_in_schema=False, dependencies=[Depends(known_fields)])
OLD_NAMES = {"wafers": "layers", "wafer": "layer"}  # of permanent links that version 0.1.0 gave
FIELDS = {
    "/table": ("variables", "where", "view", "layer", "page", *PLACES, *OLD_NAMES),
    "/method": ("variables", "where"),
}
PAGES = ("/", "/table", "/about", "/login", "/method")
views = ("table", "heat", "bars", "stacked", "lines", "pyramid", "multiples", "grid", "map")
RECENT, MOST_RECENT = "discreet_recent", 6
YEAR = 365 * 86400


@dataclass(frozen=True)
class PageChoice:
    """What a visitor has chosen so far: the query's parts and how the table is laid out."""

    variables: tuple[tuple[str, str], ...] = ()
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    view: str = "table"
    layer: int = 0
    page: int = 0

    @property
    def levels(self) -> dict[str, str]:
        return dict(self.variables)

    @property
    def only(self) -> dict[str, str]:
        return {name: "+".join(codes) for name, codes in self.where}

    @property
    def place(self) -> dict[str, str]:
        return dict(self.places)

    def query(self) -> Query:
        """The query; raises if nothing is chosen."""
        return Query.of(dict(self.variables), where=dict(self.where) or None)

    def parameters(self, **changes: Any) -> dict[str, str]:
        """The permalink's parameters."""
        out = query_parameters(self.variables, self.where)
        for place in PLACES:
            if names := [name for name, at in self.places if at == place]:
                out[place] = ",".join(names)
        usual = {"view": "table", "layer": "0", "page": "0"}
        shown_as = {name: str(getattr(self, name)) for name in usual} | {k: str(v) for k, v in changes.items()}
        return out | {k: v for k, v in shown_as.items() if v != usual.get(k)}

    def link(self, **changes: Any) -> str:
        """The permalink: the address is the query."""
        return "/table?" + urlencode(self.parameters(**changes), safe=":,;=")

    @property
    def api(self) -> str:
        """The query part of the API's address."""
        return urlencode({k: v for k, v in self.parameters().items() if k in ("variables", "where")}, safe=":,;=")

    @classmethod
    def from_link(cls, parameters_given: Mapping[str, str], dimensions: Sequence[Dimension]) -> PageChoice:
        """From the parameters of a permalink."""
        parameters_given = {OLD_NAMES.get(name, name): value for name, value in parameters_given.items()}
        query = query_from(dimensions, parameters_given.get("variables", ""), parameters_given.get("where", ""))
        places = [
            (name.strip(), place)
            for place in PLACES
            for name in parameters_given.get(place, "").split(",")
            if name.strip()
        ]
        view = parameters_given.get("view", "table")
        numbers = {name: parameters_given.get(name, "0") for name in ("layer", "page")}
        return cls(
            variables=query.variables,
            where=query.where,
            places=tuple(places),
            view=view if view in views else "table",
            **{name: int(text) if text.isdecimal() and len(text) < 7 else 0 for name, text in numbers.items()},
        )

    @classmethod
    def from_form(cls, fields: Mapping[str, str], dimensions: Sequence[Dimension]) -> PageChoice:
        """From the fields of the form: v_NAME, level_NAME, place_NAME and only_NAME."""
        chosen = [d.name for d in dimensions if fields.get(f"v_{d.name}")]
        variables = tuple(sorted((name, fields.get(f"level_{name}") or name) for name in chosen))
        where = tuple((d.name, (fields[f"only_{d.name}"],)) for d in dimensions if fields.get(f"only_{d.name}"))
        places = tuple((n, at) for n in chosen if (at := fields.get(f"place_{n}", "")) in PLACES)
        return cls(variables, where, places)


# -- the journey ------------------------------------------------------------------------------------------------


@router.get("/")
async def start(request: Request) -> Response:
    """The form, empty."""
    caller = await visitor(request)
    return rendered_page(request, caller, "page.html", choice=PageChoice(), verdict=None, result=None)


@router.get("/go")
async def go(request: Request) -> Response:
    """The form's fields turned into a permalink."""
    await visitor(request)
    choice = PageChoice.from_form(request.query_params, service_of(request).dimensions)
    if not choice.variables:
        return RedirectResponse(f"{root(request)}/", 303)
    return RedirectResponse(root(request) + choice.link(), 303)


@router.get("/verdict")
async def verdict(request: Request) -> Response:
    """What would become of the form as it stands, for the live line below it."""
    caller = await visitor(request)
    service = service_of(request, caller)
    choice = PageChoice.from_form(request.query_params, service.dimensions)
    preview = await weighed(service, caller, choice)
    text = rendered("verdict.html", language_of(request), verdict=preview, root=root(request))
    return Response(text, media_type="text/html")


@router.get("/table")
async def table(request: Request) -> Response:
    """A table: the address is the query."""
    caller = await visitor(request)
    service = service_of(request, caller)
    choice = PageChoice.from_link(request.query_params, service.dimensions)
    resolved = service.resolved(choice.query())
    try:
        reply = await service.ask(caller, resolved)
        release = reply.release
    except Refused as refused:
        reason = await weighed(service, caller, choice, refused)
        request.state.rule = refused.rule
        status = fault_of(refused).status
        return rendered_page(request, caller, "page.html", status, choice=choice, verdict=reason, result=None)
    result = shown(service, choice, reply, release)
    response = rendered_page(
        request, caller, "page.html", choice=choice, verdict=None, result=result, link=root(request) + choice.link()
    )
    remember(request, response, choice)
    return response


def shown(service: Service, choice: PageChoice, reply: Reply, release: Release) -> dict[str, Any]:
    """What the template needs to show a table."""
    sheet, known = laid_out(release, choice.place, choice.layer, choice.page), service.dimensions
    return {
        "release": release,
        "sheet": sheet,
        "lines": list(zip(sheet.stubs, sheet.body, strict=True)),
        "flag": reply.flag,
        "explained": explained(service.policy, release),
        "formats": [f for f in SERVED if f.name not in ("argus-csv", "sbs", "csvw", "view")],
        "only": [(d.name, [d.label(c) for c in codes]) for n, codes in choice.where for d in known if d.name == n],
        "cells": len(release),
    }


async def weighed(service: Service, caller: Caller, choice: PageChoice, known: Refused | None = None) -> dict[str, Any]:
    """The live line: cells asked and allowed, whether it would be answered, and what to change."""
    most = service.policy.query.max_cells
    if not choice.variables:
        return {"state": "empty", "cells": 0, "most": most}
    line: dict[str, Any] = {"state": "allowed", "most": most, "cells": 0, "suggestions": []}
    try:
        resolved = service.resolved(choice.query())
        line["cells"] = resolved.cells
        refused = known if known is not None else await service.preview(caller, resolved)
    except InputError as error:
        return line | {"state": "wrong", "reason": str(error)}
    if refused is not None:
        line |= {"state": "refused", "reason": refused.reason, "hint": refused.hint, "rule": refused.rule}
        line["suggestions"] = [
            (words, PageChoice(variables, where, choice.places).link())
            for words, variables, where in suggestions(service, choice.variables, choice.where)
        ]
    return line


@router.get("/about")
async def about(request: Request) -> Response:
    """What the numbers are and are not."""
    caller = await visitor(request)
    return rendered_page(request, caller, "about.html", explained=explained(service_of(request, caller).policy))


# -- signing in -------------------------------------------------------------------------------------------------


@router.get("/login")
async def login(request: Request) -> Response:
    """The form to sign in."""
    return rendered_page(request, Caller(""), "login.html", failed=False)


@router.post("/login")
async def sign_in(request: Request) -> Response:
    """Check name and password; attempts are counted by address, and by name, whether or not there is such a user."""
    gate, service = gate_of(request), service_of(request)
    await service.count_attempt(gate.stranger(request), ATTEMPTS)
    fields = await gate.form(request)
    if fields is None:
        raise HttpFault(403, "refused", "form", "the form is too old or not ours", "load the page again")
    await service.commits.run(service.accounts.take, gate.account(fields.get("name", "")), ACCOUNT_ATTEMPTS)
    session = await service.commits.run(gate.sign_in, fields.get("name", ""), fields.get("password", ""))
    if session is None:
        return rendered_page(request, Caller(""), "login.html", 401, failed=True)
    response = RedirectResponse(f"{root(request)}/", 303)
    gate.set_cookie(response, SESSION, session, SESSION_SECONDS)
    return response


@router.post("/logout")
async def sign_out(request: Request) -> Response:
    """End the session."""
    gate = gate_of(request)
    if await gate.form(request) is None:
        raise HttpFault(403, "refused", "form", "the form is too old or not ours", "load the page again")
    if name := request.cookies.get(gate.cookie(SESSION)):
        await service_of(request).commits.run(gate.store.close_session, name)
    response = RedirectResponse(f"{root(request)}/", 303)
    response.delete_cookie(gate.cookie(SESSION))
    return response


# -- around them ------------------------------------------------------------------------------------------------


async def visitor(request: Request) -> Caller:
    """The caller; strangers are sent to sign in when the server is restricted."""
    try:
        return await admitted(request)
    except HttpFault as fault:
        if fault.status == 401:
            raise HttpFault(303, "sign in", "mode", "sign in first", "", Location="/login") from None
        raise


def rendered(template: str, language: str = ENGLISH, **values: Any) -> str:
    """A template with its values, in a language."""
    return templates(language).get_template(template).render(values)


def in_languages(request: Request) -> list[tuple[str, str, str]]:
    """This page in every language: its code, its name, the address."""
    shown = [(name, value) for name, value in request.query_params.multi_items() if name != "lang"]
    path = str(request.scope["path"]).removeprefix(root(request))
    path, shown = (path, shown) if path in PAGES and request.method == "GET" else ("/", [])
    return [
        (code, name, f"{root(request)}{path}?{urlencode([*shown, ('lang', code)], safe=':,;=')}")
        for code, name in LANGUAGES.items()
    ]


def root(request: Request) -> str:
    """What stands before every address of this site: the name of its cube, where a server has several."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def gate_of(request: Request) -> Gate:
    gate: Gate = request.app.state.gate
    return gate


def rendered_page(request: Request, caller: Caller, template: str, status: int = 200, **values: Any) -> Response:
    """A page with the head that all share."""
    gate, service = gate_of(request), service_of(request, caller)
    nonce, token = gate.form_token(request)
    common = {
        "caller": caller, "token": token, "dimensions": list(service.dimensions), "rules": service.policy.query,
        "title": service.counting.title, "views": views,
        "places": PLACES, "recent": recent(request), "policy": service.policy, "link": "",
        "root": root(request), "in_languages": in_languages(request),
    }  # fmt: skip
    text = rendered(template, language_of(request), **(common | values))
    response = Response(text, status, media_type="text/html", headers={"Cache-Control": "no-store"})
    gate.set_cookie(response, NONCE, nonce, SESSION_SECONDS)
    if request.query_params.get("lang") in LANGUAGES:
        gate.set_cookie(response, LANGUAGE, language_of(request), YEAR)
    return response


def fault_page(request: Request, fault: HttpFault) -> Response:
    """An error as a page, or the redirect that it is."""
    if "Location" in fault.headers:
        return RedirectResponse(root(request) + fault.headers["Location"], fault.status)
    response = rendered_page(request, Caller(""), "fault.html", fault.status, fault=fault.body)
    response.headers.update(fault.headers)
    return response


def recent(request: Request) -> list[str]:
    """Permalinks that this browser looked at last; kept in its own cookie, nowhere else."""
    kept = request.cookies.get(gate_of(request).cookie(RECENT), "")
    try:
        links = base64.urlsafe_b64decode(kept.encode()).decode().split("\n")
    except ValueError:
        return []
    return [link for link in links if link.startswith(f"{root(request)}/table?")][:MOST_RECENT]


def remember(request: Request, response: Response, choice: PageChoice) -> None:
    """Add a table to the cookie of recent ones."""
    link = root(request) + choice.link()
    links = [link, *(old for old in recent(request) if old != link)][:MOST_RECENT]
    while links and sum(map(len, links)) > 2500:
        links.pop()
    value = base64.urlsafe_b64encode("\n".join(links).encode()).decode()
    gate_of(request).set_cookie(response, RECENT, value, SESSION_SECONDS)
