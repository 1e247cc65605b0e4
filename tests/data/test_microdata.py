"""Microdata: a source and its codebook, and what is refused before anything is grouped."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from discreet.data.codebook import Magnitude, parse_codebook
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.engines.duckdb.engine import DuckDB
from discreet.errors import InputError

SECRET = "sixteen bytes or more"
AREA = Dimension.from_parents("area", {"N1": "N", "N2": "N", "S1": "S"})
FRAME = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "area": ["N1", "N2", "S1", "S1"],
        "sex": [1.0, 2.0, np.nan, 1.0],
        "t": [1.5, 2.25, -3.0, 10.0],
        "w": [1, 2, 3, 4],
        "r": [1, 2, 3, 2**63 - 1],
        "g": ["g", "g", None, None],
    }
)


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        act()
    return str(caught.value)


def test_of_and_read_agree(tmp_path: Path) -> None:
    """A codebook file and keyword arguments give the same cells, from a frame and from its CSV."""
    made = Microdata.of(
        FRAME,
        dimensions=[AREA, "sex"],
        holding="g",
        weight="w",
        key="r",
        unit="id",
        magnitudes=[Magnitude("turnover", "t", 2)],
        missing={"sex": "Unknown"},
    )
    (tmp_path / "book.toml").write_text(made.codebook.to_toml())
    FRAME.assign(sex=["1", "2", "", "1"]).to_csv(tmp_path / "people.csv", index=False)
    read = Microdata.read(tmp_path / "people.csv", tmp_path / "book.toml")
    a, b = (m.base_cells(["area", "sex"], value="turnover", top=2) for m in (made, read))
    assert made.n == read.n == 4
    assert made.dimension("sex").leaves == ("1", "2", "Unknown")
    for name in ("codes", "count", "total", "weight", "weighted_total", "key", "top_value", "contributors"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert a.spanning is not None
    assert a.spanning.group.tolist() == [0, 1]
    assert a.total is not None
    assert a.total.tolist() == [150, 225, 1000, -300]


def test_keys_come_from_the_secret() -> None:
    """HMAC-SHA256 of the unit id, cut to 64 bits; a key column goes before."""
    cells = Microdata.of(FRAME, dimensions=[AREA], unit="id", secret=SECRET).base_cells(["area"])
    keys = [int.from_bytes(hmac.new(SECRET.encode(), i.encode(), hashlib.sha256).digest()[:8], "big") for i in "abcd"]
    assert cells.key is not None
    assert cells.key.tolist() == [keys[0], keys[1], (keys[2] + keys[3]) % 2**64]
    given = Microdata.of(FRAME, dimensions=[AREA], key="r").base_cells(["area"]).key
    assert given is not None
    assert given.tolist() == [1, 2, 2**63 + 2]
    assert Microdata.of(FRAME, dimensions=[AREA]).base_cells(["area"]).key is None


def test_secrets_are_kept() -> None:
    """Neither repr nor a message holds one, and each misuse has its words."""
    made = Microdata.of(FRAME, dimensions=[AREA], unit="id", secret=SECRET)
    assert SECRET not in repr(made)
    assert repr(made) == "Microdata(DuckDB(the data frame: 7 columns), dimensions 'area')"
    assert "at least 16" in refused(lambda: Microdata.of(FRAME, dimensions=[AREA], unit="id", secret="short"))
    assert "name the unit column" in refused(lambda: Microdata.of(FRAME, dimensions=[AREA], secret=SECRET))
    both = refused(lambda: Microdata.of(FRAME, dimensions=[AREA], unit="id", key="r", secret=SECRET))
    assert "not both" in both


def test_a_filter_on_a_group_means_its_leaves() -> None:
    """where takes a code, several, or a group."""
    made = Microdata.of(FRAME, dimensions=[AREA, "sex"], missing="?")
    assert made.base_cells(["sex"], where={"area": "N"}).count.tolist() == [1, 1]
    assert made.base_cells(["area"], where={"area": ["N1", "S"]}).count.tolist() == [1, 2]
    assert made.base_cells([], where={"sex": "?"}).count.tolist() == [1]
    assert "did you mean 'N1'?" in refused(lambda: made.base_cells(["sex"], where={"area": "NN1"}))
    signed = Microdata.of(FRAME, dimensions=[AREA.with_group("odd", ["N1"], ["S1"])])
    assert "takes codes away" in refused(lambda: signed.base_cells([], where={"area": "odd"}))


def test_units_must_be_unique() -> None:
    """Counted, never named, and looked at once."""
    twice = pd.DataFrame({"id": ["XSECRETX", "XSECRETX", "y", None], "a": ["x"] * 4})
    made = Microdata.of(twice, dimensions=["a"], unit="id")
    message = refused(lambda: made.base_cells(["a"]))
    assert message == (
        "unit column 'id': 1 unit occurs more than once; keep one record per unit; "
        "unit column 'id': 1 record has no unit id; correct the data"
    )
    assert refused(made.check) == message
    Microdata.of(FRAME, dimensions=[AREA], unit="id").check()


def test_names_must_be_known() -> None:
    """All columns that are not there come in one message, each with a suggestion."""
    message = refused(lambda: Microdata.of(FRAME, dimensions=[AREA], unit="idd", weight="x", magnitudes=["tt"]))
    assert message.startswith("column 'tt' (magnitude 'tt') is not in the data; ")
    assert "column 'idd' (unit) is not in the data; did you mean 'id'?" in message
    assert "column 'x' (weight)" in message
    assert "(dimension 'aera') is not in the data; did you mean 'area'" in refused(
        lambda: Microdata.of(FRAME, dimensions=["aera"])
    )
    made = Microdata.of(FRAME, dimensions=[AREA], magnitudes=["t"])
    assert "unknown dimension 'arae'; did you mean 'area'" in refused(lambda: made.base_cells(["arae"]))
    assert "unknown magnitude 'w'" in refused(lambda: made.base_cells(["area"], value="w"))
    assert "more than once" in refused(lambda: made.base_cells(["area", "area"]))
    assert "name one" in refused(lambda: made.base_cells(["area"], top=2))


def test_codes_of_groups_are_no_data() -> None:
    """A record holds finest codes only."""
    made = Microdata.of(FRAME.assign(area="N"), dimensions=[AREA])
    assert "4 records hold a code that is not in the codebook" in refused(lambda: made.base_cells(["area"]))


def test_missing_needs_a_category_of_its_own() -> None:
    """A group cannot stand for missing values; without a category they are refused."""
    assert "stands for other codes" in refused(lambda: Microdata.of(FRAME, dimensions=[AREA], missing="N"))
    made = Microdata.of(FRAME, dimensions=["sex"])
    assert "1 record has no value" in refused(lambda: made.base_cells(["sex"]))
    empty = pd.DataFrame({"a": [None, None], "b": [1, 2]})
    assert "holds no values" in refused(lambda: Microdata.of(empty, dimensions=["a"]))
    assert Microdata.of(empty, dimensions=["a"], missing="?").base_cells(["a"]).count.tolist() == [2]


def test_an_engine_is_a_source() -> None:
    """Another engine can stand in for DuckDB."""
    book = parse_codebook('[[dimension]]\nname = "where"\ncolumn = "area"\ncodes = ["N1", "N2", "S1", "S2"]')
    made = Microdata.read(DuckDB.of(FRAME), book)
    assert made.base_cells(["where"]).codes[:, 0].tolist() == [0, 1, 2]
