"""The end of a message about an unknown name: what looks the same and is not, and what was lost."""

from __future__ import annotations

import unicodedata

from discreet.errors import nearest


def test_letters_composed_differently_are_named_as_such() -> None:
    """Both look the same in a message."""
    composed = unicodedata.normalize("NFC", "Málaga")
    apart = unicodedata.normalize("NFD", composed)
    assert composed != apart
    for name, known in ((composed, apart), (apart, composed)):
        assert "composed differently (Unicode NFC and NFD)" in nearest(name, ["Sevilla", known])


def test_leading_zeros_that_were_lost_are_named_as_such() -> None:
    """Of the code that is meant, and of no other."""
    assert nearest("1", ["11", "001"]).startswith("did you mean '001'? Leading zeros")
    assert "zeros" not in nearest("1", ["11", "12"])
