"""A dimension under another name in a second table: linked by labels and totals, in doubt where few are shown."""

from __future__ import annotations

import pandas as pd
import pytest

from discreet import audit

SEXES = pd.DataFrame(
    {
        "ward": [ward for ward in ("Ash", "Bray", "Coll", "Dene", "Total") for _ in range(3)],
        "sex": ["f", "m", "Total"] * 5,
        "count": [None, 24, None, None, 0, None, 34, 17, 51, 30, 11, 41, 73, 52, 125],
    }
)
TOTALS = {"Ash": 25, "Bray": 8, "Coll": 51, "Dene": 41, "Total": 125}


def other(header: str, hidden: tuple[str, ...] = ()) -> pd.DataFrame:
    """The totals of the wards under another header, some of them not shown."""
    rows = [(ward, None if ward in hidden else count) for ward, count in TOTALS.items()]
    frame = pd.DataFrame(rows, columns=[header, "count"])
    return frame.assign(status=["c" if ward in hidden else "" for ward in TOTALS])


def sexes() -> pd.DataFrame:
    return SEXES.assign(status=["c" if missing else "" for missing in SEXES["count"].isna()])


@pytest.mark.parametrize("header", ["ward", "Ward name", "area"])
def test_labels_and_totals_link_tables_whatever_the_header_is_called(header: str) -> None:
    """Ash f is the total of Ash in the second table less Ash m in the first."""
    report = audit({"a": sexes(), "b": other(header)}, total="Total")
    assert (report.lower == report.upper).all()
    assert report.verdict.value == "fail"


def test_with_too_few_totals_it_is_not_known() -> None:
    """One common total that both show may be chance: the verdict is not a pass, and the mapping is named."""
    report = audit({"a": sexes(), "b": other("Ward name", ("Ash", "Bray", "Coll"))}, total="Total")
    assert any('[dimensions] "Ward name" = "ward"' in text for text in report.unjudged)
    assert report.verdict.value != "pass"


def test_a_mapping_keeps_dimensions_apart() -> None:
    """What is said to be something else is not linked."""
    mapping = {"dimensions": {"Ward name": "Ward name"}}
    report = audit({"a": sexes(), "b": other("Ward name")}, total="Total", mapping=mapping)
    assert (report.lower < report.upper).all()
