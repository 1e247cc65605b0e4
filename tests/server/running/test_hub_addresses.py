"""Addresses of a hub that lead nowhere: the hub says so and names the nearest data set, not the page of another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests import servers
from tests.server.portals.data_sets import two_cubes


@pytest.mark.parametrize("first", ["", "people"])
def test_a_slip_in_the_name_of_a_data_set(tmp_path: Path, first: str) -> None:
    """Under the head of the hub, with the address that was meant, whether or not a cube is the first."""
    with servers.client(tmp_path, cube=None, cubes=two_cubes(), first=first) as client:
        page = client.get("/peopel/table?variables=sex&where=region=R1")
        assert page.status_code == 404
        assert "There is no data set “peopel” here." in page.text
        assert 'href="/people/table?variables=sex&amp;where=region=R1"' in page.text
        assert 'href="/areas/"' in page.text
        assert "Sign in" not in page.text
        assert client.get("/people/table?variables=sex&where=region=R1").status_code == 200
        assert "Hier gibt es keinen Datenbestand „zzzz“" in client.get("/zzzz?lang=de").text
        assert "<script>" not in client.get("/%3Cscript%3E").text


def test_programs_are_told_as_before(tmp_path: Path) -> None:
    """Below /api the canonical form; and what the first cube has without its name stays there."""
    with servers.client(tmp_path, cube=None, cubes=two_cubes(), first="people") as client:
        assert client.get("/api/nothing").json()["rule"] == "path"
        assert client.get("/api/metadata").status_code == 200
        assert client.post("/peopel").json()["rule"] in ("path", "method")
        for path in ("/about", "/login", "/table?variables=sex", "/api/pxweb/v2/tables", "/catalogue.jsonld"):
            assert client.get(path).status_code == 200, path


def editions(client: TestClient, name: str) -> tuple[str, str]:
    """The names of the present edition of the data that two doors give."""
    listed = {one["name"]: one for one in client.get("/api/datasets").json()["datasets"]}
    assert listed[name]["editions"][-1] == listed[name]["data_edition"]
    return client.get(f"/{name}/api/metadata").json()["data_edition"], listed[name]["data_edition"]


def test_an_edition_has_one_name(tmp_path: Path) -> None:
    """In the metadata, in the catalogue, and on the methodologist's page."""
    with servers.client(tmp_path, cube=None, cubes=two_cubes()) as client:
        for name, site in client.app.state.sites.items():  # type: ignore[attr-defined]
            assert set(editions(client, name)) == {site.state.service.version}
