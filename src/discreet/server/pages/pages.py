"""Pages for visitors: choose, look, download, sign in. Rendered here; they work without script and offline."""

from __future__ import annotations

import base64
import contextlib
import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
import orjson
from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from discreet.errors import DiscreetError, InputError, Refused
from discreet.policy import Query
from discreet.policy.measure_words import RATE
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
from discreet.server.browser_safety import content_policy
from discreet.server.languages import (
    ENGLISH,
    LANGUAGE,
    LANGUAGES,
    Words,
    as_sentence,
    language_of,
    spoken,
    templates,
    translated_reason,
)
from discreet.server.pages.corrections import corrected_choice
from discreet.server.pages.messages import explained, titles_of, with_titles
from discreet.server.pages.nearest_tables import NearTable, nearest_tables
from discreet.server.parameter_checks import check_parameters
from discreet.server.service import Reply, Service
from discreet.server.views.page_choice import OLD_NAMES, QUERY, VIEWS, PageChoice
from discreet.server.views.page_measures import MeasureOption, measure_options, measure_words
from discreet.server.views.sheet import PLACES, laid_out


def known_fields(request: Request) -> None:
    """Every parameter of a page's address is one that the page reads, and stands there once."""
    path = request.scope["route"].path
    names = FIELDS.get(path, ())
    if path in PAGES:
        names = (*names, "lang")
    if path in ("/go", "/verdict", "/choices"):
        kinds = ("v", "level", "place", "only")
        names = (
            "measure",
            "groups",
            "view",
            *(f"{kind}_{d.name}" for kind in kinds for d in service_of(request).dimensions),
        )
    check_parameters(query_text(request), names)


router = APIRouter(include_in_schema=False, dependencies=[Depends(known_fields)])
FIELDS = {
    "/table": (*QUERY, "view", "layer", "page", "groups", *PLACES, *OLD_NAMES),
    "/embed": (*QUERY, "view", "layer", "page", "groups", *PLACES),
    "/method": ("variables", "where"),
}
PAGES = ("/", "/table", "/embed", "/about", "/login", "/method")
RECENT, MOST_RECENT = "discreet_recent", 6
YEAR = 365 * 86400


# -- the journey ------------------------------------------------------------------------------------------------


@router.get("/")
async def start(request: Request) -> Response:
    """The form, empty."""
    caller = await visitor(request)
    return rendered_page(request, caller, "page.html", choice=PageChoice(), verdict=None, result=None)


@router.get("/go")
async def go(request: Request) -> Response:
    """The form's fields turned into a permalink; the form itself where no variable is chosen, with what is."""
    caller = await visitor(request)
    choice = PageChoice.from_form(request.query_params, service_of(request).dimensions)
    if not choice.variables:
        return rendered_page(
            request, caller, "page.html", 422, choice=choice, verdict={"state": "missing"}, result=None
        )
    return RedirectResponse(root(request) + choice.link(), 303)


@router.get("/verdict")
async def verdict(request: Request) -> Response:
    """What would become of the form as it stands, for the live line below it."""
    caller = await visitor(request)
    service = service_of(request, caller)
    choice = PageChoice.from_form(request.query_params, service.dimensions)
    preview = await weighed(request, service, caller, choice)
    text = rendered(
        "verdict.html", language_of(request), spoken(service.dimensions), verdict=preview, root=root(request)
    )
    return Response(text, media_type="text/html")


@router.get("/choices")
async def choices(request: Request) -> Response:
    """What may still be added to the form as it stands, and why the rest may not; nothing is counted."""
    caller = await visitor(request)
    service = service_of(request, caller)
    choice = PageChoice.from_form(request.query_params, service.dimensions)
    language, rules = language_of(request), service.policy.query
    body = {
        "cells": service.resolved(choice.query()).cells if choice.variables else 0,
        "chosen": len(choice.variables) + len(choice.where),
        "most": rules.max_dimensions,
        "rates": [{"value": one.value, "words": one.words} for one in offered_rates(service, choice, language)],
        "variables": {
            one.name: {part: _sentences(service, getattr(one, part), language) for part in ("levels", "filters")}
            for one in service.choices.options(choice.variables, choice.where, choice.measure, choice.statistic)
        },
    }
    return Response(orjson.dumps(body), media_type="application/json")


def _sentences(service: Service, reasons: Mapping[str, str], language: str) -> dict[str, str]:
    titles, counted = titles_of(service), spoken(service.dimensions)
    return {
        level: as_sentence(with_titles(reason, titles), language, counted) if reason else ""
        for level, reason in reasons.items()
    }


@router.get("/table")
async def table(request: Request) -> Response:
    """A table: the address is the query; without one, the form."""
    caller = await visitor(request)
    if not request.query_params:
        return RedirectResponse(f"{root(request)}/", 303)
    service = service_of(request, caller)
    choice = PageChoice.from_link(request.query_params, service.dimensions)
    resolved = service.resolved(choice.query())
    try:
        reply = await service.ask(caller, resolved)
        _ = reply.release  # raises the refusal, if it is one
    except Refused as refused:
        reason = await weighed(request, service, caller, choice, refused)
        request.state.rule = refused.rule
        status = fault_of(refused).status
        return rendered_page(request, caller, "page.html", status, choice=choice, verdict=reason, result=None)
    result = shown(service, caller, choice, reply, language_of(request))
    most = service.policy.query.max_cells
    allowed = {"state": "allowed", "most": most, "cells": resolved.cells, "nearest": []}
    response = rendered_page(
        request, caller, "page.html", choice=choice, verdict=allowed, result=result, link=root(request) + choice.link()
    )
    remember(request, response, choice)
    return response


@router.get("/embed")
async def embed(request: Request) -> Response:
    """A table by itself, for a frame in the pages of others; only those that the settings name may show it."""
    frames = service_of(request).settings.embed
    if not frames:
        raise HttpFault(404, "not found", "path", "there is nothing here", "see /api/metadata")
    caller = await visitor(request)
    service = service_of(request, caller)
    choice = PageChoice.from_link(request.query_params, service.dimensions)
    reply = await service.ask(caller, service.resolved(choice.query()))
    language = language_of(request)
    result = shown(service, caller, choice, reply, language)
    values = {
        "choice": choice,
        "result": result,
        "root": root(request),
        "origin": origin_of(request),
        "link": root(request) + choice.link(),
    }
    text = rendered(
        "embed.html",
        language,
        spoken(service.dimensions),
        **values,
        title=in_words(service, choice, language),
        views=VIEWS,
    )
    return Response(text, media_type="text/html", headers={"Content-Security-Policy": content_policy(frames)})


def shown(
    service: Service, caller: Caller, choice: PageChoice, reply: Reply, language: str = ENGLISH
) -> dict[str, Any]:
    """What the template needs to show a table."""
    release = reply.release
    sheet, known = laid_out(release, choice.place, choice.layer, choice.page), service.dimensions
    return {
        "release": release,
        "method": "; ".join(translated_reason(step, language) for step in release.method.split("; ")),
        "sheet": sheet,
        "lines": [
            (list(zip(stub, depth, strict=True)), cells)
            for stub, depth, cells in zip(sheet.stubs, sheet.depths, sheet.body, strict=True)
        ],
        "flag": reply.flag,
        "explained": explained(service.policy, release, language),
        "formats": [f for f in SERVED if f.name not in ("argus-csv", "sbs", "csvw", "view")],
        "only": [(d.title, [d.label(c) for c in codes]) for n, codes in choice.where for d in known if d.name == n],
        "cells": len(release),
        "decimals": readable_decimals(release),
        "measured": measured(service, choice, language),
        "title": in_words(service, choice, language),
        "mark": service.page_mark(caller, choice.query()),
        "stated": {name: stated_of(service, choice, name) for name in ("source", "date")},
    }


def readable_decimals(release: Release) -> int:
    """Decimals of a mean or quotient that can be read: five digits of the greatest number, as the viewer has it."""
    measure, values = next(iter(release.values.items()))
    greatest = max(1.0, float(np.nanmax(np.abs(values), initial=1.0)))
    return max(0, min(release.decimals[measure], 4 - math.floor(math.log10(greatest))))


def stated_of(service: Service, choice: PageChoice, name: str) -> str:
    """The sources or dates of a table's variables, each once."""
    asked = {*choice.levels, *choice.codes}
    texts = (getattr(d.description, name) for d in service.dimensions if d.name in asked)
    return "; ".join(dict.fromkeys(filter(None, texts)))


async def weighed(
    request: Request, service: Service, caller: Caller, choice: PageChoice, known: Refused | None = None
) -> dict[str, Any]:
    """The live line: cells asked and allowed, whether it would be answered, and tables near it that would be."""
    most = service.policy.query.max_cells
    if not choice.variables:
        return {"state": "empty", "cells": 0, "most": most}
    line: dict[str, Any] = {"state": "allowed", "most": most, "cells": 0, "nearest": []}
    try:
        resolved = service.resolved(choice.query())
        line["cells"] = resolved.cells
        refused = known if known is not None else await service.preview(caller, resolved)
    except InputError as error:
        return line | {"state": "wrong", "reason": with_titles(str(error), titles_of(service))}
    if refused is not None:
        said = {name: with_titles(getattr(refused, name), titles_of(service)) for name in ("reason", "hint")}
        line |= {"state": "refused", "rule": refused.rule, **said}
        start = NearTable((), choice.variables, choice.where, choice.measure, choice.statistic)
        near = await nearest_tables(service, caller, start, refused, language_of(request))
        line["nearest"] = [_linked(service, choice, one, language_of(request)) for one in near]
    return line


def _linked(service: Service, choice: PageChoice, near: NearTable, language: str) -> tuple[str, str, str]:
    """A near table: what was changed, the table in words, its address with the layout that was chosen."""
    query = near.query
    changed = PageChoice(query.variables, query.where, choice.places, measure=query.measure, statistic=query.statistic)
    return ", ".join(near.words), in_words(service, changed, language), changed.link()


def in_words(service: Service, choice: PageChoice, language: str) -> str:
    """A table in words, with what is measured if it is not people."""
    return choice.title(service.dimensions, measured(service, choice, language) if choice.measured else "")


def rates_of(service: Service, choice: PageChoice | None) -> list[str]:
    """The variables of a table's population of whose totals its people can be shown per 1,000."""
    if choice is None:
        return []
    if not choice.variables:  # the form's first half: which of them a table can have is decided with its variables
        return [name for name, _ in choice.where]
    allowed = []
    for name, _ in choice.where:
        with contextlib.suppress(DiscreetError):  # what the policy refuses, or does not go together, is not offered
            asked = Query.of(dict(choice.variables), where=dict(choice.where), statistic=f"{RATE}-{name}")
            service.check(service.resolved(asked))
            allowed.append(name)
    return allowed


def offered_rates(service: Service, choice: PageChoice, language: str) -> list[MeasureOption]:
    """The rates of a choice as the form has them."""
    options = measure_options(service.policy, service.dimensions, language, rates=rates_of(service, choice))
    return [one for one in options if one.statistic.startswith(f"{RATE}-")]


def measured(service: Service, choice: PageChoice, language: str) -> str:
    """What the numbers of a table are, in words."""
    return measure_words(service.policy, service.dimensions, choice.measure, choice.statistic, language)


@router.get("/about")
async def about(request: Request) -> Response:
    """What the numbers are and are not."""
    caller = await visitor(request)
    return rendered_page(
        request,
        caller,
        "about.html",
        explained=explained(service_of(request, caller).policy, language=language_of(request)),
    )


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


@router.post("/forget")
async def forget(request: Request) -> Response:
    """Forget the tables that this browser looked at last."""
    gate = gate_of(request)
    if await gate.form(request) is None:
        raise HttpFault(403, "refused", "form", "the form is too old or not ours", "load the page again")
    response = RedirectResponse(f"{root(request)}/", 303)
    response.delete_cookie(gate.cookie(RECENT))
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


def rendered(template: str, language: str = ENGLISH, counted: Words = (), **values: Any) -> str:
    """A template with its values, in a language, with a word for what is counted."""
    return templates(language, counted).get_template(template).render(values)


def in_languages(request: Request) -> list[tuple[str, str, str]]:
    """This page in every language: its code, its name, the address."""
    shown = [(name, value) for name, value in request.query_params.multi_items() if name != "lang"]
    path = path_of(request)
    path, shown = (path, shown) if path in PAGES and request.method == "GET" else ("/", [])
    return [
        (code, name, f"{root(request)}{path}?{urlencode([*shown, ('lang', code)], safe=':,;=')}")
        for code, name in LANGUAGES.items()
    ]


def root(request: Request) -> str:
    """What stands before every address of this site: the name of its cube, where a server has several."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def path_of(request: Request) -> str:
    """The address of a page within its site."""
    return str(request.scope["path"]).removeprefix(root(request))


def origin_of(request: Request) -> str:
    """Scheme and host of the server as the caller wrote them; behind TLS it is https."""
    scheme = "https" if service_of(request).settings.https else request.url.scheme
    return f"{scheme}://{request.url.netloc}"


def gate_of(request: Request) -> Gate:
    gate: Gate = request.app.state.gate
    return gate


def rendered_page(request: Request, caller: Caller, template: str, status: int = 200, **values: Any) -> Response:
    """A page with the head that all share."""
    gate, service = gate_of(request), service_of(request, caller)
    nonce, token = gate.form_token(request)
    language = language_of(request)
    common = {
        "caller": caller, "token": token, "dimensions": list(service.dimensions), "rules": service.policy.query,
        "variables": service.cards.of(language),
        "title": service.counting.title, "views": VIEWS,
        "places": PLACES, "recent": titled(recent(request), service, language), "policy": service.policy, "link": "",
        "measures": measure_options(
            service.policy, service.dimensions, language, weighted=service.counting.weighted,
            rates=rates_of(service, values.get("choice")),
        ),
        "all_sets": f"{root(request).rpartition('/')[0]}/" if service.settings.people else "",
        "root": root(request), "origin": origin_of(request), "here": path_of(request),
        "rates": [f"{RATE}-{name}" for name in rates_of(service, values.get("choice"))],
        "embed": bool(service.settings.embed), "in_languages": in_languages(request),
    }  # fmt: skip
    text = rendered(template, language, spoken(service.dimensions), **(common | values))
    response = Response(text, status, media_type="text/html", headers={"Cache-Control": "no-store"})
    gate.set_cookie(response, NONCE, nonce, SESSION_SECONDS)
    if request.query_params.get("lang") in LANGUAGES:
        gate.set_cookie(response, LANGUAGE, language_of(request), YEAR)
    return response


def fault_page(request: Request, fault: HttpFault) -> Response:
    """An error as a page, or the redirect that it is."""
    if "Location" in fault.headers:
        return RedirectResponse(root(request) + fault.headers["Location"], fault.status)
    near = table_meant(request, fault) if may_see_codebook(request) else None
    titles = titles_of(service_of(request)) if may_see_codebook(request) else {}
    said = {name: with_titles(text, titles) for name, text in fault.body.items()}
    values = {"fault": said, "near": near, "listed": may_see_codebook(request)}
    response = rendered_page(request, Caller(""), "fault.html", fault.status, **values)
    response.headers.update(fault.headers)
    return response


def may_see_codebook(request: Request) -> bool:
    """Whether an error may name variables: to everybody, or to whoever was let in."""
    return service_of(request).settings.mode == "open" or hasattr(request.state, "role")


def table_meant(request: Request, fault: HttpFault) -> tuple[str, str] | None:
    """The table that an address with slips most likely means, in words and as an address."""
    path = path_of(request)
    if fault.body["rule"] not in ("input", "path") or not difflib.get_close_matches(path, ["/table"], cutoff=0.7):
        return None
    service = service_of(request)
    served = {name: one.statistics for name, one in service.policy.measures.items()}
    choice = corrected_choice(dict(request.query_params), service.dimensions, served)
    if choice is None:
        return None
    return in_words(service, choice, language_of(request)), root(request) + choice.link()


def recent(request: Request) -> list[str]:
    """Permalinks that this browser looked at last; kept in its own cookie, nowhere else."""
    kept = request.cookies.get(gate_of(request).cookie(RECENT), "")
    try:
        links = base64.urlsafe_b64decode(kept.encode()).decode().split("\n")
    except ValueError:
        return []
    return [link for link in links if link.startswith(f"{root(request)}/table?")][:MOST_RECENT]


def titled(links: Sequence[str], service: Service, language: str) -> list[tuple[str, str]]:
    """Permalinks with their tables in words; those that the codebook no longer has are left out."""
    shown = []
    for link in links:
        with contextlib.suppress(InputError):
            choice = PageChoice.from_link(dict(parse_qsl(urlsplit(link).query)), service.dimensions)
            service.resolved(choice.query())
            shown.append((link, in_words(service, choice, language)))
    return shown


def remember(request: Request, response: Response, choice: PageChoice) -> None:
    """Add a table to the cookie of recent ones."""
    link = root(request) + choice.link()
    links = [link, *(old for old in recent(request) if old != link)][:MOST_RECENT]
    while links and sum(map(len, links)) > 2500:
        links.pop()
    value = base64.urlsafe_b64encode("\n".join(links).encode()).decode()
    gate_of(request).set_cookie(response, RECENT, value, SESSION_SECONDS)
