"""A page of a table is one line of the record, with the numbers that its viewer asks for."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi.testclient import TestClient

from discreet.server.record.record_lines import export
from tests import servers

PAGE = "/table?variables=age,sex"
VIEW = "/api/table.view.json?variables=age,sex"


def lines(client: TestClient) -> int:
    return len(list(export(client.app.state.service.store)))  # type: ignore[attr-defined]


def mark_of(page: str) -> str:
    found = re.search(r'data-mark="([^"]+)"', page)
    assert found is not None
    return found[1]


def test_a_page_and_its_numbers_are_one_line(tmp_path: Path) -> None:
    """And the numbers are those that anybody is given, who is a line."""
    with servers.client(tmp_path) as client:
        mark = mark_of(client.get(PAGE).text)
        assert lines(client) == 1
        shown = client.get(VIEW, headers={"X-Discreet-Page": mark})
        assert (shown.status_code, lines(client)) == (200, 1)
        assert client.get(VIEW).content == shown.content
        assert lines(client) == 2


def test_a_mark_is_of_one_table_and_of_the_view_alone(tmp_path: Path) -> None:
    """For another table, in another format, by another caller or made up, it is a request as any other."""
    with servers.client(tmp_path) as client:
        mark = mark_of(client.get(PAGE).text)
        others = ("/api/table.view.json?variables=age", "/api/table.csv?variables=age,sex")
        for n, path in enumerate(others, start=2):
            assert client.get(path, headers={"X-Discreet-Page": mark}).status_code == 200
            assert lines(client) == n
        for false in ("", "x", f"1{mark}", mark[:-1], "0.0000000000000000"):
            before = lines(client)
            assert client.get(VIEW, headers={"X-Discreet-Page": false}).status_code == 200
            assert lines(client) == before + 1


def test_a_table_that_is_refused_has_no_mark(tmp_path: Path) -> None:
    """There is nothing to show."""
    with servers.client(tmp_path, servers.policy_text(query="[table]\nmin_population = 100000")) as client:
        assert "data-mark" not in client.get(PAGE).text


def test_without_a_question_the_page_of_a_table_is_the_form(tmp_path: Path) -> None:
    """Not an error; a question without variables is one."""
    with servers.client(tmp_path) as client:
        answer = client.get("/table")
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert client.get("/table?where=region=R1").status_code == 422
