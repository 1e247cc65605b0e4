"""Lines by themselves: where they answer, elimination withholds the same cells."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet import Table
from discreet.methods.suppress.gauss import by_lines, on_table
from discreet.methods.suppress.gauss import eliminate as gauss
from discreet.methods.suppress.model.task import Task
from tests.strategies import tables


def both(table: Table, chosen: dc.Suppress, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """What lines withhold (None if they do not tell), and what elimination withholds."""
    answers = []

    def listening(*arguments: Any) -> Any:
        answers.append(by_lines.withheld_by_lines(*arguments))

    task = Task.of(chosen, table)  # type: ignore[arg-type]  # it has the parameters
    monkeypatch.setattr(on_table, "withheld_by_lines", listening)
    monkeypatch.setattr(gauss, "takes_long_as_python", lambda columns, cells: True)
    pattern = on_table.eliminated(task)
    (lines,) = answers
    assert lines is None or not len(pattern.unsafe)
    return lines, pattern.secondary


@settings(deadline=None, max_examples=150)
@given(tables(), st.integers(2, 6), st.booleans(), st.booleans())
def test_what_lines_withhold_elimination_withholds(table: Table, n: int, zeros: bool, forced: bool) -> None:
    """Tables with hierarchies, signed groups, structural zeros and few margins; with a cell that must be shown."""
    chosen = dc.Suppress(dc.Threshold(n, zeros=zeros))
    if forced:
        shown = (table.value >= n) & (np.arange(len(table)) == int(np.argmax(table.value)))
        chosen = dataclasses.replace(chosen, forced=shown)
    with pytest.MonkeyPatch.context() as patch:
        lines, secondary = both(table, chosen, patch)
    assert lines is None or lines.tolist() == secondary.tolist()


REGIONS = dc.Dimension.from_parents("area", {f"a{k}": f"r{k % 4}" for k in range(60)})
GROUPS = dc.Dimension.from_parents("age", {f"g{k}": f"h{k % 2}" for k in range(6)})


@pytest.mark.parametrize("mean", [30, 200])
@pytest.mark.parametrize(
    "dimensions",
    [
        (
            dc.Dimension.flat("area", [f"a{k}" for k in range(80)]),
            dc.Dimension.flat("age", [f"g{k}" for k in range(5)]),
        ),
        (REGIONS, dc.Dimension.flat("age", [f"g{k}" for k in range(5)])),
        (REGIONS, GROUPS),
    ],
    ids=["flat", "regions", "two hierarchies"],
)
def test_lines_answer_for_long_tables(
    dimensions: tuple[dc.Dimension, ...], mean: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same cells as elimination; and of flat tables, and those with one hierarchy down, often an answer."""
    answered = 0
    for seed in range(6):
        counts = np.random.default_rng(seed).exponential(mean, [len(d.leaves) for d in dimensions]).astype(int)
        lines, secondary = both(Table.of(counts, list(dimensions)), dc.Suppress(dc.Threshold(6)), monkeypatch)
        answered += lines is not None
        assert lines is None or lines.tolist() == secondary.tolist()
    assert answered >= (2 if len(dimensions[1].groups) == 0 else 1)


def test_lines_do_not_answer_where_sums_together_tell() -> None:
    """A cell that is between two squares: every line has two unknown cells, and it follows all the same."""
    counts = [[9, 9, 40, 40], [9, 9, 40, 40], [40, 2, 9, 9], [40, 40, 9, 9]]
    table = Table.of(counts, ["area", "age"])
    chosen = dc.Suppress(dc.Threshold(3), hidden=np.isin(table.value, [9]))
    with pytest.MonkeyPatch.context() as patch:
        lines, secondary = both(table, chosen, patch)
    assert lines is None
    assert len(secondary)


def test_a_key_with_decoys_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decoys are protected as sensitive cells are."""
    counts = np.random.default_rng(5).exponential(40, (60, 4)).astype(int)
    chosen = dc.Suppress(dc.Threshold(6), key="a text that is long enough")
    lines, secondary = both(Table.of(counts, ["area", "age"]), chosen, monkeypatch)
    assert lines is not None
    assert lines.tolist() == secondary.tolist()
