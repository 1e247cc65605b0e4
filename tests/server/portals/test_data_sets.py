"""Several data sets in one server: found by their words, described for every role, with the editions they have had."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dc
from discreet.server.counting import cube
from discreet.server.editions.edition_history import published_versions
from tests import servers
from tests.server.portals.data_sets import two_cubes


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("", ["people", "areas"]),
        ("COUNTY", ["areas"]),
        ("county women", ["areas"]),
        ("the north", ["areas"]),
        ("regions", ["people"]),
        ("county occupation", []),
    ],
)
def test_a_search_finds_data_sets_by_title_variable_and_category(tmp_path: Path, wanted: str, names: list[str]) -> None:
    """All words must be there; the page, the interface and PxWeb's search agree."""
    with servers.client(tmp_path, cube=None, cubes=two_cubes()) as client:
        entries = client.get("/api/datasets", params={"q": wanted}).json()["datasets"]
        assert [entry["name"] for entry in entries] == names
        assert [
            table["id"] for table in client.get("/api/pxweb/v2/tables", params={"query": wanted}).json()["tables"]
        ] == names
        page = client.get("/", params={"q": wanted}).text
        assert [name for name in two_cubes() if f'id="set-{name}"' in page] == names
        assert ("No data set has all these words" in page) == (not names)


def test_a_data_set_states_what_each_role_may_ask(tmp_path: Path) -> None:
    """Those with a policy of their own, of this cube or of all; the address leads to the tables."""
    for number in (2, 4, 5):
        text = servers.policy_text().replace("max_dimensions = 3", f"max_dimensions = {number}")
        (tmp_path / f"{number}.toml").write_text(text)
    roles = {"approved": str(tmp_path / "4.toml")}
    policies = {"areas": str(tmp_path / "2.toml"), "areas/admin": str(tmp_path / "5.toml")}
    with servers.client(tmp_path, cube=None, cubes=two_cubes(), roles=roles, policies=policies) as client:
        people, areas = client.get("/api/datasets").json()["datasets"]
        assert [(one["role"], one["max_dimensions"]) for one in people["roles"]] == [("public", 3), ("approved", 4)]
        assert [(one["role"], one["max_dimensions"]) for one in areas["roles"]] == [("public", 2), ("admin", 5)]
        assert (people["sources"], people["dates"]) == (["synthetic"], ["2001"])
        assert (areas["sources"], areas["dates"]) == ([], [])
        assert client.get("/").text.count("Source: synthetic · Date: 2001") == 1
        for entry in (people, areas):
            assert client.get(entry["address"]).status_code == 200
            assert client.get(entry["api"]).json()["edition"] == entry["edition"]


def test_a_restricted_catalogue_is_for_those_who_are_let_in(tmp_path: Path) -> None:
    """Nobody else sees the data sets by any door."""
    with servers.client(tmp_path, cube=None, cubes=two_cubes(), mode="restricted") as client:
        for path in ("/", "/api/datasets", "/catalogue.jsonld", "/api/pxweb/v2/tables", "/api/sdmx/2.1/dataflow"):
            reply = client.get(path)
            assert reply.status_code == 401
            assert "county" not in reply.text


def test_the_editions_of_a_cube_are_its_history(tmp_path: Path) -> None:
    """One name for every edition that was built, none of which tells the version of the data."""
    text = servers.policy_text("[edition]\nmin_changes = 0")
    versions = []
    folder = tmp_path / "cube"
    for n in (2000, 3000):
        versions.append(cube.build(dc.datasets.census(n=n), folder).version)
        with servers.client(tmp_path, text, cube=str(folder), store=f"sqlite:///{tmp_path}/{n}.db") as client:
            entry = client.get("/api/datasets").json()["datasets"][0]
            names = entry["editions"]
            assert len(names) == len(set(names)) == len(versions)
            assert names[-1] == client.app.state.service.version  # type: ignore[attr-defined]
            assert not set(names) & set(versions)
    assert published_versions(folder) == tuple(versions)
    assert published_versions(tmp_path) == ()
