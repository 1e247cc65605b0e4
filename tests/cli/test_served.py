"""Answers of a running server, asked for by its address: the same as off line, and within its limits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from discreet.cli import run
from discreet.cli.served import ServedTables
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.policy import parse_policy, read_policy
from discreet.policy.attacks.answers import NoMoreAnswers, collect, collect_by
from discreet.policy.query import Query
from discreet.server.counting import cube
from tests import servers

SEX = Dimension.flat("sex", ["f", "m"])
TABLE = b"sex,count,status\nTotal,9,\nf,5,\nm,,c\n"
Reply = tuple[int, dict[str, str], bytes]


@contextmanager
def replying(replies: list[Reply]) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """A server that gives these answers in turn; its address, and what it was asked with which token."""
    asked: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers.get("Authorization")))
            code, headers, body = replies[min(len(asked), len(replies)) - 1]
            self.send_response(code)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def test_a_server_is_attacked_by_what_it_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every number that is fetched is the one that the policy would give off line, and the command judges by them."""
    monkeypatch.setenv("DISCREET_TEST_SECRET", servers.SECRET)
    text = servers.policy_text().replace("max_dimensions = 3\nmax_filters = 2", "max_dimensions = 2\nmax_filters = 1")
    with servers.running(tmp_path, text) as url:
        table, _ = cube.read_cube(servers.small_cube())
        policy = read_policy(tmp_path / "policy.toml")
        server = ServedTables(url, table.dimensions)
        server.check_codebook()
        fetched, computed = collect_by(table.dimensions, policy, server.ask), collect(table, policy)
        options = ["--limit", "12", "--most", "1", "--effort", "quick", "--targets", "1"]
        data = [str(servers.small_cube()), "--policy", str(tmp_path / "policy.toml")]
        code = run(["attack", *data, "--url", url, *options])
    assert fetched.frames.keys() == computed.frames.keys()
    assert all(np.array_equal(values, computed.frames[frame]) for frame, values in fetched.frames.items())
    assert (fetched.requests, fetched.refused, fetched.left_out) == (computed.requests, computed.refused, 0)
    assert code in (0, 1)
    printed = capsys.readouterr()
    assert f"{computed.requests:,} requests" in printed.err
    assert "verdict" in printed.out


def test_limits_are_waited_for_and_hidden_cells_are_hidden() -> None:
    """As long as the server says, and no other way; then the table is read."""
    waited: list[float] = []
    busy = (429, {"Retry-After": "7"}, b"")
    with replying([busy, (503, {"Retry-After": "2"}, b""), (200, {}, TABLE)]) as (url, asked):
        server = ServedTables(url, (SEX,), "dsc_token", lambda _: None, waited.append)
        (shown,) = server.ask([Query.of("sex").resolved([SEX])])
    assert waited == [7, 2]
    assert shown is not None
    assert shown.codes[0].tolist() == [SEX.position[code] for code in ("Total", "f", "m")]
    assert np.array_equal(shown.counts, [9, 5, np.nan], equal_nan=True)
    assert asked == [("/api/table.csv?variables=sex", "Bearer dsc_token")] * 3


def test_a_limit_of_the_day_ends_the_search_and_the_rest_is_unknown() -> None:
    """Nobody waits until tomorrow: what was not asked is counted."""
    two = (SEX, Dimension.flat("age", ["1", "2"]))
    policy = parse_policy('[query]\nmax_dimensions = 1\nmax_filters = 0\n[[method]]\nname = "cell-key"')
    with replying([(200, {}, TABLE), (429, {"Retry-After": "40000"}, b"")]) as (url, _):
        answers = collect_by(two, policy, ServedTables(url, two, say=lambda _: None).ask)
    assert (answers.requests, answers.tables, answers.left_out) == (1, 1, 1)


def test_a_server_that_is_always_busy_is_left() -> None:
    with replying([(429, {"Retry-After": "1"}, b"")]) as (url, asked):
        server = ServedTables(url, (SEX,), say=lambda _: None, wait=lambda _: None)
        with pytest.raises(NoMoreAnswers):
            list(server.ask([Query.of("sex").resolved([SEX])]))
    assert len(asked) < 100


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ((401, {}, b""), "signed in"),
        ((500, {}, b"9 people"), "answered 500$"),
        ((302, {"Location": "http://127.0.0.1:9/"}, b""), "answered 302$"),
    ],
)
def test_what_a_server_says_instead(reply: Reply, words: str) -> None:
    """Told by its number, never by its text; a token is not carried to another address."""
    with replying([reply]) as (url, asked):
        with pytest.raises(InputError, match=words):
            list(ServedTables(url, (SEX,), "dsc_token").ask([Query.of("sex").resolved([SEX])]))
        assert len(asked) == 1


def test_another_server_than_that_of_the_data() -> None:
    """Variables and codes must be those that success is judged by."""
    document = b'{"variables": [{"name": "sex", "labels": {"f": "", "Total": ""}}]}'
    with replying([(200, {}, document)]) as (url, _), pytest.raises(InputError, match="differ in 'sex'"):
        ServedTables(url, (SEX,)).check_codebook()


@pytest.mark.parametrize(
    ("url", "token", "words"),
    [
        ("ftp://there/", "", "must be like"),
        ("http://there/?x=1", "", "must be like"),
        ("http://me:secret@there/", "", "password"),
        ("http://there/", "dsc_token", "https"),
        ("http://127.0.0.1:9/", "", "cannot be reached"),
    ],
)
def test_addresses_that_are_refused(url: str, token: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        ServedTables(url, (SEX,), token).check_codebook()
    assert "secret" not in str(caught.value)


def test_options_that_need_or_forbid_a_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.toml").write_text('[[method]]\nname = "cell-key"\n')
    start = ["attack", str(servers.small_cube()), "--policy", str(tmp_path / "p.toml")]
    assert run([*start, "--token-file", "token"]) == 2
    assert run([*start, "--url", "http://127.0.0.1:9/", "--secrets", "2"]) == 2
    assert "its own secret" in capsys.readouterr().err
