"""Files that hold something confidential, and messages about files: nobody reads from either what is not published."""

from __future__ import annotations

import ast
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import discreet as dc
from discreet.base.files import append_private, check_suffix, own_file, own_folder, write_whole
from discreet.cli import run
from discreet.policy import Query, answer_recorded, parse_policy, ru_map
from discreet.server.counting import cube
from discreet.server.record.store import Store

SOURCE = Path(dc.__file__).parent
CODEBOOK = '[[dimension]]\nname = "area"\ncodes = ["n", "s", "e"]\n[[dimension]]\nname = "sex"\ncodes = ["f", "m"]\n'
RULE = ["--method", "suppress", "--rule", "threshold(n=3)"]
POLICY = '[query]\nmax_dimensions = 2\n[[method]]\nname = "round"\nbase = 3\n'
NAME, NUMBER = "zedwitz", "987654"  # of a person, in the files of records


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Records, with the most careless umask there is."""
    rows = ["n,f"] * 7 + ["n,m"] * 2 + ["s,f"] * 5 + ["s,m"] * 9 + ["e,f"] + ["e,m"] * 6
    (tmp_path / "people.csv").write_text("\n".join(["area,sex", *rows, ""]))
    (tmp_path / "people.toml").write_text(CODEBOOK)
    (tmp_path / "policy.toml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    before = os.umask(0)
    yield tmp_path
    os.umask(before)


def people() -> dc.Microdata:
    return dc.Microdata.read("people.csv", "people.toml")


def said(*arguments: str) -> int:
    return run([arguments[0], "people.csv", "--codebook", "people.toml", "--by", "area,sex", *arguments[1:]])


def programme() -> None:
    """Two tables that give each other away are withheld: all that is private of a run."""
    text = '[programme]\nname = "p"\ndata = "people.csv"\ncodebook = "people.toml"\noutput = "out"\n'
    text += '[[table]]\nname = "a"\nby = ["area", "sex"]\nmethod = "suppress"\nrule = "threshold(n=3)"\n'
    text += '[[table]]\nname = "b"\nby = ["area", "sex"]\nmethod = "publish"\n'
    Path("p.toml").write_text(text)
    assert run(["run", "p.toml", "--jobs", "1"]) == 1


def store() -> None:
    made = Store("sqlite:///store.db")
    made.add_user("ada", "approved", None)
    made.close()


def audited() -> None:
    said("protect", *RULE, "-o", "t.csv", "--confidential", "truth.csv")
    run(["audit", "t.csv", "--codebook", "people.toml", "--confidential", "truth.csv", "-o", "audit.csv"])
    run(["audit", "t.csv", "--codebook", "people.toml", "-o", "audit.html"])


def recorded() -> None:
    answer_recorded(people(), Query.of("sex"), parse_policy(POLICY), "record.jsonl")
    store()
    run(["admin", "record", "--store", "sqlite:///store.db", "-o", "exported.jsonl"])


def searched() -> None:
    table = dc.tabulate(people(), by=["area", "sex"])
    ru_map(table, [dc.Round(3), dc.Round(5)], resume="resume.jsonl")
    said("search", "--try", "round:base=3", "--plot", "map.png")


def solved() -> None:
    table = dc.tabulate(people(), by=["area", "sex"])
    dc.protect(table, dc.Suppress(dc.Threshold(3), method=dc.Optimal(resume="state.npz")))


CONFIDENTIAL: dict[str, tuple[Callable[[], object], list[str]]] = {
    "true values beside a release, and audits": (audited, ["truth.csv", "audit.csv", "audit.html"]),
    "a table that is not protected": (lambda: said("tabulate", "-o", "true.csv"), ["true.csv"]),
    "a report of risk": (lambda: said("risk", "--html", "risk.html"), ["risk.html"]),
    "a search and its map": (searched, ["resume.jsonl", "map.png"]),
    "the record": (recorded, ["record.jsonl", "exported.jsonl"]),
    "a server's store": (store, ["store.db", "store.db-wal", "store.db-shm"]),
    "a cube": (lambda: cube.build(people(), Path("cube")), ["cube"]),
    "a programme": (programme, [".out.state"]),
    "the state of a solver": (solved, ["state.npz"]),
}


@pytest.mark.parametrize("what", CONFIDENTIAL)
def test_a_confidential_file_is_its_owners_alone(folder: Path, what: str) -> None:
    """Whatever the umask, and all that lies below a folder."""
    make, names = CONFIDENTIAL[what]
    make()
    there = [Path(name) for name in names if not name.endswith(("-wal", "-shm")) or Path(name).exists()]
    for path in [p for top in there for p in (top, *top.rglob("*"))]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_files_are_opened_for_writing_in_one_place(folder: Path) -> None:
    """No other module of the source writes to a path, so that none can forget who may read it."""
    writing = {"write_text", "write_bytes", "mkdtemp", "mkstemp", "touch", "NamedTemporaryFile"}
    found = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            texts = [a.value for a in (*node.args, *(k.value for k in node.keywords)) if isinstance(a, ast.Constant)]
            opened = name == "open" and any(isinstance(t, str) and set(t) & set("wax+") and len(t) < 4 for t in texts)
            if name in writing or opened:
                found.append(f"{path.relative_to(SOURCE)}: {name}")
    assert set(found) <= {"base/files.py: mkstemp"}, found


def test_nothing_confidential_lies_in_the_output(folder: Path) -> None:
    """Withheld tables wait outside; what an early version left inside is moved out, or the run is refused."""
    programme()
    assert sorted(p.name for p in Path("out").rglob("*")) == ["report.html", "report.json"]
    assert sorted(p.name for p in Path(".out.state/waiting").iterdir()) == ["a.csv", "b.csv"]
    os.rename(".out.state", "out/.programme")
    report = dc.publishing.run(dc.publishing.read_programme("p.toml"))
    assert "moved out" in report.messages[0]
    assert not Path("out/.programme").exists()
    assert {line.kept for line in report.lines} == {True}, "what was finished is still known"
    Path("out/.programme").mkdir()
    with pytest.raises(dc.InputError, match="remove the first"):
        dc.publishing.run(dc.publishing.read_programme("p.toml"))


@pytest.mark.parametrize(("output", "state"), [("out", "out"), ("out", "out/state"), ("a/out", "a"), ("out", ".")])
def test_the_state_lies_outside_the_output(folder: Path, output: str, state: str) -> None:
    """Neither within it nor around it."""
    programme()
    text = Path("p.toml").read_text().replace('output = "out"', f'output = "{output}"\nstate = "{state}"')
    with pytest.raises(dc.InputError, match="not the output, nor within it, nor around it"):
        dc.publishing.parse_programme(text)


def test_a_state_elsewhere(folder: Path) -> None:
    """Named by the programme, beside which it is looked for."""
    programme()
    text = Path("p.toml").read_text().replace('output = "out"', 'output = "o"\nstate = "private/p"')
    dc.publishing.run(dc.publishing.parse_programme(text))
    assert Path("private/p/state.jsonl").exists()
    assert not Path(".o.state").exists()


def test_published_tables_can_be_read_by_all(folder: Path) -> None:
    """What passed the check is for everybody, though it waited in private."""
    programme()
    text = Path("p.toml").read_text().split("[[table]]")
    dc.publishing.run(dc.publishing.parse_programme("[[table]]".join([text[0], text[1]])))
    assert stat.S_IMODE(Path("out/a.csv").stat().st_mode) == 0o644


def test_a_file_that_was_open_is_closed(folder: Path) -> None:
    """Files of an earlier version that strangers could read; what was given to a group stays with it."""
    for name, mode, wanted in (("a", 0o644, 0o600), ("b", 0o660, 0o660), ("c", 0o666, 0o600)):
        Path(name).write_bytes(b"x")
        os.chmod(name, mode)
        own_file(name)
        assert stat.S_IMODE(os.stat(name).st_mode) == wanted
    append_private("a", b"line\n")
    assert Path("a").read_bytes() == b"x\nline\n", "a torn line is ended first"
    os.chmod("a", 0o644)
    write_whole("a", b"", private=True)
    assert stat.S_IMODE(os.stat("a").st_mode) == 0o600
    with pytest.raises(dc.InputError, match="cannot"):
        own_folder("a/b")


# -- suffixes ---------------------------------------------------------------------------------------------------

FOREIGN = [
    ("protect", *RULE, "--confidential", "c.xlsx"), ("protect", *RULE, "-o", "t.csv", "--confidential", "c.html"),
    ("risk", "--html", "r.pdf"), ("search", "--try", "round:base=3", "--plot", "map.svg"),
    ("protect", *RULE, "--format", "csv", "-o", "t.xlsx"), ("tabulate", "--format", "px", "-o", "t.parquet"),
    ("tabulate", "-o", "t.docx"),
]  # fmt: skip


@pytest.mark.parametrize("arguments", FOREIGN, ids=lambda a: " ".join(a))
def test_no_output_has_a_foreign_suffix(folder: Path, arguments: tuple[str, ...]) -> None:
    """Refused before anything is read or written."""
    before = set(folder.iterdir())
    assert said(*arguments) == 2
    assert set(folder.iterdir()) == before


def test_other_outputs_check_their_suffix_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands that read no records, and the library."""
    said("protect", *RULE, "-o", "t.csv")
    for arguments in (["audit", "t.csv", "-o", "x.xlsx"], ["policy", "init", "-o", "p.csv"],
                      ["admin", "record", "-o", "r.xlsx"], ["datasets", "injuries", "-o", "d.parquet"]):  # fmt: skip
        assert run(arguments) == 2, arguments
        assert arguments[-1] in capsys.readouterr().err
        assert not Path(arguments[-1]).exists()
    table = dc.tabulate(people(), by=["area", "sex"])
    for write in (
        lambda: dc.assess(table).to_html("r.pdf"),
        lambda: dc.protect(table, dc.Round(3)).release().to_csv("t.xlsx"),
        lambda: dc.write(dc.protect(table, dc.Round(3)).release(), "t.px", format="xlsx"),
        lambda: table.dimensions[0].to_hrc("area.csv"),
        lambda: dc.PTable.design(2, 1).write("p.xlsx"),
    ):
        with pytest.raises(dc.InputError, match="suffix"):
            write()
    check_suffix("a.HTML", [".html"], "a page")
    assert dc.write(dc.protect(table, dc.Round(3)).release(), "t.dat", format="csv") == Path("t.dat")


# -- messages ---------------------------------------------------------------------------------------------------

RECORDS = {
    "with a head": f"name,area,pay\n{NAME},n,{NUMBER}\n{NAME},s,{NUMBER}\nadler,n,12\nbrandt,s,13\n",
    "bare": f"{NAME},n,{NUMBER}\n{NAME},n,{NUMBER}\n",
    "semicolons": f"{NAME};n;{NUMBER}\nadler;n;{NUMBER}\n",
    "tabs": f"{NAME}\tn\t{NUMBER}\nadler\tn\t{NUMBER}\n",
    "fixed": f"{NAME}n{NUMBER}\n@@{NAME}n{NUMBER}\n",
    "a mark": f"area,sex,mark\n{NAME},f,{NUMBER}\n",
    "a code": f"area,sex,mark,below\n{NAME},f,u,{NUMBER}\n{NUMBER},{NAME},s,1\n",
    "a hierarchy": f"code,parent,sign\n{NAME},{NUMBER},1\n{NAME},{NUMBER},1\n{NUMBER},,{NAME}\n",
    "a description": f"{NAME}\n{NUMBER} {NAME}\n<RECODEABLE>\n",
    "a status": f"0 1 0 5 5 {NAME} 0 9 0 0 0 1 0 1 : {NUMBER} (1)",
    "cells": f"0 1 0 5 5 s 0 9 0 0 0 1 0 1 : {NUMBER} (1)",
    "a table": f"area,sex,count,status\n{NAME},f,{NUMBER},\n{NAME},f,{NUMBER},\n",
    "an a-priori file": f"n;f;{NUMBER}\n{NAME};f;u\n",
}
WAYS: dict[str, tuple[str, list[str]]] = {
    "marks": ("x.csv", ["protect", *RULE, "--marks", "x.csv"]),
    "levels": ("x.csv", ["protect", *RULE, "--levels", "x.csv"]),
    "a-priori levels": ("x.hst", ["protect", *RULE, "--levels", "x.hst"]),
    "levels of a table": ("x.tab", ["protect", *RULE, "--levels", "x.tab"]),
    "population": ("x.csv", ["risk", "--population", "x.csv"]),
    "protected": ("x.csv", ["risk", "--after", "x.csv"]),
    "policy": ("x.toml", ["protect", "--policy", "x.toml"]),
    "codebook": ("x.toml", ["!", "tabulate", "people.csv", "--by", "area", "--codebook", "x.toml"]),
    "description": ("x.rda", ["!", "tabulate", "people.csv", "--by", "area", "--codebook", "x.rda"]),
    "records": ("x.csv", ["!", "tabulate", "x.csv", "--by", "area,sex", "--codebook", "people.toml"]),
    "other records": ("x.csv", ["!", "tabulate", "x.csv", "--by", "area", "--value", "name"]),
    "cells": ("x.csv", ["!", "protect", "x.csv", "--ready", "--by", "area,sex", "--codebook", "people.toml", *RULE]),
    "filter": ("x.csv", ["!", "tabulate", "x.csv", "--by", "area", "--where", "area=q"]),
    "release": ("x.csv", ["!", "audit", "x.csv", "--codebook", "people.toml", "--rows", "0"]),
    "instance": ("x.jj", ["!", "audit", "x.jj", "--rows", "0"]),
    "truth": ("x.csv", ["!", "audit", "t.csv", "--codebook", "people.toml", "--confidential", "x.csv", "--rows", "0"]),
    "programme": ("x.toml", ["!", "run", "x.toml"]),
    "record": ("x.jsonl", ["!", "replay", "x.jsonl", "people.csv", "--codebook", "people.toml", "--policy",
                           "policy.toml"]),
    "p-table": ("x.csv", ["protect", "--method", "cell-key", "-P", "ptable=x.csv"]),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_no_message_shows_what_a_file_holds(folder: Path, way: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A file of records given where another belongs: the message names the file and the line, not what stands there."""
    said("protect", *RULE, "-o", "t.csv")
    name, arguments = WAYS[way]
    for text in RECORDS.values():
        Path(name).write_text(text)
        capfdbinary.readouterr()
        code = run(arguments[1:]) if arguments[0] == "!" else said(*arguments)
        out, err = capfdbinary.readouterr()
        told = err + (out if code else b"")  # a table that was asked for may be printed
        assert not [secret for secret in (NAME, NUMBER) if secret in told.decode()], (text, told)


def test_codes_found_in_records_are_not_listed(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A filter on a variable without a codebook must not say who is in the data; one of a codebook's is helpful."""
    Path("x.csv").write_text(RECORDS["with a head"])
    assert run(["tabulate", "x.csv", "--by", "area,name", "--where", "name=zedwits"]) == 2
    err = capfdbinary.readouterr().err.decode()
    assert "'zedwits' is not a code" in err
    assert not [name for name in (NAME, "adler") if name in err]
    assert said("tabulate", "--where", "area=ss") == 2
    assert "'s'" in capfdbinary.readouterr().err.decode()


def test_hierarchies_from_columns_tell_no_codes() -> None:
    """The columns may be those of records."""
    with pytest.raises(dc.InputError) as told:
        dc.Dimension.nested({"who": [NAME, NAME], "area": ["n", "s"]}, ["who", "area"])
    assert NAME not in str(told.value)
