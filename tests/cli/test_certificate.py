"""discreet audit --certificate and discreet verify, as a data-protection officer runs them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.cli import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table that holds and one that does not, as files."""
    dc.datasets.willenborg_suppressed().release().to_csv(tmp_path / "good.csv")
    table = dc.Table.of([[5, 1, 3], [6, 4, 6], [7, 8, 9]], ["area", "sex"])
    dc.protect(table, dc.Hide(table.where(area="1", sex="2"))).release().to_csv(tmp_path / "bad.csv")
    return tmp_path


def test_from_audit_to_verify(folder: Path) -> None:
    """Exit code 0 for what is proved and passes; 1 for a leak, and for another table; 2 for what is no file."""
    good, bad = str(folder / "good.csv"), str(folder / "bad.csv")
    for table, code in ((good, 0), (bad, 1)):
        paper = str(folder / f"{code}.json")
        assert run(["audit", table, "--certificate", paper]) == code
        assert run(["verify", paper, table]) == code
    assert run(["verify", str(folder / "0.json"), bad]) == 1
    assert run(["verify", str(folder / "0.json"), str(folder / "none.csv")]) == 2
    assert run(["verify", good, good]) == 2
    (folder / "empty.json").write_text("{}")
    assert run(["verify", str(folder / "empty.json"), good]) == 2
    assert run(["verify", str(folder / "0.json"), good, bad]) == 1
    assert run(["verify", str(folder / "0.json"), good, good]) == 1


def test_pages_and_packed_files(folder: Path) -> None:
    """The name says what is written; another one is refused before anything is audited."""
    good = str(folder / "good.csv")
    assert run(["audit", good, "--certificate", str(folder / "c.html")]) == 0
    assert "Verdict: pass" in (folder / "c.html").read_text()
    assert run(["audit", good, "--certificate", str(folder / "c.json.gz")]) == 0
    assert run(["verify", str(folder / "c.json.gz"), good]) == 0
    assert run(["audit", good, "--certificate", str(folder / "c.txt")]) == 2


def test_several_files_and_other_formats(folder: Path) -> None:
    """Two margins of one population have one certificate; a workbook is read first."""
    rng = np.random.default_rng(3)
    whole = dc.Table.of(rng.integers(1, 9, (3, 4, 3)), ["A", "B", "C"])
    files = []
    for names in (("A", "B"), ("B", "C")):
        table = whole.with_margins([names, *[(n,) for n in names], ()])
        files.append(folder / f"{names[0]}.csv")
        dc.protect(table, dc.Hide(table.is_inner | (rng.random(len(table)) < 0.2))).release().to_csv(files[-1])
    paper = str(folder / "both.json")
    run(["audit", *map(str, files), "--certificate", paper])
    content = json.loads((folder / "both.json").read_text())
    assert len(content["measures"][0]["tables"]) == 2
    assert run(["verify", paper, *map(str, reversed(files))]) == (0 if content["verdict"] == "pass" else 1)
    assert run(["verify", paper, str(files[0])]) == 1
    dc.write(dc.datasets.willenborg_suppressed().release(), folder / "good.xlsx")
    assert run(["audit", str(folder / "good.csv"), "--certificate", str(folder / "c.json")]) == 0
    assert run(["verify", str(folder / "c.json"), str(folder / "good.xlsx")]) == 0


def test_levels_make_it_confidential(folder: Path) -> None:
    """With what `protect --confidential` wrote, the certificate states levels, and nobody else may read it."""
    frame = "area,sex,count\n" + "".join(f"a{i},s{j},{n}\n" for i, row in enumerate([[5, 1, 3], [6, 4, 6], [7, 8, 9]])
                                         for j, n in enumerate(row))  # fmt: skip
    (folder / "counts.csv").write_text(frame)
    out, secret, paper = (str(folder / name) for name in ("out.csv", "secret.csv", "c.json"))
    call = ["protect", str(folder / "counts.csv"), "--ready", "--count", "count", "--rule", "threshold(n=3)"]
    assert run([*call, "-o", out, "--confidential", secret]) == 0
    assert run(["audit", out, "--confidential", secret, "--certificate", paper]) == 0
    assert json.loads(Path(paper).read_text())["confidential"]
    assert Path(paper).stat().st_mode & 0o077 == 0
    assert run(["verify", paper, out]) == 0
