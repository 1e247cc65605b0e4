"""What becomes of sentences that repeat hidden numbers, and how precise derived numbers are."""

from __future__ import annotations

import pytest

from discreet.sheets.rewrite.edits import Edits, SourceCells, settle_edits
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_layout import DerivedNumber

A, B, C, D = (CellPlace("", 1, column) for column in (1, 2, 3, 4))


@pytest.mark.parametrize(
    ("text", "understood", "repeated"),
    [
        ("North had 4,567 women", False, 4567),
        ("North had 4 567 women", True, 4567),
        ("4567", True, 0),  # a header that is a number
        ("in 2019", False, 999),  # perhaps a year: to be looked at
        ("in 2019", True, 0),
        ("Table 3", False, 3),
        ("Table 3", True, 0),
        ("of 700", False, 0),  # which is shown elsewhere
        ("no number", False, 0),
    ],
)
def test_sentences_that_repeat_hidden_numbers(text: str, understood: bool, repeated: float) -> None:
    """Large numbers wherever they stand; small ones and years where nobody understood the cell."""
    cells = SourceCells({A: 4567.0, B: 3.0, C: 2019.0, D: 700.0, ("", 2, 1): 700.0})
    note = CellPlace("", 9, 1)
    shown = {D, note} if understood else {D}
    assert settle_edits(Edits({A: "*", B: "*", C: "*"}, shown), cells).repeated(note, text) == repeated


@pytest.mark.parametrize(
    ("before", "decimals", "scale", "after"),
    [
        (33.3, 1, 100.0, 33.3),
        (33.0, 0, 100.0, 33.0),
        (1 / 3, 4, 1.0, 1 / 3),
        (0.33, 2, 1.0, 0.33),
        (1.0, 0, 1.0, 1 / 3),
    ],
)
def test_derived_numbers_have_the_decimals_that_were_stored(
    before: float, decimals: int, scale: float, after: float
) -> None:
    """Those that were cut off are cut off again; a share stored in full is in full."""
    cells = SourceCells({A: 10.0, B: 30.0, C: before})
    number = DerivedNumber(C, "share", A, B, scale, decimals)
    assert settle_edits(Edits({}, {A, B}, [number]), cells).now[C] == pytest.approx(after, abs=1e-12)
