"""The application that commands are added to: no option counts twice, no file that is read is written over."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from discreet.base.files import same_file
from discreet.cli.console import LEVELS, set_level
from discreet.errors import InputError, listed

WRITTEN = {"output", "confidential", "picture", "html", "resume", "record"}  # parameters that name a file to write


def example(text: str) -> Callable[[Any], Any]:
    """An example at the end of a command's help."""

    def add(command: Any) -> Any:
        command.epilog = f"\b\nExample:\n  {text}"
        return command

    return add


def _version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from discreet.base.version import described

        click.echo(f"discreet, version {described()}")
        context.exit()


class Command(click.Command):
    """A command none of whose options is dropped because it was given twice, and none of whose files is lost."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        refuse_same_file(self, ctx)
        return super().invoke(ctx)


class CommandGroup(click.Group):
    """Commands that each take an option once, unless it says that it may be repeated."""

    command_class = Command
    group_class = type

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)


def refuse_repeated(command: click.Command, context: click.Context, arguments: Sequence[str]) -> None:
    """Click keeps the last of an option that is given twice; nobody meant that."""
    if context.resilient_parsing or not arguments:
        return
    options = command.make_parser(context).parse_args(list(arguments))[2]
    for option in {id(o): o for o in options if isinstance(o, click.Option)}.values():
        same_again = option.is_flag and not option.secondary_opts
        if not option.multiple and not same_again and sum(o is option for o in options) > 1:
            names = "/".join((*option.opts, *option.secondary_opts))
            raise InputError(f"{names} is given twice, and only one of them could count; give it once")


def refuse_same_file(command: click.Command, context: click.Context) -> None:
    """A file that is written is no other file of the command: what is read would be lost, or the truth published."""
    files: list[tuple[click.Parameter, Path]] = []
    for parameter in command.params:
        value = context.params.get(parameter.name or "")
        for path in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(path, Path):
                files.append((parameter, path))
    for (one, path), (other, second) in itertools.combinations(files, 2):
        if one is not other and {one.name, other.name} & WRITTEN and same_file(path, second):
            names = listed([_parameter_name(one), _parameter_name(other)])
            raise InputError(f"{names} are the same file ({path.name!r}), which would be written over; name two files")


def _parameter_name(parameter: click.Parameter) -> str:
    return "/".join(parameter.opts) if isinstance(parameter, click.Option) else (parameter.name or "").upper()


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--log-level",
    type=click.Choice(LEVELS),
    default="info",
    show_default=True,
    envvar="DISCREET_LOG_LEVEL",
    is_eager=True,
    expose_value=False,
    callback=set_level,
    help="Which messages go to stderr; progress is shown at debug and info.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Version and commit."
)
def app() -> None:
    """Protect statistical tables: measure how disclosive they are, protect them, prove it."""
