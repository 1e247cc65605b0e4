"""Columns as codes, from a list and from a frame alike."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engines.frames import coded
from discreet.errors import InputError

TEXTS = st.lists(st.text(st.characters(codec="utf-8"), max_size=3), min_size=1, max_size=12)


def outcome(column: Any) -> object:
    try:
        own = coded(column)
    except InputError as error:
        return str(error)
    return own.codes, own.position.tolist()


@given(TEXTS)
def test_a_list_of_texts_has_the_codes_of_a_series(texts: list[str]) -> None:
    """The same codes in the same order, and the same code in every row; or the same refusal."""
    assert outcome(texts) == outcome(pd.Series(texts, dtype=object))


def test_half_a_character_is_refused() -> None:
    with pytest.raises(InputError, match="lone surrogate"):
        coded(["a", "\ud800"])
