"""discreet policy init|check, search, replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.base.files import check_suffix
from discreet.cli import unprotected
from discreet.cli.application import app, example
from discreet.cli.console import say
from discreet.cli.inputs import is_rda, load_table, records_asked, records_of
from discreet.cli.option_texts import names_of, value_of
from discreet.cli.options import Place, place_options, table_options
from discreet.cli.output import emit, emit_json, format_of, keep_edited
from discreet.cli.progress import bar, working
from discreet.errors import InputError, listed

if TYPE_CHECKING:
    from discreet.data.microdata import Microdata
    from discreet.policy import Policy, Query
    from discreet.release import Release

PATH = click.Path(path_type=Path)


@app.group()
def policy() -> None:
    """Make or check a policy: what may be asked and how it is protected."""


@example("discreet policy init -o policy.toml")
@policy.command()
@click.option("-o", "--output", type=PATH, help="Write the template here instead of to stdout.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def init(output: Path | None, force: bool) -> None:
    """A policy with every key, commented."""
    from discreet.policy import template

    check_suffix(output, [".toml"], "a policy")
    if output is not None and not force:
        keep_edited(output, template().encode())
    emit(template().encode(), output)


@example("discreet policy check policy.toml --codebook people.toml")
@policy.command()
@click.argument("file", type=PATH)
@click.option("--codebook", type=PATH, help="Also check that the variables it names exist.")
def check(file: Path, codebook: Path | None) -> None:
    """Whether a policy is well formed, and what it says."""
    from discreet.data.codebook import read_codebook
    from discreet.policy import closure_size, read_policy
    from discreet.policy.pretabular import check_keys, check_unweighted

    checked_policy = read_policy(file)
    if is_rda(codebook):
        raise InputError("an .rda tells its codes only beside its data; check against a codebook (TOML), or without")
    if codebook is not None:
        book = read_codebook(codebook)
        checked_policy.check(book.dimensions)
        check_unweighted(book, checked_policy)
        if checked_policy.risk.population and checked_policy.risk.population_size == "weights" and book.weight is None:
            raise InputError(
                "the policy judges tables as those of a sample, and the codebook names no weight: add one, or say how "
                "many people there are ([risk] population_size = N)"
            )
    methods = ", ".join(name for name, _ in checked_policy.methods)
    methods = "none" if checked_policy.before and methods == "publish" else methods
    steps = (
        f"before counting: {', '.join(name for name, _ in checked_policy.before)}; " if checked_policy.before else ""
    )
    rules = checked_policy.query
    say(
        f"{file} is well formed: at most {rules.max_dimensions} variables, {rules.max_cells:,} cells, "
        f"{rules.max_filters} filters; {steps}methods: {methods}"
    )
    if codebook is not None:
        closure = closure_size(book.dimensions, checked_policy)
        say(f"all that may be asked: {closure.sets:,} sets of variables with {closure.cells:,} different cells")
    say_openly(checked_policy)
    if codebook is not None:
        try:
            check_keys(book, checked_policy)
        except InputError as error:
            say(f"warning: {error}")


def say_openly(policy: Policy, release: Release | None = None) -> None:
    """Say on stderr what a policy, or the answer it gave, publishes as it is, and that its seed protects nothing."""
    if policy.seeded:
        say(f"warning: {policy.seeded}")
    if release is None and policy.openly:
        say(f"warning: {policy.openly}")
    elif release is not None:
        unprotected.say_unprotected(release.method)


@example(
    "discreet search people.parquet --codebook people.toml --by county,sex --try random-round:base=3,5 --plot ru.png"
)
@app.command()
@table_options
@click.option("--try", "tries", multiple=True, metavar="METHOD[:PARAMETER=V,V..]", help="A method and values to try.")
@click.option("--policy", "policy_file", type=PATH, help="Try the policy's methods under its thresholds.")
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="Risk: r, r*, jos15, zeros, entropy, size.")
@click.option("--loss", help="Loss: hellinger, kl, reverse-kl, chi2, hellinger2, tv, mean-absolute, changed, ...")
@click.option("--t2", type=float, multiple=True, help="Most risk after protection; once for each measure.")
@click.option("--t3", type=float, help="Most loss, 1 - utility.")
@click.option(
    "--draws",
    type=click.IntRange(1),
    help="Number of draws; otherwise all outcomes are listed if few, or 20 are drawn.",
)
@click.option("--population", metavar="MODEL", help="Judge the table as a sample: loglinear, polya, poisson, ...")
@click.option("--population-size", type=click.IntRange(1), help="People in the population; else what the weights say.")
@click.option("--plot", "picture", type=PATH, help="Write the risk-utility map here (PNG).")
@click.option("--resume", type=PATH, help="Keep finished results in this file and go on from them (confidential).")
@click.option("--json", "as_json", is_flag=True, help="Print the map as JSON.")
def search(
    tries: tuple[str, ...],
    policy_file: Path | None,
    measures: tuple[str, ...],
    loss: str | None,
    t2: tuple[float, ...],
    t3: float | None,
    draws: int | None,
    population: str | None,
    population_size: int | None,
    picture: Path | None,
    resume: Path | None,
    as_json: bool,
    **which: Any,
) -> int:
    """Compare methods on a table: risk, utility, which ones are non-dominated, the best one allowed.

    Figures are expectations of a method, exact or means over draws, with their spread. --measure and --t2 may be
    repeated, one --t2 each.
    What is printed and drawn is CONFIDENTIAL: it compares with the true table. Exit code 1: none is allowed.
    """
    from discreet import plot
    from discreet.policy import read_policy, ru_map
    from discreet.policy.method_digest import by_label

    check_suffix(picture, [".png"], "a risk-utility map")
    chosen_policy = None if policy_file is None else read_policy(policy_file)
    methods: dict[str, Any] = by_label(pair for text in tries for pair in parse_try(text).items())
    if chosen_policy is not None and chosen_policy.before:
        raise InputError(
            "a search compares methods on one table, and the policy has a step before counting: leave it out"
        )
    how = _how(chosen_policy, measures, loss, t2, t3) | {"draws": draws}
    how |= {} if population is None else {"population": population}
    how |= {} if population_size is None else {"population_size": population_size}
    if not methods and chosen_policy is None:
        raise InputError("name methods to compare: --try random-round:base=3,5 (or --policy)")
    with working("reading and counting"):
        table = load_table(**which)
    if chosen_policy is not None:
        names = [d.name for d in table.dimensions]
        listed_methods = enumerate(chosen_policy.methods)
        methods |= {f"{n + 1}. {name}": chosen_policy.make(n, names) for n, (name, _) in listed_methods}
    with bar("comparing methods") as progress:
        map_ = ru_map(table, methods, resume=resume, progress=progress, **how)
    if picture is not None:
        emit(plot.png(map_.plot()), picture, private=True)
    if as_json:
        emit_json(map_.to_dict())
    else:
        draw_map(map_)
    say("Confidential: compared with the true table.")
    if map_.best is None:
        say("none of the methods is allowed")
        return 1
    return 0


def _how(
    chosen_policy: Policy | None, measures: Sequence[str], loss: str | None, t2: Sequence[float], t3: float | None
) -> dict[str, Any]:
    """What to compare by: what is named, else what the policy says."""
    from discreet.policy.measures import read_loss

    how: dict[str, Any] = {}
    if chosen_policy is not None:
        risk = chosen_policy.risk
        how = {"measure": risk.measure, "weights": risk.weights, "jos15_weights": risk.jos15_weights}
        how |= {"loss": chosen_policy.loss, "t2": risk.t2, "t3": risk.t3, "population": risk.population}
        if risk.population and isinstance(risk.population_size, int):
            how["population_size"] = risk.population_size
    if measures:
        how |= {"measure": list(measures), "t2": None}
    if loss is not None:
        how["loss"] = read_loss(loss)
    return how | ({"t2": list(t2)} if t2 else {}) | ({"t3": t3} if t3 is not None else {})


@example("discreet replay record.jsonl people.parquet --codebook people.toml --policy policy.toml")
@app.command()
@click.argument("record", type=PATH)
@click.argument("data", type=Place())
@click.option("--codebook", type=PATH, required=True, help="The codebook of the data.")
@place_options
@click.option(
    "--policy",
    "policy_files",
    type=PATH,
    required=True,
    multiple=True,
    help="The policy that was in force; repeatable, where roles had one each.",
)
@click.option("--version", "version", default="", help="The data version that was recorded.")
def replay(
    record: Path,
    data: Path | str,
    codebook: Path,
    database_table: str | None,
    engine: str | None,
    policy_files: Sequence[Path],
    version: str,
) -> int:
    """Answer every query of a dissemination record again; exit 1 if an answer differs or could not be compared."""
    from discreet.policy import read_policy
    from discreet.policy import replay as again

    records = records_of(data, codebook, database_table, engine)
    policies = [read_policy(file) for file in policy_files]
    bad = number = 0
    for number, replayed in enumerate(again(record, records, policies, version=version), start=1):
        if not replayed.verdict.ok:
            bad += 1
            say(f"line {number}: {replayed.found}")
    if bad:
        say(f"{bad:,} of {number:,} answers differ or could not be compared")
        return 1
    say(f"{number:,} answers, all the same")
    return 0


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

    def refuse_others(self, others: Mapping[str, object]) -> None:
        """A policy is not to be bent on the command line, and only what a policy answers is recorded."""
        named = [name for name, value in others.items() if value is not None]
        if self.given and named:
            raise InputError(f"with --policy the policy decides: leave out {listed(named)}")
        recorded = {"--record": self.record, "--who": self.who, "--data-version": self.version}
        if not self.given and (named := [name for name, value in recorded.items() if value]):
            raise InputError(f"{listed(named)}: only what a policy answers is recorded; name it (--policy)")
        if self.record is None and (named := [name for name, value in recorded.items() if value]):
            raise InputError(f"{listed(named)}: this stands in the record alone; name its file (--record)")

    def answer(self, which: dict[str, Any], output: Path | None, format: str | None) -> Release:
        """The release that the policy allows, or Refused."""
        from discreet.policy import answer, answer_recorded

        format_of(output, format)
        data, query, rules = self.question(which)
        with working("counting and protecting"):
            if self.record is None:
                release = answer(data, query, rules)
            else:
                release = answer_recorded(data, query, rules, self.record, who=self.who, version=self.version)
        say_openly(rules, release)
        return release

    def question(self, which: dict[str, Any]) -> tuple[Microdata, Query, Policy]:
        """What is asked of which records under which policy."""
        from discreet.policy import Query, read_policy

        if which["ready"]:
            raise InputError("a policy is about records and their codebook; it cannot judge a ready table")
        rules = read_policy(self.file or Path())
        names = names_of(which["by"])
        query = Query.of(names, where=list(which["where"]) or None, measure=which["value"] or "count")
        plain = [*query.names, *(name for name, _ in query.where)]
        data = records_asked(which, plain)
        rules.check(data.dimensions)
        return data, query, rules


def policy_options(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Options that hand the decision to a policy."""

    @click.option("--policy", "policy_file", type=PATH, help="A policy that decides instead of --method.")
    @click.option("--record", type=PATH, help="With --policy: append the outcome (never a value) to this file.")
    @click.option("--who", default="", help="With --record: who asked.")
    @click.option("--data-version", default="", help="With --record: the version of the data.")
    @wraps(command)
    def chosen(policy_file: Path | None, record: Path | None, who: str, data_version: str, **rest: Any) -> int | None:
        return command(policy=PolicyChoice(policy_file, record, who, data_version), **rest)

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


def draw_map(map_: Any) -> None:
    """The map as a table that fits 80 columns, the least risk first; one more table for each further measure."""
    from rich.console import Console

    console = Console()
    for number, name in enumerate(map_.measure):
        console.print(_drawn(map_, number, name))
    console.print("* non-dominated, ✓ allowed; ± standard deviation of one release; = exact, ~ mean over draws")
    for label, row in map_.frame[map_.frame["note"] != ""].iterrows():
        console.print(f"{label}: {row['note']}", markup=False, highlight=False)


def _drawn(map_: Any, number: int, measure: str) -> Any:
    """One measure of risk against utility."""
    from rich.table import Table as Rich

    end = "" if number == 0 else f" {measure}"
    before = map_.frame[f"before{end}"].iloc[0]
    of = f"{measure}, {map_.population} population" if map_.population else measure
    drawing = Rich(
        title=f"Risk ({of}) before: {before:.4f}; loss: {map_.loss}",
        header_style="bold",
        box=None,
        padding=(0, 1, 0, 0),
        title_justify="left",
    )
    drawing.add_column("method", overflow="fold", max_width=28)
    for head in ("risk", "±", "utility", "±", "hidden", "changed", ""):
        drawing.add_column(head, justify="right", no_wrap=True)
    for label, row in map_.frame.sort_values(f"risk{end}").iterrows():
        names = (f"risk{end}", f"± risk{end}", "utility", "± utility")
        numbers = [_figure(row[name], ".4f") for name in names]
        shares = [_figure(row[name], ".1%") for name in ("hidden", "changed")]
        marks = ("*" if row["pareto"] else "") + ("✓" if row["allowed"] else "")
        marks += "" if row["note"] else "=" if row["exact"] else "~"
        drawing.add_row(str(label), *numbers, *shares, marks, style="bold green" if label == map_.best else None)
    return drawing


def _figure(value: Any, form: str) -> str:
    return "–" if value is None or value != value else format(float(value), form)
