"""Tables in parts: the bytes of one go, for methods that look at one cell at a time; all of the file or nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.cli import run
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.protocol import Grouping, Key
from discreet.formats.growing import GrowingParquet
from discreet.formats.parquet import ROW_GROUP, to_bytes
from discreet.methods import HOMES, cellwise, method_class
from discreet.policy import Query, answer, answer_in_parts, evidence, parse_policy

AREAS = {"a": "N", "b": "N", "c": "N", "d": "S", "e": "S", "f": "W", "g": "W"}
AREA = dc.Dimension.from_parents("area", AREAS)
AGES = [f"{age:02d}" for age in range(6)]


def frame(n: int, seed: int = 1) -> pd.DataFrame:
    """Records; some categories stay empty."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "area": rng.choice(list(AREAS)[:-1], n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.choice(AGES, n),
            "r": rng.integers(0, 2**64, n, dtype=np.uint64),
            "x": np.round(rng.lognormal(3, 1, n), 2),
            "w": np.round(1 + rng.random(n), 2),
        }
    )


def people(n: int = 300, **roles: Any) -> dc.Microdata:
    """Records with an area hierarchy that has a difference: the whole without a."""
    area = AREA.with_group("not a", ["N", "S", "W"], ["a"])
    dimensions = [area, dc.Dimension.flat("sex", ["f", "m"]), dc.Dimension.flat("age", AGES)]
    return dc.Microdata.of(frame(n), dimensions=dimensions, key="r", magnitudes=["x"], **roles)


def one_go(data: dc.Microdata, by: list[str], method: Any, suffix: str, **which: Any) -> bytes:
    """The file as a whole."""
    return dc.formats.to_bytes(dc.protect(dc.tabulate(data, by=by, **which), method).release(), suffix)


METHODS: list[Any] = [
    dc.Round(5),
    dc.RandomRound(3),
    dc.RandomRound(3, seed=7),
    dc.CellKey(d=2, v=1),
    dc.CellKey(d=3, v=2, zeros=0.3, seed=2),
    dc.CellKey(d=3, v=2, zeros=0.3, secret="a secret of many letters"),
    dc.Barnard(0.5),
    dc.Publish(),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{type(m).__name__}")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_bytes_are_those_of_one_go(method: Any, suffix: str, tmp_path: Path) -> None:
    """Whatever the order of the dimensions and the size of the parts, groups, totals and differences included."""
    data = people()
    for by, cells in [(["area", "sex", "age"], 50), (["age", "sex", "area"], 20), (["sex", "area"], 500)]:
        path = dc.protect_in_parts(data, by, method, tmp_path / f"table.{suffix}", cells=cells)
        assert path.read_bytes() == one_go(data, by, method, suffix)


@pytest.mark.parametrize("where", [{"sex": "f"}, {"area": ["N", "d"]}, {"age": ["01"]}])
def test_populations(where: dict[str, Any], tmp_path: Path) -> None:
    """A filter on a dimension of the table, cut or not, or on another one."""
    data = people()
    for by in (["area", "sex"], ["sex", "area"]):
        path = dc.protect_in_parts(data, by, dc.RandomRound(3), tmp_path / "t.csv", where=where, cells=6)
        assert path.read_bytes() == one_go(data, by, dc.RandomRound(3), "csv", where=where)


@pytest.mark.parametrize("weight", [None, "w"])
def test_magnitudes_and_weights(weight: str | None, tmp_path: Path) -> None:
    """Sums with decimals, weighted or not."""
    data = people(weight=weight)
    for method in (dc.Round(0.05), dc.RandomRound(0.5), dc.Publish(measures=("x", "count"))):
        path = dc.protect_in_parts(data, ["area", "age"], method, tmp_path / "t.parquet", value="x", cells=15)
        assert path.read_bytes() == one_go(data, ["area", "age"], method, "parquet", value="x")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_random_tables(tmp_path: Path, data: st.DataObject) -> None:
    """Random codes, hierarchies, records, orders, sizes of parts and methods."""
    dimensions, columns = [], {}
    n = data.draw(st.integers(1, 30))
    for k in range(data.draw(st.integers(1, 3))):
        leaves = [f"{k}{c}" for c in range(data.draw(st.integers(1, 5)))]
        total = data.draw(st.sampled_from(["Total", "all, of it"]))
        made = dc.Dimension.flat(f"d{k}", leaves, total=total)
        if len(leaves) > 2 and data.draw(st.booleans()):
            made = made.with_group(f"g{k}", leaves[:2])
        dimensions.append(made)
        columns[f"d{k}"] = data.draw(st.lists(st.sampled_from(leaves), min_size=n, max_size=n))
    keys = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=n, max_size=n))
    table = pd.DataFrame({**columns, "r": np.array(keys, np.uint64)})
    records = dc.Microdata.of(table, dimensions=dimensions, key="r")
    by = data.draw(st.permutations([d.name for d in dimensions]))
    method, suffix = data.draw(st.sampled_from(METHODS)), data.draw(st.sampled_from(["csv", "parquet"]))
    cells = data.draw(st.integers(1, 40))
    path = dc.protect_in_parts(records, by, method, tmp_path / f"t.{suffix}", cells=cells)
    assert path.read_bytes() == one_go(records, list(by), method, suffix)


def test_parts_are_small_and_in_order() -> None:
    """No part is larger than asked, unless one code of the last dimension is; together they are all cells in order."""
    parts = dc.Parts.of(people(), ["age", "area", "sex"], cells=10)
    tables = list(parts)
    assert max(map(len, tables)) <= 10
    whole = dc.tabulate(people(), by=["age", "area", "sex"])
    assert len(parts) == len(whole)
    assert np.array_equal(np.concatenate([t.layout.codes for t in tables]), whole.layout.codes)
    assert np.array_equal(np.concatenate([t.count for t in tables]), whole.count)
    assert np.array_equal(np.concatenate([t.key for t in tables]), whole.key)
    assert np.array_equal(np.concatenate([t.structural for t in tables]), whole.structural)


def test_levels() -> None:
    """A dimension in less detail than the records."""
    parts = dc.Parts.of(people(), ["sex", "area"], levels={"area": "level 1"}, cells=4)
    whole = dc.tabulate(people(), by=["sex", "area"]).at_levels(area="level 1")
    assert np.array_equal(np.concatenate([t.count for t in parts]), whole.count)
    assert parts.dimensions == whole.dimensions


def test_parquet_row_groups_begin_where_they_would_in_one_go() -> None:
    """More cells than a row group holds, in parts that fit nowhere."""
    import io

    n = 2 * ROW_GROUP + 12_345
    a, b = dc.Dimension.flat("a", range(1500), total=None), dc.Dimension.flat("b", range(1500), total=None)
    flat, rng = np.arange(n), np.random.default_rng(1)

    def piece(rows: slice) -> dc.Release:
        codes = np.stack(np.unravel_index(flat[rows], (1500, 1500)), axis=1).astype(np.int32)
        return dc.Release(
            dimensions=(a, b), codes=codes, values={"count": values[rows]}, decimals={"count": 0}, method="m",
            status=np.where(np.isnan(values[rows]), "c", ""),
        )  # fmt: skip

    values = rng.poisson(3, n).astype(float)
    values[rng.random(n) < 0.01] = np.nan
    file = io.BytesIO()
    out = GrowingParquet(file)
    for start in range(0, n, 333_333):
        out.add(piece(slice(start, start + 333_333)))
    out.close()
    assert file.getvalue() == to_bytes(piece(slice(None)))


# -- refusals ---------------------------------------------------------------------------------------------------


def test_methods_say_whether_they_look_at_one_cell_at_a_time(tmp_path: Path) -> None:
    """Others are refused with the names of those that do; a function of the user's may say so too, and must."""
    assert cellwise() == [name for name in HOMES if method_class(name).contract.cellwise]
    for method in (dc.Suppress(dc.Threshold(3)), dc.SemiControlledRound(3, seed=1)):
        with pytest.raises(dc.InputError, match=r"needs the whole table.*'cell-key'"):
            dc.protect_in_parts(people(), ["area"], method, tmp_path / "t.csv")
    with pytest.raises(dc.InputError, match=r"does not say what it does.*contract = Contract"):
        dc.protect_in_parts(people(), ["area"], lambda t: dc.Round(3)(t), tmp_path / "t.csv")

    def thirds(table: dc.Table) -> dc.Protected:
        return dc.Round(3)(table)

    thirds.contract = dc.Round.contract  # type: ignore[attr-defined]
    path = dc.protect_in_parts(people(), ["area"], thirds, tmp_path / "t.csv", cells=2)
    assert path.read_bytes() == one_go(people(), ["area"], dc.Round(3), "csv")


def test_nothing_is_left_after_an_error(tmp_path: Path) -> None:
    """A wrong code in the last area is found late; the file of before stays, and no other is there."""
    records = frame(200)
    records.loc[records["area"] == "f", "age"] = "wrong"
    dimensions = [AREA, dc.Dimension.flat("age", AGES)]
    data = dc.Microdata.of(records, dimensions=dimensions, key="r")
    target = tmp_path / "t.csv"
    target.write_text("before")
    with pytest.raises(dc.InputError, match="age"):
        dc.protect_in_parts(data, ["area", "age"], dc.Round(3), target, cells=7)
    assert os.listdir(tmp_path) == ["t.csv"]
    assert target.read_text() == "before"


def test_what_cannot_be_written_in_parts(tmp_path: Path) -> None:
    """Formats that stand or fall as a whole, and sizes that are none."""
    with pytest.raises(dc.InputError, match=r"in one go; part by part: 'csv', 'parquet'"):
        dc.protect_in_parts(people(), ["area"], dc.Round(3), tmp_path / "t.xlsx")
    with pytest.raises(dc.InputError, match="cells=0"):
        dc.protect_in_parts(people(), ["area"], dc.Round(3), tmp_path / "t.csv", cells=0)
    with pytest.raises(dc.InputError, match="once"):
        dc.protect_in_parts(people(), ["area", "area"], dc.Round(3), tmp_path / "t.csv")
    assert not os.listdir(tmp_path)


# -- under a policy ---------------------------------------------------------------------------------------------

POLICY = """
utility = "none"
notes = ["Noise has been added."]
[query]
max_cells = 100000
[table]
{rules}
[[method]]
name = "cell-key"
d = 2
v = 1.0
"""


@pytest.mark.parametrize("query", ["area, sex, age", "sex, area:level 1", "area, age where sex=f", "age where area=N"])
def test_a_policy_gives_the_same_bytes(query: str, tmp_path: Path) -> None:
    """Levels, populations, notes: what ``answer`` releases."""
    made = parse_policy(POLICY.format(rules="min_mean = 0.5\nmax_small_share = 0.9"))
    names, _, where = query.partition(" where ")
    asked = Query.of(names, where=where or None)
    for suffix in ("csv", "parquet"):
        path = answer_in_parts(people(), asked, made, tmp_path / f"t.{suffix}", cells=12)
        assert path.read_bytes() == dc.formats.to_bytes(answer(people(), asked, made), suffix)


@pytest.mark.parametrize("rules", ["min_mean = 8.0", "max_small_share = 0.02", "min_population = 10000"])
def test_a_policy_refuses_in_parts_as_in_one_go(rules: str, tmp_path: Path) -> None:
    """The same rule and reason, and no file."""
    made = parse_policy(POLICY.format(rules=rules))
    with pytest.raises(dc.Refused) as whole:
        answer(people(), "area, sex, age", made)
    with pytest.raises(dc.Refused) as parts:
        answer_in_parts(people(), "area, sex, age", made, tmp_path / "t.csv", cells=12)
    assert str(parts.value) == str(whole.value)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("least", [1, 2, 3, 4, 9])
def test_several_codes_are_judged_in_parts_as_in_one_go(least: int, tmp_path: Path) -> None:
    """Each code of a filter has to reach the least population, wherever the parts are cut."""
    text = POLICY.replace("[query]\n", "[query]\nnested_only = false\nmax_filters = 2\n")
    made = parse_policy(text.format(rules=f"min_population = {least}"))
    asked, path = Query.of("sex", where={"age": ["00", "03"], "area": ["a", "d"]}), tmp_path / "t.csv"

    def said(door: Any, *rest: Any, **more: Any) -> Any:
        try:
            return door(people(), asked, made, *rest, **more)
        except dc.Refused as refused:
            return str(refused)

    whole, parts = said(answer), said(answer_in_parts, path, cells=12)
    assert (parts.read_bytes() if isinstance(parts, Path) else parts) == (
        whole if isinstance(whole, str) else dc.formats.to_bytes(whole, "csv")
    )
    assert isinstance(whole, str) == (least > 2)


def test_the_evidence_is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    """At the very mean and share of small cells a table passes, a hair further it does not."""
    data = people()
    shown = np.array(dc.protect(dc.tabulate(data, by=["area", "sex", "age"]), dc.CellKey(d=2, v=1)).shown_inner())
    share = evidence(data, "area, sex, age", parse_policy(POLICY.format(rules=""))).small_share
    mean = float(shown.mean())
    assert share > 0
    for at, beyond in [
        (f"min_mean = {mean!r}", f"min_mean = {float(np.nextafter(mean, 9))!r}"),
        (f"max_small_share = {share!r}", f"max_small_share = {float(np.nextafter(share, 0))!r}"),
    ]:
        answer_in_parts(data, "area, sex, age", parse_policy(POLICY.format(rules=at)), tmp_path / "t.csv", cells=12)
        with pytest.raises(dc.Refused):
            answer_in_parts(
                data, "area, sex, age", parse_policy(POLICY.format(rules=beyond)), tmp_path / "u.csv", cells=12
            )


@pytest.mark.parametrize("extra", ["search = true", 'utility = "band"', "[risk]\nt2 = 0.5", "[risk]\nt1 = 0.1"])
def test_a_policy_that_looks_at_the_whole_table_is_not_bent(extra: str, tmp_path: Path) -> None:
    """Thresholds, search and stated quality are refused in parts, not approximated."""
    text = POLICY.format(rules="")
    key = extra.split(" =")[0]
    text = "\n".join(line for line in text.split("\n") if not line.startswith(f"{key} "))
    text = text + extra if extra.startswith("[") else f"{extra}\n{text}"
    with pytest.raises(dc.InputError, match="as a whole"):
        answer_in_parts(people(), "area", parse_policy(text), tmp_path / "t.csv")


# -- memory -----------------------------------------------------------------------------------------------------


def test_little_memory_takes_more_passes_and_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups in shares are the same groups; so are repeated units."""
    rng = np.random.default_rng(5)
    n = 4000
    records = pd.DataFrame({"a": rng.integers(0, 50, n), "b": rng.integers(0, 40, n), "u": rng.integers(0, 3500, n)})
    records = records.assign(
        x=rng.integers(-50, 50, n) / 4, r=rng.integers(0, 2**64, n, dtype=np.uint64), w=rng.random(n)
    )
    keys = tuple(Key(name=c, column=c, codes=tuple(map(str, range(50)))) for c in "ab")
    asked = Grouping(keys=keys, magnitude="x", weight="w", record_key="r", top=2)
    plain = DuckDB.of(records)
    want, repeated = plain.base_cells(asked), plain.duplicates("u")
    monkeypatch.setattr("discreet.engines.duckdb.engine._PASSES", (4,))
    engine = DuckDB.of(records)
    got = engine.base_cells(asked)
    sums = ("codes", "count", "total", "weight", "weighted_total", "key", "contributors")
    for name in (*sums, "top_value", "top_weight"):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name))
    assert engine.duplicates("u") == repeated


def test_a_full_memory_is_met_with_more_passes() -> None:
    """Two million groups in 100 MB: DuckDB runs out, the engine reads again and answers; nothing goes to disk."""
    n = 1_200_000
    rng = np.random.default_rng(6)
    records = pd.DataFrame({"a": rng.integers(0, 2000, n), "b": rng.integers(0, 2000, n), "u": np.arange(n)})
    keys = tuple(Key(name=c, column=c, codes=tuple(map(str, range(2000)))) for c in "ab")
    asked = Grouping(keys=keys, magnitude="u", top=2)
    runs: list[int] = []
    engine: Any = DuckDB.of(records, memory="100MB")
    run = engine._run

    def counted(*given: Any) -> Any:
        runs.append(1)
        return run(*given)

    engine._run = counted
    got = engine.base_cells(asked)
    assert len(runs) > 4
    assert int(got.count.sum()) == n
    assert len(got) == len(np.unique(records["a"] * 2000 + records["b"]))


def test_memory_is_an_amount() -> None:
    """A wrong amount is said, and too little is no crash."""
    for wrong in ("much", "0GB", "-1GB", "5", ""):
        with pytest.raises(dc.InputError, match="memory"):
            dc.Microdata.of(frame(5), dimensions=["sex"], memory=wrong)
    assert dc.tabulate(dc.Microdata.of(frame(5), dimensions=["sex"], memory="200 MiB"), by="sex").n == 5
    with pytest.raises(dc.InputError, match="engine is made"):
        dc.Microdata.of(DuckDB.of(frame(5)), dimensions=["sex"], memory="1GB")


# -- the command line -------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with records and two policies, in which commands run."""
    monkeypatch.chdir(tmp_path)
    frame(300).to_parquet("people.parquet")
    (tmp_path / "people.toml").write_text(people().codebook.to_toml())
    (tmp_path / "policy.toml").write_text(POLICY.format(rules=""))
    (tmp_path / "strict.toml").write_text(POLICY.format(rules="min_population = 10000"))
    return tmp_path


BASE = ["protect", "people.parquet", "--codebook", "people.toml", "--by", "area,sex,age"]


@pytest.mark.parametrize("how", [["--method", "cell-key", "--where", "sex=f"], ["--policy", "policy.toml"]])
def test_the_command_line_in_parts(folder: Path, how: list[str]) -> None:
    """By a method or under a policy, the same bytes with and without --in-parts."""
    assert run([*BASE, *how, "-o", "whole.csv"]) == 0
    assert run([*BASE, *how, "--in-parts", "--part-cells", "40", "--memory", "500MB", "-o", "parts.csv"]) == 0
    assert (folder / "parts.csv").read_bytes() == (folder / "whole.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--method", "round", "--in-parts"], 2, "goes to a file"),
        (["--method", "round", "--in-parts", "-o", "t.px"], 2, "in one go"),
        (["--method", "round", "--part-cells", "5", "-o", "t.csv"], 2, "give both"),
        (["--method", "round", "--in-parts", "--top", "2", "-o", "t.csv"], 2, "--top"),
        (["--method", "round", "--in-parts", "--confidential", "c.csv", "-o", "t.csv"], 2, "no true values"),
        (["--method", "suppress", "--in-parts", "-o", "t.csv"], 2, "needs the whole table"),
        (["--method", "round", "--memory", "plenty", "-o", "t.csv"], 2, "'4GB'"),
        (["--policy", "policy.toml", "--record", "r.jsonl", "--in-parts", "-o", "t.csv"], 2, "digest"),
        (["--policy", "strict.toml", "--in-parts", "-o", "t.csv"], 3, "min_population"),
    ],
)
def test_the_command_line_refuses(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    """What does not go together is said, and no file is there."""
    before = sorted(os.listdir(folder))
    assert run([*BASE, *arguments]) == code
    assert words in capsys.readouterr().err
    assert sorted(os.listdir(folder)) == before
