"""Publishing programmes: many tables in one go, resumable, checked against each other, nothing out that fails."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

import discreet as dc
from discreet.cli import run as cli
from discreet.publishing import (
    plan,
    run,
)
from tests.publishing.programmes import HEAD, MANY, files, kinds, made

# -- many tables ------------------------------------------------------------------------------------------------


def test_parallel_gives_the_bytes_of_serial_and_of_protect(home: Path) -> None:
    """Dozens of tables: the same bytes whatever the number of processes, and those of `discreet protect`."""
    report = run(made(MANY), jobs=1)
    assert report.exit_code == 0
    assert len(report.lines) == report.count("published") == 7 + 5 + 4 + 3
    again = run(made(MANY, "two"), jobs=2)
    assert files("out") == files("two")
    assert again.count("published") == len(report.lines)
    options = ["people.parquet", "--codebook", "people.toml", "--method", "cell-key", "--format"]
    for name, by, more in (
        ("all-area-sex.csv", "area,sex", []),
        ("all-area-sex.json", "area,sex", []),
        ("sex-age-in-s3.csv", "sex,age", ["--where", "area=s3"]),
        ("men-area-age.csv", "area,age", ["--where", "sex=m"]),
    ):
        format = "csv" if name.endswith("csv") else "json-stat"
        assert cli(["protect", *options, format, "--by", by, *more, "-o", "single"]) == 0
        assert Path("single").read_bytes() == files("out")[name]


def test_the_report_tells_every_table_and_needs_no_network(home: Path) -> None:
    """Tables, cells, versions; the page asks for nothing outside."""
    report = run(made(MANY))
    told = json.loads(Path("out/report.json").read_text())
    assert told["version"] == dc.__version__
    assert told["consistent"]
    assert told["counts"] == {"published": 19, "withheld": 0, "refused": 0, "failed": 0}
    assert [t["name"] for t in told["tables"]] == [line.name for line in report.lines]
    page = Path("out/report.html").read_text()
    assert all(line.name in page for line in report.lines)
    assert not any(word in page for word in ("http:", "https:", "<script", "src=", "@import", "url("))


def test_keyed_tables_agree_and_what_does_not_add_up_is_summed_up(home: Path) -> None:
    """The cell key method shows the same cell alike in every table, whatever dimension or population names it."""
    report = run(made(MANY))
    assert kinds(report.findings) == kinds(report.findings, "warning") == []
    assert kinds(report.findings, "note") == ["additivity"]
    assert "do not add up" in report.findings[0].text


def test_a_policy_decides_as_it_does_for_protect(home: Path) -> None:
    """The same bytes, or the same refusal; the others are published all the same. Exit code 3."""
    Path("policy.toml").write_text(
        '[query]\nmax_dimensions = 2\n[[rule]]\nrule = "threshold"\nn = 3\n[[method]]\nname = "suppress"\n'
    )
    text = HEAD + '[defaults]\npolicy = "policy.toml"\n' + "".join(
        f'[[table]]\nname = "{name}"\nby = {by}\n{more}\n'
        for name, by, more in (
            ("one", '["area", "sex"]', ""),
            ("north", '["sex"]', 'where = { area = "N" }'),
            ("three", '["area", "sex", "age"]', ""),
        )
    )  # fmt: skip
    programme = made(text)
    assert plan(programme).set_index("table")["refused"]["three"].startswith("max_dimensions")
    report = run(programme)
    assert report.exit_code == 3
    assert [line.outcome for line in report.lines] == ["published", "published", "refused"]
    assert report.lines[2].rule == "max_dimensions"
    base = ["protect", "people.parquet", "--codebook", "people.toml", "--policy", "policy.toml"]
    assert cli([*base, "--by", "sex", "--where", "area=N", "-o", "single.csv"]) == 0
    assert files("out") == {"one.csv": Path("out/one.csv").read_bytes(), "north.csv": Path("single.csv").read_bytes()}


def test_what_cannot_be_protected_is_refused_without_naming_cells(home: Path) -> None:
    """A method's refusal names sensitive cells to whoever runs it; the report does not. Other tables go out."""
    cells = {("n", "f"): 20, ("n", "m"): 12, ("s", "f"): 9, ("s", "m"): 1, ("e", "f"): 15, ("e", "m"): 14}
    rows = [cell for cell, many in cells.items() for _ in range(many)]
    pd.DataFrame(rows, columns=["area", "sex"]).to_csv("few.csv", index=False)
    Path("few.toml").write_text(
        '[[dimension]]\nname = "area"\ncodes = ["n", "s", "e"]\n[[dimension]]\nname = "sex"\ncodes = ["f", "m"]\n'
    )
    Path("marks.csv").write_text("area,sex,mark\nTotal,m,z\nn,m,z\ne,m,z\n")
    text = """
[programme]
name = "p"
data = "few.csv"
codebook = "few.toml"
output = "out"
[[table]]
name = "bad"
by = ["area", "sex"]
rule = "threshold(n=3)"
marks = "marks.csv"
[[table]]
name = "good"
by = ["area"]
method = "publish"
[[table]]
name = "wrong"
by = ["area"]
method = "cell-key"
"""
    report = run(made(text))
    assert [line.outcome for line in report.lines] == ["refused", "published", "failed"]
    assert report.exit_code == 1
    assert any("s/m" in message for message in report.messages)
    for name in ("report.json", "report.html"):
        assert "s/m" not in Path("out", name).read_text()
    assert "keys" in report.lines[2].reason
    assert set(files("out")) == {"good.csv"}
