"""JOS15 sections 2 and 6 and Ant16 section 5.2: rules, thresholds, record and access of a table server, by counting."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.policy import answer, answer_recorded, parse_policy, replay
from tests import servers
from tests.papers import own

METHOD = '[[method]]\nname = "random-round"\nbase = 3\nseed = 1\n'
COUNTS = np.random.default_rng(1).integers(0, 40, (4, 5))


def table(counts: np.ndarray = COUNTS) -> dc.Table:
    area = dc.Dimension.from_parents("area", {"n1": "N", "n2": "N", "s1": "S", "s2": "S"})
    return dc.Table.of(counts, [area, dc.Dimension.flat("job", "abcde")])


def refused(text: str, query: Any, data: Any = None, method: str = METHOD) -> str | None:
    """The rule that refuses, or None if the table is released."""
    try:
        answer(table() if data is None else data, query, parse_policy(text + method))
    except dc.Refused as error:
        return error.rule
    return None


@pytest.mark.parametrize("most", [1, 2])
def test_number_of_dimensions(most: int) -> None:
    """JOS15 2.3: more variables than allowed are refused before anything is counted."""
    text = f"[query]\nmax_dimensions = {most}\n"
    assert refused(text, "area") is None
    assert refused(text, "area,job") == ("max_dimensions" if most < 2 else None)
    filters = "[query]\nmax_filters = 0\n"
    assert refused(filters, dc.Query.of("job", where="area=N")) == "max_filters"
    cells = "[query]\nmax_cells = 20\n"
    assert refused(cells, "area,job") == "max_cells"


def test_nested_categories() -> None:
    """2.3: one category of the codebook at a time, and levels of its hierarchy."""
    text = "[query]\nnested_only = {}\n"
    two = dc.Query.of("job", where={"area": ["n1", "s1"]})
    assert refused(text.format("true"), two) == "nested_only"
    assert refused(text.format("false"), two) is None
    shown = answer(table(), "area:level 1", parse_policy('publish = "as it is"\n')).cells
    assert shown["count"].tolist() == [COUNTS.sum(), COUNTS[:2].sum(), COUNTS[2:].sum()]


def test_minimum_population() -> None:
    """2.3: tables of too few people are refused; the limit is met within the noise of the method."""
    n = int(COUNTS.sum())
    for least in (n // 2, 2 * n):
        assert refused(f"[table]\nmin_population = {least}\n", "area,job") == ("min_population" if least > n else None)


def test_average_cell_size() -> None:
    """2.3: people a cell, over the whole table."""
    mean = COUNTS.mean()
    for least in (0.5 * mean, 1.5 * mean):
        assert refused(f"[table]\nmin_mean = {least}\n", "area,job") == ("min_mean" if least > mean else None)


def test_thresholds_on_risk_and_loss() -> None:
    """Ant16 5.2, steps 5 to 12: T2 and T3 between what two bases give; the expected figures are near the true ones."""
    counts = np.random.default_rng(2).integers(20, 90, (4, 5))
    coarse = 10 * np.floor(counts / 10 + 0.5).astype(int)
    loss = own.hellinger(counts, coarse) / np.sqrt(counts.sum())
    rounding = '[[method]]\nname = "round"\nbase = {}\n'
    for limit, ok in ((4 * loss, True), (0.1 * loss, False)):
        method = rounding.format(10)
        assert refused(f"[risk]\nt3 = {limit}\n", "area,job", table(counts), method) == (None if ok else "t3")
    high = own.weighted(own.terms(counts))
    assert refused(f"[risk]\nt2 = {2 * high}\n", "area,job", table(counts)) is None
    assert refused(f"[risk]\nt2 = {high / 50}\n", "area,job", table(counts)) == "t2"


def test_the_five_steps_and_methods_after_counting() -> None:
    """2.2, 2.3: query, rules, table, protection, output with its utility: the released table is the rounded one."""
    release = answer(table(), "area,job", parse_policy(METHOD))
    jobs = release.cells[release.cells["job"] != "Total"]
    shown = jobs[jobs["area"].isin(["n1", "n2", "s1", "s2"])]["count"].to_numpy().astype(int).reshape(4, 5)
    assert (shown % 3 == 0).all()
    assert (np.abs(shown - COUNTS) < 3).all()
    assert (shown == COUNTS)[COUNTS % 3 == 0].all()
    assert any("uality" in note for note in release.notes)


def test_release_and_record(tmp_path: Path) -> None:
    """Ant16 5.2, step 15: what was released is written down and comes out again, byte for byte."""
    frame = pd.DataFrame({"area": list("nnss") * 100, "job": list("abcd") * 100, "id": range(400)})
    data = dc.Microdata.of(frame, dimensions=["area", "job"], unit="id", secret="sixteen letters!")
    policy = parse_policy('[[method]]\nname = "random-round"\nbase = 3\n')
    release = answer_recorded(data, "area,job", policy, tmp_path / "record.jsonl")
    with pytest.raises(dc.Refused):
        answer_recorded(data, dc.Query.of("area", where={"job": ["a", "b"]}), policy, tmp_path / "record.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    assert [line["outcome"] for line in lines] == ["released", "refused"]
    assert hashlib.sha256(release.to_csv()).hexdigest() in json.dumps(lines[0])
    assert all(found.verdict.ok for found in replay(tmp_path / "record.jsonl", data, policy))
    changed = dc.Microdata.of(frame[:-40], dimensions=data.dimensions, unit="id", secret="sixteen letters!")
    assert not all(found.verdict.ok for found in replay(tmp_path / "record.jsonl", changed, policy))


def test_hidden_cells_in_the_map() -> None:
    """Ant16 6.2: R2 needs two tables of numbers; a map fills hidden cells from the margins that are shown."""
    made = dc.Table.of([[9, 1, 14], [20, 6, 2], [4, 30, 11]], ["a", "b"])
    methods: dict[str, Any] = {"suppress": dc.Suppress(dc.Threshold(3)), "as it is": dc.Publish()}
    found: Any = dc.ru_map(made, methods).cells
    assert found.loc["as it is", "risk"] == pytest.approx(own.weighted(own.terms(made.array(), made.array())))
    assert 0 < found.loc["suppress", "risk"] <= found.loc["as it is", "risk"] + 1e-9


def test_open_and_licensed_users(tmp_path: Path) -> None:
    """JOS15 6: a restricted server answers nobody who is not signed in; an open one answers everybody."""
    for mode, code in (("restricted", 401), ("open", 200)):
        (tmp_path / mode).mkdir()
        with servers.client(tmp_path / mode, mode=mode) as client:
            assert client.get("/api/table.csv?variables=sex").status_code == code


def test_asking_again_tells_nothing_new() -> None:
    """JOS15 6: the same cells are perturbed the same way however often and in whatever table they are asked for."""
    frame = pd.DataFrame({"a": list("xxyyz") * 60, "b": list("uvuvv") * 60, "id": range(300)})
    data = dc.Microdata.of(frame, dimensions=["a", "b"], unit="id", secret="sixteen letters!")
    policy = parse_policy('[[method]]\nname = "cell-key"\nd = 4\nv = 3\n')
    one, two, wide = (answer(data, q, policy) for q in ("a", "a", "b,a"))
    assert one.to_csv() == two.to_csv()
    first = dict(zip(one.cells["a"].astype(str), one.cells["count"], strict=True))
    rows = wide.cells[wide.cells["b"] == "Total"]
    assert dict(zip(rows["a"].astype(str), rows["count"], strict=True)) == first
