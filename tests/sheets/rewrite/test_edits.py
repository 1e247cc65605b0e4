"""What becomes of sentences that repeat hidden numbers, and how precise derived numbers are."""

from __future__ import annotations

import pytest

from discreet.sheets.rewrite.edits import Content, Edits, Place, SourceCells, settle_edits
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_layout import DerivedNumber

A, B, C, D = (CellPlace("", 1, column) for column in (1, 2, 3, 4))


@pytest.mark.parametrize(
    ("text", "understood", "tells"),
    [
        ("North had 4,567 women", False, True),
        ("North had 4 567 women", True, True),
        ("4567", True, False),  # a header that is a number
        ("in 2019", False, False),  # a year
        ("2019 women", False, True),
        ("Table 3, ages 3 to 9", False, False),
        ("with 3 women", False, True),
        ("with three women", False, True),
        ("with 3 women", True, False),  # judged by whoever understood it
        ("of 700", False, False),  # which is shown elsewhere
        ("all 88", False, True),  # one of the secrets
        ("no number", False, False),
    ],
)
def test_sentences_that_repeat_hidden_numbers(text: str, understood: bool, tells: bool) -> None:
    """Large numbers wherever they stand; small ones where nobody understood the cell; years and numbering never."""
    cells = SourceCells({A: 4567.0, B: 3.0, C: 2019.0, D: 700.0, ("", 2, 1): 700.0})
    note = CellPlace("", 9, 1)
    shown = {D, note} if understood else {D}
    marks: dict[Place, Content] = {A: "*", B: "*", C: "*"}
    assert settle_edits(Edits(marks, shown, secrets=[88.0]), cells).tells(note, text) == tells
    assert not settle_edits(Edits(marks, shown, secrets=[88.0], kept=[note]), cells).tells(note, text)


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
    assert settle_edits(Edits({}, {A, B}, [number]), cells).now.get(C, before) == pytest.approx(after, abs=1e-12)
