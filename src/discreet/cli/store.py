"""The --store option: where servers remember, given so that no password is seen in the list of processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import click
from click.core import ParameterSource

from discreet.base.files import read_private
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.server.record.store import Store

DEFAULT, VARIABLE, FILE = "sqlite:///discreet.db", "DISCREET_STORE", "file:"


def store_option(name: str, words: str) -> Callable[[Any], Any]:
    """``--store``: an address, or ``file:PATH`` of a private file that holds one; else from the environment."""
    return click.option(
        "--store", name, default=DEFAULT, show_default=True, envvar=VARIABLE, show_envvar=True, callback=_address,
        help=f"{words}: sqlite:///, postgresql://, or file:PATH of a private file that holds the address.",
    )  # fmt: skip


def _address(context: click.Context, parameter: click.Parameter, value: str) -> str:
    typed = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    if value.startswith(FILE):
        return read_private(Path(value.removeprefix(FILE)), "the store's address").decode().strip()
    if typed and has_password(value):
        raise InputError(
            "a password on the command line can be read by every user of the machine; put the address into a private "
            f"file (--store {FILE}PATH) or into the environment variable {VARIABLE}"
        )
    return value


def has_password(url: str) -> bool:
    """Whether an address holds a password.

    >>> has_password("postgresql://me:word@host/name"), has_password("postgresql://me@host/name?password=word")
    (True, True)
    >>> has_password("postgresql://me@host:5432/name?passfile=/etc/discreet/pgpass"), has_password("sqlite:///a.db")
    (False, False)
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # not an address at all; the store will say so
        return "@" in url
    return parts.password is not None or "password" in parse_qs(parts.query)


@contextmanager
def open_store(url: str) -> Iterator[Store]:
    """A server's store, closed again."""
    from discreet.server.record.store import Store

    store = Store(url)
    try:
        yield store
    finally:
        store.close()
