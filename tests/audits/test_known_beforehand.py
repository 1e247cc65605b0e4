"""What is known beforehand, or asked for and not kept, never makes a sensitive cell drop out of the audit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.formats.jj import parse_jj
from discreet.tables.room import Room

TABLE = dc.Table.of([[3, 5, 5, 4], [2, 2, 5, 4], [2, 0, 3, 1], [1, 2, 2, 8]], ["a", "b"])
ZEROS = np.zeros(len(TABLE))
NAN = np.full(len(TABLE), np.nan)


@pytest.mark.parametrize("prior", [1.0, 0.0, (TABLE.count, TABLE.count)])
def test_a_sensitive_cell_that_the_prior_pins_down_is_exactly_known(prior: Any) -> None:
    """A true zero, give or take all of it, is zero: known, and not left out."""
    done = dc.protect(TABLE, dc.Suppress(dc.Threshold(3, zeros=True)))
    report = dc.audit(done, prior=prior)
    primary = np.flatnonzero(done.status == "u")
    assert set(primary) <= set(report.number)
    assert report.verdict is dc.Verdict.FAIL
    pinned = primary[(TABLE.count[primary] == 0) | (prior != 1.0 if isinstance(prior, float) else True)]
    assert set(pinned) <= set(report.number[report.finding == "exact"])


def test_a_primary_whose_bounds_leave_one_value_fails() -> None:
    """An instance of the literature with bounds 3 to 3 for a cell of 3."""
    text = "0\n4\n0 9 9 s 0 20 0 0 0\n1 3 3 u 3 3 1 1 0\n2 2 2 x 0 9 0 0 0\n3 4 4 x 0 9 0 0 0\n1\n"
    instance = parse_jj(text + "0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)\n", name="one")
    report = instance.audit()
    assert 1 in report.number
    assert report.verdict is dc.Verdict.FAIL


def released(room: Room) -> dc.Protected:
    """Every true value shown, by a method that states this room."""
    return dc.Protected(TABLE, {"count": TABLE.count + 0}, np.full(len(TABLE), "s"), "x", truthful=True, room=room)


def test_levels_that_a_method_was_asked_for_are_judged_on_cells_that_it_shows() -> None:
    """Having levels is no protection: what is shown in spite of one is exposed."""
    report = dc.audit(released(Room(levels=(ZEROS + 5, ZEROS + 5, ZEROS))))
    assert report.verdict is dc.Verdict.FAIL
    assert len(report.number) == len(TABLE)


@pytest.mark.parametrize(
    "room",
    [
        {"lower": NAN, "upper": NAN},
        {"bounds": (NAN, NAN)},
        {"levels": (NAN, NAN, NAN)},
        {"lower": TABLE.count + 1.0, "upper": TABLE.count - 1.0},
        {"bounds": (ZEROS + 1, ZEROS)},
    ],
)
def test_a_room_of_what_is_not_a_number_is_refused(room: dict[str, Any]) -> None:
    """Comparisons with it are never true, so nothing would be judged."""
    with pytest.raises(dc.InputError, match="Room"):
        released(Room(**room))


@pytest.mark.parametrize("prior", [(NAN, NAN), (ZEROS + 1, ZEROS)])
def test_prior_bounds_that_are_none_are_refused(prior: Any) -> None:
    """Neither what is not a number nor a lower bound above the upper one."""
    with pytest.raises(dc.InputError, match="prior"):
        dc.audit(dc.protect(TABLE, dc.Suppress(dc.Threshold(3))), prior=prior)


@pytest.mark.parametrize("levels", [np.ones(1), np.ones((2, 2)), np.ones(len(TABLE) + 1)])
def test_levels_over_other_cells_are_refused(levels: Any) -> None:
    """One amount for each cell, no more and no less."""
    with pytest.raises(dc.InputError, match="cells"):
        dc.audit(dc.protect(TABLE, dc.Suppress(dc.Threshold(3))), protection=(levels, levels))
