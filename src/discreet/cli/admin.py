"""discreet admin: what the keeper of a table server does: users, tokens, keys, the record."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from discreet.base.files import check_suffix
from discreet.cli.application import app, example
from discreet.cli.console import say
from discreet.cli.output import emit
from discreet.cli.store import open_store, store_option
from discreet.errors import InputError, many

PATH = click.Path(path_type=Path)


@app.group()
def admin() -> None:
    """Administer a table server: users, tokens, keys, the record."""


STORE = store_option("url", "The servers' store")


@example("discreet admin add-user ada --role methodologist --password-stdin < password.txt")
@admin.command("add-user")
@click.argument("name")
@click.option("--role", default="approved", show_default=True, help="public, approved, methodologist or admin.")
@click.option("--password-stdin", is_flag=True, help="Read a password; without one the user has tokens only.")
@STORE
def add_user(name: str, role: str, password_stdin: bool, url: str) -> None:
    """Add a user."""
    from discreet.server import auth

    password = sys.stdin.readline().rstrip("\n") if password_stdin else None
    with open_store(url) as store:
        auth.new_user(store, name, role, password)
    say(f"added {name}, {role}")


@example("discreet admin change-user ada --role admin")
@admin.command("change-user")
@click.argument("name")
@click.option("--role", help="public, approved, methodologist or admin.")
@click.option("--password-stdin", is_flag=True, help="Read a new password.")
@click.option("--active/--inactive", default=None, help="Whether the account can be used.")
@STORE
def change_user(name: str, role: str | None, password_stdin: bool, active: bool | None, url: str) -> None:
    """Change a user's role or password, or close the account; sessions end."""
    from discreet.server import auth
    from discreet.server.settings import ROLES

    changes: dict[str, object] = {}
    if role is not None:
        if role not in ROLES:
            raise InputError(f"role {role!r} is none of {', '.join(ROLES)}")
        changes["role"] = role
    if password_stdin:
        changes["password"] = auth.hashed(auth.checked_password(sys.stdin.readline().rstrip("\n")))
    if active is not None:
        changes["active"] = active
    if not changes:
        raise InputError("nothing to change: give --role, --password-stdin or --inactive")
    with open_store(url) as store:
        store.change_user(name, **changes)
    say(f"changed {name}")


@example("discreet admin users")
@admin.command()
@STORE
def users(url: str) -> None:
    """List the users."""
    with open_store(url) as store:
        listed_users = store.all_users()
    for user in listed_users:
        click.echo(f"{user['name']}\t{user['role']}\t{'active' if user['active'] else 'closed'}")


@example("discreet admin token ada")
@admin.command()
@click.argument("name")
@click.option("--revoke", is_flag=True, help="End all tokens of the user instead.")
@STORE
def token(name: str, revoke: bool, url: str) -> None:
    """Print a new API token of a user; it is shown this once, and kept as a hash."""
    from discreet.server import auth

    with open_store(url) as store:
        if not revoke:
            click.echo(auth.new_token(store, name))
            return
        user = store.user(name)
        if user is None:
            raise InputError(f"no user {name!r}")
        ended = store.revoke_tokens(user["id"])
    say(f"{many(ended, 'token')} ended; workers forget them within {auth.TOKEN_SECONDS:g} s")


@example("discreet admin rotate-keys")
@admin.command("rotate-keys")
@STORE
def rotate_keys(url: str) -> None:
    """New keys for forms and addresses; all sessions end. Running servers take them up within seconds.

    The secret of the protection method is not touched: another one would change every number.
    """
    from discreet.server import auth

    with open_store(url) as store:
        ended = store.rotate()
    say(f"keys are new, {many(ended, 'session')} ended; servers take them up within {auth.KEY_SECONDS:g} s")


@example("discreet admin record -o record.jsonl")
@admin.command("record")
@click.option("-o", "--output", type=PATH, help="Write here instead of to stdout.")
@STORE
def export_record(output: Path | None, url: str) -> None:
    """The dissemination record as lines that `discreet replay` reads."""
    from discreet.server.record.record_lines import export

    check_suffix(output, [".jsonl", ".json"], "a record")
    with open_store(url) as store:
        lines = list(export(store))
    emit("".join(line + "\n" for line in lines).encode(), output, private=True)
