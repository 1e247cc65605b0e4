"""discreet audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.base.files import CSV, HTML, check_suffix
from discreet.cli.against import against
from discreet.cli.application import app, example
from discreet.cli.audited import (
    FailOn,
    audit_content,
    audit_json,
    audit_page,
    audited_cells,
    say_because,
    show_audit,
    tell_differences,
    unjudged_words,
)
from discreet.cli.certificate import check_certificate, write_certificate
from discreet.cli.console import heard, say
from discreet.cli.inputs import book_of
from discreet.cli.number_signs import (
    layout_options,
    mean_of,
    number_options,
    percent_of,
    said_options,
    sheet_of,
    signs_of,
)
from discreet.cli.option_texts import total_of
from discreet.cli.options import measures_option, total_option
from discreet.cli.output import emit, emit_json
from discreet.errors import InputError, listed

if TYPE_CHECKING:
    from discreet.audits import Audit, Differences
    from discreet.audits.joined.mapping import NameMapping
    from discreet.audits.joined.publication import Rounding
    from discreet.release import Release
    from discreet.tables.reading.number_cells import NumberSigns

_PATH = click.Path(path_type=Path)
MOST_REASONS = 200  # cells of which a report says why they are known


@example("discreet audit january.csv regions.xlsx --codebook people.toml -o audit.html")
@app.command()
@click.argument("files", type=_PATH, nargs=-1, required=True, metavar="FILE...")
@click.option("--codebook", type=_PATH, help="Hierarchies of the tables' codes.")
@click.option("--mapping", type=_PATH, help="TOML: names and codes that differ between files, sums, populations.")
@total_option
@measures_option
@number_options
@layout_options
@click.option(
    "--measure", help="The measure to judge, all columns of numbers unless stated; of a sheet, the counts' header."
)
@click.option("--negative", is_flag=True, help="Inner cells may be negative.")
@click.option(
    "--rounded",
    multiple=True,
    metavar="[FILE=]BASE",
    help="Values are rounded to the nearest multiple of BASE, halves up, in all files or in one; 10:even with halves "
    "to the even one (R, Python), BASE:random to either one, 6:midpoint to 3 for 1 to 6, 9 for 7 to 12.",
)
@click.option("--sorted", "in_order", is_flag=True, help="Rows are sorted by their counts, those not shown among them.")
@click.option("--primary-only", is_flag=True, help="As if only the primary cells were hidden (.jj only).")
@click.option("--confidential", type=_PATH, help="What `protect --confidential` wrote: levels are checked (one file).")
@click.option("--difference", is_flag=True, help="Look for small populations that follow by subtraction instead.")
@click.option("--under", type=float, metavar="N", help="With --difference: populations smaller than N; 10.")
@click.option("--along", metavar="DIMENSION", help="With --difference: each code of a dimension is a table.")
@click.option("--terms", type=click.IntRange(2, 4), help="With --difference: tables in one combination at most; 3.")
@click.option(
    "--fail-on",
    default="narrow",
    show_default=True,
    metavar="exact|narrow|risk=BITS",
    help="What exit code 1 is for; risk=BITS adds cells with fewer than BITS bits left.",
)
@click.option("--json", "as_json", is_flag=True, help="Print verdict, arguments and all audited cells as JSON.")
@click.option("--rows", default=20, show_default=True, help="Cells to show; all are written with -o.")
@click.option("-o", "--output", type=_PATH, help="Write all audited cells here: .csv, .json or .html.")
@click.option("--html", type=_PATH, help="Write the report as a page here, too.")
@click.option("--certificate", type=_PATH, help="Write proofs for `discreet verify` here: .json, .json.gz or .html.")
def audit(
    files: tuple[Path, ...],
    codebook: Path | None,
    mapping: Path | None,
    total: Sequence[str],
    measures: int | None,
    measure: str | None,
    negative: bool,
    rounded: Sequence[str],
    in_order: bool,
    primary_only: bool,
    confidential: Path | None,
    difference: bool,
    under: float | None,
    along: str | None,
    terms: int | None,
    fail_on: str,
    as_json: bool,
    rows: int,
    output: Path | None,
    html: Path | None,
    certificate: Path | None,
    **written: Any,
) -> int:
    """What an intruder can work out of FILE...: published tables in any format, or a suppression instance (.jj).

    Several files are matched by their dimensions and codes and judged together: which cells follow, from which files,
    by which sum. Shows the interval of every cell that is not shown, riskiest first. Only what stands in the files is
    used; with --confidential, cells with less room than their protection level are called narrow, and those that are
    sensitive are judged even where they are shown.

    With --difference: the same table at two times, men beside everybody, two geographies over the same places: people
    who follow by subtraction and are fewer than --under.

    Exit code 0: nothing is known (as --fail-on has it) and everything was judged; 1: something is known, or could not
    be judged; 2: a file cannot be read, or files contradict each other.
    """
    from discreet.audits.joined.mapping import NameMapping

    stop = FailOn.of(fail_on)
    names = NameMapping.of(mapping)
    check_suffix(output, (*CSV, *HTML, ".json"), "an audit")
    check_suffix(html, HTML, "a page")
    check_certificate(certificate)
    reading = {"--measures": measures, **said_options(written)}
    signs, sheet = signs_of(written, negative=negative), sheet_of(written)
    names = replace(names, percent={**names.percent, **percent_of(written)}, mean={**names.mean, **mean_of(written)})
    for_tables = {
        "--codebook": codebook,
        "--mapping": mapping,
        "--total": total,
        **reading,
        "--measure": measure,
        "--negative": negative,
        "--confidential": confidential,
        "--rounded": rounded,
        "--sorted": in_order,
    }
    if certificate is not None and (in_order or names.sorted or any(t.get("sorted") for t in names.tables.values())):
        raise InputError(
            "--certificate: an order of rows is not part of a certificate; leave out --sorted (sorted in the mapping)"
        )
    instance = _refuse_idle(files, for_tables, primary_only)
    if difference:
        said = {
            "--fail-on": fail_on != "narrow",
            "--negative": negative,
            "--confidential": confidential is not None,
            "--certificate": certificate is not None,
        }
        idle = [name for name, given in said.items() if given] + (["a .jj file"] if instance else [])
        if idle:
            raise InputError(f"{listed(idle)}: not with --difference; leave it out")
        releases, measure = read_measure(files, codebook, total, measures, signs, names, sheet, rounded, measure)
        differences = _differences(releases, names, rounded, measure, under, terms, along)
        return tell_differences(differences, rows, output, html, as_json=as_json)
    if under is not None or terms is not None or along is not None:
        raise InputError("--under, --along and --terms go with --difference")
    with audit_bar("auditing") as progress:
        if instance:
            from discreet.formats.jj import read_jj

            known = read_jj(files[0])
            report = known.audit(known.primary if primary_only else None, progress=progress)
        else:
            releases, measure = read_measure(files, codebook, total, measures, signs, names, sheet, rounded, measure)
            releases = {n: replace(one, in_order=in_order or names.in_order(n)) for n, one in releases.items()}
            nonnegative = False if negative else None
            if confidential is not None:
                report = against(next(iter(releases.values())), confidential, measure, nonnegative, progress)
            else:
                report = _judged(releases, names, rounded, measure, nonnegative, progress)
    read = [file.name for file in files]
    _tell(report, 0 if instance else rows, rows, read, as_json=as_json)
    most = 0 if instance else MOST_REASONS
    if output is not None:
        emit(_written(report, output, most, read), output, private=True)
    if html is not None:
        emit(audit_page(report, most, read).encode(), html, private=True)
    if certificate is not None:
        write_certificate(report, certificate, confidential=confidential is not None)
    for text in stop.because(report):
        say(f"--fail-on {fail_on}: {text}")
    return stop.code(report)


def read_measure(
    files: Sequence[Path],
    codebook: Path | None,
    total: Sequence[str],
    measures: int | None,
    signs: NumberSigns,
    mapping: NameMapping,
    sheet: Mapping[str, Any],
    rounded: Sequence[str],
    measure: str | None,
) -> tuple[dict[str, Release], str | None]:
    """The published tables and the measure to judge; where sheets ask for the header of their counts, it is that."""
    try:
        return read_files(files, codebook, total, measures, signs, mapping, sheet, rounded), measure
    except InputError as question:
        if measure is None or "--measure)" not in str(question):
            raise
    sheet = {**sheet, "measure": [measure]}
    return read_files(files, codebook, total, measures, signs, mapping, sheet, rounded), None


def read_files(
    files: Sequence[Path],
    codebook: Path | None,
    total: Sequence[str],
    measures: int | None,
    signs: NumberSigns,
    mapping: NameMapping,
    sheet: Mapping[str, Any] | None = None,
    rounded: Sequence[str] = (),
) -> dict[str, Release]:
    """The published tables of files under the names of the files; ``rounded`` as ``--rounded`` has it."""
    from discreet.audits.joined.mean_columns import check_means, with_mean_columns
    from discreet.audits.joined.sources import check_said, names_of_files, of_codebook, read_releases

    releases = {}
    bases = roundings([text for text in rounded if "=" not in text], names_of_files(files))
    for name, file in zip(names_of_files(files), files, strict=True):
        book = book_of(codebook, file)
        own = [text for text in rounded if text.rpartition("=")[0].startswith(name)]  # of the file, or of one sheet
        base = max(
            (roundings([text], [text.rpartition("=")[0]])[text.rpartition("=")[0]] for text in own),
            key=lambda known: known.allowance,
            default=bases.get(name) or mapping.rounding(name),
        )
        if len(files) == 1 and book is not None:
            own_release = of_codebook(file, book, total_of(total), measures, mapping.signs(name, signs))
            releases[name] = with_mean_columns(name, own_release, mapping.units, rounded=base is not None)
        else:
            how: Mapping[str, Any] = {"measures": measures, "signs": signs, "sheet": sheet, "rounding": base}
            releases |= read_releases(file, book, total_of(total), mapping=mapping, name=name, **how)
    for name, release in releases.items():
        for text in release.assumed:
            say(f"{name}: {text}")
    mapping.check_percent(releases.values())
    check_means(mapping.mean, releases.values())
    if codebook is None:
        check_said(total_of(total), None, list(releases.values()))
    elif len(files) > 1:
        check_said(total_of(total), book_of(codebook, files[0]), list(releases.values()))
    return releases


def _judged(
    releases: Mapping[str, Release],
    mapping: NameMapping,
    rounded: Sequence[str],
    measure: str | None,
    nonnegative: bool | None,
    progress: Any,
) -> Audit:
    from discreet.audits import audit
    from discreet.audits.joined.publication import Rounding

    bases = roundings(rounded, list(releases))
    first = next(iter(releases.values()))
    if len(releases) == 1 and mapping.empty and not bases and Rounding.of_words(first.method) is None:
        return audit(first, measure=measure, nonnegative=nonnegative, progress=progress)
    names = mapping.with_rounding(bases)
    return audit(releases, measure=measure, nonnegative=nonnegative, mapping=names, progress=progress)


def _differences(
    releases: Mapping[str, Release],
    mapping: NameMapping,
    rounded: Sequence[str],
    measure: str | None,
    under: float | None,
    terms: int | None,
    along: str | None,
) -> Differences:
    from discreet.audits import difference

    names = mapping.with_rounding(roundings(rounded, list(releases)))
    return difference(
        releases,
        measure=measure,
        mapping=names,
        under=10.0 if under is None else under,
        terms=3 if terms is None else terms,
        along=along,
    )


def roundings(texts: Sequence[str], names: Sequence[str]) -> dict[str, Rounding]:
    """``["5", "b.csv=3:random"]`` as the rounding of each file.

    >>> roundings(["5"], ["a.csv"])
    {'a.csv': Rounding(base=5.0, nearest=True, midpoint=False, even=False)}
    """
    from discreet.audits.joined.publication import Rounding
    from discreet.errors import nearest

    bases: dict[str, Rounding] = {}
    for text in texts:
        file, equals, rest = text.rpartition("=")
        number, colon, kind = rest.partition(":")
        try:
            base = float(number)
        except ValueError:
            base = -1.0
        if base <= 0 or (colon and kind not in ("random", "midpoint", "even")):
            raise InputError(
                "--rounded takes BASE, FILE=BASE, BASE:random, BASE:midpoint or BASE:even with a number above 0, not "
                f"{text!r}"
            )
        meant = [name for name in names if name == file or name.startswith(f"{file} ")]  # all sheets of a file
        if equals and not meant:
            raise InputError(f"--rounded names {file!r}, which is not among the files; {nearest(file, names)}")
        own = Rounding(base, nearest=kind != "random", midpoint=kind == "midpoint", even=kind == "even")
        bases = {**bases, **dict.fromkeys(meant, own)} if equals else {**dict.fromkeys(names, own), **bases}
    return bases


def _tell(report: Audit, reasons: int, rows: int, files: Sequence[str], *, as_json: bool) -> None:
    """The report on the terminal: cells, why they are known, counts, what could not be judged, the verdict."""
    if as_json:
        emit_json(audit_content(report, MOST_REASONS if reasons else 0, files))
    else:
        for one in (report, *report.others):
            show_audit(one, rows)
            say_because(one, reasons)
    for one in (report, *report.others):
        counts = one.findings()["cells"]
        name = f"{one.view.measure}: " if report.others else ""
        say(name + ", ".join(f"{int(counts[v]):,} {v}" for v in counts.index if v != "unknown" or counts[v]))
    for text in unjudged_words(report):
        say(text)
    say(f"verdict: {report.verdict.value}")


def _written(report: Audit, output: Path, reasons: int, files: Sequence[str]) -> bytes:
    """The report in the format that the suffix names."""
    suffix = output.suffix.lower()
    if suffix in HTML:
        return audit_page(report, reasons, files).encode()
    if suffix == ".json":
        return audit_json(report, reasons, files)
    return str(audited_cells(report).to_csv(index=False)).encode()


def _refuse_idle(files: Sequence[Path], for_tables: Mapping[str, object], primary_only: bool) -> bool:
    """Whether FILE is an instance; options that say how a file of the other kind is read would change nothing."""
    instance = any(file.suffix.lower() == ".jj" for file in files)
    if instance and len(files) > 1:
        raise InputError("an instance (.jj) is audited by itself; give one file")
    if instance and (named := [name for name, value in for_tables.items() if value not in (None, False, (), [])]):
        raise InputError(f"{listed(named)}: an instance (.jj) says all of its cells; leave it out, it is for a CSV")
    if primary_only and not instance:
        raise InputError("--primary-only is for an instance (.jj); a released table does not say which were primary")
    if len(files) > 1 and for_tables["--confidential"] is not None:
        raise InputError("--confidential is for one file; audit each with its own, then all of them without")
    return instance


@contextmanager
def audit_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on stderr; nothing when stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal or not heard("info"):
        yield None
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
