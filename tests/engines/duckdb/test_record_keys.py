"""Record keys: Python's digests, the same whatever happens to other records."""

from __future__ import annotations

import hashlib
import hmac
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.protocol import Grouping, Hmac, Key
from discreet.errors import InputError
from tests.engines.records import SECRET, SOURCES, A, mac

identifiers = st.text(st.characters(exclude_categories=["Cs"], min_codepoint=1), min_size=1)


@pytest.mark.parametrize("secret", [SECRET, b"x" * 64, b"long " * 40])
@settings(max_examples=10, deadline=None)
@given(
    ids=st.lists(
        st.text(st.characters(exclude_categories=["Cs"], min_codepoint=1), min_size=1), min_size=1, unique=True
    )
)
def test_hmac_is_pythons(secret: bytes, ids: list[str]) -> None:
    """SQL's HMAC is the standard one for any id and any length of secret."""
    key = Key(name="id", column="id", codes=tuple(ids))
    got = DuckDB.of(pa.table({"id": ids})).base_cells(Grouping(keys=(key,), record_key=Hmac(unit="id", secret=secret)))
    digest = [hmac.new(secret, i.encode(), hashlib.sha256).digest() for i in ids]
    assert got.key is not None
    assert got.key.tolist() == [int.from_bytes(d[:8], "big") for d in digest]


@pytest.mark.parametrize("kind", ["pandas", "csv", "pandas objects"])
def test_editing_a_record_keeps_the_other_keys(kind: str, tmp_path: Path) -> None:
    """A record's key depends on its own unit id alone, and on the id as text, whatever the source."""
    row = {"a": "N", "b": 1, "x": Decimal(1), "w": Decimal(1), "r": 1, "h": None}
    unit = Key(name="id", column="id", codes=tuple("0123"))
    grouping = Grouping(keys=(unit,), record_key=Hmac(unit="id", secret=SECRET))
    before = DuckDB.of(SOURCES[kind]([row] * 4, tmp_path)).base_cells(grouping)
    edited = DuckDB.of(SOURCES[kind]([row, {**row, "a": "S", "r": 5}, row], tmp_path)).base_cells(grouping)
    assert before.key is not None
    assert edited.key is not None
    assert before.key.tolist() == [mac(i) for i in range(4)]
    assert edited.key.tolist() == before.key.tolist()[:3]


def test_record_keys_wrap_and_negative_ones_count_mod_2_64() -> None:
    """Keys may be written as signed numbers or as text."""
    for keys in ([-1, 5, 2**62], ["-1", " 5", str(2**62)], [-1.0, 5.0, 2.0**52]):
        got = DuckDB.of(pa.table({"a": ["N"] * 3, "r": keys})).base_cells(Grouping(keys=(A,), record_key="r"))
        assert got.key is not None
        assert got.key.tolist() == [sum(int(k) for k in keys) % 2**64]


def test_a_secret_is_never_shown_and_never_short() -> None:
    """Its repr hides it."""
    assert "secret" not in repr(Hmac(unit="id", secret=SECRET))
    with pytest.raises(InputError, match="3 bytes"):
        Hmac(unit="id", secret=b"abc")
