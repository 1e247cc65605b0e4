"""Who may ask, and how often: roles, tokens, sessions, forms, limits, the record, in SQLite and in PostgreSQL."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

import discreet as dc
from discreet.cli import run
from discreet.errors import InputError
from discreet.server import auth
from discreet.server.counting import cube
from discreet.server.record.rate_limits import Counter, Over
from discreet.server.record.store import Store
from discreet.server.settings import ROLES
from tests import servers
from tests.database import database

PASSWORD = "correct horse battery"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL of our own."""
    with database() as made:
        yield made.url


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind."""
    if request.param == "sqlite":
        made = Store(f"sqlite:///{tmp_path}/store.db")
    else:
        made = Store(request.getfixturevalue("postgres"))
        with made.begin() as connection:
            for name in ("asked", "record", "uses", "sessions", "tokens", "users", "keys"):
                connection.execute(text(f"DELETE FROM {name}"))
    yield made
    made.close()


def url_of(store: Store) -> str:
    return store.engine.url.render_as_string(hide_password=False)


@pytest.fixture
def restricted(store: Store, tmp_path: Path) -> Iterator[TestClient]:
    """A restricted server with one user of each role."""
    for role in ROLES:
        auth.new_user(store, role, role, PASSWORD)
    with servers.client(tmp_path, mode="restricted", store=url_of(store)) as made:
        yield made


def sign_in(client: TestClient, name: str, password: str = PASSWORD) -> Any:
    token = re.findall(r'name="token" value="(\w+)"', client.get("/login").text)[0]
    return client.post("/login", data={"name": name, "password": password, "token": token})


def test_a_restricted_server_answers_the_approved_only(restricted: TestClient, store: Store) -> None:
    """401 for strangers, 403 for those not approved, 200 with a token of an approved user; pages send to the form."""
    address = "/api/table.csv?variables=sex"
    assert restricted.get(address).status_code == 401
    assert restricted.get("/").headers["location"] == "/login"
    for name, status in (("public", 403), ("approved", 200), ("admin", 200)):
        token = auth.new_token(store, name)
        answer = restricted.get(address, headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == status
        assert "public" not in answer.headers["cache-control"]
    assert store.last_answers(1)[0]["who"] == "user:admin"


def test_a_wrong_token_is_no_way_in(restricted: TestClient, store: Store) -> None:
    """Not even as a stranger; and a revoked one is soon forgotten."""
    good = auth.new_token(store, "approved")
    for token in (good[:-1] + ("0" if good[-1] != "0" else "1"), "dsc_x_y", "", "x" * 500):
        answer = restricted.get("/api/metadata", headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
    user = store.user("approved")
    assert user is not None
    assert store.revoke_tokens(user["id"]) == 1
    assert restricted.get("/api/metadata", headers={"authorization": f"Bearer {good}"}).status_code == 401


def test_tokens_and_passwords_are_kept_as_hashes(store: Store) -> None:
    """Nobody who reads the store can ask in another's name."""
    auth.new_user(store, "ada", "approved", PASSWORD)
    token = auth.new_token(store, "ada")
    kept = str(store.rows(text("SELECT * FROM users"))) + str(store.rows(text("SELECT * FROM tokens")))
    assert "scrypt$" in kept
    assert PASSWORD not in kept
    assert token.rpartition("_")[2] not in kept


def test_signing_in_and_out(restricted: TestClient) -> None:
    """A session is a cookie that scripts cannot read; after signing out it is worth nothing."""
    assert sign_in(restricted, "approved", "wrong password").status_code == 401
    assert sign_in(restricted, "nobody").status_code == 401
    done = sign_in(restricted, "approved")
    assert done.status_code == 303
    cookie = done.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    page = restricted.get("/")
    assert "Sign out" in page.text
    session = restricted.cookies["discreet_session"]
    token = re.findall(r'name="token" value="(\w+)"', page.text)[0]
    assert restricted.post("/logout", data={"token": token}).status_code == 303
    restricted.cookies.set("discreet_session", session)
    assert restricted.get("/").status_code == 303


def test_forms_of_other_sites_are_refused(restricted: TestClient) -> None:
    """Without this browser's token nothing is changed."""
    assert restricted.post("/login", data={"name": "approved", "password": PASSWORD}).status_code == 403
    restricted.get("/login")
    forged = {"name": "approved", "password": PASSWORD, "token": "0" * 64}
    assert restricted.post("/login", data=forged).status_code == 403
    assert restricted.post("/logout", data={}).status_code == 403


def test_guessing_tokens_and_passwords_is_slowed_down(restricted: TestClient) -> None:
    """So many attempts a minute and address, then 429."""
    if time.time() % 60 > 45:
        time.sleep(61 - time.time() % 60)  # all of them in one minute
    statuses = [
        restricted.get("/api/metadata", headers={"authorization": "Bearer dsc_a_b"}).status_code for _ in range(22)
    ]
    assert statuses == [401] * 20 + [429] * 2


def test_behind_tls_cookies_are_secure(tmp_path: Path) -> None:
    """And tied to this very host."""
    with servers.client(tmp_path, https=True) as client:
        cookie = client.get("/").headers["set-cookie"]
    assert cookie.startswith("__Host-")
    assert "Secure" in cookie


def test_the_methodologists_page_is_for_methodologists(restricted: TestClient) -> None:
    """It shows what compares with the truth."""
    assert restricted.get("/method").status_code == 303
    sign_in(restricted, "approved")
    assert restricted.get("/method").status_code == 403
    sign_in(restricted, "methodologist")
    page = restricted.get("/method?variables=sex,age")
    assert page.status_code == 200
    assert page.headers["cache-control"] == "no-store"
    for words in ("Risk and utility", "Risk before protection", "Audit", "exact", "Answers", "<svg"):
        assert words in page.text
    assert "discreet audit" in restricted.get("/method?variables=age,occupation,education").text


def test_a_limit_is_kept_by_all_workers_together(store: Store) -> None:
    """Two counters on one store; what is over waits until the span is over."""
    now = [1000.0]
    one, two = (Counter(store, "rate", 60, lambda: now[0]) for _ in range(2))
    given_out, waits = 0, set()
    for counter in [one, two] * 100:
        try:
            if not counter.spend_held("a"):
                counter.take("a", 40)
            given_out += 1
        except Over as over:
            waits.add(over.seconds)
    assert (given_out, waits) == (40, {20})
    two.take("b", 40)
    now[0] += 20
    one.take("a", 40)


def test_too_many_requests_are_told_when_to_come_back(tmp_path: Path) -> None:
    """429 and Retry-After, in the canonical form; for requests and for different tables."""
    with servers.client(tmp_path, rate=5) as client:
        statuses = [client.get("/api/metadata").status_code for _ in range(8)]
        assert statuses == [200] * 5 + [429] * 3
        answer = client.get("/api/metadata")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert answer.json()["rule"] == "rate"


def test_a_table_seen_before_costs_nothing(tmp_path: Path) -> None:
    """The budget is of different tables."""
    with servers.client(tmp_path, tables=2) as client:
        asked = ["sex", "age", "sex", "region", "age", "sex"]
        statuses = [client.get(f"/api/table?variables={name}").status_code for name in asked]
    assert statuses == [200, 200, 200, 429, 200, 200]


def test_the_keeper_s_commands(store: Store, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Users, tokens, keys, and the record, which the library replays."""
    import io

    url = url_of(store)
    monkeypatch.setattr("sys.stdin", io.StringIO(PASSWORD + "\n"))
    assert run(["admin", "add-user", "ada", "--role", "approved", "--password-stdin", "--store", url]) == 0
    assert run(["admin", "add-user", "ada", "--store", url]) == 2
    assert run(["admin", "add-user", "bob", "--role", "king", "--store", url]) == 2
    capsys.readouterr()
    assert run(["admin", "token", "ada", "--store", url]) == 0
    token = capsys.readouterr().out.strip()
    with servers.client(tmp_path, store=url, mode="restricted") as client:
        asked = client.get("/api/table?variables=sex,age", headers={"authorization": f"Bearer {token}"})
        assert asked.status_code == 200
        assert client.get("/api/table?variables=sex,age,region,activity",
                          headers={"authorization": f"Bearer {token}"}).status_code == 403  # fmt: skip
        policy, version = client.app.state.service.policy, client.app.state.service.version  # type: ignore[attr-defined]
    assert run(["admin", "users", "--store", url]) == 0
    assert "ada\tapproved\tactive" in capsys.readouterr().out
    assert run(["admin", "record", "--store", url, "-o", str(tmp_path / "record.jsonl")]) == 0
    table, _ = cube.read_cube(servers.small_cube())
    replayed = list(dc.policy.replay(tmp_path / "record.jsonl", table, policy, version=version))
    assert replayed
    assert all(found.verdict.ok for found in replayed)
    key = store.key("forms")
    assert run(["admin", "rotate-keys", "--store", url]) == 0
    assert store.key("forms") != key
    assert run(["admin", "change-user", "ada", "--inactive", "--store", url]) == 0
    assert store.token(token.split("_")[1]) is None


def test_a_store_that_cannot_be_opened_is_an_error() -> None:
    """Before anything is served, and without the password in the message."""
    with pytest.raises(InputError, match="store"):
        Store("postgresql://me:secret-word@127.0.0.1:1/x")
    with pytest.raises(InputError, match="SQLAlchemy"):
        Store("nonsense")
