"""SDMX's REST interface: the numbers of the table server, read by sdmx1, and structures that agree with them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
import requests
import sdmx

from tests import servers
from tests.server.portals.data_sets import two_cubes


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A hub of two cubes that clients can connect to."""
    folder = tmp_path_factory.mktemp("sdmx")
    (folder / "people.toml").write_text(servers.policy_text(query='forbidden = [["age", "citizenship"]]'))
    more: dict[str, Any] = {"policies": {"people": str(folder / "people.toml")}}
    with servers.serving(folder, cube=None, cubes=two_cubes(), **more) as given:
        yield given


@pytest.fixture(scope="module")
def client(address: str) -> Any:
    """The client of sdmx1 for this server."""
    sdmx.add_source({"id": "DISCREET", "url": f"{address}/api/sdmx/2.1", "name": "tables"}, override=True)
    return sdmx.Client("DISCREET")


def counts(address: str, query: str) -> dict[tuple[str, ...], int]:
    """The cells of /api/table by their codes."""
    text = requests.get(f"{address}/areas/api/table.csv?{query}", timeout=60).text
    return {tuple(row[:-2]): int(row[-2]) for row in list(csv.reader(io.StringIO(text)))[1:]}


def test_dataflows_are_those_that_the_policy_gives(client: Any) -> None:
    """All variables, each, and each pair but the forbidden one; a year without a total is always there."""
    flows = set(client.dataflow().dataflow)
    assert {"PEOPLE", "PEOPLE-AGE", "PEOPLE-SEX-AGE", "AREAS", "AREAS-SEX-YEAR", "AREAS-COUNTY-SEX-YEAR"} <= flows
    assert not {"PEOPLE-AGE-CITIZENSHIP", "AREAS-SEX"} & flows


def test_a_small_dataflow_is_the_table_of_its_variables(client: Any, address: str) -> None:
    """Without a key: the same cells as the table server's, with every code of the codelists."""
    message = client.data("AREAS-COUNTY-YEAR")
    table = counts(address, "variables=county,year")
    series: Any = sdmx.to_pandas(message)
    assert {key[:2]: int(value) for key, value in series.items()} == table
    assert "cell key" in str(message.data[0].attrib["METHOD"])


def test_the_structure_describes_the_data(client: Any) -> None:
    """Dimensions in the order of keys, codelists with labels and parents; codes of data are codes of the list."""
    message = client.dataflow("AREAS-YEAR-COUNTY")
    structure = message.structure["DSD_AREAS-YEAR-COUNTY"]
    assert [d.id for d in structure.dimensions.components] == ["YEAR", "COUNTY", "MEASURE"]
    codes = message.codelist["CL_AREAS_COUNTY"]
    assert (str(codes["N1"].name), codes["N1"].parent.id) == ("County N1", "North")
    data = sdmx.to_pandas(client.data("AREAS-YEAR-COUNTY", key={"YEAR": "2024"}, dsd=structure))
    assert set(data.index.get_level_values("COUNTY")) == set(codes.items)
    generic = sdmx.to_pandas(client.data("AREAS-YEAR-COUNTY", key="2024.."))
    assert generic.to_dict() == data.to_dict()


def test_a_key_selects_codes(client: Any, address: str) -> None:
    """By names of dimensions, with the total of a variable that is summed over."""
    table = counts(address, "variables=county,sex&where=year=2025")
    message = client.data("AREAS", key={"COUNTY": ["North", "S3"], "SEX": "Total", "YEAR": "2025"})
    frame: Any = sdmx.to_pandas(message, attributes="o")
    got = {(key[0], key[1]): int(value) for key, value in frame["value"].items()}
    assert got == {key: table[key] for key in (("North", "Total"), ("S3", "Total"))}
    assert set(frame["CONF_STATUS"]) == {"F"}


def test_csv_has_the_same_observations(address: str) -> None:
    """SDMX-CSV, if Accept names it, with identifiers for codes that SDMX does not allow as they are."""
    base = f"{address}/api/sdmx/2.1"
    reply = requests.get(
        f"{base}/data/PEOPLE-AGE/100_+Total.", headers={"accept": "application/vnd.sdmx.data+csv"}, timeout=60
    )
    rows = list(csv.DictReader(io.StringIO(reply.text)))
    assert [row["AGE"] for row in rows] == ["Total", "100_"]
    text = requests.get(f"{address}/people/api/table.csv?variables=age", timeout=60).text
    table = {row["age"]: row["count"] for row in csv.DictReader(io.StringIO(text))}
    assert [row["OBS_VALUE"] for row in rows] == [table["Total"], table["100+"]]


def test_resources_by_name(client: Any) -> None:
    """Codelists, concepts and structures one by one."""
    assert list(client.codelist("CL_AREAS_SEX").codelist) == ["CL_AREAS_SEX"]
    assert "COUNTY" in client.conceptscheme("CS_AREAS").concept_scheme["CS_AREAS"].items
    assert "DSD_AREAS" in client.datastructure("DSD_AREAS").structure


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("data/PEOPLE", 403, "7 variables are asked, 3 are allowed"),
        ("data/PEOPLE-AGE-CITIZENSHIP", 403, "not published together"),
        ("data/PERSONS", 404, "no dataflow"),
        ("data/AREAS-SEX-SEX", 404, "no dataflow"),
        ("data/AREAS-SEX", 403, "'year' has no total"),
        ("data/AREAS-COUNTY-YEAR/N1", 400, "the key has 1 dimensions"),
        ("data/AREAS-COUNTY-YEAR/N9..", 400, "not a code of COUNTY"),
        ("data/AREAS-COUNTY-YEAR?startPeriod=2024", 400, "unknown parameter"),
        ("data/AREAS-COUNTY-YEAR?detail=nodata", 400, "given in"),
        ("data/OTHER,AREAS-COUNTY-YEAR", 404, "no agency"),
        ("dataflow/DISCREET/AREAS/2.0", 404, "no version"),
        ("dataflow/DISCREET/AREAS?references=some", 400, "references is one of"),
        ("codelist/DISCREET/CL_X", 404, "no codelist"),
    ],
)
def test_errors_are_messages_of_sdmx(address: str, path: str, status: int, words: str) -> None:
    """With the status of the server and the reason as text."""
    reply = requests.get(f"{address}/api/sdmx/2.1/{path}", timeout=60)
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/xml"
    texts = [node.text or "" for node in ElementTree.fromstring(reply.text).iter() if node.tag.endswith("}Text")]
    assert any(words in text for text in texts), reply.text
