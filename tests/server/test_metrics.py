"""What a monitor sees: true counts over all workers, in Prometheus' own form, and nothing of what was asked."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import httpx2 as httpx

from tests import servers

LINE = re.compile(r'([a-z_]+)(\{([a-z]+="[^"\\\n]*"(,[a-z]+="[^"\\\n]*")*)\})? (-?[0-9.]+(e[+-]?\d+)?)')


def metrics(base: str) -> dict[str, float]:
    """Every sample, by name and labels; anything that is not of the text format is an error."""
    answer = httpx.get(f"{base}/metrics", trust_env=False, timeout=30)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found, known = {}, set()
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            known.add(line.split()[2])
        elif not line.startswith("# HELP "):
            match = LINE.fullmatch(line)
            assert match, line
            assert {match[1], re.sub(r"_(bucket|sum|count)$", "", match[1])} & known, line
            found[match[1] + (match[2] or "")] = float(match[5])
    return found


def requests(found: dict[str, float], route: str, code: int) -> float:
    return found.get(f'discreet_requests_total{{route="{route}",code="{code}"}}', 0)


def test_all_workers_tell_the_same(tmp_path: Path) -> None:
    """Whoever is asked: the requests that were made, and they go on when a worker is replaced."""
    with servers.running(tmp_path, servers.policy_text(), "--metrics", workers=2) as base:
        for k in range(30):
            name = ("region", "sex", "age")[k % 3]
            assert httpx.get(f"{base}/api/table.csv?variables={name}", trust_env=False).status_code == 200
        assert httpx.get(f"{base}/api/table.csv?variables=nothing", trust_env=False).status_code == 422
        seen = [metrics(base) for _ in range(8)]
        assert {requests(found, "/api/table.{suffix}", 200) for found in seen} == {30}
        assert {requests(found, "/api/table.{suffix}", 422) for found in seen} == {1}
        answers = [seen[0][f'discreet_answers_total{{cached="{c}"}}'] for c in ("true", "false")]
        assert sum(answers) >= 30
        assert answers[1] >= 3
        assert seen[-1]["discreet_store_up"] == 1
        route = '{route="/api/table.{suffix}"'
        buckets = [n for name, n in seen[0].items() if name.startswith(f"discreet_request_seconds_bucket{route}")]
        assert buckets == sorted(buckets)
        assert buckets[-1] == seen[0][f"discreet_request_seconds_count{route}}}"] == 31
        before = servers.workers_of(tmp_path / "serve.log")
        os.kill(before[0], signal.SIGKILL)
        until = time.monotonic() + 60
        while len(servers.workers_of(tmp_path / "serve.log")) < 3 and time.monotonic() < until:
            time.sleep(0.1)
        assert requests(metrics(base), "/api/table.{suffix}", 200) == 30


def test_nothing_of_a_query_is_in_it(tmp_path: Path) -> None:
    """No variable, code, rule, path of a stranger's making or address; bounded whatever is asked."""
    with servers.client(tmp_path, metrics=True) as client:
        for path in (
            "/api/table.csv?variables=region,occupation&where=sex=F",
            "/table?variables=citizenship",
            "/api/table.csv?variables=region,sex,age,activity,education",
            "/wp-login-secret",
        ):
            client.get(path)
        text = client.get("/metrics").text
        for word in ("region", "occupation", "sex", "citizenship", "max_dimensions", "secret", "testclient", "R1"):
            assert word not in text
        lines = len(text.splitlines())
        for k in range(50):
            client.get(f"/x{k}")
        assert len(client.get("/metrics").text.splitlines()) <= lines + 30


def test_it_is_closed_unless_opened_and_to_visitors(tmp_path: Path) -> None:
    """404 without the option; 404 for who comes through a proxy, with it."""
    with servers.client(tmp_path) as client:
        assert client.get("/metrics").status_code == 404
    (tmp_path / "second").mkdir()
    with servers.client(tmp_path / "second", metrics=True, proxy=True) as client:
        assert client.get("/metrics").status_code == 200
        assert client.get("/metrics", headers={"X-Forwarded-For": "10.0.0.1"}).status_code == 404
