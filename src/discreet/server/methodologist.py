"""The methodologist's pages: risk before and after, the risk-utility map, what an intruder can work out, the record.

Everything here compares with the true table, so it is for that role alone and is never cached.
"""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from discreet.audits import audit
from discreet.errors import DiscreetError, Refused
from discreet.methods.by_hand import Publish
from discreet.methods.contract import protect
from discreet.policy import Query, ru_map
from discreet.policy.deciding import protect_by
from discreet.policy.judging import weigh_evidence
from discreet.release import Protected
from discreet.risk.risk_report import assess
from discreet.server import charts
from discreet.server.api import HttpFault, service_of
from discreet.server.auth import Caller
from discreet.server.pages import known_fields, rendered_page, visitor
from discreet.server.queries import query_from
from discreet.server.service import Service

router = APIRouter(include_in_schema=False, dependencies=[Depends(known_fields)])
MOST_LINES = 200
MOST_AUDITED = 1500  # cells
NOT_SHOWN = ("draws", "exact", "note", "pareto", "allowed")  # columns of the map that the page says otherwise


async def methodologist(request: Request) -> Caller:
    """The caller, if the role allows to see the truth."""
    caller = await visitor(request)
    if not caller.may("methodologist"):
        if not caller.signed_in:
            raise HttpFault(303, "sign in", "role", "sign in first", "", Location="/login")
        raise HttpFault(403, "refused", "role", "this page is for methodologists", "ask for the role")
    return caller


@router.get("/method")
async def method(request: Request) -> Response:
    """The tools, and for a query what the policy's methods do to its table."""
    caller = await methodologist(request)
    service = service_of(request, caller)
    variables, where = request.query_params.get("variables", ""), request.query_params.get("where", "")
    examination = None
    if variables:
        query = query_from(service.dimensions, variables, where)
        examination = await asyncio.to_thread(examined, service, query)
    lines = await service.commits.run(service.store.last_answers, MOST_LINES)
    total = await service.commits.run(service.store.answers)
    record_lines = [{**line, "when": _when(line["at"]), "asked": _asked(line["query"])} for line in lines]
    return rendered_page(
        request,
        caller,
        "method.html",
        variables=variables,
        where=where,
        found=examination,
        lines=record_lines,
        total=total,
    )


def examined(service: Service, query: Query) -> dict[str, Any]:
    """Risk, risk-utility map and audit of the table that a query asks for (confidential)."""
    resolved = service.resolved(query)
    service.check(resolved)
    table = service.counting.table(resolved)
    methods: dict[str, Any] = {
        f"{n + 1}. {name}": service.policy.make(n, [*resolved.levels])
        for n, (name, _) in enumerate(service.policy.methods)
    }
    methods["as it is"] = Publish()
    limits = service.policy.risk
    stated = limits.population_size
    map_ = ru_map(
        table, methods, measure=limits.measure, loss=service.policy.loss, weights=limits.weights,
        jos15_weights=limits.jos15_weights, t2=limits.t2, t3=limits.t3, population=limits.population,
        population_size=stated if limits.population and isinstance(stated, int) else None,
    )  # fmt: skip
    rows = [{"method": name, **row, "note": _made(row)} for name, row in map_.frame.to_dict(orient="index").items()]
    points = [
        charts.Point(row["method"], float(row["risk"]), float(row["utility"]), row["method"] == map_.best)
        for row in rows
        if row["risk"] is not None
    ]
    method = service.policy.make(0, [*resolved.levels])
    chosen = protect(table, method)
    return {
        "cells": len(table),
        "rows": rows,
        "columns": [name for name in map_.frame.columns if name not in NOT_SHOWN],
        "map": charts.risk_utility_chart(points, next(iter(limits.limits("t2").values()), None)),
        "risk": assess(table).summary().reset_index().to_dict(orient="split"),
        "evidence": weigh_evidence(chosen, method, resolved, service.policy),
        "audit": audit_rows(chosen),
        "decision": _decision(table, resolved, service),
    }


def _made(row: dict[Any, Any]) -> str:
    """Why a method has no figures, or how they were made."""
    return str(row["note"]) or ("exact" if row["exact"] else f"means of {row['draws']:.0f} draws")


def _decision(table: Any, resolved: Any, service: Service) -> str:
    try:
        protect_by(table, resolved, service.policy, service.whole)
    except Refused as refused:
        return f"refused by {refused.rule}: {refused.reason}"
    return "released"


def audit_rows(protected: Protected) -> dict[str, Any]:
    """What somebody who knows the method and all totals can say of the cells (``discreet.audit``), if there are few."""
    if len(protected.table) > MOST_AUDITED:
        return {"rows": [], "note": f"tables of more than {MOST_AUDITED:,} cells are audited with `discreet audit`"}
    try:
        report = audit(protected)
    except DiscreetError as error:
        return {"rows": [], "note": str(error)}
    rows = report.findings().reset_index(names="finding").to_dict(orient="records")
    return {"rows": rows, "note": "; ".join([f"verdict: {report.verdict.value}", *report.unjudged])}


def _when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _asked(text: str) -> str:
    return str(Query.from_dict(json.loads(text)))
