"""discreet protect: any method of the registry, on a table of records or a ready one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.base.files import CSV, check_suffix, write_whole
from discreet.base.naming import beside
from discreet.cli import in_parts as parts
from discreet.cli import unprotected as guard
from discreet.cli.application import app, example
from discreet.cli.console import say
from discreet.cli.inputs import load_table, records_asked
from discreet.cli.option_texts import filters, names_of, value_of
from discreet.cli.options import release_options, table_options
from discreet.cli.output import emit_release, format_of
from discreet.cli.policy import PolicyChoice, policy_options
from discreet.cli.progress import bar
from discreet.cli.protect_sheet import (
    SHEET_OPTIONS,
    is_finished,
    of_records,
    protect_finished,
    refuse_beside,
    sheet_options,
)
from discreet.errors import InputError, many, nearest

if TYPE_CHECKING:
    import pandas as pd

    from discreet.release import Protected


@example('discreet protect people.csv --by area,sex --method suppress --rule "threshold(n=3)" -o table.csv')
@app.command()
@table_options
@click.option("--method", "name", show_default="suppress", help="How to protect; `--method list` lists.")
@click.option("-P", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of the method; repeatable.")
@click.option("--rule", help='Which cells are sensitive, e.g. "threshold(n=3) | dominance(n=1, k=75)".')
@click.option("--marks", type=click.Path(path_type=Path), help="A-priori marks: CSV of codes and mark (s, u, z, w).")
@click.option("--levels", type=click.Path(path_type=Path), help="Protection levels of cells: CSV, .hst or .tab.")
@click.option("--top", type=click.IntRange(1), help="Largest contributions kept per cell, for rules that need them.")
@sheet_options
@policy_options
@release_options
@click.option("--confidential", type=click.Path(path_type=Path), help="Write true values and status letters here.")
@click.option("--in-parts", is_flag=True, help="For tables too large to be held: protect and write part by part.")
@click.option("--part-cells", type=click.IntRange(1), help="With --in-parts: cells held at a time (1000000).")
def protect(
    name: str | None,
    parameters: Sequence[str],
    rule: str | None,
    marks: Path | None,
    levels: Path | None,
    top: int | None,
    output: Path | None,
    format: str | None,
    metadata: bool,
    confidential: Path | None,
    in_parts: bool,
    part_cells: int | None,
    policy: PolicyChoice,
    **which: Any,
) -> int:
    """Protect the table of DATA and write what may be published.

    With --hide-under or --recipe DATA is a finished table in any layout (a spreadsheet, a CSV), and the same file is
    written again: wards.safe.xlsx of wards.xlsx. With --policy the policy decides: whether the table may be asked at
    all, how it is protected, whether it may be published.
    """
    if name == "list":
        _list()
        return 0
    sheet = {option: which.pop(option) for option in SHEET_OPTIONS}
    if is_finished(sheet, which, name, policy=policy.given):
        others = {"--method": name, "--rule": rule, "--marks": marks, "--levels": levels, "--top": top}
        others |= {"--confidential": confidential, "--in-parts": in_parts or None, "--metadata": metadata or None}
        refuse_beside(others)
        return protect_finished(which, sheet, parameters, output, format)
    name, rule = of_records(sheet, name, rule)
    if (which["total"] or which["decimal"] or which["thousands"]) and not which["ready"]:
        raise InputError("--total, --decimal and --thousands say how a table of cells is read; they go with --ready")
    format_of(output, format, metadata=metadata)
    if metadata and in_parts:
        raise InputError("a table in parts has no metadata beside it: leave out --metadata")
    check_suffix(confidential, CSV, "the confidential table")
    policy.refuse_others(
        {
            "--method": name,
            "-P": parameters or None,
            "--rule": rule,
            "--marks": marks,
            "--levels": levels,
            "--top": top,
            "--confidential": confidential,
        }
    )
    if top is not None and which["value"] is None:
        raise InputError("--top keeps the largest contributions to a magnitude: name that (--value)")
    if top is not None and which["ready"]:
        raise InputError("--top is for records; a table of cells (--ready) does not hold contributions")
    name = name or "suppress"
    parts.check_options(None if policy.given else name, in_parts, part_cells, top, confidential)
    if policy.given:
        if in_parts:
            parts.write_answer_in_parts(policy, which, output, format, part_cells)
            return 0
        emit_release(policy.answer(which, output, format), output, format, metadata=metadata)
        return 0
    arguments = _given(name, parameters, rule, marks, names_of(which["by"]))
    if levels is not None:
        arguments["levels"] = _levels(name, levels, which["codebook"])
    if in_parts:
        parts.write_protected_in_parts(name, arguments, which, output, format, part_cells)
        return 0
    began = time.perf_counter()
    with bar(name) as progress:
        done = _protected(name, arguments, top, which, progress)
    emit_release(done.release(), output, format, metadata=metadata)
    if confidential is not None:
        write_whole(confidential, _all(done).to_csv(index=False).encode(), private=True)
        say(f"wrote {confidential}: confidential")
    guard.say_unprotected(done.method)
    say(_summary(done, time.perf_counter() - began))
    return 0


def _all(done: Protected) -> pd.DataFrame:
    """Everything about the cells, with the protection levels that were asked for."""
    levels = zip(("below", "above", "sliding"), done.room.levels or (), strict=False)
    return beside(done.cells, dict(levels))


def _levels(name: str, path: Path, codebook: Path | None) -> Any:
    """Levels from a CSV; those of tau-ARGUS files need the table that they are for."""
    from discreet.methods import parameters
    from discreet.rules import read_levels

    if "levels" not in parameters(name):
        raise InputError(f"method {name!r} takes no --levels")
    if path.suffix.lower() not in (".hst", ".tab"):
        return read_levels(path)
    from discreet.formats import argus

    if path.suffix.lower() == ".hst":
        return lambda table: argus.read_apriori(path, table).levels
    described = codebook if codebook is not None and codebook.suffix.lower() == ".rda" else None
    return argus.read_table(path, described).marks.levels


def _list() -> None:
    from discreet.methods import method_class, method_names, parameters

    for name in method_names():
        words = (method_class(name).__doc__ or "").strip().splitlines()[0]
        known = ", ".join(parameter for parameter in parameters(name) if parameter != "progress")
        click.echo(f"{name}: {words}\n    {known}")


def _given(
    name: str, parameters: Sequence[str], rule: str | None, marks: Path | None, by: Sequence[str]
) -> dict[str, Any]:
    """The parameters of a method from the command line."""
    from discreet.methods import contract
    from discreet.methods import parameters as parameters_of

    known = [parameter for parameter in parameters_of(name) if parameter != "progress"]
    arguments: dict[str, Any] = {}
    for item in parameters:
        key, equals, text = item.partition("=")
        if not equals:
            raise InputError(f"-P takes NAME=VALUE, not {item!r}")
        if key.strip() not in known:
            raise InputError(f"method {name!r} has no parameter {key.strip()!r}; {nearest(key.strip(), known)}")
        if key.strip() in arguments:
            raise InputError(
                f"-P gives {key.strip()!r} twice; a parameter has one value (`discreet search` tries several)"
            )
        arguments[key.strip()] = value_of(text.strip())
    for key, value in (("rule", rule), ("marks", marks)):
        if value is None:
            continue
        if key in arguments:
            raise InputError(f"{key} is given by -P and by --{key}; give one of them")
        if key not in known:
            raise InputError(f"method {name!r} takes no --{key}")
        if key == "marks":
            from discreet.rules import read_marks

            value = read_marks(Path(value), by)  # type: ignore[assignment]
        arguments[key] = value
    if contract(name).rule and "rule" not in arguments:
        raise InputError(f'method {name!r} needs a rule: --rule "threshold(n=3)"')
    return arguments


def _protected(
    name: str,
    arguments: dict[str, Any],
    top: int | None,
    which: dict[str, Any],
    progress: Callable[[int, int], None] | None,
) -> Protected:
    from discreet.methods import acts_on_records, method, parameters
    from discreet.methods.by_hand import as_counted
    from discreet.methods.contract import protect
    from discreet.tables.tabulation import tabulate

    if "progress" in parameters(name):
        arguments = {**arguments, "progress": progress}
    chosen_method: Any = method(name, **arguments)
    guard.check_made(name, chosen_method, which)
    if not acts_on_records(name):
        table = load_table(**which, top=top)
        guard.check_table(chosen_method, [d.name for d in table.dimensions], table.dimensions, which["where"])
        done = protect(table, chosen_method)
        guard.check_done(name, done)
        return done
    if which["ready"]:
        raise InputError(f"method {name!r} changes records before they are counted; it cannot take a ready table")
    by = names_of(which["by"])
    records = records_asked(which, by)
    guard.check_table(chosen_method, by or [d.name for d in records.dimensions], records.dimensions, which["where"])
    changed = chosen_method(records)
    chosen = filters(which["where"], which["codebook"], by)
    table = tabulate(changed, by=by, value=which["value"], where=chosen, top=top)
    return as_counted(table, chosen_method)


def _summary(done: Protected, seconds: float) -> str:
    """Cells, what became of them, what was lost, how long it took."""
    from discreet.release import Status

    size = abs(done.table.value.astype(float))
    lost = 100 * float(size[done.hidden].sum()) / (float(size.sum()) or 1)
    words = [many(len(done.table), "cell")]
    for kind in (Status.PRIMARY, Status.SECONDARY, Status.FORCED, Status.NEVER):
        if cells := int((done.status == kind.value).sum()):
            words.append(f"{cells:,} {kind.name.lower()}")
    if done.hidden.any():
        words.append(f"{lost:.1f} % of the value lost")
    if "gap" in done.details:
        gap = 100 * done.details["gap"]
        words.append("proved to cost least" if gap < 1e-6 else f"at most {gap:.2f} % above the least cost (certified)")
    return f"{done.method}: " + ", ".join(words) + f", {seconds:.1f} s"
