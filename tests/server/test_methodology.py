"""The methodologist's page: for that role alone; methods in words, the record searched, traffic, and attacks."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import InputError
from discreet.policy import Effort
from discreet.server.attack_result import attack_rows, read_attack_report
from discreet.server.auth import new_token, new_user
from discreet.server.method_standing import CLOSE, Standing, best_method, standing_words
from discreet.server.metrics import METERS, ROUTES
from discreet.server.pages.methodologist import TABLES
from discreet.server.record.record_search import RecordSearch, asked_by_hour
from tests import servers
from tests.server.portals.data_sets import two_cubes

PATHS = ("/method", "/method?variables=sex,age", "/method?words=sex", "/method/record.csv", "/method?show_sex=sex")
NUMBER = st.floats(0, 1, allow_nan=False)


def signed_in(client: TestClient, role: str) -> dict[str, str]:
    """A user of a role, and the header of a token."""
    store = client.app.state.service.store  # type: ignore[attr-defined]
    new_user(store, role, role, None)
    return {"authorization": f"Bearer {new_token(store, role)}"}


def test_nobody_else_reaches_it(tmp_path: Path) -> None:
    """Visitors are led to the form to sign in, approved users are refused, by every address; nothing is shown."""
    with servers.client(tmp_path) as client:
        approved, ada = signed_in(client, "approved"), signed_in(client, "methodologist")
        assert "show_sex" not in client.get("/method?show_sx=1").text
        for path in PATHS:
            visitor, user = client.get(path), client.get(path, headers=approved)
            assert (visitor.status_code, visitor.headers["location"]) == (303, "/login")
            assert user.status_code == 403
            assert "Risk before" not in user.text
            assert client.get(path, headers=ada).status_code in (200, 303)
            assert client.post(path, headers=ada).status_code == 405


def test_what_is_picked_is_the_query(tmp_path: Path) -> None:
    """The form leads to the address that has the query, which shows what was picked; no variable is an error."""
    with servers.client(tmp_path) as client:
        ada = signed_in(client, "methodologist")
        picked = client.get("/method?show_sex=sex&show_age=&only_region=R1&only_sex=", headers=ada)
        assert picked.headers["location"] == "/method?variables=sex&where=region=R1"
        page = client.get(picked.headers["location"], headers=ada).text
        assert '<option value="R1" selected>' in page
        assert '<option value="sex" selected>' in page
        assert client.get("/method?show_sex=&only_region=R1", headers=ada).status_code == 422
        assert client.get("/method?show_nothing=sex", headers=ada).status_code == 422


def test_as_it_is_stands_there_for_comparison(tmp_path: Path) -> None:
    """It is not the marked point, and its words say so."""
    text = servers.policy_text(
        method='[[method]]\nname = "cell-key"\nd = 5\nv = 3\n[[method]]\nname = "round"\nbase = 5\n'
    )
    with servers.client(tmp_path, text) as client:
        page = client.get("/method?variables=age,sex", headers=signed_in(client, "methodologist")).text
    marked = re.findall(r'<circle class="best"[^>]*><title>([^<]*)', page)
    assert len(marked) == 1
    assert marked[0] != "as it is"
    assert "for comparison" in page


@given(st.dictionaries(st.sampled_from("abcde"), st.tuples(NUMBER, NUMBER, st.booleans()), min_size=1))
def test_the_best_is_allowed_and_not_dominated_by_more_than_a_hair(methods: dict[str, Any]) -> None:
    """No other allowed method has much more utility, and none as good has less risk; the reference never is best."""
    named = {name: Standing(risk, utility, allowed) for name, (risk, utility, allowed) in methods.items()}
    best = best_method({**named, "as it is": Standing(0.0, 1.0, reference=True)})
    allowed = {name: one for name, one in named.items() if one.allowed}
    assert (best is None) == (not allowed)
    if best is not None:
        assert best in allowed
        for one in allowed.values():
            assert one.utility <= allowed[best].utility + CLOSE
            assert one.risk >= allowed[best].risk or one.utility <= max(a.utility for a in allowed.values()) - CLOSE
    assert set(standing_words(named)) == set(named)
    assert all(all(parts) and parts for parts in standing_words(named).values())


def test_methods_that_are_close_are_called_so() -> None:
    """0.3120 beside 0.3115 is no difference; 0.1 is one."""
    words = standing_words(
        {
            "a": Standing(0.3120, 0.90),
            "b": Standing(0.3115, 0.901),
            "c": Standing(0.5, 0.8),
            "as it is": Standing(0.9, 1.0, reference=True),
        }
    )
    assert "cannot be told apart from b" in words["a"]
    assert "dominated by a: beside it +0.188 risk and -0.100 utility" in words["c"]
    assert words["as it is"] == ("for comparison: nothing is protected",)


def test_the_record_is_searched_and_exported(tmp_path: Path) -> None:
    """By words of the question, outcome, rule, who and day; page and file have the same lines."""
    with servers.client(tmp_path) as client:
        ada = signed_in(client, "methodologist")
        asked = ["sex", "age", "sex,age", "sex,age,region,education"]
        for variables in asked:
            client.get(f"/api/table?variables={variables}")

        def lines(query: str) -> list[str]:
            reply = client.get(f"/method/record.csv?{query}", headers=ada)
            assert reply.status_code == 200
            rows = [row["asked"] for row in csv.DictReader(io.StringIO(reply.text))]
            page = client.get(f"/method?{query}", headers=ada).text
            assert f"Lines: {len(rows)}; page 1 of 1" in page
            return rows

        assert len(lines("")) == 4
        assert lines("words=age+sex") == ["age, education, region, sex", "age, sex"]
        assert lines("outcome=refused") == lines("rule=max_dimensions") == ["age, education, region, sex"]
        assert lines("who=user:") == []
        assert len(lines("since=2020-01-01")) == 4
        assert lines("since=2999-01-01") == []
        assert lines("words=%25") == []
        for wrong in ("outcome=maybe", "since=yesterday", "page=0", "page=x", "foo=1"):
            assert client.get(f"/method?{wrong}", headers=ada).status_code == 422
        page = client.get("/method", headers=ada).text
        assert "Tables asked in the last 24 hours: 4. Refused: 1." in page
        assert "Refusals of the last 24 hours by rule" in page
        hours = asked_by_hour(client.app.state.service.store)  # type: ignore[attr-defined]
        assert (len(hours), sum(h[1] for h in hours), sum(h[2] for h in hours)) == (24, 3, 1)


def test_a_page_tells_of_its_own_data_set(tmp_path: Path) -> None:
    """In a hub one store has the record of all: editions, traffic, rules, lines and file are those of one."""
    with servers.client(tmp_path, cube=None, cubes=two_cubes()) as client:
        services = {name: site.state.service for name, site in client.app.state.sites.items()}  # type: ignore[attr-defined]
        first, second = services
        new_user(services[first].store, "ada", "methodologist", None)
        ada = {"authorization": f"Bearer {new_token(services[first].store, 'ada')}"}
        for variables in ("sex", "age", "sex,age,region,education"):
            client.get(f"/{first}/api/table?variables={variables}")
        pages = {name: client.get(f"/{name}/method", headers=ada).text for name in (first, second)}
        assert "Tables asked in the last 24 hours: 3. Refused: 1." in pages[first]
        assert "Tables asked in the last 24 hours: 0. Refused: 0." in pages[second]
        assert "<td>age</td>" in pages[first]
        assert "<td>age</td>" not in pages[second]
        assert "Refused, by rule" not in pages[second]
        assert f"<code>{services[first].version}</code>" in pages[first]
        assert services[first].version not in pages[second]
        assert client.get(f"/{second}/method/record.csv", headers=ada).text.count("\n") == 1
        assert client.get(f"/{first}/method/record.csv", headers=ada).text.count("\n") == 4


def test_every_route_of_tables_is_timed(tmp_path: Path) -> None:
    """All routes have a name in the metrics, those of the pictures among them."""
    with servers.client(tmp_path) as client:
        before = sum(number for _, number in METERS.time_counts(TABLES))
        assert set(TABLES) <= set(METERS.routes)
        assert len(METERS.routes) < ROUTES - 1
        for path in (
            "/api/table.csv?variables=sex",
            "/api/pxweb/v2/tables/table/data",
            "/api/sdmx/2.1/data/TABLE-SEX/all",
        ):
            assert client.get(path).status_code == 200
        assert sum(number for _, number in METERS.time_counts(TABLES)) == before + 3


def test_pages_of_the_record() -> None:
    """A search keeps its parts from page to page."""
    search = RecordSearch.of({"words": "sex", "page": "3"})
    assert (search.page, search.parameters) == (3, {"words": "sex"})
    with pytest.raises(InputError, match="a date"):
        RecordSearch(since="16.11.2026")


def test_the_report_of_an_attack_is_shown(tmp_path: Path) -> None:
    """With its verdict worked out anew; one of another policy is said to be so; one that others can read is refused."""
    policy = dc.Policy(methods=(("round", {"base": 5}),))
    table = dc.Table.of([[3, 8, 9], [16, 23, 4]], ["area", "sex"])
    short = Effort(chains=2, fewest=2000, most=2000, samples=20)
    report = dc.policy.attack(table, policy, limit=30, most=1, targets=0, editions=False, effort=short)
    file = tmp_path / "report.json"
    file.touch(0o600)
    file.write_text(report.to_json())
    again = read_attack_report(file)["public"]
    assert (again.verdict, again.summary()) == (report.verdict, report.summary())
    assert attack_rows({"public": again}, {"public": report.policy})[0]["served"] == ["public"]
    with servers.client(tmp_path, attack_report=str(file)) as client:
        page = client.get("/method", headers=signed_in(client, "methodologist")).text
    assert "Of another policy than those that are served" in page
    assert "sex = 3" in page
    file.write_text(json.dumps({"public": {"verdict": "pass"}}))
    with pytest.raises(InputError, match="not a report"):
        read_attack_report(file)
    file.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        read_attack_report(file)
