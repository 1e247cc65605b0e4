"""Two servers, one database, a proxy before them: the same bytes, one limit, one guard, whatever happens to either."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2 as httpx
import pytest

import discreet as dc
from discreet.cli import run
from discreet.cli.serve import serve
from discreet.server.record.rate_limits import Counter, Over
from discreet.server.record.store import Store
from tests import servers
from tests.database import database
from tests.farm import HALVES, POLICY, RATE, TABLES, WEB, Answer, Farm, Proxy, Server, get, told

NAMES = [d.name for d in dc.datasets.census_dimensions()]
PAIRS = [",".join(names) for names in itertools.combinations(NAMES, 2)]  # they tell nothing by subtraction
LARGE = f"/api/table.csv?variables={','.join(NAMES[1:])}"
LARGEST = f"/api/table.csv?variables={','.join(NAMES)}"


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    """Two servers on one database, and the proxy."""
    folder = tmp_path_factory.mktemp("farm")
    (folder / "policy.toml").write_text(POLICY)
    with database() as base:
        store, pair = Store(base.url), (Server(folder, base.url), Server(folder, base.url))
        proxy = Proxy([server.port for server in pair])
        try:
            for server in pair:
                server.ready()
            yield Farm(base, pair, proxy, store)
        finally:
            proxy.shutdown()
            proxy.server_close()
            store.close()
            ends = [server.end() for server in pair]
        assert ends == [0, 0]


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Answer]]:
    """What one server answers, alone with a store of its own."""
    with servers.client(tmp_path_factory.mktemp("single"), POLICY) as client:
        yield lambda address: told(client.get(address))


def at_once(*asked: tuple[str, dict[str, str]]) -> list[Answer]:
    """Questions that leave at the same moment."""
    start = threading.Barrier(len(asked))

    def ask(one: tuple[str, dict[str, str]]) -> Answer:
        start.wait()
        return get(*one)

    with ThreadPoolExecutor(len(asked)) as threads:
        return list(threads.map(ask, asked))


@pytest.fixture
def nginx(farm: Farm, tmp_path: Path) -> Iterator[str]:
    """The proxy as deploy/nginx.conf sets it up, without TLS: the second server is one that does not answer."""
    text = (Path(__file__).parents[2] / "deploy" / "nginx.conf").read_text()
    port, dead = servers.free_port(), servers.free_port()
    for old, new in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port};"),
        ("127.0.0.1:8001", f"127.0.0.1:{farm.servers[0].port}"),
        ("127.0.0.1:8002", f"127.0.0.1:{dead}"),
        ("/var/log/nginx/", f"{tmp_path}/"),
    ):
        assert old in text
        text = text.replace(old, new)
    lines = [line for line in text.splitlines() if "ssl_certificate" not in line]
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    rooms = [f"{kind}_temp_path {tmp_path}/{kind};" for kind in kinds]
    whole = ["daemon off;", f"pid {tmp_path}/nginx.pid;", "events {}", "http {", *rooms, *lines, "}"]
    (tmp_path / "nginx.conf").write_text("\n".join(whole))
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    log = tmp_path / "start.log"
    with log.open("w") as told_by_it:
        process = subprocess.Popen(
            [program, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "error.log")],
            stdout=told_by_it, stderr=told_by_it,
        )  # fmt: skip
    try:
        servers.wait_for(f"http://127.0.0.1:{port}", process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def test_the_nginx_file_passes_every_question_on(
    farm: Farm, single: Callable[[str], Answer], nginx: str, tmp_path: Path
) -> None:
    """The same bytes although one of two servers is away; what was asked stands in no log."""
    user = farm.user("behind-nginx")
    for address in [f"/api/table.csv?variables={pair}" for pair in PAIRS[:4]]:
        for _ in range(2):
            answer = get(nginx + address, user)
            assert (answer.status, answer.body) == (200, single(address).body)
    written = (tmp_path / "discreet.log").read_text()
    assert written.count("GET /api/table.csv 200") == 8
    assert not any(word in written for word in ("variables", "127.0.0.1", NAMES[0]))


def test_both_give_the_same_bytes_and_headers(farm: Farm, single: Callable[[str], Answer]) -> None:
    """In every format, refusals and the largest table too; and who has it from one need not fetch it from the other."""
    suffixes = [f.suffix for f in dc.formats.FORMATS if f.name != "csvw"]
    asked = [f"/api/table{suffix}?variables=sex,age" for suffix in suffixes]
    asked += [LARGE, "/api/table?variables=sexx", "/api/metadata"]
    head = farm.user("reader")
    for address in asked:
        one, two = (get(server.base + address, head) for server in farm.servers)
        assert one == two, address
        if address != "/api/metadata":  # the limits of the single one are others
            assert one == single(address), address
    tag = get(farm.servers[0].base + asked[0], head).headers[0]
    assert get(farm.servers[1].base + asked[0], head | {"if-none-match": tag}).status == 304
    editions = {WEB.get(f"{server.base}/health").json()["edition"] for server in farm.servers}
    assert len(editions) == 1


def test_a_limit_holds_for_both_together(farm: Farm) -> None:
    """Requests a minute of one address, from both at once; what a server had taken in advance is all that is lost."""
    before = time.time() // 60

    def ask(server: Server) -> list[int]:
        with httpx.Client(timeout=60, trust_env=False) as client:
            return [client.get(f"{server.base}/api/check?variables=sex").status_code for _ in range(RATE // 2)]

    with ThreadPoolExecutor(4) as threads:
        statuses = [status for found in threads.map(ask, farm.servers * 2) for status in found]
    spans = int(time.time() // 60 - before) + 1
    assert set(statuses) <= {200, 429}
    assert statuses.count(200) <= RATE * spans
    assert spans > 1 or statuses.count(200) > RATE - 2 * (RATE // 20)


def test_two_servers_race_for_a_limit(farm: Farm) -> None:
    """Eight counters in eight threads on one database give out the limit exactly, and know when it is full."""
    counters = [Counter(farm.store, "race", 60, lambda: 1000.0) for _ in range(8)]

    def draw(counter: Counter) -> int:
        given = 0
        for _ in range(30):
            try:
                if not counter.spend_held("a"):
                    counter.take("a", 100)
                given += 1
            except Over:
                pass
        return given

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(draw, counters)) == 100
    assert abs(_ahead(farm.store)) < 5


def _ahead(store: Store) -> float:
    counter = Counter(store, "clock", 60)
    counter.take("a", 100)
    return counter._ahead


def test_one_killed_under_load_takes_nothing_with_it(farm: Farm, single: Callable[[str], Answer]) -> None:
    """kill -9 of a whole server, and its return: no broken and no wrong answer; limits and the guard's memory stay.

    Clients ask through the proxy meanwhile. One user wants more different tables than anybody may have; another is
    told one half of a pair and asks for the other half of whatever server is there.
    """
    victim, other = farm.servers
    heads = [farm.user(f"load{k}") for k in range(4)]
    greedy, sly = farm.user("greedy"), farm.user("sly")
    expected = {pair: single(f"/api/table.csv?variables={pair}") for pair in PAIRS}
    assert get(victim.base + HALVES[0], sly).status == 200
    stop, wrong, answers = threading.Event(), [], itertools.count()
    given: list[int] = []

    def client(k: int) -> None:
        with httpx.Client(timeout=60, trust_env=False, headers=heads[k]) as asking:
            for pair in itertools.cycle(PAIRS[k:] + PAIRS[:k]):
                if stop.is_set():
                    return
                found = told(asking.get(f"{farm.proxy.base}/api/table.csv?variables={pair}"))
                next(answers)
                if found != expected[pair]:
                    wrong.append((pair, found.status))
                time.sleep(0.02)

    def want_all() -> None:
        for names in itertools.combinations(NAMES, 3):
            given.append(get(f"{farm.proxy.base}/api/table.csv?variables={','.join(names)}", greedy).status)

    def try_half(server: Server) -> None:
        found = get(server.base + HALVES[1], sly)
        assert (found.status, b"guard_difference" in found.body) == (403, True)

    threads = [threading.Thread(target=client, args=(k,)) for k in range(4)] + [threading.Thread(target=want_all)]
    for thread in threads:
        thread.start()
    try:
        try_half(other)
        time.sleep(0.5)
        victim.kill()
        try_half(other)
        victim.begin()
        victim.ready()
        try_half(victim)
        threads[-1].join()
        given += [get(f"{s.base}/api/table.csv?variables={p}", greedy).status for p in PAIRS for s in farm.servers][:60]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert farm.proxy.again > 0, "nobody asked while it was away"
    assert next(answers) > 50
    assert wrong == []
    assert set(given) == {200, 429}
    assert given.count(200) >= 5 * TABLES - 3
    different = {row["query"] for row in farm.store.last_answers(5000) if row["who"] == "user:greedy"}
    assert len(different) <= 5 * TABLES


def test_of_a_pair_asked_at_once_exactly_one_is_answered(farm: Farm) -> None:
    """Half of one server, half of the other, at the same moment; afterwards both servers stay with what was decided."""
    for k in range(8):
        head = farm.user(f"pair{k}")
        for server in farm.servers:
            get(f"{server.base}/api/metadata", head)  # the token is known, so that both are equally quick
        order = farm.servers if k % 2 else farm.servers[::-1]
        found = at_once(*((server.base + half, head) for server, half in zip(order, HALVES, strict=True)))
        assert sorted(answer.status for answer in found) == [200, 403]
        again = [[get(server.base + half, head) for server in farm.servers] for half in HALVES]
        assert [[one.status for one in both] for both in again] == [[answer.status] * 2 for answer in found]
        assert all(both[0] == both[1] for both in again)


def test_without_the_database_nothing_leaves_and_with_it_all_goes_on(farm: Farm) -> None:
    """503 in the canonical form, for what was answered before too; no restart is needed afterwards."""
    head = farm.user("patient")
    for server in farm.servers:
        assert get(server.base + HALVES[0], head).status == 200
    farm.database.stop()
    try:
        for server in farm.servers:
            for half in HALVES:
                answer = WEB.get(server.base + half, headers=head)
                assert answer.status_code == 503
                assert answer.json()["rule"] == "store"
                assert int(answer.headers["retry-after"]) > 0
                assert "postgres" not in answer.text
            page = WEB.get(f"{server.base}/table?variables=sex", headers=head)
            assert (page.status_code, "text/html" in page.headers["content-type"]) == (503, True)
            assert WEB.get(f"{server.base}/health").status_code == 503
            assert server.process.poll() is None
    finally:
        farm.database.start()
    until = time.monotonic() + 30  # a database that was gone is not tried at once
    for server in farm.servers:
        while WEB.get(f"{server.base}/health").status_code != 200 and time.monotonic() < until:
            time.sleep(0.1)
        assert get(f"{server.base}/health").status == 200
        assert [get(server.base + half, head).status for half in HALVES] == [200, 403]


def test_a_server_that_is_told_to_end_finishes_its_answers(farm: Farm, single: Callable[[str], Answer]) -> None:
    """SIGTERM while the largest table is being made: it arrives whole, then nobody listens, and the end is good."""
    server = farm.servers[0]
    head = farm.user("last")
    get(f"{server.base}/api/metadata", head)
    before = server.busy()
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(get, server.base + LARGEST, head)
        while server.busy() < before + 0.1 and not asked.done():
            time.sleep(0.01)
        assert not asked.done(), "too quick to be interrupted"
        server.process.send_signal(signal.SIGTERM)
        answer = asked.result()
    assert server.process.wait(30) == 0
    assert answer.status == 200
    with pytest.raises(httpx.ConnectError):
        WEB.get(server.base)
    assert get(farm.proxy.base + "/api/table.csv?variables=sex,age", head) == single("/api/table.csv?variables=sex,age")
    server.begin()
    server.ready()
    assert get(server.base + LARGEST, head) == answer


def test_the_example_s_units_start_what_they_say(tmp_path: Path) -> None:
    """Every command of `deploy/` is one that `discreet serve` understands, and its environment names no secret."""
    deploy = Path(__file__).parents[2] / "deploy"
    sample = dict(line.split("=", 1) for line in (deploy / "server.env").read_text().splitlines() if line[:1].isalpha())
    unit = (deploy / "discreet@.service").read_text()
    (started,) = (line.partition("=")[2] for line in unit.splitlines() if line.startswith("ExecStart="))
    lines = [started.replace("%i", "8001")]
    lines += [line.partition(": ")[2] for line in (deploy / "Procfile").read_text().splitlines()]
    ports = set()
    for line in lines:
        words = subprocess.run(
            ["sh", "-c", f'for word in {line}; do echo "$word"; done'],
            env=sample, capture_output=True, text=True, check=True,
        ).stdout.splitlines()  # fmt: skip
        assert words[0].endswith("discreet")
        assert words[1] == "serve"
        assert run([*words[1:], "--policy", str(tmp_path / "none.toml")]) == 2  # no policy, so it goes no further
        found = serve.make_context("serve", words[2:], resilient_parsing=True).params
        assert (found["https"], found["proxy"], found["rate"]) == (True, True, int(sample["DISCREET_RATE"]))
        ports.add(found["port"])
    assert ports == {8001, 8002}
    assert sample["DISCREET_STORE"].startswith("file:")
    assert all(f"127.0.0.1:{port} " in (deploy / "nginx.conf").read_text() for port in ports)


def test_the_procfile_runs(tmp_path: Path) -> None:
    """Its two lines, as a runner would start them, on a store named by a private file."""
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "store").touch(0o600)
    (tmp_path / "store").write_text(f"sqlite:///{tmp_path}/store.db")
    ports = [servers.free_port(), servers.free_port()]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {
        **os.environ, "PATH": path, "DISCREET_TEST_SECRET": servers.SECRET, "DISCREET_CUBE": str(servers.small_cube()),
        "DISCREET_POLICY": "policy.toml", "DISCREET_STORE": "file:store", "DISCREET_WORKERS": "1",
        "DISCREET_RATE": "600", "DISCREET_TABLES": "2000", "PORT_ONE": str(ports[0]), "PORT_TWO": str(ports[1]),
    }  # fmt: skip
    procfile = (Path(__file__).parents[2] / "deploy" / "Procfile").read_text()
    started = []
    try:
        for line in procfile.splitlines():
            with (tmp_path / "log").open("a") as log:
                command = ["sh", "-c", f"exec {line.partition(': ')[2]}"]
                started.append(subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log))
        answers = []
        for port, process in zip(ports, started, strict=True):
            servers.wait_for(f"http://127.0.0.1:{port}", process, tmp_path / "log")
            answers.append(get(f"http://127.0.0.1:{port}/api/table.csv?variables=sex,age"))
        assert answers[0] == answers[1]
        assert answers[0].status == 200
    finally:
        for process in started:
            process.terminate()
        ends = [process.wait(30) for process in started]
    assert ends == [0, 0]
