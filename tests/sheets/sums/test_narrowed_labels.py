"""Headers that count part of what another one counts, in many words and either order: their difference is protected."""

from __future__ import annotations

import pandas as pd
import pytest

import discreet as dc
from discreet.errors import InputError

PAIRS = [
    ("Deaths", "Deaths within 30 days"),
    ("Closed", "Closed within target"),
    ("Total admissions", "Emergency admissions"),
    ("Referrals", "Accepted referrals"),
    ("All ages", "Under 18"),
    ("At least 1 dose", "At least 2 doses"),
    ("Number of patients", "Number with diabetes"),
    ("Within two weeks", "Within one week"),
    ("Within 1 month", "Within 10 days"),
    ("18 weeks or more", "52 weeks or more"),
    ("All staff", "Female"),
    ("By day 30", "By day 7"),
    ("Aufnahmen", "davon Notfälle"),
    ("Inscrits", "dont femmes"),
    ("Headcount", "of whom nurses"),
    ("Patients", "Aged 65 and over"),
]
CLINICS = pd.Index(["A", "B", "C", "D", "Total"], name="Clinic")
ALL = [38, 120, 95, 77, 330]
SOME = [34, 20, 45, 31, 130]


@pytest.mark.parametrize("behind", [True, False])
@pytest.mark.parametrize(("whole", "part"), PAIRS)
def test_what_a_part_leaves_is_protected(whole: str, part: str, behind: bool) -> None:
    """38 of whom 34: one of both is hidden, and a second one in its column."""
    counts = pd.DataFrame({whole: ALL, part: SOME} if behind else {part: SOME, whole: ALL}, index=CLINICS)
    shown = dc.suppress_small_counts(counts, under=6)
    assert shown.loc["A"].isna().any()
    for column in (whole, part):
        assert int(shown[column].isna().sum()) != 1


def test_a_chain_of_ranges_in_several_units() -> None:
    """Every step is part of the next."""
    steps = {"Within 1 week": [30, 22, 41], "Within 2 weeks": [34, 40, 52], "Within 1 month": [50, 58, 66]}
    counts = pd.DataFrame({**steps, "All seen": [61, 77, 90]}, index=["A", "B", "C"])
    shown = dc.suppress_small_counts(counts, under=6)
    assert shown.loc["A", ["Within 1 week", "Within 2 weeks"]].isna().any()


def test_what_words_do_not_decide_is_protected_and_said() -> None:
    """A difference of 4 under headers that may have nothing to do with each other; sexes have not."""
    counts = pd.DataFrame({"Visits": ALL, "Phone calls": SOME}, index=CLINICS)
    assert any("'Visits' counts all of 'Phone calls'" in sentence for sentence in dc.read_table(counts).assumed)
    assert dc.suppress_small_counts(counts, under=6).loc["A"].isna().any()
    apart = pd.DataFrame({"Men": ALL, "Women": SOME}, index=CLINICS)
    assert not dc.suppress_small_counts(apart, under=6).isna().any(axis=None)


TWICE = {"Caerdydd": [40, 51], "Cardiff": [40, 51], "Abertawe": [3, 22], "Swansea": [3, 22], "Total": [43, 73]}


@pytest.mark.parametrize("partly", [False, True])
def test_rows_in_two_languages_are_asked_about(partly: bool) -> None:
    """Each count stands there twice, whatever is said of parts."""
    more = {**TWICE, "Casnewydd": [214, 318], "Newport": [214, 318], "Total": [257, 391]}
    with pytest.raises(InputError, match="same numbers in every line"):
        dc.read_table(pd.DataFrame(more, index=["Men", "Women"]).T, partly=partly)


def test_rows_that_are_equal_by_chance_are_read() -> None:
    """Two small rows alike among others that differ."""
    rows = {"A": [3, 4], "B": [3, 4], "C": [10, 22], "D": [31, 8], "Total": [47, 38]}
    assert len(dc.read_table(pd.DataFrame(rows, index=["Men", "Women"]).T).places) == 10
