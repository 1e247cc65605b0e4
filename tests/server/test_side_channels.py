"""What leaves beside the tables, and what is kept: no function of true counts or addresses without a secret."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import discreet as dc
from discreet.base.version import VERSION
from discreet.policy import read_policy
from discreet.server.auth import SITE, Caller, network_of
from discreet.server.counting import cube
from discreet.server.record.server_key import file_key, with_key
from discreet.server.record.store import Store
from discreet.server.service import Service
from tests import servers
from tests.database import database

OPEN = 'publish = "as it is"\n'  # a policy without a secret
ASK = "/api/table.csv?variables=sex"


def told(folder: Path, text_: str, built: Path) -> dict[str, str]:
    """All names of the edition that leave."""
    with servers.client(folder, text_, cube=str(built), metrics=True) as client:
        return {
            "health": client.get("/health").json()["edition"],
            "metadata": client.get("/api/metadata").json()["edition"],
            "metadata tag": client.get("/api/metadata").headers["etag"],
            "table tag": client.get(ASK).headers["etag"],
            "metrics": client.get("/metrics").text.split('edition="')[1].split('"')[0],
        }


@pytest.mark.parametrize("keyed", [False, True])
def test_an_edition_is_no_hash_of_the_data(tmp_path: Path, keyed: bool) -> None:
    """Whoever knows all records cannot work the names out; the owner's restart and copy have the same ones."""
    built = servers.small_cube(500)
    _, version = cube.read_cube(built)
    policy = servers.policy_text() if keyed else OPEN
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    first, again = (told(folders[0], policy, built) for _ in range(2))
    assert first == again
    other = told(folders[1], policy, built)  # another store; the policy's secret is the same
    assert (first == other) == keyed
    assert keyed or not set(first.values()) & set(other.values())
    digest = read_policy(folders[0] / "policy.toml").digest
    guess = hashlib.sha256(f"{VERSION} {digest} {version}".encode()).hexdigest()
    assert not any(guess[:16] in name or version in name for name in first.values())


def test_the_store_does_not_name_data_or_addresses(tmp_path: Path) -> None:
    """A copy of it does not help to try records or addresses: neither hash can be made from what stands in it."""
    with servers.client(tmp_path, proxy=True) as client:
        for number in (1, 2):
            assert client.get(ASK, headers={"x-forwarded-for": f"192.0.2.{number}"}).status_code == 200
    store = Store(f"sqlite:///{tmp_path}/store.db")
    names = {row["who"] for row in store.rows(text("SELECT who FROM record"))}
    assert len(names) == 2
    keys = [bytes(row["value"]) for row in store.rows(text("SELECT value FROM keys"))]
    tried = {
        "address:" + hmac.new(key, word.encode(), "sha256").hexdigest()[:16]
        for key in (*keys, b"")
        for address in range(256)
        for word in (f"192.0.2.{address}", f"0 192.0.2.{address}")
    }
    assert not names & tried
    _, version = cube.read_cube(servers.small_cube())
    dumped = json.dumps([[str(value) for row in store.rows(text(f"SELECT * FROM {name}")) for value in row.values()]
                         for name in ("record", "marks", "asked", "uses")])  # fmt: skip
    store.close()
    assert version not in dumped
    assert "192.0.2" not in dumped


def test_the_key_of_a_store_is_its_owner_s_alone(tmp_path: Path) -> None:
    """Made once, 0600, the same for all; a store in memory has one for each start."""
    url = f"sqlite:///{tmp_path}/store.db"
    key = file_key(url)
    assert key is not None
    assert file_key(url) == key
    file = tmp_path / "store.db.key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["store.db.key"]
    file.chmod(0o644)
    with pytest.raises(dc.errors.InputError, match="chmod 600"):
        file_key(url)
    memory = [with_key(servers.settings(tmp_path, OPEN, store="sqlite://")).key for _ in range(2)]
    assert memory[0] != memory[1]


def test_servers_of_one_database_share_names_by_their_secret(tmp_path: Path) -> None:
    """In PostgreSQL the policy's secret makes them: two servers have one edition, and one name of an address."""
    with database() as base:
        found = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            service = Service(servers.settings(tmp_path / name, store=base.url))
            found.append((service.edition, service.settings.key, service.version))
            service.store.close()
    assert found[0] == found[1]


def test_an_address_is_its_network() -> None:
    """Of IPv6 the /64, which one customer can use all of; mapped IPv4 is IPv4; what is no address is itself."""
    assert network_of("2001:db8:1:2::1") == network_of("2001:db8:1:2:ffff::9") != network_of("2001:db8:1:3::1")
    assert network_of("fe80::1%eth0") == network_of("fe80::2")
    assert network_of("::ffff:192.0.2.7") == network_of("192.0.2.7") != network_of("192.0.2.8")
    assert network_of("unknown") == "unknown"


@pytest.mark.parametrize("limits", [{"rate": 1}, {"tables": 1}])
def test_networks_of_one_site_are_limited_together(tmp_path: Path, limits: dict[str, Any]) -> None:
    """Of IPv6 a /64 has the limit of one, a /48 sixteen times as many; other sites and IPv4 are not touched."""
    with servers.client(tmp_path, proxy=True, **limits) as client:
        if time.time() % 60 > 45:
            time.sleep(61 - time.time() % 60)

        def status(address: str) -> int:
            return client.get(ASK, headers={"x-forwarded-for": address}).status_code

        assert [status(f"2001:db8:1:{k}::1") for k in range(SITE)] == [200] * SITE
        assert [status(f"2001:db8:1:{k}::1") for k in (100, 101)] == [429, 429]
        assert [status(address) for address in ("2001:db8:2::1", "10.0.0.1", "10.0.0.2")] == [200] * 3


def test_a_caller_beyond_its_limit_is_not_at_the_cost_of_its_site(tmp_path: Path) -> None:
    """Many requests of one network leave the others of the same site their share."""
    with servers.client(tmp_path, proxy=True, rate=1) as client:
        if time.time() % 60 > 45:
            time.sleep(61 - time.time() % 60)
        heads = [{"x-forwarded-for": "2001:db8:1:1::1"}] * (2 * SITE) + [{"x-forwarded-for": "2001:db8:1:2::1"}]
        statuses = [client.get("/api/metadata", headers=head).status_code for head in heads]
    assert statuses == [200] + [429] * (2 * SITE - 1) + [200]


@pytest.mark.parametrize("scope", ["user", "everyone"])
@pytest.mark.parametrize("second", ["10.0.0.2", "2001:db8:1:2::1", "2001:db8:1:3::1", "2001:db8:9::1"])
def test_another_address_is_told_no_more(tmp_path: Path, scope: str, second: str) -> None:
    """What one address was refused, no other gets, whatever the scope."""
    rules = f'min_difference = 100000\nscope = "{scope}"'
    with servers.client(tmp_path, servers.policy_text(rules, guard="refuse"), proxy=True) as client:
        first, other = {"x-forwarded-for": "2001:db8:1:2::9"}, {"x-forwarded-for": second}
        assert client.get(ASK, headers=first).status_code == 200
        assert client.get(f"{ASK}&where=age=0-4", headers=first).status_code == 403
        assert client.get(f"{ASK}&where=age=0-4", headers=other).status_code == 403
        assert client.get(ASK, headers=other).status_code == 200


def test_memory_of_answers_is_each_caller_s_own(tmp_path: Path) -> None:
    """What another asked is made anew; what the caller had before is not."""
    import asyncio

    async def asking() -> list[tuple[bool, bool]]:
        service = Service(servers.settings(tmp_path))
        query = service.resolved(dc.Query.of("sex"))
        replies = [
            await service.ask(Caller(who), query) for who in ("address:a", "address:a", "address:b", "address:b")
        ]
        bodies = {reply.answer.bodies["csv"] for reply in replies}
        await service.close()
        return [(reply.cached, len(bodies) == 1) for reply in replies]

    assert asyncio.run(asking()) == [(False, True), (True, True), (False, True), (True, True)]
