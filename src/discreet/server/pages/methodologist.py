"""The methodologist's pages: risk before and after, the risk-utility map, what an intruder can work out, the record.

Everything here compares with the true table, so it is for that role alone and is never cached.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from discreet.audits import audit
from discreet.errors import DiscreetError, InputError, Refused
from discreet.methods.by_hand import Publish
from discreet.methods.contract import protect
from discreet.policy import Query, ru_map
from discreet.policy.deciding import protect_by
from discreet.policy.judging import weigh_evidence
from discreet.release import Protected
from discreet.risk.risk_report import assess
from discreet.server.api import HttpFault, query_text, service_of
from discreet.server.attack_result import attack_rows
from discreet.server.auth import Caller
from discreet.server.languages import ENGLISH, language_of, translated_reason
from discreet.server.method_standing import CLOSE, Standing, best_method, standing_words
from discreet.server.metrics import METERS
from discreet.server.pages.pages import rendered_page, root, visitor
from discreet.server.parameter_checks import check_parameters
from discreet.server.portals.data_sets import edition_names
from discreet.server.queries import address, query_from
from discreet.server.record.record_search import (
    ON_PAGE,
    RecordSearch,
    asked_by_hour,
    exported_csv,
    first_answers,
    found_lines,
    refused_by_rule,
    rules_in_record,
)
from discreet.server.service import Service
from discreet.server.views import charts
from discreet.server.views.traffic_charts import lying_bars, standing_bars

SEARCHED = ("words", "who", "outcome", "rule", "since", "page")
PICKED = ("show", "only")  # fields of the form, one of each for every variable
TABLES = (
    "/table",
    "/api/table",
    "/api/table.{suffix}",
    "/api/pxweb/v2/tables/{identity}/data",
    "/api/pxweb/v1/{language}/{folder}/{identity}",
    "/api/sdmx/2.1/data/{flow}/{key}",
)
DAY = 86_400
NOTHING_DONE = (
    "nothing of this table is hidden or changed after it was counted, so there is nothing to work back: what protects "
    "people was done to the data before, and is judged by `discreet attack`"
)
HOURS = "Tables asked in each of the last 24 hours"
RULES = "Refusals of the last 24 hours by rule"
TIMES = "Answers by the time they took"
SENTENCES = (HOURS, RULES, TIMES)


router = APIRouter(include_in_schema=False)
MOST_AUDITED = 1500  # cells
NOT_SHOWN = ("draws", "exact", "note", "pareto", "allowed")  # columns of the map that the page says otherwise
REFERENCE = "as it is"


async def methodologist(request: Request) -> Caller:
    """The caller, if the role allows to see the truth; then every parameter must be one that the page reads."""
    caller = await visitor(request)
    if not caller.may("methodologist"):
        if not caller.signed_in:
            raise HttpFault(303, "sign in", "role", "sign in first", "", Location="/login")
        raise HttpFault(403, "refused", "role", "this page is for methodologists", "ask for the role")
    picked = [f"{kind}_{d.name}" for kind in PICKED for d in service_of(request).dimensions]
    check_parameters(query_text(request), ("variables", "where", "lang", *SEARCHED, *picked))
    return caller


@router.get("/method")
async def method(request: Request) -> Response:
    """The tools, and for a query what the policy's methods do to its table."""
    caller = await methodologist(request)
    service = service_of(request, caller)
    if (picked := picked_query(request.query_params, service)) is not None:
        return RedirectResponse(f"{root(request)}/method?{picked}", 303)
    variables, where = request.query_params.get("variables", ""), request.query_params.get("where", "")
    examination, chosen = None, None
    if variables:
        chosen = query_from(service.dimensions, variables, where)
        examination = await asyncio.to_thread(examined, service, chosen, language_of(request))
    search = RecordSearch.of(request.query_params)
    others = editions_of_others(request)
    total, lines = await asyncio.to_thread(found_lines, service.store, search, others)
    return rendered_page(
        request,
        caller,
        "method.html",
        variables=variables,
        where=where,
        levels=dict(chosen.variables) if chosen else {},
        population={name: codes[0] for name, codes in chosen.where if len(codes) == 1} if chosen else {},
        found=examination,
        lines=lines,
        total=total,
        search=search,
        close=CLOSE,
        pages=max(-(-total // ON_PAGE), 1),
        searched=urlencode(search.parameters),
        rule_names=await asyncio.to_thread(rules_in_record, service.store, others),
        traffic=await traffic(service, language_of(request), others),
        editions=await asyncio.to_thread(edition_lines, service, others),
        attacks=attack_rows(request.app.state.attacks, policy_digests(service_of(request))),
    )


@router.get("/method/record.csv")
async def exported_record(request: Request) -> Response:
    """The lines of the record that a search finds, as a file."""
    caller = await methodologist(request)
    service = service_of(request, caller)
    body = await asyncio.to_thread(
        exported_csv, service.store, RecordSearch.of(request.query_params), editions_of_others(request)
    )
    extra = {"Content-Disposition": 'attachment; filename="record.csv"', "Cache-Control": "no-store"}
    return Response(body, 200, extra, "text/csv; charset=utf-8")


def picked_query(fields: Mapping[str, str], service: Service) -> str | None:
    """What was picked in the form as the query part of an address; None if the address has no field of the form."""
    if not any(name.startswith(tuple(f"{kind}_" for kind in PICKED)) for name in fields):
        return None
    shown = {d.name: level for d in service.dimensions if (level := fields.get(f"show_{d.name}", ""))}
    only = {d.name: [code] for d in service.dimensions if (code := fields.get(f"only_{d.name}", ""))}
    if not shown:
        raise InputError("pick at least one variable for the table")
    return address(Query.of(shown, where=only or None))


async def traffic(service: Service, language: str = ENGLISH, others: Collection[str] = ()) -> dict[str, Any]:
    """What the server did of late: tables by the hour, refusals by rule, and times to answer."""
    say = partial(translated_reason, language=language)
    hours = await asyncio.to_thread(asked_by_hour, service.store, others)
    rules = await asyncio.to_thread(refused_by_rule, service.store, time.time() - DAY, others)
    times = [(say(name), number) for name, number in METERS.time_counts(TABLES)]
    return {
        "hours": standing_bars(
            [(name, (released, refused)) for name, released, refused in hours],
            (say("released"), say("refused")),
            say(HOURS),
        ),
        "asked": sum(released + refused for _, released, refused in hours),
        "refused": sum(refused for _, _, refused in hours),
        "rules": lying_bars(rules, say(RULES)) if rules else "",
        "times": lying_bars(times, say(TIMES)) if any(number for _, number in times) else "",
    }


def editions_of_others(request: Request) -> frozenset[str]:
    """The editions of the other data sets of a hub, whose record the same store keeps: a page tells of one data set."""
    own = edition_names(service_of(request))
    others = {name for one in getattr(request.app.state, "beside", ()) for name in edition_names(one)}
    return frozenset(others.difference(own))


def edition_lines(service: Service, others: Collection[str] = ()) -> list[dict[str, Any]]:
    """The editions of the data that were asked, by their names, with the days of the first and the last answer."""
    lines = []
    for row in first_answers(service.store, others):
        days = {name: datetime.fromtimestamp(row[name], UTC).strftime("%Y-%m-%d") for name in ("first", "last")}
        lines.append({"name": row["data"], "present": row["data"] == service.version, "n": row["n"], **days})
    return lines


def policy_digests(public: Service) -> dict[str, str]:
    """The digests of the policies that are served, by role."""
    return {"public": public.policy.digest, **{role: one.policy.digest for role, one in public.roles.items()}}


def examined(service: Service, query: Query, language: str = ENGLISH) -> dict[str, Any]:
    """Risk, risk-utility map and audit of the table that a query asks for (confidential)."""
    resolved = service.resolved(query)
    service.check(resolved)
    table = service.counting.table(resolved)
    methods: dict[str, Any] = {
        f"{n + 1}. {name}": service.policy.make(n, [*resolved.levels])
        for n, (name, _) in enumerate(service.policy.methods)
    }
    methods[REFERENCE] = Publish()
    limits = service.policy.risk
    stated = limits.population_size
    map_ = ru_map(
        table, methods, measure=limits.measure, loss=service.policy.loss, weights=limits.weights,
        jos15_weights=limits.jos15_weights, t2=limits.t2, t3=limits.t3, population=limits.population,
        population_size=stated if limits.population and isinstance(stated, int) else None,
    )  # fmt: skip
    parameters = [
        ", ".join(f"{name} = {value}" for name, value in given.items() if name != "seed")
        for _, given in service.policy.methods
    ]
    with_parameters = dict(zip(methods, [*parameters, ""], strict=True))
    rows = [
        {"method": name, **row, "note": _made(row), "parameters": with_parameters[str(name)]}
        for name, row in map_.frame.to_dict(orient="index").items()
    ]
    standings = {
        row["method"]: Standing(
            float(row["risk"]), float(row["utility"]), bool(row["allowed"]), reference=row["method"] == REFERENCE
        )
        for row in rows
        if row["risk"] is not None and math.isfinite(row["risk"]) and math.isfinite(row["utility"])
    }
    words, best = standing_words(standings), best_method(standings)
    for row in rows:
        row["standing"] = words.get(row["method"], ("no figures",))
    points = [
        charts.Point(translated_reason(name, language), one.risk, one.utility, name == best, one.reference)
        for name, one in standings.items()
    ]
    method = service.policy.make(0, [*resolved.levels])
    chosen = protect(table, method)
    return {
        "cells": len(table),
        "rows": rows,
        "columns": [name for name in map_.frame.columns if name not in NOT_SHOWN],
        "map": charts.risk_utility_chart(points, next(iter(limits.limits("t2").values()), None), language),
        "risk": list(assess(table).summary().itertuples(name=None)),
        "evidence": weigh_evidence(chosen, method, resolved, service.policy),
        "audit": audit_rows(chosen, changed_before=bool(service.policy.before)),
        "decision": _decision(table, resolved, service),
    }


def _made(row: dict[Any, Any]) -> str:
    """Why a method has no figures, or how they were made."""
    return str(row["note"]) or ("exact" if row["exact"] else f"means of {row['draws']:.0f} draws")


def _decision(table: Any, resolved: Any, service: Service) -> dict[str, str]:
    try:
        protect_by(table, resolved, service.policy, service.whole)
    except Refused as refused:
        return {"word": "refused", "rule": refused.rule, "reason": refused.reason}
    return {"word": "released", "rule": "", "reason": ""}


def audit_rows(protected: Protected, *, changed_before: bool = False) -> dict[str, Any]:
    """What somebody who knows the method and all totals can say of the cells (``discreet.audit``), if there are few.

    Where the data were ``changed_before`` they were counted and nothing is done to the table, there is nothing to say.
    """
    if changed_before and protected.as_it_is:
        return {"rows": [], "notes": [NOTHING_DONE]}
    if len(protected.table) > MOST_AUDITED:
        return {"rows": [], "notes": [f"tables of more than {MOST_AUDITED:,} cells are audited with `discreet audit`"]}
    try:
        report = audit(protected)
    except DiscreetError as error:
        return {"rows": [], "notes": [str(error)]}
    rows = report.findings().reset_index(names="finding").to_dict(orient="records")
    return {"rows": rows, "notes": [f"verdict: {report.verdict.value}", *report.unjudged]}
