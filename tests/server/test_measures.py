"""Measures of a server: the same bytes from a cube and from records, by address, command line and library."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

import discreet as dc
from discreet.cli import run
from discreet.policy import Query, answer, parse_policy
from discreet.server import Settings, create_app
from discreet.server.counting import cube
from discreet.server.counting.counting import CubeCounting
from discreet.server.counting.cube import read_cube
from discreet.server.guarding.guard import Guard
from tests.policy.test_statistics import COUNTS, HOURS, PAY, SECRET, workers

POLICY = 'secret = { env = "MEASURE_SECRET" }\n[guard]\naction = "refuse"\n' + COUNTS + PAY + HOURS
QUERIES = [
    Query.of("area, sex", measure="pay"),
    Query.of("sex", where="area=B", measure="pay"),
    Query.of("area, sex, age", measure="pay", statistic="mean"),
    Query.of("area", measure="pay", statistic="per-hours"),
    Query.of("sex", measure="pay", statistic="median"),
    Query.of("sex, age", measure="hours", statistic="percent-age"),
    Query.of("sex, age", statistic="percent"),
]


@pytest.mark.parametrize("kind", [{}, {"weights": True}, {"holdings": True}, {"weights": True, "holdings": True}])
def test_a_cube_answers_as_records_do(kind: dict[str, bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every statistic, byte for byte, from the files of a cube too, and from cubes of fewer variables."""
    monkeypatch.setenv("MEASURE_SECRET", SECRET)
    data, policy = workers(1500, **kind), parse_policy(POLICY)
    cube.build(data, tmp_path / "cube", policy)
    assert cube.made_by(tmp_path / "cube", policy)
    assert not cube.made_by(tmp_path / "cube", replace(policy, measures={}))
    held, _ = read_cube(tmp_path / "cube")
    counting = CubeCounting(held)
    for query in QUERIES:
        from_records = answer(data, query, policy)
        assert answer(held, query, policy).to_csv() == from_records.to_csv(), query
        table = counting.table(query.resolved(data.dimensions)) if query.statistic != "median" else None
        if table is not None and table.magnitude is not None:
            names = [d.name for d in table.dimensions]
            direct = dc.tabulate(data, names, value=table.magnitude, top=5)
            np.testing.assert_allclose(table.contributions.value, direct.contributions.value)
            np.testing.assert_allclose(table.contributions.weight, direct.contributions.weight)
            assert table.contributions.count.tolist() == direct.contributions.count.tolist()
            assert table == direct


def test_address_command_line_and_library_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And metadata name the measures."""
    monkeypatch.setenv("MEASURE_SECRET", SECRET)
    (tmp_path / "p.toml").write_text(POLICY)
    data, policy = workers(1500), parse_policy(POLICY)
    cube.build(data, tmp_path / "cube", policy)
    settings = Settings(
        policy=str(tmp_path / "p.toml"), cube=str(tmp_path / "cube"), store=f"sqlite:///{tmp_path}/s.db"
    )
    with TestClient(create_app(settings)) as client:
        assert client.get("/api/metadata").json()["measures"][0] == {
            "name": "pay", "label": "pay", "unit": "", "statistics": ["sum", "mean", "median", "p90", "per-hours"],
        }  # fmt: skip
        for statistic in ("sum", "mean", "median", "per-hours", "percent"):
            there = client.get(f"/api/table.csv?variables=area,sex&measure=pay&statistic={statistic}")
            assert there.status_code == 200, there.text
            query = Query.of("area, sex", measure="pay", statistic=statistic)
            assert there.content == answer(data, query, policy).to_csv()
            out = str(tmp_path / f"{statistic}.csv")
            asked = ["--variables", "area,sex", "--measure", "pay", "--statistic", statistic, "-o", out]
            assert run(["answer", str(tmp_path / "cube"), "--policy", str(tmp_path / "p.toml"), *asked]) == 0
            assert Path(out).read_bytes() == there.content
        wrong = client.get("/api/table?variables=sex&measure=hours&statistic=mean")
        assert (wrong.status_code, wrong.json()["rule"]) == (403, "statistic")
        unknown = client.get("/api/table?variables=sex&measure=hour")
        assert (unknown.status_code, "did you mean 'hours'" in unknown.json()["reason"]) == (422, True)


def test_a_cube_without_the_measure_is_not_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was built for another policy; the answer and the start of the server say so."""
    monkeypatch.setenv("MEASURE_SECRET", SECRET)
    (tmp_path / "p.toml").write_text(POLICY)
    fewer = replace(parse_policy(POLICY), measures={})
    cube.build(workers(300), tmp_path / "cube", fewer)
    held, _ = read_cube(tmp_path / "cube")
    with pytest.raises(dc.InputError, match="the data hold no measure 'pay'"):
        answer(held, Query.of("sex", measure="pay"), parse_policy(POLICY))
    settings = Settings(
        policy=str(tmp_path / "p.toml"), cube=str(tmp_path / "cube"), store=f"sqlite:///{tmp_path}/s.db"
    )
    with pytest.raises(dc.InputError, match="keeps the measures of the policy"):
        create_app(settings)
    (tmp_path / "p.toml").write_text(POLICY.replace('"refuse"', '"warn"'))
    with pytest.raises(dc.InputError, match="under a guard"):
        create_app(settings)


def test_sums_that_differ_by_few_people_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As counts are: of two populations that differ by a small area, the second is not given."""
    monkeypatch.setenv("MEASURE_SECRET", SECRET)
    text = POLICY.replace("[guard]\n", "[query]\nnested_only = false\n[guard]\nmin_difference = 40\n")
    (tmp_path / "p.toml").write_text(text)
    cube.build(workers(1500), tmp_path / "cube", parse_policy(text))
    settings = Settings(
        policy=str(tmp_path / "p.toml"), cube=str(tmp_path / "cube"), store=f"sqlite:///{tmp_path}/s.db"
    )
    with TestClient(create_app(settings)) as client:
        first = client.get("/api/table?variables=sex&measure=pay")
        second = client.get("/api/table?variables=sex&where=area=A%2BB%2BC%2BD&measure=pay")
    assert (first.status_code, second.status_code) == (200, 403)
    assert second.json()["rule"] == "guard_difference"


def test_the_guard_knows_what_a_median_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The counts of its bands, as the table with the bands would; a sum tells of the same people as a count."""
    monkeypatch.setenv("MEASURE_SECRET", SECRET)
    policy = parse_policy(POLICY)
    cube.build(workers(300), tmp_path / "cube", policy)
    guard = Guard(CubeCounting(read_cube(tmp_path / "cube")[0]), policy)
    median, total = (Query.of("sex", measure="pay", statistic=one) for one in ("median", "sum"))
    assert guard.geometries(median) == guard.geometries(Query.of("sex, band"))
    assert guard.geometries(total) == guard.geometries(Query.of("sex"))


def test_a_cube_that_does_not_know_who_gives_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of before, whose sums could not be told apart from counts: it is not read, so that a demonstration makes it
    anew and a server says what to do."""
    monkeypatch.setenv("MEASURE_SECRET", SECRET)
    policy = parse_policy(POLICY)
    cube.build(workers(300), tmp_path / "cube", policy)
    head = json.loads((tmp_path / "cube" / "cube.json").read_text())
    for one in head["measures"]:
        del one["decimals"]["givers"]
    (tmp_path / "cube" / "cube.json").write_text(json.dumps(head))
    assert not cube.made_by(tmp_path / "cube", policy)
    with pytest.raises(dc.InputError, match="build it again"):
        read_cube(tmp_path / "cube")
