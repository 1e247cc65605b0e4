"""The API: metadata, check, table. Answers are bytes that ``answer`` and ``formats`` made; errors have one form."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi import Query as Parameter
from fastapi.responses import Response

from discreet.data.counted_units import ENGLISH, PEOPLE, counted_words
from discreet.errors import InputError, Refused, nearest
from discreet.formats import FORMATS, Format
from discreet.policy.measure_words import measure_unit
from discreet.release import AS_IT_IS, Release
from discreet.server.auth import Caller, Gate
from discreet.server.parameter_checks import check_parameters
from discreet.server.queries import address, query_from
from discreet.server.record.page_marks import HEADER
from discreet.server.record.rate_limits import Over
from discreet.server.record.store import Unreachable
from discreet.server.service import Reply, Service
from discreet.server.views.variable_cards import parents_of
from discreet.server.views.view_data import VIEW


def query_text(request: Request) -> str:
    """The query part of the address as it was sent."""
    return str(request.scope["query_string"], "latin-1")


async def known_parameters(request: Request) -> None:
    """Every parameter of the address is one that the route reads, and stands there once."""
    check_parameters(query_text(request), [field.alias for field in request.scope["route"].dependant.query_params])


router = APIRouter(prefix="/api", tags=["tables"], dependencies=[Depends(known_parameters)])
SERVED = (*FORMATS, VIEW)
FORBIDDEN, TOO_LARGE, BAD, TOO_MANY, AWAY = 403, 413, 422, 429, 503
TOO_LARGE_RULES = ("max_cells",)
MAX_AGE = 3600
OVER = {"rate": "too many requests", "tables": "too many different tables"}
ATTEMPTS = 20  # wrong tokens or passwords, a minute and address
ACCOUNT_ATTEMPTS = 10  # to sign in, a minute and name, from wherever they come
VARIABLES = Parameter(
    min_length=1, max_length=1000, description="Variables with their level of detail: `sex,age` or `county:region,sex`"
)
WHERE = Parameter(
    max_length=2000,
    description='The population: `region=R1`, several separated by `;`, codes with such signs as `"a;b"`',
)
MEASURE = Parameter(max_length=100, description="What is counted or summed: `count`, or one of the policy's `measures`")
STATISTIC = Parameter(
    max_length=100,
    description="What is given of it: `sum`, `mean`, `median`, `p90`, `per-OTHER`; `percent`, `percent-VARIABLE`, "
    "`rate-VARIABLE` (per 1,000); the count or the sum unless stated",
)
_ERROR = {
    "type": "object",
    "required": ["error", "rule", "reason", "hint"],
    "properties": {name: {"type": "string"} for name in ("error", "rule", "reason", "hint")},
    "additionalProperties": False,
}


class HttpFault(Exception):  # noqa: N818 - an answer to the caller
    """An answer other than a table, in the canonical form."""

    def __init__(self, status: int, error: str, rule: str, reason: str, hint: str = "", **headers: str) -> None:
        super().__init__(error)
        self.status, self.headers = status, {k.replace("_", "-"): v for k, v in headers.items()}
        self.body = {"error": error, "rule": rule, "reason": reason, "hint": hint}

    def response(self) -> Response:
        """As JSON."""
        return Response(orjson.dumps(self.body), self.status, self.headers, "application/json")


def fault_of(error: Exception) -> HttpFault:
    """The canonical form of what the library raises."""
    if isinstance(error, Refused):
        if error.rule in TOO_LARGE_RULES:
            return HttpFault(TOO_LARGE, "too large", error.rule, error.reason, error.hint)
        return HttpFault(FORBIDDEN, "refused", error.rule, error.reason, error.hint)
    if isinstance(error, Over):
        reason = OVER.get(error.rule, "too many attempts")
        hint = f"wait {error.seconds} seconds"
        return HttpFault(TOO_MANY, "too many", error.rule, reason, hint, Retry_After=str(error.seconds))
    if isinstance(error, Unreachable):
        reason = "nothing can be answered now, because it could not be recorded"
        return HttpFault(AWAY, "not available", "store", reason, "try again in a moment", Retry_After="2")
    return HttpFault(BAD, "bad query", "input", str(error), "see /api/metadata for variables, levels and categories")


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The canonical errors in the OpenAPI document."""
    words = {401: "sign in first", 403: "refused by the policy", 406: "no such format", 413: "too large",
             422: "the query is wrong", 429: "too many; see Retry-After", 503: "the store is away"}  # fmt: skip
    content = {"application/json": {"schema": _ERROR}}
    return {status: {"description": words[status], "content": content} for status in statuses}


def service_of(request: Request, caller: Caller | None = None, site: FastAPI | None = None) -> Service:
    """The service of a caller; of the public without one."""
    service: Service = (site or request.app).state.service
    return service if caller is None else service.of(caller)


async def admitted(request: Request, site: FastAPI | None = None) -> Caller:
    """The caller, counted against the rate limit and let in by the mode; to a site of a hub, if one is named."""
    service = service_of(request, site=site)
    gate: Gate = (site or request.app).state.gate
    if "authorization" in request.headers:
        for who, _ in gate.stranger(request).limited:
            service.addresses.check_open(who)
    try:
        caller: Caller = await gate.admit(request)
    except PermissionError:
        await service.count_attempt(gate.stranger(request), ATTEMPTS)
        raise HttpFault(401, "unauthorized", "token", "the token is not valid", "ask for a new one",
                    WWW_Authenticate="Bearer") from None  # fmt: skip
    request.state.role = caller.role
    await service.count_request(caller)
    if service.settings.mode == "restricted" and not caller.may("approved"):
        if caller.signed_in:
            raise HttpFault(FORBIDDEN, "refused", "mode", "your account is not approved", "ask the data's owner")
        raise HttpFault(401, "unauthorized", "mode", "this server answers approved users only",
                    "send a token: Authorization: Bearer ...", WWW_Authenticate="Bearer")  # fmt: skip
    return caller


# -- metadata ---------------------------------------------------------------------------------------------------


@router.get("/metadata", summary="Variables, levels, categories and limits", responses=errors(401, 429, 503))
async def metadata(request: Request) -> Response:
    """Everything that is needed to ask."""
    service = service_of(request, await admitted(request))
    tag = f'"{service.edition}-metadata"'
    if same(request, tag):
        return Response(status_code=304, headers=headers(service, tag))
    return Response(orjson.dumps(metadata_document(service)), 200, headers(service, tag), "application/json")


def metadata_document(service: Service) -> dict[str, Any]:
    """The codebook and the policy's limits as plain values."""
    rules = service.policy.query
    return {
        "title": service.counting.title,
        "counted": dict(counted_words(service.dimensions)) or {ENGLISH: PEOPLE},
        "policy": service.policy.title,
        "unprotected": service.policy.openly,
        "edition": service.edition,
        "data_edition": service.version,
        "variables": [
            {
                "name": d.name,
                "label": d.title,
                **{key: getattr(d.description, key) for key in ("definition", "universe", "source", "date")},
                "total": d.total,
                "levels": {name: list(codes) for name, codes in d.levels.items() if name != "total"},
                "geometry": bool(d.description.geometry),
                "level_labels": {name: text for name in d.levels if (text := d.description.level(name))},
                "labels": {code: d.label(code) for code in d.codes},
                "parents": parents_of(d),
                "allowed": d.name not in rules.disallowed,
            }
            for d in service.dimensions
        ],
        "measures": [
            {
                "name": name,
                "label": served.label or name,
                "unit": measure_unit(service.policy, service.dimensions, name),
                "statistics": list(served.statistics),
            }
            for name, served in service.policy.measures.items()
        ],
        "limits": {
            "max_dimensions": rules.max_dimensions,
            "max_cells": rules.max_cells,
            "max_filters": rules.max_filters,
            "nested_only": rules.nested_only,
            "forbidden": [list(names) for names in rules.forbidden],
            "required": {name: list(needed) for name, needed in rules.required.items()},
            "requests_a_minute": service.settings.rate,
            "tables_a_day": service.settings.tables,
        },
        "formats": [{"name": f.name, "suffix": f.suffix, "type": f.media_type} for f in SERVED],
    }


@router.get(
    "/check", summary="Would this be allowed? Decided from the codebook alone", responses=errors(401, 422, 429, 503)
)
async def check(
    request: Request,
    variables: Annotated[str, VARIABLES],
    where: Annotated[str, WHERE] = "",
    measure: Annotated[str, MEASURE] = "count",
    statistic: Annotated[str, STATISTIC] = "",
) -> Response:
    """The codebook and the policy alone: nothing is counted and nothing recorded.

    ``final`` tells the last word: rules for tables and earlier answers are looked at when the table is asked for.
    """
    service = service_of(request, await admitted(request))
    resolved = service.resolved(query_from(service.dimensions, variables, where, measure, statistic))
    body: dict[str, Any] = {"max_cells": service.policy.query.max_cells, "cells": resolved.cells}
    try:
        service.check(resolved)
        body |= {"allowed": True, "final": False, "rule": "", "reason": "", "hint": ""}
    except Refused as refused:
        body |= {"allowed": False, "final": True, "rule": refused.rule, "reason": refused.reason, "hint": refused.hint}
    return Response(orjson.dumps(body), media_type="application/json", headers={"Cache-Control": "private, max-age=60"})


@router.get(
    "/geometry", summary="Shapes of a variable's codes for maps, as GeoJSON", responses=errors(401, 422, 429, 503)
)
async def geometry(request: Request, variable: Annotated[str, Parameter(min_length=1, max_length=200)]) -> Response:
    """Features with the property `code`; an error where the codebook has no shapes of the variable."""
    service = service_of(request, await admitted(request))
    known = {d.name: d.description.geometry for d in service.dimensions}
    if variable not in known:
        raise InputError(f"unknown variable {variable!r}; {nearest(variable, known)}")
    if not known[variable]:
        raise InputError(f"variable {variable!r} has no shapes: the codebook names none (geometry)")
    tag = f'"{service.edition}-{hashlib.sha256(variable.encode()).hexdigest()[:16]}"'
    if same(request, tag):
        return Response(status_code=304, headers=headers(service, tag))
    return Response(known[variable].encode(), 200, headers(service, tag), "application/geo+json")


# -- tables -----------------------------------------------------------------------------------------------------

_CONTENT = {f.media_type.partition(";")[0]: {"schema": {"type": "string"}} for f in SERVED}
_TABLE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The protected table", "content": _CONTENT},
    304: {"description": "You have it already"},
    **errors(401, 403, 406, 413, 422, 429, 503),
}


@router.get("/table", summary="A protected table, in the format that Accept names", responses=_TABLE)
async def table(
    request: Request,
    variables: Annotated[str, VARIABLES],
    where: Annotated[str, WHERE] = "",
    measure: Annotated[str, MEASURE] = "count",
    statistic: Annotated[str, STATISTIC] = "",
) -> Response:
    """CSV unless another format is preferred; the bytes are those of the library and the command line."""
    return await tabled(
        request, accepted_format(request.headers.get("accept", "*/*")), variables, where, measure, statistic
    )


@router.get("/table.{suffix}", summary="A protected table, in the format of the suffix", responses=_TABLE)
async def table_as(
    request: Request,
    suffix: str,
    variables: Annotated[str, VARIABLES],
    where: Annotated[str, WHERE] = "",
    measure: Annotated[str, MEASURE] = "count",
    statistic: Annotated[str, STATISTIC] = "",
) -> Response:
    """`table.csv`, `table.json` (JSON-stat), `table.px`, `table.xlsx`, `table.parquet`, `table.sdmx.csv`, ..."""
    forms = [f for f in SERVED if f.suffix == f".{suffix.lower()}"]
    if not forms:
        known = ", ".join(f.suffix for f in SERVED)
        raise HttpFault(406, "no such format", "format", "the suffix names no format", f"known: {known}")
    return await tabled(request, forms[0], variables, where, measure, statistic)


async def tabled(
    request: Request, form: Format, variables: str, where: str, measure: str, statistic: str = ""
) -> Response:
    """What every answer of the API goes through."""
    caller = await admitted(request)
    service = service_of(request, caller)
    query = query_from(service.dimensions, variables, where, measure, statistic)
    mark = request.headers.get(HEADER, "") if form is VIEW else ""
    reply = await service.ask(caller, service.resolved(query), mark)
    request.state.cached = reply.cached
    tag = service.tag(query, form.name)
    extra = headers(service, tag, reply)
    if form.name == "csv":  # its words, the stated quality among them, stand in the metadata
        extra["Link"] = f'<table.csv-metadata.json?{address(query)}>; rel="describedby"; type="application/csvm+json"'
    _ = reply.release  # raises the refusal, if it is one
    if same(request, tag):
        return Response(status_code=304, headers=extra)
    try:
        body = await service.body(query, reply, form.name)
    except InputError as error:
        raise HttpFault(
            TOO_LARGE, "too large", "format", str(error), "take another format or a smaller table"
        ) from None
    extra["Content-Disposition"] = f'inline; filename="table{form.suffix}"'
    extra["Content-Type"] = form.media_type
    return Response(body, 200, extra)


def headers(service: Service, tag: str, reply: Reply | None = None) -> dict[str, str]:
    """Cache headers. An answer is for the asker alone: a shared cache would tell what others asked."""
    lines = {"ETag": tag, "Cache-Control": f"private, max-age={MAX_AGE}", "Vary": "Accept, Authorization, Cookie"}
    if reply is not None and isinstance(reply.answer.result, Release) and reply.answer.result.as_it_is:
        lines["X-Discreet-Protection"] = f"none; {AS_IT_IS}"
    if reply is not None and reply.flag is not None:
        lines["X-Discreet-Guard"] = reply.flag.rule
        lines["Cache-Control"] = "private, no-store"
    return lines


def same(request: Request, tag: str) -> bool:
    """Whether the caller has this very answer."""
    tags = request.headers.get("if-none-match", "")
    return tags == "*" or tag in [part.strip().removeprefix("W/") for part in tags.split(",")]


def accepted_format(accept: str) -> Format:
    """The format that an Accept header prefers; CSV when anything will do.

    >>> accepted_format("application/json;q=0.5, text/x-pcaxis").name, accepted_format("*/*").name
    ('px', 'csv')
    """
    best: tuple[float, int, Format] | None = None
    for place, part in enumerate(accept.split(",")):
        kind, *parameters = [piece.strip().lower() for piece in part.split(";")]
        quality = next((_number(p[2:]) for p in parameters if p.startswith("q=")), 1.0)
        for form in SERVED:
            own = form.media_type.partition(";")[0]
            if quality > 0 and kind in (own, "*/*", own.partition("/")[0] + "/*"):
                if best is None or (quality, -place) > (best[0], best[1]):
                    best = (quality, -place, form)
                break
    if best is None:
        known = ", ".join(dict.fromkeys(f.media_type.partition(";")[0] for f in SERVED))
        raise HttpFault(406, "no such format", "format", "no format of the Accept header is served", f"known: {known}")
    return best[2]


def _number(text: str) -> float:
    try:
        return min(max(float(text), 0.0), 1.0)
    except ValueError:
        return 0.0
