"""Short addresses of tables: the same table for ever, a name that tells nothing, and none of what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import insert, select

from discreet.errors import InputError
from discreet.server import Settings, auth
from discreet.server.pages.short_links import LENGTHS, keep_link, kept_link, link_name
from discreet.server.record.store import Store
from discreet.server.schema import links
from tests import servers
from tests.database import database
from tests.farm import HALVES, POLICY
from tests.server.portals.data_sets import two_cubes

QUERY = "variables=age,sex&where=region=R1"
LAID_OUT = f"{QUERY}&rows=sex&columns=age&view=heat"


def token_of(text: str) -> str:
    return text.partition('name="token" value="')[2].partition('"')[0]


def shortened(client: TestClient, table: str, root: str = "", **headers: str) -> Any:
    """The answer to the form of a table's page."""
    token = token_of(client.get(f"{root}/login").text)
    return client.post(f"{root}/s", data={"token": token, "table": table}, headers=headers)


def short_address(client: TestClient, table: str, root: str = "") -> str:
    answer = shortened(client, table, root, Accept="application/json")
    assert answer.status_code == 200
    return str(answer.json()["address"])


def kept(client: TestClient) -> list[str]:
    store = client.app.state.service.store  # type: ignore[attr-defined]
    return [row["link"] for row in store.rows(select(links.c.link))]


def test_a_short_address_leads_to_the_table_with_its_layout(tmp_path: Path) -> None:
    """Also after the server was started again, and whatever language the visitor had."""
    with servers.client(tmp_path) as client:
        address = short_address(client, f"{LAID_OUT}&lang=de")
        there = client.get(address, follow_redirects=False)
        assert there.status_code == 303
        assert there.headers["cache-control"] == "no-store"
        assert there.headers["location"] == f"/table?{LAID_OUT}"
    with servers.client(tmp_path) as client:
        page = client.get(address, follow_redirects=True)
        assert page.status_code == 200
        body = page.text.partition("<tbody>")[2].partition("</tbody>")[0]
        assert body
        assert body in client.get(f"/table?{LAID_OUT}").text


def test_the_page_has_a_form_for_it_that_works_without_script(tmp_path: Path) -> None:
    """What is sent is what stands in the page; the answer is a page with the whole address."""
    with servers.client(tmp_path) as client:
        page = client.get(f"/table?{QUERY}").text
        form = page.partition('id="shorten"')[2].partition("</form>")[0]
        table = form.partition('name="table" value="')[2].partition('"')[0].replace("&amp;", "&")
        answer = client.post("/s", data={"token": token_of(form), "table": table})
        assert answer.status_code == 200
        assert f'value="http://testserver{short_address(client, QUERY)}"' in answer.text
        assert "Age × Sex · Region: Region 1" in answer.text
        assert "Kurzlink" in client.post("/s", data={"token": token_of(form), "table": table},
                                         headers={"Accept-Language": "de"}).text  # fmt: skip


def test_the_same_table_has_one_name_which_tells_nothing(tmp_path: Path) -> None:
    """However it is written; another key gives another name; nothing that a visitor wrote gets into the store."""
    with servers.client(tmp_path) as client:
        one = short_address(client, QUERY)
        assert short_address(client, "where=region=R1&variables=sex,age&rows=nobody,<b>&layer=x&view=y") == one
        other = short_address(client, "variables=sex")
        assert one != other
        assert len(one) == len(other) == len("/s/") + LENGTHS[0]
        assert sorted(kept(client)) == [f"/table?{QUERY}", "/table?variables=sex"]
    assert link_name(b"a", QUERY) != link_name(b"b", QUERY)


def test_what_is_refused_or_wrong_gets_none(tmp_path: Path) -> None:
    """By the query's rules, by the table's, by the codebook; refusals are recorded."""
    text = servers.policy_text("[table]\nmin_population = 100")
    with servers.client(tmp_path, text) as client:
        wrong = {
            "variables=sex,age,region,citizenship": 403,
            "variables=sex&where=citizenship=STL": 403,
            "variables=sexx": 422,
            "variables=sex&foo=1": 422,
            "variables=sex&variables=age": 422,
            "": 422,
        }
        for table, status in wrong.items():
            assert shortened(client, table).status_code == status, table
        assert kept(client) == []
        lines = client.app.state.service.store.last_answers(10)  # type: ignore[attr-defined]
        assert [line["rule"] for line in lines] == ["min_population", "max_dimensions"]


def test_a_difference_to_what_was_told_gets_none(tmp_path: Path) -> None:
    """The guard is asked, as for the table itself; making a link is not an answer, and opens no door around it."""
    with servers.client(tmp_path, POLICY) as client:
        second = HALVES[1].partition("?")[2]
        address = short_address(client, second)
        assert client.get(HALVES[0]).status_code == 200
        assert shortened(client, second).status_code == 403
        assert client.get(address, follow_redirects=True).status_code == 403
        assert len(kept(client)) == 1


def test_following_one_is_asking_for_the_table(tmp_path: Path) -> None:
    """It is recorded and counts as a request, for whoever follows; unknown names are found nowhere, and count too."""
    with servers.client(tmp_path) as client:
        address = short_address(client, QUERY)
        store = client.app.state.service.store  # type: ignore[attr-defined]
        before = store.answers()
        assert client.get(address, follow_redirects=True).status_code == 200
        assert store.answers() == before + 1
        for name in ("Se3ZoXMzRpX", "a" * 34, "x%00", "%C3%A9", "a.b", "a_b"):
            assert client.get(f"/s/{name}").status_code == 404, name
        assert client.get(f"{address}?variables=sex").status_code == 422
    (tmp_path / "slow").mkdir()
    with servers.client(tmp_path / "slow", rate=3) as client:
        address = f"/s/{keep_link(client.app.state.service.store, b'key', f'/table?{QUERY}')}"  # type: ignore[attr-defined]
        answers = [client.get(path, follow_redirects=False).status_code for path in (address, "/s/none", address)]
        assert answers == [303, 404, 303]
        assert client.get(address, follow_redirects=False).status_code == 429


def test_making_one_counts_as_a_request_and_needs_a_form_of_ours(tmp_path: Path) -> None:
    with servers.client(tmp_path, rate=2) as client:
        assert client.post("/s", data={"token": "x", "table": QUERY}).status_code == 403
        assert shortened(client, QUERY).status_code == 200
        assert shortened(client, QUERY).status_code == 429


def test_a_restricted_server_gives_and_follows_none_for_strangers(tmp_path: Path) -> None:
    """They are sent to sign in, whether or not there is such a name; approved users have them."""
    with servers.client(tmp_path, mode="restricted") as client:
        store: Store = client.app.state.service.store  # type: ignore[attr-defined]
        name = keep_link(store, b"key", f"/table?{QUERY}")
        for path in (f"/s/{name}", "/s/none"):
            answer = client.get(path, follow_redirects=False)
            assert (answer.status_code, answer.headers["location"]) == (303, "/login")
        assert shortened(client, QUERY).headers["location"] == "/login"
        auth.new_user(store, "ada", "approved", None)
        head = {"Authorization": f"Bearer {auth.new_token(store, 'ada')}"}
        assert client.get(f"/s/{name}", headers=head, follow_redirects=False).headers["location"] == f"/table?{QUERY}"


def test_in_a_hub_they_are_below_the_name_and_for_the_first_without_one(tmp_path: Path) -> None:
    cubes = two_cubes()
    first = next(iter(cubes))
    with servers.client(tmp_path, cube=None, cubes=cubes, first=first) as client:
        named = short_address(client, "variables=sex", f"/{first}")
        assert named.startswith(f"/{first}/s/")
        there = client.get(named, follow_redirects=False).headers["location"]
        assert there == f"/{first}/table?variables=sex"
        assert client.get(there).status_code == 200
        plain = short_address(client, "variables=sex")
        assert plain == named.removeprefix(f"/{first}")
        assert client.get(plain, follow_redirects=False).headers["location"] == "/table?variables=sex"
        page = shortened(client, "variables=sex", f"/{first}").text
        assert f'value="http://testserver{named}"' in page
    with pytest.raises(InputError, match="not 's'"):
        Settings(policy="policy.toml", cubes={"s": "cube"})


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_tables_never_share_a_name(tmp_path: Path, kind: str) -> None:
    """Where another table has the name, a longer one is taken; kept twice it is kept once."""

    def check(url: str) -> None:
        store = Store(url)
        key, link = b"key", "/table?variables=sex"
        with store.begin() as connection:
            connection.execute(insert(links).values(name=link_name(key, link), link="/table?variables=age", at=0.0))
        name = keep_link(store, key, link)
        assert len(name) == LENGTHS[1]
        assert keep_link(store, key, link) == name
        assert kept_link(store, name) == link
        assert kept_link(store, name[: LENGTHS[0]]) == "/table?variables=age"
        store.close()

    if kind == "sqlite":
        check(f"sqlite:///{tmp_path}/store.db")
    else:
        with database() as base:
            check(base.url)
