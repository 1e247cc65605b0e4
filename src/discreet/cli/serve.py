"""discreet serve, cube and answer: the table server, the cube it starts from, and what it would answer."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.base.files import is_file
from discreet.cli.application import app, example
from discreet.cli.console import say
from discreet.cli.inputs import is_rda, records_of
from discreet.cli.options import Place, joined_by, place_options, release_options
from discreet.cli.output import emit_release, format_of
from discreet.cli.policy import say_openly
from discreet.cli.progress import working
from discreet.cli.store import open_store, store_option
from discreet.errors import InputError, nearest

if TYPE_CHECKING:
    from socket import socket

    from discreet.data.microdata import Microdata
    from discreet.server.settings import Settings

PATH = click.Path(path_type=Path)
KEPT = 4  # exit code: the edition that is there stays, and the records that were given are others


@example("discreet serve people.parquet --codebook people.toml --policy policy.toml --workers 2")
@app.command()
@click.argument("data", type=Place())
@click.option("--policy", "policy_file", type=PATH, required=True, help="What may be asked and how it is protected.")
@click.option(
    "--policy-for",
    "more_policies",
    multiple=True,
    metavar="WHOM=FILE",
    help="Another policy for approved users, methodologists or admins (approved=approved.toml), for a cube of a hub "
    "(at=austria.toml), or for a role there (at/approved=more.toml); repeatable.",
)
@click.option("--codebook", type=PATH, help="The codebook of the data; a folder made by `discreet cube` has its own.")
@place_options
@store_option("store", "Users, limits, earlier answers and the record")
@click.option(
    "--mode",
    type=click.Choice(["open", "restricted"]),
    default="open",
    show_default=True,
    help="Whether visitors without an account get answers.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 takes a free one."
)
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Worker processes.")
@click.option(
    "--rate", default=600, show_default=True, type=click.IntRange(1), help="Requests a minute of a public user."
)
@click.option(
    "--tables", default=2000, show_default=True, type=click.IntRange(1), help="Different tables a day of a public user."
)
@click.option("--cube", "cube_folder", type=PATH, help="Keep the built cube in this folder and use it next time.")
@click.option("--https", is_flag=True, help="A proxy in front speaks TLS: cookies are Secure.")
@click.option("--proxy", is_flag=True, help="Take the last address of X-Forwarded-For for that of the user.")
@click.option(
    "--embed", multiple=True, metavar="ORIGIN", help="A site whose pages may show tables in a frame; repeatable."
)
@click.option("--metrics", is_flag=True, help="Counts for Prometheus at /metrics; not through a proxy.")
@click.option(
    "--attack-report",
    type=PATH,
    help="A report of `discreet attack --json`: checked at the start, and shown on the methodologist's page.",
)
@click.option("--despite-attack", is_flag=True, help="Serve a policy that does not hold by the report.")
def serve(
    data: Path | str, policy_file: Path, more_policies: Sequence[str], codebook: Path | None,
    database_table: str | None, engine: str | None, store: str, mode: str, host: str, port: int, workers: int,
    rate: int, tables: int, cube_folder: Path | None,
    https: bool, proxy: bool, embed: Sequence[str], metrics: bool, attack_report: Path | None,
    despite_attack: bool,
) -> None:  # fmt: skip
    """Serve protected tables of DATA to browsers and programs.

    DATA are records (a file, or the URL of a database), a folder made by `discreet cube`, or a folder of several such
    folders: a hub, with each cube below its own name. The cube is built once and shared by all workers; a database is
    not asked again.
    """
    import uvicorn  # noqa: F401 - what is not installed is said now, not by every worker

    from discreet.policy import read_policy
    from discreet.server.service import served_policy
    from discreet.server.settings import Settings

    served_policy(policy_file)  # say now what is wrong with it
    with tempfile.TemporaryDirectory(prefix="discreet-") as scratch:
        settings = Settings(
            policy=str(policy_file.resolve()), cube=scratch, store=store, mode=mode, rate=rate, tables=tables,
            https=https, proxy=proxy, embed=tuple(embed), metrics=metrics,
            attack_report="" if attack_report is None else str(attack_report.resolve()), despite_attack=despite_attack,
        )  # fmt: skip
        several = {} if is_cube(data) else cubes_in(data)
        settings = replace(settings, **_policies(more_policies, several))
        if is_cube(data):
            settings = replace(settings, cube=str(Path(data).resolve()))
        elif not several:
            if cube_folder is None and read_policy(policy_file).min_changes:
                say("warning: without --cube FOLDER an edition with few changes is not served, nor is the one before")
            settings = _prepared(settings, data, codebook, database_table, engine, cube_folder or Path(scratch))
        run(settings, host, port, workers)


def _policies(texts: Sequence[str], cubes: Mapping[str, str]) -> dict[str, Any]:
    """``["approved=a.toml", "at=b.toml"]`` as settings, each policy read to say now what is wrong with it."""
    from discreet.server.service import served_policy
    from discreet.server.settings import ROLES

    policies_of: dict[str, dict[str, str]] = {"roles": {}, "policies": {}}
    for text in texts:
        whom, equals, file = text.partition("=")
        if not equals:
            raise InputError(f"--policy-for takes ROLE=FILE, or CUBE=FILE and CUBE/ROLE=FILE of a hub, not {text!r}")
        if whom in policies_of["roles"] or whom in policies_of["policies"]:
            raise InputError(f"--policy-for names {whom!r} twice")
        if whom in cubes and whom in ROLES:
            raise InputError(f"{whom!r} is a role and a cube: rename the cube to give one of them a policy of its own")
        if cubes and "/" not in whom and whom not in cubes and whom not in ROLES:
            known = [*ROLES[1:], *cubes]
            raise InputError(f"{whom!r} is neither a role nor a cube that is served; {nearest(whom, known)}")
        served_policy(file)
        policies_of["policies" if whom in cubes or "/" in whom else "roles"][whom] = str(Path(file).resolve())
    return {**policies_of, "cube": None, "cubes": cubes} if cubes else policies_of


def is_cube(data: Path | str) -> bool:
    """Whether DATA is a folder made by `discreet cube`."""
    return isinstance(data, Path) and is_file(data / "cube.json")


def cubes_in(data: Path | str) -> dict[str, str]:
    """The cubes in a folder of several, by name."""
    if not isinstance(data, Path) or not data.is_dir():
        return {}
    return {path.name: str(path.resolve()) for path in sorted(data.iterdir()) if is_cube(path)}


def _prepared(
    settings: Settings, data: Path | str, codebook: Path | None, table: str | None, engine: str | None, folder: Path
) -> Settings:
    """Settings with a cube built from the records, or with the records themselves when it would be too large."""
    from discreet.data.codebook import read_codebook
    from discreet.data.microdata import Microdata
    from discreet.server.counting import cube

    if codebook is None:
        raise InputError("name the codebook of the data (--codebook), or serve a folder made by `discreet cube`")
    if is_rda(codebook):
        records = records_of(data, codebook, table, engine)
        if not cube.fits(records.codebook):
            raise InputError("the cube would be too large for a server of tau-ARGUS files; give a codebook (TOML)")
        _build(records, folder, settings)
        return replace(settings, cube=str(folder.resolve()))
    if not cube.fits(read_codebook(codebook)):
        if isinstance(data, str) or engine == "ibis":
            raise InputError(
                f"the cube would have more than {cube.MOST_CELLS:,} cells, and a server does not ask a database for "
                "each table: serve a file of the records, or a codebook with fewer or coarser dimensions"
            )
        say("the cube would be too large: every table is counted from the records")
        return replace(settings, cube=None, data=str(data.resolve()), codebook=str(codebook.resolve()), table=table)
    with working("building the cube"):
        records = Microdata.read(data, codebook, table=table, engine=engine)
        _build(records, folder, settings)
    return replace(settings, cube=str(folder.resolve()))


def _build(records: Microdata, folder: Path, settings: Settings) -> None:
    """The cube of a server; if the edition that is there stays, that one is served."""
    from discreet.policy import read_policy
    from discreet.server.counting import cube

    built = cube.build(records, folder, read_policy(settings.policy), say)
    if built.kept:
        say(f"kept the edition in {folder}, because {built.kept}: it is served as it is")


def run(settings: Settings, host: str, port: int, workers: int) -> None:
    """Listen and serve."""
    from discreet.server.running.workers import listening

    socket_ = listening(host, port)
    serve_on(settings, socket_, f"http://{host}:{socket_.getsockname()[1]}/", workers)


def serve_on(settings: Settings, socket_: socket, address: str, workers: int) -> None:
    """Load, start the workers and wait; SIGTERM lets them finish what they are doing."""
    from discreet.server.record.server_key import with_key
    from discreet.server.running.workers import keep, preload

    settings = with_key(settings)
    try:
        with open_store(settings.store) as store:  # made once, and said now if it cannot be
            preload(settings, store)
        say(f"discreet serves on {address} (stop with Ctrl-C)")
        keep(settings, socket_, workers)
    finally:
        socket_.close()


@example("discreet cube people.parquet --codebook people.toml -o people.cube")
@app.command()
@click.argument("data", type=Place())
@click.option("--codebook", type=PATH, required=True, help="The codebook of the data.")
@place_options
@click.option("-o", "--output", type=PATH, required=True, help="The folder to write (confidential).")
@click.option("--policy", "policy_file", type=PATH, help="Do its steps before counting ([[before]]) to the records.")
@click.option(
    "--new-series",
    is_flag=True,
    help="Codebook, steps or secret differ from those before: a reader of both editions can average and compare them.",
)
@click.option(
    "--first-edition",
    is_flag=True,
    help="No table of a cube in this folder was ever published, now or earlier: replace it, whatever has changed or is "
    "not known, and forget the editions before it.",
)
def cube(
    data: Path | str, codebook: Path, database_table: str | None, engine: str | None, output: Path,
    policy_file: Path | None, new_series: bool, first_edition: bool,
) -> int:  # fmt: skip
    """Count DATA into a cube that `discreet serve` starts from at once.

    A cube that is there stays until as many records have changed as the policy asks for ([edition] min_changes), since
    each of the editions before the new one: exit code 4.
    """
    from discreet.policy import read_policy
    from discreet.server.counting import cube as cubes
    from discreet.server.editions.edition_history import FIRST_EDITION
    from discreet.server.editions.editions import NEW_SERIES

    if new_series and first_edition:
        raise InputError("--new-series follows an edition and --first-edition follows none: give one of them")
    asked = NEW_SERIES if new_series else FIRST_EDITION if first_edition else ""
    with working("building the cube"):
        steps_policy = None if policy_file is None else read_policy(policy_file)
        if steps_policy is not None:
            say_openly(steps_policy)
        built = cubes.build(records_of(data, codebook, database_table, engine), output, steps_policy, say, asked=asked)
    if built.kept:
        say(f"kept the edition in {output}, because {built.kept}: nothing was written")
        return KEPT if built.changed else 0
    population = steps_policy is not None and steps_policy.draws_population
    held = "counts of the synthetic population, no true ones" if population else "true counts"
    say(f"wrote {output}. Confidential: it holds {held}.")
    return 0


@example("discreet answer people.cube --policy policy.toml --variables sex,age --where region=R1 -o table.csv")
@app.command()
@click.argument("data", type=Place())
@click.option("--policy", "policy_file", type=PATH, required=True, help="What may be asked and how it is protected.")
@click.option("--codebook", type=PATH, help="The codebook of the data; a folder made by `discreet cube` has its own.")
@place_options
@click.option(
    "--variables", required=True, multiple=True, callback=joined_by(","),
    help="Variables with their level of detail: sex,age or county:region,sex; repeatable.",
)  # fmt: skip
@click.option(
    "--where", multiple=True, callback=joined_by(";"),
    help='The population: region=R1, several separated by semicolons, codes with such signs as "a;b"; repeatable.',
)  # fmt: skip
@click.option("--measure", default="count", help="What is counted or summed: count, or a measure of the policy.")
@click.option(
    "--statistic", default="", metavar="NAME",
    help="What is given of it: sum, mean, median, p90, per-OTHER, percent, percent-VARIABLE, rate-VARIABLE, se.",
)  # fmt: skip
@release_options
def answer(
    data: Path | str, policy_file: Path, codebook: Path | None, database_table: str | None, engine: str | None,
    variables: str, where: str, measure: str, statistic: str, output: Path | None, format: str | None, metadata: bool,
) -> None:  # fmt: skip
    """The table that a server would give, or exit 3 with the rule that refuses it."""
    from discreet.policy import answer as ask
    from discreet.policy import read_policy
    from discreet.server.counting import cube as cubes
    from discreet.server.queries import query_from

    format_of(output, format, metadata=metadata)
    source: Any
    if is_cube(data):
        source, _ = cubes.read_cube(Path(data))
    elif codebook is None:
        raise InputError("name the codebook of the data (--codebook), or give a folder made by `discreet cube`")
    else:
        source = records_of(data, codebook, database_table, engine)
    policy = read_policy(policy_file)
    release = ask(source, query_from(source.dimensions, variables, where, measure, statistic), policy)
    say_openly(policy, release)
    emit_release(release, output, format, metadata=metadata)
