"""Noise belongs to a set of records: the same whoever asks, in whatever table, and nobody else's."""

from __future__ import annotations

import copy
import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.methods import keys
from discreet.tables.table import Table
from tests.persons import microdata, persons

SECRET = "a secret of more than sixteen bytes"
METHODS = (dc.CellKey(d=3, v=2), dc.CellKey(d=3, v=2, zeros=0.2), dc.RandomRound(3), dc.Barnard(0.5))


def shown(table: Table, method: Any) -> dict[frozenset[tuple[str, str]], int]:
    """What is published, by the codes of the dimensions that do not stand at their total."""
    values = method(table).published["count"]
    out = {}
    for row, value in zip(table.layout.codes, values, strict=True):
        pairs = [(d.name, d.codes[c]) for d, c in zip(table.dimensions, row, strict=True)]
        out[frozenset(p for p in pairs if p[1] != "Total")] = int(value)
    return out


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_the_same_cell_in_every_table_and_order(method: Any) -> None:
    """A1: two- and three-way tables in all orders agree on the cells they share."""
    data = microdata(persons())
    names = ["area", "sex", "age"]
    answers = [
        shown(dc.tabulate(data, by=list(by)), method) for n in (1, 2, 3) for by in itertools.permutations(names, n)
    ]
    whole: dict[frozenset[tuple[str, str]], int] = {}
    for answer in answers:
        assert all(whole.setdefault(cell, value) == value for cell, value in answer.items())


@pytest.mark.parametrize("method", METHODS[:3], ids=repr)
def test_a_filtered_table_shows_the_slice(method: Any) -> None:
    """A1: asking for the women only, or slicing the table, shows what the table of all shows of them."""
    data = microdata(persons())
    table = dc.tabulate(data, by=["area", "age", "sex"])
    women = table.where(sex="f")
    filled = table.count[women] > 0
    for part in (dc.tabulate(data, by=["area", "age"], where={"sex": "f"}), table.slice(sex="f")):
        assert (method(part).published["count"][filled] == method(table).published["count"][women][filled]).all()


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_the_same_after_a_reload_in_any_format(method: Any, tmp_path: Path) -> None:
    """A2: Arrow, pandas, polars, Parquet and CSV, shuffled or not, give the same release."""
    table = persons()
    pyarrow.parquet.write_table(table, tmp_path / "p.parquet")
    pyarrow.csv.write_csv(table, tmp_path / "p.csv")
    mixed = table.take(np.random.default_rng(3).permutation(len(table)))
    sources = [table, mixed, table.to_pandas(), pl.from_arrow(table), tmp_path / "p.parquet", tmp_path / "p.csv"]
    made = [dc.protect(dc.tabulate(microdata(s), by=["area", "sex"]), method).release().to_csv() for s in sources]
    assert len(set(made)) == 1


@settings(max_examples=20)
@given(st.integers(0, 199), st.sampled_from(["n1", "n2", "s1", "s2", "s3"]))
def test_editing_one_record_leaves_other_cells_alone(row: int, area: str) -> None:
    """A2: only cells that hold the record before or after the edit, but not both, may show something else."""
    before = persons()
    moved = before["area"].to_pylist()
    old, moved[row] = moved[row], area
    after = before.set_column(before.column_names.index("area"), "area", pa.array(moved))
    one, two = (dc.tabulate(microdata(t), by=["area", "sex"]) for t in (before, after))
    areas = one.dimensions[0]
    touched = one.where(area=[c for c in areas.codes if len(areas.leaves_of(c).keys() & {old, area}) == 1])
    touched &= old != area
    for method in METHODS:
        same = method(one).published["count"] == method(two).published["count"]
        assert same[~touched].all()


def test_a_seed_is_as_consistent_as_keys_within_its_variables() -> None:
    """With a seed a cell's noise depends on its finest codes, not on the order or number of variables."""
    data = microdata(persons(), key=None)
    method = dc.CellKey(d=3, v=2, seed=5)
    one, two = (shown(dc.tabulate(data, by=by), method) for by in (["area", "sex"], ["age", "sex", "area"]))
    assert all(two[cell] == value for cell, value in one.items())
    assert dc.CellKey(d=3, v=2, seed=6)(dc.tabulate(data, by="area")).published["count"].tolist() != [
        *dc.CellKey(d=3, v=2, seed=5)(dc.tabulate(data, by="area")).published["count"]
    ]


def test_sums_of_keys_cannot_be_exploited() -> None:
    """Mixed keys of A, B and A+B are as good as independent, though the keys themselves add up."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2**64, (2, 20_000), dtype=np.uint64)
    ua, ub, us = (keys.unit_interval(keys.mix(x, b"k" * 16)) for x in (a, b, a + b))
    bare = [keys.unit_interval(x) for x in (a, b, a + b)]
    assert np.allclose((bare[0] + bare[1]) % 1, bare[2])
    assert abs(np.corrcoef((ua + ub) % 1, us)[0, 1]) < 0.03
    assert np.abs(np.histogram(us, 20)[0] - 1000).max() < 150
    flipped = keys.mix(a ^ np.uint64(1), b"k" * 16) ^ keys.mix(a, b"k" * 16)
    assert abs(float(np.unpackbits(flipped.view(np.uint8)).mean()) - 0.5) < 0.01


def test_siphash_of_a_published_vector() -> None:
    """Aumasson and Bernstein's test vector for eight bytes; another key, another number."""
    word = np.array([0x0706050403020100], np.uint64)
    assert int(keys.mix(word, bytes(range(16)))[0]) == 0x93F5F5799A932462
    assert keys.mix(word, bytes(16)) != keys.mix(word, bytes(range(16)))


@pytest.mark.parametrize("make", [dc.CellKey, dc.RandomRound, dc.SemiControlledRound, dc.Barnard, dc.Stochastic])
def test_a_secret_shows_nowhere(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in the repr, the words, the release, a pickle of it, or of the protected table; and it matters."""
    table = dc.tabulate(microdata(persons()), by=["area", "sex", "age"])
    method = make(secret=SECRET)
    protected = dc.protect(table, method)
    told = [repr(method), repr(protected), protected.method, str(protected.details), str(protected.release().to_dict())]
    told += [str(pickle.dumps(x)) for x in (protected, protected.release())]
    assert not any(SECRET in text for text in told)
    with pytest.raises(dc.InputError, match="env:NAME"):
        pickle.dumps(method)
    assert copy.deepcopy(method) == method
    monkeypatch.setenv("DISCREET_TEST_SECRET", SECRET)
    named = make(secret="env:DISCREET_TEST_SECRET")
    again = dc.protect(table, pickle.loads(pickle.dumps(named)))
    assert (again.published["count"] == protected.published["count"]).all()
    others = [dc.protect(table, make(secret=f"{SECRET}{k}")).published["count"] for k in range(5)]
    assert any((x != protected.published["count"]).any() for x in others)


def test_what_is_refused() -> None:
    """No keys and no seed, a short secret, an unset variable, a seed that is none."""
    table = dc.Table.of([[3, 1], [1, 2]], ["a", "b"])
    with pytest.raises(dc.InputError, match="no cell keys"):
        dc.CellKey()(table)
    with pytest.raises(dc.InputError, match="16"):
        dc.CellKey(secret="short")
    with pytest.raises(dc.InputError, match="NOBODY"):
        dc.CellKey(secret="env:NOBODY")(dc.tabulate(microdata(persons()), by="area"))
    with pytest.raises(dc.InputError, match="one of the two"):
        dc.RandomRound(3, seed=1, secret=SECRET)
    with pytest.raises(dc.InputError, match="whole number"):
        dc.RandomRound(3, seed=True)(table)
