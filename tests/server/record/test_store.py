"""The store that servers share: what fails does so closed, and no secret is seen where it should not be."""

from __future__ import annotations

import asyncio
import os
import resource
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

import discreet as dc
from discreet.cli import run
from discreet.errors import InputError
from discreet.server import auth
from discreet.server.guarding.commits import Commits
from discreet.server.record.rate_limits import Over
from discreet.server.record.store import Store, Unreachable
from discreet.server.schema import marks
from discreet.server.service import Service
from tests import servers
from tests.database import database
from tests.farm import HALVES, POLICY


def test_what_was_not_committed_was_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit that fails: no answer, no memory of one, nothing gained of a limit; the other half is free then."""
    whole, part = dc.Query.of("sex"), dc.Query.of("sex", where="age=0-4")
    caller = auth.Caller("user:ada")

    async def asking() -> list[str]:
        service = Service(servers.settings(tmp_path, POLICY, tables=2))
        begin = service.store.begin

        @contextmanager
        def failing(**given: Any) -> Iterator[Any]:
            with begin(**given) as connection:
                yield connection
                raise Unreachable

        with monkeypatch.context() as broken:
            broken.setattr(service.store, "begin", failing)
            for _ in range(3):
                with pytest.raises(Unreachable):
                    await service.ask(caller, service.resolved(whole))
        assert not service.history.had(caller, whole)
        found = [await service.ask(caller, service.resolved(query)) for query in (part, whole)]
        with pytest.raises(Over):
            await service.ask(caller, service.resolved(dc.Query.of("age")))
        again = await service.ask(caller, service.resolved(part))
        await service.close()
        return [type(reply.answer.result).__name__ for reply in (*found, again)]

    assert asyncio.run(asking()) == ["Release", "Refused", "Release"]


def test_a_store_that_hangs_is_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """503 when patience is over, and answers again when the store does."""
    stuck = threading.Event()
    commit = Commits._commit

    def late(commits: Any, *given: Any) -> Any:
        stuck.wait(30)
        return commit(commits, *given)

    with servers.client(tmp_path, POLICY) as client:
        assert client.get(HALVES[0]).status_code == 200
        with monkeypatch.context() as broken:
            broken.setattr("discreet.server.guarding.commits.PATIENCE", 0.2)
            broken.setattr("discreet.server.guarding.commits.Commits._commit", late)
            assert client.get(HALVES[0]).status_code == 503
        stuck.set()
        assert client.get(HALVES[0]).status_code == 200


def test_writers_of_a_file_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes second is let in when the first has finished; not at all where it does not finish in time."""
    stores = [Store(f"sqlite:///{tmp_path}/store.db") for _ in range(2)]
    looked, written = threading.Event(), threading.Event()
    sleep = time.sleep

    def noticed(seconds: float) -> None:
        looked.set()
        sleep(seconds)

    def second() -> None:
        with stores[1].begin():
            written.set()

    monkeypatch.setattr("discreet.server.record.store.time.sleep", noticed)
    with stores[0].begin():
        thread = threading.Thread(target=second)
        thread.start()
        assert looked.wait(20)
        assert not written.is_set()
    thread.join(20)
    assert written.is_set()
    monkeypatch.setattr("discreet.server.record.store.BUSY_SECONDS", 0.05)
    with stores[0].begin():
        with pytest.raises(Unreachable), stores[1].begin():
            pass
        assert stores[1].rows(select(marks)) == []  # who reads does not wait
    with stores[1].begin():
        pass
    for store in stores:
        store.close()


def test_a_table_is_put_off_while_a_decision_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a moment, and not while the store is waited for: a decision keeps all servers of the store waiting."""
    store = Store(f"sqlite:///{tmp_path}/store.db")
    seen: list[bool] = []

    class Deciding:
        def decide(self, connection: Any, questions: Any) -> tuple[list[str], list[Any]]:
            seen.append(commits._undecided.is_set())
            commits.give_way()  # ends by itself
            if "wrong" in questions:
                raise Unreachable
            return ["yes"] * len(questions), []

        def settle(self, committed: bool) -> None:
            seen.append(commits._undecided.is_set())

    monkeypatch.setattr("discreet.server.guarding.commits.GIVING_WAY", 0.01)
    commits: Commits[str, str] = Commits(store, Deciding())

    async def asking() -> None:
        assert await commits.decide("right") == "yes"
        with pytest.raises(Unreachable):
            await commits.decide("wrong")
        await commits.close()

    asyncio.run(asking())
    assert seen == [False, True, False, True]
    store.close()


def test_new_keys_reach_a_server_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller has one name, whichever server is asked, after the keys were changed too."""
    monkeypatch.setattr("discreet.server.auth.KEY_SECONDS", 0.05)
    with servers.client(tmp_path, POLICY) as client:
        gate = client.app.state.gate  # type: ignore[attr-defined]
        old = gate.form_key, gate.address_key
        store = Store(f"sqlite:///{tmp_path}/store.db")
        store.rotate()
        until = time.monotonic() + 20
        while (gate.form_key == old[0] or gate.address_key == old[1]) and time.monotonic() < until:
            time.sleep(0.02)
        assert gate.form_key == store.key("forms") != old[0]
        assert gate.address_key not in (old[1], store.key("addresses"))  # and of a secret that the store has not
        store.close()


def test_a_server_with_another_secret_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same data under two secrets could be averaged; the store holds all servers to one, and does not hold it."""
    made = servers.settings(tmp_path, POLICY)
    first = Service(made)
    first.store.close()
    Service(made).store.close()
    kept = (tmp_path / "store.db").read_bytes()
    assert servers.SECRET.encode() not in kept
    monkeypatch.setenv("DISCREET_TEST_SECRET", "another secret, longer than need be")
    with pytest.raises(InputError, match="another secret"):
        Service(made)


def test_a_store_that_stops_is_told_from_one_that_was_never_there(tmp_path: Path) -> None:
    """Transactions fail with one kind of error that names nothing, and for a moment nobody tries again."""
    with database() as base:
        store = Store(base.url)
        assert store.alive()
        base.stop()
        try:
            for _ in range(2):
                with pytest.raises(Unreachable) as away:
                    store.user("ada")
                assert "127.0.0.1" not in str(away.value)
            assert not store.alive()
        finally:
            base.start()
        until = time.monotonic() + 30  # a database that was gone is not tried at once
        while not store.alive() and time.monotonic() < until:
            time.sleep(0.1)
        assert store.alive()
        store.close()


def test_a_full_disk_is_not_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither /health nor an answer: the disk has no room, or no byte more can be written; then it is well again."""
    with servers.client(tmp_path, POLICY) as client:
        store = client.app.state.service.store  # type: ignore[attr-defined]
        assert client.get("/health").status_code == 200
        monkeypatch.setattr("discreet.server.record.store.PROBE_SECONDS", 0.0)
        store._well_until = 0.0
        with monkeypatch.context() as full:
            full.setattr("discreet.server.record.store.LEAST_ROOM", 1 << 60)
            assert client.get("/health").status_code == 503
        assert client.get("/health").json()["status"] == "ok"

        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "store.db-wal").stat().st_size, before[1]))
        try:
            statuses = [client.get(path).status_code for path in ("/health", HALVES[0], "/api/table.csv?variables=age")]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert statuses == [503, 503, 503]
        assert [client.get(path).status_code for path in ("/health", HALVES[0])] == [200, 200]


def test_the_store_is_its_owner_s_alone(tmp_path: Path) -> None:
    """The file and those that SQLite puts beside it, from the moment they exist, whatever the umask."""
    before = os.umask(0)
    try:
        with servers.client(tmp_path) as client:
            assert client.get("/api/table.csv?variables=sex").status_code == 200
            files = list(tmp_path.glob("store.db*"))
            assert {file.name for file in files} >= {"store.db", "store.db-wal", "store.db-shm"}
            assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    finally:
        os.umask(before)


def test_a_name_with_nul_is_a_wrong_name(tmp_path: Path) -> None:
    """PostgreSQL has no such text: no fault, but the answer that every wrong name gets."""
    with database() as base, servers.client(tmp_path, POLICY, store=base.url) as client:
        token = client.get("/login").text.split('name="token" value="')[1].split('"')[0]
        for name in ("a\x00b", "\x00"):
            answer = client.post("/login", data={"name": name, "password": "x" * 20, "token": token})
            assert answer.status_code == 401
        for path in ("/api/table?variables=sex%00", "/api/table?variables=sex&where=age=%00", "/table?measure=%00"):
            assert client.get(path).status_code == 422
        heads = {"authorization": "Bearer dsc_a%00_\x00", "cookie": "discreet_session=\x00"}
        for name, value in heads.items():
            assert client.get("/api/metadata", headers={name: value}).status_code in (200, 401)


def test_no_password_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused before anything is opened; from a private file it is taken, from one that others read it is not."""
    assert run(["admin", "users", "--store", "postgresql://me:very-secret@127.0.0.1:1/x"]) == 2
    said = capsys.readouterr().err
    assert "command line" in said
    assert "very-secret" not in said
    file = tmp_path / "store"
    file.write_text(f"sqlite:///{tmp_path}/store.db\n")
    file.chmod(0o644)
    assert run(["admin", "users", "--store", f"file:{file}"]) == 2
    assert "chmod 600" in capsys.readouterr().err
    file.chmod(0o600)
    assert run(["admin", "users", "--store", f"file:{file}"]) == 0
    assert (tmp_path / "store.db").exists()
    secret = tmp_path / "secret.key"
    secret.write_text("0123456789abcdef")
    secret.chmod(0o640)
    text = f'secret = {{ file = "{secret}" }}\n[[method]]\nname = "cell-key"\nd = 2\nv = 1\n'
    assert dc.policy.parse_policy(text).secret == b"0123456789abcdef"
    secret.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        dc.policy.parse_policy(text)
