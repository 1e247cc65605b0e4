"""discreet attack: what all answers of a policy together give away."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.base.files import HTML, check_suffix
from discreet.base.verdicts import Verdict
from discreet.cli.application import app, example
from discreet.cli.console import say
from discreet.cli.inputs import records_of
from discreet.cli.options import Place, place_options
from discreet.cli.output import emit
from discreet.cli.serve import is_cube
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.policy import Attack
    from discreet.policy.attacks.answers import AllAnswers

PATH = click.Path(path_type=Path)
TOGETHER = "all roles together"
EFFORTS = {"quick": 0.25, "normal": 1.0, "long": 4.0}  # times the moves of a chain


@example("discreet attack people.cube --policy policy.toml --secrets 3 --html attack.html")
@app.command()
@click.argument("data", type=Place())
@click.option("--policy", "policy_file", type=PATH, required=True, help="The policy whose answers are attacked.")
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="ROLE=POLICY",
    help="A role's own policy too, and all together; repeatable.",
)
@click.option("--codebook", type=PATH, help="The codebook of the data; a folder made by `discreet cube` has its own.")
@place_options
@click.option("--url", help="Take the answers from a running server of the policy; its limits are kept.")
@click.option("--token-file", type=PATH, help="With --url: a private file with the token of an account.")
@click.option("--limit", default=2000, show_default=True, type=click.IntRange(1), help="Populations of fewer people.")
@click.option(
    "--most",
    default=12,
    show_default=True,
    type=click.IntRange(1),
    help="How many of them are attacked: in turn the smallest broken down, the largest, the smallest; as many pairs.",
)
@click.option("--pairs", is_flag=True, help="Also populations of two categories together.")
@click.option(
    "--secrets",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Number of secrets: the policy's own and others.",
)
@click.option(
    "--targets",
    default=20,
    show_default=True,
    type=click.IntRange(0),
    help="Number of people for whom queries are searched.",
)
@click.option("--editions/--no-editions", default=True, help="Whether a second edition with new records is tried.")
@click.option(
    "--effort",
    default="normal",
    show_default=True,
    type=click.Choice(list(EFFORTS)),
    help="How long populations are sampled.",
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), help="The same seed gives the same report."
)
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), help="Seconds; what is left then is unknown.")
@click.option("--resume", type=PATH, help="Keep finished populations in this file and go on from them (confidential).")
@click.option("--json", "as_json", type=PATH, help="Write the report here as JSON.")
@click.option("--html", type=PATH, help="Write the report here as a page.")
@click.option("--plot", "picture", type=PATH, help="Draw claims against the model here (PNG).")
def attack(
    data: Path | str,
    policy_file: Path,
    roles: tuple[str, ...],
    codebook: Path | None,
    database_table: str | None,
    engine: str | None,
    url: str | None,
    token_file: Path | None,
    as_json: Path | None,
    html: Path | None,
    picture: Path | None,
    **how: Any,
) -> int:
    """Rebuild small populations from everything that a policy ever answers about DATA, and measure the success.

    DATA are records with --codebook, or a folder made by `discreet cube`. Nothing is asked of a server, unless --url
    names one: then it is asked for everything, as anybody could, and DATA are what success is judged by. The report has
    rates and no record; it is CONFIDENTIAL all the same. Exit code 1: the policy does not hold, or it is unknown.
    """
    from discreet import plot

    check_suffix(html, HTML, "a report")
    check_suffix(as_json, [".json"], "a report")
    check_suffix(picture, [".png"], "a picture")
    policies = _policies(policy_file, roles)
    if len(policies) > 1 and (html or picture):
        raise InputError("a page or a picture is of one policy: leave --role out, or attack each policy by itself")
    if url is None and token_file is not None:
        raise InputError("--token-file is for a server: name it with --url")
    if url is not None and (roles or how["secrets"] > 1):
        raise InputError("a server answers one caller under its own secret: leave --role and --secrets out with --url")
    source = _source(data, codebook, database_table, engine)
    answers = None if url is None else _served(source, policies["public"], url, token_file)
    reports = {role: _attacked(source, policy, role, answers, **how) for role, policy in policies.items()}
    if len(policies) > 1:  # who has an account may ask without it, too
        first, *others = policies.values()
        reports[TOGETHER] = _attacked(source, first, TOGETHER, None, also=others, **how)
    report = next(iter(reports.values()))
    if as_json is not None:
        content: Any = {role: one.to_dict() for role, one in reports.items()} if roles else report.to_dict()
        emit((json.dumps(content, indent=1) + "\n").encode(), as_json, private=True)
    if html is not None:
        report.to_html(html)
    if picture is not None:
        emit(plot.png(report.plot()), picture, private=True)
    for role, one in reports.items():
        click.echo(f"{role}\n{one.summary()}" if roles else one.summary())
    say("Confidential: rates of success against the true data.")
    return 0 if Verdict.worst([one.verdict for one in reports.values()]).ok else 1


def _policies(policy_file: Path, roles: tuple[str, ...]) -> dict[str, Any]:
    """The policy of everybody, and those of roles."""
    from discreet.policy import read_policy

    policies = {"public": read_policy(policy_file)}
    for text in roles:
        role, sign, file = text.partition("=")
        if not sign or not role or not file:
            raise InputError(f"--role takes ROLE=POLICY, a role and the file of its policy, not {text!r}")
        policies[role] = read_policy(Path(file))
    return policies


def _source(data: Path | str, codebook: Path | None, database_table: str | None, engine: str | None) -> Any:
    from discreet.server.counting import cube as cubes

    if is_cube(data):
        return cubes.read_cube(Path(data))[0]
    if codebook is None:
        raise InputError("name the codebook of the data (--codebook), or give a folder made by `discreet cube`")
    return records_of(data, codebook, database_table, engine)


def _served(source: Any, policy: Any, url: str, token_file: Path | None) -> AllAnswers:
    """Everything that a running server gives."""
    from discreet.base.files import read_private
    from discreet.cli.served import ServedTables
    from discreet.policy.attacks.answers import collect_by

    token = "" if token_file is None else read_private(token_file, "the token").decode().strip()
    server = ServedTables(url, tuple(source.dimensions), token, say)
    server.check_codebook()
    answers = collect_by(server.dimensions, policy, server.ask, progress=say)
    say(f"{answers.requests:,} requests, {answers.refused:,} refused, {answers.left_out:,} not asked")
    return answers


def _attacked(
    source: Any,
    policy: Any,
    role: str,
    answers: AllAnswers | None,
    *,
    also: Sequence[Any] = (),
    limit: int,
    most: int,
    pairs: bool,
    secrets: int,
    targets: int,
    editions: bool,
    effort: str,
    seed: int,
    time_limit: float | None,
    resume: Path | None,
) -> Attack:
    from discreet.policy import Effort, attack
    from discreet.policy.pretabular import cube_of
    from discreet.server.editions.edition_marks import EditionMarks, records_name

    usual = Effort()
    times = EFFORTS[effort]
    chosen = Effort(
        moves_each=round(usual.moves_each * times),
        fewest=round(usual.fewest * times),
        most=round(usual.most * times),
    )
    report = attack(
        source,
        policy,
        limit=limit,
        most=most,
        together=2 if pairs else 1,
        also=also,
        secrets=secrets,
        targets=targets,
        editions=editions,
        effort=chosen,
        answers=answers,
        seed=seed,
        time_limit=time_limit,
        resume=resume,
        progress=lambda words: say(f"{role}: {words}"),
    )
    return replace(report, records=records_name(EditionMarks.of(cube_of(source), policy.secret).records))
