"""Doors for engineers: JSON on stdout, words by level on stderr, files behind addresses, a stable report."""

from __future__ import annotations

import functools
import gzip
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import discreet as dc
from discreet.cli import run
from discreet.engines.remote import fetched, is_remote

BY = ["area", "sex"]
CODEBOOK = """
[[dimension]]
name = "area"
codes = ["01", "02"]
[[dimension]]
name = "sex"
codes = ["f", "m"]
"""
CELLS = "area,sex,count\nN,f,20\nN,m,1\nS,f,2\nS,m,30\n"
PROGRAMME = """
[programme]
name = "Two tables"
data = "people.csv"
codebook = "people.toml"
output = "out"
[defaults]
method = "round"
parameters = { base = 5 }
[[table]]
name = "one"
by = ["area"]
[[table]]
name = "two"
by = ["area", "sex"]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with cells and records."""
    monkeypatch.chdir(tmp_path)
    Path("cells.csv").write_text(CELLS)
    frame = pd.DataFrame({"area": ["01", "02", "01"] * 40, "sex": ["f", "f", "m", "m"] * 30})
    frame.to_csv("people.csv", index=False)
    Path("people.toml").write_text(CODEBOOK)
    frame.to_parquet("people.parquet")
    return tmp_path


def strict(text: str) -> Any:
    """JSON as the standard has it: NaN and Infinity are not numbers."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_python_m_is_the_program() -> None:
    """The same words, and the exit code of the command."""
    said = [
        subprocess.run([sys.executable, *words], capture_output=True, text=True)
        for words in (
            ["-m", "discreet", "show", "none.csv"],
            ["-c", "import discreet.cli as c; c.main()", "show", "none.csv"],
        )
    ]
    assert said[0].returncode == said[1].returncode == 2
    assert said[0].stderr == said[1].stderr


def test_an_audit_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Verdict and cells, the exit code as without, endless bounds as null, and nothing else on stdout."""
    assert run(["protect", "cells.csv", "--ready", "--rule", "threshold(n=3)", "-o", "safe.csv"]) == 0
    capsys.readouterr()
    assert run(["audit", "safe.csv", "--json"]) == 0
    told = strict(capsys.readouterr().out)
    assert told["verdict"] == "pass"
    assert len(told["cells"]) == 4
    assert {"area", "sex", "lower", "upper", "finding"} <= told["cells"][0].keys()
    assert "true" not in told["cells"][0]
    Path("open.csv").write_text("area,count,status\nTotal,21,\nN,20,\nS,,c\n")
    assert run(["audit", "open.csv", "--json"]) == 1
    assert strict(capsys.readouterr().out)["verdict"] == "fail"


def test_risk_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table with an empty line, whose risk is no number."""
    Path("empty.csv").write_text("area,sex,count\nN,f,2\nN,m,1\nS,f,0\nS,m,0\n")
    assert run(["risk", "empty.csv", "--ready", "--json"]) == 0
    told = strict(capsys.readouterr().out)
    assert told["n"] == 3
    assert told["confidential"] is True


def test_a_run_as_json_is_its_report(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And two runs of the same input, fresh or resumed, with one process or two, give the same bytes."""
    Path("programme.toml").write_text(PROGRAMME)
    assert run(["run", "programme.toml", "--jobs", "1", "--json"]) == 0
    first, said = Path("out/report.json").read_bytes(), capsys.readouterr().out
    assert said.encode() == first
    assert [table["name"] for table in strict(said)["tables"]] == ["one", "two"]
    for options in (["--resume"], ["--fresh", "--jobs", "2"]):
        assert run(["run", "programme.toml", *options]) == 0
        assert Path("out/report.json").read_bytes() == first
    assert run(["run", "programme.toml", "--dry-run", "--json"]) == 0
    assert len(strict(capsys.readouterr().out)["tables"]) == 2


def test_a_level_says_more_or_less(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is printed is the same; words are fewer; errors are always said."""
    said = {}
    for level in ("debug", "info", "warning", "error"):
        assert run(["--log-level", level, "tabulate", "people.csv", "--by", "area"]) == 0
        found = capsys.readouterr()
        said[level] = found.err
        assert found.out.startswith("area,count")
    assert "confidential" in said["info"]
    assert said["info"] in said["debug"]
    assert dc.__version__ in said["debug"]
    assert said["warning"] == said["error"] == ""
    assert run(["--log-level", "error", "tabulate", "none.csv", "--by", "area"]) == 2
    assert "none.csv" in capsys.readouterr().err
    monkeypatch.setenv("DISCREET_LOG_LEVEL", "error")
    assert run(["tabulate", "people.csv", "--by", "area"]) == 0
    assert capsys.readouterr().err == ""
    assert run(["--log-level", "loud", "tabulate", "people.csv", "--by", "area"]) == 2


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a line for each request."""

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def web(home: Path) -> Iterator[str]:
    """The address of a web server that has the files."""
    (home / "people.csv.gz").write_bytes(gzip.compress((home / "people.csv").read_bytes()))
    (home / "people.tsv").write_text((home / "people.csv").read_text().replace(",", "\t"))
    (home / "broken.parquet").write_bytes(b"no Parquet")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(home)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", ["people.csv", "people.parquet", "people.csv.gz", "people.tsv"])
def test_a_file_behind_an_address_is_the_file(web: str, home: Path, name: str) -> None:
    """The same table by http and, as object stores are read, by file://; codes keep their zeros."""
    wanted = dc.tabulate(dc.Microdata.of("people.csv", dimensions=BY), by=BY)
    for address in (f"{web}/{name}?token=x", (home / name).as_uri()):
        assert is_remote(address)
        found = dc.tabulate(dc.Microdata.of(address, dimensions=BY), by=BY)
        assert found.cells.equals(wanted.cells)


def test_the_command_line_takes_an_address(web: str, home: Path) -> None:
    """The bytes are those of the file at hand."""
    for data, name in ((f"{web}/people.parquet", "far.csv"), ("people.parquet", "near.csv")):
        assert run(["tabulate", data, "--by", "area,sex", "-o", name]) == 0
    assert Path("far.csv").read_bytes() == Path("near.csv").read_bytes()


def test_faults_of_addresses_do_not_tell_tokens(web: str, home: Path) -> None:
    """Name of the file and what happened; the query, where tokens are, is left out."""
    for address, word in (
        (f"{web}/none.csv?token=secret", "404"),
        (f"{web}/broken.parquet?token=secret", "readable"),
        (f"{web}/people.docx?token=secret", "known endings"),
        ("http://127.0.0.1:1/people.csv?token=secret", "does not answer"),
        ((home / "none.parquet").as_uri(), "none.parquet"),
    ):
        with pytest.raises(dc.InputError, match=word) as caught:
            fetched(address)
        assert "secret" not in str(caught.value)
