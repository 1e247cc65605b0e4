"""discreet policy init|check, search, replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import discreet
from discreet.cli.common import (
    Place,
    app,
    bar,
    emit,
    example,
    format_of,
    load_table,
    names_of,
    place_options,
    read_microdata,
    say,
    table_options,
    value_of,
    working,
)
from discreet.errors import InputError
from discreet.files import check_suffix

if TYPE_CHECKING:
    from discreet.microdata import Microdata
    from discreet.policy import Policy, Query
    from discreet.release import Release

PATH = click.Path(path_type=Path)


@app.group()
def policy() -> None:
    """Make or check a policy: what may be asked and how it is protected."""


@example("discreet policy init -o policy.toml")
@policy.command()
@click.option("-o", "--output", type=PATH, help="Write the template here instead of to stdout.")
def init(output: Path | None) -> None:
    """A policy with every key, commented."""
    from discreet.policy import template

    check_suffix(output, [".toml"], "a policy")
    emit(template().encode(), output)


@example("discreet policy check policy.toml --codebook people.toml")
@policy.command()
@click.argument("file", type=PATH)
@click.option("--codebook", type=PATH, help="Also check that the variables it names exist.")
def check(file: Path, codebook: Path | None) -> None:
    """Whether a policy is well formed, and what it says."""
    from discreet.policy import read_policy

    made = read_policy(file)
    if codebook is not None:
        made.check(discreet.read_codebook(codebook).dimensions)
    methods = ", ".join(name for name, _ in made.methods)
    rules = made.query
    say(
        f"{file} is well formed: at most {rules.max_dimensions} variables, {rules.max_cells:,} cells, "
        f"{rules.max_filters} filters; methods: {methods}"
    )
    mind(made)


def mind(made: Policy, release: Release | None = None) -> None:
    """Say on stderr what a policy, or the answer it gave, publishes as it is."""
    from discreet.release import AS_IT_IS

    if release is None and made.openly:
        say(f"mind: {made.openly}")
    elif release is not None and release.method == AS_IT_IS:
        say("mind: this table is not protected: it is published as it is")


@example(
    "discreet search people.parquet --codebook people.toml --by county,sex --try random-round:base=3,5 --plot ru.png"
)
@app.command()
@table_options
@click.option("--try", "tries", multiple=True, metavar="METHOD[:PARAMETER=V,V..]", help="A method and values to try.")
@click.option("--policy", "policy_file", type=PATH, help="Try the policy's methods under its thresholds.")
@click.option("--t2", type=float, help="Most risk after protection.")
@click.option("--t3", type=float, help="Most loss, 1 - utility.")
@click.option("--plot", "picture", type=PATH, help="Write the risk-utility map here (PNG).")
@click.option("--resume", type=PATH, help="Keep finished results in this file and go on from them (confidential).")
@click.option("--json", "as_json", is_flag=True, help="Print the map as JSON.")
def search(
    tries: tuple[str, ...],
    policy_file: Path | None,
    t2: float | None,
    t3: float | None,
    picture: Path | None,
    resume: Path | None,
    as_json: bool,
    **which: Any,
) -> None:
    """Compare methods on a table: risk, utility, which ones nobody beats, the best one allowed.

    What is printed and drawn is CONFIDENTIAL: it compares with the true table.
    """
    import json

    from discreet.policy import read_policy, ru_map

    check_suffix(picture, [".png"], "a risk-utility map")
    made = None if policy_file is None else read_policy(policy_file)
    methods: dict[str, Any] = {}
    for text in tries:
        methods |= parse_try(text)
    if made is not None:
        methods |= {f"{n + 1}. {name}": made.make(n) for n, (name, _) in enumerate(made.methods)}
        t2, t3 = (made.risk.t2 if t2 is None else t2), (made.risk.t3 if t3 is None else t3)
    if not methods:
        raise InputError("name methods to compare: --try random-round:base=3,5 (or --policy)")
    with working("reading and counting"):
        table = load_table(**which)
    with bar("comparing methods") as progress:
        found = ru_map(table, methods, t2=t2, t3=t3, resume=resume, progress=progress)
    if picture is not None:
        emit(discreet.plot.png(found.plot()), picture, private=True)
    if as_json:
        emit((json.dumps(found.to_dict(), indent=2) + "\n").encode(), None)
    else:
        draw(found)
    say("Confidential: compared with the true table.")


@example("discreet replay record.jsonl people.parquet --codebook people.toml --policy policy.toml")
@app.command()
@click.argument("record", type=PATH)
@click.argument("data", type=Place())
@click.option("--codebook", type=PATH, required=True, help="The codebook of the data.")
@place_options
@click.option("--policy", "policy_file", type=PATH, required=True, help="The policy that was in force.")
@click.option("--version", "version", default="", help="The data version that was recorded.")
def replay(
    record: Path, data: Path | str, codebook: Path, database_table: str | None, engine: str | None, policy_file: Path,
    version: str,
) -> None:  # fmt: skip
    """Answer every query of a dissemination record again; exit 2 if any answer differs."""
    from discreet.policy import read_policy
    from discreet.policy import replay as again

    records = discreet.Microdata.read(data, codebook, table=database_table, engine=engine)
    bad = number = 0
    for number, found in enumerate(again(record, records, read_policy(policy_file), version=version), start=1):
        if not found.verdict.ok:
            bad += 1
            say(f"line {number}: {found.found}")
    if bad:
        raise InputError(f"{bad:,} of {number:,} answers differ or could not be compared")
    say(f"{number:,} answers, all the same")


@dataclass(frozen=True)
class PolicyChoice:
    """The policy that decides instead of a method, and where its answers are recorded."""

    file: Path | None
    record: Path | None
    who: str
    version: str

    @property
    def given(self) -> bool:
        return self.file is not None

    def refuse_others(self, parameters: Sequence[str], *others: object) -> None:
        """A policy is not to be bent on the command line."""
        if parameters or any(o is not None for o in others):
            raise InputError("with --policy the policy decides: leave out -P, --rule, --marks and --confidential")

    def answer(self, which: dict[str, Any], output: Path | None, format: str | None) -> Release:
        """The release that the policy allows, or Refused."""
        from discreet.policy import answer, answer_recorded

        format_of(output, format)
        data, query, made = self.question(which)
        with working("counting and protecting"):
            if self.record is None:
                release = answer(data, query, made)
            else:
                release = answer_recorded(data, query, made, self.record, who=self.who, version=self.version)
        mind(made, release)
        return release

    def question(self, which: dict[str, Any]) -> tuple[Microdata, Query, Policy]:
        """What is asked of which records under which policy."""
        from discreet.policy import Query, read_policy

        if which["ready"]:
            raise InputError("a policy is about records and their codebook; it cannot judge a ready table")
        made = read_policy(self.file or Path())
        names = names_of(which["by"])
        query = Query.of(names, where=list(which["where"]) or None, measure=which["value"] or "count")
        plain = [*query.names, *(name for name, _ in query.where)]
        data = read_microdata(
            which["data"], which["codebook"], plain, which["value"], which["missing"], which["database_table"],
            which["engine"], which["memory"],
        )  # fmt: skip
        made.check(data.dimensions)
        return data, query, made


def policy_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options that hand the decision to a policy."""

    @click.option("--policy", "policy_file", type=PATH, help="A policy that decides instead of --method.")
    @click.option("--record", type=PATH, help="With --policy: append the outcome (never a value) to this file.")
    @click.option("--who", default="", help="With --record: who asked.")
    @click.option("--data-version", default="", help="With --record: the version of the data.")
    @wraps(command)
    def chosen(policy_file: Path | None, record: Path | None, who: str, data_version: str, **rest: Any) -> None:
        command(policy=PolicyChoice(policy_file, record, who, data_version), **rest)

    return chosen


def parse_try(text: str) -> dict[str, Any]:
    """``"random-round:base=3,5"`` as methods by label."""
    from discreet.policy import grid

    name, _, rest = text.partition(":")
    parameters: dict[str, list[Any]] = {}
    key = ""
    for piece in filter(None, (p.strip() for p in rest.split(","))):
        head, equals, value = piece.partition("=")
        key, value = (head.strip(), value) if equals else (key, head)
        if not key:
            raise InputError(f"--try takes METHOD:PARAMETER=VALUE,VALUE, not {text!r}")
        parameters.setdefault(key, []).append(value_of(value.strip()))
    return grid(name, **parameters)


def draw(found: Any) -> None:
    """The map as a table in the terminal, the least risk first."""
    from rich.console import Console
    from rich.table import Table as Rich

    made = Rich(title=f"Risk before: {found.frame['before'].iloc[0]:.4f}", header_style="bold")
    made.add_column("method", no_wrap=True)
    for head in ("risk", "utility", "hidden", "changed", "best of its kind", "allowed"):
        made.add_column(head, justify="right")
    if found.frame["note"].any():
        made.add_column("note")
    for label, row in found.frame.sort_values("risk").iterrows():
        numbers = ["–" if row[c] != row[c] or row[c] is None else f"{row[c]:.4f}" for c in ("risk", "utility")]
        shares = ["–" if row[c] != row[c] or row[c] is None else f"{row[c]:.1%}" for c in ("hidden", "changed")]
        marks = ["✓" if row[c] else "" for c in ("pareto", "allowed")]
        style = "bold green" if label == found.best else None
        note = [str(row["note"])] if found.frame["note"].any() else []
        made.add_row(str(label), *numbers, *shares, *marks, *note, style=style)
    Console().print(made)
