"""The schema of the store has a version, and a store of an earlier one is brought up to date when it is opened.

Version 0 is a store from before versions were kept. All steps are done in one transaction: a store has the old schema
or the new one, never half of each. A store that a later program has written is refused, since this one does not know
what stands in it.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, inspect, select, update

from discreet.errors import InputError
from discreet.server.schema import (
    PUBLIC,
    asked,
    editions,
    first_tables,
    keys,
    links,
    metadata,
    record,
    schema_version,
    uses,
)


@dataclass(frozen=True)
class Step:
    """From the version before to this one. Once published it stays as it is: a later change is a step of its own."""

    version: int
    does: str
    apply: Callable[[Connection], None]


def _keep_version(connection: Connection) -> None:
    """Early stores may lack a table that servers made when they first needed it."""
    metadata.create_all(connection, [*first_tables, schema_version])


def _hide_addresses(connection: Connection) -> None:
    """Addresses were hashed with a key that lies in the store, and data named by a hash without a secret.

    Both get names by a key that is thrown away. What strangers were told is told to the public, as which they count.
    """
    key = secrets.token_bytes(32)
    for column, kind in ((record.c.who, "address:"), (record.c.data, "")):
        for (name,) in connection.execute(select(column).where(column.startswith(kind)).distinct()).all():
            hidden = kind + hmac.new(key, str(name).encode(), "sha256").hexdigest()[:16]
            connection.execute(update(record).where(column == name).values({column: hidden}))
    for (name,) in connection.execute(select(asked.c.who).where(asked.c.who.contains("address:")).distinct()).all():
        public = str(name).partition("address:")[0] + PUBLIC
        connection.execute(update(asked).where(asked.c.who == name).values(who=public))
    connection.execute(delete(uses))
    connection.execute(delete(keys).where(keys.c.name == "addresses"))


def _keep_links(connection: Connection) -> None:
    """Short addresses of tables have a table of their own."""
    metadata.create_all(connection, [links])


def _keep_editions(connection: Connection) -> None:
    """Editions that were served have a table of their own."""
    metadata.create_all(connection, [editions])


STEPS = (
    Step(1, "the version of the schema is kept", _keep_version),
    Step(2, "addresses and data have names that the store does not disclose", _hide_addresses),
    Step(3, "short addresses of tables are kept", _keep_links),
    Step(4, "editions that were served are kept", _keep_editions),
)


def latest(steps: Sequence[Step] = STEPS) -> int:
    """The version that this program writes."""
    return steps[-1].version


def stored_version(connection: Connection) -> int | None:
    """The version of a store's schema; 0 from before versions were kept, None of a database without our tables."""
    known = set(inspect(connection).get_table_names())
    if schema_version.name in known:
        return int(connection.execute(select(func.max(schema_version.c.version))).scalar() or 0)
    return 0 if known & {table.name for table in first_tables} else None


def is_current(connection: Connection, steps: Sequence[Step] = STEPS) -> bool:
    """Whether nothing is to be done; raises InputError for a store of a later program."""
    version = stored_version(connection)
    if version is not None and version > latest(steps):
        raise InputError(
            f"the store has schema version {version}, and this version of discreet knows versions up to "
            f"{latest(steps)}: a later discreet has used it; install that one here, or give another store"
        )
    return version == latest(steps)


def bring_up(connection: Connection, steps: Sequence[Step] = STEPS) -> None:
    """Create the tables of a new store, or apply the steps that an earlier one lacks, in the caller's transaction."""
    if is_current(connection, steps):  # another worker was first
        return
    version = stored_version(connection)
    if version is None:
        metadata.create_all(connection)
    for step in steps:
        if version is not None and step.version > version:
            step.apply(connection)
        if version is None or step.version > version:
            connection.execute(insert(schema_version).values(version=step.version, at=time.time()))
