"""discreet protect FILE --hide-under 6, --recipe NAME: a foreign file of tables, and the same file back."""

from __future__ import annotations

import gc
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.console import heard, say
from discreet.cli.option_texts import value_of
from discreet.cli.sheet_reading import READING_OPTIONS, reading_arguments, reading_options
from discreet.errors import InputError, listed, many

if TYPE_CHECKING:
    from discreet.methods.contract import Method
    from discreet.sheets.sheet_table import SheetTable

MARK = "*"
ASK = (
    "say how counts are protected: --hide-under 6 hides counts from 1 to 5 and what would give them away; "
    "--recipe NAME follows a published rule ({})"
)
NO_KEY = (
    "no key: who has this program can run it again, and runs with other limits tell more together; publish one of "
    "them, with -P key=env:NAME (a secret text of 16 letters or more)"
)
RECORDS = (".csv", ".tsv", ".txt", ".parquet")
SELDOM = 5_000_000
"""Objects after which memory is searched for cycles: every cell of a large file is a few that stay, none in a cycle."""
LINES = 6
"""Of what was assumed of a table, so many lines are said."""
DRAWN = 8
"""Rows and columns of a table that are drawn on a terminal."""


def sheet_options(command: Any) -> Any:
    """Options for a finished table in any file."""
    options = [
        click.option("--hide-under", type=click.IntRange(2), metavar="N", help="Hide counts from 1 to N-1."),
        click.option("--hide-zeros", is_flag=True, help="With --hide-under: hide empty cells, too."),
        click.option("--recipe", metavar="NAME", help="A published rule: opensafely, midpoint6, nhs, cms-11, ..."),
        click.option("--mark", metavar="TEXT", help="What stands for a hidden number: * unless stated; '[c]', '<6'."),
        click.option("--layout", type=click.Choice(["same", "tidy"]), help="The same file back (default), or a list."),
        click.option(
            "--keep-text",
            multiple=True,
            metavar="HEADER|CELL",
            help="Keep the texts of a column, or of a cell such as A1, unjudged; repeatable.",
        ),
        click.option("--keep-images", is_flag=True, help="Keep the images of a workbook (.xlsx), unjudged."),
        click.option("--apart", is_flag=True, help="Tables of a file that share labels count different people."),
        click.option("--force", is_flag=True, help="Write over a file that is there (never over DATA)."),
    ]
    for option in reversed(options):
        command = option(command)
    return reading_options(without=SHARED)(command)


OWN_OPTIONS = ("hide_under", "hide_zeros", "recipe", "mark", "layout", "keep_text", "keep_images", "apart", "force")
SHARED = ("total", "value", "decimal", "thousands", "missing", "nested")
"""Options that records and lists of cells have, too."""
EMPTY = (None, (), False)
SHEET_OPTIONS = (*OWN_OPTIONS, *(name for name in READING_OPTIONS if name not in SHARED))


def refuse_beside(others: Mapping[str, Any]) -> None:
    """Refuse options that say something of another kind of data."""
    if dropped := [option for option, given in others.items() if given is not None]:
        raise InputError(
            f"{listed(dropped)} with a finished table in a layout of its own: use --hide-under or --recipe, or name "
            "its columns (--ready --by)"
        )


def of_records(sheet: Mapping[str, Any], name: str | None, rule: str | None) -> tuple[str | None, str | None]:
    """Method and rule for records and lists of cells, where --hide-under or --recipe says them."""
    only = {name: sheet[name] for name in SHEET_OPTIONS if name not in OWN_OPTIONS[:3]}
    flags = {"sheets": "--sheet", "cell_range": "--range", "text_sheets": "--text-sheet"}
    if dropped := [
        flags.get(name, f"--{name.replace('_', '-')}") for name, given in only.items() if given not in EMPTY
    ]:
        raise InputError(f"{listed(dropped)}: for a finished table in a layout of its own; leave out --by and --ready")
    under, recipe = sheet["hide_under"], sheet["recipe"]
    if under is None and recipe is None:
        if sheet["hide_zeros"]:
            raise InputError("--hide-zeros goes with --hide-under")
        return name, rule
    if name is not None or rule is not None or (under is not None and recipe is not None):
        raise InputError("--hide-under, --recipe, --method and --rule each say how counts are protected; give one")
    if recipe is not None:
        return recipe, None
    zeros = ", zeros=True" if sheet["hide_zeros"] else ""
    return "suppress", f"threshold(n={under}{zeros})"


def is_finished(sheet: Mapping[str, Any], which: Mapping[str, Any], name: str | None, *, policy: bool) -> bool:
    """Whether DATA is a finished table in a layout of its own: no --by, --ready or --policy says otherwise."""
    from discreet.sheets.reading_sheets import is_sheet

    if which["by"] or which["ready"] or policy or which["codebook"] is not None or isinstance(which["data"], str):
        return False
    asked = sheet["hide_under"] is not None or sheet["recipe"] is not None
    spreadsheet = is_sheet(which["data"]) and which["data"].suffix.lower() not in (".csv", ".tsv", ".txt", ".parquet")
    return asked or (spreadsheet and name is None)


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    """The cells of a large file are many objects in no cycles; to look for cycles as often as usual takes long."""
    before = gc.get_threshold()
    gc.set_threshold(SELDOM, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_collecting_seldom()
def protect_finished(
    which: Mapping[str, Any],
    sheet: Mapping[str, Any],
    parameters: Sequence[str],
    output: Path | None,
    format: str | None,
) -> int:
    """Protect all tables of a file and write it back; 1 where something of it could not be judged, else 0."""
    from discreet.in_place.contents import marks_for
    from discreet.in_place.protection_report import form_sentence
    from discreet.in_place.sheet_files import check_target, protect_file, safe_name, write_in_place
    from discreet.sheets.blocks.sheet_blocks import NO_TABLE

    under, layout = sheet["hide_under"], sheet["layout"] or "same"
    chosen, most = _method(sheet, parameters)
    marks, _ = marks_for(sheet["mark"] or MARK, most)
    source = which["data"]
    target = output or safe_name(source, layout=layout)
    check_target(source, target, force=sheet["force"])
    reading = _reading(which, sheet)
    try:
        file = protect_file(
            source, chosen, reading=reading, understood=_told, keep=sheet["keep_text"], apart=sheet["apart"]
        )
    except InputError as error:
        if NO_TABLE in str(error) and source.suffix.lower() in RECORDS:
            raise InputError(f"{error}; if its lines are records, name the dimensions of the table (--by)") from None
        raise
    lines = [line for outcome in file.outcomes for line in outcome.lines()]
    unjudged = _relations_said(file, lines, apart=sheet["apart"])
    unknown = bool(file.unjudged) and not sheet["apart"]
    if under is not None and not parameters and any(outcome.hidden for outcome in file.outcomes):
        lines.append(NO_KEY)
    anew = layout == "tidy" or (sheet["layout"] is None and file.sheets[0].grid.listed)
    if anew and sheet["mark"] is not None:
        raise InputError("--mark: a list of cells has the marks of its format ('c', '..'); leave it out")
    if layout == "tidy" and sheet["keep_images"]:
        raise InputError("--keep-images: a list of cells has no images; leave it out, or --layout tidy")
    if layout == "tidy":
        lines += _tidy(file, target, format, force=sheet["force"])
    elif sheet["layout"] is None and file.sheets[0].grid.listed:  # a cube, or a format of discreet's own
        lines += _tidy(file, target, format, force=sheet["force"])
        lines.append(f"left out: all that {source.name!r} says beside its cells, their labels, a title and a source")
    else:  # may refuse labels that state what is hidden: what the audit said is told afterwards
        written = write_in_place(file, target, marks, _note(file, marks), keep_images=sheet["keep_images"])
        lines += [f"left out: {line}" for line in written.left_out]
        lines += [f"kept: {line}" for line in written.kept]
        lines.append(f"wrote {target}")
        if any(outcome.hidden for outcome in file.outcomes):
            lines.append(_audit_command(source, target, marks.secondary, under, more=bool(reading)))
        if written.images:
            images = many(written.images, "image")
            lines.append(f"verdict on the file: unknown, as {images} in it stay and were not judged")
            unjudged += f" Not judged: {images} in the file."
            unknown = True
    for line in lines:
        say(line)
    say(f"for the form: {form_sentence(file.outcomes, file.cell_numbers)}{unjudged}")
    return int(unknown)


def _audit_command(source: Path, target: Path, mark: str, under: int | None, *, more: bool) -> str:
    """How what was written can be audited as readers see it."""
    words = ["discreet", "audit", str(target), "--original", str(source), "--suppressed", mark]
    words += [] if under is None else ["--hidden-under", str(under)]
    rest = ", and the options on how the table is read" if more else ""
    return f"to audit it as readers have it: {shlex.join(words)}{rest}"


def _relations_said(file: Any, lines: list[str], *, apart: bool) -> str:
    """What is said of tables that hang together or may do so, for the form; and, in ``lines``, to whoever protects."""
    words = " Tables that have sums in common were judged together." if file.linked else ""
    if file.perhaps_parts and apart:
        words += f" {len(file.perhaps_parts):,} tables that share labels count different people, as was said."
        return words
    safe = [k for k in file.perhaps_parts if k not in file.unjudged]
    if safe:
        lines.append(
            f"{_sheet_names(file, safe)} share labels, and some are nowhere more than others: they were protected as "
            "if they were parts of them; if they count different people, as in different years, --apart hides less"
        )
        words += f" {len(safe):,} tables that may be parts of each other were judged as such."
    if file.unjudged:
        lines.append(
            f"verdict on the file: unknown, as {_sheet_names(file, file.unjudged)} share labels, one may be a part of "
            "another, and what would follow could not be hidden or is too much to be judged; if one is part of "
            "another, put both in one table; if they count different people, as in different years, say --apart"
        )
        words += (
            f" Not judged: what follows if some of {len(file.unjudged):,} tables that share labels are parts of others."
        )
    return words


def _sheet_names(file: Any, tables: Sequence[int]) -> str:
    return listed([file.sheets[k].grid.sheet or file.sheets[k].layout.range.address for k in tables], 4)


def _method(sheet: Mapping[str, Any], parameters: Sequence[str]) -> tuple[Method, int | None]:
    """The method, and under which count it hides where the mark may say so."""
    from discreet.in_place.chosen_methods import recipe_method, small_counts_hidden, with_range_mark
    from discreet.methods import recipe_names

    under, recipe = sheet["hide_under"], sheet["recipe"]
    if under is not None and recipe is not None:
        raise InputError("--hide-under and --recipe each say how counts are protected; give one of them")
    if under is None and recipe is None:
        raise InputError(ASK.format(listed(recipe_names())))
    if recipe is None:
        stated = dict(_pair(item) for item in parameters)
        key = stated.pop("key", None)
        if stated:
            raise InputError("-P gives parameters of a method; --hide-under has none but key=env:NAME")
        return small_counts_hidden(under, sheet["hide_zeros"], sheet["mark"], key), under
    if sheet["hide_zeros"]:
        raise InputError("--hide-zeros goes with --hide-under; a recipe says itself what becomes of zeros")
    settings = dict(_pair(item) for item in parameters)
    secret = settings.pop("secret", None)
    return with_range_mark(recipe, recipe_method(recipe, settings, None, secret), sheet["mark"])


def _pair(item: str) -> tuple[str, Any]:
    key, equals, text = item.partition("=")
    if not equals:
        raise InputError(f"-P takes NAME=VALUE, not {item!r}")
    return key.strip(), value_of(text.strip())


def _reading(which: Mapping[str, Any], sheet: Mapping[str, Any]) -> dict[str, Any]:
    """Options of ``read_tables`` that the command line gives."""
    refused = {"--where": which["where"] or None, "--count": which["count"], "--weighted": which["weighted"]}
    refused |= {"--table": which["database_table"], "--engine": which["engine"], "--memory": which["memory"]}
    if dropped := [option for option, given in refused.items() if given is not None]:
        raise InputError(f"{listed(dropped)}: for records; a finished table is taken as it stands")
    return reading_arguments({**sheet, **{name: which[name] for name in SHARED}})


def _told(sheet: SheetTable) -> None:
    """What was understood of a table: on a terminal a picture of it, else a few lines without any of its numbers."""
    say(f"understood: {sheet!r}")
    if heard("info") and sys.stderr.isatty():
        from rich.console import Console

        Console(stderr=True).print(sheet.drawn(rows=DRAWN, columns=DRAWN))
        return
    for line in sheet.assumed[:LINES]:
        say(f"  {line}")
    if len(sheet.assumed) > LINES:
        say(f"  and {len(sheet.assumed) - LINES:,} more: discreet show FILE")


def _note(file: Any, marks: Any) -> str:
    """The footnote: what the mark means, and what was done."""
    method = file.outcomes[0].method
    words = f"{method[:1].upper()}{method[1:]}"
    if not any(outcome.hidden for outcome in file.outcomes):
        return f"Disclosure control: {words}."
    shown = marks.primary if marks.primary == marks.secondary else f"{marks.primary} and {marks.secondary}"
    return f"{shown} in place of a number: not shown to protect confidentiality. {words}."


def _tidy(file: Any, target: Path, format: str | None, *, force: bool) -> list[str]:
    """Write each table of a file as a list of its cells, several into files with a number; what is said of it."""
    from discreet.cli.output import emit_release
    from discreet.in_place.sheet_files import check_target

    releases, kept = file.releases, []
    seen: set[Any] = set()
    for k, sheet in enumerate(file.sheets):
        places = {place for own in sheet.places.values() for place in own}
        if not places <= seen:  # else the same numbers read in another way
            kept.append(k)
        seen |= places
    targets = [_numbered(target, n) for n in range(1, len(kept) + 1)] if len(kept) > 1 else [target]
    for path in targets:
        check_target(file.source, path, force=force)
    lines = []
    for k, path in zip(kept, targets, strict=True):
        emit_release(releases[k], path, format)
        sheet, source = file.sheets[k], file.done[k].table.source
        if len(kept) > 1:
            lines.append(f"{path.name}: {sheet!r}")
        told = (("title", sheet.layout.title, releases[k].title), ("source", source, releases[k].source))
        lines += [
            f"left out: the {name}, which states a number that is hidden now, a share, or a count that is not shown"
            for name, text, stays in told
            if text and not stays
        ]
    return lines


def _numbered(target: Path, number: int) -> Path:
    """The name of one of several files: table-2.csv for the second of table.csv."""
    from discreet.in_place.sheet_files import own_suffix

    suffix = own_suffix(target)
    return target.with_name(f"{target.name.removesuffix(suffix)}-{number}{suffix}")
