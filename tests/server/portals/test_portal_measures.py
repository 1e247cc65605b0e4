"""Sums, means and quantiles through the interfaces of other portals: the numbers of /api/table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from discreet.policy import parse_policy
from discreet.server import Settings, create_app
from discreet.server.counting import cube
from tests.policy.test_statistics import COUNTS, HOURS, PAY, SECRET, workers

POLICY = 'secret = { env = "MEASURE_SECRET" }\n[guard]\naction = "refuse"\n' + COUNTS + PAY + HOURS
DATA = "/api/pxweb/v2/tables/table/data"


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A server whose policy serves pay and hours."""
    monkeypatch.setenv("MEASURE_SECRET", SECRET)
    (tmp_path / "p.toml").write_text(POLICY)
    cube.build(workers(1500), tmp_path / "cube", parse_policy(POLICY))
    store = f"sqlite:///{tmp_path}/s.db"
    with TestClient(
        create_app(Settings(policy=str(tmp_path / "p.toml"), cube=str(tmp_path / "cube"), store=store))
    ) as one:
        yield one


def table(client: TestClient, query: str) -> dict[str, float | None]:
    """The numbers of /api/table by the code of the one variable."""
    rows = list(csv.reader(io.StringIO(client.get(f"/api/table.csv?variables=sex&{query}").text)))[1:]
    return {row[0]: float(row[-2]) if row[-2] else None for row in rows}


@pytest.mark.parametrize(
    ("code", "query"),
    [
        ("pay", "measure=pay"),
        ("pay-mean", "measure=pay&statistic=mean"),
        ("pay-median", "measure=pay&statistic=median"),
        ("pay-per-hours", "measure=pay&statistic=per-hours"),
        ("count", ""),
    ],
)
def test_a_measure_is_selected_by_its_code(client: TestClient, code: str, query: str) -> None:
    """In PxWeb and in SDMX the same numbers, with their decimals."""
    wanted = table(client, query)
    dataset = client.get(f"{DATA}?valuecodes[sex]=*&valuecodes[ContentsCode]={code}").json()
    assert list(dataset["dimension"]["ContentsCode"]["category"]["index"]) == [code]
    index = dataset["dimension"]["sex"]["category"]["index"]
    assert {sex: dataset["value"][place] for sex, place in index.items()} == wanted
    reply = client.get(f"/api/sdmx/2.1/data/TABLE-SEX/.{code}", headers={"accept": "text/csv"})
    rows = list(csv.DictReader(io.StringIO(reply.text)))
    assert {row["SEX"]: float(row["OBS_VALUE"]) if row["OBS_VALUE"] else None for row in rows} == wanted


def test_the_count_is_given_if_no_measure_is_named(client: TestClient) -> None:
    """Metadata list all."""
    listed = client.get("/api/pxweb/v2/tables/table/metadata").json()["dimension"]["ContentsCode"]["category"]["index"]
    assert list(listed)[:3] == ["count", "pay", "pay-mean"]
    plain = client.get(f"{DATA}?valuecodes[sex]=*").json()
    assert list(plain["dimension"]["ContentsCode"]["category"]["index"]) == ["count"]


SEVERAL = {"count": "", "pay": "measure=pay", "pay-mean": "measure=pay&statistic=mean"}


def test_several_measures_are_those_of_one_at_a_time(client: TestClient) -> None:
    """Each number is that of its own table, by GET, by POST, in version 1 and in SDMX."""
    wanted = [value for query in SEVERAL.values() for value in table(client, query).values()]
    codes = ",".join(SEVERAL)
    dataset = client.get(f"{DATA}?valuecodes[sex]=*&valuecodes[ContentsCode]={codes}").json()
    assert dataset["size"] == [3, 3]
    assert dataset["value"] == wanted
    assert list(dataset["extension"]["discreet"]["tables"]) == list(SEVERAL)
    assert dataset["dimension"]["ContentsCode"]["category"]["unit"]["pay-mean"]["decimals"] > 0
    selection = [
        {"variableCode": "sex", "valueCodes": ["*"]},
        {"variableCode": "ContentsCode", "valueCodes": ["pay-mean", "count", "pay"]},
    ]
    assert client.post(DATA, json={"selection": selection}).json() == dataset
    query = [
        {"code": "sex", "selection": {"filter": "all", "values": ["*"]}},
        {"code": "ContentsCode", "selection": {"filter": "item", "values": list(SEVERAL)}},
    ]
    first = client.post("/api/pxweb/v1/en/tables/table", json={"query": query, "response": {"format": "json"}}).json()
    assert [float(text) for row in first["data"] for text in row["values"]] == [
        wanted[3 * m + k] for k in range(3) for m in range(3)
    ]
    reply = client.get(f"/api/sdmx/2.1/data/TABLE-SEX/.{codes.replace(',', '+')}", headers={"accept": "text/csv"})
    assert [float(row["OBS_VALUE"]) for row in csv.DictReader(io.StringIO(reply.text))] == wanted


@pytest.mark.parametrize("form", ["px", "xlsx", "csv", "json-px", "html", "parquet"])
def test_several_measures_in_every_format(client: TestClient, form: str) -> None:
    """What one measure is given in, several are."""
    got = client.get(f"{DATA}?valuecodes[sex]=*&valuecodes[ContentsCode]=count,pay-mean&outputFormat={form}")
    assert got.status_code == 200, got.text


def test_one_refused_measure_refuses_all_and_is_named(client: TestClient) -> None:
    """The codebook's refusals come before anything is asked."""
    three = f"{DATA}?valuecodes[area]=*&valuecodes[sex]=*&valuecodes[age]=*&valuecodes[ContentsCode]="
    got = client.get(f"{three}*")
    assert got.status_code == 403
    assert got.json()["detail"].startswith("pay: median: 4 variables are asked")


def test_a_number_is_marked_where_it_is_not_given(client: TestClient) -> None:
    """Not where another measure of the same cell is hidden: in JSON-stat and in SDMX."""
    address = f"{DATA}?valuecodes[area]=*&valuecodes[sex]=*&valuecodes[ContentsCode]=count,pay"
    dataset = client.get(address).json()
    assert {int(place) for place in dataset["status"]} == {
        k for k, value in enumerate(dataset["value"]) if value is None
    }
    generic = client.get("/api/sdmx/2.1/data/TABLE-AREA-SEX/..count+pay", headers={"accept": "text/csv"}).text
    for row in csv.DictReader(io.StringIO(generic)):
        assert (row["CONF_STATUS"] == "C") == (row["OBS_VALUE"] == "")
