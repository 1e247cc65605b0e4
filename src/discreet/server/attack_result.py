"""The report of `discreet attack` on the policies that are served, read when the server starts (confidential)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from discreet.base.files import read_private
from discreet.errors import InputError
from discreet.policy.attacks.attack_report import Attack, Attacked, claim_row, doubts, excess, small_counts
from discreet.policy.attacks.finding import AttackFinding
from discreet.policy.attacks.least_squares import Recovered

MOST_POPULATIONS = 12


def read_attack_report(path: str | Path) -> dict[str, Attack]:
    """The reports of a file that `discreet attack --json` wrote, by role; its verdicts are worked out anew."""
    written = read_private(Path(path), "the report of an attack")
    try:
        content = json.loads(written)
        if "populations" in content:
            return {"public": _attack(content)}
        return {str(role): _attack(one) for role, one in content.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            f"{Path(path).name!r} is not a report of an attack; make one with discreet attack --json report.json"
        ) from None


def _attack(content: Mapping[str, Any]) -> Attack:
    known = {field.name for field in fields(Attack)}
    parts = {name: value for name, value in content.items() if name in known}
    parts["populations"] = tuple(Attacked.from_dict(one) for one in content["populations"])
    parts["counts"] = tuple((int(size), Recovered(**one)) for size, one in content["counts"])
    stated = [{name: value for name, value in one.items() if name != "verdict"} for one in content["findings"]]
    parts["findings"] = tuple(AttackFinding(**one) for one in stated)
    for name in ("unjudged", "omitted"):
        parts[name] = tuple(content.get(name, ()))
    return Attack(**parts)


def attack_rows(reports: Mapping[str, Attack], digests: Mapping[str, str]) -> list[dict[str, Any]]:
    """Each report for the page; ``digests`` are those of the policies that are served, by role."""
    rows = []
    for role, report in reports.items():
        worst = sorted(report.populations, key=excess, reverse=True)[:MOST_POPULATIONS]
        rows.append(
            {
                "role": role,
                "verdict": report.verdict.value,
                "ok": report.verdict.ok,
                "omitted": list(report.omitted),
                "served": [name for name, digest in digests.items() if digest == report.policy],
                "requests": report.requests,
                "refused": report.refused,
                "cells": report.cells,
                "populations": [population_row(one) for one in worst],
                "more": len(report.populations) - len(worst),
                "findings": [
                    {"attack": one.attack, "success": one.success, "rate": one.rate, "blind": one.blind}
                    for one in report.findings
                ],
                "unjudged": list(report.unjudged),
            }
        )
    return rows


def population_row(one: Attacked) -> dict[str, Any]:
    """A population for the page: its claims at the probability where they exceed the model most, and what to know."""
    notes = [*([one.why] if one.why else []), *doubts(one), *small_counts(one)]
    row: dict[str, Any] = {"name": one.name, "people": one.people, "verdict": one.verdict.value, "notes": notes}
    claims = [(claimed, covered) for claimed, covered in zip(one.claimed, one.covered, strict=True) if claimed.claims]
    if not claims:
        return row | {"claims": 0}
    claimed, covered = max(claims, key=lambda pair: pair[0].precision - pair[0].baseline_precision)
    return row | claim_row(claimed, covered)
