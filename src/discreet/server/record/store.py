"""The store: users, tokens, sessions, keys, counters, what was told to whom, and the dissemination record.

SQLite by default, PostgreSQL by URL when several machines serve. Every change is one transaction. When the store does
not answer, ``Unreachable`` is raised and whatever needed it is not done.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection, Engine, create_engine, delete, event, func, insert, make_url, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    NotSupportedError,
    ProgrammingError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as NoConnection

from discreet.base.files import own_file
from discreet.errors import DiscreetError, InputError
from discreet.server.record import migrations
from discreet.server.schema import keys, marks, record, sessions, tokens, users

Row = Mapping[str, Any]
DIALECTS = ("sqlite", "postgresql")
OURS = (IntegrityError, ProgrammingError, DataError, NotSupportedError)  # said by a database that works
PROBE, PROBE_BYTES, PROBE_SECONDS = "probe", 4096, 1.0  # what is written to see whether the store can be
LEAST_ROOM = 4_000_000  # bytes on the disk of the store's file
BUSY_SECONDS = 10  # that a file of SQLite is waited for while another writes
LOOK_SECONDS = 0.0005  # between two looks whether it still does
PAUSE = 0.5  # seconds in which a database that was just found gone is not tried again
# Waiting has an end, and the locks of a machine that vanished are given up by the database.
LIMITS = {
    "lock_timeout": "10s", "idle_in_transaction_session_timeout": "60s", "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
}  # fmt: skip


class Unreachable(DiscreetError):  # noqa: N818 - the plan's manner: an answer, not an accident
    """The store does not answer or cannot be written. What needs it waits for another time."""

    def __init__(self) -> None:
        super().__init__("the store of the server cannot be reached")


class Store:
    """All that the servers remember. Safe to use from several threads, processes and machines."""

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        self.shared = self.engine.dialect.name == "postgresql"
        self.reading = self.engine.execution_options(reading=True)
        self._pause = 0.0
        self._well_until = 0.0
        try:
            self._bring_up()
        except SQLAlchemyError:
            raise InputError("cannot open the store; is the address right and may we write there?") from None

    def _bring_up(self) -> None:
        """Create or migrate the tables; several workers may do so at the same time, and one of them does."""
        for attempt in range(5):
            try:
                with self.reading.begin() as connection:
                    if migrations.is_current(connection):
                        return
                with self.engine.begin() as connection:
                    self.lock(connection, ["schema"])
                    migrations.bring_up(connection)
                return
            except SQLAlchemyError:
                if attempt == 4:
                    raise
                time.sleep(0.1 * (attempt + 1))

    @contextmanager
    def begin(self, *, reading: bool = False) -> Iterator[Connection]:
        """One transaction: all of it or nothing; raises ``Unreachable`` when there is no database to do it."""
        if time.monotonic() < self._pause:
            raise Unreachable
        try:
            with (self.reading if reading else self.engine).begin() as connection:
                yield connection
        except OURS:
            raise
        except (DBAPIError, NoConnection) as error:
            self._well_until = 0.0
            if self.shared and _gone(error):
                self._pause = time.monotonic() + PAUSE
            raise Unreachable from None

    def lock(self, connection: Connection, names: Iterable[str]) -> None:
        """Let everybody else who locks one of these names wait until this transaction ends.

        In SQLite a transaction that writes is alone anyway. Taken in one order, so that nobody waits in a circle.
        """
        if self.shared:
            for key in sorted({_number(name) for name in names}):
                connection.execute(select(func.pg_advisory_xact_lock(key)))

    def close(self) -> None:
        self.engine.dispose()

    def alive(self) -> bool:
        """Whether the store can be written: something is, which needs room on the disk. Asked at most once a second."""
        if time.monotonic() < self._well_until:
            return True
        good = self._roomy() and self._written()
        self._well_until = time.monotonic() + PROBE_SECONDS if good else 0.0
        return good

    def _written(self) -> bool:
        """Whether a line as long as some of the record can be committed."""
        kind: Any = postgresql if self.shared else sqlite
        line = {"value": secrets.token_bytes(PROBE_BYTES), "created": time.time()}
        adding = kind.insert(keys).values(name=PROBE, **line)
        try:
            with self.begin() as connection:
                connection.execute(adding.on_conflict_do_update(index_elements=[keys.c.name], set_=line))
        except (Unreachable, SQLAlchemyError):
            return False
        return True

    def _roomy(self) -> bool:
        """Whether the disk of a store that is a file has some room: SQLite may still fill what its files hold."""
        file = self.engine.url.database or ""
        if self.shared or not os.path.isfile(file) or not hasattr(os, "statvfs"):
            return True
        disk = os.statvfs(file)
        return disk.f_bavail * disk.f_frsize >= LEAST_ROOM

    def agree(self, data: str, secret: bytes, version: str = "") -> None:
        """Hold all servers of a store to one secret for the same data: noise of two secrets could be averaged out.

        Stores of earlier versions name the data by ``version``, a hash that gave a guess of the data away; such names
        are looked at once more and go.
        """
        try:
            with self.begin() as connection:
                self.lock(connection, [f"marks:{data}"])
                rows = connection.execute(select(marks).where(marks.c.data.in_([data, version]))).mappings().all()
                known = {str(row["data"]): str(row["mark"]) for row in rows}
                good = all(hmac.compare_digest(mark, _mark(name, secret)) for name, mark in known.items())
                if good:
                    connection.execute(delete(marks).where(~marks.c.data.contains(":")))
                if good and data not in known:
                    connection.execute(insert(marks).values(data=data, mark=_mark(data, secret)))
        except SQLAlchemyError:
            raise InputError("cannot write to the store") from None
        if not good:
            raise InputError(
                "this store has served the same data under another secret, and two secrets let the noise be averaged "
                "out; give every server the same secret, or begin a new store"
            )

    # -- keys ---------------------------------------------------------------------------------------------------

    def key(self, name: str) -> bytes:
        """A random key that all workers share; made when first asked for."""
        with self.begin(reading=True) as connection:
            known = connection.execute(select(keys.c.value).where(keys.c.name == name)).scalar()
        if known is not None:
            return bytes(known)
        try:
            with self.begin() as connection:
                value = secrets.token_bytes(32)
                connection.execute(insert(keys).values(name=name, value=value, created=time.time()))
            return value
        except IntegrityError:  # another worker was first
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
        except IntegrityError:
            raise InputError(f"there is a user {name!r} already") from None

    def change_user(self, name: str, **values: Any) -> None:
        """Change a user's role, password or whether the account is active; sessions end."""
        row = self.user(name)
        if row is None:
            raise InputError(f"no user {name!r}")
        with self.begin() as connection:
            connection.execute(update(users).where(users.c.name == name).values(**values))
            connection.execute(delete(sessions).where(sessions.c.user == row["id"]))

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

    def change_token(self, identity: str, hashed: str) -> None:
        """Keep another hash of a token."""
        with self.begin() as connection:
            connection.execute(update(tokens).where(tokens.c.id == identity).values(hash=hashed))

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

    def rows(self, wanted: Any, **values: Any) -> Sequence[Row]:
        """What a SELECT finds, with values for its parameters."""
        with self.begin(reading=True) as connection:
            return [dict(row) for row in connection.execute(wanted, values).mappings()]

    def _one(self, wanted: Any) -> Row | None:
        lines = self.rows(wanted)
        return lines[0] if lines else None

    def last_answers(self, most: int) -> Sequence[Row]:
        """The newest lines of the record."""
        return self.rows(select(record).order_by(record.c.id.desc()).limit(most))

    def answers(self) -> int:
        """How many lines the record has."""
        with self.begin(reading=True) as connection:
            return int(connection.execute(select(func.count()).select_from(record)).scalar() or 0)


def _engine(url: str) -> Engine:
    """The database of an address, set up so that nothing waits for ever."""
    wrong = "the store's address is not one that SQLAlchemy understands: sqlite:///file or postgresql://user@host/name"
    try:
        address = make_url(_driver(url))
        kind = address.get_backend_name()
        if kind not in DIALECTS:
            raise InputError(wrong)
        if kind == "sqlite":
            _own(address.database)
            engine = create_engine(address)
            event.listen(engine, "connect", _sqlite)
            event.listen(engine, "begin", _begin)
            return engine
        stated = address.query.get("options", "")
        options = [stated if isinstance(stated, str) else " ".join(stated), *(f"-c {k}={v}" for k, v in LIMITS.items())]
        return create_engine(
            address, pool_pre_ping=True, pool_size=3, max_overflow=3, pool_timeout=10, isolation_level="READ COMMITTED",
            connect_args={"connect_timeout": 5, "tcp_user_timeout": 10_000, "options": " ".join(options).strip()},
        )  # fmt: skip
    except (SQLAlchemyError, ImportError):
        raise InputError(wrong) from None


def _own(database: str | None) -> None:
    """The file of a store is its owner's alone before anything is written to it; SQLite's other files follow it."""
    path = database or ""
    if path.startswith("file:"):
        path = urlsplit(path).path
    if path not in ("", ":memory:"):
        own_file(path)


def _driver(url: str) -> str:
    for plain in ("postgresql://", "postgres://"):
        if url.startswith(plain):
            return "postgresql+psycopg://" + url.removeprefix(plain)
    return url


def _begin(connection: Connection) -> None:
    """Who writes takes the lock at once, so that two writers wait for each other instead of failing.

    SQLite itself looks less and less often whether another writer has finished, after some looks every tenth of a
    second: two workers would wait longer for each other than they write.
    """
    if connection.get_execution_options().get("reading"):
        connection.exec_driver_sql("BEGIN")
        return
    cursor = connection.connection.cursor()
    until = time.monotonic() + BUSY_SECONDS
    cursor.execute("PRAGMA busy_timeout=0")
    try:
        while time.monotonic() < until:
            try:
                cursor.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    break
            time.sleep(LOOK_SECONDS)
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # raises what is wrong in SQLAlchemy's words
    finally:
        cursor.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
        cursor.close()


def _sqlite(connection: Any, _: Any) -> None:
    """Readers do not wait for writers; a commit survives the end of the process; a busy file is waited for."""
    connection.isolation_level = None  # we say BEGIN ourselves
    cursor = connection.cursor()
    for line in ("journal_mode=WAL", "synchronous=NORMAL", f"busy_timeout={BUSY_SECONDS * 1000}", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {line}")
    cursor.close()


def _gone(error: Exception) -> bool:
    """Whether the database itself is away, not just busy: no code, connection errors (08), shutdown (57P)."""
    code = getattr(getattr(error, "orig", None), "sqlstate", None)
    return code is None or code.startswith(("08", "57P"))


def _mark(data: str, secret: bytes) -> str:
    """A slow hash of the secret that data were served under."""
    salt = hashlib.sha256(f"discreet secret {data}".encode()).digest()
    return hashlib.scrypt(secret, salt=salt, n=2**14, r=8, p=1, dklen=32).hex()


def _number(name: str) -> int:
    """A name as a number that PostgreSQL can lock."""
    return int.from_bytes(hashlib.sha256(f"discreet {name}".encode()).digest()[:8], "big", signed=True)


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
