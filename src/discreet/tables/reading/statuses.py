"""The status of rows: what a mark beside a number, or in place of one, says about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from discreet.base.annotations import Array
from discreet.tables.reading.number_cells import NumberSigns, number_cells
from discreet.tables.reading.number_marks import KNOWN_MARKS, SUPPRESSED, UNAVAILABLE, ZERO, NumberMarks, plain_mark
from discreet.tables.reading.raw_table import HIDDEN, NOT_AVAILABLE, RawTable


def with_meant_status(raw: RawTable, marks: NumberMarks) -> RawTable:
    """The rows with a status that is understood: confidential, not available, or none.

    A flag that a caller has stated goes; a mark that is known to hide numbers hides one where none stands. What nobody
    knows stays as it is, and keeps an audit from passing.
    """
    stated = np.array([str(status) for status in raw.status], object)
    none_shown = np.logical_and.reduce([np.isnan(v) for v in raw.values.values()])
    status, values = stated.copy(), dict(raw.values)
    ranges = dict(raw.ranges)
    for mark in np.unique(stated.astype(str)).tolist():
        here = stated == mark
        meaning = marks.stated.get(plain_mark(mark))
        if mark in ("", NOT_AVAILABLE):
            continue
        if marks.is_flag(mark):
            status[here] = ""
        elif meaning == UNAVAILABLE:
            status[here] = NOT_AVAILABLE
        elif meaning == ZERO:
            values = {name: np.where(here & np.isnan(column), 0.0, column) for name, column in values.items()}
            status[here] = ""
        elif meaning is not None or plain_mark(mark) == HIDDEN:
            status[here] = HIDDEN
            if meaning not in (None, SUPPRESSED):
                ranges |= _within(raw, ranges, here, str(meaning), marks)
        elif plain_mark(mark) in KNOWN_MARKS:
            status[here & none_shown] = HIDDEN
    return replace(raw, status=status.astype(str), values=values, ranges=ranges)


def _within(
    raw: RawTable, ranges: Mapping[str, tuple[Array, Array]], here: Array, meaning: str, marks: NumberMarks
) -> dict[str, tuple[Array, Array]]:
    """Per measure the ranges with that of a mark where no number stands beside it."""
    new = {}
    for name, column in raw.values.items():
        place = here & np.isnan(column)
        read = number_cells([meaning], meaning, plain=True, signs=NumberSigns(marks=marks))
        if read.ranges is None or not place.any():
            continue
        open_ = (np.full(len(column), -np.inf), np.full(len(column), np.inf))
        least, most = ranges.get(name, open_)
        new[name] = (np.where(place, read.ranges[0][0], least), np.where(place, read.ranges[1][0], most))
    return new
