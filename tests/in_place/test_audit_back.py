"""What protect writes can be audited: by the command that it names, whatever the layout; Table 1 of a paper."""

from __future__ import annotations

import importlib
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.sheets import gallery
from tests.sheets.gallery.draft import LAYOUTS, Layout, written

from discreet.cli import run

for _theme in sorted(Path(gallery.__path__[0]).glob("*.py")):
    importlib.import_module(f"tests.sheets.gallery.{_theme.stem}")

COMMAND = re.compile(r"to audit it as readers have it: discreet (audit .*?)(?:, and the options .*)?$", re.MULTILINE)
NOT_PROTECTED = ("already_hidden", "blank_hidden", "magnitudes")  # hidden cells, or no counts
FOLLOWS = ("total_in_the_middle",)  # a row that was hidden is left out, and follows; its counts are not small
CASES = [
    pytest.param(layout, kind, under, id=f"{layout.name}-{kind}-{under}")
    for layout in LAYOUTS
    if layout.name not in NOT_PROTECTED
    for kind, under in ((layout.formats[0], 6), (layout.formats[-1], 25))
]


def options_of(said: Mapping[str, Any]) -> list[str]:
    """Options of ``read_tables`` as they are written on the command line."""
    words: list[str] = []
    for name, value in said.items():
        several = [f"{key}={text or ''}" for key, text in value.items()] if isinstance(value, dict) else [str(value)]
        for text in several:
            words += [f"--{name.replace('_', '-')}", text]
    return words


@pytest.mark.parametrize(("layout", "kind", "under"), CASES)
def test_every_protected_layout_can_be_audited(
    layout: Layout,
    kind: str,
    under: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is refused, and nothing that was hidden is found to follow."""
    monkeypatch.chdir(tmp_path)
    path = written(layout.draw(), tmp_path, kind)
    options = options_of(layout.options)
    assert run(["protect", path.name, "--hide-under", str(under), "--apart", "-o", f"safe.{kind}", *options]) == 0
    command = COMMAND.search(said := capsys.readouterr().err)
    if command is None:
        assert re.search(r"no count was hidden|, 0 primary", said)
        return
    code = run([*shlex.split(command[1]), *options])
    said = capsys.readouterr().err
    assert code in (0, 1)
    assert ("verdict: fail" in said) == (layout.name in FOLLOWS)


def table_one(path: Path, *, total: bool, rare: tuple[int, int]) -> None:
    """Means, sexes and groups with a small count each, of populations in the headers or in a row of totals."""
    sheet = (book := openpyxl.Workbook()).active
    counts = {"Sex": {"Female": (101, 97), "Male": (111, 101)}}
    counts["Ethnicity"] = {"White": (180, 171), "Black": (212 - 180 - rare[0], 198 - 171 - rare[1]), "Other": rare}
    counts["Smoking"] = {"Never": (120, 103), "Former": (87, 91), "Current": (5, 4)}
    heads = ["Treated", "Control"] if total else ["Treated (n=212)", "Control (n=198)"]
    sheet.append(["Characteristic", *heads])
    if total:
        sheet.append(["Total", 212, 198])
    else:
        sheet.append(["Age, mean (SD)", "61.2 (10.4)", "60.8 (11.0)"])
    medians = iter(["Weight, median (IQR)", "Height, cm, median [range]", "Follow-up, mean ± SD"])
    for name, rows in counts.items():
        sheet.append([f"{name}, n (%)"])
        for label, (one, two) in rows.items():
            sheet.append([f"  {label}", f"{one} ({100 * one / 212:.1f})", f"{two} ({100 * two / 198:.1f})"])
        if not total:
            sheet.append([next(medians), "71 (60-80)", "73 [61-82]"])
    book.save(path)


@pytest.mark.parametrize("rare", [(4, 3), (4, 27)])
@pytest.mark.parametrize("total", [False, True])
def test_a_protected_table_one_is_read_by_itself(
    total: bool, rare: tuple[int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Blank rows of means are no sections, and the stated populations show that sections are variables of one."""
    table_one(tmp_path / "t.xlsx", total=total, rare=rare)
    assert run(["protect", str(tmp_path / "t.xlsx"), "--hide-under", "6"]) == 0
    understood = capsys.readouterr().err
    assert all(f"'Total' is the total of '{name}, n (%)'" in understood for name in ("Ethnicity", "Smoking"))
    sheet = openpyxl.load_workbook(tmp_path / "t.safe.xlsx").active
    assert [sheet.cell(row, 2).value for row in range(1, 20)].count("*") == 4  # none follows from the population
    assert run(["audit", str(tmp_path / "t.safe.xlsx")]) == 0
    said = capsys.readouterr().err
    assert "verdict: pass" in said
    assert all(f"{name}, n (%)" in said for name in ("Ethnicity", "Smoking"))


def test_percentages_of_something_else_show_no_population(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sections whose shown percentages are not of the stated numbers are not taken apart."""
    table_one(tmp_path / "t.xlsx", total=False, rare=(4, 3))
    assert run(["protect", str(tmp_path / "t.xlsx"), "--hide-under", "6"]) == 0
    book = openpyxl.load_workbook(tmp_path / "t.safe.xlsx")
    for row in book.active.iter_rows():
        for cell in row:
            if isinstance(cell.value, str) and re.match(r"\d+ \(", cell.value):
                cell.value = f"{cell.value.split()[0]} (12.3)"
    book.save(tmp_path / "t.safe.xlsx")
    capsys.readouterr()
    assert run(["audit", str(tmp_path / "t.safe.xlsx")]) != 0


def test_only_a_copy_is_read_as_its_original(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("Ward,f,m,Total\nAsh,3,9,12\nBray,8,20,28\nTotal,11,29,40\n")
    (tmp_path / "b.csv").write_text("Ward,f,m,Total\nAsh,*,*,12\nElm,8,20,28\nTotal,11,29,40\n")
    files = [str(tmp_path / "b.csv"), "--original", str(tmp_path / "a.csv")]
    assert run(["audit", *files]) == 2
    said = capsys.readouterr().err
    assert "'b.csv' is not a copy of 'a.csv'" in said
    assert "A3" in said


def test_ranges_and_changed_numbers_of_a_copy_are_taken_as_they_stand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mark with a range says it; a number that is another one than before is what readers have."""
    (tmp_path / "a.csv").write_text("Ward,f,m,Total\nAsh,3,9,12\nBray,8,20,28\nTotal,11,29,40\n")
    (tmp_path / "b.csv").write_text("Ward,f,m,Total\nAsh,<5,*,13\nBray,*,*,28\nTotal,12,29,41\n")
    run(["audit", str(tmp_path / "b.csv"), "--original", str(tmp_path / "a.csv"), "--json"])
    text = capsys.readouterr().out
    assert '"upper": 4' in text
    assert '"upper": 12' in text  # 13 less one at least


def test_remainders_from_a_limit_on_may_be_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """8 of 58 are not listed: hidden by a publisher who hides counts under 10, shown by one who hides those under 6."""
    lines = ["Area,of which A,of which B,Total", "X,20,30,58", "Y,40,15,60", "Z,*,*,77", "W,*,*,80", "Total,90,80,275"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    command = ["audit", str(tmp_path / "t.csv"), "--partly", "--suppressed", "*"]
    run(command)
    said = capsys.readouterr().err
    assert "58 - 30 - 20 = 8" in said
    assert "--hidden-under N" in said
    run([*command, "--hidden-under", "6"])
    said = capsys.readouterr().err
    assert "58 - 30 - 20 = 8" not in said
    assert "60 - 40 - 15 = 5" in said


def test_the_note_begins_where_labels_do(tmp_path: Path) -> None:
    """Below rows of percentages without labels, too, of which marks are left; its words are no figures."""
    book = openpyxl.Workbook()
    for row in (
        ["Provider", "Outstanding", "Good", "Weak", "Inadequate", "Total"],
        ["Nursery", 42, 120, 9, 2, 173],
        [None, 24, 69, 5, 1, 100],
        ["Primary", 210, 890, 102, 21, 1223],
        [None, 17, 73, 8, 2, 100],
        ["Special", 61, 70, 4, 3, 138],
        [None, 44, 51, 3, 2, 100],
    ):
        book.worksheets[0].append(row)
    book.save(tmp_path / "t.xlsx")
    assert run(["protect", str(tmp_path / "t.xlsx"), "--hide-under", "6"]) == 0
    written = openpyxl.load_workbook(tmp_path / "t.safe.xlsx").worksheets[0]
    assert str(written.cell(9, 1).value).startswith("* in place of a number")
    assert run(["audit", str(tmp_path / "t.safe.xlsx"), "--suppressed", "*"]) == 0
