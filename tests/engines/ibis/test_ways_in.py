"""Databases through policies, servers and programmes, and the examples of the page on engines."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.cli import run as cli
from discreet.publishing import parse_programme, run
from tests import engine_kinds
from tests.engines.records import people
from tests.persons import microdata, persons

pytestmark = engine_kinds.QUIET

POLICY = """
[query]
max_dimensions = 2
[[method]]
name = "random-round"
base = 3
"""


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder with records as a file and in a database, their codebook and a policy; the address of the database."""
    monkeypatch.chdir(tmp_path)
    records = engine_kinds.plain(persons(300))
    pq.write_table(records, "people.parquet")
    with duckdb.connect("office.db") as connection:
        connection.register("records", records)
        connection.execute("CREATE TABLE people AS FROM records")
    Path("people.toml").write_text(microdata(records).codebook.to_toml())
    Path("policy.toml").write_text(POLICY)
    return "duckdb://office.db?read_only=True"


def test_the_policy_road_takes_databases(office: str, capfd: pytest.CaptureFixture[str]) -> None:
    """answer, protect --policy and replay: the bytes that the file gives."""
    known = ["--codebook", "people.toml", "--policy", "policy.toml"]
    for source, out in (([office, "--table", "people"], "there"), (["people.parquet"], "here")):
        assert cli(["answer", *source, *known, "--variables", "area:level 1,sex", "-o", f"{out}.csv"]) == 0
        more = ["--by", "area:level 1,sex", "-o", f"{out}-2.csv", "--record", f"{out}.jsonl"]
        assert cli(["protect", *source, *known, *more]) == 0
        assert cli(["replay", f"{out}.jsonl", *source, *known]) == 0
        assert "1 answers, all the same" in capfd.readouterr().err
    assert cli(["answer", "people.parquet", "--engine", "ibis", *known, "--variables", "sex", "-o", "ibis.csv"]) == 0
    assert cli(["answer", "people.parquet", *known, "--variables", "sex", "-o", "duckdb.csv"]) == 0
    read = {name: Path(f"{name}.csv").read_bytes() for name in ("there", "there-2", "here", "here-2", "ibis", "duckdb")}
    assert read["there"] == read["here"] == read["there-2"] == read["here-2"]
    assert read["ibis"] == read["duckdb"] != read["here"]
    assert cli(["answer", office, "--table", "poeple", *known, "--variables", "sex"]) == 2
    assert "has no table 'poeple'" in capfd.readouterr().err
    assert cli(["answer", office, "--table", "people", "--policy", "policy.toml", "--variables", "sex"]) == 2
    assert "name the codebook" in capfd.readouterr().err


def test_a_server_takes_databases(
    office: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cube it starts from is that of the file; one that would be too large is refused before any counting."""
    from discreet.cli import serve
    from discreet.server.counting import cube

    versions = []
    monkeypatch.setattr(serve, "run", lambda settings, *_: versions.append(cube.read_cube(settings.folder)[1]))
    known = ["--codebook", "people.toml", "--policy", "policy.toml"]
    for source in ([office, "--table", "people"], ["people.parquet", "--engine", "ibis"], ["people.parquet"]):
        assert cli(["serve", *source, *known]) == 0
    assert len(versions) == 3
    assert len(set(versions)) == 1
    monkeypatch.setattr(cube, "MOST_CELLS", 3)
    assert cli(["serve", office, "--table", "people", *known]) == 2
    assert "does not ask a database for each table" in capfd.readouterr().err
    assert len(versions) == 3


PROGRAMME = """
[programme]
name = "From a database"
data = "DATA"
TABLE
codebook = "people.toml"
output = "OUTPUT"
[defaults]
method = "cell-key"
[[table]]
name = "all"
combinations = { of = ["area", "sex", "age"], sizes = [1, 2] }
"""


@engine_kinds.ON_POSTGRESQL
def test_a_programme_takes_databases(office: str, postgresql: str) -> None:
    """The files that the records here give; counted anew in every run, as a database may have changed."""
    name = engine_kinds.in_postgresql(postgresql, persons(300))
    published: dict[str, Any] = {}
    for data, table in (("people.parquet", None), (office, "people"), (postgresql, name)):
        output = f"out-{len(published)}"
        text = PROGRAMME.replace("DATA", data).replace("TABLE", f'table = "{table}"' if table else "")
        made = parse_programme(text.replace("OUTPUT", output))
        assert run(made, jobs=2 if data == postgresql else 1).count("published") == 6
        published[data] = {p.name: p.read_bytes() for p in Path(output).glob("*.csv")}
    assert len(published[office]) == 6
    assert published[postgresql] == published[office] == published["people.parquet"]
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"DELETE FROM {name} WHERE sex = 'm'")
    assert run(made, jobs=1).count("published") == 6
    assert Path(output, "all-sex.csv").read_bytes() != published[office]["all-sex.csv"]


PAGE = Path(__file__).parents[3] / "docs" / "engines.md"


def examples(heading: str) -> list[str]:
    """The blocks below a heading that the documentation's own test cannot run, for want of a server."""
    section = PAGE.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```text\n(.*?)^```", section, re.M | re.S)


@pytest.fixture
def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A folder with the codebook of the people; and their table."""
    monkeypatch.chdir(tmp_path)
    here = dc.Microdata.of(people(), dimensions=["county", "sex"], unit="id", magnitudes=["pay"])
    Path("people.toml").write_text(here.codebook.to_toml())
    return dc.tabulate(here, by=["county", "sex"], value="pay").cells


@engine_kinds.ON_POSTGRESQL
def test_the_examples_with_postgresql_run(described: Any, postgresql: str, capfd: pytest.CaptureFixture[str]) -> None:
    """As they stand on the page, but for the address."""
    name = engine_kinds.in_postgresql(postgresql, people())
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA register")
        connection.execute(f"ALTER TABLE {name} SET SCHEMA register")
        connection.execute(f"ALTER TABLE register.{name} RENAME TO people")
    code, commands = (block.replace("postgresql://me@host/office", postgresql) for block in examples("PostgreSQL"))
    names: dict[str, Any] = {"dc": dc}
    exec(compile(code, PAGE.name, "exec"), names)
    assert names["table"].cells.equals(described)
    lines = [line.removeprefix("discreet ") for line in commands.splitlines()]
    assert lines
    assert [cli(shlex.split(line)) for line in lines] == [0] * len(lines), capfd.readouterr().err
    assert Path("people.cube", "cube.json").exists()


@engine_kinds.ON_SPARK
def test_the_examples_with_spark_run(described: Any, spark: Any, tmp_path: Path) -> None:
    """As they stand on the page, but for the place of the files."""
    spark.createDataFrame(people()).write.parquet(str(tmp_path / "files"))
    spark.sql("CREATE DATABASE office")
    try:
        spark.createDataFrame(people()).write.saveAsTable("office.people")
        (code,) = examples("Apache Spark")
        assert "hdfs:///office/people" in code
        names: dict[str, Any] = {"dc": dc}
        exec(compile(code.replace("hdfs:///office/people", str(tmp_path / "files")), PAGE.name, "exec"), names)
        assert names["table"].cells.equals(described)
        frame = dc.tabulate(names["frame"], by=["county", "sex"], value="pay")
        assert frame.cells.equals(described)
    finally:
        spark.sql("DROP DATABASE office CASCADE")
