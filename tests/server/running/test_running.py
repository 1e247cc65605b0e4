"""A server in processes of its own: workers that die, a calm end, logs without values, data without a cube."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx2 as httpx
import numpy as np
import pytest

import discreet as dc
from discreet.cli import run
from discreet.errors import InputError
from discreet.server import Settings, create_app
from discreet.server.counting import cube
from discreet.server.record.record_lines import export
from discreet.server.record.store import Store
from tests import servers


def addresses(base: str) -> list[str]:
    """Many different tables."""
    made = []
    dimensions = dc.datasets.census_dimensions()
    for a, b, c in itertools.permutations(dimensions, 3):
        if a.name < b.name:
            made += [f"{base}/api/table.csv?variables={a.name},{b.name}&where={c.name}={code}" for code in c.leaves[:3]]
    return made


class Callers:
    """Threads that ask without pause; connections that break are told apart from answers."""

    def __init__(self, base: str, n: int) -> None:
        self.statuses: list[int] = []
        self.broken = 0
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self._ask, args=(addresses(base)[k::n],)) for k in range(n)]

    def _ask(self, mine: list[str]) -> None:
        with httpx.Client(timeout=20, trust_env=False) as client:
            for address in itertools.cycle(mine):
                if self.stop.is_set():
                    return
                try:
                    self.statuses.append(client.get(address).status_code)
                except httpx.HTTPError:
                    self.broken += 1

    def __enter__(self) -> Callers:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join()


def test_a_worker_killed_under_load_takes_nothing_with_it(tmp_path: Path) -> None:
    """kill -9: a new worker comes, answers go on, every answer given is in the record, whole, and can be replayed."""
    with servers.running(tmp_path, servers.policy_text(guard="warn"), workers=2) as base:
        log = tmp_path / "serve.log"
        until = time.monotonic() + 30
        while len(servers.workers_of(log)) < 2 and time.monotonic() < until:
            time.sleep(0.1)
        with Callers(base, 4) as callers:
            time.sleep(1.0)
            os.kill(servers.workers_of(log)[0], signal.SIGKILL)
            while len(servers.workers_of(log)) < 3 and time.monotonic() < until + 30:
                time.sleep(0.1)
            before = len(callers.statuses)
            time.sleep(1.0)
        assert len(servers.workers_of(log)) == 3, "no new worker came"
        assert len(callers.statuses) > before
        assert set(callers.statuses) == {200}
        assert callers.broken <= 4  # those that were just being answered
    store = Store(f"sqlite:///{tmp_path}/discreet.db")
    lines = list(export(store))
    store.close()
    assert len(callers.statuses) <= len(lines) <= len(callers.statuses) + callers.broken
    (tmp_path / "record.jsonl").write_text("\n".join(dict.fromkeys(lines[-60:])) + "\n")
    table, _ = cube.read_cube(servers.small_cube())
    version = json.loads(lines[0])["data"]
    os.environ.setdefault("DISCREET_TEST_SECRET", servers.SECRET)
    policy = dc.policy.read_policy(tmp_path / "policy.toml")
    verdicts = [r.found for r in dc.policy.replay(tmp_path / "record.jsonl", table, policy, version=version)]
    assert verdicts
    assert set(verdicts) == {"same"}


KEEPER = """
import sys
from discreet.errors import InputError
from discreet.server.running import workers
def work(*_, **__):
    raise InputError("what was given is wrong")
workers.work = work
workers.Keeper(None, workers.listening("127.0.0.1", 0), 2).run()
"""


def test_workers_that_cannot_serve_what_they_are_given_are_not_started_again() -> None:
    """The server ends, with the code of a wrong input."""
    done = subprocess.run([sys.executable, "-c", KEEPER], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert 1 <= done.stderr.count("what was given is wrong") <= 2


@pytest.mark.parametrize("hub", [True, False])
def test_a_store_that_others_look_into_loses_nothing(tmp_path: Path, hub: bool) -> None:
    """Another process that opens and closes the store of a running server takes no line of the record with it."""
    (tmp_path / "cubes").mkdir()
    for name in ("at", "de"):
        (tmp_path / "cubes" / name).symlink_to(servers.small_cube())
    data = tmp_path / "cubes" if hub else servers.small_cube()
    names = ["/at", "/de"] if hub else [""]
    looking = "import sys; from discreet.server.record.store import Store"
    looking += "; s = Store(sys.argv[1]); s.answers(); s.close()"
    store = f"sqlite:///{tmp_path}/discreet.db"
    with servers.running(tmp_path, servers.policy_text(), data=data) as base:
        asked = [address for name in names for address in addresses(f"{base}{name}")[:10]]
        with httpx.Client(timeout=20, trust_env=False) as client:
            for number, address in enumerate(asked):
                if number in (3, 13):
                    subprocess.run([sys.executable, "-c", looking, store], check=True)
                assert client.get(address).status_code == 200
        os.kill(servers.workers_of(tmp_path / "serve.log")[0], signal.SIGKILL)
        kept = Store(store)
        assert kept.answers() == len(asked)
        kept.close()


def test_the_end_is_calm_and_the_log_has_no_values(tmp_path: Path) -> None:
    """SIGTERM: what is being answered is finished; each line of the log is JSON and names no code, value or address."""
    with servers.running(tmp_path, servers.policy_text()) as base, httpx.Client(trust_env=False) as client:
        body = client.get(f"{base}/api/table.csv?variables=sex,age&where=citizenship=NAT").text
        client.get(f"{base}/table?variables=sexx")
        client.get(f"{base}/nothing/4711")
    log = (tmp_path / "serve.log").read_text()
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    events = [line["event"] for line in lines]
    assert events.count("request") >= 4
    assert "stopped" in events
    requests = [line for line in lines if line["event"] == "request"]
    assert {"method", "path", "status", "ms", "worker"} <= set(requests[0])
    told = json.dumps([line for line in lines if line["event"] != "uvicorn.error"])
    values = {row.split(",")[2] for row in body.splitlines()[1:]}
    for word in ("citizenship", "NAT", "sexx", "4711", "127.0.0.1"):
        assert word not in told
    assert not any(f'"{value}"' in told or f": {value}," in told for value in values if len(value) > 3)


def test_data_too_large_for_a_cube_are_asked_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine answers, and gives the bytes that the cube gives."""
    assert run(["datasets", "census", "-n", "3000", "-o", str(tmp_path / "people.parquet")]) == 0
    people, book = str(tmp_path / "people.parquet"), str(tmp_path / "people.toml")
    assert run(["cube", people, "--codebook", book, "-o", str(tmp_path / "cube")]) == 0
    asked = "/api/table.csv?variables=age,sex&where=region=R1"
    bodies = []
    for given in ({"cube": str(tmp_path / "cube")}, {"cube": None, "data": people, "codebook": book}):
        with servers.client(tmp_path, servers.policy_text(guard="refuse"), **given) as client:
            answer = client.get(asked)
            assert answer.status_code == 200
            assert client.get("/").status_code == 200
            assert client.get("/api/metadata").status_code == 200
            bodies.append(answer.content)
    assert bodies[0] == bodies[1]
    monkeypatch.setattr(cube, "MOST_CELLS", 10)
    assert not cube.fits(dc.read_codebook(book))


def test_a_cube_is_whole_or_an_error(tmp_path: Path) -> None:
    """Missing, cut short or of another codebook: nothing is served."""
    version = cube.build(dc.datasets.census(n=500), tmp_path / "c").version
    table, loaded = cube.read_cube(tmp_path / "c")
    assert (loaded, table.n) == (version, 500)
    assert isinstance(table.statistics["count"].inner, np.memmap)
    assert cube.build(dc.datasets.census(n=500), tmp_path / "d").version == version
    np.save(tmp_path / "c" / "count.npy", np.zeros(3, np.int64))
    with pytest.raises(InputError, match="does not fit"):
        cube.read_cube(tmp_path / "c")
    with pytest.raises(InputError, match="holds no whole cube"):
        cube.read_cube(tmp_path)


def test_an_answer_that_cannot_be_recorded_does_not_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that fails: 500 in the canonical form, no table; and it goes on when the store is back."""
    with servers.client(tmp_path) as client:
        assert client.get("/api/table.csv?variables=sex").status_code == 200
        with monkeypatch.context() as broken:
            broken.setattr("discreet.server.guarding.commits.Commits._commit", lambda *_: 1 / 0)
            for name in ("sex", "age"):
                answer = client.get(f"/api/table.csv?variables={name}")
                assert answer.status_code == 500
                assert set(answer.json()) == {"error", "rule", "reason", "hint"}
        assert client.get("/api/table.csv?variables=age").status_code == 200


def test_the_demonstration_tells_where_to_look(tmp_path: Path) -> None:
    """`discreet demo`: a catalogue of two data sets, and four URLs that do what they say."""
    import re
    import subprocess
    import sys

    start = [sys.executable, "-c", "import discreet.cli; discreet.cli.main()"]
    command = [*start, "demo", "--folder", "demo", "-n", "20000", "--port", "0"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stderr=log, stdout=log)
    try:
        until = time.monotonic() + 240
        found: list[str] = []
        while len(found) < 5 and time.monotonic() < until and process.poll() is None:
            time.sleep(0.2)
            found = re.findall(r"http://\S+", (tmp_path / "log").read_text())
        assert len(found) == 5, (tmp_path / "log").read_text()
        servers.wait_for(found[4].rstrip("/"), process, tmp_path / "log", seconds=240)
        with httpx.Client(trust_env=False, timeout=120) as client:
            statuses = [client.get(address).status_code for address in found]
            assert client.head(found[2]).status_code == 200
            assert "Pay in a year" in client.get(found[4]).text
            unnamed = client.get(found[2].replace("/census/", "/"))
            assert unnamed.content == client.get(found[2]).content, "addresses without a name are the census's"
            assert client.get(found[4] + "api/nowhere").status_code == 404
        assert statuses == [200, 200, 200, 403, 200]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def test_settings_are_checked_before_anything_starts(tmp_path: Path) -> None:
    """A wrong mode, no data, a policy that names what is not there."""
    with pytest.raises(InputError, match="mode"):
        Settings(policy="p", cube="c", mode="shut")
    with pytest.raises(InputError, match="cube, or data"):
        Settings(policy="p")
    with pytest.raises(InputError, match="unknown variable 'shoe'"):
        create_app(servers.settings(tmp_path, servers.policy_text(query='disallowed = ["shoe"]')))
    assert run(["serve", str(tmp_path / "none"), "--policy", str(tmp_path / "policy.toml")]) == 2
