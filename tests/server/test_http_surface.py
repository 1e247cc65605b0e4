"""The surface of the server under bytes that nobody would send: no 500, no fault in the log, always reachable."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import threading
import time
from pathlib import Path

import httpx2 as httpx
import pytest

from discreet.server import auth
from discreet.server.parameter_checks import MOST_ADDRESS
from discreet.server.record.store import Store
from discreet.server.running import connections
from tests import servers

PATHS = (
    "/",
    "/go",
    "/verdict",
    "/table",
    "/about",
    "/login",
    "/logout",
    "/method",
    "/s",
    "/s/Se3ZoXMzRpX",
    "/s/%2e%2e",
    "/health",
    "/metrics",
    "/static/page.js",
    "/static/../store.py",
    "/api/metadata",
    "/api/check",
    "/api/table",
    "/api/table.csv",
    "/api/table.json",
    "/api/table.px",
    "/api/table.xlsx",
    "/api/table.csv-metadata.json",
    "/api/table.view.json",
    "/api/table.nothing",
    "/api/openapi.json",
    "/api/pxweb/v2/config",
    "/api/pxweb/v2/tables",
    "/api/pxweb/v2/tables/table/metadata",
    "/api/pxweb/v2/tables/table/data",
    "/api/pxweb/v2/tables/at/data",
    "/api/pxweb/v1/en/tables/table",
    "/api/sdmx/2.1/dataflow",
    "/api/sdmx/2.1/data/TABLE-SEX",
    "/catalogue.jsonld",
    "/nothing",
    "//",
    "/%00",
    "/table/",
    "/api/table.csv/",
)
NAMES = (
    "variables",
    "where",
    "measure",
    "view",
    "layer",
    "page",
    "rows",
    "columns",
    "layers",
    "v_sex",
    "level_sex",
    "only_age",
    "place_sex",
    "foo",
    "",
    "variables[]",
    "valuecodes[sex]",
    "codelist[sex]",
    "outputFormat",
    "pageSize",
    "ＶＡＲＩＡＢＬＥＳ",
)
VALUES = (
    "sex",
    "sex,age",
    "sex,sex",
    "age:age",
    "sex:nothing",
    ",,,",
    ":",
    "region=R1",
    "region=R1+R2",
    "region=",
    "=",
    ";;;",
    "region=R1;region=R2",
    "citizenship=STL",
    "count",
    "income",
    "-1",
    "999999999999",
    "1e400",
    "NaN",
    "heat",
    "bars",
    "map",
    "rows",
    "%00",
    "sex%00",
    "%ff%fe",
    "%",
    "%%%",
    "%u0041",
    "\u202e",
    "\U0001f600",
    "ß" * 300,
    "a" * 3000,
    "a," * 900,
    "x=1;" * 500,
    "<script>alert(1)</script>",
    "' OR 1=1 --",
    "${jndi:ldap://x}",
    "..%2f..%2fetc%2fpasswd",
    "%0d%0aSet-Cookie:%20a=b",
    "{{7*7}}",
)
HEADERS: tuple[dict[str, str | bytes], ...] = (
    {},
    {"accept": "text/html"},
    {"accept": "*/*;q=x, application/json;q=-1"},
    {"accept": ";;,,;q"},
    {"accept": "a/b," * 900},
    {"authorization": "Bearer"},
    {"authorization": "Bearer dsc_a_b"},
    {"authorization": "Basic eDp5"},
    {"authorization": "Bearer dsc_000000000000_" + "0" * 48},
    {"cookie": "discreet_session=%00; discreet_recent=%%%"},
    {"cookie": "discreet_session=a\\000b; discreet_form=é".encode("latin-1")},
    {"cookie": ";" * 900},
    {"if-none-match": "*"},
    {"if-none-match": '"a",' * 900},
    {"x-forwarded-for": "1.2.3.4, not-an-address"},
    {"host": "["},
    {"host": "a b"},
    {"host": "[::1]:99999"},
    {"range": "bytes=9-1"},
    {"content-length": "7"},
)


def address(draw: random.Random) -> str:
    """A path with parameters that are known, unknown, repeated, huge, or not text."""
    pairs = [f"{draw.choice(NAMES)}={draw.choice(VALUES)}" for _ in range(draw.choice((0, 1, 1, 2, 2, 3, 8)))]
    good = [] if draw.random() < 0.5 else ["variables=sex"]
    return draw.choice(PATHS) + ("?" + "&".join([*good, *pairs]) if pairs or good else "")


@pytest.mark.parametrize("hub", [False, True])
def test_no_request_is_a_fault(tmp_path: Path, hub: bool, caplog: pytest.LogCaptureFixture) -> None:
    """Every endpoint, methods and headers of all kinds: an answer or an error in words, never a 5xx or a fault."""
    draw = random.Random(19)
    more = {"cube": None, "cubes": {"at": str(servers.small_cube())}} if hub else {"metrics": True, "proxy": True}
    with servers.client(tmp_path, servers.policy_text("min_difference = 50", guard="refuse"), **more) as client:
        client._transport.raise_server_exceptions = False  # type: ignore[attr-defined]
        for number in range(300):
            path = address(draw)
            method = draw.choice(("GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"))
            body = draw.choice((b"", b"name=a%00&password=b", b"name=a&name=b", b"\x00\xff" * 50, b"a=1&" * 2000))
            content = body if method == "POST" else None
            prefix = draw.choice(("", "/at")) if hub else ""
            answer = client.request(method, prefix + path, headers=draw.choice(HEADERS), content=content)  # type: ignore[arg-type]
            assert answer.status_code < 500, (number, method, path, answer.text[:300])
            if "/api/" in path and "/sdmx/" not in path and answer.status_code >= 400 and method != "HEAD":
                form = {"error"} if "/v1/" in path else {"type", "title", "status", "detail"}
                assert set(answer.json()) == (form if "/pxweb/" in path else {"error", "rule", "reason", "hint"})
    assert not [record for record in caplog.records if record.getMessage() == "fault"]


def test_no_form_is_a_fault(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Names and passwords of any bytes are wrong names and passwords."""
    with servers.client(tmp_path) as client:
        token = client.get("/login").text.split('name="token" value="')[1].split('"')[0]
        for name in ("a\x00b", "\x00", "a" * 3000, "\ud7ff", "é", "a:b", ""):
            answer = client.post("/login", data={"name": name, "password": "\x00", "token": token})
            assert answer.status_code in (401, 403)
        assert client.post("/login", content=f"token={token}&token={token}&name=a").status_code == 403
    assert not [record for record in caplog.records if record.getMessage() == "fault"]


@pytest.mark.parametrize("query", ["where=region=R1&where=region=R2", "variables=age", "foo=1", "were=region=R1"])
def test_a_parameter_that_would_be_dropped_is_an_error(tmp_path: Path, query: str) -> None:
    """Repeated or unknown, in the API and on the pages; the nearest known one is named."""
    with servers.client(tmp_path) as client:
        for path in ("/api/table.csv", "/api/check", "/table"):
            answer = client.get(f"{path}?variables=sex&{query}")
            assert answer.status_code == 422
            assert "given twice" in answer.text or "unknown parameter" in answer.text.lower()
        assert "did you mean &#39;where&#39;" in client.get("/table?variables=sex&were=a").text
        for path in ("/health", "/", "/api/metadata", "/login", "/about", "/api/openapi.json", "/static/style.css"):
            assert client.get(path).status_code == 200
            assert client.get(f"{path}?x=1").status_code == 422


def test_scripts_are_compressed_and_answers_are_not(tmp_path: Path) -> None:
    """For whoever takes it, and once; what is confidential has the length that it has."""
    with servers.client(tmp_path) as client:
        plain = client.get("/static/style.css", headers={"accept-encoding": "identity"})
        small = client.get("/static/style.css", headers={"accept-encoding": "gzip"})
        assert (plain.text, small.headers["content-encoding"]) == (small.text, "gzip")
        assert int(small.headers["content-length"]) < len(plain.content) / 2
        assert small.headers["content-type"] == plain.headers["content-type"]
        assert small.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
        again = client.get("/static/style.css", headers={"if-none-match": small.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        for path in ("/", "/api/table.csv?variables=sex", "/table?variables=sex"):
            assert "content-encoding" not in client.get(path, headers={"accept-encoding": "gzip"}).headers


def test_long_addresses_cost_nothing(tmp_path: Path) -> None:
    """Names that are many and different are looked at once each; what is longer than any table needs is refused."""
    from discreet.policy import Query

    start = time.process_time()
    with pytest.raises(ValueError, match="named twice"):
        Query.of(",".join(f"x{k}" for k in range(200_000)) + ",x7")
    assert time.process_time() - start < 2
    with servers.client(tmp_path) as client:
        assert client.get("/table?variables=" + "a," * MOST_ADDRESS).status_code == 414
        for path in ("/table", "/api/table"):
            start = time.process_time()
            names = ",".join(f"x{k}" for k in range(1100))
            assert client.get(f"{path}?variables={names}").status_code == 422
            assert time.process_time() - start < 1


# -- connections ------------------------------------------------------------------------------------------------


def opened(base: str, sent: bytes) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", int(base.rsplit(":", 1)[1])), timeout=20)
    made.sendall(sent)
    return made


def test_half_open_connections_make_room(tmp_path: Path) -> None:
    """More of them than the server may have files: whoever asks at once is answered; the late ones are let go."""
    with servers.running(tmp_path, servers.policy_text(), files=200) as base:
        held = [opened(base, b"GET / HTTP/1.1\r\nHost: x\r\n") for _ in range(300)]
        for _ in range(5):
            assert httpx.get(f"{base}/health", timeout=10, trust_env=False).status_code == 200
        until = time.monotonic() + connections.REQUEST_SECONDS + 10
        for one in held:
            one.settimeout(max(until - time.monotonic(), 0.1))
            with contextlib.suppress(ConnectionResetError):
                assert one.recv(10) == b""
            one.close()


def test_bytes_that_are_no_request(tmp_path: Path) -> None:
    """Random bytes, heads without an end, bodies that do not come: closed or refused, and the log has no fault."""
    draw = random.Random(6)
    heads = (
        b"GET /api/table.csv?variables=sex HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 60_000,
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 3000 + b"\r\n",
        b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\na",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /?\xff\x00 HTTP/1.1\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: [\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 50,
    )
    with servers.running(tmp_path, servers.policy_text()) as base:
        for sent in (*heads, *(draw.randbytes(draw.randrange(1, 400)) for _ in range(40))):
            with opened(base, sent) as one:
                one.settimeout(0.2)
                try:
                    one.recv(1000)
                except (TimeoutError, ConnectionResetError):
                    continue
        assert httpx.get(f"{base}/health", timeout=10, trust_env=False).status_code == 200
    lines = [json.loads(line) for line in (tmp_path / "serve.log").read_text().splitlines() if line.startswith("{")]
    assert not [line for line in lines if line["level"] == "error"]
    assert all(line["status"] < 500 for line in lines if line["event"] == "request")


# -- limits -----------------------------------------------------------------------------------------------------


def test_requests_at_the_same_moment_are_not_counted_many_times(tmp_path: Path) -> None:
    """Sixty callers of one address ask 240 times, and a limit of 600 a minute lets all of them through."""
    statuses: list[int] = []

    def asking(base: str) -> None:
        with httpx.Client(trust_env=False, timeout=60) as client:
            statuses.extend(client.get(f"{base}/api/metadata").status_code for _ in range(4))

    with servers.running(tmp_path, servers.policy_text(), rate=600) as base:
        if time.time() % 60 > 50:
            time.sleep(11)  # all of them in one minute
        threads = [threading.Thread(target=asking, args=(base,)) for _ in range(60)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses == [200] * 240
    assert '"fault"' not in (tmp_path / "serve.log").read_text()


def test_being_over_a_limit_is_no_fault(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """429 for requests, attempts and tables, and nothing in the log but the requests."""
    with servers.client(tmp_path, rate=3, tables=1) as client:
        found = [client.get(f"/api/table.csv?variables={name}").status_code for name in ("sex", "age", "sex", "sex")]
        assert found == [200, 429, 200, 429]
    assert not [record for record in caplog.records if record.getMessage() == "fault"]


def test_wrong_tokens_cost_no_slow_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither before nor after they are limited; a token of an earlier version is known, and rehashed."""
    store = Store(f"sqlite:///{tmp_path}/store.db")
    auth.new_user(store, "ada", "approved", None)
    old = f"dsc_{'a' * 12}_{'b' * 48}"
    user = store.user("ada")
    assert user is not None
    store.add_token(user["id"], "a" * 12, auth.hashed("b" * 48))
    slow: list[str] = []
    real = auth._scrypt

    def counted(secret: str, salt: bytes) -> bytes:
        slow.append(secret)
        return real(secret, salt)

    monkeypatch.setattr(auth, "_scrypt", counted)
    with servers.client(tmp_path) as client:
        heads = [{"authorization": f"Bearer {token}"} for token in (old, auth.new_token(store, "ada"))]
        assert [client.get("/api/metadata", headers=head).status_code for head in heads] == [200, 200]
        client.app.state.gate._checked.clear()  # type: ignore[attr-defined]
        assert client.get("/api/metadata", headers=heads[0]).status_code == 200
        assert len(slow) == 1
        for token in ("dsc_a_b", f"dsc_{'0' * 12}_{'0' * 48}", "", f"dsc_{'a' * 12}_{'0' * 48}"):
            assert client.get("/api/metadata", headers={"authorization": f"Bearer {token}"}).status_code == 401
        assert len(slow) == 1
    store.close()


def test_attempts_are_limited_by_account(tmp_path: Path) -> None:
    """From as many addresses as one likes, and for names that nobody has."""
    with servers.client(tmp_path, proxy=True) as client:
        token = client.get("/login").text.split('name="token" value="')[1].split('"')[0]
        if time.time() % 60 > 50:
            time.sleep(61 - time.time() % 60)
        for name in ("ada", "nobody"):
            statuses = [
                client.post(
                    "/login",
                    data={"name": name, "password": "wrong", "token": token},
                    headers={"x-forwarded-for": f"10.0.{k}.1"},
                ).status_code
                for k in range(13)
            ]
            assert statuses == [401] * 10 + [429] * 3
