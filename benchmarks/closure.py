"""All answers of a policy together: what attacks rebuild from everything that it ever answers, for several policies.

    python benchmarks/closure.py [PERSONS] [--only NAME ...] [--most NUMBER] [--targets NUMBER]

Prints the table of docs/security.md. The demo has 1,500,000 persons; fewer take a few minutes.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np

import discreet as dc
from discreet.policy import Attack
from discreet.policy.attacks.answers import Truth, collect
from discreet.policy.pretabular import cube_of
from discreet.tables.table import Table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "security.md"
SECRET = b"a secret that attackers do not know"
KEYS = '[[method]]\nname = "cell-key"\nd = 5\nv = 3\n'


def policies() -> dict[str, str]:
    """What is compared: what the demo once was, parts of the defence, and what the demo and the guide have now."""
    demo = resources.files("discreet.server").joinpath("demo.toml").read_text(encoding="utf-8")
    guide = (PAGE.parent / "how-to" / "set-up-a-server.md").read_text(encoding="utf-8")
    stated = re.search(r"```toml title=policy.toml\n(.*?)```", guide, re.S)
    assert stated is not None
    return {
        "cell keys, four variables": f"[query]\nmax_dimensions = 4\nmax_cells = 245700\n{KEYS}",
        "cell keys, small populations closed": (
            f"[query]\nmax_dimensions = 3\nmax_cells = 245700\n[table]\nmin_population = 2000\n{KEYS}"
        ),
        "demo": _without_secret(demo),
        "guide": _without_secret(stated[1]),
    }


def _without_secret(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("secret"))


def usefulness(cube: Table, policy: dc.Policy) -> tuple[float, float] | None:
    """Mean utility (1 - HD/sqrt(N)) of answered tables of three variables; mean relative error of counts over 100.

    None if no such table is answered.
    """
    truth = Truth.of(cube)
    utilities = []
    errors = []
    for frame, shown, true in truth.pairs(collect(cube, policy)):
        if len(frame) == min(3, len(cube.dimensions)) and true.sum():
            distance = np.sqrt(((np.sqrt(np.maximum(shown, 0)) - np.sqrt(true)) ** 2).sum() / 2)
            utilities.append(1 - distance / np.sqrt(true.sum()))
            large = true > 100
            errors.append(np.abs(shown - true)[large] / true[large])
    if not utilities:
        return None
    return float(np.mean(utilities)), float(np.mean(np.concatenate(errors)))


def rows(report: Attack, useful: tuple[float, float] | None) -> dict[str, str]:
    """One column of the table."""
    out = {
        "requests; distinct cells": f"{report.requests:,}; {report.cells:,}",
        "verdict": report.verdict.value,
    }
    worst = report.worst
    if worst is not None and worst.claimed:
        at = max(worst.claimed, key=lambda one: (one.precision - one.baseline_precision) if one.claims else -1.0)
        out["worst population"] = f"{worst.name} (p > {at.probability:g})"
    for one in report.populations:
        likely = one.claimed[1] if one.claimed else None
        told = "not attacked" if likely is None else "none claimed"
        if likely is not None and likely.claims:
            told = f"{likely.right} of {likely.claims}: {likely.precision:.0%} ({likely.baseline_precision:.0%})"
        out[f"records, {one.name}"] = told
    for size, counts in report.counts:
        if size == 3:
            out["RMSE of 3-way cells, shown and fitted"] = f"{counts.rmse_shown:.2f}, {counts.rmse:.2f}"
            out["3-way counts 1-3 exact (single number)"] = f"{counts.exact:.0%} ({counts.single:.0%})"
    for finding in report.findings:
        out[f"{finding.attack}: {finding.success}"] = f"{finding.rate:.0%} ({finding.blind:.0%})"
    if useful is not None:
        out["utility of 3-way tables"] = f"{useful[0]:.3f}"
        out["relative error of counts over 100"] = f"{useful[1]:.2%}"
    return out


def table(columns: dict[str, dict[str, str]]) -> str:
    """Markdown, a row for everything that any policy has."""
    names: dict[str, None] = {}
    for column in columns.values():
        names.update(dict.fromkeys(column))
    lines = [f"| | {' | '.join(columns)} |", f"|---|{'--:|' * len(columns)}"]
    lines += [f"| {name} | {' | '.join(column.get(name, '–') for column in columns.values())} |" for name in names]
    return "\n".join(lines)


def measured(cube: Table, text: str, most: int, targets: int) -> dict[str, str]:
    """One policy."""
    policy = dc.policy.parse_policy(text)
    keyed = replace(policy, secret=SECRET)
    report = dc.policy.attack(
        cube, keyed, most=most, targets=targets, progress=lambda words: print(words, file=sys.stderr)
    )
    return rows(report, usefulness(cube, keyed))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("persons", nargs="?", type=int, default=100_000)
    parser.add_argument("--most", type=int, default=5, help="populations")
    parser.add_argument("--targets", type=int, default=20, help="people queries are searched for")
    parser.add_argument("--only", action="append", choices=list(policies()))
    given = parser.parse_args()
    cube = cube_of(dc.datasets.census(n=given.persons))
    columns = {}
    for name, text in policies().items():
        if given.only and name not in given.only:
            continue
        began = time.perf_counter()
        columns[name] = measured(cube, text, given.most, given.targets)
        print(f"{name}: {time.perf_counter() - began:,.0f} s", file=sys.stderr)
    print(f"{given.persons:,} persons, {given.most} categories under 2,000.\n\n{table(columns)}")


if __name__ == "__main__":
    main()
