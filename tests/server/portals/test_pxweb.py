"""PxWeb's interfaces: the server's numbers, rules and record, by the clients that people use."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pxstatspy
import pxweb
import pytest
import requests
from fastapi.testclient import TestClient
from jsonstat_validator import validate_jsonstat
from pyscbwrapper import SCB

from discreet.server.auth import new_token, new_user
from tests import servers
from tests.server.portals.data_sets import area_cube, two_cubes

DATA = "/api/pxweb/v2/tables/{}/data"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A hub of two cubes that clients can connect to."""
    with servers.serving(tmp_path_factory.mktemp("pxweb"), cube=None, cubes=two_cubes()) as given:
        yield given


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The same hub in this process."""
    folder = tmp_path_factory.mktemp("hub")
    rules = 'forbidden = [["occupation", "citizenship"]]\ndisallowed = ["education"]'
    (folder / "people.toml").write_text(servers.policy_text(query=rules))
    more: dict[str, Any] = {"policies": {"people": str(folder / "people.toml")}}
    with servers.client(folder, cube=None, cubes=two_cubes(), **more) as given:
        yield given


def posted_codes(expressions: Iterable[str]) -> str:
    """A selection of years by patterns and ranges, to be posted."""
    return json.dumps({"selection": [{"variableCode": "year", "valueCodes": [*expressions]}]})


def cells(dataset: dict[str, Any]) -> dict[frozenset[tuple[str, str]], Any]:
    """The values of a JSON-stat dataset by the codes of all its dimensions but the measures."""
    names, sizes = dataset["id"], dataset["size"]
    codes = []
    for name in names:
        index = dataset["dimension"][name]["category"]["index"]
        codes.append(sorted(index, key=index.__getitem__) if isinstance(index, dict) else index)
    found = {}
    for place, value in enumerate(dataset["value"]):
        key, rest = [], place
        for name, held, size in reversed(list(zip(names, codes, sizes, strict=True))):
            if name not in ("ContentsCode", "measure"):
                key.append((name, held[rest % size]))
            rest //= size
        found[frozenset(key)] = value
    return found


def test_every_selection_is_a_part_of_the_table_that_it_names(client: TestClient) -> None:
    """Whatever codes are selected, each value is the one of /api/table at the same codes and totals."""
    draw = random.Random(3)
    metadata = client.get("/api/pxweb/v2/tables/areas/metadata").json()["dimension"]
    answered = 0
    for _ in range(60):
        wanted = {"year": draw.sample(["2024", "2025"], draw.choice((1, 2)))}
        for name in ("county", "sex"):
            codes = list(metadata[name]["category"]["index"])
            if draw.random() < 0.8:
                wanted[name] = draw.sample(codes, draw.choice((1, 1, 2, len(codes))))
        address = "&".join(f"valuecodes[{name}]={','.join(codes)}" for name, codes in wanted.items())
        reply = client.get(f"{DATA.format('areas')}?{address}")
        assert reply.status_code == 200, reply.text
        dataset = reply.json()
        whole = client.get(
            "/areas" + dataset["extension"]["discreet"]["tables"]["count"], headers={"accept": "application/json"}
        )
        table = cells(whole.json())
        names = set(whole.json()["id"])
        assert set(dataset["id"]) == {"ContentsCode", *wanted}
        for key, value in cells(dataset).items():
            at = {name: code for name, code in key if name in names}
            at |= {name: {"county": "Land", "sex": "Total"}[name] for name in names - {"measure", *at}}
            assert table[frozenset(at.items())] == value
            answered += 1
    assert answered > 200


def test_the_dataset_is_json_stat(client: TestClient) -> None:
    """The metadata and the data of PxWeb are datasets by the specification."""
    dataset = client.get(DATA.format("people") + "?valuecodes[sex]=*&valuecodes[age]=TOP(3)").json()
    validate_jsonstat(dataset)
    assert dataset["size"] == [1, 3, 3]
    metadata = client.get("/api/pxweb/v2/tables/people/metadata").json()
    validate_jsonstat({**metadata, "value": {}})
    assert "education" not in metadata["id"]


def test_pxwebpy_works_unchanged(address: str) -> None:
    """Search, variables, codelists with wildcards, the default selection, and data frames."""
    api = pxweb.PxApi(address + "/api/pxweb/v2")
    assert api.number_of_tables == 2
    assert [table["id"] for table in api.search("COUNTY north")["tables"]] == ["areas"]
    assert api.tables_on_path("tables")[0]["id"] == "people"
    variables = api.get_table_variables("areas")
    assert (variables["county"]["elimination"], variables["year"]["elimination"]) == (True, False)
    listed = variables["county"]["codelists"][0]["id"]
    assert api.get_code_list(listed)["values"][0]["valueMap"] == ["N1", "N2"]
    metadata = requests.get(
        f"{address}/api/pxweb/v2/tables/areas/metadata?codelist[county]={listed}", timeout=60
    ).json()
    assert list(metadata["dimension"]["county"]["category"]["index"]) == ["North", "South"]
    assert len(api.get_table_data("people")) == 3
    rows = api.get_table_data("areas", {"county": "*", "year": "2024"}, code_list={"county": listed}, show="code")
    csv_text = requests.get(f"{address}/areas/api/table.csv?variables=county:level 1&where=year=2024", timeout=60).text
    table = {row["county"]: int(row["count"]) for row in csv.DictReader(io.StringIO(csv_text))}
    assert {row["county"]: row["value"] for row in rows} == {code: table[code] for code in ("North", "South")}
    with pytest.raises(requests.exceptions.HTTPError, match="7 variables are asked, 3 are allowed"):
        api.get_table_data_all("people")


def test_pxstatspy_works_unchanged(address: str) -> None:
    """Another client: tables as a frame, expressions, and data as a frame."""
    api = pxstatspy.PxAPI(pxstatspy.PxAPIConfig(base_url=address + "/api/pxweb/v2"))
    assert api.max_data_cells == 100_000
    assert list(api.find_tables_as_dataframe()["id"]) == ["people", "areas"]
    frame = api.get_data_as_dataframe("areas", {"year": ["TOP(1)"], "county": ["RANGE(N1,N2)"]})
    assert list(frame["county"]) == ["County N1", "County N2"]
    whole = api.get_data_as_dataframe("areas", {"year": ["*"], "county": ["*"], "sex": ["*"]})
    assert len(whole) == 8 * 3 * 2
    at = (whole["sex"] == "Total") & (whole["year"] == "2024") & whole["county"].isin(["County N1", "County N2"])
    assert list(whole[at]["count"]) == list(frame["count"])
    with pytest.raises(pxstatspy.PxAPIError, match="4 variables are asked"):
        api.get_data_as_dataframe("people", {name: ["*"] for name in ("sex", "age", "region", "citizenship")})


def test_pyscbwrapper_works_with_the_first_version(address: str) -> None:
    """The client of version 1 walks from the folder to the table and posts its query."""
    client = SCB("en")
    client.url = address + "/api/pxweb/v1/en/tables/"
    assert [table["id"] for table in client.info()] == ["people", "areas"]
    client.go_down("areas")
    assert client.get_variables()["sex"] == ["Total", "women", "men"]
    client.set_query(county=["Land", "County N1"], sex=["women"], year=["2024"])
    rows = client.get_data()["data"]
    assert [row["key"] for row in rows] == [["Land", "f", "2024"], ["N1", "f", "2024"]]
    api = pxweb.PxApi(address + "/api/pxweb/v2")
    again = api.get_table_data("areas", {"county": ["Land", "N1"], "sex": "f", "year": "2024"})
    assert [int(row["values"][0]) for row in rows] == [row["value"] for row in again]


@pytest.mark.parametrize("form", ["json-stat2", "json-px", "csv", "px", "xlsx", "html", "parquet"])
def test_every_format_holds_the_selected_cells(client: TestClient, form: str) -> None:
    """By GET and by POST the same bytes, in each format that the configuration lists."""
    assert form in client.get("/api/pxweb/v2/config").json()["dataFormats"]
    got = client.get(f"{DATA.format('areas')}?valuecodes[year]=*&valuecodes[sex]=f,m&outputFormat={form}")
    body = {
        "selection": [
            {"variableCode": "sex", "valueCodes": ["f", "m"]},
            {"variableCode": "year", "valueCodes": ["*"]},
        ]
    }
    posted = client.post(f"{DATA.format('areas')}?outputFormat={form}", json=body)
    assert (got.status_code, got.content) == (posted.status_code, posted.content) == (200, got.content)
    assert got.headers["etag"] == posted.headers["etag"]
    again = client.get(
        f"{DATA.format('areas')}?valuecodes[year]=*&valuecodes[sex]=f,m&outputFormat={form}",
        headers={"if-none-match": got.headers["etag"]},
    )
    assert again.status_code == 304
    if form == "parquet":
        assert len(pd.read_parquet(io.BytesIO(got.content))) == 4


def test_csv_lays_variables_out_as_asked(client: TestClient) -> None:
    """Headings across, codes or texts, a separator, and every number in its place."""
    plain = client.get(f"{DATA.format('areas')}?valuecodes[year]=*&valuecodes[sex]=*&outputFormat=csv").text
    rows = list(csv.reader(io.StringIO(plain)))
    assert rows[0] == ["sex", "year", "count"]
    numbers = {(sex, year): number for sex, year, number in rows[1:]}
    options = "outputFormatParams=UseCodesAndTexts,SeparatorSemicolon&heading=sex&stub=year"
    laid = client.get(f"{DATA.format('areas')}?valuecodes[year]=*&valuecodes[sex]=*&outputFormat=csv&{options}").text
    head, *lines = list(csv.reader(io.StringIO(laid), delimiter=";"))
    assert head == ["year", "Total count", "f women count", "m men count"]
    assert [line[0] for line in lines] == ["2024", "2025"]
    for year, *values in lines:
        assert values == [numbers[sex, year] for sex in ("Total", "women", "men")]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/api/pxweb/v2/tables/area", 404, "did you mean 'areas'"),
        ("/api/pxweb/v2/tables/areas/data?valuecodes[sexx]=f&valuecodes[year]=*", 400, "did you mean 'sex'"),
        ("/api/pxweb/v2/tables/areas/data?valuecodes[sex]=f", 400, "'year' has no total"),
        ("/api/pxweb/v2/tables/areas/data?valuecodes[year]=1999", 400, "selects no code of 'year'"),
        ("/api/pxweb/v2/tables/areas/data?valuecodes[year]=TOP(x)", 400, "takes a number"),
        ("/api/pxweb/v2/tables/areas/data?valuecodes[year]=FROM(1999)", 400, "begin or end at it"),
        ("/api/pxweb/v2/tables/areas/data?valuecodes[year]=*&VALUECODES[year]=2024", 400, "given twice"),
        ("/api/pxweb/v2/tables/areas/data?valuecodes=2024", 400, "unknown parameter"),
        ("/api/pxweb/v2/tables/areas/data?valuecodes[year]=*&outputFormat=png", 400, "no format 'png'"),
        ("/api/pxweb/v2/tables/areas/data?valuecodes[year]=*&codelist[year]=vs_x", 400, "has no codelist"),
        ("/api/pxweb/v2/tables/areas/metadata?codelist[county]=vs_x", 400, "has no codelist"),
        ("/api/pxweb/v2/tables/areas/metadata?codelist[x]=vs_x", 400, "no variable 'x'"),
        ("/api/pxweb/v2/tables/areas/metadata?defaultSelection=maybe", 400, "'true' or 'false'"),
        ("/api/pxweb/v2/tables/areas/metadata?lang=sv", 400, "no language 'sv'"),
        ("/api/pxweb/v2/tables/people/data?valuecodes[education]=*", 400, "no variable 'education'"),
        ("/api/pxweb/v2/codelists/agg_x", 404, "no codelist"),
        ("/api/pxweb/v2/nothing", 404, "nothing here"),
        (
            "/api/pxweb/v2/tables/people/data?valuecodes[occupation]=*&valuecodes[citizenship]=*",
            403,
            "not published together",
        ),
        ("/api/pxweb/v1/sv", 404, "no language"),
        ("/api/pxweb/v1/en/table/areas", 404, "no folder"),
        ("/api/pxweb/v1/en/tables/areas?query=sex", 400, "unknown parameter 'query'"),
        ("/api/pxweb/v1/en/tables?query=sex&query=age", 400, "given twice"),
    ],
)
def test_errors_have_the_form_of_the_interface(client: TestClient, path: str, status: int, words: str) -> None:
    """Problem details in version 2, a sentence in version 1; with the reason and what to do."""
    reply = client.get(path)
    assert reply.status_code == status, reply.text
    if "/v1/" in path:
        assert words in reply.json()["error"]
    else:
        assert reply.headers["content-type"] == "application/problem+json"
        assert words in reply.json()["detail"]
        assert reply.json()["status"] == status


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("{", "not JSON"),
        ("[]", "an object with"),
        ('{"selections": []}', "did you mean 'selection'"),
        ('{"selection": [{"variableCode": 3}]}', "variableCode is a text"),
        ('{"selection": [{"variableCode": "year", "valueCodes": "*"}]}', "valueCodes is a list"),
        ('{"selection": [{"variableCode": "year"}, {"variableCode": "year"}]}', "selected twice"),
        ('{"selection": [{"variableCode": "year"}], "placement": {"stub": ["county"]}}', "placed and not selected"),
        ('{"selection": [], "selection": [{"variableCode": "year"}]}', "'selection' is given twice"),
        ('{"selection": [{"variableCode": "year", "valueCodes": ["*"], "valueCodes": ["2024"]}]}', "given twice"),
        (posted_codes("?" * k + "*" for k in range(60)), "selects no code"),
        (posted_codes("2" * k + "*2*" for k in range(60)), "selects no code"),
        (posted_codes("*" + "?" * (k % 5) + "*" * k for k in range(60)), "at most 50 patterns and ranges"),
        (posted_codes("TO(2024)" + " " * k for k in range(60)), "at most 50 patterns and ranges"),
        (posted_codes(["*" * 2000]), "selects no code"),
        (posted_codes(["RANGE(" + "(" * 190_000 + ")"]), "selects no code"),
        ("[" * 100_000, "not JSON"),
        ('{"selection": "' + "x" * 300_000 + '"}', "at most 200,000 bytes"),
    ],
)
def test_a_wrong_body_is_told_what_is_wrong(client: TestClient, body: str, words: str) -> None:
    """Whatever is posted, there is a sentence about it."""
    reply = client.post(DATA.format("areas") + "?outputFormat=csv", content=body)
    assert reply.status_code in (400, 403)
    assert words in reply.json()["detail"]


def test_many_codes_are_selected_by_name(client: TestClient) -> None:
    """Codes that are listed are no patterns, however many there are; a code that is listed again is the same."""
    few, many = (client.post(DATA.format("areas"), content=posted_codes(["2024", "2025"] * n)) for n in (1, 500))
    assert few.status_code == 200
    assert few.json()["value"] == many.json()["value"]


def test_the_first_version_searches_its_folder_and_reads_no_other_parameter(client: TestClient) -> None:
    """What is not read is an error: it would answer another question than was asked."""
    folder = "/api/pxweb/v1/en/tables"
    assert {table["id"] for table in client.get(folder).json()} == {"areas", "people"}
    assert [table["id"] for table in client.get(f"{folder}?query=county").json()] == ["areas"]
    assert client.get(f"{folder}?query=nothing+of+that+kind").json() == []
    for wrong in ("config", "query=county"):
        reply = client.post(f"{folder}/areas?{wrong}", content="{}")
        assert reply.status_code == 400
        assert "unknown parameter" in reply.json()["error"]


def test_answers_are_admitted_limited_and_recorded_like_others(tmp_path: Path) -> None:
    """A restricted server asks for a token; the record has answers and refusals; a role is answered by its policy."""
    (tmp_path / "more.toml").write_text(servers.policy_text().replace("max_dimensions = 3", "max_dimensions = 4"))
    more: dict[str, Any] = {"mode": "restricted", "roles": {"methodologist": str(tmp_path / "more.toml")}}
    with servers.client(tmp_path, **more) as client:
        path = DATA.format("table") + "?" + "&".join(f"valuecodes[{n}]=*" for n in ("sex", "age", "region"))
        assert client.get(path).status_code == 401
        for open_to_nobody in ("v2/tables", "v2/config", "v1/en", "v1/en/tables", "v1/en/tables/table"):
            assert client.get(f"/api/pxweb/{open_to_nobody}").status_code == 401
        store = client.app.state.service.store  # type: ignore[attr-defined]
        tokens = {}
        for role in ("approved", "methodologist"):
            new_user(store, role, role, None)
            tokens[role] = {"authorization": f"Bearer {new_token(store, role)}"}
        assert client.get(path, headers=tokens["approved"]).status_code == 200
        wide = path + "&valuecodes[citizenship]=*"
        assert client.get(wide, headers=tokens["approved"]).status_code == 403
        assert client.get(wide, headers=tokens["methodologist"]).status_code == 200
        lines = store.last_answers(10)
    assert sorted((line["who"], line["outcome"]) for line in lines) == [
        ("user:approved", "refused"),
        ("user:approved", "released"),
        ("user:methodologist", "released"),
    ]


def test_too_many_requests_are_told_when_to_come_back(tmp_path: Path) -> None:
    """The limit of the server holds here, and is the one that the configuration states."""
    with servers.client(tmp_path, rate=3, cube=str(area_cube())) as client:
        assert client.get("/api/pxweb/v2/config").json()["maxCallsPerTimeWindow"] == 3
        statuses = [client.get("/api/pxweb/v2/tables") for _ in range(3)]
    assert [reply.status_code for reply in statuses] == [200, 200, 429]
    assert int(statuses[-1].headers["retry-after"]) > 0
