"""LL21: what an audit says of lines that disclose, beside a count of every table that fits what is shown."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import discreet as dc

Array = NDArray[Any]

GROUPS, INJURY = ["Oslo Car Driver", "Bergen Car Driver"], ["None", "Light", "Serious", "Unknown"]
COUNTS = np.array([[0, 0, 17, 0], [1, 0, 12, 0]])  # LL21 Figure 1, first table
PANELS = {
    # hidden cells of the three tables of Figure 1; the last column is the row's total
    1: np.zeros((2, 5), bool),
    2: np.array([[0, 0, 1, 0, 1], [1, 1, 0, 0, 0]], bool),
    3: np.array([[0, 1, 1, 0, 0], [1, 0, 1, 0, 0]], bool),
}
MOST = 30  # no count of the tables here can be larger


def figure() -> dc.Table:
    """The two rows with their totals; the figure has no totals of columns."""
    return dc.Table.of(COUNTS, [dc.Dimension.flat("group", GROUPS, total=None), dc.Dimension.flat("injury", INJURY)])


def hiding(table: dc.Table, hidden: Array) -> dc.Protected:
    """The table with some cells of a rows x (values, total) mask hidden."""
    rows, columns = table.dimensions
    mask = np.zeros(len(table), bool)
    for k, (r, c) in enumerate(zip(*table.layout.codes.T, strict=True)):
        row, column = rows.codes[r], columns.codes[c]
        j = len(columns.leaves) if column == columns.total else columns.leaves.index(column)
        mask[k] = hidden[rows.leaves.index(row), j] if row != rows.total else False
    return dc.protect(table, dc.Hide(mask))


def fitting(row: Array, hidden: Array) -> Array:
    """Every row of counts that agrees with what is shown of one row and its total."""
    choices = [range(MOST + 1) if gone else [n] for n, gone in zip(row, hidden[:-1], strict=True)]
    found = np.array(list(itertools.product(*choices)))
    return found if hidden[-1] else found[found.sum(axis=1) == row.sum()]


def discloses(counts: Array, hidden: Array, k: int) -> bool:
    """Whether somebody who knows k people of a row can be sure that all others have one and the same value.

    By the definition of section 2.2: a value that holds all but k of a row must leave it possible that more than those
    who are outside of it could be outside of it.
    """
    for row, gone in zip(counts, hidden, strict=True):
        tables = fitting(row, gone)
        for value in np.flatnonzero((row > 0) & (row.sum() - k <= row)):
            outside = tables.sum(axis=1) - tables[:, value]
            if outside.max() <= row.sum() - row[value]:
                return True
    return False


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize("k", [0, 1])
def test_figure_1(panel: int, k: int) -> None:
    """The first table discloses, the second still does though no cell can be recalculated, the third does not."""
    hidden = PANELS[panel]
    shown = hiding(figure(), hidden)
    found = dc.audit(shown, protection=dc.DirectDisclosure(k, sensitive=["injury"]))
    assert discloses(COUNTS, hidden, k) == (panel < 3)
    assert found.verdict.value == ("fail" if panel < 3 else "pass")
    assert found.ok == (panel == 3)
    if panel == 2:  # no cell of the second table can be recalculated
        assert dc.audit(shown).ok
        assert (found.lines["finding"] != "open").all()


def test_the_pattern_of_the_method_is_judged_by_its_own_rule() -> None:
    """Without a rule named, the audit goes by what Suppress was asked to keep unknown."""
    for rule in (dc.DirectDisclosure(1, sensitive=["injury"]), dc.KDisclosure(1, sensitive=["injury"])):
        done = dc.protect(figure(), dc.Suppress(rule))
        assert dc.audit(done).ok
        assert len(dc.audit(done).lines) > 0
        assert dc.audit(done, protection=rule).ok
        opened = dc.Protected(
            done.table, {"count": done.table.value.astype(float)}, np.full(len(done.table), "s"), "", room=done.room
        )
        assert not dc.audit(opened).ok


@pytest.mark.parametrize("kind", ["direct", "k", "group"])
def test_random_lines_by_counting(kind: str) -> None:
    """Rows of small counts with random cells hidden: the audit's word is that of a count of every row that fits."""
    rng = np.random.default_rng(7)
    seen = set()
    for _ in range(60):
        counts = rng.choice([0, 0, 1, 2, 6], (2, 3))
        hidden = rng.random((2, 4)) < 0.45
        k = int(rng.integers(0, 3))
        rows = [dc.Dimension.flat("row", ["1", "2"], total=None), dc.Dimension.flat("value", ["a", "b", "c"])]
        table = dc.Table.of(counts, rows)
        bad = False
        for row, gone in zip(counts, hidden, strict=True):
            tables, n = fitting(row, gone), row.sum()
            for value in range(3):
                rest, outside = n - row[value], (tables.sum(axis=1) - tables[:, value]).max()
                if row[value] == 0:
                    continue
                if kind in ("direct", "k"):
                    bad |= bool(rest <= k and outside <= rest)
                else:
                    bad |= bool(row[value] == n and outside <= 0)
        rule = {
            "direct": dc.DirectDisclosure(k, sensitive=["value"]),
            "k": dc.KDisclosure(k, sensitive=["value"]),
            "group": dc.GroupDisclosure(sensitive=["value"]),
        }[kind]
        found = dc.audit(hiding(table, hidden), protection=rule)
        lines = found.sums is not None and bool(found.sums.exposed.any())
        assert lines == bad
        assert not (found.ok and bad)
        seen.add(bad)
    assert seen == {True, False}


def test_what_cannot_be_judged_is_not_ok() -> None:
    """A rule on lines joined by "and", or beside another measure, is unknown; one that is shown is a fail."""
    table, line = figure(), dc.DirectDisclosure(1, sensitive=["injury"])
    shown = dc.protect(table, dc.Publish())
    assert not dc.audit(shown, protection=line).ok
    assert not dc.audit(shown, protection=line | dc.Threshold(1)).ok
    both = dc.audit(hiding(table, PANELS[3]), protection=line & dc.Threshold(99))
    assert both.verdict.value == "unknown"
    assert "cannot judge" in both.unjudged[0]
    assert dc.audit(shown, protection="threshold(n=2)").verdict.value == "fail"
    assert dc.audit(shown, protection="threshold(n=2)").cells["reason"].iloc[0] == "sensitive, and shown as it is"
    assert dc.audit(shown, protection=dc.Threshold(1)).ok
    frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["p", "p", "q"], "v": [1.0, 2.0, 3.0]})
    money = dc.tabulate(dc.Microdata.of(frame, dimensions=["a", "b"], magnitudes=["v"]), by=["a", "b"], value="v")
    found = dc.audit(dc.protect(money, dc.Publish()), protection=dc.DirectDisclosure(1))
    assert found.verdict.value == "unknown"
    assert "about counts" in found.unjudged[0]


def test_lines_of_linked_tables_are_judged_together() -> None:
    """A margin that another table shows closes a line that one table alone leaves open."""
    counts = np.array([[5, 0], [3, 4]])
    table = dc.Table.of(counts, ["row", "value"])
    rule = dc.GroupDisclosure(sensitive=["value"])
    hidden = table.where(row="1") & ~table.where(value="Total")
    both = hidden | table.where(row="2", value="1") | table.where(row="2", value="2")
    one = dc.protect(table, dc.Hide(both))
    assert dc.audit(one, protection=rule).sums is not None
    alone = dc.audit(one, protection=rule)
    assert alone.ok
    again = dc.protect(table, dc.Hide(hidden & table.where(value="1")))
    together = dc.audit([one, again], protection=rule)
    assert not together.ok
