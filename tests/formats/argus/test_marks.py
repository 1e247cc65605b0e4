"""A-priori files: marks, and the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet import (
    Dimension,
    InputError,
    Table,
)  # fmt: skip
from discreet.formats import argus


def small() -> Table:
    return Table.of(np.array([[3, 1], [1, 2]]), [Dimension.flat("sex", ["f", "m"]), Dimension.flat("area", ["a", "b"])])


def test_a_priori_marks(tmp_path: Path) -> None:
    """Status, cost and protection levels; nothing stands for the total; later lines win."""
    path = tmp_path / "t.hst"
    path.write_text('f;a;u\n"f"; b ;s\nTotal;;p\nm;a;c;5\nm;a;ml\nf;a;pl;1;2,5\n\nm;b;s\nm;b;u\n')
    t = small()
    marks = argus.read_apriori(path, t)
    assert [marks.status[t.where(sex=s, area=a)].item() for s, a in ("fa", "fb", "ma", "mb")] == ["u", "s", "x", "u"]
    assert marks.forced.tolist() == [True] + [False] * 8
    assert marks.cost[t.where(sex="m", area="a")] == 5
    at = t.where(sex="f", area="a")
    assert [side[at].tolist() for side in (marks.lower, marks.upper)] == [[1], [2.5]]
    path.write_text("f,a,u\n")
    assert argus.read_apriori(path, t).unsafe.sum() == 1
    path.write_text("f:a:z\n")
    assert argus.read_apriori(path, t, separator=":").forced.sum() == 1


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("f;a", "line 1: 2 codes and what is said of the cell are needed, separated by ';'"),
        ("f;q;u", "line 1: the code of 'area' is not one of"),
        ("f;a;q", "line 1: what is said of the cell is none of 's'"),
        ("f;a;c", "line 1: 'c' takes a cost"),
        ("f;a;pl;1", "two protection levels"),
        ("f;a;c;-1", "none negative"),
        ("f;a;c;x", "line 1: a cost or protection level is not a number"),
        ("f;a;ab;1", "'ab' takes two bounds"),
    ],
)
def test_wrong_a_priori_lines_are_named(tmp_path: Path, line: str, says: str) -> None:
    """The file, the line, and what is needed."""
    path = tmp_path / "t.hst"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match=says):
        argus.read_apriori(path, small())
    linked = small().with_margins([["sex"], ["area"]])
    path.write_text("f;a;u\n")
    with pytest.raises(InputError, match="line 1: these codes are not a cell of the table"):
        argus.read_apriori(path, linked)
