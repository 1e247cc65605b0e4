"""Descriptions on the command line: a codebook for every command."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet import (
    cli,
)  # fmt: skip
from tests.formats.argus.texts import FIXED


def test_the_command_line_takes_a_description_for_a_codebook(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Microdata and ready tables."""
    monkeypatch.chdir(folder)
    command = ["tabulate", "firms.asc", "--codebook", "firms.rda", "--by", "Area", "--value", "Pay"]
    assert cli.run([*command, "--weighted"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"Area,weighted Pay,status\r\nAll,")
    assert cli.run(command) == 0
    found = capfdbinary.readouterr()
    assert found.out.startswith(b"Area,Pay,status\r\nAll,")
    assert b"note: 'Weight' is a <WEIGHT> and is not applied" in found.err
    assert cli.run([*command, "--unweighted"]) == 0
    assert b"note:" not in capfdbinary.readouterr().err
    assert cli.run(["tabulate", "t.tab", "--ready", "--codebook", "t.rda"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"Sex,Area,Pay,status\r\nT,Total,12.5,\r\n")


def test_a_description_is_a_codebook_for_every_command(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audit of a table knows the sums of its hierarchy, `show` its labels, a cube its dimensions."""
    monkeypatch.chdir(folder)
    rda = ["--codebook", "firms.rda"]
    assert cli.run(["tabulate", "firms.asc", *rda, "--unweighted", "--by", "Area,Branch", "-o", "t.csv"]) == 0
    lines = (folder / "t.csv").read_text().splitlines()
    hidden = [",".join(line.split(",")[:2]) + ",,c" if line.startswith("N,Total") else line for line in lines]
    assert hidden != lines
    (folder / "r.csv").write_text("\n".join(hidden) + "\n")
    capfd.readouterr()
    assert cli.run(["audit", "r.csv", *rda]) == 1  # N is the sum of its areas
    assert "1 exact" in capfd.readouterr().err
    assert cli.run(["show", "t.csv", *rda]) == 0
    assert "North" in capfd.readouterr().out
    assert cli.run(["cube", "firms.asc", *rda, "-o", "firms.cube"]) == 0
    assert (folder / "firms.cube" / "cube.json").exists()
    assert cli.run(["cube", "firms.asc", *rda, "--table", "t", "-o", "other.cube"]) == 2
    assert "--table" in capfd.readouterr().err
    of_table = FIXED[: FIXED.index("Firm")].replace("Branch 1 3", "Branch").replace("Area 4 2", "Area")
    (folder / "table.rda").write_text(of_table)
    assert cli.run(["audit", "r.csv", "--codebook", "table.rda"]) == 1  # one of a table, whose fields have no widths
    (folder / "other.rda").write_text('<SEPARATOR> ","\nSex 1\n<RECODEABLE>\n')
    assert cli.run(["audit", "r.csv", "--codebook", "other.rda"]) == 2
    assert "other.rda: no <RECODEABLE> variable is a dimension" in capfd.readouterr().err
