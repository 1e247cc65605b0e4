"""Parts that leave a remainder: the option that the question names is taken, and what is hidden stays hidden."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openpyxl
import pytest

from discreet.cli import run
from discreet.errors import InputError
from discreet.sheets.reading_sheets import read_table
from discreet.sheets.sums.axis_sums import SumTree
from discreet.sheets.sums.remainders import shown_remainders, with_remainders

SHORT_ROWS = "Area,F,M,Total\nA,10,20,30\nB,11,22,33\nTotal,30,45,75\n"
SHORT_BOTH = "Area,F,M,Total\nA,10,20,40\nB,11,22,43\nTotal,33,45,103\n"
SHORT_PART = (
    "Site,Under 18,18+,of whom 65+,Total\nAsh,12,40,4,52\nBray,3,31,21,34\nColl,14,22,9,36\nTotal,29,93,34,122\n"
)


def written(folder: Path, text: str) -> str:
    (folder / "t.csv").write_text(text, encoding="utf-8")
    return str(folder / "t.csv")


def test_remainders_are_what_parts_leave_in_every_dimension() -> None:
    """Each sum is its parts and its remainder, that of remainders among them."""
    rng = np.random.default_rng(21)
    inner = rng.integers(0, 50, (3, 4))
    full = np.zeros((4, 5), int)
    full[:3, :4] = inner
    full[:3, 4], full[3, :4] = inner.sum(axis=1), inner.sum(axis=0)
    full[3, 4] = inner.sum()
    listed = full[np.ix_([0, 1, 3], [0, 1, 2, 4])]  # the third row and the fourth column are not listed
    codes = [["a", "b", "T"], ["x", "y", "z", "T"]]
    trees = [SumTree({"T": ("a", "b")}, "T", ("T",)), SumTree({"T": ("x", "y", "z")}, "T", ("T",))]
    position = np.array([(r, c) for r in range(3) for c in range(4)])
    named, places, numbers = with_remainders(codes, trees, position, listed.ravel())
    assert named[0][-1] == named[1][-1] == "T: not listed"
    known = {tuple(place): number for place, number in zip(places.tolist(), numbers.tolist(), strict=True)}
    assert known[3, 4] == full[2, 3]
    assert [known[3, c] for c in range(3)] == full[2, :3].tolist()
    assert [known[r, 4] for r in range(2)] == full[:2, 3].tolist()


def test_a_remainder_counts_as_shown_unless_it_is_smaller_than_what_is_shown() -> None:
    """A difference of two shown numbers hides nothing; one that the sheet would not show is left to be judged."""
    codes, trees = [["a", "T"], ["x", "y", "z"]], [SumTree({"T": ("a",)}, "T", ("T",)), SumTree()]
    position = np.array([(r, c) for r in range(2) for c in range(3)])
    none = np.full(6, np.inf)
    for hidden, largest, shown in ((None, none, {10.0}), (5, none, {10.0}), (5, np.where(none > 9, 5, 0), {6.0, 10.0})):
        values = np.array([8.0, 9, 10, 14, 19, 10])  # 6, 10 and 0 are left
        expected = {*shown} | ({0.0} if hidden is None else set())
        if hidden is not None:
            values[hidden] = np.nan
        _, _, numbers = shown_remainders(codes, trees, position, values, np.asarray(largest, float))
        assert {*numbers.tolist()} == expected


@pytest.mark.parametrize("text", [SHORT_ROWS, SHORT_BOTH])
def test_the_option_that_is_named_is_taken_by_protect_and_audit(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The small remainder is protected, and the audit of the result passes with the same option."""
    path = written(tmp_path, text)
    assert run(["protect", path, "--hide-under", "6"]) == 2
    assert "--partly" in capsys.readouterr().err
    assert run(["audit", path, "--partly"]) == 1  # a remainder of 3 follows
    assert run(["protect", path, "--hide-under", "6", "--partly"]) == 0
    assert "*" in (tmp_path / "t.safe.csv").read_text(encoding="utf-8")
    assert run(["audit", str(tmp_path / "t.safe.csv"), "--partly"]) == 0


def test_a_workbook_with_a_hidden_row_can_be_audited_when_it_is_protected(tmp_path: Path) -> None:
    """The row is blanked, so that the total has more than the parts that are left."""
    book = openpyxl.Workbook()
    rows = [["A", 10, 20, 30], ["B", 11, 22, 33], ["C", 9, 3, 12], ["D", 40, 60, 100], ["Total", 70, 105, 175]]
    for row in (["Area", "F", "M", "Total"], *rows):
        book.worksheets[0].append(row)
    book.worksheets[0].row_dimensions[4].hidden = True
    book.save(tmp_path / "t.xlsx")
    assert run(["protect", str(tmp_path / "t.xlsx"), "--hide-under", "6"]) == 0
    safe = str(tmp_path / "t.safe.xlsx")
    assert run(["audit", safe]) == 2
    assert run(["audit", safe, "--partly"]) == 0


def test_what_protect_wrote_passes_although_a_difference_of_shown_numbers_is_large(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The total of 18+ without those of 65+ is 59, which is no hidden number."""
    assert run(["protect", written(tmp_path, SHORT_PART), "--hide-under", "6"]) == 0
    assert run(["audit", str(tmp_path / "t.safe.csv")]) == 0
    shown = read_table(tmp_path / "t.safe.csv")
    assert shown.published.values["count"][shown.published.status == ""].tolist().count(59) == 1
    small = SHORT_PART.replace("Bray,3,31,21,34", "Bray,13,31,28,44").replace(
        "Total,29,93,34,122", "Total,39,93,41,132"
    )
    path = written(tmp_path, small.replace("Ash,12,40,4,52", "Ash,12,40,14,52").replace("41,132", "51,132"))
    assert run(["audit", path]) == 1  # 31 - 28 = 3 follows
    assert run(["protect", path, "--hide-under", "6", "--force"]) == 0
    assert run(["audit", str(tmp_path / "t.safe.csv")]) == 0
    assert "*" in (tmp_path / "t.safe.csv").read_text(encoding="utf-8")


def test_remainders_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    """What is left of rows and what is left of columns must be counts together; the named option is taken."""
    path = written(tmp_path, SHORT_BOTH.replace("45,103", "45,90"))
    with pytest.raises(InputError, match="totals='compute'"):
        read_table(path, partly=True)
    assert read_table(path, totals="compute").table.count.sum() > 0


def test_parts_that_are_more_than_the_sum_are_not_called_some_of_them(tmp_path: Path) -> None:
    """partly is named only where it helps."""
    path = written(tmp_path, "Area,F,M\nNorth,10,20\n  A,8,12\n  B,7,9\nSouth,20,31\n  C,12,20\n  D,8,11\n")
    with pytest.raises(InputError, match="stands above") as refused:
        read_table(path)
    assert "--partly" not in str(refused.value)
