"""The Python side of the R package: plain columns in, plain columns out, faults as text that never holds a value.

Every function returns (fault, answer), one of which is None. A column is a dict: ``kind`` "factor" (levels, and 32-bit
positions from 1), "integer", "logical" (32 bits) or "number" (doubles) as the bytes of R's vectors, or "text".
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import discreet as dc
from discreet.errors import DiscreetError, InputError, listed

NA = np.iinfo(np.int32).min  # R's missing whole number
NA_REAL = np.frombuffer(np.array([0x7FF00000000007A2], np.uint64).tobytes())[0]  # R's missing double, a NaN of its own
Column = Mapping[str, Any]
Answer = tuple[str | None, Any]


def told(work: Callable[..., Any]) -> Callable[..., Answer]:
    """Faults as text: ours as they are, others without their message, which might hold data."""

    @wraps(work)
    def asked(*given: Any) -> Answer:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", dc.DiscreetWarning)
                return None, work(*given)
        except DiscreetError as error:
            return str(error), None
        except Exception as error:  # noqa: BLE001 - whatever it is, its message must not reach the console
            at = error.__traceback__
            while at and at.tb_next:
                at = at.tb_next
            place = f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at else "?"
            return f"a fault ({type(error).__name__} at {place}); its message may hold data, so it is withheld", None

    return asked


# -- from R ---------------------------------------------------------------------------------------------------------


def series(column: Column, missing: str | None = None) -> Any:
    """A column of a data.frame as pandas has it."""
    data = bytes(column["data"])
    if column["kind"] == "number":
        return pd.Series(np.frombuffer(data, np.float64))
    whole = np.frombuffer(data, np.int32)
    if column["kind"] == "integer":
        return pd.Series(pd.array(np.where(whole == NA, 0, whole), dtype="Int64")).mask(whole == NA)
    levels = list(column["levels"])
    at = np.where(whole == NA, 0, whole) - 1
    if missing is not None and (at < 0).any():
        levels = levels if missing in levels else [*levels, missing]
        at = np.where(at < 0, levels.index(missing), at)
    return pd.Series(pd.Categorical.from_codes(at, categories=pd.Index(levels, dtype=object)))


def frame(columns: Mapping[str, Column], by: Sequence[str], missing: str | None) -> pd.DataFrame:
    """The data, with a category for missing codes where one is given, else without missing codes."""
    made = pd.DataFrame({name: series(column, missing if name in by else None) for name, column in columns.items()})
    lost = {name: int(made[name].isna().sum()) for name in by}
    if faults := [f"column {name!r}: {n:,} missing values" for name, n in lost.items() if n]:
        raise InputError("; ".join(faults) + '; give them a category, e.g. missing = "unknown"')
    return made


def dimensions(data: pd.DataFrame, by: Sequence[str], hierarchies: Any, total: str) -> list[dc.Dimension]:
    """Levels as codes, unused ones included; with a hierarchy the codes that it mentions."""
    trees = dict(hierarchies or {})
    if unknown := [name for name in trees if name not in by]:
        raise InputError(f"hierarchies for {listed(unknown)}, which the table is not by")
    made = []
    for name in by:
        levels = [str(code) for code in data[name].cat.categories]
        if name not in trees:
            made.append(dc.Dimension.flat(name, levels, total=total))
            continue
        pairs = list(zip(trees[name]["codes"], trees[name]["parents"], strict=True))
        dimension = dc.Dimension.from_parents(name, pairs)
        if strange := [code for code in levels if code not in dimension.leaves]:
            raise InputError(f"the hierarchy of {name!r} does not have {listed(strange)} among its finest codes")
        made.append(dimension)
    return made


def plain(data: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Codes as text: what a category means has gone into the dimensions."""
    return data.assign(**{name: data[name].astype(str) for name in by})


@told
def of_records(
    columns: Mapping[str, Column], by: Sequence[str], hierarchies: Any, missing: str | None, total: str, roles: Any
) -> dc.Table:
    """Records counted, or their ``value`` summed."""
    data = frame(columns, by, missing)
    given = {name: column for name, column in dict(roles).items() if column is not None}
    value = given.pop("value", None)
    for name in given.values():
        if isinstance(data[name].dtype, pd.CategoricalDtype):
            data[name] = data[name].astype(object)
    records = dc.Microdata.of(
        plain(data, by),
        dimensions=dimensions(data, by, hierarchies, total),
        magnitudes=[] if value is None else [value],
        **given,
    )
    return dc.tabulate(records, by=list(by), value=value)


@told
def of_cells(
    columns: Mapping[str, Column], by: Sequence[str], freq: str, hierarchies: Any, missing: str | None, total: str
) -> dc.Table:
    """Cells with their counts; those that are left out are empty, totals among them are checked."""
    data = frame(columns, by, missing)
    known = []
    for name in by:  # a total among the codes is the total
        codes = data[name].cat.categories
        data[name] = data[name].cat.set_categories([c for c in codes if c != total]) if total in codes else data[name]
    made = dimensions(data, by, hierarchies, total)
    for name in by:
        known.append(np.where(data[name].isna(), total, data[name].astype(object)))
    cells = data.assign(**dict(zip(by, known, strict=True)))
    cells["count"] = cells.pop(freq)
    return dc.Table.of(cells, made, count="count")


# -- the methods ----------------------------------------------------------------------------------------------------


def whole(name: str, number: Any) -> int:
    """R's 3 is a double; 3.5 is a fault."""
    if number is None or float(number) != int(number):
        raise InputError(f"{name} must be a whole number, not {number}")
    return int(number)


@told
def suppress_small_counts(table: dc.Table, under: Any, zeros: bool) -> dc.Protected:
    return dc.protect(table, dc.Suppress(dc.Threshold(whole("under", under), zeros=bool(zeros))))


@told
def suppress_dominant_cells(table: dc.Table, n: Sequence[Any], k: Sequence[Any], p: Any) -> dc.Protected:
    if len(n) != len(k):
        raise InputError(f"n and k go together: {len(n)} and {len(k)} were given")
    rules: list[Any] = [dc.Dominance(whole("n", a), float(b)) for a, b in zip(n, k, strict=True)]
    rules += [] if p is None else [dc.PPercent(float(p))]
    if not rules:
        raise InputError("give n and k, or p: without a rule nothing would be protected")
    rule = rules[0]
    for other in rules[1:]:
        rule = rule | other
    return dc.protect(table, dc.Suppress(rule))


@told
def round_small_counts(table: dc.Table, base: Any, seed: Any) -> dc.Protected:
    return dc.protect(
        table, dc.SmallCountRound(whole("base", base), seed=None if seed is None else whole("seed", seed))
    )


@told
def cell_key(table: dc.Table, d: Any, v: Any, js: Any, pstay: Any, seed: Any) -> dc.Protected:
    method = dc.CellKey(
        d=whole("d", d),
        v=float(v),
        js=whole("js", js),
        pstay=None if pstay is None else float(pstay),
        seed=None if seed is None else whole("seed", seed),
    )
    return dc.protect(table, method)


@told
def assess(table: dc.Table, after: Any) -> dict[str, Any]:
    report = dc.assess(table, after)
    found = report.summary().reset_index()
    return {"measures": columns_of(found[["measure", "value", "meaning"]]), "notes": list(report.notes)}


@told
def audit(released: Any) -> dict[str, Any]:
    found = dc.audit(released)
    return {"cells": columns_of(found.cells.drop(columns="true", errors="ignore")), "verdict": str(found.verdict)}


@told
def write_release(released: Any, path: str, title: str, source: str) -> None:
    given = {name: text for name, text in (("title", title), ("source", source)) if text}
    if isinstance(released, dc.Protected):
        released = released.release(**given)
    elif given:
        raise InputError("a table that was read keeps its title and source")
    dc.write(released, path)


@told
def read_release(path: str) -> dc.Release:
    return dc.Release.read_csv(path)


# -- to R -----------------------------------------------------------------------------------------------------------


@told
def cells(released: Any) -> dict[str, Any]:
    """Codes, published values (missing where hidden), and which cells are hidden; of a Protected also why."""
    release = released.release() if isinstance(released, dc.Protected) else released
    shown = release.cells.drop(columns="status")
    if isinstance(released, dc.Protected):
        status = released.status[released.status != dc.Status.NEVER.value]
        shown["primary"] = status == dc.Status.PRIMARY.value
    shown["suppressed"] = release.status != ""
    return columns_of(shown)


def columns_of(data: pd.DataFrame) -> dict[str, Any]:
    """A frame as R reads it."""
    made = [column_of(data[name]) for name in data.columns]
    return {"rows": len(data), "names": [str(name) for name in data.columns], "columns": made}


def column_of(values: pd.Series[Any]) -> dict[str, Any]:
    """A column in R's bytes; whole numbers too large for R's integers become doubles."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        at = values.cat.codes.to_numpy().astype(np.int64)
        data = np.where(at < 0, NA, at + 1).astype(np.int32)
        levels = [str(code) for code in values.cat.categories]
        return {"kind": "factor", "levels": levels, "data": bytearray(data.tobytes())}
    if values.dtype == bool:
        return {"kind": "logical", "data": bytearray(values.to_numpy().astype(np.int32).tobytes())}
    if pd.api.types.is_integer_dtype(values.dtype):
        gone = values.isna().to_numpy()
        numbers = values.fillna(0).to_numpy().astype(np.int64)
        if not numbers.size or np.abs(numbers).max() < 2**31:
            return {"kind": "integer", "data": bytearray(np.where(gone, NA, numbers).astype(np.int32).tobytes())}
        return {"kind": "number", "data": bytearray(np.where(gone, NA_REAL, numbers).astype(np.float64).tobytes())}
    if pd.api.types.is_float_dtype(values.dtype):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        return {"kind": "number", "data": bytearray(np.where(np.isnan(numbers), NA_REAL, numbers).tobytes())}
    return {"kind": "text", "values": [str(text) for text in values]}
