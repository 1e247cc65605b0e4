"""Publishing programmes: many tables in one go, resumable, checked against each other, nothing out that fails."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.cli import run as cli
from discreet.methods import HOMES, method, method_class
from discreet.publishing import (
    Consistency,
    Finding,
    Programme,
    Shown,
    check,
    parse_programme,
    plan,
    read_programme,
    run,
)
from discreet.publishing.folder import Folder
from tests.persons import DIMENSIONS, microdata, persons

HEAD = """
[programme]
name = "A census"
data = "people.parquet"
codebook = "people.toml"
output = "out"
"""
KEYED = """
[defaults]
method = "cell-key"
"""
MANY = (
    HEAD
    + KEYED
    + """
[[table]]
name = "all"
combinations = { of = ["area", "sex", "age"], sizes = [1, 2, 3] }
formats = ["csv", "json-stat"]

[[table]]
name = "{by}-in-{area}"
by = ["sex"]
combinations = { of = ["age"], sizes = [1] }
for_each = { area = "area" }

[[table]]
name = "coarse"
by = ["area:level 1", "sex"]
for_each = { age = ["0", "1", "2", "3"] }

[[table]]
name = "men"
where = { sex = "m" }
combinations = { of = ["area", "age"], sizes = [1, 2] }
"""
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with records and their codebook."""
    monkeypatch.chdir(tmp_path)
    records = persons(300)
    pq.write_table(records, tmp_path / "people.parquet")
    (tmp_path / "people.toml").write_text(microdata(records).codebook.to_toml())
    return tmp_path


def made(text: str, output: str = "out") -> Programme:
    return parse_programme(text.replace('"out"', f'"{output}"'))


def files(folder: str | Path) -> dict[str, bytes]:
    """The published tables, without the report."""
    return {p.name: p.read_bytes() for p in Path(folder).iterdir() if p.is_file() and p.stem != "report"}


def kinds(findings: tuple[Finding, ...] | list[Finding], level: str = "error") -> list[str]:
    return [f.kind for f in findings if f.level == level]


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


# -- linked tables ----------------------------------------------------------------------------------------------

LINKED = HEAD + """
[[linked]]
name = "together"
rule = "threshold(n=8)"
[[table]]
name = "t"
linked = "together"
combinations = { of = ["area", "sex", "age"], sizes = [1, 2] }
[[table]]
name = "north"
linked = "together"
by = ["age", "area:level 1"]
"""  # fmt: skip


def test_linked_tables_are_protected_on_one_matrix(home: Path) -> None:
    """Each is released by itself, hides what the others hide, and nothing follows from all of them together."""
    report = run(made(LINKED))
    assert report.exit_code == 0
    assert kinds(report.findings) == []
    assert {line.unit for line in report.lines} == {"together"}
    records = dc.Microdata.read("people.parquet", "people.toml")
    names = [("area", "sex", "age"), ("area",), ("sex",), ("age",), ("area", "sex"), ("area", "age"), ("sex", "age")]
    table = dc.tabulate(records, by=names[0], margins=names[1:])
    whole = dc.protect(table, dc.Suppress(dc.Threshold(8)))
    assert whole.hidden.any()
    frame = whole.release().cells.astype(str)
    for by in names[1:]:
        others = [n for n in names[0] if n not in by]
        wanted = (
            frame[(frame[others] == "Total").all(axis=1)].set_index(list(by))["count"].fillna("").replace("<NA>", "")
        )
        got = pd.read_csv(f"out/t-{'-'.join(by)}.csv", dtype=str, keep_default_na=False).set_index(list(by))["count"]
        assert got.to_dict() == wanted.to_dict()
    north = pd.read_csv("out/north.csv", dtype=str, keep_default_na=False)
    assert list(north.columns[:2]) == ["age", "area"]
    assert set(north["area"]) == {"Total", "N", "S"}


def test_linked_in_turn_all_tables_hide_the_same_cells(home: Path) -> None:
    """One after the other until nothing changes: what is hidden in one table is hidden in all, and more than apart."""
    linked = LINKED.replace("[1, 2]", "[1, 2, 3]").replace("n=8", "n=5")
    turn = linked.replace('name = "together"', 'name = "together"\napproach = "in turn"', 1)
    apart = linked.replace('[[linked]]\nname = "together"', "[defaults]").replace('linked = "together"\n', "")
    report, separate = run(made(turn)), run(made(apart, "apart"))
    assert report.exit_code == 0
    assert kinds(report.findings) == []
    assert "hidden" in kinds(separate.findings)
    assert sum(line.hidden for line in report.lines) > sum(line.hidden for line in separate.lines)
    assert run(made(turn, "two"), jobs=2).exit_code == 0
    assert files("out") == files("two")
    with pytest.raises(dc.InputError, match="in turn by the method 'suppress'"):
        made(turn.replace('rule = "threshold(n=5)"', 'method = "round"'))


def test_a_group_of_one_is_that_table(home: Path) -> None:
    """Linking changes nothing where there is nothing to link."""
    one = HEAD + '[[table]]\nname = "t"\nby = ["age", "area"]\nrule = "threshold(n=5)"\n'
    group = HEAD + (
        '[[linked]]\nname = "g"\nrule = "threshold(n=5)"\n[[table]]\nname = "t"\nby = ["age", "area"]\nlinked = "g"\n'
    )
    assert run(made(one)).exit_code == run(made(group, "two")).exit_code == 0
    assert files("out") == files("two")
    assert b",c" in files("out")["t.csv"]


# -- consistency ------------------------------------------------------------------------------------------------


def shown(name: str, counts: object, names: list[str], hide: object = (), *, exact: bool = True) -> Shown:
    """A table of counts over the made-up persons' dimensions, some cells hidden."""
    dims = [d for n in names for d in DIMENSIONS if d.name == n]
    table = dc.Table.of(np.asarray(counts), dims)
    release = dc.protect(table, dc.Hide(hide)).release() if exact else dc.Round(3)(table).release()
    return Shown.of(release, microdata(persons()).codebook, {}, name=name)


def test_a_method_that_does_not_say_what_it_shows_is_never_ok() -> None:
    """A user's own method: true values are seen as such whatever its sentence; without a word the table is an error."""
    counts = np.arange(1, 7).reshape(3, 2)
    dims = [d for n in ("area", "sex") for d in DIMENSIONS if d.name == n]
    table = dc.Table.of(np.resize(counts, [len(d.leaves) for d in dims]), dims)
    book = microdata(persons()).codebook
    inner = np.flatnonzero(table.is_inner)[[0, 1]]
    hidden = Shown.of(dc.protect(table, dc.Hide(inner[:1])).release(), book, {}, name="hidden")

    def own(truthful: bool | None) -> Shown:
        status = np.full(len(table), "s")
        done = dc.Protected(table, {"count": table.count}, status, "made by our own hands", truthful=truthful)
        return Shown.of(done.release(), book, {}, name="own")

    assert {f.kind for f in check([hidden, own(True)]) if f.level == "error"} == {"hidden"}
    found = [f for f in check([hidden, own(None)]) if f.level == "error"]
    assert [(f.kind, f.tables) for f in found] == [("not judged", ("own",))]
    assert [f.kind for f in check([own(None)])] == ["not judged"]
    assert not [f for f in check([own(True)]) if f.level == "error"]
    assert Shown.from_bytes(own(None).to_bytes()).exact is None
    file = replace(dc.protect(table, dc.Publish()).release(), truthful=None)  # as one that was read from a file
    assert Shown.of(file, book, {}, name="t", truthful=True).exact is True


def test_every_method_says_whether_it_shows_true_values() -> None:
    """All names that a programme or policy can give, judged by what they do to a table (or to records)."""
    people = microdata(persons())
    table = dc.tabulate(people, by=["area", "sex"])
    given: dict[str, dict[str, object]] = {
        "suppress": {"rule": dc.Threshold(3)}, "optimal": {"rule": dc.Threshold(3)},
        "modular": {"rule": dc.Threshold(3)},
        "round": {"base": 3}, "random-round": {"base": 3, "seed": 1}, "semi-controlled-round": {"base": 3, "seed": 1},
        "controlled-round": {"base": 3}, "small-count-round": {"base": 3, "seed": 1}, "cta": {"rule": dc.Threshold(3)},
        "cell-key": {"d": 2, "v": 1.0, "seed": 1}, "barnard": {"p": 0.2, "seed": 1}, "redesign": {"merge": {}},
        "stochastic": {"seed": 1},
    }  # fmt: skip
    records = {"swap": False, "pram": False, "global-recode": True, "sample": False}
    for name in HOMES:
        if name in records:
            assert method_class(name).truthful is records[name]
            continue
        if name == "cell-key-magnitude":
            continue  # made by ``perturbed`` as the others are; it needs a magnitude
        try:
            done = method(name, **given.get(name, {}))(table)
        except dc.InputError as error:
            raise AssertionError(f"{name}: {error}") from None
        same = np.array_equal(
            np.where(done.hidden, 0, done.published["count"]), np.where(done.hidden, 0, done.table.count)
        )
        if name == "same-margins":  # true margins around cells that are not: it says neither, and no check passes it
            assert done.truthful is None
            continue
        assert done.truthful is not None
        assert same or not done.truthful, name
        assert done.release().truthful is done.truthful


def test_a_cell_hidden_here_and_shown_there_is_an_error() -> None:
    """Differencing in its simplest form, found across different dimensions; both tables are named."""
    cube = np.random.default_rng(1).integers(3, 30, (5, 2, 4))
    a = shown("a", cube.sum(axis=2), ["area", "sex"], [{"area": "n1", "sex": "f"}, {"area": "n1", "sex": "Total"}])
    b = shown("b", cube.sum(axis=1), ["area", "age"])
    found = check([a, b])
    hidden = next(f for f in found if f.kind == "hidden")
    assert (hidden.level, hidden.cells, hidden.tables) == ("error", 1, ("a", "b"))
    assert "area=n1: hidden in 'a', shown in 'b'" in hidden.examples
    assert kinds(check([a])) == kinds(check([b])) == []


def test_a_population_is_the_same_as_a_dimension(home: Path) -> None:
    """A table of one area and a table by area have cells in common; so have a region and its two areas."""
    text = (
        HEAD
        + """
[[table]]
name = "whole"
by = ["area", "sex"]
method = "publish"
[[table]]
name = "part"
by = ["sex"]
where = { area = ["n1", "n2"] }
rule = "threshold(n=60)"
"""
    )
    report = run(made(text))
    assert kinds(report.findings)[0] == "hidden"
    assert any(e.startswith(("area=N", "sex")) for e in report.findings[0].examples)
    assert files("out") == {}


@pytest.mark.parametrize("seed", range(8))
def test_derived_cells_are_those_of_the_joint_audit(seed: int) -> None:
    """What follows from tables together but from none alone: the check agrees with the LP audit of all of them."""
    rng = np.random.default_rng(seed)
    cube = rng.integers(0, 4, (5, 2, 4))
    pairs = {"a": (["area", "sex"], 2), "b": (["area", "age"], 1), "c": (["sex", "age"], 0)}
    protected, tables = [], []
    share = {n: rng.random() < 0.5 for n in ("area", "sex", "age")}
    for name, (names, axis) in pairs.items():
        dims = [d for n in names for d in DIMENSIONS if d.name == n]
        table = dc.Table.of(cube.sum(axis=axis), dims)
        codes = table.layout.codes
        first = codes == [d.position[d.total] for d in dims]
        hide = (rng.random(len(table)) < 0.4) & ~first.any(axis=1)
        for k, n in enumerate(names):  # margins hidden alike in all tables, so that no cell is hidden and shown
            if share[n]:
                hide |= (codes[:, k] % 3 == 1) & first[:, 1 - k] & ~first[:, k]
        protected.append(dc.protect(table, dc.Hide(hide)))
        tables.append(Shown.of(protected[-1].release(), microdata(persons()).codebook, {}, name=name))
    joint = dc.audit(protected)
    exact = set(joint.number[joint.finding == "exact"].tolist())
    start, alone = 0, set()
    for one in protected:
        found = dc.audit(one)
        alone |= {start + int(n) for n in found.number[found.finding == "exact"]}
        start += len(one.table)
    codes = [
        tuple(
            sorted((d.name, d.codes[c]) for d, c in zip(p.table.dimensions, row, strict=True) if d.codes[c] != d.total)
        )
        for p in protected
        for row in p.table.layout.codes
    ]
    wanted = {codes[n] for n in exact} - {codes[n] for n in alone}
    found = [f for f in check(tables) if f.kind == "derived"]
    assert sum(f.cells for f in found) == len(wanted)
    for text in (e for f in found for e in f.examples):
        assert tuple(sorted(tuple(part.split("=")) for part in text.split(", "))) in wanted


def test_parts_too_large_for_a_programme_are_said_not_to_be_checked() -> None:
    """Single sums are still followed; the rest is honestly left open."""
    cube = np.random.default_rng(1).integers(3, 30, (5, 2, 4))
    hide = [{"area": a, "sex": s} for a in ("n1", "n2") for s in ("f", "m")]
    a = shown("a", cube.sum(axis=2), ["area", "sex"], hide)
    found = check([a], Consistency(most_cells=1))
    assert "not checked" in kinds(found, "warning")
    assert any("most_cells" in f.text for f in found)
    assert not any("most_cells" in f.text for f in check([a]))
    single = shown("a", cube.sum(axis=2), ["area", "sex"], [{"area": "n1", "sex": "f"}])
    assert kinds(check([single]), "note") == ["alone"]


def test_true_and_perturbed_values_do_not_mix() -> None:
    """A table as it is undoes the noise of another; the setting may lower it to a warning."""
    cube = np.random.default_rng(1).integers(3, 30, (5, 2, 4))
    a = shown("a", cube.sum(axis=2), ["area", "sex"])
    b = shown("b", cube.sum(axis=1), ["area", "age"], exact=False)
    assert kinds(check([a, b])) == ["mixed"]
    assert kinds(check([a, b], Consistency(mixed="warn")), "warning") == ["mixed"]


def test_different_values_of_one_cell() -> None:
    """Two true values are an error; two perturbed ones a warning or an error, as the programme says."""
    a, b = shown("a", np.full((5, 2), 6), ["area", "sex"]), shown("b", np.full((5, 4), 6), ["area", "age"])
    assert "different" in kinds(check([a, b]))
    c = shown("c", np.full((5, 2), 7), ["area", "sex"], exact=False)
    d = shown("d", np.full((5, 4), 10), ["area", "age"], exact=False)
    assert kinds(check([c, d]), "warning") == ["differences"]
    assert kinds(check([c, d], Consistency(differences="error"))) == ["differences"]


def test_categories_of_their_own_are_not_compared(home: Path) -> None:
    """Recoded tables have codes that no codebook explains: the check says so."""
    text = (
        HEAD
        + """
[[table]]
name = "recoded"
by = ["age", "sex"]
method = "global-recode"
parameters = { variable = "age", groups = { "0" = ["0", "1"] } }
"""
    )
    report = run(made(text))
    assert kinds(report.findings, "warning") == ["not compared"]
    assert report.verdict is dc.Verdict.UNKNOWN
    assert report.exit_code == 1


INCONSISTENT = HEAD + """
[[table]]
name = "a"
by = ["area", "age"]
method = "suppress"
rule = "threshold(n=8)"
[[table]]
name = "b"
by = ["area", "sex", "age"]
method = "METHOD"
[[table]]
name = "c"
by = ["sex"]
method = "publish"
"""  # fmt: skip


def test_an_inconsistent_programme_publishes_nothing_that_offends(home: Path) -> None:
    """What was published before is taken back; the other tables go out; mended, all of them do."""
    alone = INCONSISTENT.split('[[table]]\nname = "b"')[0]
    assert run(made(alone)).exit_code == 0
    assert set(files("out")) == {"a.csv"}
    report = run(made(INCONSISTENT.replace("METHOD", "publish")))
    assert report.exit_code == 1
    assert [line.outcome for line in report.lines] == ["withheld", "withheld", "published"]
    assert set(files("out")) == {"c.csv"}
    assert not json.loads(Path("out/report.json").read_text())["consistent"]
    assert "INCONSISTENT" in Path("out/report.html").read_text()
    Path("p.toml").write_text(INCONSISTENT.replace("METHOD", "publish"))
    assert cli(["run", "p.toml", "--jobs", "1"]) == 1
    assert run(made(alone)).lines[0].kept
    assert set(files("out")) == {"a.csv"}


# -- going on ---------------------------------------------------------------------------------------------------


def kept(report: object) -> set[str]:
    return {line.name for line in report.lines if line.kept}  # type: ignore[attr-defined]


def test_only_what_changed_is_done_again(home: Path) -> None:
    """An entry, a file of the output, the codebook, the records: each makes exactly its tables be done again."""
    first = run(made(MANY))
    names = {line.name for line in first.lines}
    before = files("out")
    assert kept(first) == set()
    assert kept(run(made(MANY))) == names
    Path("out/all-sex.csv").write_bytes(b"tampered")
    Path("out/all-age.json").unlink()
    assert kept(run(made(MANY))) == names - {"all-sex", "all-age"}
    assert files("out") == before
    changed = MANY.replace('by = ["area:level 1", "sex"]', 'by = ["sex", "area:level 1"]')
    assert kept(run(made(changed))) == {n for n in names if not n.startswith("coarse")}
    assert kept(run(made(changed), resume=False)) == set()
    pq.write_table(persons(301), "people.parquet")
    assert kept(run(made(changed))) == set()
    assert files("out") != before


def test_tables_that_left_the_programme_leave_the_folder(home: Path) -> None:
    """Only files that a run wrote are removed, and only its own."""
    run(made(MANY))
    Path("out/notes.txt").write_text("mine")
    run(made(HEAD + KEYED + '[[table]]\nname = "only"\nby = ["sex"]\n'), resume=False)
    assert set(files("out")) == {"only.csv", "notes.txt"}


def test_a_changed_secret_makes_tables_anew(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is named in the programme, its value decides; a secret itself is refused."""
    text = HEAD + '[[table]]\nname = "t"\nby = ["sex"]\nmethod = "cell-key"\nparameters = { secret = "env:NOISE" }\n'
    monkeypatch.setenv("NOISE", "a secret of many characters")
    run(made(text))
    assert kept(run(made(text))) == {"t"}
    monkeypatch.setenv("NOISE", "another one of many characters")
    assert kept(run(made(text))) == set()
    with pytest.raises(dc.InputError, match="does not stand in a programme"):
        made(text.replace("env:NOISE", "a secret of many characters"))


def test_the_state_is_private_and_tells_nothing(home: Path) -> None:
    """Nobody else reads the folder, digests are keyed, and a torn line does no harm."""
    run(made(MANY))
    private = Path(".out.state")
    assert private.stat().st_mode & 0o077 == 0
    state = (private / "state.jsonl").read_text()
    for data in files("out").values():
        assert hashlib.sha256(data).hexdigest() not in state
    assert hashlib.sha256(Path("people.parquet").read_bytes()).hexdigest() not in state
    assert set(json.loads(state.splitlines()[0])) == {"unit", "fingerprint", "tables"}
    with (private / "state.jsonl").open("a") as file:
        file.write('{"unit": "table all-s')
    assert len(kept(run(made(MANY)))) == 19


def test_two_runs_into_one_folder_are_refused(home: Path) -> None:
    """The second is told to wait."""
    programme = made(MANY)
    with Folder.open(programme).alone(), pytest.raises(dc.InputError, match="another run"):
        run(programme)


def started(home: Path, jobs: int) -> subprocess.Popen[bytes]:
    """A run in a process (and group) of its own, well under way but not finished."""
    code = "import sys; from discreet.cli import main; main(sys.argv[1:])"
    arguments = [sys.executable, "-c", code, "run", "many.toml", "--jobs", str(jobs)]
    process = subprocess.Popen(arguments, cwd=home, stderr=subprocess.PIPE, start_new_session=True)
    state = home / ".out.state/state.jsonl"
    for _ in range(6000):
        if state.exists() and state.read_bytes().count(b"\n") >= 2:
            return process
        assert process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.01)
    raise AssertionError("no table was finished in a minute")


def gone(group: int) -> bool:
    """Whether no process of a group is left, at the latest after some seconds."""
    for _ in range(1000):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def slow(home: Path) -> Callable[[], dict[str, bytes]]:
    """A programme of some seconds, and what it gives when nothing stops it."""
    source = 'data = "people.parquet"\ncodebook = "people.toml"\n'
    text = MANY + "".join(
        f'[[table]]\nname = "r{n}"\nby = ["area", "sex", "age"]\nsource = "s{n}"\n[source.s{n}]\n{source}'
        for n in range(40)
    )
    (home / "many.toml").write_text(text)

    def whole() -> dict[str, bytes]:
        assert run(made(text, "whole")).exit_code == 0
        return files("whole")

    return whole


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_it_goes_on_and_ends_the_same(home: Path, jobs: int) -> None:
    """SIGKILL in the middle: nothing published yet, no process left; the next run keeps what was finished."""
    whole = slow(home)
    process = started(home, jobs)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert gone(process.pid)
    assert files("out") == {}
    finished = (home / ".out.state/state.jsonl").read_bytes().count(b"\n")
    report = run(read_programme("many.toml"))
    assert len(kept(report)) >= min(finished, 2)
    assert files("out") == whole()
    assert not list(Path(".out.state/waiting").iterdir())


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_it_leaves_a_valid_state(home: Path, jobs: int) -> None:
    """Ctrl-C: exit code 130, no process left behind, finished tables are kept."""
    whole = slow(home)
    process = started(home, jobs)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert gone(process.pid)
    assert files("out") == {}
    assert kept(run(read_programme("many.toml"), jobs=2))
    assert files("out") == whole()


# -- what is wrong is said at once ------------------------------------------------------------------------------


def test_unknown_keys_and_sections_hide_no_other_fault(home: Path) -> None:
    """Each key that is none has the line where it stands, and what else is wrong is said beside it."""
    text = HEAD + KEYED + '[default]\nname = "x"\n[[table]]\nname = "one"\nby = ["sexx"]\ntop2 = 1\nnots = []\n'
    text = 'colour = "red"\nshape = "round"\n' + text
    with pytest.raises(dc.InputError) as caught:
        parse_programme(text, source="p.toml")
    first, *said = str(caught.value).splitlines()
    assert first.startswith("6 faults")
    lines = text.splitlines()
    for key, found in zip(
        ("colour", "shape", "[default]", "[[table]]", "top2", "nots"), sorted(said, key=_line_of), strict=True
    ):
        number = next(n for n, line in enumerate(lines, 1) if line.startswith(key))
        assert _line_of(found) == number, found
        assert key.strip("[]") in found


def _line_of(said: str) -> int:
    return int(said.partition(", line ")[2].partition(":")[0])


def test_all_faults_are_said_at_once_with_table_and_key(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unknown dimensions, levels, codes, methods, parameters, rules, groups, names: one list, each with its line."""
    entries = {
        "dim": 'by = ["arae"]\nmethod = "publish"',
        "lev": 'by = ["area:levle 1"]\nmethod = "publish"',
        "cod": 'by = ["sex"]\nwhere = { area = "n9" }\nmethod = "publish"',
        "val": 'by = ["sex"]\nvalue = "turnover"\nmethod = "publish"',
        "met": 'by = ["sex"]\nmethod = "supress"',
        "par": 'by = ["sex"]\nmethod = "round"\nparameters = { bas = 3 }',
        "rul": 'by = ["sex"]\nrule = "treshold(n=3)"',
        "non": 'by = ["sex"]',
        "grp": 'by = ["sex"]\nlinked = "nobody"',
        "pol": 'by = ["sex"]\npolicy = "none.toml"',
        "nob": 'method = "publish"',
        "src": 'by = ["sex"]\nsource = "elsewhere"\nmethod = "publish"',
        "fmt": 'by = ["sex"]\nmethod = "publish"\nformats = ["cvs"]',
        "each": 'by = ["sex"]\nmethod = "publish"\nfor_each = { area = ["x1"] }',
        "a/b": 'by = ["sex"]\nmethod = "publish"',
        "report": 'by = ["sex"]\nmethod = "publish"\nformats = ["json-stat"]',
    }
    Path("bad.toml").write_text(HEAD + "".join(f'[[table]]\nname = "{n}"\n{e}\n' for n, e in entries.items()))
    assert cli(["run", "bad.toml", "--dry-run"]) == 2
    said = capsys.readouterr().err
    for name in entries:
        assert f"table '{name}'" in said
    hints = ("'area'", "'level 1'", "'suppress'", "'base'", "'threshold'", "needs a rule", "'csv'", "policy not found")
    assert all(h in said for h in hints)
    lines = [int(line.split("line ")[1].split(":")[0]) for line in said.splitlines()[1:]]
    assert lines == sorted(lines)
    assert said.splitlines()[1].startswith("  bad.toml, line 7: table 'dim': by: unknown dimension 'arae'")
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[programme\n", "line 1: not valid TOML"),
        ('[programme]\nname = "x"\noutput = "o"\n', "'table'"),
        (HEAD + '[[table]]\nname = "t"\nbye = ["sex"]\n', "did you mean 'by'"),
        (HEAD + '[[table]]\nname = "t"\nby = "sex"\n', "must be a list"),
        (HEAD.replace('codebook = "people.toml"', "") + '[[table]]\nname = "t"\nby = ["sex"]\n', "together"),
        (HEAD.replace("people.parquet", "none.csv") + '[[table]]\nname = "t"\nby = ["sex"]\n', "data not found"),
        (HEAD + '[[linked]]\nname = "g"\n[[table]]\nname = "t"\nby = ["sex"]\nrule = "x"\n', "no table belongs"),
        (HEAD + 2 * '[[table]]\nname = "t"\nby = ["sex"]\nmethod = "publish"\n', "two tables are called 't'"),
        (HEAD + '[[table]]\nname = "t"\nby = ["sex"]\npolicy = "p.toml"\nrule = "x"\n', "the policy decides"),
        (HEAD + '[consistency]\nmixed = "off"\n[[table]]\nname = "t"\nby = ["sex"]\n', "one of"),
    ],
)  # fmt: skip
def test_a_programme_that_is_no_programme(home: Path, text: str, words: str) -> None:
    """The message has the line and what to change."""
    with pytest.raises(dc.InputError, match=words) as caught:
        made(text)
    assert "programme, line" in str(caught.value)


def test_linked_tables_share_source_value_and_population(home: Path) -> None:
    """And have no method of their own."""
    base = HEAD + '[[linked]]\nname = "g"\nrule = "threshold(n=3)"\n[[table]]\nname = "a"\nby = ["sex"]\nlinked = "g"\n'
    with pytest.raises(dc.InputError, match="'where' differs"):
        made(base + '[[table]]\nname = "b"\nby = ["age"]\nlinked = "g"\nwhere = { area = "N" }\n')
    with pytest.raises(dc.InputError, match="'rule' belongs to the group"):
        made(base + '[[table]]\nname = "b"\nby = ["age"]\nlinked = "g"\nrule = "threshold(n=3)"\n')


def test_the_plan_counts_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--dry-run prints every table; no folder is made."""
    Path("p.toml").write_text(MANY)
    assert cli(["run", "p.toml", "--dry-run"]) == 0
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 19
    assert "all-area-sex: count by area x sex, 24 cells, cell-key" in said.out
    assert not Path("out").exists()


def test_a_fault_of_one_table_is_withheld_and_stops_no_other(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception's message may hold data: only its kind is told."""
    from discreet.publishing import protect as work

    real = work.unit_releases

    def broken(unit: object, data: object) -> object:
        if unit.name == "all-sex":  # type: ignore[attr-defined]
            raise ZeroDivisionError("the value 42")
        return real(unit, data)  # type: ignore[arg-type]

    monkeypatch.delenv("DISCREET_TRACEBACK", raising=False)
    monkeypatch.setattr(work, "unit_releases", broken)
    report = run(made(MANY))
    assert (report.count("failed"), report.count("published"), report.exit_code) == (1, 18, 1)
    assert "42" not in Path("out/report.json").read_text().split('"all-sex"')[1][:700]
    assert "ZeroDivisionError" in Path("out/report.html").read_text()
