"""All tables of a programme against each other: what they show together, and nothing out that fails."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.cli import run as cli
from discreet.methods import HOMES, method, method_class
from discreet.publishing import (
    Consistency,
    Shown,
    check,
    run,
)
from tests.persons import DIMENSIONS, microdata, persons
from tests.publishing.programmes import HEAD, files, kinds, made


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
        "stochastic": {"seed": 1}, "synthetic": {"seed": 1}, "discrete-gaussian": {"seed": 1},
    }  # fmt: skip
    records = {"swap": False, "pram": False, "global-recode": True, "sample": False}
    for name in HOMES:
        if name in records:
            assert method_class(name).contract.truthful is records[name]
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
        first = codes == np.array([d.position[str(d.total)] for d in dims])
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
    named = [
        tuple(
            sorted((d.name, d.codes[c]) for d, c in zip(p.table.dimensions, row, strict=True) if d.codes[c] != d.total)
        )
        for p in protected
        for row in p.table.layout.codes
    ]
    wanted = {named[n] for n in exact} - {named[n] for n in alone}
    derived = [f for f in check(tables) if f.kind == "derived"]
    assert sum(f.cells for f in derived) == len(wanted)
    for text in (e for f in derived for e in f.examples):
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
