"""The API: same bytes as the other doors, canonical errors, cache headers, formats, an honest OpenAPI document."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.cli import run
from discreet.formats import FORMATS, to_bytes
from discreet.server.counting import cube
from tests import servers

TABLE = "/api/table.csv?variables=age,sex&where=region=R1"
ERROR = {"error", "rule", "reason", "hint"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """An open server with a minimum population and forbidden pairs."""
    query = 'max_cells = 3000\nforbidden = [["occupation", "citizenship"]]\n[table]\nmin_population = 100'
    with servers.client(tmp_path_factory.mktemp("api"), servers.policy_text(query=query)) as made:
        yield made


def policy_of(client: TestClient) -> dc.Policy:
    return client.app.state.service.policy  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("form", [f for f in FORMATS if f.name != "csvw"], ids=lambda f: f.name)
def test_the_three_doors_give_the_same_bytes(client: TestClient, form: Any, tmp_path: Path) -> None:
    """Server by suffix and by Accept, library, and command line."""
    table, _ = cube.read_cube(servers.small_cube())
    library = to_bytes(dc.answer(table, dc.Query.of("age, sex", where="region=R1"), policy_of(client)), form.name)
    served = client.get(f"/api/table{form.suffix}?variables=sex,age&where=region=R1")
    assert served.status_code == 200
    assert served.content == library
    assert served.headers["content-type"] == form.media_type
    policy, out = client.app.state.service.settings.policy, tmp_path / f"table{form.suffix}"  # type: ignore[attr-defined]
    arguments = ["--policy", policy, "--variables", "sex,age", "--where", "region=R1", "-o", str(out)]
    assert run(["answer", str(servers.small_cube()), *arguments]) == 0
    assert out.read_bytes() == library


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("*/*", "text/csv"),
        ("application/json", "application/json"),
        ("text/x-pcaxis;q=0.9, application/json;q=0.5", "text/x-pcaxis"),
        ("image/png, text/*;q=0.1", "text/csv"),
        ("application/vnd.apache.parquet", "application/vnd.apache.parquet"),
        ("text/html,application/xhtml+xml", "text/html"),
    ],
)
def test_the_accept_header_chooses_the_format(client: TestClient, accept: str, kind: str) -> None:
    """Qualities and wildcards count."""
    answer = client.get("/api/table?variables=sex", headers={"accept": accept})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(kind)


@pytest.mark.parametrize(
    ("address", "status", "rule"),
    [
        ("/api/table?variables=sex,age,region,activity", 403, "max_dimensions"),
        ("/api/table?variables=occupation,citizenship", 403, "forbidden"),
        ("/api/table?variables=sex&where=age=0-4%2B5-9", 403, "nested_only"),
        ("/api/table?variables=age,occupation,education", 413, "max_cells"),
        ("/api/table?variables=sex&where=citizenship=STL", 403, "min_population"),
        ("/api/table?variables=sexx", 422, "input"),
        ("/api/table?variables=sex:decade", 422, "input"),
        ("/api/table?variables=sex&where=region=R9", 422, "input"),
        ("/api/table?variables=sex&where=region", 422, "input"),
        ("/api/table?variables=sex&measure=income", 422, "input"),
        ("/api/table?variables=", 422, "input"),
        ("/api/table", 422, "input"),
        ("/api/table.doc?variables=sex", 406, "format"),
        ("/api/nothing", 404, "path"),
    ],
)
def test_errors_have_one_form(client: TestClient, address: str, status: int, rule: str) -> None:
    """{error, rule, reason, hint}, with the status that fits."""
    answer = client.get(address)
    assert answer.status_code == status
    assert set(answer.json()) == ERROR
    assert answer.json()["rule"] == rule
    assert "Traceback" not in answer.text


def test_unknown_names_are_answered_with_the_nearest(client: TestClient) -> None:
    """As in the library."""
    assert "did you mean 'sex'" in client.get("/api/table?variables=sexx").json()["reason"]


def test_a_caller_who_has_the_answer_gets_none(client: TestClient) -> None:
    """ETag and If-None-Match; the tag differs by format and query, and only the asker may keep the answer."""
    first = client.get(TABLE)
    tag = first.headers["etag"]
    assert first.headers["cache-control"].startswith("private")
    again = client.get(TABLE, headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(TABLE.replace(".csv", ".json")).headers["etag"] != tag
    assert client.get(TABLE.replace("R1", "R2"), headers={"if-none-match": tag}).status_code == 200


def test_metadata_say_what_can_be_asked(client: TestClient) -> None:
    """Variables, levels, labels, limits, formats."""
    told = client.get("/api/metadata").json()
    assert [v["name"] for v in told["variables"]] == [d.name for d in dc.datasets.census_dimensions()]
    assert told["limits"]["max_cells"] == 3000
    assert {"csv", "json-stat", "sdmx-csv", "px", "xlsx", "parquet"} <= {f["name"] for f in told["formats"]}


def test_a_dry_run_counts_nothing(client: TestClient) -> None:
    """Cells asked and allowed, and the rule that would refuse."""
    good = client.get("/api/check?variables=sex,age").json()
    assert (good["allowed"], good["cells"], good["final"]) == (True, 66, False)
    bad = client.get("/api/check?variables=occupation,citizenship").json()
    assert (bad["allowed"], bad["rule"], bad["final"]) == (False, "forbidden", True)
    assert bad["hint"]


def test_every_answer_is_recorded_without_values(client: TestClient) -> None:
    """Who, what, the hash of the CSV; and the record can be replayed by the library."""
    body = client.get(TABLE).content
    line = client.app.state.service.store.last_answers(1)[0]  # type: ignore[attr-defined]
    assert line["outcome"] == "released"
    assert line["digest"] == hashlib.sha256(body).hexdigest()
    assert json.loads(line["query"])["where"] == {"region": ["R1"]}
    assert line["who"].startswith("address:")
    assert "127.0.0.1" not in str(line)
    assert "testclient" not in str(line)
    client.get("/api/table?variables=sex&where=citizenship=STL")
    line = client.app.state.service.store.last_answers(1)[0]  # type: ignore[attr-defined]
    assert (line["outcome"], line["rule"], line["digest"]) == ("refused", "min_population", "")


def test_a_fault_tells_nothing(client: TestClient, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """The message of an accident may hold data: neither caller nor log see it."""
    monkeypatch.setattr("discreet.server.service.answer_query", lambda *_: 1 / 0 if not _ else int("4711 people"))
    answer = client.get("/api/table?variables=education&where=region=R2")
    assert answer.status_code == 500
    assert set(answer.json()) == ERROR
    assert "4711" not in answer.text + capfd.readouterr().err


def test_headers_keep_a_browser_safe(client: TestClient) -> None:
    """On every kind of answer, errors included."""
    for address in ("/", TABLE, "/api/nothing", "/nothing", "/static/style.css", "/health"):
        headers = client.get(address).headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "cache-control" in headers


# -- the OpenAPI document against the server (as schemathesis would) ---------------------------------------------

TEXTS = st.one_of(
    st.sampled_from(
        ["sex", "sex,age", "age:age", "region,region", "sex,,age", "region=R1", "region=R1;sex=F", "=", ""]
    ),
    st.text(max_size=40),
)


@given(
    path=st.sampled_from(["/api/table", "/api/table.csv", "/api/table.json", "/api/table.px", "/api/check"]),
    variables=TEXTS,
    where=TEXTS,
    measure=st.one_of(st.just("count"), st.text(max_size=10)),
    accept=st.one_of(st.just("*/*"), st.from_regex(r"[a-z*]{1,8}/[a-z*]{1,8}(;q=[0-9.]{1,4})?", fullmatch=True)),
)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_asked_the_document_foretells_the_answer(
    client: TestClient, path: str, variables: str, where: str, measure: str, accept: str
) -> None:
    """Status and content type are declared, errors fit their schema, nothing is a fault."""
    document = _document(client)
    asked = {"variables": variables, "where": where, "measure": measure}
    answer = client.get(path, params=asked, headers={"accept": accept})
    declared = document["paths"][path if path in document["paths"] else "/api/table.{suffix}"]["get"]["responses"]
    assert str(answer.status_code) in declared
    content = declared[str(answer.status_code)].get("content", {})
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in content
    if answer.status_code >= 400:
        jsonschema.validate(answer.json(), content[kind]["schema"])


_documents: dict[int, dict[str, Any]] = {}


def _document(client: TestClient) -> dict[str, Any]:
    if id(client) not in _documents:
        _documents[id(client)] = client.get("/api/openapi.json").json()
    return _documents[id(client)]


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/nothing"])
def test_where_there_is_nothing_the_hint_leads_somewhere(client: TestClient, path: str) -> None:
    """The address that is named answers."""
    answer = client.get(path)
    assert answer.status_code == 404
    named = [word for word in answer.text.replace('"', " ").split() if word.startswith("/api")]
    assert named
    assert all(client.get(word).status_code == 200 for word in named)
