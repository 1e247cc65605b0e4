"""Tables for ``digest.py``, printed and drawn, and what is looked at in a protected one."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import coo_array

import discreet as dc
from discreet.formats.jj import Instance, parse_jj


@cache
def people() -> dc.Microdata:
    return dc.datasets.census(n=4_000)


@cache
def firms() -> dc.Microdata:
    return dc.datasets.business(n=1_500)


def turnover(*by: str) -> dc.Table:
    """Amounts with their largest contributions and holdings."""
    return dc.tabulate(firms(), by=by, value="turnover", top=3)


def counted(*by: str) -> dc.Table:
    return dc.tabulate(people(), by=by)


@cache
def printed() -> dict[str, dc.Table]:
    """The tables of the papers."""
    return {e.name: getattr(dc.datasets, e.name)() for e in dc.datasets.catalogue() if e.kind == "table"}


@cache
def drawn() -> dict[str, dc.Table]:
    """Seeded tables of one to five dimensions, full and nearly empty, flat and in groups, of counts and of amounts."""
    shapes = {1: (12,), 2: (8, 7), 3: (6, 4, 3), 4: (4, 3, 3, 2), 5: (3, 3, 2, 2, 2)}
    found = {}
    for d, shape in shapes.items():
        for kind, mean in (("full", 14.0), ("sparse", 0.8)):
            for grouped in (False, True):
                rng = np.random.default_rng([d, int(mean), grouped])
                rate = mean * rng.lognormal(0, 0.6, shape)
                counts = rng.poisson(rate)
                name, dims = f"{kind}{d}{'h' if grouped else ''}", _dimensions(shape, grouped)
                found[name] = dc.Table.of(counts, dims)
                if kind == "full":
                    amounts = (counts * rng.lognormal(3, 1, shape)).round(1)
                    found[f"amount{name}"] = dc.Table.of(amounts, dims, value="amount", decimals=1)
    return found


def _dimensions(shape: tuple[int, ...], grouped: bool) -> list[dc.Dimension]:
    """The first two in groups of two or three, if any are."""
    made = []
    for k, n in enumerate(shape):
        codes = [f"{'ABCDEF'[i // (2 + k)]}{i}" for i in range(n)]
        name = f"v{k + 1}"
        made.append(dc.Dimension.from_prefix(name, codes, [1]) if grouped and k < 2 else dc.Dimension.flat(name, codes))
    return made


def instance(table: dc.Table, seed: int) -> Instance:
    """A table as a .jj problem: a seventh of its inner cells sensitive, each to move by an eighth."""
    rng, value = np.random.default_rng(seed), table.value.astype(float)
    sensitive = table.is_inner & (value > 0) & (rng.random(len(value)) < 1 / 7)
    level = np.where(sensitive, np.ceil(value / 8), 0)
    lines = ["0", str(len(value))]
    for k, (v, u, size) in enumerate(zip(value.tolist(), sensitive.tolist(), level.tolist(), strict=True)):
        lines.append(f"{k} {v} {v} {'u' if u else 's'} 0 {2 * v} {size} {size} 0")
    parts = coo_array(table.matrix).tocsc()  # a column for each cell: the inner cells in it
    place = np.flatnonzero(table.is_inner)
    own = {int(parts[:, [c]].indices[0]): int(c) for c in place}
    sums = [c for c in range(len(value)) if not table.is_inner[c]]
    lines.append(str(len(sums)))
    for c in sums:
        at = slice(parts.indptr[c], parts.indptr[c + 1])
        terms = [f"{own[int(i)]} ({x})" for i, x in zip(parts.indices[at], parts.data[at], strict=True)]
        lines.append(f"0 {len(terms) + 1} : {c} (-1) {' '.join(terms)}")
    return parse_jj("\n".join(lines), name="made")


def protected(table: dc.Table, method: Any) -> dict[str, Any]:
    """Status and published values of every cell, and what is told of how they came about."""
    done = dc.protect(table, method)
    room = getattr(done, "room", None)  # what earlier versions kept in details
    stated = {name: getattr(room, name, None) for name in ("lower", "upper", "levels", "bounds", "sums")}
    details = {**{name: value for name, value in stated.items() if value is not None}, **done.details}
    return {"status": done.status, "values": done.published, "details": details}


def judged(table: dc.Table, method: Any, **options: Any) -> dict[str, Any]:
    """What an intruder finds out: intervals and findings."""
    found = dc.audit(dc.protect(table, method), **options)
    return {"intervals": (found.number, found.lower, found.upper), "findings": found.finding, "report": found}


def jj(one: Instance, method: str, weights: str) -> dict[str, Any]:
    """The pattern of an instance and the audit of it; of the cheapest one only what it costs if all cells cost one."""
    way = dc.Optimal(time=600) if method == "optimal" else "gauss"
    found = one.protect(way, weights=weights, clean_up=method == "clean-up")
    told: dict[str, Any] = {"cost": round(found.cost, 6)}
    if method == "optimal" and weights == "unity":
        return told
    seen = one.audit(found.hidden, targets=np.flatnonzero(one.primary))
    return told | {"hidden": found.hidden, "audit": (seen.lower, seen.upper, seen.finding)}
