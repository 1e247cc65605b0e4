"""The store: users, tokens, sessions, keys, counters, what was asked, and the dissemination record.

SQLite by default, PostgreSQL (or whatever SQLAlchemy speaks) by URL. Every change is one transaction. No table has a
column in which a value of a table could stand.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    delete,
    event,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from discreet.errors import InputError

Row = Mapping[str, Any]

metadata = MetaData()
users = Table(
    "users",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("role", String(20), nullable=False),
    Column("password", Text),
    Column("active", Boolean, nullable=False, default=True),
    Column("created", Float, nullable=False),
)
tokens = Table(
    "tokens",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("user", Integer, ForeignKey("users.id"), nullable=False),
    Column("hash", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("revoked", Boolean, nullable=False, default=False),
)
sessions = Table(
    "sessions",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("user", Integer, ForeignKey("users.id"), nullable=False),
    Column("expires", Float, nullable=False),
)
keys = Table(
    "keys",
    metadata,
    Column("name", String(20), primary_key=True),
    Column("value", LargeBinary, nullable=False),
    Column("created", Float, nullable=False),
)
uses = Table(
    "uses",
    metadata,
    Column("who", String(120), primary_key=True),
    Column("span", Integer, primary_key=True),
    Column("n", Integer, nullable=False),
)
asked = Table(
    "asked",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("who", String(120), nullable=False),
    Column("name", String(32), nullable=False, unique=True),
    Column("digest", String(64), nullable=False),
    Column("query", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("state", String(8), nullable=False),  # open, released or refused
    Column("flagged", Boolean, nullable=False, default=False),
    Index("asked_who", "who", "id"),
)
record = Table(
    "record",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("who", String(120), nullable=False),
    Column("query", Text, nullable=False),
    Column("policy", String(64), nullable=False),
    Column("data", String(64), nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("rule", String(60), nullable=False, default=""),
    Column("digest", String(64), nullable=False, default=""),
    Column("guard", String(200), nullable=False, default=""),
)


class Store:
    """All that the server remembers. Safe to use from several threads and processes."""

    def __init__(self, url: str) -> None:
        try:
            self.engine: Engine = create_engine(_driver(url), pool_pre_ping=not url.startswith("sqlite"))
        except (SQLAlchemyError, ImportError):
            raise InputError("the store's address is not one that SQLAlchemy understands: sqlite:///file or "
                             "postgresql://user@host/name") from None  # fmt: skip
        if self.engine.dialect.name == "sqlite":
            event.listen(self.engine, "connect", _sqlite)
            event.listen(self.engine, "begin", _begin)
        self.reading = self.engine.execution_options(reading=True)
        try:
            self._make()
        except SQLAlchemyError:
            raise InputError("cannot open the store; is the address right and may we write there?") from None

    def _make(self) -> None:
        """Create what is missing; several workers may do so at the same time."""
        for attempt in range(5):
            try:
                metadata.create_all(self.engine)
                return
            except SQLAlchemyError:
                if attempt == 4:
                    raise
                time.sleep(0.1 * (attempt + 1))

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """One transaction: all of it or nothing."""
        with self.engine.begin() as connection:
            yield connection

    def close(self) -> None:
        self.engine.dispose()

    def alive(self) -> bool:
        """Whether the store answers."""
        try:
            with self.reading.begin() as connection:
                return connection.execute(text("SELECT 1")).scalar() == 1
        except SQLAlchemyError:
            return False

    # -- keys ---------------------------------------------------------------------------------------------------

    def key(self, name: str) -> bytes:
        """A random key that all workers share; made when first asked for."""
        with self.reading.begin() as connection:
            found = connection.execute(select(keys.c.value).where(keys.c.name == name)).scalar()
        if found is not None:
            return bytes(found)
        try:
            with self.begin() as connection:
                value = secrets.token_bytes(32)
                connection.execute(insert(keys).values(name=name, value=value, created=time.time()))
            return value
        except SQLAlchemyError:  # another worker was first
            return self.key(name)

    def rotate(self) -> int:
        """Throw away all keys and sessions; everybody signs in again. Gives the number of sessions ended."""
        with self.begin() as connection:
            connection.execute(delete(keys))
            return connection.execute(delete(sessions)).rowcount

    # -- users --------------------------------------------------------------------------------------------------

    def add_user(self, name: str, role: str, password: str | None) -> None:
        """A new user; ``password`` is a hash or None."""
        try:
            with self.begin() as connection:
                connection.execute(
                    insert(users).values(name=name, role=role, password=password, active=True, created=time.time())
                )
        except SQLAlchemyError:
            raise InputError(f"there is a user {name!r} already") from None

    def change_user(self, name: str, **values: Any) -> None:
        """Change a user's role, password or whether the account is active; sessions end."""
        found = self.user(name)
        if found is None:
            raise InputError(f"no user {name!r}")
        with self.begin() as connection:
            connection.execute(update(users).where(users.c.name == name).values(**values))
            connection.execute(delete(sessions).where(sessions.c.user == found["id"]))

    def user(self, name: str) -> Row | None:
        """A user by name."""
        return self._one(select(users).where(users.c.name == name))

    def all_users(self) -> Sequence[Row]:
        """Every user, oldest first."""
        return self.rows(select(users.c.name, users.c.role, users.c.active).order_by(users.c.id))

    def add_token(self, user: int, identity: str, hashed: str) -> None:
        """Keep the hash of a new token."""
        with self.begin() as connection:
            connection.execute(
                insert(tokens).values(id=identity, user=user, hash=hashed, created=time.time(), revoked=False)
            )

    def revoke_tokens(self, user: int) -> int:
        """End all tokens of a user."""
        with self.begin() as connection:
            return connection.execute(update(tokens).where(tokens.c.user == user).values(revoked=True)).rowcount

    def token(self, identity: str) -> Row | None:
        """An active user's unrevoked token, with the user's name and role."""
        wanted = select(tokens.c.hash, users.c.name, users.c.role).join(users, users.c.id == tokens.c.user)
        return self._one(wanted.where(tokens.c.id == identity, users.c.active, ~tokens.c.revoked))

    # -- sessions -----------------------------------------------------------------------------------------------

    def open_session(self, user: int, seconds: float) -> str:
        """A new session; only the hash of its name is kept."""
        name = secrets.token_urlsafe(32)
        with self.begin() as connection:
            connection.execute(delete(sessions).where(sessions.c.expires < time.time()))
            connection.execute(insert(sessions).values(hash=_sha(name), user=user, expires=time.time() + seconds))
        return name

    def session(self, name: str) -> Row | None:
        """The user of a session that has not expired."""
        wanted = select(users.c.name, users.c.role).join(sessions, users.c.id == sessions.c.user)
        return self._one(wanted.where(sessions.c.hash == _sha(name), sessions.c.expires > time.time(), users.c.active))

    def close_session(self, name: str) -> None:
        with self.begin() as connection:
            connection.execute(delete(sessions).where(sessions.c.hash == _sha(name)))

    # -- reading ------------------------------------------------------------------------------------------------

    def rows(self, wanted: Any) -> Sequence[Row]:
        """What a SELECT finds."""
        with self.reading.begin() as connection:
            return [dict(row) for row in connection.execute(wanted).mappings()]

    def _one(self, wanted: Any) -> Row | None:
        found = self.rows(wanted)
        return found[0] if found else None

    def last_answers(self, most: int) -> Sequence[Row]:
        """The newest lines of the record."""
        return self.rows(select(record).order_by(record.c.id.desc()).limit(most))

    def answers(self) -> int:
        """How many lines the record has."""
        with self.reading.begin() as connection:
            return int(connection.execute(select(func.count()).select_from(record)).scalar() or 0)


def _driver(url: str) -> str:
    for plain in ("postgresql://", "postgres://"):
        if url.startswith(plain):
            return "postgresql+psycopg://" + url.removeprefix(plain)
    return url


def _begin(connection: Connection) -> None:
    """Who writes takes the lock at once, so that two writers wait for each other instead of failing."""
    reading = connection.get_execution_options().get("reading")
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _sqlite(connection: Any, _: Any) -> None:
    """Readers do not wait for writers; a commit survives the end of the process; a busy file is waited for."""
    connection.isolation_level = None  # we say BEGIN ourselves
    cursor = connection.cursor()
    for line in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=10000", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {line}")
    cursor.close()


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
