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


def test_one_measure_at_a_time_and_the_count_if_none_is_named(client: TestClient) -> None:
    """Metadata list all; a selection of several says so."""
    listed = client.get("/api/pxweb/v2/tables/table/metadata").json()["dimension"]["ContentsCode"]["category"]["index"]
    assert list(listed)[:3] == ["count", "pay", "pay-mean"]
    plain = client.get(f"{DATA}?valuecodes[sex]=*").json()
    assert list(plain["dimension"]["ContentsCode"]["category"]["index"]) == ["count"]
    several = client.get(f"{DATA}?valuecodes[sex]=*&valuecodes[ContentsCode]=*")
    assert several.status_code == 400
    assert "select one of count, pay" in several.json()["detail"]
    assert client.get("/api/sdmx/2.1/data/TABLE-SEX/.count+pay").status_code == 400
