"""Refusals that help: each table that is offered is answered when it is asked, and slips lead to the nearest name."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

import discreet as dc
from discreet.server.counting import cube
from discreet.server.pages.corrections import corrected_choice
from tests import servers

OFFERED = re.compile(r'<li><a href="(/table[^"]*)">(.*?) <small>')


@pytest.fixture(scope="module")
def villages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cube with an area of three levels: 40 villages, most of them small, in 8 districts of two provinces."""
    persons = 6000
    names = [f"v{k:02d}" for k in range(40)]
    above = {v: f"d{k // 5}" for k, v in enumerate(names)} | {f"d{k}": f"p{k // 4}" for k in range(8)}
    area = dc.Dimension.from_parents("area", above)
    sizes = [3 if k % 5 else 1180 for k in range(40)]
    where = [v for v, n in zip(names, sizes, strict=True) for _ in range(n)][:persons]
    book = dc.Codebook(dimensions=(area, dc.Dimension.flat("sex", ["f", "m"])), title="Villages")
    sexes = ["f" if k % 2 else "m" for k in range(len(where))]
    folder = tmp_path_factory.mktemp("villages")
    frame = {"area": where, "sex": sexes}
    cube.build(dc.Microdata.read(_arrow(frame), book), folder)
    return folder


def _arrow(columns: dict[str, list[str]]) -> object:
    import pyarrow as pa

    return pa.table(columns)


def _folder(parent: Path, name: str) -> Path:
    (parent / name).mkdir()
    return parent / name


def rounded(query: str, guard: str = "off") -> str:
    """A policy for records that have no keys."""
    text = servers.policy_text(
        query=query, guard=guard, method='[[method]]\nname = "random-round"\nseed = 31415926535897932384'
    )
    return text.partition("\n")[2]


def offered(text: str) -> list[tuple[str, str]]:
    """Addresses and words of the tables that a page offers."""
    return [(html.unescape(address), html.unescape(words)) for address, words in OFFERED.findall(text)]


@pytest.mark.parametrize("guard", ["off", "refuse"])
def test_what_is_offered_is_answered(villages: Path, tmp_path: Path, guard: str) -> None:
    """A village is too small: its district or province, and everyone, are not; each is really given."""
    text = rounded("[table]\nmin_population = 100", guard)
    with servers.client(tmp_path, text, cube=str(villages)) as client:
        page = client.get("/table?variables=sex&where=area=v01")
        assert page.status_code == 403
        near = offered(page.text)
        assert [words for _, words in near] == ["d0 instead of v01", "p0 instead of v01", "Everyone instead of v01"]
        for address, _ in near[:1] if guard == "refuse" else near:  # what is told changes what the guard allows
            assert client.get(address).status_code == 200
        assert offered(client.get("/verdict?v_sex=1&only_area=v01").text)


def test_less_detail_and_fewer_variables(tmp_path: Path, villages: Path) -> None:
    """A table with too many cells: a coarser level first, then without a variable; two changes where one is too few."""
    text = rounded("max_cells = 30")
    with servers.client(tmp_path, text, cube=str(villages)) as client:
        near = offered(client.get("/table?variables=sex,area").text)
        assert [words for _, words in near][:2] == [
            "area in less detail: d0, d1, d2, … (8)", "area in less detail: p0, p1 (2)",
        ]  # fmt: skip
        assert near[-1][1] == "Without area"
        assert all(client.get(address).status_code == 200 for address, _ in near)
    with servers.client(_folder(tmp_path, "again"), servers.policy_text(query="[table]")) as client:
        near = offered(client.get("/table?variables=sex,age,region,activity,education").text)
        assert near
        assert all(", " in words and "Without" in words for _, words in near)
        assert all(client.get(address).status_code == 200 for address, _ in near)


def test_a_variable_that_is_required_is_offered(tmp_path: Path) -> None:
    """With it the table is allowed."""
    with servers.client(tmp_path, servers.policy_text(query='required = { age = ["sex"] }')) as client:
        near = offered(client.get("/table?variables=age").text)
        assert near[0] == ("/table?variables=age,sex", "Together with Sex")


def test_offers_count_as_requests_and_are_recorded(tmp_path: Path) -> None:
    """Looking at near tables takes from the limit, and what is refused among them stands in the record."""
    text = servers.policy_text("[table]\nmin_population = 1000000", guard="off")
    with servers.client(tmp_path, text, rate=3) as client:
        page = client.get("/table?variables=sex,age&where=region=R1")
        assert page.status_code == 403
        assert offered(page.text) == []  # the whole census is too small
        lines = client.app.state.service.store.last_answers(100)  # type: ignore[attr-defined]
        assert len(lines) == 3  # the one that was asked, and two of those near it before the limit
        assert {line["rule"] for line in lines} == {"min_population"}
        assert client.get("/table?variables=sex").status_code == 429


@pytest.mark.parametrize(
    ("address", "there"),
    [
        ("/table?variables=agee,sexx", "/table?variables=age,sex"),
        ("/table?variabels=age", "/table?variables=age"),
        ("/table?variables=Occupation&where=region=Region%201", "/table?variables=occupation&where=region=R1"),
        ("/table?variables=sex&where=age=0_4", "/table?variables=sex&where=age=0-4"),
        ("/tabel?variables=sex", "/table?variables=sex"),
        ("/table?variables=sex:six", "/table?variables=sex"),
    ],
)
def test_a_slip_leads_to_the_nearest_name(tmp_path: Path, address: str, there: str) -> None:
    """In the page, as a link."""
    with servers.client(tmp_path) as client:
        page = client.get(address)
        assert page.status_code in (404, 422)
        assert f'href="{html.escape(there)}"' in page.text
        assert client.get(there).status_code == 200


def test_nothing_near_is_offered_for_nothing_known(tmp_path: Path) -> None:
    """Then the variables are listed; a restricted server names none to strangers."""
    dimensions = dc.datasets.census_dimensions()
    assert corrected_choice({"variables": "zzzzzz"}, dimensions) is None
    assert corrected_choice({}, dimensions) is None
    with servers.client(tmp_path) as client:
        page = client.get("/table?variables=zzzzzz").text
        assert "Did you mean" not in page
        assert 'href="/table?variables=occupation"' in page
    with servers.client(_folder(tmp_path, "restricted"), mode="restricted") as client:
        for path in ("/table?variabels=sexx", "/tabel?variables=sex", "/about?x=1"):
            page = client.get(path).text
            assert "occupation" not in page
            assert "variables=sex" not in page
