"""Linked tables of a programme: one matrix, one pattern."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import discreet as dc
from discreet.publishing import (
    run,
)
from tests.publishing.programmes import HEAD, files, kinds, made

LINKED = HEAD + """
[[linked]]
name = "together"
rule = "threshold(n=8)"
[[table]]
name = "t"
linked = "together"
combinations = { of = ["area", "sex", "age"], sizes = [1, 2] }
[[table]]
name = "north"
linked = "together"
by = ["age", "area:level 1"]
"""  # fmt: skip


def test_linked_tables_are_protected_on_one_matrix(home: Path) -> None:
    """Each is released by itself, hides what the others hide, and nothing follows from all of them together."""
    report = run(made(LINKED))
    assert report.exit_code == 0
    assert kinds(report.findings) == []
    assert {line.unit for line in report.lines} == {"together"}
    records = dc.Microdata.read("people.parquet", "people.toml")
    names = [("area", "sex", "age"), ("area",), ("sex",), ("age",), ("area", "sex"), ("area", "age"), ("sex", "age")]
    table = dc.tabulate(records, by=names[0], margins=names[1:])
    whole = dc.protect(table, dc.Suppress(dc.Threshold(8)))
    assert whole.hidden.any()
    frame = whole.release().cells.astype(str)
    for by in names[1:]:
        others = [n for n in names[0] if n not in by]
        wanted = (
            frame[(frame[others] == "Total").all(axis=1)].set_index(list(by))["count"].fillna("").replace("<NA>", "")
        )
        got = pd.read_csv(f"out/t-{'-'.join(by)}.csv", dtype=str, keep_default_na=False).set_index(list(by))["count"]
        assert got.to_dict() == wanted.to_dict()
    north = pd.read_csv("out/north.csv", dtype=str, keep_default_na=False)
    assert list(north.columns[:2]) == ["age", "area"]
    assert set(north["area"]) == {"Total", "N", "S"}


def test_linked_in_turn_all_tables_hide_the_same_cells(home: Path) -> None:
    """One after the other until nothing changes: what is hidden in one table is hidden in all, and more than apart."""
    linked = LINKED.replace("[1, 2]", "[1, 2, 3]").replace("n=8", "n=5")
    turn = linked.replace('name = "together"', 'name = "together"\napproach = "in turn"', 1)
    apart = linked.replace('[[linked]]\nname = "together"', "[defaults]").replace('linked = "together"\n', "")
    report, separate = run(made(turn)), run(made(apart, "apart"))
    assert report.exit_code == 0
    assert kinds(report.findings) == []
    assert "hidden" in kinds(separate.findings)
    assert sum(line.hidden for line in report.lines) > sum(line.hidden for line in separate.lines)
    assert run(made(turn, "two"), jobs=2).exit_code == 0
    assert files("out") == files("two")
    with pytest.raises(dc.InputError, match="in turn by the method 'suppress'"):
        made(turn.replace('rule = "threshold(n=5)"', 'method = "round"'))


def test_a_group_of_one_is_that_table(home: Path) -> None:
    """Linking changes nothing where there is nothing to link."""
    one = HEAD + '[[table]]\nname = "t"\nby = ["age", "area"]\nrule = "threshold(n=5)"\n'
    group = HEAD + (
        '[[linked]]\nname = "g"\nrule = "threshold(n=5)"\n[[table]]\nname = "t"\nby = ["age", "area"]\nlinked = "g"\n'
    )
    assert run(made(one)).exit_code == run(made(group, "two")).exit_code == 0
    assert files("out") == files("two")
    assert b",c" in files("out")["t.csv"]
