"""Several hypercubes in one server, the census hub of JOS15 section 2.1, from the outside."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.cli import run
from discreet.cli.serve import cubes_in
from discreet.policy import parse_policy, read_policy
from discreet.server import auth, create_app
from discreet.server.counting import cube
from tests import servers


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Two member states, and a second, smaller cube of the people of the first."""
    folder = tmp_path_factory.mktemp("states")
    first, second = dc.datasets.census(20_000, seed=1), dc.datasets.census(21_000, seed=2)
    cube.build(first, folder / "at")
    cube.build(second, folder / "de")
    names = ("sex", "age", "citizenship")
    kept = {name: column for name, column in first.codebook.columns.items() if name in names}
    book = replace(first.codebook, dimensions=tuple(d for d in first.dimensions if d.name in names), columns=kept)
    cube.build(replace(first, codebook=book), folder / "at-short")
    return {path.name: str(path) for path in sorted(folder.iterdir())}


def test_each_cube_of_a_hub_answers_as_it_would_alone(tmp_path: Path, states: dict[str, str]) -> None:
    """The same bytes as a server of that cube; addresses of pages, redirects and metadata stay below its name."""
    with servers.client(tmp_path, cube=None, cubes=states, metrics=True) as hub:
        listed = hub.get("/api/cubes").json()["cubes"]
        assert [one["name"] for one in listed] == ["at", "at-short", "de"]
        found = {name: hub.get(f"/{name}/api/table.csv?variables=sex,age") for name in states}
        start = hub.get("/")
        assert start.status_code == 200
        assert all(f'href="/{name}/"' in start.text for name in states)
        assert "default-src 'none'" in start.headers["content-security-policy"]
        page = hub.get("/de/table?variables=sex,age")
        assert page.status_code == 200
        links = re.findall(r'(?:href|action|src|hx-get)="(/[^"]*)"', page.text)
        assert links
        assert all(link.startswith("/de/") or link == "/" for link in links), "but for the way back to the catalogue"
        assert hub.get("/de/go?v_sex=1", follow_redirects=False).headers["location"] == "/de/table?variables=sex"
        assert hub.get("/de/static/style.css").status_code == 200
        assert hub.get("/de/nowhere").status_code == 404
        assert hub.get("/nowhere/api/table?variables=sex").json()["error"] == "not found"
        assert hub.get("/at-short/api/table?variables=region").status_code == 422
        link = found["de"].headers["link"].split(">")[0].removeprefix("<")
        assert hub.get(f"/de/api/{link}").json()["url"] == "table.csv?variables=age,sex"
        assert hub.get("/health").json()["status"] == "ok"
        assert hub.get("/health").json()["edition"] in hub.get("/metrics").text
        assert hub.get("/metrics", headers={"x-forwarded-for": "1.2.3.4"}).status_code == 404
    for name, answer in found.items():
        folder = tmp_path / name
        folder.mkdir()
        with servers.client(folder, cube=states[name]) as alone:
            other = alone.get("/api/table.csv?variables=sex,age")
        assert (other.status_code, other.content, other.headers["etag"]) == (
            200,
            answer.content,
            answer.headers["etag"],
        )
    assert found["at"].content == found["at-short"].content != found["de"].content


def test_differences_across_cubes_of_the_same_people_are_seen(tmp_path: Path, states: dict[str, str]) -> None:
    """Most citizens from one cube and everybody from another of the same people; another state's people are others."""
    text = servers.policy_text(query="nested_only = false", guard="refuse")
    most = "api/table?variables=sex&where=citizenship=NAT%2BEU%2BEUR%2BOTH"
    with servers.client(tmp_path, text, cube=None, cubes=states) as hub:
        assert hub.get(f"/at/{most}").status_code == 200
        assert hub.get("/de/api/table?variables=sex").status_code == 200
        assert hub.get("/at-short/api/table?variables=sex").json()["rule"] == "guard_difference"


def test_the_limits_and_the_sign_in_of_a_hub_are_one(tmp_path: Path, states: dict[str, str]) -> None:
    """A token is good for all cubes, and so is the number of tables a day."""
    with servers.client(tmp_path, cube=None, cubes=states, mode="restricted", tables=1) as hub:
        store = next(iter(hub.app.state.sites.values())).state.service.store  # type: ignore[attr-defined]
        auth.new_user(store, "ada", "approved", None)
        head = {"authorization": f"Bearer {auth.new_token(store, 'ada')}"}
        assert hub.get("/de/api/table?variables=sex").status_code == 401
        assert hub.get("/de/", follow_redirects=False).headers["location"] == "/de/login"
        names = [d.name for d in dc.datasets.census_dimensions()]
        asked = [f"/{state}/api/table?variables={name}" for state in ("at", "de") for name in names]
        codes = [hub.get(address, headers=head).status_code for address in asked]
        assert codes[:5] == [200] * 5, "five times the public's one"
        assert set(codes[8:]) == {429}


def test_names_of_cubes_are_addresses(tmp_path: Path, states: dict[str, str]) -> None:
    """What would hide the server's own addresses, or is none, is refused; a folder of cubes is a hub."""
    for name in ("api", "static", "Österreich", "a/b", "x" * 15, ""):
        with pytest.raises(dc.InputError, match="a cube of a hub is called by"):
            servers.settings(tmp_path, cube=None, cubes={name: states["at"]})
    assert cubes_in(Path(states["at"]).parent) == states
    assert cubes_in(tmp_path) == {}


# -- a policy for each cube -------------------------------------------------------------------------------------


def folders(states: dict[str, str], *names: str) -> dict[str, str]:
    return {name: states[name] for name in names}


def bearer(client: object, role: str) -> dict[str, str]:
    store = next(iter(client.app.state.sites.values())).state.service.store  # type: ignore[attr-defined]
    auth.new_user(store, role, role, None)
    return {"authorization": f"Bearer {auth.new_token(store, role)}"}


def test_each_cube_has_its_policy_and_each_role_there(tmp_path: Path, states: dict[str, str]) -> None:
    """What each gives is what a policy by itself gives of that cube, whoever asks: own, common, and of a role."""
    texts = {
        "own": servers.policy_text(method=servers.KEYED.format(d=2, v=1)),
        "approved": servers.policy_text(method=servers.KEYED.format(d=1, v=0.5)),
        "there": servers.policy_text(method=servers.KEYED.format(d=9, v=8)),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.toml").write_text(text)
    files = {name: str(tmp_path / f"{name}.toml") for name in texts}
    more: dict[str, Any] = {
        "policies": {"de": files["own"], "de/methodologist": files["there"]},
        "roles": {"approved": files["approved"]},
    }
    wanted = {  # by cube and role: a cube with its own policy has it for every role that is not named with it
        ("at", "public"): "policy", ("at", "approved"): "approved", ("at", "methodologist"): "approved",
        ("de", "public"): "own", ("de", "approved"): "own", ("de", "methodologist"): "there",
    }  # fmt: skip
    with servers.client(tmp_path, cube=None, cubes=folders(states, "at", "de"), **more) as hub:
        head = {role: bearer(hub, role) for role in ("public", "approved", "methodologist")}
        found = {key: hub.get(f"/{key[0]}/api/table.csv?variables=sex,age", headers=head[key[1]]) for key in wanted}
    for (name, role), policy in wanted.items():
        table, _ = cube.read_cube(Path(states[name]))
        made = read_policy(tmp_path / f"{policy}.toml")
        assert found[name, role].content == dc.answer(table, "sex, age", made).to_csv(), (name, role)
    assert len({answer.content for answer in found.values()}) == 4


def test_cubes_of_the_same_people_are_protected_in_one_way(tmp_path: Path, states: dict[str, str]) -> None:
    """Two kinds of noise over one number could be compared: refused at the start; other questions are no matter."""
    for name, text in {
        "noise": servers.policy_text(method=servers.KEYED.format(d=2, v=1)),
        "limits": servers.policy_text("[table]\nmin_population = 50"),
        "open": servers.policy_text("[risk]\nt1 = 0.9"),
    }.items():
        (tmp_path / f"{name}.toml").write_text(text)
    given: dict[str, Any] = {"cube": None, "cubes": states}
    for name in ("noise", "open"):
        with pytest.raises(dc.InputError, match="same number of people"):
            create_app(servers.settings(tmp_path, policies={"at-short": str(tmp_path / f"{name}.toml")}, **given))
        with pytest.raises(dc.InputError, match="role 'approved'"):
            create_app(servers.settings(tmp_path, policies={"at/approved": str(tmp_path / f"{name}.toml")}, **given))
        create_app(servers.settings(tmp_path, policies={"de": str(tmp_path / f"{name}.toml")}, **given))
    create_app(servers.settings(tmp_path, policies={"at-short": str(tmp_path / "limits.toml")}, **given))


def test_policies_of_cubes_are_named_on_the_command_line(
    tmp_path: Path, states: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    """An unknown cube or role, a cube without a hub, a file that is none: said before anything is served."""
    servers.settings(tmp_path)
    good, folder = str(tmp_path / "policy.toml"), str(Path(states["at"]).parent)
    for data, given, says in (
        (folder, f"dee={good}", "did you mean 'de'"),
        (folder, f"de/aproved={good}", "did you mean 'approved'"),
        (folder, f"dx/approved={good}", "no cube 'dx'"),
        (folder, "de=nowhere.toml", "policy not found"),
        (states["at"], f"at={good}", "no role 'at'"),
        (states["at"], f"at/approved={good}", "no cube 'at'"),
    ):
        assert run(["serve", data, "--policy", good, "--port", "0", "--policy-for", given]) == 2
        assert says in capfd.readouterr().err


# -- section 2.2: what a cube states of its own making ------------------------------------------------------------

SWAP = '[[before]]\nname = "swap"\ngeography = "region"\nrate = 0.1\n'


def test_a_cube_whose_swap_an_earlier_version_weighed_is_refused(tmp_path: Path) -> None:
    """Its stated quality may be too good: the statistic's old name, the hash of the steps alone, is not believed."""
    made = parse_policy(SWAP)
    cube.build(dc.datasets.census(3_000), tmp_path / "cube", made)
    told = json.loads((tmp_path / "cube" / "cube.json").read_text())
    new = next(name for name in told["decimals"] if name.startswith("again "))
    steps = json.dumps([["swap", {"geography": "region", "rate": 0.1}]], sort_keys=True)
    old = "again " + hashlib.sha256(steps.encode()).hexdigest()[:12]
    assert old != new
    dc.answer(cube.read_cube(tmp_path / "cube")[0], "region, sex", made)
    (tmp_path / "cube" / f"{new}.npy").rename(tmp_path / "cube" / f"{old}.npy")
    told["decimals"][old] = told["decimals"].pop(new)
    (tmp_path / "cube" / "cube.json").write_text(json.dumps(told))
    table, _ = cube.read_cube(tmp_path / "cube")
    with pytest.raises(dc.InputError, match="an earlier version"):
        dc.answer(table, "region, sex", made)
    with pytest.raises(dc.InputError, match="an earlier version"):
        create_app(servers.settings(tmp_path, SWAP, cube=str(tmp_path / "cube")))
