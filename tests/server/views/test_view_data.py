"""The data of the viewer: the same numbers as every other format, with ranges by the method, and nothing else."""

from __future__ import annotations

import csv
import io
import itertools
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.data.variable_description import is_ordered
from discreet.release.sum_errors import SumErrors
from tests import servers

QUERY = "variables=age,sex&where=region=R1"
ROUNDED = '[[method]]\nname = "random-round"\nbase = 5\n'


@pytest.mark.parametrize("method", [ROUNDED, servers.KEYED.format(d=2, v=1)])
def test_values_are_those_of_the_csv_in_row_major_order(tmp_path: Path, method: str) -> None:
    """Cell by cell, with a range around each."""
    with servers.client(tmp_path, servers.policy_text(method=method)) as client:
        document = client.get(f"/api/table.view.json?{QUERY}").json()
        rows = list(csv.DictReader(io.StringIO(client.get(f"/api/table.csv?{QUERY}").text)))
    names = [d["name"] for d in document["dimensions"]]
    codes = list(itertools.product(*(d["codes"] for d in document["dimensions"])))
    told = {tuple(row[name] for name in names): int(row["count"]) for row in rows}
    assert [told[one] for one in codes] == document["values"]
    low, high = np.array(document["low"]), np.array(document["high"])
    assert (low <= document["values"]).all()
    assert (np.array(document["values"]) <= high).all()
    assert (high - low).max() <= 8
    assert document["level"] == 0.9
    assert document["population"] == [{"name": "region", "label": "Region", "code": "R1", "category": "Region 1"}]


def test_what_adds_up_to_the_range_of_a_group_is_in_the_document(tmp_path: Path) -> None:
    """As a release has it, so that the viewer can say how sure a sum is without asking."""
    with servers.client(tmp_path, servers.policy_text(method=ROUNDED)) as client:
        document = client.get(f"/api/table.view.json?{QUERY}").json()
    errors, values = document["errors"], np.array(document["values"], float)
    assert len(errors["rows"]) < 4
    kinds = np.frombuffer(errors["kinds"].encode(), np.uint8).astype(int) - ord("1")
    assert len(kinds) == len(values)
    ranges = (np.array(document["low"], float), np.array(document["high"], float))
    held = SumErrors(kinds, np.array(errors["rows"]), errors["once"])
    some = np.array([3, 6, 9])
    low, high = held.range_of(some, values, ranges, whole=True)
    assert (low, high) == (max(values[some].sum() - 10, 0), values[some].sum() + 10)  # Hoeffding: 5 * sqrt(3 * 1.5)


def test_it_is_one_more_format_of_the_same_answer(tmp_path: Path) -> None:
    """The same admission, tag, record and refusals as for the others; named in the metadata."""
    text = servers.policy_text(query="[table]\nmin_population = 100")
    with servers.client(tmp_path, text) as client:
        first = client.get(f"/api/table.view.json?{QUERY}")
        again = client.get(f"/api/table.view.json?{QUERY}", headers={"If-None-Match": first.headers["etag"]})
        assert again.status_code == 304
        assert first.headers["etag"] != client.get(f"/api/table.json?{QUERY}").headers["etag"]
        refused = client.get("/api/table.view.json?variables=sex&where=citizenship=STL")
        assert (refused.status_code, refused.json()["rule"]) == (403, "min_population")
        suffixes = [one["suffix"] for one in client.get("/api/metadata").json()["formats"]]
        assert ".view.json" in suffixes
        assert client.get(f"/api/table?{QUERY}").headers["content-type"].startswith("text/csv")
        assert client.get(f"/api/table.view.json?{QUERY}&more=1").status_code == 422


def test_hidden_cells_have_neither_value_nor_range(tmp_path: Path) -> None:
    """The mark says why; nothing else of the cell is in the document."""
    with servers.client(tmp_path, servers.policy_text(query="[table]\nmin_population = 100")) as client:
        document = client.get("/api/table.view.json?variables=citizenship,sex").json()
    hidden = [int(place) for place, mark in document["marks"].items() if mark == "c"]
    assert hidden
    for side in ("values", "low", "high"):
        assert all(document[side][place] is None for place in hidden)
    assert document["meaning"]["c"]


def test_a_policy_without_stated_quality_gives_no_ranges(tmp_path: Path) -> None:
    """Null, not a list of nulls."""
    with servers.client(tmp_path, 'utility = "none"\n' + servers.policy_text()) as client:
        document = client.get("/api/table.view.json?variables=sex").json()
    assert (document["low"], document["high"]) == (None, None)


def test_groups_and_totals_are_told_by_place() -> None:
    """Parents are positions of codes, above their parts."""
    from discreet.server.views.view_data import view_bytes

    area = dc.Dimension.from_parents("area", {"N1": "N", "N2": "N", "S1": "S", "S2": "S"})
    release = dc.Round(5)(dc.Table.of([7, 9, 12, 3], [area])).release()
    import orjson

    [variable] = orjson.loads(view_bytes(release))["dimensions"]
    named = {code: variable["parents"][n] for n, code in enumerate(variable["codes"])}
    back = {code: None if place is None else variable["codes"][place] for code, place in named.items()}
    assert back == {"Total": None, "N": "Total", "N1": "N", "N2": "N", "S": "Total", "S1": "S", "S2": "S"}
    assert variable["codes"][variable["total"]] == "Total"


@pytest.mark.parametrize(
    ("labels", "ordered"),
    [
        (["0-4", "5-9", "10-14", "15+"], True),
        (["under 5", "5 to 9", "10 to 14", "over 14"], True),
        (["2019", "2020", "2021"], True),
        (["north", "south", "east"], False),
        (["Region 1", "Region 2", "Region 3"], False),
        (["5-9", "0-4", "10-14", "1-2", "3"], False),
        (["0-4", "5-9"], False),
        ([], False),
    ],
)
def test_scales_are_known_by_the_numbers_of_their_steps(labels: list[str], ordered: bool) -> None:
    """Ages and years, not numbered areas."""
    assert is_ordered(labels) is ordered


def test_shapes_are_served_where_the_codebook_has_them(tmp_path: Path) -> None:
    """By the name of the variable; a variable without, and an unknown one, are errors with words."""
    with servers.client(tmp_path) as client:
        answer = client.get("/api/geometry?variable=region")
        assert answer.headers["content-type"] == "application/geo+json"
        assert [one["properties"]["code"] for one in answer.json()["features"]] == ["R1", "R2"]
        tag = {"If-None-Match": answer.headers["etag"]}
        assert client.get("/api/geometry?variable=region", headers=tag).status_code == 304
        assert "has no shapes" in client.get("/api/geometry?variable=sex").json()["reason"]
        assert "did you mean 'region'" in client.get("/api/geometry?variable=regoin").json()["reason"]
        variables = client.get("/api/metadata").json()["variables"]
        assert [v["name"] for v in variables if v["geometry"]] == ["region"]
