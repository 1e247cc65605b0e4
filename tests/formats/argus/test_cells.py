"""Tables of tau-ARGUS: their marks, and what does not add up."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet import (
    Hide,
    InputError,
    NotAdditiveError,
    protect,
)  # fmt: skip
from discreet.formats import argus
from tests.formats.argus.texts import TAB


def test_a_table_with_its_marks(folder: Path) -> None:
    """Values with decimal commas, statuses in the office's letters, levels, costs, largest contributions."""
    made = argus.read_table(folder / "t.tab")
    t, marks = made.table, made.marks
    assert [d.codes for d in t.dimensions] == [("T", "f", "m", "9"), ("Total", "a", "b")]
    assert t.statistic("Pay").values[t.where(Sex="f")].tolist() == [8.5, 5.0, 3.5]
    assert t.count[t.where(Sex="T", Area="Total")].tolist() == [4]
    assert marks.status[t.where(Sex=["T", "f", "m"])].tolist() == ["s", "s", "s", "z", "u", "x", "s", "u", ""]
    assert (marks.unsafe.sum(), marks.secondary.sum(), marks.forced.sum(), marks.safe.sum()) == (2, 1, 1, 4)
    unsafe = t.where(Sex="f", Area="a")
    assert [side[unsafe].tolist() for side in (marks.lower, marks.upper, marks.cost)] == [[1.5], [2.0], [7.0]]
    assert t.contributions.value[t.where(Sex="f", Area="Total")].tolist() == [[5.0, 3.0]]
    assert t.contributions.count[t.where(Sex="f", Area="Total")].tolist() == [3]
    hidden = protect(t, Hide(marks.unsafe | marks.secondary))
    assert hidden.release().status.tolist().count("c") == 3


def test_a_table_of_frequencies_and_one_without(folder: Path) -> None:
    """The frequency is the measure when there is no other; without it nothing is counted."""
    (folder / "n.rda").write_text("Sex\n<RECODEABLE>\nN\n<FREQUENCY>\n")
    (folder / "n.tab").write_text("f;3\nm;4\n")
    assert argus.read_table(folder / "n.tab").table.count.tolist() == [7, 3, 4]
    (folder / "n.rda").write_text("Sex\n<RECODEABLE>\nPay\n<NUMERIC>\nTax\n<NUMERIC>\n")
    (folder / "n.tab").write_text("f;3;1\n;7;3\nm;4;2\n")
    with pytest.raises(InputError, match="several <NUMERIC> variables; name one: response= one of 'Pay', 'Tax'"):
        argus.read_table(folder / "n.tab")
    assert argus.read_table(folder / "n.tab", response="Tax").table.value.tolist() == [3, 1, 2]
    with pytest.raises(InputError, match="no <NUMERIC> variable 'Tux'"):
        argus.read_table(folder / "n.tab", response="Tux")
    (folder / "n.rda").write_text("Sex\n<RECODEABLE>\nPay\nTax\n")
    with pytest.raises(InputError, match="there are no numbers"):
        argus.read_table(folder / "n.tab")


def test_digits_make_groups_in_a_table_too(folder: Path) -> None:
    """The rows of groups are recognised by their shorter codes."""
    (folder / "n.rda").write_text("Branch\n<RECODEABLE>\n<HIERLEVELS> 1 1\nN\n<FREQUENCY>\n")
    (folder / "n.tab").write_text("Total;7\nA;3\nA1;1\nA2;2\nB;4\nB1;4\n")
    t = argus.read_table(folder / "n.tab").table
    assert t.dimensions[0].codes == ("Total", "A", "A1", "A2", "B", "B1")
    assert t.count.tolist() == [7, 3, 1, 2, 4, 4]


def test_a_table_that_does_not_add_up(folder: Path) -> None:
    """Is refused, computed or trusted, as ready tables are."""
    (folder / "t.tab").write_text(TAB.replace('"T";"a";9,0', '"T";"a";9,1'))
    with pytest.raises(NotAdditiveError, match="Sex=T, Area=a"):
        argus.read_table(folder / "t.tab")
    assert argus.read_table(folder / "t.tab", totals="trust").table.value[1] == 9.1
    (folder / "t.tab").write_text(TAB.replace(";M;", ";Q;"))
    with pytest.raises(InputError, match=r"t.tab, line 6: a status other than"):
        argus.read_table(folder / "t.tab")


def test_contributions_of_another_variable_are_left_aside(folder: Path) -> None:
    """With a shadow variable the largest contributions are not those of the response."""
    (folder / "t.tab").write_text(TAB.replace('"m";"a";4,0;4,0', '"m";"a";4,0;4,5'))
    assert not argus.read_table(folder / "t.tab").table.has_contributions
