"""Audits of files: what a file does not tell, or tells twice, is never a pass."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.cli import run
from discreet.rules import parse

CELLS = {("N", "a"): 4, ("N", "b"): 1, ("S", "a"): 3, ("S", "b"): 4, ("W", "a"): 3, ("W", "b"): 2}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """out.csv as published and all.csv as confidential, of a table with two sensitive cells."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame([(*codes, n) for codes, n in CELLS.items()], columns=["area", "job", "count"])
    frame.to_csv("cells.csv", index=False)
    command = ["protect", "cells.csv", "--ready", "--rule", "threshold(n=3)", "-o", "out.csv"]
    assert run([*command, "--confidential", "all.csv"]) == 0
    assert run(["audit", "out.csv", "--confidential", "all.csv"]) == 0
    capsys.readouterr()
    return tmp_path


def test_a_gap_in_the_confidential_file_is_no_pass(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whichever line is missing, and if all but one are."""
    lines = (files / "all.csv").read_text().splitlines()
    for gone in range(1, len(lines)):
        (files / "part.csv").write_text("\n".join(lines[:gone] + lines[gone + 1 :]))
        assert run(["audit", "out.csv", "--confidential", "part.csv"]) == 2
        assert "lacks 1 cell of the table" in capsys.readouterr().err
    (files / "part.csv").write_text("\n".join(lines[:2]))
    assert run(["audit", "out.csv", "--confidential", "part.csv"]) == 2
    (files / "part.csv").write_text("\n".join([*lines, lines[-1]]))
    assert run(["audit", "out.csv", "--confidential", "part.csv"]) == 2
    assert "repeats the cell" in capsys.readouterr().err


def test_a_sensitive_cell_that_is_shown_is_exact(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The status letters of the confidential file say which cells must not be known."""
    held = pd.read_csv(files / "all.csv")
    held[["area", "job", "count"]].assign(status="").to_csv("shown.csv", index=False)
    assert run(["audit", "shown.csv", "--confidential", "all.csv"]) == 1
    assert f"{int((held['status'] == 'u').sum())} exact" in capsys.readouterr().err
    held.drop(columns="status").to_csv("bare.csv", index=False)
    assert run(["audit", "out.csv", "--confidential", "bare.csv"]) == 2
    held["count"] += 1  # the truth of another table
    held.to_csv("other.csv", index=False)
    assert run(["audit", "out.csv", "--confidential", "other.csv"]) == 1
    assert "of another table" in capsys.readouterr().err


def test_a_cell_that_stands_on_two_lines_is_refused(files: Path) -> None:
    """The second would have won, or the first; the numbers of the lines are said and no value."""
    lines = (files / "out.csv").read_text().splitlines()
    for k, line in enumerate(lines[1:], 2):
        (files / "twice.csv").write_text("\n".join([*lines, line]))
        with pytest.raises(dc.InputError, match=rf"1 line repeats .* \(lines {k} and {len(lines) + 1}\)"):
            dc.Release.read_csv("twice.csv")
    release = dc.Release.read_csv("out.csv")
    codes = release.codes.copy()
    codes[-1] = codes[0]
    with pytest.raises(dc.InputError, match="repeats the cell"):
        dc.audit(replace(release, codes=codes))


def two_measures(gone: dict[str, set[tuple[str, str]]]) -> str:
    """A published file of counts and turnovers, with the cells of each measure that are not shown."""
    lines = ["area,job,count,turnover,status"]
    for area, job in product(("Total", "N", "S", "W"), ("Total", "a", "b")):
        n = sum(v for (x, y), v in CELLS.items() if area in ("Total", x) and job in ("Total", y))
        shown = ["" if (area, job) in gone[m] else str(n * k) for m, k in (("count", 1), ("turnover", 10))]
        lines.append(",".join([area, job, *shown, "c" if not any(shown) else ""]))
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("leaking", ["count", "turnover", None])
def test_a_second_measure_is_asked_about_and_judged(
    leaking: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A column of numbers is no dimension, and the verdict is on all measures, whichever stands first."""
    square = {("N", "a"), ("N", "b"), ("W", "a"), ("W", "b")}
    path = tmp_path / "two.csv"
    path.write_text(two_measures({m: {("N", "b")} if m == leaking else square for m in ("count", "turnover")}))
    with pytest.raises(dc.InputError, match="'count' looks like numbers"):
        dc.Release.read_csv(path)
    assert run(["audit", str(path)]) == 2
    release = dc.Release.read_csv(path, measures=2)
    assert dc.audit(release).ok == (leaking is None)
    for name in ("count", "turnover"):
        assert dc.audit(release, measure=name).ok == (name != leaking)
    assert run(["audit", str(path), "--measures", "2", "-o", str(tmp_path / "a.csv")]) == (leaking is not None)
    assert set(pd.read_csv(tmp_path / "a.csv")["measure"]) == {"count", "turnover"}
    capsys.readouterr()
    assert run(["audit", str(path), "--measures", "2", "--json"]) == (leaking is not None)
    assert run(["show", str(path), "--measures", "2"]) == 0
    assert "turnover" in capsys.readouterr().out


def test_numeric_codes_are_dimensions(tmp_path: Path) -> None:
    """Years are not taken for numbers of cells, nor is one year."""
    lines = ["area,year,count,status"]
    for k, area in enumerate(("Total", "a", "b")):
        lines += [f"{area},{year},{(9, 4, 5)[k] + 3 * (year - 2020) * (2, 1, 1)[k]}," for year in (2020, 2021)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    assert dc.Release.read_csv(path).dimensions[1].codes == ("2020", "2021")
    path.write_text("\n".join([lines[0], *lines[1::2]]))
    assert dc.Release.read_csv(path).dimensions[1].codes == ("2020",)


def grouped(values: dict[str, tuple[int, int]]) -> str:
    """Areas by sex with the total of sex; the women and men of A1 are not shown."""
    lines = ["area,sex,count,status"]
    for area, (f, m) in values.items():
        hide = area == "A1"
        lines += [f"{area},Total,{f + m},", f"{area},f,{'' if hide else f},{'c' * hide}"]
        lines += [f"{area},m,{'' if hide else m},{'c' * hide}"]
    return "\n".join([*lines, ""])


def test_codes_that_may_be_groups_are_no_pass(tmp_path: Path) -> None:
    """A = A1 + A2 gives both away, and only a codebook tells; what the numbers deny is not asked."""
    path = tmp_path / "t.csv"
    path.write_text(grouped({"A": (10, 20), "A1": (1, 11), "A2": (9, 9)}))
    found = dc.audit(dc.Release.read_csv(path))
    assert found.verdict == "unknown"
    assert "no total found for 'area'" in found.unjudged[0]
    assert dc.audit(dc.Release.read_csv(path, total={"area": None})).ok
    assert dc.audit(dc.Release.read_csv(path, total={"area": "A"})).verdict == "fail"
    path.write_text(grouped({"B": (10, 20), "A1": (1, 11), "A2": (9, 10)}))
    assert dc.audit(dc.Release.read_csv(path)).ok  # 30 is not 12 + 19
    path.write_text(grouped({**{f"C{k}": (10, 20 + k) for k in range(20)}, "A1": (1, 11)}))
    assert dc.audit(dc.Release.read_csv(path)).verdict == "unknown"  # too many sets of codes to deny them all


def test_nothing_judged_is_no_pass() -> None:
    """No cell named; nothing hidden and no rule. A rule that finds nothing is a judgement."""
    table = dc.Table.of([[30, 10], [20, 1]], ["area", "sex"])
    hidden = dc.protect(table, dc.Suppress("threshold(n=3)"))
    for none in (np.array([], int), np.zeros(len(table), bool)):
        assert dc.audit(hidden, targets=none).verdict == "unknown"
    for method in (dc.Publish(), dc.Round(1)):
        shown = dc.protect(table, method)
        assert dc.audit(shown).verdict == "unknown"
        assert dc.audit(shown, protection=0.1).verdict == "unknown"
        assert dc.audit(shown, protection="threshold(n=1)").ok
        assert dc.audit(shown, protection="threshold(n=3)").verdict == "fail"
        assert dc.audit(shown, protection=dc.Levels([{"area": "2", "sex": "2"}], above=[2])).verdict == "fail"
    assert dc.audit(dc.protect(table, dc.Publish()).release()).verdict == "unknown"
    assert dc.audit(dc.protect(table, dc.Suppress("threshold(n=1)"))).ok


def test_names_of_rules_with_hyphens() -> None:
    """As the documentation has them; text in quotes stays as it is."""
    assert parse("p-percent(p=10) | few-contributors(n=2)") == parse("p_percent(p=10) | few_contributors(n=2)")
    said = parse("direct-disclosure(k=1, sensitive=['a-b (c)', \"d-e(\"])")
    assert said == dc.DirectDisclosure(1, sensitive=["a-b (c)", "d-e("])


def test_an_empty_code_and_a_foreign_layout_are_answered_by_what_works(tmp_path: Path) -> None:
    """A total without a name is given one; a file of another layout is told the layout."""
    path = tmp_path / "t.csv"
    text = "sex,count,status\n{},79,\nf,76,\nm,,c\n"
    path.write_text(text.format(""))
    with pytest.raises(dc.InputError, match="write Total"):
        dc.Release.read_csv(path)
    path.write_text(text.format("Total"))
    assert dc.audit(dc.Release.read_csv(path)).verdict == "fail"
    path.write_text("sex;count\nf;three\n")
    with pytest.raises(dc.InputError, match=r"dimensions, then the numbers .*--measures N.*then perhaps 'status'"):
        dc.Release.read_csv(path)
