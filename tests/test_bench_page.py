"""The page of the benchmarks: machine named, ratios first, tables and figures, earlier results kept, faults told."""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[1] / "benchmarks" / "page.py"
DOC = PAGE.parents[1] / "docs" / "benchmarks.md"
NUMBER = re.compile(r"\d+(?:[,.]\d+)*")


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """Two benchmarks that take no time, and one that fails."""
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "quick.py").write_text('"""Something quick.\n\nMore words."""\nprint("ours 1 s\\nthem 7 s, ratio 7.0")\n')
    (folder / "given.py").write_text('"""With arguments."""\nimport sys\nprint(len(sys.argv[1:]), "given")\n')
    (folder / "wrong.py").write_text('"""Fails."""\nraise SystemExit(1)\n')
    return folder


def run(folder: Path, *words: str) -> tuple[int, str]:
    page = folder.parent / "page.md"
    places = ["--folder", str(folder), "--output", str(page), "--results", str(folder.parent / "results.json")]
    command = [sys.executable, str(PAGE), *words, *places]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, page.read_text() if page.exists() else ""


def test_the_machine_is_named_and_ratios_come_first(scripts: Path) -> None:
    """Before any section of a script."""
    code, text = run(scripts, "quick")
    assert code == 0
    assert f"Python {platform.python_version()}" in text
    assert " cores, " in text
    ratios, _, rest = text.partition("## Machines")
    assert "| [quick](#quickpy) | them 7 s, ratio 7.0 |" in ratios
    assert "ours 1 s" not in ratios
    assert "Something quick." in rest
    assert "```text\nours 1 s\nthem 7 s, ratio 7.0\n```" in rest


def test_what_is_there_to_be_imported_has_no_section(scripts: Path) -> None:
    """A file that only defines things is no benchmark."""
    (scripts / "wrong.py").unlink()
    (scripts / "shared.py").write_text('"""For the others."""\nimport sys\n\n\ndef helped() -> int:\n    return 1\n')
    code, text = run(scripts)
    assert code == 0
    assert "## quick.py" in text
    assert "shared" not in text


def test_what_is_not_run_again_stays(scripts: Path) -> None:
    """A long benchmark need not be repeated for the sake of a short one."""
    run(scripts, "quick")
    _, text = run(scripts, "given")
    assert "## quick" in text
    assert "## given" in text
    assert run(scripts, "quick", "given")[1].count("## quick") == 1


def test_arguments_are_handed_on_but_no_folder_is_named(scripts: Path, tmp_path: Path) -> None:
    """The page says FOLDER, whatever it was called."""
    _, text = run(scripts, "given", "--give", f"given={tmp_path} --large")
    assert "2 given" in text
    assert "`python benchmarks/given.py FOLDER --large`" in text
    assert str(tmp_path) not in text


def test_a_script_that_fails_is_told_and_leaves_the_others(scripts: Path) -> None:
    """The page is written with those that worked, and the exit code says that one did not."""
    code, text = run(scripts)
    assert code == 1
    assert "## quick" in text
    assert "## wrong" not in text


def test_a_script_that_needs_a_folder_waits_for_one(scripts: Path, tmp_path: Path) -> None:
    """It is left out, which is no fault, until one is given."""
    (scripts / "wrong.py").unlink()
    (scripts / "asks.py").write_text(
        '"""Asks.\n\nRun: python benchmarks/asks.py FOLDER [--more]\n"""\nprint("asked")\n'
    )
    code, text = run(scripts)
    assert code == 0
    assert "## asks" not in text
    assert "## asks" in run(scripts, "asks", "--give", f"asks={tmp_path}")[1]


def test_an_unknown_name_is_an_error(scripts: Path) -> None:
    """Before anything is run."""
    assert run(scripts, "quack") == (2, "")


def test_figures_stand_between_their_marks_in_other_pages(scripts: Path, tmp_path: Path) -> None:
    """Whatever was there goes, what is around it stays; a table is not put into a block of text."""
    (scripts / "table.py").write_text('"""A table."""\nprint("| a |\\n|---|\\n| 7 |")\n')
    other = tmp_path / "sub" / "security.md"
    other.parent.mkdir()
    other.write_text(
        "head\n<!-- table: begin -->\nold\n<!-- table: end -->\nmiddle\n<!-- quick: begin --><!-- quick: end -->end"
    )
    assert run(scripts, "quick", "table")[0] == 0
    text = other.read_text()
    assert "old" not in text
    assert "\n\n| a |\n|---|\n| 7 |\n\n<!-- table: end -->\nmiddle" in text
    assert "`python benchmarks/table.py`" in text
    assert "```text\nours 1 s\nthem 7 s, ratio 7.0\n```\n\n<!-- quick: end -->end" in text
    other.write_text("<!-- quick: begin -->")
    assert run(scripts, "quick")[0] == 1


def recorded() -> dict[str, Any]:
    """The records of the repository, by script."""
    return {one["name"]: one for one in json.loads((PAGE.parent / "results.json").read_text(encoding="utf-8"))}


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    """The sections of the page, by script."""
    parts = re.split(r"^## (\S+)\.py$", DOC.read_text(encoding="utf-8"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_page_is_written_from_the_records(tmp_path: Path) -> None:
    """Nobody changed it by hand; figures stand beside it."""
    page = tmp_path / "page.md"
    subprocess.run([sys.executable, str(PAGE), "--draw", "--output", str(page)], check=True)
    assert page.read_text(encoding="utf-8") == DOC.read_text(encoding="utf-8")
    drawn = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert drawn == {path.name for path in (DOC.parent / "pictures").glob("bench-*.png")}


@pytest.mark.parametrize("name", recorded())
def test_no_number_that_no_script_printed(name: str, sections: dict[str, str]) -> None:
    """Every number of a table is in what the script printed, which has a date and a machine; each has a figure."""
    one = recorded()[name]
    printed = set(NUMBER.findall(one["printed"]))
    shown = "\n".join(line for line in sections[name].splitlines() if line.startswith("| "))
    assert set(NUMBER.findall(shown)) <= printed | {"99"}  # p99 is the name of a column
    assert shown
    assert f"](pictures/bench-{name}.png)" in sections[name]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", one["date"])
    assert " cores, " in one["machine"]
    assert one["printed"] in sections[name]
