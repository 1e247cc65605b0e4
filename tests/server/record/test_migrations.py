"""Stores that are in use are brought to the schema of the program, with everything in them; later ones are refused."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, inspect, text

from discreet.cli import run
from discreet.errors import InputError
from discreet.server import auth
from discreet.server.record import migrations
from discreet.server.record.migrations import STEPS, Step, bring_up, latest, stored_version
from discreet.server.record.record_lines import export
from discreet.server.record.store import Store
from discreet.server.schema import first_tables, metadata
from tests import servers
from tests.database import database
from tests.farm import HALVES, POLICY

# The schema of the stores that were made before versions were kept, as a database has it: frozen, never to follow src.
VERSION_0 = """
CREATE TABLE users (id {serial} NOT NULL, name VARCHAR(100) NOT NULL, role VARCHAR(20) NOT NULL, password TEXT,
  active BOOLEAN NOT NULL, created FLOAT NOT NULL, PRIMARY KEY (id), UNIQUE (name));
CREATE TABLE tokens (id VARCHAR(16) NOT NULL, "user" INTEGER NOT NULL, hash TEXT NOT NULL, created FLOAT NOT NULL,
  revoked BOOLEAN NOT NULL, PRIMARY KEY (id), FOREIGN KEY("user") REFERENCES users (id));
CREATE TABLE sessions (hash VARCHAR(64) NOT NULL, "user" INTEGER NOT NULL, expires FLOAT NOT NULL, PRIMARY KEY (hash),
  FOREIGN KEY("user") REFERENCES users (id));
CREATE TABLE keys (name VARCHAR(20) NOT NULL, value {bytes} NOT NULL, created FLOAT NOT NULL, PRIMARY KEY (name));
CREATE TABLE uses (who VARCHAR(120) NOT NULL, span INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (who, span));
CREATE TABLE asked (id {serial} NOT NULL, who VARCHAR(120) NOT NULL, name VARCHAR(32) NOT NULL,
  digest VARCHAR(64) NOT NULL, "query" TEXT NOT NULL, at FLOAT NOT NULL, state VARCHAR(8) NOT NULL,
  flagged BOOLEAN NOT NULL, PRIMARY KEY (id), UNIQUE (name));
CREATE INDEX asked_who ON asked (who, id);
CREATE TABLE record (id {serial} NOT NULL, at FLOAT NOT NULL, who VARCHAR(120) NOT NULL, "query" TEXT NOT NULL,
  policy VARCHAR(64) NOT NULL, data VARCHAR(64) NOT NULL, outcome VARCHAR(20) NOT NULL, rule VARCHAR(60) NOT NULL,
  digest VARCHAR(64) NOT NULL, guard VARCHAR(200) NOT NULL, PRIMARY KEY (id));
CREATE TABLE marks (data VARCHAR(64) NOT NULL, mark VARCHAR(64) NOT NULL, PRIMARY KEY (data))
"""
KINDS = {
    "sqlite": {"serial": "INTEGER", "bytes": "BLOB"},
    "postgresql": {"serial": "SERIAL", "bytes": "BYTEA"},
}
ORDER = ("users", "tokens", "sessions", "keys", "uses", "asked", "record", "marks")
PASSWORD = "correct horse battery"


@contextmanager
def opened(url: str) -> Iterator[Store]:
    store = Store(url)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def transaction(url: str) -> Iterator[Connection]:
    """Without our Store, which would bring up what it opens."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def rows(connection: Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Everything in the store, as plain values."""
    found = {name: connection.execute(text(f'SELECT * FROM "{name}"')).fetchall() for name in ORDER}
    return {name: sorted((tuple(row) for row in lines), key=repr) for name, lines in found.items()}


def shape(connection: Connection) -> dict[str, Any]:
    """Tables, columns, keys and indexes as the database tells them."""
    seen = inspect(connection)
    return {
        name: (
            sorted((c["name"], str(c["type"]), c["nullable"]) for c in seen.get_columns(name)),
            seen.get_pk_constraint(name)["constrained_columns"],
            sorted((k["constrained_columns"], k["referred_table"]) for k in seen.get_foreign_keys(name)),
            sorted(u["column_names"] for u in seen.get_unique_constraints(name)),
            sorted((i["name"], i["column_names"]) for i in seen.get_indexes(name)),
        )
        for name in sorted(seen.get_table_names())
    }


def used_store(folder: Path, url: str) -> dict[str, str]:
    """A version 0 store at an address, with what a server had written into it; gives the secrets of its users."""
    folder.mkdir()
    with servers.client(folder, POLICY) as client, opened(f"sqlite:///{folder}/store.db") as store:
        auth.new_user(store, "ada", "approved", PASSWORD)
        token = auth.new_token(store, "ada")
        user = store.user("ada")
        assert user is not None
        session = store.open_session(user["id"], 3600)
        told = client.get(HALVES[0], headers={"Authorization": f"Bearer {token}"})
        assert told.status_code == 200
        assert client.get("/api/table.csv?variables=region").status_code == 200
    with transaction(f"sqlite:///{folder}/store.db") as old:
        old.execute(text("UPDATE asked SET who = 'address:0123456789abcdef' WHERE who = 'public'"))
        old.execute(text("UPDATE marks SET data = '0123456789abcdef'"))
    with transaction(f"sqlite:///{folder}/store.db") as old, transaction(url) as new:
        kind = new.dialect.name
        for statement in VERSION_0.format(**KINDS[kind]).split(";"):
            new.execute(text(statement))
        for name in ORDER:
            table = metadata.tables[name]
            if lines := [dict(row) for row in old.execute(table.select()).mappings()]:
                new.execute(table.insert(), lines)
        if kind == "postgresql":  # as if the rows had been counted there
            for name in ("users", "asked", "record"):
                new.execute(text(f"SELECT setval('{name}_id_seq', (SELECT max(id) FROM {name}))"))
    return {"token": token, "session": session}


def assert_kept(before: dict[str, list[tuple[Any, ...]]], after: dict[str, list[tuple[Any, ...]]]) -> None:
    """Nothing is lost but counters and the old key of addresses; data and addresses have names by a key nobody has."""

    def lasting(found: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[tuple[Any, ...]]]:
        gone = {"uses": [], "keys": [row for row in found["keys"] if row[0] != "addresses"]}
        told = [
            (row[0], "" if "address:" in row[1] or row[1] == "public" else row[1], *row[2:]) for row in found["asked"]
        ]
        lines = [(*row[:2], row[2].partition(":")[0], *row[3:5], *row[6:]) for row in found["record"]]
        return {**found, **gone, "asked": told, "record": lines}

    assert lasting(after) == lasting(before)
    for old, new in zip(before["record"], after["record"], strict=True):
        assert old[5] != new[5]
        assert (old[2] == new[2]) == old[2].startswith("user:")
    assert not any("address:" in row[1] for row in after["asked"])


def check_migrated(folder: Path, url: str) -> None:
    """Nothing is lost, everything is used, and the schema is that of a new store."""
    secrets = used_store(folder / "used", url)
    with transaction(url) as connection:
        assert stored_version(connection) == 0
        before = rows(connection)
    assert all(before.values()), "a table without rows would show nothing"
    with opened(url) as store:
        exported = list(export(store))
        session = store.session(secrets["session"])
        assert session is not None
        assert session["name"] == "ada"
    with transaction(url) as connection:
        assert stored_version(connection) == latest() > 0
        assert_kept(before, rows(connection))
    assert len(exported) == 2
    head = {"Authorization": f"Bearer {secrets['token']}"}
    with servers.client(folder, POLICY, store=url) as client:
        again, other = (client.get(half, headers=head) for half in HALVES)
        assert again.status_code == 200  # was told before
        assert other.status_code == 403  # what was told before the migration counts
        assert other.json()["rule"] == "guard_difference"
    with opened(url) as store:
        assert list(export(store))[: len(exported)] == exported
        assert store.answers() == len(exported) + 2
        assert all(":" in row["data"] for row in store.rows(text("SELECT data FROM marks")))  # none by the data alone


def test_a_store_of_the_first_version_is_brought_up_in_sqlite(tmp_path: Path) -> None:
    check_migrated(tmp_path, f"sqlite:///{tmp_path}/kept.db")


def test_a_store_of_the_first_version_is_brought_up_in_postgresql(tmp_path: Path) -> None:
    with database() as base:
        check_migrated(tmp_path, base.url)


def test_an_old_store_comes_to_the_schema_of_a_new_one(tmp_path: Path) -> None:
    """Columns, keys and indexes are the same, however a store came to its version; early ones lacked a table."""
    new, old, early = (f"sqlite:///{tmp_path}/{name}.db" for name in ("new", "old", "early"))
    for url, lacking in ((old, ()), (early, ("marks",))):
        with transaction(url) as connection:
            for statement in VERSION_0.format(**KINDS["sqlite"]).split(";"):
                if not any(f"TABLE {name}" in statement for name in lacking):
                    connection.execute(text(statement))
    shapes = []
    for url in (new, old, early):
        with opened(url):
            pass
        with transaction(url) as connection:
            shapes.append(shape(connection))
    assert shapes[0] == shapes[1] == shapes[2]
    assert set(shapes[0]) == {table.name for table in first_tables} | {"editions", "links", "schema_version"}


def test_a_later_store_is_refused_and_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Library and command line say which version it has, which are known, and what to do."""
    url = f"sqlite:///{tmp_path}/store.db"
    opened_once = Store(url)
    opened_once.close()
    with transaction(url) as connection:
        connection.execute(text(f"INSERT INTO schema_version VALUES ({latest() + 6}, 0)"))
        before = shape(connection)
    with pytest.raises(InputError, match=rf"schema version {latest() + 6}, .* up to {latest()}: .* install that one"):
        Store(url)
    assert run(["admin", "users", "--store", url]) == 2
    assert f"schema version {latest() + 6}" in capsys.readouterr().err
    with transaction(url) as connection:
        assert shape(connection) == before
        assert stored_version(connection) == latest() + 6


def later_step(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE users ADD COLUMN note VARCHAR(20)"))


def failing_step(connection: Connection) -> None:
    later_step(connection)
    raise RuntimeError("in the middle")


def test_steps_are_applied_once_in_order_and_whole_or_not_at_all(tmp_path: Path) -> None:
    """A store that is two versions behind gets both steps; one that fails leaves the store as it was."""
    url = f"sqlite:///{tmp_path}/store.db"
    used_store(tmp_path / "used", url)
    following = (*STEPS, Step(latest() + 1, "a note on users", later_step))
    with transaction(url) as connection:
        before, there = rows(connection), shape(connection)
    broken = (*STEPS, Step(latest() + 1, "fails", failing_step))
    with pytest.raises(RuntimeError), _as_servers(url) as connection:
        bring_up(connection, broken)
    with transaction(url) as connection:
        assert shape(connection) == there
        assert stored_version(connection) == 0
    for _ in range(2):
        with _as_servers(url) as connection:
            bring_up(connection, following)
    with transaction(url) as connection:
        assert stored_version(connection) == latest() + 1
        numbers = connection.execute(text("SELECT version FROM schema_version ORDER BY version")).scalars().all()
        assert numbers == list(range(1, latest() + 2))
        after = rows(connection)
    assert after["users"] == [(*row, None) for row in before["users"]]
    assert_kept({**before, "users": []}, {**after, "users": []})


@contextmanager
def _as_servers(url: str) -> Iterator[Connection]:
    """A transaction as a Store begins it, of an address that no Store has opened."""
    from discreet.server.record.store import _engine

    engine = _engine(url)
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_many_workers_may_open_an_old_store_at_once(tmp_path: Path, kind: str) -> None:
    """One of them brings it up, the others wait or find it done."""
    with database() if kind == "postgresql" else _nothing(tmp_path) as base:
        with transaction(base.url) as connection:
            for statement in VERSION_0.format(**KINDS[kind]).split(";"):
                connection.execute(text(statement))
        faults: list[Exception] = []

        def work() -> None:
            try:
                with opened(base.url) as store:
                    assert store.alive()
            except Exception as error:  # noqa: BLE001 - shown below
                faults.append(error)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not faults
        with transaction(base.url) as connection:
            count = connection.execute(text("SELECT count(*) FROM schema_version")).scalar()
        assert count == len(migrations.STEPS)


@contextmanager
def _nothing(folder: Path) -> Iterator[Any]:
    """A file in the place of a database."""

    class File:
        url = f"sqlite:///{folder}/store.db"

    yield File
