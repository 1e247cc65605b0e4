"""Dimension: every way in, every way to get it wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from discreet import Dimension, InputError
from tests.strategies import dimensions

TREE = {"N1": "N", "N2": "N", "S1": "S", "N": "All", "S": "All"}


@given(dimensions())
def test_every_column_of_the_matrix_is_the_sum_of_its_leaves(d: Dimension) -> None:
    """The matrix says what leaves_of says."""
    dense = d.matrix.toarray()
    for j, code in enumerate(d.codes):
        assert {d.leaves[i]: int(dense[i, j]) for i in np.flatnonzero(dense[:, j])} == d.leaves_of(code)


@given(dimensions())
def test_relations_hold_for_the_columns(d: Dimension) -> None:
    """Each relation is an identity between columns."""
    dense = d.matrix.toarray().astype(int)
    for code, parts in d.relations:
        total = np.sum([sign * dense[:, d.position[part]] for part, sign in parts], axis=0)
        assert (total == dense[:, d.position[code]]).all()


@given(dimensions())
def test_levels_part_the_leaves(d: Dimension) -> None:
    """Every named level holds every leaf exactly once."""
    for codes in d.levels.values():
        assert (np.sum([d.matrix[:, [d.position[c]]].toarray().ravel() for c in codes], axis=0) == 1).all()


def test_single_root_becomes_the_total() -> None:
    """A tree with one root needs no total of its own."""
    d = Dimension.from_parents("area", TREE)
    assert (d.total, d.leaves) == ("All", ("N1", "N2", "S1"))
    assert d.codes == ("All", "N", "N1", "N2", "S", "S1")
    assert d.levels == {"total": ("All",), "level 1": ("N", "S"), "area": ("N1", "N2", "S1")}


def test_two_hierarchies_over_the_same_leaves() -> None:
    """Groupings that do not nest stand side by side."""
    d = Dimension.from_parents("m", {"a": "X", "b": "X", "c": "Y"}, {"a": "P", "b": "Q", "c": "Q"})
    assert d.leaves_of("X") == {"a": 1, "b": 1}
    assert d.leaves_of("Q") == {"b": 1, "c": 1}
    assert d.levels["hierarchy 2 level 1"] == ("P", "Q")
    assert [c for c, _ in d.relations].count("Total") == 2


def test_signed_group_takes_leaves_away() -> None:
    """EU = Europe − others cancels out where it can and keeps −1 where it cannot."""
    links = [
        ("pt", "Europe"),
        ("is", "Europe"),
        ("Europe", "EU", 1),
        ("is", "EU", -1),
        ("us", "World"),
        ("Europe", "World"),
    ]
    d = Dimension.from_parents("geo", links)
    assert d.total == "World"
    assert d.leaves_of("EU") == {"pt": 1}
    assert d.with_group("odd", ["pt"], minus=["us"]).leaves_of("odd") == {"pt": 1, "us": -1}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_nested_columns_of_any_frame(make: Any) -> None:
    """Columns from finest to coarsest; a region that is its own county is one code."""
    frame = make({"county": ["11", "9", "X", "9"], "region": ["A", "A", "X", "A"]})
    d = Dimension.nested(frame, ["county", "region"], total="All")
    assert d.codes == ("All", "A", "9", "11", "X")
    assert d.levels == {"total": ("All",), "region": ("A", "X"), "county": ("9", "11", "X")}


def test_numbers_become_text() -> None:
    """Codes are text; whole floats lose their point."""
    assert Dimension.flat("year", [2001, 2002.0, np.int64(3)]).leaves == ("2001", "2002", "3")


def test_prefix_codes_of_uneven_length() -> None:
    """Shorter codes stay where they are."""
    d = Dimension.from_prefix("nace", ["A011", "A012", "B1", "C"], [1, 3], total="All")
    assert d.codes == ("All", "A", "A01", "A011", "A012", "B", "B1", "C")


@pytest.mark.parametrize("leader", ["@", "-", "::", ">"])
def test_hrc_reads_back_what_it_wrote(leader: str, tmp_path: Path) -> None:
    """Any leader; the total is not part of the file."""
    d = Dimension.from_parents("area", TREE, total="All")
    path = tmp_path / "area.hrc"
    text = d.to_hrc(path, leader=leader)
    assert text == f"N\n{leader}N1\n{leader}N2\nS\n{leader}S1\n"
    assert Dimension.from_hrc(path, name="area", leader=leader, total="All") == d
    assert Dimension.from_hrc(text, name="area", leader=leader, total="All") == d


def test_hrc_as_offices_write_it(tmp_path: Path) -> None:
    """Fixed-width codes, trailing blanks, Windows line ends and letters."""
    path = tmp_path / "region.hrc"
    path.write_bytes("Nr\r\n@ 1\r\n@ 2\r\nØst \r\n@10".encode("cp1252"))
    assert Dimension.from_hrc(path, name="region").codes == ("Total", "Nr", "1", "2", "Øst", "10")


def test_csv_with_labels_signs_and_two_hierarchies() -> None:
    """The columns that a hierarchy CSV may have."""
    text = "code;parent;label;sign;hierarchy\npt;Europe;Portugal;;\nis;Europe;Iceland;;\nEurope;;Old World;;\n"
    text += "Europe;EU;;1;2\nis;EU;;-1;2\n"
    d = Dimension.from_csv(text, name="geo")
    assert d.total == "Europe"
    assert d.label("pt") == "Portugal"
    assert d.leaves_of("EU") == {"pt": 1}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dimension.from_parents("d", {"a": "b", "b": "c", "c": "a", "x": "a"}), "cycle"),
        (lambda: Dimension.from_parents("d", {"a": "b", "b": "a"}), "cycle"),
        (lambda: Dimension.from_parents("d", [("a", "b"), ("a", "c")]), "two parents, 'b' and 'c'"),
        (lambda: Dimension.from_parents("d", [("a", "b", 2)]), "sign of 'a' in 'b' is 2"),
        (lambda: Dimension.flat("d", ["a", "b", "a"]), "duplicate codes 'a'"),
        (lambda: Dimension.flat("d", ["Total", "b"]), "choose another total code"),
        (lambda: Dimension.flat("d", []), "has no codes"),
        (lambda: Dimension.flat("d", ["a", None]), "a code is missing"),
        (lambda: Dimension.flat("d", ["a", ""]), "empty text"),
        (lambda: Dimension.flat("", ["a"]), "needs a name"),
        (lambda: Dimension.flat("d", ["a"], labels={"A": "x"}), "unknown code 'A'"),
        (lambda: Dimension.flat("d", ["abc"]).with_group("g", ["abd"]), "did you mean 'abc'"),
        (lambda: Dimension.flat("d", ["a"]).with_group("g", []), "has no parts"),
        (lambda: Dimension.flat("d", ["a"]).with_group("g", ["a", "Total"]), "a code more than once"),
        (lambda: Dimension.flat("d", ["a"]).with_group("g", ["a"], ["a"]), "holds nothing"),
        (lambda: Dimension.flat("d", ["abc"]).index("abx"), "did you mean 'abc'"),
        (lambda: Dimension.flat("d", ["abc"]).level("x"), "no level 'x'"),
        (lambda: Dimension.nested({"a": ["1", "1"], "b": ["x", "y"]}, ["a", "b"]), "do not nest"),
        (
            lambda: Dimension.nested({"a": ["1", "2"], "b": ["1", "1"]}, ["a", "b"]),
            "codes of different levels must differ",
        ),
        (lambda: Dimension.nested({"a": ["1"]}, ["b"]), "no column 'b'"),
        (lambda: Dimension.from_prefix("d", ["A", "A1"], [1]), "'A' is a code and also the prefix"),
        (lambda: Dimension.from_prefix("d", ["A1"], [2, 1]), "rising"),
        (lambda: Dimension.from_hrc("a\n@@b\n", name="d"), "line 2: the code is 2 levels deep"),
        (lambda: Dimension.from_hrc("a\n@b\n@b\n", name="d"), "line 3: the code appears twice"),
        (lambda: Dimension.from_hrc("a\n@\n", name="d"), "line 2: no code"),
        (lambda: Dimension.from_hrc("a\nb\n", name="d", leader=" "), "visible characters"),
        (lambda: Dimension.from_hrc("nowhere.hrc", name="d"), "cannot read 'nowhere.hrc'"),
        (lambda: Dimension.from_csv("code,parnt\na,b\n", name="d"), "did you mean 'parent'"),
        (lambda: Dimension.from_csv("code,parent,sign\na,b,7\n", name="d"), "line 2: a sign"),
        (lambda: Dimension.from_parents("d", {"@a": "b"}).to_hrc(), "choose another leader"),
        (lambda: Dimension.flat("d", ["a"]).to_hrc(tree=3), "no number 3"),
    ],
)
def test_a_wrong_dimension_is_refused_with_a_cure(make: Any, message: str) -> None:
    """Each mistake has its own sentence."""
    with pytest.raises(InputError, match=message):
        make()
