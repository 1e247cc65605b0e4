"""discreet protect --in-parts: tables too large to be held, written some cells at a time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from discreet.cli import unprotected as guard
from discreet.cli.console import say
from discreet.cli.inputs import records_asked
from discreet.cli.option_texts import filters, names_of
from discreet.cli.output import format_of
from discreet.cli.policy import PolicyChoice, say_openly
from discreet.cli.progress import bar
from discreet.errors import InputError
from discreet.release import AS_IT_IS


def check_options(
    name: str | None, wanted: bool, cells: int | None, top: int | None, confidential: Path | None
) -> None:
    """Refuse options that do not go together, before anything is read."""
    from discreet.methods import method_class
    from discreet.parts import check_cellwise

    if not wanted and cells is not None:
        raise InputError("--part-cells says how large the parts of --in-parts are; give both or neither")
    if wanted and (top is not None or confidential is not None):
        raise InputError("in parts no contributions and no true values are kept: leave out --top and --confidential")
    if wanted and name is not None:
        check_cellwise(method_class(name))


def write_protected_in_parts(
    name: str,
    options: dict[str, Any],
    which: dict[str, Any],
    output: Path | None,
    format: str | None,
    cells: int | None,
) -> None:
    """Protect by a method and write to ``output``."""
    from discreet.methods import method
    from discreet.parts import protect_in_parts

    protecting, path = method(name, **options), _target(which, output, format)
    guard.check_made(name, protecting, which)
    by = names_of(which["by"])
    if not by:
        raise InputError("name the dimensions of the table: --by county,sex")
    began = time.perf_counter()
    data = records_asked(which, by)
    chosen = filters(which["where"], which["codebook"], by)
    guard.check_table(protecting, by, data.dimensions, which["where"])
    with bar(name) as progress:
        protect_in_parts(
            data,
            by,
            guard.Looked(name, protecting),
            path,
            value=which["value"],
            where=chosen,
            format=format,
            progress=progress,
            **_size(cells),
        )
    if name == "publish":
        guard.say_unprotected(AS_IT_IS)
    say(f"wrote {path} in parts, {time.perf_counter() - began:.1f} s")


def write_answer_in_parts(
    policy: PolicyChoice, which: dict[str, Any], output: Path | None, format: str | None, cells: int | None
) -> None:
    """Let a policy decide and write to ``output``."""
    from discreet.policy import answer_in_parts

    path = _target(which, output, format)
    if policy.record is not None:
        raise InputError("--record keeps a digest of the whole table: leave it out, or ask without --in-parts")
    data, query, protecting = policy.question(which)
    say_openly(protecting)
    began = time.perf_counter()
    with bar("counting and protecting") as progress:
        answer_in_parts(data, query, protecting, path, format=format, progress=progress, **_size(cells))
    say(f"wrote {path} in parts, {time.perf_counter() - began:.1f} s")


def _target(which: dict[str, Any], output: Path | None, format: str | None) -> Path:
    format_of(output, format)
    if output is None:
        raise InputError("a table in parts goes to a file: name it (-o table.csv or -o table.parquet)")
    if which["ready"]:
        raise InputError("a ready table is in memory already; --in-parts is for records")
    return output


def _size(cells: int | None) -> dict[str, Any]:
    return {} if cells is None else {"cells": cells}
